# SPDX-License-Identifier: Apache-2.0
"""What runs in workers for the page of queries. Plain data in and out."""

from pathlib import Path
from typing import Any

from reticent.base.progress import Progress
from reticent.jobs.query_view import attacks_on, try_query
from reticent.workbench.engine import Stamp


def attempt(
    plan: str, version: str, stamp: Stamp, question: str, modes: tuple[str, ...], *, progress: Progress
) -> list[dict[str, Any]]:
    """What the modes would answer to a query, on a copy."""
    return try_query(Path(plan), question, modes, progress=progress)


def attack(plan: str, version: str, stamp: Stamp, *, progress: Progress) -> dict[str, Any]:
    """The attack catalogue against a copy of the database."""
    return attacks_on(Path(plan), progress=progress)
