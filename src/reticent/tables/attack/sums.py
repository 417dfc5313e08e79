# SPDX-License-Identifier: Apache-2.0
"""Sums of hidden cells that follow from what is published: known to everybody, though no cell of them is.

Which sums do not move when the hidden cells move? Random movements modulo a prime tell (a sum that is 0 in all of them is
known, except for a chance of 2⁻³¹ each); so do the relations that are left when cells that move together are one.
"""

import itertools
from collections.abc import Iterator

import numpy as np

from reticent.base import clock
from reticent.base.arrays import Mask
from reticent.data.relations import Relations
from reticent.kernels.elimination import PRIME, complete_kernel, eliminate
from reticent.tables.attack.reduce import Reduced, reduce
from reticent.tables.problem import SumJudge, SuppressionProblem

Group = tuple[int, ...]
TRIPLES = 400
"""Up to this many hidden cells all sums of three are looked at; sums of two always."""
_VECTORS = 2
_LONGEST = 60  # cells of a sum that comes from relations
_CHOICES = 8  # sums that a relation stands for, where cells move together


def published_sums(problem: SuppressionProblem, hidden: Mask) -> tuple[Group, ...]:
    """The unsafe sums that a pattern publishes; none where nobody can judge sums."""
    return () if problem.judge is None else tuple(unsafe_sums(problem, hidden, problem.judge))


def unsafe_sums(problem: SuppressionProblem, hidden: Mask, judge: SumJudge) -> list[Group]:
    """Sums of hidden cells, an unsafe one among them, that everybody knows and the judge calls unsafe.

    Looked at are sums of two cells, of three where there are not too many, and those that single relations give, also
    when hidden totals are replaced by their parts. Cells that are known by themselves are no matter here.
    """
    own = hidden.copy()
    own[problem.n_own :] = False
    reduced = reduce(problem, own)
    if reduced.relations.n_cells == 0:
        return []
    plain = reduce(problem.without_combinations(), own & ~_combinations(problem)) if problem.combinations else reduced
    found = dict.fromkeys([*_from_rows(problem, plain), *_from_vectors(problem, reduced)])
    groups = [group for group in found if problem.primary[list(group)].any()]
    if not groups:
        return []
    return list(itertools.compress(groups, judge.unsafe(groups).tolist()))


def _combinations(problem: SuppressionProblem) -> Mask:
    """The combinations that no table shows: what is known of them bears on cells, but no sum of them is asked for."""
    found = np.zeros(problem.n_cells, dtype=bool)
    found[list(problem.combinations)] = True
    return found


def _from_rows(problem: SuppressionProblem, reduced: Reduced) -> Iterator[Group]:
    """The rows of the reduced system (and sums of two rows that share a movement) in which all signs are alike."""
    cells_of: dict[tuple[int, int], list[int]] = {}
    for cell, leader, sign in zip(reduced.cells.tolist(), reduced.leader.tolist(), reduced.sign.tolist(), strict=True):
        if leader >= 0:
            cells_of.setdefault((leader, sign), []).append(cell)
    for row in _rows(reduced.relations):
        clock.check()
        for side in (1, -1):
            if len(row) > _LONGEST or any(side * factor not in (1, -1) for factor in row.values()):
                continue
            choices = [cells_of.get((movement, side * factor), []) for movement, factor in row.items()]
            if all(choices):
                small = [sorted(cells, key=lambda c: (abs(problem.values[c]), c))[:2] for cells in choices]
                for group in itertools.islice(itertools.product(*small), _CHOICES):
                    yield tuple(sorted(group))


def _rows(relations: Relations) -> Iterator[dict[int, int]]:
    """Relations as movements with their factors, and pairs of relations without the movement that they share."""
    rows = [
        dict(zip((int(c) for c in relations.row(n)[0]), (int(k) for k in relations.row(n)[1]), strict=True))
        for n in range(relations.n_rows)
    ]
    yield from rows
    indptr, row_of, _ = relations.by_cell
    for movement in range(relations.n_cells):
        both = row_of[indptr[movement] : indptr[movement + 1]].tolist()
        for one, other in itertools.combinations(both[:6], 2):
            if len(rows[one]) + len(rows[other]) <= _LONGEST:
                yield _without(movement, rows[one], rows[other])


def _without(movement: int, one: dict[int, int], other: dict[int, int]) -> dict[int, int]:
    """The combination of two rows in which a movement cancels."""
    a, b = other[movement], -one[movement]
    mixed = {key: a * one.get(key, 0) + b * other.get(key, 0) for key in {**one, **other}}
    return {key: factor for key, factor in mixed.items() if factor}


def _from_vectors(problem: SuppressionProblem, reduced: Reduced) -> Iterator[Group]:
    """Pairs and triples whose sum is 0 in random movements."""
    relations = reduced.relations
    order = np.argsort(np.diff(relations.indptr), kind="stable")
    parts = eliminate(relations.indptr, relations.cells, relations.coefs.astype(np.int64), order, relations.n_cells)
    rng = np.random.default_rng(13)
    vectors = [complete_kernel(*parts, rng.integers(1, PRIME, relations.n_cells)) for _ in range(_VECTORS)]
    moving = np.flatnonzero((reduced.leader >= 0) & ~_combinations(problem)[reduced.cells])
    signs = reduced.sign[moving].astype(np.int64)
    marks = np.array([(vector[reduced.leader[moving]] * signs) % PRIME for vector in vectors])
    cells = reduced.cells[moving].tolist()
    keys = [tuple(mark) for mark in marks.T.tolist()]
    places: dict[tuple[int, ...], list[int]] = {}
    for at, key in enumerate(keys):
        if any(key):
            places.setdefault(key, []).append(at)
    primary = problem.primary[reduced.cells[moving]]
    for one in np.flatnonzero(primary).tolist():
        for other in places.get(_opposite(keys[one]), ()):
            yield tuple(sorted((cells[one], cells[other])))
    if len(cells) <= TRIPLES:
        yield from _triples(cells, keys, places, np.flatnonzero(primary).tolist())


def _opposite(*keys: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(-sum(marks) % PRIME for marks in zip(*keys, strict=True))


def _triples(
    cells: list[int], keys: list[tuple[int, ...]], places: dict[tuple[int, ...], list[int]], unsafe: list[int]
) -> Iterator[Group]:
    for one in unsafe:
        clock.check()
        for two in range(len(cells)):
            if two != one and any(keys[one]) and any(keys[two]):
                for three in places.get(_opposite(keys[one], keys[two]), ()):
                    if three > two and three != one:
                        yield tuple(sorted((cells[one], cells[two], cells[three])))
