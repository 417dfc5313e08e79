# SPDX-License-Identifier: Apache-2.0
"""Rounding of tables: random, controlled (additive) and rapid.

Controlled rounding gives every cell an adjacent multiple of the base so that all totals still add up; multiples of the
base stay (zero-restricted). Where that cannot be (three dimensions and more), cells may go K steps further.
Sources: Cox (1987); Salazar (2005); SESRIC 394–440; erratum 5.
"""

from dataclasses import dataclass, field
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from reticent.base import clock
from reticent.base.arrays import Floats
from reticent.base.checks import check_between, check_integer, check_options
from reticent.base.errors import DataError, InfeasibleError, ParameterError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import Secret
from reticent.data.relations import Relations
from reticent.kernels.draws import uniforms
from reticent.solve.highs import solve
from reticent.solve.model import Solution, Status
from reticent.tables.perturb.rounding_search import Steps, model_of, search, taken_in

OWNER = "rounding"
_NEARLY = 0.9  # of the time: then more of it may help
MONOLITH = 4000
"""Up to this many undecided cells one program is solved; larger tables are searched."""


@dataclass(frozen=True)
class Rounded:
    """Rounded values, their distance Σ|rounded − original| over all cells, a lower bound of it, and how it ended."""

    values: Floats = field(repr=False)
    base: float
    distance: float
    bound: float | None
    status: str
    steps: int
    seconds: float

    def summary(self) -> dict[str, float | int | str | None]:
        """Plain numbers."""
        return {
            "base": self.base,
            "distance": self.distance,
            "bound": self.bound,
            "status": self.status,
            "steps": self.steps,
            "seconds": round(self.seconds, 3),
        }


def check_base(base: float) -> None:
    """Refuse a base that is not a positive number."""
    if isinstance(base, bool) or not isinstance(base, int | float) or not base > 0:
        raise ParameterError(f"{OWNER}: base must be a number above 0, got {base!r}.")


def rounding_bounds(
    published: Floats, relations: Relations, base: float, *, steps: int = 0, rapid: bool = False, unit: float = 1.0
) -> tuple[Floats, Floats]:
    """What a rounded value and the method say about the true one, which is a multiple of `unit`.

    K steps: true values are less than (K + 1)·base away, so that 15 with base 5 and one step says 6 to 24. Rapidly
    rounded cells are half a base away (a value half way goes up), and added-up totals say nothing by themselves.
    """
    if not rapid:
        reach = (steps + 1) * base - unit
        return published - reach, published + reach
    low = np.ceil((published - base / 2) / unit - 1e-9) * unit
    high = np.ceil((published + base / 2) / unit - 1e-9) * unit - unit
    total = np.zeros(len(published), dtype=bool)
    total[list(_totals(relations))] = True
    return np.where(total, -np.inf, low), np.where(total, np.inf, high)


def round_randomly(values: Floats, base: float, *, secret: Secret, cells: NDArray[np.uint64] | None = None) -> Floats:
    """Unbiased random rounding: up with probability remainder/base. Totals need not add up.

    Draws are keyed by `cells` (a stable number of the cell, default its position), so that the same cell is rounded
    the same way in every table: repeating the question does not average the rounding out.
    """
    check_base(base)
    keys = np.arange(len(values), dtype=np.uint64) if cells is None else cells
    low = np.floor(values / base)
    share = values / base - low
    word0, word1 = secret.words("random-rounding")
    return base * (low + (uniforms(word0, word1, keys, 0) < share))


def round_rapidly(values: Floats, relations: Relations, base: float) -> Rounded:
    """Round the cells that are no total to the nearest multiple and add the totals up: additive at once, not near."""
    check_base(base)
    started = clock.now()
    total_of = _totals(relations)
    rounded = base * np.floor(values / base + 0.5)
    for cell in _bottom_up(total_of, relations):
        rounded[cell] = _total_from(relations, total_of[cell][0], cell, rounded)
    left = np.abs(relations.residuals(rounded)).max(initial=0.0)
    if left > 1e-6 * base:
        raise InfeasibleError(
            f"{OWNER}: rapid rounding cannot add these totals up, because a total is reached in two different ways; "
            "use controlled rounding."
        )
    return Rounded(rounded, base, float(np.abs(rounded - values).sum()), None, "rapid", 0, clock.now() - started)


class RoundingWishes(TypedDict, total=False):
    """What else may be said of controlled rounding; `round_controlled` says what each means."""

    weights: Floats | None
    lower_protection: Floats | None
    upper_protection: Floats | None
    unit: float
    rapid: bool
    secret: Secret | None
    cells: NDArray[np.uint64] | None
    window: tuple[Floats, Floats] | None


def round_controlled(
    values: Floats,
    relations: Relations,
    base: float,
    *,
    steps: int = 0,
    time_limit: float = 60.0,
    progress: Progress = silent,
    **wishes: Unpack[RoundingWishes],
) -> Rounded:
    """Additive rounding with the least Σ w·|rounded − original| over all cells, totals included.

    Each cell goes to one of its two adjacent multiples (a multiple stays); if that is infeasible, or the levels demand
    it, up to `steps` further multiples are allowed and the number needed is reported. The attacker against whom levels
    are kept knows that true values are multiples of `unit` (1: counts). With a `secret` the objective
    is random instead (each cell's preference drawn with probability remainder/base, keyed by `cells` as in
    `round_randomly`), so that the result is close to unbiased. A time limit gives the best found with its bound; if
    nothing was found, that is an error, or with `rapid` the rapidly rounded table (status "rapid"). `window` has the least and
    the largest multiple that each cell may become.
    """
    check_base(base)
    check_integer(steps, minimum=0, name="steps", owner=OWNER)
    check_between(time_limit, 1e-3, float("inf"), name="time_limit", owner=OWNER)
    if len(values) != relations.n_cells:
        raise DataError(f"{OWNER}: there must be one value for each of the {relations.n_cells} cells.")
    check_options(wishes, RoundingWishes.__annotations__, owner=OWNER)
    secret = wishes.get("secret")
    started = clock.now()
    for step in range(steps + 1):
        progress(step / (steps + 1), f"{step} steps")
        prefer = None if secret is None else round_randomly(values, base, secret=secret, cells=wishes.get("cells"))
        window = _Window(values, base, step, wishes, prefer)
        left = time_limit - (clock.now() - started)
        if left <= 0:
            break
        solution = _solve_window(window, relations, left if step == steps else left / 2, left)
        if solution is not None and solution.feasible:
            return _as_result(window, relations, solution, step, started)
    if wishes.get("rapid", False):
        return round_rapidly(values, relations, base)
    late = clock.now() - started >= _NEARLY * time_limit
    within, more = (f" and {time_limit:g} seconds", " or time") if late else ("", "")
    raise InfeasibleError(
        f"{OWNER}: no additive rounding to base {base:g} was found within {steps} steps{within}; allow more steps{more}, or "
        "round rapidly."
    )


class _Window:
    """Which multiples each cell may take, as whole steps above its lower multiple, and what each costs."""

    def __init__(
        self, values: Floats, base: float, steps: int, wishes: RoundingWishes, preferred: Floats | None
    ) -> None:
        weights, lower, upper = wishes.get("weights"), wishes.get("lower_protection"), wishes.get("upper_protection")
        self.values, self.base, self.steps = values, base, steps
        nearest = np.rint(values / base)
        on_grid = np.abs(values - nearest * base) <= 1e-9 * np.maximum(1.0, np.abs(values))
        self.floor = np.where(on_grid, nearest, np.floor(values / base))
        self.rest = np.where(on_grid, 0.0, values - self.floor * base)
        self.weights = np.ones(len(values)) if weights is None else weights
        self.low = np.full(len(values), -steps, dtype=np.float64)
        self.high = np.where(on_grid, 0.0, 1.0) + steps
        if steps == 0:
            self.low[:] = 0.0
        non_negative = values >= 0
        self.low = np.where(non_negative, np.maximum(self.low, -self.floor), self.low)
        reach = (steps + 1) * base - wishes.get("unit", 0.0)
        if upper is not None:  # published z: the attacker knows |true − z| ≤ reach, so z + reach must pass a + upper
            self.low = np.maximum(self.low, np.ceil((values + upper - reach) / base - self.floor - 1e-9))
        if lower is not None:
            self.high = np.minimum(self.high, np.floor((values - lower + reach) / base - self.floor + 1e-9))
        least, most = wishes.get("window") or (None, None)
        if least is not None:
            self.low = np.maximum(self.low, np.ceil(least / base - self.floor - 1e-9))
        if most is not None:
            self.high = np.minimum(self.high, np.floor(most / base - self.floor + 1e-9))
        self.prefer_up = None if preferred is None else preferred > self.floor * base

    @property
    def possible(self) -> bool:
        return bool((self.low <= self.high).all())

    def slope(self) -> Floats:
        """Cost of one step up between the two adjacent multiples."""
        if self.prefer_up is None:
            return self.weights * (self.base - 2.0 * self.rest)
        return self.weights * np.where(self.prefer_up, -self.base, self.base)

    def result(self, taken: Floats) -> Floats:
        return self.base * (self.floor + np.rint(taken))


def _solve_window(window: _Window, relations: Relations, patience: float, time_limit: float) -> Solution | None:
    """The best rounding found; where the table is large a first one is looked for in the seconds of `patience`."""
    if not window.possible:
        return None
    right, further = relations.rhs / window.base, window.weights * window.base
    steps = Steps(window.floor, window.low, window.high, window.slope(), further)
    undecided = int((window.high > window.low).sum())
    if undecided <= MONOLITH:
        return solve(model_of(steps, relations, right), time_limit=time_limit)
    unit = float(further.mean()) or 1.0
    return search(steps, relations, right, patience=patience, time_limit=time_limit, unit=unit)


def _as_result(window: _Window, relations: Relations, solution: Solution, step: int, started: float) -> Rounded:
    values = window.result(taken_in(solution.values, len(window.values)))
    if np.abs(relations.residuals(values)).max(initial=0.0) > 1e-6 * window.base:
        raise InfeasibleError(
            f"{OWNER}: the solver's answer does not add up when checked, so nothing is returned; "
            "take another base, or round rapidly."
        )
    distance = float((window.weights * np.abs(values - window.values)).sum())
    bound: float | None = None
    if window.prefer_up is None:
        bound = min(distance, solution.bound + float((window.weights * window.rest).sum()))
    status = "optimal" if solution.status is Status.OPTIMAL else "stopped"
    return Rounded(values, window.base, distance, bound, status, step, clock.now() - started)


def _totals(relations: Relations) -> dict[int, list[int]]:
    """For each cell that is the total of a relation, the relations it is the total of."""
    found: dict[int, list[int]] = {}
    for number in range(relations.n_rows):
        cells, coefs = relations.row(number)
        lone = cells[coefs < 0] if (coefs < 0).sum() == 1 else cells[coefs > 0]
        if len(lone) != 1:
            raise InfeasibleError(f"{OWNER}: relation {number} has no single total; use controlled rounding.")
        found.setdefault(int(lone[0]), []).append(number)
    return found


def _bottom_up(total_of: dict[int, list[int]], relations: Relations) -> list[int]:
    """Totals in an order in which their parts come first."""
    done: list[int] = []
    seen: set[int] = set()
    for root in total_of:
        stack = [(root, False)]
        while stack:
            cell, ready = stack.pop()
            if ready:
                done.append(cell)
            elif cell in total_of and cell not in seen:
                seen.add(cell)
                stack.append((cell, True))
                stack.extend((int(part), False) for part in relations.row(total_of[cell][0])[0] if int(part) != cell)
    return done


def _total_from(relations: Relations, number: int, cell: int, values: Floats) -> float:
    cells, coefs = relations.row(number)
    own = int(coefs[cells == cell][0])
    rest = float((coefs[cells != cell] * values[cells[cells != cell]]).sum())
    return (float(relations.rhs[number]) - rest) / own
