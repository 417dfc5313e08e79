# SPDX-License-Identifier: Apache-2.0
"""Sums of products of two responses, and what they tell together with the sums of each.

With Σ x·d over some records everybody also has Σ x, Σ d and their number, so Σ (x − u)(d − v) for any u and v, and other u and
v for other records as far as sums of them are released: records with x = u or d = v add nothing, and hide nobody.

1. Quickly: as if every sum of x and d were answered, u and v may differ from column to column. What is left of a column is at
   least its respondents less those with its most common values (a value that one respondent has is nobody's guess). If
   combinations rest on enough of these, all is well, now and later.
2. Exactly: each response is split by the values of the other. Over these finer columns a sum of products is a sum of one
   response with weights, and no combination of such sums with plain ones may rest on too few respondents.

What neither can judge (several versions, respondents that everybody knows, very many values) is refused. A factor that
filters determine needs neither: the product is a sum of the other factor with known weights (`pieces`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from reticent.base.arrays import Ints
from reticent.kernels.grouping import group_columns
from reticent.queries.audit.auditor import Auditor
from reticent.queries.audit.common import TOO_LARGE, Resting, codes_of, left_whatever, with_units
from reticent.queries.canonical import MOST_LEVELS, Universe
from reticent.queries.columns import Columns
from reticent.queries.fixed import Fixed, fixed_point
from reticent.releases.rows import Certificate, LinearRow, Proposal, Undecided
from reticent.releases.rowspace import RowSpace


@dataclass
class Split:
    """The sums of one response, split by the values of the other: rows of both systems over finer columns."""

    columns: Columns
    plain: Auditor
    products: Auditor
    plain_column: Ints
    product_column: Ints
    weight: Ints
    minimum: int
    rng: np.random.Generator
    _space: RowSpace = field(init=False)
    _resting: Resting = field(init=False)
    _seen: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start again: rows were taken back."""
        self._space = RowSpace(self.columns.n_columns, rng=self.rng)
        self._resting = Resting(self.columns, self.minimum, self.rng)
        self._seen = [0, 0]

    def safe(self, row: LinearRow, *, product: bool) -> bool:
        """Whether no combination of the row with all that is released rests on too few respondents."""
        for which, auditor in enumerate((self.plain, self.products)):
            for number in range(self._seen[which], auditor.space.rank):
                found = self._space.propose(self._lifted(auditor.space.row(number), product=which == 1))
                if isinstance(found, Proposal):
                    self._space.accept(found)
            self._seen[which] = auditor.space.rank
        found = self._space.propose(self._lifted(row, product=product))
        return isinstance(found, Certificate) or self._resting.search(self._space, found) is None

    def _lifted(self, row: LinearRow, *, product: bool) -> LinearRow:
        if not product:
            return LinearRow(tuple((factor, mask[self.plain_column]) for factor, mask in row.terms))
        there, terms = self.product_column >= 0, []
        for factor, mask in row.terms:
            inside = mask[self.product_column] & there
            for weight in np.unique(self.weight[inside]).tolist():
                if abs(factor * weight) >= TOO_LARGE:
                    raise Undecided("The audit cannot work with weights as large as these.")
                terms += [(factor * weight, inside & (self.weight == weight))] if weight else []
        return LinearRow(tuple(terms))


@dataclass
class ProductWatch:
    """What sums of products of two responses tell, with the sums of each of them."""

    products: Auditor
    quick: Resting | None
    splits: Mapping[str, Split | None]

    @classmethod
    def of(
        cls, universe: Universe, products: Auditor, plain: Mapping[str, Auditor], rng: np.random.Generator
    ) -> "ProductWatch":
        """The watch of a product, given its auditor and those of its responses."""
        minimum = products.rules.minimum - 1  # a single sum, which takes one respondent less
        names = list(plain)
        told = {name: universe.told_by_filters(name) for name in names}
        hidden = [factor for name, factor in zip(names, products.columns.factors) if not told[name]]
        quick = Resting(_left_over(products.columns, hidden), minimum, rng) if hidden else None
        splits = {
            name: _split(universe, (name, other), plain[name], products, rng)
            for name, other in (names, names[::-1])
            if not told[other]
        }
        return cls(products, quick, splits)

    def safe(self, row: LinearRow, response: str | None = None) -> bool:
        """Whether a row of the products, or of a response, tells too little about anybody."""
        if self.quick is None:
            return True
        if response is None:
            found = self.products.space.propose(row)
            if isinstance(found, Certificate) or self.quick.proved(self.products.space, found):
                return True
            return all(split is not None and split.safe(row, product=True) for split in self.splits.values())
        if response not in self.splits or self.quick.proved_all(self.products.space):
            return True
        split = self.splits[response]
        return split is not None and split.safe(row, product=False)

    def back_to(self, rank: int) -> None:
        """Forget the rows that were released after the rank of the products was this, and what was answered since then."""
        if self.quick is not None:
            self.quick.back_to(rank)
        for split in self.splits.values():
            if split is not None:
                split.reset()


def _split(
    universe: Universe, names: tuple[str, str], plain: Auditor, products: Auditor, rng: np.random.Generator
) -> Split | None:
    """The sums of the first response split by the second; None where that is not judged."""
    if len(universe.versions) > 1 or universe.known_entities():
        return None
    version = universe.current
    own, other = version.data.numbers(names).T
    there = np.flatnonzero(~np.isnan(own))
    values, codes = np.unique(other[there], return_inverse=True)
    whole = fixed_point(np.nan_to_num(values)).integers
    common = math.gcd(*map(int, whole)) or 1
    if len(values) > MOST_LEVELS or max(map(abs, map(int, whole)), default=0) >= TOO_LARGE:
        return None
    atoms = version.atom[there].astype(np.int64)
    group, n_groups = group_columns([atoms, codes.reshape(-1)], [version.n_atoms, max(len(values), 1)])
    order = np.argsort(group, kind="stable")
    start = np.concatenate(([0], np.cumsum(np.bincount(group, minlength=n_groups)))).astype(np.int64)
    first = order[start[:-1]]
    columns = with_units(
        Columns(" by ".join(names), (atoms[first],), start, np.zeros(0, dtype=np.int64), Fixed(np.zeros(0), 1)),
        start,
        universe.entities(0)[there][order],
    )
    at = [_column_of_atom(auditor.columns, version.n_atoms)[atoms[first]] for auditor in (plain, products)]
    weight = np.array([int(whole[c]) // common for c in codes.reshape(-1)[first]], dtype=np.int64)
    return Split(columns, plain, products, at[0], at[1], weight, products.rules.minimum - 1, rng)


def _column_of_atom(columns: Columns, n_atoms: int) -> Ints:
    """The column of each atom (−1: none), where there is one version and nobody is known."""
    out = np.full(n_atoms, -1, dtype=np.int64)
    out[columns.atom_of[0]] = np.arange(columns.n_columns)
    return out


def _left_over(columns: Columns, factors: Sequence[Fixed]) -> Columns:
    """In each column as many respondents as are left whatever values of the factors are taken off there."""
    left = left_whatever(columns, [codes_of(factor) for factor in factors])
    start = np.concatenate(([0], np.cumsum(left))).astype(np.int64)
    return with_units(columns, start, np.arange(int(start[-1]), dtype=np.int64))
