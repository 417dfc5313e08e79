"""Respondents and coalitions as attackers of intervals: as by attacking the whole system with their cells fixed."""

import itertools
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from reference.tables import crossed, flat, full_intervals
from reticent.base.errors import ParameterError
from reticent.cli.main import app
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.io.jj import read_jj, write_jj
from reticent.jobs.protect_table import audit_plan, protect_table
from reticent.report.table_report import confidential_table_report
from reticent.tables.attack.inside import audit_inside
from reticent.tables.methods import PrimaryOnly
from reticent.tables.problem import SuppressionProblem
from reticent.tables.request import Attacker
from reticent.tables.rules import Threshold
from samples import examples


def _table(seed: int, share: float, level: float) -> tuple[SuppressionProblem, np.ndarray]:
    rng = np.random.default_rng(seed)
    shape = (3, 4) if seed % 2 else (2, 2, 2)
    values, relations = crossed([flat(n) for n in shape], rng.integers(1, 20, shape).astype(float))
    hidden = rng.random(len(values)) < share
    primary = hidden & (rng.random(len(values)) < 0.6)
    alone = np.where(primary & (rng.random(len(values)) < 0.7), rng.integers(0, 4, len(values)), -1)
    problem = SuppressionProblem.from_values(
        values, relations, primary=primary, lower_protection=level * values, upper_protection=level * values,
        upper_bound=3 * values, respondent=alone,
    )  # fmt: skip
    return problem, hidden


def _lost(
    problem: SuppressionProblem, hidden: np.ndarray, known: np.ndarray | None = None
) -> dict[int, tuple[float, float]]:
    """Primaries found too closely; what those who know some cells know even if nothing is published does not count."""
    found = {}
    nothing = np.ones(len(hidden), dtype=bool)
    anyway = {} if known is None else full_intervals(problem, nothing & ~known)
    for cell, (low, high) in full_intervals(problem, hidden if known is None else hidden & ~known).items():
        value = problem.values[cell]
        least, most = anyway.get(cell, (-np.inf, np.inf))
        short = (
            low > max(value - problem.lower_protection[cell], least) + 1e-5
            or high < min(value + problem.upper_protection[cell], most) - 1e-5
        )
        if problem.primary[cell] and (short or (high - low < 1e-6 < most - least)):
            found[cell] = (low, high)
    return found


@examples(5)
@given(seed=st.integers(0, 10**6), share=st.floats(0.5, 0.95), level=st.sampled_from([0.0, 0.3]))
def test_coalitions_find_what_the_whole_system_gives(seed: int, share: float, level: float) -> None:
    problem, hidden = _table(seed, share, level)
    who = problem.respondent
    public = set(_lost(problem, hidden))
    wanted: dict[tuple[tuple[int, ...], int], tuple[float, float]] = {}
    people = sorted({int(r) for r in who[hidden] if r >= 0})
    for size in (1, 2):
        for members in itertools.combinations(people, size):
            for cell, ends in _lost(problem, hidden, np.isin(who, members)).items():
                exact = ends[1] - ends[0] < 1e-6
                told = [wanted[(r,), cell] for r in members if ((r,), cell) in wanted] if size == 2 else []
                smaller = any(high - low < 1e-6 or not exact for low, high in told)
                if cell not in public and not smaller:
                    wanted[members, cell] = ends
    found = audit_inside(problem, hidden, levels=True, coalition=2)
    ours = {(item.respondents, item.cell): (item.low, item.high) for item in found.findings}
    assert set(ours) == set(wanted)
    assert all(ours[key] == pytest.approx(wanted[key], abs=1e-5) for key in ours)
    assert found.left_out == 0


def test_two_who_join_undo_a_third() -> None:
    """10 + 20 + 30 of a total of 100: alone nobody knows another cell, two together know the third."""
    values, relations = crossed([flat(4)], np.array([10.0, 20, 30, 40]))
    problem = SuppressionProblem.from_values(
        values, relations, primary=np.arange(5) % 4 != 0, respondent=np.array([-1, 7, 8, 9, -1])
    )
    hidden = problem.primary
    assert audit_inside(problem, hidden, levels=False).findings == ()
    pairs = audit_inside(problem, hidden, levels=False, coalition=2)
    assert [(item.respondents, item.cell, item.exact) for item in pairs.findings] == [
        ((7, 8), 3, True), ((7, 9), 2, True), ((8, 9), 1, True),
    ]  # fmt: skip
    few = audit_inside(problem, hidden, levels=False, coalition=2, limit=4)
    assert (few.attacked, few.left_out, len(few.findings)) == (4, 2, 1)
    none = audit_inside(problem, hidden, levels=False, coalition=2, time_limit=-1.0)
    assert (none.attacked, none.left_out, none.findings) == (0, 6, ())
    with pytest.raises(ParameterError, match="coalition must be"):
        audit_inside(problem, hidden, coalition=0)


def _firms() -> tuple[pl.DataFrame, Schema]:
    frame = pl.DataFrame({"a": list("ABCDDD"), "v": [50.0, 70, 60, 30, 31, 32]})
    return frame, Schema((Variable("a", role=Role.KEY), Variable("v", kind=Kind.NUMERIC)))


def test_through_the_job_and_the_report() -> None:
    data = Microdata.of(*_firms())
    spec = TableSpec((DimensionSpec("a"),), response="v")
    rules = [Threshold(minimum=2, protection=80)]
    result = protect_table(data, spec, rules=rules, method=PrimaryOnly(), accept_exposed=True)
    assert result.exposed == ()  # the public is far off, and nobody finds a cell exactly
    assert {result.table.name_of(item.cell) for item in result.inside.findings} == {"B"}  # from C: at most 120
    assert result.summary()["inside"]["found"][0]["respondents"] == 1
    assert "Sole respondents of a cell: not held" in confidential_table_report(result)
    both = protect_table(
        data, spec, rules=rules, method=PrimaryOnly(), attacker=Attacker(coalition=2), accept_exposed=True
    )
    assert sum(item.exact for item in both.inside.findings) == 3
    assert len(both.exposed) == 3


def test_through_plan_and_command_line(tmp_path: Path) -> None:
    frame, _ = _firms()
    frame.write_csv(tmp_path / "firms.csv")
    (tmp_path / "s.toml").write_text(
        '[[variable]]\nname = "a"\nrole = "key"\n[[variable]]\nname = "v"\nkind = "numeric"\n'
    )
    plan = tmp_path / "plan.toml"
    plan.write_text(
        '[data]\npath = "firms.csv"\nschema = "s.toml"\n[table]\ndimensions = ["a"]\nresponse = "v"\n'
        'rules = [{ rule = "threshold", minimum = 2 }]\n[protect]\ncoalition = 2\n'
    )
    assert len(audit_plan(plan).inside.findings) == 3
    assert audit_plan(plan, coalition=1).inside.coalition == 1
    out = tmp_path / "o.json"
    run = CliRunner().invoke(app, ["audit", str(plan), "--insiders", "protect", "--json", str(out)])
    assert run.exit_code == 0, run.output
    assert "Sole respondents of a cell: not held" in run.output
    assert json.loads(out.read_text())["inside"]["coalition"] == 2
    wrong = CliRunner().invoke(app, ["audit", str(plan), "--insiders", "protec"])
    assert "Did you mean 'protect'" in str(wrong.exception)


def test_single_ids_of_a_jj_file(tmp_path: Path) -> None:
    values, relations = crossed([flat(4)], np.array([10.0, 20, 30, 40]))
    problem = SuppressionProblem.from_values(values, relations, primary=np.arange(5) % 4 != 0, upper_bound=200.0)
    path = tmp_path / "t.jj"
    write_jj(problem, path)
    assert read_jj(path).n_cells == 5
    run = CliRunner().invoke(
        app, ["audit", str(path), "--suppressed", "1,2,3", "--single", "1,2,3", "--coalition", "2"]
    )
    assert run.exit_code == 0, run.output
    assert "they find 3 other unsafe cells exactly" in run.output
    alone = CliRunner().invoke(app, ["audit", str(path), "--suppressed", "1,2,3", "--coalition", "2"])
    assert "need --single" in str(alone.exception)
