# SPDX-License-Identifier: Apache-2.0
"""The tables of a request, made: tabulated with what rules and method look at, redesigned, with cell keys and marks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reticent.base.errors import PlanError
from reticent.base.progress import Progress
from reticent.base.randomness import Secret
from reticent.data.large import LargeFile
from reticent.data.microdata import Microdata
from reticent.data.table import Table, TableSpec
from reticent.data.table_plan import RedesignOptions
from reticent.tables.cell_keys import fit_to_method, with_cell_keys
from reticent.tables.judge import LinkedTable
from reticent.tables.methods import TableMethod
from reticent.tables.redesign import redesign
from reticent.tables.request import WantedTable
from reticent.tables.rules import Rule
from reticent.tabulation.large import table_from
from reticent.tabulation.same_records import record_marks
from reticent.tabulation.tabulate import with_empty_cells


@dataclass(frozen=True, eq=False)
class Making:
    """What holds for all tables of a request: the method and its secret, whether empty cells may be hidden, and how many
    respondents may join: these must be known by name.
    """

    method: TableMethod
    secret: Secret
    hide_empty: bool = False
    coalition: int = 1


def make_tables(
    wanted: Sequence[WantedTable], how: Making, progress: Progress
) -> tuple[list[LinkedTable], tuple[str, ...]]:
    """The tables of one response, and what there is to say about them. Linked tables need the same numbers of every cell."""
    rules = [rule for one in wanted for rule in one.rules]
    made: list[LinkedTable] = []
    notes: list[str] = []
    for one in wanted:
        notes += one.notes
        if isinstance(one.source, TableSpec):
            table, said = _from_records(one, rules, how, linked=len(wanted) > 1, progress=progress)
            notes += said
        else:
            listed = one.zeros or how.hide_empty
            table = LinkedTable(with_empty_cells(one.source) if listed else one.source)
        made.append(replace(table, rules=one.rules, groups=one.a_priori, cost=one.cost))
    return made, tuple(notes)


def _from_records(
    one: WantedTable, rules: Sequence[Rule], how: Making, *, linked: bool, progress: Progress
) -> tuple[LinkedTable, list[str]]:
    """A table of records, with marks of the records of each cell where it is linked with others."""
    assert one.records is not None
    assert isinstance(one.source, TableSpec)
    data, notes = one.records, []
    named = replace(one.source, top=max(one.source.top, how.coalition))
    spec = fit_to_method(fit_to_rules(named, rules), how.method)
    if one.redesign is not None:
        if linked:
            raise PlanError("[table]: redesign works on a single table; linked tables must keep the same codes.")
        if isinstance(data, LargeFile):
            raise PlanError("[table]: redesign tries many tables of all records; with an engine recode the data first.")
        data, spec, note = _redesigned(one.redesign, data, spec, one.rules)
        notes.append(note)
    table: Table = with_cell_keys(table_from(data, spec, progress=progress), data, spec, how.method, how.secret)
    table = with_empty_cells(table) if one.zeros or how.hide_empty else table
    marks = record_marks(data, spec.dimensions, table, secret=how.secret) if linked else None
    return LinkedTable(table, marks=marks), notes


def fit_to_rules(spec: TableSpec, rules: Sequence[Rule]) -> TableSpec:
    """The same table with as many of the largest contributions as the rules look at."""
    top = max([spec.top, *(rule.needs_top for rule in rules)])
    return replace(spec, top=top, by_record=spec.by_record or any(rule.unit == "record" for rule in rules))


def _redesigned(
    options: RedesignOptions, data: Microdata, spec: TableSpec, rules: tuple[Rule, ...]
) -> tuple[Microdata, TableSpec, str]:
    """Data and table with categories merged, and a note of what was merged."""
    found = redesign(data, spec, rules, at_most=options.at_most, dimensions=options.dimensions, budget=options.budget)
    least = "" if found.status == "optimal" else f", at least {found.bound:.3g} needed"
    merged = [f"{name}: {' + '.join(group)}" for name, groups in found.merged.items() for group in groups]
    note = (
        f"redesign: {found.unsafe_before} unsafe cells became {found.unsafe_after}; merged {', '.join(merged) or 'nothing'} "
        f"({found.loss:.3g} bits per record lost{least}, {found.status}, {found.tables} tables tried)."
    )
    return found.data, found.spec, note
