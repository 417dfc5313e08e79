# SPDX-License-Identifier: Apache-2.0
"""Numbers of the data as whole multiples of one unit, so that every sum is exact and no verdict rests on rounding.

A number means what its shortest decimal text says: 0.1 is one tenth, not the binary fraction nearest to it. Every finite
number has such a text, so nothing finite is too large, too small or too fine; whole numbers beyond 62 bits are Python's own.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import DataError

# int64 where all sums fit, otherwise Python's whole numbers
Whole = NDArray[Any]
BITS = 62
EXACT = 2.0**52
MOST_DECIMALS = 15


@dataclass(frozen=True)
class Fixed:
    """Numbers as whole multiples of 1/scale."""

    integers: Whole
    scale: int


def fixed_point(values: NDArray[np.float64]) -> Fixed:
    """Every finite number exactly, as its shortest decimal text says.

    >>> fixed_point(np.array([0.1, 2.5]))
    Fixed(integers=array([ 1, 25]), scale=10)
    >>> fixed_point(np.array([1e30, 0.5])).integers.tolist()
    [10000000000000000000000000000000, 5]
    """
    if not bool(np.isfinite(values).all()):
        raise DataError("A response has values that are not finite numbers; correct them or declare them missing.")
    largest = float(np.max(np.abs(values), initial=0.0))
    for decimals in range(MOST_DECIMALS + 1):
        if largest * 10.0**decimals >= EXACT:
            break
        rounded = np.round(values * 10.0**decimals)
        if bool((rounded / 10.0**decimals == values).all()):
            return Fixed(fitting(rounded.astype(np.int64)), 10**decimals)
    return _from_texts(values)


def product(factors: Sequence[Fixed]) -> Fixed:
    """The products, number by number."""
    integers: Whole = np.ones(len(factors[0].integers), dtype=object)
    for factor in factors:
        integers = integers * factor.integers.astype(object)
    return Fixed(fitting(integers), math.prod(factor.scale for factor in factors))


def exact(number: float) -> Fraction:
    """A finite number as its shortest decimal text says.

    >>> exact(0.1)
    Fraction(1, 10)
    """
    return Fraction(repr(float(number)))


def clamped_sum(values: NDArray[np.float64], low: float, high: float) -> tuple[int, Fraction]:
    """How many numbers there are (missing ones apart), and their exact sum where each is moved into the bounds.

    >>> clamped_sum(np.array([0.1, 7.0, np.nan]), 0.0, 5.0)
    (2, Fraction(51, 10))
    """
    there = values[~np.isnan(values)]
    below, above = there < low, there > high
    inside = fixed_point(there[~below & ~above])
    ends = int(below.sum()) * exact(low) + int(above.sum()) * exact(high)
    return len(there), ends + Fraction(int(inside.integers.sum()), inside.scale)


def as_number(amount: Fraction) -> float | int:
    """The nearest floating-point number; beyond their range the nearest whole number."""
    try:
        return float(amount)
    except OverflowError:
        return round(amount)


def finite(found: Any) -> bool:
    """Whether every number of a result, plain, named or listed, is finite; texts count as finite."""
    if isinstance(found, Mapping):
        return all(map(finite, found.values()))
    if isinstance(found, list | tuple):
        return all(map(finite, found))
    return isinstance(found, str | int) or math.isfinite(found)


def root(amount: Fraction) -> float | int:
    """The square root of an amount of any size."""
    if amount <= 0:
        return 0.0
    # digits before the root: with 128 bits and more of the whole part, the float nearest to it is right
    shift = max(0, 128 - (amount.numerator.bit_length() - amount.denominator.bit_length())) // 2 + 1
    return as_number(Fraction(math.isqrt((amount.numerator << 2 * shift) // amount.denominator), 1 << shift))


def _from_texts(values: NDArray[np.float64]) -> Fixed:
    parts = [Decimal(repr(value)).as_tuple() for value in values.tolist()]
    finest = min((int(part.exponent) for part in parts), default=0)
    finest = min(finest, 0)
    integers = np.empty(len(parts), dtype=object)
    for place, part in enumerate(parts):
        digits = int("".join(map(str, part.digits)))
        integers[place] = (-digits if part.sign else digits) * 10 ** (int(part.exponent) - finest)
    return Fixed(fitting(integers), 10**-finest)


def fitting(integers: Whole) -> Whole:
    """The same numbers as int64 if every sum of them fits."""
    largest = max(abs(int(integers.max(initial=0))), abs(int(integers.min(initial=0))))
    fits = largest * max(len(integers), 1) < 2**BITS
    return integers.astype(np.int64 if fits else object)
