# SPDX-License-Identifier: Apache-2.0
"""Whether a number computed from the values beyond a limit may be published: enough respondents, and none that dominates.

A mean of n values beyond a limit that the attacker knows is their sum. A respondent among them knows its own part, and that
nobody else lies on the other side of the limit; what it cannot know of another one is what all the rest lie beyond the limit
together. That must be at least p percent of the other's total (the p % rule, with the first value that can lie beyond the
limit as the known lower bound: whole numbers above 10 are at least 11). With several records
of a respondent the largest total need not be the one that lies farthest beyond: every respondent is judged.

The values may have another end that everybody knows (no income is below 0, no answer above 5). Then the same must hold for what
the rest stay away from that end together: a mean of 0 says that everybody has 0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.base.errors import NotProtectedError
from reticent.microdata.perturb.leaves import step_of


@dataclass(frozen=True)
class Tail:
    """The respondents beyond a limit; `room` is what hides the least hidden one from any other, as a share of its total."""

    respondents: int
    room: float


def grid_of(present: Floats) -> tuple[float, float]:
    """The step that all values lie apart, and how far from its multiples (5, 15, 25: 10 and 5); 0 where there is no step."""
    unit = step_of(present)
    if unit <= 0:
        return 0.0, 0.0
    whole = np.rint(present / unit).astype(np.int64)
    step = int(np.gcd.reduce(whole - whole[0])) or 1
    return step * unit, int(whole[0] % step) * unit


def first_beyond(limit: float, step: float, sign: float, shift: float = 0.0) -> float:
    """The first value of a grid beyond a limit, on the side of `sign`; the limit itself where values have no step."""
    if step <= 0:
        return limit
    # a limit that is such a value itself must not count as one beyond it because of its last binary digit
    return float(sign * (np.floor(sign * (limit - shift) / step + 1e-6) + 1.0) * step + shift)


def last_possible(end: float | None, step: float, sign: float, shift: float) -> float | None:
    """The last value of a grid that is not beyond an end: 5, 15, 25 … end at 5 where nothing is below 0."""
    if end is None or step <= 0 or shift == 0:
        return end
    return first_beyond(end, step, sign, shift) - sign * step


def known_end(present: Floats, codes: Floats, sign: float) -> float | None:
    """The last value that anybody can have on the side of `sign`, where that is known; None where it is not.

    `codes` are the possible values of a variable that has a list of them. Amounts of which none is below 0 count as amounts
    that cannot be.
    """
    ends = [sign * float((sign * codes).max())] if codes.size else []
    if sign * present.max(initial=0.0) <= 0 and sign * present.min(initial=0.0) <= 0:
        ends.append(0.0)
    last = float((sign * present).max(initial=-np.inf))
    # an end that somebody has passed is none
    return min((end for end in ends if sign * end >= last), key=lambda end: sign * end, default=None)


def both_ends(values: Floats, first: float, end: float | None, who: NDArray[np.int64] | None) -> Tail:
    """Measure the values of a tail from the first that can lie in it, and from the end that is known to be the last."""
    near = tail_of(values, first, who)
    return near if end is None else Tail(near.respondents, min(near.room, tail_of(values, end, who).room))


def tail_of(values: Floats, limit: float, who: NDArray[np.int64] | None) -> Tail:
    """Measure the values from a limit on; `who` numbers the respondent of each (None: each value is one)."""
    if not len(values):
        return Tail(0, np.inf)
    _, number = np.unique(np.arange(len(values)) if who is None else who, return_inverse=True)
    beyond = np.bincount(number, weights=np.abs(values - limit))
    total = np.abs(np.bincount(number, weights=values))
    scale = np.maximum(total, beyond)
    # whoever lies farthest beyond the limit knows most of the others; of that one itself, the next does
    first = int(np.argmax(beyond))
    knows = np.full(len(beyond), beyond[first])
    knows[first] = np.delete(beyond, first).max(initial=0.0)
    rest = np.maximum(beyond.sum() - beyond - knows, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        # of a respondent who has 0, and lies as near as one can, any rest hides whether it is more; no rest tells it exactly
        room = np.where(scale > 0, rest / scale, np.where(rest > 0, np.inf, 0.0))
    return Tail(len(beyond), float(room.min()))


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


def refuse_list(*, p: float, owner: str, variable: str) -> None:
    """Refuse a mean that tells too much because few values are possible."""
    raise NotProtectedError(
        f"{owner}: {variable!r} has so few possible values beyond the limit that their mean places a respondent within {p:g} %, "
        "or this could not be excluded. Move the limit inward, or give replacement = 'limit' or a number.",
        exposed=1,
    )
