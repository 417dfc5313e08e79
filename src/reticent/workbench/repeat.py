# SPDX-License-Identifier: Apache-2.0
"""Searches that a time limit cut: the plan gets the steps that were recorded, so that every run of it gives the same bytes."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reticent.web.site import Visit
from reticent.web.toml_text import TomlText
from reticent.web.work import Work
from reticent.workbench import engine, release_engine, table_engine
from reticent.workbench.project import Project
from reticent.workbench.table_plan import RESULTS, question, write_question

WHAT = "steps of a search"
STEPS = "search_steps"
SAID = "A time limit would end the search at another place each time. The plan has its steps, and each run gives the same result."


def file_question(project: Project) -> tuple[str, str, Any]:
    """What a run of the file plan depends on."""
    return project.plan_question("file")


def release_question(project: Project, kind: str) -> tuple[str, str, Any]:
    """What the verdict on a plan with its ledger depends on, apart from the ledger."""
    path, version, stamp = project.plan_question(kind)
    return path, version, question(project)[2] if kind == "table" else stamp


def file_run(visit: Visit[Project]) -> Work | None:
    """The run of the file plan as it is now, if one was asked for; one that a time limit cut is made again by its steps."""
    return _again(visit, engine.judge, file_question, _file_held, "Protecting by the recorded steps")


def file_written(visit: Visit[Project]) -> Work | None:
    """What the file plan has written as it is now; writing waits until the plan says where its searches ended."""
    return _again(visit, engine.write, file_question, _file_held, "Writing by the recorded steps")


def table_run(visit: Visit[Project]) -> Work | None:
    """The run of the table plan, as that of a file."""
    return _again(
        visit, table_engine.protect_tables, question, _table_held, "Protecting the table by the recorded steps"
    )


def table_written(visit: Visit[Project]) -> Work | None:
    """What the table plan has written, as a file."""
    return _again(visit, table_engine.write_tables, write_question, _table_held, "Writing by the recorded steps")


def release_judged(visit: Visit[Project], kind: str) -> Work | None:
    """The verdict on a plan with its ledger, likewise."""
    asked = functools.partial(release_question, kind=kind)
    held = _table_held if kind == "table" else _file_held
    return _again(visit, release_engine.judge, asked, held, "Judging what the recorded steps make")


def _again(
    visit: Visit[Project],
    function: Callable[..., Any],
    asked: Callable[[Project], tuple[Any, ...]],
    held: Callable[[Project, Mapping[str, Any]], bool],
    title: str,
) -> Work | None:
    """Work on a plan as it is now; if that must first say where its searches ended, it does, and the work is done again."""
    work = visit.works.seen(function, *asked(visit.state))
    if work is None or not work.done or not held(visit.state, work.value()):
        return work
    return visit.works.ask(function, *asked(visit.state), title=title)


def _file_held(project: Project, found: Mapping[str, Any]) -> bool:
    return _hold_file(project, found["repeat"])


def _table_held(project: Project, found: Mapping[str, Any]) -> bool:
    return _hold_table(project, found["steps"])


def _hold_file(project: Project, repeat: Sequence[Mapping[str, Any]]) -> bool:
    """Write what repeats each active step; whether that changed the plan."""
    state = project.need("file")
    now = state.read()
    text, active = TomlText(now.text), 0
    for number, step in enumerate(text.entries("step")):
        if step.get("active", True) is False:
            continue
        options = repeat[active] if active < len(repeat) else {}
        active += 1
        if any(step.get(name) != value for name, value in options.items()):
            kept = {name: value for name, value in step.items() if name != "time_limit"}
            text = text.set_entry("step", number, {**kept, **options})
    return state.change(text.text, version=now.version, what=WHAT).version != now.version


def _hold_table(project: Project, steps: int | None) -> bool:
    """Write the steps of the search; whether that changed the plan."""
    if steps is None:
        return False
    state = project.need("table")
    now = state.read()
    text = TomlText(now.text)
    protect = text.table.get("protect", {})
    if STEPS in protect:
        return False
    text = text.set_section("protect", {**protect, STEPS: steps})
    return state.change(text.text, version=now.version, what=WHAT).version != now.version


def without_old_steps(old: TomlText, new: TomlText) -> TomlText:
    """A changed table plan without the steps of the search that it had before: they belong to what was run."""
    before, after = ({key: value for key, value in one.table.items() if key not in RESULTS} for one in (old, new))
    protect = after.get("protect", {})
    if before == after or STEPS not in protect or protect[STEPS] != before.get("protect", {}).get(STEPS):
        return new
    return new.set_section("protect", {key: value for key, value in protect.items() if key != STEPS})
