# SPDX-License-Identifier: Apache-2.0
"""Perturbation tables by design: the most random noise with mean 0, a given variance and a largest change.

Each row maximises the entropy −Σ p log p over the changes v that are allowed, subject to Σ p = 1, Σ v p = 0, Σ v² p = V
(or ≤ V), perhaps p(0) ≥ a given share and p not falling from the left up to v = 0. The optimum is
p ∝ exp(−Σ λ a(v)) with one λ for each constraint, so a convex problem of a few numbers is solved by Newton's method.
Whether there is any such row at all is decided first, by linear programs. Sources: Fraser and Wooton (2005);
Giessing (2016); Giessing and Höhne (2011); errata 21.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base.arrays import Floats
from reticent.base.doors import door
from reticent.base.errors import InfeasibleError, ParameterError, SolverError
from reticent.data.parameters import Parameters
from reticent.solve.highs import solve
from reticent.solve.model import LinearModel, Status
from reticent.tables.perturb.ptable import PerturbationTable, Row
from reticent.tables.perturb.ptable_tails import level_tails, normal_reference, raised_tails

OWNER = "p-table"
EXACT = 1e-12
ITERATIONS = 400


@dataclass(frozen=True)
class Design(Parameters):
    """What a perturbation table must satisfy.

    No change is beyond `largest` (D); the variance is `variance` (V), or at most that with `at_most`. Results 1 to
    `skip` never occur. A value keeps its size with a probability of at least `stay`, where that is allowed at all.
    `monotone` (one for all rows, or one per row from size 1 on): probabilities do not fall from the left up to no change.
    `parts` is the number of steps within 1: 1 for counts, more for magnitudes. With `tails` "normal" rows are not those of
    largest entropy: `stay` is then the wanted probability of no change, and both tails are fitted to a normal distribution.
    `held` declares single probabilities, {"3 to 6": 0.027}: that a count of 3 is published as 6. The other probabilities of
    such a row are the nearest ones (in relative entropy) to those of the row without them.
    """

    called: ClassVar[str] = OWNER
    largest: int = field(default=5, metadata={"min": 1, "max": 100})
    variance: float = field(default=3.0, metadata={"min": 1e-9, "max": 1e4})
    skip: int = field(default=0, metadata={"min": 0, "max": 100})
    stay: float = field(default=0.0, metadata={"min": 0, "max": 1})
    monotone: bool | tuple[bool, ...] = False
    at_most: bool = False
    parts: int = field(default=1, metadata={"min": 1, "max": 100})
    tails: Literal["entropy", "normal"] = "entropy"
    held: Mapping[str, float] = field(default_factory=dict, hash=False, metadata={"min": 0, "max": 1})

    def __post_init__(self) -> None:
        self._check_held()
        if not isinstance(self.monotone, bool) and len(self.monotone) != self.n_rows:
            raise ParameterError(
                f"monotone must be one truth value, or {self.n_rows}: one for each row.", option="monotone"
            )

    @property
    def n_rows(self) -> int:
        """The row from which on all are alike: D, or D + skip + 1 where small results are left out."""
        return self.largest if self.skip == 0 else self.largest + self.skip + 1

    def _check_held(self) -> None:
        if self.held and self.parts != 1:
            raise ParameterError("held is for whole counts; leave it out where parts is above 1.", option="held")
        if len({_held(text) for text in self.held}) < len(self.held):
            raise ParameterError("held names one change twice; give each one probability.", option="held")
        for text in self.held:
            count, result = _held(text)
            if not 1 <= count <= self.n_rows:
                raise ParameterError(f"held: {text!r} must begin with a count from 1 to {self.n_rows}.", option="held")
            results = [int(count + v) for v in _changes(self, count).tolist()]
            if result not in results:
                listed = ", ".join(str(one) for one in results)
                raise ParameterError(
                    f"held: {text!r} is not a change of this design; {count} can become {listed}.", option="held"
                )

    def held_in(self, size: int) -> dict[int, float]:
        """The declared probabilities of a row, by change."""
        rows = ((*_held(text), chance) for text, chance in self.held.items())
        return {result - count: chance for count, result, chance in rows if count == size}

    def is_monotone(self, size: int) -> bool:
        """Whether the row of this size must be monotone."""
        return self.monotone if isinstance(self.monotone, bool) else self.monotone[size - 1]


def _held(text: str) -> tuple[int, int]:
    """Count and result of a declared probability."""
    found = re.fullmatch(r"\s*([0-9]{1,6})\s+to\s+([0-9]{1,6})\s*", text)
    if found is None:
        raise ParameterError(f'held: {text[:40]!r} must be a count and its result, as in "3 to 6".', option="held")
    return int(found[1]), int(found[2])


@door
def design_ptable(design: Design, *, sizes: Sequence[int] | None = None) -> PerturbationTable:
    """The table of maximal entropy; an impossible row is an error that says which variances are possible.

    `sizes` lists the rows wanted (default: every whole size up to the last that differs).
    """
    wanted = tuple(range(1, design.n_rows + 1)) if sizes is None else tuple(sorted(set(sizes)))
    nothing = Row.of(0.0, np.zeros(1), np.ones(1))
    return PerturbationTable((nothing, *(_designed(design, size) for size in wanted)), "designed p-table")


def _changes(design: Design, size: int) -> Floats:
    """The changes that a size may have."""
    least, most = max(0, size - design.largest) * design.parts, (size + design.largest) * design.parts
    results = np.arange(least, most + 1) / design.parts
    return np.asarray(results[(results <= 0) | (results > design.skip)] - size)


def _designed(design: Design, size: int) -> Row:
    changes = _changes(design, size)
    if design.tails == "normal":
        chances = _normal_tails(replace(design, held={}), size, changes)
        if design.held_in(size):
            chances = _nearest(design, size, changes, chances)
    else:
        chances = _largest(design, size, changes)
    keep = chances > 0
    return Row.of(float(size), changes[keep], chances[keep])


def _largest(design: Design, size: int, changes: Floats, reference: Floats | None = None) -> Floats:
    """The row of largest entropy (relative to the reference), after a check that there is one."""
    constraints = _constraints(design, size, changes)
    _check_variance(design, size, constraints)
    return maximum_entropy(constraints, reference)


def _nearest(design: Design, size: int, changes: Floats, rule: Floats) -> Floats:
    """The row nearest to the rule's own that has the declared probabilities, and its centre unless that is declared."""
    centre = {f"{size} to {size}": float(rule[changes == 0].sum())} if bool((changes == 0).any()) else {}
    wanted = replace(design, held={**centre, **design.held})
    return _largest(wanted, size, changes, rule)


def _normal_tails(design: Design, size: int, changes: Floats) -> Floats:
    """Level tails where the centre cannot be what is wanted, else normal ones around the wanted centre."""
    free = replace(design, stay=0.0)
    level = level_tails(changes, design.variance)
    here = changes == 0
    if level is not None and float(level[here].sum()) <= design.stay:
        return level
    raised = raised_tails(changes, design.variance, design.stay) if bool(here.any()) else None
    rising = raised is not None and bool((np.diff(raised[changes <= 0]) >= 0).all())
    if raised is not None and (rising or not design.is_monotone(size)):
        return raised
    wanted = design if bool(here.any()) else free
    try:
        return _largest(wanted, size, changes, normal_reference(changes, design.variance, design.stay))
    except InfeasibleError:
        return _largest(free, size, changes, normal_reference(changes, design.variance, design.stay))


@dataclass(frozen=True, eq=False)
class Constraints:
    """Rows a·p = b (the first `equal`), then a·p ≤ b; Σ p = 1 and p ≥ 0 always."""

    matrix: Floats
    target: Floats
    equal: int
    squares: Floats

    def take(self, columns: NDArray[np.bool_], rows: NDArray[np.bool_]) -> "Constraints":
        """The same for some of the changes and constraints."""
        return Constraints(
            self.matrix[rows][:, columns], self.target[rows], int(rows[: self.equal].sum()), self.squares[columns]
        )


def _constraints(design: Design, size: int, changes: Floats) -> Constraints:
    equal: list[tuple[Floats, float]] = [(changes, 0.0)]
    below: list[tuple[Floats, float]] = []
    (below if design.at_most else equal).append((changes**2, design.variance))
    held = design.held_in(size)
    equal += [((changes == change).astype(np.float64), chance) for change, chance in held.items()]
    if design.stay > 0 and 0 not in held and bool((changes == 0).any()):
        below.append((-(changes == 0).astype(np.float64), -design.stay))
    if design.is_monotone(size):
        for at in range(int((changes <= 0).sum()) - 1):
            step = np.zeros(len(changes))
            step[at], step[at + 1] = 1.0, -1.0
            below.append((step, 0.0))
    rows = [*equal, *below]
    return Constraints(np.stack([a for a, _ in rows]), np.array([b for _, b in rows]), len(equal), changes**2)


def _variances(constraints: Constraints) -> tuple[float, float] | None:
    """The least and the largest variance that a row can have with its other demands; None if it cannot be at all."""
    rows = np.array([not np.array_equal(a, constraints.squares) for a in constraints.matrix])
    free = constraints.take(np.ones(len(constraints.squares), dtype=bool), rows)
    least, most = _extreme(free, maximise=False), _extreme(free, maximise=True)
    return None if least is None or most is None else (least, most)


def _together(design: Design) -> str:
    """Which variances suit all rows of a design, in words."""
    if design.parts != 1:
        return ""
    ranges = {
        size: _variances(_constraints(design, size, _changes(design, size))) for size in range(1, design.n_rows + 1)
    }
    possible = {size: found for size, found in ranges.items() if found is not None}
    low = max(possible, key=lambda size: possible[size][0])
    high = min(possible, key=lambda size: possible[size][1])
    least, most = possible[low][0], possible[high][1]
    if least <= most + 1e-9:
        return f" Variances from {least:.6g} to {most:.6g} suit all rows."
    return f" No variance suits all rows: row {low} needs at least {least:.6g}, row {high} at most {most:.6g}; raise largest."


def _check_variance(design: Design, size: int, constraints: Constraints) -> None:
    """Refuse a row that cannot be, with the variances that could."""
    found = _variances(constraints)
    if found is None and size <= design.skip and design.largest < design.skip:
        # a count of 1 can only become 0 or skip + 1
        raise InfeasibleError(
            f"{OWNER}: row {size} cannot have mean 0, because no result above {design.skip} is within {design.largest}; raise "
            f"largest to at least {design.skip}, or lower skip."
        )
    if found is None:
        raise InfeasibleError(
            f"{OWNER}: row {size} cannot have mean 0 with these demands; lower stay, or do without monotone, skip or held."
        )
    least, most = found
    slack = 1e-9 * max(1.0, design.variance)
    if design.variance < least - slack or (not design.at_most and design.variance > most + slack):
        allowed = f"at least {least:.6g}" if design.at_most else f"from {least:.6g} to {most:.6g}"
        raise InfeasibleError(
            f"{OWNER}: row {size} needs a variance {allowed} with these demands, got {design.variance:g}; change "
            f"variance or largest, or do without skip, stay, monotone or held.{'' if design.at_most else _together(design)}"
        )


def _extreme(constraints: Constraints, *, maximise: bool) -> float | None:
    found = solve(_model(constraints, constraints.squares, maximise=maximise))
    return float(constraints.squares @ found.values) if found.feasible else None


def _model(constraints: Constraints, cost: Floats, *, maximise: bool = False) -> LinearModel:
    n = constraints.matrix.shape[1]
    lower = np.where(np.arange(len(constraints.target)) < constraints.equal, constraints.target, -np.inf)
    return LinearModel(
        cost,
        np.zeros(n),
        np.ones(n),
        sparse.csr_array(np.vstack([np.ones(n), constraints.matrix])),
        np.concatenate(([1.0], lower)),
        np.concatenate(([1.0], constraints.target)),
        maximise=maximise,
    )


def maximum_entropy(constraints: Constraints, reference: Floats | None = None) -> Floats:
    """The probabilities of largest entropy, or nearest to the reference. Changes that no solution uses get 0."""
    used = _possible(constraints)
    inner = constraints.take(used, np.ones(len(constraints.target), dtype=bool))
    chances = np.zeros(len(used))
    logs = np.zeros(int(used.sum())) if reference is None else np.log(np.maximum(reference[used], EXACT))
    chances[used] = _newton(inner, logs)
    residual = constraints.matrix @ chances - constraints.target
    residual[constraints.equal :] = np.maximum(residual[constraints.equal :], 0.0)
    if float(np.abs(residual).max(initial=0.0)) > 1e-9 or abs(float(chances.sum()) - 1.0) > 1e-9:
        raise SolverError(
            f"{OWNER}: the search for a row of maximal entropy did not meet its demands; none is returned."
        )
    return chances


def _possible(constraints: Constraints) -> NDArray[np.bool_]:
    """Changes that have a positive probability in some solution: at the edge of what is feasible not all do."""
    n = constraints.matrix.shape[1]
    if _all_possible(constraints):
        return np.ones(n, dtype=bool)
    used = np.zeros(n, dtype=bool)
    for at in range(n):
        if used[at]:
            continue
        found = solve(_model(constraints, np.eye(n)[at], maximise=True))
        if found.status is not Status.OPTIMAL:
            raise InfeasibleError(f"{OWNER}: no probabilities meet the demands.")
        used |= found.values > 1e-9
    return used


def _all_possible(constraints: Constraints) -> bool:
    """Whether one solution uses all changes: the largest t with p ≥ t is above 0."""
    n = constraints.matrix.shape[1]
    model = _model(constraints, np.zeros(n))
    rows = sparse.vstack([
        sparse.hstack([model.matrix, sparse.csr_array((model.n_rows, 1))]),
        sparse.hstack([sparse.eye_array(n), sparse.csr_array(-np.ones((n, 1)))]),
    ])  # fmt: skip
    widest = LinearModel(
        np.append(np.zeros(n), 1.0),
        np.zeros(n + 1),
        np.ones(n + 1),
        sparse.csr_array(rows),
        np.concatenate((model.row_lower, np.zeros(n))),
        np.concatenate((model.row_upper, np.full(n, np.inf))),
        maximise=True,
    )
    found = solve(widest)
    return found.feasible and float(found.values[-1]) > 1e-7


def _newton(constraints: Constraints, logs: Floats) -> Floats:
    """Newton's method on the dual min log Σ exp(log q − λA) + λb, λ ≥ 0 for the inequalities (projected, damped)."""
    matrix, target, equal = _independent(constraints)
    n_rows = len(target)
    dual = np.zeros(n_rows)
    free_sign = np.arange(n_rows) < equal

    def value(at: Floats) -> float:
        exponent = logs - at @ matrix
        top = float(exponent.max())
        return top + float(np.log(np.exp(exponent - top).sum())) + float(at @ target)

    def law(at: Floats) -> Floats:
        exponent = logs - at @ matrix
        weights = np.exp(exponent - exponent.max())
        return np.asarray(weights / weights.sum())

    chances = law(dual)
    for _ in range(ITERATIONS):
        gradient = target - matrix @ chances
        moving = free_sign | (dual > 0) | (gradient < 0)
        if float(np.abs(gradient[moving]).max(initial=0.0)) < 1e-15:
            break
        part = matrix[moving]
        centred = part - (part @ chances)[:, None]
        curvature = (centred * chances) @ centred.T
        step = np.zeros(n_rows)
        step[moving] = -np.linalg.lstsq(curvature, gradient[moving], rcond=1e-15)[0]
        dual, moved = _search(dual, step, gradient, free_sign, value)
        chances = law(dual)
        if not moved:
            break
    return chances


def _search(
    dual: Floats, step: Floats, gradient: Floats, free_sign: NDArray[np.bool_], value: object
) -> tuple[Floats, bool]:
    """The longest halved step that lowers the dual; a full step near the optimum is taken as it is."""
    assert callable(value)
    start = value(dual)
    length = 1.0
    for _ in range(60):
        trial = dual + length * step
        trial = np.where(free_sign, trial, np.maximum(trial, 0.0))
        drop = float(gradient @ (trial - dual))
        if value(trial) <= start + 1e-4 * drop + 1e-14:
            return trial, not np.array_equal(trial, dual)
        length *= 0.5
    return dual, False


def _independent(constraints: Constraints) -> tuple[Floats, Floats, int]:
    """Constraints that say something beyond Σ p = 1 on these changes, scaled to a size of 1."""
    matrix, target, rows = constraints.matrix, constraints.target, []
    basis: list[Floats] = [np.ones(matrix.shape[1])]
    for number in range(len(target)):
        if np.linalg.matrix_rank(np.stack([*basis, matrix[number]])) == len(basis):
            continue  # fixed by the equations before it, and checked to be feasible
        if number < constraints.equal:
            basis.append(matrix[number])
        rows.append(number)
    size = np.abs(matrix[rows]).max(axis=1) if rows else np.zeros(0)
    equal = sum(1 for number in rows if number < constraints.equal)
    return matrix[rows] / size[:, None], target[rows] / size, equal
