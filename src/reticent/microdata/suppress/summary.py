# SPDX-License-Identifier: Apache-2.0
"""Where values were blanked: by variable, by record, and which variables went together."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import DataError
from reticent.data.microdata import Microdata


@dataclass(frozen=True)
class VariableBlanks:
    """Blanks of one variable."""

    variable: str
    suppressed: int
    missing_before: int
    share: float
    """Of the values that were known."""


@dataclass(frozen=True)
class SuppressionTable:
    """Blanks by variable and by record; `together[i, j]` counts records in which variables i and j were both blanked."""

    rows: tuple[VariableBlanks, ...]
    n_records: int
    records_touched: int
    per_record: tuple[int, ...]
    """How many records have 0, 1, 2, … blanks."""
    together: NDArray[np.int64] = field(repr=False, compare=False)

    def __str__(self) -> str:
        return self.summary()

    @property
    def suppressed(self) -> int:
        """All blanks."""
        return sum(row.suppressed for row in self.rows)

    def summary(self) -> str:
        """One line per variable."""
        lines = [f"{self.suppressed} values suppressed in {self.records_touched} of {self.n_records} records"]
        lines += [f"  {row.variable}: {row.suppressed} ({100 * row.share:.2f} %)" for row in self.rows]
        return "\n".join(lines)


def suppression_table(before: Microdata, after: Microdata, variables: Sequence[str] = ()) -> SuppressionTable:
    """Compare a file with what was made of it (the same records in the same order)."""
    if before.n_records != after.n_records:
        raise DataError(
            f"suppression_table: the files have {before.n_records} and {after.n_records} records; they must be the same."
        )
    names = tuple(variables) or tuple(name for name in before.schema.keys if name in after.schema)
    before.schema.require(names, owner="suppression_table")
    after.schema.require(names, owner="suppression_table")
    known = (
        np.column_stack([~before.missing(name) for name in names]) if names else np.zeros((before.n_records, 0), bool)
    )
    gone = np.column_stack([after.missing(name) for name in names]) & known if names else known
    rows = tuple(
        VariableBlanks(
            name,
            int(gone[:, v].sum()),
            int((~known[:, v]).sum()),
            float(gone[:, v].sum() / max(int(known[:, v].sum()), 1)),
        )
        for v, name in enumerate(names)
    )
    counted = gone.astype(np.int64)
    return SuppressionTable(
        rows,
        before.n_records,
        int(gone.any(axis=1).sum()),
        tuple(int(c) for c in np.bincount(counted.sum(axis=1), minlength=1)),
        counted.T @ counted,
    )
