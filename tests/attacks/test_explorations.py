"""Explorations and drafts, against what `protect` says of the same file. A map called held what `protect` refuses.

The maker of a map trusts `holds`, and the plan that is written because of it. Both were about three attacks only, as a mean
over draws, and were true where no limit was stated at all.
"""

import shutil
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reticent as rt
from command_line import CommandLine
from reticent import mask
from reticent.base.errors import ParameterError
from reticent.data.method import MaskingMethod
from reticent.data.verdict import State
from reticent.jobs.explore import run_explore_spec

SECRET = bytes(np.random.default_rng(11).integers(0, 256, 32, dtype=np.uint8))


def people(n: int = 240, *, weights: bool = True, seed: int = 5) -> rt.Data:
    """Six regions with a design weight each, two keys more."""
    draw = np.random.default_rng(seed)
    region = draw.integers(0, 6, n)
    columns = {
        "region": [f"r{x}" for x in region],
        "sex": draw.choice(["m", "f"], n),
        "age": draw.choice(["a", "b", "c"], n),
    }
    variables = [rt.Variable(name, role="key") for name in columns]
    if weights:
        columns["w"] = 10.0 * (region + 1)
        variables.append(rt.Variable("w", role="weight", kind="numeric"))
    return rt.load(pl.DataFrame(columns), schema=rt.Schema(tuple(variables)))


HALVES = mask.Recode("region", map={f"r{x}": "A" if x < 3 else "B" for x in range(6)})


def test_weights_that_tell_regions_hold_neither_in_protect_nor_on_the_map() -> None:
    data = people()
    run = data.protect([HALVES], most=0.05, secret=SECRET)
    assert run.verdict["weights"].state is State.NOT_HELD
    steps = {"halves": [HALVES], "no weights": [HALVES, mask.RemoveIdentifiers(("w",))]}
    both = data.explore(steps, settings=rt.ExploreSettings(most_risk=0.1, draws=1, fresh=1), secret=SECRET)
    assert "weights not held" in both.rows()[0]["not held"]
    assert both.chosen == tuple(steps["no weights"])
    alone = data.explore(
        {"halves": [HALVES]}, settings=rt.ExploreSettings(most_risk=0.1, draws=1, fresh=1), secret=SECRET
    )
    assert not alone.holds
    assert alone.chosen == ()


@pytest.mark.parametrize("keep", [0.4, 0.6])
def test_what_holds_on_average_does_not_hold(keep: float) -> None:
    """With codes changed by chance one draw has a largest risk of 0.2 and the next of 1: `protect` refuses half of them."""
    data = people(weights=False)
    steps: Sequence[MaskingMethod] = [mask.Pram(("region", "sex", "age"), keep=keep)]
    risks = [
        max(one.value or 0.0 for one in data.protect(steps, most=1.0, secret=SECRET[n:] + SECRET[:n]).verdict.asked)
        for n in range(6)
    ]
    between = (min(risks) + max(risks)) / 2
    assert min(risks) < max(risks)
    found = data.explore(
        {"pram": steps}, settings=rt.ExploreSettings(most_risk=between, draws=6, fresh=6), secret=SECRET
    )
    row = found.rows()[0]
    assert row["risk"] < row["highest risk"]
    assert found.holds == (row["highest risk"] <= between and found.found.fresh.highest_risk <= between)  # type: ignore[union-attr]


def test_without_a_limit_nothing_is_held() -> None:
    """`protect` wants the limit stated, or takes that of weights; the map called everything held."""
    settings = rt.ExploreSettings(draws=1, fresh=1, attacks=("recount", "linkage"))
    without = people(weights=False).explore({"as it is": []}, settings=settings, secret=SECRET)
    assert without.state is State.NOT_JUDGED
    assert not without.holds
    weighted = people(60).explore({"as it is": []}, settings=settings, secret=SECRET)
    assert weighted.state is State.NOT_HELD


def test_a_plan_is_written_only_where_protect_could_run_it(tmp_path: Path) -> None:
    people(weights=False).confidential_frame().write_csv(tmp_path / "people.csv")
    variables = "".join(f'[[variable]]\nname = "{name}"\nrole = "key"\n' for name in ("region", "sex", "age"))
    (tmp_path / "people.schema.toml").write_text(variables, encoding="utf-8")
    (tmp_path / "key").write_text(SECRET.hex(), encoding="ascii")
    spec = tmp_path / "spec.toml"
    text = (
        '[data]\npath = "people.csv"\nschema = "people.schema.toml"\nsecret = "key"\n[explore]\ndraws = 1\nfresh = 1\n{}'
        '[[candidate]]\nmethod = "remove-identifiers"\nvariables = ["region"]\n[output]\nplan = "chosen.toml"\n'
    )
    spec.write_text(text.format(""), encoding="utf-8")
    with pytest.raises(ParameterError, match="must be stated"):
        run_explore_spec(spec)
    assert not (tmp_path / "chosen.toml").exists()
    spec.write_text(text.format("most_risk = 0.2\n"), encoding="utf-8")
    assert run_explore_spec(spec)[1].holds
    assert (tmp_path / "chosen.toml").exists()


def test_a_draft_that_is_not_held_does_not_say_protect(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers without keys cannot be judged; the screen said "Next: reticent protect", which writes nothing."""
    draw = np.random.default_rng(1)
    pl.DataFrame({"pay": draw.lognormal(8, 1, 90).round(), "tax": draw.lognormal(6, 1, 90).round()}).write_csv(
        tmp_path / "pay.csv"
    )
    reticent = CommandLine(capsys, monkeypatch)
    drafted = reticent("plan", tmp_path / "pay.csv")
    assert drafted.code == 0, drafted.err
    assert "recount not judged" in drafted.out
    assert "Next: reticent protect" not in drafted.out
    assert "protect would write nothing: give variables their roles in the schema and draft again" in drafted.out
    assert "protect would write nothing" in (tmp_path / "pay.plan.toml").read_text(encoding="utf-8").splitlines()[0]
    assert reticent("protect", tmp_path / "pay.plan.toml").code == 5
    assert not (tmp_path / "pay.safe.csv").exists()


def test_a_draft_for_a_few_records_is_one_that_can_be_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A draft that wants groups of ten ended the whole command in a file of eight."""
    rows = "\n".join(f"{'mf'[n % 2]},{'xyz'[n % 3]},{n * 37 % 11}" for n in range(8))
    (tmp_path / "few.csv").write_text(f"sex,job,pay\n{rows}\n", encoding="utf-8")
    drafted = CommandLine(capsys, monkeypatch)("plan", tmp_path / "few.csv")
    assert drafted.code == 0, drafted.err


def test_a_drafted_plan_finds_a_schema_of_another_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(str(files("reticent") / "starter_data" / "firms.csv"), tmp_path / "firms.csv")
    reticent = CommandLine(capsys, monkeypatch)
    (tmp_path / "schemas").mkdir()
    assert reticent("describe", tmp_path / "firms.csv", "-o", tmp_path / "schemas" / "firms.toml").code == 0
    drafted = reticent("plan", tmp_path / "firms.csv", "--table", "-s", tmp_path / "schemas" / "firms.toml")
    assert drafted.code == 0, drafted.err
    done = reticent(*drafted.out.rpartition("Next: reticent ")[2].split())
    assert done.code == 0, done.err


def test_the_secret_of_synthetic_copies_is_kept() -> None:
    """Every further copy needs the secret that was drawn; none of the runs had it."""
    pytest.importorskip("sklearn")
    data = people(weights=False)
    step = mask.Synthesize(("region", "sex", "age"))
    judged = rt.RiskSection(most=1.0, attacks=("linkage",))
    runs = data.synthetic_copies(step, 2, risk=judged)
    kept = {run.summary()["secret"] for run in runs}
    assert len(kept) == 1
    assert all("one was drawn" in " ".join(run.notes) for run in runs)
    again = data.synthetic_copies(step, 2, risk=judged, secret=bytes.fromhex(kept.pop()))
    for one, other in zip(runs, again, strict=True):
        assert one.confidential_frame().equals(other.confidential_frame())
        assert "secret" not in other.summary()


def rates(*, weights: bool, limit: float, fresh: int = 3, runs: int = 10) -> tuple[int, int, int]:
    """Of 20 explorations those that hold, and of further runs of what they chose how many `protect` refuses."""
    held = refused = 0
    for number in range(20):
        data = people(300, weights=weights, seed=number)
        tried = {f"keep {k}": [HALVES, mask.Pram(("region", "sex", "age"), keep=k)] for k in (0.5, 0.7, 0.9)}
        if weights:
            tried["halves"] = [HALVES]
        settings = rt.ExploreSettings(most_risk=limit, fresh=fresh)
        made = data.explore(tried, settings=settings, secret=_key(number))
        held += made.holds
        for run in range(runs * made.holds):
            again = data.protect(list(made.chosen), most=limit, secret=_key(1000 * number + run + 7))
            refused += not again.verdict.held
    return held, refused, runs * held


def _key(number: int) -> bytes:
    return bytes(np.random.default_rng(number).integers(0, 256, 32, dtype=np.uint8))


if __name__ == "__main__":
    print("weights", rates(weights=True, limit=0.05, runs=5))  # noqa: T201
    for most in (0.05, 0.06, 0.07, 0.1):
        for draws in (3, 20):
            print(f"chance, {most}, {draws} fresh draws", rates(weights=False, limit=most, fresh=draws))  # noqa: T201
