"""Tables as pages draw them, in plain data: dimensions as trees, cells with status and levels, one cell in full. Confidential."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from reticent.base.arrays import Mask
from reticent.base.errors import DataError, ParameterError, ReticentError
from reticent.base.plain import finite
from reticent.base.progress import Progress, silent
from reticent.data.cells import CellStatus
from reticent.data.table import Dimension, Table
from reticent.data.table_plan import TablePlan, read_table_plan
from reticent.io.argus_hst import read_hst
from reticent.io.atomic import write_text
from reticent.jobs.table_request import request_from_plan
from reticent.tables.methods import TABLE_METHODS
from reticent.tables.perturb.secrets import secret_for
from reticent.tables.responses import JudgedRequest, judged_responses
from reticent.tables.result import STATUS_NAMES, ProtectedTable
from reticent.tables.rules import Rule, RuleCells, rule_from_plan
from reticent.tables.run import run_request

__all__ = [
    "Grid", "Judged", "cell_facts", "compare_methods", "judge_plan", "judged_cell", "judged_grids", "protected_grids",
    "run_plan", "set_by_hand", "try_rules",
]  # fmt: skip

ACTIONS = {"safe": "S", "unsafe": "U", "frozen": "P", "hidden": "M"}
N_LARGEST = 3


@dataclass(frozen=True)
class Grid:
    """One table: the trees of its dimensions and its cells, side by side. `system` has the number of each cell among all."""

    response: str
    dimensions: tuple[dict[str, Any], ...]
    codes: list[list[int]]
    values: list[float]
    counts: list[int]
    status: list[str]
    system: list[int]
    rules: tuple[int, ...]
    """How many cells each rule of the plan calls unsafe, in its order."""
    n_possible: int
    decimals: int


def run_plan(path: Path, *, progress: Progress = silent) -> tuple[ProtectedTable, ...]:
    """Make, judge, protect and attack the tables of a plan; nothing is written or refused."""
    return run_request(request_from_plan(read_table_plan(path)), progress=progress)


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
    return [_grid(judged.plan, *part) for part in judged.parts()]


def judged_cell(judged: Judged, number: int, cell: int) -> dict[str, Any]:
    """A cell of one table before protection: the rule that it breaks, and the shares of its largest contributions."""
    tables = [(name, at) for name in judged.found.names for at in range(len(judged.found.responses[name].system.parts))]
    if not 0 <= number < len(tables):
        raise ParameterError("table: there is no such table; choose one of the tabs.")
    name, at = tables[number]
    one = judged.found.responses[name]
    if not 0 <= cell < one.system.parts[at].n_cells:
        raise ParameterError("table: there is no such cell; choose one in the table.")
    reason = one.knowledge.verdict.reason_of(int(one.system.members[at][cell]))
    return {"rule": reason, "shares": _shares(one.system.parts[at], cell)}


def try_rules(judged: Judged, rules: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What rules would do to each table: how many cells each of them, and all together, call unsafe."""
    found = []
    for table, _, _ in judged.parts():
        hits = [_broken(rule_from_plan(one, owner=f"rule {n}"), table) for n, one in enumerate(rules, 1)]
        together = np.zeros(table.n_cells, dtype=bool)
        for hit in hits:
            together |= False if hit is None else hit
        counts = [-1 if hit is None else int(hit.sum()) for hit in hits]
        found.append({"rules": counts, "unsafe": int(together.sum())})
    return found


def protected_grids(path: Path, results: Sequence[ProtectedTable]) -> list[Grid]:
    """The tables of protected results."""
    plan = read_table_plan(path)
    return [
        _grid(plan, part, result.status[members], members.tolist())
        for result in results
        for part, members in zip(result.system.parts, result.system.members, strict=True)
    ]


def _grid(plan: TablePlan, table: Table, status: Any, members: list[int]) -> Grid:
    return Grid(
        table.response or "count",
        tuple(_dimension(one) for one in table.dimensions),
        table.codes.tolist(),
        table.values.tolist(),
        table.respondents.counts.tolist(),
        [STATUS_NAMES[CellStatus(int(one))] for one in status],
        members,
        _unsafe_by_rule(plan, table),
        table.n_possible,
        table.decimals,
    )


def _dimension(one: Dimension) -> dict[str, Any]:
    parents = np.full(len(one), -1)
    for tree in reversed(one.trees):
        parents[tree >= 0] = tree[tree >= 0]
    return {
        "name": one.name, "codes": list(one.codes), "labels": [one.label(node) for node in range(len(one))],
        "parents": parents.tolist(), "levels": one.levels.tolist(),
    }  # fmt: skip


def _unsafe_by_rule(plan: TablePlan, table: Table) -> tuple[int, ...]:
    """Each rule by itself: a cell may break several. −1: the rule cannot judge this table (counts have no contributions)."""
    given = [options for section in plan.tables for options in section.rules]
    hits = [_broken(rule_from_plan(one, owner=f"[table]: rule {n}"), table) for n, one in enumerate(given, 1)]
    return tuple(-1 if hit is None else int(hit.sum()) for hit in hits)


def _broken(rule: Rule, table: Table) -> Mask | None:
    """Which cells break a rule; None where it cannot judge the table."""
    try:
        hit = rule.unsafe(RuleCells.of(table, rule.unit)) & ~table.listed_empty
    except DataError:
        return None
    return hit & ~table.has_missing if table.missing_safe else hit


def _shares(table: Table, cell: int) -> list[float]:
    """The largest contributions to a cell, as shares of it."""
    name = table.judged_variable
    measure = table.respondents.measures.get(name) if name is not None else None
    if measure is None or not measure.top.shape[1] or not measure.magnitudes[cell] > 0:
        return []
    weights = np.ones(measure.top.shape[1]) if measure.top_weights is None else measure.top_weights[cell]
    shares: list[float] = (measure.top[cell] * weights / measure.magnitudes[cell])[:N_LARGEST].tolist()
    return [share for share in shares if share > 0]


def cell_facts(result: ProtectedTable, cell: int) -> dict[str, Any]:
    """One cell of a result in full: status, rule, respondents, shares of the largest contributions, intervals, why hidden."""
    table = result.table
    if not 0 <= cell < table.n_cells:
        raise ParameterError("table: there is no such cell; choose one in the table.")
    hidden = bool(result.outcome.hidden[cell])
    return {
        "name": table.name_of(cell), "codes": list(table.cell_codes(cell)), "value": float(table.values[cell]),
        "respondents": int(table.respondents.counts[cell]), "shares": _shares(table, cell),
        "status": STATUS_NAMES[CellStatus(int(result.status[cell]))], "rule": result.verdict.reason_of(cell),
        "exposed": cell in result.exposed, "hidden": hidden, **_interval(result, cell),
        "why": result.why(*table.cell_codes(cell)).split("\n") if hidden else [],
    }  # fmt: skip


def _interval(result: ProtectedTable, cell: int) -> dict[str, Any]:
    at = np.flatnonzero(result.audit.cells == cell)
    if not len(at):
        return {"interval": None}
    found, place = result.audit, int(at[0])
    ends = (found.low, found.high, found.required_low, found.required_high)
    return {"interval": [finite(end[place]) for end in ends]}


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
    if any(separator in code or "\n" in code or code.startswith("//") for code in codes):
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
