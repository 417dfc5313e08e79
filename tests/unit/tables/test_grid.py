"""Tables as pages show them: what may be seen before values are asked for, which rule hits how many cells, one cell in full."""

import json

import polars as pl
import pytest

from reticent.base.errors import ParameterError
from reticent.data.cells import CellStatus
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, Table, TableSpec
from reticent.tables.grid import broken, cell_facts, grid_of, largest_shares, shown_after, shown_before, unsafe_by_rule
from reticent.tables.methods import TABLE_METHODS
from reticent.tables.request import TableRequest, WantedTable
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import Dominance, Rule, Threshold
from reticent.tables.run import run_request
from reticent.tabulation.tabulate import tabulate

FIRMS = [("A", "s", 10.0)] * 4 + [("A", "l", 70.0), ("A", "l", 30.0)] + [("B", "s", 5.0)] * 5 + [("B", "l", 9.0)] * 4
SCHEMA = Schema(
    (
        Variable("ind", role=Role.KEY, codes=("A", "B")),
        Variable("size", role=Role.KEY, codes=("s", "l")),
        Variable("pay", kind=Kind.NUMERIC),
    )
)


def data_of(firms: list[tuple[str, str, float]] = FIRMS) -> Microdata:
    rows = dict(zip(("ind", "size", "pay"), map(list, zip(*firms)), strict=True))
    return Microdata.of(pl.DataFrame(rows), SCHEMA)


def spec(response: str | None = "pay") -> TableSpec:
    return TableSpec((DimensionSpec("ind"), DimensionSpec("size")), response=response)


def table(firms: list[tuple[str, str, float]] = FIRMS, response: str | None = "pay") -> Table:
    return tabulate(data_of(firms), spec(response))


def protected(*rules: Rule, method: str = "heuristic") -> ProtectedTable:
    wanted = WantedTable(spec(), rules or (Threshold(3),), data_of())
    (result,) = run_request(TableRequest((wanted,), method=TABLE_METHODS[method]()))
    return result


def place(one: Table, *codes: str) -> int:
    return next(cell for cell in range(one.n_cells) if one.cell_codes(cell) == codes)


def test_a_table_without_unsafe_cells_may_be_seen() -> None:
    one = table(FIRMS[:4] + FIRMS[6:])
    safe = [CellStatus.SAFE] * one.n_cells
    assert shown_before(one, safe) == one.values.tolist()


def test_an_unsafe_cell_hides_all_values_because_totals_would_tell_it() -> None:
    one = table()
    status = [CellStatus.SAFE] * one.n_cells
    status[place(one, "A", "l")] = CellStatus.PRIMARY
    assert shown_before(one, status) == [None] * one.n_cells


def test_a_value_of_one_respondent_hides_all_but_a_count_of_one_does_not() -> None:
    alone = [*FIRMS[:5], *FIRMS[6:]]
    status = [CellStatus.SAFE] * table(alone).n_cells
    assert shown_before(table(alone), status) == [None] * len(status)
    counted = table(alone, None)
    assert shown_before(counted, status) == counted.values.tolist()


def test_a_protected_table_shows_what_it_publishes() -> None:
    result = protected()
    (members,) = result.system.members
    shown = shown_after(result.system.parts[0], members, result)
    hidden = result.outcome.hidden[members]
    assert [value is None for value in shown] == hidden.tolist()
    assert hidden.any()


def test_a_table_that_exposes_a_cell_shows_nothing() -> None:
    result = protected(method="primary-only")
    assert result.exposed
    (members,) = result.system.members
    assert set(shown_after(result.system.parts[0], members, result)) == {None}


def test_each_rule_is_counted_by_itself() -> None:
    one = table()
    assert unsafe_by_rule([Threshold(3), Dominance(1, 60)], one) == (1, 1)
    assert unsafe_by_rule([Threshold(5)], one) == (3,)
    assert unsafe_by_rule([], one) == ()


def test_a_rule_that_cannot_judge_a_table_says_so() -> None:
    counted = table(response=None)
    assert unsafe_by_rule([Dominance(1, 60), Threshold(3)], counted) == (-1, 1)
    assert broken(Dominance(1, 60), counted) is None


def test_the_largest_contributions_are_shares() -> None:
    one = table()
    assert largest_shares(one, place(one, "A", "l")) == pytest.approx([0.7, 0.3])
    assert len(largest_shares(one, 0)) <= 3
    assert largest_shares(table(response=None), 0) == []


def test_a_grid_is_plain_data() -> None:
    one = table()
    grid = grid_of(one, [CellStatus.SAFE] * one.n_cells, list(range(one.n_cells)), [Threshold(3)], one.values.tolist())
    assert grid.response == "pay"
    assert grid.dimensions[0]["codes"] == ["Total", "A", "B"]
    assert grid.dimensions[0]["parents"] == [-1, 0, 0]
    assert set(grid.status) == {"safe"}
    assert grid.rules == (1,)
    assert json.loads(json.dumps(vars(grid)))


def test_one_cell_in_full() -> None:
    result = protected()
    cell = place(result.table, "A", "l")
    facts = cell_facts(result, cell, values=True)
    assert facts["name"] == "A × l"
    assert facts["status"] == "primary"
    assert facts["hidden"]
    assert not facts["exposed"]
    assert facts["respondents"] == 2
    low, high, required_low, required_high = facts["interval"]
    assert low <= required_low <= facts["value"] <= required_high <= high
    assert facts["why"]
    assert json.loads(json.dumps(facts))


def test_a_published_cell_has_no_reason_and_no_interval() -> None:
    result = protected()
    shown = next(cell for cell in range(result.table.n_cells) if not result.outcome.hidden[cell])
    facts = cell_facts(result, shown, values=True)
    assert facts["why"] == []
    assert facts["interval"] is None


def test_reasons_have_values_only_where_they_are_asked_for() -> None:
    result = protected()
    cell = place(result.table, "A", "l")
    text = " ".join(cell_facts(result, cell, values=False)["why"])
    assert "100" not in text


@pytest.mark.parametrize("cell", [-1, 99])
def test_a_cell_that_there_is_not(cell: int) -> None:
    with pytest.raises(ParameterError, match="there is no such cell"):
        cell_facts(protected(), cell, values=False)
