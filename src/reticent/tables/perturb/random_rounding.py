# SPDX-License-Identifier: Apache-2.0
"""The table method `random-rounding`: every cell by itself to an adjacent multiple, alike wherever the cell appears."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from reticent.base.arrays import Floats
from reticent.base.errors import DataError, ParameterError
from reticent.base.progress import Progress
from reticent.base.randomness import Secret
from reticent.data.table import Table
from reticent.tables.cell_draws import CellDraws
from reticent.tables.guarantee import NOT_FOLLOWED, Guarantee, Rate
from reticent.tables.outcome import Behind, Outcome, changed_values
from reticent.tables.perturb.cell_numbers import cell_numbers
from reticent.tables.perturb.origins import Origins
from reticent.tables.perturb.rounding import round_randomly, rounding_bounds
from reticent.tables.problem import SuppressionProblem

OWNER = "random-rounding"
LARGEST_SETS = 50
"""Up to this base the sets of counts behind each value are kept; beyond it intervals do."""


@dataclass(frozen=True)
class RandomRounding(CellDraws):
    """Random rounding: up with probability remainder/base, so without bias; totals need not add up.

    The draw belongs to the secret, the response and the cell. A cell of records is known by its set of records (their
    keys are drawn by record id, or are in the variable `record_key`), one of a finished table by its codes.
    The arithmetic attacker, who knows the base, determines no count exactly, and sums keep their levels; levels of counts
    are not promised, and what the transparent attacker determines is in `guarantee`.
    """

    name: ClassVar[str] = OWNER
    guarantee: ClassVar[Guarantee] = Guarantee(
        "Against the arithmetic attacker, who knows the base, all published values and relations together: no count with "
        "somebody in it is determined exactly, and no unsafe sum is placed within its protection levels. Levels of counts are "
        "not promised." + NOT_FOLLOWED,
        Rate(17, 1053, 2.3, 24),
        "cells of the same records are changed in the same way, so different values reveal somebody elsewhere",
    )
    lists_empty: ClassVar[bool] = True
    base: float = field(default=5.0, metadata={"above": 0, "help": "all published values are multiples of it"})
    record_key: str = field(default="", metadata={"help": "variable with the record keys; absent: drawn"})

    def for_table(self, table: Table) -> "RandomlyRoundedTable":
        """The method bound to a table, whose cells have an identity."""
        return RandomlyRoundedTable(self, table)

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """Not without the table: the same cell must be rounded the same in every table."""
        raise DataError(f"{OWNER}: cells are known by their records or codes; start from microdata, a table or a plan.")


@dataclass(frozen=True, eq=False)
class RandomlyRoundedTable:
    """Random rounding and the table that it is to round."""

    method: RandomRounding
    table: Table
    name: ClassVar[str] = OWNER

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """Round, and state what anybody who knows the base can conclude from each value alone."""
        progress(0.0, "rounding")
        true, base, fixed = problem.values, self.method.base, problem.frozen
        if abs(base / problem.unit - round(base / problem.unit)) > 1e-6:
            raise ParameterError(
                f"{OWNER}: base must be a multiple of the values' step {problem.unit:g}, got {base:g}."
            )
        own = secret.child(self.table.response or "count")
        rounded = round_randomly(true, base, secret=own, cells=cell_numbers(self.table))
        low, high = rounding_bounds(rounded, problem.relations, base, unit=problem.unit)
        # values that are no decimals (a third) may lie closer to the next multiple than a step
        low, high = np.minimum(low, true), np.maximum(high, true)
        values = np.where(fixed, true, rounded)
        return changed_values(
            true,
            values,
            status="randomly rounded",
            low=np.where(fixed, true, np.maximum(low, problem.lower_bound)),
            high=np.where(fixed, true, np.minimum(high, problem.upper_bound)),
            facts={"base": base},
            levels=not self.table.is_count,  # a count above 0 shows that somebody is there, as with other noise
            **self._possible(problem, values),
        )

    def _possible(self, problem: SuppressionProblem, values: Floats) -> Behind:
        """Which true counts are behind the published ones; where cells are known by records, those of the same ones agree."""
        base = round(self.method.base)
        if not self.table.is_count or self.table.weighted or base > LARGEST_SETS or abs(self.method.base - base) > 1e-9:
            return {}
        shown = np.rint(values).astype(np.int64)
        kinds, pattern = np.unique(np.minimum(shown, base), return_inverse=True)
        away = np.abs(np.arange(1 - base, base))
        weights = np.where(kinds[:, None] + np.arange(1 - base, base) >= 0, 1.0 - away / base, 0.0)
        found = Origins(
            shown - base + 1, pattern.ravel().astype(np.int32), weights > 0, weights,
            shown if self.table.cell_keys is not None else None,
        )  # fmt: skip
        return {"origins": found.fixed(problem.frozen, problem.values)}
