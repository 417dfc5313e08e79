# SPDX-License-Identifier: Apache-2.0
"""Records whose published numbers lie so close together that they may be the members of one household.

Noise gives each member another value of what the household had in common; with little noise these stay nearer to each other
than to those of anybody else. Records that are closer than some distance, directly or by others, are one group; several
distances are tried, because the attacker may choose, and also only the groups that stand by themselves.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from reticent.base.arrays import Floats, Ints
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind

NEIGHBOURS = 8
"""Records that each one is compared with."""
DISTANCES = np.arange(1, 11) / 10
"""Distances that are tried: as many records have their nearest neighbour within them."""
APART = 2.0
"""How much farther than its members are from each other everybody else is from a group that stands by itself."""
CLOSE = 0.1
"""The part of all records among which the values of members lie, where a number seems to belong to the household."""


def near_groups(masked: Microdata, household: Ints) -> Iterator[tuple[Ints, str]]:
    """Groups of records by nearness in each number, and in all that seem to belong to the household, with their names."""
    numbers = {v.name: masked.numbers((v.name,))[:, 0] for v in masked.schema.variables if v.kind is Kind.NUMERIC}
    numbers = {name: values for name, values in numbers.items() if np.unique(values).size > 1}
    for name, values in numbers.items():
        for scaled in _scales(values):
            for group in _groups(scaled[:, None]):
                yield group, f"near values of {name}"
    shared = [scale for values in numbers.values() if _close(values, household) for scale in _scales(values)[-1:]]
    if len(shared) > 1:
        for group in _groups(np.column_stack(shared)):
            yield group, "near values of several numbers"


def _scales(values: Floats) -> list[Floats]:
    """The values by their standard deviation, and their logarithms where these exist."""
    there = values[np.isfinite(values)]
    scales = [values] if there.min() <= 0 else [values, np.log(values)]
    return [scale / (np.nanstd(scale) or 1.0) for scale in scales]


def _close(values: Floats, household: Ints) -> bool:
    """Whether in most households of several members the values are near to each other in the order of all."""
    rank = np.argsort(np.argsort(values)) / values.size
    known = np.flatnonzero((household >= 0) & np.isfinite(values))
    order = known[np.argsort(household[known], kind="stable")]
    starts = np.flatnonzero(np.diff(household[order], prepend=-1))
    if not starts.size:
        return False
    several = np.diff(np.append(starts, order.size)) > 1
    spread = np.maximum.reduceat(rank[order], starts) - np.minimum.reduceat(rank[order], starts)
    return bool((spread[several] < CLOSE).mean() > 0.5) if several.any() else False


def _groups(points: NDArray[np.float64]) -> Iterator[Ints]:
    """For each distance the group of every record; records without a value are alone."""
    full = np.flatnonzero(np.isfinite(points).all(axis=1))
    many = min(NEIGHBOURS, full.size - 1)
    if many < 1:
        return
    found = cKDTree(points[full]).query(points[full], k=many + 1)
    far, other = np.asarray(found[0], dtype=np.float64), np.asarray(found[1], dtype=np.int64)
    for distance in np.unique(np.quantile(far[:, 1], DISTANCES)):
        group = _linked(full, far, other, distance, len(points))
        yield group
        yield _isolated(group, _linked(full, far, other, APART * distance, len(points)))


def _linked(full: Ints, far: Floats, other: Ints, distance: float, records: int) -> Ints:
    """The group of every record where records within a distance are linked."""
    near = far <= distance
    rows = np.repeat(full, near.sum(axis=1))
    graph = csr_array((np.ones(rows.size), (rows, full[other[near]])), shape=(records, records))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def _isolated(group: Ints, wider: Ints) -> Ints:
    """Groups that have nobody else within the larger distance either; all others are alone."""
    alone = np.bincount(group)[group] < np.bincount(wider)[wider]
    return np.unique(np.where(alone, group.max() + 1 + np.arange(group.size), group), return_inverse=True)[1].astype(
        np.int64
    )
