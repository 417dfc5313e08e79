# SPDX-License-Identifier: Apache-2.0
"""The hull: all databases that would have given the same answers. Answers depend on it and on nothing else.

Each record has its cell (`cells`); records of different respondents form blocks, and of each block it is known into which slab
its total falls. Cells cut the space of all databases into boxes, slabs cut each box into convex pieces: the hull is the piece
that holds the truth, so the truth is a hidden convex combination of its corners. Since the cuts are made without looking at
values, every database of the hull has the same cells, slabs and answers: all are equally likely, given everything public.

A slab must reach from the t + 1 widest cells' widths or below to the total width less these or above. Then, whatever t records
of a block are known to be, every other one can still take every value of its cell (derived in docs/explanation/camouflage.md).
"""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.queries.camouflage.cells import SAFE, Measured
from reticent.queries.fixed import Whole

MOST_OPEN = 64
SHARED = 8
EXACT = 2**53
SPLIT = 8
ROUNDING = 1e-12


@dataclass(frozen=True)
class Hull:
    """Cells and slabs in half steps of the grid: `low` and `high` of each record, its block (−1: none), the blocks' totals."""

    half: Fraction
    low: Whole = field(repr=False)
    high: Whole = field(repr=False)
    block: Ints = field(repr=False)
    least_total: Whole = field(repr=False)
    most_total: Whole = field(repr=False)

    def partial(self, members: "Members", inside: NDArray[np.bool_]) -> tuple[Whole, Whole]:
        """For whole blocks given by all their members: the least and greatest sums over those that are `inside`."""
        sums = []
        for ends, chosen in ((self.low, inside), (self.high, inside), (self.low, ~inside), (self.high, ~inside)):
            out = np.zeros(len(members.blocks), dtype=self.low.dtype)
            np.add.at(out, members.place[chosen], ends[members.rows[chosen]])
            sums.append(out)
        least = np.maximum(sums[0], self.least_total[members.blocks] - sums[3])
        most = np.minimum(sums[1], self.most_total[members.blocks] - sums[2])
        return least, most

    def linear_range(self, rows: Ints, weights: Floats) -> tuple[float, float]:
        """The range of Σ w·a in the unit of the data, up to the rounding of floating-point numbers."""
        weight = np.zeros(len(self.low))
        np.add.at(weight, rows, weights)
        chosen = np.flatnonzero((weight != 0) | np.isin(self.block, self.block[rows][self.block[rows] >= 0]))
        low, high = self.in_units(self.low[chosen]), self.in_units(self.high[chosen])
        block, cost = self.block[chosen], weight[chosen]
        totals = self.in_units(self.least_total), self.in_units(self.most_total)
        most = _greatest(cost, low, high, block, *totals)
        least = -_greatest(-cost, low, high, block, *totals)
        return least, most

    def in_units(self, halves: Whole) -> Floats:
        """Half steps in the unit of the data, each the nearest floating-point number; an OverflowError if there is none.

        How the whole numbers are held depends on the values, so it must not change a single digit.
        """
        top, bottom = self.half.numerator, self.half.denominator
        largest = max((abs(int(end)) for end in (halves.max(initial=0), halves.min(initial=0))), default=0)
        if max(largest * top, bottom) > EXACT:
            return np.array([float(int(end) * self.half) for end in halves.tolist()], dtype=np.float64)
        return np.asarray((halves * top).astype(np.float64) / bottom, dtype=np.float64)


@dataclass(frozen=True)
class Members:
    """All records of some blocks; `place` is the position of each one's block in `blocks`."""

    rows: Ints
    blocks: Ints
    place: Ints

    @classmethod
    def of(cls, hull: Hull, rows: Ints) -> "Members":
        """The members, given by their positions."""
        blocks, place = np.unique(hull.block[rows], return_inverse=True)
        return cls(rows, blocks, place)


def _greatest(cost: Floats, low: Floats, high: Floats, block: Ints, least: Floats, most: Floats) -> float:
    """max Σ cost·x with low ≤ x ≤ high and the total of each block between its ends.

    Every x at its better end; where a block's total is then too large, the cheapest are lowered, where it is too small, the
    least dear ones raised (a continuous knapsack). A total counts as too large only by what is no rounding: one of a block's
    cells may be wider than all others by many orders of magnitude, and a range must never be too narrow.
    """
    x = np.where(cost > 0, high, low)
    best = float(cost @ x)
    member = block >= 0
    total = np.bincount(block[member], weights=x[member], minlength=len(least))
    there = np.bincount(block[member], minlength=len(least)) > 0
    reach = np.bincount(block[member], weights=np.abs(x[member]), minlength=len(least))
    over = np.where(there, total - most - ROUNDING * (reach + np.abs(most)), 0.0)
    under = np.where(there, least - total - ROUNDING * (reach + np.abs(least)), 0.0)
    best -= _moved(cost, high - low, block, np.maximum(over, 0.0), cost > 0)
    return best - _moved(-cost, high - low, block, np.maximum(under, 0.0), cost <= 0)


def _moved(price: Floats, room: Floats, block: Ints, amount: Floats, movable: NDArray[np.bool_]) -> float:
    """What it costs to move each block's total by an amount, the cheapest records first."""
    chosen = np.flatnonzero(movable & (block >= 0) & (amount[block] > 0))
    chosen = chosen[np.lexsort((price[chosen], block[chosen]))]
    if not len(chosen):
        return 0.0
    starts = np.flatnonzero(np.diff(block[chosen], prepend=-1))
    # each block is added up by itself: one running sum would keep nothing of small cells behind a wide one
    before = np.concatenate([np.cumsum(part) - part for part in np.split(room[chosen], starts[1:])])
    left = amount[block[chosen]] * (1 - ROUNDING) - before * (1 + ROUNDING)
    return float((price[chosen] * np.clip(left, 0.0, room[chosen])).sum())


@dataclass(frozen=True)
class Records:
    """Who the records of a hull are: what they have in common in every question, their respondents, and secret draws."""

    group: Ints = field(repr=False)
    entity: Ints = field(repr=False)
    ids: NDArray[np.uint64] = field(repr=False)
    mixing: Floats = field(repr=False)
    alone: NDArray[np.bool_] = field(repr=False)


def blocks_of(records: Records, insiders: int) -> Ints:
    """Blocks of records of different respondents; −1 for records in none. Nothing here looks at a value.

    The k-th records of all respondents of a group form a block: no question tells them apart, so a narrow slab makes sums
    narrow. Where they are too few for a slab (2 t + 3), neighbouring groups share blocks of 8 (t + 1).
    """
    wanted, fewest = SHARED * (insiders + 1), 2 * insiders + 3
    block = np.full(len(records.group), -1, dtype=np.int64)
    free = np.flatnonzero(~records.alone)
    if not len(free):
        return block
    group, entity, ids, mixing = records.group[free], records.entity[free], records.ids[free], records.mixing[free]
    order = np.lexsort((ids, mixing, entity, group))
    same = (np.diff(group[order], prepend=-1) == 0) & (np.diff(entity[order], prepend=-1) == 0)
    turn = np.empty(len(free), dtype=np.int64)
    turn[order] = _run_index(~same)
    order = np.lexsort((ids, mixing, turn, group))
    new = (np.diff(group[order], prepend=-1) != 0) | (np.diff(turn[order], prepend=-1) != 0)
    run = np.cumsum(new) - 1
    whole = np.bincount(run)[run] >= fewest
    _, number = np.unique(run[whole], return_inverse=True)
    block[free[order[whole]]] = number
    _share(free[order[~whole]], records.entity, wanted, block, int(number.max(initial=-1)) + 1)
    return block


def _run_index(new: NDArray[np.bool_]) -> Ints:
    """The position of each element in its run."""
    places = np.arange(len(new))
    return places - np.maximum.accumulate(np.where(new, places, 0))


def _share(rest: Ints, entity: Ints, wanted: int, block: Ints, first: int) -> None:
    """Put what is left, in its order, into blocks without two records of one respondent."""
    being_filled: list[tuple[int, set[int], int]] = []
    for record in rest.tolist():
        own = int(entity[record])
        for place, (number, members, count) in enumerate(being_filled):
            if own not in members:
                members.add(own)
                block[record] = number
                being_filled[place] = (number, members, count + 1)
                if count + 1 == wanted:
                    being_filled.pop(place)
                break
        else:
            if len(being_filled) < MOST_OPEN:
                block[record] = first
                being_filled.append((first, {own}, 1))
                first += 1


@dataclass(frozen=True)
class Cells:
    """The cells of some records: first and last grid points; `whole`: values are known to be grid points.

    `floor` and `ceiling` are known bounds as grid points.
    """

    first: Whole = field(repr=False)
    last: Whole = field(repr=False)
    whole: bool
    floor: int | None = None
    ceiling: int | None = None

    @property
    def ends(self) -> tuple[Whole, Whole]:
        """Low and high in half steps: half a step beyond the grid points, except where everybody knows better."""
        low, high = 2 * self.first, 2 * self.last
        if self.whole:
            return low, high
        below = np.ones(len(low), dtype=np.int64) if self.floor is None else (self.first != self.floor).astype(np.int64)
        above = (
            np.ones(len(low), dtype=np.int64) if self.ceiling is None else (self.last != self.ceiling).astype(np.int64)
        )
        return low - below, high + above


def hull_of(measured: Measured, cells: Cells, block: Ints, insiders: int, half: Fraction) -> Hull:
    """Find each block's slab. Totals are counted from the first grid points, in steps of the grid."""
    low, high = cells.ends
    n_blocks = int(block.max(initial=-1)) + 1
    widths = cells.last - cells.first
    over = _above_first(measured, cells.first)
    totals = [_by_block(amounts, block, n_blocks) for amounts in (over, widths, cells.first, low, high)]
    # values between grid points may lie half a step beyond a cell's first and last one
    reach = _widest(widths, block, n_blocks, insiders + 1) + (0 if cells.whole else insiders + 1)
    least, most = totals[3].copy(), totals[4].copy()
    beyond = 0 if cells.whole else 1
    for number, (top, width, first, own) in enumerate(zip(*(t.tolist() for t in totals[:3]), reach.tolist())):
        start, end = slab_of(top, measured.denominator, width, own, insiders)
        if start > 0:
            least[number] = max(least[number], 2 * (first + start) - beyond)
        if end < width:
            most[number] = min(most[number], 2 * (first + end) + beyond)
    return Hull(half, low, high, block, least, most)


def _above_first(measured: Measured, first: Whole) -> Whole:
    """How far values lie above the first grid points of their cells, in whole numbers that all sums of them fit in.

    Cells may be far wider than values are large, so that the values alone do not say how many bits it takes.
    """
    ends = [int(end) for own in (first, measured.points) for end in (own.max(initial=0), own.min(initial=0))]
    most = (max(map(abs, ends)) + 1) * measured.denominator * (len(first) + 1)
    words = most < SAFE and measured.numerators.dtype != object
    numerators, first = (own.astype(np.int64 if words else object) for own in (measured.numerators, first))
    return np.asarray(numerators - first * measured.denominator)


def _by_block(amounts: Whole, block: Ints, n_blocks: int) -> Whole:
    """The total of each block."""
    out = np.zeros(n_blocks, dtype=amounts.dtype)
    np.add.at(out, block[block >= 0], amounts[block >= 0])
    return out


def _widest(widths: Whole, block: Ints, n_blocks: int, n: int) -> Whole:
    """The sum of the n largest widths of each block."""
    members = np.flatnonzero(block >= 0)
    falling = members[np.argsort(-widths[members], kind="stable")]
    order = falling[np.argsort(block[falling], kind="stable")]
    chosen = order[_run_index(np.diff(block[order], prepend=-1) != 0) < n]
    return _by_block(widths[chosen], block[chosen], n_blocks)


def slab_of(numerator: int, denominator: int, width: int, reach: int, insiders: int) -> tuple[int, int]:
    """The slab [first, last] of whole totals from 0 to `width` that holds numerator / denominator.

    The first slab is [0, reach]; from there slabs follow each other in equal steps, the last one begins at width − reach at the
    latest. Between two whole numbers the cut is half way.
    """
    step = max(reach // (SPLIT * (insiders + 1)), 1)
    n_more = 0 if width - 2 * reach < 1 else (width - 2 * reach - 1) // step + 1
    if not n_more:
        return 0, width
    doubled = 2 * numerator - (2 * reach + 1) * denominator
    if doubled < 0:
        return 0, reach
    number = min(doubled // (2 * step * denominator), n_more - 1)
    first = reach + 1 + number * step
    return first, width if number == n_more - 1 else first + step - 1


def joined(parts: list[Hull]) -> Hull:
    """One hull of records that were added one after another; earlier ones stay as they are."""
    shifts = np.cumsum([0, *(len(part.least_total) for part in parts[:-1])])
    return Hull(
        parts[0].half,
        np.concatenate([part.low for part in parts]),
        np.concatenate([part.high for part in parts]),
        np.concatenate([np.where(p.block >= 0, p.block + shift, -1) for p, shift in zip(parts, shifts)]),
        np.concatenate([part.least_total for part in parts]),
        np.concatenate([part.most_total for part in parts]),
    )
