# SPDX-License-Identifier: Apache-2.0
"""The fixed ratio of two responses, as sharp as the numbers allow: exact, one of them rounded, or both.

Whoever knows a rate of 19 per cent knows the tax from the price within half a unit of the tax; a rounder ratio that the
numbers also allow if both are taken for rounded says less. So the ratio that leaves least room comes first.
"""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.data.response_relations import LARGEST, ResponseRelation, relation_of

_SAMPLE = 400  # rows that say first whether there is a ratio at all
_EXACT = 1e-6  # of a step: what floating point adds


def ratios(
    steps: tuple[float, float], pair: tuple[str, str], numbers: tuple[Floats, Floats], share: float
) -> Iterator[tuple[ResponseRelation, float]]:
    """`one = ratio · other`, and how far rounding takes a row from it, for each way of rounding that a share of the rows allows.

    The sharpest comes first. Rows in which one of the numbers is 0 say nothing here.
    """
    one, other = numbers
    there = (one != 0) & (other != 0)
    one, other = one[there], other[there]
    if not len(one):
        return
    usual = abs(float(np.median(one / other)))
    halves = (0.5 * steps[0], 0.5 * steps[1])
    single = sorted(((halves[0], 0.0), (0.0, halves[1])), key=lambda off: off[0] + off[1] * usual)
    tiny = (_EXACT * steps[0], _EXACT * steps[1])
    for off in ((0.0, 0.0), *single, halves):
        near = _common_ratio(one, other, (off[0] or tiny[0], off[1] or tiny[1]), share)
        if near is None or max(abs(near.numerator), near.denominator) > LARGEST:
            continue
        relation = relation_of([(pair[0], Fraction(1)), (pair[1], -near)], declared=False)
        factor = dict(zip(relation.names, relation.coefs, strict=True))
        yield relation, off[0] * abs(factor[pair[0]]) + off[1] * abs(factor[pair[1]])


def _common_ratio(one: Floats, other: Floats, off: tuple[float, float], share: float) -> Fraction | None:
    """The simplest ratio that so many rows allow whose numbers may be off by so much; None if there is none."""
    sign = 1 if float(np.median(np.sign(one) * np.sign(other))) > 0 else -1
    large = (np.abs(one) > 2 * off[0]) & (np.abs(other) > 2 * off[1])
    one, other = np.abs(one[large]), np.abs(other[large])
    least, most = (one - off[0]) / (other + off[1]), (one + off[0]) / (other - off[1])
    few = np.linspace(0, len(one) - 1, min(len(one), _SAMPLE)).astype(np.int64)
    if not len(one) or _agreed(least[few], most[few])[2] < share * len(few):
        return None
    low, high, rows = _agreed(least, most)
    return sign * simplest(Fraction(low), Fraction(high)) if rows >= share * len(one) else None


def _agreed(least: Floats, most: Floats) -> tuple[float, float, int]:
    """The interval that lies in as many of these as any, and in how many."""
    starts, ends = np.sort(least), np.sort(most)
    inside: NDArray[np.int64] = np.arange(1, len(starts) + 1) - np.searchsorted(ends, starts, side="left")
    at = int(inside.argmax())
    return float(starts[at]), float(ends[np.searchsorted(ends, starts[at], side="left")]), int(inside[at])


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest numbers between two that are above 0.

    >>> str(simplest(Fraction("0.1899"), Fraction("0.1901")))
    '19/100'
    """
    whole = math.ceil(low)
    if whole <= high:
        return Fraction(whole)
    floor = whole - 1
    return floor + 1 / simplest(1 / (high - floor), 1 / (low - floor))
