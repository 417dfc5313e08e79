"""Households by the combination of all their members: how many published households can be a given one.

The attacker knows the true keys of every member whose record is published, and looks for published households of that size
whose records fit the members one to one. Risks are those of a household (1/f, with weights the expected 1/F); every member
carries the risk of the household. Where the household id is not published, the attacker puts records together that share a
weight and household variables which nobody outside the household has.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.data.microdata import Microdata
from reticent.kernels.grouping import group_columns
from reticent.kernels.household_matching import count_households, own_households
from reticent.microdata.risk.recount import Fit, inverse, population_weights, weighted_risk
from reticent.microdata.trace import Trace, positions

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
BUDGET = 50_000_000
"""Comparisons of two households with blanks; households left over keep a risk that is too high, never too low."""


@dataclass(frozen=True)
class HouseholdRecount:
    """Households that the attacker can put together, how many published ones can be each, and the risk of each."""

    households: int
    sample_counts: Ints = field(repr=False)
    population_counts: Floats | None = field(repr=False)
    by_id: bool
    complete: bool

    @property
    def risk(self) -> Floats:
        """The risk of each household: the expected 1/F with weights, else 1/f; 0 if its own is not among them."""
        if self.population_counts is None:
            return inverse(self.sample_counts)
        return weighted_risk(self.sample_counts, self.population_counts)


def household_recount(trace: Trace, masked: Microdata, keys: Sequence[str]) -> HouseholdRecount:
    """Count the published households that each household can be."""
    starts, members = _groups(trace, masked)
    by_id = masked.schema.household_id is not None
    weights = population_weights(trace, masked)
    if starts.size == 1:
        return HouseholdRecount(0, np.zeros(0, dtype=np.int64), None if weights is None else np.zeros(0), by_id, True)
    fit = Fit.of(trace, masked, keys)
    each = np.ones(masked.n_records) if weights is None else weights
    mean = np.add.reduceat(each[members], starts[:-1]) / np.diff(starts)
    counts, sums, complete = _Matching(fit, starts, members, mean).count()
    return HouseholdRecount(starts.size - 1, counts, None if weights is None else sums, by_id, complete)


def _groups(trace: Trace, masked: Microdata) -> tuple[Ints, Ints]:
    """Starts and members of the groups of published records that an attacker can tell to be one household."""
    own = positions(trace.original, masked)
    true = trace.original.household()
    if true is None:
        return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    household = np.where(own >= 0, true[own], -1)
    published = masked.household()
    if published is not None:
        return _grouped(published, own >= 0)
    names = [v.name for v in masked.schema.variables if v.is_household or v.name == masked.schema.weight]
    group = masked.patterns(names).group
    lowest = np.full(int(group.max()) + 1, np.iinfo(np.int64).max)
    highest = np.full(int(group.max()) + 1, -1, dtype=np.int64)
    np.minimum.at(lowest, group, household)
    np.maximum.at(highest, group, household)
    together = (lowest == highest) & (np.bincount(group) > 1)
    return _grouped(group, together[group] & (own >= 0))


def _grouped(group: Ints, use: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    rows = np.flatnonzero(use)
    order = rows[np.argsort(group[rows], kind="stable")]
    new = np.flatnonzero(np.diff(group[order])) + 1
    return np.concatenate(([0], new, [order.size])).astype(np.int64)[: 1 if not order.size else None], order


def _numbered(rows: NDArray[Any]) -> Ints:
    """The same number for equal rows."""
    columns = [np.ascontiguousarray(rows[:, v]) for v in range(rows.shape[1])]
    if not columns:
        return np.zeros(len(rows), dtype=np.int64)
    return group_columns(columns, [int(column.max(initial=-1)) + 1 for column in columns])[0]


@dataclass(frozen=True)
class _Matching:
    """The counting itself: whole households by their signature, those with blanks one by one."""

    fit: Fit
    starts: Ints
    members: Ints
    weights: Floats

    def count(self) -> tuple[Ints, Floats, bool]:
        size = np.diff(self.starts)
        arrays = self._arrays()
        mine = own_households(self.starts, self.members, *arrays)
        loose = self._loose()
        counts, sums = self._by_signature(~loose)
        # Households with blanks fit many: each is compared with those of its size, the riskiest askers first.
        listed = np.flatnonzero(loose)
        listed = listed[np.argsort(size[listed], kind="stable")]
        asking = np.flatnonzero(mine)
        asking = asking[np.argsort(counts[asking], kind="stable")]
        first = np.searchsorted(size[listed], size[asking], side="left")
        last = np.searchsorted(size[listed], size[asking], side="right")
        found, more, answered = count_households(
            asking, first, last, listed, self.weights, self.starts, self.members, *arrays, BUDGET
        )
        rest = asking[answered:]
        found[answered:] = loose[rest]
        more[answered:] = np.where(loose[rest], self.weights[rest], 0.0)
        counts[asking] += found
        sums[asking] += more
        return np.where(mine, counts, 0), np.where(mine, sums, 0.0), bool(answered == asking.size)

    def _arrays(self) -> tuple[object, ...]:
        fit = self.fit
        deepest = max((len(layers) for layers in fit.maps), default=1)
        widest = max((layers[0].size for layers in fit.maps), default=0) + 1
        table = np.full((len(fit.maps), deepest, widest), -1, dtype=np.int32)
        for v, layers in enumerate(fit.maps):
            for level, layer in enumerate(layers):
                table[v, level, : layer.size] = layer
        near_true, near_shown, radii = fit.radii()
        return fit.true, fit.shown, fit.detail, table, near_true, near_shown, radii

    def _loose(self) -> NDArray[np.bool_]:
        """Households that a signature cannot settle: a blank, a moved number, or detail that differs by record."""
        if self.fit.true_numbers.shape[1] or any(len(layers) > 1 for layers in self.fit.maps):
            return np.ones(self.starts.size - 1, dtype=bool)
        blank = (
            np.asarray((self.fit.shown < 0).any(axis=1)) if self.fit.maps else np.zeros(len(self.fit.own), dtype=bool)
        )
        return np.add.reduceat(blank[self.members].astype(np.int64), self.starts[:-1]) > 0

    def _by_signature(self, whole: NDArray[np.bool_]) -> tuple[Ints, Floats]:
        """Whole published households with the same members as each household, whatever their order."""
        n = self.starts.size - 1
        counts, sums = np.zeros(n, dtype=np.int64), np.zeros(n)
        if not whole.any():
            return counts, sums
        fit = self.fit
        true = fit.translated(np.zeros(len(fit.maps), dtype=np.int32))
        number = _numbered(np.vstack((true, fit.shown)))
        shown, size = number[len(true) :], np.diff(self.starts)
        for s in np.unique(size):
            these = np.flatnonzero(size == s)
            at = self.members[self.starts[these][:, None] + np.arange(s)[None, :]]
            listed = whole[these]
            rows = np.vstack((np.sort(number[at], axis=1), np.sort(shown[at[listed]], axis=1)))
            group = _numbered(rows)
            answer = group[these.size :]
            width = int(group.max()) + 1
            counts[these] = np.bincount(answer, minlength=width)[group[: these.size]]
            sums[these] = np.bincount(answer, weights=self.weights[these[listed]], minlength=width)[group[: these.size]]
        return counts, sums
