"""Responses tied by an equation: a total and its parts, an amount in two currencies, rounded or not.

A tie is looked for over all records and for each code of each filter apart (a rate of exchange for each country). It may
hold exactly or up to the rounding of its variables. Finding one that is chance only makes an audit stricter.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
EXACTLY, NEARLY, LOOSE = 1e-9, 1e-3, 1e-4
FEWEST = 12
MOST_GROUPS = 2_000
MOST_DECIMALS = 6


def ties_of(values: Floats, groups: Sequence[NDArray[np.int32]]) -> list[tuple[int, ...]]:
    """Sets of columns tied by a linear equation (with a constant) over the complete records, or those of a group."""
    there = ~np.isnan(values).any(axis=1)
    complete = values[there]
    with np.errstate(over="ignore"):
        units = np.array([_unit(column) for column in complete.T])
    size = np.abs(complete).max(axis=0, initial=0.0)
    size[size == 0] = 1.0
    complete, units = complete / size, units / size  # so that squares neither overflow nor vanish
    found = dict.fromkeys(_dependent(complete, units, fewest=complete.shape[1] + 2))
    for group in groups:
        codes, counts = np.unique(group[there], return_counts=True)
        for code in codes[counts >= max(FEWEST, 3 * values.shape[1])][:MOST_GROUPS]:
            found.update(dict.fromkeys(_dependent(complete[group[there] == code], units, fewest=FEWEST)))
    return list(found)


def _unit(column: Floats) -> float:
    """The power of ten that the values are rounded to."""
    for decimals in range(MOST_DECIMALS + 1):
        if bool((np.round(column, decimals) == column).all()):
            return float(10.0**-decimals)
    return 0.0


def _dependent(values: Floats, units: Floats, *, fewest: int) -> Iterator[tuple[int, ...]]:
    if len(values) < fewest:
        return
    centred = values - values.mean(axis=0)
    spread = np.sqrt((centred**2).mean(axis=0))
    moving = np.flatnonzero(spread > 0)
    if len(moving) < 2:
        return
    unit = centred[:, moving] / spread[moving]
    sizes, vectors = np.linalg.eigh(unit.T @ unit / len(unit))
    for k in np.flatnonzero(sizes < NEARLY):
        chosen = np.abs(vectors[:, k]) > LOOSE
        tied = moving[chosen]
        if len(tied) < 2 or not _many_points(values[:, tied]):
            continue
        factors = vectors[chosen, k] / spread[tied]
        left = centred[:, tied] @ factors
        rounding = float((np.abs(factors) * units[tied]).sum())
        if sizes[k] < EXACTLY or float(np.ptp(left)) <= rounding * (1 + EXACTLY):
            yield tuple(int(i) for i in tied)


def _many_points(values: Floats) -> bool:
    """Whether an equation is more than what a few points always satisfy."""
    return bool(len(np.unique(values, axis=0)) >= values.shape[1] + 3)
