# SPDX-License-Identifier: Apache-2.0
"""Sums that follow from those of other responses only if an equation holds for all records.

In the mode `simulatable` all responses count as tied, so the sum of a second one over the same records seems to follow from that
of the first. But where the equation holds for some of the records only (income is pay, except for the self-employed), both sums
together are about the others, who may be one person, and no value may say who they are. So a sum that follows by ties must
also follow from the sums of its own response: then a combination of answers that rests on nobody by the equation rests on nobody
at all, and every other one rests on enough of those whom the equation ties.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.kernels.echelon import Residues
from reticent.queries.audit.auditor import Auditor
from reticent.queries.language import Statistic
from reticent.queries.modes import Setting
from reticent.queries.pieces import Piece
from reticent.queries.policy import TIED_FOR_SOME
from reticent.releases.rows import Certificate, LinearRow, Partition, Proposal, Undecided
from reticent.releases.rowspace import RowSpace

OWN = "own:"
Key = tuple[str, ...]
Mark = tuple[int, Partition, Residues, list[int]]


@dataclass
class OwnSums:
    """The sums of each response, and of its squares, that were answered themselves; what follows by ties is left out."""

    setting: Setting
    auditor_of: Callable[[Key], Auditor]
    _spaces: dict[Key, RowSpace] = field(default_factory=dict)

    def take(self, piece: Piece, statistic: Statistic, row: LinearRow) -> bool:
        """Take note of an answered sum; False if it did not follow from earlier ones of the same response.

        What was not asked for itself is left out, and so are responses that nothing is tied to: there nothing is refused.
        """
        if not (self._for_some and set(piece.responses) <= {*statistic.variables} and self._tied(piece)):
            return True
        space = self._space(piece.attribute)
        try:
            found = space.propose(row)
        except Undecided:
            return False
        if isinstance(found, Proposal):
            space.accept(found)
        return isinstance(found, Certificate)

    def mark(self) -> dict[Key, Mark]:
        """How far each response has come, for `back_to`."""
        return {
            key: (space.rank, space.partition, space.null_vectors, list(space.pivots))
            for key, space in self._spaces.items()
        }

    def back_to(self, marks: Mapping[Key, Mark]) -> None:
        """Forget the sums that were noted after the marks were these."""
        for key, space in list(self._spaces.items()):
            if key not in marks:
                del self._spaces[key]
            elif space.rank > marks[key][0]:
                space.back_to(*marks[key])

    def state(self, key: Key) -> dict[str, NDArray[Any]]:
        """What was noted of a response, for `restore`."""
        own = self._spaces[key].state() if key in self._spaces else {}
        return {OWN + name: array for name, array in own.items()}

    def restore(self, key: Key, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over what another run has noted of a response."""
        own = {name.removeprefix(OWN): array for name, array in state.items() if name.startswith(OWN)}
        if own:
            self._space(key).restore(own)

    @cached_property
    def _for_some(self) -> bool:
        policy = self.setting.policy
        return policy.mode == "simulatable" and policy.ties == TIED_FOR_SOME

    def _tied(self, piece: Piece) -> bool:
        return any(len(self.setting.universe.linked.get(name, ())) > 1 for name in piece.responses)

    def _space(self, key: Key) -> RowSpace:
        if key not in self._spaces:
            columns = self.auditor_of(key).columns
            stream = self.setting.secret.stream("own sums:" + "*".join(key))
            space = RowSpace(columns.n_columns, rng=stream)
            for column in columns.of_entities(self.setting.universe.known_entities()):
                found = space.propose(LinearRow.of(np.arange(columns.n_columns) == column))
                if isinstance(found, Proposal):
                    space.accept(found)
            self._spaces[key] = space
        return self._spaces[key]
