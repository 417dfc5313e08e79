# SPDX-License-Identifier: Apache-2.0
"""Whether the sum of a tail gives somebody away because a list of codes leaves few values possible.

Of the codes 5, 10, 20 and 50, two values with the sum 20 can be 10 and 10 only. Somebody in the tail takes their own values off
the sum; another respondent can then have each total that codes of the list add up to, if others of them add up to what is left
for the rest. One of these totals must lie p percent away from the true one (any other total, if no codes lie so far away).

Sets of sums are the bits of one number, so that a value is added to all of them by a shift. In long tails only some records count
as unknown: what is possible with the others as they are is possible. So a tail that passes is safe, and one that is too large to
be looked at is not called so.
"""

from collections import Counter
from collections.abc import Sequence
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.microdata.perturb.leaves import step_of

MOST_STEPS = 2**22  # from the first code of a list to its last
MOST_CODES = 200  # of more, as many are looked at; fewer values are a stricter judgement
MOST_RECORDS = 64  # that count as unknown at the same time
MOST_PAIRS = 20_000  # of a respondent and somebody with values of their own
WORK = 2**31

Records = tuple[int, ...]


class Sums:
    """All sums of this many values of a list that begins at 0: bit x is set where x is a sum, and where the largest less x is."""

    def __init__(self, codes: Sequence[int]) -> None:
        self.end = codes[-1]
        self._full = len(codes) == self.end + 1  # no gaps: nor have the sums any
        self._codes = spread(tuple(codes), MOST_CODES)
        self.most = max(2, min(MOST_RECORDS, isqrt(WORK // (self.end * (1 if self._full else len(self._codes))))))
        self._up, self._down = [1], [1]

    def of(self, many: int) -> tuple[int, int]:
        """The sums of this many values, from 0 up and from the largest sum down."""
        if self._full:
            return (1 << many * self.end + 1) - 1, (1 << many * self.end + 1) - 1
        while len(self._up) <= many:
            up, down = 0, 0
            for code in self._codes:
                up |= self._up[-1] << code
                down |= self._down[-1] << (self.end - code)
            self._up.append(up)
            self._down.append(down)
        return self._up[many], self._down[many]

    def hide(self, target: Records, rest: Records, need: float) -> bool:
        """Whether the sum of both leaves a total for the target that lies that far from the true one."""
        target, rest = spread(target, self.most), spread(rest, self.most)
        total, other = sum(target), sum(rest)
        beside = len(rest) * self.end - total - other
        left = self.of(len(rest))[1]
        possible = self.of(len(target))[0] & (left >> beside if beside >= 0 else left << -beside)
        if not possible:
            return False
        low, high = (possible & -possible).bit_length() - 1, possible.bit_length() - 1
        return max(high - total, total - low) >= need


def spread(records: Records, many: int) -> Records:
    """So many of the sorted records, evenly from the first to the last."""
    if len(records) <= many:
        return records
    return tuple(records[at] for at in np.linspace(0, len(records) - 1, many).round().astype(int))


def told_by_sum(values: Floats, codes: Floats, who: NDArray[np.int64] | None, p: float) -> bool:
    """Whether somebody in a tail can place the total of another within p percent, or this could not be excluded.

    `codes` are the values that are possible in the tail, `who` numbers the respondent of each value (None: each is one).
    """
    listed = np.unique(np.concatenate([codes, values]))
    step = step_of(listed - listed[0])
    if step <= 0 or listed[-1] - listed[0] > MOST_STEPS * step:
        return True
    first, steps = float(listed[0]), np.rint((listed - listed[0]) / step).astype(np.int64)
    sums = Sums(steps.tolist())
    people = kinds(np.rint((values - first) / step).astype(np.int64), who)
    checked = 0
    for target in people:
        many, total = len(target), sum(target)
        need = p / 100 * abs(total * step + many * first) / step - 1e-9
        need = need if 1 < need <= max(total, many * sums.end - total) else 1
        others = people - Counter([target])
        if all(sums.hide(target, pool, need) for pool in pools(others)):
            continue
        for insider in others:
            checked += 1
            if checked > MOST_PAIRS or not sums.hide(target, together(others - Counter([insider])), need):
                return True
    return False


def kinds(steps: NDArray[np.int64], who: NDArray[np.int64] | None) -> Counter[Records]:
    """How many respondents have the same sorted values."""
    if who is None:
        found, many = np.unique(steps, return_counts=True)
        return Counter({(int(one),): int(count) for one, count in zip(found, many, strict=True)})
    order = np.lexsort((steps, who))
    begins = np.flatnonzero(np.diff(who[order])) + 1
    return Counter(tuple(own.tolist()) for own in np.split(steps[order], begins))


def pools(people: Counter[Records]) -> tuple[Records, Records]:
    """The records of two groups without a common respondent: whoever looks, one of the groups is unknown to them."""
    ordered = sorted(thinned(people).elements())
    halves = (ordered[::2], ordered[1::2])
    first, second = (tuple(sorted(one for own in half for one in own)) for half in halves)
    return first, second


def together(people: Counter[Records]) -> Records:
    """The records of all, of long tails those of some."""
    return tuple(sorted(one for own in thinned(people).elements() for one in own))


def thinned(people: Counter[Records]) -> Counter[Records]:
    """The same kinds of respondents, each at most so often as records can count as unknown at the same time."""
    return Counter({kind: min(count, 2 * MOST_RECORDS) for kind, count in people.items()})
