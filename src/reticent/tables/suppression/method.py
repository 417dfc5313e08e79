# SPDX-License-Identifier: Apache-2.0
"""One interface for all suppression methods, and one judge: the attacker."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from reticent.base import clock
from reticent.base.arrays import Floats, Mask
from reticent.base.errors import InfeasibleError, NotProtectedError, OutOfTime, ParameterError
from reticent.base.progress import Progress, part, silent
from reticent.base.randomness import Secret, as_secret
from reticent.data.cells import CellStatus
from reticent.data.parameters import Parameters
from reticent.tables.attack import Audit, audit
from reticent.tables.attack.inside import Breaches, partners_of
from reticent.tables.attack.insiders import insiders, single_respondents
from reticent.tables.attack.sums import published_sums
from reticent.tables.costs import costs_of
from reticent.tables.guarantee import HIDDEN, NOT_DRAWN, Guarantee, Rate
from reticent.tables.outcome import Outcome
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.engine import Engine
from reticent.tables.suppression.infeasible import explain_infeasible
from reticent.tables.suppression.securing import secure
from reticent.tables.suppression.sums import Group, first_sums, in_cells, small_groups, watched, with_sums

_LARGE = 1_000  # cells of counts from which whole-number attacks are left to the end
_FIRST_STEP = 0.7  # share of the time for the search before
_FIRST_SHARE = 0.6  # of the time for the first search where sums are judged, too
_CUT_OFF = 0.8  # share of its time after which a search has not ended by itself
_WORTH_WHILE = 0.3  # share of the time that must be left for a further search,
_LAST_AUDIT = 0.15  # with this much of it kept for the last attack on what it finds
_LEAST_SECONDS = 1.0  # for a further search when the time is up: a pattern that is not safe is none
_FEW_COMBINATIONS = 100  # that no table shows: so few are there from the first
_BEFORE = 0.6  # share of the time for the search without more of them
_EARLIER = 0.1  # what a cell hidden in an earlier period costs, as a share


@dataclass(frozen=True, eq=False)
class Suppression(Outcome):
    """A safe pattern: `hidden` cells (primaries included), the `cost` of the secondaries and a lower bound of it.

    `status` is "optimal" when the bound proves it, else "feasible"; `audit` is the attacker's last word.
    """

    audit: Audit | None = None
    seconds: float = 0.0

    @property
    def pattern(self) -> Mask:
        """The hidden cells."""
        return self.hidden

    def __repr__(self) -> str:
        return (
            f"<Suppression: {int(self.hidden.sum())} hidden cells, cost {self.cost:g}, bound {self.bound}, "
            f"{self.status}, {self.seconds:.1f} s>"
        )


@dataclass(frozen=True, eq=False)
class _Run:
    """What one search is given: seconds, secret, cells hidden in an `earlier` period, and a safe pattern to `start` from.

    One that is `hurried` completes what must be hidden, and looks for nothing cheaper.
    """

    seconds: float
    progress: Progress
    secret: Secret | None
    earlier: Mask | None
    start: Mask | None = None
    hurried: bool = False


@dataclass(frozen=True)
class SuppressionMethod(Parameters):
    """What the methods share: costs, and a protected result or an error.

    A method says how to search (`_search`); this class checks what it is given, completes what a method left
    exposed, and lets the attacker judge the result once more from scratch. That is the arithmetic attacker; all these
    methods choose without the secret, so they are not for the transparent one (`guarantee` has the rate).
    """

    name: ClassVar[str]
    guarantee: ClassVar[Guarantee] = Guarantee(HIDDEN, Rate(4, 150, 2.0), NOT_DRAWN)
    cost: Literal["own", "unity", "frequency", "value", "log", "power", "distance"] = field(
        default="own", metadata={"help": "what hiding a cell costs; own: as the table gives it"}
    )
    singletons: bool = field(
        default=True, metadata={"help": "a sole respondent of a cell must not work out another unsafe cell"}
    )
    power: float = field(default=0.5, metadata={"min": 0, "max": 2, "help": "exponent for cost = power"})
    minimum_together: int = field(
        default=0,
        metadata={
            "min": 0,
            "help": "unsafe cells of one row with fewer respondents in all: nor may their sum be known",
        },
    )

    def _search(self, engine: Engine) -> None:
        raise NotImplementedError

    def protect(
        self,
        problem: SuppressionProblem,
        *,
        time_limit: float = 60.0,
        progress: Progress = silent,
        secret: Secret | None = None,
        earlier: Mask | None = None,
    ) -> Suppression:
        """Find a safe pattern within about `time_limit` seconds; cells hidden in an `earlier` period cost less."""
        if not time_limit > 0:
            raise ParameterError(
                f"{self.name}: time_limit must be more than 0 seconds, got {time_limit!r}. Give it at least 1."
            )
        # what is found is attacked once more by itself, and once more without the sums
        with clock.until(clock.limited(time_limit, checks=1 if problem.judge is None else 2)):
            try:
                return self._in_two_steps(problem, _Run(time_limit, progress, secret, earlier))
            except OutOfTime as err:
                raise out_of_time(self.name) from err

    def _in_two_steps(self, problem: SuppressionProblem, run: _Run) -> Suppression:
        """Search without many combinations that no table shows, which seldom tell anything, and hide more where they do.

        Respondents who are kept from levels are so from the first.
        """
        many = len(problem.combinations) > _FEW_COMBINATIONS
        if not many or problem.insider_levels or problem.coalition > 1:
            return self._within_limit(problem, run)
        start = clock.now()
        first = self._within_limit(problem.without_combinations(), replace(run, seconds=_BEFORE * run.seconds))
        hidden = first.hidden.copy()
        hidden[list(problem.combinations)] = True
        if self._keeps(problem, hidden, list(first.facts.get("sums", ()))):
            return replace(first, hidden=hidden)
        kept = problem.with_status(first.hidden & problem.candidates, CellStatus.SECONDARY)
        left = max(_LEAST_SECONDS, start + run.seconds - clock.now())
        found = self._within_limit(kept, replace(run, seconds=left))
        return replace(found, bound=first.bound, status="feasible")

    def _keeps(self, problem: SuppressionProblem, hidden: Mask, groups: list[Group]) -> bool:
        """Whether a pattern is safe, with sums of some groups of cells that must not be known."""
        seen = with_sums(problem, groups)
        pattern = np.append(hidden, np.ones(len(groups), dtype=bool))
        if audit(seen, pattern, mode="certify").n_exposed:
            return False
        alone = self.singletons and has_single_respondents(problem)
        if alone and (insiders(seen, pattern) or Breaches(seen).find(pattern, most=1)):
            return False
        return not {*published_sums(watched(problem, self.minimum_together), hidden)} - {*groups}

    def _within_limit(self, problem: SuppressionProblem, run: _Run) -> Suppression:
        """Search, and search again while unsafe sums of hidden cells are published."""
        groups = small_groups(problem, self.minimum_together) if self.minimum_together else []
        problem = watched(problem, self.minimum_together)
        groups = list(dict.fromkeys([*groups, *first_sums(problem)]))
        start = clock.now()
        end = start + run.seconds
        # sums come to light with a pattern: what they ask for takes a part of the time, and so does looking for them
        share = 1.0 if problem.judge is None else _FIRST_SHARE
        first = found = self._with_sums(problem, groups, replace(run, seconds=share * run.seconds))
        searched = clock.peek() - start
        while new := [group for group in published_sums(problem, found.hidden) if group not in groups]:
            clock.check()
            groups += new
            # in large tables, and when the time is up, what is hidden stays hidden: to search again would take as long as
            # before, and a pattern that only grows comes to an end
            left = end - clock.now()
            hurried = left < searched
            large = problem.n_cells > _LARGE or hurried
            kept = problem.with_status(found.hidden & problem.candidates, CellStatus.SECONDARY) if large else problem
            found = self._with_sums(kept, groups, replace(run, seconds=max(_LEAST_SECONDS, left), hurried=hurried))
            if large:
                found = replace(found, bound=first.bound, status="feasible")
        left = end - clock.peek()
        if searched >= _CUT_OFF * share * run.seconds and share < 1 and left > _WORTH_WHILE * run.seconds:
            further = replace(run, seconds=left - _LAST_AUDIT * run.seconds, start=found.hidden)
            found = self._continued(problem, groups, further, found)
        if not groups:
            return found
        final = audit(problem, found.hidden, mode="certify")
        return replace(found, audit=final, facts={**found.facts, "sums": groups}, seconds=first.seconds)

    def _continued(
        self, problem: SuppressionProblem, groups: list[Group], run: _Run, found: Suppression
    ) -> Suppression:
        """Something better, found from a pattern that is safe, sums included; else the same."""
        if run.seconds < _LEAST_SECONDS or found.status == "optimal":
            return found
        try:
            with clock.until(clock.Deadline(clock.peek() + run.seconds)):
                again = self._with_sums(problem, groups, run)
                better = again.cost < found.cost and not published_sums(problem, again.hidden)
        except OutOfTime:
            clock.check()
            return found
        return again if better else found

    def _with_sums(self, problem: SuppressionProblem, groups: list[Group], run: _Run) -> Suppression:
        """A pattern that keeps the sums of some groups of cells unknown, too; over the cells alone."""
        n, sums = problem.n_cells, np.zeros(len(groups), dtype=bool)
        run = replace(
            run,
            earlier=None if run.earlier is None else np.concatenate((run.earlier, sums)),
            start=None if run.start is None else np.concatenate((run.start, ~sums)),
        )
        try:
            found = self._protect(with_sums(problem, groups), run)
        except InfeasibleError as err:
            raise in_cells(err, n, groups) from err
        return replace(found, hidden=found.hidden[:n])

    def _protect(self, problem: SuppressionProblem, run: _Run) -> Suppression:
        problem.check_attainable()
        if (problem.insider_levels or problem.coalition > 1) and not self.singletons:
            raise ParameterError(
                f"{self.name}: singletons = false leaves sole respondents of a cell out of account; say singletons = true, "
                'or insiders = "exact" without a coalition.'
            )
        started = clock.now()
        cost = costs_of(problem, self.cost, power=self.power)
        steered = cost if run.earlier is None else np.where(run.earlier, _EARLIER * cost, cost)
        engine = Engine(
            problem,
            steered,
            deadline=started + run.seconds,
            singletons=self.singletons and has_single_respondents(problem),
            rng=as_secret(run.secret if run.secret is not None else 0).stream("suppression"),
            progress=part(run.progress, 0.0, 0.9),
        )
        try:
            self._find(engine, run, started + _FIRST_STEP * run.seconds)
        except InfeasibleError as err:
            reason = _explained(problem, err)
            if reason.cells:
                raise reason from err
            self._generously(engine, reason)
        return _conclude(self, engine, cost, run.earlier is None, started, part(run.progress, 0.9, 1.0))

    def _find(self, engine: Engine, run: _Run, first_step: float) -> None:
        """Search until it is time to stop. What is safe then counts; else the pattern under way is made safe, if it can be."""
        problem = engine.problem
        try:
            with clock.until(engine.stop):
                if run.start is not None and not engine.missing(run.start):
                    engine.offer(run.start)
                if run.hurried:
                    engine.complete(problem.forced)
                elif problem.whole.any() and problem.n_cells > _LARGE:
                    self._search_in_two_steps(engine, first_step)
                else:
                    self._search(engine)
                if engine.best is None:
                    engine.complete(problem.forced)
                if engine.bound == 0 and engine.left() > 0:
                    engine.master.relax()  # methods that do not look for a bound get the simple one
        except OutOfTime:
            clock.check()
        if engine.best is None:
            secure(engine, problem.forced if engine.under_way is None else engine.under_way)
            with clock.within(engine.deadline):
                engine.clean(until=engine.deadline)

    def _generously(self, engine: Engine, reason: InfeasibleError) -> None:
        """A pattern although the search takes there to be none, where the attacker finds nothing in the one that hides all.

        Factors of very different size in one relation can mislead the search; what counts is what the attacker finds.
        """
        if engine.missing(engine.problem.candidates | engine.problem.forced):
            raise reason
        engine.master.bound = 0.0
        secure(engine, engine.problem.forced)
        with clock.within(engine.deadline):
            engine.clean(until=engine.deadline)

    def _search_in_two_steps(self, engine: Engine, until: float) -> None:
        """Search against an attacker who does not know that all values are whole, then complete against one who does.

        Attacks in whole numbers take long. What is safe from them is safe from the others, so the bound holds as well.
        """
        first = engine.without_integrality(until)
        try:
            with clock.within(until):
                self._search(first)
            if first.best is None:
                first.complete(engine.problem.forced if first.under_way is None else first.under_way)
        finally:
            engine.master.bound = first.bound
            engine.under_way = first.under_way
        assert first.best is not None
        engine.complete(first.best)


def has_single_respondents(problem: SuppressionProblem) -> bool:
    """Whether it is known which cells have one respondent (or so few that they may join), and some have."""
    return bool((single_respondents(problem) >= 0).any() or partners_of(problem, problem.coalition))


def out_of_time(name: str) -> OutOfTime:
    """The error of a run whose time was up before a pattern was found and attacked."""
    other = "" if name == "hypercube" else "use method = hypercube, "
    return OutOfTime(
        f"{name}: the time limit passed before a safe pattern was found and attacked; nothing may be published. Give more "
        f"time, {other}or ask for less (insiders, coalition, minimum_together)."
    )


def _explained(problem: SuppressionProblem, err: InfeasibleError) -> InfeasibleError:
    """Why nothing can be protected, as far as there is time to find out."""
    try:
        return explain_infeasible(problem)
    except OutOfTime:
        return err


def _conclude(
    method: SuppressionMethod, engine: Engine, cost: Floats, own_cost: bool, started: float, progress: Progress
) -> Suppression:
    problem, pattern = engine.problem, engine.best
    assert pattern is not None
    final = audit(problem, pattern, mode="certify", progress=progress)
    if final.n_exposed:
        raise NotProtectedError(
            f"{method.name}: the attacker still finds {final.n_exposed} exposed cells after the search; nothing may be "
            "published. Give more time (time_limit) or use another method.",
            exposed=final.n_exposed,
        )
    if engine.singletons:
        open_doors = insiders(problem, pattern) or Breaches(problem).find(pattern, most=1)
        if open_doors:
            raise NotProtectedError(
                f"{method.name}: sole respondents of a cell still find another unsafe cell too closely; nothing may be "
                "published. Give more time (time_limit) or use another method.",
                exposed=len(open_doors),
            )
    paid = float(cost[pattern & ~problem.primary].sum())
    given = float(cost[problem.forced & ~problem.primary].sum())
    bound = engine.bound + given if own_cost else None
    closed = bound is not None and paid <= bound + 1e-6 * max(1.0, abs(paid))
    facts: dict[str, Any] = {"rows": engine.master.n_rows, "programs": final.programs}
    return Suppression(
        pattern,
        paid,
        min(bound, paid) if bound is not None else None,
        "optimal" if closed else "feasible",
        facts=facts,
        audit=final,
        seconds=clock.now() - started,
    )
