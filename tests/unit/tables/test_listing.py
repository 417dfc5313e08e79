"""Cells that a table leaves out: empty ones are known to be empty, of others nothing is known, and rows of 0 name no code."""

from dataclasses import replace

import numpy as np
import pytest

from fact_worlds import Record, data_of
from reticent.data.facts import COUNT
from reticent.data.published_table import EMPTY, PUBLISHED, PublishedTable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.tables import listing
from reticent.tables.facts_left import facts_left
from reticent.tables.methods import TABLE_METHODS
from reticent.tables.request import TableRequest, WantedTable
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import Threshold
from reticent.tables.run import run_request
from reticent.tabulation.ground import GroundedData

PEOPLE: list[Record] = [("a1", "b1", 1), ("a2", "b1", 3), ("a2", "b2", 2), ("a3", "b2", 4), ("a3", "b2", 2)]
LEFT_OUT = {("a1", "b2"), ("a3", "b1")}
"""The combinations of which there is nobody."""


def _protected() -> tuple[GroundedData, ProtectedTable]:
    data, grounded = data_of(PEOPLE)
    spec = TableSpec((DimensionSpec("a"), DimensionSpec("b")))
    method = TABLE_METHODS["heuristic"]()
    (result,) = run_request(TableRequest((WantedTable(spec, (Threshold(2),), data),), method=method))
    return grounded, result


def _without(published: PublishedTable, dropped: set[tuple[str, ...]]) -> PublishedTable:
    """The table as a file that does not list some cells."""
    kept = [at for at, codes in enumerate(published.codes) if codes not in dropped]
    return replace(
        published,
        codes=tuple(published.codes[at] for at in kept),
        values=published.values[kept],
        status=tuple(published.status[at] for at in kept),
        measure=None,
    )


def test_empty_cells_that_are_left_out_are_known() -> None:
    grounded, result = _protected()
    short = _without(result.published[0], LEFT_OUT)
    full = listing.with_empty(grounded, short, result.table)
    added = dict(zip(full.codes[len(short) :], full.status[len(short) :], strict=True))
    assert added == dict.fromkeys(LEFT_OUT, EMPTY)
    assert np.isnan(full.values[len(short) :]).all()


def test_facts_say_that_nobody_is_in_a_cell_that_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release that leaves out empty cells tells as much as one that shows them as empty."""
    grounded, result = _protected()
    whole = result.published[0]
    for shown in (whole, _without(whole, LEFT_OUT)):
        monkeypatch.setattr(ProtectedTable, "published", (shown,))
        (facts,) = facts_left(grounded, result, TABLE_METHODS["heuristic"](), release="T")
        empty = [fact for fact in facts.facts if fact.terms[0].response == COUNT and fact.high == 0]
        assert len(empty) == len(LEFT_OUT)


def test_of_a_table_that_leaves_out_others_too_nothing_is_known() -> None:
    """Whoever sees it cannot tell an empty cell from one that was taken out."""
    grounded, result = _protected()
    short = _without(result.published[0], {*LEFT_OUT, ("a2", "b1")})
    assert listing.with_empty(grounded, short, result.table) is short


def test_a_complete_table_and_one_with_too_many_cells_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    grounded, result = _protected()
    short = _without(result.published[0], LEFT_OUT)
    full = listing.with_empty(grounded, short, result.table)
    assert listing.with_empty(grounded, full, result.table) is full
    monkeypatch.setattr(listing, "MOST_LISTED", 5)
    assert listing.with_empty(grounded, short, result.table) is short


def test_rows_of_changed_values_that_are_left_out_are_0() -> None:
    """Who knows the codes from another release knows that a table of changed values has 0 there."""
    _, result = _protected()
    rounded = replace(_without(result.published[0], LEFT_OUT), method="rounding")
    full = listing.with_unlisted(rounded, result.table)
    assert set(full.codes[len(rounded) :]) >= LEFT_OUT
    assert set(full.status[len(rounded) :]) == {PUBLISHED}
    assert not full.values[len(rounded) :].any()
    hiding = _without(result.published[0], LEFT_OUT)
    assert listing.with_unlisted(hiding, result.table) is hiding


def test_a_code_of_records_is_listed_if_something_shows_it() -> None:
    """A declared code is always listed; a row of zeros would reveal that somebody has a code that only records have."""
    _, result = _protected()
    nobody, somebody = np.zeros(result.table.n_cells), np.zeros(result.table.n_cells)
    somebody[int(np.flatnonzero(result.table.codes.min(axis=1) > 0)[0])] = 3
    dimensions = tuple(replace(one, from_records=frozenset(one.codes)) for one in result.table.dimensions)
    table = replace(result.table, dimensions=dimensions)
    assert [int(one.sum()) for one in listing.listed_nodes(table, nobody)] == [0, 0]
    shown = listing.listed_nodes(table, somebody)
    assert [int(one.sum()) for one in shown] == [2, 2], "the code, and the total above it"
    assert listing.are_listed(table.codes, shown).sum() == 4
    assert all(one.all() for one in listing.listed_nodes(result.table, nobody))
