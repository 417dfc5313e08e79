# SPDX-License-Identifier: Apache-2.0
"""Tables published before their ledger existed, as a ledger takes them: what their files show, checked against the data."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from reticent.base.errors import DataError
from reticent.data.published_table import PUBLISHED, PublishedTable
from reticent.history.importing import check_adds_up
from reticent.history.table_recipe import ShownTable, TableRecipe
from reticent.tables.request import TableRequest, hides
from reticent.tables.result import ProtectedTable

Codes = tuple[str, ...]


def as_published(
    recipe: TableRecipe,
    files: Sequence[tuple[str, PublishedTable]],
    request: TableRequest,
    results: Sequence[ProtectedTable],
    *,
    ruled: bool,
) -> TableRecipe:
    """A recipe whose tables show what their files show, each file with its name, in the order of the tables.

    With `ruled` the rules of the plan say what must stay unknown; without rules each hidden cell must, though not by how much.
    """
    truth = [part for result in results for part in _true_values(result)]
    tables = (
        _imported(shown, *file, request, true, ruled=ruled)
        for shown, file, true in zip(recipe.tables, files, truth, strict=True)
    )
    return replace(recipe, tables=tuple(tables))


def _true_values(result: ProtectedTable) -> list[dict[Codes, float]]:
    """The true value of each cell, by codes, table by table as they are published."""
    if result.joint is not None:
        return [part for own in result.by_response() for part in _true_values(own)]
    tables = [result.system.parts[number] for number in result.published_numbers]
    return [{one.cell_codes(cell): float(one.values[cell]) for cell in range(one.n_cells)} for one in tables]


def _imported(
    shown: ShownTable,
    name: str,
    read: PublishedTable,
    request: TableRequest,
    true: Mapping[Codes, float],
    *,
    ruled: bool,
) -> ShownTable:
    mine, keeps = shown.published, hides(request.method)
    codes = tuple(
        tuple(d.codes[d.position(code)] for d, code in zip(shown.dimensions, own, strict=True)) for own in read.codes
    )
    if len(set(codes)) < len(codes):
        raise DataError(f"{name}: a cell occurs twice, once by another spelling of its codes.")
    decimals = mine.decimals if not keeps or _as_they_are(read, codes, true) else read.decimals
    if decimals > mine.decimals:
        raise DataError(f"import: {name} contradicts the data: its values have more decimals than theirs.")
    table = replace(
        mine, codes=codes, values=read.values, status=read.status, decimals=decimals,
        method=mine.method if keeps else request.method.name, hides_empty=mine.hides_empty or not keeps,
    )  # fmt: skip
    if keeps:
        check_adds_up(table, shown.dimensions, exact=decimals >= mine.decimals)
    required = shown.required
    if keeps and not ruled:
        hidden = [own for own, status in zip(codes, table.status, strict=True) if status != PUBLISHED and own in true]
        required = {own: (true[own], true[own]) for own in hidden}
    return replace(shown, published=table, required=required)


def _as_they_are(read: PublishedTable, codes: Sequence[Codes], true: Mapping[Codes, float]) -> bool:
    """Whether the values were written with all decimals of the data, though fewer may be needed to write them."""
    shown = [own for own, status in zip(codes, read.status, strict=True) if status == PUBLISHED]
    values = read.values[~np.isnan(read.values)]
    return bool(np.allclose([true.get(own, 0.0) for own in shown], values, rtol=1e-12, atol=1e-9))
