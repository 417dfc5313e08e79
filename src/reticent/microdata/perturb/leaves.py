# SPDX-License-Identifier: Apache-2.0
"""What is drawn from the leaf of a model: values that enough respondents share, and smoothed stretches between the others.

No number of a single respondent is ever handed on. A value that at least k respondents of the file share stays a value. All
other numbers of a leaf are sorted and cut into blocks of at least k respondents; a draw from a block is uniform around the
block's mean, as wide as its neighbours allow, so that nothing leaves the range of the leaf. Numbers that would dominate a mean
are drawn in first (`bounded`). A leaf with too few such numbers, but not none, takes those of the nearest node above it that
has enough: a window around its own few would say where these lie.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from reticent.base.arrays import Floats, Ints, Mask
from reticent.base.errors import InfeasibleError
from reticent.kernels import draws
from reticent.microdata.perturb.shares import Cell, Coded, seen_without, shown, smoothed_shares

DECIMALS = 6
FEWEST = 3
"""Of two respondents each knows the other's number from their mean."""
LEAST_ROOM = 0.2
"""What must hide the number farthest from the edge of a block from the next one, as a share of it (the p % rule)."""

_Part = tuple[Floats, Floats, Floats]
_Block = tuple[float, float, float]


@dataclass(frozen=True)
class Atoms:
    """The source of draws: centers and half-widths, sorted within cells, with cumulative weights."""

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

    def up_to(self, cell: int, values: Floats) -> Floats:
        """The chance of a draw below each value."""
        inside = slice(int(self.start[cell]), int(self.start[cell + 1]))
        center, half, end = self.center[inside], self.half[inside], self.cumulative[inside]
        begin = np.append(self.cumulative[inside.start - 1] if inside.start else 0.0, end[:-1])
        # a single value is a very short stretch
        half = np.maximum(half, self.step / 1000)
        order = np.argsort(np.concatenate((center - half, center + half)), kind="stable")
        points = np.concatenate((center - half, center + half))[order]
        level = np.maximum.accumulate(np.concatenate((begin, end))[order])
        total = max(float(end[-1] - begin[0]), 1e-300)
        return np.asarray((np.interp(values, points, level, left=begin[0], right=end[-1]) - begin[0]) / total)


@dataclass(frozen=True)
class Drawn:
    """What is drawn, and for each record the chance of its own value with the record and without it."""

    atoms: Atoms
    own: Floats
    without: Floats
    margin: Floats
    seen: Floats


def code_atoms(data: Coded, cells: Sequence[Cell]) -> Drawn:
    """Codes by their smoothed share in each cell."""
    shares = smoothed_shares(data, cells)
    codes = np.arange(data.size, dtype=np.float64)
    parts = [(codes, np.zeros(data.size), row) for row in shares.drawn]
    return Drawn(_joined(parts, step=0.0), shares.own, shares.without, shares.margin, shares.seen)


def number_atoms(values: Floats, cells: Sequence[Cell], data: Coded, words: tuple[int, int] | None = None) -> Drawn:
    """Numbers: values that enough respondents share, and blocks of all others.

    `data` has no codes yet, only who and weights. By `words` it is decided which values that few respondents share are kept.
    """
    kept = _kept(values, data, words)
    spikes, place, is_shared = kept.values, kept.place, kept.place < len(kept.values)
    public = np.ones(len(spikes) + 1, np.bool_)
    coded = replace(data, codes=place, size=len(public), public=public, chance=None, ordered=True, rest=True)
    shares = smoothed_shares(coded, cells)
    enough = len(np.unique(data.who[~is_shared])) // 2
    fewest = max(data.k, FEWEST, min(math.ceil(data.k * data.strength), enough))
    smooth = _Smoother(values, is_shared, data.exponential, data.who, fewest)
    parts: list[_Part] = []
    own, without = shares.own, shares.without * np.append(kept.seen, 1.0)[place]
    step = shared_step(values, data.who, data.k)
    for number, cell in enumerate(cells):
        weight = shares.drawn[number]
        blocks = next((part for wider in cell if (part := smooth.blocks(wider)) is not None), None)
        if blocks is None and not weight[:-1].sum() > 0:
            raise InfeasibleError(
                f"synthesize: a number needs values of at least {smooth.fewest} respondents of which none dominates the others, "
                "and the file does not have them; top-code the variable first, or leave it out."
            )
        pieces: list[_Part] = [(spikes, np.zeros(len(spikes)), weight[:-1])]
        if blocks is not None:
            mass = blocks[2] / float(blocks[2].sum())
            pieces.append((blocks[0], blocks[1], mass * weight[-1]))
            rows = cell[0]
            near = _chance(_joined([(blocks[0], blocks[1], mass)], step=step), values[rows])
            # one of a block's numbers fewer, and the block is as much wider; its edges move, too
            less = near * (1 - 2 / smooth.fewest)
            others = shares.counted[number, -1]
            own[rows] = np.where(is_shared[rows], own[rows] + others * near, own[rows] * near)
            without[rows] = np.where(is_shared[rows], without[rows] + others * less, without[rows] * less)
        center, half, mass = (np.concatenate(column) for column in zip(*pieces, strict=True))
        order = np.argsort(center, kind="stable")
        parts.append((center[order], half[order], mass[order]))
    margin = np.minimum(shares.margin, np.divide(without, own, out=np.ones(len(own)), where=own > 0))
    return Drawn(_joined(parts, step=step), own, without, margin, np.ones(len(own)))


@dataclass(frozen=True)
class _Kept:
    """Values that are kept, the place of each record's value among them (or behind them), and how surely they are kept."""

    values: Floats
    place: Ints
    seen: Floats


def _kept(values: Floats, data: Coded, words: tuple[int, int] | None) -> _Kept:
    """Values that k respondents share are kept by chance, those that 2k share for sure; with more smoothing more are asked."""
    first = math.ceil(data.k * data.strength)
    asked = replace(data, first=first, full=2 * first, public=None, rest=False)
    spikes, people = shared_values(values, data.who, first)
    if words is not None:
        asked = replace(asked, chance=draws.uniforms(*words, (spikes + 0.0).view(np.uint64)))
        there = shown(people, asked) > 0
        spikes, people = spikes[there], people[there]
    place = np.minimum(np.searchsorted(spikes, values), max(len(spikes) - 1, 0))
    found = spikes[place] == values if len(spikes) else np.zeros(len(values), np.bool_)
    return _Kept(spikes, np.where(found, place, len(spikes)), seen_without(people, asked))


def _chance(atoms: Atoms, values: Floats) -> Floats:
    """The chance that a draw is rounded to each value; 0 where draws have all digits."""
    if atoms.step <= 0:
        return np.zeros(len(values))
    return atoms.up_to(0, values + atoms.step / 2) - atoms.up_to(0, values - atoms.step / 2)


def shared_values(values: Floats, who: Ints, k: int) -> tuple[Floats, Floats]:
    """Values that at least k respondents have, and how many have them."""
    pairs = np.unique(np.column_stack((values, who.astype(np.float64))), axis=0)
    found, count = np.unique(pairs[:, 0], return_counts=True)
    return np.asarray(found[count >= k]), count[count >= k].astype(np.float64)


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


def shared_step(values: Floats, who: Ints, k: int) -> float:
    """The largest step (2, 3, 5, 7 and their products, with up to six decimals) that all but fewer than k respondents keep to.

    0 if there is none. A step that a single respondent could change would tell that somebody has such a value.
    """
    for decimals in range(DECIMALS + 1):
        scaled = values * 10.0**decimals
        whole = np.rint(scaled)
        fits = (np.abs(scaled - whole) <= 1e-6) & (np.abs(scaled) <= 2.0**53)
        if len(np.unique(who[~fits])) < k:
            return _common(whole, fits, who, k) / 10.0**decimals
    return 0.0


def _common(whole: Floats, fits: Mask, who: Ints, k: int) -> int:
    """The largest product of small primes of which all but fewer than k respondents have multiples."""
    numbers = np.where(fits, whole, 1.0).astype(np.int64)
    if len(np.unique(who[numbers != 0])) < k:
        return 1
    step = 1
    for prime in (2, 5, 3, 7):
        while len(np.unique(who[(numbers % (step * prime) != 0) | ~fits])) < k:
            step *= prime
    return step


def _on_grid(values: Floats, step: float) -> Floats:
    if step <= 0:
        return values
    return np.asarray(np.round(np.rint(values / step) * step, DECIMALS + 2))


@dataclass(frozen=True)
class _Smoother:
    """Makes blocks of the numbers that are not shared by enough respondents."""

    values: Floats
    is_shared: Mask
    exponential: Floats
    who: Ints
    fewest: int

    def blocks(self, rows: Ints) -> _Part | None:
        """Mean, half-width and weight of each block; None if there are too few respondents, or some dominate all others."""
        own = rows[~self.is_shared[rows]]
        own = own[np.argsort(self.values[own], kind="stable")]
        cuts = _cuts(self.who[own], self.fewest)
        found: list[_Block] = []
        ready = self._plain(own, np.array(cuts))
        while len(found) < len(cuts) - 1:
            number = len(found)
            begin, end = cuts[number], cuts[number + 1]
            block, up = (ready[begin, end], True) if (begin, end) in ready else self._block(own, begin, end)
            if block is not None:
                found.append(block)
            elif up and number + 2 < len(cuts):
                del cuts[number + 1]
            elif number:
                del cuts[number]
                found.pop()
            else:
                return None
        table = np.array(found).reshape(-1, 3)
        return (table[:, 0], table[:, 1], table[:, 2]) if len(table) else None

    def _plain(self, own: Ints, cuts: Ints) -> dict[tuple[int, int], _Block]:
        """The blocks in which nobody dominates, found for all at once where each number is another respondent's."""
        if len(cuts) < 2 or len(np.unique(self.who[own])) < len(own):
            return {}
        inside, begin, end = self.values[own], cuts[:-1], cuts[1:]
        between = (inside[begin[1:] - 1] + inside[begin[1:]]) / 2
        low, high = np.append(inside[0], between), np.append(between, inside[-1])
        total, others = np.add.reduceat(inside, begin), end - begin - 2
        top, bottom = inside[end - 1], inside[begin]
        hidden = total - top - inside[end - 2] - others * low >= LEAST_ROOM * (top - low)
        hidden &= others * high - (total - bottom - inside[begin + 1]) >= LEAST_ROOM * (high - bottom)
        mean = total / (end - begin)
        half = np.maximum(np.minimum(mean - low, high - mean), 0.0)
        weight = np.add.reduceat(self.exponential[own], begin)
        rows = np.column_stack((mean, half, weight)).tolist()
        found = zip(begin.tolist(), end.tolist(), rows, (hidden & (top > bottom)).tolist(), strict=True)
        return {(first, last): tuple(row) for first, last, row, well in found if well}

    def _block(self, own: Ints, begin: int, end: int) -> tuple[_Block | None, bool]:
        """One block of sorted numbers, each respondent counted once; or None, and whether to join it with the one above."""
        block = own[begin:end]
        inside = self.values[block]
        number = np.unique(self.who[block], return_inverse=True)[1].ravel()
        each = np.bincount(number, weights=inside) / np.bincount(number)
        below = float(self.values[own[begin - 1]] + inside[0]) / 2 if begin else None
        above = float(inside[-1] + self.values[own[end]]) / 2 if end < len(own) else None
        held, up = bounded(each, below, above)
        if held is None:
            return None, up
        mean = float(held.mean())
        low, high = held.min() if below is None else below, held.max() if above is None else above
        half = max(0.0, min(mean - float(low), float(high) - mean))
        return (mean, half, float(self.exponential[block].sum())), up


def bounded(each: Floats, below: float | None, above: float | None) -> tuple[Floats | None, bool]:
    """Numbers of one block, of which none dominates their mean; or None, and whether the block above is the one to join.

    Whoever takes part knows their own number, and that no other lies beyond the block's edges (None: there is no further block).
    What they cannot know of the number farthest from an edge is how far all the rest lie from it together, which must be at
    least `LEAST_ROOM` of it. Where no further block is, numbers are drawn in to the next one until that holds.
    """
    low = float(each.min()) if below is None else below
    falling = _drawn_in(each - low, few=above is None)
    if falling is None:
        return None, True
    held = falling + low
    high = float(held.max()) if above is None else above
    rising = _drawn_in(high - held, few=below is None)
    if rising is None:
        return None, below is None
    held = high - rising
    # equal numbers would be handed on by their mean
    return (held, True) if held.max() > held.min() else (None, True)


def _drawn_in(beyond: Floats, *, few: bool) -> Floats | None:
    """Distances from an edge, if the largest is hidden from the next one by all others; a few may be lowered for that."""
    falling = np.sort(np.maximum(beyond, 0.0))[::-1]
    for lowered in range(len(falling) - 2 if few else 1):
        # a number that stands for those lowered to it too is known as many times better
        if falling[lowered + 2 :].sum() >= LEAST_ROOM * (lowered + 1) * falling[lowered]:
            return np.asarray(np.minimum(beyond, falling[lowered]))
    return None


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


def _joined(parts: Sequence[_Part], *, step: float) -> Atoms:
    center, half, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    start = np.concatenate(([0], np.cumsum([len(part[0]) for part in parts]))).astype(np.int64)
    return Atoms(center, half, np.cumsum(weight), start, step)
