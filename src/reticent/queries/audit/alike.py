# SPDX-License-Identifier: Apache-2.0
"""Whether records of one respondent have one value, of one response or of two, more often than by chance."""

from collections.abc import Sequence
from math import lcm

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints
from reticent.queries.canonical import Universe
from reticent.queries.columns import Columns

ALIKE, OFTENER, FEWEST_ALIKE = 0.5, 2, 3
"""One value is no chance if this many respondents have it again and their pairs of records are alike so many times as often as
others are, or this share of them is beyond chance."""
MOST_PAIRS, FEWEST_PAIRS = 1_000_000, 20
"""So many pairs of records are looked at, and of two codes of a filter at least these."""
Kinds = Sequence[NDArray[np.int32]]


def kinds_of(universe: Universe, columns: Columns) -> Kinds:
    """The codes of each record for the filters; none where there are several versions, or records stay in an engine."""
    if len(universe.versions) > 1 or not (columns.has_units and columns.unit_at):
        return []
    current = universe.current
    return [current.codes[name][current.atom] for name in current.filters]


def codes_together(columns: Sequence[Columns]) -> Ints:
    """A number for each different value, the same for all responses."""
    scale = lcm(*(own.values.scale for own in columns))
    values = np.concatenate([own.values.integers.astype(object) * (scale // own.values.scale) for own in columns])
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)


def cross(one: Columns, other: Columns, kinds: Kinds) -> bool:
    """Whether a value of one response is that of another in another record of the respondent more often than by chance.

    All pairs of records count, or those of two codes of a filter: what others of a household have says nothing of a couple.
    """
    if one.one_each and other.one_each and len(np.intersect1d(one.entity, other.entity)) < FEWEST_ALIKE:
        return False
    codes = np.split(codes_together([one, other]), [one.n_units])
    record = [_record_of(own) for own in (one, other)]
    order = np.argsort(other.entity, kind="stable")
    first = np.searchsorted(other.entity[order], one.entity, side="left")
    last = np.searchsorted(other.entity[order], one.entity, side="right")
    # always the same ones: a ledger means the same whenever it is opened
    chosen = np.random.default_rng(0).permutation(one.n_units)
    chosen = chosen[np.cumsum((last - first)[chosen]) <= MOST_PAIRS]
    times = (last - first)[chosen]
    left = np.repeat(chosen, times)
    turn = np.arange(len(left)) - np.repeat(np.cumsum(times) - times, times)
    right = order[np.repeat(first[chosen], times) + turn]
    there = record[0][left] != record[1][right]
    zero = [each.values.integers == 0 for each in (one, other)]
    if len(np.unique(np.concatenate([each[~none] for each, none in zip(codes, zero)]))) > 1:
        # of 0 and 1 both say something; of more values 0 is what many have
        there &= ~zero[0][left] & ~zero[1][right]
    left, right = left[there], right[there]
    own, others = codes[0][left], codes[1][right]
    if _often(one.entity[left], own, others):
        return True
    for kind in kinds:
        pair = kind[record[0][left]].astype(np.int64) * (int(kind.max(initial=0)) + 1) + kind[record[1][right]]
        at = np.argsort(pair, kind="stable")
        for part in np.split(at, np.flatnonzero(np.diff(pair[at])) + 1):
            if len(part) >= FEWEST_PAIRS and _often(one.entity[left[part]], own[part], others[part]):
                return True
    return False


def _often(owner: Ints, values: Ints, others: Ints) -> bool:
    """Whether pairs of records of a respondent have one value more often than chance makes it."""
    same = values == others
    if len(np.unique(owner[same])) < FEWEST_ALIKE:
        return False
    width = int(max(values.max(), others.max())) + 1
    shares = [np.bincount(own, minlength=width) / len(own) for own in (values, others)]
    chance = float(shares[0] @ shares[1])
    return chance < 1 and float(same.mean()) >= min(OFTENER * chance, chance + ALIKE * (1 - chance))


def _record_of(columns: Columns) -> Ints:
    """The record of each unit."""
    out = np.zeros(columns.n_units, dtype=np.int64)
    unit = columns.unit_at[0]
    out[unit[unit >= 0]] = np.flatnonzero(unit >= 0)
    return out
