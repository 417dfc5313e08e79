# SPDX-License-Identifier: Apache-2.0
"""The one road of tables: a request is made, judged, protected and attacked; nothing is refused or written here."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reticent.base import clock
from reticent.base.arrays import Mask
from reticent.base.errors import InfeasibleError, OutOfTime, ParameterError, PlanError
from reticent.base.progress import Progress, part, silent
from reticent.base.randomness import Secret
from reticent.data.published_table import MAGNITUDE, PublishedTable
from reticent.tables.attack import Audit
from reticent.tables.attack.further import difference_note, sap_note, with_nested, with_releases
from reticent.tables.attack.inside import InsideAudit, audit_inside
from reticent.tables.attack.insiders import Insider, single_respondents
from reticent.tables.attack.insiders import insiders as find_insiders
from reticent.tables.attack.noise import noise_note
from reticent.tables.attack.sums import published_sums
from reticent.tables.attack.weights import with_weights
from reticent.tables.cell_draws import AdditiveDraws
from reticent.tables.earlier import check_earlier, noise_before, split_earlier, with_earlier
from reticent.tables.inputs import build_problem, room_notes
from reticent.tables.joint import (
    Joint,
    Judged,
    hidden_alike,
    join,
    of_one_response,
    outcome_of,
    seen_alone,
    stacked_outcomes,
    unpublished,
    with_differences,
    with_single,
    without_differences,
)
from reticent.tables.memory import window_of, with_memory
from reticent.tables.methods import KeyedMethod, attack, caveat_of, keeps_noise
from reticent.tables.numbers import ProtectedNumbers, attack_numbers
from reticent.tables.outcome import Outcome
from reticent.tables.perturb.secrets import draws, secret_for, secret_notes
from reticent.tables.presence import Told, told_by_sums, with_presence
from reticent.tables.previous import hidden_before, preferred, previous_notes
from reticent.tables.problem import SuppressionProblem
from reticent.tables.release import as_published
from reticent.tables.request import TableRequest, hides
from reticent.tables.responses import JudgedRequest, ResponseTables, judged_responses
from reticent.tables.result import ProtectedTable
from reticent.tables.sum_judge import judged_sums
from reticent.tables.suppression import SuppressionMethod
from reticent.tables.suppression.infeasible import KNOWN_ANYWAY, within_reach
from reticent.tables.suppression.sums import watched
from reticent.tabulation.joint import tie_rows, with_combinations, with_limits
from reticent.tabulation.responses import tie_notes
from reticent.tabulation.tied_responses import Tie

_LEAST_SHARE = 0.3  # of the time limit that the search has, however long the tables took to make
_CHECKS = 2  # attacks on what a method has found: that of the public, and that of respondents
_INSIDE_SHARE = 0.25  # of the time for the search, what the attack from inside may take where it only informs
_DECIDED = 0.03  # of the time limit: methods that do not search look at the clock after 4 % at the earliest
_SHORTEST = 1e-3  # seconds that a run is taken to last at least
_MORE = 1.25  # steps come at the pace of the run that was counted; some more, so that another way ends in time as well
_COUNTED = 0.25  # of the time limit, in which the steps of a search are counted: its parts have shares of any limit
_FEWEST_STEPS = 100  # so that a step stays small against the shares of the limit that parts of a search have
SUMS_NOT_JUDGED = (
    "Not judged: whether one respondent is in several hidden cells whose sum follows from the published ones; "
    "a finished table does not say who is in a cell."
)
NOT_EXACT = (
    "The table is large, or its time was up: ends of intervals are what was proved reachable, not the exact ends."
)
NOTHING_ASKED = "Not judged: no rule says which cells are unsafe, and none is declared to be; so nothing was protected."
ONLY_EXACTLY = (
    "No rule says which cells are unsafe, and none is declared to be; judged is only whether a cell is known exactly."
)


def run_request(request: TableRequest, *, progress: Progress = silent) -> tuple[ProtectedTable, ...]:
    """Make, judge, protect and attack the tables of a request: one result, or with `apart` one for each response."""
    with _clock_of(request):
        return _run(request, progress)


def run_numbers(request: TableRequest, *, progress: Progress = silent) -> ProtectedNumbers:
    """Protect and attack the numbers of a request: they need not be made or judged, the rest is as for tables."""
    problem, method = request.numbers, request.method
    if problem is None:
        raise ParameterError("numbers: the request has tables; run_request runs them.")
    secret = secret_for(method, request.secret, test=request.test_secret)
    with _clock_of(request), _limited(request, 0.0, checks=1) as limit:
        found = method.protect(problem, secret=secret, time_limit=limit, progress=part(progress, 0.0, 0.6))
        judged = attack_numbers(problem, found, part(progress, 0.6, 1.0))
    return ProtectedNumbers(problem, found, judged, method.name, secret_notes(secret), draws(method))


def _clock_of(request: TableRequest) -> AbstractContextManager[object]:
    """The clock that decides when the time is up: that of everything, or one that passes with the steps of the search."""
    if request.search_steps is None:
        return nullcontext()
    return clock.using(clock.StepClock(tick=request.time_limit / request.search_steps))


def run_and_count(
    request: TableRequest, *, progress: Progress = silent
) -> tuple[tuple[ProtectedTable, ...], int | None]:
    """The same, and the `search_steps` that stand for a run in which seconds may have decided; None: they did not.

    A search for a pattern weighs what its parts take against each other at any time, so that it always has them: it is made
    again by its steps, and where they are counted it has a quarter of the time.
    """
    if request.search_steps is not None:
        return run_request(request, progress=progress), None
    searches = isinstance(request.method, SuppressionMethod)
    tried = replace(request, time_limit=_COUNTED * request.time_limit) if searches else request
    started = clock.peek()
    counted = clock.CountingClock(clock.current())
    with clock.using(counted):
        results = _run(tried, progress)
    took = clock.peek() - started
    if took <= _DECIDED * request.time_limit and not searches:
        return results, None
    return results, max(_FEWEST_STEPS, math.ceil(_MORE * counted.looks * request.time_limit / max(took, _SHORTEST)))


def _run(request: TableRequest, progress: Progress) -> tuple[ProtectedTable, ...]:
    if request.numbers is not None:
        raise ParameterError("tables: the request has numbers; run_numbers runs them.")
    secret = secret_for(request.method, request.secret, test=request.test_secret)
    started = clock.peek()
    found = judged_responses(request, secret, part(progress, 0.0, 0.3))
    made = clock.peek() - started
    if request.hide_empty:
        _check_presence([found.responses[name] for name in found.names])
    apart = request.apart and not request.hide_empty  # empty cells are hidden in all responses or in none
    groups = found.groups() if apart else [list(found.names)]
    groups.sort(key=lambda names: any(found.responses[name].system.table.kind != MAGNITUDE for name in names))
    results: dict[str, ProtectedTable] = {}
    told: list[Told] = []  # by sums, which therefore come before counts
    for at, group in enumerate(groups):
        span = (0.3 + 0.7 * at / len(groups), 0.3 + 0.7 * (at + 1) / len(groups))
        own = [tie for tie in found.ties if set(tie.relation.names) & set(group)]
        members = list(dict.fromkeys((*group, *(name for tie in own for name in tie.relation.names))))
        with _limited(request, made if at == 0 else 0.0) as limit:
            asked = replace(request, time_limit=limit)
            result = _run_group(asked, found, members, own, secret, part(progress, *span), told)
        if not request.apart:
            return (replace(result, seconds=clock.peek() - started),)
        told += told_by_sums(result.parts, result.outcome)
        results.update(zip(members, result.by_response(), strict=True))
    taken = clock.peek() - started
    return tuple(replace(results[name], seconds=taken) for name in found.names)


def _check_presence(responses: Sequence[ResponseTables]) -> None:
    """Refuse to hide empty cells of counts beside another response: a sum that is known to be above 0 has somebody behind it.

    Which counts may still be 0 then depends on all sums together, which the attack on counts does not look at.
    """
    told = [one for one in responses if one.published or one.earlier]
    if len(told) > 1 and any(one.system.table.kind != MAGNITUDE for one in told):
        raise PlanError(
            "hide_empty: counts beside another response cannot hide empty cells, because the sums tell which counts are not 0; "
            "say hide_empty = false, or publish one of them only."
        )


@contextmanager
def _limited(request: TableRequest, made: float, *, checks: int = _CHECKS) -> Iterator[float]:
    """The seconds that are left when the tables are made, and for suppression one deadline for all that comes.

    However long the tables took, the search has a part of the time, and keeps some for so many `checks` of what it finds. Each
    set of related responses has its own.
    """
    seconds = request.time_limit
    if not isinstance(request.method, SuppressionMethod) or not seconds > 0:
        yield seconds
        return
    seconds = max(_LEAST_SHARE * seconds, seconds - made)
    with clock.until(clock.limited(seconds, checks=checks)):
        yield seconds


@dataclass(frozen=True, eq=False)
class _Case:
    """What has been judged, the tables of one response or the whole of a joint system, and what to reckon with."""

    judged: Judged
    notes: tuple[str, ...]
    earlier: frozenset[int]
    preferred: Mask | None
    joint: Joint | None = None
    shown: tuple[int, ...] | None = None
    told: tuple[Told, ...] = ()

    @property
    def parts(self) -> tuple[Judged, ...]:
        """What has been judged, response by response."""
        return (self.judged,) if self.joint is None else self.joint.parts

    @property
    def asked(self) -> bool:
        """Whether there are rules, for every response, or cells that were declared unsafe."""
        return all(one.knowledge.verdict.rules or one.problem.primary.any() for one in self.parts)


def _run_group(
    request: TableRequest,
    found: JudgedRequest,
    members: Sequence[str],
    ties: Sequence[Tie],
    secret: Secret,
    progress: Progress,
    told: Sequence[Told],
) -> ProtectedTable:
    """Protect and attack one response by itself, or related ones together; others have `told` where somebody is."""
    progress(0.0, "judging the cells")
    started = clock.peek()
    responses = [found.responses[name] for name in members]
    notes = [*secret_notes(secret), *(note for one in responses for note in one.notes), *tie_notes(ties)]
    joined = len(responses) > 1 or responses[0].beyond_its_cells
    case = _together(request, responses, ties, notes) if joined else _alone(request, responses[0], notes)
    left = max(_LEAST_SHARE * request.time_limit, request.time_limit - (clock.peek() - started))
    result = _protect(replace(request, time_limit=left), replace(case, told=tuple(told)), secret, progress)
    return result if len(responses) > 1 else result.by_response()[0]


def _alone(request: TableRequest, one: ResponseTables, notes: Sequence[str]) -> _Case:
    check_earlier(one.earlier, len(one.system.parts))
    judged = judged_tables(request, one)
    before = hidden_before(one.system, one.previous)
    said = (*notes, *room_notes(one.system.table, judged.problem, judged.knowledge, one.bounds))
    return _Case(judged, (*said, *previous_notes(one.system, one.previous)), frozenset(one.earlier), before)


def _together(
    request: TableRequest, responses: Sequence[ResponseTables], ties: Sequence[Tie], notes: Sequence[str]
) -> _Case:
    """The tables of several responses as one system."""
    judged, said, hidden = [], list(notes), []
    for one in responses:
        found = judged_tables(request, one)
        said += room_notes(one.system.table, found.problem, found.knowledge, one.bounds)
        judged.append(unpublished(found, sorted(one.latent)))
        hidden.append(hidden_before(one.system, one.previous))
        said += previous_notes(one.system, one.previous)
    systems = [one.system for one in responses]
    limits, rests = [one.limits for one in responses], [one.rests for one in responses]
    rows = with_limits(tie_rows(systems, ties), systems, limits, rests)
    joint = join(judged, with_combinations(rows, systems, [one.combinations for one in responses]))
    starts = np.cumsum([0, *(len(one.system.parts) for one in responses)]).tolist()
    published = sorted(number for one in responses for number in one.published)
    if not published:
        raise PlanError("earlier: all tables have been published already; leave at least one to be protected.")
    order = [number for one in responses for number in one.numbers]
    return _Case(
        joint.whole,
        tuple(said),
        frozenset(start + number for start, one in zip(starts, responses, strict=False) for number in one.earlier),
        preferred(hidden, joint.whole.problem.n_cells, [one.n_cells for one in judged]),
        joint,
        tuple(order.index(number) for number in published),
    )


def judged_tables(request: TableRequest, one: ResponseTables) -> Judged:
    """The tables of one response with their problem; what was published earlier is known.

    The method says whether empty cells can be told apart: those that exchange values publish every 0 alike.
    """
    system = one.system
    noisy: Mapping[int, PublishedTable] = {}
    exact = one.earlier
    if keeps_noise(request.method) and system.table.is_count:
        exact, noisy = split_earlier(system, one.earlier)
    known = with_memory(system, with_earlier(system, one.knowledge, exact), one.memory)
    problem = build_problem(
        system.table, system.relations, known, bounds=one.bounds, cost=request.cost, hide_empty=request.hide_empty,
        exchanged=not hides(request.method),
    )  # fmt: skip
    judge = judged_sums(system, known.verdict.rules)
    problem = replace(problem, judge=judge, published=noise_before(system, noisy), window=window_of(system, one.memory))
    return Judged(system, known, problem)


def _protect(request: TableRequest, case: _Case, secret: Secret, progress: Progress) -> ProtectedTable:
    """Protect and attack what has been judged."""
    method, attacker = request.method, request.attacker
    judged = replace(
        case.judged,
        problem=replace(
            case.judged.problem, insider_levels=attacker.insiders == "protect", coalition=attacker.coalition
        ),
    )
    case = replace(case, judged=judged)
    options: dict[str, Any] = {"secret": secret.child(method.name), "time_limit": request.time_limit}
    if case.preferred is not None:
        options["earlier"] = case.preferred
    outcome, case = _searched(request, case, part(progress, 0.1, 0.7), options)
    judged = case.judged
    told = (*case.told, *told_by_sums(case.parts, outcome))
    systems = [one.system for one in case.parts]
    outcome = with_nested(with_presence(outcome, systems, told), systems)
    seen = as_published(judged.system, outcome, method.name, judged.problem)
    found = attack(seen, outcome, judged=case.asked, progress=part(progress, 0.7, 1.0))
    found = with_weights(judged.system, seen, outcome, found)
    found = _each_alone(case, outcome, found, method.name)
    found, said = with_releases(judged.system, seen, outcome, found, request.releases)
    said += _further(request, case, outcome, secret)
    sums = _published_sums(request, judged.problem, outcome)
    alone, inside = _from_inside(request, case, outcome, progress)
    progress(1.0, "done")
    return ProtectedTable(
        judged.system, judged.knowledge, judged.problem, outcome,
        found if case.joint is None else without_differences(found, case.joint),
        method.name, (*_notes(request, case, outcome, found), *said), alone, inside, case.earlier, joint=case.joint,
        shown=case.shown, sums=sums, asked_inside=attacker.insiders,
    )  # fmt: skip


def _searched(
    request: TableRequest, case: _Case, progress: Progress, options: Mapping[str, Any]
) -> tuple[Outcome, _Case]:
    """The outcome of a method, and the case that it solves: levels end at what is known even if everything is hidden."""
    judged, started = case.judged, clock.peek()
    try:
        try:
            return _outcome(request, case, progress, options), case
        except InfeasibleError as err:
            problem = within_reach(judged.problem, err) if hides(request.method) else None
            if problem is None:
                raise
            case = replace(case, judged=replace(judged, problem=problem), notes=(*case.notes, KNOWN_ANYWAY))
            left = max(_LEAST_SHARE * request.time_limit, request.time_limit - (clock.peek() - started))
            return _outcome(request, case, progress, {**options, "time_limit": left}), case
    except InfeasibleError as err:
        raise err.named(judged.system.table.name_of if case.joint is None else case.joint.name_of) from None


def _each_alone(case: _Case, outcome: Outcome, found: Audit, method: str) -> Audit:
    """The attack, with that on each response by itself where each has noise of its own."""
    if case.joint is None or not outcome.single:
        return found
    singles = []
    for one, part_of in zip(outcome.single, case.joint.parts, strict=True):
        own = seen_alone(one, part_of)
        seen = as_published(part_of.system, own, method, part_of.problem)
        found_alone = attack(seen, own, judged=case.asked, progress=silent)
        singles.append(with_weights(part_of.system, seen, own, found_alone))
    return with_single(found, singles, case.joint)


def _published_sums(
    request: TableRequest, problem: SuppressionProblem, outcome: Outcome
) -> tuple[tuple[int, ...], ...]:
    """The unsafe sums that are published; where the time is up, a method that searches until there are none has looked."""
    if outcome.values is not None:
        return ()
    if isinstance(request.method, SuppressionMethod):
        problem = watched(problem, request.method.minimum_together)
    try:
        return published_sums(problem, outcome.hidden)
    except OutOfTime:
        if not isinstance(request.method, SuppressionMethod):
            raise
        return ()


def _further(request: TableRequest, case: _Case, outcome: Outcome, secret: Secret) -> tuple[str, ...]:
    """What else is asked for: differences of nested cells, and respondents that are known."""
    attacker = request.attacker
    if attacker.known and len(case.parts) > 1:
        raise PlanError("[attack]: known needs one response; give the table of counts a plan of its own.")
    alone, seen = case.parts[0], outcome if case.joint is None else outcome_of(outcome, case.joint, 0)
    differences = difference_note(alone.problem, seen) if len(case.parts) == 1 else ()
    own = secret.child("known respondents")
    return differences + sap_note(alone.system, seen, request.tables[0].records, attacker.known, attacker.draws, own)


def _outcome(request: TableRequest, case: _Case, progress: Progress, options: Mapping[str, Any]) -> Outcome:
    """The outcome of a method. Noise belongs to the cells of each response; what is not hidden has no differences."""
    method, joint, problem = request.method, case.joint, case.judged.problem
    if joint is not None and isinstance(method, AdditiveDraws):  # responses that add up still add up
        bound = method.for_tables([one.system.table for one in joint.parts])
        return with_differences(bound.protect(joint.exact.problem, progress=progress, **options), joint)
    if isinstance(method, KeyedMethod):
        outcomes = [
            method.for_table(one.system.table).protect(one.problem, progress=progress, **options) for one in case.parts
        ]
        return outcomes[0] if joint is None else with_differences(stacked_outcomes(outcomes), joint)
    if joint is None or hides(method):
        found = method.protect(problem, progress=progress, **options)
        return hidden_alike(found, joint) if joint is not None and request.hide_empty else found
    return with_differences(method.protect(joint.exact.problem, progress=progress, **options), joint)


def _from_inside(
    request: TableRequest, case: _Case, outcome: Outcome, progress: Progress
) -> tuple[tuple[Insider, ...], InsideAudit]:
    """Who finds another cell exactly, and how closely respondents and coalitions of them come.

    Where nobody is kept from levels, looking takes no longer than a part of the search.
    """
    attacker, problem = request.attacker, case.judged.problem
    if outcome.values is not None:
        return (), InsideAudit(attacker.coalition, True, 0, 0, (), judged=False)
    known = all(one.system.table.is_count or one.problem.respondent is not None for one in case.parts)
    alone = _exactly(request, problem, outcome)
    share = 1.0 if attacker.insiders == "protect" else _INSIDE_SHARE
    try:
        closer = audit_inside(
            problem, outcome.hidden, coalition=attacker.coalition, progress=part(progress, 0.95, 1.0),
            time_limit=min(share * request.time_limit, clock.left()),
        )  # fmt: skip
    except OutOfTime:  # before the first of them had a try
        who = single_respondents(problem)[outcome.hidden]
        closer = InsideAudit(attacker.coalition, True, 0, max(1, len(np.unique(who[who >= 0]))), ())
    return alone, replace(closer, judged=known)


def _exactly(request: TableRequest, problem: SuppressionProblem, outcome: Outcome) -> tuple[Insider, ...]:
    """Who finds another cell exactly; where the time is up, a method that keeps them from it has looked itself."""
    try:
        return tuple(find_insiders(problem, outcome.hidden))
    except OutOfTime:
        if not (isinstance(request.method, SuppressionMethod) and request.method.singletons):
            raise
        return ()


def _notes(request: TableRequest, case: _Case, outcome: Outcome, found: Audit) -> tuple[str, ...]:
    """What there is to say about the tables, the method and the attack, each once."""
    table = case.judged.system.table
    said: tuple[str, ...] = (*case.notes, *table.notes, *case.judged.knowledge.notes)
    if not case.asked:
        said += (NOTHING_ASKED if outcome.values is None else ONLY_EXACTLY,)
    if outcome.values is None and not table.from_records:
        said += (SUMS_NOT_JUDGED,)
    if outcome.values is None and not found.exact:
        said += (NOT_EXACT,)
    counts = all(one.system.table.is_count for one in case.parts)
    caveat = caveat_of(request.method, counts=counts)
    said += (caveat,) if caveat else ()
    if outcome.noise or not outcome.additive or (counts and outcome.values is not None):
        said += (noise_note(*of_one_response(found, case.judged.problem, outcome, case.joint)),)
    return tuple(dict.fromkeys(said))
