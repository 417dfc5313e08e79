"""All small worlds, and which of them a file can come from: brute force over records, written without the code under test."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations_with_replacement, permutations, product
from typing import Any

import numpy as np
import polars as pl
from scipy import optimize, sparse

from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.facts import COUNT, OWN, Facts, Ground
from reticent.data.method import MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.published import MaskedFile, release_file
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.facts.file import facts_left, seen_of
from reticent.microdata.pipeline import apply_steps
from reticent.tabulation.ground import GroundedData, ground_of

Record = tuple[Any, ...]
Images = Callable[[Record], list[Record]]
"""All that a method may show for a record, whatever it chooses."""

A, B = ("a1", "a2", "a3"), ("b1", "b2")


def data_of(
    records: Sequence[Record], *, top: int = 4, extra: Sequence[Variable] = ()
) -> tuple[Microdata, GroundedData]:
    """Records (a, b, v) with all codes declared and v known to be from 0 to `top`."""
    frame = pl.DataFrame({"a": [r[0] for r in records], "b": [r[1] for r in records], "v": [r[2] for r in records]})
    schema = Schema(
        (
            Variable("a", role=Role.KEY, codes=A),
            Variable("b", role=Role.KEY, codes=B),
            Variable("v", kind=Kind.NUMERIC),
            *extra,
        )
    )
    data = Microdata.of(frame, schema)
    return data, ground_of(data, ("a", "b"), responses=("v",), bounds={"v": (0, top)})


def released(
    data: Microdata, grounded: GroundedData, steps: Sequence[MaskingMethod], seed: int = 1
) -> tuple[MaskedFile, Facts]:
    """What the steps release, and the facts that it leaves."""
    masked = apply_steps(data, steps, secret=as_secret(seed), progress=silent)
    file = release_file(masked.data)
    seen = seen_of(grounded, steps, [record.facts for record in masked.steps])
    return file, facts_left(grounded, file, seen, release="file F")


def records_of(file: MaskedFile) -> list[Record]:
    """The records of a file as plain values; None where nothing is shown."""
    return [tuple(row) for row in file.to_native().rows()]


def satisfied(facts: Facts, worlds: dict[str, np.ndarray], *, whole: bool = True) -> bool:
    """Whether the unknowns have these values in a world that agrees with all facts (auxiliary ones are searched)."""
    n = len(facts.own)
    rows: list[dict[int, int]] = []
    lows, highs = [], []
    for fact in facts.facts:
        known = 0
        row: dict[int, int] = {}
        for term in fact.terms:
            if term.response == OWN:
                row |= dict(zip(term.places.tolist(), term.weights.tolist(), strict=True))
            elif term.response in worlds:
                known += int((worlds[term.response][term.places] * term.weights).sum())
            else:
                break
        else:
            low = -np.inf if fact.low is None else fact.low - known
            high = np.inf if fact.high is None else fact.high - known
            if not row:
                if not low <= 0 <= high:
                    return False
                continue
            rows.append(row)
            lows.append(low)
            highs.append(high)
    if not rows:
        return True
    at = [(number, place) for number, row in enumerate(rows) for place in row]
    values = [weight for row in rows for weight in row.values()]
    matrix = sparse.csr_array((values, tuple(zip(*at, strict=True))), shape=(len(rows), n))
    bounds = optimize.Bounds([low for low, _ in facts.own], [np.inf if high is None else high for _, high in facts.own])
    found = optimize.milp(
        np.zeros(n), constraints=optimize.LinearConstraint(matrix, lows, highs), bounds=bounds,
        integrality=np.full(n, int(whole)),
    )  # fmt: skip
    return found.status == 0


def count_worlds(n: int, more: int = 0) -> Iterator[list[Record]]:
    """All sets of records (a, b) of n to n + more people."""
    for size in range(n, n + more + 1):
        yield from (list(chosen) for chosen in combinations_with_replacement(list(product(A, B)), size))


def counts_in(grounded: GroundedData, people: Sequence[Record]) -> np.ndarray:
    """How many of some people are in each atom."""
    ground, counted = grounded.ground, Counter(people)
    names = [(ground.categories[0][code[0]], ground.categories[1][code[1]]) for code in ground.codes]
    return np.array([counted[name] for name in names], dtype=np.int64)


def can_come(people: Sequence[Record], shown: Sequence[Record], images: Images) -> bool:
    """Whether some order of the people shows the file."""
    may = [set(images(person)) for person in people]
    return any(all(record in may[who] for record, who in zip(shown, order, strict=True))
               for order in permutations(range(len(people)), len(shown)))  # fmt: skip


def check_counts(
    grounded: GroundedData, file: MaskedFile, facts: Facts, images: Images, *, more: int = 0,
    fits: Callable[[int], bool] = lambda size: True,
) -> tuple[int, int]:  # fmt: skip
    """A world of counts agrees with the facts just if the file can come from it; how many do, and how many do not."""
    shown = [record[:2] for record in records_of(file)]
    yes = no = 0
    for people in count_worlds(len(shown), more):
        true = can_come(people, shown, images) and fits(len(people))
        assert satisfied(facts, {COUNT: counts_in(grounded, people)}) == true, people
        yes, no = yes + true, no + (not true)
    return yes, no


def check_values(
    grounded: GroundedData, file: MaskedFile, facts: Facts, images: Images, *, top: int = 4,
    true: Callable[[list[Record]], bool] | None = None,
) -> tuple[int, int]:  # fmt: skip
    """Sums over atoms agree with the facts just if the file can come from a world with these sums."""
    ground, shown = grounded.ground, records_of(file)
    n = ground.n_units
    keys = [tuple(ground.categories[k][ground.codes[atom][k]] for k in (0, 1)) for atom in ground.atom_of_unit]
    possible: dict[tuple[int, ...], bool] = {}
    agrees: dict[tuple[int, ...], bool] = {}
    for values in product(range(top + 1), repeat=n):
        world = np.array(values, dtype=np.int64)
        sums = tuple(np.bincount(ground.atom_of_unit, world, ground.n_atoms).astype(int).tolist())
        people = [(*key, value) for key, value in zip(keys, values, strict=True)]
        comes = true(people) if true is not None else can_come(people, shown, images)
        possible[sums] = possible.get(sums, False) or comes
        if sums not in agrees:
            agrees[sums] = satisfied(facts, {"v": world})
    assert agrees == possible
    return sum(possible.values()), len(possible) - sum(possible.values())


def optimum(facts: Facts, ground: Ground, response: str, places: np.ndarray) -> tuple[int, int]:
    """The least and greatest sum of some unknowns over all whole worlds that agree with the facts."""
    n, own = ground.size(response), len(facts.own)
    low, high = ground.bounds_of(response)
    rows, lows, highs = [], [], []
    for fact in facts.facts:
        row = np.zeros(n + own)
        if any(term.response not in (response, OWN) for term in fact.terms):
            continue
        for term in fact.terms:
            row[term.places + (n if term.response == OWN else 0)] += term.weights
        rows.append(row)
        lows.append(-np.inf if fact.low is None else fact.low)
        highs.append(np.inf if fact.high is None else fact.high)
    bounds = optimize.Bounds(
        [*([-np.inf if low is None else low] * n), *(one for one, _ in facts.own)],
        [*([np.inf if high is None else high] * n), *(np.inf if one is None else one for _, one in facts.own)],
    )
    cost = np.zeros(n + own)
    cost[places] = 1.0
    ends = []
    for sign in (1.0, -1.0):
        found = optimize.milp(
            sign * cost, constraints=optimize.LinearConstraint(sparse.csr_array(np.array(rows)), lows, highs),
            bounds=bounds, integrality=np.ones(n + own),
        )  # fmt: skip
        assert found.status == 0
        ends.append(round(sign * found.fun))
    return ends[0], ends[1]
