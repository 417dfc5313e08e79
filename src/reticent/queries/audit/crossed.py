# SPDX-License-Identifier: Apache-2.0
"""Values that one record of a respondent has of one response and another record of another: what one spouse earns, and what the
other gives as a partner's income.

The sum of income over the men of an area less that of partners' incomes over the women is about those who live alone. So equal
values of such responses in the records of one respondent are one unknown, which the sums of both count, and no combination of
these sums may rest on too few respondents. The same holds for their squares.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from reticent.base.arrays import Ints
from reticent.kernels.grouping import group_columns
from reticent.queries.audit.alike import codes_together, cross, kinds_of
from reticent.queries.audit.auditor import Auditor
from reticent.queries.audit.common import Resting, weighted, with_units
from reticent.queries.columns import Columns
from reticent.queries.modes import Setting
from reticent.queries.refusals import StaffReason
from reticent.releases.rows import LinearRow, Proposal, Undecided
from reticent.releases.rowspace import RowSpace

Key = tuple[str, ...]


@dataclass
class Crossed:
    """The sums of some responses over columns of unknowns that these have in the same places.

    `places` has for each response and each of these columns those of its own system (−1: no further one).
    """

    auditors: Mapping[Key, Auditor]
    columns: Columns
    places: Mapping[Key, Ints]
    minimum: int
    rng: np.random.Generator
    _space: RowSpace = field(init=False)
    _resting: Resting = field(init=False)
    _seen: dict[Key, int] = field(init=False)

    def __post_init__(self) -> None:
        self._reset()

    @classmethod
    def of(
        cls, auditors: Mapping[Key, Auditor], known: frozenset[int], minimum: int, rng: np.random.Generator
    ) -> "Crossed":
        """The system of some responses, in which equal values of one respondent are one unknown."""
        own = [auditor.columns for auditor in auditors.values()]
        owner, codes = np.concatenate([each.entity for each in own]), codes_together(own)
        unknown, n_unknowns = group_columns(
            [owner, codes], [int(owner.max(initial=0)) + 1, int(codes.max(initial=0)) + 1]
        )
        entity = np.zeros(n_unknowns, dtype=np.int64)
        entity[unknown] = owner
        hidden = np.flatnonzero(~np.isin(entity, list(known)))
        parts = np.split(unknown, np.cumsum([each.n_units for each in own])[:-1])
        every = [_places(each, part.astype(np.int64), n_unknowns)[hidden] for each, part in zip(own, parts)]
        alike, column = np.unique(np.hstack(every), axis=0, return_inverse=True)
        column = column.reshape(-1)
        start = np.concatenate(([0], np.cumsum(np.bincount(column, minlength=len(alike))))).astype(np.int64)
        columns = with_units(own[0], start, entity[hidden][np.argsort(column, kind="stable")])
        ends = np.cumsum([each.shape[1] for each in every])[:-1]
        return cls(auditors, columns, dict(zip(auditors, np.split(alike, ends, axis=1))), minimum, rng)

    def safe(self, row: LinearRow, key: Key) -> bool:
        """Whether no combination of a sum with all that is released of these responses rests on too few."""
        self.back()
        for own, auditor in self.auditors.items():
            for number in range(self._seen[own], auditor.rank()):
                found = self._space.propose(self._lifted(auditor.space.row(number), own))
                if isinstance(found, Proposal):
                    self._space.accept(found)
            self._seen[own] = auditor.rank()
        found = self._space.propose(self._lifted(row, key))
        return not isinstance(found, Proposal) or self._resting.search(self._space, found) is None

    def back(self) -> None:
        """Start again if rows were taken back; at once, because others may have their numbers by the next question."""
        if any(self.auditors[key].rank() < seen for key, seen in self._seen.items()):
            self._reset()

    def _reset(self) -> None:
        self._space = RowSpace(len(self.columns.start) - 1, rng=self.rng)
        self._resting = Resting(self.columns, self.minimum, self.rng)
        self._seen = dict.fromkeys(self.auditors, 0)

    def _lifted(self, row: LinearRow, key: Key) -> LinearRow:
        at_columns = row.everywhere(self.auditors[key].columns.n_columns).astype(object)
        return weighted(np.append(at_columns, 0)[self.places[key]].sum(axis=1))


def _places(columns: Columns, unknown: Ints, n_unknowns: int) -> Ints:
    """The columns in which each unknown stands, in order (−1: no further one)."""
    order = np.lexsort((columns.column_of, unknown))
    counts = np.bincount(unknown, minlength=n_unknowns)
    turn = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    places = np.full((n_unknowns, int(counts.max(initial=0))), -1, dtype=np.int64)
    places[unknown[order], turn] = columns.column_of[order]
    return places


@dataclass
class CrossedWatch:
    """Responses whose values cross between the records of a respondent more often than by chance."""

    setting: Setting
    auditor_of: Callable[[Key], Auditor]
    _made: dict[int, list[Crossed]] = field(default_factory=dict)

    def check(self, key: Key, row: LinearRow) -> StaffReason | None:
        """Whether a sum, or one of squares, tells too much of those whose values are not in another response's."""
        if len(set(key)) > 1 or not self._together:
            return None
        for own in self._systems(len(key)):
            try:
                safe = key not in own.auditors or own.safe(row, key)
            except Undecided:
                safe = False
            if not safe:
                names = " and ".join(name for name, *_ in own.auditors)
                return StaffReason("values", f"{names}: values of other records of the respondents cancel out")
        return None

    def back(self) -> None:
        """Forget the rows that were taken back."""
        for own in (each for made in self._made.values() for each in made):
            own.back()

    def _systems(self, power: int) -> list[Crossed]:
        if power not in self._made:
            known, minimum = self.setting.universe.known_entities(), self.setting.policy.minimum
            self._made[power] = [
                Crossed.of(
                    {key: self.auditor_of(key) for key in ((name,) * power for name in names)},
                    known,
                    minimum,
                    self.setting.secret.stream("crossed:" + "*".join(names * power)),
                )
                for names in self._together
            ]
        return self._made[power]

    @cached_property
    def _together(self) -> list[Key]:
        """Responses that share values between different records of a respondent, in groups."""
        universe = self.setting.universe
        if len(universe.versions) > 1 or len(universe.numeric) < 2:
            return []
        columns = {name: self.auditor_of((name,)).columns for name in universe.numeric}
        if any(not own.has_units or not own.unit_at for own in columns.values()):
            return []  # records stay in an engine
        kinds = kinds_of(universe, columns[universe.numeric[0]])
        pairs = [(one, other) for one, other in combinations(columns, 2) if cross(columns[one], columns[other], kinds)]
        return [group for group in set(universe.linked_by(tuple(pairs)).values()) if len(group) > 1]
