# SPDX-License-Identifier: Apache-2.0
"""What runs in workers for the page of risk. Plain data in and out."""

import json
from pathlib import Path
from typing import Any

from reticent.base.progress import Progress
from reticent.jobs.options import DataSection, build
from reticent.jobs.risk_view import models_of, risk_of, unsafe_codes
from reticent.workbench.engine import Stamp


def _section(source: str) -> DataSection:
    made: DataSection = build(DataSection, json.loads(source), owner="[data]")
    return made


def measure(
    source: str, folder: str, stamp: Stamp, dimension: int, threshold: int, *, progress: Progress
) -> dict[str, Any]:
    """The risk of the data as they are."""
    return risk_of(_section(source), Path(folder), dimension=dimension, threshold=threshold, progress=progress)


def models(source: str, folder: str, stamp: Stamp, *, progress: Progress) -> list[dict[str, Any]]:
    """What every model of the population says."""
    return models_of(_section(source), Path(folder), progress=progress)


def codes(
    source: str, folder: str, stamp: Stamp, variables: tuple[str, ...], threshold: int, *, progress: Progress
) -> list[tuple[list[str], int]]:
    """The codes of the unsafe cells of a combination; asked only after "show values"."""
    return unsafe_codes(_section(source), Path(folder), variables, threshold, progress=progress)
