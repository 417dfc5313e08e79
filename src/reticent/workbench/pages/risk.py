# SPDX-License-Identifier: Apache-2.0
"""Risk: unsafe combinations, the risk of records with a threshold, keys, households, population models, before any protection."""

import math
from typing import Any

from reticent.web.environment import shown_name
from reticent.web.figures import Limit, histogram
from reticent.web.parts import Cell, Column, Figure, Row, Table
from reticent.web.site import Go, Note, Page, View, Visit, address
from reticent.workbench import risk_engine as engine
from reticent.workbench.project import Project

AXIS = ("0.01 %", "0.1 %", "1 %", "10 %", "100 %")
LAST = 40
"""Steps of the slider: a tenth of a power of ten each."""
MOST_LISTED = 100
MOST_CROSSED, MOST_RECORDS = 6, 1_000_000


def show(visit: Visit[Project]) -> View | Go:
    """The risk of the data as they are now."""
    project = visit.state
    if not project.ready:
        return Go(address("data"))
    (dimension, crossed_wrong), (threshold, threshold_wrong) = _asked(visit)
    work = visit.works.ask(engine.measure, *project.data_question(), dimension, threshold, title="Measuring risk")
    step = min(max(visit.number("limit", _step(project)), 0), LAST)
    facts: dict[str, Any] = {
        "dimension": dimension, "threshold": threshold, "step": step, "last": LAST, "found": None, "chosen": None,
        "models": None, "codes": None, "dimension_error": crossed_wrong, "threshold_error": threshold_wrong,
        "dimension_text": visit.query.get("dimension", dimension), "threshold_text": visit.query.get("threshold", threshold),
        "limit_words": f"{100 * 10 ** (step / 10 - 4):.3g} %",
    }  # fmt: skip
    running, error = work if work.running else None, str(work.error or "")
    if work.done:
        found = work.value()
        facts |= _facts(visit, found, step)
        if visit.query.get("models") == "1":
            models = visit.works.ask(engine.models, *project.data_question(), title="Estimating the population")
            running, error = models if models.running else None, str(models.error or "")
            facts |= {"models": _models(models.value()) if models.done else None}
        chosen = facts["chosen"]
        if chosen is not None and visit.show_values:
            codes = visit.works.ask(
                engine.codes, *project.data_question(), tuple(chosen["keys"]), threshold, title="Listing codes"
            )
            running = codes if codes.running else running
            facts |= {"codes": _codes(chosen["keys"], codes.value()) if codes.done else None}
    return View("risk.html", facts, error=error, work=running, status=422 if crossed_wrong or threshold_wrong else 200)


def _asked(visit: Visit[Project]) -> tuple[tuple[int, str], tuple[int, str]]:
    """Size of combinations and threshold, of the address, else of the plan; each with what is wrong with it."""
    risk = visit.state.table("file").get("risk", {})
    own = [risk.get(name) for name in ("dimension", "threshold")]
    dimension, threshold = (
        value if isinstance(value, int) else default for value, default in zip(own, (3, 1), strict=True)
    )
    crossed = visit.within("dimension", min(max(dimension, 1), MOST_CROSSED), 1, MOST_CROSSED)
    return crossed, visit.within("threshold", max(threshold, 1), 1, MOST_RECORDS)


def _step(project: Project) -> int:
    """The step of the slider for the limit of the plan."""
    most = project.table("file").get("risk", {}).get("most", 0.05)
    return round(10 * (math.log10(most) + 4)) if isinstance(most, float) and 0 < most <= 1 else 27


def _facts(visit: Visit[Project], found: dict[str, Any], step: int) -> dict[str, Any]:
    rows = found.get("combinations", [])
    number = visit.number("combination", -1)
    chosen = rows[number] if 0 <= number < len(rows) else None
    above = found["above"][step] if "above" in found else None
    drawn = None
    if "histogram" in found:
        drawn = histogram(
            "Records by risk", found["histogram"], AXIS, unit="records", axis="risk of a record, log scale",
            limit=Limit(step / LAST, f"threshold {100 * found['limits'][step]:.3g} %"),
        )  # fmt: skip
    return {
        "found": found, "figures": _figures(found), "drawn": drawn,
        "combinations": _combinations(visit, rows, number, found["records"]), "average": found["shares_total"],
        "above": above, "keys": _keys(found), "chosen": chosen, "n_more": max(0, len(rows) - MOST_LISTED),
    }  # fmt: skip


def _figures(found: dict[str, Any]) -> tuple[Figure, ...]:
    figures = [Figure("Records", f"{found['records']:,}")]
    if "combinations" in found:
        figures.append(
            Figure(
                "Unsafe combinations of codes",
                f"{found['unsafe_cells']:,}",
                f"in {len(found['combinations']):,} crossings",
            )
        )
        share = found["unsafe_records"] / (found["records"] or 1)
        figures.append(Figure("Records in them", f"{found['unsafe_records']:,}", f"{100 * share:.1f} % of the file"))
    if "expected" in found:
        figures.append(Figure("Expected re-identifications", f"{found['expected']:,.4g}", "records"))
    return tuple(figures)


def _combinations(visit: Visit[Project], rows: list[dict[str, Any]], chosen: int, records: int) -> Table:
    columns = (
        Column("Crossing of keys"), Column("Unsafe", num=True, sorted="descending"), Column("of codes", num=True),
        Column("Records in them", num=True), Column("Share of the file", bar=True, spare=True),
    )  # fmt: skip
    asked = {name: visit.query[name] for name in ("dimension", "threshold", "limit") if name in visit.query}
    listed = [
        Row(
            (
                Cell(" × ".join(shown_name(key, 40) for key in one["keys"]),
                     href=address("risk", **asked, combination=at, anchor="attacker")),
                Cell(f"{one['unsafe']:,}"), Cell(f"{one['cells']:,}", muted=True), Cell(f"{one['records']:,}"),
                Cell(share=one["records"] / (records or 1)),
            ),
            on=at == chosen,
        )
        for at, one in enumerate(rows[:MOST_LISTED])
    ]  # fmt: skip
    return Table("Crossings of keys, the one with most unsafe records first", columns, tuple(listed), tall=True)


def _keys(found: dict[str, Any]) -> Table | None:
    if not found["shares"]:
        return None
    columns = (
        Column("Key"), Column("Share of the risk", num=True), Column("Drawn", bar=True, spare=True),
        Column("Risk, known alone", num=True), Column("Risk saved, not known", num=True),
        Column("Share in SUDA", num=True, spare=True),
    )  # fmt: skip
    rows = []
    for name, share, alone, last in found["shares"]:
        suda = found["suda"].get(name)
        rows.append(
            Row((
                Cell(shown_name(name, 60)), Cell(f"{100 * share:.1f} %"), Cell(share=min(max(share, 0.0), 1.0)),
                Cell(f"{100 * alone:.2f} %"), Cell(f"{100 * last:.2f} %"), Cell("–" if suda is None else f"{100 * suda:.1f} %"),
            ))
        )  # fmt: skip
    return Table("Which keys drive the risk", columns, tuple(rows))


def _models(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The models as a table, and the range of those that estimate population uniques."""
    columns = (Column("Model"), Column("Estimates"), Column("Value", num=True))
    table = Table("Population models", columns, tuple(
        Row((Cell(str(one["model"])), Cell(str(one["quantity"]), muted=True),
             Cell("not judged" if one["value"] is None else f"{one['value']:,.4g}")))
        for one in rows
    ))  # fmt: skip
    uniques = [one["value"] for one in rows if one["quantity"] == "population uniques" and one["value"] is not None]
    words = "not judged: the size of the population is not known"
    if uniques:
        words = f"{min(uniques):,.4g} to {max(uniques):,.4g} people"
    return {"table": table, "range": words}


def _codes(keys: list[str], rows: list[tuple[list[str], int]]) -> Table:
    columns = (Column("Records", num=True), *(Column(shown_name(key, 30)) for key in keys))
    listed = tuple(Row((Cell(f"{n:,}"), *(Cell(shown_name(code, 40)) for code in codes))) for codes, n in rows)
    return Table("Unsafe codes of this crossing", columns, listed, tall=True)


def note(project: Project) -> Note:
    """Nothing is said before the page is opened: measuring takes time."""
    return Note()


PAGE = Page("risk", "Risk", "File", show, None, note)
