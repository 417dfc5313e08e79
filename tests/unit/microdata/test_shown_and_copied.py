"""What three attackers read off a file of new counts, and whether a synthetic file copies the records it was made from."""

import json

import numpy as np
import polars as pl
import pytest

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.perturb.safe_tables import Combinations
from reticent.microdata.risk.copied import MatchRates, match_rates
from reticent.microdata.risk.shown_combinations import attack_shown


def combinations(rows: list[tuple[int, int]], counts: list[int]) -> Combinations:
    codes = np.array(rows, dtype=np.int32)
    none = np.zeros(len(rows), dtype=np.int64)
    return Combinations(("a", "b"), codes, np.array(counts), none, none, np.zeros((len(rows), 1), dtype=np.uint64))


CELLS = combinations([(0, 0), (0, 1), (1, 0), (2, 1)], [1, 5, 2, 1])


def test_true_uniques_are_shown_or_gone() -> None:
    found = attack_shown(CELLS, np.array([3, 6, 3, 0]))
    assert (found.records, found.uniques, found.uniques_shown) == (9, 2, 1)
    assert (found.threes, found.threes_of_one, found.threes_of_two) == (2, 1, 1)


def by_hand(new: np.ndarray, column: int) -> tuple[int, int, int]:
    """For each person: the combinations that share all other values, in truth and as shown."""
    before = right = wrong = 0
    for at, row in enumerate(CELLS.codes.tolist()):
        others = [i for i, one in enumerate(CELLS.codes.tolist()) if one[1 - column] == row[1 - column]]
        count = int(CELLS.counts[at])
        before += count if len(others) == 1 else 0
        shown = [i for i in others if new[i] > 0]
        if len(shown) == 1:
            right, wrong = (right + count, wrong) if new[at] > 0 else (right, wrong + count)
    return before, right, wrong


@pytest.mark.parametrize("new", [[3, 6, 3, 0], [0, 9, 0, 0], [1, 5, 2, 1], [0, 0, 0, 0]])
def test_a_missing_value_is_read_off_where_one_is_shown(new: list[int]) -> None:
    found = attack_shown(CELLS, np.array(new))
    for column, one in enumerate(found.attributes):
        assert (one.before, one.right, one.wrong) == by_hand(np.array(new), column)


def test_the_summary_is_plain_and_one_variable_has_no_others() -> None:
    plain = json.loads(json.dumps(attack_shown(CELLS, np.array([3, 6, 3, 0])).summary()))
    assert plain["presence"]["true uniques"] == 2
    assert [one["variable"] for one in plain["attribute"]] == ["a", "b"]
    single = Combinations(("a",), CELLS.codes[:, :1], CELLS.counts, CELLS.group, CELLS.first, CELLS.words)
    assert attack_shown(single, CELLS.counts).attributes == ()


SCHEMA = Schema((Variable("a", role=Role.KEY), Variable("v", kind=Kind.NUMERIC)))


def data(rows: list[tuple[str | None, float | None]]) -> Microdata:
    return Microdata.of(pl.DataFrame({"a": [a for a, _ in rows], "v": [v for _, v in rows]}, strict=False), SCHEMA)


USED = [("x", 1.0), ("y", 2.0), ("x", 3.0), ("z", 4.0)]
HELD = [("x", 1.0), ("y", 5.0), ("x", 6.0), ("z", 7.0)]


def test_a_file_that_copies_meets_the_records_it_was_made_from() -> None:
    found = match_rates(data(USED), data(HELD), data(USED), ["a", "v"])
    assert (found.used, found.held_back) == (1.0, 0.25)  # one record is in both halves
    assert found.excess == 0.75
    assert (found.uniques_used, found.uniques_held_back) == (1.0, 0.0)
    assert (found.records, found.uniques) == (4, 3)


def test_a_file_that_meets_both_alike_copies_nothing() -> None:
    found = match_rates(data(USED), data(HELD), data([("x", 1.0)]), ["a", "v"])
    assert found.excess == 0.0
    assert found.used == 0.25


def test_fewer_variables_make_more_records_equal() -> None:
    found = match_rates(data(USED), data(HELD), data([("y", 9.0), ("x", 9.0)]), ["a"])
    assert (found.used, found.held_back) == (0.75, 0.75)


def test_missing_values_equal_missing_values() -> None:
    found = match_rates(data([(None, None)]), data([("x", None)]), data([(None, None)]), ["a", "v"])
    assert (found.used, found.held_back) == (1.0, 0.0)


def test_the_standard_error_falls_with_the_number_of_records() -> None:
    small, large = (MatchRates(0.5, 0.5, 0.0, 0.0, n, 0).standard_error for n in (100, 10_000))
    assert small == pytest.approx(np.sqrt(0.5 / 100))
    assert large == pytest.approx(small / 10)
