# SPDX-License-Identifier: Apache-2.0
"""Classes that can move while every released row stays: bases of the rows among classes that are free to move.

Rows are independent on some classes if they are modulo 2^61 − 1, so what is found here holds exactly.
"""

from dataclasses import dataclass

import numpy as np

from reticent.base.arrays import Ints, Mask
from reticent.kernels import echelon
from reticent.kernels.echelon import PRIME, Residues
from reticent.releases.rows import Proposal
from reticent.releases.rowspace import RowSpace


@dataclass(frozen=True)
class FreeBasis:
    """Free classes on which all rows stay independent: the pivots of the released rows, and one for the proposed row.

    Then for every class there is a direction that moves it, moves else only free classes, and changes no row. `rest` is
    the proposed row less the combination of released rows that agrees with it at the pivots.
    """

    space: RowSpace
    proposal: Proposal
    free: Mask
    pivots: Ints
    rest: Residues

    @classmethod
    def found(cls, space: RowSpace, proposal: Proposal, free: Mask) -> "FreeBasis | None":
        """Such classes, by the pivots at hand; None if these are not free."""
        pivots = space.moved_pivots(proposal, free)
        if not bool(free[pivots].all()):
            return None
        made = space.combined(space.agreeing(proposal.values[pivots]), proposal.partition.representative)
        rest = (proposal.values + (np.uint64(PRIME) - made)) % np.uint64(PRIME)
        return cls(space, proposal, free, pivots, rest) if bool((rest.astype(bool) & free).any()) else None

    @property
    def classes(self) -> Ints:
        """The classes of the basis."""
        return np.append(self.pivots, np.argmax(self.rest.astype(bool) & self.free))

    def without(self, banned: Ints) -> bool:
        """Whether the rows stay independent on the free classes without some: others are looked for in their place."""
        free = self.free.copy()
        free[banned] = False
        columns = self.proposal.partition.representative
        places = np.flatnonzero(np.isin(self.pivots, banned)).tolist()
        lost = [self.rest, *(self.space.at_one_pivot(place, columns) for place in places)]
        while lost:
            row = lost.pop()
            there = row.astype(bool) & free
            if not bool(there.any()):
                return False
            chosen = int(np.argmax(there))
            inverse = pow(int(row[chosen]), PRIME - 2, PRIME)
            for k, other in enumerate(lost):
                lost[k] = other.copy()
                echelon.add_multiple(lost[k], row, np.uint64((PRIME - int(other[chosen])) * inverse % PRIME))
        return True
