"""Rolled-up rows, refined partitions, cheapest blanks and proven bounds, each against the plain way."""

from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest

from reticent.kernels.bound import raise_bound, relaxed_cost
from reticent.kernels.hits import cheapest_hits, count_ties, drawn_hits, household_hits, set_bits
from reticent.kernels.lattice import Rows, roll_up
from reticent.kernels.subsets import assess, refine


@pytest.mark.parametrize("seed", range(6))
def test_rows_that_become_equal_are_merged(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = np.unique(rng.integers(-1, 6, (40, 3)), axis=0).astype(np.int32)
    counts = rng.integers(1, 9, len(codes))
    weights = rng.integers(1, 9, len(codes)).astype(float)
    halves = (np.arange(6) // 2).astype(np.int32)  # the first and the last column get coarser, the second stays
    rows, target = roll_up(
        Rows(codes, counts, weights), np.concatenate((halves, halves)), np.array([0, -1, 6], np.int64)
    )
    coarse = np.where(codes < 0, -1, codes // 2)
    coarse[:, 1] = codes[:, 1]
    expected, weighed = Counter(), Counter()
    for row, count, weight in zip(coarse.tolist(), counts, weights, strict=True):
        expected[tuple(row)] += int(count)
        weighed[tuple(row)] += float(weight)
    assert dict(zip(map(tuple, rows.codes.tolist()), rows.counts.tolist(), strict=True)) == expected
    assert dict(zip(map(tuple, rows.codes.tolist()), rows.weights.tolist(), strict=True)) == weighed
    assert rows.codes[target].tolist() == coarse.tolist()


def cells_of(order: np.ndarray, starts: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(order[a:b].tolist()) for a, b in pairwise(starts)}


@pytest.mark.parametrize("seed", range(6))
def test_a_refined_partition_has_a_cell_for_each_combination(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = (rng.integers(-1, 4, 30).astype(np.int32) for _ in range(2))
    order, starts = refine(np.arange(30, dtype=np.int32), np.array([0, 30]), first, 4)
    order, starts = refine(order, starts, second, 4)
    groups: dict[tuple[int, int], set[int]] = {}
    for i, key in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        if min(key) >= 0:
            groups.setdefault(key, set()).add(i)
    assert cells_of(order, starts) == {frozenset(members) for members in groups.values()}


def test_cells_within_the_threshold_are_unsafe_and_counted() -> None:
    order, starts = np.array([0, 1, 2, 3, 4], np.int32), np.array([0, 2, 3, 5])
    values, records = np.array([1.0, 1.0, 0.0, 4.0, 4.0]), np.array([1, 1, 2, 3, 3])
    tally = np.zeros(5, np.int64)
    assert assess(order, starts, values, records, 2.0, tally) == (1, 2)
    assert tally.tolist() == [1, 1, 0, 0, 0]  # a cell of value 0 has nobody of the population in it
    assert assess(order, starts, values, records, 8.0, tally) == (2, 8)
    assert tally.tolist() == [2, 2, 0, 1, 1]


def by_cost(costs: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """All masks over the variables by rising cost, and the cost of each."""
    masks = list(range(1 << len(costs)))
    price = {mask: sum(cost for v, cost in enumerate(costs) if mask >> v & 1) for mask in masks}
    order = sorted(masks, key=lambda mask: (round(price[mask], 9), mask))
    return np.array(order), np.array([price[mask] for mask in order])


def families(seed: int, n: int = 12, variables: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 4, n)
    return np.concatenate(([0], np.cumsum(lengths))), rng.integers(1, 1 << variables, int(lengths.sum()))


@pytest.mark.parametrize("seed", range(6))
def test_the_cheapest_blanks_meet_every_rare_set(seed: int) -> None:
    bounds, sets = families(seed)
    candidates, costs = by_cost([1.0, 1.5, 2.0, 1.0])
    out = np.empty(len(bounds) - 1, np.int64)
    cheapest_hits(bounds, sets, candidates, out)
    rank = np.unique(costs, return_inverse=True)[1].astype(np.int64)
    ties = np.empty(len(bounds) - 1, np.int64)
    count_ties(bounds, sets, candidates, rank, ties)
    for i in range(len(out)):
        own = sets[bounds[i] : bounds[i + 1]]
        meeting = [at for at, mask in enumerate(candidates) if all(mask & one for one in own)]
        assert out[i] == candidates[meeting[0]]
        assert ties[i] == sum(costs[at] == costs[meeting[0]] for at in meeting)


def test_without_a_candidate_that_meets_all_sets_there_is_none() -> None:
    bounds, sets = np.array([0, 1]), np.array([4])
    out, ties = np.empty(1, np.int64), np.empty(1, np.int64)
    candidates = np.array([1, 2, 3])
    cheapest_hits(bounds, sets, candidates, out)
    count_ties(bounds, sets, candidates, np.array([0, 0, 1]), ties)
    assert (out[0], ties[0]) == (-1, 0)


def test_each_of_the_cheapest_is_drawn_as_often() -> None:
    """One set of three variables at equal costs: chances from 0 to 1 fall on each of them in equal stretches."""
    bounds, sets = np.array([0, 1]), np.array([7])
    candidates, costs = by_cost([1.0, 1.0, 1.0])
    rank = np.unique(costs, return_inverse=True)[1].astype(np.int64)
    ties = np.empty(1, np.int64)
    count_ties(bounds, sets, candidates, rank, ties)
    chance = (np.arange(300) + 0.5) / 300
    out = np.empty(300, np.int64)
    drawn_hits(bounds, sets, candidates, np.zeros(300, np.int64), ties, chance, out)
    assert Counter(out.tolist()) == {1: 100, 2: 100, 4: 100}
    assert out.tolist() == sorted(out.tolist())


def test_bits_are_counted() -> None:
    assert [set_bits(mask) for mask in (0, 1, 6, 255, 1 << 40)] == [0, 1, 2, 8, 1]


@pytest.mark.parametrize("cap", [-1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_a_household_shares_its_blanks_at_least_cost(seed: int, cap: int) -> None:
    bounds, sets = families(seed, n=6)
    group = np.arange(6)
    common, common_cost = np.array([0, 1, 2, 3]), np.array([0.0, 1.0, 1.5, 2.5])
    own, own_cost = np.array([0, 4, 8, 12]), np.array([0.0, 0.5, 2.0, 2.5])
    out = np.zeros(6, np.int64)
    edges, order = np.array([0, 2, 5, 6]), np.arange(6)
    household_hits(edges, order, group, bounds, sets, common, common_cost, own, own_cost, cap, out)
    for begin, end in pairwise(edges):
        best = np.inf
        for shared, price in zip(common, common_cost, strict=True):
            total = price * (end - begin)
            for i in range(begin, end):
                mine = sets[bounds[i] : bounds[i + 1]]
                fitting = [
                    (cost, mask)
                    for mask, cost in zip(own, own_cost, strict=True)
                    if all((mask | shared) & one for one in mine)
                ]
                if not fitting or (cap >= 0 and bin(fitting[0][1] | shared).count("1") > cap):
                    total = np.inf
                    break
                total += fitting[0][0]
            best = min(best, total)
        if best == np.inf:
            assert out[begin:end].tolist() == [-1] * (end - begin)
            continue
        shared = {mask & 3 for mask in out[begin:end].tolist()}
        assert len(shared) == 1  # blanked for all of them or for none
        paid = sum(common_cost[list(common).index(m & 3)] + own_cost[list(own).index(m & 12)] for m in out[begin:end])
        assert paid == pytest.approx(best)


def pairs(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n = len(x)
    both = [(i, j) for i in range(n) for j in range(n) if i != j]
    squares = np.array([float(((x[i] - x[j]) ** 2).sum()) for i, j in both])
    back = np.array([both.index((j, i)) for i, j in both])
    return np.arange(n + 1) * (n - 1), squares, back


def best_partition(x: np.ndarray, k: int) -> float:
    """The least within sum of squares of a partition into groups of k to 2k − 1, by trying all."""

    def cost(members: tuple[int, ...]) -> float:
        own = x[list(members)]
        return float(((own - own.mean(axis=0)) ** 2).sum())

    def least(rest: tuple[int, ...]) -> float:
        if not rest:
            return 0.0
        found = np.inf
        for size in range(k, min(2 * k - 1, len(rest)) + 1):
            if 0 < len(rest) - size < k:
                continue
            for others in combinations(rest[1:], size - 1):
                left = tuple(i for i in rest[1:] if i not in others)
                found = min(found, cost((rest[0], *others)) + least(left))
        return found

    return least(tuple(range(len(x))))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [2, 3])
def test_bounds_stay_below_the_best_partition_and_prices_raise_them(seed: int, k: int) -> None:
    x = np.random.default_rng(seed).normal(size=(8, 2))
    starts, squares, back = pairs(x)
    reach = np.full(8, np.inf)
    truth = best_partition(x, k)
    free = relaxed_cost(starts, squares, np.zeros(len(squares)), reach, k, np.zeros(len(squares)))
    raised = raise_bound(starts, squares, back, reach, k, truth, 300)
    assert free <= raised <= truth * (1 + 1e-9)
    assert raised > (0.8 if k == 2 else 0.6) * truth
