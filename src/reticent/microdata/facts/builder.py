# SPDX-License-Identifier: Apache-2.0
"""Collects facts and the auxiliary unknowns that they speak of."""

from dataclasses import dataclass, field

import numpy as np

from reticent.base.arrays import Ints
from reticent.data.facts import OWN, Fact, Facts, Term


@dataclass
class Builder:
    """Facts of one release while they are put together; `beyond` collects what they do not say."""

    facts: list[Fact] = field(default_factory=list)
    own: list[tuple[int, int | None]] = field(default_factory=list)
    beyond: dict[str, None] = field(default_factory=dict)
    assumes: str = ""

    def unknown(self, low: int, high: int | None) -> int:
        """One more auxiliary unknown."""
        self.own.append((low, high))
        return len(self.own) - 1

    def note(self, beyond: str) -> None:
        """One more thing that the release may tell beyond its facts."""
        self.beyond[beyond] = None

    def tell(self, terms: list[Term], low: int | None, high: int | None, *, constant: int = 0) -> None:
        """low ≤ Σ terms + constant ≤ high; a fact without a term or without an end reveals nothing."""
        kept = tuple(term for term in terms if len(term.places))
        low = None if low is None else low - constant
        high = None if high is None else high - constant
        if kept and not (low is None and high is None):
            self.facts.append(Fact(kept, low, high))

    def done(self, release: str) -> Facts:
        """All of it as frozen data."""
        beyond = "; ".join(self.beyond)
        known = (tuple(self.facts), tuple(self.own))
        return Facts(release, *known, certified=not beyond, beyond=beyond, assumes=self.assumes)


def own_term(weights: dict[int, int]) -> Term:
    """A term of auxiliary unknowns, by their numbers; zeros are left out."""
    kept = {number: weight for number, weight in weights.items() if weight}
    places = np.array(sorted(kept), dtype=np.int64)
    return Term(OWN, places, np.array([kept[number] for number in places.tolist()], dtype=np.int64))


def total(response: str, places: Ints) -> Term:
    """The plain sum of some unknowns."""
    return Term.total(response, np.asarray(places, dtype=np.int64))
