"""Respondents as attackers: whoever is alone in a cell knows it, and may so undo the hiding of others.

In a random kernel vector modulo a prime a cell's entry is a random linear function of the free movements; two cells
whose entries have the same ratio in two such vectors move only together, so who knows one knows the other. That finds
all attackers with one known movement at once. Attackers with several, and groups in which bounds matter, are attacked
one by one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from reticent.kernels.elimination import PRIME, complete_kernel, eliminate
from reticent.tables.attack.certify import certify
from reticent.tables.attack.reduce import Reduced, reduce
from reticent.tables.problem import SuppressionProblem

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Insider:
    """A respondent, the hidden cells it knows because it is alone in them, and the primaries it can work out."""

    respondent: int
    known: tuple[int, ...]
    exposed: tuple[int, ...]


def insiders(problem: SuppressionProblem, hidden: Mask) -> list[Insider]:
    """All respondents alone in some hidden cell who can work out another primary exactly."""
    who = single_respondents(problem)
    own = np.flatnonzero(hidden & (who >= 0))
    if len(own) == 0 or not problem.primary.any():
        return []
    reduced = reduce(problem, hidden)
    first, second = _two_kernel_vectors(reduced)
    place = np.full(problem.n_cells, -1, dtype=np.int64)
    place[reduced.cells] = np.arange(len(reduced.cells))
    tight = _tight_groups(problem, reduced)
    by_ratio = _by_ratio(problem, reduced, first, second)
    found: list[Insider] = []
    for respondent in np.unique(who[own]).tolist():
        known = own[who[own] == respondent]
        leaders = np.unique(reduced.leader[place[known]])
        leaders = leaders[leaders >= 0]
        if len(leaders) == 0:
            continue
        if len(leaders) == 1 and not tight[reduced.groups[leaders[0]]]:
            key = _ratio(int(first[leaders[0]]), int(second[leaders[0]]), int(reduced.groups[leaders[0]]))
            learned = by_ratio.get(key, [])
        else:
            learned = _one_by_one(problem, hidden, known)
        exposed = tuple(c for c in learned if c not in set(known.tolist()))
        if exposed:
            found.append(Insider(int(respondent), tuple(known.tolist()), exposed))
    return found


def single_respondents(problem: SuppressionProblem) -> Ints:
    """The respondent of each cell that has one only, −1 elsewhere.

    Without respondents' numbers, cells of one respondent are the same one where one is the total of the other.
    """
    if problem.respondent is not None:
        return problem.respondent
    if problem.counts is None:
        return np.full(problem.n_cells, -1, dtype=np.int64)
    single = problem.counts == 1
    relations = problem.relations
    row_of = np.repeat(np.arange(relations.n_rows), np.diff(relations.indptr))
    total_single = np.zeros(relations.n_rows, dtype=bool)
    total_single[row_of[(relations.coefs < 0) & single[relations.cells]]] = True
    keep = single[relations.cells] & total_single[row_of]
    size = relations.n_rows + problem.n_cells
    ends = (row_of[keep], relations.n_rows + relations.cells[keep].astype(np.int64))
    graph = sparse.coo_array((np.ones(int(keep.sum())), ends), shape=(size, size))
    labels = np.asarray(connected_components(graph, directed=False)[1])[relations.n_rows :]
    return np.where(single, labels, -1).astype(np.int64)


def _two_kernel_vectors(reduced: Reduced) -> tuple[Ints, Ints]:
    relations = reduced.relations
    rng = np.random.default_rng(11)
    order = np.argsort(np.diff(relations.indptr), kind="stable")
    parts = eliminate(relations.indptr, relations.cells, relations.coefs.astype(np.int64), order, relations.n_cells)
    first = complete_kernel(*parts, rng.integers(1, PRIME, relations.n_cells))
    second = complete_kernel(*parts, rng.integers(1, PRIME, relations.n_cells))
    return first, second


def _tight_groups(problem: SuppressionProblem, reduced: Reduced) -> Mask:
    """Groups with a movement that has no room one way: there, bounds can fix what the relations leave open."""
    tight = np.zeros(int(reduced.groups.max(initial=-1)) + 1, dtype=bool)
    narrow = np.minimum(reduced.room_down, reduced.room_up) <= problem.tolerance
    tight[reduced.groups[narrow]] = True
    return tight


def _ratio(first: int, second: int, group: int) -> tuple[int, int]:
    return group, (-1 if first == 0 else second * pow(first, PRIME - 2, PRIME) % PRIME)


def _by_ratio(
    problem: SuppressionProblem, reduced: Reduced, first: Ints, second: Ints
) -> dict[tuple[int, int], list[int]]:
    table: dict[tuple[int, int], list[int]] = {}
    for at in np.flatnonzero(problem.primary[reduced.cells] & (reduced.leader >= 0)).tolist():
        leader = int(reduced.leader[at])
        key = _ratio(int(first[leader]), int(second[leader]), int(reduced.groups[leader]))
        table.setdefault(key, []).append(int(reduced.cells[at]))
    return table


def _one_by_one(problem: SuppressionProblem, hidden: Mask, known: Ints) -> list[int]:
    """Primaries that cannot move once some cells are known, but can for the public."""
    mask = np.zeros(problem.n_cells, dtype=bool)
    mask[known] = True
    labels = problem.relations.components(hidden)
    group = hidden & np.isin(labels, labels[known])
    bare = problem.without_levels()
    public, _ = certify(bare, group)
    inside, _ = certify(bare, group, known=mask)
    assert public.lost is not None
    assert inside.lost is not None
    anyway = set(public.reduced.cells[public.lost].tolist())
    return [c for c in inside.reduced.cells[inside.lost].tolist() if c not in anyway]
