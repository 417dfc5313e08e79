"""Explorations: the front, the choice, fresh draws, resuming, processes, the command."""

import json
import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from reticent.base.errors import Cancelled, ParameterError, PlanError
from reticent.base.randomness import as_secret
from reticent.cli.main import app
from reticent.data.microdata import Microdata
from reticent.data.plan import plan_from_table, read_toml
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.explore import Candidate, ExploreSettings, Point, explore, pareto_front
from reticent.microdata.explore_spec import explore_spec_from_table
from reticent.microdata.mask import METHODS
from reticent.microdata.mask.microaggregation import Microaggregate
from reticent.microdata.mask.noise import Noise
from reticent.microdata.protect import protect_data
from reticent.microdata.verdict import risk_of

NAMES = ("a", "b", "c")


def people(n: int = 120) -> Microdata:
    rng = np.random.default_rng(0)
    base = rng.lognormal(3, 1, n)
    frame = pl.DataFrame({"a": base, "b": base * 0.5 + rng.normal(0, 3, n), "c": rng.normal(50, 10, n)})
    return Microdata.of(frame, Schema(tuple(Variable(name, kind=Kind.NUMERIC) for name in NAMES)))


def candidates() -> tuple[Candidate, ...]:
    return (
        Candidate("little noise", (Noise(NAMES, k=0.01),)),
        Candidate("much noise", (Noise(NAMES, k=1.0),)),
        Candidate("groups of 3", (Microaggregate(NAMES, k=3),)),
        Candidate("groups of 30", (Microaggregate(NAMES, k=30),)),
        Candidate("impossible", (Microaggregate(NAMES, k=1000),)),
    )


def point(name: str, risk: float, loss: float) -> Point:
    return Point(name, 1, risk, risk, loss, (risk + loss) / 2, {})


def test_the_front_is_what_nothing_beats() -> None:
    points = [point("a", 0.1, 0.5), point("b", 0.5, 0.1), point("c", 0.5, 0.5), point("d", 0.1, 0.5)]
    assert pareto_front(points) == ("a", "d", "b")


def test_more_protection_is_less_risk_and_more_loss() -> None:
    found = explore(people(), candidates(), settings=ExploreSettings(attacks=("linkage",), draws=2, fresh=1), secret=1)
    rows = {row["candidate"]: row for row in found.rows()}
    assert rows["little noise"]["risk"] > rows["much noise"]["risk"]
    assert rows["little noise"]["loss"] < rows["much noise"]["loss"]
    assert rows["groups of 3"]["linkage"] <= 0.5
    assert rows["groups of 30"]["risk"] < rows["groups of 3"]["risk"]
    assert "cannot make a group" in rows["impossible"]["failed"] or "fewer than k" in rows["impossible"]["failed"]
    assert found.front
    assert "impossible" not in found.front
    assert found.chosen is not None
    assert rows[found.chosen.name]["score"] == min(r["score"] for r in found.rows() if not r["failed"])


def test_a_risk_limit_decides_and_fresh_draws_are_other_draws() -> None:
    settings = ExploreSettings(attacks=("linkage",), draws=2, fresh=2, most_risk=0.35)
    found = explore(people(), candidates(), settings=settings, secret=1)
    assert found.chosen is not None
    assert found.fresh is not None
    allowed = [p for p in found.points if not p.failed and p.highest_risk <= 0.35]
    chosen = next(p for p in allowed if p.name == found.chosen.name)
    assert chosen.loss == min(p.loss for p in allowed)
    noisy = explore(
        people(), candidates()[:1], settings=ExploreSettings(attacks=("linkage",), draws=2, fresh=2), secret=1
    )
    assert noisy.fresh is not None
    assert noisy.fresh.loss != noisy.points[0].loss
    nothing = explore(
        people(), candidates(), settings=ExploreSettings(attacks=("linkage",), draws=1, most_risk=0.0), secret=1
    )
    assert nothing.chosen is None
    assert not nothing.holds


def test_an_identifier_that_is_said_to_be_known_is_followed_as_protect_follows_it() -> None:
    """The map did not link by it, and the run of the same steps did."""
    data = people()
    frame = data.frame.table.with_columns(who=pl.Series([f"p{i}" for i in range(data.n_records)]))
    named = Microdata.of(frame, Schema((Variable("who", role=Role.IDENTIFIER), *data.schema.variables)))
    settings = ExploreSettings(attacks=("linkage",), known=("who",), draws=1, fresh=1)
    tried = Candidate("much noise", (Noise(NAMES, k=1.0),))
    found = explore(named, (tried,), settings=settings, secret=1)
    secret = as_secret(1).child("draw 0")
    run = protect_data(named, tried.steps, risk=settings.risk, most=1.0, secret=secret, test_secret=True)
    assert found.points[0].risk == risk_of(run.verdict) == 1.0


def test_common_random_numbers() -> None:
    """The same candidate under two names meets the same draws."""
    twice = (Candidate("one", (Noise(NAMES, k=0.1),)), Candidate("other", (Noise(NAMES, k=0.1),)))
    found = explore(people(), twice, settings=ExploreSettings(attacks=("linkage",), draws=2, fresh=1), secret=5)
    assert found.points[0].measures == found.points[1].measures


def test_resume_gives_the_same_and_does_not_measure_again(tmp_path: Path) -> None:
    state = tmp_path / "state.jsonl"
    settings = ExploreSettings(attacks=("linkage",), draws=2, fresh=1)
    calls: list[float] = []

    def stop_half_way(share: float, what: str = "") -> None:
        calls.append(share)
        if share > 0.4:
            raise Cancelled("stop")

    with pytest.raises(Cancelled):
        explore(people(), candidates(), settings=settings, secret=1, state=state, progress=stop_half_way)
    done = len(state.read_text().splitlines()) - 1
    assert 0 < done < 10
    with state.open("a") as file:
        file.write('{"candidate": 3, "dr')  # a run that was killed while writing
    counted: list[float] = []
    resumed = explore(
        people(), candidates(), settings=settings, secret=1, state=state, progress=lambda s, w="": counted.append(s)
    )
    assert resumed.points[:4] == explore(people(), candidates(), settings=settings, secret=1).points[:4]
    assert len(counted) < 10 + 3
    assert [json.loads(line) for line in state.read_text().splitlines()]
    with pytest.raises(PlanError, match="another exploration"):
        explore(people(), candidates()[:2], settings=settings, secret=1, state=state)
    with pytest.raises(ParameterError, match="needs a secret"):
        explore(people(), candidates(), settings=settings, state=tmp_path / "other")


def test_two_processes_find_what_one_finds() -> None:
    two = explore(
        people(),
        candidates()[:2],
        settings=ExploreSettings(attacks=("linkage",), draws=1, fresh=1, processes=2),
        secret=1,
    )
    one = explore(
        people(), candidates()[:2], settings=ExploreSettings(attacks=("linkage",), draws=1, fresh=1), secret=1
    )
    assert one.points == two.points


def spec_table() -> dict:  # type: ignore[type-arg]
    return tomllib.loads(
        """
        [data]
        path = "people.csv"
        schema = "people.toml"
        secret = 3
        [explore]
        attacks = ["linkage"]
        draws = 1
        fresh = 1
        most_risk = 0.9
        [[candidate]]
        method = "microaggregate"
        variables = ["a", "b", "c"]
        vary = {k = [3, 10], partition = ["mdav", "cbfs"]}
        [[candidate]]
        name = "two steps"
        vary = {"2.k" = [4]}
        step = [
          {method = "noise", variables = ["a"], k = 0.1},
          {method = "microaggregate", variables = ["b", "c"]},
        ]
        [output]
        plan = "chosen.toml"
        table = "table.csv"
        report = "report.html"
        state = "state.jsonl"
        """
    )


def test_grids_make_candidates() -> None:
    spec = explore_spec_from_table(spec_table(), METHODS, owner="spec")
    assert [c.name for c in spec.candidates] == [
        "microaggregate (k = 3, partition = mdav)",
        "microaggregate (k = 3, partition = cbfs)",
        "microaggregate (k = 10, partition = mdav)",
        "microaggregate (k = 10, partition = cbfs)",
        "two steps (2.k = 4)",
    ]
    assert spec.candidates[-1].steps == (Noise(("a",), k=0.1), Microaggregate(("b", "c"), k=4))
    table = spec_table()
    table["candidate"][0]["vary"] = {"9.k": [3]}
    with pytest.raises(PlanError, match="a step that is not there"):
        explore_spec_from_table(table, METHODS, owner="spec")
    table["candidate"][0]["vary"] = {"k": 3}
    with pytest.raises(PlanError, match="vary must name options with lists"):
        explore_spec_from_table(table, METHODS, owner="spec")
    table["explore"]["drawz"] = 3
    table["candidate"] = []
    with pytest.raises(PlanError, match="Did you mean 'draws'"):
        explore_spec_from_table(table, METHODS, owner="spec")


def test_the_command_writes_a_plan_that_runs(tmp_path: Path) -> None:
    import tomli_w

    people(60).frame.table.write_csv(tmp_path / "people.csv")
    lines = [f'[[variable]]\nname = "{name}"\nkind = "numeric"\n' for name in NAMES]
    (tmp_path / "people.toml").write_text("\n".join(lines))
    table = spec_table()
    (tmp_path / "spec.toml").write_text(tomli_w.dumps(table))
    run = CliRunner().invoke(app, ["explore", str(tmp_path / "spec.toml")])
    assert run.exit_code == 0, run.output
    assert "fresh draws" in run.output
    plan = plan_from_table(read_toml(tmp_path / "chosen.toml"), METHODS, owner="chosen.toml", folder=tmp_path)
    assert plan.steps
    assert "data:image/svg+xml" in (tmp_path / "report.html").read_text()
    assert len((tmp_path / "table.csv").read_text().splitlines()) == 6
    table["explore"]["most_risk"] = 0.0
    (tmp_path / "spec.toml").write_text(tomli_w.dumps(table))
    (tmp_path / "chosen.toml").unlink()
    again = CliRunner().invoke(app, ["explore", str(tmp_path / "spec.toml")])
    assert again.exit_code == 4
    assert not (tmp_path / "chosen.toml").exists()
