"""Which codes a table of changed values lists: a code that only records have is no news if nothing shows it."""

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Mask
from reticent.data.table import Table


def listed_nodes(table: Table, values: NDArray[np.float64]) -> tuple[Mask, ...]:
    """For each dimension the nodes that are listed: declared ones, and those with a published value that is not 0.

    A combination without records is published as 0 like any other 0, so that no 0 says that somebody is there. A row of
    zeros would say it if its code came from the records. What stands above a listed node is listed.
    """
    shown = np.round(values, table.decimals) != 0
    found = []
    for at, dimension in enumerate(table.dimensions):
        listed = dimension.declared.copy()
        start, above = dimension.ancestors
        for node in np.unique(table.codes[shown, at]).tolist():
            listed[above[start[node] : start[node + 1]]] = True
        found.append(listed)
    return tuple(found)


def are_listed(codes: NDArray[np.int32], listed: tuple[Mask, ...]) -> Mask:
    """Cells all of whose codes are listed."""
    shown = np.ones(len(codes), dtype=bool)
    for at, nodes in enumerate(listed):
        shown &= nodes[codes[:, at]]
    return shown
