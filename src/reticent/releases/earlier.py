# SPDX-License-Identifier: Apache-2.0
"""What respondents could infer before a release: what an import gave away stops nothing, and gives nothing more away."""

from dataclasses import replace

import numpy as np

from reticent.base.arrays import Ints
from reticent.releases.insiders import Insiders
from reticent.releases.programs import Budget, Limits, Search
from reticent.releases.stack import exact_product
from reticent.releases.system import System


class Earlier:
    """A system before a release, at a `center` that also holds with it; how far each respondent saw then."""

    def __init__(self, system: System, center: Ints, limits: Limits, budget: Budget) -> None:
        self.system = replace(system, center=center[: system.n_unknowns])
        self.insiders = Insiders.of(self.system)
        self.low, self.high = self.system.class_bounds()
        own, totals = self.system, self.system.class_center()
        self.values = exact_product(own.watched, totals)
        ends = (own.row_low, own.row_high)
        self.search = Search(own.stack, *ends, self.low, self.high, totals, limits, budget)

    def knew(self, sight: int, owner: int) -> bool:
        """Whether a respondent knew a watched sum exactly."""
        value = int(self.values[sight])
        return not self._could_be(sight, value + 1, owner, upper=True) and not self._could_be(
            sight, value - 1, owner, upper=False
        )

    def furthest(self, sight: int, end: int, owner: int, *, upper: bool) -> int:
        """How near to an end a watched sum could be for a respondent: the end itself, if it was possible."""
        if self._could_be(sight, end, owner, upper=upper):
            return end
        near, far = int(self.values[sight]), end
        while abs(far - near) > 1:
            middle = (near + far) // 2
            if self._could_be(sight, middle, owner, upper=upper):
                near = middle
            else:
                far = middle
        return near

    def _could_be(self, sight: int, end: int, owner: int, *, upper: bool) -> bool:
        low, high = self.insiders.bounds(owner, self.low, self.high)
        return isinstance(self.search.reach(sight, end, upwards=upper, low=low, high=high), np.ndarray)
