# SPDX-License-Identifier: Apache-2.0
"""What microaggregation promises, counted again from the masked file alone: no grouping is looked at."""

import numpy as np
from numpy.typing import NDArray

from reticent.data.microdata import Microdata
from reticent.microdata.perturb.binding import respondents, units

MEAN_TOLERANCE = 1e-9
"""Means may move by this share of a variable's spread: rounding of the group means."""


def _respondents(data: Microdata, names: tuple[str, ...]) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """What must be k in number: households for household variables, else entities, else records."""
    who = respondents(data, names)
    return np.arange(data.n_records) if who is None else who


def few_alike(names: tuple[str, ...], strata: tuple[str, ...], k: int, before: Microdata, after: Microdata) -> int:
    """Combinations of the variables (within strata) that belong to fewer than k respondents."""
    who = _respondents(after, names)
    group = after.patterns((*strata, *names)).group
    pairs = np.unique(np.stack((group, who), axis=1), axis=0)
    return int(np.sum(np.bincount(pairs[:, 0]) < k))


def values_few_alike(
    names: tuple[str, ...], strata: tuple[str, ...], k: int, before: Microdata, after: Microdata
) -> int:
    """Values of single variables (within strata) that belong to fewer than k respondents."""
    return sum(few_alike((name,), strata, k, before, after) for name in names)


def few_behind(names: tuple[str, ...], strata: tuple[str, ...], k: int, before: Microdata, after: Microdata) -> int:
    """Published values for which fewer than k respondents had a value of that variable."""
    who, broken = _respondents(after, names), 0
    for name in names:
        group = after.patterns((*strata, name)).group
        shown = ~after.missing(name)
        pairs = np.unique(np.stack((group, who), axis=1)[shown & ~before.missing(name)], axis=0)
        behind = np.bincount(pairs[:, 0], minlength=int(group.max(initial=0)) + 1)
        broken += int((behind[np.unique(group[shown])] < k).sum())
    return broken


def means_moved(names: tuple[str, ...], before: Microdata, after: Microdata) -> int:
    """Complete numeric variables whose mean (of households, for what they share) moved by more than rounding explains."""
    moved, first = 0, units(before, names, owner="microaggregate", hidden=True).first
    for name in names:
        if before.schema[name].kind != "numeric" or before.missing(name).any():
            continue
        old, new = before.numbers((name,))[first, 0], after.numbers((name,))[first, 0]
        scale = max(float(np.abs(old).max()), float(old.std()))
        moved += abs(float(new.mean() - old.mean())) > MEAN_TOLERANCE * scale
    return moved


def dominated_groups(
    values: NDArray[np.float64], labels: NDArray[np.int64], entity: NDArray[np.int64] | None, *, p: float = 10.0
) -> int:
    """Groups of known size whose mean lets the second largest respondent place the largest within p percent."""
    size = np.nan_to_num(np.abs(values))
    who = np.arange(len(labels)) if entity is None else entity
    _, pair = np.unique(np.column_stack((labels, who)), axis=0, return_inverse=True)
    group = np.zeros(int(pair.max()) + 1, np.int64)
    group[pair.ravel()] = labels
    held = np.bincount(pair.ravel(), weights=size)
    order = np.lexsort((-held, group))
    first = np.flatnonzero(np.diff(group[order], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
    total = np.bincount(group[order], weights=np.where(rank > 1, held[order], 0.0))
    largest = held[order][first]
    return int((total[group[order][first]] < p / 100 * largest).sum())
