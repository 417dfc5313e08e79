# SPDX-License-Identifier: Apache-2.0
"""Which variables let records be linked: those without which the fewest stay linked, one after another.

Of the records that were linked some are tried again without one variable at a time; the variable that is missed most is
left out for good, and so on. The shares are of samples of both files: they rank variables, and decide nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.data.microdata import Microdata
from reticent.microdata.risk.known_linkage import KnownLinkage, known_columns
from reticent.microdata.risk.linkage_attackers import Column, Part, informed, usual
from reticent.microdata.risk.linkage_coordinates import Coordinates
from reticent.microdata.risk.linkage_distance import uniquely_linked
from reticent.microdata.trace import Trace

TRIED = 500
"""Linked records that are tried again."""
AMONG = 10_000
"""True records that they are compared with."""
MOST_NAMED = 3
LEAST_EXPLAINED = 0.5
"""Where distances by all variables link fewer than this share again, other attackers are the cause, and are named."""


@dataclass(frozen=True)
class Cause:
    """A variable, and the share of the linked records that stay linked without it and those named before it."""

    variable: str
    still_linked: float


def linkage_causes(trace: Trace, masked: Microdata, found: KnownLinkage) -> tuple[Cause, ...]:
    """The variables to which linked records owe it most, at most three; empty where others than these are to blame.

    Of variables that are missed equally little, that which links most records alone comes first.
    """
    names = [name for name in found.variables if known_columns(trace, masked, (name,))]
    own = trace.own(masked)
    asking = _some(np.flatnonzero(found.linked & (own >= 0)), TRIED)
    if not asking.size or len(names) < 2:
        return ()
    among = np.union1d(own[asking], _some(np.arange(trace.original.n_records), AMONG))
    trial = _Trial(known_columns(trace, masked, names), asking, among)
    left = list(range(len(names)))
    causes: list[Cause] = []
    whole = trial.share(left)
    alone = {at: trial.share([at]) for at in left}
    while whole >= LEAST_EXPLAINED and len(left) > 1 and len(causes) < MOST_NAMED:
        shares = {at: trial.share([other for other in left if other != at]) / whole for at in left}
        worst = min(left, key=lambda at: (round(shares[at], 2), -alone[at]))
        causes.append(Cause(names[worst], shares[worst]))
        left.remove(worst)
        if shares[worst] == 0:
            break
    return tuple(causes)


def causes_text(causes: Sequence[Cause]) -> str:
    """In words, as the end of a sentence: which variable to change first."""
    if not causes:
        return ""
    first, *others = causes
    more = "".join(f", {one.still_linked:.0%} without {one.variable} as well" for one in others)
    return f"; of the linked records, {first.still_linked:.0%} stay linked without {first.variable}{more} (a sample)"


class _Trial:
    """Some published records beside some true ones, to be linked by any of the variables."""

    def __init__(self, columns: Sequence[Column], asking: Ints, among: Ints) -> None:
        self.own = np.searchsorted(among, columns[0].own[asking])
        self.attackers = [[_cut(measure(column), asking, among) for column in columns] for measure in (usual, informed)]

    def share(self, chosen: Sequence[int]) -> float:
        """The share that the better of two attackers links by these variables."""
        return max(self._share([parts[at] for at in chosen]) for parts in self.attackers)

    def _share(self, parts: Sequence[Part]) -> float:
        coordinates = Coordinates(
            tuple(map(str, range(len(parts)))),
            _beside([part.true for part in parts]),
            _beside([part.shown for part in parts]),
            np.array([part.nominal for part in parts]),
            np.array([part.absent for part in parts]),
        )
        return float(uniquely_linked(coordinates, self.own).mean())


def _cut(part: Part, asking: Ints, among: Ints) -> Part:
    return Part(part.true[among], part.shown[asking], part.nominal, part.absent)


def _beside(columns: Sequence[Floats]) -> Floats:
    return np.ascontiguousarray(np.column_stack(columns))


def _some(places: Ints, most: int) -> Ints:
    """At most `most` of them, evenly chosen."""
    return places if places.size <= most else places[np.linspace(0, places.size - 1, most).astype(np.int64)]
