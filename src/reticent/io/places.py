# SPDX-License-Identifier: Apache-2.0
"""Where results may go: never over a file that the same work reads, never twice to one place."""

import dataclasses
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reticent.base.errors import DataError, ParameterError
from reticent.io.formats import FORMATS

WRITTEN = ("output", "files", "folder", "source")
"""Sections of a plan that name no input."""
NAMING = {".toml", ".rda", ".rds"}
"""Endings of files that name further files."""
MOST_NAMING = 1_000_000
"""A larger file is data, whatever its ending says."""
"""Files in fixed width get their metadata beside them, and code lists and trees that start with their name."""
_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+:/{2,3}")  # sqlite:///survey.db is the file survey.db


def check_places(outputs: Iterable[Path | str], inputs: Iterable[Path | str] = ()) -> None:
    """Refuse outputs without a folder, written twice, or over a file that is read; called before the work starts.

    `inputs` are the files that are read, and plans: what a plan, a schema or ARGUS metadata name is read as well.
    """
    targets = [Path(path) for path in outputs]
    seen: set[str] = set()
    for path in targets:
        if not path.parent.is_dir():
            raise DataError(f"{path.name}: the folder {str(path.parent)!r} does not exist; make it first.")
        if path.is_dir():
            raise DataError(f"{path.name}: this is a folder, the name of a file is needed.")
        if _place(path) in seen:
            raise ParameterError(f"[output]: two results would be written to {path.name}; give each its own name.")
        seen.add(_place(path))
    check_apart(targets, inputs)


def check_apart(outputs: Iterable[Path | str], inputs: Iterable[Path | str]) -> None:
    """Refuse an output that is one of the inputs, also by another name: a link, other letter case, a way round."""
    read = tuple(_all_inputs(inputs))
    places = {_place(path) for path in read}
    for target in map(Path, outputs):
        if _place(target) in places or any(_same(target, path) for path in read) or _covers(target, read):
            raise ParameterError(
                f"[output]: {target.name} is a file that this work reads, and writing would destroy it; "
                "give the result another name."
            )


def inputs_of(plan: Any, folder: Path) -> tuple[Path, ...]:
    """Each file that a plan could name, whichever option names it; what it writes (`output`) is left out."""
    return tuple(folder / text for text in dict.fromkeys(_texts(plan)))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        text = _SCHEME.sub("", value)
        if 0 < len(text) <= 1000 and "\0" not in text and "\n" not in text:
            yield text
    elif isinstance(value, Path):
        yield str(value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from _texts({field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)})
    elif isinstance(value, Mapping):
        for name, item in value.items():
            if name not in WRITTEN:
                yield from _texts(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _texts(item)


def _all_inputs(inputs: Iterable[Path | str]) -> Iterator[Path]:
    """The inputs and what they name, and so on; names are sought beside the file that has them, and beside the first."""
    seen: set[str] = set()
    waiting = [(Path(path), Path(path).parent) for path in inputs]
    while waiting:
        path, first = waiting.pop()
        if _place(path) in seen:
            continue
        seen.add(_place(path))
        yield path
        waiting += [(folder / name, first) for name in _named_by(path) for folder in {path.parent, first}]


def _named_by(path: Path) -> tuple[str, ...]:
    """Names of files in a plan, a schema or ARGUS metadata; a file that cannot be read names none."""
    try:
        if path.suffix.lower() not in NAMING or not path.is_file() or path.stat().st_size > MOST_NAMING:
            return ()
        if path.suffix.lower() == ".toml":
            return tuple(dict.fromkeys(_texts(tomllib.loads(path.read_text(encoding="utf-8")))))
        words = re.findall(r'"([^"\n]+)"|([^\s"<>]+\.[^\s"<>]+)', path.read_text(encoding="utf-8", errors="replace"))
    except (OSError, ValueError, RecursionError):
        return ()
    return tuple(dict.fromkeys(one or other for one, other in words))


def _place(path: Path) -> str:
    """What two names of one place have in common; letter case counts on no system, since it does not on all."""
    try:
        whole = path.resolve()
    except (OSError, RuntimeError):  # a link that leads to itself
        whole = path.absolute()
    return unicodedata.normalize("NFC", str(whole)).casefold()


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False


def _covers(target: Path, read: tuple[Path, ...]) -> bool:
    """Whether a file in fixed width brings metadata, a code list or a tree with it that is one of the inputs."""
    ending = FORMATS.metadata_ending(target)
    if ending is None:
        return False
    start = _place(target.with_name(target.stem + "_"))
    beside = (place for place in map(_place, read) if place.endswith((".cdl", ".hrc")))
    metadata = _place(target.with_suffix(ending))
    return any(_place(path) == metadata for path in read) or any(place.startswith(start) for place in beside)
