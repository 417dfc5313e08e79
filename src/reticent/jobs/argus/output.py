# SPDX-License-Identifier: Apache-2.0
"""Write one table of a batch run in a format of tau-ARGUS."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reticent.data.cells import CellStatus
from reticent.data.table import Dimension
from reticent.io.argus_output import (
    EMPTY_STATUS,
    FREQUENCY,
    ArgusCells,
    cell_lines,
    csv_lines,
    intermediate_lines,
    intermediate_rda,
    sbs_lines,
)
from reticent.io.atomic import write_text
from reticent.io.jj import with_whole_costs, write_jj
from reticent.jobs.argus.check import check_output, no_holdings
from reticent.jobs.argus.ckm import write_ckm
from reticent.tables.listing import listed_nodes
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import RuleCells
from reticent.tables.twins import without_trivial
from reticent.tabulation.tabulate import with_empty_cells

_BY_RULE = {"dominance": 3, "p-percent": 3, "pq": 3, "request": 4, "threshold": 5, "zero": 6}
_SUFFIX = {"round": "_Round", "adjust": "_CTA", "cell-key": "_CKM"}
MEANING = {
    "AS": (2, 3), "SE": (2, 3, 5), "FL": (2, 3), "QU": (1, 2, 3, 5, 7), "HL": (4,), "SO": (5,), "AR": (5,), "HI": (5,),
    "TR": (6,), "AO": (7,), "AD": (7,), "AC": (7,),
}  # fmt: skip
"""The output types in which each option says something."""
_BY_STATUS = {CellStatus.SAFE: 1, CellStatus.SECONDARY: 11, CellStatus.FROZEN: 10, CellStatus.EMPTY: EMPTY_STATUS}


def argus_status(result: ProtectedTable) -> NDArray[np.int64]:
    """tau-ARGUS's status number of every cell of the system."""
    status = np.array([_BY_STATUS.get(CellStatus(int(s)), 9) for s in result.status], dtype=np.int64)
    for cell in np.flatnonzero(result.problem.primary).tolist():
        status[cell] = _BY_RULE.get(result.verdict.reason_of(cell), 9)
    status[result.problem.status == CellStatus.SECONDARY] = 12
    return status


def argus_cells(result: ProtectedTable, number: int) -> ArgusCells:
    """The cells of one table with what the output formats need, empty ones included."""
    table, members = result.system.parts[number], result.system.members[number]
    full = with_empty_cells(table) if table.n_cells < table.n_possible else table
    sizes = [len(d) for d in table.dimensions]
    place = np.ravel_multi_index(tuple(table.codes.T.astype(np.int64)), sizes)
    order = np.ravel_multi_index(tuple(full.codes.T.astype(np.int64)), sizes)
    at = np.searchsorted(order, place)

    def wide(array: NDArray[np.float64]) -> NDArray[np.float64]:
        out = np.zeros(full.n_cells)
        out[at] = array[members]
        return out

    status = np.full(full.n_cells, EMPTY_STATUS, dtype=np.int64)
    status[at] = argus_status(result)[members]
    if result.outcome.values is not None:  # a true 0 must look like one that noise or rounding made
        status[status == EMPTY_STATUS] = _BY_STATUS[CellStatus.SAFE]
    view = RuleCells.of(full)
    single = RuleCells.of(full, "record") if full.records is not None else view
    shares = None
    if view.top is not None and view.magnitudes is not None and view.top.shape[1]:
        shares = 100.0 * np.divide(
            view.top[:, 0], view.magnitudes, out=np.zeros(full.n_cells), where=view.magnitudes > 0
        )
    changed, ends = result.outcome.values, _ends(result)
    return ArgusCells(
        full.dimensions, full.codes, full.values if changed is None else wide(changed), status, full.decimals,
        table.response or FREQUENCY, single.counts, single.top,
        wide(result.verdict.lower_protection), wide(result.verdict.upper_protection),
        None if changed is None else full.values, shares, _SUFFIX.get(result.method, ""),
        view.counts if full.records is not None else None, view.top if full.records is not None else None,
        attack_low=wide(ends[0]), attack_high=wide(ends[1]),
        listed=() if changed is None else listed_nodes(table, changed[members]), shadow=full.shadow,
        further=tuple((n, m.totals, m.decimals) for n, m in full.respondents.measures.items() if n != table.response),
    )  # fmt: skip


def _ends(result: ProtectedTable) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What anybody can conclude about each cell: its value where it is published."""
    low, high = result.table.values.copy(), result.table.values.copy()
    low[result.audit.cells], high[result.audit.cells] = result.audit.low, result.audit.high
    return low, high


def write_argus_table(
    result: ProtectedTable, number: int, kind: int, options: Mapping[str, bool], path: Path
) -> list[Path]:
    """Write a table as type 1 CSV, 2 pivot, 3 code-value, 4 SBS, 5 intermediate (with metadata), 6 JJ or 7 CKM."""
    check_output(result.method, kind)
    if kind == 6:
        problem = without_trivial(result.problem) if options.get("TR", False) else result.problem
        write_jj(with_whole_costs(problem), path)
        return [path]
    cells = argus_cells(result, number)
    quotes, status = options.get("QU", True), options.get("AS", False)
    if kind == 1:
        lines = csv_lines(cells, quotes=quotes)
    elif kind in (2, 3):
        lines = cell_lines(
            cells, status=status, skip_empty=options.get("SE", False), names=options.get("FL", kind == 2), quotes=quotes
        )
    elif kind == 4:
        lines = sbs_lines(cells, levels=options.get("HL", False))
    elif kind == 5:
        return _write_intermediate(cells, options, path)
    else:
        return write_ckm(result, number, cells, options, path)
    write_text(path, "\n".join(lines) + "\n")
    return [path]


def _write_intermediate(cells: ArgusCells, options: Mapping[str, bool], path: Path) -> list[Path]:
    status_only = options.get("SO", False)
    if options.get("HI", False) and cells.holdings is None:
        raise no_holdings()
    if not options.get("HI", False):
        cells = replace(cells, holdings=None, holding_top=None)
    if not options.get("AR", False):
        cells = replace(cells, attack_low=None, attack_high=None)
    lines = intermediate_lines(
        cells, skip_empty=options.get("SE", False), status_only=status_only, quotes=options.get("QU", True)
    )
    write_text(path, "\n".join(lines) + "\n")
    written, trees = [path], []
    for dimension in cells.dimensions:
        tree = f"{path.stem}_{dimension.name}.hrc" if int(dimension.levels.max(initial=0)) > 1 else None
        trees.append(tree)
        if tree is not None:
            write_text(path.with_name(tree), _hrc_text(dimension))
            written.append(path.with_name(tree))
    rda = path.with_suffix(".rda")
    write_text(rda, "\n".join(intermediate_rda(cells, trees, status_only=status_only)) + "\n")
    return [*written, rda]


def _hrc_text(dimension: Dimension) -> str:
    """The first tree of a dimension as a hierarchy file."""
    lines = []
    stack = [(0, -1)]
    tree = dimension.trees[0]
    while stack:
        node, depth = stack.pop()
        if node > 0:
            lines.append("@" * depth + dimension.codes[node])
        children = [child for child in range(len(tree)) if tree[child] == node]
        stack += [(child, depth + 1) for child in reversed(children)]
    return "\n".join(lines) + "\n"
