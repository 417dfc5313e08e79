# SPDX-License-Identifier: Apache-2.0
"""Sums of products that share a response: pay times ill last year, and pay times ill this year.

Each product is judged with the plain sums of its two responses (`products`). But where two variables of 0 and 1 differ for one
person only, the difference of their products with pay is that person's pay. So the sums of one response are split by the values
of all responses that it is multiplied by: over these finer columns every product is a sum of this response with weights, and
no combination of them and of plain sums may rest on too few respondents. Responses that lie on a line for some records, and
values that changed along one (`indexed`), count as one response here; records of a respondent with one value are one unknown
(`repeated`).

Where there are many records, some of each column are looked at: what rests on enough of these rests on enough.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.queries.audit.alike import kinds_of
from reticent.queries.audit.auditor import Auditor
from reticent.queries.audit.common import Resting, weighted, with_units
from reticent.queries.audit.repeated import repeats, unknowns_of
from reticent.queries.canonical import Universe
from reticent.queries.columns import Columns
from reticent.queries.fixed import Whole, fixed_point
from reticent.queries.indexed import AS_BEFORE
from reticent.queries.modes import Setting
from reticent.queries.refusals import StaffReason
from reticent.releases.rows import Certificate, LinearRow, Proposal, Undecided
from reticent.releases.rowspace import RowSpace

MOST_UNITS = 1_500
PLAIN = ""
"""Stands for the plain sums where other names stand for the other factor of a product."""


@dataclass(frozen=True)
class Slot:
    """What one product says of each unit of the plain sums: the column of the product (−1: none), and its weight there."""

    column: Ints
    weight: Whole


@dataclass
class SharedProducts:
    """The plain sums of one response, and all sums of its products, over the records with each value of the others."""

    plain: Auditor
    products: Mapping[str, Auditor]
    slots: Mapping[str, Sequence[Slot]]
    columns: Columns
    unknown: Ints
    chosen: Ints
    minimum: int
    rng: np.random.Generator
    _space: RowSpace = field(init=False)
    _resting: Resting = field(init=False)
    _seen: dict[str, int] = field(init=False)
    _from: list[tuple[str, int]] = field(init=False)

    def __post_init__(self) -> None:
        self._reset()

    @classmethod
    def of(
        cls, universe: Universe, name: str, plain: Auditor, products: Mapping[str, Auditor], rng: np.random.Generator
    ) -> "SharedProducts":
        """The products of a response, or of those that lie on lines with it, each by the name of the other factor."""
        slots = {
            other: tuple(_slots(universe, name, plain.columns, own.columns, other)) for other, own in products.items()
        }
        every = [slot for own in slots.values() for slot in own]
        units = _some(plain.columns, every, universe.known_entities(), rng)
        unknown = unknowns_of(plain.columns, kinds_of(universe, plain.columns))
        chosen, first = np.unique(unknown[units], return_index=True)
        start = np.arange(len(chosen) + 1, dtype=np.int64)
        columns = with_units(plain.columns, start, plain.columns.entity[units[first]])
        return cls(plain, products, slots, columns, unknown, chosen, universe.policy.minimum, rng)

    def safe(self, row: LinearRow, other: str) -> bool:
        """Whether no combination of a row of a product (or a plain one) with all that is released rests on too few."""
        self.back()
        for of in (PLAIN, *self.products):
            for number in range(self._seen[of], self._auditor(of).rank()):
                found = self._space.propose(self._at_chosen(self._auditor(of).space.row(number), of))
                if isinstance(found, Proposal):
                    self._space.accept(found)
                    self._from.append((of, number))
            self._seen[of] = self._auditor(of).rank()
        found = self._space.propose(self._at_chosen(row, other))
        if isinstance(found, Certificate):
            return self._follows(row, other, found)
        return self._resting.search(self._space, found) is None

    def back(self) -> None:
        """Start again if rows were taken back; at once, because others may have their numbers by the next question."""
        if any(self._auditor(of).rank() < seen for of, seen in self._seen.items()):
            self._reset()

    def _reset(self) -> None:
        self._space = RowSpace(len(self.chosen), rng=self.rng)
        self._resting = Resting(self.columns, self.minimum, self.rng)
        self._seen = dict.fromkeys((PLAIN, *self.products), 0)
        self._from = []

    def _auditor(self, other: str) -> Auditor:
        return self.plain if other == PLAIN else self.products[other]

    def _weights(self, row: LinearRow, other: str) -> Whole:
        """What each unknown counts for in a row."""
        at_columns = row.everywhere(self._auditor(other).columns.n_columns).astype(object)
        out = np.zeros(self.plain.columns.n_units, dtype=object)
        if other == PLAIN:
            out += at_columns[self.plain.columns.column_of]
        for slot in self.slots[other] if other != PLAIN else ():
            out += np.append(at_columns, 0)[slot.column] * slot.weight
        total = np.zeros(int(self.unknown.max(initial=-1)) + 1, dtype=object)
        np.add.at(total, self.unknown, out)
        return total

    def _at_chosen(self, row: LinearRow, other: str) -> LinearRow:
        return weighted(self._weights(row, other)[self.chosen])

    def _follows(self, row: LinearRow, other: str, proof: Certificate) -> bool:
        """Whether a row that follows from others at the chosen unknowns does so at all of them."""
        if len(self.chosen) == int(self.unknown.max(initial=-1)) + 1:
            return True
        left = self._weights(row, other)
        for number, factor in proof.combination:
            of, own = self._from[number]
            left = left - factor * self._weights(self._auditor(of).space.row(own), of)
        return not bool(left.any())


def _slots(universe: Universe, name: str, plain: Columns, products: Columns, other: str) -> Iterable[Slot]:
    """The column of a product at each unit of the plain sums, and the other factor there, for each layer of the product."""
    layers = _layers(universe, name) if name.endswith(AS_BEFORE) else _layers(universe, other)
    factor = fixed_point(np.nan_to_num(np.concatenate(_values(universe, other, layers)))).integers.astype(object)
    ends = np.cumsum([len(unit) for unit in products.unit_at])[:-1]
    taken = np.zeros(products.n_units, dtype=bool)
    for layer, weights in enumerate(np.split(factor, ends)):
        unit, there = products.unit_at[layer], plain.unit_at[layer if name.endswith(AS_BEFORE) else layers[layer]]
        rows = np.flatnonzero(unit >= 0)
        rows = rows[~taken[unit[rows]]]  # a product that did not change is one unknown
        taken[unit[rows]] = True
        column, weight = np.full(plain.n_units, -1, dtype=np.int64), np.zeros(plain.n_units, dtype=object)
        column[there[rows]] = products.column_of[unit[rows]]
        weight[there[rows]] = weights[rows]
        yield Slot(column, weight)


def _layers(universe: Universe, name: str) -> list[int]:
    """The version of each layer of a system: one for each version, or those of all responses whose values count as before."""
    before = universe.before(name.removesuffix(AS_BEFORE)) if name.endswith(AS_BEFORE) else None
    return list(range(len(universe.versions))) if before is None else [layer.version for layer in before.layers]


def _values(universe: Universe, name: str, layers: Sequence[int]) -> list[Floats]:
    """The values of a response in each layer; where they count as before, the old ones."""
    before = universe.before(name.removesuffix(AS_BEFORE)) if name.endswith(AS_BEFORE) else None
    if before is not None:
        return before.values
    return [universe.versions[v].data.numbers((name,))[:, 0] for v in layers]


def _some(columns: Columns, slots: Iterable[Slot], known: frozenset[int], rng: np.random.Generator) -> Ints:
    """Units of all columns in turn, up to a limit, without those of respondents whom everybody knows.

    Of each column those with other weights come first: who differs from the rest is what combinations rest on.
    """
    hidden = np.flatnonzero(~np.isin(columns.entity, list(known)))
    hidden = rng.permutation(hidden)
    at = columns.column_of[hidden]
    alike = at
    for slot in slots:
        weight = np.unique(slot.weight[hidden], return_inverse=True)[1].reshape(-1)
        alike = np.unique(alike * (len(hidden) + 1) + weight, return_inverse=True)[1].reshape(-1)
    among_alike = _turns(alike, np.zeros(len(hidden), dtype=np.int64))
    return np.sort(hidden[np.argsort(_turns(at, among_alike), kind="stable")][:MOST_UNITS])


def _turns(groups: Ints, first: Ints) -> Ints:
    """The place of each unit in its group, where those with small numbers come first."""
    order = np.lexsort((first, groups))
    turns = np.empty(len(groups), dtype=np.int64)
    turns[order] = np.arange(len(groups)) - np.searchsorted(groups[order], groups[order])
    return turns


@dataclass
class SharedWatch:
    """What the products of each response tell together, as far as sums of them are released."""

    setting: Setting
    auditors: Mapping[tuple[str, ...], Auditor]
    auditor_of: Callable[[tuple[str, ...]], Auditor]
    _made: dict[str, tuple[frozenset[str], SharedProducts]] = field(default_factory=dict)
    _repeating: dict[str, bool] = field(default_factory=dict)

    def check(self, key: tuple[str, ...], row: LinearRow) -> StaffReason | None:
        """Whether a sum, or one of products, tells too much with the products of one response with several others."""
        if len(set(key)) < len(key):
            return None  # squares
        for name, other in ((key[0], PLAIN),) if len(key) == 1 else (key, key[::-1]):
            others = self._multiplied_by(name) | {other} - {PLAIN}
            # one product is judged with its other response (`products`), where each record has an unknown of its own
            alone = len(others) == 1 and not name.endswith(AS_BEFORE) and not self._repeats(name)
            if others and not alone and self._together(name, other) and not self._safe(name, others, row, other):
                return StaffReason("values", f"{name}: sums of its products rest on too few respondents together")
        return None

    def back(self) -> None:
        """Forget the rows that were taken back."""
        for _, own in self._made.values():
            own.back()

    def _repeats(self, name: str) -> bool:
        """Whether respondents have one value of a response in several records."""
        if name not in self._repeating:
            columns = self.auditor_of((name,)).columns
            kinds = kinds_of(self.setting.universe, columns)
            self._repeating[name] = columns.has_units and not columns.one_each and repeats(columns, kinds)
        return self._repeating[name]

    def _safe(self, name: str, others: frozenset[str], row: LinearRow, other: str) -> bool:
        try:
            return self._products_of(name, others).safe(row, other)
        except Undecided:
            return False

    def _together(self, name: str, other: str) -> bool:
        """Whether plain sums of one name, and sums of its products with another, are judged here.

        Old values stand for those that follow lines over them. A factor that filters determine is a known weight.
        """
        universe = self.setting.universe
        old = [one for one in (name, other) if one.endswith(AS_BEFORE)]
        if name not in old and universe.before(name) is not None:
            return False
        if other == PLAIN or other in old:
            return True
        return (name in old or universe.before(other) is None) and not universe.told_by_filters(other)

    def _multiplied_by(self, name: str) -> frozenset[str]:
        """The responses with which products of this one are released."""
        keys = [key for key, auditor in self.auditors.items() if name in key and len(set(key)) == 2 and auditor.rank()]
        others = [key[0] if key[1] == name else key[1] for key in keys]
        return frozenset(other for other in others if self._together(name, other))

    def _products_of(self, name: str, others: frozenset[str]) -> SharedProducts:
        """Made again when there is one more, because columns are then split further."""
        if name not in self._made or self._made[name][0] != others:
            stream = self.setting.secret.stream("shared products:" + name)
            products = {other: self.auditor_of(tuple(sorted((name, other)))) for other in sorted(others)}
            own = SharedProducts.of(self.setting.universe, name, self.auditor_of((name,)), products, stream)
            self._made[name] = others, own
        return self._made[name][1]
