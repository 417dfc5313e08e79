"""Release: what will be written, the verdict together with all earlier releases, record and write."""

from typing import Any

from reticent.jobs.options import LedgerSection
from reticent.web.form_values import take_form
from reticent.web.forms import form_of
from reticent.web.parts import Cell, Column, Row, Table
from reticent.web.site import Go, Note, Page, View, Visit, address
from reticent.web.toml_text import TomlText
from reticent.workbench import release_engine as engine
from reticent.workbench.ledgers import first_section, plan_kinds, section_of
from reticent.workbench.project import Project
from reticent.workbench.table_plan import question as table_question

STATES = {"safe": "held", "exposed": "not held", "undecided": "not judged"}
WRITTEN = {
    "path": ("the protected data", "publishable"), "schema": ("their description", "publishable"),
    "public_report": ("report for everybody", "publishable"), "report": ("report for the office", "confidential"),
    "summary": ("summary for programs", "confidential"),
}  # fmt: skip
TITLES = {"file": "File", "table": "Table"}


def show(visit: Visit[Project]) -> View | Go:
    """The release of a plan."""
    return _shown(visit, {}, {})


def _shown(visit: Visit[Project], errors: dict[str, str], sent: dict[str, Any]) -> View | Go:
    project = visit.state
    if not project.ready:
        return Go(address("data"))
    kinds = plan_kinds(project)
    kind = _kind(visit, kinds)
    if not kind:
        return View("release.html", {"kind": "", "kinds": []})
    section = section_of(project, kind)
    fields = form_of(LedgerSection, sent or section or first_section(project, kind), errors=errors)
    state = project.need(kind)
    facts: dict[str, Any] = {
        "kind": kind, "kinds": [(TITLES[one], address("release", plan=one), one == kind) for one in kinds],
        "now": state.read(), "file": state.name, "form": fields, "section": section,
        "outputs": _outputs(project, kind), "found": None, "released": None,
        "state": "", "error_of_release": "",
    }  # fmt: skip
    works = []
    if section:
        judged = visit.works.seen(engine.judge, *_question(project, kind))
        released = visit.works.seen(engine.release, *_question(project, kind))
        works = [one for one in (released, judged) if one is not None]
        if judged is not None and judged.done:
            facts |= {"found": judged.value(), "state": STATES[judged.value()["outcome"]]}
        if released is not None and released.done:
            facts |= {"released": released.value()}
    running = next((one for one in works if one.running), None)
    error = next((str(one.error) for one in works if one.error), "")
    return View("release.html", facts, error=error, work=running, status=422 if errors else 200)


def _kind(visit: Visit[Project], kinds: list[str]) -> str:
    asked = visit.sent.get("plan") or visit.query.get("plan", "")
    return asked if asked in kinds else kinds[0] if kinds else ""


def _question(project: Project, kind: str) -> tuple[str, str, Any]:
    state = project.need(kind)
    stamp = table_question(project)[2] if kind == "table" else project.stamp()
    return str(state.path), state.read().version, stamp


def _outputs(project: Project, kind: str) -> Table:
    output = project.table(kind).get("output", {})
    rows = [
        Row((Cell(str(output[name])), Cell(what, muted=True), Cell(leaves), Cell(
            "is there already" if (project.folder / str(output[name])).is_file() else "not written yet", muted=True)))
        for name, (what, leaves) in WRITTEN.items()
        if output.get(name)
    ]  # fmt: skip
    return Table(
        "What will be written",
        (Column("File"), Column("What"), Column("May leave"), Column("Now", spare=True)),
        tuple(rows),
    )


def act(visit: Visit[Project]) -> View | Go:
    """Name the ledger, judge, or release."""
    project, sent = visit.state, visit.sent
    kind = _kind(visit, plan_kinds(project))
    if not kind:
        return Go(address("release"))
    back = Go(address("release", plan=kind))
    if "save" in sent:
        taken = take_form(LedgerSection, sent, kept=section_of(project, kind))
        if taken.errors:
            return _shown(visit, taken.errors, taken.values)
        state = project.need(kind)
        text = TomlText(state.read().text).set_section("ledger", taken.values)
        state.change(text.text, version=sent.get("version"), what="ledger")
    elif "judge" in sent:
        visit.works.ask(engine.judge, *_question(project, kind), title="Judging with earlier releases", again=True)
    elif "release" in sent:
        visit.works.ask(engine.release, *_question(project, kind), title="Releasing", again=True)
    return back


def note(project: Project) -> Note:
    """Nothing is said before the page is opened."""
    return Note()


PAGE = Page("release", "Release", "Publish", show, act, note)
