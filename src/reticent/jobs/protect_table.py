# SPDX-License-Identifier: Apache-2.0
"""The job that protects tables, of a plan or of Python objects. Nothing exposed leaves unasked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from reticent.base.errors import ParameterError
from reticent.base.progress import Progress, silent
from reticent.data.large import LargeFile
from reticent.data.microdata import Microdata
from reticent.data.table import Table, TableSpec
from reticent.data.table_plan import TablePlan, named_after, read_table_plan
from reticent.history.released import Released
from reticent.io.atomic import write_text
from reticent.io.write import write_contents
from reticent.jobs.release import judge_release
from reticent.jobs.table_files import check_outputs, result_contents, written_names
from reticent.jobs.table_request import request_from_plan
from reticent.tables.attack.inside import InsideAudit
from reticent.tables.methods import PrimaryOnly
from reticent.tables.request import TableRequest, Wishes, table_request
from reticent.tables.result import ProtectedTable
from reticent.tables.run import run_request

__all__ = [
    "InsideAudit", "ProtectedTable", "TableRun", "audit_plan", "audit_plans", "protect_table", "read_table_plan",
    "run_table_plan", "run_table_plans", "run_tables", "write_certificates", "write_results", "written_names",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class TableRun:
    """The tables of a plan, one for each response; with a ledger the joint verdict, and nothing written."""

    results: tuple[ProtectedTable, ...]
    written: tuple[tuple[tuple[str, str], ...], ...]
    """For each: whether a file may leave, and its name as the plan has it."""
    released: Released | None = None
    explained: int | None = None
    """Which of them cells are explained of, if any are."""

    def summary(self) -> dict[str, Any]:
        """Everything as plain data."""
        return summaries(self.results) if self.released is None else self.released.summary()


def protect_table(
    data: TableRequest | Microdata | LargeFile | Table | Sequence[Table],
    spec: TableSpec | Sequence[TableSpec] | None = None,
    *,
    accept_exposed: bool = False,
    progress: Progress = silent,
    **wishes: Unpack[Wishes],
) -> ProtectedTable:
    """Protect a table, or several linked ones, and attack the result.

    `data` is microdata with a `spec` (or several), or finished tables, and `wishes` are what `table_request` takes (rules,
    method, attacker, …); or a `TableRequest` that says everything. If the attacker finds exposed cells the result is refused
    (`NotProtectedError`), unless `accept_exposed`.
    """
    if isinstance(data, TableRequest) and (spec is not None or wishes):
        raise ParameterError("protect_table: a request says everything; give no spec and no options beside it.")
    request = data if isinstance(data, TableRequest) else table_request(data, spec, **wishes)
    (result,) = run_request(replace(request, apart=False), progress=progress)
    result.require(accept_exposed=accept_exposed)
    return result


def run_table_plan(path: Path, *, progress: Progress = silent) -> ProtectedTable:
    """Read a plan of one response, protect the tables it describes, and write what it asks for."""
    return run_table_plans(read_table_plan(path).of_response(), progress=progress)[0]


def run_table_plans(plan: TablePlan | Path, *, progress: Progress = silent) -> tuple[ProtectedTable, ...]:
    """One result for each response of a plan; what they write appears together or not at all."""
    plan = plan if isinstance(plan, TablePlan) else read_table_plan(plan)
    check_outputs(plan)
    results = run_closing(request_from_plan(plan), progress=progress)
    write_results(plan, results)
    return results


def run_tables(
    path: Path, *, explain: bool = False, response: str | None = None, progress: Progress = silent
) -> TableRun:
    """Protect the tables of a plan, attack them, write what it asks for.

    With `explain` cells of one response are explained afterwards; which one that is, is settled before the work.
    """
    plan = read_table_plan(path)
    parts = plan.by_response()
    explained = parts.index(plan.of_response(response)) if explain else None
    if plan.ledger is None:
        results = run_table_plans(plan, progress=progress)
        written = tuple(tuple(written_names(one, result)) for one, result in zip(parts, results, strict=True))
        return TableRun(results, written, explained=explained)
    released, made = judge_release(path, progress=progress)
    assert isinstance(made, tuple)
    return TableRun(made, ((),) * len(made), released, explained)


def run_closing(request: TableRequest, *, progress: Progress = silent) -> tuple[ProtectedTable, ...]:
    """Run the request of a plan; an engine that holds its records ends with it."""
    try:
        return run_request(request, progress=progress)
    finally:
        records = request.tables[0].records
        if isinstance(records, LargeFile):
            records.view.connection.close()


def write_results(plan: TablePlan, results: Sequence[ProtectedTable]) -> None:
    """Write what a plan without a ledger asks for, all or nothing; exposed cells are refused unless the plan accepts them."""
    check_outputs(plan)
    for result in results:
        result.require(accept_exposed=plan.protect.accept_exposed)
    if plan.ledger is None:  # with a ledger only `release` writes
        write_contents(result_contents(plan.by_response(), results))


def audit_plan(
    path: Path,
    *,
    response: str | None = None,
    insiders: str | None = None,
    coalition: int | None = None,
    progress: Progress = silent,
) -> ProtectedTable:
    """Run a table plan up to the attack; nothing is written and nothing refused.

    `response` names one of several; `insiders` and `coalition` take the place of what the plan says.
    """
    plan = read_table_plan(path)
    chosen = plan.of_response(response)
    results = audit_plans(path, insiders=insiders, coalition=coalition, progress=progress)
    return results[plan.by_response().index(chosen)]


def audit_plans(
    path: Path, *, insiders: str | None = None, coalition: int | None = None, progress: Progress = silent
) -> tuple[ProtectedTable, ...]:
    """The same for every response of a plan, in its order."""
    plan = read_table_plan(path)
    # without a method the pattern that the plan and its tables declare is attacked as it stands
    declared = PrimaryOnly.name if plan.protect.method is None and not plan.protect.options else None
    given: dict[str, Any] = {"insiders": insiders, "coalition": coalition, "method": declared}
    protect = replace(plan.protect, **{name: value for name, value in given.items() if value is not None})
    return run_closing(request_from_plan(replace(plan, protect=protect)), progress=progress)


def write_certificates(results: Sequence[ProtectedTable], path: Path) -> dict[Path, tuple[int, ...]]:
    """Write a proof of each pattern in integers, for `reticent verify`: its place, and the unsafe cells it could not prove."""
    unproved = {}
    for result in results:
        proof = result.certificate()
        own = path if len(results) == 1 else named_after(path, result.response)
        write_text(own, proof.to_text())
        unproved[own] = proof.unproved
    return unproved


def summaries(results: Sequence[ProtectedTable]) -> dict[str, Any]:
    """Everything as plain data (confidential): by response where there are several."""
    return {result.response: result.summary() for result in results} if len(results) > 1 else results[0].summary()
