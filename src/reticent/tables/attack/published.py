# SPDX-License-Identifier: Apache-2.0
"""Attack a published table as it stands: what its values, states and relations say about each hidden cell.

Nobody's data are needed: any worlds that fit what is published have the same ends, so the attack starts from one of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.base.errors import DataError
from reticent.base.progress import Progress, silent
from reticent.data.hierarchy import TOTAL, Hierarchy
from reticent.data.published_table import HIDDEN, PublishedTable
from reticent.data.relations import Relations
from reticent.data.table import Table
from reticent.solve.highs import solve
from reticent.solve.model import LinearModel
from reticent.tables.attack.audit import Audit, audit
from reticent.tables.attack.public import PublicBounds, public_bounds
from reticent.tables.problem import SuppressionProblem
from reticent.tabulation.equations import relations_of
from reticent.tabulation.finished import CellColumns, finished_table


@dataclass(frozen=True, eq=False)
class PublishedAttack:
    """The hidden cells of a published table and the interval that everybody has for each of them."""

    table: Table
    found: Audit

    @property
    def exposed(self) -> tuple[tuple[str, ...], ...]:
        """Codes of the hidden cells whose value everybody can work out."""
        return tuple(self.table.cell_codes(int(cell)) for cell in self.found.exposed_cells)

    def rows(self) -> list[dict[str, object]]:
        """One row per hidden cell: its codes, the ends of its interval, whether it is exposed."""
        ends = zip(self.found.cells.tolist(), self.found.low, self.found.high, self.found.exposed, strict=True)
        return [
            {
                "cell": list(self.table.cell_codes(cell)),
                "low": float(low),
                "high": float(high),
                "exposed": bool(exposed),
            }
            for cell, low, high, exposed in ends
        ]


def attack_published(
    published: PublishedTable,
    trees: Mapping[str, Sequence[Hierarchy]],
    *,
    total: str = TOTAL,
    progress: Progress = silent,
) -> PublishedAttack:
    """Attack a table by what it publishes; `trees` say how the codes of its dimensions add up (none: below `total`)."""
    if published.method != "suppression":
        raise DataError(
            f"audit: the values were changed by {published.method}; only tables with hidden cells are attacked."
        )
    hidden_rows = np.array(published.status) == HIDDEN
    shape = _shape(published, trees, total)
    order = [shape.find(codes) for codes in published.codes]
    rows = np.full(shape.n_cells, -1, dtype=np.int64)
    rows[np.array(order, dtype=np.int64)] = np.arange(len(order))
    bounds = public_bounds(published)
    hidden = hidden_rows[rows]
    problem = _problem(shape, bounds, rows, hidden, decimals=published.decimals)
    return PublishedAttack(shape, audit(problem, hidden, progress=progress))


def _shape(published: PublishedTable, trees: Mapping[str, Sequence[Hierarchy]], total: str) -> Table:
    """The cells and their relations; values are not looked at."""
    names = published.dimensions
    deep = next(
        (n for n in names if n not in trees and max(published.depths.get(n, {"": 0}).values(), default=0) > 1), None
    )
    if deep is not None:
        raise DataError(
            f"audit: the codes of dimension {deep!r} are in several levels; name its hierarchy in structure.",
            variables=(deep,),
        )
    totals = tuple(trees[name][0].total if trees.get(name) else total for name in names)
    for at, name in enumerate(names):
        if all(codes[at] != totals[at] for codes in published.codes):
            raise DataError(
                f"audit: dimension {name!r} has no code {totals[at]!r}; name its hierarchy in structure.",
                variables=(name,),
            )
    columns = CellColumns(
        names,
        tuple(tuple(codes[at] for codes in published.codes) for at in range(len(names))),
        tuple(tuple(trees.get(name, ())) for name in names),
        totals,
        np.zeros(len(published)),
        response=published.response,
    )
    return finished_table(columns)


def _problem(
    shape: Table, bounds: PublicBounds, rows: NDArray[np.int64], hidden: NDArray[np.bool_], *, decimals: int
) -> SuppressionProblem:
    relations = relations_of(shape)
    low, high = bounds.low[rows], bounds.high[rows]
    slack = 0.0 if bounds.whole else 0.5 * 10.0**-decimals  # published values are rounded
    values = _some_world(relations, low, high, whole=bounds.whole, slack=slack)
    return SuppressionProblem.from_values(
        values, relations, primary=hidden, cost=np.zeros(shape.n_cells), lower_bound=np.minimum(low, values),
        upper_bound=np.maximum(high, values), integral=bounds.whole,
    )  # fmt: skip


def _some_world(relations: Relations, low: Floats, high: Floats, *, whole: bool, slack: float) -> Floats:
    """Values that fit everything published, whole ones where the response is a count.

    Published values are taken as they stand; only where these do not add up each may be off by the `slack` of its rounding.
    """
    free = low < high
    for off in (0.0, slack) if slack else (0.0,):
        model = LinearModel(
            np.zeros(relations.n_cells), np.where(free, low, low - off), np.where(free, high, high + off),
            relations.matrix(), relations.rhs, relations.rhs, integer=free if whole else None,
        )  # fmt: skip
        found = solve(model)
        if found.feasible:
            break
    else:
        raise DataError("audit: the published values do not add up, so nothing can be concluded; check the table.")
    return np.rint(found.values) if whole else np.asarray(found.values)
