# SPDX-License-Identifier: Apache-2.0
"""Microaggregation of one variable: the exact optimum by shortest path, and a genetic search over bit strings.

Both take values in ascending order and return the position at which each group starts.
"""

import numpy as np
from numba import njit

from reticent.base.arrays import Floats, Ints, Mask, Words
from reticent.kernels.walking import below


@njit(cache=True, nogil=True)
def _running(values: Floats) -> tuple[Floats, Floats]:
    """Running sums of the values and their squares, after centring (so that little cancels)."""
    n = values.size
    sums, squares = np.zeros(n + 1), np.zeros(n + 1)
    middle = np.mean(values)
    for i in range(n):
        centred = values[i] - middle
        sums[i + 1] = sums[i] + centred
        squares[i + 1] = squares[i] + centred * centred
    return sums, squares


@njit(cache=True, nogil=True, inline="always")
def _spread(sums: Floats, squares: Floats, start: int, stop: int) -> float:
    """Within sum of squares of the values start … stop − 1."""
    total = sums[stop] - sums[start]
    return float(max(squares[stop] - squares[start] - total * total / (stop - start), 0.0))


@njit(cache=True, nogil=True)
def shortest_path(values: Floats, k: int) -> tuple[Ints, float]:
    """Group starts and cost of the optimal k-partition of sorted values; O(n·k).

    Hansen and Mukherjee (2003): an optimal partition has runs of k to 2k − 1 sorted values; the best one is a
    shortest path over the positions 0 … n.
    """
    n = values.size
    sums, squares = _running(values)
    cost = np.full(n + 1, np.inf)
    cost[0] = 0.0
    before = np.zeros(n + 1, np.int64)
    for stop in range(k, n + 1):
        for start in range(max(stop - 2 * k + 1, 0), stop - k + 1):
            if cost[start] < np.inf:
                length = cost[start] + _spread(sums, squares, start, stop)
                if length < cost[stop]:
                    cost[stop], before[stop] = length, start
    count, at = 0, n
    while at > 0:
        count, at = count + 1, before[at]
    starts = np.empty(count, np.int64)
    at = n
    for c in range(count - 1, -1, -1):
        at = before[at]
        starts[c] = at
    return starts, cost[n]


@njit(cache=True, nogil=True)
def _repair(bits: Mask, k: int) -> None:
    """Make a bit string (1 = a group starts here) one whose groups have k to 2k − 1 values.

    From left to right the first wished start that leaves k to 2k − 1 values behind it and k before the end is kept;
    where none is wished, the group gets k values.
    """
    n = bits.size
    start = 0
    bits[0] = True
    while n - start >= 2 * k:
        stop = min(start + 2 * k - 1, n - k)
        chosen = start + k
        for i in range(start + k, stop + 1):
            if bits[i]:
                chosen = i
                break
        bits[start + 1 : chosen] = False
        bits[chosen] = True
        start = chosen
    bits[start + 1 :] = False


@njit(cache=True, nogil=True)
def _fitness(bits: Mask, sums: Floats, squares: Floats) -> float:
    """Cost of a bit string."""
    total, start = 0.0, 0
    for i in range(1, bits.size):
        if bits[i]:
            total += _spread(sums, squares, start, i)
            start = i
    return float(total + _spread(sums, squares, start, bits.size))


@njit(cache=True, nogil=True)
def _fitter(cost: Floats, words: Words) -> int:
    """The better of two random members of the population."""
    one, other = below(words, cost.size), below(words, cost.size)
    return int(one if cost[one] <= cost[other] else other)


@njit(cache=True, nogil=True)
def _breed(mother: Mask, father: Mask, child: Mask, k: int, words: Words) -> None:
    """Two-point crossover, a few starts moved by one, a few bits flipped; then repaired."""
    n = mother.size
    one, other = below(words, n), below(words, n)
    low, high = min(one, other), max(one, other)
    child[:] = mother
    child[low:high] = father[low:high]
    for _ in range(1 + below(words, 3)):
        at = below(words, n - 1)
        child[at], child[at + 1] = child[at + 1], child[at]
    at = below(words, n)
    child[at] = not child[at]
    _repair(child, k)


@njit(cache=True, nogil=True)
def genetic_path(values: Floats, k: int, population: int, children: int, words: Words) -> tuple[Ints, float]:
    """Group starts and cost found by a genetic search over bit strings; O(children · n).

    Mateo-Sanz and Domingo-Ferrer (1998) represent the k-partition of sorted values as a string with a 1 where a group
    starts. Here each child of two tournament winners replaces the worst member if it is better (steady state).
    """
    n = values.size
    sums, squares = _running(values)
    bits = np.zeros((population, n), np.bool_)
    cost = np.empty(population)
    for m in range(population):
        for i in range(n):
            bits[m, i] = below(words, k) == 0 if m > 0 else i % k == 0
        _repair(bits[m], k)
        cost[m] = _fitness(bits[m], sums, squares)
    child = np.empty(n, np.bool_)
    for _ in range(children):
        _breed(bits[_fitter(cost, words)], bits[_fitter(cost, words)], child, k, words)
        fitness = _fitness(child, sums, squares)
        worst = np.argmax(cost)
        if fitness < cost[worst]:
            bits[worst] = child
            cost[worst] = fitness
    best = np.argmin(cost)
    return np.flatnonzero(bits[best]).astype(np.int64), cost[best]
