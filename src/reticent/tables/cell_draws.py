# SPDX-License-Identifier: Apache-2.0
"""What methods that draw have in common: a draw belongs to the cell, wherever it stands."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from reticent.base.arrays import Words
from reticent.base.progress import Progress
from reticent.base.randomness import Secret
from reticent.data.microdata import Microdata
from reticent.data.parameters import Parameters
from reticent.data.table import Table
from reticent.tables.outcome import Outcome
from reticent.tables.perturb.cell_numbers import places, response_cells
from reticent.tables.perturb.record_keys import RecordKeys, contributing_keys
from reticent.tables.problem import SuppressionProblem

ONE_RUN = (
    "A cell has the same value in all tables of this run only: which way it moves depends on the whole table. Protect tables "
    "that share cells together, as linked tables of one plan; two runs reveal more of these cells than each of them."
)


class Bound(Protocol):
    """A method bound to the tables that it protects."""

    @property
    def name(self) -> str:
        """The name of the method."""
        ...

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """Protect the tables."""
        ...


class CellDraws(Parameters):
    """Base of methods that draw: a draw belongs to the cell's records, wherever the cell appears."""

    name: ClassVar[str]
    lists_empty: ClassVar[bool] = False
    record_key: str = ""  # methods that can take keys from the data have a field of this name

    @property
    def draws(self) -> bool:
        """What is published depends on the secret."""
        return True

    def needs_top(self, response: str | None) -> int:
        """Contributions do not matter."""
        return 0

    def record_keys(self, data: Microdata, response: str | None, secret: Secret) -> RecordKeys:
        """The keys of all records; for sums, records that contribute 0 stay out, because they change no value."""
        return contributing_keys(data, self.record_key, response, secret, owner=self.name)


class AdditiveDraws(CellDraws):
    """Base of methods that draw and whose values still add up: they can protect several responses together."""

    def for_table(self, table: Table) -> Bound:
        """The method bound to a table, whose cells have an identity."""
        return self.for_tables([table])

    def for_tables(self, tables: Sequence[Table]) -> Bound:
        """The method bound to the tables of several responses, one behind the other."""
        return OnTable(self, np.concatenate([response_cells(table) for table in tables]))

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """Protect a table that has nothing but numbers: a cell is known by its place."""
        return self.protect_cells(problem, places(problem.n_cells), secret, time_limit, progress)

    def protect_cells(
        self, problem: SuppressionProblem, cells: Words, secret: Secret, time_limit: float, progress: Progress
    ) -> Outcome:
        """Protect a table whose cells have these stable numbers."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class OnTable:
    """A method that draws, and the numbers of the cells that its draws belong to."""

    method: AdditiveDraws
    cells: Words

    @property
    def name(self) -> str:
        """The name of the method."""
        return self.method.name

    def protect(self, problem: SuppressionProblem, *, secret: Secret, time_limit: float, progress: Progress) -> Outcome:
        """Protect with draws that belong to the secret, the response and the cell."""
        return self.method.protect_cells(problem, self.cells, secret, time_limit, progress)
