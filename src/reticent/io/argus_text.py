"""ARGUS text files: decoding, tokens, and files named in other files (found in any case). Repairs come back as notes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from reticent.base.checks import did_you_mean
from reticent.base.errors import DataError

_TOKEN = re.compile(r'"([^"]*)"|<([^<>\s]+)>|([^\s"<]+)')


@dataclass
class Notes:
    """What was repaired in files, each thing said once."""

    lines: dict[str, None] = field(default_factory=dict)

    def add(self, line: str) -> None:
        """Note a repair."""
        self.lines[line] = None

    def __iter__(self) -> Iterator[str]:
        return iter(self.lines)


@dataclass(frozen=True)
class Line:
    """One line of an ARGUS file: its number, its text without blanks around, its tokens (keywords upper case in <>)."""

    number: int
    text: str
    tokens: tuple[str, ...]

    @property
    def keyword(self) -> str | None:
        """The keyword that the line starts with, upper case and without <>."""
        first = self.tokens[0] if self.tokens else ""
        return first[1:-1] if first.startswith("<") and first.endswith(">") and len(first) > 2 else None


def read_text(path: Path, notes: Notes) -> str:
    """The text of a file: UTF-8, else Windows Latin-1 (noted); line ends as \\n."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path.name}: there is no such file.") from None
    except OSError as err:
        raise DataError(f"{path.name}: the file cannot be read ({err.strerror}).") from err
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", errors="replace")
        notes.add(f"{path.name}: not UTF-8, read as Windows Latin-1.")
    if "\x00" in text:
        raise DataError(f"{path.name}: this is not a text file.")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x1a", "")


def tokens_of(text: str) -> tuple[str, ...]:
    """Split at blanks and tabs; "…" is one token; a keyword is <NAME>, in upper case."""
    found = []
    for quoted, keyword, plain in _TOKEN.findall(text):
        found.append(f"<{keyword.upper()}>" if keyword else plain or quoted)
    return tuple(found)


def lines_of(text: str) -> list[Line]:
    """The lines that say something (no empty ones, no // comments)."""
    rows = enumerate(text.split("\n"), start=1)
    return [
        Line(number, row.strip(), tokens_of(row))
        for number, row in rows
        if row.strip() and not row.lstrip().startswith("//")
    ]


def find_file(folder: Path, name: str, notes: Notes | None = None) -> Path:
    """A file by name, relative to a folder; if only another case of the name is there, that one (noted)."""
    wanted = Path(name.replace("\\", "/"))
    path = wanted if wanted.is_absolute() else folder / wanted
    if path.is_file():
        return path
    for candidate in (path, folder / wanted.name):  # ARGUS files carry paths of other machines
        if candidate.is_file():
            return _noted(candidate, name, notes)
        if candidate.parent.is_dir():
            for other in sorted(candidate.parent.iterdir()):
                if other.name.lower() == candidate.name.lower() and other.is_file():
                    return _noted(other, name, notes)
    names = [other.name for other in folder.iterdir() if other.is_file()] if folder.is_dir() else []
    where = f" in the folder {folder.name!r}" if folder.name else ""
    raise DataError(f"{wanted.name}: there is no such file{where}.{did_you_mean(wanted.name, names)}")


def _noted(path: Path, name: str, notes: Notes | None) -> Path:
    if notes is not None:
        notes.add(f"{name}: found as {path.name}.")
    return path
