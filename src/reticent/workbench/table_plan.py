"""The table plan of a project: how it begins, and what tells one state of it from another."""

from collections.abc import Mapping
from typing import Any

from reticent.web.toml_text import TomlText
from reticent.workbench import table_forms as forms
from reticent.workbench.project import Project, Stamp, stamp_of

FILES = ("a_priori", "released", "previous")


def question(project: Project) -> tuple[str, str, Stamp]:
    """What a run of the table plan depends on: the plan, its version, and the files that it names."""
    state = project.need("table")
    names = [str(one[key]) for one in forms.sections_of(project) for key in FILES if one.get(key)]
    for section in forms.sections_of(project):
        for dimension in section.get("dimensions", []):
            if isinstance(dimension, Mapping):
                names += [str(name) for name in (dimension.get("hierarchy"), *dimension.get("hierarchies", ())) if name]
    return (
        str(state.path),
        state.read().version,
        (*project.stamp(), *(stamp_of(project.folder / name) for name in names)),
    )


def fresh_table_plan(project: Project, section: Mapping[str, Any]) -> None:
    """Begin the table plan of a project with one table."""
    state = project.need("table")
    now = state.read()
    text = TomlText(now.text).set_section("table", section)
    if "output" not in text.table:
        text = text.set_section("output", forms.new_output(project.stem))
    state.change(text.text, version=now.version, what="table")
