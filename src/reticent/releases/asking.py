# SPDX-License-Identifier: Apache-2.0
"""Which program is asked for a movement: exact ones where there are few classes, short movements first where there are many."""

from dataclasses import dataclass
from functools import cached_property

from reticent.base.arrays import Ints
from reticent.releases.certificate import Proof
from reticent.releases.programs import Budget, Limits, Search
from reticent.releases.system import System
from reticent.releases.wide import Wide

MANY = 500
"""With this many classes, those that an exact program begins with are few."""


@dataclass(eq=False)
class Programs:
    """The programs over one system with a center, which share its limits and steps."""

    system: System
    low: Ints
    high: Ints
    center: Ints
    limits: Limits
    budget: Budget

    @cached_property
    def search(self) -> Search:
        """The exact program, which also proves that there is no movement."""
        own = self.system
        return Search(
            own.stack, own.row_low, own.row_high, self.low, self.high, self.center, self.limits, self.budget
        )  # fmt: skip

    @cached_property
    def _wide(self) -> Wide:
        own, cost = self.system, self.system.step_costs()
        return Wide(
            own.stack, own.row_low, own.row_high, self.low, self.high, self.center, cost, self.limits, self.budget
        )  # fmt: skip

    @property
    def many(self) -> bool:
        """Whether short movements come first."""
        return self.system.classes.n >= MANY

    def reach(self, side: tuple[int, bool], end: int, bounds: tuple[Ints, Ints], likely: Ints) -> Ints | Proof:
        """A movement to an end of a watched sum within bounds of classes, or a proof that there is none."""
        (sight, upwards), (low, high), search = side, bounds, self.search
        search.most = self.limits.steps
        if self.many:
            found = self._wide.reach(sight, end, upwards=upwards, low=low, high=high, likely=likely)
            if found is not None:
                return found
            search.most = self.limits.proof
        return search.reach(sight, end, upwards=upwards, low=low, high=high, hint=likely)
