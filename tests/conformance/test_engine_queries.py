"""A query database over an engine answers and refuses, bit for bit, as one in memory; what needs records says so."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import reticent as rt
from conformance.engine_data import SCHEMA, records, write_parts
from reticent.base.errors import PlanError, ReticentError
from reticent.data.large import LargeFile
from reticent.data.microdata import Microdata
from reticent.ledger.chain import LedgerError
from reticent.queries.database import ProtectedDatabase
from reticent.queries.modes import MODES
from reticent.queries.policy import Bounds, Policy
from reticent.queries.refusals import Answer, Refusal

QUERIES = (
    "SELECT COUNT(*) FROM data",
    "SELECT COUNT(*), SUM(income) FROM data WHERE sex = 'm'",
    "SELECT COUNT(income) FROM data WHERE sex = 'm' OR place = 'a'",
    "SELECT SUM(income) FROM data WHERE sex = 'f' AND job <> 10",
    "SELECT AVG(income) FROM data GROUP BY job WITH TOTALS",
    "SELECT SUM(income) FROM data WHERE age >= 40",
    "SELECT SUM(income), COUNT(*) FROM data WHERE age < 25 AND job = 30",
    "SELECT SUM(income) FROM data WHERE NOT place = '北京' AND age < 40",
    "SELECT SUM(income) FROM data WHERE place = 'a' AND age < 25 AND job = 10 AND sex = 'f'",
    "SELECT SUM(income) FROM data WHERE place = 'nowhere'",
    "SELECT VARIANCE(income), STDDEV(income) FROM data WHERE sex = 'f'",
    "SELECT KM(age, event) FROM data WHERE sex = 'm'",
    "SELECT CORR(income, event) FROM data",
    "SELECT RATIO(income, event) FROM data WHERE job = 20",
    "SELECT MEDIAN(income) FROM data",
    "SELECT LINREG(income, job) FROM data",
    "SELECT SUM(income) FROM data WHERE age >= 41",
    "SELECT SUM(wealth) FROM data",
)
RESPONSES = ("income", "event")
WIDE = rt.Schema((*SCHEMA.variables, rt.Variable("event", kind="numeric")))
BOUNDS = {"income": Bounds(-100_000, 200_000), "event": Bounds(0, 1, True)}


def people(n: int = 600) -> pl.DataFrame:
    """Records with missing incomes; some small groups, so that modes have something to refuse."""
    table = records(n).with_columns(event=pl.col("id") % 2)
    return table.with_columns(income=pl.when(pl.col("id") % 17 == 0).then(None).otherwise("income"))


def policy(mode: str, **changes: Any) -> Policy:
    options: dict[str, Any] = {
        "mode": mode,
        "test": mode == "open",
        "filters": ("sex", "age", "place", "job"),
        "responses": ("income",) if mode == "exact" else RESPONSES,
        "cutpoints": {"age": (25, 40, 60)},
        "minimum": 4,
        "options": {"cell-key": {"sums": {"small": 0.1}}},
    }
    options["bounds"] = {name: BOUNDS[name] for name in options["responses"]}
    return Policy(**{**options, **changes})


def opened(data: Microdata | LargeFile, rules: Policy, ledger: Path) -> ProtectedDatabase:
    return ProtectedDatabase(data, policy=rules, secret=5, test_secret=True, ledger=ledger)


POLICIES: dict[str, Policy] = {
    "open": policy("open"),
    "exact": policy("exact"),
    "exact, dominance": policy("exact", dominance=(2, 60), p_percent=20, interval=5),
    "exact, without bounds": policy("exact", filters=("sex", "job", "event"), cutpoints={}, bounds={}),
    "simulatable": policy("simulatable"),
    "simulatable, declared": policy("simulatable", options={"simulatable": {"ties": "declared"}}),
    "cell-key": policy("cell-key"),
    "cell-key, range": policy("cell-key", options={"cell-key": {"sums": {"magnifier": "range", "small": 0.1}}}),
    "private": policy("private", options={"private": {"total": 50, "epsilon": 0.5}}),
}


@pytest.mark.parametrize("case", POLICIES)
def test_answers_and_refusals_are_those_of_memory(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every mode that works on classes, with missing values, Unicode and duplicates, on one and two threads."""
    rules = POLICIES[case]
    if rules.mode == "private":  # noise is the operating system's: compare what it is added to
        pytest.importorskip("opendp")
        for name in ("_noisy_count", "_noisy_sum"):
            monkeypatch.setattr(f"reticent.queries.noise.private.PrivateMode.{name}", lambda _, value, *__: value)
    able = MODES[rules.mode].in_engine
    data = Microdata.of(people(), WIDE)
    memory = opened(data, rules, tmp_path / "memory.ledger")
    answered = refused = 0
    for threads in (1, 2):
        folder = tmp_path / str(threads)
        folder.mkdir()
        with rt.load(write_parts(people(), folder), schema=WIDE, engine="duckdb", threads=threads) as large:
            engine = opened(large.file, rules, folder / "engine.ledger")
            for text in QUERIES:
                found = engine.ask(text, user="ann")
                if not _words(text) <= set(able):
                    assert isinstance(found, Refusal)
                    continue
                true = memory.ask(text, user="ann")
                if threads == 1 or isinstance(found, Refusal):  # the second time, memory repeats what it said
                    assert found == true, text
                else:
                    assert found.rows == true.rows  # type: ignore[union-attr]
                answered += isinstance(found, Answer)
                refused += isinstance(found, Refusal)
            if threads == 1:
                assert [own["staff"] for own in engine.history()] == [own["staff"] for own in memory.history()]
            engine.close()
    assert answered >= 6
    assert refused >= 2


def _words(text: str) -> set[str]:
    names = ("count", "sum", "avg", "variance", "stddev", "km", "corr", "ratio", "median", "linreg")
    return {name for name in names if f"{name.upper()}(" in text}


def test_one_ledger_serves_both(tmp_path: Path) -> None:
    """Begun in an engine, continued in memory and the other way round: sets keep their names, repeats their values."""
    source = write_parts(people(), tmp_path)
    data = Microdata.of(people()[::-1], WIDE)  # the order of records does not matter to an engine
    for first, second in (("engine", "memory"), ("memory", "engine")):
        ledger = tmp_path / f"{first}.ledger"
        answers = []
        for where in (first, second, first):
            with rt.load(source, schema=WIDE, engine="duckdb") as large:
                database = opened(large.file if where == "engine" else data, POLICIES["exact"], ledger)
                answers.append([database.ask(text, user="ann") for text in QUERIES[:9]])
                database.close()
        for before, middle, after in zip(*answers, strict=True):
            if isinstance(before, Answer):
                assert before.rows == middle.rows == after.rows
            else:
                assert before == middle == after


def test_other_records_under_a_name_are_noticed(tmp_path: Path) -> None:
    changed = people().with_columns(income=pl.when(pl.col("id") == people()["id"][3]).then(1.0).otherwise("income"))
    for at, table in enumerate((people(), changed)):
        folder = tmp_path / str(at)
        folder.mkdir()
        with rt.load(write_parts(table, folder), schema=WIDE, engine="duckdb") as large:
            if at:
                with pytest.raises(LedgerError, match="was other data"):
                    opened(large.file, POLICIES["exact"], tmp_path / "a.ledger")
            else:
                opened(large.file, POLICIES["exact"], tmp_path / "a.ledger").close()


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "analysis": ({"mode": "analysis", "bounds": {}}, "mode analysis works on single records"),
    "camouflage": ({"mode": "camouflage"}, "mode camouflage works on single records"),
    "several responses": ({"responses": RESPONSES}, "name one response"),
    "known": ({"known": ("7",)}, "known respondents"),
    "false bounds": ({"bounds": {"income": Bounds(0, 10)}}, "do not hold for"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_needs_records_is_refused_before_a_ledger_is_made(case: str, tmp_path: Path) -> None:
    changes, words = REFUSED[case]
    rules = policy(changes.get("mode", "exact"), **{k: v for k, v in changes.items() if k != "mode"})
    with (
        rt.load(write_parts(people(200), tmp_path), schema=WIDE, engine="duckdb") as large,
        pytest.raises(ReticentError, match=words) as caught,
    ):
        opened(large.file, rules, tmp_path / "a.ledger")
    assert "\n" not in str(caught.value)
    if case != "false bounds":  # the mode looks at values when the ledger is there, as in memory
        assert not (tmp_path / "a.ledger").exists()


def test_records_without_identifier_or_exact_decimals(tmp_path: Path) -> None:
    fine = people(200).with_columns(income=pl.col("income") / 7)
    twice = people(200).with_columns(id=pl.lit(1))
    for at, (table, words) in enumerate(((fine, "have more decimals"), (twice, "identifier column"))):
        folder = tmp_path / str(at)
        folder.mkdir()
        with (
            rt.load(write_parts(table, folder), schema=WIDE, engine="duckdb") as large,
            pytest.raises(ReticentError, match=words),
        ):
            opened(large.file, POLICIES["exact"], folder / "a.ledger")
        assert not (folder / "a.ledger").exists()


FILE = """
[data]
path = "part-*.parquet"
schema = "people.toml"
secret = 5
test_secret = true
engine = "duckdb"
memory = "1GB"
threads = 1
[ledger]
path = "people.ledger"
[policy]
mode = "exact"
minimum = 4
filters = ["sex", "job"]
responses = ["income"]
"""


def test_a_database_file_names_the_engine(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from reticent.cli.main import app
    from reticent.io.schema import write_schema

    write_parts(people(), tmp_path)
    write_schema(WIDE, tmp_path / "people.toml")
    file = tmp_path / "people-db.toml"
    file.write_text(FILE, encoding="utf-8")
    rules = policy("exact", filters=("sex", "job"), cutpoints={}, bounds={})
    true = opened(Microdata.of(people(), WIDE), rules, tmp_path / "memory.ledger").ask(QUERIES[1], user="ann")
    run = CliRunner().invoke(app, ["ask", str(file), QUERIES[1], "--user", "ann", "--json", str(tmp_path / "a.json")])
    assert run.exit_code == 0, run.output
    assert json.loads((tmp_path / "a.json").read_text())["rows"] == true.as_json()["rows"]
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".reticent-spill")]
    with pytest.raises(PlanError, match="without an engine"):
        rt.attack_database(file)
    file.write_text(FILE + '[[earlier]]\npath = "part-0.parquet"\nversion = "0"\n', encoding="utf-8")
    with pytest.raises(PlanError, match="linked record by record"):
        rt.open_database(file)
    file.write_text(FILE.replace('engine = "duckdb"\n', ""), encoding="utf-8")
    with pytest.raises(ReticentError, match="memory is for an engine"):
        rt.open_database(file)
