"""Whether a number computed from the values beyond a limit may be published: enough respondents, and none that dominates.

A mean of n values beyond a limit that the attacker knows is their sum. A respondent among them knows its own part, and that
nobody else lies on the other side of the limit; what it cannot know of the largest one is what all the others lie beyond the
limit together. That must be at least p percent of the largest (the p % rule, with the limit as the known lower bound).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import NotProtectedError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Tail:
    """The respondents beyond a limit; `room` is what hides the largest one from the second, as a share of it."""

    respondents: int
    room: float


def tail_of(values: Floats, limit: float, who: NDArray[np.int64] | None) -> Tail:
    """Measure the values beyond a limit; `who` numbers the respondent of each (None: each value is one)."""
    if not len(values):
        return Tail(0, np.inf)
    _, number = np.unique(np.arange(len(values)) if who is None else who, return_inverse=True)
    beyond = np.bincount(number, weights=np.abs(values - limit))
    total = np.abs(np.bincount(number, weights=values))
    order = np.argsort(-beyond, kind="stable")
    largest = order[0]
    scale = max(float(total[largest]), float(beyond[largest]))
    return Tail(len(beyond), float(beyond[order[2:]].sum()) / scale if scale > 0 else np.inf)


def check_tail(tail: Tail, *, k: int, p: float, owner: str, variable: str) -> None:
    """Refuse a mean of too few respondents, or of one that dominates it."""
    if 0 < tail.respondents < k:
        raise NotProtectedError(
            f"{owner}: the mean of {variable!r} beyond the limit would be that of fewer than {k} respondents. Move the limit "
            "inward, or give replacement = 'limit' or a number.",
            exposed=1,
        )
    if tail.respondents and tail.room < p / 100:
        raise NotProtectedError(
            f"{owner}: one respondent dominates {variable!r} beyond the limit, so their mean places it within {p:g} %. Move "
            "the limit inward, or give replacement = 'limit' or a number.",
            exposed=1,
        )
