"""A measure of how far each published count may be from the true one, itself perturbed (SORT 1477–1510).

To publish the change itself would undo it. So the changes are moved by an invariant matrix, which keeps how often each change
occurs, and the absolute value of what results is published beside the count.
"""

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


def perturbed_changes(changes: Floats, keys: Floats, *, secret: Secret) -> Floats:
    """Changes moved by at most `BAND` so that each size occurs as often as before (exactly: by quotas)."""
    if not len(changes):
        return changes.copy()
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
    return out


def moved_changes(changes: Floats, keys: Floats, *, shown: NDArray[np.bool_], secret: Secret) -> Floats:
    """The moved change of each cell, whose absolute value is published; NaN where none is `shown`.

    Cells published as 0 have none: a measure above the band would show that somebody is there.
    """
    out = np.full(len(changes), np.nan)
    at = np.flatnonzero(shown)
    out[at] = perturbed_changes(changes[at], keys[at], secret=secret)
    return out
