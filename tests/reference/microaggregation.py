"""Slow, obvious versions of the grouping kernels: one line of mathematics each, lists instead of arrays."""

import itertools

import numpy as np


def squares_within(x: np.ndarray, labels: np.ndarray) -> float:
    """Sum over groups of squared distances to the group's mean."""
    return float(sum(((x[labels == g] - x[labels == g].mean(axis=0)) ** 2).sum() for g in np.unique(labels)))


def mdav(x: np.ndarray, k: int) -> list[frozenset[int]]:
    """MDAV by its text, with sorted lists."""
    left = list(range(len(x)))
    groups: list[frozenset[int]] = []

    def nearest(i: int) -> list[int]:
        return sorted(left, key=lambda j: ((x[j] - x[i]) ** 2).sum())[:k]

    def take(members: list[int]) -> None:
        groups.append(frozenset(members))
        for j in members:
            left.remove(j)

    while len(left) >= 2 * k:
        middle = x[left].mean(axis=0)
        r = max(left, key=lambda j: ((x[j] - middle) ** 2).sum())
        s = max(left, key=lambda j: ((x[j] - x[r]) ** 2).sum())
        both = len(left) >= 3 * k
        take(nearest(r))
        if both:
            take(sorted(left, key=lambda j: ((x[j] - x[s]) ** 2).sum())[:k])
    groups.append(frozenset(left))
    return groups


def cheapest_partition(x: np.ndarray, k: int) -> float:
    """Least cost over all partitions into groups of k or more records, by trying them all (n ≤ 10)."""

    def solve(rest: tuple[int, ...]) -> float:
        if not rest:
            return 0.0
        best = np.inf
        for size in range(k, min(len(rest), 2 * k - 1) + 1):
            for others in itertools.combinations(rest[1:], size - 1):
                group = (rest[0], *others)
                points = x[list(group)]
                cost = ((points - points.mean(axis=0)) ** 2).sum()
                best = min(best, cost + solve(tuple(i for i in rest if i not in group)))
        return float(best)

    return solve(tuple(range(len(x))))
