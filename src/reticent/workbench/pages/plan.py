# SPDX-License-Identifier: Apache-2.0
"""Plan: the steps as cards and as text side by side, both editable; add, remove, reorder, switch off, undo, redo."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reticent.base.errors import ReticentError
from reticent.jobs.options import METHODS, FileOutputSection, Group, RiskSection
from reticent.jobs.project import check_steps
from reticent.web.environment import shown_name
from reticent.web.form_values import Taken, take_form
from reticent.web.forms import Field, form_of
from reticent.web.parts import Cell, Column, Row, Table
from reticent.web.site import Go, Note, Page, View, Visit, address
from reticent.web.state import TextState
from reticent.web.toml_text import TomlText, parse
from reticent.web.work import Work
from reticent.workbench import engine
from reticent.workbench.plan_draft import ask_draft, draft_facts, draft_work, take_draft
from reticent.workbench.project import Project
from reticent.workbench.steps import (
    about,
    brief,
    form_for,
    known,
    method_class,
    more_about,
    options_of,
    steps_of,
    title_of,
)

OUTRIGHT = ("identifier", "household-id", "entity")
"""Roles of variables that say who somebody is, or who lives with whom."""
SECTIONS: dict[str, type[Any]] = {"risk": RiskSection, "output": FileOutputSection}


def show(visit: Visit[Project]) -> View | Go:
    """The plan; the address says which step, section or text is open."""
    if not visit.state.ready:
        return Go(address("data"))
    return _page(visit, visit.state.need("file"))


def act(visit: Visit[Project]) -> View | Go:
    """One change of the plan."""
    state, sent = visit.state.need("file"), visit.sent
    for name, change in ACTIONS.items():
        if name in sent:
            return change(visit, state)
    return Go(address("plan"))


def _history(visit: Visit[Project], state: TextState) -> Go:
    state.step(-1 if visit.sent.get("to") == "undo" else 1, version=visit.sent.get("version"))
    return Go(address("plan"))


def _save_text(visit: Visit[Project], state: TextState) -> View | Go:
    """Take the whole text; one that is no TOML stays on the page with the line that is wrong."""
    text = visit.sent.get("text").replace("\r\n", "\n")
    text += "" if text.endswith("\n") else "\n"
    try:
        parse(text, owner=state.name)
    except ReticentError as err:
        return _page(visit, state, _Open(text=text, text_error=str(err)))
    state.change(text, version=visit.sent.get("version"), what="edit of the text")
    return Go(address("plan"))


def _add(visit: Visit[Project], state: TextState) -> View | Go:
    method = visit.sent.get("add")
    cls = method_class(method)
    taken = take_form(cls, visit.sent, owner=method)
    if taken.errors or "more" in visit.sent:
        return _page(visit, state, _Open(add=method, taken=taken))
    text = TomlText(state.read().text)
    steps = text.entries("step")
    entry = {"method": method, **taken.values}
    after = min(max(visit.sent.number("after", len(steps)), 0), len(steps))
    state.change(
        text.insert("step", after, entry).text, version=visit.sent.get("version"), what=title_of(entry).lower()
    )
    return Go(address("plan", anchor=f"step-{after + 1}"))  # closed: the next step is added below it


def _save_step(visit: Visit[Project], state: TextState) -> View | Go:
    number = visit.sent.number("step")
    text, entry = _entry(state, number)
    method = str(entry.get("method"))
    taken = take_form(method_class(method), visit.sent, kept=options_of(entry), owner=method)
    if taken.errors or "more" in visit.sent:
        return _page(visit, state, _Open(step=number, taken=taken))
    active = {} if visit.sent.get("active") == "on" else {"active": False}
    new = {"method": method, **active, **taken.values}
    changed = text.set_entry("step", number - 1, new).text
    state.change(changed, version=visit.sent.get("version"), what=title_of(new).lower())
    return Go(address("plan", step=number, anchor=f"step-{number}"))


def _remove(visit: Visit[Project], state: TextState) -> Go:
    number = visit.sent.number("remove")
    text, entry = _entry(state, number)
    what = f"removal of {title_of(entry).lower()}"
    state.change(text.remove("step", number - 1).text, version=visit.sent.get("version"), what=what)
    return Go(address("plan"))


def _switch(visit: Visit[Project], state: TextState) -> Go:
    number = visit.sent.number("switch")
    text, entry = _entry(state, number)
    off = entry.get("active", True) is False
    new = {key: value for key, value in entry.items() if key != "active"}
    new = new if off else {"method": entry.get("method"), "active": False, **new}
    what = f"{title_of(entry).lower()} switched {'on' if off else 'off'}"
    state.change(text.set_entry("step", number - 1, new).text, version=visit.sent.get("version"), what=what)
    return Go(address("plan", anchor=f"step-{number}"))


def _move(visit: Visit[Project], state: TextState) -> Go:
    up = "up" in visit.sent
    number = visit.sent.number("up" if up else "down")
    text, entry = _entry(state, number)
    to = number - 1 if up else number + 1
    if 1 <= to <= len(text.entries("step")):
        what = f"move of {title_of(entry).lower()}"
        state.change(text.move("step", number - 1, to - 1).text, version=visit.sent.get("version"), what=what)
    return Go(address("plan", anchor=f"step-{max(to, 1)}"))


def _save_section(visit: Visit[Project], state: TextState) -> View | Go:
    name = visit.sent.get("section")
    if name not in SECTIONS:
        raise ReticentError(f"{state.name}: there is no such section here; change it as text.")
    cls = SECTIONS[name]
    text = TomlText(state.read().text)
    taken = take_form(cls, visit.sent, kept=text.table.get(name, {}), owner=f"[{name}]")
    if taken.errors:
        return _page(visit, state, _Open(section=name, taken=taken))
    state.change(
        text.set_section(name, taken.values).text, version=visit.sent.get("version"), what=f"change of [{name}]"
    )
    return Go(address("plan", section=name, anchor=name))


def _entry(state: TextState, number: int) -> tuple[TomlText, dict[str, Any]]:
    text = TomlText(state.read().text)
    steps = text.entries("step")
    if not 1 <= number <= len(steps):
        raise ReticentError(f"{state.name}: there is no step {number} any more.")
    return text, steps[number - 1]


def _preview(visit: Visit[Project], state: TextState) -> Go:
    visit.works.ask(engine.preview, *visit.state.plan_question("file"), title="Counting after each step", again=True)
    return Go(address("plan", step=visit.sent.number("preview", 0) or None, anchor="attacker"))


ACTIONS: dict[str, Callable[[Visit[Project], TextState], View | Go]] = {
    "to": _history,
    "preview": _preview,
    "draft": ask_draft,
    "take": take_draft,
    "text": _save_text,
    "remove": _remove,
    "switch": _switch,
    "up": _move,
    "down": _move,
    "section": _save_section,
    "add": _add,
    "step": _save_step,
}


@dataclass(frozen=True)
class _Open:
    """What is open on the page: a step, a new step, a section or the text, and what a form sent and was not taken."""

    step: int = 0
    add: str = ""
    section: str = ""
    taken: Taken | None = None
    text: str | None = None
    text_error: str = ""

    @property
    def errors(self) -> Mapping[str, str]:
        return self.taken.errors if self.taken else {}


def _opened(visit: Visit[Project], n_steps: int) -> _Open:
    """What the address asks to have open."""
    asked, step = visit.query, visit.number("step", 0)
    add, section = asked.get("add", ""), asked.get("section", "")
    return _Open(
        step if 1 <= step <= n_steps else 0, add if add in METHODS else "", section if section in SECTIONS else ""
    )


def _page(visit: Visit[Project], state: TextState, sent: _Open | None = None) -> View:
    """The page; what a form sent and was not taken is in the form again, with its sentences."""
    now = state.read()
    try:
        plan = TomlText(now.text)
    except ReticentError as err:  # edited outside: only the text can be corrected
        text, wrong_text = (sent.text, sent.text_error) if sent and sent.text is not None else (now.text, str(err))
        return View("plan_text.html", {"now": now, "file": state.name, "text": text, "text_error": wrong_text})
    wrong, entries = dict(check_steps(state.path)), plan.entries("step")
    opened = sent or _opened(visit, len(entries))
    work, drafting = visit.works.seen(engine.preview, *visit.state.plan_question("file")), draft_work(visit)
    facts = {
        "now": now, "file": state.name, "steps": steps_of(entries, wrong), "wrong": wrong.get(0, ""), "methods": _methods(),
        "about_method": about(opened.add),
        "first": "" if entries else "remove-identifiers" if visit.state.names("identifier") else "recode",
        "open_step": opened.step, "add": opened.add, "open_section": opened.section,
        "form_error": opened.errors.get("", ""), "form": _form(visit, plan, opened),
        "more": more_about(opened.add or (str(entries[opened.step - 1].get("method")) if opened.step else "")),
        "sections": [(name, _facts(plan.table.get(name, {}))) for name in SECTIONS],
        "edit": opened.text is not None or visit.query.get("edit") == "text",
        "text": now.text if opened.text is None else opened.text, "text_error": opened.text_error,
        "marks": _marks(plan, entries, opened.step),
        "after": visit.sent.number("after", visit.number("after", len(entries))),
        "keys": visit.state.names("key"), "risk": plan.table.get("risk", {}),
        **_along(work, entries, opened.step), "preview": work, "preview_error": str(work.error or "") if work else "",
        **draft_facts(drafting, values=visit.show_values),
    }  # fmt: skip
    running = next((one for one in (drafting, work) if one is not None and one.running), None)
    return View("plan.html", facts, work=running, status=422 if opened.errors or opened.text_error else 200)


def _along(work: Work | None, entries: list[dict[str, Any]], step: int) -> dict[str, Any]:
    """The table of counts along the plan, and each step's own effect by its number."""
    if work is None or not work.done:
        return {"along": None, "effects": {}}
    found = work.value()
    active = [number for number, entry in enumerate(entries, 1) if entry.get("active", True) is not False]
    effects = {number: (found[at], found[at + 1], found[0]) for at, number in enumerate(active)}
    rows = [Row((Cell("nothing"), *_counts(found[0])))]
    rows += [
        Row(
            (Cell(shown_name(f"{number} {brief(entries[number - 1])}", 40)), *_counts(found[at + 1])),
            on=number == step,
        )
        for at, number in enumerate(active)
    ]
    columns = (Column("After"), Column("Unsafe cells", num=True), Column("Detail lost", num=True))
    return {"along": Table("Unsafe cells and detail lost after each step", columns, tuple(rows)), "effects": effects}


def _counts(one: Mapping[str, Any]) -> tuple[Cell, Cell]:
    unsafe = one["unsafe_combinations"]
    return Cell("not judged" if unsafe is None else f"{unsafe:,}"), Cell(f"{100 * one['detail_lost']:.1f} %")


def _form(visit: Visit[Project], plan: TomlText, opened: _Open) -> tuple[Field, ...]:
    """The form that is open: of a section, a new step, or a step of the plan."""
    more = {visit.sent.get("more"): 1} if "more" in visit.sent else None
    values, errors = opened.taken.values if opened.taken else None, opened.errors
    if opened.section:
        own = plan.table.get(opened.section, {}) if values is None else values
        return form_of(SECTIONS[opened.section], own, known=known(visit.state), errors=errors)
    if opened.add:
        return form_for(visit.state, opened.add, _asked(visit, opened.add) if values is None else values, errors, more)
    if opened.step:
        entry = plan.entries("step")[opened.step - 1]
        if entry.get("method") in METHODS:
            own = options_of(entry) if values is None else values
            return form_for(visit.state, str(entry["method"]), own, errors, more)
    return ()


def _asked(visit: Visit[Project], method: str) -> dict[str, Any]:
    """What is filled in beforehand: a variable that another page names; everything that says who somebody is."""
    if method == "remove-identifiers":
        return {"variables": visit.state.names(*OUTRIGHT)}
    return {"variable": visit.query["variable"]} if "variable" in visit.query else {}


def _methods() -> list[tuple[str, list[tuple[str, str]]]]:
    """Each group of methods with the names in it and what they do; groups without a method are left out."""
    groups = sorted({METHODS[name].group for name in METHODS}, key=list(Group).index)
    return [(group, [(name, about(name)) for name in METHODS if METHODS[name].group is group]) for group in groups]


def _facts(section: Any) -> str:
    if not isinstance(section, Mapping) or not section:
        return "as by default"
    return ", ".join(f"{name} {value}" for name, value in section.items() if not isinstance(value, list | dict))


def _marks(plan: TomlText, entries: list[dict[str, Any]], step: int) -> dict[int, str]:
    """Which lines of the text are those of the open step, and which of steps that are switched off."""
    marks: dict[int, str] = {}
    for number, (first, last) in enumerate(plan.lines("step"), 1):
        off = number <= len(entries) and entries[number - 1].get("active", True) is False
        kind = "on" if number == step else "off" if off else ""
        marks |= {line: kind for line in range(first, last + 1) if kind}
    return marks


def note(project: Project) -> Note:
    """How many steps there are; attention where one cannot run."""
    state = project.plan("file")
    if state is None:
        return Note()
    steps = TomlText(state.read().text).entries("step")
    if not steps:
        return Note("open")
    return Note("attention" if check_steps(state.path) else "done", str(len(steps)))


PAGE = Page("plan", "Plan", "File", show, act, note)
