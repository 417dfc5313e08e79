# SPDX-License-Identifier: Apache-2.0
"""Which sums of products with responses that an equation ties for most must not be released together.

Where income is pay and rent for most, ill times income is ill times pay and ill times rent for them. All three sums together are
about the others, and of these about those who are ill only, who may be few. So for no response may all its products with what an
equation connects be released. Other multiples of equations (the squares of all three, with pay times rent) rest on all who do not
follow it, as the plain sums do that come with them.

Equations that hold for all are released together, and lines have a system of their own.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from reticent.base.arrays import Mask
from reticent.kernels.grouping import group_columns
from reticent.queries.planes import MORE, Relation

Factors = list[Fraction]
Product = frozenset[str]


@dataclass(frozen=True)
class TiedProducts:
    """The equations that records follow together: for each pattern those that are judged elsewhere, and all."""

    names: tuple[str, ...]
    patterns: Sequence[tuple[list[Factors], list[Factors]]]

    @classmethod
    def of(cls, names: tuple[str, ...], relations: Sequence[Relation]) -> "TiedProducts":
        """The patterns of some responses and the equations between them; of those who follow a smaller one, that one.

        A few who follow only the larger one may do so by chance.
        """
        alone = [_without(each, [other for other in relations if {*other.names} < {*each.names}]) for each in relations]
        own = [each for each, rows in zip(relations, alone) if rows.sum() >= len(each.names) + each.n_public + MORE]
        numbers = [np.where(rows, each.number, 0) for each, rows in zip(relations, alone) if each in own]
        if not own:
            return cls(names, [])
        pattern, _ = group_columns(numbers, [len(each.planes) + 1 for each in own])
        found = []
        for record in np.unique(pattern, return_index=True)[1].tolist():
            told = [
                (each.tie or each.a_line, each.equation(names, record)) for each, n in zip(own, numbers) if n[record]
            ]
            every = [(elsewhere, factors) for elsewhere, factors in told if factors is not None]
            if not all(elsewhere for elsewhere, _ in every):
                found.append(
                    ([factors for elsewhere, factors in every if elsewhere], [factors for _, factors in every])
                )
        return cls(names, found)

    def enough(self, products: Collection[Product], key: Product) -> bool:
        """Whether some products, one of which is new, are all that an equation connects, times one response."""
        for factor in key if key & {*self.names} else ():
            hidden = [k for k, name in enumerate(self.names) if frozenset((name, factor)) not in products]
            if any(_free_of(own, hidden) > _free_of(elsewhere, hidden) for elsewhere, own in self.patterns):
                return True
        return False


def _without(relation: Relation, others: Sequence[Relation]) -> Mask:
    """The records that follow an equation and none of others."""
    rows = relation.number > 0
    for other in others:
        rows &= other.number == 0
    return rows


def _free_of(equations: Sequence[Factors], hidden: Sequence[int]) -> int:
    """How many equations follow from some that have none of the hidden responses."""
    return _rank(equations) - _rank([[own[k] for k in hidden] for own in equations])


def _rank(equations: Sequence[Factors]) -> int:
    rows, rank = [row for row in equations if any(row)], 0
    while rows:
        first = rows.pop()
        pivot = next(k for k, value in enumerate(first) if value)
        rank += 1
        reduced = ([a - row[pivot] / first[pivot] * b for a, b in zip(row, first)] for row in rows)
        rows = [row for row in reduced if any(row)]
    return rank
