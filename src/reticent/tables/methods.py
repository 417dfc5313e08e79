# SPDX-License-Identifier: Apache-2.0
"""Methods that protect a table, under their plan names: one small protocol, one registry, one judge.

A method hides cells, or exchanges their values. Whatever it does, the outcome is attacked by code that did not make it.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base import clock
from reticent.base.arrays import Floats, Mask, Words
from reticent.base.errors import ParameterError
from reticent.base.progress import Progress
from reticent.base.randomness import Secret
from reticent.data.cells import CellStatus
from reticent.data.method import Registry
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples, Parameters
from reticent.data.relations import Relations
from reticent.data.table import Table
from reticent.tables.attack import Audit, audit
from reticent.tables.attack.candidates import too_few_candidates
from reticent.tables.attack.exchanged import audit_exchanged
from reticent.tables.attack.noise import audit_noise
from reticent.tables.cell_draws import ONE_RUN, AdditiveDraws, Bound
from reticent.tables.guarantee import HIDDEN, NOT_FOLLOWED, Guarantee, Rate
from reticent.tables.outcome import Outcome
from reticent.tables.perturb.adjustment import LEAST_SPREAD, Adjusted, adjust, largest_total
from reticent.tables.perturb.alternating import alternated
from reticent.tables.perturb.invariant_method import InvariantNoise
from reticent.tables.perturb.keyed import CellKey
from reticent.tables.perturb.movements import adjustment_candidates
from reticent.tables.perturb.random_rounding import RandomRounding
from reticent.tables.perturb.record_keys import RecordKeys
from reticent.tables.perturb.resampling import Resample
from reticent.tables.perturb.rounding import Rounded, round_controlled, rounding_bounds
from reticent.tables.perturb.small_counts import SmallCountRounding, round_small_counts, small_count_bounds
from reticent.tables.perturb.successive import cube_of, round_successively, successive_bounds
from reticent.tables.problem import SuppressionProblem
from reticent.tables.reconcile import reconciled
from reticent.tables.suppression import SUPPRESSION_METHODS, Suppression
from reticent.tables.suppression.elimination import inner_vectors

_AGAIN = 2.0  # times as long as the method's own proof took, that is kept for the same proof once more
MAX_INTERVALS = 30_000


@runtime_checkable
class TableMethod(Protocol):
    """What every table method has; its options are its dataclass fields."""

    @property
    def name(self) -> str:
        """The plan name."""
        ...

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """Protect the table; a time limit gives the best found."""
        ...


def caveat_of(method: TableMethod, *, counts: bool) -> str:
    """What the notes of a run must say of the method: what the audit of this run cannot judge."""
    own = getattr(method, "count_caveat", None) if counts else None
    return str(getattr(method, "caveat", "") if own is None else own)


def keeps_noise(method: TableMethod) -> bool:
    """Whether the method takes noisy counts of earlier releases as they are: they agree with it, or totals follow them."""
    return isinstance(method, CellKey | InvariantNoise)


@runtime_checkable
class KeyedMethod(Protocol):
    """A table method whose draws belong to the cell, so that the same cell gets the same value in every table."""

    name: ClassVar[str]
    lists_empty: ClassVar[bool]

    def needs_top(self, response: str | None) -> int:
        """How many of the largest contributions it looks at."""
        ...

    def record_keys(self, data: Microdata, response: str | None, secret: Secret) -> RecordKeys:
        """The keys of all records, which cell keys are made of."""
        ...

    def for_table(self, table: Table) -> TableMethod:
        """The method bound to a table with its cell keys."""
        ...


@dataclass(frozen=True)
class PrimaryOnly(Parameters):
    """Hide the unsafe cells (and those given as hidden) and nothing else: seldom safe, and the attack says so.

    Where no cell is exposed, it holds against the arithmetic attacker as other patterns do; not for the transparent one.
    """

    name: ClassVar[str] = "primary-only"
    guarantee: ClassVar[Guarantee] = Guarantee(HIDDEN, Rate(27, 42, 0.4), "hidden cells are the unsafe ones")

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """No secondary suppression."""
        given = problem.status == CellStatus.SECONDARY
        return Outcome(problem.forced, float(problem.cost[given].sum()), status="primary suppression only")


@dataclass(frozen=True)
class Round(AdditiveDraws):
    """Controlled rounding: every value goes to an adjacent multiple of `base`, and all totals still add up.

    Unsafe cells keep their levels against the arithmetic attacker, who knows base and steps. The transparent attacker, who
    knows how multiples are chosen, is enumerated on small tables only (`guarantee`). A cell has one value in all tables of
    a run, not in those of other runs (`caveat`).
    """

    name: ClassVar[str] = "round"
    caveat: ClassVar[str] = ONE_RUN
    guarantee: ClassVar[Guarantee] = Guarantee(
        "Against the arithmetic attacker, who knows base and steps, all published values and relations together: no unsafe "
        "cell is placed within its protection levels." + NOT_FOLLOWED,
        Rate(0, 545, 3.1, 24),
        "of the possible multiples the nearest are preferred",
    )
    examples: ClassVar[Examples] = ({}, {"base": 3.0, "successive": True})
    base: float = field(default=5.0, metadata={"above": 0, "help": "all published values are multiples of it"})
    steps: int = field(default=0, metadata={"min": 0, "max": 20, "help": "how many multiples further a cell may go"})
    protect_levels: bool = field(default=False, metadata={"help": "unsafe cells keep their protection interval"})
    rapid_fallback: bool = field(
        default=False, metadata={"help": "round inner cells and add up where nothing better is found in time"}
    )
    successive: bool = field(
        default=False, metadata={"help": "round the slices of a table in three dimensions one after another"}
    )

    def for_tables(self, tables: Sequence[Table]) -> Bound:
        """The method bound to its tables; rounding slice by slice needs to know the slices."""
        if not self.successive:
            return super().for_tables(tables)
        if len(tables) != 1:
            raise ParameterError("round: successive works on one response; round the tables of others by themselves.")
        return SuccessiveOnTable(self, tables[0])

    def protect_cells(
        self, problem: SuppressionProblem, cells: Words, secret: Secret, time_limit: float, progress: Progress
    ) -> Outcome:
        """Round, and state what anybody who knows base and steps can conclude."""
        lower, upper = attainable_levels(problem) if self.protect_levels else (None, None)
        found = round_controlled(
            problem.values, problem.relations, self.base, steps=self.steps, lower_protection=lower,
            upper_protection=upper, unit=problem.unit, time_limit=time_limit, rapid=self.rapid_fallback, secret=secret,
            cells=cells, progress=progress, window=problem.window,
        )  # fmt: skip
        return rounded(problem, found, self.base)


@dataclass(frozen=True, eq=False)
class SuccessiveOnTable:
    """Successive rounding and the table in three dimensions that it rounds."""

    method: Round
    table: Table

    @property
    def name(self) -> str:
        """The name of the method."""
        return self.method.name

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """Round slice by slice, and state what anybody who knows base and slices can conclude."""
        base, true = self.method.base, problem.values
        if problem.frozen.any() or bool((true < 0).any()):
            raise ParameterError("round: successive needs a table without fixed cells and negative values.")
        cube = cube_of(self.table)
        # the choice between the two multiples is drawn for this table: other data, other draws
        own = secret.child(hashlib.blake2b(true.tobytes() + self.table.codes.tobytes()).hexdigest())
        values = round_successively(true, cube, base, secret=own, time_limit=time_limit)
        low, high = successive_bounds(values, cube, base, problem.unit)
        distance = float(np.abs(values - true).sum())
        facts = {"base": base, "distance": distance, "status": "successive"}
        return Outcome(np.zeros(problem.n_cells, dtype=bool), distance, None, "successive", values, low, high, facts)


def attainable_levels(problem: SuppressionProblem) -> tuple[Floats, Floats]:
    """The protection levels as far as the attacker's own bounds leave room for them, as the attack judges them."""
    return (
        np.minimum(problem.lower_protection, problem.values - problem.lower_bound),
        np.minimum(problem.upper_protection, problem.upper_bound - problem.values),
    )


def rounded(problem: SuppressionProblem, found: Rounded, base: float) -> Outcome:
    """A rounding as an outcome: its values, and what anybody who knows base and steps can conclude."""
    low, high = rounding_bounds(
        found.values, problem.relations, base, steps=found.steps, rapid=found.status == "rapid", unit=problem.unit
    )
    nothing = np.zeros(problem.n_cells, dtype=bool)
    return Outcome(nothing, found.distance, found.bound, found.status, found.values, low, high, found.summary())


@dataclass(frozen=True)
class SmallCounts(Parameters):
    """Small-count rounding: inner counts behind small published ones become 0 or `base`, and everything is added up.

    The arithmetic attacker, who knows base and threshold, determines no unsafe count exactly; levels are not kept. It
    chooses without the secret: the transparent attacker was only tried out on small tables (`guarantee` has the rate).
    """

    name: ClassVar[str] = "small-counts"
    caveat: ClassVar[str] = ONE_RUN
    guarantee: ClassVar[Guarantee] = Guarantee(
        "Against the arithmetic attacker, who knows base and threshold: no unsafe count is determined exactly. Levels are "
        "not promised." + NOT_FOLLOWED,
        Rate(0, 150, 1.6),
        "what becomes 0 and what the base is chosen without the secret",
    )
    examples: ClassVar[Examples] = ({}, {"choice": "alternating"})
    base: int = field(default=3, metadata={"min": 2, "help": "small counts become 0 or this"})
    threshold: int | None = field(default=None, metadata={"min": 1, "help": "largest small count; none: base - 1"})
    choice: Literal["nearest", "alternating"] = field(
        default="nearest", metadata={"help": "which become 0: so that totals stay near, or every other one"}
    )

    @property
    def draws(self) -> bool:
        """Whether the first count goes up or down is drawn where they alternate."""
        return self.choice == "alternating"

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """Round, and state what anybody who knows base and threshold can conclude of the inner cells."""
        values = problem.values
        if bool((values != np.rint(values)).any()) or bool((values < 0).any()):
            raise ParameterError("small-counts: needs a table of counts; its values must be whole and not negative.")
        inner, membership = inner_cells(problem.relations)
        counts = np.rint(values[inner]).astype(np.int64)
        found = self._found(counts, membership, secret)
        low, high = problem.lower_bound.copy(), problem.upper_bound.copy()
        low[inner], high[inner] = small_count_bounds(found.inner, self.base, self.threshold)
        published = found.published.astype(np.float64)
        nothing = np.zeros(problem.n_cells, dtype=bool)
        distance = float(np.abs(published - values).sum())
        return Outcome(nothing, distance, None, "done", published, low, high, found.summary(), levels=False)

    def _found(self, counts: NDArray[np.int64], membership: sparse.csr_array, secret: Secret) -> SmallCountRounding:
        if self.choice == "nearest":
            return round_small_counts(counts, membership, base=self.base, threshold=self.threshold)
        if self.threshold is not None:
            raise ParameterError("small-counts: with choice = alternating the threshold is base - 1; leave it out.")
        moved, matrix = alternated(counts, self.base, secret), membership.astype(np.int64)
        published, original = np.asarray(moved @ matrix), np.asarray(counts @ matrix)
        return SmallCountRounding(moved, published, original, int((moved != counts).sum()))


def inner_cells(relations: Relations) -> tuple[NDArray[np.int64], sparse.csr_array]:
    """Cells that are no total, and which cells each of them belongs to (a row per inner cell, a column per cell)."""
    vectors, others = inner_vectors(relations)
    if others or relations.rhs.any() or any(set(vector.values()) - {1} for vector in vectors):
        raise ParameterError(
            "small-counts: needs a table whose totals are sums of inner cells; linked tables have none in common."
        )
    inner = np.array([cell for cell, vector in enumerate(vectors) if set(vector) == {cell}], dtype=np.int64)
    place = {int(cell): row for row, cell in enumerate(inner)}
    rows = [place[part] for vector in vectors for part in vector]
    columns = [cell for cell, vector in enumerate(vectors) for _ in vector]
    shape = (len(inner), relations.n_cells)
    return inner, sparse.csr_array((np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=shape)


@dataclass(frozen=True)
class Adjust(AdditiveDraws):
    """Controlled tabular adjustment: unsafe values leave their protection interval, the others move least.

    How far unsafe values go beyond their level is drawn from the secret, so that who knows the level does not know them.
    That holds against the arithmetic attacker. The transparent one also knows that the other movements are the least ones:
    not for that attacker (`guarantee` has the rate). A cell has one value in all tables of a run, not in those of other
    runs (`caveat`): the true value lies between two that go opposite ways.
    """

    name: ClassVar[str] = "adjust"
    caveat: ClassVar[str] = ONE_RUN
    guarantee: ClassVar[Guarantee] = Guarantee(
        "Against the arithmetic attacker, who knows which cells are unsafe, their levels, fixed cells and the largest change: "
        "the candidates that are left of an unsafe value are as wide as its two levels together." + NOT_FOLLOWED,
        Rate(127, 499, 1.4, 24),
        "directions and the movements of other cells are chosen, not drawn",
    )
    norm: Literal["l1", "l2", "linf"] = field(
        default="l1", metadata={"help": "what is least: the sum, the sum of squares or the largest of the changes"}
    )
    signs: Literal["free", "up", "down", "random"] = field(
        default="free", metadata={"help": "direction of unsafe cells; free: chosen for the least change, random: drawn"}
    )
    fix_total: bool = field(default=False, metadata={"help": "the largest total keeps its value"})
    largest_change: float | None = field(
        default=None, metadata={"min": 0, "max": 0.99, "help": "other cells move by no larger share of their value"}
    )
    spread: float = field(
        default=1.0,
        metadata={"min": LEAST_SPREAD, "max": 100, "help": "mean movement beyond the level, in levels; drawn"},
    )

    def protect_cells(
        self, problem: SuppressionProblem, cells: Words, secret: Secret, time_limit: float, progress: Progress
    ) -> Outcome:
        """Adjust, and state what anybody who knows which cells are fixed and the largest change can conclude."""
        fixed = largest_total(problem) if self.fix_total else None
        found = adjust(
            problem, norm=self.norm, signs=self.signs, fixed=fixed, largest_change=self.largest_change,
            integers=problem.integral, step=problem.unit, time_limit=time_limit, secret=secret, cells=cells, spread=self.spread,
            progress=progress,
        )  # fmt: skip
        return adjusted(problem, found, fixed, self.largest_change)


def adjusted(problem: SuppressionProblem, found: Adjusted, fixed: Mask | None, largest_change: float | None) -> Outcome:
    """An adjustment as an outcome: its values, and the candidates that are left to somebody who knows the levels."""
    left = adjustment_candidates(
        problem, found.values, fixed=fixed, largest_change=largest_change, exactly=not found.drawn
    )
    return Outcome(
        np.zeros(problem.n_cells, dtype=bool),
        found.distance,
        found.bound,
        found.status,
        found.values,
        left.low,
        left.high,
        found.summary(),
        keeps_distance=True,
        candidates=left,
    )


TABLE_METHODS = Registry(
    "[protect]",
    (PrimaryOnly, Round, RandomRounding, SmallCounts, Adjust, CellKey, InvariantNoise, Resample, *SUPPRESSION_METHODS),
)

__all__ = [
    "TABLE_METHODS",
    "Adjust",
    "CellKey",
    "InvariantNoise",
    "KeyedMethod",
    "Outcome",
    "PrimaryOnly",
    "RandomRounding",
    "Resample",
    "Round",
    "SmallCounts",
    "TableMethod",
    "attack",
]


def attack(problem: SuppressionProblem, outcome: Outcome, *, judged: bool = False, progress: Progress) -> Audit:
    """Judge any outcome: hidden cells by linear programs, exchanged values by what their publication tells.

    `judged` says that rules were asked which cells are unsafe; without, exchanged values guard every cell from exact disclosure.
    """
    if outcome.values is None:
        return _attack_hidden(reconciled(problem, outcome.hidden), outcome, progress)
    if outcome.low is None or outcome.high is None:
        raise ParameterError("attack: a method that exchanges values must say what can be concluded from them.")
    if outcome.additive:
        _check_additive(problem, outcome.values)
    if outcome.noise or not outcome.additive:
        found = audit_noise(problem, outcome, progress=progress)
        return replace(found, exposed=found.exposed | _determined(problem, outcome, found))
    published = outcome.values if outcome.keeps_distance else None
    found = audit_exchanged(
        problem, outcome.low, outcome.high, published=published, levels=outcome.levels, judged=judged, progress=progress
    )
    if outcome.candidates is None:
        return found
    return replace(found, exposed=found.exposed | too_few_candidates(problem, outcome.candidates)[found.cells])


def _attack_hidden(problem: SuppressionProblem, outcome: Outcome, progress: Progress) -> Audit:
    """Exact ends where the table is not too large for them and there is time; what is needed is proved in any case."""
    limit = clock.deadline()
    if int(outcome.hidden.sum()) <= MAX_INTERVALS:
        before = outcome.audit.seconds if isinstance(outcome, Suppression) and outcome.audit is not None else 0.0
        with clock.within(math.inf if limit is None else limit.earliest - _AGAIN * before):
            return audit(problem, outcome.hidden, progress=progress)
    return audit(problem, outcome.hidden, mode="certify", progress=progress)


def _determined(problem: SuppressionProblem, outcome: Outcome, found: Audit) -> Mask:
    """Cells with somebody in them whose noise is undone exactly, unsafe or not; frozen and kept ones are true as they stand."""
    known = found.high - found.low <= problem.tolerance
    as_they_are = problem.frozen if outcome.kept is None else problem.frozen | outcome.kept
    return np.asarray(known & (problem.values[found.cells] != 0) & ~as_they_are[found.cells])


def _check_additive(problem: SuppressionProblem, values: Floats) -> None:
    before = np.abs(problem.relations.residuals(problem.values))
    after = np.abs(problem.relations.residuals(values))
    if bool((after > before + 1e-6 + 1e-9 * float(np.abs(values).max(initial=1.0))).any()):
        raise ParameterError("attack: the published values do not add up.")
