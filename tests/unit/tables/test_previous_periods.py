"""Patterns of a previous period: what was hidden then, and how a release of the same data is told from one."""

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import DataError, ParameterError
from reticent.data.microdata import Microdata
from reticent.data.published_table import HIDDEN, PUBLISHED, PublishedTable
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.tables.previous import hidden_before, previous_notes
from reticent.tabulation.linked import System, link
from reticent.tabulation.tabulate import tabulate

SCHEMA = Schema((Variable("a", role=Role.KEY), Variable("v", kind=Kind.NUMERIC)))


def system() -> System:
    """Total 60 = x 10 + y 20 + z 30."""
    frame = pl.DataFrame({"a": ["x", "y", "z"], "v": [10.0, 20.0, 30.0]})
    return link([tabulate(Microdata.of(frame, SCHEMA), TableSpec((DimensionSpec("a"),), response="v"))])


def release(cells: dict[str, float | None], name: str = "a") -> PublishedTable:
    """A published table; None is hidden."""
    values = np.array([np.nan if value is None else value for value in cells.values()])
    status = tuple(HIDDEN if value is None else PUBLISHED for value in cells.values())
    return PublishedTable((name,), tuple((code,) for code in cells), values, status, "v", 0, {})


def hidden(found: np.ndarray | None, own: System) -> set[str]:
    assert found is not None
    return {own.table.cell_codes(cell)[0] for cell in np.flatnonzero(found)}


def test_no_previous_period_says_nothing() -> None:
    assert hidden_before(system(), {}) is None


def test_what_was_hidden_is_found_and_what_is_gone_passed_over() -> None:
    own = system()
    before = release({"Total": 55.0, "x": None, "old": None, "z": 25.0})
    assert hidden(hidden_before(own, {0: before}), own) == {"x"}


def test_a_table_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ParameterError, match="there are 1 tables, and no table 2"):
        hidden_before(system(), {2: release({"Total": 1.0})})


def test_other_dimensions_are_an_error() -> None:
    with pytest.raises(DataError, match="the release has the dimensions b, its table a"):
        hidden_before(system(), {0: release({"Total": 1.0}, name="b")})


def test_a_release_of_the_same_data_is_no_previous_period() -> None:
    with pytest.raises(DataError, match="so it is a release of them and no previous period"):
        hidden_before(system(), {0: release({"Total": 60.0, "x": None, "y": 20.0, "z": 30.0})})


def test_few_equal_values_prove_nothing() -> None:
    own = system()
    assert hidden(hidden_before(own, {0: release({"Total": 60.0, "x": None, "z": 30.0})}), own) == {"x"}


def test_many_equal_values_are_noted() -> None:
    own = system()
    assert previous_notes(own, {0: release({"Total": 61.0, "x": 10.0, "y": 20.0, "z": 30.0})}) == (
        "previous: 3 of 4 values that it publishes are the same now. If it is an earlier version of the same data, who has "
        "both tables sees what either of them hides; that is not judged here.",
    )
    assert previous_notes(own, {0: release({"Total": 61.0, "x": 11.0, "y": 20.0, "z": 30.0})}) == ()
