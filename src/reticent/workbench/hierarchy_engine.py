# SPDX-License-Identifier: Apache-2.0
"""What runs in workers for the page of hierarchies. Plain data in and out."""

import json
from pathlib import Path
from typing import Any

from reticent.base.progress import Progress
from reticent.jobs.hierarchy_view import check_tree, trees_of
from reticent.jobs.options import DataSection, build
from reticent.workbench.engine import Stamp


def trees(source: str, folder: str, stamp: Stamp, *, progress: Progress) -> dict[str, dict[str, Any]]:
    """The tree of each variable."""
    return trees_of(build(DataSection, json.loads(source), owner="[data]"), Path(folder), progress=progress)


def check(
    source: str, folder: str, stamp: Stamp, variable: str, digits: tuple[int, ...], file: str, *, progress: Progress
) -> list[int]:
    """Check a new tree against the codes."""
    section = build(DataSection, json.loads(source), owner="[data]")
    return check_tree(section, Path(folder), variable, digits, file, progress=progress)
