# SPDX-License-Identifier: Apache-2.0
"""Searches that a time limit cut: the plan gets the steps that were recorded, so that every run of it gives the same bytes."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.web.site import Visit
from reticent.web.toml_text import TomlText
from reticent.web.work import Work
from reticent.workbench import engine, table_engine
from reticent.workbench.project import Project
from reticent.workbench.table_plan import RESULTS, question

WHAT = "steps of a search"
STEPS = "search_steps"
SAID = "A time limit would end the search at another place each time. The plan has its steps, and each run ends alike."


def file_question(project: Project) -> tuple[str, str, Any]:
    """What a run of the file plan depends on."""
    state = project.need("file")
    return str(state.path), state.read().version, project.stamp()


def file_run(visit: Visit[Project]) -> Work | None:
    """The run of the file plan as it is now, if one was asked for; one that a time limit cut is made again by its steps."""
    run = visit.works.seen(engine.judge, *file_question(visit.state))
    if run is None or not run.done or not _hold_file(visit.state, run.value()["repeat"]):
        return run
    return visit.works.ask(engine.judge, *file_question(visit.state), title="Protecting by the recorded steps")


def table_run(visit: Visit[Project]) -> Work | None:
    """The same for the table plan."""
    run = visit.works.seen(table_engine.protect_tables, *question(visit.state))
    if run is None or not run.done or not _hold_table(visit.state, run.value()["steps"]):
        return run
    return visit.works.ask(
        table_engine.protect_tables, *question(visit.state), title="Protecting the table by the recorded steps"
    )


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
    state = project.need("table")
    now = state.read()
    text = TomlText(now.text)
    protect = text.table.get("protect", {})
    if steps is None or STEPS in protect:
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
