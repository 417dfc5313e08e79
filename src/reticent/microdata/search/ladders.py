# SPDX-License-Identifier: Apache-2.0
"""Ladders: the successive coarser codings of one key, and what each of their levels costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import DataError, ParameterError
from reticent.data.hierarchy import Hierarchy

LOSSES = ("entropy", "granularity", "precision")


@dataclass(frozen=True)
class Ladder:
    """Levels of one key: `steps[g][c]` is the code at level g of the original code c; level 0 changes nothing."""

    name: str
    steps: tuple[NDArray[np.int32], ...] = field(repr=False)
    labels: tuple[tuple[str, ...], ...] = field(repr=False)

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.steps) - 1

    def between(self, low: int, high: int) -> NDArray[np.int32]:
        """The code at level `high` of each code at level `low`."""
        table = np.zeros(len(self.labels[low]), dtype=np.int32)
        table[self.steps[low]] = self.steps[high]
        return table


def ladder_from_rows(name: str, codes: Sequence[str], rows: Mapping[str, Sequence[str]]) -> Ladder:
    """From one row of labels per code, finest first (the columns of an ARX hierarchy without the code itself)."""
    left = [code for code in codes if code not in rows]
    if left:
        raise DataError(
            f"generalize: the hierarchy of {name!r} does not cover {len(left)} of its {len(codes)} codes. Add them.",
            variables=(name,),
        )
    heights = {len(rows[code]) for code in codes}
    if len(heights) > 1:
        raise DataError(
            f"generalize: the codes of {name!r} have different numbers of levels; repeat a code where a level is lacking.",
            variables=(name,),
        )
    steps: list[NDArray[np.int32]] = [np.arange(len(codes), dtype=np.int32)]
    labels: list[tuple[str, ...]] = [tuple(codes)]
    for level in range(heights.pop() if heights else 0):
        place: dict[str, int] = {}
        steps.append(np.array([place.setdefault(rows[code][level], len(place)) for code in codes], dtype=np.int32))
        labels.append(tuple(place))
    ladder = Ladder(name, tuple(steps), tuple(labels))
    for low in range(1, ladder.height):
        table = ladder.between(low, low + 1)
        if not np.array_equal(table[ladder.steps[low]], ladder.steps[low + 1]):
            raise DataError(
                f"generalize: level {low + 1} of {name!r} splits a code of level {low}; each code needs one code above it.",
                variables=(name,),
            )
    return ladder


def ladder_from_hierarchy(name: str, codes: Sequence[str], hierarchy: Hierarchy | None) -> Ladder:
    """From a code tree: level g is g steps above its deepest level; without a tree only all or nothing."""
    if hierarchy is None:
        return ladder_from_rows(name, codes, dict.fromkeys(codes, ("*",)))
    depth = hierarchy.depth
    above = [hierarchy.ancestor_at(depth - g) for g in range(1, depth + 1)]
    return ladder_from_rows(
        name, codes, {code: [up[code] for up in above] for code in codes if code in hierarchy.index}
    )


def level_losses(ladder: Ladder, counts: Ints, loss: str) -> tuple[Floats, ...]:
    """Loss of one record with original code c at each level, one array per level.

    entropy: −log2(n(v)/n(g)) for value v under code g, after Gionis and Tassa (2009); granularity: (|g|−1)/(|D|−1) with
    |g| the original codes under g; precision: level/height.
    """
    n_codes = len(ladder.labels[0])
    result = []
    for level, step in enumerate(ladder.steps):
        if loss == "entropy":
            above = np.bincount(step, weights=counts)[step] if n_codes else np.zeros(0)
            with np.errstate(divide="ignore", invalid="ignore"):
                each = np.where(counts > 0, -np.log2(counts / above), 0.0)
        elif loss == "granularity":
            each = (np.bincount(step)[step] - 1) / max(n_codes - 1, 1)
        elif loss == "precision":
            each = np.full(n_codes, level / max(ladder.height, 1))
        else:
            raise ParameterError(f"generalize: loss must be one of {', '.join(LOSSES)}, got {loss!r}.")
        result.append(np.maximum(np.asarray(each, dtype=np.float64), 0.0))
    return tuple(result)
