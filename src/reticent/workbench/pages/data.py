# SPDX-License-Identifier: Apache-2.0
"""Data: open a file or an example; size, types and missing values; the first records only after "show values"."""

from pathlib import Path
from typing import Any

from reticent.base.errors import ReticentError
from reticent.jobs.project import EXAMPLES, copy_example, is_data
from reticent.web.environment import shown_name
from reticent.web.parts import Cell, Column, Figure, Row, Table
from reticent.web.site import Go, Note, Page, View, Visit, address
from reticent.workbench import engine
from reticent.workbench.looks import looked
from reticent.workbench.project import Project

MOST_LISTED = 200


def show(visit: Visit[Project]) -> View | Go:
    """The data of the project, or what could be opened."""
    project = visit.state
    if project.waiting is not None:
        return _prepare(visit, project.waiting)
    if not project.ready or visit.query.get("open") == "another":
        return _choose(visit)
    work = looked(visit, values=True)
    facts: dict[str, Any] = {
        "chosen": Path(str(project.source()["path"])).name,
        "described": not any(one.get("guessed") for one in project.variables()),
        "figures": (),
        "table": None,
        "rows": None,
        "notes": (),
    }
    if work.done:
        found = work.value()
        facts |= {"figures": _figures(found), "table": _table(found), "rows": _rows(found), "notes": found["notes"]}
    return View("data.html", facts, error=str(work.error or ""), work=work)


def act(visit: Visit[Project]) -> View | Go:
    """Open a file, a plan or an example."""
    project, sent = visit.state, visit.sent
    try:
        if sent.get("example"):
            project.choose(copy_example(sent.get("example"), project.folder))
        elif not sent.get("path").strip():
            return _choose(visit, error="give the name of a data file or of a plan.")
        else:
            project.choose(Path(sent.get("path").strip()).expanduser())
    except ReticentError as err:
        return _choose(visit, error=str(err))
    return Go(address("data"))


def _prepare(visit: Visit[Project], data: Path) -> View | Go:
    """Describe the chosen file; when that is done, the project has a plan."""
    work = visit.works.ask(engine.prepare, str(data), title=f"Describing {shown_name(data.name)}")
    if work.running:
        return View(
            "data.html",
            {"chosen": data.name, "described": False, "figures": (), "table": None, "rows": None, "notes": ()},
            work=work,
        )
    if not work.done:
        visit.state.give_up()
        return _choose(visit, error=str(work.error), path=str(data))
    visit.state.take_plan(Path(work.value()))
    return Go(address("data"))


def _choose(visit: Visit[Project], *, error: str = "", path: str = "") -> View:
    """What the folder has, and the examples."""
    folder = visit.state.folder
    files = sorted(one for one in folder.iterdir() if one.is_file() and not one.name.startswith("."))
    listed = [
        one.name
        for one in files
        if is_data(one) or (one.name.endswith(".toml") and not one.name.endswith(".schema.toml"))
    ]
    return View(
        "choose.html",
        {
            "folder": str(folder), "files": listed[:MOST_LISTED], "left": max(0, len(listed) - MOST_LISTED),
            "examples": EXAMPLES, "wrong": error, "path": visit.sent.get("path") or path, "open": visit.state.ready,
        },
        status=422 if error else 200,
    )  # fmt: skip


def _figures(found: dict[str, Any]) -> tuple[Figure, ...]:
    variables = found["variables"].values()
    empty = sum(one["empty"] for one in variables)
    cells = found["records"] * len(variables) or 1
    return (
        Figure("Records", f"{found['records']:,}"),
        Figure("Variables", f"{len(variables):,}"),
        Figure(
            "Numbers, texts",
            f"{sum(v['type'] == 'number' for v in variables)}, {sum(v['type'] == 'text' for v in variables)}",
        ),
        Figure("Missing", f"{100 * empty / cells:.1f} %", f"{empty:,} values"),
    )


def _table(found: dict[str, Any]) -> Table:
    columns = (
        Column("Variable"),
        Column("Type"),
        Column("Different", num=True),
        Column("Missing", num=True),
        Column("Missing, %", num=True),
    )
    rows = [
        Row((
            Cell(shown_name(name, 60)), Cell(one["type"], muted=True), Cell(f"{one['distinct']:,}"), Cell(f"{one['empty']:,}"),
            Cell(f"{100 * one['empty'] / (found['records'] or 1):.1f} %"),
        ))
        for name, one in found["variables"].items()
    ]  # fmt: skip
    return Table("Variables: type, different values, missing values", columns, tuple(rows), tall=True)


def _rows(found: dict[str, Any]) -> Table | None:
    if not found["rows"]:
        return None
    columns = (Column("No.", num=True), *(Column(shown_name(name, 30)) for name in found["names"]))
    rows = tuple(
        Row((Cell(str(number)), *(Cell(shown_name(value, 60) if value else "") for value in row)))
        for number, row in enumerate(found["rows"], 1)
    )
    return Table("The first records", columns, rows, tall=True)


def note(project: Project) -> Note:
    """Whether there are data."""
    return Note("done") if project.ready else Note()


PAGE = Page("data", "Data", "Prepare", show, act, note, anywhere=True)
