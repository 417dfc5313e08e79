# SPDX-License-Identifier: Apache-2.0
"""Masking steps on records that stay in an engine: prepared from values and combinations, applied to blocks of records.

Three kinds of steps come in this order: those that look at single values (recoding, top and bottom coding, rounding), those that
look at combinations of keys (generalising, local suppression by combination), and those that change each record by its own
draws (noise, PRAM, random rounding). What a step needs of the whole file is gathered first, in exact numbers; then each
block is masked as the whole file would be in memory.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Codes
from reticent.base.errors import DataError, PlanError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import Secret
from reticent.data.draws import StepDraws
from reticent.data.large import LargeFile
from reticent.data.method import Applied, MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.parameters import to_plain
from reticent.data.schema import Kind
from reticent.frames.columns import as_decimal_numbers, blanked, with_rows_of
from reticent.frames.frame import Encoded
from reticent.kernels.grouping import group_columns
from reticent.microdata.mask.generalize import Generalize
from reticent.microdata.mask.local_suppression import LocalSuppression
from reticent.microdata.mask.noise import Noise
from reticent.microdata.mask.pram import Pram
from reticent.microdata.mask.recode import Recode
from reticent.microdata.mask.round_values import RoundValues
from reticent.microdata.mask.top_code import LimitCode
from reticent.microdata.perturb.covariance import Moments
from reticent.microdata.perturb.exact_moments import exact_sums, moments_of_sums
from reticent.microdata.pipeline import Masked, StepRecord, apply_steps, check_promises

BLOCKS = "Protect blocks of the file (one plan per region, say), or read it without an engine."


@dataclass(frozen=True, eq=False)
class Block:
    """Records at the published detail, as they are published, and which combination of keys each has.

    `values` has for each variable that is looked up which row of its column the value of each record is, before any step.
    """

    truth: Microdata
    shown: Microdata
    place: NDArray[np.int64]
    values: NDArray[np.int32]


@dataclass(frozen=True)
class LateStep:
    """A step that changes each record by its own draws, with what it needs of the whole file."""

    step: MaskingMethod
    secret: Secret = field(repr=False)
    facts: Any = None
    changed: dict[str, int] = field(default_factory=dict, compare=False)

    @property
    def variables(self) -> tuple[str, ...]:
        """What the step changes."""
        found: tuple[str, ...] = getattr(self.step, "variables")  # noqa: B009 (each of these methods has them)
        return found

    def record(self) -> StepRecord:
        """What the step did to all blocks so far."""
        promises = tuple(promise.text for promise in self.step.promises())
        return StepRecord(self.step.name, to_plain(self.step), dict(self.changed), {}, promises, 0.0)

    def apply(self, data: Microdata) -> Applied:
        """Change a block."""
        draws = StepDraws(self.secret, self.step)
        if isinstance(self.step, Noise | Pram):
            applied = self.step.mask_block(data, self.facts, draws=draws)
        else:
            applied = self.step.apply(data, secret=self.secret, progress=silent)
        check_promises(self.step, data, applied.data)
        for name, count in applied.changed.items():
            self.changed[name] = self.changed.get(name, 0) + count
        numbers = [name for name in self.variables if data.schema[name].kind is Kind.NUMERIC]
        return replace(applied, data=replace(applied.data, frame=as_decimal_numbers(applied.data.frame, numbers)))


@dataclass(frozen=True, eq=False)
class LargeSteps:
    """Steps that are ready for the blocks of a file; `file` shows values as the first kind of steps leave them."""

    file: LargeFile
    identifier: str
    keys: tuple[str, ...]
    looked_up: tuple[str, ...]
    combined: Masked
    late: tuple[LateStep, ...]
    records: tuple[StepRecord, ...]
    _places: dict[str, NDArray[np.int64]] = field(default_factory=dict, repr=False)

    def blocks(self, *, where: str = "") -> Iterator[Block]:
        """Each block at the published detail and masked."""
        names = tuple(self.file.schema.names)
        maps = [self.file.row_map(name) for name in self.looked_up]
        for rows, raw in self.file.coded_blocks(maps, names, self.identifier, where=where):
            truth = self._shown(raw, rows)
            place = self.place(truth.codes(self.keys))
            yield Block(truth, self._masked(truth, place), place, rows)

    def _shown(self, raw: Microdata, rows: NDArray[np.int32]) -> Microdata:
        """The block with values as they are shown, in the codes of the whole file."""
        frame, encoded = raw.frame, {}
        for at, name in enumerate(self.looked_up):
            column = self.file.column(name)
            place = rows[:, at].astype(np.int64)
            frame = with_rows_of(frame, name, column.frame, place.astype(np.uint32))
            own = column.encoded(name)
            encoded[name] = Encoded(np.asarray(own.codes[place], dtype=np.int32), own.categories)
        return Microdata(frame, self.file.schema, raw.ids, encoded)

    def _masked(self, truth: Microdata, place: NDArray[np.int64]) -> Microdata:
        data = self.combined_rows(truth, place)
        for late in self.late:
            data = late.apply(data).data
        return data

    def combined_rows(self, data: Microdata, place: NDArray[np.int64]) -> Microdata:
        """Each record as its combination of keys is shown."""
        before, after = self.combined.trace.original, self.combined.data
        for name in self.keys:
            old, new = before.encoded(name), after.encoded(name)
            gone = (new.codes < 0) & (old.codes >= 0)
            if old.categories != new.categories:
                codes = np.asarray(new.codes[place], dtype=np.int32)
                data = data.with_codes(name, codes, new.categories, blanks=bool(gone.any()))
            elif gone.any():  # blanks only: values that stay are not written again
                data = self._blank(data, name, gone[place])
        return data.with_schema(_with(data, after, self.keys))

    def _blank(self, data: Microdata, name: str, where: NDArray[np.bool_]) -> Microdata:
        missing, own = data.schema[name].missing, data.encoded(name)
        # what was missing before is written like a blank, in all blocks
        frame = blanked(data.frame, name, where | (own.codes < 0), missing[0] if missing else None)
        encoded = {**data._encoded, name: Encoded(np.where(where, -1, own.codes).astype(np.int32), own.categories)}
        return replace(data, frame=frame, _encoded=encoded)

    def place(self, codes: Codes) -> NDArray[np.int64]:
        """The combination of each record."""
        known = self.combined.trace.original.codes(self.keys)
        sizes = [len(self.file.categories(name)) for name in self.keys]
        factors, size = [], 1
        for card in reversed(sizes):
            factors.append(size)
            size *= card + 1
        if size < 2**62:
            weights = np.array(factors[::-1], dtype=np.int64)
            if "words" not in self._places:
                self._places["words"] = (known.astype(np.int64) + 1) @ weights
            return np.searchsorted(self._places["words"], (codes.astype(np.int64) + 1) @ weights)
        both = [np.concatenate((known[:, at], codes[:, at])) for at in range(len(self.keys))]
        return group_columns(both, sizes)[0][len(known) :]


def _with(data: Microdata, after: Microdata, keys: Sequence[str]) -> Any:
    schema = data.schema
    for name in keys:
        schema = schema.replace(after.schema[name])
    return schema


def prepare(
    file: LargeFile,
    steps: Sequence[MaskingMethod],
    keys: tuple[str, ...],
    *,
    secret: Secret,
    known: Sequence[str] = (),
    progress: Progress = silent,
) -> LargeSteps:
    """Look at what each step needs of the whole file; steps that need all records at once are refused before any work.

    Codes of `known` variables are looked up like those of keys, so that they are the same in all blocks.
    """
    identifier = file.unique_identifier()
    if identifier is None:
        raise DataError(
            "protect: an engine knows records by an identifier column; give a variable without missing or "
            "repeated values the role identifier."
        )
    named = list(_named(steps, secret))
    kinds = [step_kind(step) for step, _ in named]
    for at, (step, _) in enumerate(named):
        if kinds[at] < max(kinds[: at + 1]):
            raise PlanError(
                f"{step.name}: with an engine, steps on single values come first, then steps on combinations of keys, then "
                "noise, PRAM and random rounding; move it."
            )
    records: list[StepRecord] = []
    looked_up = [*keys, *(name for name in known if file.schema[name].kind is not Kind.NUMERIC)]
    for (step, _), kind in zip(named, kinds, strict=True):
        if kind == 0:
            file = _by_value(file, step, records, looked_up)
    combined = _by_combination(
        file, [step for (step, _), kind in zip(named, kinds, strict=True) if kind == 1], keys, secret
    )
    records += combined.steps
    prepared = LargeSteps(file, identifier, keys, tuple(dict.fromkeys(looked_up)), combined, (), tuple(records))
    late = [LateStep(step, own) for (step, own), kind in zip(named, kinds, strict=True) if kind == 2]
    return _with_facts(prepared, late, progress)


def _named(steps: Sequence[MaskingMethod], secret: Secret) -> Iterator[tuple[MaskingMethod, Secret]]:
    """Each step with its own secret, named by method and occurrence as in memory."""
    seen: dict[str, int] = {}
    for step in steps:
        seen[step.name] = seen.get(step.name, 0) + 1
        yield step, secret.child(f"{step.name}:{seen[step.name] - 1}")


def step_kind(step: MaskingMethod) -> int:
    """0: by value, 1: by combination of keys, 2: by record; what needs all records at once is refused."""
    if isinstance(step, Recode):
        return 0
    if isinstance(step, LimitCode):
        return _only(step, 0, step.replacement != "mean", "replacement = 'mean'") + _only(
            step, 0, step.deviations is None, "deviations"
        )
    if isinstance(step, RoundValues):
        return _only(step, 2 if step.how == "random" else 0, not step.vectors, "vectors")
    if isinstance(step, LocalSuppression):
        return _only(step, 1, step.by_combination, "by_combination = false")
    if isinstance(step, Generalize):
        return 1
    if isinstance(step, Pram):
        return _only(step, 2, not step.controlled and not step.strata, "controlled = true, or strata,")
    if isinstance(step, Noise):
        plain = not (step.exact or step.strata or step.shrink or step.keep_zeros or step.outliers is not None)
        return _only(
            step, 2, plain and step.kind != "nonlinear", "exact, nonlinear, strata, shrink, keep_zeros or outliers"
        )
    raise PlanError(f"{step.name}: this method needs all records at once, which stay in the engine. {BLOCKS}")


def _only(step: MaskingMethod, kind: int, possible: bool, option: str) -> int:
    if not possible:
        raise PlanError(f"{step.name}: {option} needs all records at once, which stay in the engine. {BLOCKS}")
    return kind


def _by_value(file: LargeFile, step: MaskingMethod, records: list[StepRecord], looked_up: list[str]) -> LargeFile:
    """The file with the values of one or more variables shown otherwise."""
    step.check(file.schema)
    nothing = Secret(bytes(32))  # these steps draw nothing
    names = step.variables if isinstance(step, RoundValues) else (str(getattr(step, "variable", "")),)
    changed: dict[str, int] = {}
    facts: dict[str, Any] = {}
    for name in names:
        column = file.column(name)
        own = step
        if isinstance(step, RoundValues):
            own = replace(step, variables=(name,))
        elif isinstance(step, LimitCode) and step.quantile is not None:
            own = replace(step, value=_limit(column, step), quantile=None)
        applied = own.apply(column, secret=nothing, progress=silent)
        kept = check_promises(own, column, applied.data)
        before, after = column.texts(name), applied.data.texts(name)
        moved = np.array([one != other for one, other in zip(before, after, strict=True)])
        changed[name] = int(column.multiplicity[moved].sum())
        facts |= {} if isinstance(own, LimitCode) else dict(applied.facts)
        file = file.with_column(applied.data)
        looked_up.append(name)
    records.append(StepRecord(step.name, to_plain(step), changed, facts, kept, 0.0))
    return file


def _limit(column: Microdata, step: LimitCode) -> float:
    """The limit that a quantile of all records gives: the outermost value that stays, as `LimitCode` finds it in memory."""
    numbers, copies = column.numbers((step.variable,))[:, 0], column.multiplicity
    there = ~np.isnan(numbers)
    if not there.any():
        raise DataError(
            f"{step.name}: every value of {step.variable!r} is missing; leave the step out.", variables=(step.variable,)
        )
    values, copies = numbers[there], copies[there]
    order = np.argsort(values, kind="stable")
    values, upto = values[order], np.cumsum(copies[order])
    virtual = float(step.quantile or 0.0) * (int(upto[-1]) - 1)
    low = int(np.floor(virtual))
    ends = [float(values[np.searchsorted(upto, rank, side="right")]) for rank in (low, min(low + 1, int(upto[-1]) - 1))]
    computed = float(np.quantile(np.array(ends), virtual - low))
    inside = values[step.sign * (values - computed) <= 0]
    return step.sign * float((step.sign * inside).max()) if inside.size else computed


def _by_combination(file: LargeFile, steps: Sequence[MaskingMethod], keys: tuple[str, ...], secret: Secret) -> Masked:
    """What steps on combinations make of the combinations of all keys; these are counted in the engine."""
    for step in steps:
        names = step.names(file.schema) if isinstance(step, LocalSuppression) else getattr(step, "keys", ()) or keys
        others = [name for name in (*names, *getattr(step, "strata", ()), *_linked(step)) if name not in keys]
        if others:
            raise PlanError(f"{step.name}: with an engine it works on keys only; {others[0]!r} is none.")
    return apply_steps(file.patterns(keys), steps, secret=secret, keys=keys)


def _linked(step: MaskingMethod) -> tuple[str, ...]:
    linked: Mapping[str, tuple[str, ...]] = getattr(step, "linked", {})
    return (*(name for names in linked.values() for name in names), *getattr(step, "sensitive", ()))


def _with_facts(prepared: LargeSteps, late: list[LateStep], progress: Progress) -> LargeSteps:
    """What noise and PRAM need of the whole file: exact moments, counts of categories."""
    file = prepared.file
    seen: set[str] = set()
    for one in late:
        one.step.check(file.schema)
        for name in one.variables:
            if name in prepared.keys or name in seen:
                what = (
                    "is a key, which combinations are counted by" if name in prepared.keys else "was changed by chance"
                )
                raise PlanError(
                    f"{one.step.name}: {name!r} {what}; with an engine this needs all records at once. {BLOCKS}"
                )
            seen.add(name)
    found, looked_up = [], list(prepared.looked_up)
    for one in late:
        if isinstance(one.step, Pram):
            looked_up += one.variables
            matrices = {name: one.step.matrix_of(file.categories(name), _counts(file, name)) for name in one.variables}
            found.append(replace(one, facts=matrices))
        elif isinstance(one.step, Noise):
            found.append(replace(one, facts=_moments(replace(prepared, late=()), one.step, progress)))
        else:
            found.append(one)
    return replace(prepared, late=tuple(found), looked_up=tuple(dict.fromkeys(looked_up)))


def _counts(file: LargeFile, name: str) -> NDArray[np.float64]:
    column = file.column(name)
    codes = column.encoded(name).codes
    found = np.zeros(len(column.categories(name)))
    np.add.at(found, codes[codes >= 0], column.multiplicity[codes >= 0])
    return found


def _moments(prepared: LargeSteps, step: Noise, progress: Progress) -> Moments:
    """Moments of all complete records, in exact fractions over the blocks."""
    names, file = step.variables, prepared.file
    lookups = tuple(name for name in names if name in prepared.looked_up)
    n, sums, products = 0, [Fraction(0)] * len(names), [[Fraction(0)] * len(names) for _ in names]
    maps = [file.row_map(name) for name in lookups]
    done = 0
    for rows, raw in file.coded_blocks(maps, (prepared.identifier, *names), prepared.identifier):
        frame = raw.frame
        for at, name in enumerate(lookups):
            frame = with_rows_of(frame, name, file.column(name).frame, rows[:, at].astype(np.uint32))
        values = replace(raw, frame=frame).numbers(names)
        complete = values[~np.isnan(values).any(axis=1)]
        n, done = n + len(complete), done + len(values)
        one, two = exact_sums(complete)
        sums = [a + b for a, b in zip(sums, one, strict=True)]
        products = [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(products, two, strict=True)]
        progress(done / file.n_records, "adding up moments")
    if n == 0:
        raise DataError("noise: no record has a value in all of the variables; mask them in separate steps.")
    mean, covariance = moments_of_sums(n, sums, products)
    constant = [name for name, variance in zip(names, np.diag(covariance), strict=True) if variance == 0]
    if constant:
        raise DataError(
            f"noise: {constant[0]} has the same value in all records, so noise relative to its spread would change nothing. "
            "Leave it out of the step.",
            variables=tuple(constant),
        )
    return Moments(mean, covariance, covariance + np.outer(mean, mean), n)
