# SPDX-License-Identifier: Apache-2.0
"""Respondents as attackers: whoever is the only respondent in a cell knows it, and may so undo the hiding of others.

Random kernel vectors modulo a prime that vanish on what a respondent knows tell what it can work out: what they do not
move. Respondents who know very many cells, failures in groups in which bounds matter, and small tables of whole numbers are
attacked one by one.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from reticent.base import clock
from reticent.base.arrays import Ints, Mask
from reticent.data.cells import CellStatus
from reticent.data.relations import Relations
from reticent.kernels.elimination import PRIME, complete_kernel, eliminate
from reticent.tables.attack.certify import certify
from reticent.tables.attack.reduce import Reduced, reduce
from reticent.tables.problem import SuppressionProblem

WHOLE_NUMBERS = 1_000
"""Cells up to which respondents who know that values are whole are attacked one by one."""
_VECTORS = 8  # random movements kept: respondents who know fewer independent movements are settled by algebra


@dataclass(frozen=True)
class Insider:
    """A respondent, the hidden cells it knows as their sole respondent, and the primaries it can work out."""

    respondent: int
    known: tuple[int, ...]
    exposed: tuple[int, ...]


def insiders(
    problem: SuppressionProblem, hidden: Mask, *, settle: bool = True, among: Collection[int] | None = None
) -> list[Insider]:
    """All respondents (or those `among` some) that are the only one in a hidden cell and can work out another primary exactly.

    Without `settle`, primaries that only bounds could keep open count as worked out: quick, and never too few.
    """
    who = single_respondents(problem)
    if among is not None:
        who = np.where(np.isin(who, list(among)), who, -1)
    own = np.flatnonzero(hidden & (who >= 0))
    if len(own) == 0 or not problem.guarded.any():
        return []
    # algebra takes small movements, which whole numbers may not allow
    whole = problem.n_cells <= WHOLE_NUMBERS and bool(problem.whole.any())
    algebra = None if whole else _Algebra(problem, reduce(problem, hidden))
    public = _Public(problem, hidden)
    own = own[np.argsort(who[own], kind="stable")]
    names, starts = np.unique(who[own], return_index=True)
    found: list[Insider] = []
    for respondent, known in zip(names.tolist(), np.split(own, starts[1:]), strict=True):
        clock.check()
        learned = None if algebra is None else algebra.learned(known, settle=settle)
        if learned is None:
            learned = public.learned(known)
        exposed = _by_the_table(problem, known, [c for c in learned if c not in set(known.tolist())])
        if exposed:
            found.append(Insider(int(respondent), tuple(known.tolist()), exposed))
    return found


def _by_the_table(problem: SuppressionProblem, known: Ints, learned: list[int]) -> tuple[int, ...]:
    """What a respondent learns from the table: not what it knows if nothing is published.

    Who is all of a total knows that nobody else is in its parts. Such parts are empty, or as small as they may be.
    """
    nobody = problem.values <= problem.lower_bound + problem.tolerance
    if problem.counts is not None:  # gains and losses of nobody are 0, which is not the least that they may be
        nobody[: len(problem.counts)] |= problem.counts == 0
    doubtful = [cell for cell in learned if nobody[cell]]
    if not doubtful:
        return tuple(learned)
    if problem not in _UNPUBLISHED:
        _UNPUBLISHED[problem] = _Public(problem.without_levels(), np.asarray(problem.status != CellStatus.EMPTY))
    anyway = set(_UNPUBLISHED[problem].learned(known, of=doubtful))
    return tuple(cell for cell in learned if cell not in anyway)


_UNPUBLISHED: WeakKeyDictionary[SuppressionProblem, "_Public"] = WeakKeyDictionary()
"""What is known of a table if nothing is published, which the same search asks again and again."""


def single_respondents(problem: SuppressionProblem) -> Ints:
    """The respondent of each cell that has one only, −1 elsewhere.

    Without respondents' numbers, cells of one respondent are the same one where one is the total of the other.
    """
    if problem.respondent is not None:
        return problem.respondent
    if problem.counts is None:
        return np.full(problem.n_cells, -1, dtype=np.int64)
    return singles_by_relations(problem.counts == 1, problem.relations)


def singles_by_relations(single: NDArray[np.bool_], relations: Relations) -> Ints:
    """A number for each cell of one respondent, −1 elsewhere: the same where one is the total of the other.

    A total stands alone on its side of a relation. Where codes of two variables add up only together (`a + b = c + d`),
    each of these cells may have a respondent of its own.
    """
    row_of = np.repeat(np.arange(relations.n_rows), np.diff(relations.indptr))
    alone = single[relations.cells]
    total_single = np.zeros(relations.n_rows, dtype=bool)
    for side in (relations.coefs < 0, relations.coefs > 0):
        terms = np.bincount(row_of[side], minlength=relations.n_rows)
        total_single[row_of[side & alone & (terms[row_of] == 1)]] = True
    keep = alone & total_single[row_of]
    size = relations.n_rows + relations.n_cells
    ends = (row_of[keep], relations.n_rows + relations.cells[keep].astype(np.int64))
    graph = sparse.coo_array((np.ones(int(keep.sum())), ends), shape=(size, size))
    labels = np.asarray(connected_components(graph, directed=False)[1])[relations.n_rows :]
    return np.where(single, labels, -1).astype(np.int64)


class _Algebra:
    """What follows from the relations alone: random vectors of the kernel, made to vanish on what a respondent knows.

    A primary that such a vector moves cannot be worked out; one that it does not move can (except for a chance of 2⁻³¹),
    unless bounds take part. Movements without room one way are held fixed, so every vector can be made small enough to
    respect the bounds, and only where such movements exist is a failure no proof; then each of them is set free in turn.
    """

    def __init__(self, problem: SuppressionProblem, reduced: Reduced) -> None:
        self._reduced = reduced
        self._narrow = np.minimum(reduced.room_down, reduced.room_up) <= problem.tolerance
        self._one_way = self._narrow & (np.maximum(reduced.room_down, reduced.room_up) > problem.tolerance)
        self._tight = np.zeros(int(reduced.groups.max(initial=-1)) + 1, dtype=bool)
        self._tight[reduced.groups[self._one_way]] = True
        self._vectors = _kernel_vectors(reduced.relations, self._narrow)
        self._released: dict[int, Ints] = {}
        self._place = np.full(problem.n_cells, -1, dtype=np.int64)
        self._place[reduced.cells] = np.arange(len(reduced.cells))
        at = np.flatnonzero(problem.guarded[reduced.cells] & (reduced.leader >= 0))
        self._primaries, self._carried_by = reduced.cells[at], reduced.leader[at].astype(np.int64)
        self._leaders = np.unique(self._carried_by)
        self._moved = (self._vectors != 0).any(axis=0)
        self._of_group: dict[int, Ints] = {
            int(group): self._leaders[reduced.groups[self._leaders] == group]
            for group in np.unique(reduced.groups[self._leaders])
        }

    def learned(self, known: Ints, *, settle: bool) -> list[int] | None:
        """Primaries that who knows these cells can work out; None where the relations alone cannot tell."""
        leaders = np.unique(self._reduced.leader[self._place[known]])
        leaders = leaders[leaders >= 0]
        groups = np.unique(self._reduced.groups[leaders])
        places = [self._of_group[group] for group in groups.tolist() if group in self._of_group]
        if len(leaders) == 0 or not places:
            return []
        if len(leaders) >= _VECTORS:
            return None
        at = np.concatenate(places)
        factors, rank = _vanishing(self._vectors[:, leaders])
        stays = _combine(self._vectors[:, at], factors) == 0
        public = self._moved[at]
        # Where bounds matter, a primary that no vector moves may still move for the public, with cells that are held
        # here. The vectors can then undo what that does to the known cells, if they move these independently.
        unclear = public if settle else np.zeros_like(public)
        doubtful = stays & (unclear if rank == len(leaders) else ~public | unclear)
        doubtful &= self._tight[self._reduced.groups[at]]
        if doubtful.any():
            # what moves with a known cell only is known for certain
            doubtful &= ~(public & np.isin(at, leaders))
        for movement in self._held_in(groups) if doubtful.any() else []:
            clock.check()
            vectors = self._with_released(movement)
            moved = _combine(vectors[:, at], _vanishing(vectors[:, leaders])[0]) != 0
            stays, doubtful = stays & ~moved, doubtful & ~moved
            if not doubtful.any():
                break
        return None if doubtful.any() else self._carried(at[stays & public])

    def _carried(self, leaders: Ints) -> list[int]:
        """The primaries that some movements carry."""
        chosen = np.zeros(len(self._moved), dtype=bool)
        chosen[leaders] = True
        found: list[int] = self._primaries[chosen[self._carried_by]].tolist()
        return found

    def _held_in(self, groups: NDArray[np.int32]) -> list[int]:
        """Movements of some groups that are held here though they may go one way."""
        places: list[int] = np.flatnonzero(self._one_way & np.isin(self._reduced.groups, groups)).tolist()
        return places

    def _with_released(self, movement: int) -> Ints:
        """Vectors in which one of the held movements is free: taken the other way round where it may only go one way."""
        if movement not in self._released:
            held = self._narrow.copy()
            held[movement] = False
            self._released[movement] = _kernel_vectors(self._reduced.relations, held)
        return self._released[movement]


def _kernel_vectors(relations: Relations, fixed: Mask) -> Ints:
    """Random movements modulo PRIME in which some cells stay."""
    keep = ~fixed[relations.cells]
    rows = np.repeat(np.arange(relations.n_rows), np.diff(relations.indptr))[keep]
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=relations.n_rows))))
    order = np.argsort(np.diff(indptr), kind="stable")
    cells, coefs = relations.cells[keep], relations.coefs[keep].astype(np.int64)
    parts = eliminate(indptr, cells, coefs, order, relations.n_cells)
    rng = np.random.default_rng(11)
    drawn = rng.integers(1, PRIME, (_VECTORS, relations.n_cells))
    drawn[:, fixed] = 0
    return np.array([complete_kernel(*parts, vector) for vector in drawn])


def _vanishing(values: Ints) -> tuple[Ints, int]:
    """Factors of the vectors (rows) whose combination is zero in every column, and how many columns are independent."""
    rows = [[int(v) for v in column] for column in values.T]
    pivots: list[int] = []
    done: list[list[int]] = []
    for row in rows:
        for pivot, other in zip(pivots, done, strict=True):
            if row[pivot]:
                row = [(x - row[pivot] * y) % PRIME for x, y in zip(row, other, strict=True)]
        lead = next((j for j, x in enumerate(row) if x), None)
        if lead is not None:
            inverse = pow(row[lead], PRIME - 2, PRIME)
            pivots.append(lead)
            done.append([x * inverse % PRIME for x in row])
    factors = [0 if j in pivots else 1 + 7919 * j for j in range(len(values))]
    for pivot, row in zip(reversed(pivots), reversed(done), strict=True):
        factors[pivot] = -sum(x * f for j, (x, f) in enumerate(zip(row, factors, strict=True)) if j != pivot) % PRIME
    return np.array(factors, dtype=np.int64), len(pivots)


def _combine(vectors: Ints, factors: Ints) -> Ints:
    total = np.zeros(vectors.shape[1], dtype=np.int64)
    for vector, factor in zip(vectors, factors.tolist(), strict=True):
        total = (total + vector * factor) % PRIME
    return total


class _Public:
    """What the public knows of a pattern, found out once; and for each respondent what its own knowledge adds."""

    def __init__(self, problem: SuppressionProblem, hidden: Mask) -> None:
        self._problem, self._hidden = problem.without_levels(), hidden
        self._guarded = problem.guarded
        self._moved: list[Mask] = []

    @cached_property
    def _labels(self) -> NDArray[np.int32]:
        return self._problem.relations.components(self._hidden)

    @cached_property
    def _lost(self) -> Mask:
        """The primaries that do not move for the public."""
        return self._attacked(self._hidden)

    def learned(self, known: Ints, of: list[int] | None = None) -> list[int]:
        """Primaries (or those `of` some) that cannot move once some cells are known, but can for the public."""
        lost, moved = self._lost, np.array(self._moved, dtype=bool).reshape(len(self._moved), self._problem.n_cells)
        group = self._hidden & np.isin(self._labels, self._labels[known])
        # a movement that leaves the known cells alone is one for this respondent, too, whoever it was found for
        still = ~moved[~moved[:, known].any(axis=1)].any(axis=0)
        mask = np.zeros(self._problem.n_cells, dtype=bool)
        mask[known] = True
        asked = group & still & self._guarded & ~lost & ~mask
        if of is not None:
            asked &= np.isin(np.arange(len(asked)), of)
        if not asked.any():
            return []
        found: list[int] = np.flatnonzero(self._attacked(group, known=mask, asked=asked) & asked).tolist()
        return found

    def _attacked(self, hidden: Mask, known: Mask | None = None, asked: Mask | None = None) -> Mask:
        """The primaries that do not move; of each movement that proves it for others, the cells that it moves are kept."""

        def keep(cells: NDArray[np.int32], lifted: NDArray[np.float64]) -> None:
            row = np.zeros(self._problem.n_cells, dtype=bool)
            row[cells[lifted != 0]] = True
            self._moved.append(row)

        reach, _ = certify(self._problem, hidden, known=known, asked=asked, recorder=keep)
        assert reach.lost is not None
        lost = np.zeros(self._problem.n_cells, dtype=bool)
        lost[reach.reduced.cells[reach.lost]] = True
        return lost
