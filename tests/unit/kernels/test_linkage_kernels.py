"""Whether nobody else is as near: boxes, likelihoods and households against all pairs, and pairings against permutations."""

from itertools import permutations

import numpy as np
import pytest

from reticent.kernels.boxes import alone_in_box
from reticent.kernels.household_distance import LARGEST, nearest_to_own
from reticent.kernels.household_matching import People, count_households, own_households
from reticent.kernels.likelihood import ABSENT, alone_by_likelihood
from reticent.kernels.nearest import TIE


def files(seed: int, n: int = 14) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Codes and numbers of n true records and of as many published ones, with missing values."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (n, 2))
    numbers = rng.integers(0, 6, (n, 2)).astype(float)
    shown_codes, shown = codes.copy(), numbers + rng.integers(-1, 2, (n, 2))
    shown_codes[rng.random((n, 2)) < 0.15] = -1
    shown[rng.random((n, 2)) < 0.15] = np.nan
    return codes, numbers, shown_codes, shown


@pytest.mark.parametrize("seed", range(12))
def test_alone_in_a_box_means_that_no_other_record_is_as_near_in_every_coordinate(seed: int) -> None:
    codes, numbers, shown_codes, shown = files(seed)
    n = len(codes)
    own, units = np.arange(n), np.arange(n) // 2
    found = alone_in_box(shown_codes, shown, own, units[own], codes, numbers, units)
    for i in range(n):
        gaps = np.abs(shown[i] - numbers)
        limit = np.nanmax(np.append(gaps[i], 0.0))
        agree = ((shown_codes[i] == codes) | (shown_codes[i] < 0)).all(axis=1)
        near = ~(gaps > limit + TIE * max(limit, 1.0)).any(axis=1)
        assert found[i] == (not (agree & near & (units != units[i])).any())


def test_the_largest_change_links_where_a_sum_of_squares_does_not() -> None:
    """The own record differs by 1 in both numbers; another by 1.3 in one: farther in the box, nearer in squares."""
    shown = np.array([[0.0, 0.0]])
    true = np.array([[1.0, 1.0], [1.3, 0.0]])
    none = np.zeros((2, 0), np.int64)
    found = alone_in_box(none[:1], shown, np.array([0]), np.array([0]), none, true, np.arange(2))
    assert found.tolist() == [True]


def tables(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(100 + seed)
    return rng.normal(-1, 0.5, (2, 3)), rng.normal(1, 0.5, (2, 3)), rng.normal(0.5, 0.5, (2, 3))


def cost_of_pair(
    mine: np.ndarray, theirs: np.ndarray, number: np.ndarray, other: np.ndarray, costs: tuple, turned: bool
) -> float:
    """Minus the log of the likelihood ratio, code by code and number by number."""
    agree, differ, into = costs
    total = 0.0
    for v, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        if a < 0 or b < 0:
            continue
        if a == b:
            total += agree[v, a]
        else:
            total += differ[v, a] + into[v, b] if turned else differ[v, b] + into[v, a]
    for x, y in zip(number, other, strict=True):
        if not np.isnan(x):
            total += ABSENT if np.isnan(y) else 0.5 * (x - y) ** 2
    return total


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("turned", [False, True])
def test_alone_by_likelihood_means_that_no_other_record_explains_it_as_well(seed: int, turned: bool) -> None:
    codes, numbers, shown_codes, shown = files(seed)
    costs = tables(seed)
    agree, differ, into = costs
    asking, other = (differ, into) if turned else (into, differ)
    least = np.minimum(np.minimum(agree, asking + other.min(axis=1, keepdims=True)), 0.0)
    mine, theirs = ((codes, numbers), (shown_codes, shown)) if turned else ((shown_codes, shown), (codes, numbers))
    n = len(codes)
    units = np.arange(n) // 2
    found = alone_by_likelihood(
        mine[0], mine[1], np.arange(n), units, theirs[0], theirs[1], units, *costs, least, turned
    )
    for i in range(n):
        by_pair = [cost_of_pair(mine[0][i], theirs[0][j], mine[1][i], theirs[1][j], costs, turned) for j in range(n)]
        as_likely = [by_pair[j] <= by_pair[i] + 1e-6 for j in range(n) if units[j] != units[i]]
        assert found[i] == (not any(as_likely))


def households(seed: int, sizes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where households start, what is true of their members, and what is shown of them."""
    rng = np.random.default_rng(seed)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    true = rng.integers(0, 4, (starts[-1], 3)).astype(float)
    shown = true + (rng.random(true.shape) < 0.3) * rng.integers(-1, 2, true.shape)
    shown[rng.random(true.shape) < 0.1] = np.nan
    return starts, true, shown


def member_distance(query: np.ndarray, point: np.ndarray, nominal: np.ndarray, absent: np.ndarray) -> float:
    total = 0.0
    for value, other, weight, gone in zip(query, point, nominal, absent, strict=True):
        if np.isnan(value):
            continue
        if np.isnan(other):
            total += gone
        elif weight:
            total += weight * (value != other)
        else:
            total += (value - other) ** 2
    return total


def least_pairing(queries: np.ndarray, points: np.ndarray, nominal: np.ndarray, absent: np.ndarray) -> float:
    members = range(len(queries))
    return min(
        sum(member_distance(queries[i], points[j], nominal, absent) for i, j in zip(members, order, strict=True))
        for order in permutations(members)
    )


@pytest.mark.parametrize("seed", range(6))
def test_the_own_household_is_nearest_or_not_as_all_pairings_say(seed: int) -> None:
    sizes = (2, 3, 2, 3, 2, 1, 1, 3)
    starts, true, shown = households(seed, sizes)
    nominal, absent = np.array([0.0, 0.0, 1.5]), np.array([0.5, 0.25, 0.75])
    size = np.array(sizes)
    peers = np.argsort(size, kind="stable")
    first = np.searchsorted(size[peers], size, side="left")
    last = np.searchsorted(size[peers], size, side="right")
    found = nearest_to_own(np.arange(len(sizes)), first, last, peers, starts, shown, true, nominal, absent)
    for h in range(len(sizes)):
        mine = shown[starts[h] : starts[h + 1]]
        to = [
            least_pairing(mine, true[starts[g] : starts[g + 1]], nominal, absent) if size[g] == size[h] else np.inf
            for g in range(len(sizes))
        ]
        others = [to[g] for g in range(len(sizes)) if g != h]
        assert found[h] == (min(others) > to[h] * (1 + TIE))


def test_households_above_the_limit_are_compared_by_a_lower_bound() -> None:
    """Large households are not paired exactly; a bound below the distance never links where pairing would not."""
    size = LARGEST + 1
    starts = np.array([0, size, 2 * size])
    true = np.zeros((2 * size, 1))
    true[size:] = 5.0
    found = nearest_to_own(
        np.array([0]), np.array([0]), np.array([2]), np.arange(2), starts, true, true, np.zeros(1), np.zeros(1)
    )
    assert found.tolist() == [True]


def people(true: np.ndarray, shown: np.ndarray, starts: np.ndarray) -> People:
    """People whose codes are shown as they are (one level of detail), without moved numbers."""
    n, keys = true.shape
    table = np.tile(np.arange(4, dtype=np.int32), (keys, 1, 1))
    none = np.zeros((n, 0))
    return People(
        starts, np.arange(n), true.astype(np.int32), shown.astype(np.int32), np.zeros((n, keys), np.int32), table,
        none, none, np.zeros(n),
    )  # fmt: skip


def can_be(true: np.ndarray, shown: np.ndarray) -> bool:
    fits = [[all(s < 0 or s == t for t, s in zip(a, b, strict=True)) for b in shown] for a in true]
    return any(all(fits[i][j] for i, j in enumerate(order)) for order in permutations(range(len(true))))


@pytest.mark.parametrize("seed", range(8))
def test_households_that_can_be_the_asker_are_those_with_a_complete_matching(seed: int) -> None:
    rng = np.random.default_rng(seed)
    starts = np.array([0, 2, 4, 6, 9, 12, 15])
    true = rng.integers(0, 2, (15, 2))
    shown = np.where(rng.random((15, 2)) < 0.5, -1, true)
    listed = np.arange(6)
    asking = np.arange(6)
    size = np.diff(starts)
    first, last = np.searchsorted(size, size, side="left"), np.searchsorted(size, size, side="right")
    weights = np.arange(1.0, 7.0)
    counts, sums, answered = count_households(asking, first, last, listed, weights, people(true, shown, starts), 10**6)
    assert answered == 6
    for h in range(6):
        fitting = [
            g
            for g in range(6)
            if size[g] == size[h] and can_be(true[starts[h] : starts[h + 1]], shown[starts[g] : starts[g + 1]])
        ]
        assert counts[h] == len(fitting)
        assert sums[h] == weights[fitting].sum()
    assert own_households(people(true, shown, starts)).tolist() == [True] * 6


def test_a_budget_leaves_the_rest_unanswered() -> None:
    true = np.zeros((4, 1), np.int64)
    everybody = people(true, true, np.array([0, 1, 2, 3, 4]))
    counts, _, answered = count_households(
        np.arange(4), np.zeros(4, np.int64), np.full(4, 4), np.arange(4), np.ones(4), everybody, 9
    )
    assert answered == 2
    assert counts.tolist() == [4, 4, 0, 0]


def test_a_household_that_was_changed_is_not_itself_any_more() -> None:
    true = np.array([[0], [1], [2], [3]])
    shown = np.array([[1], [0], [2], [2]])  # the first exchanged its members, the second lost one
    found = own_households(people(true, shown, np.array([0, 2, 4])))
    assert found.tolist() == [True, False]
