"""What a table plan names: data, hierarchies, rules, a-priori files; read and checked before any work."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from reticent.base.errors import PlanError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import Secret
from reticent.data.hierarchy import Hierarchy
from reticent.data.published_table import PublishedTable
from reticent.data.table import DimensionSpec, Table, TableSpec
from reticent.data.table_plan import DimensionOptions, TablePlan, TableSection
from reticent.io.argus_hst import read_hst
from reticent.io.argus_text import Notes, find_file
from reticent.io.finished import read_finished
from reticent.io.hierarchies import read_hierarchy
from reticent.io.published import read_published_table
from reticent.io.read import load_microdata
from reticent.jobs.table_keys import fit_to_method, with_cell_keys
from reticent.tables.apriori import Entry
from reticent.tables.methods import TableMethod
from reticent.tables.rules import Rule, rule_from_plan
from reticent.tabulation.finished import finished_table
from reticent.tabulation.tabulate import tabulate, with_empty_cells


@dataclass(frozen=True, eq=False)
class PlannedTables:
    """Tables as the plan describes them, the rules that judge them, and what is known beforehand."""

    tables: tuple[Table, ...]
    rules: tuple[Rule, ...]
    entries: tuple[Entry, ...]
    notes: tuple[str, ...]
    earlier: Mapping[int, PublishedTable] = field(default_factory=dict)


def load_tables(plan: TablePlan, *, method: TableMethod, secret: Secret, progress: Progress = silent) -> PlannedTables:
    """Read everything and make the tables."""
    rules = rules_of(plan)
    notes = Notes()
    entries: list[Entry] = []
    finished = [section.finished is not None for section in plan.tables]
    if any(finished):
        if len(finished) > 1:
            raise PlanError("[table]: a finished table is protected alone; linked tables come from microdata.")
        table, declared = _finished(plan, plan.tables[0], notes)
        tables = [table]
        entries.extend(declared)
    else:
        tables = _tabulated(plan, rules, method, secret, notes, progress)
    for section in plan.tables:
        if section.a_priori is not None:
            if len(plan.tables) > 1:
                raise PlanError("[table]: a-priori files work with one table; linked tables have none.")
            path = find_file(plan.folder, section.a_priori, notes)
            entries.extend(read_hst(path, len(section.dimensions), separator=section.separator, notes=notes))
    earlier = {
        number: read_published_table(find_file(plan.folder, section.released, notes))
        for number, section in enumerate(plan.tables)
        if section.released is not None
    }
    return PlannedTables(tuple(tables), rules, tuple(entries), tuple(notes), earlier)


def rules_of(plan: TablePlan) -> tuple[Rule, ...]:
    """The rules of the plan; linked tables are judged by the same rules."""
    made: dict[Rule, None] = {}
    for section in plan.tables:
        for number, options in enumerate(section.rules, start=1):
            made[rule_from_plan(options, owner=f"[table]: rule {number}")] = None
    return tuple(made)


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
        top=max([2, *(rule.needs_top for rule in rules)]),
        by_record=any(rule.unit == "record" for rule in rules),
    )


def _tabulated(
    plan: TablePlan, rules: tuple[Rule, ...], method: TableMethod, secret: Secret, notes: Notes, progress: Progress
) -> list[Table]:
    source = plan.data
    loaded = load_microdata(
        source.path, source.schema, folder=plan.folder, format=source.format, query=source.query,
        separator=source.separator, encoding=source.encoding,
    )  # fmt: skip
    for line in loaded.notes:
        notes.add(line)
    cost = plan.protect.cost if plan.protect.cost in loaded.data.schema else ""
    tables = []
    for section in plan.tables:
        spec = fit_to_method(spec_of(plan, section, rules, cost, notes), method)
        table = with_cell_keys(tabulate(loaded.data, spec, progress=progress), loaded.data, spec, method, secret)
        tables.append(with_empty_cells(table) if section.zeros else table)
    return tables


def _finished(plan: TablePlan, section: TableSection, notes: Notes) -> tuple[Table, tuple[Entry, ...]]:
    assert section.finished is not None
    dimensions = section.all_dimensions()
    found = read_finished(
        find_file(plan.folder, plan.data.path, notes),
        [d.variable for d in dimensions],
        section.finished,
        trees=[_trees(plan, d, notes) for d in dimensions],
        totals=[d.total for d in dimensions],
        response=section.response or section.finished.value,
    )
    for line in found.notes:
        notes.add(line)
    table = finished_table(found.columns, tolerance=section.finished.tolerance, complete=section.finished.complete)
    return table, found.entries
