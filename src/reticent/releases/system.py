# SPDX-License-Identifier: Apache-2.0
"""All facts and watches of related responses as one system over classes: rows, bounds, and where each comes from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import gcd
from typing import Any

import numpy as np
from scipy import sparse

from reticent.base.arrays import Floats, Ints, Mask
from reticent.base.errors import DataError
from reticent.data.facts import COUNT, OWN, Facts, Term, Watch
from reticent.releases.classes import Classes
from reticent.releases.stack import Stack
from reticent.releases.unknowns import NOBODY, OPEN, Columns

BY_CELL = ("alone",)
"""What a dealer keeps by the cells of a release: answers split classes, and cells keep their numbers."""
PUBLIC = -1
"""The number of no release: what everybody knows."""


@dataclass(frozen=True, eq=False)
class Line:
    """low ≤ Σ weights · unknown[places] ≤ high, as told by a release."""

    places: Ints
    weights: Ints
    low: int
    high: int
    release: int
    fact: int
    relation: str = ""


@dataclass(frozen=True, eq=False)
class Sight:
    """A watched sum over unknowns, and what must be reached."""

    places: Ints
    weights: Ints
    low: int
    high: int
    watch: Watch


@dataclass(frozen=True, eq=False)
class Share:
    """The facts of a release that belong to one system: their numbers, and those of its auxiliary unknowns, in the release."""

    facts: Facts
    numbers: Ints
    own: Ints


@dataclass(frozen=True, eq=False)
class Told:
    """One release in terms of unknowns."""

    name: str
    lines: tuple[Line, ...]
    sights: tuple[Sight, ...]
    own: tuple[tuple[int, int | None], ...]
    own_names: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the unknowns of each response are in the system."""

    responses: tuple[str, ...]
    columns: tuple[Columns, ...]

    @cached_property
    def starts(self) -> dict[str, int]:
        """The first unknown of each response."""
        ends = np.cumsum([0, *(len(own.low) for own in self.columns)])
        return {name: int(start) for name, start in zip(self.responses, ends, strict=False)}

    @cached_property
    def size(self) -> int:
        """Number of unknowns, auxiliary ones apart."""
        return sum(len(own.low) for own in self.columns)

    @cached_property
    def codes(self) -> Ints:
        """The codes of each unknown, auxiliary ones apart; no column where versions are linked."""
        return np.concatenate([own.codes for own in self.columns])

    def told(self, share: Share, version: int, release: int, first_own: int) -> Told:
        """A release in terms of unknowns; its auxiliary ones begin at `first_own`."""
        facts, lines = share.facts, []
        for number, fact in zip(share.numbers.tolist(), facts.facts, strict=True):
            places, weights = self._joined(fact.terms, version, first_own)
            low = -OPEN if fact.low is None else fact.low
            high = OPEN if fact.high is None else fact.high
            line = Line(places, weights, low, high, release, number, fact.relation)
            lines.append(_reduced(line, facts.release))
        sights = []
        for watch in facts.watches:
            term = Term(watch.response, watch.places, watch.weights)
            places, weights = self._joined((term,), version, first_own)
            sights.append(Sight(places, weights, watch.low, watch.high, watch))
        names = tuple((release, number) for number in share.own.tolist())
        return Told(facts.release, tuple(lines), tuple(sights), facts.own, names)

    def _joined(self, terms: Sequence[Term], version: int, first_own: int) -> tuple[Ints, Ints]:
        """The terms as one weighted sum over unknowns."""
        starts, found = self.starts, []
        for term in terms:
            if term.response == OWN:
                found.append((term.places + first_own, term.weights))
                continue
            number = self.responses.index(term.response)
            places, weights = self.columns[number].weights(version, term.places, term.weights)
            found.append((places + starts[term.response], weights))
        if len(found) == 1:
            places, weights = found[0]
            kept = weights != 0
            return (places, weights) if kept.all() else (places[kept], weights[kept])
        if len({term.response for term in terms}) == len(terms):  # of different responses, so that none comes twice
            places, weights = (np.concatenate([own[k] for own in found]) for k in (0, 1))
            kept = weights != 0
            return (places, weights) if kept.all() else (places[kept], weights[kept])
        places, inverse = np.unique(np.concatenate([p for p, _ in found]), return_inverse=True)
        total = np.zeros(len(places), dtype=np.int64)
        np.add.at(total, inverse.reshape(-1), np.concatenate([w for _, w in found]))
        return places[total != 0].astype(np.int64), total[total != 0]


def _reduced(line: Line, name: str) -> Line:
    """The line without a common factor of its weights; whole sums lie within the ends rounded inwards."""
    weights, low, high = line.weights, line.low, line.high
    common = 1 if len(weights) == 0 or int(weights[0]) == 1 else gcd(*(int(w) for w in np.unique(weights)))
    if common > 1:
        weights = weights // common
        low = low if low <= -OPEN else -(-low // common)
        high = high if high >= OPEN else high // common
    if low > high or (len(weights) == 0 and not low <= 0 <= high):
        raise DataError(f"{name}: a fact holds for no whole numbers at all; check the numbers that it states.")
    return replace(line, weights=weights, low=low, high=high) if common > 1 else line


@dataclass(frozen=True, eq=False)
class System:
    """Rows (facts), bounds and sights over classes.

    `low`, `high` and `center` are per unknown; `told_low`, `fact_low` and their like name the release, and the fact there,
    that an unknown's bound comes from. `center` is a point that satisfies everything, once it is found. `own` names the
    auxiliary unknowns by release and number there. A row that comes again is there once; `row_mark` finds it. A relation of a
    class goes when it is stated of all parts of the class (`row_relation` has its name). The last `fresh` rows are of the last
    release.
    """

    layout: Layout
    classes: Classes
    low: Ints
    high: Ints
    told_low: Ints
    told_high: Ints
    fact_low: Ints
    fact_high: Ints
    center: Ints
    owner: Ints
    rows: sparse.csr_array
    row_low: Ints
    row_high: Ints
    row_release: Ints
    row_fact: Ints
    row_mark: Ints
    row_relation: tuple[str, ...]
    sights: tuple[Sight, ...]
    watched: sparse.csr_array
    names: tuple[str, ...]
    own: tuple[tuple[int, int], ...] = ()
    fresh: int = 0
    kept: dict[Any, Any] = field(default_factory=dict, repr=False)
    """What was worked out of the classes and cells, by what it is and of which release."""

    @classmethod
    def empty(cls, layout: Layout, names: tuple[str, ...] = ()) -> "System":
        """Nothing is released yet."""
        groups = np.repeat(np.arange(len(layout.columns)), [len(own.low) for own in layout.columns])
        used, groups = np.unique(groups, return_inverse=True)
        low, high, center, owner = (
            np.concatenate([getattr(own, field) for own in layout.columns])
            for field in ("low", "high", "guess", "owner")
        )
        public = np.full(len(low), PUBLIC, dtype=np.int64)
        nothing = sparse.csr_array((0, len(used)), dtype=np.int64)
        ends = np.zeros(0, dtype=np.int64)
        return cls(
            layout, Classes.single(groups.reshape(-1)), low, high, public, public, public, public, center, owner,
            nothing, ends, ends, ends, ends, ends, (), (), nothing, names,
        )  # fmt: skip

    @cached_property
    def stack(self) -> Stack:
        """The rows of facts and watched sums, by row and by class."""
        return Stack(self.rows, self.watched)

    @property
    def n_unknowns(self) -> int:
        """Number of unknowns, with auxiliary ones."""
        return len(self.low)

    def class_bounds(self) -> tuple[Ints, Ints]:
        """What everybody knows of each class total."""
        return self.classes.bounds(self.low, self.high)

    def class_center(self) -> Ints:
        """The class totals of the center."""
        return self.classes.totals(self.center)

    def step_costs(self) -> Floats:
        """What a step of each class costs: 1 for a count, and for a value so little that people can take theirs along."""
        usual = np.ones(self.n_unknowns)
        for name, columns in zip(self.layout.responses, self.layout.columns, strict=True):
            own = slice(self.layout.starts[name], self.layout.starts[name] + len(columns.low))
            values = np.abs(self.center[own])
            if name != COUNT and values.any():
                usual[own] = max(float(values[values > 0].mean()), 1.0)
        out = np.ones(self.classes.n)
        out[self.classes.of] = 1.0 / usual
        return out

    def told_bounds(self, chosen: Iterable[tuple[int, bool]]) -> list[tuple[int, int, int]]:
        """The facts that bounds of classes come from: release, fact, and its sign; classes with whether the upper is meant."""
        found: set[tuple[int, int, int]] = set()
        for number, upper in chosen:
            own = np.flatnonzero(self.classes.of == number)
            told, facts = (self.told_high, self.fact_high) if upper else (self.told_low, self.fact_low)
            own = own[told[own] != PUBLIC]
            found |= {(int(told[k]), int(facts[k]), -1 if upper else 1) for k in own.tolist()}
        return sorted(found)

    def with_release(self, told: Told) -> "System":
        """The system as if this release were out."""
        grown = self._grown(told.own)
        single = [line for line in told.lines if len(line.places) == 1]
        several, marks = grown._news(told)
        bounded = grown._bounded(single, told.name)
        base = bounded.classes.rebased()
        sums = [(one.places, one.weights) for one in several] + [(one.places, one.weights) for one in told.sights]
        classes = base.refined(sums)
        left = np.flatnonzero(~self._said_finer(several, marks))
        rows = _narrow(sparse.vstack((_parted(bounded.rows[left], base, classes), _matrix(several, classes))))
        watched = _narrow(sparse.vstack((_parted(bounded.watched, base, classes), _matrix(told.sights, classes))))
        return replace(
            bounded,
            classes=classes,
            rows=rows,
            row_low=np.concatenate((bounded.row_low[left], _ints(line.low for line in several))),
            row_high=np.concatenate((bounded.row_high[left], _ints(line.high for line in several))),
            row_release=np.concatenate((bounded.row_release[left], _ints(line.release for line in several))),
            row_fact=np.concatenate((bounded.row_fact[left], _ints(line.fact for line in several))),
            row_mark=np.concatenate((bounded.row_mark[left], marks)),
            row_relation=(*(self.row_relation[row] for row in left.tolist()), *(line.relation for line in several)),
            fresh=len(several),
            sights=(*bounded.sights, *told.sights),
            watched=watched,
            names=(*self.names, told.name),
            own=(*self.own, *told.own_names),
            kept=self._still_kept(told, classes),
        )

    def _still_kept(self, told: Told, classes: Classes) -> dict[Any, Any]:
        """What was worked out and still holds: by class while no class is split, by cell while no table or file comes."""
        if classes.n == self.classes.n:
            return self.kept
        if told.sights or told.own:
            return {}
        return {key: made for key, made in self.kept.items() if key[0] in BY_CELL}

    def _news(self, told: Told) -> tuple[list[Line], Ints]:
        """The lines of a release over several unknowns that are not known already, and their marks.

        Answers repeat what is known again and again. A release that watches sums keeps all its rows: how its cells can move
        is looked for in it alone.
        """
        lines = [line for line in told.lines if len(line.places) > 1]
        marks = _marks_of(lines, self.n_unknowns)
        if told.sights:
            return lines, marks
        known = {mark: row for row, mark in enumerate(self.row_mark.tolist())}
        new, kept = [], []
        for at, (line, mark) in enumerate(zip(lines, marks.tolist(), strict=True)):
            row = known.get(mark)
            if row is None or not self._says(row, line):
                new.append(line)
                kept.append(at)
        return new, marks[kept]

    def _said_finer(self, lines: Sequence[Line], marks: Ints) -> Mask:
        """Rows of relations that the same relations of the parts of their classes add up to, marks and all."""
        out = np.zeros(len(self.row_low), dtype=bool)
        for name in {line.relation for line in lines} - {""}:
            old = np.flatnonzero(np.array([own == name for own in self.row_relation], dtype=bool))
            new = [at for at, line in enumerate(lines) if line.relation == name]
            at = np.full(self.classes.n, -1, dtype=np.int64)
            own = self.rows[old]
            at[own.indices] = np.repeat(np.arange(len(old)), np.diff(own.indptr))
            row = at[self.classes.of[_ints(int(lines[k].places[0]) for k in new)]]
            total = np.zeros(len(old) + 1, dtype=np.int64)
            with np.errstate(over="ignore"):
                np.add.at(total, row, marks[new])  # what is in no row yet is added up at the end
            said = np.bincount(row[row >= 0], minlength=len(old)) > 0
            out[old[said & (total[:-1] == self.row_mark[old])]] = True
        return out

    def _says(self, row: int, line: Line) -> bool:
        """Whether a row is this line, with ends that are no wider."""
        if self.row_low[row] < line.low or self.row_high[row] > line.high:
            return False
        part = slice(self.rows.indptr[row], self.rows.indptr[row + 1])
        weight = np.zeros(self.classes.n, dtype=np.int64)
        weight[self.rows.indices[part]] = self.rows.data[part]
        own = np.zeros(self.n_unknowns, dtype=np.int64)
        own[line.places] = line.weights
        return bool((weight[self.classes.of] == own).all())

    def _grown(self, own: tuple[tuple[int, int | None], ...]) -> "System":
        """With the auxiliary unknowns of a release."""
        if not own:
            return self
        low, high = _ints(a for a, _ in own), _ints(OPEN if b is None else b for _, b in own)
        public, n = np.full(len(own), PUBLIC, dtype=np.int64), self.classes.n + len(own)
        return replace(
            self,
            classes=self.classes.grown(len(own)),
            low=np.concatenate((self.low, low)),
            high=np.concatenate((self.high, high)),
            told_low=np.concatenate((self.told_low, public)),
            told_high=np.concatenate((self.told_high, public)),
            fact_low=np.concatenate((self.fact_low, public)),
            fact_high=np.concatenate((self.fact_high, public)),
            center=np.concatenate((self.center, np.clip(0, low, high))),
            owner=np.concatenate((self.owner, np.full(len(own), NOBODY, dtype=np.int64))),
            rows=_widened(self.rows, n),
            watched=_widened(self.watched, n),
        )

    def _bounded(self, lines: list[Line], name: str) -> "System":
        """With facts about single unknowns as their bounds."""
        if not lines:
            return self
        low, high = self.low.copy(), self.high.copy()
        told_low, told_high = self.told_low.copy(), self.told_high.copy()
        fact_low, fact_high = self.fact_low.copy(), self.fact_high.copy()
        for line in lines:
            place, weight = int(line.places[0]), int(line.weights[0])
            ends = (line.low, line.high) if weight > 0 else (-line.high, -line.low)
            if ends[0] > low[place]:
                low[place], told_low[place], fact_low[place] = ends[0], line.release, line.fact
            if ends[1] < high[place]:
                high[place], told_high[place], fact_high[place] = ends[1], line.release, line.fact
        if bool((low > high).any()):
            raise contradiction(name)
        return replace(
            self, low=low, high=high, told_low=told_low, told_high=told_high, fact_low=fact_low, fact_high=fact_high,
            center=np.clip(self.center, low, high),
        )  # fmt: skip


def contradiction(name: str) -> DataError:
    """The error for a release that cannot be true together with the others."""
    return DataError(
        f"{name}: what it states contradicts the known bounds or releases before it; check that it is of these data."
    )


def _marks_of(lines: Sequence[Line], n_unknowns: int) -> Ints:
    """A random linear mark of each line, from its weights: equal lines have equal marks, and hardly any others."""
    keys = np.random.default_rng(0xFAC7).integers(1, 2**62, size=n_unknowns, dtype=np.int64)
    if not lines:
        return _ints(())
    places, weights, starts = _flat(lines)
    with np.errstate(over="ignore"):
        return np.add.reduceat(keys[places] * weights, starts[:-1])


def _matrix(lines: Sequence[Line | Sight], classes: Classes) -> sparse.csr_array:
    """The lines over classes: each is constant there, so one unknown of a class stands for all."""
    if not lines:
        return sparse.csr_array((0, classes.n), dtype=np.int64)
    places, weights, starts = _flat(lines)
    line = np.repeat(np.arange(len(lines)), np.diff(starts))
    entry, first = np.unique(line * classes.n + classes.of[places], return_index=True)
    rows, columns = np.divmod(entry, classes.n)
    pointer = np.searchsorted(rows, np.arange(len(lines) + 1))
    return sparse.csr_array((weights[first], columns, pointer), shape=(len(lines), classes.n), dtype=np.int64)


def _flat(lines: Sequence[Line | Sight]) -> tuple[Ints, Ints, Ints]:
    """The places and weights of all lines, one after another, and where each begins."""
    starts = np.cumsum([0, *(len(line.places) for line in lines)])
    return np.concatenate([one.places for one in lines]), np.concatenate([one.weights for one in lines]), starts


def _parted(matrix: sparse.csr_array, before: Classes, after: Classes) -> sparse.csr_array:
    """A matrix over classes as one over their parts."""
    return matrix if after.n == before.n else matrix[:, after.parent]


def _narrow(matrix: sparse.csr_array) -> sparse.csr_array:
    """The same with indices of 32 bits, which take half of the memory."""
    own = matrix.tocsr()
    indices, pointer = own.indices.astype(np.int32), own.indptr.astype(np.int32)
    return sparse.csr_array((own.data, indices, pointer), shape=own.shape)


def _widened(matrix: sparse.csr_array, n_columns: int) -> sparse.csr_array:
    shape = (matrix.shape[0], n_columns)
    return sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=shape, dtype=np.int64)


def _ints(values: Iterable[int]) -> Ints:
    return np.array(list(values), dtype=np.int64)
