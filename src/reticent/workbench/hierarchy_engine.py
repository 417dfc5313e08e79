# SPDX-License-Identifier: Apache-2.0
"""What runs in workers for the page of hierarchies. Plain data in and out."""

import json
from pathlib import Path
from typing import Any

from reticent.base.progress import Progress
from reticent.jobs.hierarchy_view import trees_of
from reticent.jobs.options import DataSection, build
from reticent.workbench.engine import Stamp


def trees(source: str, folder: str, stamp: Stamp, *, progress: Progress) -> dict[str, dict[str, Any]]:
    """The tree of each variable."""
    return trees_of(build(DataSection, json.loads(source), owner="[data]"), Path(folder), progress=progress)
