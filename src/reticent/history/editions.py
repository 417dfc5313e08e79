# SPDX-License-Identifier: Apache-2.0
"""The versions of a data set that something was released of, and how their records, respondents and values hang together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import DataError
from reticent.data.facts import COUNT, LARGEST, Fact, Facts, Term
from reticent.data.microdata import Microdata
from reticent.history.file_recipe import FileRecipe
from reticent.history.table_recipe import TableRecipe
from reticent.ledger.chain import LedgerError
from reticent.queries.indexed import lines_between, lines_of_another
from reticent.releases.histories import Crossing, Histories
from reticent.tabulation.following import check_found, followed, linked
from reticent.tabulation.ground import GroundedData

Recipe = TableRecipe | FileRecipe
RISES = "values that changed in one way"
BLURRED = 0.5
"""Rounding may blur a line by half of how far values spread: a line that is an accident only makes the attacker stronger."""


@dataclass(frozen=True, eq=False)
class Edition:
    """One version of the data, with all names that the ledger has for it, and what was released of it."""

    name: str
    data: Microdata = field(repr=False)
    recipes: Mapping[str, Recipe] = field(default_factory=dict, repr=False)
    names: frozenset[str] = frozenset()


def marks_of(editions: Sequence[Edition]) -> tuple[Ints, ...]:
    """A number of each record that means the same record in all versions; an error where they cannot be linked."""
    every, names = [edition.data for edition in editions], [edition.name for edition in editions]
    try:
        found = linked(every, names)
        marks = followed(every, found.ids)
        check_found(every, found._replace(ids=marks), names)
        return marks
    except DataError as err:
        raise LedgerError(f"ledger: {err}") from None


def respondents_of(versions: Sequence[Microdata], marks: Sequence[Ints]) -> tuple[Ints, ...]:
    """The respondent of each record, by numbers that mean the same in all versions.

    A record without a respondent belongs to the one who has it in another version, else it is its own.
    """
    numbers: dict[str | int, int] = {}
    of_mark: dict[int, int] = {}
    named = [_respondents(data) for data in versions]
    for texts, own in zip(named, marks, strict=True):
        for text, mark in zip(texts, own.tolist(), strict=True):
            if text is not None:
                of_mark[mark] = numbers.setdefault(text, len(numbers))
    for own in marks:
        for mark in own.tolist():
            if mark not in of_mark:
                of_mark[mark] = numbers.setdefault(mark, len(numbers))
    return tuple(
        np.array(
            [of_mark[m] if t is None else numbers[t] for t, m in zip(texts, own.tolist(), strict=True)], dtype=np.int64
        )
        for texts, own in zip(named, marks, strict=True)
    )


def _respondents(data: Microdata) -> list[str | None]:
    entity = data.entity()
    if entity is None:
        return [None] * data.n_records
    texts = data.categories(str(data.schema.entity))
    return [None if code < 0 else texts[code] for code in entity.tolist()]


@dataclass(frozen=True, eq=False)
class Rise:
    """Records whose value in one version follows a straight line over a value in another: low ≤ q · new − p · old ≤ high.

    `rows` are the numbers of these records among all that follow a line, `units` their units in each version (−1: none); `old`
    and `new` name version and response.
    """

    rows: Ints
    old: tuple[int, str]
    new: tuple[int, str]
    units: Ints
    rate: Fraction
    low: int
    high: int

    def facts(self, classes: Sequence[Ints] | None, people: "People | None" = None) -> Iterator[Fact]:
        """What everybody knows of the sums over records that all releases treat alike, by the class of each unit of a version.

        Values can be dealt out to such records so that each is on the line where their sums are. Without classes each
        record stands for itself. With `people` their number is unknown too: a rise of each by 1 is a rise by their number.
        """
        keys = np.arange(len(self.rows)).reshape(-1, 1)
        if classes is not None:
            keys = np.column_stack([np.append(own, -1)[self.units[:, v]] for v, own in enumerate(classes)])
        every, group = np.unique(keys, axis=0, return_inverse=True)
        group = group.reshape(-1)
        for number, key in enumerate(every):
            rows = self.rows[group == number]
            terms = tuple(Term.total(name, rows) for name in dict.fromkeys((self.old[1], self.new[1])))
            found = None if people is None or classes is None else people.of(key)
            if found is None or not len(found[0]) or self.low == self.high == 0:
                yield Fact(terms, self.low * len(rows), self.high * len(rows))
                continue
            places, times = found
            others = len(rows) - times
            for end, low, high in ((self.low, self.low * others, None), (self.high, None, self.high * others)):
                counts = (Term(COUNT, places, np.full(len(places), -end)),) if end else ()
                yield Fact((*terms, *counts), low, high)


@dataclass(frozen=True, eq=False)
class People:
    """The unknown numbers of records by their classes in each version, for facts about how their values rose."""

    keys: Ints
    places: Ints
    guess: Ints

    @classmethod
    def among(cls, histories: Histories, of_atoms: Sequence[Ints]) -> "People":
        """Those of histories, by the class of each atom of a version."""
        keys = np.column_stack([np.append(own, -1)[histories.where[:, v]] for v, own in enumerate(of_atoms)])
        return cls(keys, max(len(histories.names), 1) + np.arange(len(keys)), histories.guess)

    def of(self, key: Ints) -> tuple[Ints, int]:
        """The places of those in some classes, and how many there are in truth."""
        own = (self.keys == key).all(axis=1)
        return self.places[own], int(self.guess[own].sum())


@dataclass(frozen=True, eq=False)
class Rises:
    """All lines that values of several versions follow, and the sums over two versions that facts about them are stated for."""

    found: tuple[Rise, ...]
    crossing: Mapping[str, Crossing]
    n_rows: int

    def facts(self, classes: Sequence[Ints], single: frozenset[str], people: People | None = None) -> Facts:
        """What everybody knows of them, by the class of each unit; of responses that files show (`single`) record by record."""
        told: list[Fact] = []
        for rise in self.found:
            apart = bool({rise.old[1], rise.new[1]} & single)
            told += rise.facts(None if apart else classes, people)
        return Facts(RISES, tuple(told))


def rises_of(grounds: Sequence[GroundedData], marks: Sequence[Ints]) -> Rises:
    """Find the lines that values follow from one version to another, of one response or from one response to another."""
    found: list[Rise] = []
    entries: dict[str, list[tuple[Ints, int, Ints, int]]] = {}
    n = 0
    for b in range(len(grounds)):
        for a in range(b):
            for rise in _between(grounds, marks, a, b, n):
                p, q = rise.rate.numerator, rise.rate.denominator
                entries.setdefault(rise.old[1], []).append((rise.rows, a, rise.units[:, a], -p))
                entries.setdefault(rise.new[1], []).append((rise.rows, b, rise.units[:, b], q))
                n += len(rise.rows)
                found.append(rise)
    crossing = {name: _crossing(own) for name, own in entries.items()}
    return Rises(tuple(found), crossing, n)


def _crossing(entries: Sequence[tuple[Ints, int, Ints, int]]) -> Crossing:
    return Crossing(
        np.concatenate([rows for rows, _, _, _ in entries]),
        np.concatenate([np.full(len(rows), version) for rows, version, _, _ in entries]),
        np.concatenate([units for _, _, units, _ in entries]),
        np.concatenate([np.full(len(rows), weight) for rows, _, _, weight in entries]),
    )


def _between(grounds: Sequence[GroundedData], marks: Sequence[Ints], a: int, b: int, start: int) -> Iterator[Rise]:
    _, there, here = np.intersect1d(marks[a], marks[b], return_indices=True)
    old, new = grounds[a], grounds[b]
    codes = new.ground.codes[new.ground.atom_of_unit[here]].T
    for one in old.decimals.keys() - old.counted:
        for other in new.decimals.keys() - new.counted:
            both = old.there(one)[there] & new.there(other)[here]
            x, y = old.whole(one)[there[both]].astype(np.float64), new.whole(other)[here[both]].astype(np.float64)
            groups = [column[both].astype(np.int32) for column in codes]
            lines = lines_between(x, y, groups, BLURRED) if one == other else lines_of_another(x, y, BLURRED)
            for rows, rate in lines:
                units = _units(marks, marks[b][here[both][rows]])
                low, high = _ends(x[rows], y[rows], rate, other)
                yield Rise(start + np.arange(len(rows)), (a, one), (b, other), units, rate, low, high)
                start += len(rows)


def _units(marks: Sequence[Ints], chosen: Ints) -> Ints:
    """The unit of each of some records in each version (−1: none)."""
    found = np.full((len(chosen), len(marks)), -1, dtype=np.int64)
    for v, own in enumerate(marks):
        order = np.argsort(own, kind="stable")
        at = np.minimum(np.searchsorted(own[order], chosen), len(own) - 1)
        there = own[order][at] == chosen
        found[there, v] = order[at][there]
    return found


def _ends(old: Floats, new: Floats, rate: Fraction, name: str) -> tuple[int, int]:
    p, q = rate.numerator, rate.denominator
    if (abs(p) * float(np.abs(old).sum()) + q * float(np.abs(new).sum())) * 2 >= LARGEST:
        raise LedgerError(
            f"ledger: the values of {name!r} all changed in one way between two versions, and sums of them are too large to be "
            "exact; round them, so that the versions can be judged together."
        )
    left = q * new.astype(np.int64) - p * old.astype(np.int64)
    return int(left.min()), int(left.max())
