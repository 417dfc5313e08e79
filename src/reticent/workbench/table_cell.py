# SPDX-License-Identifier: Apache-2.0
"""What the panel says of one cell: status and rule, contributions in shares, intervals, why hidden, what if shown."""

from typing import Any

from reticent.jobs.table_view import Grid
from reticent.web.environment import shown_name
from reticent.web.figures import intervals
from reticent.web.site import Visit
from reticent.workbench import table_engine as engine
from reticent.workbench.project import Project
from reticent.workbench.table_grid import Seen, shown_value
from reticent.workbench.table_plan import judge_question, question

WAITS = "after Show values"


def cell_panel(visit: Visit[Project], grid: Grid, seen: Seen, response: int | None) -> dict[str, Any] | None:
    """The chosen cell; `response` numbers the result of a run, None before one. Intervals appear with the values."""
    if not seen.cell:
        return None
    codes = [one["codes"][node] for one, node in zip(grid.dimensions, seen.cell, strict=True)]
    place = next((at for at, nodes in enumerate(grid.codes) if tuple(nodes) == seen.cell), None)
    facts: dict[str, Any] = {
        "name": " × ".join(shown_name(code, 40) for code in codes), "nodes": ".".join(map(str, seen.cell)), "status": "empty",
        "work": None, "found": None, "rule": "", "shares": [], "shares_wait": False, "intervals": [], "drawn": None,
        "what_if": "", "ask": "", "error": "",
    }  # fmt: skip
    if place is None:
        return facts
    facts |= {
        "status": grid.status[place],
        "respondents": f"{grid.counts[place]:,}" if visit.show_values else WAITS,
        "value": shown_value(grid, place, values=visit.show_values) or WAITS,
    }
    if response is None:
        work = visit.works.ask(
            engine.look_before, *judge_question(visit.state), seen.table, place, title="Looking at the cell"
        )
        found = work.value() if work.done else {}
        facts |= {"work": work if work.running else None, "error": str(work.error or ""), **found}
    else:
        facts |= _after(visit, seen, (*question(visit.state), response, grid.system[place]))
    # a share of one cell and published values of others tell a contribution, on this page or after the run
    waits = bool(facts["shares"]) and not visit.show_values
    return facts | {"shares": [] if waits else facts["shares"], "shares_wait": waits}


def _after(visit: Visit[Project], seen: Seen, asked: tuple[Any, ...]) -> dict[str, Any]:
    """The cell in the light of a run."""
    values = visit.show_values
    work = visit.works.ask(engine.look_at_cell, *asked, values, title="Looking at the cell")
    facts: dict[str, Any] = {"work": work if work.running else None, "error": str(work.error or "")}
    if work.done:
        found = work.value()
        facts |= {
            "found": found, "rule": found["rule"], "shares": found["shares"],
            "intervals": _intervals(found) if values else [], "drawn": _drawn(found) if values else None,
            "ask": seen.link(**{"if": "shown", "anchor": "attacker"}),
        }  # fmt: skip
        if found["hidden"] and visit.query.get("if") == "shown":
            tried = visit.works.ask(engine.show_cell, *asked, values, title="Trying without the cell")
            said = str(tried.error or "") or (tried.value() if tried.done else "")
            facts |= {"what_if": said, "work": tried if tried.running else None}
    return facts


def _intervals(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Both intervals, and by how much the one reaches further; asked for only where values are shown."""
    if found["interval"] is None:
        return []
    low, high, need_low, need_high = found["interval"]
    if need_low is not None and need_low == need_high:
        return [
            ("protection interval", "none: it guards others"),
            ("attack interval", f"{end_words(low)} to {end_words(high)}"),
        ]
    facts = [
        ("protection interval", f"{end_words(need_low)} to {end_words(need_high)}"),
        ("attack interval", f"{end_words(low)} to {end_words(high)}"),
    ]
    if None in found["interval"]:
        return facts
    return [*facts, ("room to spare", f"{end_words(need_low - low)} below, {end_words(high - need_high)} above")]


def end_words(number: float | None) -> str:
    """An end of an interval, if it has one there."""
    return "open" if number is None else f"{number:,.6g}"


def _drawn(found: dict[str, Any]) -> Any:
    """The intervals as bars around the value."""
    ends = found["interval"]
    if ends is None or any(end is None for end in ends):
        return None
    low, high, need_low, need_high = ends
    return intervals(
        "Interval required and found",
        [("required", need_low, need_high, "i-need"), ("found by the attacker", low, high, "i-attack")],
        value=found["value"],
    )
