# SPDX-License-Identifier: Apache-2.0
"""Successive rounding of three-dimensional tables (Ernst 1989): slices are rounded one after another, errors carried on.

A slice is a table in two dimensions, for which additive rounding to adjacent multiples always exists; in three dimensions it
need not. What rounding took from the cells of one slice is added to the same cells of the next before that is rounded. So
sums over the slices stay within a base of the true ones, and each single cell within two. Which slice is the next is drawn: in
a known order the first slice, and sums over the first slices, would be known within one base.
"""

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import ParameterError
from reticent.base.randomness import Secret
from reticent.data.relations import Relations
from reticent.data.table import Table
from reticent.tables.perturb.rounding import round_controlled

OWNER = "round"


def cube_of(table: Table) -> NDArray[np.int64]:
    """The numbers of the cells of a flat table in three dimensions, totals first; −1 where a cell is not listed."""
    flat = all(len(d.trees) == 1 and bool((d.levels <= 1).all()) for d in table.dimensions)
    if len(table.dimensions) != 3 or not flat:
        raise ParameterError(f"{OWNER}: successive needs one table of three dimensions without hierarchies.")
    cells = np.full(tuple(len(d) for d in table.dimensions), -1, dtype=np.int64)
    cells[tuple(table.codes.T)] = np.arange(table.n_cells)
    return cells


def round_successively(values: Floats, cells: Ints, base: float, *, secret: Secret | None, time_limit: float) -> Floats:
    """Rounded values of all cells of the cube; zeros stay 0 and everything adds up."""
    inner = np.where(cells[1:, 1:, 1:] >= 0, values[np.maximum(cells[1:, 1:, 1:], 0)], 0.0)
    carried = np.zeros(inner.shape[1:])
    rounded = np.zeros_like(inner)
    slices = np.arange(inner.shape[0])
    for at in slices if secret is None else secret.stream("slices").permutation(slices):
        there = inner[at] != 0
        target = np.where(there, np.maximum(inner[at] + carried, 0.0), 0.0)
        own = None if secret is None else secret.child(f"slice {at}")
        rounded[at] = _slice(target, base, own, time_limit)
        carried = carried + inner[at] - rounded[at]
    whole = np.zeros(tuple(size + 1 for size in inner.shape))
    whole[1:, 1:, 1:] = rounded
    for axis in range(3):
        index: list[int | slice] = [slice(None)] * 3
        index[axis] = 0
        whole[tuple(index)] = whole.sum(axis=axis)
    out = np.zeros(len(values))
    listed = cells >= 0
    out[cells[listed]] = whole[listed]
    return out


def _slice(target: Floats, base: float, secret: Secret | None, time_limit: float) -> Floats:
    """Controlled rounding of one slice with its margins, which are sums of the target."""
    rows, columns = target.shape
    number = np.arange(rows * columns).reshape(rows, columns)
    n = rows * columns
    lines = [([*number[i].tolist(), n + i], [1] * columns + [-1]) for i in range(rows)]
    lines += [([*number[:, j].tolist(), n + rows + j], [1] * rows + [-1]) for j in range(columns)]
    values = np.concatenate([target.ravel(), target.sum(axis=1), target.sum(axis=0)])
    found = round_controlled(
        values, Relations.from_rows(len(values), lines), base, secret=secret, time_limit=time_limit
    )
    return found.values[:n].reshape(rows, columns)


def successive_bounds(published: Floats, cells: Ints, base: float, unit: float) -> tuple[Floats, Floats]:
    """What a published value says by itself: cells are less than two bases off, sums over the slices less than one."""
    reach = np.full(len(published), np.inf)
    for place, far in ((cells[1:, 1:, 1:], 2 * base - unit), (cells[:1, 1:, 1:], base - unit)):
        listed = place[place >= 0]
        reach[listed] = far
    return np.maximum(published - reach, 0.0), published + reach
