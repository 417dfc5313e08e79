# SPDX-License-Identifier: Apache-2.0
"""What algorithms say to a solver and what it says back: plain arrays, no solver library."""

from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base.arrays import Floats
from reticent.base.errors import ParameterError

INFINITE = float("inf")


class Status(Enum):
    """How a solve ended; only `OPTIMAL` and `STOPPED` (with values) carry a solution."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True)
class LinearModel:
    """Minimise cost·x with row_lower ≤ matrix·x ≤ row_upper and col_lower ≤ x ≤ col_upper; some columns whole."""

    cost: Floats
    col_lower: Floats
    col_upper: Floats
    matrix: sparse.csr_array
    row_lower: Floats
    row_upper: Floats
    integer: NDArray[np.bool_] | None = None
    maximise: bool = False

    def __post_init__(self) -> None:
        rows, cols = self.matrix.shape
        columns = (self.cost, self.col_lower, self.col_upper)
        if any(len(a) != cols for a in columns) or any(len(a) != rows for a in (self.row_lower, self.row_upper)):
            raise ParameterError(f"LinearModel: the arrays must fit a matrix of {rows} rows and {cols} columns.")
        if self.integer is not None and len(self.integer) != cols:
            raise ParameterError(f"LinearModel: integer must have one entry for each of the {cols} columns.")

    @property
    def n_columns(self) -> int:
        """Number of variables."""
        return int(self.matrix.shape[1])

    @property
    def n_rows(self) -> int:
        """Number of constraints."""
        return int(self.matrix.shape[0])


@dataclass(frozen=True)
class Solution:
    """What came back: values, duals of the rows, reduced costs of the columns, and a bound on the optimum.

    `values` is empty when there is no feasible point. For a minimisation `bound` ≤ optimum ≤ `objective`.
    Signs of the duals are those of a minimisation of the (negated, if maximise) objective's Lagrangian as HiGHS
    gives them: objective change per unit of the row's or column's active bound.
    """

    status: Status
    objective: float
    bound: float
    values: Floats
    row_duals: Floats = field(default_factory=lambda: np.zeros(0))
    reduced_costs: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def feasible(self) -> bool:
        """Whether `values` is a feasible point."""
        return len(self.values) > 0 and self.status in (Status.OPTIMAL, Status.STOPPED)
