# SPDX-License-Identifier: Apache-2.0
"""PublishedTable: what may leave of a table. Codes, values and `published | hidden | empty`; no way back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.frames.marks import NO_MARKS, Marks

PUBLISHED, HIDDEN, EMPTY = "published", "hidden", "empty"
COUNT, WEIGHTED, MAGNITUDE = "count", "weighted count", "magnitude"


def plain(value: float, decimals: int) -> str:
    """The number with its decimals; a zero has no sign, because -0 shows that there was something to take away."""
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if not text.strip("-0.") else text


COLUMNS = ("value", "status", "measure")
COLUMNS_BESIDE = ("cell_value", "cell_status", "cell_measure")
"""The columns of a file or frame beside those of the dimensions: the second names where a dimension has one of the first."""


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """The cells of a protected table, one row each.

    `codes` has a column per dimension; `values` is NaN where the cell is hidden or empty. Which hidden cells were
    unsafe, by which rule, and what the rules were is not in here. What bounds a hidden value for everybody is: the `kind`
    of response (count, weighted count, magnitude), whether it may be negative (`signed`), whether empty cells may be
    among the hidden ones (`hides_empty`), and which codes of each dimension are `undeclared`, so that their being listed
    says that somebody has them. `marks` are those of the text file of the data; a CSV file has them unless others are asked for.
    """

    dimensions: tuple[str, ...]
    codes: tuple[tuple[str, ...], ...] = field(repr=False)
    values: NDArray[np.float64] = field(repr=False)
    status: tuple[str, ...] = field(repr=False)
    response: str = "count"
    decimals: int = 0
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    depths: Mapping[str, Mapping[str, int]] = field(default_factory=dict, repr=False)
    method: str = "suppression"
    kind: str = COUNT
    hides_empty: bool = False
    signed: bool = False
    undeclared: Mapping[str, frozenset[str]] = field(default_factory=dict, repr=False)
    measure: NDArray[np.float64] | None = field(default=None, repr=False)
    marks: Marks = field(default=NO_MARKS, repr=False)

    def __post_init__(self) -> None:
        # no digit more than is written, or shares would show it; and -0.0 is 0.0, as in `text`
        object.__setattr__(self, "values", np.round(self.values, self.decimals) + 0.0)

    def __repr__(self) -> str:
        names = " × ".join(self.dimensions)
        counts = self.counts()
        return (
            f"<PublishedTable {names}: {counts[PUBLISHED]} published, {counts[HIDDEN]} hidden, {counts[EMPTY]} empty>"
        )

    def __len__(self) -> int:
        return len(self.status)

    def counts(self) -> dict[str, int]:
        """How many cells have each status."""
        return {name: self.status.count(name) for name in (PUBLISHED, HIDDEN, EMPTY)}

    def text(self, row: int) -> str:
        """The value as it is written: empty where nothing is published."""
        return "" if self.status[row] != PUBLISHED else plain(float(self.values[row]), self.decimals)

    def measure_text(self, row: int) -> str:
        """How far the value may be off, as it is written: empty where nothing is said."""
        return "" if self.measure is None or np.isnan(self.measure[row]) else str(int(self.measure[row]))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the value, the status and, if there is one, the measure of a cell: none is that of a dimension."""
        own = COLUMNS if not set(COLUMNS) & set(self.dimensions) else COLUMNS_BESIDE
        return own[: 2 + (self.measure is not None)]

    def rows(self) -> list[dict[str, Any]]:
        """The cells as plain rows."""
        return [
            dict(
                zip(
                    (*self.dimensions, *self.columns),
                    (*codes, self.text(row), self.status[row], self.measure_text(row)),
                )
            )
            for row, codes in enumerate(self.codes)
        ]
