# SPDX-License-Identifier: Apache-2.0
"""Sums by classes of their own size: a firm of the class 10 to 49 has at least 10 and less than 50, so counts bound sums.

Where the codes of a dimension follow the order of a response, everybody knows the limits between them. What they are the records
do not say: between the largest number of one class and the least of the next the roundest number is taken. Where nobody publishes
counts, somebody is in a cell all the same: its sum is no less than what one record has at least.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from reticent.base.arrays import Ints
from reticent.data.response_relations import COUNT, relation_of
from reticent.data.table import Dimension
from reticent.tabulation.dependence import ranges_of
from reticent.tabulation.tied_responses import OFTEN, ROWS_FOR_ORDER, Numbers, Tie, Within

LARGEST_LIMIT = 10**9
"""Limits of classes up to this many units are known."""
_STEPS = (1.0, 0.5, 0.25, 0.2)  # of a power of ten: what limits of classes are multiples of, the roundest first


def ties_by_class(numbers: Numbers, dimension: Dimension, nodes: Ints) -> list[Tie]:
    """Responses that lie within limits for the records of a code, times their count; `nodes` has the code of each record."""
    if COUNT not in numbers.columns:
        return []
    found: list[Tie] = []
    for name in numbers.columns:
        if name != COUNT:
            found += _ties(numbers, name, dimension, nodes)
    return found


def _ties(numbers: Numbers, name: str, dimension: Dimension, nodes: Ints) -> Iterator[Tie]:
    whole = bool(numbers.complete((name,)).all())
    for node, sign, factor in _limits(numbers, name, dimension, nodes):
        relation = relation_of([(name, Fraction(sign)), (COUNT, -sign * factor)], inequality=True, declared=False)
        if len(relation.names) == 2 and max(map(abs, relation.coefs)) <= LARGEST_LIMIT:
            code = dimension.codes[node]
            within = Within(dimension.name, frozenset({code}), code)
            yield Tie(relation, 0.0, numbers.of_records, everywhere=whole, within=within)


def _limits(numbers: Numbers, name: str, dimension: Dimension, nodes: Ints) -> Iterator[tuple[int, int, Fraction]]:
    """The limits of classes as code, 1 for the least and -1 for the largest number, and the number."""
    there = numbers.complete((name,)) & (nodes != dimension.missing)
    values = np.where(there, numbers.columns[name], np.nan)
    ranges = ranges_of(name, values, dimension.name, nodes, len(dimension))
    if ranges is None or ranges.determined:
        return
    seen = [node for node in range(len(dimension)) if np.isfinite(ranges.low[node])]
    seen.sort(key=lambda node: float(ranges.low[node]))
    for one, other in pairwise(seen):
        limit = roundest(float(ranges.high[one]), float(ranges.low[other]))
        below = Fraction(limit).limit_denominator(10**6) - Fraction(numbers.steps[name]).limit_denominator(10**6)
        below = max(below, Fraction(float(ranges.high[one])).limit_denominator(10**6))
        yield one, -1, below
        yield other, 1, Fraction(limit).limit_denominator(10**6)


@dataclass(frozen=True)
class OfOne:
    """What one record with a code of a dimension (None: any record) has at least where `sign` is 1, and else at most."""

    within: tuple[str, str] | None
    sign: int
    limit: float

    def __str__(self) -> str:
        where = "" if self.within is None else f" where {self.within[0]} is {self.within[1]}"
        return f"at {'least' if self.sign > 0 else 'most'} {self.limit:g}{where}"


def limits_of_one(numbers: Numbers, name: str, coded: Sequence[tuple[Dimension, Ints]]) -> list[OfOne]:
    """What everybody knows of the least sum that somebody has, by codes that follow its order or of all; below 0 of the largest.

    `coded` has dimensions with the code of each record.
    """
    found = [
        OfOne((dimension.name, dimension.codes[node]), sign, float(limit))
        for dimension, nodes in coded
        for node, sign, limit in _limits(numbers, name, dimension, nodes)
        if sign * limit > 0
    ]
    column = numbers.columns[name]
    if len(column) >= ROWS_FOR_ORDER and bool(numbers.complete((name,)).all()):
        for sign, end in ((1, float(column.min())), (-1, float(column.max()))):
            if sign * end > 0 and int((column == end).sum()) >= max(ROWS_FOR_ORDER, OFTEN * len(column)):
                found.append(OfOne(None, sign, end))
    return found


def roundest(low: float, high: float) -> float:
    """The roundest number above one and not above another.

    >>> roundest(47, 52), roundest(9.5, 10.2), roundest(231, 264), roundest(0, 7)
    (50.0, 10.0, 250.0, 5.0)
    """
    power = math.ceil(math.log10(max(abs(low), abs(high), 1e-6)))
    while power > -9:
        for step in _STEPS:
            unit = step * 10.0**power
            found = round(math.floor(high / unit + 1e-9) * unit, 9)
            if low < found <= high + 1e-12 and found:
                return min(found, high)
        power -= 1
    return high
