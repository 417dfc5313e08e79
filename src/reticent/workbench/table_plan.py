# SPDX-License-Identifier: Apache-2.0
"""The table plan of a project: how it begins, and what tells one state of it from another."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from reticent.jobs.table_view import Grid
from reticent.web.toml_text import TomlText
from reticent.workbench import table_forms as forms
from reticent.workbench.project import Project, Stamp, stamp_of, version_of

FILES = ("a_priori", "released", "previous")
RESULTS = ("output", "ledger")
"""Sections that say where results go: another name for a file needs no new run."""


def question(project: Project) -> tuple[str, str, Stamp]:
    """What a run of the table plan depends on: the plan, what it says except where results go, and the files it names."""
    said = project.table("table")
    return _asked(project, {key: said[key] for key in said if key not in RESULTS})


def judge_question(project: Project) -> tuple[str, str, Stamp]:
    """What the judged table depends on: of `[protect]` only what changes how the table is made."""
    said = project.table("table")
    protect = {"method": forms.DEFAULT, **said.get("protect", {})}
    made = {key: protect[key] for key in ("method", "hide_empty", "coalition") if key in protect}
    return _asked(project, {**{key: said[key] for key in said if key not in RESULTS}, "protect": made})


def _asked(project: Project, said: Mapping[str, Any]) -> tuple[str, str, Stamp]:
    names = [str(one[key]) for one in forms.sections_of(project) for key in FILES if one.get(key)]
    for section in forms.sections_of(project):
        for dimension in section.get("dimensions", []):
            if isinstance(dimension, Mapping):
                names += [str(name) for name in (dimension.get("hierarchy"), *dimension.get("hierarchies", ())) if name]
    stamp = (*project.stamp(), *(stamp_of(project.folder / name) for name in names))
    version = version_of(json.dumps(said, sort_keys=True, default=str))
    return str(project.need("table").path), version, stamp


def write_question(project: Project) -> tuple[str, str, Stamp, str]:
    """What writing depends on: the run, and where its results go."""
    said = project.table("table")
    return *question(project), json.dumps({key: said.get(key) for key in RESULTS}, sort_keys=True, default=str)


def sections_of_grids(sections: Sequence[Mapping[str, Any]], grids: Sequence[Grid]) -> list[int]:
    """The number of the plan's table that each drawn table shows: the same dimensions and response, in their order."""
    left: dict[tuple[str, ...], list[int]] = {}
    for number, section in enumerate(sections):
        for response in forms.responses_of(section) or [forms.COUNT]:
            left.setdefault((*forms.names_of(section), response), []).append(number)
    found = []
    for grid in grids:
        fitting = left.get((*(one["name"] for one in grid.dimensions), grid.response), [])
        found.append(fitting.pop(0) if fitting else 0)
    return found


def fresh_table_plan(project: Project, section: Mapping[str, Any]) -> None:
    """Begin the table plan of a project with one table."""
    state = project.need("table")
    now = state.read()
    text = TomlText(now.text).set_section("table", section)
    if "output" not in text.table:
        text = text.set_section("output", forms.new_output(project.stem))
    state.change(text.text, version=now.version, what="table")
