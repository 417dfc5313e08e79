"""Source files as trees, each parsed once for all tests of a worker."""

import ast
import gc
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """The file as a tree. Collecting garbage meanwhile makes Python 3.11.7 miscount its own depth at times (gh-106905)."""
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        gc.enable()
