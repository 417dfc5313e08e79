# SPDX-License-Identifier: Apache-2.0
"""A starter project: small generated data, their schemas, a plan for a file and a plan for a table, ready to edit."""

import secrets
from importlib import resources
from pathlib import Path

from reticent.base.errors import ParameterError
from reticent.base.randomness import SECRET_BYTES, STREAM_VERSION
from reticent.io.atomic import write_text

FILES = (
    "README.txt",
    "people.csv",
    "people.schema.toml",
    "protect.toml",
    "firms.csv",
    "firms.schema.toml",
    "table.toml",
)


def new_secret(path: Path) -> None:
    """Write a file of 32 random bytes in hex, readable by its owner only; an existing file is never replaced."""
    if path.exists():
        raise ParameterError(f"{path.name}: the file exists; a secret is never replaced, choose another name.")
    write_text(path, secrets.token_hex(SECRET_BYTES) + "\n")
    path.chmod(0o600)


def new_project(folder: Path) -> tuple[Path, ...]:
    """Make a folder with data, schemas, plans and a secret; gives the files made."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ParameterError(f"{folder.name or folder}: the folder must be new or empty, it is not.")
    if not folder.parent.is_dir():
        raise ParameterError(f"{folder.name}: the folder {str(folder.parent)!r} in which it should be does not exist.")
    folder.mkdir(exist_ok=True)
    bundled = resources.files("reticent") / "starter_data"
    for name in FILES:
        text = (bundled / name).read_text(encoding="utf-8")
        write_text(folder / name, text.replace("@STREAMS@", str(STREAM_VERSION)))
    new_secret(folder / "secret.key")
    return tuple(folder / name for name in (*FILES, "secret.key"))
