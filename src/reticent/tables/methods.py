"""Methods that protect a table, under their plan names: one small protocol, one registry, one judge.

A method hides cells, or exchanges their values. Whatever it does, the outcome is attacked by code that did not make it.
"""

from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import ParameterError
from reticent.base.progress import Progress
from reticent.base.randomness import Secret
from reticent.data.cells import CellStatus
from reticent.data.method import Registry
from reticent.tables.attack import Audit, audit
from reticent.tables.attack.audit import judge
from reticent.tables.outcome import Outcome
from reticent.tables.perturb.adjustment import adjust
from reticent.tables.perturb.keyed import CellKey
from reticent.tables.perturb.rounding import check_base, round_controlled
from reticent.tables.problem import SuppressionProblem
from reticent.tables.reconcile import reconciled
from reticent.tables.suppression import SUPPRESSION_METHODS

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
MAX_INTERVALS = 30_000
MAX_NOISY = 2_000
"""Noisy tables are attacked cell by cell up to this size; in larger ones only the unsafe cells are."""


@runtime_checkable
class TableMethod(Protocol):
    """What every table method has; its options are its dataclass fields."""

    name: ClassVar[str]

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """Protect the table; a time limit gives the best found."""
        ...


@dataclass(frozen=True)
class PrimaryOnly:
    """Hide the unsafe cells (and those given as hidden) and nothing else: seldom safe, and the attack says so."""

    name: ClassVar[str] = "primary-only"

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """No secondary suppression."""
        given = problem.status == CellStatus.SECONDARY
        return Outcome(problem.forced, float(problem.cost[given].sum()), status="primary suppression only")


@dataclass(frozen=True)
class Round:
    """Controlled rounding: every value goes to an adjacent multiple of `base`, and all totals still add up."""

    name: ClassVar[str] = "round"
    base: float = field(default=5.0, metadata={"min": 0, "help": "all published values are multiples of it"})
    steps: int = field(default=0, metadata={"min": 0, "max": 20, "help": "how many multiples further a cell may go"})
    protect_levels: bool = field(default=False, metadata={"help": "unsafe cells leave their protection interval"})

    def __post_init__(self) -> None:
        check_base(self.base)

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """Round, and state what anybody who knows base and steps can conclude."""
        found = round_controlled(
            problem.values, problem.relations, self.base, steps=self.steps,
            lower_protection=problem.lower_protection if self.protect_levels else None,
            upper_protection=problem.upper_protection if self.protect_levels else None,
            time_limit=time_limit, secret=secret, progress=progress,
        )  # fmt: skip
        reach = (found.steps + 1) * self.base - problem.unit
        return Outcome(
            np.zeros(problem.n_cells, dtype=bool),
            found.distance,
            found.bound,
            found.status,
            found.values,
            np.maximum(found.values - reach, problem.lower_bound),
            np.minimum(found.values + reach, problem.upper_bound),
            found.summary(),
        )


@dataclass(frozen=True)
class Adjust:
    """Controlled tabular adjustment: unsafe values leave their protection interval, the others move least."""

    name: ClassVar[str] = "adjust"
    norm: Literal["l1", "l2", "linf"] = "l1"
    signs: Literal["free", "up", "down", "random"] = "free"
    fix_total: bool = field(default=False, metadata={"help": "the largest total keeps its value"})

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """Adjust; a true value may be anywhere outside the distance that its published one moved."""
        fixed = None
        if self.fix_total:
            fixed = np.zeros(problem.n_cells, dtype=bool)
            fixed[int(np.argmax(np.abs(problem.values)))] = True
        found = adjust(
            problem, norm=self.norm, signs=self.signs, fixed=fixed, integers=problem.integral, time_limit=time_limit,
            secret=secret, progress=progress,
        )  # fmt: skip
        moved = np.abs(found.values - problem.values)
        return Outcome(
            np.zeros(problem.n_cells, dtype=bool),
            found.distance,
            found.bound,
            found.status,
            found.values,
            problem.values - moved,
            problem.values + moved,
            found.summary(),
        )


TABLE_METHODS = Registry("[protect]", (PrimaryOnly, Round, Adjust, CellKey, *SUPPRESSION_METHODS))

__all__ = ["TABLE_METHODS", "Adjust", "CellKey", "Outcome", "PrimaryOnly", "Round", "TableMethod", "attack"]


def attack(problem: SuppressionProblem, outcome: Outcome, *, progress: Progress) -> Audit:
    """Judge any outcome: hidden cells by linear programs, exchanged values by what their publication tells."""
    if outcome.values is None:
        # beyond this size exact ends would take longer than the search; what is needed is proved all the same
        mode = "intervals" if int(outcome.hidden.sum()) <= MAX_INTERVALS else "certify"
        return audit(reconciled(problem, outcome.hidden), outcome.hidden, mode=mode, progress=progress)
    if outcome.low is None or outcome.high is None:
        raise ParameterError("attack: a method that exchanges values must say what can be concluded from them.")
    if not outcome.additive:
        return attack_noise(problem, outcome.low, outcome.high, progress=progress)
    _check_additive(problem, outcome.values)
    cells = np.flatnonzero(problem.primary).astype(np.int32)
    true = problem.values[cells]
    inside = (outcome.low[cells] <= true) & (true <= outcome.high[cells])
    if not inside.all():
        raise ParameterError("attack: the stated conclusions do not contain the true values.")
    if np.array_equal(outcome.high - problem.values, problem.values - outcome.low):
        # adjusted values: the distance moved is what protects, in the direction it moved
        enough = np.where(
            outcome.values[cells] > true, problem.upper_protection[cells], problem.lower_protection[cells]
        )
        moved = np.abs(outcome.values[cells] - true)
        wide = np.maximum(problem.lower_protection[cells], problem.upper_protection[cells])
        reach = np.where(moved >= enough - problem.tolerance, np.maximum(wide, moved), moved)
        return judge(problem, cells, reach, reach)
    return judge(problem, cells, true - outcome.low[cells], outcome.high[cells] - true)


def attack_noise(problem: SuppressionProblem, low: Floats, high: Floats, *, progress: Progress) -> Audit:
    """What follows for every cell from the intervals of all of them and the relations of the true values."""
    if not bool(((low <= problem.values) & (problem.values <= high)).all()):
        raise ParameterError("attack: the stated conclusions do not contain the true values.")
    known = replace(problem, lower_bound=low, upper_bound=high)
    mode = "intervals" if problem.n_cells <= MAX_NOISY else "certify"
    return audit(known, np.ones(problem.n_cells, dtype=bool), mode=mode, progress=progress)


def _check_additive(problem: SuppressionProblem, values: Floats) -> None:
    before = np.abs(problem.relations.residuals(problem.values))
    after = np.abs(problem.relations.residuals(values))
    if bool((after > before + 1e-6 + 1e-9 * float(np.abs(values).max(initial=1.0))).any()):
        raise ParameterError("attack: the published values do not add up.")
