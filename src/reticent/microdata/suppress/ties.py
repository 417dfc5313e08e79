# SPDX-License-Identifier: Apache-2.0
"""Values that the members of a household share: they are blanked together, and are one unknown for an attacker."""

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Codes, Ints


def first_with(household: NDArray[np.int64] | None, shared: int, shape: tuple[int, int]) -> Ints:
    """For each value the first record that has it by necessity: itself, or the first member for shared variables."""
    records, variables = shape
    same = np.repeat(np.arange(records, dtype=np.int64)[:, None], variables, axis=1)
    if household is not None and records:
        _, first, member = np.unique(household, return_index=True, return_inverse=True)
        for v in range(variables):
            if shared >> v & 1:
                same[:, v] = first[member.ravel()]
    return same


def spread(published: Codes, same: Ints) -> Codes:
    """Blank a shared value for all who share it where it is blank for one."""
    out = published.copy()
    for v in range(published.shape[1]):
        gone = np.zeros(len(published), np.bool_)
        gone[same[published[:, v] < 0, v]] = True
        out[gone[same[:, v]], v] = -1
    return out


def for_all_members(household: NDArray[np.int64] | None, where: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Records of households in which one record is marked (without households: what is marked)."""
    return where if household is None else np.asarray(np.isin(household, household[where]))
