# SPDX-License-Identifier: Apache-2.0
"""Tables as pages draw them (`tables/grid.py`): judged by a plan, protected, tried with other rules and methods. Confidential."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from reticent.base.errors import ParameterError, ReticentError
from reticent.base.progress import Progress, silent
from reticent.data.table import Table
from reticent.data.table_plan import TablePlan, read_table_plan
from reticent.io.argus_hst import read_hst
from reticent.io.atomic import write_text
from reticent.jobs.table_request import request_from_plan
from reticent.tables.grid import Grid, broken, cell_facts, grid_of, largest_shares, shown_after, shown_before
from reticent.tables.methods import TABLE_METHODS
from reticent.tables.perturb.secrets import secret_for
from reticent.tables.responses import JudgedRequest, judged_responses
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import Rule, rule_from_plan
from reticent.tables.run import run_and_count, run_request

__all__ = [
    "Grid", "Judged", "cell_facts", "compare_methods", "judge_plan", "judged_cell", "judged_grids", "protected_grids",
    "run_plan", "set_by_hand", "try_rules",
]  # fmt: skip

ACTIONS = {"safe": "S", "unsafe": "U", "frozen": "P", "hidden": "M"}


def run_plan(path: Path, *, progress: Progress = silent) -> tuple[tuple[ProtectedTable, ...], int | None]:
    """Make, judge, protect and attack the tables of a plan; nothing is written or refused.

    With them the `search_steps` that stand for a run in which seconds may have decided, None where they did not.
    """
    return run_and_count(request_from_plan(read_table_plan(path)), progress=progress)


@dataclass(frozen=True, eq=False)
class Judged:
    """A plan, and its tables made and judged; kept while rules are tried and cells are looked at."""

    plan: TablePlan
    found: JudgedRequest

    def parts(self) -> list[tuple[Table, Any, list[int]]]:
        """Each table with the status of its cells and their numbers among all, in the order of the pages."""
        responses = [self.found.responses[name] for name in self.found.names]
        return [
            (part, one.knowledge.verdict.status[members], members.tolist())
            for one in responses
            for part, members in zip(one.system.parts, one.system.members, strict=True)
        ]


def judge_plan(path: Path, *, progress: Progress = silent) -> Judged:
    """Make the tables of a plan and judge them by its rules; nothing is protected."""
    plan = read_table_plan(path)
    request = request_from_plan(plan)
    secret = secret_for(request.method, request.secret, test=request.test_secret)
    return Judged(plan, judged_responses(request, secret, progress))


def judged_grids(judged: Judged) -> list[Grid]:
    """The tables of a plan, judged by its rules and not protected."""
    rules, parts = _rules(judged.plan), judged.parts()
    shown = [shown_before(table, status) for table, status, _ in parts]
    if not rules or any(value is None for values in shown for value in values):  # tables of one plan tell of each other
        shown = [_nothing(table) for table, _, _ in parts]
    return [
        grid_of(table, status, members, rules, own) for (table, status, members), own in zip(parts, shown, strict=True)
    ]


def judged_cell(judged: Judged, number: int, cell: int) -> dict[str, Any]:
    """A cell of one table before protection: the rules that it breaks, and the shares of its largest contributions."""
    tables = [(name, at) for name in judged.found.names for at in range(len(judged.found.responses[name].system.parts))]
    if not 0 <= number < len(tables):
        raise ParameterError("table: there is no such table; choose one of the tabs.")
    name, at = tables[number]
    one = judged.found.responses[name]
    if not 0 <= cell < one.system.parts[at].n_cells:
        raise ParameterError("table: there is no such cell; choose one in the table.")
    rules = one.knowledge.verdict.rules_of(int(one.system.members[at][cell]))
    return {"rule": ", ".join(rules), "shares": largest_shares(one.system.parts[at], cell)}


def try_rules(judged: Judged, rules: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What rules would do to each table: how many cells each of them, and all together, call unsafe."""
    found, chosen = [], [rule_from_plan(one, owner=f"rule {n}") for n, one in enumerate(rules, 1)]
    for table, _, _ in judged.parts():
        hits = [broken(rule, table) for rule in chosen]
        together = np.zeros(table.n_cells, dtype=bool)
        for hit in hits:
            together |= False if hit is None else hit
        counts = [-1 if hit is None else int(hit.sum()) for hit in hits]
        found.append({"rules": counts, "unsafe": int(together.sum())})
    return found


def protected_grids(path: Path, results: Sequence[ProtectedTable]) -> list[Grid]:
    """The tables of protected results; unasked, what they publish may be seen if no cell of any of them is exposed."""
    rules = _rules(read_table_plan(path))
    telling = any(result.exposed for result in results) or not rules

    def shown(result: ProtectedTable, part: Table, members: Any) -> list[float | None]:
        return _nothing(part) if telling else shown_after(part, members, result)

    return [
        grid_of(part, result.status[members], members.tolist(), rules, shown(result, part, members))
        for result in results
        for part, members in zip(result.system.parts, result.system.members, strict=True)
    ]


def _nothing(table: Table) -> list[float | None]:
    """Nothing of any cell is seen unasked."""
    return [None] * table.n_cells


def _rules(plan: TablePlan) -> list[Rule]:
    given = [options for section in plan.tables for options in section.rules]
    return [rule_from_plan(one, owner=f"[table]: rule {n}") for n, one in enumerate(given, 1)]


def compare_methods(path: Path, methods: Sequence[str], *, progress: Progress = silent) -> list[dict[str, Any]]:
    """What several methods, each with its defaults, do to the tables of a plan."""
    request = request_from_plan(read_table_plan(path))
    rows: list[dict[str, Any]] = []
    for at, name in enumerate(methods):
        progress(at / len(methods), f"trying {name}")
        try:
            results = run_request(replace(request, method=TABLE_METHODS[name]()), progress=silent)
        except ReticentError as err:
            rows.append({"method": name, "error": str(err)})
            continue
        counts = [result.counts() for result in results]
        rows.append({
            "method": name, "error": "", "secondary": sum(one["secondary"] for one in counts),
            "cost": sum(result.outcome.cost for result in results), "exposed": sum(len(result.exposed) for result in results),
            "guarantee": str(results[0].guarantee.arithmetic), "status": results[0].outcome.status,
        })  # fmt: skip
    return rows


def set_by_hand(path: Path, place: Path, codes: Sequence[str], status: str, reason: str = "") -> None:
    """Put a line for one cell into an a-priori file, in place of an earlier line for it; "rules" takes the line out."""
    plan = read_table_plan(path)
    section = plan.tables[0]
    separator = section.separator
    if any(separator in code or len(code.splitlines()) > 1 or code.startswith("//") for code in codes):
        raise ParameterError(f"a_priori: a code holds {separator!r}; give [table] another separator first.")
    if status not in (*ACTIONS, "rules"):
        raise ParameterError(f"status must be one of rules, {', '.join(ACTIONS)}.")
    lines = place.read_text(encoding="utf-8").splitlines() if place.is_file() else []
    start = separator.join(codes) + separator
    kept = [line for line in lines if not line.startswith((start, f"// {start}"))]
    if status != "rules":
        words = " ".join(reason.split())
        kept += ([f"// {start} {words}"] if words else []) + [f"{start}{ACTIONS[status]}"]
    write_text(place, "".join(f"{line}\n" for line in kept))
    read_hst(place, len(codes), separator=separator)
