# SPDX-License-Identifier: Apache-2.0
"""Tables on the terminal whose numbers are never cut: too narrow a terminal gets one line per number instead."""

from collections.abc import Collection, Mapping, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

LEAST_TEXT = 12
"""Columns of words may become as narrow as this before the listing takes over."""


def show_rows(
    console: Console,
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    words: Collection[str] = (),
    styles: Mapping[str, str] | None = None,
) -> None:
    """Print rows of texts. Columns named in `words` may wrap; all others hold numbers and keep every digit."""
    chosen = styles or {}
    if _least_width(names, rows, words) > console.width:
        _listing(console, names, rows, title, chosen)
        return
    table = Table(title=Text(title) if title else None, title_justify="left")
    for name in names:
        free = name in words
        table.add_column(
            name, justify="left" if free else "right", no_wrap=not free, overflow="fold", style=chosen.get(name)
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)


def _least_width(names: Sequence[str], rows: Sequence[Sequence[str]], words: Collection[str]) -> int:
    """How wide a terminal must be for all columns side by side, frames included."""
    total = 1
    for place, name in enumerate(names):
        longest = max(Text(text).cell_len for text in (name, *(row[place] for row in rows)))
        total += 3 + (min(longest, max(LEAST_TEXT, len(name))) if name in words else longest)
    return total


def _listing(
    console: Console, names: Sequence[str], rows: Sequence[Sequence[str]], title: str, styles: Mapping[str, str]
) -> None:
    """Every row as lines of a name and its text; what is longer than a line goes on in the next one."""
    if title:
        console.print(Text(title, style="italic"))
    listed = Table(box=box.HORIZONTALS if len(rows) > 1 else None, show_header=False, show_edge=False)
    listed.add_column(style="dim", no_wrap=True)
    listed.add_column(overflow="fold")
    for row in rows:
        for name, cell in zip(names, row, strict=True):
            listed.add_row(name, Text(cell, style=styles.get(name, "")))
        listed.add_section()
    console.print(listed)
