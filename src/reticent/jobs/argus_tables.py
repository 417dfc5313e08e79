"""Tables of a batch run: from what was said about them to cells, verdicts, costs and what the attacker knows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import PlanError
from reticent.data.hierarchy import TOTAL, Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.table import DimensionSpec, Table, TableSpec
from reticent.io.argus_batch import COST_CODES, Call, Specification
from reticent.io.argus_ckm import CkmTags
from reticent.tables.apriori import EntryGroup, Knowledge
from reticent.tables.cell_keys import fit_to_method, with_cell_keys
from reticent.tables.inputs import cost_of
from reticent.tables.judge import LinkedTable, judge_linked
from reticent.tables.methods import TableMethod
from reticent.tables.nearness import distance_cost
from reticent.tables.perturb.secrets import NOTHING_DRAWN
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import PQ, Dominance, Manual, PPercent, Request, Rule, Threshold, Unit, Zero
from reticent.tabulation.linked import System
from reticent.tabulation.same_records import Words, record_marks
from reticent.tabulation.tabulate import tabulate

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BatchMetadata:
    """What the metadata say beside the schema: request codes, codes of totals, costs by distance, cell keys."""

    requests: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    totals: Mapping[str, str] = field(default_factory=dict)
    distances: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    ckm: CkmTags | None = None


@dataclass(eq=False)
class TableJob:
    """One <SPECIFYTABLE> and all that was said about it."""

    specification: Specification
    where: str
    calls: tuple[Call, ...] = ()
    metadata: BatchMetadata = field(default_factory=BatchMetadata)
    levels: dict[str, int] = field(default_factory=dict)
    mapped: dict[str, tuple[str, ...]] = field(default_factory=dict)
    data: Microdata | None = None
    finished: Table | None = None
    groups: list[EntryGroup] = field(default_factory=list)
    result: ProtectedTable | None = None
    number: int = 0
    singletons: bool = True
    protected: bool = False

    def flag(self, name: str) -> bool:
        """Whether WGT(1) or MIS(1) was given."""
        return any(call.name == name and call.numbers[0] > 0 for call in self.calls)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that judge this table."""
        holdings = self.data is not None and self.data.schema.entity is not None
        return rules_of_calls(self.calls, holdings=holdings)

    @property
    def is_read(self) -> bool:
        """Whether its data are there."""
        return self.data is not None or self.finished is not None


def exact_name(name: str, names: Sequence[str]) -> str:
    """The name as the metadata write it; ARGUS does not mind upper and lower case."""
    return next((known for known in names if known.lower() == name.lower()), name)


def with_totals(data: Microdata, totals: Mapping[str, str]) -> Microdata:
    """The data with the codes of totals that the metadata give to hierarchies made of digits."""
    for name, total in totals.items():
        tree = data.schema[name].hierarchy
        if tree is not None and tree.total != total:
            data = data.with_schema(
                data.schema.change(name, hierarchy=Hierarchy((total, *tree.codes[1:]), tree.parents))
            )
    return data


def tables_of(jobs: Sequence[TableJob], method: TableMethod | None = None) -> list[Table]:
    """The cells of one table, or of tables that will be linked: these need the same numbers of every cell."""
    check_read(jobs)
    if len(jobs) > 1:
        check_linkable(jobs)
    rules = [rule for job in jobs for rule in job.rules]
    needs = _Needs(
        top=max([2, *(rule.needs_top for rule in rules)]),
        by_record=any(rule.unit == "record" for rule in rules),
        request=any(isinstance(rule, Request) for rule in rules),
        measures=tuple(dict.fromkeys(name for job in jobs for name in _measures(job))),
    )
    return [_tabulated(job, needs, method) if job.finished is None else _with_flags(job) for job in jobs]


def check_read(jobs: Sequence[TableJob]) -> None:
    """Refuse tables whose data are not there yet."""
    for job in jobs:
        if not job.is_read:
            raise PlanError(
                f"{job.where}: the data of this table have not been read; use <READMICRODATA> or <READTABLE>."
            )


@dataclass(frozen=True)
class _Needs:
    """What all linked tables must know of their cells."""

    top: int
    by_record: bool
    request: bool
    measures: tuple[str, ...]


def _measures(job: TableJob) -> tuple[str, ...]:
    if job.data is None:
        return ()
    wanted, names = job.specification, job.data.schema.names
    cost = None if wanted.cost in COST_CODES else wanted.cost
    return tuple(exact_name(name, names) for name in (wanted.shadow, cost) if name is not None)


def _tabulated(job: TableJob, needs: _Needs, method: TableMethod | None) -> Table:
    assert job.data is not None
    data, wanted = job.data, job.specification
    names = data.schema.names
    request = next(iter(job.metadata.requests), None) if needs.request else None
    if needs.request and request is None:
        raise PlanError(f"{job.where}: the rule REQ needs a variable with <REQUEST> in the metadata; there is none.")
    if job.flag("WGT") and data.schema.weight is None:
        raise PlanError(f"{job.where}: WGT(1) needs a variable with <WEIGHT> in the metadata; there is none.")
    spec = TableSpec(
        _dimensions(job, names),
        response=None if wanted.response is None else exact_name(wanted.response, names),
        shadow=None if wanted.shadow is None else exact_name(wanted.shadow, names),
        cost=exact_name(wanted.cost, names) if wanted.cost and wanted.cost not in COST_CODES else None,
        others=needs.measures,
        weighted=job.flag("WGT"),
        missing_safe=job.flag("MIS"),
        request=request,
        request_codes=job.metadata.requests.get(request or "", ()) or ("1", "2"),
        top=needs.top,
        by_record=needs.by_record,
    )
    spec = fit_to_method(spec, method)
    return with_cell_keys(tabulate(data, spec), data, spec, method, NOTHING_DRAWN)


def _dimensions(job: TableJob, names: Sequence[str]) -> tuple[DimensionSpec, ...]:
    known = [exact_name(name, names) for name in job.specification.explanatory]
    totals = job.metadata.totals
    return tuple(DimensionSpec(name, level=job.levels.get(name), total=totals.get(name, TOTAL)) for name in known)


def _with_flags(job: TableJob) -> Table:
    assert job.finished is not None
    if job.flag("WGT"):
        raise PlanError(f"{job.where}: WGT(1) needs records; a finished table has its weights inside.")
    return replace(job.finished, missing_safe=job.flag("MIS"))


def check_linkable(jobs: Sequence[TableJob]) -> None:
    """A code must stand for the same records in all tables: a recoded variable must be recoded in all of them alike."""
    if len({job.finished is None for job in jobs}) > 1:
        raise PlanError(f"{jobs[0].where}: linked tables come from microdata or from table files, not from both.")
    for name in dict.fromkeys(name for job in jobs for name in job.mapped):
        having = [job for job in jobs if name.lower() in (each.lower() for each in job.specification.explanatory)]
        if len({job.mapped.get(name) for job in having}) > 1:
            raise PlanError(
                f"{having[0].where}: {name!r} is recoded in one of the linked tables and not in the same way in another, "
                "so a code would stand for different records. Recode it alike in all of them."
            )


def judge_jobs(jobs: Sequence[TableJob], tables: Sequence[Table]) -> tuple[System, Knowledge]:
    """One system of all the cells: each table judged by its own rules, then what is known beforehand, and costs."""
    judged = [
        LinkedTable(table, job.rules, tuple(job.groups), _marks(job, table) if len(jobs) > 1 else None)
        for job, table in zip(jobs, tables, strict=True)
    ]
    system, knowledge = judge_linked(judged)
    return system, replace(knowledge, cost=_costs(jobs, system, knowledge))


def _marks(job: TableJob, table: Table) -> Words | None:
    return None if job.data is None else record_marks(job.data, _dimensions(job, job.data.schema.names), table)


def _costs(jobs: Sequence[TableJob], system: System, knowledge: Knowledge) -> Floats:
    """What hiding each cell costs: as its first table says, unless it was given for the cell itself."""
    cost = np.full(system.table.n_cells, np.nan)
    for job, table, members in zip(jobs, system.parts, system.members, strict=True):
        own = _cost(job, table, system, knowledge, members)
        cost[members] = np.where(np.isnan(cost[members]), own, cost[members])
    return np.where(np.isnan(knowledge.cost), cost, knowledge.cost)


def _cost(job: TableJob, table: Table, system: System, knowledge: Knowledge, members: NDArray[np.int64]) -> Floats:
    given, power = job.specification.cost, job.specification.power
    if given == "-3" and job.metadata.distances:
        return distance_cost(system.table, knowledge.verdict.primary, job.metadata.distances)[members]
    measures = table.respondents.measures
    name = COST_CODES.get(given or "", given or "value")
    if given is not None and given not in COST_CODES:
        name = exact_name(given, tuple(measures))
        if name not in measures:
            raise PlanError(f"{job.where}: the cost variable {given!r} is not there; known: {', '.join(measures)}.")
    return cost_of(table, name if power is None or power == 1 else f"{name}^{power:g}")


def rules_of_calls(calls: Sequence[Call], *, holdings: bool) -> tuple[Rule, ...]:
    """The safety rules of a batch line: the first two P and NK are for records, the next two for holdings."""
    rules: list[Rule] = []
    seen: dict[str, int] = {}
    weighted = any(call.name == "WGT" and call.numbers[0] > 0 for call in calls)
    for call in calls:
        place = seen[call.name] = seen.get(call.name, 0) + 1
        by_holding = place > (2 if call.name in ("P", "NK") else 1)
        unit: Unit = "respondent" if by_holding or not holdings else "record"
        rule = _rule(call, unit, weighted)
        if rule is not None:
            rules.append(rule)
    return tuple(rules)


def _rule(call: Call, unit: Unit, weighted: bool) -> Rule | None:
    numbers = call.numbers
    if call.name == "P" and numbers[0] > 0:
        if len(numbers) == 3:
            return PQ(p=numbers[0], q=numbers[1], coalition=int(numbers[2]), unit=unit)
        return PPercent(p=numbers[0], coalition=int(numbers[1]) if len(numbers) > 1 else 1, unit=unit)
    if call.name == "NK" and numbers[0] > 0 and numbers[1] > 0:
        return Dominance(n=int(numbers[0]), k=numbers[1], unit=unit)
    if call.name == "FREQ" and numbers[0] > 0:
        return Threshold(minimum=int(numbers[0]), protection=numbers[1], weighted=weighted, unit=unit)
    if call.name == "ZERO":
        return Zero(range=numbers[0], unit=unit)
    if call.name == "REQ" and any(numbers[:3]):
        return Request(
            percent1=numbers[0], percent2=numbers[1], minimum=int(numbers[2]), protection=numbers[3], unit=unit
        )
    return Manual(protection=numbers[0]) if call.name == "MAN" else None
