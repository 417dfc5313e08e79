# SPDX-License-Identifier: Apache-2.0
"""The attacker of a table whose values were exchanged (rounded, adjusted, noisy): all cells and relations together.

What the published value and the method say about one true value is an interval; that all true values add up says more.
Nothing is hidden here and nothing is known exactly: it is the same attack with every cell hidden between its ends.
"""

from dataclasses import replace
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from reticent.base import clock
from reticent.base.arrays import Floats, Mask
from reticent.base.checks import check_options
from reticent.base.errors import ParameterError
from reticent.base.progress import Progress, silent
from reticent.data.cells import CellStatus
from reticent.tables.attack.audit import Audit, carried, judge
from reticent.tables.attack.certify import certify
from reticent.tables.attack.ends import movement_ends
from reticent.tables.attack.reduce import Reduced, reduce
from reticent.tables.problem import SuppressionProblem
from reticent.tables.reconcile import reconciled

EXACT = 4_000_000
"""Up to this many programs times movements the exact ends are calculated; beyond, needs are proved or refuted only."""
WHOLE = 2_000
"""Up to this many cells the attacker of counts solves integer programs; beyond, ends are rounded to whole numbers."""


class Asked(TypedDict, total=False):
    """What the attacker is asked about the cells; `audit_exchanged` says what each means."""

    published: Floats | None
    levels: bool
    every: bool
    judged: bool


def audit_exchanged(
    problem: SuppressionProblem,
    low: Floats,
    high: Floats,
    *,
    progress: Progress = silent,
    **asked: Unpack[Asked],
) -> Audit:
    """What follows about the unsafe cells if every true value lies in [low, high] and all relations hold.

    Unsafe cells must keep their levels (as far as the attacker's own bounds leave room for them), or with
    `levels=False` must not be known exactly. With `published` values their distance from the true ones must reach the
    level too, as adjustment promises. Where nobody said what is unsafe, every cell that is not zero is attacked and must
    not be known exactly; where the cells were `judged` and all are safe, there is nothing to attack. With `every`, as for
    noise, the interval of every cell is found (in large tables of the unsafe ones), and only unsafe cells can be exposed.
    """
    check_options(asked, Asked.__annotations__, owner="attack")
    every, published = asked.get("every", False), asked.get("published")
    started = clock.now()
    listed = not (every or asked.get("judged", False))
    attacked = _attackers_view(problem, low, high, asked.get("levels", True), listed=listed)
    targets = attacked.primary
    everything = (attacked.upper_bound > attacked.lower_bound) | targets | every
    view = reconciled(attacked, everything)
    reduced = reduce(view, everything)
    wanted = targets[reduced.cells] | every
    carriers = _carriers(reduced, wanted)
    if every and not _few(carriers):
        wanted = targets[reduced.cells]
        carriers = _carriers(reduced, wanted)
    exact = _few(carriers)
    if exact:
        down, up, programs = movement_ends(reduced, only=carriers, workers=None, progress=progress)
        whole = _carriers(reduced, problem.whole[reduced.cells])
        down = np.where(whole, np.floor(down + problem.tolerance), down)
        up = np.where(whole, np.floor(up + problem.tolerance), up)
        lower, upper = carried(reduced, down, up)
        found = judge(view, reduced.cells[wanted], lower[wanted], upper[wanted], programs=programs)
        exposed = found.exposed
    else:
        # cells whose own interval is too narrow are exposed without any program
        hopeless = _too_narrow(view)
        down, up = _scaled(view)
        served = _served(view, down, up)
        reach, _ = certify(_without(view, hopeless | served), everything, workers=None, progress=progress)
        cells = reduced.cells[wanted]
        lower, upper = np.maximum(reach.down[wanted], down[cells]), np.maximum(reach.up[wanted], up[cells])
        found = judge(view, cells, lower, upper, programs=reach.programs)
        assert reach.lost is not None
        exposed = (reach.lost | hopeless[reduced.cells])[wanted]
    if published is not None:
        exposed = exposed | _too_near(attacked, published, found.cells)
    seconds = clock.now() - started
    return replace(found, exposed=exposed, exact=exact, problem=view, hidden=everything, seconds=seconds)


def _carriers(reduced: Reduced, wanted: Mask) -> Mask:
    """The movements that carry the wanted cells."""
    found = np.zeros(reduced.relations.n_cells, dtype=bool)
    found[reduced.leader[wanted & (reduced.leader >= 0)]] = True
    return found


def _few(carriers: Mask) -> bool:
    """Whether the exact ends of these movements can be had."""
    return 2.0 * float(carriers.sum()) * len(carriers) <= EXACT


def _attackers_view(
    problem: SuppressionProblem, low: Floats, high: Floats, levels: bool, *, listed: bool
) -> SuppressionProblem:
    slack = problem.tolerance
    if not ((low <= problem.values + slack) & (problem.values <= high + slack)).all():
        raise ParameterError("attack: the stated conclusions do not contain the true values.")
    if listed and not problem.primary.any():
        levels = False
        there = (problem.status != CellStatus.EMPTY) & (problem.values != 0)
        problem = problem.with_status(there, CellStatus.PRIMARY)
    if not levels:
        problem = problem.without_levels()
    # what the attacker's own bounds forbid is not disclosed by the table
    room_down, room_up = problem.values - problem.lower_bound, problem.upper_bound - problem.values
    return replace(
        problem,
        lower_protection=np.minimum(problem.lower_protection, room_down),
        upper_protection=np.minimum(problem.upper_protection, room_up),
        sliding_protection=np.minimum(problem.sliding_protection, room_down + room_up),
        lower_bound=np.minimum(np.maximum(low, problem.lower_bound), problem.values),
        upper_bound=np.maximum(np.minimum(high, problem.upper_bound), problem.values),
        integral=problem.integral and problem.n_cells <= WHOLE,
        whole_cells=problem.whole_cells if problem.n_cells <= WHOLE else None,
    )


def _too_narrow(problem: SuppressionProblem) -> Mask:
    """Primaries whose bounds alone do not leave the room that they need."""
    slack = problem.tolerance
    down, up = problem.values - problem.lower_bound, problem.upper_bound - problem.values
    short = (down < problem.lower_protection - slack) | (up < problem.upper_protection - slack)
    return np.asarray(problem.primary & (short | (down + up < problem.sliding_protection - slack)))


def _scaled(problem: SuppressionProblem) -> tuple[Floats, Floats]:
    """How far cells go down and up when the whole table is scaled within its bounds: that changes no relation."""
    values, size = problem.values, np.abs(problem.values)
    some = size > 0
    if not some.any() or problem.relations.rhs.any() or problem.whole.any():
        return np.zeros(len(values)), np.zeros(len(values))
    room_down, room_up = values - problem.lower_bound, problem.upper_bound - values
    outward, inward = np.where(values > 0, room_up, room_down), np.where(values > 0, room_down, room_up)
    most = 1e6  # a table a million times as large is proof enough
    grow = min(most, float((outward[some] / size[some]).min()))
    shrink = min(most, float((inward[some] / size[some]).min()))
    return np.where(values > 0, shrink, grow) * size, np.where(values > 0, grow, shrink) * size


def _served(problem: SuppressionProblem, down: Floats, up: Floats) -> Mask:
    """Primaries that have what they need by such a movement."""
    enough = (down >= problem.lower_protection) & (up >= problem.upper_protection)
    wide = down + up >= np.maximum(problem.sliding_protection, 10 * problem.tolerance)
    return np.asarray(problem.primary & enough & wide)


def _without(problem: SuppressionProblem, cells: Mask) -> SuppressionProblem:
    """The same problem where some primaries need nothing."""
    return replace(
        problem,
        lower_protection=np.where(cells, 0.0, problem.lower_protection),
        upper_protection=np.where(cells, 0.0, problem.upper_protection),
        sliding_protection=np.where(cells, 0.0, problem.sliding_protection),
        status=np.where(cells, CellStatus.SECONDARY, problem.status).astype(problem.status.dtype),
    )


def _too_near(problem: SuppressionProblem, published: Floats, cells: NDArray[np.int32]) -> Mask:
    """Cells whose published value lies inside their protection interval."""
    move = published[cells] - problem.values[cells]
    needed = np.where(move > 0, problem.upper_protection[cells], problem.lower_protection[cells])
    return np.asarray(np.abs(move) < needed - 10 * problem.tolerance)
