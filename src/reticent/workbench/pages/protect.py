# SPDX-License-Identifier: Apache-2.0
"""Protect: run the plan with progress and cancel; verdict, what the attacker found, before and after, loss; write or go back."""

import json
import math
from pathlib import Path
from typing import Any

from reticent.base.checks import check_reason
from reticent.base.errors import ReticentError
from reticent.web.environment import shown_name
from reticent.web.figures import Limit, histogram, nice_top
from reticent.web.parts import Cell, Column, Row, Table
from reticent.web.site import Go, Note, Page, View, Visit, address
from reticent.web.toml_text import TomlText
from reticent.web.work import Work
from reticent.workbench import engine
from reticent.workbench.project import Project
from reticent.workbench.repeat import SAID, file_question, file_run, file_written

ABOUT = {
    "recount": (
        "Recount of the keys",
        "Knows the keys of one person, finds who fits, and counts with the weights how many people that may be.",
    ),
    "linkage": (
        "Record linkage",
        "Has the original records without names, and takes the nearest published record for each person's own.",
    ),
    "households": (
        "Households",
        "Puts members of a household together and looks for whole households that are like no other.",
    ),
    "intervals": ("Intervals around numbers", "Reads a published number as its true value, give or take some ranks."),
    "weights": ("Weights", "Knows which weight belongs to which code, and reads back what was blanked or recoded."),
    "order": ("Order of the records", "Takes neighbours in the file for neighbours in the source."),
}
HELPS = {
    "recount": ("recode", "local-suppression"),
    "linkage": ("remove-identifiers", "recode", "round", "microaggregate", "rank-swap"),
    "households": ("remove-identifiers", "recode", "local-suppression"),
    "intervals": ("top-code", "round", "microaggregate"),
    "weights": ("round", "noise-on-weights"),
    "order": ("reorder",),
}
"""Methods that are mostly tried against an attack."""
AXIS = ("0.01 %", "0.1 %", "1 %", "10 %", "100 %")


def show(visit: Visit[Project]) -> View | Go:
    """What the last run of the plan as it is now found; or the button that starts it."""
    project = visit.state
    if not project.ready:
        return Go(address("data"))
    state = project.need("file")
    work = file_run(visit)
    written = file_written(visit)
    now = state.read()
    running = written if written is not None and written.running else work
    table = TomlText(now.text).table
    facts: dict[str, Any] = {
        "now": now, "file": state.name, "n_steps": len([s for s in table.get("step", []) if s.get("active", True)]),
        "found": None, "written": written.value()["names"] if written and written.done else None,
        "reason": "", "reason_error": "",
        "write_error": str(written.error) if written and written.error else "",
        "stopped": bool(work and work.state == "cancelled"),
        "folder": str(project.folder),
    }  # fmt: skip
    if work is not None and work.done:
        facts |= _facts(work, visit.query.get("attack", ""))
    error = str(work.error) if work is not None and work.state == "failed" else ""
    return View("protect.html", facts, error=error, work=running)


def act(visit: Visit[Project]) -> View | Go:
    """Run, write, or accept with a reason (a line of the plan, so the run is made again)."""
    project, sent = visit.state, visit.sent
    state = project.need("file")
    if "reason" not in sent:  # what is run or written is the plan that the page shows
        state.require(sent.get("version"))
    if "run" in sent:
        visit.works.ask(
            engine.judge, *file_question(project), title=f"Protecting by {shown_name(state.name)}", again=True
        )
    elif "write" in sent:
        visit.works.ask(engine.write, *file_question(project), title="Writing", again=True)
    elif "reason" in sent:
        try:
            check_reason(sent.get("reason"), owner="[risk]")
        except ReticentError as err:
            view = show(visit)
            assert isinstance(view, View)
            return View(
                view.template,
                {**view.facts, "reason": sent.get("reason"), "reason_error": str(err)},
                work=view.work,
                status=422,
            )
        text = TomlText(state.read().text)
        risk = {**text.table.get("risk", {}), "accept_risk": sent.get("reason").strip()}
        state.change(text.set_section("risk", risk).text, version=sent.get("version"), what="risk accepted")
        visit.works.ask(engine.judge, *file_question(project), title=f"Protecting by {shown_name(state.name)}")
    return Go(address("protect"))


def _facts(work: Work, chosen: str) -> dict[str, Any]:
    found = work.value()
    attacks = found["verdict"]["attacks"]
    chosen = chosen if any(one["attack"] == chosen for one in attacks) else _first(attacks)
    asked = [one for one in attacks if one["asked"]]
    failing = [one for one in asked if one["state"] == "not held"]
    open_ones = [one for one in asked if one["state"] == "not judged"]
    return {
        "found": found, "seconds": work.seconds, "asked": asked, "failing": failing, "open_ones": open_ones,
        "attacks": _attacks(found, chosen), "chosen": next(one for one in attacks if one["attack"] == chosen),
        "about": ABOUT.get(chosen, (chosen, "")), "helps": HELPS.get(chosen, ()),
        "title_of": {name: about[0] for name, about in ABOUT.items()},
        "risks": _risks(found), "plots": _plots(found), "codes": _codes(found), "numbers": _numbers(found),
        "steps": _steps(found),
        "linked_by": _linked_by(found) if chosen == "linkage" else [],
        "notes": [*([SAID] if any(found["repeat"]) else []), *found["notes"]],
    }  # fmt: skip


def _linked_by(found: dict[str, Any]) -> list[tuple[str, str]]:
    """The variables that records are compared by, and which of them the plan leaves as they are."""
    same = {one["name"] for one in found["codes"] if one["kept"] and not one["changed"]}
    by = found["linked by"]
    left = [name for name in by if name in same]
    names = [("compares", by), ("of these unchanged", left)]
    return [(title, ", ".join(shown_name(name, 40) for name in listed) or "none") for title, listed in names]


def _first(attacks: list[dict[str, Any]]) -> str:
    """The attack to look at first: one that is not held, else the first."""
    order = {"not held": 0, "not judged": 1, "held": 2}
    return str(min(attacks, key=lambda one: (not one["asked"], order[one["state"]]))["attack"])


def _attacks(found: dict[str, Any], chosen: str) -> Table:
    columns = (
        Column("Attack"),
        Column("Verdict"),
        Column("Asked for", spare=True),
        Column("Found", num=True),
        Column("Limit", num=True),
    )
    rows = []
    for one in found["verdict"]["attacks"]:
        title = ABOUT.get(one["attack"], (one["attack"], ""))[0]
        rows.append(
            Row(
                (
                    Cell(title, href=address("protect", attack=one["attack"], anchor="attacker")),
                    Cell(verdict=one["state"]),
                    Cell("yes" if one["asked"] else "no", muted=True),
                    Cell(_value(one["attack"], one["value"])),
                    Cell(_value(one["attack"], one["limit"])),
                ),
                on=one["attack"] == chosen,
            )
        )
    return Table("Verdict of each attack, what was found, and the limit", columns, tuple(rows))


def _value(attack: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f} records" if attack == "weights" else f"{100 * value:.2f} %"


def _risks(found: dict[str, Any]) -> Table:
    before, after = found["risk"]["before"], found["risk"]["after"]
    names = (
        "unsafe combinations",
        "records in unsafe combinations",
        "expected re-identifications",
        "highest record risk",
    )
    rows = [
        Row((Cell(name), Cell(_risk(name, before.get(name))), Cell(_risk(name, after.get(name)))))
        for name in names
        if name in before or name in after
    ]
    columns = (Column("Measure"), Column("Before", num=True), Column("After", num=True))
    return Table("Risk before and after", columns, tuple(rows))


def _risk(name: str, value: float | None) -> str:
    if value is None:
        return "not judged"
    return f"{100 * value:.2f} %" if "risk" in name else f"{value:,.6g}"


def _plots(found: dict[str, Any]) -> list[tuple[str, Any, str]]:
    both = found["histograms"]
    if both["before"] is None or both["after"] is None:
        return []
    top = nice_top(max([*both["before"], *both["after"]]))
    limit = both["limit"]
    place = None if limit is None or limit <= 0 else min(1.0, max(0.0, 1 - math.log10(limit) / engine.LOWEST))
    plots = []
    for title, counts, above in zip(("Before", "After"), (both["before"], both["after"]), both["above"], strict=True):
        drawn = histogram(
            f"Records by risk, {title.lower()}", counts, AXIS, unit="records", axis="risk of a record, log scale",
            limit=None if place is None else Limit(place, f"limit {100 * limit:g} %"), top=top,
        )  # fmt: skip
        plots.append((title, drawn, f"{above:,} records above the limit" if above is not None else ""))
    return plots


def _codes(found: dict[str, Any]) -> Table:
    columns = (
        Column("Variable"), Column("Change", spare=True), Column("Codes before", num=True), Column("after", num=True),
        Column("Blanks", num=True), Column("Changes, all steps", num=True),
    )  # fmt: skip
    rows = []
    for one in found["codes"]:
        what = "removed" if not one["kept"] else "changed" if one["changed"] else "unchanged"
        rows.append(Row((
            Cell(shown_name(one["name"], 60)), Cell(what, muted=True), Cell(f"{one['before']:,}"),
            Cell(f"{one['after']:,}" if one["kept"] else "–"), Cell(f"{one['blanks']:,}"), Cell(f"{one['changed']:,}"),
        )))  # fmt: skip
    return Table("What changed in each variable", columns, tuple(rows), tall=True)


def _numbers(found: dict[str, Any]) -> Table | None:
    moved = {name: facts for name, facts in found["loss"].get("numbers", {}).items() if facts}
    if not moved:
        return None
    columns = (
        Column("Number"),
        Column("Mean before", num=True),
        Column("after", num=True),
        Column("Deviation before", num=True),
        Column("after", num=True),
    )
    names = ("mean before", "mean after", "deviation before", "deviation after")
    rows = tuple(
        Row((Cell(shown_name(name, 60)), *(Cell(f"{facts[key]:,.6g}") for key in names)))
        for name, facts in moved.items()
    )
    return Table("Means and standard deviations before and after", columns, rows)


def _steps(found: dict[str, Any]) -> Table:
    columns = (
        Column("Step"),
        Column("Values changed", num=True),
        Column("Promises kept", spare=True),
        Column("Seconds", num=True),
    )
    rows = tuple(
        Row((
            Cell(f"{number} {step['method']}"), Cell(f"{sum(step['changed'].values()):,}"),
            Cell("; ".join(step["promises kept"]) or "none made", muted=True), Cell(f"{step['seconds']:.2f}"),
        ))
        for number, step in enumerate(found["steps"], 1)
    )  # fmt: skip
    return Table("What each step did", columns, rows)


def note(project: Project) -> Note:
    """What the summary on disk says of the plan's last release, if there is one."""
    if not project.ready or project.plan("file") is None:
        return Note()
    name = project.table("file").get("output", {}).get("summary")
    try:
        state = json.loads((project.folder / Path(str(name))).read_text(encoding="utf-8"))["verdict"]["state"]
    except (OSError, ValueError, KeyError, TypeError):
        return Note()
    return Note("done" if state == "held" else "attention", "written")


PAGE = Page("protect", "Protect", "File", show, act, note)
