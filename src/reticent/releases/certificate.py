# SPDX-License-Identifier: Apache-2.0
"""Proofs that something is impossible, checked in whole numbers: a solver proposes multipliers, integers decide.

If Σ yᵢ · rowᵢ is at least L for whatever satisfies the rows, and at most U < L for whatever lies within the bounds of the
columns, nothing satisfies both. Where whole numbers are needed for the argument, it is split at a column into two.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.releases.stack import ROOM, Stack
from reticent.releases.unknowns import OPEN

DENOMINATORS = (1, 12, 840, 10**6)
NOISE = 1e-9


@dataclass(frozen=True)
class Leaf:
    """Whole multipliers of rows, and the classes whose bounds the proof uses (each with whether it is the upper one)."""

    multipliers: tuple[tuple[int, int], ...]
    bounds: tuple[tuple[int, bool], ...]


@dataclass(frozen=True)
class Branch:
    """Whole numbers are at most `value` at a column or at least one more: both are impossible."""

    column: int
    value: int
    below: "Proof"
    above: "Proof"


Proof = Leaf | Branch


@dataclass(frozen=True, eq=False)
class Box:
    """Rows with their ends and columns with their bounds: what a proof is about."""

    rows: Stack
    row_low: Ints
    row_high: Ints
    low: Ints
    high: Ints


def leaf(box: Box, ray: Floats) -> Leaf | None:
    """The proof that approximate multipliers stand for, if one of their exact readings is a proof."""
    largest = float(np.abs(ray).max(initial=0.0))
    if largest == 0.0:
        return None
    used = np.flatnonzero(np.abs(ray) > NOISE * largest)
    sizes = np.abs(ray[used])
    for unit in dict.fromkeys((float(sizes.min()), abs(float(ray[-1])), largest)):
        if unit <= 0.0:
            continue
        for denominator in DENOMINATORS:
            fractions = [Fraction(float(ray[row]) / unit).limit_denominator(denominator) for row in used]
            common = lcm(*(f.denominator for f in fractions))
            whole = [(int(row), int(f * common)) for row, f in zip(used, fractions, strict=True) if f]
            for sign in (1, -1):
                found = _proved(box, [(row, sign * y) for row, y in whole])
                if found is not None:
                    return found
    return None


def _proved(box: Box, multipliers: list[tuple[int, int]]) -> Leaf | None:
    """The multipliers as a proof, if they are one."""
    least = 0
    for row, y in multipliers:
        end = int(box.row_low[row] if y > 0 else box.row_high[row])
        if abs(end) >= OPEN:
            return None
        least += y * end
    columns, sums = _combined(box.rows, multipliers)
    most, bounds = 0, []
    for column, share in zip(columns, sums, strict=True):
        end = int(box.high[column] if share > 0 else box.low[column])
        if abs(end) >= OPEN:
            return None
        most += share * end
        bounds.append((column, share > 0))
    return Leaf(tuple(multipliers), tuple(bounds)) if most < least else None


def _combined(rows: Stack, multipliers: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Σ y · row as columns and their entries that are not 0; in 64 bits where that suffices."""
    chosen = rows.chosen([row for row, _ in multipliers])
    largest = sum(abs(y) for _, y in multipliers) * float(np.abs(chosen.data).max(initial=0))
    if largest < ROOM:
        total = chosen.T @ np.array([y for _, y in multipliers], dtype=np.int64)
        columns = np.flatnonzero(total)
        return columns.tolist(), total[columns].tolist()
    sums: dict[int, int] = {}
    for k, (_, y) in enumerate(multipliers):
        part = slice(chosen.indptr[k], chosen.indptr[k + 1])
        for column, entry in zip(chosen.indices[part].tolist(), chosen.data[part].tolist(), strict=True):
            sums[column] = sums.get(column, 0) + y * entry
    kept = {column: total for column, total in sums.items() if total}
    return list(kept), list(kept.values())


def holds(box: Box, proof: Proof) -> bool:
    """Whether a proof shows that no whole numbers satisfy the rows within the bounds."""
    if isinstance(proof, Leaf):
        return _proved(box, list(proof.multipliers)) is not None
    high, low = box.high.copy(), box.low.copy()
    high[proof.column] = min(int(high[proof.column]), proof.value)
    low[proof.column] = max(int(low[proof.column]), proof.value + 1)
    below = Box(box.rows, box.row_low, box.row_high, box.low, high)
    above = Box(box.rows, box.row_low, box.row_high, low, box.high)
    return holds(below, proof.below) and holds(above, proof.above)


def leaves(proof: Proof) -> list[Leaf]:
    """The leaves of a proof."""
    return [proof] if isinstance(proof, Leaf) else [*leaves(proof.below), *leaves(proof.above)]
