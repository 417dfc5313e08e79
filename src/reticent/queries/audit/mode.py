# SPDX-License-Identifier: Apache-2.0
"""Exact answers under audit: the modes `exact` and `simulatable`."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from reticent.base.errors import ParameterError, PlanError
from reticent.ledger.chain import LedgerError
from reticent.queries.audit.auditor import Auditor, BoundStage, Ruling
from reticent.queries.audit.bins import Bins, bins_of, check_bins
from reticent.queries.audit.bounds import bound_stage, guessed_stage
from reticent.queries.audit.common import CommonSquares
from reticent.queries.audit.crossed import CrossedWatch
from reticent.queries.audit.digits import Digits
from reticent.queries.audit.guarantees import EXACT, SIMULATABLE
from reticent.queries.audit.moments import Moments
from reticent.queries.audit.own_sums import Mark, OwnSums
from reticent.queries.audit.planes import EquationWatch
from reticent.queries.audit.products import ProductWatch
from reticent.queries.audit.ranges import People, Range
from reticent.queries.audit.repeated import RepeatedWatch
from reticent.queries.audit.shared import SharedWatch
from reticent.queries.audit.single import SingleRules
from reticent.queries.audit.watch import own_columns, table_cells
from reticent.queries.canonical import COUNT, RecordSet
from reticent.queries.columns import Columns
from reticent.queries.fixed import finite
from reticent.queries.guarantee import ModeGuarantee
from reticent.queries.indexed import AS_BEFORE
from reticent.queries.language import REGRESSIONS, Statistic
from reticent.queries.modes import ANSWERED, Decision, Request, Setting
from reticent.queries.pieces import Piece, as_before, pieces
from reticent.queries.policy import Bounds
from reticent.queries.policy import SimulatableOptions as SimulatableOptions
from reticent.queries.refusals import HIDDEN, RISK, Answer, Row, StaffReason
from reticent.queries.rules import SetRules
from reticent.queries.statistics import evaluate
from reticent.releases.rows import LinearRow, Undecided

LINEAR = frozenset({"count", "sum", "avg", "variance", "stddev", "ratio", "corr", "linreg", "logreg", "km"})


@dataclass
class AuditedMode:
    """Answers exactly, and refuses what would expose a sensitive set together with all earlier answers."""

    setting: Setting
    _auditors: dict[tuple[str, ...], Auditor] = field(default_factory=dict)
    _watches: dict[tuple[str, ...], ProductWatch] = field(default_factory=dict)
    _digits: dict[str, Digits] = field(default_factory=dict)
    _before: dict[tuple[str, ...], tuple[int, int]] = field(default_factory=dict)
    _moments: dict[str, Moments | None] = field(default_factory=dict)
    _own_before: dict[tuple[str, ...], Mark] = field(default_factory=dict)

    name: ClassVar[str] = "exact"
    by_value: ClassVar[bool] = True
    statistics: ClassVar[frozenset[str]] = LINEAR
    guarantee: ClassVar[ModeGuarantee] = EXACT
    leakage: ClassVar[tuple[str, ...]] = (
        "which records a condition selects, and which values are missing, is treated as public",
        "a refusal reveals that some rule or the audit failed; it depends on values (dominance, p percent, known bounds)",
    )

    def decide(self, request: Request) -> Decision:
        """Answer each value that is safe, in order, the widest groups first; hide the others."""
        table: list[list[Any]] = [[None] * len(request.query.statistics) for _ in request.cells]
        told: dict[str, None] = {}
        reasons: list[StaffReason] = []
        self._settle()
        for c in _widest_first(request):
            for s, statistic in enumerate(request.query.statistics):
                records = request.cells[c].records
                outcome = self._release(statistic, records, request.release)
                if isinstance(outcome, StaffReason):
                    reasons += [] if outcome in reasons else [outcome]
                    continue
                table[c][s], parts = outcome
                told.update(dict.fromkeys(_system(piece) for piece in parts))
        for auditor in self._auditors.values():
            auditor.all_or_none()
        remember = {"told": sorted(told)}
        if not any(value is not None for values in table for value in values):
            return Decision(RISK, tuple(reasons), remember)
        columns = tuple(str(statistic) for statistic in request.query.statistics)
        rows = tuple(Row(cell.group, tuple(values)) for cell, values in zip(request.cells, table))
        notes = (HIDDEN,) if any(any(row.hidden) for row in rows) else ()
        return Decision(Answer(columns, rows, request.query.by, self.name, notes), tuple(reasons), remember)

    def replay(self, request: Request, remember: Mapping[str, Any]) -> None:
        """Put everything that an earlier answer tells, by today's ties and versions, into the auditors' memory.

        Ties may join responses since then, so the answer may reveal more than it was judged by. If it would reveal less, the
        data set stays closed.
        """
        found: set[str] = set()
        order = {c: place for place, c in enumerate(_widest_first(request))}  # as when they were judged
        for c, s in sorted(remember[ANSWERED], key=lambda at: (order[at[0]], at[1])):
            parts = pieces(request.query.statistics[s], self.setting.universe, request.cells[c].records)
            parts = (*parts, *self._as_before(request.query.statistics[s], parts))
            for piece in parts:
                row = piece.row(self.setting.universe)
                self._auditor(piece).replay(row, request.release)
                self._own.take(piece, request.query.statistics[s], row)
            found.update(map(_system, parts))
            if any(p >= len(parts) for place in remember.get("rows", ()) if place[:2] == [c, s] for p in place[2:]):
                raise _ties_gone(request.release)
        # a system of lines is called by its first response, which a further response of the policy may change
        if not set(map(_kind, found)).issuperset(map(_kind, remember.get("told", ()))):
            raise _ties_gone(request.release)
        self._settle()

    def undo(self) -> None:
        """Take back what the last decision released: it was not given out."""
        self._take_back(self._before)
        self._own.back_to(self._own_before)

    def _settle(self) -> None:
        """What was released so far is final; what is released from here on can be taken back."""
        for auditor in self._auditors.values():
            auditor.forget_undo()
        self._before = {key: auditor.mark() for key, auditor in self._auditors.items()}
        self._own_before = self._own.mark()

    def rank(self) -> int:
        """Number of independent rows released, over all responses."""
        return sum(auditor.rank() for auditor in self._auditors.values())

    def state(self) -> tuple[list[list[str]], dict[str, np.ndarray[Any, Any]]]:
        """The responses with something released, and the state of their auditors."""
        keys = list(self._auditors)
        arrays = {
            f"{number}:{name}": array
            for number, key in enumerate(keys)
            for name, array in {**self._auditors[key].state(), **self._own.state(key)}.items()
        }
        return [list(key) for key in keys], arrays

    def restore(self, keys: list[list[str]], arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Take over a state that another run has worked out from the same ledger."""
        for number, key in enumerate(keys):
            mine = {name.partition(":")[2]: a for name, a in arrays.items() if name.startswith(f"{number}:")}
            auditor = self._make(tuple(key))
            auditor.restore(mine)
            self._auditors[tuple(key)] = auditor
            self._own.restore(tuple(key), mine)
        self._settle()

    def _release(
        self, statistic: Statistic, records: RecordSet, release: int
    ) -> tuple[Any, tuple[Piece, ...]] | StaffReason:
        """Release all pieces of a statistic: its value and the pieces; or none, and why."""
        try:
            own = pieces(statistic, self.setting.universe, records)
            parts = (*own, *self._as_before(statistic, own))
            marks, own_marks = {piece.attribute: self._auditor(piece).mark() for piece in parts}, self._own.mark()
            with np.errstate(all="ignore"):
                reason = self._own_rules(statistic, records, own)
                value = None if reason else evaluate(statistic, self.setting.universe, records)
            if reason is not None:
                return reason
            if value is None or not finite(value):  # nothing is released, so nothing may be remembered either
                return StaffReason("not defined", "the statistic does not exist for these records")
            rows = [piece.row(self.setting.universe) for piece in parts]
            for piece, row in zip(parts, rows):
                reason = self._by_values(piece, row)
                verdict = Ruling(False, reason=reason) if reason else self._auditor(piece).release(row, release)
                if verdict.allowed and not self._own.take(piece, statistic, row) and verdict.implied:
                    verdict = Ruling(False, reason=StaffReason("tied for some", _system(piece)))
                if not verdict.allowed:
                    self._take_back(marks)
                    self._own.back_to(own_marks)
                    return verdict.reason or StaffReason("audit")
            reason = self._with_squares({piece.attribute[0] for piece in parts})
            if reason is not None:
                self._take_back(marks)
                self._own.back_to(own_marks)
                return reason
        except ParameterError as err:
            return StaffReason("not auditable", str(err))
        return value, own

    def _as_before(self, statistic: Statistic, parts: tuple[Piece, ...]) -> Iterator[Piece]:
        """What sums reveal of values that changed in one way; none are looked for where refusals may not depend on values.

        Sums of tied responses count as released too, but not where one system has the lines that tie them: it is exact.
        """
        if not self.by_value:
            return iter(())
        universe, asked = self.setting.universe, statistic.variables
        systems = [universe.before(name) for name in asked if name in universe.policy.responses]
        exact = {name for own in systems if own is not None for name in (layer.response for layer in own.layers)}
        return as_before(universe, tuple(p for p in parts if not (set(p.responses) - {*asked}) & exact))

    def _with_squares(self, names: Iterable[str]) -> StaffReason | None:
        """Why sums and sums of squares of some responses must not stand together, or None."""
        for name in sorted(names):
            sums, squares = (self._auditors.get(key) for key in ((name,), (name, name)))
            if not self.by_value or name == COUNT or sums is None or squares is None:
                continue
            if name not in self._moments:
                bounds, bins = self._bounds_of(name), self._bins((name,))
                self._moments[name] = Moments.of(sums.columns, bounds, sums.rules, bins)
            moments = self._moments[name]
            reason = None if moments is None else moments.check(sums.space, squares.space)
            if reason is not None:
                return reason
        return None

    @cached_property
    def _own(self) -> OwnSums:
        return OwnSums(self.setting, self._auditor_of)

    @cached_property
    def _shared(self) -> SharedWatch:
        return SharedWatch(self.setting, self._auditors, self._auditor_of)

    @cached_property
    def _equations(self) -> EquationWatch:
        return EquationWatch(self.setting, self._auditors, self._auditor_of)

    @cached_property
    def _crossed(self) -> CrossedWatch:
        return CrossedWatch(self.setting, self._auditor_of)

    @cached_property
    def _repeated(self) -> RepeatedWatch:
        return RepeatedWatch(self.setting, self._auditor_of, self.by_value)

    @property
    def _single(self) -> SingleRules:
        return SingleRules(self.setting, by_value=self.by_value)

    def _take_back(self, marks: Mapping[tuple[str, ...], tuple[int, int]]) -> None:
        """Take back the rows released since the marks were these."""
        for attribute, mark in marks.items():
            self._auditors[attribute].back_to(mark)
        for key, watch in self._watches.items():
            watch.back_to(self._auditors[key].rank())
        for kept in (self._shared, self._equations, self._repeated, self._crossed):
            kept.back()

    def _own_rules(self, statistic: Statistic, records: RecordSet, parts: tuple[Piece, ...]) -> StaffReason | None:
        """Step 1: the query's own record sets must be safe."""
        for piece in parts:
            auditor = self._auditor(piece)
            rule = auditor.rules.broken(auditor.columns, auditor.columns.mask(piece.records))
            if rule is None and piece.known and auditor.rules.weighs:
                weights = piece.row(self.setting.universe).everywhere(auditor.columns.n_columns)
                rule = auditor.rules.broken_weighted(auditor.columns, weights)
            if rule is not None:
                return StaffReason(rule, f"{auditor.columns.name}: the record set itself")
            if self.by_value and len(piece.responses) == 2 and self._single.flat(piece):
                return StaffReason("spread", f"{auditor.columns.name}: the values of all records would be known")
        if self._single.outlying(statistic, records):
            return StaffReason(
                "leverage", "one record has most of a public number, so its product with it decides the sum"
            )
        if statistic.name in REGRESSIONS:
            return self._single.regression(statistic, records)
        return None

    def _auditor(self, piece: Piece) -> Auditor:
        """The auditor of a piece's responses, made when first needed."""
        return self._auditor_of(piece.attribute)

    def _auditor_of(self, key: tuple[str, ...]) -> Auditor:
        if key not in self._auditors:
            self._auditors[key] = self._make(key)
            self._before[key] = self._auditors[key].mark()
        return self._auditors[key]

    def _make(self, key: tuple[str, ...]) -> Auditor:
        universe, policy = self.setting.universe, self.setting.policy
        columns = universe.columns(*key)
        by_value = self.by_value and key != (COUNT,)
        known = universe.known_entities()
        rules = SetRules.of(policy, by_value=by_value, known=known, responses=key)
        auditor = Auditor(
            columns,
            rules,
            self.setting.secret.stream("audit:" + columns.name),
            unions=policy.unions,
            families=self._watched(columns, rules),
            bounds=self._bounds(key, rules) if by_value else None,
            guessed=self._guessed_of(key, rules) if by_value else None,
            common=self._common(columns, rules),
            digits=self._digits_of(key),
        )
        for column in columns.of_entities(known):
            auditor.know(np.arange(columns.n_columns) == column)
        auditor.forget_undo()
        return auditor

    def _bounds(self, key: tuple[str, ...], rules: SetRules) -> BoundStage | None:
        """What everybody knows of the bounds of a response, or of its squares."""
        columns, policy = self.setting.universe.columns(*key), self.setting.policy
        return bound_stage(columns, self._bounds_of(key[0]), policy.interval, rules, self._bins(key))

    def _bounds_of(self, name: str) -> Bounds | None:
        """The declared bounds of a response; of one whose values count as before, whether they are whole (ends: `_bins`)."""
        own, bounds = self.setting.universe.before(name.removesuffix(AS_BEFORE)), self.setting.policy.bounds
        if own is None or own.name != name:
            return bounds.get(name)
        every = [bounds.get(layer.response) for layer in own.layers]
        return Bounds(integer=all(b is not None and b.integer for b in every)) if any(every) else None

    def _guessed_of(self, key: tuple[str, ...], rules: SetRules) -> BoundStage | None:
        """What anybody guesses of the bounds of few whole values."""
        return guessed_stage(self.setting.universe.columns(*key), self.setting.policy, key, rules, self._bins(key))

    def _bins(self, key: tuple[str, ...]) -> Bins | None:
        """What everybody knows of each value of a response that is a filter with cutpoints."""
        return bins_of(self.setting.universe, self.setting.universe.columns(*key), key)

    def _digits_of(self, key: tuple[str, ...]) -> tuple[Digits, int] | None:
        """What counts the bits that sums of a response tell, or sums of its squares; None for products of two responses."""
        name = key[0]
        if key == (COUNT,) or set(key) != {name}:
            return None
        if name not in self._digits:
            universe, policy = self.setting.universe, self.setting.policy
            columns = universe.columns(name)
            own = Range.found(columns).within(columns, self._bins((name,))) if self.by_value else self._declared(name)
            people = People.of(columns, universe.known_entities())
            self._digits[name] = Digits(columns.name, people, own, policy.minimum)
        return self._digits[name], len(key) - 1

    def _declared(self, name: str) -> Range:
        policy = self.setting.policy
        return Range.declared(policy.bounds.get(name), policy.cutpoints.get(name, ()))

    def _common(self, columns: Columns, rules: SetRules) -> CommonSquares | None:
        """What sums of squares tell about records of which all have one value."""
        if not (rules.squares and rules.by_value):
            return None
        return CommonSquares(columns, rules.minimum, self.setting.secret.stream("common values:" + columns.name))

    def _by_values(self, piece: Piece, row: LinearRow) -> StaffReason | None:
        """Whether a sum, with others, tells about those who have not the values that others, or their other records, have."""
        key = piece.attribute
        reason = self._repeated.check(key, row)
        if reason is not None or not self.by_value or key == (COUNT,):
            return reason
        response = key[0] if len(key) == 1 else None
        keys = [key] if response is None else [k for k, own in self._auditors.items() if response in k and own.rank()]
        keys = [k for k in keys if len(set(k)) == 2 and not any(name.endswith(AS_BEFORE) for name in k)]  # these: below
        for own in keys:
            try:
                safe = self._watch(own).safe(row, response)
            except Undecided:
                safe = False
            if not safe:
                return StaffReason("values", f"{'*'.join(own)}: without common values too few respondents are left")
        return self._shared.check(key, row) or self._equations.check(key, row) or self._crossed.check(key, row)

    def _watch(self, key: tuple[str, ...]) -> ProductWatch:
        if key not in self._watches:
            auditors = {name: self._auditor_of((name,)) for name in key}
            stream = self.setting.secret.stream("products:" + "*".join(key))
            universe = self.setting.universe
            self._watches[key] = ProductWatch.of(universe, self._auditor_of(key), auditors, stream)
        return self._watches[key]

    def _watched(self, columns: Columns, rules: SetRules) -> Iterator[np.ndarray[Any, np.dtype[np.bool_]]]:
        """Cells of the tables that the policy names, and, where contributions are weighed, of all tables of few filters."""
        universe, policy = self.setting.universe, self.setting.policy
        for names in policy.families:
            for version in range(len(universe.versions)):
                yield from (columns.mask(cell) for cell in universe.cells(names, version=version))
        if rules.weighs:
            yield from table_cells(columns, universe.versions, policy.dimension, rules.minimum)
            yield from own_columns(columns)


class SimulatableMode(AuditedMode):
    """Answers exactly; anybody could compute each refusal from the conditions and the past answers, so they reveal nothing."""

    name: ClassVar[str] = "simulatable"
    by_value: ClassVar[bool] = False
    # a ratio or correlation may not exist and a model may not fit: that would reveal something about values
    statistics: ClassVar[frozenset[str]] = LINEAR - {"ratio", "corr", "linreg", "logreg"}
    guarantee: ClassVar[ModeGuarantee] = SIMULATABLE
    leakage: ClassVar[tuple[str, ...]] = (
        "which records a condition selects, how many respondents they are, and which values are missing, is treated as public",
    )


def _system(piece: Piece) -> str:
    """The name of the system of equations that a piece belongs to."""
    return "*".join(piece.attribute)


def _kind(system: str) -> str:
    """A system by its responses, or that it is one of lines between responses or versions."""
    return "*".join(AS_BEFORE if name.endswith(AS_BEFORE) else name for name in system.split("*"))


def _ties_gone(entry: int) -> LedgerError:
    return LedgerError(
        f"ledger: entry {entry} told about responses that its query no longer touches: ties, responses or filters of the policy "
        "were taken away. Name them again in the policy; until then the data set stays closed.",
        entry=entry,
    )


def _widest_first(request: Request) -> list[int]:
    """Totals before their parts: they are worth more, and the order must not depend on data."""
    return sorted(range(len(request.cells)), key=lambda c: (sum(g is not None for g in request.cells[c].group), c))


def exact(setting: Setting) -> AuditedMode:
    """Make the mode `exact`."""
    check_bins(setting.policy)
    setting.universe.check_bounds()
    return AuditedMode(setting)


def simulatable(setting: Setting) -> SimulatableMode:
    """Make the mode `simulatable`; data with which its refusals would depend on values are not accepted."""
    universe, policy = setting.universe, setting.policy
    check_bins(policy)
    _ = universe.linked  # unknown options are refused now, not when somebody asks
    for response in (*policy.responses, *universe.answered):
        if universe.changed(response):
            raise PlanError(
                f"policy: {response!r} has other values than in an earlier version; in the mode simulatable a later version "
                "may add and remove records, but not change values, because refusals would reveal which changed."
            )
    return SimulatableMode(setting)
