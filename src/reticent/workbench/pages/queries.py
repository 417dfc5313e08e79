# SPDX-License-Identifier: Apache-2.0
"""Queries: a database with its policy and what that promises; try a query as an analyst; run the attack catalogue on a copy."""

import re
from dataclasses import replace
from typing import Any

from reticent.jobs.options import Policy, check_options
from reticent.jobs.query_view import MODES, about_modes, promise_of
from reticent.web.environment import shown_name
from reticent.web.form_values import Sent, Taken, take_form
from reticent.web.forms import Field, Known, form_of
from reticent.web.parts import Cell, Column, Row, Table
from reticent.web.site import Go, Note, Page, View, Visit, address
from reticent.web.toml_text import TomlText
from reticent.web.work import Work
from reticent.workbench import query_engine as engine
from reticent.workbench.policy_bounds import bounds_form, taken_bounds
from reticent.workbench.project import Project

SHOWN = (
    "mode", "history", "minimum", "dominance", "p_percent", "coalition", "interval", "dimension", "responses", "filters", "test",
)  # fmt: skip
SOURCE = ("path", "schema", "secret", "format", "query", "test_secret", "name", "version")
"""What the data of a database may say."""
VERDICTS = {"succeeded": "not held", "failed": "held", "not applicable": "not judged"}
WORDS = {"succeeded": "finds the value", "failed": "fails", "not applicable": "does not apply"}


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
    work = visit.works.seen(engine.attack, *project.plan_question("queries"))
    tried, trial = _asked(visit, mode)
    facts: dict[str, Any] = {
        "file": state.name, "now": state.read(), "form": _form(project, policy, taken.errors), "mode": mode, "question": "",
        "answers": None, "every": "all" in visit.sent, "examples": _examples(policy), "shown_by": "",
        "bounds": bounds_form(policy, visit.sent), "bounds_error": taken.errors.get("bounds", ""),
        "promise": _promise(mode) if mode in MODES else None, "attacks": None, "broken": [], "question_error": "",
        "modes": about_modes(), "text": state.read().text, **tried, **more,
    }  # fmt: skip
    if work is not None and work.done:
        facts |= {
            "attacks": _attacks(work.value()),
            "broken": work.value()["broken"],
            "shown_by": _shown_by(work.value()),
        }
    error = str(work.error) if work is not None and work.error else taken.errors.get("", "")
    status = 422 if taken.errors or facts["question_error"] else 200
    running = next((one for one in (trial, work) if one is not None and one.running), None)
    return View("queries.html", facts, error=error, work=running, status=status)


def _promise(mode: str) -> list[tuple[str, list[str]]]:
    """What a mode promises, what it does not, and what it reveals, a point each."""
    found = promise_of(mode)
    nots, leaks = _sentences(found["not_covered"]), _sentences(found["leakage"])
    return [("Promised", found["holds"]), ("Not promised", nots), ("Given away", leaks)]


def _sentences(clauses: list[str]) -> list[str]:
    return [f"{text[:1].upper()}{text[1:]}." for text in clauses]


def _form(project: Project, policy: dict[str, Any], errors: dict[str, str]) -> tuple[Field, ...]:
    fields = [one for one in form_of(Policy, policy, known=_known(project), errors=errors) if one.name in SHOWN]
    return tuple(replace(one, kind="choice", options=tuple(MODES)) if one.name == "mode" else one for one in fields)


def _known(project: Project) -> Known:
    """Variables that can be added up, and those that can be selected by; who a record is can be neither."""
    variables = [one for one in project.variables() if one.get("role") not in ("identifier", "entity")]
    numbers = [str(one.get("name", "")) for one in variables if one.get("kind") == "numeric"]
    return Known({"responses": numbers, "filters": [str(one.get("name", "")) for one in variables]})


def _examples(policy: dict[str, Any]) -> list[str]:
    """Queries to begin with, of what the policy lets one ask."""
    responses, filters = (policy.get(name) or [] for name in ("responses", "filters"))
    what = f"SUM({responses[0]})" if responses else "COUNT(*)"
    group = f" GROUP BY {filters[0]}" if filters else ""
    found = dict.fromkeys((f"SELECT {what} FROM data", f"SELECT COUNT(*), {what} FROM data{group}"))
    return [
        text for text in found if all(re.fullmatch(r"[A-Za-z_]\w*", name) for name in (*responses[:1], *filters[:1]))
    ]


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
        visit.works.ask(
            engine.attack, *project.plan_question("queries"), title="Attacking a copy of the database", again=True
        )
        return Go(address("queries", anchor="attacks"))
    return Go(address("queries"))


def _taken(kept: dict[str, Any], sent: Sent) -> Taken:
    """The policy as sent; what the form does not show stays. What is wrong with such an option is said above the page."""
    shown = {name: value for name, value in take_form(Policy, sent, kept=kept).values.items() if name in SHOWN}
    others = {name: value for name, value in kept.items() if name.replace("-", "_") not in (*SHOWN, "bounds")}
    bounds = taken_bounds(kept, sent)
    values = {**others, **shown, **({"bounds": bounds} if bounds else {})}
    wrong = check_options(Policy, values)
    placed = {name if name in (*SHOWN, "bounds") else "": text for name, text in wrong.items()}
    if "needs low and high bounds" in placed.get("", ""):
        placed["bounds"] = placed.pop("")
    if "`test = true` must say" in placed.get("", "") or "test = true goes with" in placed.get("", ""):
        placed["test"] = placed.pop("")
    return Taken(values, placed)


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
    """A policy to begin with: numbers that are not keys can be asked for, keys with codes can be filtered by."""
    variables = project.variables()
    numbers = [
        str(one["name"])
        for one in variables
        if one.get("kind") == "numeric" and one.get("role") in (None, "sensitive", "other")
    ]
    filters = [str(one["name"]) for one in variables if one.get("kind") != "numeric" and one.get("role") == "key"]
    return {"mode": "exact", "minimum": 3, "responses": numbers, "filters": filters}


def _tried(visit: Visit[Project]) -> View | Go:
    """Remember a query, and show its answers at an address of their own: a query may name codes, so it is no part of that."""
    project, sent = visit.state, visit.sent
    question = sent.get("question").strip()
    if not question:
        return _shown(visit, Taken({}, {}), question_error="write a query, such as SELECT COUNT(*) FROM data.")
    project.asked.append((question, "all" in sent))
    return Go(address("queries", asked=len(project.asked) - 1, anchor="try"))


def _asked(visit: Visit[Project], mode: str) -> tuple[dict[str, Any], Work | None]:
    """The query that the address names, asked on a copy: nothing is remembered of it."""
    project, number = visit.state, visit.number("asked")
    if not 0 <= number < len(project.asked):
        return {}, None
    question, every = project.asked[number]
    modes = tuple(name for name in MODES if name != "open") if every else (mode,)
    work = visit.works.ask(engine.attempt, *project.plan_question("queries"), question, modes, title="Asking a copy")
    answers = _answers(work.value(), values=visit.show_values) if work.done else None
    return {"question": question, "every": every, "answers": answers, "question_error": str(work.error or "")}, work


def _answers(rows: list[dict[str, Any]], *, values: bool) -> Table:
    """What each mode would do. Each copy forgets, so that two answers may tell a record: numbers wait for "show values"."""
    columns = (Column("Mode"), Column("Decision"), Column("Answer or reason"))
    listed = tuple(
        Row(
            (
                Cell(one["mode"]),
                Cell("answered" if one["answered"] else f"refused: {one['code'].replace('_', ' ').lower()}"),
                Cell(_words(one, values=values)),
            )
        )
        for one in rows
    )
    return Table("What each mode would do", columns, listed)


def _words(one: dict[str, Any], *, values: bool) -> str:
    if one["answered"] and not values:
        return "the answer appears after Show values"
    if "value" in one:
        return f"{_number(one['value'])} {shown_name(one['message'], 200) if one['message'] else ''}".strip()
    if "low" in one:
        return f"between {_number(one['low'])} and {_number(one['high'])}"
    if "rows" in one:
        return f"{len(one['rows']):,} rows: {shown_name(one['rows'], 600)}"
    # a refusal for its spelling has the query below it, with a sign below the place: the page has both already
    return shown_name(one["message"].split("\n", 1)[0], 400)


def _number(value: Any) -> str:
    return f"{value:,.10g}" if isinstance(value, int | float) else shown_name(value, 300)


def _attacks(found: dict[str, Any]) -> Table:
    """What each attack finds in an open database and in this one; those that work there stand first."""
    columns = (
        Column("Attack"), Column("On an open database"), Column("Here"), Column("Promised to fail"),
        Column("Queries, refused", num=True), Column("How it works", spare=True),
    )  # fmt: skip
    order = {"succeeded": 0, "failed": 1, "not applicable": 2}
    rows = tuple(
        Row((
            Cell(one["attack"]), Cell(WORDS[one["open"]], muted=one["open"] != "succeeded"),
            Cell(WORDS[one["own"]], verdict=VERDICTS[one["own"]]), Cell("yes" if one["covered"] else "no", muted=True),
            Cell(f"{one['queries']:,}, {one['refused']:,}"), Cell(one["about"], muted=True),
        ))
        for one in sorted(found["rows"], key=lambda one: order[one["open"]])
    )  # fmt: skip
    return Table(f"The attack catalogue against a copy in the mode {found['mode']}", columns, rows, tall=True)


def _shown_by(found: dict[str, Any]) -> str:
    """How many attacks work on an open database, and what becomes of them here."""
    works = [one for one in found["rows"] if one["open"] == "succeeded"]
    here = sum(one["own"] == "succeeded" for one in works)
    return f"{len(works)} of {len(found['rows'])} attacks find the value of a respondent in an open database; here {here} do."


def note(project: Project) -> Note:
    """Whether there is a database."""
    return Note("open", "database") if project.ready and project.plan("queries") is not None else Note()


PAGE = Page("queries", "Queries", "Tables and queries", show, act, note)
