# SPDX-License-Identifier: Apache-2.0
"""Sums by classes of their own size: a firm of the class 10 to 49 has at least 10 and less than 50, so counts bound sums.

Where the codes of a dimension follow the order of a response, everybody knows the limits between them. What they are the records
do not say: between the largest number of one class and the least of the next the roundest number is taken.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np

from reticent.base.arrays import Ints
from reticent.data.response_relations import COUNT, relation_of
from reticent.data.table import Dimension
from reticent.tabulation.dependence import ranges_of
from reticent.tabulation.tied_responses import LARGEST_FACTOR, Numbers, Tie, Within

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
    there = numbers.complete((name,)) & (nodes != dimension.missing)
    values = np.where(there, numbers.columns[name], np.nan)
    ranges = ranges_of(name, values, dimension.name, nodes, len(dimension))
    if ranges is None or ranges.determined:
        return
    seen = [node for node in range(len(dimension)) if np.isfinite(ranges.low[node])]
    seen.sort(key=lambda node: float(ranges.low[node]))
    whole = bool(numbers.complete((name,)).all())
    for one, other in pairwise(seen):
        limit = roundest(float(ranges.high[one]), float(ranges.low[other]))
        below = Fraction(limit).limit_denominator(10**6) - Fraction(numbers.steps[name]).limit_denominator(10**6)
        below = max(below, Fraction(float(ranges.high[one])).limit_denominator(10**6))
        for node, sign, factor in ((one, -1, below), (other, 1, Fraction(limit).limit_denominator(10**6))):
            relation = relation_of([(name, Fraction(sign)), (COUNT, -sign * factor)], inequality=True, declared=False)
            if len(relation.names) == 2 and max(map(abs, relation.coefs)) <= LARGEST_FACTOR:
                code = dimension.codes[node]
                within = Within(dimension.name, frozenset({code}), code)
                yield Tie(relation, 0.0, numbers.of_records, everywhere=whole, within=within)


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
