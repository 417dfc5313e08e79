"""Respondents who share a cell with nobody else join, and so know it: a coalition of the stated size finds nothing by that.

Before, only cells of one respondent counted as known to a coalition; two firms of one cell subtracted theirs from the
published totals and had another firm's cell.
"""

import csv

import polars as pl
import pytest

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.io.published import published_text
from reticent.jobs.protect_table import protect_table
from reticent.tables.request import Attacker
from reticent.tables.rules import PPercent, Threshold

LEAKED = "a,value,status\nTotal,500,published\nA,,hidden\nB,,hidden\nC,160,published\nD,200,published\n"
FIRMS = {"A": (50, 40), "B": (30, 20), "C": (50, 40, 40, 30), "D": (60, 50, 50, 40)}
TRIOS = {"A": (50, 40, 1), "B": (30, 28, 1), "C": (50, 40, 40, 30), "D": (60, 50, 50, 40)}
SCHEMA = Schema(
    (
        Variable("firm", role=Role.ENTITY),
        Variable("a", role=Role.KEY, codes=tuple("ABCD")),
        Variable("v", kind=Kind.NUMERIC),
    )
)


def found_by(text: str, known: dict[str, int]) -> dict[str, int]:
    """What who knows some codes works out: the only hidden code that is left."""
    rows = list(csv.DictReader(text.splitlines()))
    shown = {row["a"]: int(row["value"]) for row in rows if row["status"] == "published"}
    rest = shown.pop("Total") - sum(shown.values())
    left = [row["a"] for row in rows if row["status"] == "hidden" and row["a"] not in known]
    rest -= sum(known[row["a"]] for row in rows if row["status"] == "hidden" and row["a"] in known)
    return {left[0]: rest} if len(left) == 1 else {}


def published(firms: dict[str, tuple[int, ...]], coalition: int, insiders: str, *, counts: bool = False) -> str:
    rows = [(f"{a}{n}", a, v) for a, values in firms.items() for n, v in enumerate(values)]
    data = Microdata.of(pl.DataFrame(rows, schema=["firm", "a", "v"], orient="row"), SCHEMA)
    spec = TableSpec((DimensionSpec("a"),), response=None if counts else "v")
    rules = (Threshold(3, protection=20),) if counts else (PPercent(15), Threshold(3, protection=20))
    done = protect_table(
        data, spec, rules=rules, attacker=Attacker(coalition=coalition, insiders=insiders), time_limit=10
    )
    assert done.exposed == ()
    return published_text(done.published[0])


def test_two_firms_of_one_cell_subtract_it() -> None:
    assert found_by(LEAKED, {"A": 90}) == {"B": 50}  # what everybody could do whatever `coalition` said
    assert found_by(published(FIRMS, 1, "exact"), {"A": 90}) == {"B": 50}  # one alone is all that was asked for


@pytest.mark.parametrize("insiders", ["exact", "protect"])
@pytest.mark.parametrize(("firms", "coalition"), [(FIRMS, 2), (TRIOS, 3), (FIRMS, 4)])
def test_a_coalition_knows_the_cells_that_are_all_its_own(
    firms: dict[str, tuple[int, ...]], coalition: int, insiders: str
) -> None:
    text = published(firms, coalition, insiders)
    for code in "AB":
        assert not found_by(text, {code: sum(firms[code])})


def test_persons_without_names_join_too() -> None:
    people = {"A": (1, 1), "B": (1, 1), "C": (1,) * 6, "D": (1,) * 7}
    text = published(people, 2, "exact", counts=True)
    assert not found_by(text, {"A": 2})
    assert not found_by(text, {"B": 2})
