# SPDX-License-Identifier: Apache-2.0
"""The ledger that a plan of the project names, and what tells one state of it from another."""

import re
from pathlib import Path
from typing import Any

from reticent.base.errors import PlanError, ReticentError
from reticent.web.toml_text import TomlText
from reticent.workbench.project import Project, Stamp, stamp_of
from reticent.workbench.release_engine import Place

RELEASED = ("file", "table")
"""Plans that `release` runs."""
WRITTEN = ("path", "schema", "public_report", "report", "summary")
"""Options of `[output]` that name files."""


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


def next_release(project: Project, kind: str, *, version: str) -> None:
    """Make a plan that was released ready for another release: a name and files of its own, one change of the plan."""
    state, plan = project.need(kind), project.table(kind)
    output = {
        name: _numbered(value) if name in WRITTEN and isinstance(value, str) else value
        for name, value in plan.get("output", {}).items()
    }
    section = section_of(project, kind)
    text = TomlText(state.read().text).set_section("output", output)
    text = text.set_section("ledger", {**section, "name": _counted(str(section.get("name", kind)))})
    state.change(text.text, version=version, what="another release")


def _counted(name: str) -> str:
    """`by size` becomes `by size 2`, that becomes `by size 3`."""
    found = re.fullmatch(r"(.*) (\d{1,6})", name)
    return f"{found[1]} {int(found[2]) + 1}" if found else f"{name} 2"


def _numbered(name: str) -> str:
    """`a.csv` becomes `a.2.csv`, that becomes `a.3.csv`."""
    path = Path(name)
    found = re.fullmatch(r"(.*)\.(\d{1,6})", path.stem)
    stem = f"{found[1]}.{int(found[2]) + 1}" if found else f"{path.stem}.2"
    return str(path.with_name(f"{stem}{path.suffix}"))


def place_of(project: Project) -> Place | None:
    """The ledger of the project, if a plan names one."""
    for kind in (*RELEASED, "queries"):
        if project.plan(kind) is None or not section_of(project, kind).get("path"):
            continue
        section, data = section_of(project, kind), project.table(kind).get("data", {})
        secret = data.get("secret")
        if secret is None:
            raise PlanError(
                "[data]: a ledger needs a secret, which signs its entries; make one with "
                "`reticent new-secret`, and name it in [data] secret."
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


def ledger_name(project: Project) -> str:
    """The file of the ledger that a plan names; nothing of one on a server, whose address may hold a password."""
    try:
        sections = [section_of(project, kind) for kind in (*RELEASED, "queries")]
    except ReticentError:  # a plan that is being edited
        return ""
    path = next((str(one["path"]) for one in sections if one.get("path")), "")
    return "" if "://" in path else Path(path).name


def stamp_of_ledger(place: Place | None) -> Stamp:
    """The state of the ledger's file."""
    return () if place is None or "://" in place[0] else (stamp_of(Path(place[0])),)
