"""Several responses in one plan or call: those that are related are protected and attacked as one system."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from reticent.base.errors import PlanError
from reticent.base.progress import Progress, part, silent
from reticent.base.randomness import Secret
from reticent.data.microdata import Microdata
from reticent.data.published_table import PublishedTable
from reticent.data.response_relations import COUNT, parse_relation
from reticent.data.table import TableSpec
from reticent.data.table_plan import BoundsOptions, ProtectSection, TablePlan, TableSection
from reticent.jobs.protect_table import judged_tables, method_from_plan, protect_judged, run_tables, secret_of_plan
from reticent.jobs.table_inputs import PlannedTables, load_records, load_tables
from reticent.tables.apriori import Knowledge
from reticent.tables.earlier import check_earlier
from reticent.tables.inputs import room_notes
from reticent.tables.joint import join, unpublished
from reticent.tables.judge import LinkedTable, judge_linked
from reticent.tables.methods import TableMethod
from reticent.tables.perturb.secrets import secret_notes
from reticent.tables.previous import hidden_before
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import rule_from_plan
from reticent.tabulation.joint import tie_rows
from reticent.tabulation.linked import System
from reticent.tabulation.responses import lacking, name_of_response, related, tie_notes, ties_in_cells, ties_in_records
from reticent.tabulation.tied_responses import Tie


@dataclass(frozen=True, eq=False)
class ResponseTables:
    """The judged tables of one response, what was published of them earlier, and those that only the attacker thinks of.

    `earlier`, `previous` and `latent` name tables by their number among those of the response.
    """

    system: System
    knowledge: Knowledge
    bounds: BoundsOptions = field(default_factory=BoundsOptions)
    earlier: Mapping[int, PublishedTable] = field(default_factory=dict)
    previous: Mapping[int, PublishedTable] = field(default_factory=dict)
    latent: frozenset[int] = frozenset()

    @property
    def published(self) -> list[int]:
        """The tables that are to be published."""
        numbers = range(len(self.system.parts))
        return [number for number in numbers if number not in self.earlier and number not in self.latent]


def run_joint(
    responses: Sequence[ResponseTables],
    ties: Sequence[Tie],
    *,
    method: TableMethod,
    options: ProtectSection,
    secret: Secret,
    notes: Sequence[str] = (),
    shown: Sequence[int] | None = None,
    progress: Progress = silent,
) -> ProtectedTable:
    """Protect and attack the tables of several responses together; nothing is refused here."""
    progress(0.0, "judging the cells")
    judged, said, hidden = [], list(notes), []
    for one in responses:
        found = judged_tables(
            one.system, one.knowledge, bounds=one.bounds, cost=options.cost, earlier=one.earlier, method=method,
            hide_empty=options.hide_empty,
        )  # fmt: skip
        said += room_notes(one.system.table, found.problem, found.knowledge, one.bounds)
        judged.append(unpublished(found, sorted(one.latent)))
        hidden.append(hidden_before(one.system, one.previous))
    joint = join(judged, tie_rows([one.system for one in responses], ties))
    starts = np.cumsum([0, *(len(one.system.parts) for one in responses)]).tolist()
    numbered = list(zip(starts, responses, strict=False))
    if not any(one.published for one in responses):
        raise PlanError("earlier: all tables have been published already; leave at least one to be protected.")
    return protect_judged(
        joint.whole,
        method=method,
        preferred=_preferred(hidden, joint.whole.problem.n_cells, [one.n_cells for one in judged]),
        time_limit=options.time_limit,
        insiders=options.insiders,
        coalition=options.coalition,
        secret=secret,
        notes=said,
        earlier=frozenset(start + number for start, one in numbered for number in one.earlier),
        joint=joint,
        shown=tuple(shown if shown is not None else [s + number for s, one in numbered for number in one.published]),
        progress=progress,
    )


def _preferred(
    hidden: Sequence[np.ndarray | None], n_cells: int, sizes: Sequence[int]
) -> np.ndarray | None:  # fmt: skip
    """Cells of all responses that were hidden in a previous period; None if there was none."""
    if all(mask is None for mask in hidden):
        return None
    filled = [np.zeros(size, dtype=bool) if mask is None else mask for mask, size in zip(hidden, sizes, strict=True)]
    return np.concatenate((*filled, np.zeros(n_cells - sum(sizes), dtype=bool)))


def protect_several(
    data: Microdata | None,
    specs: Sequence[TableSpec] | None,
    make: Callable[[Sequence[TableSpec] | None], list[LinkedTable]],
    *,
    relations: Sequence[str],
    find: bool,
    method: TableMethod,
    bounds: BoundsOptions,
    options: ProtectSection,
    earlier: Mapping[int, PublishedTable],
    previous: Mapping[int, PublishedTable],
    secret: Secret,
    notes: Sequence[str],
    progress: Progress,
) -> ProtectedTable:
    """Tables of several responses as one result: made by `make` from the specs and what these lack, judged, joined.

    `earlier` and `previous` name tables by their number among those given.
    """
    declared = [parse_relation(text) for text in relations]
    wanted, ties = list(specs or ()), []
    if data is not None:
        ties = ties_in_records(data, [name_of_response(one.response) for one in wanted], declared, find=find)
        have = [(name_of_response(one.response), replace(one, response=None, shadow=None)) for one in wanted]
        for name, number in lacking(have, ties):
            response = None if name == COUNT and COUNT not in data.schema else name
            wanted.append(replace(wanted[number], response=response, shadow=None))
    tables = make(wanted if data is not None else None)
    n_given = len(specs or tables)
    check_earlier(earlier, n_given)
    groups: dict[str, list[int]] = {}
    for number, one in enumerate(tables):
        groups.setdefault(name_of_response(one.table.response), []).append(number)
    judged = {name: judge_linked([tables[number] for number in numbers]) for name, numbers in groups.items()}
    if data is None:
        ties = ties_in_cells([system for system, _ in judged.values()], declared, find=find)

    def own(numbers: Sequence[int], given: Mapping[int, PublishedTable]) -> dict[int, PublishedTable]:
        return {at: given[number] for at, number in enumerate(numbers) if number in given}

    responses = [
        ResponseTables(
            *judged[name], bounds, own(numbers, earlier), own(numbers, previous),
            frozenset(at for at, number in enumerate(numbers) if number >= n_given),
        )
        for name, numbers in groups.items()
    ]  # fmt: skip
    order = [number for numbers in groups.values() for number in numbers]
    shown = [order.index(number) for number in range(n_given) if number not in earlier]
    return run_joint(
        responses, ties, method=method, options=options, secret=secret, notes=[*notes, *tie_notes(ties)], shown=shown,
        progress=progress,
    )  # fmt: skip


def run_plans(plan: TablePlan, *, progress: Progress = silent) -> tuple[ProtectedTable, ...]:
    """Everything a plan asks for but writing: one result for each of its responses, in their order."""
    plans = plan.by_response()
    method = method_from_plan(plan)
    secret = secret_of_plan(plan, method)
    run = _run_tabulated if plan.tables[0].finished is None else _run_finished
    return run(plan, plans, method, secret, progress)


def _run_finished(
    plan: TablePlan, plans: Sequence[TablePlan], method: TableMethod, secret: Secret, progress: Progress
) -> tuple[ProtectedTable, ...]:
    planned = [load_tables(one, method=method, secret=secret) for one in plans]
    judged = [judge_linked(one.tables) for one in planned]
    declared = [parse_relation(text) for section in plan.tables for text in section.relations]
    names = [name_of_response(system.table.response) for system, _ in judged]
    ties: list[Tie] = []
    if len(judged) > 1 or declared:
        ties = ties_in_cells([system for system, _ in judged], declared, find=_finds(plan))
    tables = {
        name: _response_tables(one, found, own, frozenset())
        for name, one, found, own in zip(names, plans, judged, planned, strict=True)
    }
    notes = {name: [*secret_notes(secret), *own.notes] for name, own in zip(names, planned, strict=True)}
    return _run_groups(plan, tables, notes, names, ties, method, secret, progress)


def _run_tabulated(
    plan: TablePlan, plans: Sequence[TablePlan], method: TableMethod, secret: Secret, progress: Progress
) -> tuple[ProtectedTable, ...]:
    loaded = load_records(plan)
    declared = [parse_relation(text) for section in plan.tables for text in section.relations]
    names = [name_of_response(one.tables[0].response) for one in plans]
    ties: list[Tie] = []
    if len(names) > 1 or declared:
        ties = ties_in_records(loaded.data, names, declared, find=_finds(plan))
        if ties and any(section.redesign is not None for section in plan.tables):
            raise PlanError("[table]: redesign works on a single response; related responses must keep the same codes.")
    wanted, latent = _with_latent(plans, names, ties)
    counted = COUNT not in loaded.data.schema
    tables, notes = {}, {}
    for at, (name, one) in enumerate(wanted.items()):
        fitted = _counting(one, alone=len(wanted) == 1) if counted and name == COUNT else one
        share = part(progress, 0.3 * at / len(wanted), 0.3 * (at + 1) / len(wanted))
        planned = load_tables(fitted, method=method, secret=secret, loaded=loaded, progress=share)
        tables[name] = _response_tables(fitted, judge_linked(planned.tables), planned, latent[name])
        notes[name] = [*secret_notes(secret), *planned.notes]
    return _run_groups(plan, tables, notes, names, ties, method, secret, part(progress, 0.3, 1.0))


def _finds(plan: TablePlan) -> bool:
    return all(section.find_relations for section in plan.tables)


def _response_tables(
    plan: TablePlan, found: tuple[System, Knowledge], planned: PlannedTables, latent: frozenset[int]
) -> ResponseTables:
    return ResponseTables(*found, plan.tables[0].bounds, planned.earlier, planned.previous, latent)


def _with_latent(
    plans: Sequence[TablePlan], names: Sequence[str], ties: Sequence[Tie]
) -> tuple[dict[str, TablePlan], dict[str, frozenset[int]]]:
    """The plan of each response with the tables that only the attacker thinks of, and the numbers of these."""
    have = [(name, section) for name, one in zip(names, plans, strict=True) for section in one.tables]
    wanted = dict(zip(names, plans, strict=True))
    latent: dict[str, frozenset[int]] = dict.fromkeys(names, frozenset())
    for name, number in lacking([(name, _shape(section)) for name, section in have], ties):
        section = replace(
            have[number][1], response=name, shadow=None, a_priori=None, released=None, previous=None, relations=()
        )  # fmt: skip
        before = wanted[name].tables if name in wanted else ()
        wanted[name] = replace(wanted.get(name, plans[0]), tables=(*before, section))
        latent[name] = latent.get(name, frozenset()) | {len(before)}
    return wanted, latent


def _shape(section: TableSection) -> object:
    return (section.dimensions, section.weighted, section.missing_safe, section.zeros)


def _counting(plan: TablePlan, *, alone: bool) -> TablePlan:
    """The plan of the response `count`, beside others judged by those rules that need no contributions."""

    def fitted(section: TableSection) -> TableSection:
        rules = [rule for rule in section.rules if alone or rule_from_plan(rule, owner="[table]").needs_top == 0]
        return replace(section, response=None, shadow=None, rules=tuple(rules))

    return replace(plan, tables=tuple(fitted(section) for section in plan.tables))


def _run_groups(
    plan: TablePlan,
    tables: Mapping[str, ResponseTables],
    notes: Mapping[str, Sequence[str]],
    names: Sequence[str],
    ties: Sequence[Tie],
    method: TableMethod,
    secret: Secret,
    progress: Progress,
) -> tuple[ProtectedTable, ...]:
    """Responses that have nothing to do with each other one by one, related ones together."""
    results: dict[str, ProtectedTable] = {}
    groups = related(names, ties)
    for at, group in enumerate(groups):
        share = part(progress, at / len(groups), (at + 1) / len(groups))
        own = [tie for tie in ties if set(tie.relation.names) & set(group)]
        if not own:
            results[group[0]] = _run_one(plan, tables[group[0]], notes[group[0]], method, secret, share)
            continue
        members = list(dict.fromkeys((*group, *(name for tie in own for name in tie.relation.names))))
        said = [note for name in members for note in notes[name]] + tie_notes(own)
        found = run_joint(
            [tables[name] for name in members], own, method=method, options=plan.protect, secret=secret, notes=said,
            progress=share,
        )  # fmt: skip
        results.update(zip(members, found.by_response(), strict=True))
    return tuple(results[name] for name in names)


def _run_one(
    plan: TablePlan, one: ResponseTables, notes: Sequence[str], method: TableMethod, secret: Secret, progress: Progress
) -> ProtectedTable:
    options = plan.protect
    return run_tables(
        one.system, one.knowledge, method=method, bounds=one.bounds, cost=options.cost, earlier=one.earlier,
        previous=one.previous, time_limit=options.time_limit, insiders=options.insiders, coalition=options.coalition,
        secret=secret, hide_empty=options.hide_empty, notes=notes, progress=progress,
    )  # fmt: skip
