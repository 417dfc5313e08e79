# SPDX-License-Identifier: Apache-2.0
"""What a table plan writes: names of files, texts of tables, reports and summaries, and checks before the work starts."""

import json
from collections.abc import Sequence
from pathlib import Path

from reticent.base.errors import PlanError
from reticent.data.response_relations import COUNT
from reticent.data.table_plan import TablePlan, named_after
from reticent.io.places import check_places, inputs_of
from reticent.io.table_format import TableContent
from reticent.io.table_formats import check_marks, table_content
from reticent.jobs.provenance import provenance_of
from reticent.tables.derived import ratio_table, share_table
from reticent.tables.release import mean_table
from reticent.tables.result import ProtectedTable


def check_outputs(plan: TablePlan) -> None:
    """What could keep a result of the plan from being written is found before the work starts."""
    plans = plan.by_response()
    for one in plans:
        output = one.output
        if not any((output.path, output.public_report, output.report, output.summary)):
            raise PlanError("[output] names no file; give at least path, report or summary.")
        if output.path:
            check_marks(output.path, output.marks)
        if output.schema:
            raise PlanError("[output]: a table has no schema file; leave schema out.")
        n = sum(section.released is None for section in one.tables)
        check_places((one.find(name) for _, name in _written(one, n)), plan_inputs(one))
    if any(section.means for section in plan.tables):
        _check_means(plan, plans)
    _check_ratios(plan, plans)


def plan_inputs(plan: TablePlan) -> tuple[Path, ...]:
    """What a plan reads: its own file, and each file that it could name."""
    return (*(() if plan.source is None else (plan.source,)), *inputs_of(plan, plan.folder))


def _check_means(plan: TablePlan, plans: Sequence[TablePlan]) -> None:
    """Means need the counts in every table: with a sum, a mean gives the count away."""
    shapes = {one.response: [section.dimensions for section in one.tables] for one in plans}
    whole = COUNT in shapes and all(shape == shapes[COUNT] for shape in shapes.values())
    if not whole or len(shapes) < 2 or any(s.released or s.finished or s.response for s in plan.tables):
        raise PlanError(
            '[table]: means = true needs responses with "count" among them in every table, because a mean and its sum give '
            'the count. Write for example responses = ["turnover", "count"].'
        )


def _check_ratios(plan: TablePlan, plans: Sequence[TablePlan]) -> None:
    """Ratios are made of responses of the plan that have the same tables."""
    shapes = {one.response: [section.dimensions for section in one.tables] for one in plans}
    for above, below in _ratios(plan):
        for name in (above, below):
            if name not in shapes:
                known = ", ".join(shapes)
                raise PlanError(f"[table]: ratios name {name!r}, which is not a response of the plan ({known}).")
        if shapes[above] != shapes[below] or any(section.released for section in plan.tables):
            raise PlanError(
                f"[table]: {above} / {below} needs both responses in the same tables, none of them released."
            )


def _ratios(plan: TablePlan) -> list[tuple[str, str]]:
    return list(dict.fromkeys(parts for section in plan.tables for parts in section.ratio_parts()))


def result_contents(plans: Sequence[TablePlan], results: Sequence[ProtectedTable]) -> dict[Path, TableContent]:
    """Everything that the plans of the responses ask for, by its place."""
    contents: dict[Path, TableContent] = {}
    for one, result in zip(plans, results, strict=True):
        contents.update(_contents(one, result))
    return contents | _derived(plans, results)


def _contents(plan: TablePlan, result: ProtectedTable) -> dict[Path, TableContent]:
    """The publishable tables and the reports that the plan names, by their places; linked tables get a number each."""
    from reticent.report.page import form_of
    from reticent.report.table_report import confidential_table_report, public_table_report

    output, released = plan.output, result.published
    contents: dict[Path, TableContent] = {}
    for number, table in enumerate(released, start=1):
        if output.path:
            place = plan.find(_numbered(output.path, number, len(released)))
            contents[place] = table_content(table, place, output.marks)
        if output.public_report:
            place = plan.find(_numbered(output.public_report, number, len(released)))
            contents[place] = public_table_report(table, date=output.date or "", form=form_of(place))
    if output.report:
        origin = provenance_of(plan, seconds=result.seconds)
        contents[plan.find(output.report)] = confidential_table_report(
            result, origin=origin, form=form_of(output.report)
        )
    if output.summary:
        contents[plan.find(output.summary)] = json.dumps(result.summary(), indent=2) + "\n"
    return contents


def _derived(plans: Sequence[TablePlan], results: Sequence[ProtectedTable]) -> dict[Path, TableContent]:
    """Tables of means, shares and ratios, where the plans ask for them, made of what is published."""
    tables = {one.response: result.published for one, result in zip(plans, results, strict=True)}
    contents: dict[Path, TableContent] = {}
    for one in plans:
        own = tables[one.response]
        for name, sums, count in zip(_mean_names(one, len(own)), own, tables.get(COUNT, ()), strict=False):
            contents[one.find(name)] = table_content(mean_table(sums, count), name, one.output.marks)
        for name, number, dimension, total in _share_names(one):
            contents[one.find(name)] = table_content(
                share_table(own[number], dimension, total=total), name, one.output.marks
            )
        for name, number, below in _ratio_names(one, len(own)):
            contents[one.find(name)] = table_content(
                ratio_table(own[number], tables[below][number]), name, one.output.marks
            )
    return contents


def _share_names(plan: TablePlan) -> list[tuple[str, int, str, str]]:
    """The files of shares: table-share-region.csv, with the number of the table, the dimension and the code of its total."""
    sections = [section for section in plan.tables if section.released is None]
    return [
        (_numbered(str(named_after(Path(plan.output.path), f"share-{name}")), number + 1, len(sections)), number, name, total)
        for number, section in enumerate(sections)
        for name, total in ((d.variable, d.total) for d in section.all_dimensions() if d.variable in section.shares)
        if plan.output.path
    ]  # fmt: skip


def _ratio_names(plan: TablePlan, n_tables: int) -> list[tuple[str, int, str]]:
    """The files of ratios of one response: table-turnover-per-employees.csv, with the number of the table and the other one."""
    if not plan.output.path:
        return []
    return [
        (_numbered(str(named_after(Path(plan.output.path), f"per-{below}")), number + 1, n_tables), number, below)
        for above, below in _ratios(plan)
        if above == plan.response
        for number in range(n_tables)
    ]


def _mean_names(plan: TablePlan, n_tables: int) -> list[str]:
    """The files of the means of one response: table-turnover-mean.csv."""
    if not plan.output.path or plan.response == COUNT or not any(section.means for section in plan.tables):
        return []
    own = str(named_after(Path(plan.output.path), "mean"))
    return [_numbered(own, number, n_tables) for number in range(1, n_tables + 1)]


def written_names(plan: TablePlan, result: ProtectedTable) -> list[tuple[str, str]]:
    """What a plan of one response wrote: whether a file may leave, and its name as the plan has it."""
    return _written(plan, len(result.published))


def planned_names(plan: TablePlan) -> list[tuple[str, str]]:
    """What a plan will write, over all responses: whether a file may leave, and its name."""
    return [
        pair for one in plan.by_response() for pair in _written(one, sum(own.released is None for own in one.tables))
    ]


def written_tables(plan: TablePlan, results: Sequence[ProtectedTable]) -> list[str]:
    """The files of the tables of a plan, in the order of its responses and tables."""
    return [
        _numbered(one.output.path, number, len(result.published))
        for one, result in zip(plan.by_response(), results, strict=True)
        for number in range(1, len(result.published) + 1)
        if one.output.path
    ]


def _written(plan: TablePlan, n: int) -> list[tuple[str, str]]:
    output = plan.output
    public = [name for name in (output.path, output.public_report) if name]
    names = [("publishable", _numbered(name, number, n)) for name in public for number in range(1, n + 1)]
    names += [("publishable", name) for name in _mean_names(plan, n)]
    names += [("publishable", name) for name, *_ in _share_names(plan)]
    names += [("publishable", name) for name, *_ in _ratio_names(plan, n)]
    return names + [("confidential", name) for name in (output.report, output.summary) if name]


def _numbered(name: str, number: int, of: int) -> str:
    return name if of == 1 else str(named_after(Path(name), str(number)))
