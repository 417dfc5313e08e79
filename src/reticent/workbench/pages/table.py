"""Table: dimensions, response and rules; the heat map with the status of each cell; one cell in full; protect, compare, write."""

from pathlib import Path
from typing import Any

from reticent.base.errors import ReticentError
from reticent.jobs.options import RULES, TABLE_METHODS
from reticent.jobs.table_view import Grid, set_by_hand
from reticent.web.environment import shown_name
from reticent.web.figures import intervals
from reticent.web.form_values import Taken
from reticent.web.parts import Cell, Column, Row, Table
from reticent.web.site import Go, Note, Page, View, Visit, address
from reticent.web.toml_text import TomlText
from reticent.web.work import Work
from reticent.workbench import table_engine as engine
from reticent.workbench import table_forms as forms
from reticent.workbench.project import Project
from reticent.workbench.table_grid import MOST_ROWS, Seen, heat_of, ordered_nodes, shown_value
from reticent.workbench.table_plan import fresh_table_plan, question

SUPPRESSING = ("heuristic", "hypercube", "modular", "optimal")
STATUSES = {
    "rules": "by the rules", "safe": "safe: respondents agreed", "unsafe": "unsafe", "frozen": "frozen: never hide",
    "hidden": "hidden: hide in any case",
}  # fmt: skip


def show(visit: Visit[Project]) -> View | Go:
    """The table of the plan, or the form that makes one."""
    return _shown(visit, {}, {})


def _shown(visit: Visit[Project], errors: dict[str, str], kept: dict[str, Any]) -> View | Go:
    """The page; `errors` stand beside their fields, `kept` is what was sent and could not be taken, by section."""
    project = visit.state
    if not project.ready:
        return Go(address("data"))
    state, status = project.plan("table"), 422 if errors else 200
    sections = forms.sections_of(project) if state is not None else []
    if state is None or not sections:
        fields = forms.shape_form(project, kept.get("table", {}), errors)
        return View("table_new.html", {"form": fields, "version": ""}, error=errors.get("", ""), status=status)
    now, plan = state.read(), project.table("table")
    asked = question(project)
    judged, run = visit.works.ask(engine.judge_table, *asked, title="Making the table"), None
    run = visit.works.seen(engine.protect_tables, *asked)
    number = _section_number(visit, sections)
    section = {**sections[number], **kept.get("table", {})}
    protect, output = kept.get("protect", plan.get("protect", {})), kept.get("output", plan.get("output", {}))
    compared = visit.works.seen(engine.compare, *asked, SUPPRESSING)
    written = visit.works.seen(engine.write_tables, *asked)
    grids: list[Grid] = run.value()["grids"] if run and run.done else judged.value() if judged.done else []
    facts: dict[str, Any] = {
        "now": now, "file": state.name, "number": number, "section": section, "title": _title(section),
        "shape": forms.shape_form(project, section, errors), "levels": forms.levels_of(section), "names": forms.names_of(section),
        "rules": forms.rule_forms(section, grids[0].rules if grids else (), errors), "all_rules": list(RULES), "errors": errors,
        "methods": list(TABLE_METHODS), "method": str(protect.get("method", forms.DEFAULT)),
        "protect": forms.protect_form(protect, errors), "output": forms.output_form(output, errors),
        "path": output.get("path", ""), "result": None, "heat": None, "cell": None, "compared": _compared(compared),
        "written": written.value() if written and written.done else None, "tabs": [], "folder": str(project.folder),
        "write_error": str(written.error) if written and written.error else "", "statuses": STATUSES, "stopped": False,
    }  # fmt: skip
    running = next((one for one in (written, compared, run, judged) if one is not None and one.running), None)
    failed = next((str(one.error) for one in (run, compared, judged) if one is not None and one.error), "")
    if grids:
        facts |= _table(visit, grids, run.value() if run and run.done else None)
    return View("table.html", facts, error=errors.get("", "") or failed, work=running, status=status)


def _title(section: dict[str, Any]) -> str:
    what = section.get("response") or ", ".join(section.get("responses", [])) or "Count"
    return f"{str(what)[:1].upper()}{str(what)[1:]} by {' and '.join(forms.names_of(section))}"


def _section_number(visit: Visit[Project], sections: list[dict[str, Any]]) -> int:
    number = visit.sent.number("number", visit.number("table", 0))
    return number if 0 <= number < len(sections) else 0


def _table(visit: Visit[Project], grids: list[Grid], run: dict[str, Any] | None) -> dict[str, Any]:
    seen = Seen.read(visit.query, grids)
    grid = grids[seen.table]
    response = _response_of(run, seen.table)
    result = run["results"][response] if run else None
    exposed = frozenset(result["exposed"]) if result else frozenset()
    heat, n_rows = heat_of(grid, seen, exposed, values=visit.show_values)
    counts = result["counts"] if result else _counts(grid)
    rows, columns = grid.dimensions[0], grid.dimensions[1] if len(grid.dimensions) > 1 else None
    return {
        "grid": grid, "heat": heat, "counts": counts, "seen": seen, "result": result, "run": run,
        "verdict": _verdict(run) if run else "",
        "tabs": [(f"{one.response} by {', '.join(d['name'] for d in one.dimensions)}", seen.link(table=at, cell="", open=""),
                  at == seen.table) for at, one in enumerate(grids)] if len(grids) > 1 else [],
        "unfold": [(f"level {n}", seen.link(open="", level=n)) for n in range(1, max(rows["levels"]) + 1)],
        "deepen": [(f"level {n}", seen.link(depth=n)) for n in range(1, max(columns["levels"]) + 1)] if columns else [],
        "others": [(at + 2, one, [(node, "\u2003" * depth + one["labels"][node]) for node, depth, _ in ordered_nodes(one)])
                   for at, one in enumerate(grid.dimensions[2:])],
        "n_rows": n_rows, "most_rows": MOST_ROWS,
        "before": seen.link(**{"from": max(0, seen.start - MOST_ROWS) or ""}) if seen.start else "",
        "after": seen.link(**{"from": seen.start + MOST_ROWS}) if seen.start + MOST_ROWS < n_rows else "",
        "cell": _cell(visit, grid, seen, response if run else None),
    }  # fmt: skip


def _response_of(run: dict[str, Any] | None, table: int) -> int:
    """The response that a table belongs to."""
    for at, one in enumerate(run["results"] if run else ()):
        if table < one["tables"]:
            return at
        table -= one["tables"]
    return 0


def _verdict(run: dict[str, Any]) -> str:
    if any(one["exposed"] for one in run["results"]):
        return "not held"
    return (
        "not judged"
        if any("Not judged: no rule" in note for one in run["results"] for note in one["notes"])
        else "held"
    )


def _counts(grid: Grid) -> dict[str, int]:
    found = {name: grid.status.count(name) for name in ("safe", "primary", "secondary", "frozen", "empty")}
    return {**found, "empty": found["empty"] + grid.n_possible - len(grid.codes)}


def _cell(visit: Visit[Project], grid: Grid, seen: Seen, response: int | None) -> dict[str, Any] | None:
    """What the panel says of the chosen cell; intervals in shares of its value until values are shown."""
    if not seen.cell:
        return None
    codes = [one["codes"][node] for one, node in zip(grid.dimensions, seen.cell, strict=True)]
    place = next((at for at, nodes in enumerate(grid.codes) if tuple(nodes) == seen.cell), None)
    facts: dict[str, Any] = {"name": " × ".join(shown_name(code, 40) for code in codes), "nodes": ".".join(map(str, seen.cell)),
                             "status": "empty", "work": None, "found": None, "what_if": "", "ask": "", "error": ""}  # fmt: skip
    if place is None:
        return facts
    values = visit.show_values
    facts |= {
        "status": grid.status[place],
        "respondents": grid.counts[place],
        "value": shown_value(grid, place, values=values),
    }
    if response is None:
        return facts
    asked = (*question(visit.state), response, grid.system[place])
    work = visit.works.ask(engine.look_at_cell, *asked, title="Looking at the cell")
    facts |= {"work": work if work.running else None, "error": str(work.error or "")}
    if work.done:
        found = work.value()
        facts |= {"found": found, "intervals": _intervals(found, values), "drawn": _drawn(found, values)}
        if found["hidden"] and visit.query.get("if") == "shown":
            tried = visit.works.ask(engine.show_cell, *asked, title="Trying without the cell")
            facts |= {"what_if": str(tried.error or tried.value() or ""), "work": tried if tried.running else None}
        facts["ask"] = seen.link(**{"if": "shown", "anchor": "attacker"})
    return facts


def _intervals(found: dict[str, Any], values: bool) -> list[tuple[str, str]]:
    if found["interval"] is None:
        return []
    low, high, need_low, need_high = found["interval"]
    value = found["value"]

    def end(number: float | None) -> str:
        if number is None:
            return "open"
        if values:
            return f"{number:,.6g}"
        return "–" if not value else f"{100 * (number - value) / abs(value):+.1f} %"

    return [
        ("protection interval", f"{end(need_low)} to {end(need_high)}"),
        ("attack interval", f"{end(low)} to {end(high)}"),
    ]


def _drawn(found: dict[str, Any], values: bool) -> Any:
    """The intervals as bars, around the value or, while values are hidden, around 0 %."""
    ends, value = found["interval"], found["value"]
    if ends is None or any(end is None for end in ends) or (not values and not value):
        return None
    if not values:
        ends = [100 * (end - value) / abs(value) for end in ends]
    low, high, need_low, need_high = ends
    return intervals(
        "Interval required and found",
        [("required", need_low, need_high, "i-need"), ("found by the attacker", low, high, "i-attack")],
        value=value if values else 0.0, unit="" if values else "%",
    )  # fmt: skip


def _compared(work: Work | None) -> Table | None:
    if work is None or not work.done:
        return None
    columns = (
        Column("Method"), Column("Hidden to protect others", num=True), Column("Cost", num=True),
        Column("Exposed", num=True), Column("Search", spare=True),
    )  # fmt: skip
    rows = []
    for one in work.value():
        if one["error"]:
            rows.append(
                Row((Cell(one["method"]), Cell("–"), Cell("–"), Cell("–"), Cell(shown_name(one["error"], 300))))
            )
            continue
        rows.append(Row((Cell(one["method"]), Cell(f"{one['secondary']:,} cells"), Cell(f"{one['cost']:,.6g}"),
                         Cell(f"{one['exposed']:,} cells"), Cell(one["status"], muted=True))))  # fmt: skip
    return Table("What each method does to the table", columns, tuple(rows))


def act(visit: Visit[Project]) -> View | Go:
    """Change the plan, run, compare, write, or set a cell's status by hand."""
    project, sent = visit.state, visit.sent
    if project.plan("table") is None or not forms.sections_of(project):
        return _new(visit)
    state = project.need("table")
    version, back = sent.get("version"), Go(address("table", table=sent.number("number", 0) or ""))
    if "to" in sent:
        state.step(-1 if sent.get("to") == "undo" else 1, version=version)
    elif "shape" in sent or "rules" in sent or "add" in sent or "remove" in sent:
        return _change_section(visit, back)
    elif "status" in sent:
        return _by_hand(visit)
    elif "save" in sent or "run" in sent:
        taken = forms.take_protect(project.table("table").get("protect", {}), sent)
        return _change(visit, "protect", taken, "method", run="run" in sent) or back
    elif "output" in sent or "write" in sent:
        taken = forms.take_output(project.table("table").get("output", {}), sent)
        wrong = _change(visit, "output", taken, "output")
        if wrong is None and "write" in sent:
            visit.works.ask(engine.write_tables, *question(project), title="Writing", again=True, patience=5)
        return wrong or Go(address("table", anchor="output"))
    elif "compare" in sent:
        visit.works.ask(engine.compare, *question(project), SUPPRESSING, title="Comparing methods", again=True)
        return Go(address("table", anchor="compare"))
    return back


def _new(visit: Visit[Project]) -> View | Go:
    """Begin a table plan with dimensions and response."""
    project = visit.state
    taken = forms.take_shape({}, visit.sent)
    if taken.errors:
        return _shown(visit, taken.errors, {"table": taken.values})
    fresh_table_plan(project, {**taken.values, "rules": forms.NEW_RULES})
    return Go(address("table"))


def _change_section(visit: Visit[Project], back: Go) -> View | Go:
    project, sent = visit.state, visit.sent
    sections = forms.sections_of(project)
    number = _section_number(visit, sections)
    taken = (forms.take_shape if "shape" in sent else forms.take_rules)(sections[number], sent)
    if taken.errors:
        return _shown(visit, taken.errors, {"table": taken.values})
    state = project.need("table")
    text = forms.with_section(TomlText(state.read().text), number, taken.values)
    state.change(text.text, version=sent.get("version"), what="table" if "shape" in sent else "rules")
    return back


def _change(visit: Visit[Project], name: str, taken: Taken, what: str, *, run: bool = False) -> View | Go | None:
    """Put a section into the plan; gives the page again if something is wrong with it."""
    if taken.errors:
        return _shown(visit, taken.errors, {name: taken.values})
    state = visit.state.need("table")
    state.change(
        TomlText(state.read().text).set_section(name, taken.values).text, version=visit.sent.get("version"), what=what
    )
    if run:
        visit.works.ask(engine.protect_tables, *question(visit.state), title="Protecting the table", again=True)
    return None


def _by_hand(visit: Visit[Project]) -> View | Go:
    """Set the status of a cell: a line in the a-priori file that the plan names."""
    project, sent = visit.state, visit.sent
    state, sections = project.need("table"), forms.sections_of(project)
    number = _section_number(visit, sections)
    grids = visit.works.ask(engine.judge_table, *question(project), title="Making the table", patience=60).value()
    query = {"table": str(number), "cell": sent.get("cell")}
    seen = Seen.read(query, grids)
    codes = [one["codes"][node] for one, node in zip(grids[seen.table].dimensions, seen.cell, strict=False)]
    section = sections[number]
    name = str(section.get("a_priori") or f"{project.stem}.table{number + 1 if len(sections) > 1 else ''}.hst")
    try:
        set_by_hand(state.path, project.folder / Path(name), codes, sent.get("status"), sent.get("reason"))
    except ReticentError as err:
        return _shown(Visit(project, visit.works, query, sent, visit.show_values), {"status": str(err)}, {})
    if not section.get("a_priori"):
        text = forms.with_section(TomlText(state.read().text), number, {**section, "a_priori": name})
        state.change(text.text, version=sent.get("version"), what="status by hand")
    visit.works.ask(engine.judge_table, *question(project), title="Making the table")
    return Go(address("table", table=number or "", cell=sent.get("cell"), anchor="attacker"))


def note(project: Project) -> Note:
    """Whether there is a table."""
    state = project.plan("table") if project.ready else None
    return Note("done" if (project.folder / str(project.table("table").get("output", {}).get("path"))).is_file() else "open",
                "table") if state else Note()  # fmt: skip


PAGE = Page("table", "Table", "Tables and queries", show, act, note)
