"""Small worlds, all of them: which whole numbers fit the outputs of a history of releases, by enumeration.

Each release is made twice, by code that shares nothing: as facts (what a method states), and as the set of worlds in which
this output is a true output of the method, its choices left open. Blanks, for example, are facts of a transport problem on
one side and all ways to fill the blanks on the other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product

import numpy as np

from reticent.base.arrays import Ints, Mask
from reticent.data.facts import COUNT, OWN, Fact, Facts, Ground, Term, Watch
from reticent.releases.verifier import Witness

VALUE = "value"


@dataclass(frozen=True, eq=False)
class World:
    """The truth, its ground, and every other world within the bounds: a row per world, a column per unknown."""

    ground: Ground
    response: str
    truth: Ints
    every: Ints

    @property
    def values(self) -> dict[str, Ints]:
        """The true values that a system is given."""
        return {} if self.response == COUNT else {self.response: self.truth}


@dataclass(frozen=True, eq=False)
class Release:
    """What a release states, and in which worlds its output is possible."""

    facts: Facts
    possible: Mask


def _ints(values: object) -> Ints:
    return np.array(values, dtype=np.int64)


def make_world(rng: np.random.Generator) -> World:
    """Counts of atoms, or values of units, of two or three variables."""
    sizes = [(2, 2), (2, 3), (3, 2), (2, 2, 2)][rng.integers(4)]
    codes = _ints(list(product(*(range(s) for s in sizes))))
    names = tuple("ABC"[: len(sizes)])
    categories = tuple(tuple(f"{n.lower()}{k}" for k in range(s)) for n, s in zip(names, sizes, strict=True))
    n_atoms = len(codes)
    n_units = int(rng.integers(4, 9))
    atom = rng.integers(n_atoms, size=n_units)
    if rng.random() < 0.5:
        most = {4: 6, 6: 4, 8: 2}[n_atoms]
        truth = np.bincount(atom, minlength=n_atoms)
        most = max(most, int(truth.max()))
        while (most + 1) ** n_atoms > 80_000:
            atom[rng.choice(np.flatnonzero(atom == int(truth.argmax())))] = int(truth.argmin())
            truth = np.bincount(atom, minlength=n_atoms)
            most = max(2, int(truth.max()))
        ground = Ground(names, categories, codes, atom, np.arange(n_units), {COUNT: (0, most)}, True)
        return World(ground, COUNT, truth.astype(np.int64), _grid(n_atoms, most))
    most = {4: 7, 5: 5, 6: 4, 7: 3, 8: 2}[n_units]
    owner = rng.integers(n_units, size=n_units) if rng.random() < 0.3 else np.arange(n_units)
    ground = Ground(names, categories, codes, atom, owner, {VALUE: (0, most)}, True)
    truth = rng.integers(most + 1, size=n_units)
    return World(ground, VALUE, truth.astype(np.int64), _grid(n_units, most))


_GRIDS: dict[tuple[int, int], Ints] = {}


def _grid(n: int, most: int) -> Ints:
    if (n, most) not in _GRIDS:
        _GRIDS[n, most] = np.indices((most + 1,) * n).reshape(n, -1).T.astype(np.int64)
    return _GRIDS[n, most]


def _members(world: World, atoms: Ints) -> Ints:
    """The unknowns that lie in some atoms."""
    return atoms if world.response == COUNT else np.flatnonzero(np.isin(world.ground.atom_of_unit, atoms))


def _cells(world: World, rng: np.random.Generator) -> list[tuple[str, Ints]]:
    """The cells of a table of one or two variables with its margins; names and unknowns."""
    ground = world.ground
    n = min(len(ground.variables), int(rng.integers(1, 3)))
    dims = sorted(rng.choice(len(ground.variables), size=n, replace=False).tolist())
    found = []
    for codes in product(*([None, *range(len(ground.categories[d]))] for d in dims)):
        chosen = np.ones(ground.n_atoms, dtype=bool)
        for d, code in zip(dims, codes, strict=True):
            chosen &= True if code is None else ground.codes[:, d] == code
        name = "×".join("total" if c is None else ground.categories[d][c] for d, c in zip(dims, codes, strict=True))
        found.append((name, _members(world, np.flatnonzero(chosen))))
    return found


def _bounds(world: World) -> tuple[int, int]:
    low, high = world.ground.bounds[world.response]
    assert low is not None
    assert high is not None
    return low, high


def _exact(world: World, places: Ints) -> tuple[Fact, Mask]:
    total = int(world.truth[places].sum())
    return Fact.exact((Term.total(world.response, places),), total), world.every[:, places].sum(axis=1) == total


def _watch(world: World, places: Ints, name: str, release: str, rng: np.random.Generator) -> Watch:
    total, (low, high) = int(world.truth[places].sum()), _bounds(world)
    width = int(rng.integers(1, 3))
    ends = max(low * len(places), total - width), min(high * len(places), total + width)
    return Watch(world.response, places, np.ones(len(places), dtype=np.int64), *ends, name, release)


def table(world: World, name: str, rng: np.random.Generator) -> Release:
    """A table with margins: some cells hidden (watched, all or some of them), the others exact."""
    cells = [cell for cell in _cells(world, rng) if len(cell[1])]
    inner = [k for k, (cell, _) in enumerate(cells) if "total" not in cell]
    hidden = (
        set(rng.choice(inner, size=min(len(inner), int(rng.integers(1, 5))), replace=False).tolist())
        if inner
        else set()
    )
    hidden |= {k for k in range(len(cells)) if rng.random() < 0.15}
    facts, possible = [], np.ones(len(world.every), dtype=bool)
    for k, (_, places) in enumerate(cells):
        if k not in hidden:
            fact, fits = _exact(world, places)
            facts.append(fact)
            possible &= fits
    unsafe = [k for k in sorted(hidden) if rng.random() < 0.6]
    watches = tuple(_watch(world, cells[k][1], cells[k][0], name, rng) for k in unsafe)
    return Release(Facts(name, tuple(facts), watches=watches), possible)


def rounded_table(world: World, name: str, rng: np.random.Generator) -> Release:
    """A table rounded to a base, up or down; a watch on one cell."""
    base = int(rng.integers(2, 4))
    facts, possible = [], np.ones(len(world.every), dtype=bool)
    cells = [cell for cell in _cells(world, rng) if len(cell[1])]
    for _, places in cells:
        total = int(world.truth[places].sum())
        shown = (total // base + int(rng.integers(2)) * (total % base > 0)) * base
        facts.append(Fact((Term.total(world.response, places),), shown - base + 1, shown + base - 1))
        possible &= np.abs(world.every[:, places].sum(axis=1) - shown) < base
    label, places = cells[rng.integers(len(cells))]
    watches = (_watch(world, places, label, name, rng),) if rng.random() < 0.5 else ()
    return Release(Facts(name, tuple(facts), watches=watches), possible)


def answer(world: World, name: str, rng: np.random.Generator) -> Release:
    """The exact sum over what a condition selects."""
    n = world.ground.n_atoms
    atoms = np.flatnonzero(rng.random(n) < rng.random())
    places = _members(world, atoms)
    if len(places) == 0:
        places = np.arange(len(world.truth))
    fact, possible = _exact(world, places)
    return Release(Facts(name, (fact,)), possible)


def recoded(world: World, name: str, rng: np.random.Generator) -> Release:
    """A file with one variable left, perhaps two of its codes joined: exact counts (or sums) of each."""
    d = int(rng.integers(len(world.ground.variables)))
    codes = world.ground.codes[:, d].copy()
    if rng.random() < 0.5:
        codes[codes == codes.max()] = codes.min()
    facts, possible = [], np.ones(len(world.every), dtype=bool)
    for code in np.unique(codes):
        places = _members(world, np.flatnonzero(codes == code))
        if len(places):
            fact, fits = _exact(world, places)
            facts.append(fact)
            possible &= fits
    return Release(Facts(name, tuple(facts)), possible)


def blanks(world: World, name: str, rng: np.random.Generator) -> Release:
    """A file of the keys in which single values are blanked: what a blanked record was is open."""
    ground = world.ground
    shown = ground.codes[ground.atom_of_unit].copy()
    shown[rng.random(shown.shape) < 0.25] = -1
    patterns, counts = np.unique(shown, axis=0, return_counts=True)
    flows: list[list[tuple[int, int]]] = [[] for _ in range(ground.n_atoms)]
    facts, own, untouched = [], [], np.zeros(ground.n_atoms, dtype=np.int64)
    for pattern, count in zip(patterns, counts.tolist(), strict=True):
        fits = np.flatnonzero(((ground.codes == pattern) | (pattern == -1)).all(axis=1)).tolist()
        if len(fits) == 1:
            untouched[fits[0]] += count
            continue
        places = list(range(len(own), len(own) + len(fits)))
        own += [(0, count)] * len(fits)
        facts.append(Fact.exact((Term.total(OWN, _ints(places)),), count))
        for place, atom in zip(places, fits, strict=True):
            flows[atom].append((place, atom))
    for atom in range(ground.n_atoms):
        terms = [Term.total(COUNT, _ints([atom]))]
        if flows[atom]:
            terms.append(Term(OWN, _ints([p for p, _ in flows[atom]]), _ints([-1] * len(flows[atom]))))
        facts.append(Fact.exact(tuple(terms), int(untouched[atom])))
    reachable = {tuple([0] * ground.n_atoms)}
    for record in shown:
        fits = np.flatnonzero(((ground.codes == record) | (record == -1)).all(axis=1)).tolist()
        reachable = {tuple(c + (a == f) for a, c in enumerate(done)) for done in reachable for f in fits}
    base = int(world.every.max()) + 1
    powers = base ** np.arange(ground.n_atoms)
    codes = [int(np.dot(r, powers)) for r in reachable if max(r) < base]
    possible = np.isin(world.every @ powers, codes)
    return Release(Facts(name, tuple(facts), tuple(own)), possible)


def sampled(world: World, name: str, rng: np.random.Generator) -> Release:
    """Some records as they are: counts are at least what is seen; values are seen exactly."""
    taken = rng.random(world.ground.n_units) < 0.3
    possible = np.ones(len(world.every), dtype=bool)
    facts = []
    if world.response == COUNT:
        seen = np.bincount(world.ground.atom_of_unit[taken], minlength=world.ground.n_atoms)
        for atom in np.flatnonzero(seen).tolist():
            facts.append(Fact((Term.total(COUNT, _ints([atom])),), int(seen[atom]), None))
        possible = (world.every >= seen).all(axis=1)
    else:
        for unit in np.flatnonzero(taken).tolist():
            fact, fits = _exact(world, _ints([unit]))
            facts.append(fact)
            possible &= fits
    return Release(Facts(name, tuple(facts)), possible)


def rounded_file(world: World, name: str, rng: np.random.Generator) -> Release:
    """Each value rounded to a base, halves up."""
    base = int(rng.integers(2, 6))
    shown = (2 * world.truth + base) // (2 * base) * base
    facts = []
    for unit, value in enumerate(shown.tolist()):
        # value − base/2 ≤ x < value + base/2
        facts.append(Fact((Term.total(VALUE, _ints([unit])),), -((base - 2 * value) // 2), (2 * value + base - 1) // 2))
    possible = ((2 * world.every + base) // (2 * base) * base == shown).all(axis=1)
    return Release(Facts(name, tuple(facts)), possible)


def top_coded(world: World, name: str, rng: np.random.Generator) -> Release:
    """Values from a threshold on are replaced by it, or by their mean; the others stand."""
    threshold = int(rng.integers(0, 3))
    tail = world.truth >= threshold
    facts = [Fact((Term.total(VALUE, _ints([u])),), threshold, None) for u in np.flatnonzero(tail)]
    facts += [Fact.exact((Term.total(VALUE, _ints([u])),), int(world.truth[u])) for u in np.flatnonzero(~tail)]
    possible = ((world.every >= threshold) == tail).all(axis=1) & (
        (world.every == world.truth) | (world.every >= threshold)
    ).all(axis=1)
    if tail.any() and rng.random() < 0.5:
        fact, fits = _exact(world, np.flatnonzero(tail))
        facts.append(fact)
        possible &= fits
    return Release(Facts(name, tuple(facts)), possible)


def microaggregated(world: World, name: str, rng: np.random.Generator) -> Release:
    """Means of groups of two or more units; by ranking: the order of the groups is seen too."""
    n, size = len(world.truth), int(rng.integers(2, 4))
    ranked = rng.random() < 0.5
    order = np.argsort(world.truth, kind="stable") if ranked else rng.permutation(n)
    groups = [order[k : k + size] for k in range(0, n, size)]
    if len(groups) > 1 and len(groups[-1]) == 1:
        groups[-2:] = [np.concatenate(groups[-2:])]
    facts, possible = [], np.ones(len(world.every), dtype=bool)
    for group in groups:
        fact, fits = _exact(world, np.sort(group))
        facts.append(fact)
        possible &= fits
    for below, above in pairwise(groups) if ranked else ():
        facts += [Fact((Term(VALUE, _ints([b, a]), _ints([-1, 1])),), 0, None) for b, a in product(below, above)]
        possible &= world.every[:, below].max(axis=1) <= world.every[:, above].min(axis=1)
    return Release(Facts(name, tuple(facts)), possible)


Maker = Callable[[World, str, np.random.Generator], Release]
BOTH: tuple[Maker, ...] = (table, table, table, rounded_table, answer, answer, recoded, sampled)
OF_COUNTS: tuple[Maker, ...] = (*BOTH, blanks, blanks)
OF_VALUES: tuple[Maker, ...] = (*BOTH, rounded_file, rounded_file, top_coded, microaggregated, microaggregated)


@dataclass
class History:
    """Releases of one world, in order."""

    world: World
    releases: list[Release] = field(default_factory=list)
    insiders: bool = False

    def truly_safe(self, releases: list[Release]) -> bool:
        """Whether after these releases each watch still covers its interval, for everybody (and each respondent)."""
        left = np.logical_and.reduce([release.possible for release in releases])
        return self._all_unknown(left, releases)

    def each_alone_safe(self, releases: list[Release]) -> bool:
        """Whether each release, with all that any of them watches, would be safe if no other were out."""
        return all(self._all_unknown(release.possible, releases) for release in releases)

    def _all_unknown(self, left: Mask, releases: list[Release]) -> bool:
        return all(self._unknown(left, watch) for release in releases for watch in release.facts.watches)

    def _unknown(self, left: Mask, watch: Watch) -> bool:
        sums = self.world.every[:, watch.places] @ watch.weights
        if not self._covers(sums[left], watch.low, watch.high):
            return False
        if not self.insiders:
            return True
        for owner in np.unique(self.world.ground.entity_of_unit):
            own = self.world.ground.entity_of_unit == owner
            his = (self.world.every[:, own] == self.world.truth[own]).all(axis=1)
            low, high = max(watch.low, int(sums[his].min())), min(watch.high, int(sums[his].max()))
            if not self._covers(sums[left & his], low, high):
                return False
        return True

    def _covers(self, sums: Ints, low: int, high: int) -> bool:
        return bool(sums.min() <= low and sums.max() >= high)


def make_history(seed: int) -> History:
    """A history of some watches and two to five releases, each safe by itself more often than not."""
    rng = np.random.default_rng(seed)
    world = make_world(rng)
    history = History(world, insiders=world.response == VALUE and bool(rng.random() < 0.3))
    makers = OF_COUNTS if world.response == COUNT else OF_VALUES
    wanted = int(rng.integers(2, 6))
    keep_exposed = rng.random() < 0.1
    for _ in range(int(rng.integers(1, 4))):
        history.releases.append(_hidden(world, rng))
    wanted += len(history.releases)
    for attempt in range(30):
        made = makers[rng.integers(len(makers))](world, f"release {attempt + 1}", rng)
        if not made.facts.facts or (not keep_exposed and not history.each_alone_safe([*history.releases, made])):
            continue
        history.releases.append(made)
        if len(history.releases) >= wanted:
            break
    return history


def _hidden(world: World, rng: np.random.Generator) -> Release:
    """A cell that is hidden and nothing else."""
    cells = [cell for cell in _cells(world, rng) if len(cell[1])]
    name, places = cells[rng.integers(len(cells))]
    watch = _watch(world, places, name, "policy", rng)
    return Release(Facts("policy", (), watches=(watch,)), np.ones(len(world.every), dtype=bool))


def same_unknowns(marks: Sequence[Ints], truths: Sequence[Mapping[str, Ints]], witness: Witness) -> bool:
    """Whether a witness gives a record that did not change between versions one value in all of them."""
    seen: dict[tuple[str, int, int], int] = {}
    for (version, response), values in witness.values.items():
        if response == COUNT or version >= len(marks):
            continue
        true = truths[version][response]
        for mark, before, value in zip(marks[version].tolist(), true.tolist(), values.tolist(), strict=True):
            if seen.setdefault((response, mark, before), value) != value:
                return False
    return True
