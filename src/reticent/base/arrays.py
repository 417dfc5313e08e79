# SPDX-License-Identifier: Apache-2.0
"""Names for the arrays that functions take and return: one word for each kind of entry."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""Values, weights, probabilities."""
Ints = NDArray[np.int64]
"""Counts, positions, group numbers, sets of variables as bit masks."""
Mask = NDArray[np.bool_]
"""One truth per entry."""
Codes = NDArray[np.int32]
"""Codes of categories; −1 is missing."""
Narrow = NDArray[np.int32]
"""Positions, counts or coefficients that fit 32 bits."""
Words = NDArray[np.uint64]
"""Words of 64 bits: packed codes, states of generators, residues."""
Array = NDArray[Any]
"""Entries of more than one kind: a kernel is compiled for each."""


def taken(array: NDArray[Any], rows: Ints) -> NDArray[Any]:
    """The rows of an array: the array itself, without a copy, where all of them are taken in their order."""
    if len(rows) == len(array) and bool((rows[1:] > rows[:-1]).all()):
        return array
    return array[rows]


def whole_product(first: Ints, second: Ints) -> int:
    """Σ first · second in whole numbers, however large."""
    most = float(np.abs(first).max(initial=0)) * float(np.abs(second).max(initial=0)) * len(first)
    if most < 2.0**62:
        return int(first @ second)
    return sum(int(a) * int(b) for a, b in zip(first.tolist(), second.tolist(), strict=True))
