"""Means beyond a limit, labels of bands, and who counts as one respondent: worked by hand and against plain loops."""

from itertools import combinations_with_replacement

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import NotProtectedError
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.microdata.mask.bands import band_labels, merged
from reticent.microdata.mask.tail_sums import told_by_sum
from reticent.microdata.mask.tails import (
    Tail,
    both_ends,
    check_tail,
    first_beyond,
    grid_of,
    known_end,
    last_possible,
    tail_of,
)
from reticent.microdata.risk.respondents import respondents_of, respondents_shown, shares_of


def room_by_hand(values: np.ndarray, limit: float, who: np.ndarray) -> float:
    """For each pair of respondents: what all others lie beyond the limit, as a share of the target's total."""
    people = np.unique(who)
    least = np.inf
    for target in people:
        total = max(abs(values[who == target].sum()), abs(values[who == target] - limit).sum())
        for knows in people:
            if knows == target:
                continue
            rest = np.abs(values[(who != target) & (who != knows)] - limit).sum()
            if total > 0:
                least = min(least, rest / total)
    return float(least)


def test_three_respondents_by_hand() -> None:
    """Limit 100; 150, 120, 110: the 120 knows its 20, so the 150 is hidden by the 10 of the last, of 150."""
    found = tail_of(np.array([150.0, 120.0, 110.0]), 100.0, None)
    assert found.respondents == 3
    assert found.room == pytest.approx(10 / 150)


@pytest.mark.parametrize("seed", range(10))
def test_the_room_is_the_least_over_all_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = 100 + rng.exponential(50, 12)
    who = rng.integers(0, 5, 12)
    found = tail_of(values, 100.0, who)
    assert found.respondents == len(np.unique(who))
    assert found.room == pytest.approx(room_by_hand(values, 100.0, who))


def test_nobody_beyond_the_limit_needs_nothing() -> None:
    assert tail_of(np.zeros(0), 1.0, None) == Tail(0, np.inf)
    check_tail(Tail(0, np.inf), k=3, p=10, owner="top-code", variable="income")


@pytest.mark.parametrize(
    ("tail", "message"),
    [(Tail(2, np.inf), "fewer than 3 respondents"), (Tail(5, 0.05), "one respondent dominates 'income'")],
)
def test_means_of_few_or_of_one_are_refused(tail: Tail, message: str) -> None:
    with pytest.raises(NotProtectedError, match=message):
        check_tail(tail, k=3, p=10, owner="top-code", variable="income")


def test_enough_and_even_is_allowed() -> None:
    check_tail(Tail(3, 0.1), k=3, p=10, owner="top-code", variable="income")


@pytest.mark.parametrize(
    ("edges", "whole", "below", "labels"),
    [
        ([0, 10], True, False, ("0-9", "10+")),
        ([0, 10], False, False, ("0 to <10", "10+")),
        ([5], True, True, ("<5", "5+")),
        ([-10, 0], True, True, ("<-10", "-10--1", "0+")),
        ([2_000_000.0, 3_000_000.0], True, False, ("2000000-2999999", "3000000+")),
    ],
)
def test_labels_of_bands(edges: list[float], whole: bool, below: bool, labels: tuple[str, ...]) -> None:
    assert band_labels(edges, whole=whole, below=below) == labels


def test_new_codes_stand_in_the_order_of_the_old() -> None:
    assert merged({"a": "x", "b": "y", "c": "x"}, ["b", "c", "a", "unknown"]) == ("y", "x")


def _visits(ids: list[str | None]) -> Microdata:
    frame = pl.DataFrame({"patient": ids, "age": ["1"] * len(ids)})
    return Microdata.of(frame, Schema((Variable("patient", role=Role.ENTITY), Variable("age", role=Role.KEY))))


def test_respondents_are_numbered_only_where_somebody_has_several_records() -> None:
    found = respondents_of(_visits(["p", "q", "p"]))
    assert found is not None
    assert found[0] == found[2] != found[1]
    assert respondents_of(_visits(["p", "q", "r"])) is None
    frame = pl.DataFrame({"age": ["1", "2"]})
    assert respondents_of(Microdata.of(frame, Schema((Variable("age", role=Role.KEY),)))) is None


def test_a_missing_id_is_a_respondent_of_its_own() -> None:
    found = respondents_of(_visits(["p", None, None, "p"]))
    assert found is not None
    assert len(np.unique(found)) == 3


def test_published_records_of_nobody_are_their_own_respondents() -> None:
    who = np.array([0, 0, 1])
    assert respondents_shown(who, np.array([2, 0, -1, -1])).tolist() == [1, 0, 4, 5]


def test_equal_records_of_one_respondent_share_one_count() -> None:
    who = np.array([0, 0, 0, 1])
    shown = np.array([[1], [1], [2], [1]], dtype=np.int32)
    assert shares_of(who, shown, exclusive=True).tolist() == [0.5, 0.5, 1.0, 1.0]
    assert shares_of(who, shown, exclusive=False) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1.0])


def test_a_blank_lets_all_records_of_its_respondent_share() -> None:
    who = np.array([0, 0, 1, 1])
    shown = np.array([[1], [-1], [1], [2]], dtype=np.int32)
    assert shares_of(who, shown, exclusive=True).tolist() == [0.5, 0.5, 1.0, 1.0]


@pytest.mark.parametrize(
    ("present", "codes", "sign", "end"),
    [
        ([0.0, 3.0, 9.0], [], -1.0, 0.0),
        ([2.0, 3.0, 9.0], [1.0, 5.0, 9.0], -1.0, 1.0),
        ([-2.0, 3.0, 9.0], [], -1.0, None),
        ([-2.0, -3.0], [], 1.0, 0.0),
        ([1.0, 3.0], [1.0, 5.0], 1.0, 5.0),
        ([1.0, 7.0], [1.0, 5.0], 1.0, None),
        ([1.0, 7.0], [], 1.0, None),
    ],
)
def test_where_possible_values_end(present: list[float], codes: list[float], sign: float, end: float | None) -> None:
    assert known_end(np.array(present), np.array(codes), sign) == end


def test_the_nearer_end_counts() -> None:
    """Of 0, 1, 1 below 9 the others lie far from 8, and who has 1 leaves one of 0 and 1: nothing hides the last."""
    values = np.array([0.0, 1.0, 1.0])
    assert both_ends(values, 8.0, None, None).room > 0.1
    assert both_ends(values, 8.0, 0.0, None).room == 0.0


def test_the_grid_of_numbers_beside_a_step() -> None:
    assert grid_of(np.array([5.0, 15.0, 45.0])) == (10.0, 5.0)
    assert grid_of(np.array([-1.0, 99.0, 299.0])) == (100.0, 99.0)
    assert grid_of(np.array([7.0, 7.0])) == (7.0, 0.0)
    assert grid_of(np.array([1 / 3, 0.5])) == (0.0, 0.0)
    assert first_beyond(15.0, 10.0, 1.0, 5.0) == 25.0
    assert first_beyond(15.0, 10.0, -1.0, 5.0) == 5.0
    assert last_possible(0.0, 10.0, -1.0, 5.0) == 5.0
    assert last_possible(None, 10.0, -1.0, 5.0) is None


def told_by_loops(people: list[list[int]], codes: list[int], p: float) -> bool:
    """Every multiset of codes for the target and for the rest, for each respondent who knows the own values."""
    totals = [{sum(one) for one in combinations_with_replacement(codes, many)} for many in range(9)]
    everything = sum(map(sum, people))
    for at, target in enumerate(people):
        true, possible = sum(target), totals[len(target)]
        other = {
            one for one in possible if one != true and abs(one - true) >= p / 100 * abs(true) - 1e-9
        } or possible - {true}
        for insider in people[:at] + people[at + 1 :]:
            many = sum(map(len, people)) - len(target) - len(insider)
            if not any(everything - sum(insider) - one in totals[many] for one in other):
                return True
    return False


@pytest.mark.parametrize("seed", range(20))
def test_what_a_sum_tells_by_a_list_is_what_loops_find(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = np.sort(rng.choice(np.arange(-5, 30), 4, replace=False)) * int(rng.choice([1, 10]))
    many = int(rng.integers(3, 7))
    values, who = rng.choice(codes, many), np.arange(many)
    if seed % 2:
        who = np.append([0, 1, 2], rng.integers(0, 3, many - 3))
    people = [values[who == one].tolist() for one in np.unique(who)]
    expected = told_by_loops(people, codes.tolist(), 10.0)
    assert told_by_sum(values.astype(float), codes.astype(float), who if seed % 2 else None, 10.0) == expected


def test_long_tails_and_lists_that_are_too_long() -> None:
    """A swap of two records hides everybody in a long tail; codes that have no common step are not called safe."""
    values = np.repeat([10.0, 20.0, 50.0], 1000)
    assert not told_by_sum(values, np.array([10.0, 20.0, 50.0]), None, 10.0)
    assert not told_by_sum(values, np.array([10.0, 20.0, 50.0]), np.arange(3000) // 3, 10.0)
    assert told_by_sum(np.full(500, 10.0), np.array([10.0, 20.0, 50.0]), None, 10.0)
    assert told_by_sum(np.array([1.0, 2.0, 3.0]), np.array([1 / 3, 9.0]), None, 10.0)
    assert told_by_sum(np.array([1.0, 2.0, 3.0]), np.array([1e9]), None, 10.0)
