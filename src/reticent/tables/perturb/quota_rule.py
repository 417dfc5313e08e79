# SPDX-License-Identifier: Apache-2.0
"""What quotas tell: which true tables can be published so, for somebody who knows the design and has every secret against them.

Quotas fix, up to one, how many cells go from each count to each other one, and the matrix follows the frequencies of the true
table. So a table of true counts fits only if the numbers of its movements are a controlled rounding of its own diag(V)·R.
"""

from dataclasses import dataclass, field

import numpy as np

from reticent.base.arrays import Floats, Ints, Mask
from reticent.tables.perturb.invariant import AT_LEAST, Invariant, InvariantDesign, count_frequencies, invariant_table
from reticent.tables.perturb.origins import Origins
from reticent.tables.perturb.ptable import PerturbationTable, Row
from reticent.tables.perturb.quotas import NEAR, expected_flows, small_results

MOST_MATRICES = 5_000
"""This many different frequencies are looked at, each with a matrix of its own."""


def stratum_matrix(counts: Ints, given: Floats, design: InvariantDesign, *, met: bool = True) -> Invariant | None:
    """The matrix of one stratum, by given frequencies or its own; none where nobody is.

    Frequencies that need not be `met` exactly get some more of the small counts. The matrix of any true table then has the
    same changes, so that nobody learns from a change that frequencies cannot have been such that it is impossible.
    """
    if not bool((counts > 0).any()):
        return None
    last = max(design.top + 2, design.skip + 1)
    own = given if len(given) else count_frequencies(counts, last)
    if not bool((own > 0).any()):  # only large counts: level frequencies do
        own = np.ones(last)
    if not met and not len(given) and design.skip:
        own = own + np.where(np.arange(len(own)) <= design.skip, AT_LEAST, 0.0)
    return invariant_table(own, design)


def widest_table(skip: int) -> PerturbationTable:
    """Every change that a matrix of the design can make, whatever the frequencies; the probabilities mean nothing."""
    block = skip + 1 if skip else 1
    rows = [Row.of(0.0, np.zeros(1), np.ones(1))]
    for count in range(1, block + 4):
        results = [0, block] if count < block else [*range(max(block, count - 2), count + 3)]
        if skip and count == block:
            results = [0, *results]
        rows.append(
            Row.of(float(count), np.array(results, dtype=float) - count, np.full(len(results), 1 / len(results)))
        )
    return PerturbationTable(tuple(rows), "all changes")


@dataclass(frozen=True, eq=False)
class QuotaRule:
    """How cells were selected: by which design, from which frequencies (none: those of the table), in which strata.

    `origins` are the true counts that any matrix of the design leads to what is published.
    """

    design: InvariantDesign
    given: Floats
    strata: tuple[Ints, ...]
    origins: Origins | None = field(default=None, repr=False)

    def fits(self, worlds: Ints, published: Ints) -> Mask | None:
        """Which tables of true counts (one per row) can be published so; None where they have too many different frequencies."""
        left = np.ones(len(worlds), dtype=bool)
        for cells in self.strata:
            at = np.flatnonzero(left)
            found = self._fitting(worlds[at][:, cells], published[cells])
            if found is None:
                return None
            left[at] = found
        return left

    def _fitting(self, worlds: Ints, published: Ints) -> Mask | None:
        """The same for one stratum."""
        fits = np.zeros(len(worlds), dtype=bool)
        near = np.flatnonzero(self._frequencies_kept(worlds, published))
        kinds, kind = np.unique(np.sort(worlds[near], axis=1), axis=0, return_inverse=True)
        if len(kinds) > MOST_MATRICES:
            return None
        for number, counts in enumerate(kinds):
            mine = near[kind.ravel() == number]
            found = stratum_matrix(counts, self.given, self.design)
            fits[mine] = (published == 0).all() if found is None else _moved_so(found, counts, worlds[mine], published)
        return fits

    def _frequencies_kept(self, worlds: Ints, published: Ints) -> Mask:
        """A first look: counts whose frequencies a table's own matrix keeps are published as often as they occur."""
        if len(self.given):
            return np.ones(len(worlds), dtype=bool)
        block, top = (self.design.skip + 1 if self.design.skip else 0), self.design.top + 2
        often = np.stack([(worlds == count).sum(axis=1) for count in range(1, top + 1)], axis=1)
        shown = np.array([(published == count).sum() for count in range(1, top + 1)])
        singles = often[:, block:]
        # the last two before a count that does not occur are not kept
        run = np.where((singles == 0).any(axis=1), np.argmax(singles == 0, axis=1), singles.shape[1])
        inside = np.arange(singles.shape[1]) < np.maximum(run - 2, 0)[:, None]
        return np.asarray(((singles == shown[block:]) | ~inside).all(axis=1))


def _moved_so(found: Invariant, counts: Ints, worlds: Ints, published: Ints) -> Mask:
    """Which of the tables with the same frequencies have movements that are a rounding of the expected ones."""
    present, flows = expected_flows(counts, found.table, found.kept + 2)
    fits = np.ones(len(worlds), dtype=bool)
    columns = np.zeros((len(worlds), flows.shape[1]))
    for place, count in enumerate(present):
        here = worlds == count
        moved = np.stack([here[:, published == j].sum(axis=1) for j in range(flows.shape[1])], axis=1)
        fits &= (moved.sum(axis=1) == here.sum(axis=1)) & _rounded(moved, flows[place])
        columns += moved
    small, expected = list(small_results(found.table)), flows.sum(axis=0)
    fits &= _rounded(columns, expected)
    fits &= _rounded(columns[:, small].sum(axis=1, keepdims=True), expected[small].sum(keepdims=True))
    quota = np.isin(worlds, present)
    for count in np.unique(worlds[~quota]).tolist():  # by their keys alone
        row = found.table.rows[min(int(count), len(found.table.rows) - 1)]
        reached = np.isin(published, count + row.changes[row.chances > 0]) if count else published == 0
        fits &= ~((worlds == count) & ~reached).any(axis=1)
    return fits


def _rounded(numbers: Floats, expected: Floats) -> Mask:
    """Whether all numbers of a row are neighbours of the expected ones; those that are whole are met."""
    low, high = np.floor(expected + NEAR), np.ceil(expected - NEAR)
    return np.asarray(((numbers >= low) & (numbers <= high)).all(axis=1))
