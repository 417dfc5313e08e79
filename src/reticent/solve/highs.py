# SPDX-License-Identifier: Apache-2.0
"""The only file that knows HiGHS: one loaded model, many objectives, every return status checked."""

import math
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base import clock
from reticent.base.arrays import Floats
from reticent.base.errors import ParameterError, SolverError
from reticent.solve.model import LinearModel, Solution, Status

# The number of threads is a property of the whole process in HiGHS: mixing values makes later runs fail silently.
THREADS = 1
_LEAST = 1e-3  # seconds: less is no time to stop in
# Cuts modulo small numbers at the root: HiGHS eliminates over all equations in whole numbers and does not look at its limit
# meanwhile. This many seconds for each pair of equations (7.5 s for 3,000); below a second nobody minds.
_UNSTOPPABLE = 8e-7
_UNNOTICED = 1.0
_ALGORITHMS = {"primal": ("simplex", 4), "dual": ("simplex", 1), "interior": ("ipm", 0), "choose": ("choose", 0)}

_STATUS = {
    "kOptimal": Status.OPTIMAL,
    "kModelEmpty": Status.OPTIMAL,
    "kInfeasible": Status.INFEASIBLE,
    "kUnbounded": Status.UNBOUNDED,
    "kTimeLimit": Status.STOPPED,
    "kIterationLimit": Status.STOPPED,
    "kObjectiveBound": Status.STOPPED,
    "kObjectiveTarget": Status.STOPPED,
    "kSolutionLimit": Status.STOPPED,
    "kInterrupt": Status.STOPPED,
    "kUnknown": Status.STOPPED,
}


class HighsSession:
    """A model kept in the solver: change objective, bounds or rows and solve again from the last basis.

    `algorithm` is "primal" (best for sequences of objectives), "dual" (best after added rows or changed bounds),
    "interior" or "choose". Presolve is off unless asked for: it would throw the warm start away.
    """

    def __init__(self, model: LinearModel, *, algorithm: str = "primal", presolve: bool = False) -> None:
        if algorithm not in _ALGORITHMS:
            raise ParameterError(f"HighsSession: algorithm must be one of {', '.join(_ALGORITHMS)}, got {algorithm!r}.")
        solver, strategy = _ALGORITHMS[algorithm]
        self._highs: Any = highspy.Highs()
        self._highs.silent()
        self._option("threads", THREADS)
        self._option("solver", solver)
        self._option("simplex_strategy", strategy)
        self._option("presolve", "on" if presolve else "off")
        self._is_mip = model.integer is not None and bool(model.integer.any())
        if self._is_mip:
            self._option("presolve", "choose")
            self._option("solver", "choose")
            self._option("mip_rel_gap", 0.0)
        self._unstoppable = _UNSTOPPABLE * _whole_equations(model) ** 2 if self._is_mip else 0.0
        self._n_columns = model.n_columns
        self._n_rows = model.n_rows
        self._check(self._highs.passModel(*_arrays(model)), "loading the model")

    def load(self, model: LinearModel) -> None:
        """Replace the model by another without integer columns: quicker than a new session for many small ones."""
        if self._is_mip or (model.integer is not None and model.integer.any()):
            raise ParameterError("HighsSession: only models without integer columns can be loaded one after another.")
        self._n_columns, self._n_rows = model.n_columns, model.n_rows
        self._check(self._highs.passModel(*_arrays(model)), "loading the model")

    def _option(self, name: str, value: object) -> None:
        self._check(self._highs.setOptionValue(name, value), f"setting {name}")

    def _check(self, status: Any, what: str) -> None:
        if status == highspy.HighsStatus.kError:
            raise SolverError(f"HiGHS: {what} failed. Check the size and the finite entries of the model.")

    def set_option(self, name: str, value: object) -> None:
        """Set an option of HiGHS by its own name (limits, tolerances); `threads` may not be changed."""
        if name == "threads":
            raise ParameterError("HighsSession: threads is set once for the whole process.")
        self._option(name, value)

    def set_cost(self, columns: NDArray[np.int32], costs: Floats) -> None:
        """Change the costs of some columns."""
        self._check(self._highs.changeColsCost(len(columns), columns, costs), "changing costs")

    def add_rows(self, matrix: sparse.csr_array, lower: Floats, upper: Floats) -> None:
        """Append rows (cuts)."""
        count = int(matrix.shape[0])
        if count == 0:
            return
        indptr, indices = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
        data = matrix.data.astype(np.float64)
        status = self._highs.addRows(count, lower, upper, len(data), indptr[:-1], indices, data)
        self._check(status, "adding rows")
        self._n_rows += count

    def add_columns(self, costs: Floats, lower: Floats, upper: Floats, matrix: sparse.csc_array) -> None:
        """Append columns; `matrix` has their entries in the rows that are there."""
        count = int(matrix.shape[1])
        if count == 0:
            return
        indptr, indices = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
        data = matrix.data.astype(np.float64)
        status = self._highs.addCols(count, costs, lower, upper, len(data), indptr[:-1], indices, data)
        self._check(status, "adding columns")
        self._n_columns += count

    def set_column_bounds(self, columns: NDArray[np.int32], lower: Floats, upper: Floats) -> None:
        """Change the bounds of some columns."""
        self._check(self._highs.changeColsBounds(len(columns), columns, lower, upper), "changing bounds of columns")

    def set_row_bounds(self, rows: NDArray[np.int32], lower: Floats, upper: Floats) -> None:
        """Change the bounds of some rows."""
        self._check(self._highs.changeRowsBounds(len(rows), rows, lower, upper), "changing bounds of rows")

    def dual_ray(self) -> Floats | None:
        """After an infeasible solve, multipliers of the rows that prove it (up to rounding); None if there are none."""
        _, found, ray = self._highs.getDualRay()
        return np.array(ray, dtype=np.float64) if found else None

    @property
    def steps(self) -> int:
        """Simplex steps of the last solve."""
        return int(self._highs.getInfo().simplex_iteration_count)

    def start_from(self, values: Floats) -> None:
        """Give a feasible point: the first incumbent of a MIP."""
        columns = np.arange(len(values), dtype=np.int32)
        self._check(self._highs.setSolution(len(values), columns, np.asarray(values, dtype=np.float64)), "start point")

    def forget_basis(self) -> None:
        """Drop the warm start (the next solve is from scratch)."""
        self._check(self._highs.clearSolver(), "clearing the solver")

    def solve(self, *, time_limit: float = math.inf, strict: bool = False) -> Solution:
        """Solve from the last basis; `time_limit` in seconds.

        The deadline of the work around it (`base.clock`) counts as well: when it passes, `OutOfTime` is raised. If the limit
        is `strict`, an integer program that could not be stopped by then is not begun: it ends as stopped, without a solution.
        """
        if strict and self._too_long(time_limit):
            clock.check()
            return Solution(Status.STOPPED, math.nan, math.nan, np.zeros(0))
        name = self._run(time_limit)
        if name == "kUnboundedOrInfeasible":
            self._option("presolve", "off")
            name = self._run(time_limit)
        if name == "kOptimal" and not self._is_mip and self._highs.getInfo().primal_solution_status != 2:
            # a basis of an earlier program that misses the bounds of this one by more than the tolerance
            self.forget_basis()
            name = self._run(time_limit)
        status = _STATUS.get(name, Status.FAILED)
        if name == "kOptimal" and not self._is_mip and self._highs.getInfo().primal_solution_status != 2:
            status = Status.STOPPED  # it calls a point the best that misses the bounds: there is no solution to give
        if status is Status.FAILED:
            raise SolverError(f"HiGHS: the solve ended as {name}.")
        return self._solution(status)

    def _run(self, time_limit: float) -> str:
        """The solver's word for how it ended."""
        while True:
            clock.check()
            self._limit(time_limit)
            self._check(self._highs.run(), "the solve")
            name = str(self._highs.getModelStatus().name)
            if name != "kTimeLimit":
                return name
            clock.check()
            if self._is_mip or math.isfinite(time_limit):
                return name
            # stopped by a deadline that has not passed by the clock in use (processor time): on from this basis

    def _too_long(self, seconds: float) -> bool:
        """Whether this program may still run when it should long have ended."""
        if self._unstoppable <= _UNNOTICED or clock.current().nodes(seconds) is not None:
            return False
        return self._unstoppable > min(seconds, clock.left())

    def _limit(self, seconds: float) -> None:
        nodes = clock.current().nodes(seconds)
        if nodes is not None:
            self._option("time_limit", math.inf)
            self._option("mip_max_nodes", nodes)
            return
        seconds = clock.current().wall(min(seconds, max(clock.left(), _LEAST)))
        # HiGHS's clock runs on over the solves of one session, so the limit is counted from what it shows now.
        self._option("time_limit", self._highs.getRunTime() + seconds if math.isfinite(seconds) else math.inf)

    def _solution(self, status: Status) -> Solution:
        info = self._highs.getInfo()
        if status in (Status.INFEASIBLE, Status.UNBOUNDED) or info.primal_solution_status != 2:
            bound = float(info.mip_dual_bound) if self._is_mip else math.nan
            return Solution(status, math.nan, bound, np.zeros(0))
        raw = self._highs.getSolution()
        objective = float(info.objective_function_value)
        bound = float(info.mip_dual_bound) if self._is_mip else (objective if status is Status.OPTIMAL else math.nan)
        duals = not self._is_mip
        return Solution(
            status,
            objective,
            bound,
            np.array(raw.col_value, dtype=np.float64),
            np.array(raw.row_dual, dtype=np.float64) if duals else np.zeros(0),
            np.array(raw.col_dual, dtype=np.float64) if duals else np.zeros(0),
        )


def solve(
    model: LinearModel,
    *,
    time_limit: float = math.inf,
    algorithm: str = "choose",
    start: Floats | None = None,
    relative_gap: float = 0.0,
    strict: bool = False,
) -> Solution:
    """Solve one model from scratch (with presolve); `start` is a first incumbent of a MIP, `strict` as in a session."""
    session = HighsSession(model, algorithm=algorithm, presolve=True)
    if model.integer is not None and model.integer.any():
        session.set_option("mip_rel_gap", relative_gap)
        if start is not None:
            session.start_from(start)
    return session.solve(time_limit=time_limit, strict=strict)


def _whole_equations(model: LinearModel) -> int:
    """Equations all of whose columns are whole."""
    if model.integer is None:
        return 0
    beside = abs(model.matrix) @ (~model.integer).astype(np.float64)
    return int(((model.row_lower == model.row_upper) & (beside == 0)).sum())


def _arrays(model: LinearModel) -> tuple[Any, ...]:
    """A model as HiGHS takes it in one call: arrays, which are quicker to give than the parts of its own object."""
    matrix, whole = model.matrix, model.integer
    integral = np.zeros(model.n_columns, dtype=np.int32) if whole is None else whole.astype(np.int32)
    columns = (np.asarray(own, dtype=np.float64) for own in (model.cost, model.col_lower, model.col_upper))
    rows = (np.asarray(own, dtype=np.float64) for own in (model.row_lower, model.row_upper))
    sense = highspy.ObjSense.kMaximize if model.maximise else highspy.ObjSense.kMinimize
    return (
        model.n_columns,
        model.n_rows,
        len(matrix.data),
        int(highspy.MatrixFormat.kRowwise),
        int(sense),
        0.0,
        *columns,
        *rows,
        matrix.indptr.astype(np.int32),
        matrix.indices.astype(np.int32),
        matrix.data.astype(np.float64),
        integral,
    )
