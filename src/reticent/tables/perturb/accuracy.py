# SPDX-License-Identifier: Apache-2.0
"""A measure of how far each published count may be from the true one, itself perturbed (SORT 1477–1510).

To publish the change itself would undo it. So the changes are moved by an invariant matrix, which keeps on average how often
each change occurs, and the absolute value of what results is published beside the count. Each cell is drawn by itself, and each
movement within the band is possible: numbers that are kept exactly, or sizes that must have occurred, would be equations for
the attacker.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Words
from reticent.base.randomness import Secret
from reticent.kernels.draws import uniforms
from reticent.tables.perturb.cell_numbers import APART
from reticent.tables.perturb.invariant import invariant_matrix, lazier, neighbours
from reticent.tables.perturb.record_keys import BITS

SPREAD, MIX = 0.25, 0.8
BAND = 2
"""The published measure is so near to the absolute change."""
_LEAST = 1e-9
"""What is possible but was not likely has at least this weight."""


@dataclass(frozen=True, eq=False)
class Moved:
    """Changes as they were moved (NaN: none is shown), and how likely each absolute change is published as each size."""

    changes: Floats = field(repr=False)
    chances: Floats = field(repr=False)

    @property
    def sizes(self) -> Floats:
        """What is published."""
        return np.abs(self.changes)


def perturbed_changes(changes: Floats, keys: Floats, *, secret: Secret, cells: Words | None = None) -> Moved:
    """Changes moved by at most `BAND`, each by its key (and cell), so that each size occurs about as often as before."""
    if not len(changes):
        return Moved(changes.copy(), np.zeros((1, 1)))
    whole = np.rint(changes).astype(np.int64)
    least = int(whole.min()) - BAND
    # one more of each: what does not occur must be possible too, or what is published would have to have occurred
    often = np.bincount(whole - least, minlength=int(whole.max()) - least + BAND + 1).astype(np.float64) + 1.0
    lazy = lazier(invariant_matrix(neighbours(len(often), SPREAD, SPREAD), often), MIX)
    numbers = np.floor(keys * 2.0**BITS).astype(np.uint64)
    if cells is not None:
        numbers ^= cells * APART
    drawn = uniforms(*secret.child("measure").words("cells"), numbers)
    bounds = np.cumsum(lazy, axis=1)[whole - least]
    states = np.minimum((bounds <= drawn[:, None]).sum(axis=1), len(often) - 1)
    out = np.clip(states + least, whole - BAND, whole + BAND).astype(np.float64)
    return Moved(out, _absolute(often[:, None] * lazy, least))


def _absolute(flows: Floats, least: int) -> Floats:
    """Chances of published sizes for absolute changes, from expected numbers of signed ones."""
    sizes = np.abs(np.arange(len(flows)) + least)
    joint = np.zeros((int(sizes.max()) + 1, int(sizes.max()) + 1))
    np.add.at(joint, (sizes[:, None], sizes[None, :]), flows)
    total = joint.sum(axis=1, keepdims=True)
    found = np.divide(joint, total, out=np.zeros_like(joint), where=total > 0)
    return np.where(possible_sizes(len(joint)), np.maximum(found, _LEAST), 0.0)


def possible_sizes(n: int) -> NDArray[np.bool_]:
    """Which absolute change (row) may be published as which size (column): they are near to each other."""
    return np.asarray(np.abs(np.arange(n)[:, None] - np.arange(n)) <= BAND)


def moved_changes(changes: Floats, keys: Floats, *, shown: NDArray[np.bool_], alike: bool, secret: Secret) -> Moved:
    """The moved change of each cell, whose absolute value is published; NaN where none is `shown`.

    Cells published as 0 have none: a measure above the band would show that somebody is there. Nor have cells that are out
    already: a second measure would say more than one. Where cells with the same records are published `alike` they have one
    measure too; elsewhere each cell has its own, so that measures that differ do not reveal that records do.
    """
    out = np.full(len(changes), np.nan)
    at = np.flatnonzero(shown)
    own = None if alike else at.astype(np.uint64)
    found = perturbed_changes(changes[at], keys[at], secret=secret, cells=own)
    out[at] = found.changes
    return Moved(out, found.chances)
