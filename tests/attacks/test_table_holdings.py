"""Counts of firms with several plants: the only respondent in two cells knows both, as in tables of sums."""

import pytest

from attacks.holding_families import found_by_firms, publish, rates
from reticent.tables.methods import TableMethod
from reticent.tables.suppression.elimination import Elimination
from reticent.tables.suppression.heuristic import Heuristic
from reticent.tables.suppression.hypercube import Hypercube
from reticent.tables.suppression.modular import Modular
from reticent.tables.suppression.optimal import Optimal

PLANTS = [("h", "A"), ("h", "A"), ("h", "B"), ("x", "C"), ("y", "C"), *((f"d{n}", "D") for n in range(6))]
PLANTS += [(f"e{n}", "E") for n in range(7)] + [(f"g{n}", "F") for n in range(8)]
LEAKED = (
    "a,value,status\nTotal,26,published\nA,,hidden\nB,,hidden\nC,,hidden\nD,6,published\nE,7,published\nF,8,published\n"
)


def test_the_attack_finds_what_was_written_before() -> None:
    assert found_by_firms(LEAKED, PLANTS) == [("h", "C")]


@pytest.mark.parametrize("method", [Heuristic(), Optimal(), Modular(), Hypercube(), Elimination()])
def test_the_only_firm_in_two_cells_finds_no_third(method: TableMethod) -> None:
    assert found_by_firms(publish(PLANTS, method=method), PLANTS) == []


def test_generated_counts_of_plants() -> None:
    assert rates(15, "exact")[1:] == (0, 0)
    assert rates(15, "protect")[1:] == (0, 0)
