"""Small-count rounding and redesign in plans; and zeros that say nothing about which cells are empty."""

import csv
from pathlib import Path

import numpy as np
import pytest

from reticent.base.errors import InfeasibleError, ParameterError, PlanError
from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.relations import Relations
from reticent.io.jj import read_jj, with_whole_costs, write_jj
from reticent.jobs.protect_table import run_table_plan
from reticent.tables.methods import SmallCounts, attack
from reticent.tables.problem import SuppressionProblem
from table_makers import with_totals

COUNTS = {("a", "x"): 6, ("a", "y"): 1, ("b", "x"): 5, ("b", "y"): 4, ("c", "x"): 2, ("c", "y"): 7, ("d", "y"): 3}
RULE = 'rules = [{ rule = "threshold", minimum = 3 }]'


def write(folder: Path, table: str, protect: str) -> Path:
    rows = [f"{v},{w},{n}" for (v, w), count in COUNTS.items() for n in range(count)]
    (folder / "d.csv").write_text("v,w,n\n" + "\n".join(rows) + "\n")
    names = "".join(f'[[variable]]\nname = "{name}"\nrole = "key"\n' for name in "vw")
    (folder / "s.toml").write_text(names + '[[variable]]\nname = "n"\nkind = "numeric"\n')
    (folder / "office.key").write_text("8f3a61d20c5be94717aa90e4c86f2b53d1097e3cb8254f60a97d1ce2305b84f6")
    (folder / "plan.toml").write_text(
        f'[data]\npath = "d.csv"\nschema = "s.toml"\nsecret = "office.key"\n[table]\ndimensions = ["v", "w"]\n{RULE}\n{table}\n'
        f'[protect]\n{protect}\n[output]\npath = "out.csv"\n'
    )
    return folder / "plan.toml"


def published(folder: Path) -> dict[tuple[str, str], tuple[str, str]]:
    with (folder / "out.csv").open() as file:
        return {(row["v"], row["w"]): (row["value"], row["status"]) for row in csv.DictReader(file)}


def test_small_counts_disappear_and_everything_adds_up(tmp_path: Path) -> None:
    result = run_table_plan(write(tmp_path, "", 'method = "small-counts"\nbase = 3'))
    shown = published(tmp_path)
    numbers = {codes: int(value) for codes, (value, _) in shown.items()}
    assert not set(numbers.values()) & {1, 2}
    for row in "abcd":
        assert numbers[row, "Total"] == numbers[row, "x"] + numbers[row, "y"]
    assert numbers["Total", "Total"] == numbers["Total", "x"] + numbers["Total", "y"]
    assert result.exposed == ()
    assert result.outcome.facts["changed inner cells"] == 2


@pytest.mark.parametrize("protect", ['method = "small-counts"', 'method = "round"\nbase = 3', 'method = "adjust"'])
def test_a_true_zero_looks_like_any_other(tmp_path: Path, protect: str) -> None:
    """d × x is empty: if it were marked, every other 0 would be known not to be one."""
    run_table_plan(write(tmp_path, "", protect + "\naccept_exposed = true"))
    assert published(tmp_path)["d", "x"] == ("0", "published")
    assert {status for _, status in published(tmp_path).values()} == {"published"}


def test_what_small_counts_promise_is_attacked() -> None:
    """Unsafe up to 4 but rounded up to 2 only: the 4 is published as it is."""
    values, relations, _ = with_totals(np.array([[4, 9], [8, 1]]))
    unsafe = (values > 0) & (values < 5)
    problem = SuppressionProblem.from_values(values, relations, primary=unsafe, integral=True)
    outcome = SmallCounts(base=3).protect(problem, secret=as_secret(1), time_limit=5, progress=silent)
    assert outcome.values is not None
    assert outcome.values[0] == 4
    assert attack(problem, outcome, progress=silent).exposed_cells.tolist() == [0]


def test_small_counts_are_for_tables_of_counts(tmp_path: Path) -> None:
    values, relations, _ = with_totals(np.array([[0.5, 2.0], [1.0, 3.0]]))
    problem = SuppressionProblem.from_values(values, relations, primary=values < 1)
    with pytest.raises(ParameterError, match="needs a table of counts"):
        SmallCounts().protect(problem, secret=as_secret(1), time_limit=5, progress=silent)
    crossed = Relations.from_rows(4, [([0, 1, 2, 3], [1, 1, -1, -1])])
    odd = SuppressionProblem.from_values(np.array([1.0, 2.0, 2.0, 1.0]), crossed, primary=np.zeros(4, dtype=bool))
    with pytest.raises(ParameterError, match="sums of inner cells"):
        SmallCounts().protect(odd, secret=as_secret(1), time_limit=5, progress=silent)


def test_redesign_merges_before_anything_is_protected(tmp_path: Path) -> None:
    result = run_table_plan(write(tmp_path, "redesign = { at_most = 0 }", 'method = "optimal"'))
    assert result.counts()["primary"] == 0
    note = next(note for note in result.notes if note.startswith("redesign: 2 unsafe cells became 0; merged "))
    assert "optimal" in note
    assert any("+" in code for codes in published(tmp_path) for code in codes)
    kept = run_table_plan(write(tmp_path, 'redesign = { at_most = 1, dimensions = ["v"] }', 'method = "optimal"'))
    assert kept.counts()["primary"] == 1
    assert kept.table.dimensions[1].codes == ("Total", "x", "y")


def test_redesign_where_it_cannot_be(tmp_path: Path) -> None:
    plan = write(tmp_path, "", "")
    text = plan.read_text().replace("[table]", "[[table]]").replace(RULE, RULE + "\nredesign = { at_most = 0 }")
    plan.write_text(text.replace("[protect]", '[[table]]\ndimensions = ["v"]\n[protect]'))
    with pytest.raises(PlanError, match="redesign works on a single table"):
        run_table_plan(plan)
    plan = write(tmp_path, "redesign = {}", "")
    plan.write_text(plan.read_text().replace("minimum = 3", "minimum = 99"))
    with pytest.raises(InfeasibleError, match="even with every allowed merge"):
        run_table_plan(plan)


def test_costs_of_a_jj_file_for_others_are_whole(tmp_path: Path) -> None:
    values, relations, _ = with_totals(np.array([[4, 9], [8, 1]]))
    problem = SuppressionProblem.from_values(values, relations, primary=values == 1, cost=np.log1p(values))
    write_jj(with_whole_costs(problem), tmp_path / "t.jj")
    costs = read_jj(tmp_path / "t.jj").cost
    assert (costs == np.rint(costs)).all()
    assert (np.argsort(costs, kind="stable") == np.argsort(problem.cost, kind="stable")).all()
    assert costs.max() == 20_000
    whole = SuppressionProblem.from_values(values, relations, primary=values == 1, cost=values)
    assert with_whole_costs(whole) is whole
