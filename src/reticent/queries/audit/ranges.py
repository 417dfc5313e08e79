# SPDX-License-Identifier: Apache-2.0
"""What there is to find out about each value of a response, and whose values the columns have."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from reticent.base.arrays import Ints, Mask
from reticent.queries.audit.bins import Bins
from reticent.queries.audit.bits import spread_of, squared_spread
from reticent.queries.columns import Columns
from reticent.queries.policy import Bounds

# of more values the digits beyond count as told: fewer bits to find out, so this errs on the safe side
MOST_VALUES = 256
FEW_VALUES, FEWEST_BITS = 16, 0.05


@dataclass(frozen=True)
class Range:
    """What each unknown may be: the bits and the variance that it has, and that its square has beside it (0: nothing)."""

    bits: float
    spread: float
    squares: float

    @classmethod
    def even(cls, values: float, *, squares: bool = True) -> "Range":
        """One of this many whole numbers in a row, all equally likely."""
        # of values that nobody has declared, squares may reveal more than the values: as much as those of three values
        return cls(math.log2(values), spread_of(values), squared_spread(max(values, 3.0)) if squares else 0.0)

    @classmethod
    def declared(cls, bounds: Bounds | None, points: Sequence[float] = ()) -> "Range":
        """By declared bounds; two values where there are none, which is the most careful guess for sums.

        Of a response with cutpoints everybody knows the bin of each value: the narrowest one counts.
        """
        if bounds is None or bounds.low is None or bounds.high is None:
            return cls.even(2.0)
        ends = [bounds.low, *(point for point in points if bounds.low < point <= bounds.high), bounds.high + 1.0]
        narrowest = min(MOST_VALUES, *(high - low for low, high in pairwise(ends)))
        values = max(float(math.floor(narrowest)), 2.0)
        return cls.even(values, squares=values > 2 or not bounds.integer)

    def within(self, columns: Columns, bins: Bins | None) -> "Range":
        """The same, or, where bins are known that are narrower, that of the narrowest one."""
        if bins is None:
            return self
        ends = [(low, high) for low, high in zip(*bins) if low is not None and high is not None]
        widths = {int((high - low) * columns.values.scale) + 1 for low, high in ends}
        values = float(max(min(widths, default=MOST_VALUES), 2))
        even = Range.even(min(values, MOST_VALUES), squares=values > 2)
        return even if even.bits < self.bits else self

    @classmethod
    def found(cls, columns: Columns) -> "Range":
        """By the data: from the least value to the greatest, in steps that all of them have, as likely as they are there.

        Of few values each has its share, of more only a value that most have.
        """
        if columns.n_columns == 0:
            return cls.even(2.0, squares=False)
        least, greatest = (int(end) for end in (columns.extremes[0].min(), columns.extremes[1].max()))
        there, counts = columns.commonest(MOST_VALUES + 1)  # of more, no other step makes fewer than `MOST_VALUES`
        step = math.gcd(*(int(value) - least for value in there.tolist())) or 1
        values = max((greatest - least) // step + 1, 2)
        even = cls.even(float(min(values, MOST_VALUES)), squares=values > 2)
        if not len(there):
            return even
        shares = counts / columns.n_units
        if len(there) > FEW_VALUES:
            most = float(shares.max())
            return replace(even, bits=_entropy([most, 1 - most]) + (1 - most) * even.bits) if most > 0.5 else even
        bits = max(_entropy(shares.tolist()), FEWEST_BITS)
        if values > FEW_VALUES:
            return replace(even, bits=bits)
        numbers = np.array([(int(value) - least) // step for value in there.tolist()], dtype=np.float64)
        spread = float(shares @ numbers**2) - float(shares @ numbers) ** 2
        return replace(even, bits=bits, spread=max(spread, FEWEST_BITS * even.spread))


def _entropy(shares: list[float]) -> float:
    return -sum(share * math.log2(share) for share in shares if share > 0)


@dataclass(frozen=True)
class People:
    """How many values each column has, and of whom: `entity` is None where every value is of somebody else."""

    counts: Ints
    entity: Ints | None
    hidden: Mask

    @classmethod
    def of(cls, columns: Columns, known: frozenset[int]) -> "People":
        """Those of a response; what is known of some anyway is not hidden."""
        hidden = ~np.isin(np.arange(columns.n_columns), columns.of_entities(known))
        return cls(columns.counts, None if columns.one_each else columns.entity, hidden)

    def at(self, places: Ints) -> "People":
        """Those of some columns."""
        entity = None
        if self.entity is not None:
            entity = self.entity[np.isin(np.repeat(np.arange(len(self.counts)), self.counts), places)]
        return People(self.counts[places], entity, self.hidden[places])

    def respondents(self, class_of: Ints, n_classes: int) -> Ints:
        """The number of respondents in each class of columns."""
        if self.entity is None:
            return np.bincount(class_of, weights=self.counts, minlength=n_classes).astype(np.int64)
        pairs = np.unique(np.column_stack((np.repeat(class_of, self.counts), self.entity)), axis=0)
        return np.bincount(pairs[:, 0], minlength=n_classes).astype(np.int64)
