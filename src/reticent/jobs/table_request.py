# SPDX-License-Identifier: Apache-2.0
"""The request that a table plan describes: everything it names is read and checked before any work."""

from collections.abc import Sequence
from dataclasses import replace

from reticent.base.errors import PlanError
from reticent.data.hierarchy import Hierarchy
from reticent.data.parameters import build
from reticent.data.published_table import PublishedTable
from reticent.data.response_relations import COUNT
from reticent.data.schema import Schema
from reticent.data.table import DimensionSpec, Table, TableSpec
from reticent.data.table_plan import PROTECT, DimensionOptions, TablePlan, TableSection
from reticent.io.argus_hst import read_hst
from reticent.io.argus_text import Notes, find_file
from reticent.io.finished import CellLayout, read_finished
from reticent.io.hierarchies import read_hierarchy
from reticent.io.large import LargeLoaded, open_source
from reticent.io.published import read_published_table
from reticent.io.read import Loaded, load_source
from reticent.jobs.streams import check_recorded_streams, streams_note
from reticent.tables.apriori import EntryGroup
from reticent.tables.methods import TABLE_METHODS, CellKey, TableMethod
from reticent.tables.perturb.secrets import draws, secret_for
from reticent.tables.request import DEFAULT_METHOD, Attacker, TableRequest, WantedTable, beside_sums, rules_of_counts
from reticent.tables.rules import Rule, rule_from_plan
from reticent.tabulation.finished import finished_table

NEED_RECORDS = ("shadow", "weighted", "missing_safe", "request", "waiver", "zeros", "redesign")


def request_from_plan(plan: TablePlan) -> TableRequest:
    """Read what a plan names: one request for all its responses, which are protected separately where nothing relates them."""
    plans, method, protect = plan.by_response(), method_from_plan(plan), plan.protect
    given = plan.data.secret
    secret = secret_for(method, plan.find(given) if isinstance(given, str) else given, test=plan.data.test_secret)
    said = _check_streams(plan, plans) if draws(method) else ()
    loaded = load_records(plan) if plan.tables[0].finished is None else None
    tables = [table for one in plans for table in _wanted_tables(one, loaded, said)]
    relations = tuple(text for section in plan.tables for text in section.relations)
    if loaded is not None and beside_sums([table.source.response for table in tables], relations):
        tables = [
            table if table.source.response else replace(table, rules=rules_of_counts(table.rules)) for table in tables
        ]
    return TableRequest(
        tuple(tables),
        method,
        Attacker(
            insiders=protect.insiders, coalition=protect.coalition, known=plan.attack.known, draws=plan.attack.draws
        ),
        cost=protect.cost,
        relations=relations,
        find_relations=all(section.find_relations for section in plan.tables),
        apart=True,
        hide_empty=protect.hide_empty,
        time_limit=protect.time_limit,
        search_steps=protect.search_steps,
        secret=secret,
        test_secret=plan.data.test_secret,
        releases=tuple(read_published_table(plan.find(name)) for name in plan.attack.releases),
    )


def _check_streams(plan: TablePlan, plans: Sequence[TablePlan]) -> tuple[str, ...]:
    """Refuse to draw otherwise than a run before; what to say where nothing records what is drawn."""
    for one in plans:
        check_recorded_streams(plan.data, one.find(one.output.summary) if one.output.summary else None)
    return streams_note(plan.data, plan.output.summary)


def load_records(plan: TablePlan) -> Loaded | LargeLoaded:
    """Read the records that the tables of a plan are made from."""
    source = plan.data
    return load_source(source, plan.folder) if source.engine is None else open_source(source, plan.folder)


def method_from_plan(plan: TablePlan) -> TableMethod:
    """The method that `[protect]` names, with its options."""
    name = plan.protect.method or DEFAULT_METHOD
    chosen = TABLE_METHODS[name]
    if "power" in plan.protect.options:
        raise PlanError('[protect]: write the power behind the cost instead, e.g. cost = "value^0.5".')
    made: TableMethod = build(chosen, plan.protect.options, owner=f"[protect] (method {name})", beside=PROTECT)
    return made.with_files(plan.find) if isinstance(made, CellKey) else made


def _wanted_tables(plan: TablePlan, loaded: Loaded | LargeLoaded | None, said: tuple[str, ...]) -> list[WantedTable]:
    """The tables of one response; what reading them had to say stands with the first."""
    notes = Notes()
    for line in (*said, *(() if loaded is None else loaded.notes)):
        notes.add(line)
    rules = rules_of(plan)
    sources = [
        _finished(plan, section, notes) if loaded is None else (spec_of(plan, section, loaded.data.schema, notes), ())
        for section in plan.tables
    ]
    found = []
    for section, (source, declared) in zip(plan.tables, sources, strict=True):
        known = _a_priori(plan, section, notes)
        table = WantedTable(
            source,
            _rules(section) if loaded is None else rules,
            None if loaded is None else loaded.data,
            (*declared, *known),
            _published(plan, section.released, notes),
            _published(plan, section.previous, notes),
            section.bounds,
            zeros=section.zeros,
            redesign=section.redesign,
        )
        found.append(table)
    return [replace(found[0], notes=tuple(notes)), *found[1:]]


def _published(plan: TablePlan, name: str | None, notes: Notes) -> PublishedTable | None:
    return None if name is None else read_published_table(find_file(plan.folder, name, notes))


def _a_priori(plan: TablePlan, section: TableSection, notes: Notes) -> tuple[EntryGroup, ...]:
    """What the a-priori file of a table says; it stands above what the table itself declares."""
    if section.a_priori is None:
        return ()
    path = find_file(plan.folder, section.a_priori, notes)
    entries = read_hst(path, len(section.dimensions), separator=section.separator, notes=notes)
    return (EntryGroup(tuple(entries)),)


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


def spec_of(plan: TablePlan, section: TableSection, schema: Schema, notes: Notes) -> TableSpec:
    """The table that a section describes; `count` counts records, unless the data have a variable of that name."""
    dimensions = tuple(
        DimensionSpec(d.variable, _trees(plan, d, notes), d.digits, d.total, d.level) for d in section.all_dimensions()
    )
    counting = section.response is None or (section.response == COUNT and COUNT not in schema)
    cost = plan.protect.cost.partition("^")[0]
    return TableSpec(
        dimensions,
        response=None if counting else section.response,
        shadow=None if counting else section.shadow,
        cost=cost if cost in schema else None,
        weighted=section.weighted,
        missing_safe=section.missing_safe,
        request=section.request,
        request_codes=section.request_codes,
        waiver=section.waiver,
        waiver_codes=section.waiver_codes,
    )


def _finished(plan: TablePlan, section: TableSection, notes: Notes) -> tuple[Table, tuple[EntryGroup, ...]]:
    """A table from a file, judged by its own rules: it may lack what those of other tables look at."""
    assert section.finished is not None
    plain = TableSection(section.dimensions)
    for name in NEED_RECORDS:
        if getattr(section, name) != getattr(plain, name):
            raise PlanError(f"[table]: {name} needs records; a finished table has none. Leave it out.")
    dimensions = section.all_dimensions()
    found = read_finished(
        find_file(plan.folder, section.finished.path or plan.data.path, notes),
        CellLayout(
            names=[d.variable for d in dimensions],
            trees=[_trees(plan, d, notes) for d in dimensions],
            totals=[d.total for d in dimensions],
            response=section.response or section.finished.value,
        ),
        section.finished,
    )
    for line in found.notes:
        notes.add(line)
    table = finished_table(found.columns, tolerance=section.finished.tolerance, complete=section.finished.complete)
    return table, (EntryGroup(found.entries, declared=True),)
