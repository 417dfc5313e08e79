# SPDX-License-Identifier: Apache-2.0
"""Audit: what the attacker finds of each hidden cell against what must be kept from them, and the relations that reveal."""

from typing import Any

from reticent.web.environment import shown_name
from reticent.web.figures import span_bars
from reticent.web.parts import Cell, Column, Row, Table
from reticent.web.site import Go, Note, Page, View, Visit, address
from reticent.workbench import table_engine as engine
from reticent.workbench import table_forms as forms
from reticent.workbench.project import Project
from reticent.workbench.repeat import table_run
from reticent.workbench.table_cell import end_words
from reticent.workbench.table_plan import question

MOST_LISTED = 200


def show(visit: Visit[Project]) -> View | Go:
    """The intervals of the last run of the table plan as it is now."""
    project = visit.state
    if not project.ready:
        return Go(address("data"))
    if project.plan("table") is None or not forms.sections_of(project):
        return View("audit.html", {"found": None, "missing": True, "version": ""})
    work = table_run(visit)
    facts: dict[str, Any] = {"found": None, "missing": False, "version": project.need("table").read().version}
    if work is not None and work.done:
        facts |= _facts(visit, work.value())
    error = str(work.error or "") if work is not None else ""
    return View("audit.html", facts, error=error, work=work)


def act(visit: Visit[Project]) -> View | Go:
    """Run the table plan and attack it."""
    state = visit.state.plan("table")
    if state is not None:
        state.require(visit.sent.get("version"))
        visit.works.ask(
            engine.protect_tables, *question(visit.state), title="Protecting and attacking the table", again=True
        )
    return Go(address("audit"))


def _facts(visit: Visit[Project], run: dict[str, Any]) -> dict[str, Any]:
    results = run["results"]
    number = visit.number("response", 0)
    number = number if 0 <= number < len(results) else 0
    result = results[number]
    values = visit.show_values
    rows = sorted(
        enumerate(result["intervals"]),
        key=lambda one: (not one[1]["exposed"], _room(one[1]) if values else one[1]["status"] != "primary"),
    )
    chosen = visit.number("cell", -1)
    picked = result["intervals"][chosen] if 0 <= chosen < len(result["intervals"]) else None
    attacked = [one for _, one in rows if one["status"] == "primary" or one["exposed"]]
    return {
        "found": result, "number": number, "rows": _table(rows[:MOST_LISTED], visit, number, chosen),
        "n_more": max(0, len(rows) - MOST_LISTED), "n_attacked": len(attacked), "chosen": picked,
        "chosen_name": _name(picked) if picked else "", "ends": _ends(picked) if picked and values else [],
        "exposed": [(_name(one), one.get("revealed_by", []), one["to_insider"]) for _, one in rows if one["exposed"]],
        "responses": [(one["response"], address("audit", response=at), at == number) for at, one in enumerate(results)],
        "verdict": "not held" if result["exposed"] else _unjudged(result),
    }  # fmt: skip


def _unjudged(result: dict[str, Any]) -> str:
    nothing_asked = any(note.startswith("Not judged: no rule") for note in result["notes"])
    return "not judged" if nothing_asked or result["verdict"] == "not judged" else "held"


def _name(one: dict[str, Any]) -> str:
    return " × ".join(shown_name(code, 40) for code in one["cell"])


def _room(one: dict[str, Any]) -> float:
    """How much further the attack interval reaches than it must, as a share of the value; none where an end is open."""
    ends = [one[name] for name in ("low", "high", "required_low", "required_high")]
    if any(end is None for end in ends) or not one["value"]:
        return float("inf")
    low, high, need_low, need_high = ends
    return float(min(need_low - low, high - need_high) / abs(one["value"]))


def _ends(one: dict[str, Any]) -> list[tuple[str, str]]:
    """Both intervals in words; asked for only where values are shown."""
    none = one["required_low"] is not None and one["required_low"] == one["required_high"]
    return [
        (
            "must not be known within",
            "–" if none else f"{end_words(one['required_low'])} to {end_words(one['required_high'])}",
        ),
        ("the attacker finds", f"{end_words(one['low'])} to {end_words(one['high'])}"),
    ]


def _table(rows: list[tuple[int, dict[str, Any]]], visit: Visit[Project], number: int, chosen: int) -> Table:
    """Hidden cells; their intervals only where values are shown, since a published total and one end tell the value."""
    columns = (
        Column("Cell"), Column("Status"), Column("Verdict"), Column("Unsafe by", spare=True),
        *((Column("Protection interval", num=True, spare=True), Column("Attack interval", num=True),
           Column("Required and found", spare=True)) if visit.show_values else ()),
    )  # fmt: skip
    listed = []
    for at, one in rows:
        state = "not held" if one["exposed"] else "held" if one["status"] == "primary" else ""
        listed.append(
            Row(
                (
                    Cell(_name(one), href=address("audit", response=number or "", cell=at, anchor="attacker")),
                    Cell(one["status"], mark=one["status"] if one["status"] in ("primary", "secondary") else ""),
                    Cell("exposed" if one["exposed"] else "held", verdict=state) if state else Cell("guards others", muted=True),
                    Cell(one["rule"] or "–", muted=True), *(_drawn(one) if visit.show_values else ()),
                ),
                on=at == chosen,
            )
        )  # fmt: skip
    order = "exposed and tightest first" if visit.show_values else "exposed first"
    return Table(f"Hidden cells, {order}", columns, tuple(listed), tall=True)


def _drawn(one: dict[str, Any]) -> tuple[Cell, Cell, Cell]:
    """Both intervals, in words and as bars."""
    need, attack = (words for _, words in _ends(one))
    ends = (one["low"], one["high"], one["required_low"], one["required_high"])
    bars = "" if any(end is None for end in ends) else span_bars(
        f"required {need}, found {attack}", [(ends[2], ends[3], "i-need"), (ends[0], ends[1], "i-attack")]
    )  # fmt: skip
    return Cell(need), Cell(attack), Cell(bars)


def note(project: Project) -> Note:
    """Nothing is said before a run."""
    return Note()


PAGE = Page("audit", "Audit", "Tables and queries", show, act, note)
