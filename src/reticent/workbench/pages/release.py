# SPDX-License-Identifier: Apache-2.0
"""Release: what will be written, the verdict together with all earlier releases and its proof, record and write."""

from typing import Any

from reticent.base.errors import ReticentError
from reticent.jobs.options import LedgerSection
from reticent.jobs.release_view import names_to_write
from reticent.web.form_values import Taken, take_form
from reticent.web.forms import form_of
from reticent.web.parts import Cell, Column, Row, Table
from reticent.web.site import Go, Note, Page, View, Visit, address
from reticent.web.toml_text import TomlText
from reticent.web.work import Work
from reticent.workbench import release_engine as engine
from reticent.workbench.ledgers import first_section, next_release, plan_kinds, section_of
from reticent.workbench.project import Project
from reticent.workbench.repeat import release_judged, release_question

STATES = {"safe": "held", "exposed": "not held", "undecided": "not judged"}
TITLES = {"file": "File", "table": "Table"}
EDITED_ON = {"file": "plan", "table": "table"}
"""The page on which a plan of each kind is changed."""
PLACES = {
    "is recorded already": "name", "belongs to another data set": "dataset", "database file in database": "database",
    "accept_uncertified": "accept_uncertified", "accept_repeat": "accept_repeat", "was other data": "version",
    "forbids making one": "create", "ledger needs a secret": "path",
}  # fmt: skip
"""Words of sentences about a ledger, and the field that each is about."""
OWN = "ledger."
"""Before the names of the ledger's fields: it has a `version` of its own."""
FIRST = (f"{OWN}path", f"{OWN}name")
"""The fields that every release needs; the others stand below them."""


def show(visit: Visit[Project]) -> View | Go:
    """The release of a plan."""
    return _shown(visit, Taken({}, {}))


def _shown(visit: Visit[Project], taken: Taken) -> View | Go:
    project = visit.state
    if not project.ready:
        return Go(address("data"))
    kinds = plan_kinds(project)
    kind = _kind(visit, kinds)
    if not kind:
        return View("release.html", {"kind": "", "kinds": []})
    section = section_of(project, kind)
    state = project.need(kind)
    judged = release_judged(visit, kind) if section else None
    released = visit.works.seen(engine.release, *release_question(project, kind)) if section else None
    failed = next((str(one.error) for one in (released, judged) if one is not None and one.error), "")
    place = next((field for words, field in PLACES.items() if words in failed), "")
    errors = {**({place: failed} if place else {}), **taken.errors}
    fields = form_of(
        LedgerSection,
        taken.values or section or first_section(project, kind),
        errors={f"{OWN}{name}": text for name, text in errors.items()},
        prefix=OWN,
    )
    over = released is not None and released.done
    outputs, unreadable = _outputs(project, kind, over=over)
    facts: dict[str, Any] = {
        "kind": kind, "kinds": [(TITLES[one], address("release", plan=one), one == kind) for one in kinds],
        "now": state.read(), "file": state.name, "section": section, "change": address(EDITED_ON[kind]),
        "form": [one for one in fields if one.name in FIRST], "more": [one for one in fields if one.name not in FIRST],
        "outputs": outputs, "unreadable": unreadable, "released": None, **_verdict(project, kind, judged),
    }  # fmt: skip
    if released is not None and over:
        facts |= {"released": released.value()}
    running = next((one for one in (released, judged) if one is not None and one.running), None)
    return View("release.html", facts, error="" if place else failed, work=running, status=422 if taken.errors else 200)


def _verdict(project: Project, kind: str, judged: Work | None) -> dict[str, Any]:
    """What was found, unless the ledger has moved on since."""
    if judged is None or not judged.done or "ledger" not in judged.value():
        return {"found": None, "state": "", "stale": False, "offers": {}, "also": []}
    found = judged.value()
    if tuple(found["ledger"]) != engine.ledger_state(str(project.need(kind).path)):
        return {"found": None, "state": "", "stale": True, "offers": {}, "also": []}
    return {
        "found": found, "state": STATES[found["outcome"]], "stale": False, "offers": _offers(found["instead"] or {}),
        "also": [_cell(one) for one in found["hidden in addition"]],
    }  # fmt: skip


def _offers(instead: dict[str, Any]) -> dict[str, list[str]]:
    """What could be released instead of what was refused; intervals, which show values, are left to the command line."""
    coarser = [
        f"leave out {one['variable']}" if not one["level"] else f"{one['variable']} at level {one['level']}"
        for one in instead.get("coarser", [])
    ]
    return {"hide": [_cell(one) for one in instead.get("hide", [])], "coarser": coarser}


def _cell(one: dict[str, Any]) -> str:
    return " × ".join(map(str, one["cell"]))


def _kind(visit: Visit[Project], kinds: list[str]) -> str:
    asked = visit.sent.get("plan") or visit.query.get("plan", "")
    begun = [one for one in kinds if one != "file" or visit.state.table("file").get("step")]
    return asked if asked in kinds else [*begun, *kinds, ""][0]


def _outputs(project: Project, kind: str, *, over: bool) -> tuple[Table | None, str]:
    """The files that a release writes, or has written when it is over; or what is wrong with the plan."""
    try:
        names = names_to_write(project.need(kind).path)
    except ReticentError as err:
        return None, str(err)
    now = {True: "written" if over else "is there, will be replaced", False: "gone" if over else "new"}
    rows = tuple(
        Row((Cell(name), Cell(what), Cell(now[(project.folder / name).is_file()], muted=True))) for what, name in names
    )
    title = "What was written" if over else "What will be written"
    return Table(title, (Column("File"), Column("Who may have it"), Column("Now")), rows), ""


def act(visit: Visit[Project]) -> View | Go:
    """Name the ledger, judge, release, or begin another release."""
    project, sent = visit.state, visit.sent
    kind = _kind(visit, plan_kinds(project))
    if not kind:
        return Go(address("release"))
    if FIRST[0] in sent and ("save" in sent or "judge" in sent):
        taken = take_form(LedgerSection, sent.below(OWN), kept=section_of(project, kind))
        if taken.errors:
            return _shown(visit, taken)
        state = project.need(kind)
        text = TomlText(state.read().text).set_section("ledger", taken.values)
        state.change(text.text, version=sent.get("version"), what="ledger")
    elif "judge" in sent or "release" in sent:  # what is judged and recorded is the plan that the page shows
        project.need(kind).require(sent.get("version"))
    if "judge" in sent:
        visit.works.ask(
            engine.judge, *release_question(project, kind), title="Judging with earlier releases", again=True
        )
    elif "release" in sent and _is_held(visit, kind):
        visit.works.ask(engine.release, *release_question(project, kind), title="Releasing", again=True)
    elif "memory" in sent:
        state = project.need(kind)
        text = TomlText(state.read().text).set_section("ledger", {**section_of(project, kind), "memory": True})
        state.change(text.text, version=sent.get("version"), what="memory")
        visit.works.ask(engine.judge, *release_question(project, kind), title="Hiding more, judging again", again=True)
    elif "again" in sent:
        next_release(project, kind, version=sent.get("version"))
        return Go(address(EDITED_ON[kind]))
    return Go(address("release", plan=kind))


def _is_held(visit: Visit[Project], kind: str) -> bool:
    """Whether the plan as it is now was judged and holds: what is recorded is what the page showed."""
    judged = release_judged(visit, kind)
    return judged is not None and judged.done and _verdict(visit.state, kind, judged)["state"] == "held"


def note(project: Project) -> Note:
    """Nothing is said before the page is opened."""
    return Note()


PAGE = Page("release", "Release", "Publish", show, act, note)
