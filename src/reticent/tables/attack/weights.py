# SPDX-License-Identifier: Apache-2.0
"""Changed weighted counts where all respondents of a cell have one weight: then they are counts, and are attacked as such.

A weight is the same for everybody in a stratum, and no secret. What is published by it is the number of respondents, changed; and
numbers are whole, and add up.
"""

from dataclasses import dataclass, replace

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.data.published_table import WEIGHTED
from reticent.data.relations import Relations
from reticent.data.table import Table
from reticent.tables.attack.audit import Audit
from reticent.tables.attack.noise import audit_noise
from reticent.tables.attack.noise_releases import nested_pairs
from reticent.tables.outcome import Outcome
from reticent.tables.perturb.origins import Origins, origins_of
from reticent.tables.problem import SuppressionProblem
from reticent.tabulation.linked import System

CLOSE = 1e-9
_WIDEST = 1_000
"""Where so many respondents more or fewer are possible, their number is as good as unknown."""


@dataclass(frozen=True, eq=False)
class _Behind:
    """Cells of one weight: their numbers in the table, weights, numbers of respondents, and which of them contain others."""

    cells: Ints
    weights: Floats
    counts: Floats
    relations: Relations
    nested: Ints


def with_weights(system: System, problem: SuppressionProblem, outcome: Outcome, found: Audit) -> Audit:
    """The attack on weighted counts, with what is found where cells have one weight: their numbers tell them."""
    table = system.table
    if table.kind != WEIGHTED or outcome.values is None or not table.counted:
        return found
    behind = _behind(table, problem, outcome)
    n = len(behind.cells)
    if not n:
        return found
    # values that differ have different records, but not different respondents where these have several
    alike = table.cell_keys is not None and not outcome.additive and table.contributions is None
    origins = _origins(behind, outcome, alike=alike)
    shown = np.asarray(outcome.values[behind.cells] / behind.weights)
    alone = SuppressionProblem.from_values(
        behind.counts, behind.relations, primary=np.zeros(n, dtype=bool), integral=True
    )
    own = audit_noise(
        alone,
        Outcome(
            np.zeros(n, dtype=bool), 0.0, values=shown, low=np.maximum(origins.low, 0.0), high=origins.high, additive=False,
            levels=False, noise=True, origins=origins,
        ),
    )  # fmt: skip
    order = np.argsort(own.cells)
    low, high = np.full(table.n_cells, -np.inf), np.full(table.n_cells, np.inf)
    low[behind.cells] = own.low[order] * behind.weights
    high[behind.cells] = own.high[order] * behind.weights
    known = np.zeros(table.n_cells, dtype=bool)
    known[behind.cells] = (own.high[order] - own.low[order] < 0.5) & (behind.counts > 0)
    if outcome.additive and not outcome.noise:  # what is safe may be known where totals are kept
        known &= problem.primary
    at = found.cells
    return replace(
        found,
        low=np.where(np.isfinite(low[at]), np.maximum(found.low, np.minimum(low[at], problem.values[at])), found.low),
        high=np.where(np.isfinite(high[at]), np.minimum(found.high, np.maximum(high[at], problem.values[at])), found.high),
        exposed=found.exposed | known[at],
        programs=found.programs + own.programs,
    )  # fmt: skip


def _behind(table: Table, problem: SuppressionProblem, outcome: Outcome) -> _Behind:
    """The cells of one weight, with the relations between them; none of these where respondents are in several cells."""
    assert outcome.low is not None
    assert outcome.high is not None
    relations, counts = problem.relations, table.respondents.counts.astype(np.float64)
    weights = _weights(table, relations, counts)
    free = ~np.isnan(weights) & ~problem.frozen
    cells = np.flatnonzero(free & (outcome.high - outcome.low <= _WIDEST * np.nan_to_num(weights)))
    number = np.full(table.n_cells, -1, dtype=np.int64)
    number[cells] = np.arange(len(cells))
    row_of = np.repeat(np.arange(relations.n_rows), np.diff(relations.indptr))
    outside = np.bincount(row_of[number[relations.cells] < 0], minlength=relations.n_rows)
    kept = (outside == 0) & (relations.residuals(counts) == 0)
    lengths, inside = np.diff(relations.indptr)[kept], kept[row_of]
    between = Relations.from_arrays(
        len(cells), np.concatenate(([0], np.cumsum(lengths))), number[relations.cells[inside]], relations.coefs[inside]
    )
    nested = number[nested_pairs(table)]
    return _Behind(cells, weights[cells], counts[cells], between, nested[(nested >= 0).all(axis=1)])


def _weights(table: Table, relations: Relations, counts: Floats) -> Floats:
    """The weight of all respondents of a cell, as far as everybody can know it; NaN elsewhere.

    Known is the weight of a file in which all are equal, and of a total that has the mean weight of each of its parts. In a cell
    without respondents any weight is right.
    """
    there = counts > 0
    mean = np.divide(table.values, counts, out=np.full(table.n_cells, np.nan), where=there)
    if table.least > 0 and bool((np.abs(mean[there] - table.least) <= CLOSE * table.least).all()):
        return np.where(there, table.least, 1.0)
    found = np.where(there, np.nan, 1.0)
    lengths = np.diff(relations.indptr)
    row_of = np.repeat(np.arange(relations.n_rows), lengths)
    parts = (relations.coefs == 1) & there[relations.cells]
    several = np.bincount(row_of[parts], minlength=relations.n_rows) > 1
    least, most = np.full(relations.n_rows, np.inf), np.full(relations.n_rows, -np.inf)
    np.minimum.at(least, row_of[parts], mean[relations.cells[parts]])
    np.maximum.at(most, row_of[parts], mean[relations.cells[parts]])
    alike = several & (relations.rhs == 0) & (most - least <= CLOSE * np.abs(most))
    members = relations.cells[alike[row_of]]
    members = members[there[members]]
    found[members] = mean[members]
    return found


def _origins(behind: _Behind, outcome: Outcome, *, alike: bool) -> Origins:
    """Which numbers of respondents can be behind what is published of each cell; the same records are published `alike`."""
    assert outcome.values is not None
    assert outcome.low is not None
    assert outcome.high is not None
    values = outcome.values[behind.cells]
    label = np.unique(values, return_inverse=True)[1].astype(np.int64) if alike else None
    if outcome.changes is not None:  # by a p-table: what is published is the changed number of respondents
        found = origins_of(outcome.changes, np.rint(values / behind.weights))
        return replace(found, alike=label, nested=behind.nested)
    least = np.ceil(np.maximum(outcome.low[behind.cells], 0.0) / behind.weights - CLOSE).astype(np.int64)
    most = np.floor(outcome.high[behind.cells] / behind.weights + CLOSE).astype(np.int64)
    spans, pattern = np.unique(most - least, return_inverse=True)
    sets = np.arange(int(spans.max(initial=0)) + 1) <= spans[:, None]
    return Origins(least, pattern.ravel().astype(np.int32), sets, sets.astype(np.float64), label, behind.nested)
