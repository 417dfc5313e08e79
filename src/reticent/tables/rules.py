# SPDX-License-Identifier: Apache-2.0
"""Safety rules: which cells tell too much about a respondent. Frozen dataclasses under their plan names.

Definitions and boundaries are those of tau-ARGUS 4.2: dominance is unsafe *strictly above* k %, p % and pq at a
*positive* measure S, the threshold *below* `minimum`. Contributions count by magnitude, so that negative values neither
hide nor create risk. Near ties are decided in rational arithmetic. A rule of one's own is a subclass of `Rule`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Mask
from reticent.base.checks import did_you_mean
from reticent.base.errors import DataError, ParameterError, PlanError
from reticent.data.method import Registry
from reticent.data.parameters import Examples, Parameters, build
from reticent.data.table import Measure, Respondents, Table

Unit = Literal["respondent", "record"]
UNIT = {"help": "what counts: respondents, or single records"}
TIE = 1e-9


@dataclass(frozen=True, eq=False)
class RuleCells:
    """What a rule sees of each cell: respondents, Σ magnitudes of the judged variable, the largest contributions.

    `top` and `weights` are of all respondents, `judged_top` and `judged_counts` only of those without a waiver.
    """

    values: Floats
    counts: NDArray[np.int64] | None
    weighted_counts: Floats
    judged_counts: NDArray[np.int64]
    magnitudes: Floats | None = None
    top: Floats | None = None
    top_weights: Floats | None = None
    judged_top: Floats | None = None
    judged_weights: Floats | None = None
    requests: tuple[tuple[Floats, NDArray[np.int64]], ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def contributions(self, rule: str, needed: int) -> tuple[Floats, Floats, Floats]:
        """Σ magnitudes, top list and the top list of those judged; an error if the table does not have them."""
        if self.magnitudes is None or self.top is None or self.judged_top is None:
            raise DataError(
                f"rule {rule}: needs a response with the largest contributions of each cell; leave it out of tables of counts."
            )
        if self.top.shape[1] < needed:
            raise DataError(
                f"rule {rule}: needs the {needed} largest contributions of each cell, the table has {self.top.shape[1]}; "
                "give it more columns of them, or choose a rule that needs fewer."
            )
        return self.magnitudes, self.top, self.judged_top

    def known_counts(self, rule: str) -> NDArray[np.int64]:
        """Respondents a cell; an error if the table does not have them."""
        if self.counts is None:
            raise DataError(f"rule {rule}: needs the number of respondents of each cell; give a count column.")
        return self.counts

    @classmethod
    def of(cls, table: Table, unit: Unit = "respondent") -> "RuleCells":
        """The view of a table for rules about respondents, or about single records."""
        view = table.records if unit == "record" and table.records is not None else table.respondents
        return cls._of_view(table, view)

    @classmethod
    def _of_view(cls, table: Table, view: Respondents) -> "RuleCells":
        name = table.judged_variable
        measure: Measure | None = view.measures.get(name) if name is not None else None
        judged: Measure | None = view.judged.get(name) if name is not None else None
        has_top = measure is not None and judged is not None and measure.top.shape[1] > 0
        return cls(
            table.values,
            view.counts if table.counted else None,
            view.weighted_counts,
            view.judged_counts,
            measure.magnitudes if measure is not None else None,
            measure.top if has_top and measure is not None else None,
            measure.top_weights if has_top and measure is not None else None,
            judged.top if has_top and judged is not None else None,
            judged.top_weights if has_top and judged is not None else None,
            view.requests,
        )

    @classmethod
    def of_contributions(cls, cells: Sequence[Sequence[float]], *, top: int = 10) -> "RuleCells":
        """From the contributions of each cell, one respondent each (for examples and tests)."""
        listed = [sorted((abs(x) for x in cell), reverse=True) for cell in cells]
        largest = np.array([(cell + [0.0] * top)[:top] for cell in listed], dtype=np.float64)
        counts = np.array([len(cell) for cell in listed], dtype=np.int64)
        return cls(
            np.array([float(sum(cell)) for cell in cells]), counts, counts.astype(np.float64), counts,
            np.array([float(sum(cell)) for cell in listed]), largest, None, largest, None,
        )  # fmt: skip


def weighted_top(top: Floats, weights: Floats | None, n: int) -> Floats:
    """Sum of the n largest units: a contribution of weight w counts for w units, the last one by the rest.

    >>> weighted_top(np.array([[100.0, 10.0]]), np.array([[4.0, 7.0]]), 2).tolist()
    [200.0]
    """
    if weights is None:
        return np.asarray(top[:, :n].sum(axis=1))
    before = np.cumsum(weights, axis=1) - weights
    return np.asarray((top * np.clip(n - before, 0.0, weights)).sum(axis=1))


class Rule(Parameters):
    """Base of all rules. `rank` is the order of evaluation: the first rule that a cell breaks gives its reason."""

    name: ClassVar[str]
    rank: ClassVar[int] = 9
    unit: Unit = "respondent"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.called = f"rule {cls.name}"

    def unsafe(self, cells: RuleCells) -> Mask:
        """Which cells break the rule."""
        raise NotImplementedError

    def upper_estimate(self, cells: RuleCells) -> Floats | None:
        """The total from which on the cell would be safe; its distance from the total is the protection level.

        None: the level is `percent` of the value instead.
        """
        return None

    @property
    def percent(self) -> float:
        """Protection level in per cent of the value, for rules without an upper estimate."""
        return 20.0

    @property
    def needs_top(self) -> int:
        """How many of the largest contributions the rule looks at."""
        return 0


@dataclass(frozen=True)
class Threshold(Rule):
    """Unsafe when there are respondents, but fewer than `minimum` (of the weighted count if `weighted`)."""

    name: ClassVar[str] = "threshold"
    rank: ClassVar[int] = 4
    minimum: int = field(default=3, metadata={"min": 1, "help": "smallest safe number of respondents"})
    protection: float = field(default=20.0, metadata={"min": 0, "help": "protection level, per cent of the value"})
    weighted: bool = field(default=False, metadata={"help": "compare the weighted count with `minimum`"})
    unit: Unit = field(default="respondent", metadata=UNIT)

    def unsafe(self, cells: RuleCells) -> Mask:
        """0 < count < minimum, unless all respondents have waived protection."""
        counts = cells.known_counts(self.name)
        size = cells.weighted_counts if self.weighted else counts
        return np.asarray((counts > 0) & (size < self.minimum) & (cells.judged_counts > 0))

    @property
    def percent(self) -> float:
        """The rule's own percentage."""
        return self.protection


@dataclass(frozen=True)
class Dominance(Rule):
    """Unsafe when the n largest contributions make more than k % of the total."""

    name: ClassVar[str] = "dominance"
    rank: ClassVar[int] = 1
    n: int = field(default=1, metadata={"min": 1, "max": 50, "help": "how many respondents"})
    k: float = field(default=75.0, metadata={"above": 0, "max": 100, "help": "their largest safe share in per cent"})
    unit: Unit = field(default="respondent", metadata=UNIT)

    def unsafe(self, cells: RuleCells) -> Mask:
        """100 · Σ of the n largest > k · total."""
        total, _, judged = cells.contributions(self.name, self.n)
        largest = weighted_top(judged, cells.judged_weights, self.n)
        k = _exact(self.k)
        return _positive(
            100 * largest - self.k * total,
            100 * np.abs(total),
            lambda i: 100 * _exact_top(judged, cells.judged_weights, self.n, i) - k * _exact(total[i]),
        )

    def upper_estimate(self, cells: RuleCells) -> Floats:
        """100/k · Σ of the n largest."""
        _, _, judged = cells.contributions(self.name, self.n)
        return 100.0 / self.k * weighted_top(judged, cells.judged_weights, self.n)

    @property
    def needs_top(self) -> int:
        """The n largest."""
        return self.n


@dataclass(frozen=True)
class PQ(Rule):
    """Unsafe when a coalition that knows every contribution to within q % could estimate the largest to within p %."""

    name: ClassVar[str] = "pq"
    examples: ClassVar[Examples] = ({}, {"p": 5e-324})
    rank: ClassVar[int] = 2
    p: float = field(default=15.0, metadata={"above": 0, "max": 100, "help": "required uncertainty, per cent"})
    q: float = field(default=100.0, metadata={"above": 0, "max": 100, "help": "prior uncertainty, per cent"})
    coalition: int = field(default=1, metadata={"min": 0, "max": 49, "help": "respondents who pool what they know"})
    unit: Unit = field(default="respondent", metadata=UNIT)

    def __post_init__(self) -> None:
        if self.p > self.q:
            raise ParameterError(f"p must be at most q, got p = {self.p:g} and q = {self.q:g}.", option="p")

    def unsafe(self, cells: RuleCells) -> Mask:
        """S = p · x1 + q · (Σ of the c + 1 largest − total) > 0; x1 is the largest contribution without a waiver."""
        total, _, judged = cells.contributions(self.name, self.coalition + 1)
        largest = judged[:, 0]
        known = self._known(cells)
        p, q = _exact(self.p), _exact(self.q)
        measure = self.p * largest + self.q * (known - total)

        def exactly(i: int) -> Fraction:
            return p * _exact(largest[i]) + q * (self._known_exactly(cells, i) - _exact(total[i]))

        return np.asarray((largest > 0) & _positive(measure, self.q * np.abs(total), exactly))

    def upper_estimate(self, cells: RuleCells) -> Floats:
        """p/q · x1 + Σ of the c + 1 largest."""
        _, _, judged = cells.contributions(self.name, self.coalition + 1)
        return self.p / self.q * judged[:, 0] + self._known(cells)

    @property
    def needs_top(self) -> int:
        """The largest and the coalition."""
        return self.coalition + 1

    def measure(self, cells: RuleCells) -> Floats:
        """The linear sensitivity measure x1 − (q/p) · (rest), positive where unsafe."""
        total, _, judged = cells.contributions(self.name, self.coalition + 1)
        return judged[:, 0] - self.q / self.p * (total - self._known(cells))

    def _known(self, cells: RuleCells) -> Floats:
        """The target's contribution and the c largest others (with weights: the c + 1 largest units)."""
        _, top, judged = cells.contributions(self.name, self.coalition + 1)
        plain = weighted_top(top, cells.top_weights, self.coalition + 1)
        if cells.top_weights is not None:
            return plain
        inside = judged[:, 0] >= top[:, self.coalition]
        return np.where(inside, plain, judged[:, 0] + weighted_top(top, None, self.coalition))

    def _known_exactly(self, cells: RuleCells, i: int) -> Fraction:
        _, top, judged = cells.contributions(self.name, self.coalition + 1)
        if cells.top_weights is not None or judged[i, 0] >= top[i, self.coalition]:
            return _exact_top(top, cells.top_weights, self.coalition + 1, i)
        return _exact(judged[i, 0]) + _exact_top(top, None, self.coalition, i)


@dataclass(frozen=True)
class PPercent(PQ):
    """Unsafe when the second largest respondent (or a coalition) could estimate the largest to within p %."""

    name: ClassVar[str] = "p-percent"
    q: float = field(default=100.0, init=False)


@dataclass(frozen=True)
class Request(Rule):
    """Unsafe for respondents who asked: their share is above a percentage, or the cell has fewer than `minimum`."""

    name: ClassVar[str] = "request"
    rank: ClassVar[int] = 3
    percent1: float = field(default=100.0, metadata={"min": 0, "max": 100, "help": "for the first request code"})
    percent2: float = field(default=100.0, metadata={"min": 0, "max": 100, "help": "for the second request code"})
    minimum: int = field(default=1, metadata={"min": 0, "help": "smallest safe number of respondents with a request"})
    protection: float = field(default=20.0, metadata={"min": 0, "help": "protection level, per cent of the value"})
    unit: Unit = field(default="respondent", metadata=UNIT)

    def unsafe(self, cells: RuleCells) -> Mask:
        """The largest contribution of those who asked is above its percentage, or too few respondents."""
        if not cells.requests:
            raise DataError("rule request: the table has no request variable; give `request` in [table].")
        counts = cells.known_counts(self.name)
        total = cells.magnitudes if cells.magnitudes is not None else np.zeros(len(cells))
        found = np.zeros(len(cells), dtype=bool)
        for percent, (largest, present) in zip((self.percent1, self.percent2), cells.requests):
            found |= (100 * largest > percent * total) & (present > 0)
            found |= (present > 0) & (counts < self.minimum)
        return found

    @property
    def percent(self) -> float:
        """The rule's own percentage."""
        return self.protection


@dataclass(frozen=True)
class Zero(Rule):
    """Unsafe when the value is 0 although there are respondents (and empty cells too, if `empty`)."""

    name: ClassVar[str] = "zero"
    rank: ClassVar[int] = 5
    range: float = field(default=1.0, metadata={"min": 0, "help": "upper protection level, absolute"})
    empty: bool = field(default=False, metadata={"help": "combinations without respondents are unsafe as well"})
    unit: Unit = field(default="respondent", metadata=UNIT)

    def unsafe(self, cells: RuleCells) -> Mask:
        """A zero that says something about somebody."""
        zero = cells.values == 0
        return np.asarray(zero if self.empty else zero & (cells.known_counts(self.name) > 0))


@dataclass(frozen=True)
class Manual(Rule):
    """Cells that somebody declared unsafe (a-priori); as a rule it only says how far they must be protected."""

    name: ClassVar[str] = "manual"
    rank: ClassVar[int] = 6
    protection: float = field(default=20.0, metadata={"min": 0, "help": "protection level, per cent of the value"})

    def unsafe(self, cells: RuleCells) -> Mask:
        """None: manual cells come from a list."""
        return np.zeros(len(cells), dtype=bool)

    @property
    def percent(self) -> float:
        """The rule's own percentage."""
        return self.protection


# One line per rule.
RULES = Registry(
    "rules",
    (
        Threshold,
        Dominance,
        PPercent,
        PQ,
        Request,
        Zero,
        Manual,
    ),
    noun="rule",
)


def rule_from_plan(options: Mapping[str, Any], *, owner: str) -> Rule:
    """A rule from `{ rule = "name", … }`; unknown names and options are errors that suggest the nearest."""
    given = dict(options)
    name = given.pop("rule", None)
    if not isinstance(name, str):
        raise PlanError(f"{owner}: a rule needs its name, rule = one of {', '.join(RULES)}.")
    if name not in RULES:
        raise PlanError(
            f"{owner}: there is no rule {name!r}.{did_you_mean(name, RULES) or ' Known rules: ' + ', '.join(RULES) + '.'}"
        )
    made: Rule = build(RULES[name], given, owner=f"{owner} (rule {name})")
    return made


def _positive(measure: Floats, size: Floats, exactly: Callable[[int], Fraction]) -> Mask:
    """Where a measure is above 0; floating point proposes, rational arithmetic decides what is near."""
    found = measure > 0
    near = np.flatnonzero(np.abs(measure) <= TIE * np.maximum(size, 1e-300))
    for cell in near.tolist():
        found[cell] = exactly(cell) > 0
    return np.asarray(found)


def _exact(number: Any) -> Fraction:
    """The number as it is written in decimals."""
    return Fraction(repr(float(number)))


def _exact_top(top: Floats, weights: Floats | None, n: int, cell: int) -> Fraction:
    total, left = Fraction(0), Fraction(n)
    for place in range(top.shape[1]):
        share = Fraction(1) if weights is None else _exact(weights[cell, place])
        share = min(share, left)
        total += _exact(top[cell, place]) * share
        left -= share
        if left <= 0:
            break
    return total
