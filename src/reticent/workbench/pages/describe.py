# SPDX-License-Identifier: Apache-2.0
"""Describe: a table of variables with role, kind, level, missing codes, hierarchy, household; guesses are marked."""

from collections.abc import Mapping
from typing import Any

from reticent.base.errors import DataError
from reticent.jobs.look import Kind, Role, check_variable
from reticent.web.figures import sparkbars
from reticent.web.form_values import Sent
from reticent.web.site import Go, Note, Page, View, Visit, address
from reticent.web.state import TextState
from reticent.web.toml_text import TomlText
from reticent.workbench.looks import looked
from reticent.workbench.project import Project

DEFAULTS: dict[str, Any] = {"role": "other", "kind": "nominal", "level": 0, "household": False, "missing": []}
LEVELS = {"0": "none", "1": "1 most", "2": "2 more", "3": "3 identifying"}
ROLES = {
    "identifier": "names a person; must be removed",
    "key": "an attacker may know it",
    "sensitive": "what must not be learnt",
    "weight": "how many people a record stands for",
    "household-id": "who lives together",
    "household-variable": "the same for a household; with a level, a key",
    "entity": "who a record belongs to",
    "other": "neither known nor sensitive",
}


def show(visit: Visit[Project]) -> View | Go:
    """The table of variables, with their distributions where the data could be read."""
    if not visit.state.ready:
        return Go(address("data"))
    return _page(visit, visit.state.variables(), {})


def act(visit: Visit[Project]) -> View | Go:
    """Save the table: each variable that changed is checked and written; what was guessed and touched is not a guess any more."""
    state = _schema(visit.state)
    sent, text = visit.sent, TomlText(state.read().text)
    if sent.get("to") in ("undo", "redo"):
        state.step(-1 if sent.get("to") == "undo" else 1, version=sent.get("version"))
        return Go(address("describe"))
    entries, errors, changed = [], {}, []
    for number, entry in enumerate(text.entries("variable")):
        new = _entry(entry, sent, number)
        wrong = check_variable(new, folder=visit.state.folder) if new != entry else ""
        if wrong:
            errors[number] = wrong
        if new != entry:
            changed.append(number)
        entries.append(new)
    if errors:
        return _page(visit, entries, errors, status=422)
    for number in changed:
        text = text.set_entry("variable", number, entries[number])
    twice = _once(entries)
    if twice:
        return _page(visit, entries, twice, status=422)
    names = ", ".join(str(entries[number]["name"]) for number in changed[:3])
    state.change(text.text, version=sent.get("version"), what=f"describe {names}{' …' if len(changed) > 3 else ''}")
    return Go(address("describe"))


def _schema(project: Project) -> TextState:
    state = project.schema()
    if state is None:
        raise DataError(
            "the plan names no schema file (.toml) that can be edited; open the data file to have one made."
        )
    return state


def _entry(entry: Mapping[str, Any], sent: Sent, number: int) -> dict[str, Any]:
    """One variable as the form has it; options at their default are left out unless the file has them."""
    new = dict(entry)
    level = sent.get(f"level.{number}", "0")
    wanted: dict[str, Any] = {
        "role": sent.get(f"role.{number}", str(entry.get("role", "other"))),
        "kind": sent.get(f"kind.{number}", str(entry.get("kind", "nominal"))),
        "level": int(level) if level.isdigit() else level,
        "missing": [code.strip() for code in sent.get(f"missing.{number}").split(",") if code.strip()],
        "household": sent.get(f"household.{number}") == "on",
    }
    for name, value in wanted.items():
        if name == "missing" and [str(code) for code in entry.get("missing", [])] == value:
            continue
        if name in entry or value != DEFAULTS[name]:
            new[name] = value
    touched = [name for name in wanted if new.get(name) != entry.get(name)]
    if sent.get(f"sure.{number}") == "on" or sent.get("sure") == "all":
        new.pop("guessed", None)
    elif touched and "guessed" in new:
        left = [fact for fact in new["guessed"] if fact not in touched]
        new = {**new, "guessed": left} if left else {key: value for key, value in new.items() if key != "guessed"}
    return new


def _once(entries: list[dict[str, Any]]) -> dict[int, str]:
    """Roles that one variable may have: a sentence at each that has it besides the first."""
    found: dict[int, str] = {}
    for role in (Role.WEIGHT, Role.HOUSEHOLD_ID, Role.ENTITY):
        numbers = [number for number, entry in enumerate(entries) if entry.get("role") == role.value]
        for number in numbers[1:]:
            found[number] = (
                f"only one variable may have the role {role.value}; {entries[numbers[0]]['name']!r} has it already."
            )
    return found


def _page(visit: Visit[Project], entries: list[dict[str, Any]], errors: dict[int, str], status: int = 200) -> View:
    project = visit.state
    state = project.schema()
    work = looked(visit, values=True)
    seen: dict[str, Any] = work.value()["variables"] if work.done else {}
    problem = work.error
    concerned = getattr(problem, "variables", ()) if problem is not None else ()
    for number, entry in enumerate(entries):
        if entry.get("name") in concerned and number not in errors:
            errors[number] = str(problem)
    rows = [
        _row(number, entry, seen.get(str(entry.get("name"))), errors.get(number, ""))
        for number, entry in enumerate(entries)
    ]
    chosen = visit.number("variable")
    return View(
        "describe.html",
        {
            "rows": rows, "chosen": rows[chosen] if 0 <= chosen < len(rows) else None, "chosen_number": chosen,
            "state": state.read() if state else None, "file": state.name if state else "",
            "roles": ROLES, "kinds": [str(kind) for kind in Kind], "levels": LEVELS,
            "keys": [row["name"] for row in rows if row["role"] == "key"],
            "sensitive": [row["name"] for row in rows if row["role"] == "sensitive"],
            "identifiers": [row["name"] for row in rows if row["role"] == "identifier"],
            "guesses": sum(bool(row["guessed"]) for row in rows), "missing_schema": state is None,
        },
        error=str(problem) if problem is not None and not concerned else "",
        work=work,
        status=status,
    )  # fmt: skip


def _row(number: int, entry: Mapping[str, Any], seen: Mapping[str, Any] | None, error: str) -> dict[str, Any]:
    hierarchy = entry.get("hierarchy")
    return {
        "number": number,
        "name": str(entry.get("name", "")),
        "role": str(entry.get("role", "other")),
        "kind": str(entry.get("kind", "nominal")),
        "level": str(entry.get("level", 0)),
        "missing": ", ".join(map(str, entry.get("missing", []))),
        "household": bool(entry.get("household", False)),
        "hierarchy": _hierarchy(hierarchy),
        "guessed": [str(fact) for fact in entry.get("guessed", [])],
        "error": error,
        "distinct": None if seen is None else seen["distinct"],
        "empty": None if seen is None else seen["empty"],
        "spark": None if seen is None else sparkbars(f"distribution over {len(seen['bars'])} bands", seen["bars"]),
        "samples": [] if seen is None else seen["samples"],
    }


def _hierarchy(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Mapping) and "digits" in value:
        return "digits " + " + ".join(map(str, value["digits"]))
    return "from file" if isinstance(value, str) else "given"


def note(project: Project) -> Note:
    """Open while something is only guessed."""
    if not project.ready:
        return Note()
    guessed = sum(bool(entry.get("guessed")) for entry in project.variables())
    return Note("open", f"{guessed} guessed") if guessed else Note("done", str(len(project.variables())))


PAGE = Page("describe", "Describe", "Prepare", show, act, note)
