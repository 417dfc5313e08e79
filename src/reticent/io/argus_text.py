# SPDX-License-Identifier: Apache-2.0
"""ARGUS text files: decoding, tokens, and files named in other files (found in any case). Repairs come back as notes."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reticent.base.checks import check_place, did_you_mean
from reticent.base.errors import DataError

_DRIVE = re.compile(r"^[A-Za-z]:")
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
        raise DataError(f"{path.name}: this is not a text file; save it as text.")
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


def find_file(folder: Path, name: str, notes: Notes | None = None, *, also: Sequence[Path] = ()) -> Path:
    """A file by name, relative to a folder (or to one of `also`), in any case of letters.

    ARGUS files carry paths of other machines (`C:\\work\\data\\x.asc`): without the drive, and then without one leading
    folder after the other, the path is looked for in each folder. What is found under another name is noted.
    """
    check_place(folder / name.strip(), owner=name.strip()[:20] + "…")
    plain = name.strip().replace("\\", "/")
    whole = Path(plain)
    if whole.is_absolute() and whole.is_file():
        return whole
    if whole.is_absolute() and (other := _in_any_case(Path(whole.anchor), whole.parts[1:])) is not None:
        return _noted(other, name, notes)
    parts = [part for part in _DRIVE.sub("", plain).split("/") if part not in ("", ".")]
    for start in range(len(parts)):
        for place in (folder, *also):
            found = _in_any_case(place, parts[start:])
            if found is not None:
                return found if found == place / plain else _noted(found, name, notes)
    names = [other.name for other in folder.iterdir() if other.is_file()] if folder.is_dir() else []
    wanted = parts[-1] if parts else plain
    where = f" in the folder {folder.name!r}" if folder.name else ""
    if not folder.is_dir():
        raise DataError(
            f"{wanted}: there is no such file, because there is no folder {folder.name!r}; name one that exists."
        )
    raise DataError(f"{wanted}: there is no such file{where}.{did_you_mean(wanted, names)}")


def _in_any_case(folder: Path, parts: Sequence[str]) -> Path | None:
    """The file at the end of a path, each part of which may be written in another case."""
    for number, part in enumerate(parts):
        exact = folder / part
        if part == ".." or exact.exists():
            folder = exact
            continue
        if not folder.is_dir():
            return None
        others = [other for other in sorted(folder.iterdir()) if other.name.lower() == part.lower()]
        others = [other for other in others if other.is_file() == (number == len(parts) - 1)]
        if not others:
            return None
        folder = others[0]
    return folder if folder.is_file() else None


def _noted(path: Path, name: str, notes: Notes | None) -> Path:
    if notes is not None:
        notes.add(f"{name}: found as {path.name}.")
    return path
