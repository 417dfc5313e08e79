# SPDX-License-Identifier: Apache-2.0
"""Responses of which respondents have one value in several records: the income of a household, for each person in it.

Sums over the men and over the women of an area both have the income of every couple, so their difference is about those who live
alone. So the records of a respondent that have one value are one unknown, which an answer counts as often as it counts these
records, and no combination of answers may rest on too few respondents with such unknowns.

In the mode `simulatable` no value may say who has one: any of a respondent's records may have. So a combination must leave
something of enough respondents, if all records of each count together.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from reticent.base.arrays import Ints
from reticent.kernels.grouping import group_columns
from reticent.queries.audit.alike import ALIKE, FEWEST_ALIKE, OFTENER, Kinds, cross, kinds_of
from reticent.queries.audit.auditor import Auditor
from reticent.queries.audit.common import Resting, codes_of, weighted, with_units
from reticent.queries.canonical import COUNT
from reticent.queries.columns import Columns
from reticent.queries.modes import Setting
from reticent.queries.refusals import StaffReason
from reticent.releases.rows import Certificate, LinearRow, Proposal, Undecided
from reticent.releases.rowspace import RowSpace


@dataclass
class Repeated:
    """The sums of one response, or product, over columns of respondents who have their unknowns in the same places.

    `places` has for each of these columns those of the records of one unknown (−1: no further one). Where values `told` which
    records are one unknown, a combination that leaves nothing of anybody reveals nothing; otherwise it might.
    """

    auditor: Auditor
    columns: Columns
    places: Ints
    told: bool
    rng: np.random.Generator
    _space: RowSpace = field(init=False)
    _resting: Resting = field(init=False)
    _seen: int = field(init=False)

    def __post_init__(self) -> None:
        self._reset()

    @classmethod
    def of(
        cls, auditor: Auditor, known: frozenset[int], rng: np.random.Generator, *, by_value: bool, kinds: Kinds = ()
    ) -> "Repeated | None":
        """The system of a response; None if no respondent has one value in several records, or only by chance."""
        own = auditor.columns
        if own.one_each or (by_value and not repeats(own, kinds)):
            return None
        hidden = np.flatnonzero(~np.isin(own.entity, list(known)))
        keys = [own.entity[hidden], codes_of(own.values)[hidden]] if by_value else [own.entity[hidden]]
        unknown, n_unknowns = group_columns(keys, [int(key.max(initial=0)) + 1 for key in keys])
        order = np.lexsort((own.column_of[hidden], unknown))
        counts = np.bincount(unknown, minlength=n_unknowns)
        turn = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        places = np.full((n_unknowns, int(counts.max(initial=0))), -1, dtype=np.int64)
        places[unknown[order], turn] = own.column_of[hidden][order]
        entity = np.empty(n_unknowns, dtype=np.int64)
        entity[unknown] = own.entity[hidden]
        alike, column = np.unique(places, axis=0, return_inverse=True)
        column = column.reshape(-1)
        start = np.concatenate(([0], np.cumsum(np.bincount(column, minlength=len(alike))))).astype(np.int64)
        columns = with_units(own, start, entity[np.argsort(column, kind="stable")])
        return cls(auditor, columns, alike, by_value, rng)

    def safe(self, row: LinearRow) -> bool:
        """Whether no combination of a row with all that is released leaves something of too few respondents only."""
        self.back()
        for number in range(self._seen, self.auditor.rank()):
            found = self._space.propose(self._lifted(self.auditor.space.row(number)))
            if isinstance(found, Proposal):
                self._space.accept(found)
        self._seen = self.auditor.rank()
        found = self._space.propose(self._lifted(row))
        if isinstance(found, Proposal):
            return self._resting.search(self._space, found) is None
        return self.told or isinstance(self.auditor.space.propose(row), Certificate)

    def back(self) -> None:
        """Start again if rows were taken back; at once, because others may have their numbers by the next question."""
        if self.auditor.rank() < self._seen:
            self._reset()

    def _reset(self) -> None:
        self._space = RowSpace(self.columns.n_columns, rng=self.rng)
        self._resting = Resting(self.columns, self.auditor.rules.minimum, self.rng)
        self._seen = 0

    def _lifted(self, row: LinearRow) -> LinearRow:
        at_columns = row.everywhere(self.auditor.columns.n_columns).astype(object)
        return weighted(np.append(at_columns, 0)[self.places].sum(axis=1))


def repeats(columns: Columns, kinds: Kinds) -> bool:
    """Whether records of one respondent have one value more often than chance makes it; 0 is what many have.

    All records count, or those of two codes of a filter (couples), beside others of the respondent (children).
    """
    one_layer = columns.has_units and len(columns.unit_at) == 1
    return _alike(columns) or (one_layer and cross(columns, columns, kinds))


def _alike(columns: Columns) -> bool:
    codes, there = codes_of(columns.values), columns.values.integers != 0
    if len(np.unique(codes[there])) == 1:
        there[:] = True  # of 0 and 1 both say something
    owner, codes = columns.entity[there], codes[there]
    alike, counts = np.unique(np.column_stack((owner, codes)), axis=0, return_counts=True)
    within, chance = _share(counts, np.unique(owner, return_counts=True)[1]), _share(np.bincount(codes), len(codes))
    several = len(np.unique(alike[counts > 1, 0]))
    return several >= FEWEST_ALIKE and within >= min(OFTENER * chance, chance + ALIKE * (1 - chance)) and chance < 1


def unknowns_of(columns: Columns, kinds: Kinds) -> Ints:
    """The unknown of each unit: those of a respondent with one value are one, if that is more than chance."""
    if columns.one_each or not repeats(columns, kinds):
        return np.arange(columns.n_units, dtype=np.int64)
    codes = codes_of(columns.values)
    keys = [columns.entity, codes]
    return group_columns(keys, [int(key.max(initial=0)) + 1 for key in keys])[0].astype(np.int64)


def _share(alike: Ints, every: Ints | int) -> float:
    """The share of pairs that are alike, from the sizes of groups of equal ones and of all that are compared."""
    pairs = int((np.asarray(every) * (np.asarray(every) - 1)).sum())
    return int((alike * (alike - 1)).sum()) / pairs if pairs else 0.0


@dataclass
class RepeatedWatch:
    """What sums tell if respondents have one value in several records, for all that is released."""

    setting: Setting
    auditor_of: Callable[[tuple[str, ...]], Auditor]
    by_value: bool
    _made: dict[tuple[str, ...], Repeated | None] = field(default_factory=dict)

    def check(self, key: tuple[str, ...], row: LinearRow) -> StaffReason | None:
        """Whether a sum tells too much of those who have not the same value again in other records."""
        if key == (COUNT,):
            return None
        if key not in self._made:
            stream = self.setting.secret.stream("repeated:" + "*".join(key))
            universe, auditor = self.setting.universe, self.auditor_of(key)
            kinds = kinds_of(universe, auditor.columns) if self.by_value else ()
            self._made[key] = Repeated.of(
                auditor, universe.known_entities(), stream, by_value=self.by_value, kinds=kinds
            )
        own = self._made[key]
        try:
            safe = own is None or own.safe(row)
        except Undecided:
            safe = False
        if safe:
            return None
        return StaffReason("values", f"{'*'.join(key)}: values that respondents have in several records cancel out")

    def back(self) -> None:
        """Forget the rows that were taken back."""
        for own in self._made.values():
            if own is not None:
                own.back()
