# SPDX-License-Identifier: Apache-2.0
"""What runs in workers for tables: judge, protect, look at one cell, compare methods, write. Plain data in and out."""

import functools
import json
from pathlib import Path
from typing import Any

from reticent.base.errors import PlanError
from reticent.base.progress import Progress
from reticent.jobs.protect_table import read_table_plan, write_results, written_names
from reticent.jobs.table_view import (
    Grid,
    Judged,
    cell_facts,
    compare_methods,
    judge_plan,
    judged_cell,
    judged_grids,
    protected_grids,
    run_plan,
    try_rules,
)
from reticent.workbench.engine import Reporter, Stamp


@functools.lru_cache(maxsize=1)
def _judged(plan: str, version: str, stamp: Stamp, report: Reporter) -> Judged:
    return judge_plan(Path(plan), progress=report)


def judge_table(plan: str, version: str, stamp: Stamp, *, progress: Progress) -> list[Grid]:
    """The tables of a plan, judged and not protected: quick enough to be looked at while rules are chosen."""
    return judged_grids(_judged(plan, version, stamp, Reporter(progress)))


def try_table(plan: str, version: str, stamp: Stamp, rules: str, *, progress: Progress) -> list[dict[str, Any]]:
    """How many cells of each table other rules (as JSON) would call unsafe."""
    return try_rules(_judged(plan, version, stamp, Reporter(progress)), json.loads(rules))


def look_before(plan: str, version: str, stamp: Stamp, table: int, cell: int, *, progress: Progress) -> Any:
    """One cell of a table that is judged and not protected."""
    return judged_cell(_judged(plan, version, stamp, Reporter(progress)), table, cell)


@functools.lru_cache(maxsize=2)
def _run(plan: str, version: str, stamp: Stamp, report: Reporter) -> Any:
    return run_plan(Path(plan), progress=report)


def protect_tables(plan: str, version: str, stamp: Stamp, *, progress: Progress) -> dict[str, Any]:
    """Protect and attack the tables of a plan; nothing is written. The run is kept for cells and for writing."""
    results, steps = _run(plan, version, stamp, Reporter(progress))
    return {
        "steps": steps,
        "grids": protected_grids(Path(plan), results),
        "accepted": read_table_plan(Path(plan)).protect.accept_exposed,
        "results": [
            {
                "response": one.response, "counts": one.counts(), "method": one.method, "gap": _gap(one.outcome),
                "cost": one.outcome.cost, "bound": one.outcome.bound, "state": one.outcome.status,
                "exposed": list(one.exposed), "verdict": one.state, "notes": list(one.notes), "guarantee": str(one.guarantee),
                "exchanged": one.outcome.values is not None, "tables": len(one.system.parts), "intervals": one.intervals(),
                "inside": one.summary()["inside"],
            }
            for one in results
        ],
    }  # fmt: skip


def _gap(outcome: Any) -> float | None:
    """By what share the cost may be above the least possible; None: no bound is known."""
    if outcome.bound is None or outcome.values is not None:
        return None
    return float(max(0.0, outcome.cost / outcome.bound - 1)) if outcome.bound > 0 else 0.0 if not outcome.cost else None


def look_at_cell(
    plan: str, version: str, stamp: Stamp, response: int, cell: int, values: bool, *, progress: Progress
) -> Any:
    """One cell of a run in full; values of cells are in its sentences only if they are shown."""
    return cell_facts(_run(plan, version, stamp, Reporter(progress))[0][response], cell, values=values)


def show_cell(
    plan: str, version: str, stamp: Stamp, response: int, cell: int, values: bool, *, progress: Progress
) -> str:
    """What would have to be hidden if a hidden cell were shown; costs, which are mostly values, only if these are shown."""
    result = _run(plan, version, stamp, Reporter(progress))[0][response]
    return str(result.what_if(*result.table.cell_codes(cell), values=values))


def compare(plan: str, version: str, stamp: Stamp, methods: tuple[str, ...], *, progress: Progress) -> Any:
    """What several methods do to the tables of a plan."""
    return compare_methods(Path(plan), methods, progress=progress)


def steps_of(plan: str, version: str, stamp: Stamp, progress: Progress) -> int | None:
    """The `search_steps` that a plan must say before what it makes may leave; None: it says all."""
    found: int | None = _run(plan, version, stamp, Reporter(progress))[1]
    return found


def write_tables(plan: str, version: str, stamp: Stamp, results: str, *, progress: Progress) -> dict[str, Any]:
    """Write what a plan names in `results`, from the run that was judged; tables with exposed cells are refused.

    Nothing is written by a plan that does not say where its search ended: its steps come back.
    """
    read = read_table_plan(Path(plan))
    if read.ledger is not None:
        raise PlanError("the plan has a [ledger], so only a release writes: go on with the page Release.")
    made, steps = _run(plan, version, stamp, Reporter(progress))
    if steps is not None:
        return {"steps": steps, "names": []}
    write_results(read, made)
    pairs = zip(read.by_response(), made, strict=True)
    return {
        "steps": None,
        "names": [[kind, name] for one, result in pairs for kind, name in written_names(one, result)],
    }
