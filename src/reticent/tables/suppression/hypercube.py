# SPDX-License-Identifier: Apache-2.0
"""Hypercubes: each primary becomes a corner of a small cube of hidden cells (Repsilber; Giessing).

The alternating movement on the corners of a cube changes no relation. The cubes are found from the relations alone: a
second cell in each of several relations that cross in the primary, and the cells that complete the box.
"""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from reticent.base.arrays import Mask
from reticent.base.errors import NotProtectedError
from reticent.base.progress import Progress, part, silent
from reticent.base.randomness import Secret
from reticent.data.cells import CellStatus
from reticent.tables.attack.audit import audit
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.cubes import CubeFinder
from reticent.tables.suppression.engine import Engine
from reticent.tables.suppression.knowing import attainable, knowing, widened
from reticent.tables.suppression.method import Suppression, SuppressionMethod


@dataclass(frozen=True)
class Hypercube(SuppressionMethod):
    """Hides a cube of cells for each unsafe one, the cheapest of those tried: fast and generous, completed where exposed.

    With `known_within` the pattern holds against an attacker with that knowledge too. Levels that cannot be kept from
    them, whatever is hidden, are lowered for them (`facts["lowered"]` names the cells), and kept from everybody else.
    """

    name: ClassVar[str] = "hypercube"
    known_within: float | None = field(
        default=None,
        metadata={"above": 0, "help": "per cent within which the attacker knows every cell; without: they do not"},
    )

    def protect(
        self,
        problem: SuppressionProblem,
        *,
        time_limit: float = 60.0,
        progress: Progress = silent,
        secret: Secret | None = None,
        earlier: Mask | None = None,
    ) -> Suppression:
        """Find a safe pattern within about `time_limit` seconds; cells hidden in an `earlier` period cost less."""
        if self.known_within is None:
            return super().protect(problem, time_limit=time_limit, progress=progress, secret=secret, earlier=earlier)
        problem.check_attainable()
        near, lowered = attainable(knowing(problem, self.known_within))
        share = 0.5 if len(lowered) else 1.0
        first = super().protect(
            near, time_limit=share * time_limit, progress=part(progress, 0.0, share), secret=secret, earlier=earlier
        )
        facts = {
            **first.facts,
            "lowered": tuple(lowered.tolist()),
            "widened": widened(problem, self.known_within),
        }
        if len(lowered) == 0:
            return replace(first, facts=facts)
        # hiding more helps against every attacker: what the first pattern hides stays hidden in the second
        hidden = problem.with_status(first.hidden & problem.candidates, CellStatus.SECONDARY)
        both = super().protect(
            hidden, time_limit=share * time_limit, progress=part(progress, share, 1.0), secret=secret, earlier=earlier
        )
        if audit(near, both.hidden, mode="certify").n_exposed:
            raise NotProtectedError(
                "hypercube: the attacker who knows every cell roughly still finds exposed cells; use heuristic."
            )
        closed = first.bound is not None and both.cost <= first.bound + 1e-6 * max(1.0, both.cost)
        seconds = first.seconds + both.seconds
        status = "optimal" if closed else "feasible"
        return replace(both, bound=first.bound, status=status, facts=facts, seconds=seconds)

    def _search(self, engine: Engine) -> None:
        problem = engine.problem
        pattern = problem.forced.copy()
        needs = np.maximum(problem.upper_protection, problem.lower_protection)
        primaries = np.flatnonzero(problem.primary)
        engine.under_way = pattern  # grows in place
        finder = CubeFinder(problem, engine.cost)
        for number, cell in enumerate(primaries[np.argsort(-needs[primaries], kind="stable")].tolist()):
            if number % 100 == 0:
                engine.say("building cubes")
            if engine.left() <= 0:
                break
            pattern[finder.cheapest(cell, pattern)] = True
        engine.complete(pattern)
