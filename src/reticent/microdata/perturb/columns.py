# SPDX-License-Identifier: Apache-2.0
"""Variables as models see them: columns of numbers or codes, and the design of a regression on them.

A regression leans on the only record in a column of its design: the coefficient of a code that one person has is that
person's response. So rare codes have one place in common with all others that are rare, and numbers end where enough are beyond.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints


@dataclass(frozen=True)
class Column:
    """One variable: numbers, or codes of `n_codes` categories (0: numeric), maybe ordered; the schema lists those in `public`."""

    values: NDArray[Any]
    n_codes: int = 0
    ordered: bool = False
    public: NDArray[np.bool_] | None = None

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return self.n_codes == 0

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which values are missing."""
        return np.isnan(self.values) if self.numeric else self.values < 0

    def take(self, rows: NDArray[Any]) -> "Column":
        """Some records."""
        return replace(self, values=self.values[rows])

    def common(self, who: Ints, fewest: int) -> tuple[int, ...]:
        """Codes (−1: missing; 0: a number) of at least so many respondents, if those of all others are none or as many."""
        state = np.where(self.missing, -1, 0) if self.numeric else self.values
        width = int(who.max(initial=0)) + 1
        pairs = np.unique(state.astype(np.int64) * width + who)
        found, count = np.unique(pairs // width, return_counts=True)
        order = np.argsort(-count, kind="stable")
        kept = int((count >= fewest).sum())
        while kept and 0 < count[order[kept:]].sum() < fewest:
            kept -= 1
        return tuple(np.sort(found[order[:kept]]).tolist())


@dataclass(frozen=True)
class _Part:
    """What one predictor gives to a design: codes with an indicator each (−1: missing), and the ends of its numbers."""

    codes: tuple[int, ...] = ()
    low: float = 0.0
    high: float = 0.0

    def of(self, predictor: Column) -> list[Floats]:
        """The columns of a predictor."""
        state = np.where(predictor.missing, -1, 0) if predictor.numeric else predictor.values
        columns = [(state == code).astype(np.float64) for code in self.codes]
        if self.low < self.high:
            known = np.where(predictor.missing, self.low, predictor.values)
            columns.append(np.clip(known, self.low, self.high))
        return columns


@dataclass(frozen=True)
class Design:
    """A constant and the standardised columns of all predictors."""

    parts: tuple[_Part, ...]
    center: Floats
    deviation: Floats

    def of(self, predictors: Sequence[Column]) -> Floats:
        """The design of these records."""
        return (_raw(self.parts, predictors) - self.center) / self.deviation


def fit_design(predictors: Sequence[Column], who: Ints, *, fewest: int) -> Design:
    """A design in which no column, and nothing that all others leave, stands for fewer than `fewest` respondents."""
    parts = tuple(_fit_part(predictor, who, fewest) for predictor in predictors)
    raw = _raw(parts, predictors)
    center, deviation = raw.mean(axis=0), raw.std(axis=0)
    center[0] = 0.0
    return Design(parts, center, np.where(deviation > 0, deviation, 1.0))


def _fit_part(predictor: Column, who: Ints, fewest: int) -> _Part:
    common = predictor.common(who, fewest)
    if not predictor.numeric:
        return _Part(common)
    codes = tuple(code for code in common if code < 0)
    rows = np.flatnonzero(~predictor.missing)
    rows = rows[np.argsort(predictor.values[rows], kind="stable")]
    ends = [_end(side, who, fewest) for side in (rows, rows[::-1])]
    if None in ends:
        return _Part(codes)
    low, high = (float(predictor.values[end]) for end in ends if end is not None)
    return _Part(codes, low, high)


def _end(rows: Ints, who: Ints, fewest: int) -> int | None:
    """The first of some rows up to which there are enough respondents."""
    first = np.sort(np.unique(who[rows], return_index=True)[1])
    return int(rows[first[fewest - 1]]) if len(first) >= fewest else None


def _raw(parts: Sequence[_Part], predictors: Sequence[Column]) -> Floats:
    columns: list[Floats] = [np.ones(len(predictors[0].values))]
    for part, predictor in zip(parts, predictors, strict=True):
        columns += part.of(predictor)
    return np.column_stack(columns)
