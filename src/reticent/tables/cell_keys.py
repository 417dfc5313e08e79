"""Cell keys for a table: made from microdata just after the table, for methods whose noise depends on record sets."""

from dataclasses import replace

from reticent.base.randomness import Secret
from reticent.data.microdata import Microdata
from reticent.data.table import Table, TableSpec
from reticent.tables.methods import KeyedMethod, TableMethod
from reticent.tabulation.key_sums import key_sums
from reticent.tabulation.tabulate import with_empty_cells

MOST_EMPTY = 100_000
"""Up to so many combinations those without records are listed, so that their 0 looks like every other 0."""


def fit_to_method(spec: TableSpec, method: TableMethod | None) -> TableSpec:
    """The same table with as many of the largest contributions as the method's noise looks at."""
    if not isinstance(method, KeyedMethod):
        return spec
    return replace(spec, top=max(spec.top, method.needs_top(spec.response)))


def with_cell_keys(
    table: Table, data: Microdata, spec: TableSpec, method: TableMethod | None, secret: Secret
) -> Table:  # fmt: skip
    """The table with the key of every cell, if the method needs it; the same records have the same key in every table."""
    if not isinstance(method, KeyedMethod):
        return table
    if method.lists_empty and table.n_cells < table.n_possible <= MOST_EMPTY:
        table = with_empty_cells(table)
    keys = method.record_keys(data, spec.response, secret.child(method.name))
    found = keys.fraction(key_sums(data, spec, table, keys.parts))
    return replace(table, cell_keys=found, key_digits=keys.digits)
