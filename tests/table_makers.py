"""Small additive tables for tests: a cross-product with totals, as values and relations."""

import numpy as np

from reticent.data.relations import Relations


def with_totals(inner: np.ndarray) -> tuple[np.ndarray, Relations, np.ndarray]:
    """All cells of an array with its margins (the last index of each axis is the total), and the relations."""
    full = inner.astype(float)
    for axis in range(inner.ndim):
        full = np.concatenate([full, full.sum(axis=axis, keepdims=True)], axis=axis)
    ids = np.arange(full.size).reshape(full.shape)
    rows = []
    for axis in range(inner.ndim):
        for line in np.moveaxis(ids, axis, -1).reshape(-1, full.shape[axis]):
            rows.append((line.tolist(), [1] * (len(line) - 1) + [-1]))
    return full.ravel(), Relations.from_rows(full.size, rows), ids
