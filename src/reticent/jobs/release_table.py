"""The one way out of a protected table: codes, values and `published | hidden | empty`, nothing else."""

import numpy as np

from reticent.data.published_table import EMPTY, HIDDEN, PUBLISHED, PublishedTable
from reticent.data.table import Dimension
from reticent.tables.methods import Outcome
from reticent.tabulation.linked import System

MAX_LISTED = 2_000_000


def release_table(system: System, number: int, outcome: Outcome, method: str) -> PublishedTable:
    """The publishable form of one table of a system; combinations without records are listed as empty."""
    table, members = system.parts[number], system.members[number]
    values = (system.table.values if outcome.values is None else outcome.values)[members]
    hidden = outcome.hidden[members]
    empty = table.listed_empty & ~hidden
    codes = table.codes
    if table.n_possible <= MAX_LISTED and table.n_possible > table.n_cells:
        sizes = [len(d) for d in table.dimensions]
        place = np.ravel_multi_index(tuple(codes.T.astype(np.int64)), sizes)
        wide_values, wide_hidden = np.full(table.n_possible, np.nan), np.zeros(table.n_possible, dtype=bool)
        wide_empty = np.ones(table.n_possible, dtype=bool)
        wide_values[place], wide_hidden[place], wide_empty[place] = values, hidden, empty
        values, hidden, empty = wide_values, wide_hidden, wide_empty
        codes = np.column_stack(np.unravel_index(np.arange(table.n_possible), sizes)).astype(np.int32)
    if outcome.values is not None:  # a true 0 must look like one that noise or rounding made
        values, empty = np.where(empty, 0.0, values), np.zeros(len(empty), dtype=bool)
        if len(values) < table.n_possible:  # too many to list: then no 0 is listed at all
            shown = values != 0
            codes, values, hidden, empty = codes[shown], values[shown], hidden[shown], empty[shown]
    status = np.where(hidden, HIDDEN, np.where(empty, EMPTY, PUBLISHED))
    return PublishedTable(
        dimensions=table.names,
        codes=tuple(zip(*([d.codes[node] for node in codes[:, at].tolist()] for at, d in enumerate(table.dimensions)))),
        values=np.where(hidden | empty, np.nan, values),
        status=tuple(status.tolist()),
        response=table.response or "count",
        decimals=table.decimals,
        labels={d.name: dict(zip(d.codes, d.labels)) for d in table.dimensions if d.labels},
        depths={d.name: _depths(d) for d in table.dimensions},
        method="suppression" if outcome.values is None else method,
    )


def _depths(dimension: Dimension) -> dict[str, int]:
    return {code: int(level) for code, level in zip(dimension.codes, dimension.levels, strict=True)}
