# SPDX-License-Identifier: Apache-2.0
"""Responses that are related, as one problem: protected, attacked and explained together, told response by response."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Mask
from reticent.base.errors import DataError, InfeasibleError
from reticent.base.words import counted
from reticent.data.cells import CellStatus
from reticent.tables.apriori import Knowledge
from reticent.tables.attack import Audit
from reticent.tables.floors import known_floors
from reticent.tables.inputs import WHOLE
from reticent.tables.joint_respondents import partners_together, sole_respondents
from reticent.tables.outcome import Outcome
from reticent.tables.perturb.movements import Candidates
from reticent.tables.problem import SuppressionProblem
from reticent.tables.protection import Judgement
from reticent.tables.sum_judge import JointSums
from reticent.tabulation.joint import TieRows, joint_system, same_codes, starts_of
from reticent.tabulation.linked import System

_NARROW = 20  # levels of so many times the largest factor of a tie are wide: whole numbers between them do not matter
_FINE = 0.05  # the tolerance of the joint numbers, as a share of the step of any response


@dataclass(frozen=True, eq=False)
class Judged:
    """The tables of one response (or of several, joined): cells, what rules and others say of them, and the problem.

    `aside` marks cells that no table publishes.
    """

    system: System
    knowledge: Knowledge
    problem: SuppressionProblem
    aside: Mask | None = None

    @property
    def n_cells(self) -> int:
        """Number of cells of the tables; a joint problem has some more."""
        return self.system.table.n_cells


@dataclass(frozen=True, eq=False)
class Joint:
    """Several responses as one: `whole` has all cells and differences, `exact` only what holds as an equality."""

    parts: tuple[Judged, ...]
    whole: Judged
    exact: Judged

    @property
    def n_cells(self) -> int:
        """Number of cells of all responses, without the differences behind them."""
        return sum(part.n_cells for part in self.parts)

    def span(self, number: int) -> slice:
        """The cells of one response in the whole."""
        start = sum(part.n_cells for part in self.parts[:number])
        return slice(start, start + self.parts[number].n_cells)

    def behind(self, cell: int) -> tuple[int, ...]:
        """The cells that leave a difference, those that are taken away last; none where it is a cell."""
        if cell < self.n_cells:
            return ()
        relations = self.whole.problem.relations
        start, rows, _ = relations.by_cell
        cells, coefs = relations.row(int(rows[start[cell]]))
        return tuple(int(cells[at]) for at in np.argsort(-coefs, kind="stable") if cells[at] != cell)

    def name_of(self, cell: int) -> str:
        """A cell, or an unsafe difference of cells, in words."""
        name = self.whole.system.table.name_of
        if cell not in self.whole.problem.rests:
            return name(cell)
        relations = self.whole.problem.relations
        start, rows, _ = relations.by_cell
        factor = dict(zip(*(own.tolist() for own in relations.row(int(rows[start[cell]]))), strict=True))
        signs = [("and", "less")[factor[own] < 0] for own in self.behind(cell)]
        words = [f"{sign} {name(own)}" for sign, own in zip(signs, self.behind(cell), strict=True)]
        return " ".join(words).removeprefix("and ")


def join(parts: Sequence[Judged], rows: TieRows) -> Joint:
    """One problem of several responses and the relations between them."""
    chosen = tuple(parts)
    return Joint(chosen, _joined(chosen, rows, differences=True), _joined(chosen, rows, differences=False))


def _joined(parts: tuple[Judged, ...], rows: TieRows, *, differences: bool) -> Judged:
    system = joint_system([part.system for part in parts], rows, differences=differences)
    extra = len(rows.values) if differences else 0
    problem = _problem(parts, system, rows, extra)
    if len(parts) > 1:
        _check_sizes(parts, problem)
    return Judged(system, _knowledge(parts, extra), problem)


def _problem(parts: tuple[Judged, ...], system: System, rows: TieRows, extra: int) -> SuppressionProblem:
    problems = [part.problem for part in parts]
    members = [(part.system, part.problem) for part in parts]

    def stacked(name: str, further: Floats | float) -> Floats:
        behind = np.broadcast_to(np.asarray(further, dtype=np.float64), (extra,))
        return np.concatenate((*(getattr(problem, name) for problem in problems), behind))

    low, high = stacked("lower_bound", rows.lower[:extra]), stacked("upper_bound", rows.upper[:extra])
    n = len(low) - extra
    values, status = stacked("values", rows.values[:extra]), stacked("status", float(CellStatus.SECONDARY))
    rests = _unsafe_rests(rows, status, n) if extra else []
    together = len(rows.together) if extra else 0
    status[rests] = CellStatus.PRIMARY
    most = np.where(status == CellStatus.EMPTY, 0.0, np.inf)
    most[n:] = rows.upper[:extra]
    low = known_floors(low, most, system.relations, values)
    behind = [row for row in rows.rows if row[0][-1] >= n][: extra - together]
    for at, (cells, coefs) in enumerate(behind):
        ends = sum(c * (high[cell] if c > 0 else low[cell]) for cell, c in zip(cells[:-1], coefs[:-1], strict=True))
        high[n + at] = min(high[n + at], max(ends, rows.values[at]))
    behind_whole = np.array([*([False] * (extra - together)), *rows.whole[:together]], dtype=bool)
    whole = np.concatenate([_whole(parts, rows), behind_whole])
    who = sole_respondents(members, rows, extra)
    return SuppressionProblem(
        values,
        stacked("cost", 0.0),
        np.minimum(stacked("lower_protection", 0.0), np.maximum(values - low, 0.0)),
        stacked("upper_protection", 0.0),
        stacked("sliding_protection", 0.0),
        low,
        high,
        status.astype(np.int8),
        system.relations,
        None if any(p.counts is None for p in problems) else system.table.respondents.counts,
        who,
        bool(whole.all()),
        whole if whole.any() and not whole.all() else None,
        judge=JointSums(tuple(p.judge for p in problems), tuple(starts_of([part.system for part in parts]).tolist())),
        partners=partners_together(members, rows, who),
        window=_window(problems, extra),
        hides_empty=any(problem.hides_empty for problem in problems),
        rests=frozenset(rests),
        combinations=dict(zip(range(n + extra - together, n + extra), rows.together, strict=False)),
    )


def _unsafe_rests(rows: TieRows, status: Floats, n: int) -> list[int]:
    """The unsafe differences behind n cells that what was published before does not reveal: those nothing can protect."""
    shown = np.isin(status, (CellStatus.FROZEN, CellStatus.EMPTY))
    behind = {cells[-1]: list(cells[:-1]) for cells, _ in rows.rows if cells[-1] >= n}
    return sorted(n + at for at in rows.unsafe if not shown[behind[n + at]].all())


def _whole(parts: tuple[Judged, ...], rows: TieRows) -> Mask:
    """Cells that everybody knows to be whole: counts, and sums of whole numbers that are tied with factors.

    Where `fee = 5 count + 2 yes`, that fees and yeses are whole narrows small ones. Elsewhere the ends of sums are whole by
    themselves, and where levels are wide against the factors nobody gains by it. Limits (`7 sales <= 100 tax`) between sums
    are no such ties: that sums are whole narrows them by less than a unit.
    """
    starts = starts_of([part.system for part in parts])
    whole = np.concatenate([part.problem.whole for part in parts])
    primary = np.concatenate([part.problem.primary for part in parts])
    levels = np.concatenate([part.problem.lower_protection + part.problem.upper_protection for part in parts])
    limits = {int(starts[-1]) + at for at in np.flatnonzero(np.isinf(rows.upper)).tolist()}
    tied = [
        (cells, max(map(abs, coefs)))
        for cells, coefs in rows.rows
        if len(cells) > 2 and max(map(abs, coefs)) > 1 and (cells[-1] not in limits or whole[list(cells[:-1])].any())
    ]
    factor = max((own for _, own in tied), default=0)
    if len(whole) > WHOLE or not bool((primary & (levels <= _NARROW * factor)).any()):
        return whole
    for number in {int(np.searchsorted(starts, cell, side="right")) - 1 for cells, _ in tied for cell in cells}:
        if number < len(parts) and parts[number].system.table.decimals == 0:
            whole[starts[number] : starts[number + 1]] = True
    return whole


def _window(problems: Sequence[SuppressionProblem], extra: int) -> tuple[Floats, Floats] | None:
    """The values that may be published of all cells; of differences nothing is asked."""
    if all(problem.window is None for problem in problems):
        return None
    open_ends = [(np.full(problem.n_cells, -np.inf), np.full(problem.n_cells, np.inf)) for problem in problems]
    ends = [
        free if problem.window is None else problem.window for problem, free in zip(problems, open_ends, strict=True)
    ]
    least = np.concatenate([*(low for low, _ in ends), np.full(extra, -np.inf)])
    return least, np.concatenate([*(high for _, high in ends), np.full(extra, np.inf)])


def _knowledge(parts: tuple[Judged, ...], extra: int) -> Knowledge:
    verdicts = [part.knowledge.verdict for part in parts]
    rules = tuple(dict.fromkeys(rule for verdict in verdicts for rule in verdict.rules))
    places = [np.array([*(rules.index(rule) for rule in v.rules), -1], dtype=np.int64) for v in verdicts]
    reasons = [place[v.reason] for place, v in zip(places, verdicts, strict=True)]
    starts = starts_of([part.system for part in parts]).tolist()
    broken = np.zeros((len(rules), starts[-1] + extra), dtype=bool)
    for place, one, start in zip(places, verdicts, starts, strict=False):
        broken[place[:-1], start : start + len(one.status)] = one.broken
    blank = np.full(extra, np.nan)
    none = np.zeros(extra)
    verdict = Judgement(
        np.concatenate((*(v.status for v in verdicts), np.full(extra, CellStatus.SECONDARY))).astype(np.int8),
        np.concatenate((*reasons, np.full(extra, -1))).astype(np.int16),
        rules,
        np.concatenate((*(v.lower_protection for v in verdicts), none)),
        np.concatenate((*(v.upper_protection for v in verdicts), none)),
        broken,
    )
    return Knowledge(
        verdict,
        np.concatenate((*(part.knowledge.cost for part in parts), blank)),
        np.concatenate((*(part.knowledge.lower_bound for part in parts), blank)),
        np.concatenate((*(part.knowledge.upper_bound for part in parts), blank)),
        tuple(dict.fromkeys(note for part in parts for note in part.knowledge.notes)),
        frozenset(start + cell for part, start in zip(parts, starts, strict=False) for cell in part.knowledge.stated),
    )


def _check_sizes(parts: tuple[Judged, ...], problem: SuppressionProblem) -> None:
    """Numbers so different in size that the noise of the larger would hide the smaller cannot be solved together."""
    finest = min(10.0**-part.system.table.decimals for part in parts)
    if problem.tolerance > _FINE * finest:
        raise DataError(
            "responses: the related responses differ too much in size to be calculated together; give the largest in "
            "thousands or millions."
        )


def unpublished(judged: Judged, latent: Sequence[int]) -> Judged:
    """The same where the tables of these numbers are not published: their cells are hidden, and hiding them is free.

    Cells that another table publishes too are not concerned.
    """
    if not latent:
        return judged
    system = judged.system
    shown = np.zeros(system.table.n_cells, dtype=bool)
    for number, members in enumerate(system.members):
        if number not in latent:
            shown[members] = True
    aside = ~shown & np.isin(judged.problem.status, (CellStatus.SAFE, CellStatus.FROZEN))

    def hidden(status: NDArray[np.int8]) -> NDArray[np.int8]:
        return np.where(aside, CellStatus.SECONDARY, status).astype(np.int8)

    problem = replace(
        judged.problem, status=hidden(judged.problem.status), cost=np.where(shown, judged.problem.cost, 0.0)
    )
    verdict = replace(judged.knowledge.verdict, status=hidden(judged.knowledge.verdict.status))
    return Judged(system, replace(judged.knowledge, verdict=verdict), problem, ~shown)


def hidden_alike(outcome: Outcome, joint: Joint) -> Outcome:
    """The outcome with every cell hidden in all responses that is hidden in one: for tables that may hide empty cells.

    A response that shows a cell says whether anybody is in it: where nobody is, the hidden sums of the same codes are 0.
    """
    problem, n = joint.whole.problem, joint.n_cells
    aside = np.concatenate([np.zeros(p.n_cells, dtype=bool) if p.aside is None else p.aside for p in joint.parts])
    _, _, number = same_codes([part.system for part in joint.parts])
    together = np.zeros(int(number.max(initial=-1)) + 1, dtype=bool)
    together[number[outcome.hidden[:n] & ~aside]] = True
    more = together[number] & ~outcome.hidden[:n]
    shown = np.flatnonzero(more & ~problem.candidates[:n])
    if len(shown):
        raise InfeasibleError(
            f"Suppression: hide_empty hides a cell in all responses or in none, and {counted(len(shown), 'cell')} of one "
            "response must be shown while another hides the same codes (cells {cells}). Say hide_empty = false.",
            cells=tuple(shown.tolist()),
        )
    if not more.any():
        return outcome
    hidden = outcome.hidden.copy()
    hidden[:n] |= more
    cost = outcome.cost + float(problem.cost[:n][more].sum())
    return replace(outcome, hidden=hidden, cost=cost, status="feasible")


def with_differences(outcome: Outcome, joint: Joint) -> Outcome:
    """An outcome over the cells of all responses as one over the whole.

    Of the differences, and of cells that nobody publishes, only the bounds are known.
    """
    problem, n = joint.whole.problem, joint.n_cells
    extra = problem.n_cells - n
    aside = np.concatenate([np.zeros(p.n_cells, dtype=bool) if p.aside is None else p.aside for p in joint.parts])
    if outcome.low is not None and outcome.high is not None:
        low = np.where(aside, problem.lower_bound[:n], outcome.low)
        outcome = replace(outcome, low=low, high=np.where(aside, problem.upper_bound[:n], outcome.high))

    def grown(array: Floats | None, behind: Floats) -> Floats | None:
        return None if array is None else np.concatenate((array, behind))

    left = problem.values[n:]
    if outcome.values is not None:
        # what the published values leave: each difference is in one row, with the coefficient -1
        indptr, rows, _ = problem.relations.by_cell
        left = problem.relations.residuals(np.concatenate((outcome.values, np.zeros(extra))))[rows[indptr[n:-1]]]
    return replace(
        outcome,
        hidden=np.concatenate((outcome.hidden, np.zeros(extra, dtype=bool))),
        values=grown(outcome.values, left),
        low=grown(outcome.low, problem.lower_bound[n:]),
        high=grown(outcome.high, problem.upper_bound[n:]),
        candidates=_with_more(outcome.candidates, problem.lower_bound[n:], problem.upper_bound[n:]),
    )


def _with_more(candidates: Candidates | None, low: Floats, high: Floats) -> Candidates | None:
    """The candidates with those of further cells, which have one range."""
    if candidates is None:
        return None
    ends = ((candidates.low, low), (candidates.below, high), (candidates.above, low), (candidates.high, high))
    return Candidates(*(np.concatenate(pair) for pair in ends))


def stacked_outcomes(outcomes: Sequence[Outcome]) -> Outcome:
    """Outcomes of the single responses as one over all their cells."""

    def stacked(name: str) -> Floats | None:
        found = [getattr(one, name) for one in outcomes]
        return None if any(array is None for array in found) else np.concatenate(found)

    first = outcomes[0]
    return replace(
        first,
        hidden=np.concatenate([one.hidden for one in outcomes]),
        cost=float(sum(one.cost for one in outcomes)),
        bound=None,
        values=stacked("values"),
        low=stacked("low"),
        high=stacked("high"),
        facts={str(number): dict(one.facts) for number, one in enumerate(outcomes, start=1)},
        additive=all(one.additive for one in outcomes),
        keeps_distance=all(one.keeps_distance for one in outcomes),
        levels=all(one.levels for one in outcomes),
        noise=any(one.noise for one in outcomes),
        origins=None,
        measure=None,
        drawn=None,
        single=tuple(outcomes),
        changes=None,
    )


def seen_alone(outcome: Outcome, part: Judged) -> Outcome:
    """The outcome of one response as it is published: of cells that nobody publishes only the bounds are known."""
    if part.aside is None or outcome.low is None or outcome.high is None:
        return outcome
    low = np.where(part.aside, part.problem.lower_bound, outcome.low)
    return replace(
        outcome, low=low, high=np.where(part.aside, part.problem.upper_bound, outcome.high), origins=None, drawn=None
    )


def with_single(found: Audit, singles: Sequence[Audit], joint: Joint) -> Audit:
    """The attack on all responses, with what is found on each by itself: each must keep what it promises alone.

    Counts beside sums have no levels, and how noise came about is known of each response only, so that the attack on the whole
    asks less of sums, and uses less of counts, than that on each.
    """
    moved = [one.cells.astype(np.int64) + joint.span(number).start for number, one in enumerate(singles)]
    cells = np.unique(np.concatenate([found.cells.astype(np.int64), *moved]))
    n = len(cells)
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    least, most, exposed = np.full(n, np.inf), np.full(n, -np.inf), np.zeros(n, dtype=bool)
    for own, one in zip((found.cells.astype(np.int64), *moved), (found, *singles), strict=True):
        at = np.searchsorted(cells, own)
        low[at], high[at] = np.maximum(low[at], one.low), np.minimum(high[at], one.high)
        least[at], most[at] = np.minimum(least[at], one.required_low), np.maximum(most[at], one.required_high)
        exposed[at] |= one.exposed
    unjudged = next((one.unjudged for one in (found, *singles) if one.unjudged), "")
    return replace(
        found, cells=cells.astype(np.int32), low=low, high=high, required_low=least, required_high=most, exposed=exposed,
        programs=found.programs + sum(one.programs for one in singles), unjudged=unjudged,
        exact=all(one.exact for one in (found, *singles)),
    )  # fmt: skip


def outcome_of(outcome: Outcome, joint: Joint, number: int) -> Outcome:
    """The part of an outcome that belongs to one response, with what its own cells cost; all that is known of a single one."""
    span, problem = joint.span(number), joint.parts[number].problem
    if len(joint.parts) == 1 and outcome.single:
        return outcome.single[0]

    def part(array: Floats | None) -> Floats | None:
        return None if array is None else array[span]

    hidden = outcome.hidden[span]
    cost = float(problem.cost[hidden & ~problem.primary].sum())
    if outcome.values is not None:
        cost = float(np.abs(outcome.values[span] - problem.values).sum())
    bound = outcome.bound if len(joint.parts) == 1 else None
    return Outcome(
        hidden, cost, bound, outcome.status, part(outcome.values), part(outcome.low), part(outcome.high), outcome.facts,
        outcome.additive, outcome.keeps_distance, outcome.levels, noise=outcome.noise,
    )  # fmt: skip


def audit_of(found: Audit, joint: Joint, number: int) -> Audit:
    """What the attacker of the whole finds about the cells of one response, by their own numbers."""
    span = joint.span(number)
    mine = (found.cells >= span.start) & (found.cells < span.stop)
    return Audit(
        (found.cells[mine] - span.start).astype(np.int32),
        found.low[mine],
        found.high[mine],
        found.required_low[mine],
        found.required_high[mine],
        found.exposed[mine],
        found.programs,
        found.seconds,
        found.exact,
        unjudged=found.unjudged,
    )


def of_one_response(
    found: Audit, problem: SuppressionProblem, outcome: Outcome, joint: Joint | None
) -> tuple[Audit, SuppressionProblem, Outcome]:
    """The attack, problem and outcome without the differences, where all tables are of one response with noise of its own."""
    if joint is None or len(joint.parts) != 1 or not outcome.single:
        return found, problem, outcome
    return audit_of(found, joint, 0), joint.parts[0].problem, outcome.single[0]


def without_differences(found: Audit, joint: Joint) -> Audit:
    """The attack on the cells that are published, and on differences that are unsafe; the others are nobody's cells."""
    mine = (found.cells < joint.n_cells) | joint.whole.problem.primary[found.cells]
    return replace(
        found,
        cells=found.cells[mine],
        low=found.low[mine],
        high=found.high[mine],
        required_low=found.required_low[mine],
        required_high=found.required_high[mine],
        exposed=found.exposed[mine],
    )
