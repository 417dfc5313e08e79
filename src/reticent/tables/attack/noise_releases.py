# SPDX-License-Identifier: Apache-2.0
"""Attacks on several noisy tables: cells that are in more than one, averages, and differences of nested cells."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints, Mask
from reticent.base.errors import DataError
from reticent.data.relations import Relations
from reticent.data.table import Table
from reticent.tables.attack.noise_intervals import contained, unlike, with_differences
from reticent.tables.perturb.origins import Origins

OWNER = "attack on noise"


def what_all_allow(relations: Relations, releases: Sequence[Origins]) -> Origins:
    """What several releases of the same cells say together: only true counts that are possible behind all of them are left.

    Each release has its own noise or its own adjustment; cells that it does not show have no restriction in its origins. Cells
    that one of them publishes differently have different records.
    """
    if not releases or any(len(one.base) != relations.n_cells for one in releases):
        raise DataError(f"{OWNER}: each release must say something about all {relations.n_cells} cells.")
    first, *others = releases
    both = first
    for one in others:
        both = _intersected(both, one)
    pairs = contained(relations, first)
    told = [one.apart for one in releases if one.apart is not None]
    apart = np.concatenate([np.zeros((0, 2), dtype=np.int64), *told, *(unlike(one, pairs) for one in others)])
    return replace(both, alike=first.alike, nested=first.nested, apart=np.unique(apart, axis=0) if len(apart) else None)


def _intersected(first: Origins, second: Origins) -> Origins:
    """Counts that are possible by both."""
    base = np.maximum(first.base, second.base)
    end = np.minimum(first.base + first.patterns.shape[1], second.base + second.patterns.shape[1])
    width = int((end - base).max(initial=1))
    if width < 1 or bool((end <= base).any()):
        raise DataError(f"{OWNER}: no true count fits what two releases show of the same cell.")
    allowed = np.ones((len(base), width), dtype=bool)
    for one in (first, second):
        at = (base - one.base)[:, None] + np.arange(width)
        inside = at < one.patterns.shape[1]
        allowed &= inside & one.patterns[one.pattern[:, None], np.minimum(at, one.patterns.shape[1] - 1)]
    if not allowed.any(axis=1).all():
        raise DataError(f"{OWNER}: no true count fits what two releases show of the same cell.")
    patterns, pattern = np.unique(allowed, axis=0, return_inverse=True)
    return Origins(base, pattern.ravel().astype(np.int32), patterns)


@dataclass(frozen=True)
class Averaging:
    """What averaging over releases gives: how far the mean is from the noisy counts and from the true ones, on average.

    `undone` cells with somebody in them have a mean that, rounded, is the true count although the noise had changed it.
    """

    releases: int
    from_noisy: float
    from_true: float
    changed: int
    undone: int


def averaging(true: Floats, noisy: Floats, releases: Sequence[Floats]) -> Averaging:
    """Average cells over differently adjusted tables and say whether that undoes the noise or only the adjustment."""
    mean = np.mean(np.stack(list(releases)), axis=0)
    changed = (noisy != true) & (true > 0)
    back = changed & (np.rint(mean) == true)
    return Averaging(
        len(releases),
        float(np.abs(mean - noisy).mean()),
        float(np.abs(mean - true).mean()),
        int(changed.sum()),
        int(back.sum()),
    )


@dataclass(frozen=True)
class Difference:
    """How many are in the larger cell and not in the smaller one, as far as everybody can tell."""

    larger: int
    smaller: int
    low: float
    high: float

    @property
    def determined(self) -> bool:
        """Whether the number is known exactly and is not 0."""
        return self.low == self.high > 0


def attack_differences(relations: Relations, origins: Origins, pairs: Ints) -> tuple[Difference, ...]:
    """Differences of two cells of which one contains the other, as further cells of the attack."""
    found = with_differences(relations, origins, origins.low, origins.high, pairs)
    n = relations.n_cells
    return tuple(
        Difference(larger, smaller, float(found.low[n + at]), float(found.high[n + at]))
        for at, (larger, smaller) in enumerate(pairs.tolist())
    )


def nested_pairs(table: Table) -> Ints:
    """Pairs of cells that differ in one dimension, where one code contains the other without being above it in a tree.

    Such codes are in different trees (15 to 64, 15 to 65): their difference is a group that no table shows.
    """
    found: list[tuple[int, int]] = []
    rows = [tuple(row) for row in table.codes.tolist()]
    place = {row: cell for cell, row in enumerate(rows)}
    for at, dimension in enumerate(table.dimensions):
        if len(dimension.trees) < 2:
            continue
        leaves = _leaves(dimension.ancestors, len(dimension), dimension.is_leaf)
        indptr, above = dimension.ancestors
        over = [set(above[indptr[node] : indptr[node + 1]].tolist()) for node in range(len(dimension))]
        inside = [
            [q for q in range(len(dimension)) if p != q and leaves[q] < leaves[p] and p not in over[q]]
            for p in range(len(dimension))
        ]
        for cell, row in enumerate(rows):
            others = [place.get((*row[:at], q, *row[at + 1 :])) for q in inside[row[at]]]
            found += [(cell, other) for other in others if other is not None]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _leaves(ancestors: tuple[NDArray[np.int64], NDArray[np.int32]], n: int, leaf: Mask) -> list[frozenset[int]]:
    """The leaves below each node."""
    indptr, above = ancestors
    below: list[set[int]] = [set() for _ in range(n)]
    for node in np.flatnonzero(leaf).tolist():
        for top in above[indptr[node] : indptr[node + 1]].tolist():
            below[top].add(node)
    return [frozenset(nodes) for nodes in below]
