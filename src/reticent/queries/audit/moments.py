# SPDX-License-Identifier: Apache-2.0
"""What sums and sums of squares of whole values fix only together: the numbers of records with each value.

Squares keep values together where no bounds are known: whole numbers of which the sum and the sum of squares are the same are 0
or 1. How many records of a class have each value is all that such rows depend on, and they depend on it linearly. So databases
that fit all answers are whole numbers that fit linear rows, for anybody and for each respondent who leaves out what is
their own. A class whose records all have one value needs another such database, or each of them would be known; and so does one
with too few respondents, whose total would be known.

Only values near the true ones are tried, within what is known of them. What is found there fits, wherever other databases
are; where nothing is found, the answer is refused.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain

import numpy as np
from scipy import sparse

from reticent.base.arrays import Ints, Mask
from reticent.base.errors import SolverError
from reticent.queries.audit.bins import Bins
from reticent.queries.audit.bounds import ENOUGH, FEW_VALUES, MOST_WEIGHT, UNCHECKED, known_ends
from reticent.queries.audit.ends import Members
from reticent.queries.audit.grids import Group, common_step, groups
from reticent.queries.audit.movements import MOST_UNITS, Units, kernel, movements, movements_inside
from reticent.queries.audit.sight import FEW_CLASSES
from reticent.queries.columns import Columns
from reticent.queries.policy import Bounds
from reticent.queries.refusals import StaffReason
from reticent.queries.rules import SetRules
from reticent.releases.rows import Partition
from reticent.releases.rowspace import RowSpace
from reticent.solve.highs import HighsSession
from reticent.solve.model import INFINITE, LinearModel

MOST_SEARCHES = 300
MOST_NODES, ANY = 100, 1e9
"""A search for another database ends with the first that it finds, or after this many nodes."""
AROUND, MOST_TRIED = 3, 48
FIXED = StaffReason("bounds", "sums and sums of squares together would fix the values of a class of records")


@dataclass(frozen=True)
class Moments:
    """The check for one response: by column the known ends of its values, and whether they are `known`."""

    columns: Columns
    ends: tuple[list[Fraction | None], ...]
    rules: SetRules
    known: Mask

    @classmethod
    def of(cls, columns: Columns, bounds: Bounds | None, rules: SetRules, bins: Bins | None = None) -> "Moments | None":
        """For a response whose units are here, within what bounds and bins say of them; None for others."""
        if not (columns.has_units and columns.n_columns):
            return None
        lows, highs = known_ends(columns, bounds or Bounds(), bins)
        # a value with only one step between its ends is known to those who know the steps, not to everybody
        known = np.array([first is not None and first == last for first, last in zip(lows, highs)], dtype=bool)
        known[columns.of_entities(rules.known)] = True
        return cls(columns, (lows, highs), rules, known)

    @cached_property
    def kinds(self) -> tuple[Ints, list[tuple[Fraction | None, Fraction | None]]]:
        """A number for each column, and the ends that it stands for."""
        pairs = list(zip(*self.ends))
        places = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
        return np.array([places[pair] for pair in pairs], dtype=np.int64), list(places)

    @cached_property
    def step(self) -> int:
        """The step in which all values come."""
        return common_step(self.columns.values.integers)

    def check(self, sums: RowSpace, squares: RowSpace) -> StaffReason | None:
        """Why what is released of sums and of sums of squares must not stand together, or None."""
        if sums.rank == 0 or squares.rank == 0:
            return None
        partition = _joint(sums.partition.class_of, squares.partition.class_of, self.kinds[0])
        if partition.n_classes > FEW_CLASSES:
            return None
        where = np.asarray(partition.class_of[self.columns.column_of], dtype=np.int64)
        told = (_weights(sums, partition), _weights(squares, partition))
        for group in groups(self.columns.values, self.step, where, told, MOST_WEIGHT):
            scene = _Scene(self, partition, where, group)
            reason = None if scene.linear else self._check(scene)
            if reason is not None:
                return reason
        return None

    def _check(self, scene: "_Scene") -> StaffReason | None:
        for own, unsafe in self._viewers(scene):
            if not scene.open_to(own, unsafe):
                return FIXED
            if scene.searches > MOST_SEARCHES:
                return UNCHECKED
        return None

    def _viewers(self, scene: "_Scene") -> Iterator[tuple[Ints, Mask]]:
        """What somebody knows beforehand, as numbers of records, and the classes whose totals they must not know.

        Nothing, and classes of too few; then what a respondent has, and classes of one other respondent; each once.
        """
        yield np.zeros(len(scene.counts), dtype=np.int64), scene.unsafe
        if self.rules.minimum < ENOUGH:
            return
        members = Members(self.columns, scene.partition)
        for places in self._own_places(scene):
            own = np.bincount(places, minlength=len(scene.counts))
            here = np.asarray(np.add.reduceat(own, scene.starts) > 0, dtype=bool)
            yield own, (here & members.two) | (~here & members.alone)

    def _own_places(self, scene: "_Scene") -> list[tuple[int, ...]]:
        """The classes and values of the records of each respondent whom nobody knows by name, each once."""
        hidden = ~np.isin(self.columns.entity, list(self.rules.known))
        if self.columns.one_each:
            return [(place,) for place in np.unique(scene.places[hidden]).tolist()]
        order = self.columns.by_entity[hidden[self.columns.by_entity]]
        starts = np.flatnonzero(np.diff(self.columns.entity[order], prepend=-1))
        return sorted({tuple(sorted(part.tolist())) for part in np.split(scene.places[order], starts[1:])})


def _joint(*kinds: Ints) -> Partition:
    """Columns that are alike in all these."""
    _, first, class_of, size = np.unique(
        np.column_stack(kinds), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    return Partition(class_of.reshape(-1).astype(np.int64), first.astype(np.int64), size.astype(np.int64))


def _weights(space: RowSpace, partition: Partition) -> Ints:
    """The weights of classes in what is released, but for the largest: what these tell is counted in bits."""
    rows = (row.coefficients(partition.representative) for row in space.rows())
    light = [row for row in rows if int(np.abs(row).max(initial=0)) <= MOST_WEIGHT]
    return np.array(light, dtype=np.int64).reshape(-1, partition.n_classes)


def tried(there: Ints, low: int, high: int) -> Ints:
    """The true values of a class and others near them, within what is known of them."""
    least, greatest = int(there.min()), int(there.max())
    if greatest - least < MOST_TRIED:
        more = max(AROUND, (FEW_VALUES - greatest + least) // 2)
        short = max(0, more - (least - low)), max(0, more - (high - greatest))  # what one side lacks the other has
        return np.arange(max(low, least - more - short[1]), min(high, greatest + more + short[0]) + 1)
    around = np.unique(there[:: -(-len(there) // (MOST_TRIED // 4))][:, None] + np.arange(-AROUND, AROUND + 1))
    return np.union1d(there, around[(around >= low) & (around <= high)])


@dataclass
class _Scene:
    """The classes, and the rows over the numbers of records of a class with each value that is tried (class by class).

    `worlds` are databases that fit all rows, found so far; what one respondent's search finds serves others too.
    """

    moments: Moments
    partition: Partition
    where: Ints
    group: Group
    worlds: list["_World"] = field(default_factory=list)
    searches: int = 0

    @cached_property
    def numbers(self) -> Ints:
        """The values of all units on the grid; those of classes that are not searched count as 0."""
        found, there = np.zeros(len(self.where), dtype=np.int64), self.group.inside[self.where]
        found[there] = self.group.grid.numbers(self.moments.columns.values.integers[there])
        return found

    @cached_property
    def ends(self) -> tuple[Ints, Ints]:
        """What is known of the values of each class."""
        codes, pairs = self.moments.kinds
        grid, kinds = self.group.grid, codes[self.partition.representative]
        low = np.array([grid.first(low) for low, _ in pairs], dtype=np.int64)[kinds]
        high = np.array([grid.last(high) for _, high in pairs], dtype=np.int64)[kinds]
        return np.where(self.group.inside, low, 0), np.where(self.group.inside, high, 0)

    @property
    def linear(self) -> bool:
        """Whether squares are a linear function of values: of two neighbouring ones they are."""
        low, high = (end[self.group.inside] for end in self.ends)
        return self.group.grid.step == 1 and int((high - low).max()) < 2 and len(np.unique(low)) < 2

    @property
    def told(self) -> tuple[Ints, Ints]:
        """The weights of classes in sums, and in sums of squares."""
        return self.group.told

    @cached_property
    def each(self) -> list[Ints]:
        """The values of each class that are tried."""
        order = np.lexsort((self.numbers, self.where))
        parts = np.split(
            self.numbers[order], np.searchsorted(self.where[order], np.arange(1, self.partition.n_classes))
        )
        return [tried(np.unique(part), int(low), int(high)) for part, low, high in zip(parts, *self.ends)]

    @cached_property
    def starts(self) -> Ints:
        """Where the values of each class begin."""
        return np.concatenate(([0], np.cumsum([len(own) for own in self.each])[:-1])).astype(np.int64)

    @cached_property
    def values(self) -> Ints:
        """The values of all classes, one after another."""
        return np.concatenate(self.each)

    @cached_property
    def of_class(self) -> Ints:
        """The class of each of the values."""
        return np.repeat(np.arange(self.partition.n_classes), [len(own) for own in self.each])

    def place(self, of_class: Ints, numbers: Ints) -> Ints:
        """Where values of classes are among those that are tried; −1: nowhere."""
        least, span = int(self.values.min()), int(self.values.max() - self.values.min()) + 1
        every, wanted = self.of_class * span + self.values - least, of_class * span + numbers - least
        found = np.searchsorted(every, wanted).clip(max=len(every) - 1)
        there = (every[found] == wanted) & (numbers >= least) & (numbers < least + span)
        return np.where(there, found, -1)

    @cached_property
    def places(self) -> Ints:
        """The class and value of each unit, as one number."""
        return self.place(self.where, self.numbers)

    @cached_property
    def counts(self) -> Ints:
        """How many records of each class truly have each value."""
        return np.bincount(self.places, minlength=len(self.values))

    @cached_property
    def rows(self) -> sparse.csr_array:
        """What is released, and that every record has one value; amounts count from the first value of a class, to be small."""
        units = self.numbers[np.isin(self.where, np.flatnonzero(self.told[1].any(axis=0)))]
        mean = round(float(units.mean())) if len(units) else 0
        first = self.values[self.starts][self.of_class]
        squares = (self.values - first) * (self.values + first - 2 * mean)
        parts = [rows[:, self.of_class] * amounts for rows, amounts in zip(self.told, (self.values - first, squares))]
        classes = (self.of_class == np.arange(self.partition.n_classes)[:, None]).astype(np.int64)
        return sparse.csr_array(np.concatenate([*parts, classes]))

    def fits(self, of_class: Ints, numbers: Sequence[int], change: Ints) -> bool:
        """Whether so many more records of some classes with some values leave all that is released as it is, exactly."""
        amounts = numbers, self.group.grid.squares(numbers), [1] * len(numbers)
        own = [*self.told, np.eye(self.partition.n_classes, dtype=np.int64)]
        return not any(
            bool((rows[:, of_class].astype(object) @ (change.astype(object) * np.array(each, dtype=object))).any())
            for rows, each in zip(own, amounts)
            if len(rows)
        )

    @cached_property
    def watched(self) -> Mask:
        """Classes that some row has and that are not known beforehand."""
        touched = np.concatenate(self.told).any(axis=0)
        return np.asarray(touched & ~self.moments.known[self.partition.representative], dtype=bool)

    @cached_property
    def most(self) -> Ints:
        """How many records of each class can have each value."""
        return np.add.reduceat(self.counts, self.starts)[self.of_class]

    @cached_property
    def unsafe(self) -> Mask:
        """Watched classes with too few respondents, or whose total breaks another rule."""
        broken, rules, columns = self.watched.copy(), self.moments.rules, self.moments.columns
        for j in np.flatnonzero(broken).tolist():
            broken[j] = rules.broken(columns, self.partition.class_of == j) is not None
        return broken

    def open_to(self, own: Ints, unsafe: Mask) -> bool:
        """Whether to somebody who knows some records another database fits for every class with one value only.

        And one with another total for every unsafe class.
        """
        true = self.counts - own
        same = np.add.reduceat(true > 0, self.starts) == 1
        left = np.flatnonzero((true > 0) & (same & self.watched)[self.of_class])
        for world in self.worlds:
            if bool((world.counts >= own).all()):
                left = left[world.counts[left] == self.counts[left]]
        moved = {j for j in np.unique(self.of_class[left]).tolist() if self._moved(own, j, total=False)}
        left = left[[j not in moved for j in self.of_class[left].tolist()]]
        while len(left):
            gains = np.zeros(len(own), dtype=np.int64)
            gains[left] = -1
            found = self._found(own, gains)
            if found is None:
                return False
            left = left[found.counts[left] == self.counts[left]]
        return all(self._moves(own, j) for j in np.flatnonzero(unsafe & self.watched).tolist())

    def _moves(self, own: Ints, j: int) -> bool:
        """Whether a database fits in which a class has another total."""
        if any(world.moved[j] for world in self.worlds if bool((world.counts >= own).all())):
            return True
        amounts = np.where(self.of_class == j, self.values - self.each[j][0], 0)
        return self._moved(own, j, total=True) or any(self._found(own, sign * amounts) is not None for sign in (1, -1))

    @cached_property
    def basis(self) -> list[Ints]:
        """Changes of the totals of classes that no released sum sees."""
        return kernel(self.told[0])

    def _moved(self, own: Ints, j: int, *, total: bool) -> bool:
        """Whether moving a few records finds a database in which a class has other values, or another total."""
        _, kinds = np.unique(self.told[1].T, axis=0, return_inverse=True)
        kinds = np.where(self.told[1].any(axis=0), kinds.reshape(-1), -1)
        rng = np.random.default_rng(j)  # only a search order
        places = self._some(self.counts - own, rng)
        low, high = (end[self.of_class[places]].tolist() for end in self.ends)
        units = Units(self.values[places].tolist(), self.of_class[places].tolist(), (low, high), kinds.tolist())
        inside = () if total else movements_inside(units, j)
        for moves in chain(inside, movements(units, self.basis, j, rng)):
            at = places[list(moves)]
            numbers = [*(self.values[at] + np.array([*moves.values()])).tolist(), *self.values[at].tolist()]
            of_class, change = np.tile(self.of_class[at], 2), np.repeat([1, -1], len(at))
            if self.fits(of_class, numbers, change):
                self._take(of_class, np.array(numbers, dtype=np.int64), change)
                return True
        return False

    def _some(self, there: Ints, rng: np.random.Generator) -> Ints:
        """Some records of each class that are not known, by their places."""
        every = np.repeat(np.arange(len(there)), np.minimum(there, MOST_UNITS))
        every = every[np.lexsort((rng.random(len(every)), self.of_class[every]))]
        rank = np.arange(len(every)) - np.searchsorted(self.of_class[every], self.of_class[every])
        return np.asarray(every[rank < MOST_UNITS], dtype=np.int64)

    def _take(self, of_class: Ints, numbers: Ints, change: Ints) -> "_World":
        """Remember a database by what is other in it; values that are not tried are left out of its counts."""
        counts, moved = self.counts.copy(), np.zeros(self.partition.n_classes, dtype=np.int64)
        np.add.at(moved, of_class, numbers * change)
        places = self.place(of_class, numbers)
        np.add.at(counts, places[places >= 0], change[places >= 0])
        self.worlds.append(_World(counts, moved != 0))
        return self.worlds[-1]

    def _found(self, own: Ints, gains: Ints) -> "_World | None":
        """A database with more gains than the true one that fits and has what somebody knows; None if none is found."""
        self.searches += 1
        sides = np.append(self.rows @ self.counts, gains @ self.counts + 1).astype(np.float64)
        model = LinearModel(
            gains.astype(np.float64),
            own.astype(np.float64),
            self.most.astype(np.float64),
            sparse.csr_array(sparse.vstack((self.rows, sparse.csr_array(gains[None, :]))).astype(np.float64)),
            sides,
            np.append(sides[:-1], INFINITE),
            integer=np.full(len(own), True),
            maximise=True,
        )
        try:
            session = HighsSession(model, presolve=True)
            session.set_option("mip_rel_gap", ANY)
            session.set_option("mip_max_nodes", MOST_NODES)
            found = session.solve()
        except SolverError:
            return None
        if not found.feasible:
            return None
        world = np.rint(found.values).astype(np.int64)
        at = np.flatnonzero(world - self.counts)
        change = (world - self.counts)[at]
        worse = int(gains @ world) <= int(gains @ self.counts) or bool((world < own).any())
        if worse or not self.fits(self.of_class[at], self.values[at].tolist(), change):
            return None
        return self._take(self.of_class[at], self.values[at], change)


@dataclass(frozen=True)
class _World:
    """Another database: how many records have each value that is tried, and the classes with another total."""

    counts: Ints
    moved: Mask
