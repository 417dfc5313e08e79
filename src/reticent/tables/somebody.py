# SPDX-License-Identifier: Apache-2.0
"""What sums say of counts: nobody is in a cell that is shown as empty, somebody in one whose sum cannot be 0."""

from collections.abc import Sequence

import numpy as np

from reticent.base.arrays import Ints, Mask
from reticent.data.facts import COUNT, Fact, Interval, Term
from reticent.data.published_table import EMPTY, HIDDEN, PublishedTable
from reticent.tabulation.cell_atoms import CellAtoms
from reticent.tabulation.ground import ABSENT_OR_NOT, GroundedData, missing_of


def by_status(published: PublishedTable, inner: Mask, cells: CellAtoms) -> list[Fact]:
    """What a table of true sums says of counts: nobody is in an empty cell, somebody in every other one."""
    found = []
    for row, status in enumerate(published.status):
        atoms = cells.of(row)
        if not inner[row] or not len(atoms) or (status == HIDDEN and published.hides_empty):
            continue
        found.append(Fact((Term.total(COUNT, atoms),), *((0, 0) if status == EMPTY else (1, None))))
    return found


def by_value(grounded: GroundedData, response: str, ends: Sequence[Interval], cells: CellAtoms) -> list[Fact]:
    """What intervals of sums say of counts: a sum that cannot be 0 is somebody's who has a value of the response."""
    having = _may_have(grounded, response)
    found = []
    for row, (low, high) in enumerate(ends):
        atoms = cells.of(row)
        atoms = atoms[having[atoms]]
        if len(atoms) and ((low is not None and low > 0) or (high is not None and high < 0)):
            found.append(Fact((Term.total(COUNT, atoms),), 1, None))
    return found


def _may_have(grounded: GroundedData, response: str) -> Mask:
    """The atoms whose records have a value of a response."""
    ground, name = grounded.ground, missing_of(response)
    if name not in ground.variables:
        return np.ones(ground.n_atoms, dtype=bool)
    at = ground.variables.index(name)
    codes: Ints = ground.codes[:, at]
    return np.asarray(codes == ground.categories[at].index(ABSENT_OR_NOT[0]))
