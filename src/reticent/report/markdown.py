# SPDX-License-Identifier: Apache-2.0
"""The same blocks as Markdown: tables as pipes, plots as what they show in words, every special sign escaped."""

import re
from collections.abc import Iterable, Sequence

from reticent.base.version import VERSION
from reticent.base.words import number
from reticent.report.page import MARKS, Banner, Block, Facts, Fold, Grid, Picture, Rows, Section

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&])")
STARTS = re.compile(r"^(\s*)([-+=]|\d+[.)])(?=\s|$)")


def render_markdown(title: str, sections: Sequence[Section], *, public: bool, subtitle: str = "") -> str:
    """The page as Markdown text."""
    banner = (
        "PUBLIC: contains only what may be published"
        if public
        else "CONFIDENTIAL: for the data protector only, do not publish"
    )
    lines = [f"**{banner}**", f"# {_plain(title)}"]
    lines += [_plain(subtitle)] if subtitle else []
    for section in sections:
        lines.append(f"## {_plain(section.heading)}")
        for block in section.blocks:
            lines += _block(block)
    lines.append(f"Made by reticent {VERSION}.")
    return "\n\n".join(lines) + "\n"


def _block(block: Block) -> list[str]:
    if isinstance(block, Banner):
        return [f"> **{_plain(block.text)}**"]
    if isinstance(block, Facts):
        return ["\n".join(f"- {_plain(label)}: **{_plain(value)}**" for label, value in block.pairs)]
    if isinstance(block, Rows):
        body = [[text for text, _ in cells] for _, cells in block.cells()]
        sides = ["---:" if side == "right" else "---" for side in block.sides()]
        return [*_caption(block.caption), _table(block.columns, body, sides)]
    if isinstance(block, Picture):
        return [f"*Figure: {_plain(block.alt)}*"]
    if isinstance(block, Grid):
        return _grid(block)
    if isinstance(block, Fold):
        return [f"### {_plain(block.summary)}", *(line for inner in block.blocks for line in _block(inner))]
    return [_plain(block.text)]


def _grid(grid: Grid) -> list[str]:
    body = [
        [head, *(f"{text} {MARKS.get(mark, '')}".strip() for text, mark, _ in row)]
        for head, row in zip(grid.heads, grid.cells, strict=True)
    ]
    legend = "; ".join(f"{mark}: {words}" for _, mark, words in grid.used_legend() if mark)
    table = _table(("", *grid.columns), body, ["---", *["---:"] * len(grid.columns)])
    return [*_caption(grid.caption), table, *([_plain(legend)] if legend else [])]


def _caption(text: str) -> list[str]:
    return [f"*{_plain(text)}*"] if text else []


def _table(columns: Sequence[str], body: Iterable[Sequence[object]], sides: Sequence[str]) -> str:
    rows = [columns, sides, *body]
    return "\n".join(
        "| " + " | ".join(str(cell) if place == 1 else _plain(number(cell)) for cell in row) + " |"
        for place, row in enumerate(rows)
    )


def _plain(text: str) -> str:
    """Text that stays text: one line, nothing in it is markup."""
    line = SPECIAL.sub(r"\\\1", " ".join(text.replace("\u2003", "\u00a0\u00a0").split(" ")).replace("\n", " "))
    return STARTS.sub(r"\1\\\2", line)
