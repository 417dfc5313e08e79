# SPDX-License-Identifier: Apache-2.0
"""Tables that have nothing but numbers, as JJ files have them: methods with options of their own, the attack and the result.

There are no codes, rules or records: the problem is judged already, and a cell is known by its number. A `TableRequest` has them
in place of tables, and `tables/run.py` runs it.
"""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import NotProtectedError
from reticent.base.plain import finite
from reticent.base.progress import Progress
from reticent.base.randomness import STREAM_VERSION, Secret
from reticent.base.words import counted
from reticent.data.parameters import Parameters
from reticent.tables.attack import Audit, audit
from reticent.tables.attack.exchanged import audit_exchanged
from reticent.tables.methods import adjusted, attack, attainable_levels, rounded
from reticent.tables.outcome import Outcome
from reticent.tables.perturb.adjustment import LEAST_SPREAD, adjust, largest_total
from reticent.tables.perturb.random_rounding import OWNER as RANDOM
from reticent.tables.perturb.rounding import Rounded, round_controlled, round_randomly, round_rapidly, rounding_bounds
from reticent.tables.problem import SuppressionProblem
from reticent.tables.reconcile import reconciled

DIGITS = 9


@dataclass(frozen=True)
class RoundNumbers(Parameters):
    """Rounding to multiples of `base`: controlled (additive), rapid (inner cells, then added up) or random.

    With `protect` the levels of unsafe cells are kept and judged; without, a cell is exposed when it is determined exactly.
    With `fallback` a table that controlled rounding cannot do is rounded rapidly.
    """

    called: ClassVar[str] = "round"
    base: float = field(metadata={"above": 0})
    kind: Literal["controlled", "random", "rapid"] = "controlled"
    steps: int = field(default=0, metadata={"min": 0})
    protect_levels: bool = False
    fallback: bool = False

    @property
    def name(self) -> str:
        """How messages name it."""
        return RANDOM if self.draws else "round"

    @property
    def draws(self) -> bool:
        """Whether what is published depends on the secret."""
        return self.kind == "random"

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """Round, and state what anybody who knows base and steps can conclude from each value."""
        if self.draws:
            return self._randomly(problem, secret)
        found = self._rounded(problem, time_limit, progress)
        return replace(rounded(problem, found, self.base), levels=self.protect_levels)

    def _rounded(self, problem: SuppressionProblem, time_limit: float, progress: Progress) -> Rounded:
        if self.kind == "rapid":
            return round_rapidly(problem.values, problem.relations, self.base)
        lower, upper = attainable_levels(problem) if self.protect_levels else (None, None)
        return round_controlled(
            problem.values, problem.relations, self.base, steps=self.steps, time_limit=time_limit, rapid=self.fallback,
            progress=progress, lower_protection=lower, upper_protection=upper, unit=problem.unit,
        )  # fmt: skip

    def _randomly(self, problem: SuppressionProblem, secret: Secret) -> Outcome:
        values = round_randomly(problem.values, self.base, secret=secret)
        distance = float(np.abs(values - problem.values).sum())
        low, high = rounding_bounds(values, problem.relations, self.base, unit=problem.unit)
        facts = {"base": self.base, "distance": distance, "status": "random"}
        nothing = np.zeros(problem.n_cells, dtype=bool)
        return Outcome(nothing, distance, None, "random", values, low, high, facts, levels=self.protect_levels)


@dataclass(frozen=True)
class AdjustNumbers(Parameters):
    """Adjustment: unsafe cells leave their protection intervals, everything else moves as little as possible.

    How far they go beyond their levels is drawn from the secret, on average `spread` levels.
    """

    name: ClassVar[str] = "adjust"
    draws: ClassVar[bool] = True
    norm: Literal["l1", "l2", "linf"] = "l1"
    weights: Literal["unity", "value", "root"] = "value"
    signs: Literal["free", "up", "down", "random"] = "free"
    integers: bool = False
    fix_total: bool = False
    largest_change: float | None = field(default=None, metadata={"min": 0, "max": 0.99})
    spread: float = field(default=1.0, metadata={"min": LEAST_SPREAD, "max": 100})

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """Adjust, and state what is left to somebody who knows the levels, the fixed cells and the largest change."""
        fixed = largest_total(problem) if self.fix_total else None
        found = adjust(
            problem, norm=self.norm, weights=self._weights(problem), signs=self.signs, fixed=fixed,
            largest_change=self.largest_change, integers=self.integers, time_limit=time_limit, secret=secret,
            spread=self.spread, progress=progress,
        )  # fmt: skip
        return adjusted(problem, found, fixed, self.largest_change)

    def _weights(self, problem: SuppressionProblem) -> NDArray[np.float64]:
        """What a unit of change costs: the same everywhere, or relative to the value (or its root)."""
        size = np.maximum(np.abs(problem.values), 1.0)
        return {"unity": np.ones(problem.n_cells), "value": 1.0 / size, "root": 1.0 / np.sqrt(size)}[self.weights]


@dataclass(frozen=True, eq=False)
class ProtectedNumbers:
    """What became of numbers: which are hidden, or which are published instead, and what the attacker found. Confidential."""

    problem: SuppressionProblem = field(repr=False)
    outcome: Outcome = field(repr=False)
    audit: Audit = field(repr=False)
    method: str
    notes: tuple[str, ...] = ()
    drawn: bool = False

    @property
    def exposed(self) -> list[int]:
        """Numbers of the cells that the attacker recovers too closely."""
        return [int(cell) for cell in self.audit.exposed_cells]

    def require(self, *, accept_exposed: bool = False) -> None:
        """Raise if unsafe cells are exposed and that was not accepted; where no cell is unsafe nothing was asked for."""
        exposed = self.exposed
        if not exposed or accept_exposed or not self.problem.primary.any():
            return
        named = ", ".join(map(str, exposed[:5])) + (", …" if len(exposed) > 5 else "")
        many = counted(len(exposed), "unsafe cell")
        raise NotProtectedError(
            f"table: the attacker recovers {many} too closely (ids {named}), so nothing was written. "
            "Use a larger base, --protect or another method, or say --accept-exposed.",
            exposed=len(exposed),
        )

    def summary(self) -> dict[str, Any]:
        """Everything as plain data: what is hidden and at what cost, or the values, and what can be concluded from them."""
        outcome = self.outcome
        if outcome.values is None:
            return {
                "suppressed": np.flatnonzero(outcome.hidden).tolist(),
                "cost": outcome.cost,
                "bound": outcome.bound,
                "status": outcome.status,
                "seconds": round(float(getattr(outcome, "seconds", 0.0)), 3),
                "exposed": self.exposed,
                "method": self.method,
                "secondaries": int((outcome.hidden & ~self.problem.primary).sum()),
            }
        # -0.0 becomes 0.0, because its sign reveals that there was something to take away
        values = [float(value) for value in outcome.values + 0.0]
        said: dict[str, Any] = {"secret": " ".join(self.notes)} if self.notes else {}
        if self.drawn:
            said["streams"] = STREAM_VERSION
        judged = {"exposed": self.exposed, "exact": self.audit.exact, "intervals": interval_rows(self.audit)}
        return {"values": values, **outcome.facts, **said, **judged}


def attack_numbers(problem: SuppressionProblem, outcome: Outcome, progress: Progress) -> Audit:
    """Hidden cells are proved without exact ends, which `audit` gives; exchanged values are judged by all relations."""
    if outcome.values is None:
        return audit(reconciled(problem, outcome.hidden), outcome.hidden, mode="certify", progress=progress)
    if outcome.candidates is not None:
        return attack(problem, outcome, progress=progress)
    assert outcome.low is not None
    assert outcome.high is not None
    return audit_exchanged(problem, outcome.low, outcome.high, levels=outcome.levels, progress=progress)


def interval_rows(found: Audit) -> dict[str, dict[str, Any]]:
    """For each attacked id low, high, required_low, required_high, exposed (an open end is None).

    The first exposed ids have `revealed_by` too: the relations (number and sum of ids) that prove their interval.
    """
    rows: dict[str, dict[str, Any]] = {
        str(cell): {
            "low": finite(found.low[k], DIGITS),
            "high": finite(found.high[k], DIGITS),
            "required_low": finite(found.required_low[k], DIGITS),
            "required_high": finite(found.required_high[k], DIGITS),
            "exposed": bool(found.exposed[k]),
        }
        for k, cell in enumerate(found.cells.tolist())
    }
    for cell, how in found.revelations.items():
        assert found.problem is not None
        words = how.in_words(found.problem.relations)
        rows[str(cell)]["revealed_by"] = [
            {"relation": row, "words": text} for row, text in zip(how.relations, words, strict=True)
        ]
    return rows
