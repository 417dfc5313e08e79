# SPDX-License-Identifier: Apache-2.0
"""What relations between responses tell of sums: `tot = dom + exp` holds in every class of atoms too.

Relations that connect responses with counts say who can be where: with `count <= pay` nobody is where no pay is. They hold
for empty atoms as well, which have unknowns of their own then (`Ground.spare`). They are stated for the coarsest classes that
sums of the responses select as a whole: within a class, values can go with whoever is there, however counts tell it apart.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from reticent.base.arrays import Ints
from reticent.data.facts import COUNT, OWN, Fact, Facts, Ground, Term
from reticent.data.response_relations import COUNT as RELATION_COUNT
from reticent.tabulation.ground import GroundedData
from reticent.tabulation.tied_responses import Tie

Responses = frozenset[str]
MOST_EMPTIED = 20
"""A class with more records is not taken for empty in any world; nobody is kept from knowing that somebody is there."""
BEYOND = 100
"""In a class that could be empty no record has more than this many times the largest value."""


@dataclass(frozen=True, eq=False)
class AtomClasses:
    """The class of each atom: by everything that is selected, and by the sums of each set of responses tied to counts."""

    of: Ints
    summed: Mapping[Responses, Ints]


@dataclass(frozen=True, eq=False)
class _Row:
    """Σ coefficient · response + Σ per record of an atom ≥ 0 (or = 0) in every class of atoms."""

    coefs: tuple[tuple[str, int], ...]
    per_record: Ints
    exact: bool


@dataclass(frozen=True, eq=False)
class _Members:
    """The places of each number, rising."""

    order: Ints
    starts: Ints

    @classmethod
    def of(cls, number: Ints, n: int, places: Ints | None = None) -> "_Members":
        """From the number at each place, or at each of some places."""
        order = np.argsort(number, kind="stable")
        starts = np.searchsorted(number[order], np.arange(n + 1))
        return cls(order if places is None else places[order], starts)

    def __getitem__(self, number: int) -> Ints:
        return self.order[self.starts[number] : self.starts[number + 1]]


def with_spare(grounded: GroundedData, ties: Sequence[Tie]) -> GroundedData:
    """The ground with unknowns for empty atoms of all responses that relations connect with counts."""
    spare = frozenset[str]().union(*_tied_to_counts(grounded, ties))
    return replace(grounded, ground=replace(grounded.ground, spare=spare)) if spare else grounded


def classes_of(ground: Ground, known: Iterable[Facts], responses: Responses | None = None) -> Ints:
    """The class of each atom: the coarsest partition that every fact and watch of some releases selects whole classes of.

    Facts of a file may be stated for these classes instead of for single atoms, which takes far fewer unknowns. With
    `responses` only sums of these count.
    """
    words = np.random.default_rng(0)  # marks of sums, which never leave: equal marks are equal selections
    mark = np.zeros(ground.n_atoms, dtype=np.uint64)
    known = list(known)
    at_atoms = {name: ground.atoms_of(name) for name in {name for facts in known for name in facts.responses()}}
    for facts in known:
        terms = [(t.response, t.places, t.weights) for fact in facts.facts for t in fact.terms if t.response != OWN]
        terms += [(watch.response, watch.places, watch.weights) for watch in facts.watches]
        for response, places, weights in terms:
            if responses is None or response in responses:
                word = words.integers(1, 2**63, dtype=np.uint64)
                atoms = at_atoms[response][places]
                mark[atoms] = mark[atoms] + word * weights.astype(np.uint64)  # once, for all units of an atom alike
    return np.unique(mark, return_inverse=True)[1].reshape(-1).astype(np.int64)


def atom_classes(grounded: GroundedData, ties: Sequence[Tie], known: Sequence[Facts]) -> AtomClasses:
    """The classes of atoms that some releases select as a whole."""
    tied = _tied_to_counts(grounded, ties)
    return AtomClasses(
        classes_of(grounded.ground, known), {own: classes_of(grounded.ground, known, own) for own in tied}
    )


def finer_classes(
    ground: Ground, classes: AtomClasses, new: Sequence[Facts], *, of: bool = True
) -> tuple[AtomClasses, AtomClasses]:
    """The classes that further releases select whole ones of, and which of them are parts of one that they divide (1, else 0).

    Without `of` only the classes by sums are divided.
    """
    fine, parts = _divided(classes.of, classes_of(ground, new)) if of else (classes.of, np.zeros_like(classes.of))
    summed = {names: _divided(own, classes_of(ground, new, names)) for names, own in classes.summed.items()}
    return (
        AtomClasses(fine, {names: found for names, (found, _) in summed.items()}),
        AtomClasses(parts, {names: divided for names, (_, divided) in summed.items()}),
    )


def _divided(classes: Ints, own: Ints) -> tuple[Ints, Ints]:
    """The classes that both partitions divide atoms into; for each atom whether the class that it was in is divided."""
    n = int(own.max(initial=0)) + 1
    pairs, number = np.unique(classes * n + own, return_inverse=True)
    if len(pairs) == int(classes.max(initial=-1)) + 1:
        return classes, np.zeros_like(classes)
    number = number.reshape(-1).astype(np.int64)
    return number, (np.bincount(pairs // n)[classes] > 1).astype(np.int64)


def facts_of_ties(
    grounded: GroundedData,
    ties: Sequence[Tie],
    classes: AtomClasses,
    *,
    release: str,
    only: AtomClasses | None = None,
) -> Facts:
    """What relations between responses tell of the sums over each class of atoms.

    They are no release's own; whoever knows them knows them of every release of the data. Responses that the ground does
    not have are unknown altogether, so that relations with them reveal nothing. `only` marks the atoms that are meant.
    """
    tied = _tied_to_counts(grounded, ties)
    facts: list[Fact] = []
    for names, own in tied.items():
        meant = None if only is None else only.summed[names]
        facts += _with_counts(grounded, own, names, classes.summed[names], meant)
    rest = [tie for tie in ties if all(tie not in own for own in tied.values()) and _usable(grounded, tie)]
    facts += _of_units(grounded, rest, classes.of, None if only is None else only.of)
    return Facts(release, tuple(facts))


def _usable(grounded: GroundedData, tie: Tie) -> bool:
    names = {*tie.relation.names} - ({RELATION_COUNT} if _counts(grounded, tie) else set())
    return names <= {*grounded.decimals} and bool(names - grounded.counted)


def _counts(grounded: GroundedData, tie: Tie) -> bool:
    """Whether a relation has the number of records in it."""
    return RELATION_COUNT in tie.relation.names and RELATION_COUNT not in grounded.decimals


def _tied_to_counts(grounded: GroundedData, ties: Sequence[Tie]) -> dict[Responses, list[Tie]]:
    """Sets of responses that relations, which hold in every record, connect with each other and with counts."""
    groups: list[tuple[set[str], list[Tie]]] = []
    for tie in ties:
        if tie.everywhere and _usable(grounded, tie):
            names = {*tie.relation.names} - grounded.counted - ({RELATION_COUNT} if _counts(grounded, tie) else set())
            touched = [group for group in groups if group[0] & names]
            groups = [group for group in groups if not group[0] & names]
            members = [own for _, mine in touched for own in mine]
            groups.append((names.union(*(own for own, _ in touched)), [*members, tie]))
    return {
        frozenset(names): own
        for names, own in groups
        if any(bool(row.per_record.any()) for row in _rows(grounded, own))
    }


def _rows(grounded: GroundedData, ties: Sequence[Tie]) -> list[_Row]:
    """The relations as rows over responses and counts; of those that differ in counts alone the tightest for each atom."""
    every = [row for tie in ties for row in _rows_of(grounded, tie)]
    tightest: dict[tuple[tuple[str, int], ...], Ints] = {}
    for row in (row for row in every if not row.exact):
        tightest[row.coefs] = np.minimum(tightest.get(row.coefs, row.per_record), row.per_record)
    return [row for row in every if row.exact] + [_Row(coefs, own, False) for coefs, own in tightest.items()]


def _rows_of(grounded: GroundedData, tie: Tie) -> Iterator[_Row]:
    coefs, per_record, most = _scaled(grounded, tie)
    slack = math.floor(tie.rounding * 10**most + 1e-9)  # records have whole numbers of units
    if not tie.relation.inequality and slack == 0:
        yield _Row(coefs, per_record, True)
        return
    yield _Row(coefs, per_record + slack, False)
    if not tie.relation.inequality:
        yield _Row(tuple((name, -coef) for name, coef in coefs), slack - per_record, False)


def _scaled(grounded: GroundedData, tie: Tie) -> tuple[tuple[tuple[str, int], ...], Ints, int]:
    """The coefficients of responses, what a record of each atom adds, and the decimals that both are counted in."""
    coefs = dict(zip(tie.relation.names, tie.relation.coefs, strict=True))
    counted = coefs.pop(RELATION_COUNT, 0) if _counts(grounded, tie) else 0
    most = max((grounded.decimals[name] for name in coefs), default=0)
    scaled = {name: coef * 10 ** (most - grounded.decimals[name]) for name, coef in coefs.items()}
    per_record = np.full(grounded.ground.n_atoms, counted * 10**most, dtype=np.int64)
    for name in scaled.keys() & grounded.counted:
        per_record += scaled[name] * grounded.by_atom(name)
    return (
        tuple(sorted((name, coef) for name, coef in scaled.items() if name not in grounded.counted)),
        per_record,
        most,
    )


def _with_counts(
    grounded: GroundedData, ties: Sequence[Tie], names: Responses, classes: Ints, meant: Ints | None
) -> Iterator[Fact]:
    """The rows of responses that are tied to counts for each class of atoms, empty ones included."""
    rows = _rows(grounded, ties)
    if len(rows) > 1:  # relations that differ from atom to atom hold together where they are the same
        classes = reduce(lambda own, row: _divided(own, _numbered(row.per_record))[0], rows, classes)
    beyond = list(_only_with_records(grounded, names, rows))
    kinds = [f"{number} of {', '.join(sorted(names))}" for number in range(len(rows) + len(beyond))]
    n = int(classes.max(initial=-1)) + 1
    at_atoms = _Members.of(classes, n)
    at_places = {name: _places(grounded, name, classes, n) for name in names}
    chosen = range(n) if meant is None else np.unique(classes[meant.astype(bool)]).tolist()
    for number in chosen:
        atoms = at_atoms[number]
        many = int(grounded.counts[atoms].sum()) > MOST_EMPTIED
        if many and beyond:
            yield Fact((Term.total(COUNT, atoms),), 1, None)
        for kind, row in enumerate(rows if many else (*rows, *beyond)):
            terms = [Term.times(name, at_places[name][number], coef) for name, coef in row.coefs]
            terms.append(_per_record(row.per_record, atoms))
            if own := tuple(term for term in terms if len(term.places)):
                yield Fact(own, 0, 0 if row.exact else None, kinds[kind])


def _only_with_records(grounded: GroundedData, names: Responses, rows: Sequence[_Row]) -> Iterator[_Row]:
    """Where nobody is, no response has a value: what relations leave open ends at more than a record can have."""
    for name in sorted(names):
        alone = [row for row in rows if [own for own, _ in row.coefs] == [name]]
        for sign in (-1, 1):
            bounded = any(row.exact or row.coefs[0][1] * sign > 0 for row in alone)
            if not bounded and (sign < 0 or grounded.ground.bounds_of(name)[0] != 0):
                values = np.abs(grounded.whole(name))
                most = max(min(2 * int(values.sum()) + 1, BEYOND * int(values.max(initial=0))), 1)
                yield _Row(((name, sign),), np.full(grounded.ground.n_atoms, most, dtype=np.int64), False)


def _of_units(grounded: GroundedData, ties: Sequence[Tie], classes: Ints, meant: Ints | None) -> Iterator[Fact]:
    """Relations among responses, and those that some records break, for each class of atoms that has units."""
    ground = grounded.ground
    chosen = ground.atom_of_unit if meant is None else ground.atom_of_unit[meant[ground.atom_of_unit].astype(bool)]
    if not ties or not len(chosen):
        return
    n = int(classes.max(initial=-1)) + 1
    at_atoms = _Members.of(classes, n)
    for tie in ties:
        coefs, per_record, most = _scaled(grounded, tie)
        at_places = {name: _places(grounded, name, classes, n) for name, _ in coefs}
        for number in np.unique(classes[chosen]).tolist():
            terms = [Term.times(name, at_places[name][number], coef) for name, coef in coefs]
            terms.append(_per_record(per_record, at_atoms[number]))
            slack = math.ceil(tie.rounding * 10**most * int(grounded.counts[at_atoms[number]].sum()))
            if not tie.everywhere and not _obeyed(grounded, terms, slack, inequality=tie.relation.inequality):
                continue
            if own := tuple(term for term in terms if len(term.places)):
                yield Fact(own, -slack, None if tie.relation.inequality else slack)


def _places(grounded: GroundedData, name: str, classes: Ints, n: int) -> _Members:
    """The unknowns of a response in each class of atoms; a unit without a value has none."""
    ground = grounded.ground
    there = np.append(grounded.there(name), np.ones(ground.size(name) - ground.n_units, dtype=bool))
    own = np.flatnonzero(there)
    return _Members.of(classes[ground.atoms_of(name)[own]], n, own)


def _obeyed(grounded: GroundedData, terms: Sequence[Term], slack: int, *, inequality: bool) -> bool:
    """Whether a relation that some records break, or that is one of a code, holds for the sums of a class and says something."""
    sums = [int((grounded.truth(term.response)[term.places] * term.weights).sum()) for term in terms]
    return any(sums) and sum(sums) >= -slack and (inequality or sum(sums) <= slack)


def _numbered(values: Ints) -> Ints:
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _per_record(weights: Ints, atoms: Ints) -> Term:
    """What the records of some atoms add to a relation."""
    own = weights[atoms]
    kept = own != 0
    return Term(COUNT, atoms, own) if kept.all() else Term(COUNT, atoms[kept], own[kept])
