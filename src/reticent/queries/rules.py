# SPDX-License-Identifier: Apache-2.0
"""When a set of records is unsafe by itself: too few respondents, dominance, the p percent rule. Exact integers decide.

Respondents (entities) are counted, not records. Contributions are absolute values of each respondent's total, so that a
negative value cannot hide a large one.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Mask
from reticent.queries.columns import Columns
from reticent.queries.fixed import Whole
from reticent.queries.policy import Policy

SAME = "spread: all values are the same, or those of all but one respondent"


@dataclass(frozen=True)
class SetRules:
    """The sensitivity rules of a policy.

    `by_value` is False for statistics whose values are not confidential (counts) and in the simulatable mode, where a
    decision may not look at values: then only the number of respondents counts. `squares`: the values are squares that
    are released together with sums; a set in which they are all the same has no spread, so every value would be known. Where
    one respondent alone has another value, that one would know all others.
    """

    minimum: int
    dominance: tuple[int, Fraction] | None = None
    p_percent: Fraction | None = None
    coalition: int = 1
    by_value: bool = True
    known: frozenset[int] = frozenset()
    squares: bool = False

    @classmethod
    def of(
        cls, policy: Policy, *, by_value: bool, known: frozenset[int] = frozenset(), responses: tuple[str, ...] = ()
    ) -> "SetRules":
        """The rules that a policy asks for, for sums of (products of) some responses.

        A sum of products comes with sums: one more equation for the same unknowns takes one more respondent.
        """
        dominance = None
        if policy.dominance:
            dominance = (int(policy.dominance[0]), Fraction(str(policy.dominance[1])))
        share = None if policy.p_percent is None else Fraction(str(policy.p_percent))
        minimum = policy.minimum + max(0, len(responses) - 1)
        squares = len(responses) == 2 and responses[0] == responses[1]
        return cls(minimum, dominance, share, policy.coalition, by_value, known, squares)

    @property
    def weighs(self) -> bool:
        """Whether a set can be unsafe although it has enough respondents."""
        return self.by_value and (self.dominance is not None or self.p_percent is not None)

    def broken(self, columns: Columns, mask: Mask) -> str | None:
        """The rule that makes a set of columns unsafe, in words for staff; None if it is safe."""
        if columns.factors and self.by_value:
            return self._broken_product(columns, mask)
        if columns.one_each and not self.known:
            return self._broken_quickly(columns, mask)
        units = columns.units_by_entity(mask)
        entity = columns.entity[units]
        if self.known:
            unknown = ~np.isin(entity, np.fromiter(self.known, dtype=np.int64))
            if len(units) and not bool(unknown.any()):
                return None  # everything in it is known anyway
            units, entity = units[unknown], entity[unknown]
        own = columns.values.integers[units]
        if self.squares and self.by_value and self._same(entity, own):
            return SAME
        return self._broken_units(entity, own)

    def broken_weighted(self, columns: Columns, weights: NDArray[Any]) -> str | None:
        """The rule that a weighted sum breaks by what each respondent adds to it; `weights` are whole, one per column."""
        units = columns.units_by_entity(np.asarray(weights != 0, dtype=bool))
        if self.known:
            units = units[~np.isin(columns.entity[units], np.fromiter(self.known, dtype=np.int64))]
        at = np.searchsorted(columns.start, units, side="right") - 1
        own = columns.values.integers[units].astype(object) * weights[at].astype(object)
        return self._broken_units(columns.entity[units], own) if len(units) else None

    def _broken_units(self, entity: NDArray[np.int64], own: Whole) -> str | None:
        """The rule that some values break, given in the order of their respondents."""
        starts = np.flatnonzero(np.diff(entity, prepend=-1))
        few = self._few(len(starts))
        if few is not None or not self.by_value:
            return few
        contributions = np.abs(np.add.reduceat(own, starts))
        return self._by_value(len(starts), contributions, int(contributions.sum()))

    def _broken_product(self, columns: Columns, mask: Mask) -> str | None:
        """A sum of products is a sum of one response over the values of the other, and is judged as these sums.

        Products that are 0 add nothing, so they hide nobody. Where one response has two values in the set (0 and 1, say),
        the sums of the other over each of them follow from the sum of the products and the plain sum.
        """
        units = columns.units_by_entity(mask)
        if self.known:
            units = units[~np.isin(columns.entity[units], np.fromiter(self.known, dtype=np.int64))]
        entity = columns.entity[units]
        own = columns.values.integers[units]
        broken = self._broken_units(entity, own)
        if broken is not None or len(units) == 0:
            return broken
        plain = replace(self, minimum=self.minimum - 1)  # these are single sums, which take one respondent less
        adding = own != 0
        if bool(adding.any()) and (rule := plain._broken_units(entity[adding], own[adding])) is not None:
            return f"{rule} with a product other than 0"
        for selector, other in (columns.factors, columns.factors[::-1]):
            codes = selector.integers[units]
            values = set(codes[:1].tolist()) | set(codes[codes != codes[0]][:1].tolist())
            if len(values) < 2 or not bool(np.isin(codes, list(values)).all()):
                continue
            for value in values:
                chosen = codes == value
                rule = plain._broken_units(entity[chosen], other.integers[units][chosen])
                if rule is not None:
                    return f"{rule} with one value of the other response"
        return None

    def _broken_quickly(self, columns: Columns, mask: Mask) -> str | None:
        """The same where each respondent has one unit: the largest of a set are among the largest of its columns."""
        if self.squares and self.by_value:
            units = columns.units(mask)
            if self._same(columns.entity[units], columns.values.integers[units]):
                return SAME
        at = np.flatnonzero(mask)  # most sets have few of the columns
        n = int(columns.counts[at].sum())
        few = self._few(n)
        if few is not None or not self.by_value:
            return few
        depth = max(self.coalition + 1, self.dominance[0] if self.dominance else 1)
        return self._by_value(n, columns.largest(depth)[at].ravel(), int(columns.sizes[at].sum()))

    def _same(self, entity: NDArray[np.int64], own: Whole) -> bool:
        """Whether all values are the same, or all but those of one respondent, where one is not to compute another."""
        if self.minimum > 2:
            return _nearly_same(entity, own)
        return bool(len(own) and own.min() == own.max())

    def _few(self, n_entities: int) -> str | None:
        return f"minimum: {n_entities} respondents" if n_entities < self.minimum else None

    def _by_value(self, n: int, contributions: NDArray[np.int64], total: int) -> str | None:
        """Dominance and p percent, for n respondents whose largest contributions are among those given."""
        if self.dominance is not None:
            top, k = self.dominance
            if total and _largest(contributions, top) * 100 * k.denominator > k.numerator * total:
                return f"dominance: the {top} largest hold more than {float(k):g} percent"
        if self.p_percent is not None:
            if n <= self.coalition + 1:
                return f"p percent: at most {self.coalition + 1} contributors"
            first = _largest(contributions, 1)
            rest = total - _largest(contributions, self.coalition + 1)
            if self.p_percent * first > 100 * rest:
                return f"p percent: the largest can be estimated within {float(self.p_percent):g} percent"
        return None


def _nearly_same(entity: NDArray[np.int64], own: Whole) -> bool:
    """Whether the values of all respondents but one, who knows the own, are the same.

    Of two respondents at least one has the common value, so it is the first value of one of them.
    """
    if len(own) == 0:
        return False
    others = np.flatnonzero(entity != entity[0])
    for value in {own[0], own[others[0]]} if len(others) else ():
        apart = entity[own != value]
        if len(apart) == 0 or bool((apart == apart[0]).all()):
            return True
    return len(others) == 0


def _largest(contributions: NDArray[np.int64], n: int) -> int:
    if n >= len(contributions):
        return int(contributions.sum())
    return int(np.partition(contributions, len(contributions) - n)[-n:].sum())
