"""What runs in workers for the page of queries. Plain data in and out."""

from pathlib import Path
from typing import Any

from reticent.base.progress import Progress
from reticent.jobs.attack_database import attack_database
from reticent.jobs.query_view import try_query
from reticent.workbench.engine import Stamp


def attempt(
    plan: str, version: str, stamp: Stamp, question: str, modes: tuple[str, ...], *, progress: Progress
) -> list[dict[str, Any]]:
    """What the modes would answer to a query, on a copy."""
    return try_query(Path(plan), question, modes, progress=progress)


def attack(plan: str, version: str, stamp: Stamp, *, progress: Progress) -> dict[str, Any]:
    """The attack catalogue against a copy of the database."""
    found = attack_database(Path(plan), progress=progress)
    return {**found.as_json(), "verdicts": [one.verdict for one in found.findings]}
