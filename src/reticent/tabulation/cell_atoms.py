# SPDX-License-Identifier: Apache-2.0
"""Which atoms of a ground the cells of a table are made of, empty ones included."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from reticent.base.arrays import Ints, Narrow
from reticent.base.errors import DataError
from reticent.data.hierarchy import Hierarchy
from reticent.data.table import Dimension
from reticent.kernels.rollup import spread
from reticent.tabulation.ground import GroundedData


@dataclass(frozen=True, eq=False)
class CellAtoms:
    """The atoms of each cell: those of cell c are `atoms[start[c]:start[c + 1]]`, in order."""

    start: Ints
    atoms: Ints = field(repr=False)

    def __len__(self) -> int:
        return len(self.start) - 1

    def of(self, cell: int) -> Ints:
        """The atoms of a cell."""
        return self.atoms[self.start[cell] : self.start[cell + 1]]


def atoms_of_cells(
    grounded: GroundedData, dimensions: Sequence[Dimension], codes: Narrow, *, everybody: bool = True
) -> CellAtoms:
    """The atoms of cells, given by their nodes in each dimension; the dimensions must be variables of the ground.

    `everybody` in the records has a cell, or the table was made of other data; not so of a table of another version.
    """
    ground = grounded.ground
    columns: list[Narrow] = []
    for dimension in dimensions:
        if dimension.name not in ground.variables:
            raise DataError(f"facts: the ground does not have the variable {dimension.name!r} of the table.")
        at = ground.variables.index(dimension.name)
        nodes = _nodes(grounded, dimension, ground.categories[at])
        if everybody:
            _check_lost(grounded, dimension, nodes)
        columns.append(nodes[ground.codes[:, at]])
    there = np.ones(ground.n_atoms, dtype=bool)
    for column in columns:
        there &= column >= 0  # a code that the table does not list has no cell
    source = np.flatnonzero(there)
    columns = [column[source] for column in columns]
    for position, dimension in enumerate(dimensions):
        row, target = spread(columns[position], *dimension.ancestors)
        columns = [target if at == position else column[row] for at, column in enumerate(columns)]
        source = source[row]
    sizes = [len(dimension) for dimension in dimensions]
    return _sorted_into(
        np.ravel_multi_index(tuple(codes.T.astype(np.int64)), sizes),
        np.ravel_multi_index(tuple(column.astype(np.int64) for column in columns), sizes),
        source,
    )


def _sorted_into(wanted: Ints, cell: Ints, source: Ints) -> CellAtoms:
    """The sources of each wanted cell."""
    order = np.lexsort((source, cell))
    first = np.searchsorted(cell[order], wanted, side="left")
    many = np.searchsorted(cell[order], wanted, side="right") - first
    start = np.concatenate(([0], np.cumsum(many))).astype(np.int64)
    place = np.repeat(first - start[:-1], many) + np.arange(int(many.sum()))
    return CellAtoms(start, source[order][place].astype(np.int64))


def _nodes(grounded: GroundedData, dimension: Dimension, categories: Sequence[str]) -> Narrow:
    """The leaf of a dimension that each category belongs to (−1: none); the last entry is that of missing values."""
    tree = grounded.data.schema[dimension.name].hierarchy
    found = np.full(len(categories) + 1, -1, dtype=np.int32)
    for at, text in enumerate(categories):
        node = next((dimension.index[code] for code in _above(text, tree) if _is_leaf(dimension, code)), None)
        found[at] = -1 if node is None else node
    found[-1] = dimension.missing
    return found


def _check_lost(grounded: GroundedData, dimension: Dimension, nodes: Narrow) -> None:
    ground = grounded.ground
    used = np.unique(ground.codes[ground.atom_of_unit, ground.variables.index(dimension.name)])
    lost = [code for code in used.tolist() if nodes[code] < 0]
    if lost:
        raise DataError(
            f"facts: {len(lost)} codes of {dimension.name!r} that records have are in no cell of the table; the table was made "
            "of other data, or of recoded ones.",
            variables=(dimension.name,),
        )


def _is_leaf(dimension: Dimension, code: str) -> bool:
    return code in dimension.index and bool(dimension.is_leaf[dimension.index[code]])


def _above(text: str, tree: Hierarchy | None) -> list[str]:
    """A code and what stands above it: in its hierarchy, else by its leading characters."""
    if tree is None or text not in tree.index:
        return [text[:size] for size in range(len(text), 0, -1)]
    codes, at = [], tree.index[text]
    while at >= 0:
        codes.append(tree.codes[at])
        at = int(tree.parents[at])
    return codes
