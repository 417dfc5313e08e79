"""The one way out of a table: what is listed, what is hidden, and means that say no more than the two tables do."""

import numpy as np
import polars as pl
import pytest

from reticent.data.microdata import Microdata
from reticent.data.published_table import EMPTY, HIDDEN, PUBLISHED, PublishedTable
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.tables.methods import TABLE_METHODS
from reticent.tables.release import mean_table, public_floor
from reticent.tables.request import TableRequest, WantedTable
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import Threshold
from reticent.tables.run import run_request

CODES = (("Total",), ("a",), ("b",), ("c",))


def shown(values: list[float], status: list[str], response: str = "pay") -> PublishedTable:
    numbers = np.where(np.array(status) == PUBLISHED, values, np.nan)
    return PublishedTable(("g",), CODES, numbers, tuple(status), response=response, decimals=0)


def rows(table: PublishedTable) -> dict[str, tuple[str, float]]:
    return {code: (state, value) for (code,), state, value in zip(table.codes, table.status, table.values.tolist())}


def test_a_mean_is_shown_where_sum_and_count_are() -> None:
    total = shown([60, 10, 20, 30], [PUBLISHED] * 4)
    count = shown([6, 2, 4, 0], [PUBLISHED, PUBLISHED, HIDDEN, PUBLISHED], "count")
    found = rows(mean_table(total, count))
    assert found["Total"] == (PUBLISHED, 10.0)
    assert found["a"] == (PUBLISHED, 5.0)
    assert found["b"][0] == HIDDEN
    assert np.isnan(found["b"][1])
    assert found["c"][0] == EMPTY, "nobody has a mean"


@pytest.mark.parametrize(
    ("first", "second"), [(HIDDEN, PUBLISHED), (PUBLISHED, HIDDEN), (HIDDEN, EMPTY), (EMPTY, HIDDEN)]
)
def test_a_mean_of_something_hidden_is_hidden(first: str, second: str) -> None:
    """A mean beside a published count and a hidden sum would be the sum."""
    total = shown([60, 10, 20, 30], [PUBLISHED, first, PUBLISHED, PUBLISHED])
    count = shown([6, 2, 4, 3], [PUBLISHED, second, PUBLISHED, PUBLISHED], "count")
    assert rows(mean_table(total, count))["a"][0] == HIDDEN


def test_means_have_two_more_decimals_and_say_what_they_are() -> None:
    found = mean_table(shown([1, 1, 1, 1], [PUBLISHED] * 4), shown([3, 3, 3, 3], [PUBLISHED] * 4, "count"))
    assert found.response == "mean of pay"
    assert found.decimals == 2


def test_cells_without_a_count_have_no_mean() -> None:
    count = shown([6, 2, 4, 3], [PUBLISHED] * 4, "count")
    short = PublishedTable(
        count.dimensions, CODES[:2], count.values[:2], count.status[:2], response="count", decimals=0
    )
    found = rows(mean_table(shown([60, 10, 20, 30], [PUBLISHED] * 4), short))
    assert found["b"][0] == found["c"][0] == HIDDEN


PEOPLE = (
    [("x", "1", 4.0)] * 5
    + [("x", "2", 6.0)] * 2
    + [("y", "1", 3.0)] * 4
    + [("z", "1", 9.0)] * 3
    + [("z", "2", 2.0)] * 4
)
SCHEMA = Schema(
    (
        Variable("g", role=Role.KEY, codes=("x", "y", "z", "w")),
        Variable("h", role=Role.KEY, codes=("1", "2")),
        Variable("pay", kind=Kind.NUMERIC),
    )
)


def protected(method: str, response: str | None = "pay", **options: object) -> ProtectedTable:
    columns = dict(zip(("g", "h", "pay"), map(list, zip(*PEOPLE)), strict=True))
    spec = TableSpec((DimensionSpec("g"), DimensionSpec("h")), response=response)
    wanted = WantedTable(spec, (Threshold(3),), Microdata.of(pl.DataFrame(columns), SCHEMA))
    made = TABLE_METHODS[method](**options)
    (result,) = run_request(TableRequest((wanted,), method=made, secret=3, test_secret=True))
    return result


def test_combinations_without_records_are_listed_as_empty_beside_hidden_cells() -> None:
    (table,) = protected("heuristic").published
    found = dict(zip(table.codes, table.status, strict=True))
    assert len(table) == 5 * 3
    assert found["w", "1"] == found["y", "2"] == EMPTY
    assert found["x", "2"] == HIDDEN
    assert np.isnan(table.values[[at for at, state in enumerate(table.status) if state != PUBLISHED]]).all()
    assert not table.hides_empty


def test_a_0_of_changed_values_looks_like_every_other() -> None:
    """Nobody learns from a rounded table which 0 is a combination without records."""
    (table,) = protected("random-rounding", None, base=5.0).published
    assert EMPTY not in table.status
    assert HIDDEN not in table.status
    found = dict(zip(table.codes, table.values.tolist(), strict=True))
    assert found["y", "2"] == 0
    assert table.hides_empty


def test_what_is_published_has_its_trees_and_its_method() -> None:
    (table,) = protected("heuristic").published
    assert table.depths["g"] == {"Total": 0, "x": 1, "y": 1, "z": 1, "w": 1}
    assert table.method == "suppression"
    assert table.response == "pay"
    assert not table.signed
    assert protected("round", None, base=3.0).published[0].method == "round"


def test_hidden_cells_are_at_least_what_the_table_itself_says() -> None:
    result = protected("heuristic")
    floor = public_floor(result.system, result.outcome, "heuristic", result.problem)
    hidden = result.table.values[result.outcome.hidden]
    assert 0 <= floor <= hidden.min()
    nothing = protected("round", None, base=3.0)
    assert public_floor(nothing.system, nothing.outcome, "round", nothing.problem) == -np.inf
