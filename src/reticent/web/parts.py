# SPDX-License-Identifier: Apache-2.0
"""The components of a page as data: tables, key figures, heat maps, trees. The macros of `components.html` draw them."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Column:
    """A column of a table: numbers stand to the right, `spare` ones are dropped on narrow screens."""

    title: str
    num: bool = False
    spare: bool = False
    bar: bool = False
    href: str = ""
    sorted: str = ""
    """`ascending` or `descending` where the table is sorted by it."""


@dataclass(frozen=True)
class Cell:
    """A cell of a table: a text, and perhaps a link, a verdict, a mark with its words, or a bar (a share in [0, 1])."""

    text: str = ""
    href: str = ""
    verdict: str = ""
    mark: str = ""
    share: float | None = None
    muted: bool = False
    note: str = ""


@dataclass(frozen=True)
class Row:
    """A row of a table; the first cell is its heading."""

    cells: tuple[Cell, ...]
    on: bool = False


@dataclass(frozen=True)
class Table:
    """A table with its caption, which screen readers say first; `tall` ones scroll."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    tall: bool = False


@dataclass(frozen=True)
class Figure:
    """A key figure: what it is, the number with its unit, and a few words more."""

    title: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class HeatCell:
    """A cell of a heat map: `shade` from 0 to 9 (None: none), `status` primary, secondary, frozen, empty or nothing."""

    text: str
    shade: int | None = None
    status: str = ""
    href: str = ""
    current: bool = False


@dataclass(frozen=True)
class HeatRow:
    """A row of a heat map: code and label, depth in its hierarchy (1 to 3), and the address that folds or unfolds it."""

    label: str
    cells: tuple[HeatCell, ...]
    code: str = ""
    depth: int = 1
    fold: str = ""
    folded: bool = False
    total: bool = False
    current: bool = False


@dataclass(frozen=True)
class HeatMap:
    """A table as a heat map; only what is seen is drawn."""

    caption: str
    corner: str
    columns: tuple[Column, ...]
    rows: tuple[HeatRow, ...]
    current: int | None = None
    """The column of the chosen cell."""


@dataclass(frozen=True)
class Node:
    """A node of a tree: a text, how many codes it has (in words), and what is below it."""

    text: str
    note: str = ""
    href: str = ""
    open: bool = False
    below: tuple["Node", ...] = field(default=())
