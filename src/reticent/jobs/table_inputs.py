"""What a table plan names: data, hierarchies, rules, a-priori files; read and checked before any work."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from reticent.base.errors import PlanError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import Secret
from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.published_table import PublishedTable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.data.table_plan import DimensionOptions, RedesignOptions, TablePlan, TableSection
from reticent.io.argus_hst import read_hst
from reticent.io.argus_text import Notes, find_file
from reticent.io.finished import read_finished
from reticent.io.hierarchies import read_hierarchy
from reticent.io.published import read_published_table
from reticent.io.read import Loaded, load_microdata
from reticent.tables.apriori import EntryGroup
from reticent.tables.cell_keys import fit_to_method, with_cell_keys
from reticent.tables.judge import LinkedTable
from reticent.tables.methods import TableMethod
from reticent.tables.redesign import redesign
from reticent.tables.rules import Rule, rule_from_plan
from reticent.tabulation.finished import finished_table
from reticent.tabulation.same_records import record_marks
from reticent.tabulation.tabulate import tabulate, with_empty_cells

NEED_RECORDS = ("shadow", "weighted", "missing_safe", "request", "waiver", "zeros", "redesign")


@dataclass(frozen=True, eq=False)
class PlannedTables:
    """Tables as the plan describes them, each with its rules and what is known beforehand; and earlier releases."""

    tables: tuple[LinkedTable, ...]
    notes: tuple[str, ...]
    earlier: Mapping[int, PublishedTable] = field(default_factory=dict)
    previous: Mapping[int, PublishedTable] = field(default_factory=dict)


def load_records(plan: TablePlan) -> Loaded:
    """Read the records that the tables of a plan are made from."""
    source = plan.data
    return load_microdata(
        source.path, source.schema, folder=plan.folder, format=source.format, query=source.query,
        separator=source.separator, encoding=source.encoding,
    )  # fmt: skip


def load_tables(
    plan: TablePlan,
    *,
    method: TableMethod,
    secret: Secret,
    loaded: Loaded | None = None,
    progress: Progress = silent,
) -> PlannedTables:
    """Read everything (the records, unless they are `loaded` already) and make the tables."""
    notes = Notes()
    if plan.tables[0].finished is not None:
        tables = [_finished(plan, section, notes) for section in plan.tables]
    else:
        tables = _tabulated(plan, loaded or load_records(plan), method, secret, notes, progress)
    known = [_with_a_priori(plan, section, one, notes) for section, one in zip(plan.tables, tables, strict=True)]
    earlier = {
        number: read_published_table(find_file(plan.folder, section.released, notes))
        for number, section in enumerate(plan.tables)
        if section.released is not None
    }
    previous = {
        number: read_published_table(find_file(plan.folder, section.previous, notes))
        for number, section in enumerate(plan.tables)
        if section.previous is not None
    }
    return PlannedTables(tuple(known), tuple(notes), earlier, previous)


def _with_a_priori(plan: TablePlan, section: TableSection, one: LinkedTable, notes: Notes) -> LinkedTable:
    """The table with what its a-priori file says; that stands above what the table itself declares."""
    if section.a_priori is None:
        return one
    path = find_file(plan.folder, section.a_priori, notes)
    entries = read_hst(path, len(section.dimensions), separator=section.separator, notes=notes)
    return replace(one, groups=(*one.groups, EntryGroup(tuple(entries))))


def rules_of(plan: TablePlan) -> tuple[Rule, ...]:
    """The rules of all sections: linked tables from the same records are judged by the same rules."""
    return tuple(dict.fromkeys(rule for section in plan.tables for rule in _rules(section)))


def _rules(section: TableSection) -> tuple[Rule, ...]:
    return tuple(
        rule_from_plan(options, owner=f"[table]: rule {number}")
        for number, options in enumerate(section.rules, start=1)
    )


def _trees(plan: TablePlan, dimension: DimensionOptions, notes: Notes) -> tuple[Hierarchy, ...]:
    return tuple(
        read_hierarchy(find_file(plan.folder, name, notes), lead=dimension.lead, total=dimension.total, notes=notes)
        for name in dimension.files()
    )


def spec_of(plan: TablePlan, section: TableSection, rules: tuple[Rule, ...], cost: str, notes: Notes) -> TableSpec:
    """The table that a section describes."""
    dimensions = tuple(
        DimensionSpec(d.variable, _trees(plan, d, notes), d.digits, d.total, d.level) for d in section.all_dimensions()
    )
    return TableSpec(
        dimensions,
        response=section.response,
        shadow=section.shadow,
        cost=cost or None,
        weighted=section.weighted,
        missing_safe=section.missing_safe,
        request=section.request,
        request_codes=section.request_codes,
        waiver=section.waiver,
        waiver_codes=section.waiver_codes,
        top=max([2, plan.protect.coalition, *(rule.needs_top for rule in rules)]),
        by_record=any(rule.unit == "record" for rule in rules),
    )


def linked_table(
    data: Microdata,
    spec: TableSpec,
    method: TableMethod | None,
    secret: Secret,
    *,
    rules: tuple[Rule, ...],
    zeros: bool,
    marked: bool,
    progress: Progress = silent,
) -> LinkedTable:
    """A table of records, with marks of the records of each cell where it is linked with others."""
    table = with_cell_keys(tabulate(data, spec, progress=progress), data, spec, method, secret)
    table = with_empty_cells(table) if zeros else table
    return LinkedTable(table, rules, marks=record_marks(data, spec.dimensions, table) if marked else None)


def _tabulated(
    plan: TablePlan, loaded: Loaded, method: TableMethod, secret: Secret, notes: Notes, progress: Progress
) -> list[LinkedTable]:
    rules = rules_of(plan)
    for line in loaded.notes:
        notes.add(line)
    cost = plan.protect.cost.partition("^")[0]
    cost = cost if cost in loaded.data.schema else ""
    tables = []
    for section in plan.tables:
        data, spec = loaded.data, fit_to_method(spec_of(plan, section, rules, cost, notes), method)
        if section.redesign is not None:
            data, spec = _redesigned(plan, section.redesign, data, spec, rules, notes)
        one = linked_table(
            data, spec, method, secret, rules=rules, zeros=section.zeros or plan.protect.hide_empty,
            marked=len(plan.tables) > 1, progress=progress,
        )  # fmt: skip
        tables.append(one)
    return tables


def _redesigned(
    plan: TablePlan, options: RedesignOptions, data: Microdata, spec: TableSpec, rules: tuple[Rule, ...], notes: Notes
) -> tuple[Microdata, TableSpec]:
    """Data and table with categories merged, and a note of what was merged."""
    if len(plan.tables) > 1:
        raise PlanError("[table]: redesign works on a single table; linked tables must keep the same codes.")
    found = redesign(data, spec, rules, at_most=options.at_most, dimensions=options.dimensions, budget=options.budget)
    least = "" if found.status == "optimal" else f", at least {found.bound:.3g} needed"
    merged = [f"{name}: {' + '.join(group)}" for name, groups in found.merged.items() for group in groups]
    notes.add(
        f"redesign: {found.unsafe_before} unsafe cells became {found.unsafe_after}; merged {', '.join(merged) or 'nothing'} "
        f"({found.loss:.3g} bits a record lost{least}, {found.status}, {found.tables} tables tried)."
    )
    return found.data, found.spec


def _finished(plan: TablePlan, section: TableSection, notes: Notes) -> LinkedTable:
    """A table from a file, judged by its own rules: it may lack what those of other tables look at."""
    assert section.finished is not None
    plain = TableSection(section.dimensions)
    for name in NEED_RECORDS:
        if getattr(section, name) != getattr(plain, name):
            raise PlanError(f"[table]: {name} needs records; a finished table has none. Leave it out.")
    dimensions = section.all_dimensions()
    found = read_finished(
        find_file(plan.folder, section.finished.path or plan.data.path, notes),
        [d.variable for d in dimensions],
        section.finished,
        trees=[_trees(plan, d, notes) for d in dimensions],
        totals=[d.total for d in dimensions],
        response=section.response or section.finished.value,
    )
    for line in found.notes:
        notes.add(line)
    table = finished_table(found.columns, tolerance=section.finished.tolerance, complete=section.finished.complete)
    table = with_empty_cells(table) if plan.protect.hide_empty else table
    return LinkedTable(table, _rules(section), (EntryGroup(found.entries, declared=True),))
