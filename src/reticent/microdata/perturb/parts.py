# SPDX-License-Identifier: Apache-2.0
"""Parts of a file that are masked on their own: strata, zones, and (to keep zeros) patterns of zeros."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.microdata.perturb.binding import slices

# Smaller parts do not estimate a covariance matrix worth the name: they borrow the file's.
MINIMUM_PART = 30


@dataclass(frozen=True)
class Part:
    """Positions of records, and of the variables that are masked in them."""

    rows: Ints
    columns: Ints

    def of(self, values: Floats) -> Floats:
        """The values of the part: the array itself, without a copy, where the part is all of it."""
        return values if self.is_all(values) else values[np.ix_(self.rows, self.columns)]

    def is_all(self, values: Floats) -> bool:
        """Whether the part is all records (in their order then, as parts are) and all variables."""
        return len(self.rows) * len(self.columns) == values.size


def parts_of(values: Floats, group: Ints, *, keep_zeros: bool, only: NDArray[np.bool_] | None = None) -> list[Part]:
    """Split by group and, when zeros are kept, by which variables are zero (those are left out of their part)."""
    columns = np.arange(values.shape[1])
    if keep_zeros:
        zero = values == 0
        _, pattern = np.unique(zero, axis=0, return_inverse=True)
        _, group = np.unique(np.column_stack([group, pattern.ravel()]), axis=0, return_inverse=True)
        group = group.ravel()
    parts = []
    for rows in slices(group):
        chosen = rows if only is None else rows[only[rows]]
        if chosen.size == 0:
            continue
        own = columns[~zero[chosen[0]]] if keep_zeros else columns
        if own.size:
            parts.append(Part(chosen, own))
    return parts
