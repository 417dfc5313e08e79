"""Queries: a database with its policy and what that promises; try a query as an analyst; run the attack catalogue on a copy."""

from dataclasses import replace
from typing import Any

from reticent.jobs.options import Policy
from reticent.jobs.query_view import MODES, promise_of
from reticent.web.environment import shown_name
from reticent.web.form_values import Sent, Taken, take_form
from reticent.web.forms import Field, form_of
from reticent.web.parts import Cell, Column, Row, Table
from reticent.web.site import Go, Note, Page, View, Visit, address
from reticent.web.toml_text import TomlText
from reticent.workbench import query_engine as engine
from reticent.workbench.project import Project

SHOWN = (
    "mode", "history", "minimum", "dominance", "p_percent", "coalition", "interval", "dimension", "responses", "filters", "test",
)  # fmt: skip
SOURCE = ("path", "schema", "secret", "format", "query", "test_secret", "name", "version")
"""What the data of a database may say."""
TOO_LONG = "the query takes longer than a minute; ask for one mode only."


def show(visit: Visit[Project]) -> View | Go:
    """The database of the project, or the button that makes one."""
    return _shown(visit, Taken({}, {}))


def _shown(visit: Visit[Project], taken: Taken, **more: Any) -> View | Go:
    project = visit.state
    if not project.ready:
        return Go(address("data"))
    state = project.plan("queries")
    if state is None:
        return View("queries.html", {"file": "", "version": ""})
    policy = taken.values or project.table("queries").get("policy", {})
    mode = str(policy.get("mode", "exact"))
    work = visit.works.seen(engine.attack, *_question(project))
    facts: dict[str, Any] = {
        "file": state.name, "now": state.read(), "form": _form(policy, taken.errors), "mode": mode, "question": "",
        "answers": None,
        "promise": promise_of(mode) if mode in MODES else None, "attacks": None, "broken": [], "question_error": "",
        "text": state.read().text, "values": project.names("sensitive"), **more,
    }  # fmt: skip
    if work is not None and work.done:
        facts |= {"attacks": _attacks(work.value()), "broken": work.value()["broken"]}
    error = str(work.error) if work is not None and work.error else taken.errors.get("", "")
    status = 422 if taken.errors or facts["question_error"] else 200
    return View("queries.html", facts, error=error, work=work, status=status)


def _form(policy: dict[str, Any], errors: dict[str, str]) -> tuple[Field, ...]:
    fields = [one for one in form_of(Policy, policy, errors=errors) if one.name in SHOWN]
    return tuple(replace(one, kind="choice", options=tuple(MODES)) if one.name == "mode" else one for one in fields)


def _question(project: Project) -> tuple[str, str, Any]:
    state = project.need("queries")
    return str(state.path), state.read().version, project.stamp()


def act(visit: Visit[Project]) -> View | Go:
    """Make the database, change its policy, try a query, or attack it."""
    project, sent = visit.state, visit.sent
    if project.plan("queries") is None:
        _begin(project)
        return Go(address("queries"))
    state = project.need("queries")
    if "policy" in sent:
        kept = project.table("queries").get("policy", {})
        taken = _taken(kept, sent)
        if taken.errors:
            return _shown(visit, taken)
        text = TomlText(state.read().text).set_section("policy", taken.values)
        state.change(text.text, version=sent.get("version"), what="policy")
    elif "to" in sent:
        state.step(-1 if sent.get("to") == "undo" else 1, version=sent.get("version"))
    elif "question" in sent:
        return _tried(visit)
    elif "attack" in sent:
        visit.works.ask(engine.attack, *_question(project), title="Attacking a copy of the database", again=True)
        return Go(address("queries", anchor="attacks"))
    return Go(address("queries"))


def _taken(kept: dict[str, Any], sent: Sent) -> Taken:
    """The policy as sent; what the form does not show stays."""
    taken = take_form(Policy, sent, kept=kept)
    shown = {name: value for name, value in taken.values.items() if name in SHOWN}
    others = {name: value for name, value in kept.items() if name.replace("-", "_") not in SHOWN}
    return Taken({**others, **shown}, {name: text for name, text in taken.errors.items() if name in (*SHOWN, "")})


def _begin(project: Project) -> None:
    """Write a database file: the data, a ledger beside them, and a policy to begin with."""
    source = {name: value for name, value in project.source().items() if name in SOURCE}
    state = project.need("queries")
    now = state.read()
    text = TomlText(now.text).set_section("data", source)
    text = TomlText(
        "\n".join(line for line in text.text.splitlines() if not line.startswith("version = 1")).lstrip() + "\n"
    )
    text = text.set_section("ledger", {"path": f"{project.stem}.ledger"}).set_section("policy", _first_policy(project))
    state.change(text.text, version=now.version, what="database")


def _first_policy(project: Project) -> dict[str, Any]:
    """A policy to begin with: numbers that are no keys can be asked for, keys with codes can be filtered by."""
    variables = project.variables()
    numbers = [
        str(one["name"])
        for one in variables
        if one.get("kind") == "numeric" and one.get("role") in (None, "sensitive", "other")
    ]
    filters = [str(one["name"]) for one in variables if one.get("kind") != "numeric" and one.get("role") == "key"]
    return {"mode": "exact", "minimum": 3, "responses": numbers, "filters": filters}


def _tried(visit: Visit[Project]) -> View | Go:
    """A query on a copy: nothing is remembered, so its answer is a page of its own."""
    project, sent = visit.state, visit.sent
    question = sent.get("question").strip()
    if not question:
        return _shown(visit, Taken({}, {}), question_error="write a query, such as SELECT COUNT(*) FROM data.")
    mode = str(project.table("queries").get("policy", {}).get("mode", "exact"))
    modes = tuple(name for name in MODES if name != "open") if "all" in sent else (mode,)
    work = visit.works.ask(engine.attempt, *_question(project), question, modes, title="Asking a copy", patience=60)
    if work.running:
        return _shown(visit, Taken({}, {}), question=question, question_error=TOO_LONG)
    if work.error:
        return _shown(visit, Taken({}, {}), question=question, question_error=str(work.error))
    return _shown(visit, Taken({}, {}), question=question, answers=_answers(work.value()))


def _answers(rows: list[dict[str, Any]]) -> Table:
    columns = (Column("Mode"), Column("Decision"), Column("Answer or reason"))
    listed = tuple(
        Row((Cell(one["mode"]), Cell("answered" if one["answered"] else f"refused ({one['code']})"), Cell(_words(one))))
        for one in rows
    )
    return Table("What each mode would do", columns, listed)


def _words(one: dict[str, Any]) -> str:
    if "value" in one:
        return f"{_number(one['value'])} {shown_name(one['message'], 200) if one['message'] else ''}".strip()
    if "low" in one:
        return f"between {_number(one['low'])} and {_number(one['high'])}"
    if "rows" in one:
        return f"{len(one['rows']):,} rows: {shown_name(one['rows'], 600)}"
    return shown_name(one["message"], 400)


def _number(value: Any) -> str:
    return f"{value:,.10g}" if isinstance(value, int | float) else shown_name(value, 300)


def _attacks(found: dict[str, Any]) -> Table:
    columns = (
        Column("Attack"), Column("Mode"), Column("Verdict"), Column("Promised", spare=True), Column("Queries", num=True),
        Column("Refused", num=True), Column("What happened", spare=True),
    )  # fmt: skip
    rows = tuple(
        Row((
            Cell(one["attack"]), Cell(one["mode"], muted=True), Cell(words, verdict=_state(one)),
            Cell("yes" if one["covered"] else "no", muted=True),
            Cell(f"{one['queries']:,}"), Cell(f"{one['refused']:,}"), Cell(shown_name(one["text"], 200), muted=True),
        ))
        for one, words in zip(found["findings"], found["verdicts"], strict=True)
    )  # fmt: skip
    return Table("The attack catalogue against a copy", columns, rows, tall=True)


def _state(one: dict[str, Any]) -> str:
    return "not judged" if not one["applicable"] else "not held" if one["succeeded"] else "held"


def note(project: Project) -> Note:
    """Whether there is a database."""
    return Note("open", "database") if project.ready and project.plan("queries") is not None else Note()


PAGE = Page("queries", "Queries", "Tables and queries", show, act, note)
