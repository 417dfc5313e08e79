# SPDX-License-Identifier: Apache-2.0
"""How the records of several versions of a data set hang together: who stays as they were, who leaves, comes or changes.

Everybody is thought to know which codes of which records were changed, and by which rule codes change that all change (an age
rises by one, a list of codes is replaced); not what the codes are. So records that follow the rules are one unknown in all
versions; a changed code is free, while the other codes of the record stay the same. That is more than an attacker
knows, so what is safe stays safe. How many records changed in each way is known as well, except for the commonest way: how
many records there are stays unknown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from scipy import sparse

from reticent.base.arrays import Ints, Mask
from reticent.base.errors import DataError
from reticent.data.facts import COUNT, MISSING, Fact, Facts, Ground, Term
from reticent.kernels.grouping import group_rows

NOBODY = -1
UNKNOWN = -2
"""No code: nobody has been seen with the code that it would follow from."""
MOST_COLUMNS = 400_000
"""This many places of records are listed; of further ways to change only the places that somebody has."""
USUAL = 0.5
"""Codes change by a rule where at least this share of those with a code get the same new one."""
CHANGES = "what changed between the versions"


@dataclass(frozen=True, eq=False)
class Member:
    """What is needed of one version: its name, its ground, the marks of its records, the atoms where somebody can be.

    `common` has the codes of the atoms by numbers that mean the same in all versions.
    """

    name: str
    ground: Ground
    marks: Ints
    common: Ints
    possible: Mask | None = None

    def can(self, atoms: Ints) -> Mask:
        """At which of some atoms somebody can be; at those that are not listed (−1) nobody can."""
        there: Mask = atoms != NOBODY
        return there if self.possible is None else np.asarray(there & self.possible[atoms])


@dataclass(frozen=True, eq=False)
class Histories:
    """The numbers of records that can be somewhere: a row of `where` per unknown, with the atom in each version (or nobody).

    `guess` is how many there are in truth. `sums` has rows over the unknowns of which everybody knows the `totals` (−1: not
    known): how many changed in which way, and that who is somewhere before the change is somewhere after it. `names` says in
    words what each row is. Without `complete` some places where somebody could be are not listed.
    """

    where: Ints
    guess: Ints
    sums: sparse.csr_array
    totals: Ints
    names: tuple[str, ...]
    complete: bool

    def facts(self) -> Facts:
        """What everybody knows of the sums."""
        known = np.flatnonzero(self.totals >= 0).tolist()
        told = (Fact.exact((Term.total(COUNT, np.array([row])),), int(self.totals[row])) for row in known)
        return Facts(CHANGES, tuple(told))


@dataclass(frozen=True, eq=False)
class Crossing:
    """Sums over units of several versions: in row `row`, `weight` times the value of a `unit` of a `version`."""

    row: Ints
    version: Ints
    unit: Ints
    weight: Ints


@dataclass(frozen=True, eq=False)
class Between:
    """What lies between versions: histories of records, and sums over units of several versions, by response."""

    histories: Histories
    crossing: Mapping[str, Crossing] = field(default_factory=dict)
    n_rows: int = 0

    def ground(self) -> Ground:
        """A ground of sums of histories and each history as atoms, and of sums over units of several versions as units."""
        own = self.histories
        none = np.zeros(self.n_rows, dtype=np.int64)
        names = (*(own.names or ("nobody",)), *(["in the same classes in the versions"] * len(own.guess)))
        codes = np.arange(len(names)).reshape(-1, 1)
        return Ground(("records",), (names,), codes, none, none, {}, own.complete)


@dataclass(eq=False)
class _Listed:
    """Unknowns and sums as they are found."""

    where: list[Ints] = field(default_factory=list)
    guess: list[Ints] = field(default_factory=list)
    entries: list[tuple[Ints, Ints, int]] = field(default_factory=list)
    totals: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    n: int = 0
    complete: bool = True

    def add(self, where: Ints, guess: Ints) -> Ints:
        """List unknowns; their numbers."""
        self.where.append(where)
        self.guess.append(guess)
        self.n += len(where)
        return np.arange(self.n - len(where), self.n)

    def sum_up(self, rows: Ints, unknowns: Ints, weight: int) -> None:
        """Let unknowns be in sums, each in one."""
        self.entries.append((rows, unknowns, weight))

    def histories(self) -> Histories:
        """Everything that was listed."""
        none = np.zeros(0, dtype=np.int64)
        rows = np.concatenate([none, *(rows for rows, _, _ in self.entries)])
        columns = np.concatenate([none, *(unknowns for _, unknowns, _ in self.entries)])
        weights = np.concatenate([none, *(np.full(len(rows), weight) for rows, _, weight in self.entries)])
        sums = sparse.csr_array((weights.astype(np.int64), (rows, columns)), shape=(len(self.names), self.n))
        totals = np.array(self.totals, dtype=np.int64)
        where, guess = np.concatenate(self.where), np.concatenate(self.guess)
        return Histories(where, guess, sums, totals, tuple(self.names), self.complete)


@dataclass(frozen=True, eq=False)
class _Way:
    """One way to change: the versions that such records are in, which variables change freely at each step, the records."""

    there: tuple[int, ...]
    free: Mask
    where: Ints

    @property
    def cuts(self) -> list[int]:
        """The steps at which something changes that no rule says."""
        return np.flatnonzero(self.free.any(axis=1)).tolist()

    def named(self, members: Sequence[Member]) -> str:
        """In words."""
        names = [members[v].name or str(v + 1) for v in self.there]
        where = "in all versions" if len(names) == len(members) else f"in {_and(names)} only"
        return f"{where}, some codes changed" if self.cuts else where


def histories_of(members: Sequence[Member]) -> Histories:
    """All that records of some versions can do between them, as unknowns and sums of them."""
    codes = members[0].common
    if any(not np.array_equal(codes, own.common) for own in members):
        raise DataError("Versions of a data set need one list of atoms, so that records can be followed.")
    rules = _Rules(members)
    ways = sorted(_ways(rules), key=lambda way: -len(way.where))
    listed = _Listed()
    for number, way in enumerate(ways):
        row = len(listed.names)
        listed.names.append(way.named(members))
        listed.totals.append(len(way.where) if number else NOBODY)  # of the commonest it is not known how many
        segments = len(way.cuts) + 1
        if segments > 2 or listed.n + segments * len(codes) > MOST_COLUMNS:
            seen, times = np.unique(way.where, axis=0, return_counts=True)
            listed.sum_up(np.full(len(seen), row), listed.add(seen, times), 1)
            listed.complete = False
        else:
            _list(way, rules, row, listed)
    return listed.histories()


class _Rules:
    """Where records are in each version, and how codes change as a rule from one version to another."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.members, self.codes = members, members[0].common
        marks = np.unique(np.concatenate([own.marks for own in members]))
        self.where = np.full((len(marks), len(members)), NOBODY, dtype=np.int64)
        for v, own in enumerate(members):
            self.where[np.searchsorted(marks, own.marks), v] = own.ground.atom_of_unit
        self.sizes = (self.codes.max(axis=0, initial=MISSING) + 2).tolist()  # one for what is missing
        self._maps: dict[tuple[int, int], list[Ints]] = {}

    def after(self, codes: Ints, a: int, b: int) -> Ints:
        """What codes of version a become in version b by the rules."""
        maps = self._map(a, b)
        return np.column_stack([own[codes[:, x] + 1] for x, own in enumerate(maps)]) if maps else codes

    def _map(self, a: int, b: int) -> list[Ints]:
        if (a, b) not in self._maps:
            both = self.where[(self.where[:, a] != NOBODY) & (self.where[:, b] != NOBODY)]
            old, new = self.codes[both[:, a]], self.codes[both[:, b]]
            self._maps[a, b] = [_rule(old[:, x], new[:, x], size) for x, size in enumerate(self.sizes)]
        return self._maps[a, b]

    def new(self, a: int, b: int) -> Mask:
        """Which variables one of two versions does not have at all: whatever they are in the other is free."""
        lacking = []
        for v in (a, b):
            own = self.codes[self.members[v].ground.atom_of_unit]
            lacking.append((own == MISSING).all(axis=0) if len(own) else np.zeros(self.codes.shape[1], dtype=bool))
        return np.asarray(lacking[0] ^ lacking[1])

    def looked_up(self, wanted: Ints) -> Ints:
        """The atom that has each of some combinations of codes, or nobody."""
        if not self.codes.shape[1] or not len(wanted):
            return np.zeros(len(wanted), dtype=np.int64)
        known = (wanted != UNKNOWN).all(axis=1)
        both = np.concatenate((self.codes, wanted[known]))
        group, n_groups = group_rows(both, both.max(axis=0) + 1)
        atom = np.full(n_groups, NOBODY, dtype=np.int64)
        atom[group[: len(self.codes)]] = np.arange(len(self.codes))
        out = np.full(len(wanted), NOBODY, dtype=np.int64)
        out[known] = atom[group[len(self.codes) :]]
        return out


def _rule(old: Ints, new: Ints, size: int) -> Ints:
    """The new code for each old one, the first for what is missing: what most get who have it, else it stays."""
    out = np.arange(MISSING, size - 1)
    found, times = np.unique(np.column_stack((old, new)), axis=0, return_counts=True)
    every = np.bincount(old + 1, minlength=size)
    usual = times >= USUAL * every[found[:, 0] + 1]
    order = np.argsort(2 * times + (found[:, 0] == found[:, 1]), kind="stable")
    chosen = order[usual[order]]
    out[found[chosen, 0] + 1] = found[chosen, 1]
    return out


def _ways(rules: _Rules) -> list[_Way]:
    """The records by the versions that they are in and by what changes freely between these."""
    found = []
    present, group = np.unique(rules.where != NOBODY, axis=0, return_inverse=True)
    for number, own in enumerate(present):
        there = tuple(np.flatnonzero(own).tolist())
        where = rules.where[group.reshape(-1) == number]
        steps = [_free(rules, where, a, b) for a, b in pairwise(there)]
        every = np.stack(steps, axis=1) if steps else np.zeros((len(where), 0, rules.codes.shape[1]), dtype=bool)
        flat = every.reshape(len(where), -1)
        kinds, kind = np.unique(flat, axis=0, return_inverse=True)
        for at, one in enumerate(kinds):
            found.append(_Way(there, one.reshape(every.shape[1:]), where[kind.reshape(-1) == at]))
    return found


def _free(rules: _Rules, where: Ints, a: int, b: int) -> Mask:
    """Which codes of records follow no rule from one version to another."""
    codes = rules.codes
    return np.asarray((rules.after(codes[where[:, a]], a, b) != codes[where[:, b]]) | rules.new(a, b))


def _list(way: _Way, rules: _Rules, row: int, listed: _Listed) -> None:
    """List all places of records that change in one way; where they change freely, the rest of their codes stays."""
    cut = way.cuts[0] + 1 if way.cuts else len(way.there)
    first = _segment(way, rules, way.there[:cut], listed)
    listed.sum_up(np.full(len(first), row), first, 1)
    if cut == len(way.there):
        return
    before, after = way.there[cut - 1], way.there[cut]
    second = _segment(way, rules, way.there[cut:], listed)
    kept = ~way.free[cut - 1]
    where = np.concatenate(listed.where[-2:])
    old = rules.after(rules.codes[where[: len(first), before]], before, after)[:, kept]
    new = rules.codes[where[len(first) :, after]][:, kept]
    both = np.concatenate((old, new))
    group = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1) if kept.any() else np.zeros(len(both), np.int64)
    start = len(listed.names)
    n = int(group.max(initial=-1)) + 1
    listed.names += [f"{listed.names[row]}, before and after"] * n
    listed.totals += [0] * n
    listed.sum_up(start + group[: len(first)], first, 1)
    listed.sum_up(start + group[len(first) :], second, -1)


def _segment(way: _Way, rules: _Rules, versions: Sequence[int], listed: _Listed) -> Ints:
    """List the places of records over versions between which they follow the rules; the numbers of these unknowns."""
    start = np.arange(len(rules.codes))
    found = np.full((len(start), len(rules.members)), NOBODY, dtype=np.int64)
    at = start
    for before, v in zip((None, *versions), versions, strict=False):
        if before is not None:
            at = rules.looked_up(rules.after(rules.codes[at], before, v))
        able = rules.members[v].can(at)
        found, at = found[able], at[able]
        found[:, v] = at
    times = np.bincount(way.where[:, versions[0]], minlength=len(start))
    return listed.add(found, times[found[:, versions[0]]])


def _and(words: Sequence[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
