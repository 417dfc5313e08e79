"""Masking in an engine gives, bit for bit, the values that memory gives, and writes them in parts or writes nothing."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import reticent as rt
from conformance.engine_data import KEYS, SCHEMA, records, write_parts
from reticent.base.errors import DataError, NotProtectedError, OptionalDependencyError, ParameterError, PlanError
from reticent.base.randomness import Secret
from reticent.cli.main import app
from reticent.data.microdata import Microdata
from reticent.data.parameters import build
from reticent.data.plan import RiskSection
from reticent.io.schema import write_schema
from reticent.microdata.large_linkage import SampledLinkage
from reticent.microdata.large_steps import prepare, step_kind
from reticent.microdata.mask import METHODS
from reticent.microdata.pipeline import apply_steps

SECRET = Secret(hashlib.sha256(b"a key for tests").digest())
AGE = rt.mask.Recode("age", bands=(0, 25, 40, 60))
ALIKE = rt.mask.LocalSuppression(k=3, keys=KEYS, semantics="own-category", by_combination=True)
PLANS: dict[str, list[Any]] = {
    "recode": [AGE, rt.mask.Recode("place", map={"a": "other", "北京": "other"}, keep=True)],
    "rules": [rt.mask.Recode("job", rules=("low: -15", "high: 16-"))],
    "top-code": [rt.mask.TopCode("income", quantile=0.98), rt.mask.BottomCode("hours", value=10)],
    "top-code, label": [rt.mask.TopCode("age", value=60, label="60+")],
    "top-code, quantiles": [rt.mask.BottomCode("income", quantile=0.031), rt.mask.TopCode("hours", quantile=0.5)],
    "round": [rt.mask.RoundValues(("hours", "income"), base=5)],
    "round, random": [rt.mask.RoundValues(("income",), base=100, how="random")],
    "round weights": [rt.mask.RoundValues(("weight",), base=10, how="up")],
    "local-suppression": [AGE, ALIKE],
    "generalize": [rt.mask.Generalize(keys=("place", "job"), k=5, suppression=0.1)],
    "pram": [rt.mask.Pram(("mood",), controlled=False), rt.mask.Pram(("mood2",), controlled=False, invariant=False)],
    "noise": [rt.mask.TopCode("income", quantile=0.98), rt.mask.Noise(("income", "hours"), k=0.2)],
    "noise, others": [
        rt.mask.Noise(("income",), kind="uncorrelated"),
        rt.mask.Noise(("hours",), kind="correlated"),
    ],
    "everything": [
        AGE,
        rt.mask.TopCode("income", value=5000),
        ALIKE,
        rt.mask.Noise(("income", "hours"), k=0.1),
        rt.mask.Pram(("mood",), controlled=False),
    ],
}
WIDE = rt.Schema((*SCHEMA.variables, rt.Variable("mood", missing=("-",)), rt.Variable("mood2")))


def people(n: int = 800, *, texts: bool = False) -> pl.DataFrame:
    table = records(n)
    draw = np.random.default_rng(8)
    mood = draw.choice(["glad", "så-så", "-", None, "sad"], len(table)).tolist()
    table = table.with_columns(pl.Series("mood", mood), pl.Series("mood2", draw.choice(["x", "y"], len(table))))
    # records that stand twice with one weight would tell each other's blanks
    table = table.with_columns(pl.Series("weight", draw.integers(1, 4, len(table)) / 2))
    table = table.with_columns(income=pl.when(pl.col("id") % 17 == 0).then(None).otherwise("income"))
    return table.with_columns(pl.format("№{}", "id").alias("id")) if texts else table


@pytest.mark.parametrize("plan", PLANS)
def test_masked_values_are_those_of_memory(plan: str, tmp_path: Path) -> None:
    """Every method that an engine takes, with missing values, Unicode and duplicates, by whole and by text identifiers."""
    for at, texts in enumerate((False, True)):
        table = people(texts=texts)
        true = apply_steps(Microdata.of(table, WIDE), PLANS[plan], secret=SECRET, keys=KEYS).data
        folder = tmp_path / str(at)
        folder.mkdir()
        with rt.load(write_parts(table, folder), schema=WIDE, engine="duckdb", threads=at + 1) as large:
            blocks = [block.shown for block in prepare(large.file, PLANS[plan], KEYS, secret=SECRET).blocks()]
        found = pl.concat([block.frame.table for block in blocks]).sort("id")
        wanted = true.frame.table.sort("id")
        assert found.schema == wanted.schema
        assert found.equals(wanted, null_equal=True)
        assert blocks[0].schema == true.schema


def _taken(step: Any) -> bool:
    try:
        step_kind(step)
    except PlanError:  # it needs all records at once
        return False
    return True


def test_the_battery_has_every_method_that_an_engine_takes() -> None:
    """By the registry, not by a list: a method that an engine takes tomorrow must be compared with memory, too."""
    tried = {step.name for plan in PLANS.values() for step in plan}
    taken = {
        name
        for name, method in METHODS.items()
        if any(_taken(build(method, dict(example), owner=name)) for example in method.examples)
    }
    assert taken <= tried
    assert tried - taken <= {"pram", "local-suppression"}  # their examples look at all records


RISK = RiskSection(most=0.9, attacks=("recount", "linkage"))
STEPS = PLANS["everything"]


def test_the_parts_hold_what_memory_releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same records, the same schema, another order; no identifier and no leftover beside the parts."""
    monkeypatch.setattr("reticent.io.parts.PART", 250)
    table, target = people(), tmp_path / "safe"
    target.mkdir()
    with rt.load(write_parts(table, tmp_path), schema=WIDE, engine="duckdb", memory="1GB") as large:
        result = large.protect(STEPS, target / "part-*.parquet", risk=RISK, secret=SECRET)
    memory = rt.load(table, schema=WIDE).protect(STEPS, risk=RISK, secret=SECRET)
    true = memory.release()
    parts = sorted(path.name for path in target.iterdir())
    assert parts == ["part-000.parquet", "part-001.parquet", "part-002.parquet", "part-003.parquet"]
    found = pl.read_parquet(target / "part-*.parquet")
    assert found.columns == true.to_frame().columns
    assert found.sort(found.columns).equals(true.to_frame().sort(found.columns), null_equal=True)
    assert all(rt.load(target / name).schema == true.schema for name in parts)
    own = {one.method: dict(one.changed) for one in result.steps}
    assert own == {one.method: dict(one.changed) for one in memory.found.result.steps}
    assert result.verdict["recount"].value == memory.verdict["recount"].value


def test_the_sample_is_linked_about_as_often_as_the_file_in_memory(tmp_path: Path) -> None:
    """What the best attacker links of all records, against what attackers in memory link; a sample gives an upper limit."""
    table = people(1200)
    steps = [AGE, rt.mask.Noise(("income", "hours"), k=0.3)]
    free = RiskSection(most=1.0, attacks=("recount", "linkage"))
    with rt.load(write_parts(table, tmp_path), schema=WIDE, engine="duckdb") as large:
        (tmp_path / "safe").mkdir()
        found = large.protect(steps, tmp_path / "safe" / "p-*.parquet", risk=free, secret=SECRET).linkage
    memory = rt.load(table, schema=WIDE).protect(steps, risk=free, secret=SECRET).attacks.linkage
    assert memory is not None
    assert found.whole
    assert found.tried == 1200
    assert memory.share - 0.05 <= found.share <= memory.share + 0.05
    assert found.upper == found.share


@pytest.mark.parametrize(("tried", "linked"), [(2000, 0), (2000, 20), (300, 150)])
def test_the_upper_limit_holds_back_samples_that_happen_to_be_lucky(tried: int, linked: int) -> None:
    """With so large a share in the file, so few linked records come in fewer than one of twenty samples."""
    from scipy.stats import binom

    limit = SampledLinkage((), tried, linked, False).upper
    assert binom.cdf(linked, tried, limit) == pytest.approx(0.05, abs=1e-9)


def test_a_file_that_is_not_held_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "safe").mkdir()
    with rt.load(write_parts(people(), tmp_path), schema=WIDE, engine="duckdb") as large:
        with pytest.raises(NotProtectedError, match="nothing was written"):
            large.protect([AGE], tmp_path / "safe" / "part-*.parquet", most=0.001, secret=SECRET)
        with pytest.raises(NotProtectedError, match="weights is not judged"):
            large.protect(STEPS, tmp_path / "safe" / "part-*.parquet", most=0.9, secret=SECRET)
    assert not list((tmp_path / "safe").iterdir())


REFUSED: dict[str, tuple[list[Any], str]] = {
    "microaggregation": ([rt.mask.Microaggregate(("income",))], "needs all records at once"),
    "shuffle": ([rt.mask.Shuffle(("income",), predictors=("hours",))], "needs all records at once"),
    "exact noise": ([rt.mask.Noise(("income",), exact=True)], "exact, nonlinear"),
    "controlled pram": ([rt.mask.Pram(("mood",))], "controlled = true"),
    "suppression of records": ([rt.mask.LocalSuppression(k=3, keys=KEYS)], "by_combination = false"),
    "mean": ([rt.mask.TopCode("income", value=9, replacement="mean")], "replacement = 'mean'"),
    "order": ([rt.mask.Noise(("income",)), AGE], "steps on single values come first"),
    "chance on keys": ([rt.mask.Pram(("sex",), controlled=False)], "is a key"),
    "twice": (
        [rt.mask.Noise(("income",)), rt.mask.RoundValues(("income",), base=5, how="random")],
        "changed by chance",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_needs_all_records_says_so_before_any_work(case: str, tmp_path: Path) -> None:
    steps, words = REFUSED[case]
    (tmp_path / "safe").mkdir()
    with (
        rt.load(write_parts(people(400), tmp_path), schema=WIDE, engine="duckdb") as large,
        pytest.raises(PlanError, match=words) as caught,
    ):
        large.protect(steps, tmp_path / "safe" / "part-*.parquet", most=0.9, secret=SECRET)
    assert "\n" not in str(caught.value)
    assert not list((tmp_path / "safe").iterdir())


PLAN = """
[data]
path = "part-*.parquet"
schema = "people.toml"
engine = "{engine}"
memory = "1GB"
spill = "spill"
secret = "secret.key"
[[step]]
method = "recode"
variable = "age"
bands = [0, 25, 40, 60]
[[step]]
method = "noise"
variables = ["income"]
[risk]
most = 0.99
attacks = ["recount", "linkage"]
[output]
path = "{path}"
summary = "summary.json"
{more}
"""


def project(folder: Path, table: pl.DataFrame | None = None, **words: str) -> Path:
    own = people(600) if table is None else table
    write_parts(own, folder)
    write_schema(WIDE, folder / "people.toml")
    (folder / "secret.key").write_text(hashlib.sha256(b"a key for tests").hexdigest())
    for name in ("spill", "safe"):
        (folder / name).mkdir()
    text = {"engine": "duckdb", "path": "safe/p-*.parquet", "more": ""} | words
    (folder / "plan.toml").write_text(PLAN.format(**text))
    return folder / "plan.toml"


def protect(plan: Path) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["protect", str(plan)])
    return done.exit_code, " ".join((done.output + str(done.exception or "")).split())


def test_a_plan_writes_parts_and_a_summary(tmp_path: Path) -> None:
    code, words = protect(project(tmp_path))
    assert code == 0, words
    assert [path.name for path in (tmp_path / "safe").iterdir()] == ["p-000.parquet"]
    facts = json.loads((tmp_path / "summary.json").read_text())
    assert facts["verdict"]["state"] == "held"
    assert facts["records"] == 600
    assert not list((tmp_path / "spill").iterdir())
    code, words = protect(tmp_path / "plan.toml")
    assert code != 0
    assert "there are files of this pattern already" in words


def other_columns(folder: Path) -> None:
    pl.read_parquet(folder / "part-1.parquet").rename({"hours": "hour"}).write_parquet(folder / "part-1.parquet")


def other_type(folder: Path) -> None:
    table = pl.read_parquet(folder / "part-1.parquet").with_columns(pl.col("age").cast(pl.String))
    table.write_parquet(folder / "part-1.parquet")


def repeated_ids(folder: Path) -> None:
    pl.read_parquet(folder / "part-0.parquet").write_parquet(folder / "part-2.parquet")


def without_id(folder: Path) -> None:
    for at in range(3):
        pl.read_parquet(folder / f"part-{at}.parquet").drop("id").write_parquet(folder / f"part-{at}.parquet")


def broken_part(folder: Path) -> None:
    whole = (folder / "part-2.parquet").read_bytes()
    (folder / "part-2.parquet").write_bytes(whole[: len(whole) // 2] + whole[-200:])


def infinite(folder: Path) -> None:
    table = pl.read_parquet(folder / "part-2.parquet")
    table.with_columns(hours=pl.lit(float("inf"))).write_parquet(folder / "part-2.parquet")


BAD = {
    "other columns": (other_columns, {}, "all parts must have the same columns"),
    "other type": (other_type, {}, "a column must have one type in all parts"),
    "repeated ids": (repeated_ids, {}, "give a variable without missing or repeated values the role identifier"),
    "no id": (without_id, {}, "the data have no identifier column 'id'"),
    "broken part": (broken_part, {}, "part-2.parquet"),
    "infinite": (infinite, {}, "has infinite values"),
    "engine": (None, {"engine": "duckbd"}, "duckdb"),
    "not a pattern": (None, {"path": "safe/p.parquet"}, "give a pattern such as part-*.parquet"),
    "no folder": (None, {"path": "nowhere/p-*.parquet"}, "nowhere"),
    "report": (None, {"more": 'report = "r.html"'}, "with an engine name a summary"),
    "edits": (None, {"more": '[[edit]]\nrule = "hours >= 0"'}, "edit"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_and_leaves_nothing_behind(case: str, tmp_path: Path) -> None:
    change, words, sentence = BAD[case]
    plan = project(tmp_path, **words)
    if change is not None:
        change(tmp_path)
    code, said = protect(plan)
    assert code != 0
    assert sentence in said, said
    assert not list((tmp_path / "safe").iterdir())
    assert not list((tmp_path / "spill").iterdir())
    assert not (tmp_path / "summary.json").exists()


def test_an_engine_that_is_not_installed_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    with pytest.raises(OptionalDependencyError, match=r"pip install 'reticent\[duckdb\]'"):
        rt.load(write_parts(people(60), tmp_path), schema=WIDE, engine="duckdb")


def test_a_full_disk_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where the parts go, and where the engine spills to."""

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "safe").mkdir()
    target = tmp_path / "safe" / "part-*.parquet"
    with rt.load(write_parts(people(), tmp_path), schema=WIDE, engine="duckdb") as large:
        for place in ("reticent.io.parts.PartsWriter._append", "polars.DataFrame.write_parquet"):
            with monkeypatch.context() as patch:
                patch.setattr(place, full)
                with pytest.raises(DataError, match="cannot be written"):
                    large.protect(STEPS, target, risk=RISK, secret=SECRET)
            assert not list((tmp_path / "safe").iterdir())
    big = pl.DataFrame({"id": np.arange(400_000), "who": [f"person {n:07d}" for n in range(400_000)]})
    big.write_parquet(tmp_path / "big.parquet")
    with (
        rt.load(
            tmp_path / "big.parquet", engine="duckdb", keys=["who"], identifiers=["id"], memory="16MB", threads=1,
            spill_limit="1MB",
        ) as large,
        pytest.raises(DataError, match="spill|memory"),
    ):  # fmt: skip
        large.protect([rt.mask.Recode("who", truncate=1)], target, most=0.9, secret=SECRET)
    assert not list((tmp_path / "safe").iterdir())


def test_options_are_checked(tmp_path: Path) -> None:
    (tmp_path / "safe").mkdir()
    with rt.load(write_parts(people(200), tmp_path), schema=WIDE, engine="duckdb") as large:
        with pytest.raises(ParameterError, match="given twice"):
            large.protect(STEPS, tmp_path / "safe" / "p-*.parquet", most=0.1, risk=RISK)
        with pytest.raises(ParameterError, match="secret"):
            large.protect(STEPS, tmp_path / "safe" / "p-*.parquet", risk=RISK, secret=7)
