"""Tables of a batch are one release: what it publishes from the same data is protected and attacked together.

Tables that were suppressed before in the batch are earlier releases for the next one, and responses that add up in the
records are one system, as in a plan.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from reticent.base.errors import DataError, InfeasibleError, PlanError
from reticent.base.progress import Progress
from reticent.base.randomness import Secret
from reticent.data.published_table import PublishedTable
from reticent.data.response_relations import COUNT
from reticent.data.table_plan import BoundsOptions, ProtectSection
from reticent.jobs.argus_methods import Choice
from reticent.jobs.argus_tables import TableJob, check_linkable, check_read, exact_name, judge_jobs, tables_of
from reticent.jobs.protect_table import run_tables
from reticent.jobs.response_tables import ResponseTables, run_joint
from reticent.tables.perturb.secrets import secret_for
from reticent.tables.release import release_table
from reticent.tables.result import ProtectedTable
from reticent.tabulation.responses import lacking, related, tie_notes, ties_in_cells, ties_in_records
from reticent.tabulation.tied_responses import Tie

Say = Callable[[str], None]
Placed = list[tuple[ProtectedTable, int]]
"""For each table its result and its number in there."""


def protect_release(
    jobs: Sequence[TableJob], all_jobs: Sequence[TableJob], choice: Choice, secret: Secret | None, progress: Progress, say: Say
) -> Placed:  # fmt: skip
    """Protect some tables of a batch beside those that are protected already."""
    check_read(jobs)
    others = [job for job in _suppressed_before(jobs, all_jobs, say) if _links(job, jobs, say)]
    everything = [*others, *jobs]
    ties = _ties(everything)
    names = [_name(job) for job in everything]
    near = {name for group in related(names, ties) if {_name(job) for job in jobs} & set(group) for name in group}
    kept = [job for job in everything if _name(job) in near]
    before = [job for job in kept if job in others]
    if before:
        numbers = ", ".join(str(all_jobs.index(job) + 1) for job in before)
        say(f"Protected and attacked together with what this batch shows of table {numbers}.")
    for note in tie_notes(ties):
        say(note.partition(" Declare")[0])
    try:
        if len({_name(job) for job in kept}) == 1:
            return _one_response(kept, jobs, choice, secret, progress)
        return _several(kept, jobs, ties, choice, secret, progress)
    except InfeasibleError as err:
        if before:
            err.args = (f"{err} Or protect all tables at once, by <SUPPRESS> MOD(0).", *err.args[1:])
        raise


def _suppressed_before(jobs: Sequence[TableJob], all_jobs: Sequence[TableJob], say: Say) -> list[TableJob]:
    """Other tables of these data that hide cells already; tables with changed values cannot be calculated with."""
    found = []
    for number, job in enumerate(all_jobs, start=1):
        if job in jobs or job.result is None or not job.protected:
            continue
        if job.result.outcome.values is not None:
            say(f"Not judged: what this table and table {number}, changed by {job.result.method}, say together.")
        else:
            found.append(job)
    return found


def _links(other: TableJob, jobs: Sequence[TableJob], say: Say) -> bool:
    """Whether codes and weights of another table mean the same, so that both can stand in one system."""
    try:
        check_linkable([other, *jobs])
        if len({job.flag("WGT") for job in (other, *jobs)}) > 1:
            raise PlanError(f"{other.where}: one table is weighted and another is not.")
        same = [other, *(job for job in jobs if _name(job) == _name(other))]
        judge_jobs(same, tables_of(same))
    except (PlanError, DataError) as err:
        say(f"Not judged: what this table says together with the table of {other.where} ({err})")
        return False
    return True


def _name(job: TableJob) -> str:
    if job.finished is not None:
        return job.finished.response or COUNT
    assert job.data is not None
    response = job.specification.response
    return COUNT if response is None else exact_name(response, job.data.schema.names)


def _ties(jobs: Sequence[TableJob]) -> list[Tie]:
    """What relates the responses, in the records or, for finished tables, in their cells."""
    names = list(dict.fromkeys(_name(job) for job in jobs))
    if len(names) == 1:
        return []
    if jobs[0].data is not None:
        return ties_in_records(jobs[0].data, names, [])
    groups = [[job for job in jobs if _name(job) == name] for name in names]
    return ties_in_cells([judge_jobs(group, tables_of(group))[0] for group in groups], [])


def _released(group: Sequence[TableJob], jobs: Sequence[TableJob]) -> dict[int, PublishedTable]:
    """What the batch shows of tables that it protected before, by their numbers."""
    shown = {}
    for number, job in enumerate(group):
        if job not in jobs and job.result is not None:
            done = job.result
            shown[number] = release_table(done.system, job.number, done.outcome, done.method, done.problem)
    return shown


def _one_response(
    kept: list[TableJob], jobs: Sequence[TableJob], choice: Choice, secret: Secret | None, progress: Progress
) -> Placed:
    system, knowledge = judge_jobs(kept, tables_of(kept, choice.method))
    result = run_tables(
        system, knowledge, method=choice.method, bounds=BoundsOptions(), cost="unity", time_limit=choice.time_limit,
        earlier=_released(kept, jobs), secret=secret, progress=progress,
    )  # fmt: skip
    numbers = [kept.index(job) for job in jobs]
    shown = replace(result, earlier=frozenset(), shown=tuple(numbers))
    return [(shown, number) for number in numbers]


def _several(
    kept: list[TableJob],
    jobs: Sequence[TableJob],
    ties: Sequence[Tie],
    choice: Choice,
    secret: Secret | None,
    progress: Progress,
) -> Placed:
    """Related responses: one system, with tables that nobody publishes where a relation calculates with them."""
    latent = _latent(kept, ties)
    names = list(dict.fromkeys(_name(job) for job in (*kept, *latent)))
    groups = {name: [job for job in (*kept, *latent) if _name(job) == name] for name in names}
    responses = []
    for group in groups.values():
        found = judge_jobs(group, tables_of(group, choice.method))
        thought_of = frozenset(number for number, job in enumerate(group) if job in latent)
        responses.append(ResponseTables(*found, earlier=_released(group, (*jobs, *latent)), latent=thought_of))
    used = [tie for tie in ties if set(tie.relation.names) <= set(names)]
    options = ProtectSection(cost="unity", time_limit=choice.time_limit)
    kept_secret = secret_for(choice.method, secret, test=True)
    whole = run_joint(responses, used, method=choice.method, options=options, secret=kept_secret, progress=progress)
    parts = dict(zip(names, whole.by_response(), strict=True))
    placed = []
    for job in jobs:
        mine = tuple(number for number, one in enumerate(groups[_name(job)]) if one in jobs)
        part = replace(parts[_name(job)], earlier=frozenset(), shown=mine)
        placed.append((part, groups[_name(job)].index(job)))
    return placed


def _latent(kept: Sequence[TableJob], ties: Sequence[Tie]) -> list[TableJob]:
    """Tables of related responses that another response has and theirs lacks; finished tables have no others."""
    if kept[0].data is None:
        return []
    have: list[tuple[str, object]] = [(_name(job), _shape(job)) for job in kept]
    made = []
    for name, number in lacking(have, ties):
        like = kept[number]
        response = None if name == COUNT else name
        wanted = replace(like.specification, response=response, shadow=None, cost=None)
        made.append(replace(like, specification=wanted, groups=[], result=None, protected=False))
    return made


def _shape(job: TableJob) -> object:
    return (
        tuple(name.lower() for name in job.specification.explanatory), tuple(sorted(job.levels.items())),
        tuple(sorted(job.mapped.items())), job.flag("WGT"), job.flag("MIS"),
    )  # fmt: skip
