"""Costs as the manual writes them, and levels that reach beyond what the attacker knows."""

from pathlib import Path

import numpy as np
import pytest

from reticent.base.errors import PlanError
from reticent.jobs.argus.run import run_batch
from reticent.jobs.protect_table import audit_plan, run_table_plan

CSV = "a,b,v,w\n" + "\n".join(
    f"{a},{b},{v},{v * v}" for a in "xyz" for b in "klm" for v in ((5, 60) if a + b == "xk" else (11, 12, 13))
)
SCHEMA = "".join(f'[[variable]]\nname = "{name}"\nrole = "key"\n' for name in "ab") + "".join(
    f'[[variable]]\nname = "{name}"\nkind = "numeric"\n' for name in "vw"
)


def write(folder: Path, table: str, protect: str) -> Path:
    (folder / "d.csv").write_text(CSV)
    (folder / "s.toml").write_text(SCHEMA)
    (folder / "plan.toml").write_text(
        f'[data]\npath = "d.csv"\nschema = "s.toml"\n[table]\ndimensions = ["a", "b"]\nresponse = "v"\n{table}\n'
        f'rules = [{{ rule = "threshold", minimum = 3, protection = 20 }}]\n[protect]\nmethod = "optimal"\n{protect}\n'
        '[output]\npath = "out.csv"\n'
    )
    return folder / "plan.toml"


@pytest.mark.parametrize(
    ("cost", "power"), [("value^0.5", 0.5), ("w", 1.0), ("w^0.5", 0.5), ("unity", 0.0), ("sqrt", 0.5)]
)
def test_costs_of_the_manual(tmp_path: Path, cost: str, power: float) -> None:
    problem = run_table_plan(write(tmp_path, "", f'cost = "{cost}"')).problem
    inner = 11.0**2 + 12.0**2 + 13.0**2 if cost.startswith("w") else 36.0
    assert np.isclose(problem.cost, inner**power).any()


def test_a_power_that_would_not_count_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="behind the cost"):
        run_table_plan(write(tmp_path, "", "power = 0.5"))


def test_levels_beyond_the_bounds_are_told(tmp_path: Path) -> None:
    notes = audit_plan(write(tmp_path, 'bounds = { lower = "10 %", upper = "10 %" }', "")).notes
    assert (
        "The levels of 1 unsafe cells reach above the attacker's bounds; there the bounds were widened to them."
        in notes
    )
    assert "The levels of 1 unsafe cells reach below the attacker's bounds; there they end at the bounds." in notes
    assert audit_plan(write(tmp_path, 'bounds = { lower = "50 %", upper = "50 %" }', "")).notes == ()
    assert audit_plan(write(tmp_path, "", "")).notes == ()


@pytest.mark.parametrize("source", ["a-priori file", "finished table"])
def test_given_levels_that_reach_below_zero_are_told(tmp_path: Path, source: str) -> None:
    """65 ± 100: below 0 there is nothing that could be protected, and who asked for it must know."""
    below = "The levels of 1 unsafe cells reach below the attacker's bounds; there they end at the bounds."
    if source == "a-priori file":
        plan = write(tmp_path, 'a_priori = "known.hst"', "")
        known = tmp_path / "known.hst"
        known.write_text("x;k;PL;100;20\n")
    else:
        plan, known = tmp_path / "plan.toml", tmp_path / "t.csv"
        values = {a + b: 65 if a + b == "xk" else 36 for a in "xyz" for b in "klm"}
        rows = [f"{c[0]},{c[1]},{v},{'u' if c == 'xk' else 's'},{100 * (c == 'xk')},20" for c, v in values.items()]
        known.write_text("\n".join(["a,b,v,s,lo,up", *rows]) + "\n")
        plan.write_text(
            '[data]\npath = "t.csv"\n[table]\ndimensions = ["a", "b"]\n[table.finished]\nvalue = "v"\nstatus = "s"\n'
            'lower_protection = "lo"\nupper_protection = "up"\ncomplete = true\n'
            '[protect]\nmethod = "optimal"\n[output]\npath = "out.csv"\n'
        )
    result = audit_plan(plan)
    assert below in result.notes
    unsafe = int(np.flatnonzero(result.problem.primary)[0])
    # whole numbers without frequencies may be counts, and nobody is in no hidden cell
    room = 65 if source == "a-priori file" else 64
    assert result.problem.lower_protection[unsafe] == room
    known.write_text(known.read_text().replace("100", str(room)))
    assert below not in audit_plan(plan).notes


def test_a_batch_names_a_variable_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "d.asc").write_text("a 1\nb 2\n")
    (tmp_path / "d.rda").write_text("Region 1 1\n <RECODEABLE>\nTurnover 3 1\n <NUMERIC>\n")
    (tmp_path / "b.arb").write_text(
        '<OPENMICRODATA> "d.asc"\n<OPENMETADATA> "d.rda"\n<SPECIFYTABLE> "Regoin"|"Turnover"||\n'
        "<SAFETYRULE> FREQ(3,20)\n<READMICRODATA>\n"
    )
    with pytest.raises(
        PlanError, match=r"b.arb, line 3: the metadata have no variable 'Regoin'. Did you mean 'Region'"
    ):
        run_batch(tmp_path / "b.arb")
