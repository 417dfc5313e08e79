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


def cell_panel(visit: Visit[Project], grid: Grid, seen: Seen, response: int | None) -> dict[str, Any] | None:
    """The chosen cell; `response` numbers the result of a run, None before one. Intervals are shares until values are shown."""
    if not seen.cell:
        return None
    codes = [one["codes"][node] for one, node in zip(grid.dimensions, seen.cell, strict=True)]
    place = next((at for at, nodes in enumerate(grid.codes) if tuple(nodes) == seen.cell), None)
    facts: dict[str, Any] = {
        "name": " × ".join(shown_name(code, 40) for code in codes), "nodes": ".".join(map(str, seen.cell)), "status": "empty",
        "work": None, "found": None, "rule": "", "shares": [], "what_if": "", "ask": "", "error": "",
    }  # fmt: skip
    if place is None:
        return facts
    facts |= {
        "status": grid.status[place],
        "respondents": grid.counts[place],
        "value": shown_value(grid, place, values=visit.show_values),
    }
    if response is None:
        work = visit.works.ask(
            engine.look_before, *judge_question(visit.state), seen.table, place, title="Looking at the cell"
        )
        found = work.value() if work.done else {}
        return facts | {"work": work if work.running else None, "error": str(work.error or ""), **found}
    return facts | _after(visit, seen, (*question(visit.state), response, grid.system[place]))


def _after(visit: Visit[Project], seen: Seen, asked: tuple[Any, ...]) -> dict[str, Any]:
    """The cell in the light of a run."""
    values = visit.show_values
    work = visit.works.ask(engine.look_at_cell, *asked, values, title="Looking at the cell")
    facts: dict[str, Any] = {"work": work if work.running else None, "error": str(work.error or "")}
    if work.done:
        found = work.value()
        facts |= {
            "found": found, "rule": found["rule"], "shares": found["shares"], "intervals": _intervals(found, values),
            "drawn": _drawn(found, values), "ask": seen.link(**{"if": "shown", "anchor": "attacker"}),
        }  # fmt: skip
        if found["hidden"] and visit.query.get("if") == "shown":
            tried = visit.works.ask(engine.show_cell, *asked, title="Trying without the cell")
            facts |= {"what_if": str(tried.error or tried.value() or ""), "work": tried if tried.running else None}
    return facts


def _intervals(found: dict[str, Any], values: bool) -> list[tuple[str, str]]:
    if found["interval"] is None:
        return []
    low, high, need_low, need_high = found["interval"]
    value = found["value"]

    def end(number: float | None) -> str:
        if number is None:
            return "open"
        if values:
            return f"{number:,.6g}"
        return "–" if not value else f"{100 * (number - value) / abs(value):+.1f}\u00a0%"

    return [
        ("protection interval", f"{end(need_low)} to {end(need_high)}"),
        ("attack interval", f"{end(low)} to {end(high)}"),
    ]


def _drawn(found: dict[str, Any], values: bool) -> Any:
    """The intervals as bars, around the value or, while values are hidden, around 0 %."""
    ends, value = found["interval"], found["value"]
    if ends is None or any(end is None for end in ends) or (not values and not value):
        return None
    if not values:
        ends = [100 * (end - value) / abs(value) for end in ends]
    low, high, need_low, need_high = ends
    return intervals(
        "Interval required and found",
        [("required", need_low, need_high, "i-need"), ("found by the attacker", low, high, "i-attack")],
        value=value if values else 0.0, unit="" if values else "%",
    )  # fmt: skip
