# SPDX-License-Identifier: Apache-2.0
"""How probable each number of people of a group is where many tables divide it in two: all of them together.

n people can be divided in two in 2^(n−1) ways, one of which leaves all together. Tables that divide a group in the same way are
published alike, so that they are no further evidence. How often each pair of values occurs says how many ways there are.
"""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.data.relations import Relations
from reticent.tables.attack.noise_intervals import Narrowed
from reticent.tables.attack.noise_splits import divided_groups
from reticent.tables.perturb.origins import Origins

Pair = tuple[int, int]


def surer_groups(
    relations: Relations, origins: Origins, laws: Floats, low: Floats, high: Floats
) -> tuple[Ints, Floats, Floats]:
    """The groups that several tables divide in two, and for each how probable its likeliest count is, and which that is.

    `laws` has the probabilities of the counts of each cell from `base` on, by its own value.
    """
    if origins.alike is None or origins.weights is None:
        return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
    cells, sure, likeliest = [], [], []
    for group, divisions in divided_groups(relations, origins.alike, Narrowed(low, high)).items():
        halves = [(int(parts[0]), int(parts[1])) for parts in divisions if len(parts) == 2]
        if len(halves) < 2:
            continue
        first = int(origins.base[group])
        law = np.array(
            [chance * _likelihood(first + at, group, halves, origins) if chance else 0.0 for at, chance in enumerate(laws[group])]
        )  # fmt: skip
        if law.sum() > 0:
            cells.append(group)
            sure.append(float(law.max() / law.sum()))
            likeliest.append(float(first + int(np.argmax(law))))
    return np.array(cells, dtype=np.int64), np.array(sure), np.array(likeliest)


def _likelihood(size: int, group: int, halves: Sequence[Pair], origins: Origins) -> float:
    """How likely so many people are divided as published, if every way to divide them is equally likely.

    Equal pairs come from one way or from several: all numbers of ways behind each are added up (Stirling numbers of the second
    kind), and ways are drawn without one counting twice. A way is taken to have the mean chance of all ways.
    """
    assert origins.alike is not None
    if size < 1:
        return float(all(not origins.alike[list(pair)].any() for pair in halves))
    alike = origins.alike
    often = Counter(tuple(sorted((int(alike[one]), int(alike[other])))) for one, other in halves)
    example = {tuple(sorted((int(alike[one]), int(alike[other])))): (one, other) for one, other in halves}
    whole = tuple(sorted((0, int(alike[group]))))
    ways = np.ones(1)
    for pair, times in often.items():
        chance = _chance(size, example[pair], origins)
        if pair == whole:
            some = [math.comb(times, left) * _by_ways(left, chance) for left in range(times + 1)]
            ways = np.convolve(ways, np.sum([np.pad(one, (0, times + 1 - len(one))) for one in some], axis=0))
        else:
            ways = np.convolve(ways, _by_ways(times, chance))
    others = 2.0 ** (size - 1) - 1
    drawn = np.cumprod(np.concatenate(([1.0], np.maximum(others - np.arange(len(ways) - 1), 0.0))))
    return float(ways @ drawn) / (others + 1) ** len(halves)


def _by_ways(times: int, chance: float) -> Floats:
    """The chances that so many equal pairs come from 0, 1, 2, … ways, but for which ways these are."""
    row = np.zeros(times + 1)
    row[0] = 1.0
    for n in range(1, times + 1):
        row[1 : n + 1] = row[1 : n + 1] * np.arange(1, n + 1) + row[:n]
        row[0] = 0.0
    return np.asarray(row * chance ** np.arange(times + 1))


def _chance(size: int, pair: Pair, origins: Origins) -> float:
    """How likely a way that divides the group is published as this pair."""
    if size < 2:
        return 0.0
    assert origins.weights is not None
    assert origins.alike is not None
    parts = np.arange(1, size)
    one, other = (_chances(cell, parts, origins) for cell in pair)
    both = one * other[::-1]
    if origins.alike[pair[0]] != origins.alike[pair[1]]:
        both = both + other * one[::-1]
    often = np.array([math.comb(size, int(part)) for part in parts], dtype=np.float64)
    return float((often * both).sum() / (2.0**size - 2))


def _chances(cell: int, sizes: Ints, origins: Origins) -> Floats:
    """How likely each of these sizes is published as the cell is."""
    assert origins.weights is not None
    at = sizes - origins.base[cell]
    row = origins.weights[origins.pattern[cell]]
    return np.where((at >= 0) & (at < len(row)), row[np.clip(at, 0, len(row) - 1)], 0.0)
