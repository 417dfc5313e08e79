"""One self-contained HTML page from plain blocks: no network, no script needed, everything escaped.

Reports are built as data (`Section` of blocks) and rendered here, so that their look is decided in one place.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined

from reticent.base.words import number

T = TypeVar("T")


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


@dataclass(frozen=True)
class Picture:
    """A plot as a data URI (see `report.plots.data_uri`), with what it shows in words."""

    uri: str
    caption: str
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


Block = Text | Banner | Facts | Rows | Picture | Grid


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
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    return number(value), "right" if numeric else "left"


def render_page(title: str, sections: Sequence[Section], *, public: bool, subtitle: str = "") -> str:
    """The page as HTML text. A confidential page says so in a banner that cannot be overlooked."""
    environment = Environment(
        loader=PackageLoader("reticent.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template("page.html").render(
        title=title, subtitle=subtitle, sections=sections, public=public, number=number
    )
