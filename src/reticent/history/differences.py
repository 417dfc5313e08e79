# SPDX-License-Identifier: Apache-2.0
"""What cells of one release leave of cells of another that they lie within: nobody publishes it, but anybody can subtract.

Ages 15 to 65 in one table and 15 to 64 in another that is released later publish those who are 65, and so do all bands of ages
up to 65 in one and up to 64 in another. Where the rules of both call these people unsafe, their sum is watched like a hidden
cell without levels. Within one table nothing is added: its own method judges its sums. Tables of different versions are
subtracted too: who did not change is the same in both.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise, product

import numpy as np
from scipy import sparse

from reticent.base import clock
from reticent.base.arrays import Ints
from reticent.data.facts import COUNT, Watch
from reticent.data.published_table import PUBLISHED
from reticent.data.table import DimensionSpec, TableSpec
from reticent.history.scene import Scene
from reticent.history.table_recipe import ShownTable, TableRecipe
from reticent.tables.facts_left import response_of
from reticent.tables.request import rules_of_counts
from reticent.tables.rests import smallest, unsafe_groups
from reticent.tables.rules import Rule
from reticent.tabulation.code_bounds import Limit, limits_of
from reticent.tabulation.ground import GroundedData

DIFFERENCES = "differences of tables"
MOST_PAIRS = 10_000_000
"""Two tables with more pairs of cells are not looked at."""
MOST_UNIONS = 200
"""So many rests that several cells leave are judged of two tables, those of the fewest people."""
MOST_TWOS = 2_000
"""And so many times two of them together."""


@dataclass(frozen=True, eq=False)
class _Cells:
    """The cells of one released table: what they add up, the rules, their names, and their atoms (a column for each cell).

    `here` says whether the table is of the version whose people are looked at. `family` numbers finest cells, with totals of
    some dimensions: cells of one family have nobody in common (−1: cells of other levels, and the total).
    """

    release: str
    here: bool
    response: str
    variable: str
    rules: tuple[Rule, ...]
    shadow: str | None
    names: tuple[str, ...]
    published: tuple[bool, ...]
    family: Ints = field(repr=False)
    atoms: sparse.csc_array = field(repr=False)

    def of(self, cell: int) -> Ints:
        """The atoms of a cell."""
        found: Ints = self.atoms.indices[self.atoms.indptr[cell] : self.atoms.indptr[cell + 1]].astype(np.int64)
        return found

    def marks(self, people: Ints) -> list[bytes]:
        """For each cell the atoms with people in it, equal for equal people."""
        ends, atoms = self.atoms.indptr.tolist(), self.atoms.indices.astype(np.int64)
        return [_mark(atoms[a:b], people) for a, b in pairwise(ends)]

    def judged(self, marks: Sequence[bytes], other: "_Cells") -> Mapping[bytes, bool]:
        """The cells by their marks, and which of them the table publishes: none if what it says was not judged as strictly."""
        fully = self.here and set(other.rules) <= set(self.rules) and other.shadow == self.shadow
        return dict(zip(marks, self.published, strict=True)) if fully else {}


@dataclass(frozen=True)
class _Rest:
    """The atoms that a cell of one table leaves of a cell of another, and what that is called."""

    atoms: Ints
    name: str


def unsafe_differences(scene: Scene) -> tuple[tuple[Watch, ...], ...]:
    """For each version, the last one at the end, what tables leave of each other, two by two, and the rules call unsafe.

    One of the two is of that version. The other may be of another one: whoever stayed as they were adds up to the same.
    """
    return tuple(_of_version(scene.every, own) for own in scene.every)


def _of_version(every: Sequence[Scene], own: Scene) -> tuple[Watch, ...]:
    known = {*own.grounded.ground.variables}  # who is in cells of a variable that this version has not, it does not say
    tables = [
        list(_cells_of(own.grounded, name, recipe, here=scene is own))
        for scene in every
        for name, recipe in scene.recipes.items()
        if isinstance(recipe, TableRecipe) and known.issuperset(recipe.variables)
    ]
    found = dict[tuple[str, bytes], Watch]()  # two tables may call different people by the same codes
    for one, other in combinations(tables, 2):
        for mine, its in product(one, other):
            sizes = len(mine.names) * len(its.names)
            ruled = mine.rules or its.rules  # imports, and releases of ledgers that kept none, have none of their own
            if (mine.here or its.here) and ruled and mine.response == its.response and sizes <= MOST_PAIRS:
                clock.check()
                for watch in _unsafe(own.grounded, mine, its):
                    found.setdefault((watch.response, watch.places.tobytes()), watch)
    return tuple(found.values())


def _cells_of(grounded: GroundedData, name: str, recipe: TableRecipe, *, here: bool) -> Iterator[_Cells]:
    """The cells of each table of a release that hides what is unsafe; weighted tables add up something else."""
    many = len(recipe.tables) > 1
    for number, (shown, atoms) in enumerate(zip(recipe.tables, recipe.cell_atoms(grounded), strict=True), start=1):
        response = _response(grounded, shown)
        if response is not None and atoms:
            start = np.cumsum([0, *map(len, atoms.values())])
            inside = (np.ones(start[-1], dtype=np.int64), np.concatenate([*atoms.values()]), start)
            columns = sparse.csc_array(inside, shape=(grounded.ground.n_atoms, len(atoms)))
            rules = rules_of_counts(recipe.rules) if response == COUNT else recipe.rules
            names = tuple(" × ".join(codes) for codes in atoms)
            release = f"{name} ({number})" if many else name
            status = dict(zip(shown.published.codes, shown.published.status, strict=True))
            out = tuple(status.get(codes) == PUBLISHED for codes in atoms)
            # counts have none, and a variable of one version may be missing in another
            shadow = recipe.shadow if response != COUNT and recipe.shadow in grounded.data.schema else None
            variable = shown.published.dimensions[0]
            yield _Cells(release, here, response, variable, rules, shadow, names, out, _families(shown, atoms), columns)


def _families(shown: ShownTable, cells: Iterable[tuple[str, ...]]) -> Ints:
    """For each cell the dimensions in which it has a finest code, if it has the total of the others; −1 elsewhere."""
    places = [(own.index, own.is_leaf) for own in shown.dimensions]
    found = []
    for codes in cells:
        nodes = [index[code] for code, (index, _) in zip(codes, places, strict=True)]
        finest = [bool(leaf[node]) for node, (_, leaf) in zip(nodes, places, strict=True)]
        levels = all(fine or node == 0 for node, fine in zip(nodes, finest, strict=True))
        number = sum(1 << at for at, fine in enumerate(finest) if fine)
        found.append(number if levels and number else -1)
    return np.array(found, dtype=np.int64)


def _response(grounded: GroundedData, shown: ShownTable) -> str | None:
    """What a table adds up if its cells are exact or hidden, and not weighted."""
    exact = shown.published.method == "suppression" and not shown.weighted
    return response_of(grounded, shown.frame()) if exact else None


def _unsafe(grounded: GroundedData, one: _Cells, other: _Cells) -> list[Watch]:
    """What two tables leave of each other whose people the rules of either call unsafe."""
    unions = _unions(grounded, one, other)
    rests = [*_rests(grounded, one, other), *_rests(grounded, other, one), *unions]
    found = _unsafe_of(grounded, one, other, rests)
    unsafe = [rest for rest, _ in found if any(rest is own for own in unions)]
    return [watch for _, watch in (*found, *_unsafe_of(grounded, one, other, _two_of(unsafe, unions)))]


def _unsafe_of(grounded: GroundedData, one: _Cells, other: _Cells, rests: Sequence[_Rest]) -> list[tuple[_Rest, Watch]]:
    """The rests whose people the rules of either table call unsafe, each with what must not be known."""
    ground = grounded.ground
    there = np.ones(ground.n_units, dtype=bool) if one.response == COUNT else grounded.there(one.response)
    response = None if one.response == COUNT else one.response
    people = np.bincount(ground.atom_of_unit[there], minlength=ground.n_atoms)
    sizes = {at: int(people[own.atoms].sum()) for at, own in enumerate(rests)}
    groups = {at: np.flatnonzero(there & np.isin(ground.atom_of_unit, rests[at].atoms)) for at in smallest(sizes)}
    rules = tuple(dict.fromkeys((*one.rules, *other.rules)))
    specs = [TableSpec((DimensionSpec(one.variable),), response, own) for own in {one.shadow, other.shadow}]
    found = set[int]().union(*(unsafe_groups(grounded.data, spec, rules, groups) for spec in specs))
    releases = f"{one.release} and {other.release}"
    return [(rests[at], _watch(grounded, one.response, rests[at], groups[at], releases)) for at in sorted(found)]


def _rests(grounded: GroundedData, whole: _Cells, part: _Cells) -> Iterator[_Rest]:
    """What cells of one table leave of cells of another.

    What a table of this version has, or says by publishing both, is judged by its own method if its rules are those of both
    tables. That it hides one of the two does not keep the other table from publishing it.
    """
    people = np.bincount(grounded.ground.atom_of_unit, minlength=grounded.ground.n_atoms)
    shared = sparse.coo_array(whole.atoms.T @ part.atoms)
    inside = np.flatnonzero(shared.data == np.diff(part.atoms.indptr)[shared.col])
    marks, its = whole.marks(people), part.marks(people)
    tables = whole.judged(marks, part), part.judged(its, whole)
    for a, b in zip(shared.row[inside].tolist(), shared.col[inside].tolist()):
        if any(own.get(marks[a]) and own.get(its[b]) for own in tables):
            continue
        left = np.setdiff1d(whole.of(a), part.of(b), assume_unique=True)
        mark = _mark(left, people)
        if mark and not any(mark in own for own in tables):
            yield _Rest(left, f"{whole.names[a]} less {part.names[b]}")


def _unions(grounded: GroundedData, one: _Cells, other: _Cells) -> list[_Rest]:
    """What several cells of one table leave of several of the other that they lie within: the smallest of very many.

    Which cells have people in common says which lie within others, as codes of linked tables do.
    """
    people = np.bincount(grounded.ground.atom_of_unit, minlength=grounded.ground.n_atoms)
    shared = sparse.coo_array(one.atoms.T @ other.atoms)
    row, col = shared.row.astype(np.int64), shared.col.astype(np.int64)
    sizes = one.atoms.T @ people, other.atoms.T @ people
    limits: list[tuple[int, Limit]] = []
    for mine, its in product(sorted({*one.family.tolist()} - {-1}), sorted({*other.family.tolist()} - {-1})):
        clock.check()
        own = (one.family[row] == mine) & (other.family[col] == its)
        for limit in limits_of(np.column_stack((row[own], col[own])), (len(one.names), len(other.names))):
            of, within = sizes if limit.turned else sizes[::-1]
            limits.append((int(of[list(limit.of)].sum() - within[list(limit.within)].sum()), limit))
    smallest_of = sorted((own for own in limits if own[0]), key=lambda own: own[0])[:MOST_UNIONS]
    tables = one.judged(one.marks(people), other), other.judged(other.marks(people), one)
    found = dict[bytes, _Rest]()
    for _, limit in smallest_of:
        whole, part = (one, other) if limit.turned else (other, one)
        left = np.setdiff1d(_all_of(whole, limit.of), _all_of(part, limit.within), assume_unique=True)
        mark = _mark(left, people)
        if not any(mark in known for known in tables):
            found.setdefault(mark, _Rest(left, f"{_named(whole, limit.of)} less {_named(part, limit.within)}"))
    return list(found.values())


def _two_of(unsafe: Sequence[_Rest], rests: Sequence[_Rest]) -> list[_Rest]:
    """An unsafe rest with another that has nobody of it: bands of 20 to 49 less those of 21 to 48 leave two ages.

    Two rests that are safe are safe together.
    """
    pairs = {frozenset((id(a), id(b))): (a, b) for a, b in product(unsafe, rests) if a is not b}
    kept = list(pairs.values())[:MOST_TWOS]
    both = [(a, b) for a, b in kept if not np.isin(a.atoms, b.atoms, assume_unique=True).any()]
    return [_Rest(np.union1d(a.atoms, b.atoms), f"{a.name}, with {b.name}") for a, b in both]


def _all_of(cells: _Cells, chosen: Sequence[int]) -> Ints:
    """The atoms of cells that have none in common."""
    return np.sort(np.concatenate([cells.of(cell) for cell in chosen]))


def _named(cells: _Cells, chosen: Sequence[int]) -> str:
    return " and ".join(cells.names[cell] for cell in chosen)


def _mark(atoms: Ints, people: Ints) -> bytes:
    return atoms[people[atoms] > 0].tobytes()


def _watch(grounded: GroundedData, response: str, rest: _Rest, records: Ints, releases: str) -> Watch:
    """What is left must not be known exactly."""
    places = rest.atoms
    if response != COUNT:
        places = np.concatenate((records, grounded.ground.spare_places(response, rest.atoms)))
    value = int(grounded.truth(response)[places].sum())
    return Watch(response, places, np.ones(len(places), dtype=np.int64), value, value + 1, rest.name, releases)
