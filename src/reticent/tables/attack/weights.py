# SPDX-License-Identifier: Apache-2.0
"""Changed weighted counts: behind them are numbers of respondents, which are whole and add up, and weights in a known range.

A weight is the same for everybody in a stratum, and no secret. What is published by it is the number of respondents, changed.
Where weights differ, surveys document their least and largest: a published value has a list of numbers that can be behind it
(`weight_ranges.py`), and these are attacked by the relations in the same way.
"""

from dataclasses import dataclass, replace

import numpy as np

from reticent.base.arrays import Floats, Ints, Mask
from reticent.data.published_table import WEIGHTED
from reticent.data.relations import Relations
from reticent.data.table import Table
from reticent.tables.attack.audit import Audit
from reticent.tables.attack.noise import EXACT_CELLS, audit_noise
from reticent.tables.attack.noise_intervals import contained
from reticent.tables.attack.noise_releases import nested_pairs
from reticent.tables.attack.weight_ranges import Ranges, determined_with_weights
from reticent.tables.outcome import Outcome
from reticent.tables.perturb.origins import Origins, origins_of
from reticent.tables.perturb.ptable import PerturbationTable
from reticent.tables.problem import SuppressionProblem
from reticent.tabulation.linked import System

CLOSE = 1e-9
_WIDEST = 1_000
"""Where so many respondents more or fewer are possible, their number is as good as unknown."""
STEPS_UNJUDGED = (
    "with stored record keys (record_key), weighted counts of respondents with different weights are a changed number of "
    "respondents times their mean weight; few weighted counts have the digits of such a product, and which these are is not "
    "judged; without record_key noise is continuous, and is judged"
)


@dataclass(frozen=True, eq=False)
class _Behind:
    """Cells with their numbers in the table, range of weights, numbers of respondents, and which of them contain others.

    `shown` is what each is published as, to the `half` of its last digit; `steps` says that this is a whole number of respondents
    times a mean weight.
    """

    cells: Ints
    least: Floats
    most: Floats
    counts: Floats
    relations: Relations
    nested: Ints
    shown: Floats
    half: float
    steps: bool

    @property
    def one_weight(self) -> Mask:
        """Cells whose respondents have one weight, that everybody can know."""
        return np.asarray(self.least == self.most)


def with_weights(system: System, problem: SuppressionProblem, outcome: Outcome, found: Audit) -> Audit:
    """The attack on weighted counts, with what the numbers of respondents behind them tell."""
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
    if alike and outcome.changes is not None and not behind.steps:
        behind = replace(behind, relations=behind.relations.with_rows(_same_records(behind, origins)))
    shown = np.asarray(behind.shown / behind.least)
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
    low[behind.cells] = own.low[order] * behind.least
    high[behind.cells] = own.high[order] * behind.most
    known = np.zeros(table.n_cells, dtype=bool)
    known[behind.cells] = (own.high[order] - own.low[order] < 0.5) & (behind.counts > 0)
    there = behind.counts > 0
    differ = bool(there.any()) and bool(behind.least[there].min() < behind.most[there].max())
    if differ and n <= EXACT_CELLS:
        alone_low, alone_high = _alone(behind, outcome)
        ranges = Ranges(
            behind.shown, behind.half, behind.least, behind.most, own.low[order], own.high[order], alone_low, alone_high,
            outcome.changes,
        )  # fmt: skip
        true = behind.counts, table.values[behind.cells]
        known[behind.cells] |= determined_with_weights(behind.relations, origins, ranges, true, table.decimals)
    if outcome.additive and not outcome.noise:  # what is safe may be known where totals are kept
        known &= problem.primary
    at = found.cells
    return replace(
        found,
        low=np.where(np.isfinite(low[at]), np.maximum(found.low, np.minimum(low[at], problem.values[at])), found.low),
        high=np.where(np.isfinite(high[at]), np.minimum(found.high, np.maximum(high[at], problem.values[at])), found.high),
        exposed=found.exposed | known[at],
        programs=found.programs + own.programs,
        unjudged=STEPS_UNJUDGED if differ and outcome.changes is not None and table.key_digits else found.unjudged,
    )  # fmt: skip


def _behind(table: Table, problem: SuppressionProblem, outcome: Outcome) -> _Behind:
    """The cells that can be attacked, with the relations between them; none of these where respondents are in several cells."""
    relations, counts = problem.relations, table.respondents.counts.astype(np.float64)
    weights = _weights(table, relations, counts)
    unknown = np.zeros(len(weights), dtype=bool) if table.least == 0 else counts == 0
    if table.contributions is None:  # a respondent counts once, with a weight in the range
        unknown |= np.isnan(weights)
    least, most = np.where(unknown, table.least, weights), np.where(unknown, table.most, weights)
    free = ~np.isnan(least) & (least > 0) & np.isfinite(most) & ~problem.frozen
    cells = np.flatnonzero(free & (_width(outcome, least, most) <= _WIDEST))
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
    assert outcome.values is not None
    shown = np.asarray(np.round(outcome.values[cells], table.decimals))
    return _Behind(
        cells, least[cells], most[cells], counts[cells], between, nested[(nested >= 0).all(axis=1)], shown,
        0.5 * 10.0**-table.decimals, table.least == table.most or table.key_digits > 0,
    )  # fmt: skip


def _width(outcome: Outcome, least: Floats, most: Floats) -> Floats:
    """About how many numbers of respondents can be behind each cell."""
    assert outcome.low is not None
    assert outcome.high is not None
    weights = np.nan_to_num(least, nan=1.0)
    alone = (outcome.high - outcome.low) / np.where(weights > 0, weights, 1.0)
    if outcome.values is None:
        return np.asarray(alone)
    with np.errstate(divide="ignore"):
        return np.asarray(alone + outcome.values * (1.0 / weights - 1.0 / np.nan_to_num(most, nan=1.0)))


def _weights(table: Table, relations: Relations, counts: Floats) -> Floats:
    """The weight of all respondents of a cell, as far as everybody can know it; NaN elsewhere.

    Known is the weight of a file in which all are equal, of a total that has the mean weight of each of its parts, and that of a
    stratum (`_of_strata`). In a cell without respondents any weight is right.
    """
    there = counts > 0
    mean = np.divide(table.values, counts, out=np.full(table.n_cells, np.nan), where=there)
    if table.least > 0 and bool((np.abs(mean[there] - table.least) <= CLOSE * table.least).all()):
        return np.where(there, table.least, 1.0)
    found = np.where(there, np.nan, 1.0)
    stratum = _of_strata(table, mean, counts)
    found[stratum] = mean[stratum]
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


def _of_strata(table: Table, mean: Floats, counts: Floats) -> Mask:
    """Cells whose mean weight is one of few that occur: several respondents have it, or the codes decide about weights."""
    own = np.zeros(table.n_cells, dtype=bool)
    for weight in table.few_weights:
        own |= np.abs(mean - weight) <= CLOSE * weight
    by_codes = bool(own[table.is_inner & (counts > 0)].all())
    return own if by_codes else own & (counts > 1)


def _origins(behind: _Behind, outcome: Outcome, *, alike: bool) -> Origins:
    """Which numbers of respondents can be behind what is published of each cell; the same records are published `alike`."""
    label = np.unique(behind.shown, return_inverse=True)[1].astype(np.int64) if alike else None
    low, high = _alone(behind, outcome)
    if outcome.changes is not None:  # by a p-table: what is published is the changed number of respondents
        return replace(_by_ptable(behind, outcome.changes, low > 0), alike=label, nested=behind.nested)
    least = np.ceil(np.maximum(low, 0.0) / behind.most - CLOSE).astype(np.int64)
    most = np.floor(high / behind.least + CLOSE).astype(np.int64)
    return replace(_intervals(least, most), alike=label, nested=behind.nested)


def _same_records(behind: _Behind, origins: Origins) -> Relations:
    """That a cell and one within it have the same records, which nobody doubts where continuous noise gave both one value."""
    total, part = contained(behind.relations, origins).T
    # the same value by chance would mislead an attacker
    same = (
        (behind.shown[total] == behind.shown[part])
        & (behind.shown[total] > 0)
        & (behind.counts[total] == behind.counts[part])
    )
    cells = np.column_stack([total[same], part[same]])
    ends = np.arange(0, cells.size + 1, 2)
    return Relations.from_arrays(len(behind.cells), ends, cells.ravel(), np.tile([-1, 1], len(cells)))


def _alone(behind: _Behind, outcome: Outcome) -> tuple[Floats, Floats]:
    """What each published value says of its own weighted count."""
    assert outcome.low is not None
    assert outcome.high is not None
    return outcome.low[behind.cells], outcome.high[behind.cells]


def _by_ptable(behind: _Behind, changes: PerturbationTable, somebody: Mask) -> Origins:
    """The origins of all changed numbers that times a mean weight of the range, or half a respondent off, are what is shown.

    A sum may tell that `somebody` is behind a 0 (`presence.py`).
    """
    there = behind.shown > 0
    first = np.ceil((behind.shown - behind.half) / behind.most - 0.5 - CLOSE)
    last = np.floor((behind.shown + behind.half) / behind.least + 0.5 + CLOSE)
    nearest = np.rint(behind.shown / behind.least)
    first, last = (np.where(behind.one_weight & behind.steps, nearest, end) for end in (first, last))
    first = np.where(there, np.maximum(first, changes.skipped + 1), 0.0)
    last = np.where(there, np.maximum(last, first), 0.0)
    lower, upper = origins_of(changes, first), origins_of(changes, last)
    spans = _intervals(np.maximum(lower.low, somebody).astype(np.int64), upper.high.astype(np.int64))
    width = max(lower.patterns.shape[1], spans.patterns.shape[1])
    alone = (first == last) & (lower.low >= somebody)
    return Origins(
        np.where(alone, lower.base, spans.base),
        np.where(alone, lower.pattern, len(lower.patterns) + spans.pattern).astype(np.int32),
        np.vstack([np.pad(one.patterns, ((0, 0), (0, width - one.patterns.shape[1]))) for one in (lower, spans)]),
    )


def _intervals(least: Ints, most: Ints) -> Origins:
    """All whole numbers between two ends."""
    spans, pattern = np.unique(most - least, return_inverse=True)
    sets = np.arange(int(spans.max(initial=0)) + 1) <= spans[:, None]
    return Origins(least, pattern.ravel().astype(np.int32), sets)
