# SPDX-License-Identifier: Apache-2.0
"""Who is in the cells of several responses: a respondent of one need not be one of the others, because values may be missing."""

from collections.abc import Sequence

import numpy as np

from reticent.base.arrays import Ints
from reticent.tables.attack.inside import partners_by_relations
from reticent.tables.attack.insiders import single_respondents
from reticent.tables.inputs import MAX_COALITION
from reticent.tables.problem import SuppressionProblem
from reticent.tabulation.joint import TieRows, same_codes, starts_of
from reticent.tabulation.linked import System

Part = tuple[System, SuppressionProblem]
"""The cells of one response, and their problem."""


def sole_respondents(parts: Sequence[Part], rows: TieRows, extra: int) -> Ints | None:
    """The sole respondent of each cell of all responses, and of the `extra` differences behind them; −1 elsewhere.

    A response that knows its respondents by name keeps these: two cells of the same codes may have one respondent each and
    not the same one, where one has no value of the first response and the other none of the second.
    """
    if all(problem.respondent is None and problem.counts is None for _, problem in parts):
        return None
    named = [problem.respondent for _, problem in parts]
    free = 1 + max((int(who.max(initial=-1)) for who in named if who is not None), default=-1)
    found = []
    for (_, problem), who in zip(parts, named, strict=True):
        if who is None:
            own = single_respondents(problem)
            who = np.where(own >= 0, own + free, -1)
            free += problem.n_cells
        found.append(who)
    joint = _with_names(np.concatenate(found), parts)
    of_differences = _of_differences(joint, parts, rows, extra)
    for at, few in _left(joint, parts, rows).items() if extra else ():
        of_differences[at] = few[0] if len(few) == 1 else -1
    return np.concatenate((joint, of_differences))


def _left(joint: Ints, parts: Sequence[Part], rows: TieRows) -> dict[int, list[int]]:
    """The few respondents of each difference by the names that they have as sole respondents of a cell."""
    unheard = int(joint.max(initial=-1)) + 1  # of who has no cell, and a response that knows nobody by name
    return {
        at: [
            int(joint[cell]) if cell >= 0 else number + (0 if parts[response][1].respondent is not None else unheard)
            for number, cell in few
        ]
        for at, (response, few) in rows.few.items()
    }


def _with_names(who: Ints, parts: Sequence[Part]) -> Ints:
    """The same, where cells without names have the number of a cell of the same codes: of one that has a name if there is one.

    All cells without names that have one respondent keep one.
    """
    _, _, number = same_codes([system for system, _ in parts])
    starts = starts_of([system for system, _ in parts])
    known = np.full(int(number.max(initial=-1)) + 1, -1, dtype=np.int64)
    by_name = np.zeros(len(who), dtype=bool)
    for at in sorted(range(len(parts)), key=lambda at: parts[at][1].respondent is not None):
        cells = np.arange(starts[at], starts[at + 1])
        by_name[cells] = parts[at][1].respondent is not None
        alone = cells[who[cells] >= 0]
        known[number[alone]] = who[alone]
    unnamed = np.flatnonzero(~by_name & (who >= 0))
    found = dict(zip(who[unnamed].tolist(), who[unnamed].tolist(), strict=True))
    found |= {
        own: name
        for own, name in zip(who[unnamed].tolist(), known[number[unnamed]].tolist(), strict=True)
        if own != name
    }
    joint = who.copy()
    joint[unnamed] = [found[own] for own in who[unnamed].tolist()]
    return joint


def _of_differences(who: Ints, parts: Sequence[Part], rows: TieRows, extra: int) -> Ints:
    """Who knows a difference: the one respondent of all cells of its row in which somebody is."""
    found = np.full(extra, -1, dtype=np.int64)
    somebody = np.concatenate(
        [np.ones(p.n_cells, dtype=bool) if p.counts is None else p.counts[: p.n_own] > 0 for _, p in parts]
    )
    behind = [cells for cells, _ in rows.rows if cells[-1] >= len(who)][: max(0, extra - rows.of_codes)]
    for at, cells in enumerate(behind):
        there = [cell for cell in cells[:-1] if somebody[cell]]
        if there and len(set(who[there].tolist())) == 1:
            found[at] = who[there[0]]
    return found


def _unnamed(problem: SuppressionProblem, start: int, who: Ints | None, free: int) -> dict[int, frozenset[int]]:
    """The respondents of cells that have a few, by the numbers (`who`) of sole respondents of a cell, others from `free` on."""
    alone = single_respondents(problem)
    name = {int(alone[cell]): int(who[start + cell]) for cell in np.flatnonzero(alone >= 0)} if who is not None else {}
    few = partners_by_relations(problem, MAX_COALITION)
    return {cell: frozenset(name.get(one, free + one) for one in own) for cell, own in few.items()}


def partners_together(parts: Sequence[Part], rows: TieRows, who: Ints | None) -> dict[int, frozenset[int]]:
    """The respondents of cells that have a few; where a response has no names, those of another with as many of them.

    With the respondents of differences, by the names that sole respondents of a cell have (`who`).
    """
    _, _, number = same_codes([system for system, _ in parts])
    starts = starts_of([system for system, _ in parts]).tolist()
    found = {start + cell: own for (_, problem), start in zip(parts, starts) for cell, own in problem.partners.items()}
    by_codes = {(int(number[cell]), len(own)): own for cell, own in found.items()}
    for (_, problem), start in zip(parts, starts):
        if problem.respondent is not None or problem.counts is None:
            continue
        free = 1 + max((-1 if who is None else int(who.max(initial=-1)), *(max(own) for own in found.values())))
        for cell, own in _unnamed(problem, start, who, free).items():
            own = by_codes.setdefault((int(number[start + cell]), len(own)), own)
            found.setdefault(start + cell, own)
    n = int(starts_of([system for system, _ in parts])[-1])
    if who is not None and len(who) > n:
        found |= {n + at: frozenset(own) for at, own in _left(who[:n], parts, rows).items() if len(own) > 1}
    return found
