# SPDX-License-Identifier: Apache-2.0
"""Grouping of mixed records: Gower's distance or that of Domingo-Ferrer and Torra, always into disjoint groups.

Disjoint groups of at least k are what makes the masked records k-anonymous; replacing every record by its own nearest
neighbours' mean, as some tools do, is not.
"""

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import DataError
from reticent.kernels.mdav import mdav_mixed


def mixed_columns(
    numbers: Floats, ordinal: NDArray[np.int32], nominal: NDArray[np.int32], levels: tuple[int, ...]
) -> tuple[Floats, NDArray[np.bool_]]:
    """One float matrix of numbers (scaled by their range), ordered codes (rank / (levels − 1)) and unordered codes.

    NaN and −1 are missing. Ordered codes follow errata 9: equal codes are at distance 0, the ends at 1.
    """
    with np.errstate(invalid="ignore"):
        low, high = np.nanmin(numbers, axis=0, initial=np.inf), np.nanmax(numbers, axis=0, initial=-np.inf)
        scaled = (numbers - low) / np.where(high > low, high - low, 1.0)
    ranks = np.where(ordinal < 0, np.nan, ordinal / np.maximum(np.asarray(levels, dtype=float) - 1, 1))
    codes = np.where(nominal < 0, np.nan, nominal.astype(np.float64))
    flags = np.concatenate((np.zeros(numbers.shape[1] + ordinal.shape[1], bool), np.ones(nominal.shape[1], bool)))
    return np.concatenate((scaled, ranks.reshape(ordinal.shape), codes), axis=1), flags


def partition_mixed(columns: Floats, nominal: NDArray[np.bool_], k: int, *, square: bool = False) -> Ints:
    """Group numbers of mixed records; every size is k to 2k − 1. O(n²·d/k)."""
    if columns.shape[0] < k:
        raise DataError(
            f"microaggregation: {columns.shape[0]} records cannot make a group of k = {k}. "
            "Take a smaller k or a wider stratum."
        )
    if k == 1:
        return np.arange(columns.shape[0])
    order = np.lexsort(np.nan_to_num(columns, nan=-1.0).T[::-1])
    labels = np.empty(columns.shape[0], np.int64)
    labels[order] = mdav_mixed(np.ascontiguousarray(columns[order]), nominal, square, k)
    return labels
