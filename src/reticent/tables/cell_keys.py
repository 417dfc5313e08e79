# SPDX-License-Identifier: Apache-2.0
"""Cell keys for a table: made from microdata just after the table, for methods whose noise depends on record sets."""

from dataclasses import replace

from reticent.base.arrays import Words
from reticent.base.errors import DataError
from reticent.base.randomness import Secret
from reticent.data.large import LargeFile
from reticent.data.microdata import Microdata
from reticent.data.table import Table, TableSpec
from reticent.tables.methods import KeyedMethod, TableMethod
from reticent.tables.perturb.record_keys import RecordKeys
from reticent.tabulation.large import sums_from
from reticent.tabulation.tabulate import with_empty_cells

MOST_EMPTY = 100_000
"""Up to this many combinations those without records are listed, so that their 0 looks like every other 0."""


def fit_to_method(spec: TableSpec, method: TableMethod | None) -> TableSpec:
    """The same table with as many of the largest contributions as the method's noise looks at."""
    if not isinstance(method, KeyedMethod):
        return spec
    return replace(spec, top=max(spec.top, method.needs_top(spec.response)))


def with_cell_keys(
    table: Table, data: Microdata | LargeFile, spec: TableSpec, method: TableMethod | None, secret: Secret
) -> Table:  # fmt: skip
    """The table with the key of every cell, if the method needs it; the same records have the same key in every table."""
    if not isinstance(method, KeyedMethod):
        return table
    if method.lists_empty and table.n_cells < table.n_possible <= MOST_EMPTY:
        table = with_empty_cells(table)
    own, made = secret.child(method.name), list[RecordKeys]()

    def words_of(records: Microdata) -> Words:
        made.append(method.record_keys(records, spec.response, own))
        return made.pop().parts if len(made) > 1 else made[0].parts

    stored = str(getattr(method, "record_key", ""))
    if stored and isinstance(data, LargeFile):
        _check_decimals(data, stored)
    sums = sums_from(data, spec, table, words_of, tuple(name for name in (spec.response, stored) if name))
    return replace(table, cell_keys=made[0].fraction(sums), key_digits=made[0].digits)


def _check_decimals(data: LargeFile, name: str) -> None:
    """Keys come in blocks, so that their decimals cannot be read off all of them."""
    data.schema.require([name], owner="record keys")
    if not data.schema[name].decimals:
        raise DataError(
            f"record keys: {name!r} needs declared decimals (1 to 15) where the records stay in an engine.",
            variables=(name,),
        )
