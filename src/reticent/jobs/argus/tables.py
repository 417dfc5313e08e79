# SPDX-License-Identifier: Apache-2.0
"""Tables of a batch run: what was said about them, and the request that it makes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from reticent.base.errors import PlanError
from reticent.data.hierarchy import TOTAL, Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.table import DimensionSpec, Table, TableSpec
from reticent.io.argus_batch import COST_CODES, Call, Specification
from reticent.io.argus_ckm import CkmTags
from reticent.jobs.argus.rules import rules_of_calls
from reticent.tables.apriori import EntryGroup
from reticent.tables.costs import TableCost
from reticent.tables.request import WantedTable
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import Request, Rule
from reticent.tabulation.responses import name_of_response


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
    def response(self) -> str:
        """What is added up, as the data call it."""
        if self.finished is not None:
            return name_of_response(self.finished.response)
        wanted = self.specification.response
        names = () if self.data is None else self.data.schema.names
        return name_of_response(None if wanted is None else exact_name(wanted, names))

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


def wanted_tables(jobs: Sequence[TableJob]) -> tuple[WantedTable, ...]:
    """What was said about one table, or about tables that are linked: these need the same numbers of every cell."""
    check_read(jobs)
    if len(jobs) > 1:
        check_linkable(jobs)
    needs = _Needs(
        request=any(isinstance(rule, Request) for job in jobs for rule in job.rules),
        measures=tuple(dict.fromkeys(name for job in jobs for name in _measures(job))),
    )
    return tuple(
        WantedTable(
            _with_flags(job) if job.data is None else _spec(job, job.data, needs), job.rules, job.data,
            tuple(job.groups), cost=_cost(job),
        )
        for job in jobs
    )  # fmt: skip


def check_read(jobs: Sequence[TableJob]) -> None:
    """Refuse tables whose data are not there yet."""
    words = "the data of this table have not been read; use <READMICRODATA> or <READTABLE>."
    for job in jobs:
        if not job.is_read:
            raise PlanError(words).at(job.where)


@dataclass(frozen=True)
class _Needs:
    """What all linked tables must know of their cells."""

    request: bool
    measures: tuple[str, ...]


def _measures(job: TableJob) -> tuple[str, ...]:
    if job.data is None:
        return ()
    wanted, names = job.specification, job.data.schema.names
    cost = None if wanted.cost in COST_CODES else wanted.cost
    return tuple(exact_name(name, names) for name in (wanted.shadow, cost) if name is not None)


def check_flags(job: TableJob, *, request: bool, requests: Mapping[str, object], weight: str | None) -> None:
    """What the rules of a table need must be in the metadata: who made a request, and weights."""
    if request and not requests:
        raise PlanError("the rule REQ needs a variable with <REQUEST> in the metadata; there is none.").at(job.where)
    if job.flag("WGT") and weight is None:
        raise PlanError("WGT(1) needs a variable with <WEIGHT> in the metadata; there is none.").at(job.where)


def _spec(job: TableJob, data: Microdata, needs: _Needs) -> TableSpec:
    wanted, names = job.specification, data.schema.names
    request = next(iter(job.metadata.requests), None) if needs.request else None
    check_flags(job, request=needs.request, requests=job.metadata.requests, weight=data.schema.weight)
    return TableSpec(
        _dimensions(job, names),
        response=None if wanted.response is None else exact_name(wanted.response, names),
        shadow=None if wanted.shadow is None else exact_name(wanted.shadow, names),
        cost=exact_name(wanted.cost, names) if wanted.cost and wanted.cost not in COST_CODES else None,
        others=needs.measures,
        weighted=job.flag("WGT"),
        missing_safe=job.flag("MIS"),
        request=request,
        request_codes=job.metadata.requests.get(request or "", ()) or ("1", "2"),
    )


def _dimensions(job: TableJob, names: Sequence[str]) -> tuple[DimensionSpec, ...]:
    known = [exact_name(name, names) for name in job.specification.explanatory]
    totals = job.metadata.totals
    return tuple(DimensionSpec(name, level=job.levels.get(name), total=totals.get(name, TOTAL)) for name in known)


def _with_flags(job: TableJob) -> Table:
    assert job.finished is not None
    if job.flag("WGT"):
        raise PlanError("WGT(1) needs records; a finished table has its weights inside.").at(job.where)
    return replace(job.finished, missing_safe=job.flag("MIS"))


def check_linkable(jobs: Sequence[TableJob]) -> None:
    """A code must stand for the same records in all tables: a recoded variable must be recoded in all of them in the same way."""
    if len({job.finished is None for job in jobs}) > 1:
        raise PlanError("linked tables come from microdata or from table files, not from both.").at(jobs[0].where)
    for name in dict.fromkeys(name for job in jobs for name in job.mapped):
        having = [job for job in jobs if name.lower() in (each.lower() for each in job.specification.explanatory)]
        if len({job.mapped.get(name) for job in having}) > 1:
            raise PlanError(
                f"{name!r} is recoded in one of the linked tables and not in the same way in another, so a code would stand "
                "for different records. Recode it in the same way in all of them."
            ).at(having[0].where)


def _cost(job: TableJob) -> TableCost:
    """What hiding a cell of the table costs: a code, or a variable with a power of it."""
    given, power = job.specification.cost, job.specification.power
    if given == "-3" and job.metadata.distances:
        return TableCost(distances=job.metadata.distances)
    name = COST_CODES.get(given or "", given or "value")
    if given is not None and given not in COST_CODES:
        if job.finished is not None:
            measures = tuple(job.finished.respondents.measures)
        else:
            measures = () if job.data is None else job.data.schema.names
        name = exact_name(given, measures)
        if name not in measures:
            raise PlanError(f"the cost variable {given!r} is not there; known: {', '.join(measures)}.").at(job.where)
    return TableCost(name if power is None or power == 1 else f"{name}^{power:g}")
