# SPDX-License-Identifier: Apache-2.0
"""Values that outweigh all others are limited, so that no answer leans on one respondent more than the policy allows.

The policy's dominance and p percent rules say when a few respondents hold too much of a total. Where they do, what each
holds is cut back to the largest size at which the rules are met: Σ|y| for sums and means, Σy² for variances, correlations
and responses of regressions. Nothing is refused for it, so that no refusal reveals how large somebody is; what shows is
that a respondent holds at least the limit. Cross products of a model cannot be limited one by one: there a rule that is
broken forbids the model (`dominated`).
"""

from dataclasses import dataclass

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.queries.policy import Policy

STEPS = 100
SLACK = 1e-12


@dataclass(frozen=True)
class Shares:
    """Dominance (n, share) and p percent (share, coalition) of a policy; respondents that are known do not count.

    `reach` is the most that one may hold as a multiple of the mean of all who hold anything: a few dropped records hide
    somebody who holds as much as they do, whatever the share of the total is.
    """

    dominance: tuple[int, float] | None = None
    p_share: float | None = None
    coalition: int = 1
    known: frozenset[int] = frozenset()
    reach: float = 0.0

    @classmethod
    def of(cls, policy: Policy, known: frozenset[int] = frozenset(), *, reach: float = 0.0) -> "Shares":
        """The rules of a policy."""
        dominance = (int(policy.dominance[0]), policy.dominance[1] / 100) if policy.dominance else None
        share = None if policy.p_percent is None else policy.p_percent / 100
        return cls(dominance, share, policy.coalition, known, reach)

    @property
    def there(self) -> bool:
        """Whether the policy has such a rule."""
        return self.dominance is not None or self.p_share is not None or self.reach > 0

    def limit(self, contributions: Floats) -> float | None:
        """The largest size to which contributions (0 or more) can go; infinity if none is too large, None if nothing helps."""
        if not self.there or not bool((contributions > 0).any()):
            return np.inf
        ordered = np.sort(contributions)[::-1]
        below = np.append(np.cumsum(ordered[::-1])[::-1], 0.0)  # below[i]: the sum from place i on
        if self._met(ordered, below, float(ordered[0]), SLACK):
            return np.inf
        low, high = 0.0, float(ordered[0])
        for _ in range(STEPS):  # smaller limits are more even, so what is met stays met below
            middle = (low + high) / 2
            if self._met(ordered, below, middle, 0.0):
                low = middle
            else:
                high = middle
        return low or None

    def dominated(self, contributions: Floats) -> bool:
        """Whether the contributions as they are break a rule."""
        return self.limit(contributions) != np.inf

    def _met(self, ordered: Floats, below: Floats, limit: float, slack: float) -> bool:
        cut = int(np.searchsorted(-ordered, -limit))  # as many are larger than the limit
        total = cut * limit + float(below[cut])

        def largest(n: int) -> float:
            return min(n, cut) * limit + (float(below[cut] - below[min(n, len(ordered))]) if n > cut else 0.0)

        if self.dominance is not None and largest(self.dominance[0]) > self.dominance[1] * total * (1 + slack):
            return False
        holding = int((ordered > 0).sum())
        if self.reach and largest(1) * holding > self.reach * total * (1 + slack):
            return False
        if self.p_share is None:
            return True
        rest = total - largest(self.coalition + 1)
        return self.p_share * largest(1) <= rest * (1 + slack) and holding > self.coalition + 1


@dataclass(frozen=True)
class Holders:
    """Which respondent each record of a universe belongs to, and the rules for what one may hold."""

    owner: Ints
    shares: Shares

    @classmethod
    def of(cls, entity: Ints, shares: Shares) -> "Holders":
        """Number the respondents of some records."""
        names, owner = np.unique(entity, return_inverse=True)
        known = np.isin(names, np.fromiter(shares.known, dtype=np.int64))
        return cls(np.where(known[owner], -1, owner).astype(np.int64), shares)

    def limited(self, values: Floats, *, power: int) -> Floats | None:
        """Values scaled down for respondents that hold too much of Σ|y| (power 1) or Σy² (power 2); None if nothing helps."""
        if not self.shares.there:
            return values
        held = self._held(values if power == 1 else values * values)
        limit = self.shares.limit(held)
        if limit is None:
            return None
        if limit == np.inf:
            return values
        factor = np.minimum(1.0, (limit / np.where(held > 0, held, limit)) ** (1.0 / power))
        return np.where(self.owner >= 0, values * factor[self.owner], values)

    def dominated(self, products: Floats) -> bool:
        """Whether a respondent holds too much of a sum of absolute products."""
        return self.shares.there and self.shares.dominated(self._held(np.abs(products)))

    def _held(self, amounts: Floats) -> Floats:
        inside = self.owner >= 0
        n = int(self.owner.max(initial=-1)) + 1
        return np.abs(np.bincount(self.owner[inside], weights=amounts[inside], minlength=n)).astype(np.float64)
