# SPDX-License-Identifier: Apache-2.0
"""What runs in workers for the page that explores. Plain data in and out."""

import json
from pathlib import Path
from typing import Any

from reticent.base.progress import Progress
from reticent.jobs.explore_view import lattice_of, map_of
from reticent.jobs.options import DataSection, build
from reticent.workbench.engine import Stamp


def lattice(
    source: str, folder: str, stamp: Stamp, keys: tuple[str, ...], k: int, suppression: float, *, progress: Progress
) -> dict[str, Any]:
    """The lattice of some keys."""
    section = build(DataSection, json.loads(source), owner="[data]")
    return lattice_of(section, Path(folder), keys, k, suppression, progress=progress)


def candidates(plan: str, version: str, stamp: Stamp, *, progress: Progress) -> dict[str, Any]:
    """The candidates of an exploration on the map of risk and loss."""
    return map_of(Path(plan), progress=progress)
