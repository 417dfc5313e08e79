# SPDX-License-Identifier: Apache-2.0
"""Linear programs over the hidden cells that hang together: how far can each move if nothing published changes?"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base.arrays import Floats, Mask
from reticent.base.errors import SolverError
from reticent.data.relations import Relations
from reticent.solve.highs import HighsSession, solve
from reticent.solve.model import LinearModel, Solution, Status

_PATIENCE = 20.0  # seconds for one integer program
_HURRY = 0.5  # seconds for one that need not be solved to the end
_TARGET_SIZE = 1e6  # the largest number the solver should see: its tolerance of 1e-7 is absolute


def scale_of(rooms: Floats) -> float:
    """The unit in which rooms are numbers that a solver can deal with."""
    finite = rooms[np.isfinite(rooms)]
    return max(float(np.median(finite)), float(finite.max()) / _TARGET_SIZE, 1e-6) if len(finite) else 1.0


class MovementProgram:
    """Movements z of some cells with M z = 0, −room_down ≤ z ≤ room_up, kept warm for many objectives.

    Movements that are `whole` (the attacker knows that their values are whole numbers) count only as such: a linear
    optimum where they are not is replaced by that of an integer program.
    """

    def __init__(self, relations: Relations, room_down: Floats, room_up: Floats, *, whole: Mask | None = None) -> None:
        self._whole = np.zeros(relations.n_cells, dtype=bool) if whole is None else whole
        self.scale = 1.0 if self._whole.any() else scale_of(np.concatenate((room_down, room_up)))
        n = relations.n_cells
        zeros = np.zeros(relations.n_rows)
        self._all = np.arange(n, dtype=np.int32)
        self._model = LinearModel(
            np.zeros(n),
            -np.asarray(room_down) / self.scale,
            np.asarray(room_up) / self.scale,
            relations.matrix(),
            zeros,
            zeros,
            maximise=True,
        )
        self._session = HighsSession(self._model, algorithm="primal")
        self._short: HighsSession | None = None
        self._used: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self.solves = 0

    def maximise(
        self,
        cells: Sequence[int] | NDArray[np.int32],
        weights: Floats,
        *,
        enough: float | None = None,
        rough: bool = False,
    ) -> Solution:
        """The largest Σ weight·z; `values` and `objective` are in the table's own unit.

        Where only whole movements count and `enough` is given, one that gets so far will do, and none is looked for
        where no movement does; where a `rough` answer will do, one that is found soon.
        """
        columns = np.asarray(cells, dtype=np.int32)
        cost = np.zeros(len(self._all))
        cost[columns] = weights
        if len(self._used):
            self._session.set_cost(self._used, np.zeros(len(self._used)))
        self._session.set_cost(columns, cost[columns])
        self._used = columns
        self.solves += 1
        found = self._session.solve()
        if not _settled(found):
            found = self._from_scratch(cost)
        if not _settled(found):
            raise SolverError(f"Attack: a program over {len(self._all)} cells ended as {found.status.value}.")
        if found.status is Status.UNBOUNDED:
            return Solution(found.status, math.inf, math.inf, np.zeros(0))
        if np.abs(found.values - np.rint(found.values))[self._whole].max(initial=0.0) > 1e-6:
            if enough is None:
                found = self._in_whole_numbers(cost, rough=rough)
            else:
                found = self._far_enough(cost, enough, found.objective)
        return Solution(
            found.status,
            found.objective * self.scale,
            found.bound * self.scale,
            found.values * self.scale,
            found.row_duals,
            found.reduced_costs,
        )

    def _in_whole_numbers(self, cost: Floats, *, rough: bool) -> Solution:
        """The best whole movement found in time: what it reaches is proved, even if it may not be the furthest."""
        model = replace(self._model, cost=cost, integer=self._whole)
        limit, gap = (_HURRY, 0.3) if rough else (_PATIENCE, 0.0)
        found = solve(model, time_limit=limit, relative_gap=gap, strict=True)
        if not found.feasible:
            return Solution(Status.OPTIMAL, 0.0, 0.0, np.zeros(len(cost)))
        return replace(found, status=Status.OPTIMAL, values=self._rounded(found.values))

    def _far_enough(self, cost: Floats, enough: float, most: float) -> Solution:
        """Any whole movement that gets far enough: a question of yes or no is answered much sooner than how far."""
        nothing = Solution(Status.OPTIMAL, 0.0, most, np.zeros(len(cost)))
        moved = np.flatnonzero(cost)
        if bool(self._whole[moved].all()) and bool((cost[moved] == np.rint(cost[moved])).all()):
            enough = max(enough, 1.0)  # whole movements go one step, if they go anywhere
        if most < enough - 1e-6:
            return nothing
        short = self._shortest(cost, enough, most)
        if short is not None:
            return Solution(Status.OPTIMAL, float(cost @ short), most, short) if len(short) else nothing
        model = self._model
        wanted = replace(
            model,
            cost=np.zeros(len(cost)),
            matrix=sparse.csr_array(sparse.vstack((model.matrix, sparse.csr_array(cost[None, :])), format="csr")),
            row_lower=np.append(model.row_lower, enough - 1e-6),
            row_upper=np.append(model.row_upper, np.inf),
            integer=self._whole,
        )
        found = solve(wanted, time_limit=_PATIENCE, strict=True)
        if not found.feasible:
            return nothing
        values = self._rounded(found.values)
        return replace(found, status=Status.OPTIMAL, objective=float(cost @ values), bound=most, values=values)

    def _shortest(self, cost: Floats, enough: float, most: float) -> Floats | None:
        """The shortest movement (Σ|z|) that takes one cell far enough, if it is whole; empty: there is no whole one.

        Movements of least length are mostly made of ones, so that this linear program mostly answers what an integer
        program takes seconds for. None: it does not answer.
        """
        moved = np.flatnonzero(cost)
        if len(moved) != 1 or abs(cost[moved[0]]) != 1 or not self._whole[moved[0]]:
            return None
        cell, target = int(moved[0]), float(np.ceil(enough - 1e-6))
        if target > most + 1e-6:
            return np.zeros(0)
        n, session = len(cost), self._lengths()
        columns = np.array([cell, n + cell], dtype=np.int32)
        up, down = self._model.col_upper[cell], -self._model.col_lower[cell]
        least = np.array([target, 0.0] if cost[cell] > 0 else [0.0, target])
        session.set_column_bounds(columns, least, np.where(least > 0, [up, down], 0.0))
        self.solves += 1
        found = session.solve()
        session.set_column_bounds(columns, np.zeros(2), np.array([up, down]))
        if not (found.status is Status.OPTIMAL and found.feasible):
            return None
        values = found.values[:n] - found.values[n:]
        whole = self._rounded(values)
        return whole if np.abs(values - whole).max() <= 1e-6 else None

    def _lengths(self) -> HighsSession:
        """Movements as ways up and ways down, the sum of both to be small; kept warm."""
        if self._short is None:
            model, none = self._model, np.zeros(2 * len(self._all))
            both = sparse.csr_array(sparse.hstack((model.matrix, -model.matrix), format="csr"))
            most = np.concatenate((model.col_upper, -model.col_lower))
            ways = LinearModel(none + 1, none, most, both, model.row_lower, model.row_upper)
            self._short = HighsSession(ways, algorithm="dual")
        return self._short

    def _rounded(self, values: Floats) -> Floats:
        """What the solver left a little beside whole numbers."""
        return np.where(self._whole, np.rint(values), values)

    def _from_scratch(self, cost: Floats) -> Solution:
        """The warm solve cycled or met numerical trouble: the other algorithms, each with a fresh start."""
        self._session.forget_basis()
        for algorithm in ("choose", "dual", "interior"):
            session = HighsSession(replace(self._model, cost=cost), algorithm=algorithm, presolve=True)
            found = session.solve()
            if _settled(found):
                break
        return found

    def reach(self, cell: int, direction: int) -> Solution:
        """How far one cell can move up (+1) or down (−1)."""
        return self.maximise([cell], np.array([float(direction)]))


def _settled(found: Solution) -> bool:
    """Whether a solve ended with an answer; "optimal" without a point within the tolerances is none."""
    return found.status is Status.UNBOUNDED or (found.status is Status.OPTIMAL and found.feasible)
