# SPDX-License-Identifier: Apache-2.0
"""Columns as whole numbers: declared decimals and bounds, checked before anything is encrypted."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import DataError, ParameterError
from reticent.data.parameters import Parameters
from reticent.delegation.expression import Row, row

Whole = NDArray[np.int64]
LARGEST = 2**40
"""Values, with their decimals made whole, stay below this, so that residues of products fit 64-bit words."""


@dataclass(frozen=True)
class Column(Parameters):
    """A column to be encrypted: the least and the largest value it may have, and its decimals."""

    called: ClassVar[str] = "column"
    low: float = field(metadata={"help": "no value is smaller"})
    high: float = field(metadata={"help": "no value is larger"})
    decimals: int = field(default=0, metadata={"min": 0, "max": 9, "help": "digits behind the point that count"})

    def __post_init__(self) -> None:
        if not np.isfinite(self.low) or not np.isfinite(self.high) or self.low > self.high:
            raise ParameterError("low and high must be numbers, and low at most high.", option="low")
        if max(abs(bound) for bound in self.whole_bounds) >= LARGEST:
            raise ParameterError(f"with its decimals, values must stay below {LARGEST}.")

    @property
    def whole_bounds(self) -> tuple[int, int]:
        """The bounds as whole numbers of the last decimal."""
        scale = 10**self.decimals
        low, high = (Fraction(repr(float(bound))) * scale for bound in (self.low, self.high))
        return math.ceil(low), math.floor(high)


def whole_values(values: Mapping[str, Any], columns: Mapping[str, Column]) -> dict[str, Whole]:
    """Values as whole numbers of the last decimal; missing or other values are refused, without showing any."""
    found: dict[str, Whole] = {}
    for name, column in columns.items():
        if name not in values:
            raise DataError(f"delegate: the data have no column {name!r}.", variables=(name,))
        raw = np.asarray(values[name], dtype=np.float64)
        if not np.isfinite(raw).all():
            count = int((~np.isfinite(raw)).sum())
            raise DataError(f"delegate: {name} is missing in {count} rows; fill or leave them out.", variables=(name,))
        scaled = raw * 10**column.decimals
        whole = np.rint(scaled)
        if (whole / 10**column.decimals != raw).any():  # the nearest number with these decimals is another one
            raise DataError(
                f"delegate: {name} has more than {column.decimals} decimals; declare more, or round it.",
                variables=(name,),
            )
        low, high = column.whole_bounds
        outside = int(((whole < low) | (whole > high)).sum())
        if outside:
            raise DataError(
                f"delegate: {name} is outside its declared bounds in {outside} rows; widen low and high.",
                variables=(name,),
            )
        found[name] = whole.astype(np.int64)
    if len({len(column) for column in found.values()}) > 1 or not all(len(column) for column in found.values()):
        raise DataError("delegate: the columns must have the same number of rows, at least one.")
    return found


def scale_of(part: Row, columns: Mapping[str, Column]) -> int:
    """Decimals of a polynomial of columns: the most that one of its terms has."""
    return max((sum(columns[name].decimals for name in names) for names, _ in part.terms), default=0)


def as_whole(part: Row, columns: Mapping[str, Column]) -> Row:
    """The polynomial over whole numbers: terms with fewer decimals are multiplied up to those with the most."""
    decimals = scale_of(part, columns)
    return row(
        {
            names: factor * 10 ** (decimals - sum(columns[name].decimals for name in names))
            for names, factor in part.terms
        }
    )


def largest_total(part: Row, columns: Mapping[str, Column], rows: int) -> int:
    """A bound on the absolute value of the total of a polynomial (of whole numbers) over all rows."""
    total = 0
    for names, factor in part.terms:
        term = abs(factor)
        for name in names:
            term *= max(abs(bound) for bound in columns[name].whole_bounds)
        total += term
    return total * rows


def total_on_plain(part: Row, data: Mapping[str, Whole], modulus: int) -> int:
    """The total modulo a small prime on the plain data: the owner's own pass, one multiplication per factor."""
    rows = len(next(iter(data.values())))
    found = 0
    reduced = {name: data[name] % modulus for name in part.columns}
    for names, factor in part.terms:
        term = np.full(rows, factor % modulus, dtype=np.int64)
        for name in names:
            term = term * reduced[name] % modulus
        found = (found + int(term.sum(dtype=np.int64))) % modulus
    return found


def as_fraction(total: int, decimals: int) -> Fraction:
    """A total of whole numbers of the last decimal as a number."""
    return Fraction(total, 10**decimals)
