# SPDX-License-Identifier: Apache-2.0
"""Sums of responses that an equation ties for most records: what they tell about the others.

Where income is pay and rent for all but one person of an area, the three sums over the area tell what this one earns besides.
Whoever follows the equation has no unknown of their own for its last response: over columns that are divided by who does,
the sums of all its responses are rows of one system, and no combination of them may rest on too few respondents.

Equations that share a response are one system: if tax is a fifth of income, sums of tax take the place of those of income.
So are lines beside them: for those without rent, income is pay. Of products not all that an equation connects are released
(`tied_products`).

A product of two responses, or a square, takes part like a response: sick pay is pay times ill for all but one, and the sum of the
products comes with a correlation.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, combinations_with_replacement, product

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.kernels.grouping import group_columns
from reticent.queries.audit.auditor import Auditor
from reticent.queries.audit.common import Resting, weighted
from reticent.queries.audit.tied_products import TiedProducts
from reticent.queries.canonical import Universe
from reticent.queries.columns import Columns
from reticent.queries.fixed import Fixed, Whole, fixed_point
from reticent.queries.fixed import product as fixed_product
from reticent.queries.modes import Setting
from reticent.queries.planes import Plane, Relation, by_free
from reticent.queries.refusals import StaffReason
from reticent.releases.rows import LinearRow, Proposal, Undecided
from reticent.releases.rowspace import RowSpace

MOST_TRIED = {2: 8, 3: 8, 4: 6}
"""Equations of this many variables are looked for where there are no more than these."""
MOST_MULTIPLIED = {2: 8, 3: 4}
"""Equations of this many variables, one of which is a product, are looked for where there are no more responses than these."""
LARGEST, MOST_DIGITS = 1e300, 3
Key = tuple[str, ...]


@dataclass
class Equation:
    """The sums of some responses over columns that are divided by who follows which equations.

    Each column is of one response that the equations leave free. `at` has for each response the column of its own system at
    each of these columns (−1: none), and the factor there.
    """

    names: tuple[str, ...]
    auditors: Mapping[str, Auditor]
    columns: Columns
    at: Mapping[str, tuple[Ints, Whole]]
    minimum: int
    rng: np.random.Generator
    _space: RowSpace = field(init=False)
    _resting: Resting = field(init=False)
    _seen: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self._reset()

    def safe(self, row: LinearRow, name: str) -> bool:
        """Whether no combination of a sum with all that is released of these responses rests on too few."""
        self.back()
        for own in self.names:
            for number in range(self._seen[own], self.auditors[own].rank()):
                found = self._space.propose(self._lifted(self.auditors[own].space.row(number), own))
                if isinstance(found, Proposal):
                    self._space.accept(found)
            self._seen[own] = self.auditors[own].rank()
        found = self._space.propose(self._lifted(row, name))
        return not isinstance(found, Proposal) or self._resting.search(self._space, found) is None

    def back(self) -> None:
        """Start again if rows were taken back; at once, because others may have their numbers by the next question."""
        if any(self.auditors[name].rank() < seen for name, seen in self._seen.items()):
            self._reset()

    def _reset(self) -> None:
        self._space = RowSpace(self.columns.n_columns, rng=self.rng)
        self._resting = Resting(self.columns, self.minimum, self.rng)
        self._seen = dict.fromkeys(self.names, 0)

    def _lifted(self, row: LinearRow, name: str) -> LinearRow:
        column, factor = self.at[name]
        at_columns = row.everywhere(self.auditors[name].columns.n_columns).astype(object)
        return weighted(np.append(at_columns, 0)[column] * factor)


def _equation(
    universe: Universe,
    names: tuple[str, ...],
    relations: Sequence[Relation],
    auditors: Mapping[str, Auditor],
    rng: np.random.Generator,
) -> Equation:
    """The system of some responses and the equations between them that most records follow."""
    entity = universe.entities(0)
    hidden = ~np.isin(entity, list(universe.known_entities()))
    own = [_column_of_record(auditors[name].columns) for name in names]
    pattern, n_patterns = group_columns(
        [each.number for each in relations], [len(each.planes) + 1 for each in relations]
    )
    factors = _factors(names, relations, pattern)
    free = np.asarray((factors != 0).any(axis=1), dtype=bool)
    unknown = [hidden & (column >= 0) & free[pattern, k] for k, column in enumerate(own)]
    record, response = (
        np.concatenate(parts)
        for parts in zip(*((np.flatnonzero(u), np.full(u.sum(), k)) for k, u in enumerate(unknown)))
    )
    keys = [*(column[record] for column in own), pattern[record], response]
    sizes = [auditors[name].columns.n_columns for name in names]
    group, n_groups = group_columns(keys, [*sizes, n_patterns, len(names)])
    order = np.argsort(group, kind="stable")
    start = np.concatenate(([0], np.cumsum(np.bincount(group, minlength=n_groups)))).astype(np.int64)
    first = order[start[:-1]]
    columns = Columns(
        " and ".join(names), (record[first],), start, entity[record[order]], Fixed(np.zeros(len(order), np.int64), 1)
    )
    at = {}
    for k, name in enumerate(names):
        factor = factors[pattern[record[first]], k, response[first]]
        at[name] = np.where(factor == 0, -1, own[k][record[first]]).astype(np.int64), factor
    return Equation(names, auditors, columns, at, universe.policy.minimum, rng)


def _factors(names: tuple[str, ...], relations: Sequence[Relation], pattern: Ints) -> Whole:
    """What each response counts for each free one, by pattern; whole numbers, for an unknown may be any part of a response."""
    found = []
    for record in np.unique(pattern, return_index=True)[1].tolist():
        equations = [each.equation(names, record) for each in relations]
        told = by_free([own for own in equations if own is not None], len(names))
        scales = [math.lcm(*(factor.denominator for factor in column)) for column in zip(*told)]
        found.append([[int(factor * scale) for factor, scale in zip(own, scales)] for own in told])
    return np.array(found, dtype=object)


def _column_of_record(columns: Columns) -> Ints:
    """The column of each record in the system of a response (−1: none)."""
    unit = columns.unit_at[0]
    return np.where(unit >= 0, columns.column_of[unit], -1).astype(np.int64)


@dataclass
class EquationWatch:
    """All equations of up to four variables that most records follow, or most of a code, and not all."""

    setting: Setting
    auditors: Mapping[tuple[str, ...], Auditor]
    auditor_of: Callable[[tuple[str, ...]], Auditor]

    def check(self, key: tuple[str, ...], row: LinearRow) -> StaffReason | None:
        """Whether a sum of a response, or of products, tells too much with those of the responses that an equation ties."""
        name = _named(key)
        for equation in self._equations:
            try:
                safe = name not in equation.names or equation.safe(row, name)
            except Undecided:
                safe = False
            if not safe:
                return StaffReason(
                    "values", f"{' and '.join(equation.names)}: their sums rest on too few respondents together"
                )
        return self._check_products(key) if len(key) == 2 else None

    def _check_products(self, key: tuple[str, ...]) -> StaffReason | None:
        """Whether all products of a response with what an equation connects would be released."""
        released = [own for own, auditor in self.auditors.items() if len(own) == 2 and auditor.rank()]
        numeric, told = {*self.setting.universe.numeric}, self.setting.universe.told_by_filters
        # with a factor that filters determine they are plain sums with weights, and old values have systems of their own
        products = {frozenset(own) for own in (key, *released) if {*own} <= numeric and not any(map(told, own))}
        for tied in self._products if frozenset(key) in products else ():
            if tied.enough(products, frozenset(key)):
                return StaffReason(
                    "values", f"{' and '.join(tied.names)}: their products are about those who are not tied"
                )
        return None

    def back(self) -> None:
        """Forget the rows that were taken back."""
        for equation in self.__dict__.get("_equations", ()):
            equation.back()

    @cached_property
    def _equations(self) -> list[Equation]:
        found = []
        products = {_named(key): key for key in self._keys}
        for names, own in _connected([*self._relations, *self._curves]):
            multiplied = any(name in products for name in names)
            # tied responses are released together, and lines have a system of their own
            if not multiplied and (all(each.tie for each in own) or (len(own) == 1 and own[0].a_line)):
                continue
            auditors = {name: self.auditor_of(products.get(name, (name,))) for name in names}
            stream = self.setting.secret.stream("equations:" + "*".join(names))
            found.append(_equation(self.setting.universe, names, own, auditors, stream))
        return [equation for equation in found if equation.columns.n_columns]

    @cached_property
    def _products(self) -> list[TiedProducts]:
        groups = [(names, own) for names, own in _connected(self._relations) if not all(each.tie for each in own)]
        return [TiedProducts.of(names, own) for names, own in groups if not (len(own) == 1 and own[0].a_line)]

    @cached_property
    def _public(self) -> list[str]:
        current = self.setting.universe.current
        return [name for name in current.filters if current.levels[name].numbers is not None]

    @cached_property
    def _names(self) -> list[str]:
        """The responses among which equations are looked for."""
        universe = self.setting.universe
        names = [name for name in universe.numeric if name not in self._public]
        if len(universe.versions) > 1 or len(names) < 2:
            return []
        # not where records stay in an engine
        return names if all(self.auditor_of((name,)).columns.unit_at for name in names) else []

    @property
    def _keys(self) -> list[Key]:
        """The products of two responses, and the squares."""
        return [tuple(sorted(key)) for key in combinations_with_replacement(self._names, 2)]

    @cached_property
    def _relations(self) -> list[Relation]:
        """All equations that most records follow, or most of a code, of those with a value missing, or of who has none yet."""
        found: list[Relation] = []
        for known, chosen in _tried(self._public, self._names):
            parts = [each.number > 0 for each in found if {*each.names} < {*chosen}]
            follow = [np.any(parts, axis=0).astype(np.int32)] if parts else []
            groups = [*self._groups(chosen), *follow]
            each = Relation.of(known, chosen, self.setting.universe.current.data.numbers((*known, *chosen)), groups)
            found += [each] if each.planes else []
        return found

    @cached_property
    def _curves(self) -> list[Relation]:
        """All such equations of a product of two responses, or a square, and of one or two responses."""
        if not self._names:
            return []
        data, found = self.setting.universe.current.data, []
        for size, most in MOST_MULTIPLIED.items():
            for key, names in product(self._keys, combinations(self._by_size, size - 1)):
                if len(self._names) <= most and not {*names} <= {*key}:
                    products, scale = _multiplied(data.numbers(key), data.numbers(names))
                    values = np.column_stack((products, data.numbers(names)))
                    each = Relation.of((), (_named(key), *names), values, self._groups((*key, *names)))
                    planes = [Plane(own.rows, (own.factors[0] / scale, *own.factors[1:])) for own in each.planes]
                    found += [replace(each, planes=planes)] if self._new(each, {*key, *names}) else []
        return found

    @cached_property
    def _by_size(self) -> list[str]:
        """The responses by their sizes: an equation is solved for the largest, because few digits of it are rounding."""
        values = np.abs(self.setting.universe.current.data.numbers(tuple(self._names)))
        with np.errstate(over="ignore"):
            sizes = [float(np.median(own[own > 0])) if (own > 0).any() else 0.0 for own in values.T]
        return [name for _, name in sorted(zip(sizes, self._names))]

    def _new(self, relation: Relation, names: set[str]) -> bool:
        """Whether somebody follows an equation with a product who does not follow one of its responses: 0 and 1 are squares."""
        plain = [plane for each in self._relations if {*each.names} <= names for plane in each.planes]
        return not all(any(np.isin(own.rows, plane.rows).all() for plane in plain) for own in relation.planes)

    def _groups(self, names: Sequence[str]) -> list[NDArray[np.int32]]:
        """The codes of each record for the filters, and whether it lacks another response."""
        current = self.setting.universe.current
        lacks = (current.data.missing(name).astype(np.int32) for name in self._names if name not in names)
        return [*(current.codes[own][current.atom] for own in current.filters), *(own for own in lacks if own.any())]


def _named(key: Key) -> str:
    """What a response or a product is called among those that equations connect."""
    return "*".join(key)


def _multiplied(values: Floats, beside: Floats) -> tuple[Floats, int]:
    """The products of two columns, and by which power of ten they are divided: to the size of others that they stand beside.

    They are right to the last digit; those that are too large are missing, so that their records follow nothing.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        found = values[:, 0] * values[:, -1]
        there = np.abs(found) < LARGEST
    sizes = [np.abs(own[there & (own != 0) & (np.abs(own) < LARGEST)]) for own in (found, *beside.T)]
    middle, *others = (float(np.median(own)) if len(own) else 1.0 for own in sizes)
    digits = max(0, int(np.log10(middle) - np.log10(max(others))))
    scale = 10**digits if digits > MOST_DIGITS else 1
    exact = fixed_product([fixed_point(values[there, k]) for k in (0, -1)])
    found[~there] = np.nan
    found[there] = (exact.integers.astype(object) / (exact.scale * scale)).astype(np.float64)
    return found, scale


def _connected(relations: Sequence[Relation]) -> list[tuple[tuple[str, ...], list[Relation]]]:
    """Responses and products that equations connect, with these."""
    groups: list[set[str]] = []
    for each in relations:
        together = {*each.names}.union(*(group for group in groups if group & {*each.names}))
        groups = [group for group in groups if not group & together] + [together]
    return [(tuple(sorted(group)), [each for each in relations if {*each.names} <= group]) for group in groups]


def _tried(public: Sequence[str], names: Sequence[str]) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Sets of public numbers and responses, two to four together, at least two of which are responses."""
    for size, most in MOST_TRIED.items():
        for n_known in range(size - 1):
            if len(names) + (len(public) if n_known else 0) <= most:
                yield from product(combinations(public, n_known), combinations(names, size - n_known))
