"""Every worked example of the rules; the manual page is made from the same lines and must be up to date."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from reticent.data.table import Dimension, Measure, Respondents, Table
from reticent.tables.granularity import granularity
from reticent.tables.insider import dominance_flaw, insider_bounds, why_dominance_misleads
from reticent.tables.protection import judge_cells
from reticent.tables.rules import PQ, Dominance, PPercent, RuleCells, weighted_top

ROOT = Path(__file__).resolve().parents[3]


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_rules_page", ROOT / "scripts" / "make_rules_page.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_rules_page"] = module
    spec.loader.exec_module(module)
    return module


SCRIPT = _script()
EXAMPLES = [
    (chapter.name, example, row)
    for chapter in SCRIPT.read_chapters()
    for example in chapter.examples
    for row in example.rows
]


def one_cell_table(contributions: list[float], decimals: int = 6) -> Table:
    """A table of one cell."""
    cells = RuleCells.of_contributions([contributions])
    zeros = np.zeros(1)
    measure = Measure(
        "v", cells.values, cells.magnitudes, zeros, zeros, cells.top, np.zeros((1, 10), dtype=np.int64),
        None, decimals,
    )  # fmt: skip
    view = Respondents(cells.counts, cells.weighted_counts, {"v": measure}, cells.counts, {"v": measure})
    dimension = Dimension("place", ("Total",), (np.array([-1], dtype=np.int32),))
    return Table((dimension,), np.zeros((1, 1), dtype=np.int32), cells.values, view, "v", decimals=decimals)


@pytest.mark.parametrize("name, example, row", EXAMPLES, ids=[f"{n}: {r['contributions']}" for n, _, r in EXAMPLES])
def test_rule_example(name: str, example: object, row: dict[str, str]) -> None:
    contributions = [float(x) for x in row["contributions"].split()]
    rule = example.make()
    assert rule.name == name
    cells = RuleCells.of_contributions([contributions])
    assert bool(rule.unsafe(cells)[0]) == (row["unsafe"] == "yes")
    verdict = judge_cells(one_cell_table(contributions), [rule])
    assert bool(verdict.primary[0]) == (row["unsafe"] == "yes")
    if row["level"]:
        assert verdict.upper_protection[0] == pytest.approx(float(row["level"]), abs=1e-6)
    if row.get("measure"):
        assert isinstance(rule, PQ)
        assert rule.measure(cells)[0] == pytest.approx(float(row["measure"]))


def test_granularity_examples() -> None:
    _, rows = SCRIPT.read_granularity()
    for row in rows:
        found = granularity([int(c) for c in row["counts"].split()], expected=[1, 30, 18, 9, 2])
        assert round(100 * found.index) == int(row["index"])
        assert found.labels == tuple(row["labels"].split())
        assert found.unsafe == (row["unsafe"] == "yes")


def test_the_manual_page_is_up_to_date() -> None:
    page = ROOT / "docs" / "reference" / "rules.md"
    assert page.read_text(encoding="utf-8") == SCRIPT.page(), "run: python scripts/make_rules_page.py"


def test_why_dominance_misleads() -> None:
    """(59, 40, 1) passes (1, 60) and (61, 20, 19) fails, but the insider knows the first one far better."""
    bounds = insider_bounds(RuleCells.of_contributions([[59, 40, 1], [61, 20, 19]]))
    assert bounds.upper.tolist() == [60, 80]
    assert bounds.excess.tolist() == pytest.approx([100 / 59, 1900 / 61])
    assert "at most 60 where it is 59" in why_dominance_misleads([59, 40, 1], 1, 60)
    assert PPercent(p=10).unsafe(RuleCells.of_contributions([[59, 40, 1], [61, 20, 19]])).tolist() == [True, False]


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("k", [30, 60, 75, 90])
def test_dominance_can_be_fooled_for_any_parameters(n: int, k: int) -> None:
    flaw = dominance_flaw(n, k)
    cells = RuleCells.of_contributions([flaw.passed, flaw.failed])
    assert Dominance(n=n, k=k).unsafe(cells).tolist() == [False, True]
    assert [sum(flaw.passed), sum(flaw.failed)] == pytest.approx([100, 100])
    known_better, known_worse = insider_bounds(cells).excess
    assert known_better < known_worse


def test_weights_by_unit_consumption() -> None:
    """tau-ARGUS manual 4.4.4: 100 with weight 4 and 10 with weight 7 have the top two 100 and 100, total 470."""
    assert weighted_top(np.array([[100.0, 10.0]]), np.array([[4.0, 7.0]]), 2)[0] == 200
    assert weighted_top(np.array([[100.0, 10.0]]), np.array([[1.5, 7.0]]), 2)[0] == 155


@pytest.mark.parametrize("shift, unsafe", [(-0.01, True), (0.0, False), (0.01, False)])
def test_ties_are_decided_exactly(shift: float, unsafe: bool) -> None:
    """The rest is 10 % of the largest to the cent, although no float has that value."""
    cell = [1000000.1, 5.0, 100000.01 + shift]
    cell = [cell[0], cell[0], round(cell[2], 2)]
    assert PPercent(p=10).unsafe(RuleCells.of_contributions([cell]))[0] == unsafe


def test_exactly_k_percent_is_safe_for_any_scale() -> None:
    cells = RuleCells.of_contributions([[0.1, 0.1, 0.1, 0.3], [0.30000000000000004, 0.3]])
    assert Dominance(n=1, k=50).unsafe(cells).tolist()[0] is False
