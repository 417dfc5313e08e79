# SPDX-License-Identifier: Apache-2.0
"""Proofs that a noisy count is not determined: another table of true counts that would be published alike.

One more or one fewer person in an inner cell changes that cell and all sums it belongs to by one. If all of these may be one
more (or one fewer) behind what is published, nobody can tell: all these cells are proved at once. The few cells without
such a proof are looked at by programs: in tables of moderate size with all cells, in large ones around each cell.
"""

from dataclasses import replace

import numpy as np
from scipy import sparse

from reticent.base.arrays import Floats, Ints, Mask
from reticent.base.errors import DataError
from reticent.data.relations import Relations
from reticent.solve.highs import HighsSession
from reticent.solve.model import LinearModel, Status
from reticent.tables.attack.noise_intervals import Narrowed, apart_rows, different, program_of, sums_with_parts, unlike
from reticent.tables.perturb.origins import Origins
from reticent.tables.perturb.summing import Summing, summing
from reticent.tables.problem import SuppressionProblem

MODERATE = 3_000
"""Up to this many cells a program sees the whole table."""
LOOKED_AT = 200
"""This many cells of a large table are looked at by programs; others without a proof stay undecided."""
NEIGHBOURHOOD = 3_000


def found_witnesses(problem: SuppressionProblem, origins: Origins, found: Narrowed) -> Mask:
    """Cells that are proved not to be determined, by one person more or fewer somewhere."""
    proved = np.zeros(problem.n_cells, dtype=bool)
    try:
        sums = summing(problem.relations)
    except DataError:  # relations of another kind: programs have to find them
        return proved
    columns = sparse.csc_array(sums.matrix)
    linked = np.diff(sparse.csc_array(sums.links).indptr) > 0
    for step in (1, -1):
        blocked = ~_may_be(problem.values + step, origins, found)
        fits = (np.asarray(columns.T @ blocked.astype(np.float64)) == 0) & ~linked
        if step < 0:
            fits &= ~_last_ones(problem, origins, sums)
        proved |= np.asarray(sums.matrix @ fits.astype(np.float64)) > 0
    return proved


def _last_ones(problem: SuppressionProblem, origins: Origins, sums: Summing) -> Mask:
    """Inner cells with the one person by whom a total differs from a part that is published unlike it."""
    pairs = different(problem.relations, origins)
    true = problem.values
    pairs = pairs[true[pairs[:, 0]] - true[pairs[:, 1]] == 1]
    ones = true[sums.inner] == 1
    between = sparse.csr_array(sums.matrix[pairs[:, 0]] - sums.matrix[pairs[:, 1]])
    return np.asarray((np.diff(sparse.csc_array(between).indptr) > 0) & ones)


def _may_be(values: Floats, origins: Origins, found: Narrowed) -> Mask:
    """Whether each cell may have this true count behind what is published."""
    return np.asarray(origins.allows(values) & (values >= found.low) & (values <= found.high))


def confirmed(problem: SuppressionProblem, origins: Origins, found: Narrowed, proved: Mask) -> tuple[Narrowed, Mask]:
    """Programs for the cells without a proof: intervals as they find them, and the cells that stay undecided."""
    open_cells = (problem.values > 0) & ~problem.frozen & ~proved & (found.high > found.low)
    wanted = np.flatnonzero(open_cells)
    if problem.n_cells <= MODERATE:
        return _by_whole_programs(problem, origins, found, wanted)
    order = np.argsort((found.high - found.low)[wanted] - 1e6 * problem.primary[wanted], kind="stable")
    looked = wanted[order][:LOOKED_AT]
    low, high = found.low.copy(), found.high.copy()
    undecided = open_cells.copy()
    for cell in looked.tolist():
        ends, moves = _around(problem, origins, found, cell)
        low[cell], high[cell] = max(low[cell], ends[0]), min(high[cell], ends[1])
        undecided[cell] = not moves and low[cell] < high[cell]
    return replace(found, low=low, high=high, programs=4 * len(looked)), undecided


def _by_whole_programs(
    problem: SuppressionProblem, origins: Origins, found: Narrowed, wanted: Ints
) -> tuple[Narrowed, Mask]:
    """Both ends of the wanted cells with all relations; each solution is a proof for further cells."""
    undecided = np.zeros(problem.n_cells, dtype=bool)
    low, high = found.low.copy(), found.high.copy()
    if not len(wanted):
        return found, undecided
    session = HighsSession(program_of(problem.relations, origins, found))
    n, true, programs = problem.n_cells, problem.values, 0
    moved = np.zeros(n, dtype=bool)
    for cell in wanted.tolist():
        if moved[cell]:
            continue
        ends = []
        for sign in (1.0, -1.0):
            session.set_cost(np.array([cell], dtype=np.int32), np.array([sign]))
            solution = session.solve()
            session.set_cost(np.array([cell], dtype=np.int32), np.array([0.0]))
            programs += 1
            assert solution.status is Status.OPTIMAL
            values = np.rint(solution.values[:n])
            moved |= values != true
            ends.append(float(values[cell]))
            if moved[cell]:
                break
        if not moved[cell]:
            low[cell], high[cell] = min(ends), max(ends)
    return replace(found, low=low, high=high, programs=programs), undecided


def _around(
    problem: SuppressionProblem, origins: Origins, found: Narrowed, cell: int
) -> tuple[tuple[float, float], bool]:
    """What the neighbourhood of a cell says: ends that follow from its relations, and whether it can move while all cells
    farther away keep their true counts.
    """
    whole = (float(found.low[cell]), float(found.high[cell]))
    near = _neighbours(problem.relations, cell)
    if near is None:
        return whole, False
    rows, cells = near
    matrix = sparse.csr_array(problem.relations.matrix()[rows])
    part = sparse.csr_array(matrix[:, cells])
    rhs = problem.relations.rhs[rows]
    outer = _ends(LinearModel(np.zeros(len(cells)), found.low[cells], found.high[cells], part, rhs, rhs), cells, cell)
    # cells that also are in relations outside keep their true counts, so that those hold all the same
    elsewhere = _touches_outside(problem.relations, rows, cells)
    # as do those in pairs that no relation has, or that another release shows
    others = [unlike(origins, origins.nested)] if origins.nested is not None else []
    others += [origins.apart] if origins.apart is not None else []
    elsewhere |= np.isin(cells, np.concatenate([np.zeros((0, 2), dtype=np.int64), *others]))
    true = problem.values[cells]
    allowed = _single_run(origins, found, cells, true)
    low = np.where(elsewhere, true, allowed[0])
    high = np.where(elsewhere, true, allowed[1])
    pairs = np.searchsorted(cells, unlike(origins, sums_with_parts(problem.relations, rows)))
    n, more = len(cells), len(pairs)
    wide = sparse.csr_array(sparse.vstack([part, apart_rows(pairs, n)]))
    least, most = np.concatenate([rhs, np.ones(more)]), np.concatenate([rhs, np.full(more, np.inf)])
    inner = _ends(LinearModel(np.zeros(n), low, high, wide, least, most, np.ones(n, bool)), cells, cell)
    value = float(problem.values[cell])
    moves = inner is not None and (inner[0] < value or inner[1] > value)
    return whole if outer is None else outer, moves


def _single_run(origins: Origins, found: Narrowed, cells: Ints, true: Floats) -> tuple[Floats, Floats]:
    """The run of possible counts around the true one: gaps end it, so that all counts in it are possible."""
    low, high = true.copy(), true.copy()
    for place, cell in enumerate(cells.tolist()):
        allowed, base = origins.patterns[origins.pattern[cell]], int(origins.base[cell])
        at = int(true[place]) - base
        while at - 1 >= 0 and allowed[at - 1] and base + at - 1 >= found.low[cell]:
            at -= 1
        low[place] = base + at
        at = int(true[place]) - base
        while at + 1 < len(allowed) and allowed[at + 1] and base + at + 1 <= found.high[cell]:
            at += 1
        high[place] = base + at
    return low, high


def _neighbours(relations: Relations, cell: int) -> tuple[Ints, Ints] | None:
    """The relations of a cell and of the cells in these, and all their cells; None if these are too many."""
    indptr, rows, _ = relations.by_cell
    own = np.unique(rows[indptr[cell] : indptr[cell + 1]])
    first = np.unique(np.concatenate([relations.row(int(row))[0] for row in own.tolist()]))
    if len(first) > NEIGHBOURHOOD // 4:
        return None
    more = np.unique(np.concatenate([rows[indptr[c] : indptr[c + 1]] for c in first.tolist()]))
    cells = np.unique(np.concatenate([relations.row(int(row))[0] for row in more.tolist()]))
    return None if len(cells) > NEIGHBOURHOOD else (more.astype(np.int64), cells.astype(np.int64))


def _touches_outside(relations: Relations, rows: Ints, cells: Ints) -> Mask:
    """Cells that are in a relation which is none of these."""
    indptr, of_cell, _ = relations.by_cell
    inside = np.zeros(relations.n_rows, dtype=bool)
    inside[rows] = True
    return np.array([not inside[of_cell[indptr[c] : indptr[c + 1]]].all() for c in cells.tolist()])


def _ends(model: LinearModel, cells: Ints, cell: int) -> tuple[float, float] | None:
    at = int(np.searchsorted(cells, cell))
    session = HighsSession(model)
    found = []
    for sign in (1.0, -1.0):
        session.set_cost(np.array([at], dtype=np.int32), np.array([sign]))
        solution = session.solve(time_limit=5.0)
        if not solution.feasible:
            return None
        found.append(float(solution.values[at]))
    return float(np.ceil(found[0] - 1e-6)), float(np.floor(found[1] + 1e-6))
