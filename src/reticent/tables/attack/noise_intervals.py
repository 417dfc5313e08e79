# SPDX-License-Identifier: Apache-2.0
"""Intervals of true counts behind noisy ones: by propagation over all relations, and exactly by integer programs."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import DataError
from reticent.data.relations import Relations
from reticent.kernels.intervals import OPEN, propagate
from reticent.solve.highs import HighsSession
from reticent.solve.model import LinearModel, Status
from reticent.tables.perturb.origins import Origins

OWNER = "attack on noise"


@dataclass(frozen=True, eq=False)
class Narrowed:
    """The interval of every cell, and by which means it was found."""

    low: Floats
    high: Floats
    programs: int = 0
    exact: bool = False


def narrowed(relations: Relations, origins: Origins, low: Floats, high: Floats) -> Narrowed:
    """The possible counts of all cells by propagation over all relations; ends that are open stay so."""
    if origins.nested is None or not len(origins.nested):
        return _propagated(relations, origins, low, high)
    n = relations.n_cells
    found = with_differences(relations, origins, low, high, origins.nested)
    return replace(found, low=found.low[:n], high=found.high[:n])


def with_differences(relations: Relations, origins: Origins, low: Floats, high: Floats, pairs: Ints) -> Narrowed:
    """The same, with the differences of pairs of cells, of which the first contains the second, as further cells."""
    n, extra = relations.n_cells, len(pairs)
    rows = [([smaller, n + at, larger], [1, 1, -1]) for at, (larger, smaller) in enumerate(pairs.tolist())]
    grown = Relations(n + extra, relations.indptr, relations.cells, relations.coefs, relations.rhs).with_rows(
        Relations.from_rows(n + extra, rows)
    )
    open_ended = Origins(
        np.concatenate([origins.base, np.zeros(extra, dtype=np.int64)]),
        np.concatenate([origins.pattern, np.full(extra, -1)]).astype(np.int32),
        origins.patterns,
        alike=None if origins.alike is None else np.concatenate([origins.alike, np.full(extra, -1)]),
    )
    return _propagated(
        grown, open_ended, np.concatenate([low, np.zeros(extra)]), np.concatenate([high, np.full(extra, np.inf)])
    )


def _propagated(relations: Relations, origins: Origins, low: Floats, high: Floats) -> Narrowed:
    bottom = np.where(np.isfinite(low), low, -float(OPEN)).astype(np.int64)
    top = np.where(np.isfinite(high), high, float(OPEN)).astype(np.int64)
    indptr, rows, _ = relations.by_cell
    done = propagate(
        relations.indptr, relations.cells, relations.coefs, np.rint(relations.rhs).astype(np.int64),
        indptr, rows, bottom, top, origins.base, origins.pattern, origins.patterns,
        np.zeros(0, dtype=np.int64) if origins.alike is None else origins.alike,
    )  # fmt: skip
    if done < 0:
        raise DataError(
            f"{OWNER}: no true counts fit the published ones; the noise rules given are not those that were used."
        )
    return Narrowed(
        np.where(bottom <= -OPEN, -np.inf, bottom.astype(np.float64)),
        np.where(top >= OPEN, np.inf, top.astype(np.float64)),
    )


def exact_ends(relations: Relations, origins: Origins, start: Narrowed) -> Narrowed:
    """Both ends of every cell by integer programs over the sets of possible counts; every solution proves further ends."""
    session = HighsSession(program_of(relations, origins, start))
    n = relations.n_cells
    low, high = start.low.copy(), start.high.copy()
    reached_low, reached_high = np.full(n, np.inf), np.full(n, -np.inf)
    programs = 0
    for cell in range(n):
        for sign in (1.0, -1.0):
            end, reached = (low, reached_low) if sign > 0 else (high, reached_high)
            if end[cell] == reached[cell]:
                continue
            session.set_cost(np.array([cell], dtype=np.int32), np.array([sign]))
            found = session.solve()
            session.set_cost(np.array([cell], dtype=np.int32), np.array([0.0]))
            programs += 1
            if found.status is not Status.OPTIMAL:
                raise DataError(f"{OWNER}: no true counts fit the published ones.")
            values = np.rint(found.values[:n])
            reached_low, reached_high = np.minimum(reached_low, values), np.maximum(reached_high, values)
            end[cell] = values[cell]
    return Narrowed(low, high, programs, exact=True)


def program_of(relations: Relations, origins: Origins, start: Narrowed) -> LinearModel:
    """Whole counts within their intervals that satisfy all relations; a gap in a set of counts takes a column of its own."""
    n = relations.n_cells
    gaps = _gaps(origins, start)
    width = n + len(gaps)
    rows, columns, entries, lower, upper = [], [], [], [], []
    for place, (cell, below, above) in enumerate(gaps):
        # x ≤ below + (high − below)·z and x ≥ low + (above − low)·z: on one side of the gap or on the other
        for row, slope, ends in (
            (2 * place, -(start.high[cell] - below), (-np.inf, below)),
            (2 * place + 1, -(above - start.low[cell]), (start.low[cell], np.inf)),
        ):
            rows += [row, row]
            columns += [cell, n + place]
            entries += [1.0, slope]
            lower.append(ends[0])
            upper.append(ends[1])
    own = sparse.csr_array((entries, (rows, columns)), shape=(2 * len(gaps), width))
    matrix = sparse.hstack([relations.matrix(), sparse.csr_array((relations.n_rows, len(gaps)))])
    apart = different(relations, origins)
    between = apart_rows(apart, width)
    return LinearModel(
        np.zeros(width),
        np.concatenate([start.low, np.zeros(len(gaps))]),
        np.concatenate([start.high, np.ones(len(gaps))]),
        sparse.csr_array(sparse.vstack([matrix, own, between])),
        np.concatenate([relations.rhs, np.array(lower), np.ones(len(apart))]),
        np.concatenate([relations.rhs, np.array(upper), np.full(len(apart), np.inf)]),
        integer=np.ones(width, dtype=bool),
    )


def _gaps(origins: Origins, start: Narrowed) -> list[tuple[int, float, float]]:
    """For each cell the runs of counts within its interval that it cannot have: the last below and the first above."""
    found = []
    for cell in range(len(origins.base)):
        allowed = origins.patterns[origins.pattern[cell]]
        values = origins.base[cell] + np.flatnonzero(allowed)
        values = values[(values >= start.low[cell]) & (values <= start.high[cell])]
        jumps = np.flatnonzero(np.diff(values) > 1)
        found += [(cell, float(values[at]), float(values[at + 1])) for at in jumps.tolist()]
    return found


def different(relations: Relations, origins: Origins) -> Ints:
    """Pairs of a cell and one that it contains that are published unlike although the same records would be published alike.

    So at least one record is in the first and not in the second. Such are a total and its part, or nested codes of several trees.
    """
    found = unlike(origins, contained(relations, origins))
    return found if origins.apart is None else np.vstack([found, origins.apart])


def contained(relations: Relations, origins: Origins) -> Ints:
    """Pairs of a cell and one that it contains: by a relation, or by codes of several trees."""
    pairs = sums_with_parts(relations)
    return pairs if origins.nested is None else np.vstack([pairs, origins.nested])


def unlike(origins: Origins, pairs: Ints) -> Ints:
    """Those of the pairs that are published unlike although the same records would be published alike."""
    if origins.alike is None:
        return np.zeros((0, 2), dtype=np.int64)
    shown = origins.alike[pairs]
    return np.asarray(pairs[(shown >= 0).all(axis=1) & (shown[:, 0] != shown[:, 1])])


def sums_with_parts(relations: Relations, rows: Ints | None = None) -> Ints:
    """Pairs of a total and a part, from all relations that say that a total is the sum of its parts."""
    row_of = np.repeat(np.arange(relations.n_rows), np.diff(relations.indptr))
    minus = np.bincount(row_of[relations.coefs == -1], minlength=relations.n_rows)
    plus = np.bincount(row_of[relations.coefs == 1], minlength=relations.n_rows)
    sums = (minus == 1) & (minus + plus == np.diff(relations.indptr)) & (relations.rhs == 0)
    if rows is not None:
        sums &= np.isin(np.arange(relations.n_rows), rows)
    totals = np.full(relations.n_rows, -1, dtype=np.int64)
    totals[row_of[relations.coefs == -1]] = relations.cells[relations.coefs == -1]
    parts = (relations.coefs == 1) & sums[row_of]
    return np.column_stack([totals[row_of[parts]], relations.cells[parts].astype(np.int64)])


def apart_rows(pairs: Ints, width: int) -> sparse.csr_array:
    """A row per pair: the total less the part."""
    n = len(pairs)
    entries = np.concatenate([np.ones(n), -np.ones(n)])
    return sparse.csr_array((entries, (np.tile(np.arange(n), 2), pairs.T.ravel())), shape=(n, width))
