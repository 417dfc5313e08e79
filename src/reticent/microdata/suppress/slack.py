# SPDX-License-Identifier: Apache-2.0
"""Blanks that nobody needs: a few per cent of the cost, drawn by the secret, so that a blank proves nothing.

Without them the cheapest blanks tell why they are there: whoever knows the method rules out every value under which the blank
would not have been needed, and sometimes one value is left. Here any record may get any set of blanks that makes it safe,
with some probability, so every safe file can come out of every truth that it is safe for: what the transparent attacker
can rule out for certain is what the published file and the promise themselves rule out.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.microdata.suppress.attacker import Families
from reticent.microdata.suppress.requirement import Prices

Masks = NDArray[np.int64]
LAST_DRAW = 40
"""Draws beyond what a budget pays for in full; each is half as likely to be taken as the one before."""
MOST_RECORDS = 8
"""Records up to which no safe file may be out of reach, however many blanks it has."""


@dataclass(frozen=True)
class Costs:
    """What a mask costs in a record: its known values, a household variable once for each member."""

    known: NDArray[np.bool_]
    prices: Prices
    shared: int = 0
    members: NDArray[np.int64] | None = None

    def of(self, record: int, mask: int) -> float:
        """Cost of blanking the mask in one record."""
        total = 0.0
        for v, price in enumerate(self.prices.costs):
            if mask >> v & 1 and self.known[record, v]:
                times = int(self.members[record]) if self.members is not None and self.shared >> v & 1 else 1
                total += price * times
        return total

    def of_file(self, masks: Masks) -> float:
        """Cost of all blanks; each member's blank of a household variable is one."""
        total = 0.0
        for v, price in enumerate(self.prices.costs):
            total += price * int(((masks >> v & 1 == 1) & self.known[:, v]).sum())
        return total


def with_slack(
    masks: Masks, costs: Costs, slack: float, generator: np.random.Generator, *, rare: Families | None
) -> Masks:
    """The masks, some of them wider or exchanged for costlier ones that serve as well, for at most `slack` of their cost.

    A budget below the price of one blank is spent with the probability that keeps the expected cost within it, and so is
    what a small file has left of a larger one: a file beyond its budget would rule out the truths that need few blanks. A
    file that needs no blank has the budget of a file that needs one: otherwise a blank would prove that one was needed.
    """
    free = [v for v in range(len(costs.prices.costs)) if not costs.prices.frozen >> v & 1]
    out = masks.copy()
    if slack <= 0 or not free or not len(masks):
        return out
    least = min(costs.prices.costs[v] for v in free)
    budget = slack * max(costs.of_file(masks), least)
    proposals = _Proposals(masks, costs, free, rare, generator)
    left = budget
    if budget >= least:
        left *= float(np.sqrt(generator.random()))
        for _ in range(20 + 4 * int(budget / least)):
            if left < least:
                break
            record, mask, price = proposals.draw(out)
            if 0 <= price <= left:
                out[record] = mask
                left -= price
    if budget < least or len(masks) <= MOST_RECORDS:
        for draw in range(1, LAST_DRAW + 1):
            record, mask, price = proposals.draw(out)
            if price >= 0 and generator.random() * max(price, left) < left * 0.5**draw:
                out[record] = mask
    return out


class _Proposals:
    """Draws a record and what else might be blanked in it: as in another record, or any set, small ones first."""

    def __init__(
        self,
        masks: Masks,
        costs: Costs,
        free: list[int],
        rare: Families | None,
        generator: np.random.Generator,
    ) -> None:
        self._costs, self._free, self._rare, self._generator = costs, free, rare, generator
        self._seen = masks[masks != 0]

    def draw(self, masks: Masks) -> tuple[int, int, float]:
        """A record, its new mask, and what that costs more (−1: the proposal is none)."""
        generator, cap = self._generator, self._costs.prices.cap
        record = int(generator.integers(len(masks)))
        now = int(masks[record])
        if len(self._seen) and generator.random() < 0.5:
            proposed = int(self._seen[generator.integers(len(self._seen))])
        else:
            size = min(len(self._free), int(generator.geometric(0.5)))
            proposed = sum(1 << int(v) for v in generator.choice(self._free, size, replace=False))
        if self._rare is None or not self._rare.met_by(record, proposed):
            proposed |= now
        if proposed == now or (cap is not None and proposed.bit_count() > cap):
            return record, now, -1.0
        # what a member no longer needs stays blank as long as another one needs it, so it is not paid back
        saved = 0.0 if self._costs.shared else self._costs.of(record, now & ~proposed)
        return record, proposed, self._costs.of(record, proposed & ~now) - saved
