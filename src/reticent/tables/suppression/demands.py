# SPDX-License-Identifier: Apache-2.0
"""What each primary demands of a pattern, one direction at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.tables.attack.inside import Breach
from reticent.tables.problem import SuppressionProblem


class Kind(Enum):
    """UP and DOWN: reach a level; SLIDE: a width in all; MOVE: any movement at all."""

    UP = "up"
    DOWN = "down"
    SLIDE = "slide"
    MOVE = "move"


@dataclass(frozen=True)
class Demand:
    """One primary cell, what it must be able to do, by how much, and cells that the attacker knows beforehand."""

    cell: int
    kind: Kind
    need: float
    known: tuple[int, ...] = ()


def demands_of(problem: SuppressionProblem, cells: NDArray[np.int32] | None = None) -> list[Demand]:
    """All demands of the primaries (or of those among `cells`)."""
    chosen = np.flatnonzero(problem.primary) if cells is None else np.asarray(cells)[problem.primary[cells]]
    found: list[Demand] = []
    for cell in chosen.tolist():
        up, down = float(problem.upper_protection[cell]), float(problem.lower_protection[cell])
        slide = float(problem.sliding_protection[cell])
        if problem.needs_movement[cell]:
            found.append(Demand(cell, Kind.MOVE, 1.0))
            continue
        if up > problem.tolerance:
            found.append(Demand(cell, Kind.UP, up))
        if down > problem.tolerance:
            found.append(Demand(cell, Kind.DOWN, down))
        if slide > up + down + problem.tolerance:
            found.append(Demand(cell, Kind.SLIDE, slide))
    return found


def inside_demands(breaches: Sequence[Breach]) -> list[Demand]:
    """What keeps respondents, who know some cells, from finding others."""
    found: list[Demand] = []
    for breach in breaches:
        for cell, down, up in zip(breach.cells, breach.down, breach.up, strict=True):
            if up > 0:
                found.append(Demand(cell, Kind.UP, up, breach.known))
            if down > 0:
                found.append(Demand(cell, Kind.DOWN, down, breach.known))
            if not up and not down:
                found.append(Demand(cell, Kind.MOVE, 1.0, breach.known))
    return found


def rooms(problem: SuppressionProblem, demand: Demand) -> tuple[Floats, Floats]:
    """How far every cell may move down and up as far as this demand is concerned.

    Where any movement will do, only whether there is room matters, so all rooms are 0 or 1.
    """
    down, up = problem.values - problem.lower_bound, problem.upper_bound - problem.values
    if demand.kind is Kind.MOVE:
        down, up = (down > problem.tolerance).astype(np.float64), (up > problem.tolerance).astype(np.float64)
    if demand.known:
        down[list(demand.known)] = up[list(demand.known)] = 0.0
    return down, up
