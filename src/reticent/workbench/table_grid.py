"""A table as a heat map: which rows and columns are unfolded, what each cell shows, and the addresses that change it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reticent.jobs.table_view import Grid
from reticent.web.parts import HeatCell, HeatMap, HeatRow
from reticent.web.site import address

MOST_ROWS, MOST_COLUMNS = 150, 30
N_SHADES = 10
SHOWN_STATUS = ("primary", "secondary", "frozen", "empty")


@dataclass(frozen=True)
class Seen:
    """What an address asks of a table: its number, unfolded rows, the depth of columns, fixed nodes, the first row, a cell."""

    table: int
    opened: frozenset[int]
    depth: int
    fixed: tuple[int, ...]
    start: int
    cell: tuple[int, ...]

    @classmethod
    def read(cls, query: Mapping[str, str], grids: list[Grid]) -> "Seen":
        """Numbers of the address; those that the table does not have count as not given."""
        number = _numbers(query.get("table", ""))[:1] or [0]
        table = number[0] if number[0] < len(grids) else 0
        grid = grids[table]
        rows = grid.dimensions[0]
        level = _numbers(query.get("level", ""))[:1]
        if level:
            opened = [node for node, depth in enumerate(rows["levels"]) if depth < level[0]]
        else:
            opened = [node for node in _numbers(query.get("open", "0")) if node < len(rows["codes"])]
        fixed = (_numbers(query.get("at", "")) + [0] * len(grid.dimensions))[: max(0, len(grid.dimensions) - 2)]
        sizes = [len(one["codes"]) for one in grid.dimensions]
        fixed = [node if node < size else 0 for node, size in zip(fixed, sizes[2:], strict=True)]
        cell = tuple(_numbers(query.get("cell", "")))
        good = len(cell) == len(sizes) and all(node < size for node, size in zip(cell, sizes, strict=True))
        depth = (_numbers(query.get("depth", ""))[:1] or [1])[0]
        start = (_numbers(query.get("from", ""))[:1] or [0])[0]
        return cls(table, frozenset(opened), depth, tuple(fixed), start, cell if good else ())

    def link(self, **other: Any) -> str:
        """The address of the same view with something else."""
        asked: dict[str, Any] = {
            "table": self.table or "", "open": _text(sorted(self.opened)) or "x", "depth": self.depth if self.depth != 1 else "",
            "at": _text(self.fixed) if any(self.fixed) else "", "from": self.start or "", "cell": _text(self.cell),
        }  # fmt: skip
        return address("table", **{**asked, **other})


def _numbers(text: str) -> list[int]:
    return [int(one) for one in text.split(".") if one.isascii() and one.isdigit() and len(one) < 8]


def _text(numbers: Any) -> str:
    return ".".join(str(one) for one in numbers)


def ordered_nodes(dimension: Mapping[str, Any]) -> list[tuple[int, int, bool]]:
    """All nodes in the order of reading: number, depth, whether something is below."""
    below: dict[int, list[int]] = {}
    for node, parent in enumerate(dimension["parents"]):
        below.setdefault(parent, []).append(node)
    found, waiting = [], [(node, 0) for node in reversed(below.get(-1, []))]
    while waiting:
        node, depth = waiting.pop()
        found.append((node, depth, node in below))
        waiting += [(child, depth + 1) for child in reversed(below.get(node, []))]
    return found


def seen_rows(dimension: Mapping[str, Any], opened: frozenset[int]) -> list[tuple[int, int, bool]]:
    """The nodes whose parents are all unfolded."""
    shown: set[int] = set()
    rows = []
    for node, depth, inner in ordered_nodes(dimension):
        parent = dimension["parents"][node]
        if parent < 0 or (parent in shown and parent in opened):
            shown.add(node)
            rows.append((node, depth, inner))
    return rows


def heat_of(grid: Grid, seen: Seen, exposed: frozenset[int], *, values: bool) -> tuple[HeatMap, int]:
    """The heat map of what is unfolded, and the number of rows that there are."""
    rows = seen_rows(grid.dimensions[0], seen.opened)
    columns = _columns(grid, seen)
    place = {tuple(codes): at for at, codes in enumerate(grid.codes)}
    low, high = _range(grid)
    drawn = []
    for node, depth, inner in rows[seen.start : seen.start + MOST_ROWS]:
        cells = tuple(
            _cell(
                grid,
                seen,
                place,
                (node, *((column,) if column is not None else ()), *seen.fixed),
                (low, high),
                exposed,
                values,
            )
            for column in columns
        )
        label, code = grid.dimensions[0]["labels"][node], grid.dimensions[0]["codes"][node]
        other = seen.opened - {node} if node in seen.opened else seen.opened | {node}
        drawn.append(
            HeatRow(
                label, cells, "" if code == label else code, min(depth, 3),
                seen.link(open=_text(sorted(other)) or "x") if inner else "", inner and node not in seen.opened, depth == 0,
                bool(seen.cell) and seen.cell[0] == node,
            )
        )  # fmt: skip
    titles = (
        ("value",) if columns == [None] else tuple(grid.dimensions[1]["labels"][c] for c in columns if c is not None)
    )
    current = columns.index(seen.cell[1]) if len(seen.cell) > 1 and seen.cell[1] in columns else None
    caption = (
        f"{grid.response} by {' and '.join(one['name'] for one in grid.dimensions[:2])}, with the status of each cell"
    )
    return HeatMap(caption[:200], grid.dimensions[0]["name"], titles, tuple(drawn), current), len(rows)


def _columns(grid: Grid, seen: Seen) -> Sequence[int | None]:
    if len(grid.dimensions) < 2:
        return [None]
    levels = grid.dimensions[1]["levels"]
    nodes = [node for node, _, _ in ordered_nodes(grid.dimensions[1]) if levels[node] <= seen.depth]
    return [*nodes[1:], nodes[0]][:MOST_COLUMNS]  # the total stands last


def _range(grid: Grid) -> tuple[float, float]:
    sizes = [abs(value) for value, status in zip(grid.values, grid.status, strict=True) if value and status == "safe"]
    return (math.log10(min(sizes)), math.log10(max(sizes))) if sizes else (0.0, 1.0)


def _cell(
    grid: Grid, seen: Seen, place: Mapping[tuple[int, ...], int], nodes: tuple[int, ...], ends: tuple[float, float],
    exposed: frozenset[int], values: bool,
) -> HeatCell:  # fmt: skip
    at = place.get(nodes)
    if at is None:
        return HeatCell("", status="empty")
    status, value = grid.status[at], grid.values[at]
    text = shown_value(grid, at, values=values)
    if grid.system[at] in exposed:
        text = f"exposed {text}"
    size = math.log10(abs(value)) if value else ends[0]
    share = (size - ends[0]) / (ends[1] - ends[0]) if ends[1] > ends[0] else 0.5
    shade = min(N_SHADES - 1, max(0, int(share * N_SHADES))) if status in ("safe", "frozen") else None
    return HeatCell(
        text, shade, status if status in SHOWN_STATUS else "",
        seen.link(cell=_text(nodes), anchor="attacker"), nodes == seen.cell,
    )  # fmt: skip


def shown_value(grid: Grid, at: int, *, values: bool) -> str:
    """The value of a cell; one that could be a single respondent's, or is unsafe, appears only after "show values"."""
    secret = grid.status[at] == "primary" or (grid.counts[at] == 1 and grid.response != "count")
    if secret and not values:
        return "hidden"
    return f"{grid.values[at]:,.{grid.decimals}f}"
