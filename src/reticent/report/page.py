# SPDX-License-Identifier: Apache-2.0
"""One self-contained page from plain blocks: no network, no script needed, everything escaped.

Reports are built as data (`Section` of blocks) and rendered here as HTML, or by `report.markdown` where the file ends in
`.md`, so that their look is decided in one place.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined

from reticent.base.version import VERSION
from reticent.base.words import number

T = TypeVar("T")
HTML, MARKDOWN = "html", "markdown"
MARKS = {
    "primary": "P", "secondary": "S", "exposed": "!", "frozen": "F", "hidden": "c", "empty": "–", "good": "*",
}  # fmt: skip
"""What is in a cell of a grid beside its colour, so that a status shows on paper and without colours too."""
PERCENT = r"[0-9.]+ ?%"
LONG = 40
"""A longer text in a cell keeps some width on narrow screens."""
SHORT = 14
"""A text of so few letters stays on one line on wide screens."""
CONTENTS_FROM = 3
"""Pages with this many sections have a list of contents."""


def form_of(path: str | Path) -> str:
    """The form of a report by the ending of its file: Markdown for `.md`, else HTML."""
    return MARKDOWN if Path(path).suffix.lower() in (".md", ".markdown") else HTML


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str
    kind: str = "text"


@dataclass(frozen=True)
class Banner:
    """The answer in one line: good or not, and why."""

    good: bool
    text: str
    kind: str = "verdict"


@dataclass(frozen=True)
class Facts:
    """A row of small tiles: label and value."""

    pairs: tuple[tuple[str, str], ...]
    kind: str = "facts"


@dataclass(frozen=True)
class Rows:
    """A table. Numbers are right-aligned; `classes` may give a CSS class for each row (`good`, `bad`, `mute`)."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    caption: str = ""
    classes: tuple[str, ...] = ()
    kind: str = "rows"

    def cells(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """For the template: a row class, then (text, alignment) pairs."""
        classes = self.classes or ("",) * len(self.rows)
        return [(mark, [_cell(value) for value in row]) for mark, row in zip(classes, self.rows, strict=True)]

    def sides(self) -> list[str]:
        """The alignment of each head: to the right where all cells below it are."""
        columns = [[_cell(row[at])[1] for row in self.rows] for at in range(len(self.columns))]
        return ["right" if column and set(column) == {"right"} else "left" for column in columns]


@dataclass(frozen=True)
class Picture:
    """A plot as a data URI (see `report.plots.data_uri`): how to read it, and in `alt` what it shows, in figures."""

    uri: str
    caption: str
    alt: str
    kind: str = "picture"


@dataclass(frozen=True)
class Grid:
    """A table drawn as a grid of coloured cells: (text, CSS class, hover text) each, with row and column heads."""

    columns: tuple[str, ...]
    heads: tuple[str, ...]
    cells: tuple[tuple[tuple[str, str, str], ...], ...]
    caption: str = ""
    legend: tuple[tuple[str, str], ...] = ()
    kind: str = "grid"

    def used_legend(self) -> list[tuple[str, str, str]]:
        """Class, mark and words of each status that a cell of this grid has."""
        used = {mark for row in self.cells for _, mark, _ in row}
        return [(name, MARKS.get(name, ""), words) for name, words in self.legend if name in used]


@dataclass(frozen=True)
class Fold:
    """Blocks that stand behind their summary until somebody opens them; paper shows them open."""

    summary: str
    blocks: tuple["Block", ...]
    kind: str = "fold"


Block = Text | Banner | Facts | Rows | Picture | Grid | Fold


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    heading: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Chapter(Generic[T]):
    """One entry in the registry of a report's sections: its heading, and what makes its sections of what is reported."""

    heading: str
    sections: Callable[[T], Iterable[Section]]


def section(heading: str, blocks: Callable[[T], tuple[Block, ...]]) -> Chapter[T]:
    """A single section under its heading; without blocks it is left out."""
    return Chapter(heading, lambda about: (Section(heading, blocks(about)),))


def sections_of(about: T, registry: Iterable[Chapter[T]]) -> list[Section]:
    """All sections of a report that have something to say, in the order of its registry."""
    return [one for chapter in registry for one in chapter.sections(about) if one.blocks]


def _cell(value: object) -> tuple[str, str]:
    """The text of a cell and how it stands: numbers and percentages to the right, long words broken."""
    text = number(value)
    if (isinstance(value, int | float) and not isinstance(value, bool)) or re.fullmatch(PERCENT, text):
        return text, "right"
    if len(text) <= LONG:
        return text, "left short" if len(text) <= SHORT else "left"
    return text, "left long" if " " in text else "left word"


def render_page(title: str, sections: Sequence[Section], *, public: bool, subtitle: str = "", form: str = HTML) -> str:
    """The page as text in its form. A confidential page says so in a banner that cannot be overlooked."""
    if form == MARKDOWN:
        from reticent.report.markdown import render_markdown

        return render_markdown(title, sections, public=public, subtitle=subtitle)
    environment = Environment(
        loader=PackageLoader("reticent.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template("page.html").render(
        title=title, subtitle=subtitle, sections=sections, public=public, marks=MARKS, version=VERSION,
        contents=len(sections) >= CONTENTS_FROM,
    )  # fmt: skip
