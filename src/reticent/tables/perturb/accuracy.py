"""A measure of how far each published count may be from the true one, itself perturbed (SORT 1477–1510).

To publish the change itself would undo it. So the changes are moved by an invariant matrix, which keeps how often each change
occurs, and the absolute value of what results is published beside the count. Because each size occurs as often as before,
everybody sees which sizes there are: the attack knows that, and the matrix.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.base.randomness import Secret
from reticent.kernels.draws import uniforms
from reticent.tables.perturb.invariant import invariant_matrix, lazier, neighbours
from reticent.tables.perturb.quotas import round_expected
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


def perturbed_changes(changes: Floats, keys: Floats, *, secret: Secret) -> Moved:
    """Changes moved by at most `BAND` so that each size occurs as often as before (exactly: by quotas)."""
    if not len(changes):
        return Moved(changes.copy(), np.zeros((1, 1)))
    whole = np.rint(changes).astype(np.int64)
    least = int(whole.min()) - BAND
    often = np.bincount(whole - least, minlength=int(whole.max()) - least + BAND + 1).astype(np.float64)
    lazy = lazier(invariant_matrix(neighbours(len(often), SPREAD, SPREAD), np.maximum(often, 0.0)), MIX)
    quotas = round_expected(often[:, None] * lazy, secret, "measure")
    # cells of one change are drawn by their own key, another one than that of the noise
    words = secret.child("measure").words("cells")
    drawn = uniforms(*words, np.floor(keys * 2.0**BITS).astype(np.uint64))
    out = np.zeros(len(changes))
    for state in np.flatnonzero(often):
        mine = np.flatnonzero(whole == state + least)
        order = mine[np.argsort(drawn[mine], kind="stable")]
        out[order] = np.repeat(np.arange(len(often)), quotas[state])[: len(order)] + least
    return Moved(out, _absolute(often[:, None] * lazy, least))


def _absolute(flows: Floats, least: int) -> Floats:
    """Chances of published sizes for absolute changes, from expected numbers of signed ones."""
    sizes = np.abs(np.arange(len(flows)) + least)
    joint = np.zeros((int(sizes.max()) + 1, int(sizes.max()) + 1))
    np.add.at(joint, (sizes[:, None], sizes[None, :]), flows)
    total = joint.sum(axis=1, keepdims=True)
    found = np.divide(joint, total, out=np.zeros_like(joint), where=total > 0)
    return np.where(possible_sizes(np.flatnonzero(total[:, 0] > 0), len(joint)), np.maximum(found, _LEAST), 0.0)


def possible_sizes(occurring: NDArray[np.int64], n: int) -> NDArray[np.bool_]:
    """Which absolute change (row) may be published as which size (column): both occur, and they are near to each other."""
    there = np.zeros(n, dtype=bool)
    there[occurring[occurring < n]] = True
    away = np.abs(np.arange(n)[:, None] - np.arange(n))
    return np.asarray(there[:, None] & there & (away <= BAND))


def moved_changes(changes: Floats, keys: Floats, *, shown: NDArray[np.bool_], secret: Secret) -> Moved:
    """The moved change of each cell, whose absolute value is published; NaN where none is `shown`.

    Cells published as 0 have none: a measure above the band would show that somebody is there. Nor have cells that are out
    already: a second measure would say more than one.
    """
    out = np.full(len(changes), np.nan)
    at = np.flatnonzero(shown)
    found = perturbed_changes(changes[at], keys[at], secret=secret)
    out[at] = found.changes
    return Moved(out, found.chances)
