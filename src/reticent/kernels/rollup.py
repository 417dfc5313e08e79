# SPDX-License-Identifier: Apache-2.0
"""Every cell's places in the table along one dimension: the node itself and all nodes above it."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from reticent.base.arrays import Array, Floats, Ints, Narrow


@njit(cache=True, nogil=True)
def _spread(nodes: Narrow, indptr: Ints, ancestors: Narrow, source: Ints, target: Narrow) -> None:
    """Write (row, ancestor) pairs in the order of rows. O(pairs)."""
    at = 0
    for i in range(nodes.size):
        for j in range(indptr[nodes[i]], indptr[nodes[i] + 1]):
            source[at] = i
            target[at] = ancestors[j]
            at += 1


def spread(
    nodes: NDArray[np.int32], indptr: NDArray[np.int64], ancestors: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """For each row its node and all nodes above it: the row number and the node of every pair."""
    size = int(np.diff(indptr)[nodes].sum()) if len(nodes) else 0
    source = np.empty(size, np.int64)
    target = np.empty(size, np.int32)
    _spread(nodes, indptr, ancestors, source, target)
    return source, target


@njit(cache=True, nogil=True)
def _add(source: Ints, group: Ints, values: Array, out: Floats) -> None:
    """out[group[i]] += values[source[i]], row by row. O(entries · columns)."""
    for i in range(source.size):
        for j in range(values.shape[1]):
            out[group[i], j] += values[source[i], j]


def add_rows(
    source: NDArray[np.int64], group: NDArray[np.int64], values: NDArray[Any], n_groups: int
) -> NDArray[np.float64]:
    """Sums of the rows of `values` (n × m) that fall into each group."""
    out = np.zeros((n_groups, values.shape[1]), np.float64)
    _add(source, group, values, out)
    return out
