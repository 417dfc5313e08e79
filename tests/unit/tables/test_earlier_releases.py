"""Earlier releases of the same data: what is shown stays known, what is hidden stays hidden, others are refused."""

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import DataError, ParameterError
from reticent.data.cells import CellStatus
from reticent.data.microdata import Microdata
from reticent.data.published_table import EMPTY, HIDDEN, PUBLISHED, PublishedTable
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.tables.apriori import Knowledge
from reticent.tables.earlier import check_earlier, noise_before, split_earlier, with_earlier
from reticent.tables.judge import LinkedTable, judge_linked
from reticent.tables.rules import Threshold
from reticent.tabulation.linked import System
from reticent.tabulation.tabulate import tabulate

SCHEMA = Schema((Variable("a", role=Role.KEY), Variable("b", role=Role.KEY), Variable("v", kind=Kind.NUMERIC)))


def judged(response: str | None = "v") -> tuple[System, Knowledge]:
    """By a: x 3 records of 30, y 1 record of 5, z 4 records of 40; by b: k and l."""
    frame = pl.DataFrame(
        {"a": list("xxxyzzzz"), "b": list("klklklkl"), "v": [10.0, 10.0, 10.0, 5.0, 10.0, 10.0, 10.0, 10.0]}
    )
    data = Microdata.of(frame, SCHEMA)
    tables = [tabulate(data, TableSpec((DimensionSpec(name),), response=response)) for name in ("a", "b")]
    return judge_linked([LinkedTable(table, (Threshold(minimum=2),)) for table in tables])


def system(response: str | None = "v") -> System:
    return judged(response)[0]


def release(cells: dict[str, float | str], name: str = "a", decimals: int = 0) -> PublishedTable:
    status = tuple(str(value) if isinstance(value, str) else PUBLISHED for value in cells.values())
    values = np.array([np.nan if isinstance(value, str) else value for value in cells.values()])
    return PublishedTable((name,), tuple((code,) for code in cells), values, status, "v", decimals, {})


RIGHT = release({"Total": 75.0, "x": 30.0, "y": HIDDEN, "z": HIDDEN})


def statuses(first: PublishedTable) -> dict[str, CellStatus]:
    own, knowledge = judged()
    found = with_earlier(own, knowledge, {0: first})
    table = own.parts[0]
    return {
        table.cell_codes(cell)[0]: CellStatus(int(found.verdict.status[own.members[0][cell]]))
        for cell in range(table.n_cells)
    }


def test_shown_cells_are_frozen_and_hidden_ones_stay_hidden() -> None:
    assert statuses(RIGHT) == {
        "Total": CellStatus.FROZEN, "x": CellStatus.FROZEN, "y": CellStatus.PRIMARY, "z": CellStatus.SECONDARY,
    }  # fmt: skip


def test_without_an_earlier_release_nothing_changes() -> None:
    own, knowledge = judged()
    assert with_earlier(own, knowledge, {}) is knowledge


def test_an_unsafe_cell_that_was_published_is_told() -> None:
    own, knowledge = judged()
    shown = release({"Total": 75.0, "x": 30.0, "y": 5.0, "z": 40.0})
    found = with_earlier(own, knowledge, {0: shown})
    assert "1 unsafe cells were published in an earlier release" in found.notes[-1]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (release({"Total": 75.0, "x": 31.0}), "the published value of x is not the one of these data"),
        (release({"Total": 75.0, "old": HIDDEN}), "there is no code 'old'"),
        (release({"Total": 75.0, "x": EMPTY}), "x is empty in the release and has records now"),
        (release({"Total": 75.0}, name="b"), "the release has the dimensions b, its table a"),
    ],
)
def test_releases_of_other_data_are_refused(other: PublishedTable, words: str) -> None:
    with pytest.raises(DataError, match=words):
        statuses(other)


def test_a_rounded_value_is_the_same_within_its_digits() -> None:
    assert statuses(release({"Total": 75.4, "x": 30.0}, decimals=0))["Total"] is CellStatus.FROZEN
    with pytest.raises(DataError, match="is not the one of these data"):
        statuses(release({"Total": 75.4}, decimals=1))


def test_a_cell_shown_here_and_hidden_there_is_a_contradiction() -> None:
    own, knowledge = judged()
    other = release({"Total": HIDDEN, "k": HIDDEN, "l": HIDDEN}, name="b")
    with pytest.raises(DataError, match="published in one earlier release and hidden in another"):
        with_earlier(own, knowledge, {0: RIGHT, 1: other})


def test_tables_are_named_by_their_number_and_one_is_left() -> None:
    check_earlier({0: RIGHT}, 2)
    check_earlier({}, 1)
    for earlier, n in (({2: RIGHT}, 2), ({0: RIGHT}, 1)):
        with pytest.raises(ParameterError, match="leave at least one to be protected"):
            check_earlier(earlier, n)


NOISY = release({"Total": 8.0, "x": 4.0, "y": 0.0, "z": 4.0})


def test_complete_releases_with_other_counts_are_noisy() -> None:
    own = system(response=None)
    true = release({"Total": 8.0, "x": 3.0, "y": HIDDEN, "z": HIDDEN})
    assert split_earlier(own, {0: NOISY}) == ({}, {0: NOISY})
    assert split_earlier(own, {0: true}) == ({0: true}, {})


def test_what_noise_showed_before_is_known_of_each_cell() -> None:
    own = system(response=None)
    assert noise_before(own, {}) is None
    found = noise_before(own, {0: NOISY})
    assert found is not None
    table, members = own.parts[0], own.members[0]
    by_code = {table.cell_codes(cell)[0]: found.values[members[cell]] for cell in range(table.n_cells)}
    assert by_code == {"Total": 8.0, "x": 4.0, "y": 0.0, "z": 4.0}


def test_two_noisy_values_of_one_cell_are_a_contradiction() -> None:
    own = system(response=None)
    other = release({"Total": 9.0, "k": 5.0, "l": 4.0}, name="b")
    with pytest.raises(DataError, match="Total has other values in two earlier releases"):
        noise_before(own, {0: NOISY, 1: other})


def test_a_noisy_count_of_nobody_is_of_other_data() -> None:
    with pytest.raises(DataError, match="there is no code 'old'"):
        noise_before(system(response=None), {0: release({"Total": 8.0, "old": 3.0})})
