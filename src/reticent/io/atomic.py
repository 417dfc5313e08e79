# SPDX-License-Identifier: Apache-2.0
"""Write beside, then rename: a file is either the old one or the whole new one, never half of it."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from reticent.base.errors import DataError


@contextlib.contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary path in the same folder; renamed to `path` when the block ends well, removed when it does not."""
    path = Path(path)
    if not path.parent.is_dir():
        raise DataError(f"{path.name}: the folder {str(path.parent)!r} does not exist; make it first.")
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    beside = Path(name)
    try:
        yield beside
        _sync(beside)
        beside.chmod(0o666 & ~_umask())  # temporary files are made for their owner only
        os.replace(beside, path)
    except OSError as err:
        raise DataError(f"{path.name}: the file cannot be written ({err.strerror}); nothing was left behind.") from err
    finally:
        beside.unlink(missing_ok=True)


@contextlib.contextmanager
def atomic_write(path: Path, *, binary: bool = False) -> Iterator[IO[Any]]:
    """An open file that becomes `path` when the block ends well."""
    with (
        atomic_path(path) as beside,
        beside.open("wb" if binary else "w", encoding=None if binary else "utf-8") as file,
    ):
        yield file


def write_text(path: Path, text: str) -> None:
    """Write a text file in one piece."""
    with atomic_write(Path(path)) as file:
        file.write(text)


def _umask() -> int:
    """What the user takes away from the permissions of new files (it can only be read by setting it)."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
