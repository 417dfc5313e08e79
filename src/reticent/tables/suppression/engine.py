# SPDX-License-Identifier: Apache-2.0
"""The search for a cheap safe pattern: relax and cut, round by a small integer program, complete, clean, improve.

Every pattern is judged by the attacker (`certify`); what it finds comes back as cuts, so nothing is learned twice.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from reticent.base import clock
from reticent.base.arrays import Floats, Mask
from reticent.base.errors import InfeasibleError
from reticent.base.progress import Progress, silent
from reticent.solve.model import Status
from reticent.tables.attack.inside import Breaches
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.cleaning import clean
from reticent.tables.suppression.cuts import Cut, Separator
from reticent.tables.suppression.demands import Demand, Kind
from reticent.tables.suppression.master import Master
from reticent.tables.suppression.routing import SMALL, route
from reticent.tables.suppression.together import Together
from reticent.tables.suppression.watch import EXACT_INSIDERS, Watch, serve_all

_LARGE = 1_000  # cells from which rounds of cuts take long
_PATIENT = 2.0  # seconds for the relaxation from which on circles of relations are looked for
_FEW = 4  # primaries that fail, up to which a way for each is looked for instead of further cuts
_CROWDED = 0.15  # share of primaries from which on many of them are served at once
_SLACK = 0.1  # of the whole time by which a step of the search may be late
_MOST_RESERVED = 0.4  # of the whole time that may be kept for the attacks on what was found
_ROOMY = 1.2  # how many times as long as the slowest attack so far one to come is thought to be
_SECURED = 5e-4  # seconds for each cell, kept for a generous pattern as long as there is none: some attacks
_ROUTE_SECONDS = 0.5  # what one careful way may take: with less time for each, ways are found quickly


@dataclass(frozen=True, eq=False)
class Findings:
    """What the attacker says of a pattern: the demands that are not met, and cuts that forbid the failure."""

    demands: list[Demand]
    cuts: list[Cut]

    @property
    def safe(self) -> bool:
        """Whether every demand is met."""
        return not self.demands


class Engine:
    """One search on one problem; `best` is the cheapest safe pattern so far, `bound` a proved lower bound.

    `stop` is when the search ends: so long before its `deadline` that what it found can still be attacked as often as it
    will be, or, as long as nothing was found, that a generous pattern can (`securing`). `under_way` is a pattern that is
    being completed, for those who go on when the search is over.
    """

    def __init__(
        self,
        problem: SuppressionProblem,
        cost: Floats,
        *,
        deadline: float,
        rng: np.random.Generator,
        singletons: bool = False,
        progress: Progress = silent,
    ) -> None:
        self.problem = problem
        self.singletons = singletons
        self.master = Master(problem, cost, singletons=singletons)
        self.cost = self.master.cost
        self.given_cost = cost
        self.separator = Separator(problem, cost)
        self.deadline = deadline
        self.rng = rng
        self.best: Mask | None = None
        self.best_cost = math.inf
        # in a large table with very many primaries neither cuts nor a way for each of them get far
        share = float(problem.primary.mean()) if problem.n_cells else 0.0
        self.crowded = problem.n_cells > EXACT_INSIDERS and share > _CROWDED
        self._breaches = Breaches(problem)
        self._attacked: tuple[Mask, list[Demand]] | None = None
        self._progress = progress
        self._started = clock.now()
        most = _MOST_RESERVED * (deadline - self._started)
        self._until = deadline  # when the search ends once it has found something
        self.stop = clock.Deadline(deadline - min(most, _SECURED * problem.n_cells))
        self.under_way: Mask | None = None
        self._slowest = 0.0

    def without_integrality(self, deadline: float) -> "Engine":
        """The same search against an attacker who does not know that values are whole."""
        return Engine(
            self.problem.without_integrality(),
            self.given_cost,
            deadline=deadline,
            rng=self.rng,
            singletons=self.singletons,
            progress=self._progress,
        )

    @property
    def bound(self) -> float:
        """The best proved lower bound of the cost."""
        return self.master.bound

    def closed(self) -> bool:
        """Whether the bound has met the best pattern."""
        slack = 1e-7 * max(1.0, abs(self.best_cost))
        return self.best is not None and self.best_cost <= self.bound + slack

    def gap(self) -> float:
        """How much of the best pattern's cost the bound leaves open, as a share."""
        return 1.0 if self.best is None else 1 - self.bound / max(self.best_cost, self.bound, 1e-300)

    def left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - clock.now()

    def say(self, what: str) -> None:
        """Tell how much of the time has gone; the listener may cancel."""
        total = max(self.deadline - self._started, 1e-9)
        self._progress(min(0.99, (clock.now() - self._started) / total), what)

    def offer(self, pattern: Mask) -> bool:
        """Take a safe pattern if it is the cheapest so far."""
        cost = float(self.cost[pattern].sum())
        if cost < self.best_cost:
            self.best, self.best_cost = pattern.copy(), cost
            self.stop.moment = self._until
            return True
        return False

    def judge(self, pattern: Mask, x: Floats | None = None, *, until: float = math.inf) -> Findings:
        """Attack a pattern; the cuts are violated by x (the pattern itself unless given), and added to the master."""
        demands = self.missing(pattern)
        point = pattern.astype(np.float64) if x is None else x
        cuts = self.separator.separate_all(point, demands, until=until)
        if demands and not cuts and x is None and self.problem.n_cells <= EXACT_INSIDERS:
            cuts.append(self._something_else(pattern, demands[0].cell))
        self.master.add_cuts(_distinct(cuts))
        return Findings(demands, cuts)

    def _few(self, demands: list[Demand]) -> bool:
        """Whether a way for each primary that fails is quicker than further rounds, and hardly costlier.

        That is so where rounds take long but a way is still looked for in the whole table at once.
        """
        middling = _LARGE < self.problem.n_cells <= SMALL
        return middling and len({d.cell for d in demands}) <= _FEW

    def _something_else(self, pattern: Mask, cell: int) -> Cut:
        """An unsafe pattern stays unsafe with fewer hidden cells, so a safe one hides something outside it."""
        outside = np.flatnonzero(self.problem.candidates & ~pattern).astype(np.int32)
        none = np.zeros(0)
        return Cut(outside, np.ones(len(outside)), Demand(cell, Kind.MOVE, 1.0), none.astype(np.int64), none)

    def relax_and_cut(self, *, until: float, rounds: int = 50) -> Mask | None:
        """Tighten the relaxation; its support is returned if it is safe in the end."""
        start = clock.now()
        with clock.within(until + self.slack()):
            for _ in range(rounds):
                began = clock.now()
                x = self.master.relax()
                seconds = clock.now() - began
                self.say("tightening the bound")
                local = self.master.add_circles(x, until=until) if until - start > _PATIENT else 0
                # what follows from circles of relations is found quickly: attacks are for what they leave, or half of the time
                if local and clock.now() < (start + until) / 2:
                    continue
                support = x > 1e-6
                verdict = self.judge(support, x, until=until)
                if verdict.safe and not local:
                    return support
                if not (verdict.cuts or local) or clock.now() > until:
                    break
            if seconds < 0.05 * self.left():
                self.master.relax()  # what comes next is guided by the relaxation: let it know the last cuts
        return None

    def slack(self) -> float:
        """How much later than it should a step may end: its last round is mostly worth its time."""
        return _SLACK * (self.deadline - self._started)

    def narrow(self, share: float) -> Mask:
        """Cells that the relaxation does not want: unused and too costly by more than a share of the average cost."""
        master = self.master
        used = (master.x > 1e-6) & (self.cost > 0)
        typical = float(self.cost[used].mean()) if used.any() else 0.0
        return np.asarray((master.x <= 1e-6) & (master.reduced_costs > share * typical))

    def integer_rounds(self, fixed_out: Mask | None, *, until: float, gap: float, rounds: int) -> Floats | None:
        """Integer patterns of the master until one is safe (then offered) or time is up; the last one is returned."""
        last: Floats | None = None
        with clock.within(until + self.slack()):
            for found in self._integer_patterns(fixed_out, until=until, gap=gap, rounds=rounds):
                last = found
        return last

    def _integer_patterns(self, fixed_out: Mask | None, *, until: float, gap: float, rounds: int) -> Iterator[Floats]:
        last: Floats | None = None
        for _ in range(rounds):
            left = until - clock.now()
            if left <= 0 and last is not None:
                break
            found = self.master.integer(time_limit=max(0.5, left / 2), relative_gap=gap, fixed_out=fixed_out)
            if found.status is Status.INFEASIBLE and fixed_out is not None:
                fixed_out = None  # cuts that came later ask for what the relaxation did not want
                found = self.master.integer(time_limit=max(0.5, left / 2), relative_gap=gap)
            if not found.feasible:
                # no time for the program: what satisfies its rows greedily is still a start
                if last is None:
                    yield self.master.greedy(self.problem.forced).astype(np.float64)
                return
            if fixed_out is None:
                self.master.bound = max(self.master.bound, found.bound)
            last = found.values
            yield last
            self.say("choosing cells")
            simple = self.master.add_simple_rows(last)
            verdict = self.judge(last > 0.5, until=until)
            if verdict.safe:
                self.offer(last > 0.5)
                break
            if self._few(verdict.demands) or (not simple and not verdict.cuts):
                break

    def complete(self, pattern: Mask, *, give_up: float = math.inf, cut_rounds: int = 12) -> Mask:
        """Hide further cells until the pattern is safe (it ends: the pattern grows) or costlier than `give_up`.

        First by the cuts of the attacker and small integer programs; when these no longer get on, by routing.
        """
        pattern = pattern | self.problem.forced
        if self.best is None and self.crowded:
            return self.route_all(pattern)
        end = clock.now() + max(3.0, 0.25 * self.left())
        self.under_way = pattern
        with clock.within(end + self.slack()):
            if self._completed_by_cuts(pattern, end, give_up=give_up, cut_rounds=cut_rounds):
                return self.under_way
        # with a safe pattern at hand there is no need to force this one
        return self.under_way if self.best is not None else self.route_all(self.under_way)

    def _completed_by_cuts(self, pattern: Mask, end: float, *, give_up: float, cut_rounds: int) -> bool:
        """Let the pattern under way grow by cuts; whether it needs nothing more, or is too costly."""
        rounds = 0
        while float(self.cost[pattern].sum()) < give_up:
            self.say("completing the pattern")
            if rounds >= cut_rounds or clock.now() > end:
                return False
            rounds += 1
            demands = self.missing(pattern)
            if not demands:
                self.offer(pattern)
                return True
            if self.best is None and self._few(demands):
                return False
            self.master.add_simple_rows(pattern.astype(np.float64))
            self.judge(pattern, until=end)
            found = self.master.integer(time_limit=max(1.0, self.left() / 20), relative_gap=5e-3, fixed_in=pattern)
            pattern = pattern | (found.values > 0.5 if found.feasible else self.master.greedy(pattern))
            self.under_way = pattern
        return True

    def route_all(self, pattern: Mask) -> Mask:
        """Route every demand that is not met, one after another, each over what the earlier ones have hidden.

        In a crowded table, or when time is short, movements for many of them at once come first.
        """
        pattern = pattern.copy()
        if self.crowded or self._too_many(pattern):
            self.say("moving many cells at once")
            until = clock.now() + max(3.0, 0.5 * self.left())
            together = Together(self.problem, self.problem.candidates | self.problem.forced, self.cost)
            pattern = serve_all(self.watch(), together, pattern, self.cost, until=until)
        while True:
            self.say("routing movements")
            self.under_way = pattern
            clock.check()
            start = clock.now()
            lost = self.missing(pattern)
            attack = clock.now() - start
            if not lost:
                self.offer(pattern)
                return pattern
            before = int(pattern.sum())
            cells_lost = {d.cell for d in lost}
            routed: set[int] = set()
            idle = 0.0
            for demand in lost:
                # the way up mostly serves the way down too, and what was added may serve others: look again soon
                if demand.cell in routed:
                    continue
                quick = len(cells_lost) > _FEW and self.left() < _ROUTE_SECONDS * len(lost)
                start = clock.now()
                added = route(self.problem, pattern, demand, self.cost, quick=quick)
                if added is None:
                    raise InfeasibleError("Suppression: a primary cannot be protected.", cells=(demand.cell,))
                pattern[added] = True
                routed.add(demand.cell)
                # ways that add nothing: what is hidden by now serves most, so that a new look is soon worth its time
                idle = 0.0 if len(added) else idle + clock.now() - start
                if len(routed) >= max(8, len(lost) // 4) or idle > 2 * attack:
                    break
            if int(pattern.sum()) == before:
                pattern = self._grow(pattern, lost)

    def _too_many(self, pattern: Mask) -> bool:
        """Whether more primaries fail than single ways can serve in the time that is left, but a joint movement can."""
        if self.problem.n_cells > EXACT_INSIDERS:
            return False
        most = int(max(0.0, self.left()) / _ROUTE_SECONDS) + 30
        return int(self.problem.primary.sum()) > most and len(self.watch().lost(pattern)) > most

    def missing(self, pattern: Mask) -> list[Demand]:
        """The demands that a pattern does not meet."""
        # a pattern often comes back at once, to be cut off or completed
        if self._attacked is None or not np.array_equal(self._attacked[0], pattern):
            start = clock.peek()
            self._attacked = (pattern.copy(), self.watch().demands(pattern))
            if not self._attacked[1]:
                self._reserve(clock.peek() - start)
        return self._attacked[1]

    def _reserve(self, seconds: float) -> None:
        """Stop the search early enough for the attacks to come, each as long as the slowest so far."""
        self._slowest = max(self._slowest, seconds)
        most = _MOST_RESERVED * (self.deadline - self._started)
        self._until = min(self._until, self.deadline - min(most, _ROOMY * self.stop.checks * self._slowest))
        self.stop.bring_forward(self._until)

    def watch(self) -> Watch:
        """A new look at a pattern that will grow."""
        return Watch(self.problem, self.rng, singletons=self.singletons, breaches=self._breaches)

    def clean(self, *, until: float) -> None:
        """Reverse delete on the best pattern."""
        if self.best is not None:
            self.say("publishing what need not be hidden")
            self.offer(clean(self.problem, self.best, self.cost, until=until, singletons=self.singletons))

    def repair(self, pattern: Mask) -> None:
        """Complete an unsafe pattern and offer it, unless it is already too costly."""
        if float(self.cost[pattern].sum()) < self.best_cost:
            self.complete(pattern, give_up=self.best_cost)

    def _grow(self, pattern: Mask, lost: list[Demand]) -> Mask:
        """Where routing sees nothing wrong (numbers at their limits): take the cheapest neighbour of each failure."""
        grown = pattern.copy()
        indptr, rows, _ = self.problem.relations.by_cell
        for cell in sorted({d.cell for d in lost}):
            near = [self.problem.relations.row(r)[0] for r in rows[indptr[cell] : indptr[cell + 1]].tolist()]
            around = np.unique(np.concatenate(near)) if near else np.zeros(0, dtype=np.int32)
            open_cells = around[self.problem.candidates[around] & ~grown[around]]
            if len(open_cells):
                grown[open_cells[np.argmin(self.cost[open_cells])]] = True
        if (grown == pattern).all():
            grown |= self.problem.candidates
        return grown


def _distinct(cuts: list[Cut]) -> list[Cut]:
    seen: dict[tuple[bytes, bytes], Cut] = {}
    for cut in cuts:
        seen.setdefault((cut.cells.tobytes(), cut.coefs.tobytes()), cut)
    return list(seen.values())
