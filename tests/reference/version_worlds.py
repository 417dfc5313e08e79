"""Two or three versions of a small data set, tables of each, and all worlds that fit, one by one.

Everybody knows which values and codes were changed, how many records changed in each way except for the commonest one, and the
rule by which codes change that most have changed by; nobody knows the values and codes themselves.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement, pairwise, product

import numpy as np

from reticent.base.arrays import Ints, Mask
from reticent.data.facts import COUNT, Fact, Facts, Ground, Term, Watch
from reticent.releases.unknowns import Version

VALUE = "t"
Codes = tuple[int, ...]
Record = tuple[Codes, int]
World = tuple[int, ...]


@dataclass
class Told:
    """A release: of which version, its facts, and what it says of a world in plain words: sums of places and their values."""

    version: int
    facts: Facts
    says: list[tuple[list[int], int]]
    hides: list[tuple[list[int], int, int]]


@dataclass
class Case:
    """Versions as lists of records by mark, and all worlds: for each the unknowns of every version, one after another."""

    response: str
    versions: list[dict[int, Record]]
    atoms: list[Codes]
    top: int
    insiders: bool
    releases: list[Told] = field(default_factory=list)

    def given(self) -> list[Version]:
        """What the joint system gets."""
        n = max(max(code) for code in self.atoms) + 1
        names = tuple("ab"[: len(self.atoms[0])])
        categories = tuple(tuple(f"{name}{k}" for k in range(n)) for name in names)
        made = []
        for records in self.versions:
            marks = np.array(sorted(records), dtype=np.int64)
            atom = np.array([self.atoms.index(records[mark][0]) for mark in marks.tolist()], dtype=np.int64)
            bounds = {} if self.response == COUNT else {VALUE: (0, self.top)}
            ground = Ground(names, categories, np.array(self.atoms, dtype=np.int64), atom, marks, bounds, True)
            values = np.array([records[mark][1] for mark in marks.tolist()], dtype=np.int64)
            made.append(Version(ground, marks, {} if self.response == COUNT else {VALUE: values}))
        return made

    def truth(self) -> World:
        """The true values of the unknowns of all versions."""
        if self.response == COUNT:
            return tuple(
                sum(own[0] == atom for own in records.values()) for records in self.versions for atom in self.atoms
            )
        return tuple(records[mark][1] for records in self.versions for mark in sorted(records))

    def start(self, version: int) -> int:
        """Where the unknowns of a version begin."""
        sizes = [len(self.atoms) if self.response == COUNT else len(own) for own in self.versions]
        return sum(sizes[:version])

    @cached_property
    def worlds(self) -> list[World]:
        """All worlds that fit what everybody knows before any release."""
        return sorted(_worlds_of_counts(self)) if self.response == COUNT else _worlds_of_values(self)

    @cached_property
    def table(self) -> Ints:
        """All worlds as rows: millions of short sums over them are made at once."""
        return np.array(self.worlds, dtype=np.int64)

    def safe(self, done: Sequence[Told]) -> bool:
        """Whether after some releases each hidden sum can still reach both ends, for everybody and each respondent."""
        left = np.full(len(self.table), True)
        for told in done:
            for places, value in told.says:
                left &= self._sums(told, places) == value
        return all(self._open(left, told, hidden) for told in done for hidden in told.hides)

    def _sums(self, told: Told, places: list[int]) -> Ints:
        """A sum over some places of a release in every world."""
        start = self.start(told.version)
        return np.asarray(self.table[:, [start + place for place in places]].sum(axis=1))

    def _open(self, left: Mask, told: Told, hidden: tuple[list[int], int, int]) -> bool:
        places, low, high = hidden
        sums = self._sums(told, places)
        if sums[left].min() > low or sums[left].max() < high:
            return False
        for mark in sorted({m for records in self.versions for m in records}) if self.insiders else ():
            mine = [
                self.start(v) + sorted(records).index(mark)
                for v, records in enumerate(self.versions)
                if mark in records
            ]
            knows = (self.table[:, mine] == np.array(self.truth())[mine]).all(axis=1)
            could, own = sums[knows], sums[knows & left]
            if own.min() > max(low, could.min()) or own.max() < min(high, could.max()):
                return False
        return True


def _worlds_of_values(case: Case) -> list[World]:
    """A value that did not change is the same in all versions that have it; any other is free."""
    keys = [(mark, records[mark][1]) for records in case.versions for mark in sorted(records)]
    distinct = list(dict.fromkeys(keys))
    at = [distinct.index(key) for key in keys]
    return [tuple(point[k] for k in at) for point in product(range(case.top + 1), repeat=len(distinct))]


def _worlds_of_counts(case: Case) -> set[World]:
    ways = ways_of(case)
    commonest = max(ways, key=lambda way: len(ways[way]))
    found: set[World] = {(0,) * (len(case.atoms) * len(case.versions))}
    for way, marks in ways.items():
        sizes = range(len(marks) + 3) if way == commonest else [len(marks)]
        tracks = _tracks(case, way)
        sums = {
            tuple(map(sum, zip((0,) * (len(case.atoms) * len(case.versions)), *chosen, strict=True)))
            for size in sizes
            for chosen in combinations_with_replacement(tracks, size)
        }
        found = {tuple(map(sum, zip(one, other, strict=True))) for one in found for other in sums}
    return found


def ways_of(case: Case) -> dict[tuple[Codes, tuple[tuple[bool, ...], ...]], list[int]]:
    """The records by the versions that they are in and by which of their codes changed, against the rule, at each step."""
    found: dict[tuple[Codes, tuple[tuple[bool, ...], ...]], list[int]] = defaultdict(list)
    for mark in sorted({m for records in case.versions for m in records}):
        there = tuple(v for v, records in enumerate(case.versions) if mark in records)
        steps = []
        for a, b in pairwise(there):
            rules = _rules(case, a, b)
            old, new = case.versions[a][mark][0], case.versions[b][mark][0]
            steps.append(tuple(rules[x].get(old[x], old[x]) != new[x] for x in range(len(old))))
        found[there, tuple(steps)].append(mark)
    return dict(found)


def _rules(case: Case, a: int, b: int) -> list[dict[int, int]]:
    """What each code of a variable becomes: what at least half of those with it get; of halves the same code, or the greater."""
    both = [m for m in case.versions[a] if m in case.versions[b]]
    rules = []
    for x in range(len(case.atoms[0])):
        pairs = Counter((case.versions[a][m][0][x], case.versions[b][m][0][x]) for m in both)
        rule: dict[int, int] = {}
        for old in {pair[0] for pair in pairs}:
            own = {new: n for (one, new), n in pairs.items() if one == old}
            usual = [new for new, n in own.items() if 2 * n >= sum(own.values())]
            if usual:
                rule[old] = max(usual, key=lambda new: (own[new], new == old, new))
        rules.append(rule)
    return rules


def _tracks(case: Case, way: tuple[Codes, tuple[tuple[bool, ...], ...]]) -> list[World]:
    """Everything that one record of a way can be: the atom in each version that has it, as ones among zeros."""
    there, steps = way
    codes = sorted({code for atom in case.atoms for code in atom})
    paths: list[list[Codes]] = [[atom] for atom in case.atoms]
    for (a, b), free in zip(pairwise(there), steps, strict=True):
        rules, longer = _rules(case, a, b), []
        for path in paths:
            old = path[-1]
            options = [codes if free[x] else [rules[x].get(old[x], old[x])] for x in range(len(old))]
            longer += [[*path, new] for new in product(*options) if new in case.atoms]
        paths = longer
    found = []
    for path in paths:
        world = [0] * (len(case.atoms) * len(case.versions))
        for v, atom in zip(there, path, strict=True):
            world[v * len(case.atoms) + case.atoms.index(atom)] = 1
        found.append(tuple(world))
    return sorted(set(found))


def make_case(seed: int) -> Case:
    """Records of two versions, at most six in each, with what leaves, comes and changes between them; a few tables."""
    rng = np.random.default_rng(seed)
    counts = bool(rng.random() < 0.5)
    n_codes = 2 if counts or rng.random() < 0.5 else 3
    n_variables = int(rng.integers(1, 3)) if n_codes == 2 else 1
    atoms = list(product(range(n_codes), repeat=n_variables))
    top = 4 if not counts else 0
    n = int(rng.integers(3, 7 if counts else 6))
    first = {mark: (_code(atoms, rng), int(rng.integers(top + 1))) for mark in range(n)}
    versions = [first, _changed(first, atoms, top, rng)]
    case = Case(COUNT if counts else VALUE, versions, atoms, top, insiders=not counts and bool(rng.random() < 0.3))
    wanted = int(rng.integers(2, 6))
    for attempt in range(20):
        version = int(rng.integers(2))
        told = _table(case, version, f"release {attempt + 1}", rng)
        within = [one for one in case.releases if one.version == version]
        if (told.says or told.hides) and (rng.random() < 0.03 or case.safe([*within, told])):
            case.releases.append(told)
        if len(case.releases) >= wanted:
            break
    return case


def _code(atoms: list[Codes], rng: np.random.Generator) -> Codes:
    return atoms[int(rng.integers(len(atoms)))]


def _changed(first: dict[int, Record], atoms: list[Codes], top: int, rng: np.random.Generator) -> dict[int, Record]:
    """The next version: most records stay as they are, some leave, move, get another value, and some come."""
    found: dict[int, Record] = {}
    turned = bool(rng.random() < 0.15)
    for mark, (codes, value) in first.items():
        draw = rng.random()
        if draw < 0.12:
            continue
        new = tuple(1 - code if turned and x == 0 and code < 2 else code for x, code in enumerate(codes))
        if draw < 0.24:
            new = _code(atoms, rng)
        found[mark] = (new, int(rng.integers(top + 1)) if rng.random() < 0.2 else value)
    if rng.random() < 0.4 and len(found) < 6 and top < 5:
        found[99] = (_code(atoms, rng), int(rng.integers(top + 1)))
    return found or dict(first)


def _table(case: Case, version: int, name: str, rng: np.random.Generator) -> Told:
    """A table of a version with its total: some cells hidden, of which most are watched."""
    records = case.versions[version]
    truth = case.truth()[case.start(version) :]
    marks = sorted(records)
    cells: list[list[int]] = []
    chosen = sorted(
        rng.choice(len(case.atoms[0]), size=int(rng.integers(1, len(case.atoms[0]) + 1)), replace=False).tolist()
    )
    for codes in product(*([None, *sorted({atom[x] for atom in case.atoms})] for x in chosen)):
        fits = [
            atom for atom in case.atoms if all(c is None or atom[x] == c for x, c in zip(chosen, codes, strict=True))
        ]
        inside = (
            [case.atoms.index(atom) for atom in fits]
            if case.response == COUNT
            else [k for k, mark in enumerate(marks) if records[mark][0] in fits]
        )
        if inside:
            cells.append(inside)
    says, hides, facts, watches = [], [], [], []
    share = rng.choice([0.0, 0.35, 0.8])
    for number, places in enumerate(cells):
        value = sum(truth[place] for place in places)
        array = np.array(places, dtype=np.int64)
        if rng.random() >= share:
            says.append((places, value))
            facts.append(Fact.exact((Term.total(case.response, array),), value))
        elif rng.random() < 0.6:
            most = value + 1 if case.response == COUNT else min(case.top * len(places), value + int(rng.integers(1, 3)))
            ends = (max(0, value - int(rng.integers(1, 3))), most)
            hides.append((places, *ends))
            watches.append(Watch(case.response, array, np.ones(len(array), np.int64), *ends, f"cell {number}", name))
    return Told(version, Facts(name, tuple(facts), watches=tuple(watches)), says, hides)
