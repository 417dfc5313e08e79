# SPDX-License-Identifier: Apache-2.0
"""Controlled rounding with the least sum of distances, which draws nothing."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from reticent.base.errors import InfeasibleError
from reticent.base.progress import Progress
from reticent.base.randomness import Secret
from reticent.data.parameters import Parameters
from reticent.tables.methods import attainable_levels, rounded
from reticent.tables.outcome import Outcome
from reticent.tables.perturb.rounding import round_controlled
from reticent.tables.problem import SuppressionProblem


@dataclass(frozen=True)
class NearestRounding(Parameters):
    """Controlled rounding with the least sum of distances, as RND asks; it draws nothing.

    Protection levels are kept where that can be; where it cannot, the attack says which cells are too close.
    """

    name: ClassVar[str] = "round"
    base: float = field(metadata={"above": 0})
    steps: int = field(default=0, metadata={"min": 0, "max": 20})
    unit_cost: bool = True

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """Round, and state what anybody who knows base and steps can conclude."""
        weights = None
        if not self.unit_cost:
            mean = float(problem.cost.mean()) if problem.n_cells else 1.0
            weights = np.maximum(problem.cost / mean, 1e-6) if mean > 0 else None
        options: dict[str, Any] = {"steps": self.steps, "weights": weights, "unit": problem.unit, "progress": progress}
        lower, upper = attainable_levels(problem)
        try:
            found = round_controlled(
                problem.values, problem.relations, self.base, lower_protection=lower, upper_protection=upper,
                time_limit=time_limit / 2, **options,
            )  # fmt: skip
        except InfeasibleError:
            found = round_controlled(problem.values, problem.relations, self.base, time_limit=time_limit / 2, **options)
        return rounded(problem, found, self.base)
