# SPDX-License-Identifier: Apache-2.0
"""A table as a heat map: which rows and columns are unfolded, what each cell shows, and the addresses that change it."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reticent.jobs.table_view import Grid
from reticent.web.environment import shown_name
from reticent.web.parts import Column, HeatCell, HeatMap, HeatRow
from reticent.web.site import address

MOST_ROWS, MOST_COLUMNS = 150, 30
N_SHADES = 10
HIDDEN_FIRST = "hidden"
COLOURS = ("value", "respondents")
"""What published cells are coloured by."""
SHOWN_STATUS = ("primary", "secondary", "frozen", "empty")


@dataclass(frozen=True)
class Seen:
    """What an address asks of a table: its number, unfolded rows, depth of columns, fixed nodes, first row, a cell, an order.

    `sort` is the node of the column that rows are sorted by (largest first; "-" before it: smallest first), "hidden" for rows
    with hidden cells first, or nothing: the order of the codes.
    """

    table: int
    opened: frozenset[int]
    depth: int
    fixed: tuple[int, ...]
    start: int
    cell: tuple[int, ...]
    sort: str = ""
    level: int = 0
    """Rows are unfolded down to this level; 0: those that are named."""
    colour: str = ""

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
        chosen = [query[name] for name in (f"at{place}" for place in range(2, len(grid.dimensions))) if name in query]
        fixed = _numbers(".".join(chosen) or query.get("at", "")) + [0] * len(grid.dimensions)
        fixed = fixed[: max(0, len(grid.dimensions) - 2)]
        sizes = [len(one["codes"]) for one in grid.dimensions]
        fixed = [node if node < size else 0 for node, size in zip(fixed, sizes[2:], strict=True)]
        cell = tuple(_numbers(query.get("cell", "")))
        good = len(cell) == len(sizes) and all(node < size for node, size in zip(cell, sizes, strict=True))
        depth = (_numbers(query.get("depth", ""))[:1] or [1])[0]
        start = (_numbers(query.get("from", ""))[:1] or [0])[0]
        asked = query.get("sort", "")
        columns = sizes[1] if len(sizes) > 1 else 1
        known = asked == HIDDEN_FIRST or any(node < columns for node in _numbers(asked.removeprefix("-"))[:1])
        return cls(table, frozenset(opened), depth, tuple(fixed), start, cell if good else (), asked if known else "",
                   level[0] if level else 0, query.get("colour", "") if query.get("colour") in COLOURS else "")  # fmt: skip

    def link(self, **other: Any) -> str:
        """The address of the same view with something else."""
        asked: dict[str, Any] = {
            "table": self.table or "", "depth": self.depth if self.depth != 1 else "",
            "at": _text(self.fixed) if any(self.fixed) else "", "from": self.start or "", "cell": _text(self.cell),
            "sort": self.sort, "colour": self.colour,
        }  # fmt: skip
        if "open" not in other:  # thousands of unfolded rows would make every address long
            asked |= {"level": self.level} if self.level else {"open": _text(sorted(self.opened)) or "x"}
        return address("table", **{**asked, **other})


def _numbers(text: str) -> list[int]:
    return [int(one) for one in text.split(".") if one.isascii() and one.isdigit() and len(one) < 8]


def _text(numbers: Any) -> str:
    return ".".join(str(one) for one in numbers)


Rank = Callable[[int], Any]


def ordered_nodes(dimension: Mapping[str, Any], rank: Rank | None = None) -> list[tuple[int, int, bool]]:
    """All nodes in the order of reading (those of one parent by `rank`): number, depth, whether something is below."""
    below: dict[int, list[int]] = {}
    for node, parent in enumerate(dimension["parents"]):
        below.setdefault(parent, []).append(node)
    if rank is not None:
        below = {parent: sorted(nodes, key=rank) for parent, nodes in below.items()}
    found, waiting = [], [(node, 0) for node in reversed(below.get(-1, []))]
    while waiting:
        node, depth = waiting.pop()
        found.append((node, depth, node in below))
        waiting += [(child, depth + 1) for child in reversed(below.get(node, []))]
    return found


def seen_rows(
    dimension: Mapping[str, Any], opened: frozenset[int], rank: Rank | None = None
) -> list[tuple[int, int, bool]]:
    """The nodes whose parents are all unfolded."""
    shown: set[int] = set()
    rows = []
    for node, depth, inner in ordered_nodes(dimension, rank):
        parent = dimension["parents"][node]
        if parent < 0 or (parent in shown and parent in opened):
            shown.add(node)
            rows.append((node, depth, inner))
    return rows


@dataclass(frozen=True)
class _Drawing:
    """What drawing one cell needs: the table, the view, where each cell stands, its colour and their range, what is exposed."""

    grid: Grid
    seen: Seen
    place: Mapping[tuple[int, ...], int]
    shades: Sequence[float | None]
    """What each cell is coloured by."""
    ends: tuple[float, float]
    exposed: frozenset[int]
    values: bool
    start: str
    """The address of a cell without its nodes: it is written once, not thousands of times."""

    def nodes(self, row: int, column: int | None) -> tuple[int, ...]:
        return (row, *((column,) if column is not None else ()), *self.seen.fixed)


def heat_of(grid: Grid, seen: Seen, exposed: frozenset[int], *, values: bool) -> tuple[HeatMap, int]:
    """The heat map of what is unfolded, and the number of rows that there are."""
    columns = _columns(grid, seen)
    place = {tuple(codes): at for at, codes in enumerate(grid.codes)}
    without = seen.link(cell="")
    shades = _shades(grid, colour_of(grid, seen, values=values), values=values)
    drawing = _Drawing(
        grid, seen, place, shades, _range(shades, grid.status), exposed, values, f"{without}{'&' if '?' in without else '?'}cell",
    )  # fmt: skip
    rows = seen_rows(grid.dimensions[0], seen.opened, _rank(drawing, columns))
    drawn = []
    for node, depth, inner in rows[seen.start : seen.start + MOST_ROWS]:
        cells = tuple(_cell(drawing, drawing.nodes(node, column)) for column in columns)
        label, code = grid.dimensions[0]["labels"][node], grid.dimensions[0]["codes"][node]
        other = seen.opened - {node} if node in seen.opened else seen.opened | {node}
        drawn.append(
            HeatRow(
                label, cells, "" if code == label else code, min(depth, 3),
                seen.link(open=_text(sorted(other)) or "x") if inner else "", inner and node not in seen.opened, depth == 0,
                bool(seen.cell) and seen.cell[0] == node,
            )
        )  # fmt: skip
    current = columns.index(seen.cell[1]) if len(seen.cell) > 1 and seen.cell[1] in columns else None
    names = " and ".join(shown_name(one["name"], 40) for one in grid.dimensions[:2])
    caption = f"{shown_name(grid.response, 60)} by {names}, with the status of each cell"
    titles = tuple(_title(grid, seen, column) for column in columns)
    return HeatMap(caption, shown_name(grid.dimensions[0]["name"], 60), titles, tuple(drawn), current), len(rows)


def _title(grid: Grid, seen: Seen, column: int | None) -> Column:
    """The heading of a column; following it sorts the rows by it, and the other way round the second time."""
    name, own = "value" if column is None else grid.dimensions[1]["labels"][column], str(column or 0)
    turned = f"-{own}" if seen.sort == own else own
    order = {own: "descending", f"-{own}": "ascending"}.get(seen.sort, "")
    return Column(name, num=True, href=seen.link(sort=turned, anchor="cells", **{"from": ""}), sorted=order)


def _rank(drawing: _Drawing, columns: Sequence[int | None]) -> Rank | None:
    """What rows are sorted by. Values that are not shown have no place in the order: they stand last."""
    grid, asked = drawing.grid, drawing.seen.sort
    if not asked:
        return None
    if asked == HIDDEN_FIRST:
        return lambda row: -sum(_is_hidden(grid, drawing.place.get(drawing.nodes(row, one))) for one in columns)
    column = int(asked.removeprefix("-")) if len(grid.dimensions) > 1 else None
    sign = 1 if asked.startswith("-") else -1

    def rank(row: int) -> tuple[bool, float]:
        at = drawing.place.get(drawing.nodes(row, column))
        seen = None if at is None else grid.values[at] if drawing.values else grid.shown[at]
        return seen is None, 0.0 if seen is None else sign * seen

    return rank


def _is_hidden(grid: Grid, at: int | None) -> bool:
    return at is not None and grid.status[at] in ("primary", "secondary")


def _columns(grid: Grid, seen: Seen) -> Sequence[int | None]:
    if len(grid.dimensions) < 2:
        return [None]
    levels = grid.dimensions[1]["levels"]
    nodes = [node for node, _, _ in ordered_nodes(grid.dimensions[1]) if levels[node] <= seen.depth]
    return [*nodes[1:], nodes[0]][:MOST_COLUMNS]  # the total stands last


def colour_of(grid: Grid, seen: Seen, *, values: bool) -> str:
    """What cells are coloured by: values only where they can be read as well, since a colour tells about how large one is."""
    offered = colours_of(grid, values=values)
    return seen.colour if seen.colour in offered else offered[0] if offered else ""


def colours_of(grid: Grid, *, values: bool) -> tuple[str, ...]:
    """What cells can be coloured by: respondents with the values, since those of a row and its total tell a cell's."""
    visible = values or any(value is not None for value in grid.shown)
    own = COLOURS[1:] if grid.response != "count" and values else ()
    return (COLOURS[0], *own) if visible else own


def _shades(grid: Grid, colour: str, *, values: bool) -> Sequence[float | None]:
    if colour == "value":
        return grid.values if values else grid.shown
    return grid.counts if colour else [None] * len(grid.counts)


def _range(shades: Sequence[float | None], status: Sequence[str]) -> tuple[float, float]:
    sizes = [abs(value) for value, own in zip(shades, status, strict=True) if value and own == "safe"]
    return (math.log10(min(sizes)), math.log10(max(sizes))) if sizes else (0.0, 1.0)


def _cell(drawing: _Drawing, nodes: tuple[int, ...]) -> HeatCell:
    grid, seen, ends = drawing.grid, drawing.seen, drawing.ends
    at = drawing.place.get(nodes)
    if at is None:
        return HeatCell("", status="empty")
    status, value = grid.status[at], drawing.shades[at]
    text = _words(drawing, at)
    if grid.system[at] in drawing.exposed:
        text = f"exposed {text}"
    size = math.log10(abs(value)) if value else ends[0]
    share = (size - ends[0]) / (ends[1] - ends[0]) if ends[1] > ends[0] else 0.5
    coloured = value is not None and status in ("safe", "frozen")
    shade = min(N_SHADES - 1, max(0, int(share * N_SHADES))) if coloured else None
    return HeatCell(
        text, shade, status if status in SHOWN_STATUS else "",
        f"{drawing.start}={_text(nodes)}#attacker", nodes == seen.cell,
    )  # fmt: skip


def shown_value(grid: Grid, at: int, *, values: bool) -> str:
    """The value of a cell, or before "show values" what a protected table publishes of it; nothing where there is none."""
    value = grid.values[at] if values else grid.shown[at]
    return "" if value is None else f"{value:,.{grid.decimals}f}"


def _words(drawing: _Drawing, at: int) -> str:
    """What is in a cell: its value, else its status. Respondents of a row and its total would tell those of an unsafe cell."""
    grid = drawing.grid
    text = shown_value(grid, at, values=drawing.values)
    if text or grid.status[at] in ("primary", "secondary"):
        return text or {"primary": "unsafe", "secondary": "hidden"}[grid.status[at]]
    return "·"
