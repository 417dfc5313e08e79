# SPDX-License-Identifier: Apache-2.0
"""Where compiled kernels are kept, and whether any are there yet: the first run compiles, and people should know why it waits.

Kernels are kept beside their source if that folder can be written, else in the cache folder of the user. Where neither can be
written (a read-only home), they go to a folder of this process alone and are compiled again by the next one: a folder that
others can write is never trusted with code.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

VARIABLE = "NUMBA_CACHE_DIR"
NOTICE = "compiling, the first time only: this run takes up to a minute longer."


def kernel_folder() -> Path:
    """The folder of the compiled kernels of this installation, whether it exists or not."""
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given)
    own = Path(__file__).parents[1] / "kernels" / "__pycache__"
    return own if _can_write(own) else _user_folder()


def compiled() -> bool:
    """Whether some kernels are compiled already."""
    folder = kernel_folder()
    return folder.is_dir() and next(folder.rglob("*.nbi"), None) is not None


def prepare_cache() -> None:
    """Choose a folder for compiled kernels where the usual ones cannot be written; before the first kernel is loaded."""
    if VARIABLE in os.environ or _can_write(kernel_folder()):
        return
    folder = tempfile.mkdtemp(prefix="reticent-kernels-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ[VARIABLE] = folder


def _user_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "numba"


def _can_write(folder: Path) -> bool:
    """Whether files can be made in the folder, or the folder itself in the nearest one that exists."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK)
