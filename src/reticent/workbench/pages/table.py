# SPDX-License-Identifier: Apache-2.0
"""Table: dimensions, response and rules; the heat map with the status of each cell; one cell in full; protect, compare, write."""

import json
from pathlib import Path
from typing import Any

from reticent.base.errors import ReticentError
from reticent.jobs.options import RULES, TABLE_METHODS
from reticent.jobs.table_view import Grid, set_by_hand
from reticent.web.environment import shown_name
from reticent.web.form_values import Taken
from reticent.web.parts import Cell, Column, Row, Table
from reticent.web.site import Go, Note, Page, View, Visit, address
from reticent.web.state import TextState
from reticent.web.toml_text import TomlText
from reticent.web.work import Work
from reticent.workbench import table_engine as engine
from reticent.workbench import table_forms as forms
from reticent.workbench.project import Project
from reticent.workbench.repeat import SAID, STEPS, table_run, table_written, without_old_steps
from reticent.workbench.table_cell import cell_panel
from reticent.workbench.table_grid import HIDDEN_FIRST, MOST_ROWS, Seen, colour_of, colours_of, heat_of, ordered_nodes
from reticent.workbench.table_plan import fresh_table_plan, judge_question, question, sections_of_grids, write_question

SUPPRESSING = ("heuristic", "hypercube", "modular", "optimal")
OF_AMOUNTS = ("dominance", "p-percent", "pq", "manual", "request")
"""Rules that look at contributions, or that somebody else answers for."""
STATUSES = {
    "rules": "by the rules", "safe": "safe: respondents agreed", "unsafe": "unsafe", "frozen": "frozen: never hide",
    "hidden": "hidden: hide in any case",
}  # fmt: skip
DEARER = ((1.1, "up to 10 % more"), (1.5, "10 to 50 % more"), (2.0, "50 to 100 % more"))
"""How costs are compared unasked: a finer share, and values that only one pattern publishes, would tell what both hide."""
SOON = 0.7
"""Seconds until the page appears although the table is still being made."""
PATIENT = 60
"""Seconds that a click waits for a table that it needs."""


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
    if state is None or not sections or "new" in visit.query:
        facts = {
            "form": forms.shape_form(project, kept.get("table", {}), errors), "linked": bool(sections),
            "version": state.read().version if state is not None and sections else "",
        }  # fmt: skip
        return View("table_new.html", facts, error=errors.get("", ""), status=status)
    works = _works(visit)
    grids: list[Grid] = works["run"].value()["grids"] if _done(works["run"]) else []
    grids = grids or (works["judged"].value() if _done(works["judged"]) else [])
    facts = _forms(visit, sections, grids, errors, kept) | {
        "file": state.name, "now": state.read(), "folder": str(project.folder), "statuses": STATUSES, "errors": errors,
        "compared": _compared(works["compared"], values=visit.show_values),
        "written": works["written"].value()["names"] if _done(works["written"]) else None,
        "write_error": str(works["written"].error or "") if works["written"] else "",
        "reason": visit.sent.get("reason"), "status": visit.sent.get("status"),
    }  # fmt: skip
    if grids:
        facts |= _table(visit, grids, works["run"].value() if _done(works["run"]) else None)
    running = next((one for one in works.values() if one is not None and one.running), None)
    failed = [works[name] for name in ("run", "compared", "judged")]
    error = errors.get("", "") or next((str(one.error) for one in failed if one is not None and one.error), "")
    return View("table.html", facts, error=error, work=running, status=status)


def _works(visit: Visit[Project]) -> dict[str, Any]:
    """Everything that was asked about the plan as it is now; the table itself is made in any case."""
    run, written = table_run(visit), table_written(visit)
    asked = question(visit.state)
    judged = visit.works.ask(engine.judge_table, *judge_question(visit.state), title="Making the table", patience=SOON)
    return {
        "written": written,
        "compared": visit.works.seen(engine.compare, *asked, SUPPRESSING),
        "run": run,
        "judged": judged,
    }


def _done(work: Work | None) -> bool:
    return work is not None and work.done


def _forms(
    visit: Visit[Project], sections: list[dict[str, Any]], grids: list[Grid], errors: dict[str, str], kept: dict[str, Any]
) -> dict[str, Any]:  # fmt: skip
    """The forms of the page: rules, method, dimensions, output."""
    project = visit.state
    plan, number = project.table("table"), _section_number(visit, sections, grids)
    section = {**sections[number], **kept.get("table", {})}
    protect, output = kept.get("protect", plan.get("protect", {})), kept.get("output", plan.get("output", {}))
    rules = kept.get("rules", forms.all_rules(sections))
    seen = Seen.read(visit.query, grids).table if grids else 0
    what = ", ".join(forms.responses_of(section)) or "count"
    return {
        "number": number, "title": f"{what[:1].upper()}{what[1:]} by {' and '.join(forms.names_of(section))}",
        "shape": forms.shape_form(project, section, errors), "names": forms.names_of(section), "n_tables": len(sections),
        "levels": [visit.sent.get(f"level.{at}", text) for at, text in enumerate(forms.levels_of(section))],
        "rules": forms.rule_forms(rules, grids[seen].rules if grids else (), errors), "all_rules": forms.about(RULES),
        "unsafe": grids[seen].status.count("primary") if grids else None, "new_rule": visit.sent.get("new"),
        "methods": forms.about(TABLE_METHODS), "method": str(protect.get("method", forms.DEFAULT)),
        "protect": forms.protect_form(protect, errors), "output": forms.output_form(output, errors),
        "by_steps": SAID if STEPS in protect else "",
        "only_counts": bool(rules) and what != "count" and not any(one.get("rule") in OF_AMOUNTS for one in rules),
        "heat": None, "cell": None, "result": None, "tabs": [], "released": "ledger" in plan,
    }  # fmt: skip


def _section_number(visit: Visit[Project], sections: list[dict[str, Any]], grids: list[Grid]) -> int:
    """The table of the plan that a form is about, or that is looked at."""
    shown = sections_of_grids(sections, grids)[Seen.read(visit.query, grids).table] if grids else 0
    number = visit.sent.number("number", shown)
    return number if 0 <= number < len(sections) else 0


def _table(visit: Visit[Project], grids: list[Grid], run: dict[str, Any] | None) -> dict[str, Any]:
    seen = Seen.read(visit.query, grids)
    grid = grids[seen.table]
    response = _response_of(run, seen.table)
    result = run["results"][response] if run else None
    exposed = frozenset(result["exposed"]) if result else frozenset()
    colour = colour_of(grid, seen, values=visit.show_values)
    heat, n_rows = heat_of(grid, seen, exposed, values=visit.show_values)
    rows, columns = grid.dimensions[0], grid.dimensions[1] if len(grid.dimensions) > 1 else None
    return {
        "some_shown": any(value is not None for value in grid.shown), "said": _said(result, values=visit.show_values),
        "grid": grid, "heat": heat, "counts": result["counts"] if result else _counts(grid), "seen": seen, "result": result,
        "run": run, "verdict": _verdict(run) if run else "", "title": _title(grid),
        "tabs": [(_title(one), address("table", table=at or ""), at == seen.table) for at, one in enumerate(grids)],
        "unfold": [(f"level {n}", seen.link(open="", level=n)) for n in range(1, max(rows["levels"]) + 1)],
        "deepen": [(f"level {n}", seen.link(depth=n)) for n in range(1, max(columns["levels"]) + 1)] if columns else [],
        "others": [(at + 2, one, [(node, "\u2003" * depth + one["labels"][node]) for node, depth, _ in ordered_nodes(one)])
                   for at, one in enumerate(grid.dimensions[2:])],
        "orders": [("by code", seen.link(sort=""), not seen.sort),
                   ("hidden cells first", seen.link(sort=HIDDEN_FIRST), seen.sort == HIDDEN_FIRST)],
        "colour": colour, "n_rows": n_rows, "most_rows": MOST_ROWS,
        "colours": [(one, seen.link(colour=one), one == colour) for one in colours_of(grid, values=visit.show_values)],
        "before": seen.link(**{"from": max(0, seen.start - MOST_ROWS) or ""}) if seen.start else "",
        "after": seen.link(**{"from": seen.start + MOST_ROWS}) if seen.start + MOST_ROWS < n_rows else "",
        "cell": cell_panel(visit, grid, seen, response if run else None),
    }  # fmt: skip


def _said(result: dict[str, Any] | None, *, values: bool) -> str:
    """The result in a line; the cost of hiding is mostly a sum of values, so it waits for these."""
    if result is None:
        return ""
    counts = result["counts"]
    cost = f"; cost {result['cost']:,.6g} ({result['state']})" if values else ""
    return (
        f"{sum(counts.values()):,} cells: {counts['primary']:,} primary, {counts['secondary']:,} secondary, "
        f"{len(result['exposed']):,} exposed{cost}."
    )


def _title(grid: Grid) -> str:
    names = [one["name"] for one in grid.dimensions]
    return f"{grid.response[:1].upper()}{grid.response[1:]} by {' and '.join(names)}"


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
    unjudged = any("Not judged: no rule" in note for one in run["results"] for note in one["notes"])
    unjudged = unjudged or any(one["verdict"] == "not judged" for one in run["results"])
    return "not judged" if unjudged else "held"


def _counts(grid: Grid) -> dict[str, int]:
    found = {name: grid.status.count(name) for name in ("safe", "primary", "secondary", "frozen", "empty")}
    return {**found, "empty": found["empty"] + grid.n_possible - len(grid.codes)}


def _compared(work: Work | None, *, values: bool) -> Table | None:
    """What each method does; costs are mostly sums of values, so before these are shown they stand beside the lowest."""
    if work is None or not work.done:
        return None
    least = min((one["cost"] for one in work.value() if not one["error"]), default=0.0)
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
        rows.append(Row((Cell(one["method"]), Cell(f"{one['secondary']:,} cells"), Cell(_cost(one["cost"], least, values=values)),
                         Cell(f"{one['exposed']:,} cells"), Cell(one["status"], muted=True))))  # fmt: skip
    return Table("What each method does to the table", columns, tuple(rows))


def _cost(cost: float, least: float, *, values: bool) -> str:
    if values:
        return f"{cost:,.6g}"
    if cost <= least * (1 + 1e-9):
        return "least"
    if least <= 0:
        return "more"
    return next((words for most, words in DEARER if cost <= most * least), "more than double")


def act(visit: Visit[Project]) -> View | Go:
    """Change the plan, run, compare, write, or set a cell's status by hand."""
    project, sent = visit.state, visit.sent
    if project.plan("table") is None or not forms.sections_of(project):
        return _new(visit)
    state = project.need("table")
    if "to" in sent:
        state.step(-1 if sent.get("to") == "undo" else 1, version=sent.get("version"))
        return Go(address("table"))
    for names, change in ACTIONS:
        if any(name in sent for name in names):
            return change(visit, state)
    return _back(visit)


def _back(visit: Visit[Project], anchor: str = "") -> Go:
    """The same view again."""
    return Go(address("table", **visit.query, anchor=anchor))


def _new(visit: Visit[Project]) -> View | Go:
    """Begin a table plan with dimensions and response."""
    taken = forms.take_shape({}, visit.sent)
    if taken.errors:
        return _shown(visit, taken.errors, {"table": taken.values})
    fresh_table_plan(visit.state, {**taken.values, "rules": forms.NEW_RULES})
    return Go(address("table"))


def _add_table(visit: Visit[Project], state: TextState) -> View | Go:
    """One more table, linked to the others by the codes that they share."""
    taken = forms.take_shape({}, visit.sent)
    if taken.errors:
        return _shown(visit, taken.errors, {"table": taken.values})
    text = forms.added(TomlText(state.read().text), taken.values)
    _save(visit, state, text, "one more table")
    return Go(address("table", table=len(forms.sections_of(visit.state)) - 1))


def _drop_table(visit: Visit[Project], state: TextState) -> Go:
    sections = forms.sections_of(visit.state)
    if len(sections) > 1:
        text = forms.removed(TomlText(state.read().text), _section_number(visit, sections, []))
        _save(visit, state, text, "removal of a table")
    return Go(address("table"))


def _change_shape(visit: Visit[Project], state: TextState) -> View | Go:
    sections = forms.sections_of(visit.state)
    number = _section_number(visit, sections, [])
    taken = forms.take_shape(sections[number], visit.sent)
    if taken.errors:
        return _shown(visit, taken.errors, {"table": taken.values})
    text = forms.with_section(TomlText(state.read().text), number, taken.values)
    _save(visit, state, text, "dimensions")
    return Go(address("table", table=number or ""))


def _swap(visit: Visit[Project], state: TextState) -> Go:
    """The first two dimensions of a table in the other order."""
    sections = forms.sections_of(visit.state)
    number = _section_number(visit, sections, [])
    first, *rest = sections[number]["dimensions"]
    if rest:
        turned = {**sections[number], "dimensions": [rest[0], first, *rest[1:]]}
        _save(visit, state, forms.with_section(TomlText(state.read().text), number, turned), "order of dimensions")
    return Go(address("table", table=number or "", anchor="cells"))


def _change_rules(visit: Visit[Project], state: TextState) -> View | Go:
    sections = forms.sections_of(visit.state)
    taken = forms.take_rules(forms.all_rules(sections), visit.sent)
    if "try" in visit.sent:
        return _tried(visit, taken)
    if taken.errors:
        return _shown(visit, taken.errors, {"rules": taken.values["rules"]})
    text = forms.with_rules(TomlText(state.read().text), sections, taken.values["rules"])
    _save(visit, state, text, "rules")
    return _back(visit, "rules")


def _tried(visit: Visit[Project], taken: Taken) -> View:
    """What the rules as they are being typed would do; nothing is saved."""
    rules, table = taken.values["rules"], max(visit.number("table", 0), 0)
    wrong = {int(key.split(".")[1]): text for key, text in taken.errors.items() if key.startswith("rule.")}
    good = [at for at in range(len(rules)) if at not in wrong]
    asked = json.dumps([rules[at] for at in good], sort_keys=True)
    work = visit.works.ask(engine.try_table, *judge_question(visit.state), asked, title="Counting", patience=PATIENT)
    found = work.value() if work.done else []
    one = found[table if table < len(found) else 0] if found else {"rules": [], "unsafe": None}
    words = {at: forms.unsafe_words(one["rules"], place) for place, at in enumerate(good)}
    return View("table_tried.html", {
        "said": [(at, wrong.get(at) or words[at], at in wrong) for at in range(len(rules))],
        "unsafe": None if wrong else one["unsafe"], "failed": str(work.error or ""),
    })  # fmt: skip


def _change_method(visit: Visit[Project], state: TextState) -> View | Go:
    taken = forms.take_protect(visit.state.table("table").get("protect", {}), visit.sent)
    if taken.errors:
        return _shown(visit, taken.errors, {"protect": taken.values})
    _put(visit, state, "protect", taken, "method")
    if "run" in visit.sent:
        visit.works.ask(engine.protect_tables, *question(visit.state), title="Protecting the table", again=True)
    return _back(visit, "main" if "run" in visit.sent else "method")


def _change_output(visit: Visit[Project], state: TextState) -> View | Go:
    taken = forms.take_output(visit.state.table("table").get("output", {}), visit.sent)
    if taken.errors:
        return _shown(visit, taken.errors, {"output": taken.values})
    _put(visit, state, "output", taken, "output")
    if "write" in visit.sent:
        visit.works.ask(engine.write_tables, *write_question(visit.state), title="Writing", again=True)
    return _back(visit, "output")


def _put(visit: Visit[Project], state: TextState, name: str, taken: Taken, what: str) -> None:
    """Put a section into the plan."""
    _save(visit, state, TomlText(state.read().text).set_section(name, taken.values), what)


def _save(visit: Visit[Project], state: TextState, text: TomlText, what: str) -> None:
    """Another text of the plan in place of the one that the page was made from."""
    text = without_old_steps(TomlText(state.read().text), text)
    state.change(text.text, version=visit.sent.get("version"), what=what)


def _compare(visit: Visit[Project], state: TextState) -> Go:
    visit.works.ask(engine.compare, *question(visit.state), SUPPRESSING, title="Comparing methods", again=True)
    return _back(visit, "compare")


def _by_hand(visit: Visit[Project], state: TextState) -> View | Go:
    """Set the status of a cell: a line in the a-priori file that the plan names."""
    project, sent = visit.state, visit.sent
    state.require(sent.get("version"))  # the cell is named by its place in the table that the page showed
    sections = forms.sections_of(project)
    grids = visit.works.ask(engine.judge_table, *judge_question(project), title="Making the table").value()
    seen = Seen.read({**visit.query, "cell": sent.get("cell")}, grids)
    number = sections_of_grids(sections, grids)[seen.table]
    codes = [one["codes"][node] for one, node in zip(grids[seen.table].dimensions, seen.cell, strict=False)]
    section = sections[number]
    name = str(section.get("a_priori") or f"{project.stem}.table{number + 1 if len(sections) > 1 else ''}.hst")
    try:
        set_by_hand(state.path, project.folder / Path(name), codes, sent.get("status"), sent.get("reason"))
    except ReticentError as err:
        return _shown(visit, {"status": str(err)}, {})
    if not section.get("a_priori"):
        text = forms.with_section(TomlText(state.read().text), number, {**section, "a_priori": name})
        _save(visit, state, text, "status by hand")
    return Go(address("table", **{**visit.query, "cell": sent.get("cell")}, anchor="attacker"))


ACTIONS = (
    (("rules", "add", "remove", "try"), _change_rules),
    (("another",), _add_table),
    (("drop",), _drop_table),
    (("swap",), _swap),
    (("shape",), _change_shape),
    (("save", "run"), _change_method),
    (("output", "write"), _change_output),
    (("compare",), _compare),
    (("status",), _by_hand),
)
"""What a form sends, and what is done about it; the first that fits."""


def note(project: Project) -> Note:
    """Whether there is a table."""
    state = project.plan("table") if project.ready else None
    return Note("done" if (project.folder / str(project.table("table").get("output", {}).get("path"))).is_file() else "open",
                "table") if state else Note()  # fmt: skip


PAGE = Page("table", "Table", "Tables and queries", show, act, note)
