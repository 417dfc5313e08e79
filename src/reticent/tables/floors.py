# SPDX-License-Identifier: Apache-2.0
"""What every cell is at least whatever is hidden: it follows from the floors of other cells and from those that are 0 anyway.

No pattern leaves a cell less than that, so levels end there: otherwise tables are refused that nothing protects better.
"""

import numpy as np

from reticent.base.arrays import Floats
from reticent.data.relations import Relations

_ROUNDS = 200  # deeper than any hierarchy; floors that still rise then are not needed
_NOISE = 1e-9  # of the largest floor


def known_floors(low: Floats, most: Floats, relations: Relations, values: Floats) -> Floats:
    """The floors with all that follow from them: never above the value.

    `most` is what a cell is known to be at most before anything is published: 0 where everybody sees that nobody is in it,
    and infinite where nobody knows. A total is at least the floors of its parts together, and a part at least what the floor of
    its total leaves.

    >>> rows = Relations.from_rows(4, [([0, 1], [1, -1]), ([2, 3, 1], [1, 1, -1])])  # x = total, y + z = total
    >>> known_floors(np.ones(4), np.full(4, np.inf), rows, np.array([2.0, 2.0, 1.0, 1.0])).tolist()
    [2.0, 2.0, 1.0, 1.0]
    """
    row_of = np.repeat(np.arange(relations.n_rows), np.diff(relations.indptr))
    cells, coefs = relations.cells.astype(np.int64), relations.coefs.astype(np.float64)
    whole = np.abs(coefs)
    up = coefs > 0
    for _ in range(_ROUNDS):
        least = np.where(up, coefs * low[cells], coefs * most[cells])  # of each term
        largest = np.where(up, coefs * most[cells], coefs * low[cells])
        above = _others(least, row_of, relations.n_rows) - relations.rhs[row_of]
        below = relations.rhs[row_of] - _others(largest, row_of, relations.n_rows)
        raised = low.copy()
        np.maximum.at(raised, cells, np.where(up, below, above) / whole)
        raised = np.minimum(raised, np.maximum(values, low))
        slack = _NOISE * (1.0 + float(np.abs(low[np.isfinite(low)]).max(initial=0.0)))
        if not (raised > low + slack).any():
            return low
        low = np.where(raised > low + slack, raised, low)
    return low


def _others(terms: Floats, row_of: np.ndarray, n_rows: int) -> Floats:
    """For each entry the sum of the other terms of its row, infinite where one of them is."""
    finite = np.isfinite(terms)
    sums = np.bincount(row_of, np.where(finite, terms, 0.0), minlength=n_rows)
    endless = np.bincount(row_of, ~finite, minlength=n_rows)
    # all infinite terms of a row have the sign that makes it say nothing
    sign = np.bincount(row_of, np.where(finite, 0.0, np.sign(terms)), minlength=n_rows)
    rest = sums[row_of] - np.where(finite, terms, 0.0)
    return np.asarray(np.where(endless[row_of] > ~finite, np.copysign(np.inf, sign[row_of]), rest))
