# SPDX-License-Identifier: Apache-2.0
"""What is drawn from the leaf of a model: values that enough respondents share, and smoothed stretches between the others.

No number of a single respondent is ever handed on. A value that at least k respondents of the file share stays a value. All
other numbers of a leaf are sorted and cut into blocks of at least k respondents; a draw from a block is uniform around the
block's mean, as wide as its neighbours allow, so that means are kept and nothing leaves the range of the leaf. A leaf with too
few such numbers takes the k of the file that are nearest to theirs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import InfeasibleError

DECIMALS = 6


@dataclass(frozen=True)
class Atoms:
    """The source of draws: centers and half-widths, sorted within cells, with cumulative weights.

    Weights are those of the Bayesian bootstrap (Rubin 1981): one exponential draw a record.
    """

    center: Floats
    half: Floats
    cumulative: Floats
    start: Ints
    step: float

    def draw(self, cell: Ints, uniform: Floats) -> Floats:
        """A number for each record from its cell, rounded to the step of the variable."""
        before = np.append(0.0, self.cumulative)
        low, high = before[self.start[cell]], before[self.start[cell + 1]]
        point = low + uniform * (high - low)
        place = np.searchsorted(self.cumulative, point, side="right")
        place = np.clip(place, self.start[cell], self.start[cell + 1] - 1)
        weight = before[place + 1] - before[place]
        within = np.clip((point - before[place]) / np.where(weight > 0, weight, 1.0), 0.0, 1.0)
        drawn: Floats = self.center[place] + (2.0 * within - 1.0) * self.half[place]
        return _on_grid(drawn, self.step)


def code_atoms(codes: NDArray[Any], cells: Sequence[Ints], exponential: Floats) -> Atoms:
    """Codes as they are, by their share in each cell."""
    parts: list[tuple[Floats, Floats, Floats]] = []
    for rows in cells:
        found, number = np.unique(codes[rows], return_inverse=True)
        weight = np.bincount(number.ravel(), weights=exponential[rows]).astype(np.float64)
        parts.append((found.astype(np.float64), np.zeros(len(found)), weight))
    return _joined(parts, step=0.0)


def number_atoms(values: Floats, cells: Sequence[Ints], exponential: Floats, who: Ints, k: int) -> Atoms:
    """Numbers: shared values, and blocks of the others; `who` is the respondent of each value."""
    shared = shared_values(values, who, k)
    is_shared = np.isin(values, shared)
    lone = np.flatnonzero(~is_shared)
    everyone = lone[np.argsort(values[lone], kind="stable")]
    enough = len(np.unique(who[everyone])) >= k
    if not enough and not len(shared):
        raise InfeasibleError(
            f"synthesize: a number needs values of at least {k} respondents, and the file has fewer; leave the variable out."
        )
    parts: list[tuple[Floats, Floats, Floats]] = []
    for rows in cells:
        own = rows[~is_shared[rows]]
        spikes = rows[is_shared[rows]]
        if not enough and not len(spikes):
            spikes, own = np.flatnonzero(is_shared), own[:0]
        found, number = np.unique(values[spikes], return_inverse=True)
        weight = np.bincount(number.ravel(), weights=exponential[spikes], minlength=len(found)).astype(np.float64)
        pieces: list[tuple[Floats, Floats, Floats]] = [(found, np.zeros(len(found)), weight)]
        if enough and len(own):
            pieces.append(_blocks(values, own[np.argsort(values[own], kind="stable")], everyone, exponential, who, k))
        center, half, mass = (np.concatenate(column) for column in zip(*pieces, strict=True))
        order = np.argsort(center, kind="stable")
        parts.append((center[order], half[order], mass[order]))
    return _joined(parts, step=step_of(values))


def shared_values(values: Floats, who: Ints, k: int) -> Floats:
    """Values that at least k respondents have."""
    pairs = np.unique(np.column_stack((values, who.astype(np.float64))), axis=0)
    found, count = np.unique(pairs[:, 0], return_counts=True)
    return np.asarray(found[count >= k])


def step_of(values: Floats) -> float:
    """The largest number of which all values are whole multiples, with up to six decimals; 0 if there is none."""
    for decimals in range(DECIMALS + 1):
        scaled = values * 10.0**decimals
        if np.abs(scaled).max(initial=0.0) > 2.0**53:
            return 0.0
        whole = np.rint(scaled)
        if np.allclose(scaled, whole, rtol=0.0, atol=1e-6):
            common = int(np.gcd.reduce(whole.astype(np.int64))) if len(whole) else 0
            return abs(common) / 10.0**decimals
    return 0.0


def _on_grid(values: Floats, step: float) -> Floats:
    if step <= 0:
        return values
    return np.asarray(np.round(np.rint(values / step) * step, DECIMALS + 2))


def _blocks(
    values: Floats, own: Ints, everyone: Ints, exponential: Floats, who: Ints, k: int
) -> tuple[Floats, Floats, Floats]:
    """Blocks of at least k respondents: mean, half-width and weight of each; `own` and `everyone` are sorted by value."""
    cuts = _cuts(who[own], k)
    if len(cuts) < 2:  # too few in this leaf: the nearest of the file, with the weight of the leaf's own
        window = _nearest(values, everyone, float(values[own].mean()), who, k)
        center, half = _around(values[window], who[window], None, None)
        return np.array([center]), np.array([half]), np.array([float(exponential[own].sum())])
    found = []
    for begin, end in pairwise(cuts):
        block = own[begin:end]
        below = (values[own[begin - 1]] + values[block[0]]) / 2 if begin else None
        above = (values[block[-1]] + values[own[end]]) / 2 if end < len(own) else None
        found.append((*_around(values[block], who[block], below, above), float(exponential[block].sum())))
    table = np.array(found)
    return table[:, 0], table[:, 1], table[:, 2]


def _around(block: Floats, who: Ints, below: float | None, above: float | None) -> tuple[float, float]:
    """Mean of a block, each respondent counted once, and how far a symmetric draw may go without leaving it."""
    number = np.unique(who, return_inverse=True)[1].ravel()
    mean = float((np.bincount(number, weights=block) / np.bincount(number)).mean())
    low, high = block[0] if below is None else below, block[-1] if above is None else above
    return mean, max(0.0, min(mean - float(low), float(high) - mean))


def _cuts(who: Ints, k: int) -> list[int]:
    """Where blocks of at least k different respondents begin and end; one entry where there are fewer than k."""
    if len(np.unique(who)) == len(who):
        count = len(who) // k
        return [round(i * len(who) / count) for i in range(count + 1)] if count else [0]
    cuts, seen = [0], set()
    for at, one in enumerate(who.tolist()):
        seen.add(one)
        if len(seen) >= k:
            cuts.append(at + 1)
            seen = set()
    if len(cuts) > 1:
        cuts[-1] = len(who)  # what is left over joins the last block
    return cuts


def _nearest(values: Floats, everyone: Ints, target: float, who: Ints, k: int) -> Ints:
    """The values nearest to a target that belong to at least k respondents, as a stretch of the sorted ones."""
    ordered = values[everyone]
    low = high = int(np.searchsorted(ordered, target))
    seen: set[int] = set()
    while len(seen) < k:
        left_gap = target - ordered[low - 1] if low > 0 else np.inf
        right_gap = ordered[high] - target if high < len(ordered) else np.inf
        if left_gap <= right_gap:
            low -= 1
            seen.add(int(who[everyone[low]]))
        else:
            seen.add(int(who[everyone[high]]))
            high += 1
    return everyone[low:high]


def _joined(parts: Sequence[tuple[Floats, Floats, Floats]], *, step: float) -> Atoms:
    center, half, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    start = np.concatenate(([0], np.cumsum([len(part[0]) for part in parts]))).astype(np.int64)
    return Atoms(center, half, np.cumsum(weight), start, step)
