"""Small worlds in which relations connect values with counts: who can be in empty combinations of codes, by enumeration.

A world has a number of records and sums of the responses for each code. It is possible if records that obey the relations make
it up: their numbers and sums are enumerated record by record, with no linear statement about sums.
"""

from dataclasses import dataclass, field
from itertools import product

import numpy as np
import polars as pl

from reticent.base.arrays import Ints, Mask
from reticent.data.facts import COUNT, Fact, Facts, Term, Watch
from reticent.data.microdata import Microdata
from reticent.data.response_relations import ResponseRelation, parse_relation
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.history.scene import Scene
from reticent.tabulation.ground import ground_of
from reticent.tabulation.tied_facts import with_spare
from reticent.tabulation.tied_responses import Tie

RELATIONS: tuple[tuple[str, ...], ...] = (
    ("count <= r",),
    ("2 count <= r",),
    ("r <= count",),
    ("r = 2 count",),
    ("count <= r", "r <= 2 count"),
    ("count <= r", "q <= r"),
    ("r = q + count",),
    ("r + count <= q",),
)
CODES = "wxyz"


@dataclass
class TiedHistory:
    """Releases of one file, in order; `possible` says in which worlds each of them is as it is."""

    scene: Scene
    counts: Ints
    sums: dict[str, Ints]
    releases: list[Facts] = field(default_factory=list)
    possible: list[Mask] = field(default_factory=list)

    def truly_safe(self, n: int) -> bool:
        """Whether each watch of the first n releases still covers its interval after these."""
        left = np.logical_and.reduce(self.possible[:n])
        watches = [watch for facts in self.releases[:n] for watch in facts.watches]
        return all(self._covers(left, watch) for watch in watches)

    def _covers(self, left: Mask, watch: Watch) -> bool:
        atoms = np.unique(self.scene.grounded.ground.atoms_of(watch.response)[watch.places])
        found = self.of(watch.response)[left][:, atoms].sum(axis=1)
        return bool(found.min() <= watch.low and found.max() >= watch.high)

    def of(self, response: str) -> Ints:
        """Counts, or sums of a response, by world and atom."""
        return self.counts if response == COUNT else self.sums[response]


def make_tied(seed: int) -> TiedHistory:
    """A file of three to five records in three or four codes, one of them empty, and releases of counts and sums."""
    rng = np.random.default_rng(seed)
    relations = [parse_relation(text) for text in RELATIONS[rng.integers(len(RELATIONS))]]
    names = tuple(sorted({name for one in relations for name in one.names} - {"count"}))
    codes = CODES[: 3 if len(names) > 1 else int(rng.integers(3, 5))]
    n = int(rng.integers(3, 5))
    most = 2 * n + 1 if len(names) == 1 else n + 1
    allowed = [own for own in product(range(most + 1), repeat=len(names)) if _obeys(relations, names, own)]
    records = [allowed[k] for k in rng.integers(min(len(allowed), 4), size=n)]
    used = rng.choice(len(codes) - 1, size=n)
    frame = pl.DataFrame(
        {"a": [codes[k] for k in used], **{r: [float(v[k]) for v in records] for k, r in enumerate(names)}}
    )
    numeric = [Variable(name, kind=Kind.NUMERIC) for name in names]
    data = Microdata.of(frame, Schema((Variable("a", role=Role.KEY, codes=tuple(codes)), *numeric)))
    ties = tuple(Tie(relation) for relation in relations)
    grounded = with_spare(ground_of(data, ("a",), responses=names), ties)
    totals = [int(grounded.whole(name).sum()) for name in names]
    counts, sums = _worlds(n, totals, len(codes), relations, names)
    history = TiedHistory(Scene({}, grounded, ties, {}, ()), counts, dict(zip(names, sums, strict=True)))
    every = np.arange(len(codes))
    _add(
        history,
        [_watched(history, rng) for _ in range(int(rng.integers(1, 3)))],
        [(COUNT, every), *((r, every) for r in names)],
    )
    for _ in range(int(rng.integers(1, 5))):
        response = (COUNT, *names)[rng.integers(len(names) + 1)]
        atoms = np.flatnonzero(rng.random(len(codes)) < 0.5)
        watches = [_watched(history, rng)] if rng.random() < 0.3 else []
        _add(history, watches, [(response, atoms)] if len(atoms) else [])
    return history


def _obeys(relations: list[ResponseRelation], names: tuple[str, ...], record: tuple[int, ...]) -> bool:
    value = {"count": 1, **dict(zip(names, record, strict=True))}
    sums = [(sum(c * value[name] for name, c in zip(own.names, own.coefs, strict=True)), own) for own in relations]
    return all(total >= 0 if own.inequality else total == 0 for total, own in sums)


def _worlds(
    n: int, totals: list[int], n_codes: int, relations: list[ResponseRelation], names: tuple[str, ...]
) -> tuple[Ints, list[Ints]]:
    """All ways in which n records with these totals can be in the codes: counts and sums of each response."""
    single = [own for own in product(*(range(t + 1) for t in totals)) if _obeys(relations, names, own)]
    reach = [{(0,) * len(totals)}]
    for _ in range(n):
        more = {tuple(a + b for a, b in zip(one, other, strict=True)) for one in reach[-1] for other in single}
        reach.append({own for own in more if all(v <= t for v, t in zip(own, totals, strict=True))})
    worlds: set[tuple[tuple[int, ...], ...]] = {()}
    whole = (n, *totals)
    for at in range(n_codes):
        grown = set()
        for world in worlds:
            left = tuple(t - sum(part[k] for part in world) for k, t in enumerate(whole))
            for count in range(left[0] + 1) if at < n_codes - 1 else (left[0],):
                for own in reach[count] if at < n_codes - 1 else reach[count] & {left[1:]}:
                    if all(v <= most for v, most in zip(own, left[1:], strict=True)):
                        grown.add((*world, (count, *own)))
        worlds = grown
    found = np.array(sorted(worlds), dtype=np.int64)
    return found[:, :, 0], [found[:, :, 1 + k] for k in range(len(totals))]


def _term(history: TiedHistory, response: str, atoms: Ints) -> Term:
    ground = history.scene.grounded.ground
    return Term.total(response, np.flatnonzero(np.isin(ground.atoms_of(response), atoms)))


def _watched(history: TiedHistory, rng: np.random.Generator) -> Watch:
    grounded = history.scene.grounded
    response = (COUNT, *history.sums)[rng.integers(len(history.sums) + 1)]
    atoms = rng.choice(grounded.ground.n_atoms, size=int(rng.integers(1, 3)), replace=False)
    term = _term(history, response, atoms)
    true = int(grounded.truth(response)[term.places].sum())
    low, high = max(true - int(rng.integers(0, 2)), 0), true + int(rng.integers(0, 2))
    return Watch(response, term.places, term.weights, low, high + (low == high), str(atoms), "T")


def _add(history: TiedHistory, watches: list[Watch], told: list[tuple[str, Ints]]) -> None:
    """One more release: exact counts and sums over some atoms."""
    grounded, possible, facts = history.scene.grounded, np.ones(len(history.counts), dtype=bool), []
    for response, atoms in told:
        term = _term(history, response, atoms)
        total = int(grounded.truth(response)[term.places].sum())
        facts.append(Fact.exact((term,), total))
        possible &= history.of(response)[:, atoms].sum(axis=1) == total
    history.releases.append(Facts(f"release {len(history.releases) + 1}", tuple(facts), watches=tuple(watches)))
    history.possible.append(possible)
