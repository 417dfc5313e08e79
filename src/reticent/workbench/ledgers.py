"""The ledger that a plan of the project names, and what tells one state of it from another."""

from pathlib import Path
from typing import Any

from reticent.base.errors import PlanError
from reticent.workbench.project import Project, Stamp, stamp_of
from reticent.workbench.release_engine import Place

RELEASED = ("file", "table")
"""Plans that `release` runs."""


def plan_kinds(project: Project) -> list[str]:
    """The plans of the project that can be released."""
    return [
        kind
        for kind in RELEASED
        if project.plan(kind) is not None and (kind != "table" or "table" in project.table("table"))
    ]


def section_of(project: Project, kind: str) -> dict[str, Any]:
    """The `[ledger]` of a plan, or one to begin with."""
    found = project.table(kind).get("ledger")
    return dict(found) if isinstance(found, dict) else {}


def first_section(project: Project, kind: str) -> dict[str, Any]:
    """A ledger to begin with: beside the data, one for all plans of the project."""
    other = next((section_of(project, one) for one in plan_kinds(project) if section_of(project, one)), {})
    return {**other, "path": other.get("path", f"{project.stem}.ledger"), "name": f"{project.stem} {kind}"}


def place_of(project: Project) -> Place | None:
    """The ledger of the project, if a plan names one."""
    for kind in (*RELEASED, "queries"):
        if project.plan(kind) is None or not section_of(project, kind).get("path"):
            continue
        section, data = section_of(project, kind), project.table(kind).get("data", {})
        secret = data.get("secret")
        if secret is None:
            raise PlanError(
                "[data]: a ledger needs a secret, which signs its entries; make one with `reticent new-secret`."
            )
        path = str(section["path"])
        where = path if "://" in path else str(project.folder / path)
        anchor = str(project.folder / str(section["anchor"])) if section.get("anchor") else ""
        key = str(project.folder / secret) if isinstance(secret, str) else int(secret)
        return (
            where,
            key,
            str(section.get("dataset") or data.get("name") or "data"),
            anchor,
            data.get("test_secret") is True,
        )
    return None


def stamp_of_ledger(place: Place | None) -> Stamp:
    """The state of the ledger's file."""
    return () if place is None or "://" in place[0] else (stamp_of(Path(place[0])),)
