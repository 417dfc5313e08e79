# SPDX-License-Identifier: Apache-2.0
"""Linear reconstruction (Dinur and Nissim 2003): random subset sums, and a linear program for what they leave open."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base.randomness import as_secret
from reticent.queries.attacks.attacker import Attacker, Claim, NotApplicable, name
from reticent.queries.attacks.spans import Span
from reticent.solve.highs import solve
from reticent.solve.model import INFINITE, LinearModel

SUBSETS = 40


def reconstruction(attacker: Attacker) -> Claim:
    """Sums over random halves of sixteen respondents who can be listed one by one."""
    if attacker.knows.fingerprint is None:
        raise NotApplicable("respondents cannot be listed by a number of their own")
    variable, value, others = attacker.knows.fingerprint
    people = np.array([value, *others])
    rng = as_secret(2003).stream("reconstruction")
    rows, answers = [], []
    for _ in range(SUBSETS):
        chosen = rng.random(len(people)) < 0.5
        listed = ", ".join(repr(float(v)) for v in people[chosen])
        found = attacker.total(f"{name(variable)} IN ({listed})") if listed else None
        if found is not None:
            rows.append(chosen.astype(np.float64))
            answers.append(found)
    if not rows:
        return Claim(text="every subset was refused")
    return Claim(_bounds(np.array(rows), answers), text=f"{len(rows)} of {SUBSETS} subset sums answered")


def _bounds(rows: NDArray[np.float64], answers: list[Span]) -> Span | None:
    """The least and the greatest value of the first unknown among the points that fit the answers best."""
    n_rows, n = rows.shape
    low, high = (np.array([getattr(a, side) for a in answers]) for side in ("low", "high"))
    above = np.hstack([rows, np.eye(n_rows)])  # Σ + slack ≥ low
    below = np.hstack([rows, -np.eye(n_rows)])  # Σ − slack ≤ high
    budget = np.concatenate([np.zeros(n), np.ones(n_rows)])
    matrix = sparse.csr_array(np.vstack([above, below, budget]))
    free = np.full(n_rows, INFINITE)

    def best(cost: NDArray[np.float64], limit: float, maximise: bool = False) -> float | None:
        model = LinearModel(
            cost,
            np.zeros(n + n_rows),
            np.full(n + n_rows, INFINITE),
            matrix,
            np.concatenate([low, -free, [-INFINITE]]),
            np.concatenate([free, high, [limit]]),
            maximise=maximise,
        )
        solution = solve(model)
        return solution.objective if solution.feasible else None

    slack = best(budget, INFINITE)
    if slack is None:
        return None
    unit = np.zeros(n + n_rows)
    unit[0] = 1.0
    limit = slack * (1 + 1e-9) + 1e-6
    ends = best(unit, limit), best(unit, limit, True)
    if ends[0] is None:
        return None
    return Span(ends[0], INFINITE if ends[1] is None else ends[1])
