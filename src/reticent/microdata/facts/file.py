# SPDX-License-Identifier: Apache-2.0
"""What a released file tells, from the file, the plan and the ground: `facts_left` of all steps together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import DataError
from reticent.data.facts import COUNT, MISSING, Facts, Interval
from reticent.data.method import MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.published import MaskedFile
from reticent.data.schema import Kind
from reticent.microdata.facts import moved as moved  # registers its declarations
from reticent.microdata.facts.builder import Builder, total
from reticent.microdata.facts.counting import tell_counts, tell_near
from reticent.microdata.facts.matched import tell_matched
from reticent.microdata.facts.matching import Matching, Shown, matching_of
from reticent.microdata.facts.seen import Drawn, Link, Number, Seen, View
from reticent.microdata.facts.spans import EVERYTHING, Span, through
from reticent.microdata.facts.steps import DECLARED as DECLARED
from reticent.microdata.facts.steps import MISSING_BEFORE, follow_step, text_of
from reticent.microdata.facts.values import ShownNumber, Sum, tell_values
from reticent.tabulation.dependence import Ranges
from reticent.tabulation.ground import ABSENT_OR_NOT, GroundedData, missing_of

TOGETHER = "who lives together"
DIGITS = 12
"""Numbers that agree in this many digits are the same label, however a file writes them."""


def seen_of(grounded: GroundedData, steps: Sequence[MaskingMethod], facts: Sequence[Mapping[str, Any]] = ()) -> Seen:
    """What an attacker knows of a file made by some steps; `facts` is what the run recorded of each of them."""
    seen = Seen.start(grounded)
    for number, step in enumerate(steps):
        seen = follow_step(step, seen, facts[number] if number < len(facts) else {})
    return seen


def facts_left(
    grounded: GroundedData,
    file: MaskedFile,
    seen: Seen,
    *,
    release: str,
    classes: Ints | None = None,
) -> Facts:
    """The facts that a released file leaves to the attacker.

    Sums of numbers are stated for each of the `classes` of atoms (default: for each atom): the coarser they are, the fewer
    auxiliary unknowns there are; any release that selects whole classes can be judged with them. For large files they are
    stated for each unit, as if it were known which record is whose; `assumes` says so.
    """
    shown = _File(file, Microdata(file.frame, file.schema, np.arange(file.n_records, dtype=np.uint64)))
    builder = Builder(beyond=dict.fromkeys(seen.beyond))
    if file.schema.household_id is not None:
        builder.note(TOGETHER)
    own = np.arange(grounded.ground.n_atoms) if classes is None else classes
    told = {*grounded.decimals} - grounded.counted
    alone = seen.drawn is None and sum(bool(told & {*view.numbers}) for view in seen.views) == 1
    for view in seen.views:
        view = view.without([name for name in (*view.links, *view.numbers) if not shown.has(name)])
        if any(link.may_blank and shown.kinds_of_missing(name) > 1 for name, link in view.links.items()):
            builder.note(MISSING_BEFORE)
        matching = matching_of(grounded.ground, shown.columns(grounded, view), file.n_records)
        tell_counts(builder, matching, sampled=seen.drawn is not None)
        numbers = [shown.number(grounded, name, number) for name, number in view.numbers.items() if name in told]
        if not alone or not tell_matched(builder, grounded, matching, numbers):
            tell_values(builder, grounded, matching, numbers, classes=own, sampled=seen.drawn is not None)
    for near in seen.near:
        tell_near(builder, grounded.ground, shown.linked(grounded, near.links), near.bound)
    if seen.drawn is not None:
        _tell_sizes(builder, grounded, shown, seen.drawn, seen.views[0])
    return builder.done(release)


@dataclass(frozen=True, eq=False)
class _File:
    """A released file as labels and numbers."""

    file: MaskedFile
    data: Microdata = field(repr=False)

    def has(self, name: str) -> bool:
        """Whether the file has a variable, or the response whose missing values are meant."""
        return name in self.file.schema or self._response(name) is not None

    def _response(self, name: str) -> str | None:
        return next((own for own in self.file.schema.names if missing_of(own) == name), None)

    def columns(self, grounded: GroundedData, view: View) -> list[Shown]:
        """What the file shows of the variables of the ground: their codes, and numbers that go with codes."""
        ranges = [own for own in grounded.ranges if own.response in view.numbers]
        by_number = [self._by_number(own, view.numbers[own.response]) for own in ranges]
        return [*self.linked(grounded, view.links), *by_number]

    def linked(self, grounded: GroundedData, links: Mapping[str, Link]) -> list[Shown]:
        """What the file shows of variables by their codes."""
        names = [name for name in grounded.ground.variables if name in links]
        return [(name, links[name], self.labels(name, links[name])) for name in names]

    def _by_number(self, ranges: Ranges, number: Number) -> Shown:
        """A variable whose codes go with a number, by what the file shows of the number; without a number it may be any."""
        codes, categories = self._coded(ranges.response)
        spans = [_true_span(number, text) for text in categories]
        n = len(ranges.low) - 1
        pairs = [(code, MISSING) for code in (*range(n), MISSING)]
        for code in (*range(n), MISSING):
            low, high = (
                None if np.isinf(end[code]) else Fraction(repr(float(end[code]))) for end in (ranges.low, ranges.high)
            )
            pairs += [(code, label) for label, span in enumerate(spans) if span.meets(low, high)]
        return ranges.variable, Link(n, tuple(categories), np.array(pairs, dtype=np.int64)), codes

    def kinds_of_missing(self, name: str) -> int:
        """In how many ways the file writes that a value is not there."""
        if name not in self.file.schema:
            return 0
        values = self.file.frame.table[name].to_list()
        return len({value for value, gone in zip(values, self.data.missing(name).tolist(), strict=True) if gone})

    def labels(self, name: str, link: Link) -> Ints:
        """The number of the label that each record shows (−1: none)."""
        response = self._response(name)
        if response is not None:
            place = {label: at for at, label in enumerate(link.labels)}
            return np.where(self.data.missing(response), place[ABSENT_OR_NOT[1]], place[ABSENT_OR_NOT[0]])
        place = {_key(label): at for at, label in enumerate(link.labels)}
        codes, categories = self._coded(name)
        numeric = self.file.schema[name].kind is Kind.NUMERIC or any(isinstance(label, float) for label in link.labels)
        texts = [_key(float(text)) if numeric else _spelled(text, place) for text in categories]
        unknown = [text for text in texts if text not in place]
        if unknown:
            raise DataError(
                f"file: {name!r} shows {len(unknown)} codes that the plan cannot show; the file or the plan was changed.",
                variables=(name,),
            )
        numbers = np.array([*(place[text] for text in texts), MISSING], dtype=np.int64)
        return np.asarray(numbers[codes], dtype=np.int64)

    def _coded(self, name: str) -> tuple[Ints, list[str]]:
        """The codes of a variable (−1: missing), numbered by those that occur."""
        encoded = self.data.encoded(name)
        used = np.unique(encoded.codes)
        used = used[used >= 0]
        place = np.full(len(encoded.categories) + 1, MISSING, dtype=np.int64)
        place[used] = np.arange(len(used))
        return place[encoded.codes], [encoded.categories[int(code)] for code in used]

    def number(self, grounded: GroundedData, name: str, number: Number) -> ShownNumber:
        """A response as the file shows it."""
        scale, bounds = 10 ** grounded.decimals[name], grounded.ground.bounds_of(name)
        codes, categories = self._coded(name)
        spans = [_span(number, text) for text in categories]
        kinds = [_within(span.whole(scale), bounds) for span in spans]
        kind = np.where(codes >= 0, codes, len(kinds)).astype(np.int64)
        known = tuple(kinds) + (
            bounds,
        )  # a record without a value may be anything, where it is one of a unit that has one
        group = np.full(self.file.n_records, -1, dtype=np.int64)
        if not number.summed:
            return ShownNumber(name, kind, known, group, {})
        values = self.data.numbers((name,))[:, 0]
        group = self._members(name, number, values)
        sums = {}
        for at in range(int(group.max(initial=-1)) + 1):
            exact = sum((Fraction(repr(float(v))) for v in values[group == at].tolist()), Fraction(0))
            each = _within(number.members.whole(scale), bounds)
            size = int((group == at).sum())
            sums[at] = Sum(_near_whole(exact * scale, size), each, size)
        return ShownNumber(name, np.where(group >= 0, 0, kind), known, group, sums)

    def _members(self, name: str, number: Number, values: Floats) -> Ints:
        """The number of the sum that each record is part of (−1: none)."""
        if number.tail is not None:
            return np.where(np.isclose(values, number.tail, rtol=1e-12, atol=0.0), 0, -1).astype(np.int64)
        assert number.means is not None
        columns = [
            np.unique(self.data.numbers((n,))[:, 0], return_inverse=True)[1].reshape(-1)
            if self.file.schema[n].kind is Kind.NUMERIC
            else self.data.codes((n,))[:, 0].astype(np.int64)
            for n in number.means
            if n in self.file.schema
        ]
        if not columns:
            return np.where(np.isnan(values), -1, 0).astype(np.int64)
        found = np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].reshape(-1)
        return np.where(np.isnan(values), -1, found).astype(np.int64)


def _key(label: Any) -> Any:
    return float(f"{label:.{DIGITS}g}") if isinstance(label, float) else label


def _spelled(text: str, known: Mapping[Any, int]) -> str:
    """A code as the labels spell it: a number that became a code may be written 37 or 37.0."""
    if text in known:
        return text
    try:
        return text_of(float(text))
    except ValueError:
        return text


def _span(number: Number, text: str) -> Span:
    """The true numbers behind a shown one."""
    if number.texts is not None and text in number.texts:
        return through(number.texts[text], number.inverses)
    try:
        shown = Span.point(float(text))
    except ValueError:
        return EVERYTHING
    if number.summed and number.tail is None:
        return EVERYTHING
    return through(shown, number.inverses)


def _true_span(number: Number, text: str) -> Span:
    """The true numbers behind a shown one, also where it is one of a sum."""
    try:
        shown = float(text)
    except ValueError:
        return _span(number, text)
    if number.tail is not None and np.isclose(shown, number.tail, rtol=1e-12, atol=0.0):
        return number.members
    return _span(number, text)


def _within(ends: Interval, bounds: Interval) -> Interval:
    """Both intervals together."""
    low = ends[0] if bounds[0] is None else bounds[0] if ends[0] is None else max(ends[0], bounds[0])
    high = ends[1] if bounds[1] is None else bounds[1] if ends[1] is None else min(ends[1], bounds[1])
    return low, high


def _near_whole(amount: Fraction, members: int) -> tuple[int, int]:
    """The whole number that a sum of shown means is, up to how a computer writes them; else those around it."""
    whole = round(amount)
    if abs(amount - whole) <= Fraction(1, 10**6) * max(members, 1) + abs(amount) / 10**12:
        return whole, whole
    return floor(amount), ceil(amount)


def _tell_sizes(builder: Builder, grounded: GroundedData, shown: _File, drawn: Drawn, view: View) -> None:
    """The sizes of the strata of a sample, as far as the share or the published factors tell them."""
    if drawn.fraction is None:
        return
    if any(view.links.get(name) is not link for name, link in drawn.links.items()) or not all(
        shown.has(name) for name in drawn.links
    ):
        builder.note("the sizes of strata that are not shown as they were sampled")
        return
    matching = matching_of(grounded.ground, shown.linked(grounded, drawn.links), shown.file.n_records)
    factor = None
    if drawn.factor is not None and drawn.factor in shown.file.schema:
        factor = shown.data.numbers((drawn.factor,))[:, 0]
    builder.tell([total(COUNT, matching.never_shown)], 0, 0)  # a stratum with somebody in it has somebody drawn
    for patterns, signatures in matching.parts:
        if len(patterns) > 1:
            builder.note("the sizes of strata that are not shown as they were sampled")
            continue
        low, high = _size(matching, patterns, drawn.fraction, factor)
        atoms = np.sort(np.concatenate([matching.atoms(int(s)) for s in signatures]))
        builder.tell([total(COUNT, atoms)], low, high)


def _size(matching: Matching, patterns: Ints, fraction: float, factor: Floats | None) -> tuple[int, int]:
    """The numbers of records that a stratum can have had, of which this many were drawn."""
    there = int(matching.records[patterns].sum())
    if factor is not None:
        whole = round(float(factor[np.isin(matching.pattern_of_record, patterns)][0]) * there)
        return whole, whole
    sizes = np.arange(there, int((there + 1) / fraction) + 3)
    fit = sizes[np.maximum(1, np.round(fraction * sizes)) == there]
    return int(fit.min()), int(fit.max())
