# SPDX-License-Identifier: Apache-2.0
"""The mode `cell-key`: counts and sums with noise that belongs to the set of records.

Record keys, drawn from the secret by record id, are added up over the set; a keyed hash of that sum (for sums also of
the response and its true total) decides the change that a p-table of maximal entropy has for the value. So a set has one
answer however it is asked for, and a total that changes between versions of the data gets noise of its own.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import InfeasibleError, ParameterError, PlanError
from reticent.data.parameters import Parameters, build
from reticent.queries.canonical import RecordSet
from reticent.queries.guarantee import ModeGuarantee
from reticent.queries.language import Statistic
from reticent.queries.modes import Decision, Request, Setting
from reticent.queries.pieces import complete
from reticent.queries.refusals import RISK, Answer, Row, StaffReason
from reticent.queries.statistics import exact_sum
from reticent.tables.perturb.cell_key import MagnitudeCells, MagnitudeNoise, perturb_counts, perturb_magnitudes
from reticent.tables.perturb.ptable import PerturbationTable
from reticent.tables.perturb.ptable_design import Design, design_ptable
from reticent.tables.perturb.record_keys import DRAWN_DIGITS, RecordKeys

OWNER = "policy: options cell-key"
PARTS = 20
DIGITS = 9
"""Significant digits of a sum: more would only be those of floating-point arithmetic."""
NOISY = "Counts and sums carry noise and do not add up."


@dataclass(frozen=True)
class CellKeyOptions(Parameters):
    """`[policy.options.cell-key]`: the design of the noise. Without `sums` only counts are answered."""

    called: ClassVar[str] = "policy: options cell-key"
    largest: int = field(default=5, metadata={"min": 1, "max": 100, "help": "D, the largest change of a count"})
    variance: float = field(default=3.0, metadata={"min": 1e-9, "max": 1e4, "help": "V, the variance of the change"})
    skip: int = field(default=2, metadata={"min": 0, "max": 100, "help": "counts from 1 to this are never answered"})
    stay: float = field(default=0.0, metadata={"min": 0, "max": 1, "help": "least probability of no change"})
    monotone: bool = field(default=False, metadata={"help": "probabilities do not fall up to no change"})
    sums: MagnitudeNoise | None = field(
        default=None, metadata={"help": "how large the noise of sums is; without it only counts are answered"}
    )

    def tables(self) -> tuple[PerturbationTable, PerturbationTable]:
        """The p-tables of counts and of sums."""
        counts = Design(self.largest, self.variance, self.skip, self.stay, self.monotone)
        return _designed(counts, None), _designed(
            Design(self.largest, self.variance, 0, 0.0, self.monotone, parts=PARTS), (1, self.largest)
        )


@lru_cache(maxsize=32)
def _designed(design: Design, sizes: tuple[int, ...] | None) -> PerturbationTable:
    return design_ptable(design, sizes=sizes)


@dataclass
class CellKeyMode:
    """Answers counts with noise that is the same whenever the same records are counted: no memory, no order effects."""

    setting: Setting
    options: CellKeyOptions
    _sums: dict[int, NDArray[np.uint64]] = field(default_factory=dict, repr=False)
    name: ClassVar[str] = "cell-key"
    guarantee: ClassVar[ModeGuarantee] = ModeGuarantee(
        "This is for the arithmetic attacker; nothing is promised for the transparent attacker with many questions.",
        (
            "Repetition gains nothing: every count and every sum carries noise that is decided by the secret and the set of "
            "records (for sums also by their true total) and by nothing else. Asked again, in other words, by other users or "
            "after a restart with the same options, a set has one answer.",
            "Counts change by at most the policy's largest change.",
            "Sums change in proportion to their largest contributions, continuously, so that no digit of a sum tells its noise; "
            "they are refused where the noisy number of respondents is below the minimum.",
        ),
        ("what many different sets reveal on average", "values that a whole group has in common"),
    )
    leakage: ClassVar[tuple[str, ...]] = (
        "answers are near the truth: the difference of two answers is the true one plus the noise of both, and over many "
        "different sets the noise averages out",
        "a set without records is counted as 0 without noise, so a count above 0 reveals that somebody is in the set",
        "two conditions with different answers select different records, so a set added to another one shows whether somebody is "
        "in it, although its own noisy count may be 0",
        "a refused sum tells no more than the noisy count of its respondents; a sum that is answered may be of one respondent, "
        "with noise in proportion to that one's value",
        "no sum of contributions of one sign changes it, and where nobody contributes anything, the sum is answered as 0",
        "each response has noise of its own: an amount in two currencies gives two draws of the noise of one total",
        "a sum that stays the same in a new version of the data reveals that its true total did not change",
    )
    statistics: ClassVar[frozenset[str]] = frozenset({"count"})

    def decide(self, request: Request) -> Decision:
        """Add the noise of each set; sums of small sets are hidden."""
        reasons: list[StaffReason] = []
        rows = []
        for cell in request.cells:
            values: list[float | int | None] = []
            for statistic in request.query.statistics:
                found = self._value(statistic, cell.records)
                if isinstance(found, StaffReason):
                    reasons += [] if found in reasons else [found]
                values.append(None if isinstance(found, StaffReason) else found)
            rows.append(Row(cell.group, tuple(values)))
        if not any(value is not None for row in rows for value in row.values):
            return Decision(RISK, tuple(reasons))
        columns = tuple(str(statistic) for statistic in request.query.statistics)
        return Decision(Answer(columns, tuple(rows), request.query.by, self.name, (NOISY,)), tuple(reasons))

    def replay(self, request: Request, remember: Mapping[str, Any]) -> None:
        """Nothing to remember."""

    def _value(self, statistic: Statistic, records: RecordSet) -> float | int | StaffReason:
        full = complete(self.setting.universe, records, statistic.variables)
        count = self._count(full)
        if statistic.name == "count":
            return count
        with np.errstate(over="ignore"):  # what goes beyond floating-point numbers is refused below
            total = self._total(statistic.variables[0], full)
        if isinstance(total, StaffReason):
            return total
        if not math.isfinite(total):
            return StaffReason("not answerable", "the noisy sum is too large for a floating-point number")
        if statistic.name == "sum":
            return total
        return total / count if count > 0 else StaffReason("no mean", "the noisy count is 0")

    @cached_property
    def _design(self) -> str:
        """The numbers that decide the size of the noise, as text."""
        return repr(self.options)

    @property
    def _least(self) -> int:
        return self.setting.policy.minimum

    @property
    def _many_records(self) -> bool:
        """Whether respondents may have several records, so that their number is not the published count."""
        return self.setting.universe.current.schema.entity is not None

    def _count(self, records: RecordSet) -> int:
        return self._noisy(int(exact_sum(self.setting.universe, records)), records, "count")

    def _noisy(self, true: int, records: RecordSet, what: str) -> int:
        key = np.array([self._key(records, what)])
        return int(perturb_counts(np.array([true]), key, self.options.tables()[0]).values[0])

    def _total(self, response: str, records: RecordSet) -> float | StaffReason:
        assert self.options.sums is not None
        true = exact_sum(self.setting.universe, records, response)
        sizes, n, mixed = self._sizes(response, records, true)
        # a true number that decides would tell of itself in unions with sets of known size
        if n == 0 or self._noisy(n, records, "respondents" if self._many_records else "count") < self._least:
            return StaffReason("minimum", "too few respondents, counted with noise")
        key = self._key(records, f"sum {response} {true.numerator}/{true.denominator}")
        # a total of gains and losses says nothing of how large they are: its noise is that of a total far from 0
        value = abs(float(true)) + self._reach(sizes) if mixed else float(true)
        cells = MagnitudeCells(
            np.array([value]), sizes[None, :], np.array([n]), np.array([key]), np.zeros(1, dtype=bool)
        )
        made = perturb_magnitudes(cells, self.options.sums, {"all": self.options.tables()[1]}, digits=DRAWN_DIGITS)
        even = self._key(records, f"smear {response} {true.numerator}/{true.denominator}") - 0.5
        shift = even * _part(self.options.sums, sizes, value)
        if mixed:
            return _shown(float(true) + (float(made.values[0]) - value) + shift)
        return _smeared(float(made.values[0]), float(true), shift)

    def _reach(self, sizes: NDArray[np.float64]) -> float:
        """More than what noise in proportion to these sizes changes at most."""
        assert self.options.sums is not None
        shares = np.array([1.0, *self.options.sums.shares])[: len(sizes)]
        steps = shares * sizes[: len(shares)] * self.options.sums.multiple(sizes[: len(shares)])
        return (self.options.largest + 1) * float(steps.sum())

    def _sizes(self, response: str, records: RecordSet, true: Fraction) -> tuple[NDArray[np.float64], int, bool]:
        """What the noise is in proportion to (respondents, not records, contribute), the number of respondents, and whether
        contributions have both signs.
        """
        assert self.options.sums is not None
        columns = self.setting.universe.columns(response)
        most, magnifier = self.options.sums.contributions, self.options.sums.magnifier
        mask = columns.mask(records)
        if columns.one_each:  # the extremes of a set are among those of its columns
            ends = np.concatenate([end[mask] for end in columns.extremes])
            n, whole = int(columns.counts[mask].sum()), int(columns.sizes[mask].sum())
            amounts = ends if magnifier == "range" else columns.largest(most)[mask].ravel()
        else:
            units = columns.units_by_entity(mask)
            starts = np.flatnonzero(np.diff(columns.entity[units], prepend=-1))
            n, amounts = len(starts), np.add.reduceat(columns.values.integers[units], starts) if len(starts) else units
            ends, whole = amounts, int(np.abs(amounts).sum())
        if n == 0:
            return np.zeros(1), 0, False
        mixed = int(ends.min()) < 0 < int(ends.max())
        if magnifier in ("mean", "sum"):
            size = whole / columns.values.scale if mixed else abs(float(true))
            return np.array([size / n if magnifier == "mean" else size]), n, mixed
        if magnifier == "range":  # 0 for one respondent, or for equal ones, who would be answered without noise
            wide = max(int(amounts.max()) - int(amounts.min()), int(np.abs(amounts).max()))
            return np.array([wide / columns.values.scale]), n, mixed
        sizes = np.sort(np.abs(amounts))[::-1][:most] / columns.values.scale
        return np.asarray(sizes, dtype=np.float64), n, mixed

    def _key(self, records: RecordSet, what: str) -> float:
        """The key of a set for one kind of value: a keyed hash of the sum of its record keys."""
        total = int(self._atom_sums(records.version)[records.atoms].sum(dtype=np.uint64)) % 2**53
        # other options draw again: two changes from one draw, of different sizes, would give the truth
        digest = self.setting.secret.digest(f"cell key {total} {what} {self._design}", size=8)
        return (int.from_bytes(digest, "little") >> 11) / 2.0**53

    def _atom_sums(self, version: int) -> NDArray[np.uint64]:
        if version not in self._sums:
            here, secret = self.setting.universe.versions[version], self.setting.secret
            self._sums[version] = here.sums_by_atom(lambda ids: RecordKeys.drawn(secret, ids).parts[:, :1])[:, 0]
        return self._sums[version]


def _part(noise: MagnitudeNoise, sizes: NDArray[np.float64], true: float) -> float:
    """The distance of neighbouring changes of a sum: the p-table has `PARTS` of them for each step."""
    return min(float(sizes[0] * noise.multiple(sizes[:1])[0]), abs(true)) / PARTS


def _smeared(noisy: float, true: float, shift: float) -> float:
    """Fill the gaps between the changes of the p-table, or the digits of an answer would reveal which change it was.

    As in the p-table, 0 stays 0 and no sum changes its sign. The rounding depends on the answer alone.
    """
    return float(np.copysign(_shown(abs(noisy + shift)), true)) if true else 0.0


def _shown(amount: float) -> float:
    return float(f"{amount:.{DIGITS - 1}e}")


@dataclass
class CellKeySums(CellKeyMode):
    """Noisy counts, sums and means."""

    statistics: ClassVar[frozenset[str]] = frozenset({"count", "sum", "avg"})


def cell_key(setting: Setting) -> CellKeyMode:
    """Make the mode; a design that cannot be is refused here."""
    options = build(CellKeyOptions, setting.policy.options.get("cell-key", {}), owner=OWNER)
    if options.sums is not None and (options.sums.parity or options.sums.separation or options.sums.extra):
        raise PlanError(f"{OWNER}: sums know no parity, separation or extra; leave them out.")
    try:
        options.tables()
    except (InfeasibleError, ParameterError) as err:
        raise PlanError(f"{OWNER}: {err}") from err
    return CellKeyMode(setting, options) if options.sums is None else CellKeySums(setting, options)
