# SPDX-License-Identifier: Apache-2.0
"""Tables of a batch are one release: what it publishes from the same data is protected and attacked together.

Tables that were suppressed before in the batch are earlier releases for the next one, and responses that add up in the
records are one system, as in a plan.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from reticent.base.errors import DataError, InfeasibleError, PlanError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import Secret
from reticent.data.published_table import PublishedTable
from reticent.jobs.argus.methods import Choice
from reticent.jobs.argus.tables import TableJob, check_linkable, check_read, wanted_tables
from reticent.tables.methods import PrimaryOnly
from reticent.tables.perturb.secrets import NOTHING_DRAWN
from reticent.tables.release import release_table
from reticent.tables.request import TableRequest
from reticent.tables.responses import JudgedRequest, judged_responses
from reticent.tables.result import ProtectedTable
from reticent.tables.run import run_request
from reticent.tabulation.responses import related, tie_words

Say = Callable[[str], None]
Placed = list[tuple[ProtectedTable, int]]
"""For each table its result and its number in there."""


@dataclass(frozen=True, eq=False)
class Release:
    """All tables of a batch so far, its secret, and where it says what it does."""

    jobs: Sequence[TableJob]
    secret: Secret | None = field(repr=False)
    say: Say


def protect_release(jobs: Sequence[TableJob], release: Release, choice: Choice, progress: Progress) -> Placed:
    """Protect some tables of a batch beside those that are protected already."""
    check_read(jobs)
    others = [job for job in _suppressed_before(jobs, release) if _links(job, jobs, release.say)]
    kept = _related(others, jobs, release.say)
    before = [job for job in kept if job in others]
    if before:
        numbers = ", ".join(str(list(release.jobs).index(job) + 1) for job in before)
        release.say(f"Protected and attacked together with what this batch shows of table {numbers}.")
    request = request_of_jobs(kept, choice, release.secret, {kept.index(job): _released(job) for job in before})
    try:
        (whole,) = run_request(request, progress=progress)
    except InfeasibleError as err:
        if before:
            err.advise("Or protect all tables at once, by <SUPPRESS> MOD(0).")
        raise
    return _placed(kept, jobs, whole)


def request_of_jobs(
    jobs: Sequence[TableJob],
    choice: Choice,
    secret: Secret | None = None,
    earlier: dict[int, PublishedTable] | None = None,
) -> TableRequest:
    """The request for one table, or for tables that are linked; `earlier` has what the batch shows of some already."""
    shown = earlier or {}
    tables = tuple(replace(one, earlier=shown.get(number)) for number, one in enumerate(wanted_tables(jobs)))
    return TableRequest(
        tables, choice.method, cost="unity", time_limit=choice.time_limit, secret=secret, test_secret=True
    )


def judged_jobs(jobs: Sequence[TableJob]) -> JudgedRequest:
    """The tables of some jobs, judged; what was said about them wrongly is an error."""
    return judged_responses(request_of_jobs(jobs, Choice(PrimaryOnly())), NOTHING_DRAWN, silent)


def _suppressed_before(jobs: Sequence[TableJob], release: Release) -> list[TableJob]:
    """Other tables of these data that hide cells already; tables with changed values cannot be calculated with."""
    found = []
    for number, job in enumerate(release.jobs, start=1):
        if job in jobs or job.result is None or not job.protected:
            continue
        if job.result.outcome.values is not None:
            release.say(
                f"Not judged: what this table and table {number}, changed by {job.result.method}, say together."
            )
        else:
            found.append(job)
    return found


def _links(other: TableJob, jobs: Sequence[TableJob], say: Say) -> bool:
    """Whether codes and weights of another table mean the same, so that both can be in one system."""
    try:
        check_linkable([other, *jobs])
        if len({job.flag("WGT") for job in (other, *jobs)}) > 1:
            raise PlanError("one table is weighted and another is not.").at(other.where)
        judged_jobs([other, *(job for job in jobs if job.response == other.response)])
    except (PlanError, DataError) as err:
        say(f"Not judged: what this table says together with the table of {other.where} ({err})")
        return False
    return True


def _related(others: Sequence[TableJob], jobs: Sequence[TableJob], say: Say) -> list[TableJob]:
    """The tables to be protected, and of the others those whose responses are related to theirs."""
    everything = [*others, *jobs]
    names, own = [job.response for job in everything], {job.response for job in jobs}
    if len(set(names)) == 1:
        return everything
    ties = judged_jobs(everything).ties
    words = tie_words(ties)
    if words:
        say(words)
    near = {name for group in related(names, ties) if own & set(group) for name in group}
    return [job for job in everything if job.response in near]


def _released(job: TableJob) -> PublishedTable:
    """What the batch shows of a table that it protected before."""
    assert job.result is not None
    done = job.result
    return release_table(done.system, job.number, done.outcome, done.method, done.problem)


def _placed(kept: Sequence[TableJob], jobs: Sequence[TableJob], whole: ProtectedTable) -> Placed:
    """The result of each table, which shows the tables that are protected now and no earlier ones."""
    groups: dict[str, list[TableJob]] = {}
    for job in kept:
        groups.setdefault(job.response, []).append(job)
    parts = {
        part.response: replace(part, earlier=frozenset(), shown=_places(groups[part.response], jobs))
        for part in whole.by_response()
        if part.response in groups
    }
    return [(parts[job.response], groups[job.response].index(job)) for job in jobs]


def _places(group: Sequence[TableJob], jobs: Sequence[TableJob]) -> tuple[int, ...]:
    return tuple(number for number, one in enumerate(group) if one in jobs)
