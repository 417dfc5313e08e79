# SPDX-License-Identifier: Apache-2.0
"""Households by the combination of all their members: how many published households can be a given one.

The attacker knows the true keys of every member whose record is published, and looks for published households of that size
whose records fit the members one to one; keys that chance has changed may be left out. Risks are those of a household (1/f,
with weights the expected 1/F); every member carries the risk of the household. Where the household id is not published, the
attacker puts records together that share what nobody outside the household has: weight and household variables, all
variables that members mostly share, any one published variable whose repeated values mostly stay within a household, or
numbers that lie close together (see `household_nearness`).
Numbers and changed codes are used by a second attacker, who links households by the nearest composition (see
`household_linkage`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.data.microdata import Microdata
from reticent.kernels.grouping import group_columns
from reticent.kernels.household_matching import People, count_households, own_households
from reticent.microdata.risk.household_linkage import HouseholdLinkage, household_linkage
from reticent.microdata.risk.household_nearness import near_groups
from reticent.microdata.risk.known_linkage import known_columns
from reticent.microdata.risk.recount import Fit, changed_keys, inverse, population_weights, weighted_risk
from reticent.microdata.trace import Trace

MOSTLY = 0.5
"""The share of groups (of households) that makes an attacker believe that a variable puts households together."""
FEWEST_NEAR = 3
"""Groups of near numbers that must be of one household each before an attacker believes that it is no chance."""
BUDGET = 50_000_000
"""Comparisons of two households with blanks; households left over keep a risk that is too high, never too low."""


@dataclass(frozen=True)
class HouseholdRecount:
    """Households that the attacker can put together, how many published ones can be each, and the risk of each."""

    households: int
    sample_counts: Ints = field(repr=False)
    population_counts: Floats | None = field(repr=False)
    by: str
    complete: bool
    linkage: HouseholdLinkage | None = None

    @property
    def risk(self) -> Floats:
        """The risk of each household: the expected 1/F with weights, else 1/f; 0 if its own is not among them."""
        if self.population_counts is None:
            return inverse(self.sample_counts)
        return weighted_risk(self.sample_counts, self.population_counts)

    def or_riskier(self, other: "HouseholdRecount") -> "HouseholdRecount":
        """Each household with the larger of two risks."""
        more = other.risk > self.risk
        counts, population = np.where(more, other.sample_counts, self.sample_counts), other.population_counts
        if population is not None and self.population_counts is not None:
            population = np.where(more, population, self.population_counts)
        return replace(
            self, sample_counts=counts, population_counts=population, complete=self.complete and other.complete
        )


def household_recount(
    trace: Trace, masked: Microdata, keys: Sequence[str], known: Sequence[str] = ()
) -> HouseholdRecount:
    """Count the published households that each household can be, and link them by the nearest composition of `known`."""
    starts, members, by = _groups(trace, masked)
    weights = population_weights(trace, masked)
    if starts.size == 1:
        return HouseholdRecount(0, np.zeros(0, dtype=np.int64), None if weights is None else np.zeros(0), by, True)
    each = np.ones(masked.n_records) if weights is None else weights
    mean = np.add.reduceat(each[members], starts[:-1]) / np.diff(starts)
    found = HouseholdRecount(starts.size - 1, np.zeros(starts.size - 1, dtype=np.int64), None, by, True)
    for who, kept in _attackers(trace, masked, keys):
        counts, sums, complete = _Matching(Fit.of(who, masked, kept), starts, members, mean).count()
        found = found.or_riskier(
            HouseholdRecount(found.households, counts, None if weights is None else sums, by, complete)
        )
    return replace(found, linkage=_linkage(trace, masked, known, starts, members))


def _attackers(trace: Trace, masked: Microdata, keys: Sequence[str]) -> Iterator[tuple[Trace, list[str]]]:
    """What attackers compare households by: all keys, those that chance left alone, and what can be carried out again."""
    again = trace.repeating()
    for who in (trace,) if again is None else (trace, again):
        for left_out in ((), *changed_keys(who, masked, keys)):
            yield who, [name for name in keys if name not in left_out]


def _linkage(
    trace: Trace, masked: Microdata, known: Sequence[str], starts: Ints, members: Ints
) -> HouseholdLinkage | None:
    """The attacker who links most households by the nearest composition."""
    linked = None
    for who in (trace, *(other for _, other in trace.ways(masked))):
        columns = known_columns(who, masked, known)
        found = household_linkage(columns, trace.own(masked), starts, members) if columns else None
        if found is not None and (linked is None or found.share > linked.share):
            linked = found
    return linked


def _groups(trace: Trace, masked: Microdata) -> tuple[Ints, Ints, str]:
    """Starts and members of the groups of records that an attacker can tell to be one household, and by what."""
    own = trace.own(masked)
    here = _once(own)
    true = trace.original.household()
    none = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64), ""
    if true is None:
        return none
    household = np.where(own >= 0, true[own], -1)
    published = masked.household()
    if published is not None:
        return *_grouped(published, here), "their id"
    best, found = none, 0
    for group, by, trusted in _put_together(masked, np.where(here, household, -1)):
        together = _within_one(group, household)
        several = np.bincount(group[here], minlength=together.size) > 1
        if not trusted and (together & several).sum() <= MOSTLY * several.sum():
            continue
        use = (together & several)[group] & here
        if int(use.sum()) > found:
            best, found = (*_grouped(group, use), by), int(use.sum())
    return best


def _put_together(masked: Microdata, household: Ints) -> Iterator[tuple[Ints, str, bool]]:
    """The groups of records that the attacker tries, by what, and whether every group is believed."""
    for names, by, trusted in _shared(masked, household):
        yield masked.patterns(names).group, by, trusted
    for group, by in near_groups(masked, household):
        if (_within_one(group, household) & (np.bincount(group) > 1)).sum() >= FEWEST_NEAR:
            yield group, by, False


def _once(own: Ints) -> NDArray[np.bool_]:
    """Published records of somebody, without further copies: a person is a member of a household once."""
    found = np.zeros(own.size, dtype=bool)
    found[np.unique(own, return_index=True)[1]] = True
    return found & (own >= 0)


def _shared(masked: Microdata, household: Ints) -> Iterator[tuple[list[str], str, bool]]:
    """What the attacker tries in place of the id: sets of variables, their name, and whether every group is believed.

    Of one variable, and of those that members share, repeated values must mostly stay within a household: else who shares
    a value by chance would count as put together.
    """
    schema = masked.schema
    declared = [v.name for v in schema.variables if v.is_household or v.name == schema.weight]
    if declared:
        yield declared, "weight and household variables", True
    names = [v.name for v in schema.variables]
    alike = [name for name in names if _mostly_equal(masked, name, household)]
    if len(alike) > 1:
        yield alike, "the variables that members share", False
    for name in names:
        yield [name], f"the variable {name}", False


def _mostly_equal(masked: Microdata, name: str, household: Ints) -> bool:
    """Whether most households of several members have one value of the variable."""
    inside = household >= 0
    value, home = masked.patterns((name,)).group[inside], household[inside]
    several = np.bincount(home) > 1
    return bool((_within_one(home, value) & several).sum() > MOSTLY * several.sum())


def _within_one(group: Ints, other: Ints) -> NDArray[np.bool_]:
    """For each group whether all its records have the same `other`."""
    lowest = np.full(int(group.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    highest = np.full(lowest.size, -1, dtype=np.int64)
    np.minimum.at(lowest, group, other)
    np.maximum.at(highest, group, other)
    return np.asarray(lowest == highest)


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
        people = self._people()
        mine = own_households(people)
        loose = self._loose()
        counts, sums = self._by_signature(~loose)
        # Households with blanks fit many: each is compared with those of its size, the riskiest askers first.
        listed = np.flatnonzero(loose)
        listed = listed[np.argsort(size[listed], kind="stable")]
        asking = np.flatnonzero(mine)
        asking = asking[np.argsort(counts[asking], kind="stable")]
        first = np.searchsorted(size[listed], size[asking], side="left")
        last = np.searchsorted(size[listed], size[asking], side="right")
        found, more, answered = count_households(asking, first, last, listed, self.weights, people, BUDGET)
        rest = asking[answered:]
        found[answered:] = loose[rest]
        more[answered:] = np.where(loose[rest], self.weights[rest], 0.0)
        counts[asking] += found
        sums[asking] += more
        return np.where(mine, counts, 0), np.where(mine, sums, 0.0), bool(answered == asking.size)

    def _people(self) -> People:
        fit = self.fit
        deepest = max((len(layers) for layers in fit.maps), default=1)
        widest = max((layers[0].size for layers in fit.maps), default=0) + 1
        table = np.full((len(fit.maps), deepest, widest), -1, dtype=np.int32)
        for v, layers in enumerate(fit.maps):
            for level, layer in enumerate(layers):
                table[v, level, : layer.size] = layer
        near_true, near_shown, radii = fit.radii()
        return People(self.starts, self.members, fit.true, fit.shown, fit.detail, table, near_true, near_shown, radii)

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
