"""Means beyond a limit, labels of bands, and who counts as one respondent: worked by hand and against plain loops."""

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import NotProtectedError
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.microdata.mask.bands import band_labels, merged
from reticent.microdata.mask.tails import Tail, check_tail, tail_of
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
