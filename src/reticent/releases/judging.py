# SPDX-License-Identifier: Apache-2.0
"""One part judged with a further release: what still holds is kept, what breaks is dealt out again, programs do the rest."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from reticent.base.arrays import Ints
from reticent.releases.alone import Alone, Way
from reticent.releases.asking import Programs
from reticent.releases.certificate import Proof, leaves
from reticent.releases.dealing import Dealer
from reticent.releases.earlier import Earlier
from reticent.releases.insiders import Doubts, Insiders
from reticent.releases.part import Part
from reticent.releases.pool import Carried, Movement, Pool, Side, alive, carried, carried_along
from reticent.releases.programs import Budget, Limits, OutOfSteps
from reticent.releases.stack import exact_product
from reticent.releases.system import System, Told, contradiction
from reticent.releases.verdict import Exposure

MOST_HINTED = 500
MOST_WAYS = 3
"""This many ways in which the cells of a table can move are dealt out for an end of a watched sum."""
MOST_UNITED = 10
MOST_LIKELY = 4_000
"""The classes of up to this many ways, and up to this many classes, are likely to move."""
MOST_STEPS = 40
"""The movements at hand are carried over to an answer fact by fact, up to this many."""
MOST_FACTS = 100
"""This many facts of a release count for the steps that it may cost."""
WORTH_MENDING = 3
"""This many movements that miss the new row are worth a program that mends them together."""


@dataclass(frozen=True, eq=False)
class Ruling:
    """A part as if a release were out, and what that would expose."""

    part: Part
    exposures: tuple[Exposure, ...]


Inside = Literal["", "exact", "protect"]
"""What respondents are kept from beyond everybody: nothing more, exact values, or everything within required intervals."""


class Judge:
    """The work on one part for one release."""

    def __init__(self, before: Part, told: Told, limits: Limits, *, insiders: Inside, complete: bool) -> None:
        self.before, self.told, self.limits, self.complete = before, told, limits, complete
        facts = min(len(told.lines), MOST_FACTS)  # relations that come along are many, and no work of their own
        self.budget = Budget(limits.release + limits.fact * facts + limits.watch * len(told.sights))
        self.system = before.system.with_release(told)
        self.low, self.high = self.system.class_bounds()
        self._with_insiders = insiders
        self._insiders: Insiders | None = None
        self._earlier: Earlier | None = None
        self._excluded: dict[int, frozenset[int]] = {}
        self._hints: dict[Side, Ints] = {}
        self._known: dict[Side, Way] = {}
        self._broken: dict[Side, Movement] = {}

    def rule(self, *, most_exposures: int = 1, relax: bool = False) -> Ruling:
        """Show each watched sum unknown; stops when this many are exposed.

        With `relax` the release is out whatever it exposes: from then on what is still possible must stay possible.
        """
        if relax:
            self.budget = Budget()
        try:
            self._settle()
        except OutOfSteps:
            part = Part(self.system, Pool())
            open_sights = [self._unsettled(s, upper=True) for s in range(len(self.system.sights))]
            return Ruling(part, tuple(open_sights[:most_exposures]))
        self.center = self.system.class_center()
        self.dealer = Dealer(self.system, self.low, self.high)
        self.programs = Programs(self.system, self.low, self.high, self.center, self.limits, self.budget)
        self.pool = self._mended(self._carried())
        self.reached = self._reach_of(self.pool)
        self.values = exact_product(self.system.watched, self.center)
        if self._with_insiders:
            self._insiders = Insiders.of(self.system)
        exposures: list[Exposure] = []
        for sight in range(len(self.system.sights)):
            for upper in (True, False):
                found = self._side(sight, upper=upper)
                if found is not None:
                    exposures.append(found)
                    if relax and not found.insider:  # what respondents know is still kept from everybody else
                        self._relax(sight, upper=upper)
                if len(exposures) >= most_exposures:
                    return self._ruling(exposures)
            known = self._known_exactly(sight) if self._with_insiders == "exact" else None
            if known is not None:
                exposures.append(known)
                if len(exposures) >= most_exposures:
                    return self._ruling(exposures)
        return self._ruling(exposures)

    def known(self) -> System:
        """The system before, at the center that was found."""
        return replace(self.before.system, center=self.system.center)

    def _ruling(self, exposures: list[Exposure]) -> Ruling:
        part = Part(self.system, self.pool)
        return Ruling(part, tuple(exposures))

    def _settle(self) -> None:
        """Move the center until it satisfies all facts."""
        system = self.system
        center = system.class_center()
        sums = exact_product(system.rows, center)
        if bool((sums >= system.row_low).all() and (sums <= system.row_high).all()):
            return
        auxiliary = np.unique(system.classes.of[system.layout.size :])
        found = Programs(system, self.low, self.high, center, self.limits, self.budget).search.settle(auxiliary)
        if not isinstance(found, np.ndarray):
            raise contradiction(self.told.name)
        spread = system.classes.spread(center + found, system.low, system.high, system.center)
        self.system = replace(system, center=spread)

    def _carried(self) -> Carried:
        """The movements at hand, in the finer classes.

        Those of an answer that splits classes are carried equation by equation.
        """
        told, before = self.told, self.before.system
        exact = [line for line in told.lines if line.low == line.high and len(line.places) > 1]
        simple = not told.own and not told.sights and self.system.center is before.center
        simple = simple and self.system.classes.n > before.classes.n
        if not simple or len(told.lines) < 2 or len(exact) > MOST_STEPS or not self.before.pool.movements:
            return carried(self.before.pool, before, self.system)
        pool = carried_along(self.before.pool, before, self.system, exact)
        living = alive(pool, self.system, self.low - self.center, self.high - self.center)
        return Carried(pool, living, np.zeros(len(pool.movements), dtype=np.int64))

    def _mended(self, moved: Carried) -> Pool:
        """The pool with movements that miss the new row set right by a common movement, as far as that keeps the rest.

        A movement that changes the new row by one, and no other row, mends many at once.
        """
        if moved.excess.any():
            self._deal_anew(moved)
        else:  # side by side, as they are needed
            dead = {side: [k for k in numbers if not moved.alive[k]] for side, numbers in moved.pool.shows.items()}
            self._broken = {side: moved.pool.movements[numbers[-1]] for side, numbers in dead.items() if numbers}
        left = np.flatnonzero(~moved.alive & (moved.excess != 0)).tolist()
        row = len(self.system.row_low) - 1
        for sign in (1, -1):
            wanted = [k for k in left if (int(moved.excess[k]) > 0) == (sign < 0)]
            if len(wanted) < WORTH_MENDING:
                continue
            step = self.programs.search.correct(row, sign)
            if step is None:
                continue
            common = Movement.of(step)
            for k in wanted:
                moved.pool.movements[k] = moved.pool.plus(k, common, abs(int(moved.excess[k])))
        down, up = self.low - self.center, self.high - self.center
        living = alive(moved.pool, self.system, down, up) if left else moved.alive
        self._hints = {
            side: self.before.pool.movements[numbers[0]].classes for side, numbers in moved.pool.shows.items()
        }
        return moved.pool.kept(living)

    def _deal_anew(self, moved: Carried) -> None:
        """Let other parts of the same classes of a table move where a movement is broken."""
        done: set[int] = set()
        for (sight, upper), numbers in moved.pool.shows.items():
            release = self._release_of(sight)
            if release is None:
                continue
            for k in (k for k in numbers if not moved.alive[k]):
                coarse = self.dealer.coarse(moved.pool.movements[k], release)
                self._known[sight, upper] = coarse
                found = None if k in done else self.dealer.deal(release, coarse, thorough=True)
                done.add(k)
                if found is not None:
                    moved.pool.movements[k], moved.alive[k] = found, True

    def _release_of(self, sight: int) -> int | None:
        """The number of the release that hides a watched sum."""
        name = self.system.sights[sight].watch.release
        return self.system.names.index(name) if name in self.system.names else None

    def _dealt(self, sight: int, end: int, upper: bool, barred: Ints | None = None) -> list[int]:
        """A movement that reaches the end as one of the release that watches it does, dealt out; without programs."""
        release = self._release_of(sight)
        if release is None or not self.before.system.rows.shape[0]:
            return []
        tried = []
        for way in self._ways(sight, end, upper, release):
            if way in tried:
                continue
            tried.append(way)
            found = self.dealer.deal(release, way, barred, thorough=barred is None)
            if found is not None:
                number = self._add(found)
                if self._serves(number, sight, end, upper):
                    self._add_opposite(number)
                    return [number]
        return []

    def _ways(self, sight: int, end: int, upper: bool, release: int, most: int = MOST_WAYS) -> Iterator[Way]:
        """Ways in which the cells of a release can move so that a watched sum reaches an end, as far as they are known."""
        for side, sign in (((sight, upper), 1), ((sight, not upper), -1)):
            known = self._known.get(side)
            if known is None and side in self._broken:
                known = self._known[side] = self.dealer.coarse(self._broken[side], release)
            if known is None and side in self.pool.shows:
                known = self.dealer.coarse(self.pool.movements[self.pool.shows[side][0]], release)
            if known:
                yield {label: sign * amount for label, amount in known.items()}
        alone = self.dealer.kept("alone", lambda: Alone(self.dealer, release, self.limits), release)
        yield from alone.ways(sight, end, upper=upper, most=most)

    def _reach_of(self, pool: Pool) -> list[Ints]:
        """For each movement, by how much it changes each watched sum."""
        if not pool.movements:
            return []
        return list((pool.matrix(self.system.classes.n) @ self.system.watched.T).toarray())

    def _side(self, sight: int, *, upper: bool) -> Exposure | None:
        """Show one end of one watched sum possible, for everybody; or why it is not."""
        side: Side = (sight, upper)
        watched = self.system.sights[sight]
        end = watched.high if upper else watched.low
        shown = list(self.pool.shows.get(side, ()))
        if not any(self._serves(k, sight, end, upper) for k in shown):
            shown += self._any(sight, end, upper) or self._dealt(sight, end, upper)
        if not any(self._serves(k, sight, end, upper) for k in shown):
            found = self._reach(sight, end, upper, None)
            if isinstance(found, Exposure):
                return found
            shown.append(found)
        failed = self._for_insiders(shown, sight, upper) if self._with_insiders == "protect" else None
        self.pool.shows[side] = tuple(shown)
        return failed

    def _relax(self, sight: int, *, upper: bool) -> None:
        """Require from now on only what can still be reached, as far as halving finds it."""
        watched, here = self.system.sights[sight], int(self.values[sight])
        near, far = here, watched.high if upper else watched.low
        while abs(far - near) > 1:
            middle = (near + far) // 2
            if self._any(sight, middle, upper) or not isinstance(self._reach(sight, middle, upper, None), Exposure):
                near = middle
            else:
                far = middle
        changed = replace(watched, high=near) if upper else replace(watched, low=near)
        self.system = replace(
            self.system, sights=(*self.system.sights[:sight], changed, *self.system.sights[sight + 1 :])
        )
        self.pool.shows[sight, upper] = tuple(self._any(sight, near, upper))

    def _serves(self, number: int, sight: int, end: int, upper: bool) -> bool:
        value = int(self.values[sight]) + int(self.reached[number][sight])
        return value >= end if upper else value <= end

    def _any(self, sight: int, end: int, upper: bool) -> list[int]:
        """A movement at hand that reaches the end, if there is one; not to move at all is one."""
        if int(self.values[sight]) >= end if upper else int(self.values[sight]) <= end:
            return [self._add(Movement(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)))]
        return next(([k] for k in range(len(self.reached)) if self._serves(k, sight, end, upper)), [])

    def _add(self, movement: Movement) -> int:
        number = self.pool.add(movement)
        self.reached.append(self.system.watched @ movement.full(self.system.classes.n))
        return number

    def _add_opposite(self, number: int) -> None:
        """The opposite of a movement often shows the other end: kept if it satisfies everything."""
        own = self.pool.movements[number]
        opposite = Movement(own.classes, -own.steps)
        if self.dealer.fits(opposite):
            self._add(opposite)

    def _reach(self, sight: int, end: int, upper: bool, owner: int | None) -> int | Exposure:
        """Ask the programs for a movement, for everybody or for one respondent."""
        low, high = self.low, self.high
        if owner is not None and self._insiders is not None:
            low, high = self._insiders.bounds(owner, low, high)
        side = (sight, upper)
        try:
            likely = self._hint(side)
            if self.programs.many:
                likely = np.union1d(likely, self._likely(sight, end, upper))
            found = self.programs.reach(side, end, (low, high), likely)
        except OutOfSteps:
            return replace(self._unsettled(sight, upper=upper), insider=owner is not None)
        if isinstance(found, np.ndarray):
            number = self._add(Movement.of(found))
            self._add_opposite(number)
            return number
        return self._exposure(sight, upper, found, insider=owner is not None)

    def _likely(self, sight: int, end: int, upper: bool) -> Ints:
        """Classes of the cells that move in several ways if the release that hides the sum is alone."""
        release = self._release_of(sight)
        if release is None or not self.before.system.rows.shape[0]:
            return np.zeros(0, dtype=np.int64)
        found: list[Ints] = [np.zeros(0, dtype=np.int64)]
        for way in self._ways(sight, end, upper, release, most=MOST_UNITED):
            found.append(self.dealer.able(release, way))
            if sum(len(own) for own in found) > MOST_LIKELY:
                break
        return np.unique(np.concatenate(found))

    def _hint(self, side: Side) -> Ints:
        """Classes that are likely to move: parts of what showed a side before, and cells that move if their release is alone."""
        (sight, upper), before = side, self._hints.get(side, np.zeros(0, dtype=np.int64))
        parts = np.flatnonzero(np.isin(self.system.classes.parent, before))
        parts = parts if len(parts) <= MOST_HINTED else np.intersect1d(parts, before)
        release, watched = self._release_of(sight), self.system.sights[sight]
        if release is None or not self.before.system.rows.shape[0]:
            return parts
        way = next(self._ways(sight, watched.high if upper else watched.low, upper, release), {})
        return np.union1d(parts, self.dealer.able(release, way))

    def _for_insiders(self, shown: list[int], sight: int, upper: bool) -> Exposure | None:
        """Further movements until for each respondent one is left that their own values do not exclude."""
        assert self._insiders is not None
        watched = self.system.sights[sight]
        full = watched.high if upper else watched.low
        for owner in sorted(
            frozenset.intersection(*(self._excluding(k) for k in shown if self._serves(k, sight, full, upper)))
        ):
            end = self._insiders.end(owner, sight, upper=upper)
            if int(self.values[sight]) >= end if upper else int(self.values[sight]) <= end:
                continue
            if any(self._serves(k, sight, end, upper) and owner not in self._excluding(k) for k in shown):
                continue
            found = self._reach(sight, end, upper, owner)
            if isinstance(found, Exposure) and watched.watch.known_inside:
                found = self._as_before(sight, end, upper, owner)
            if isinstance(found, Exposure):
                return found
            shown.append(found)
        return None

    def _as_before(self, sight: int, end: int, upper: bool, owner: int) -> int | Exposure:
        """Leave possible what was still possible for a respondent before the release; more than that nobody can."""
        try:
            left = self._before().furthest(sight, end, owner, upper=upper)
        except OutOfSteps:
            return replace(self._unsettled(sight, upper=upper), insider=True)
        return self._reach(sight, left, upper, owner)

    def _before(self) -> Earlier:
        if self._earlier is None:
            self._earlier = Earlier(self.before.system, self.system.center, self.limits, self.budget)
        return self._earlier

    def _knew(self, sight: int, owner: int) -> bool:
        """Whether a respondent knew a watched sum before the release; what is not settled does not count."""
        try:
            return self.system.sights[sight].watch.known_inside and self._before().knew(sight, owner)
        except OutOfSteps:
            return False

    def _known_exactly(self, sight: int) -> Exposure | None:
        """Movements until each respondent is left in doubt about a watched sum; what they own alone is theirs to know."""
        insiders = self._insiders
        assert insiders is not None
        own = [k for side in ((sight, True), (sight, False)) for k in self.pool.shows.get(side, ())]
        doubts = self._doubts(sight, [*self.pool.doubts.get(sight, ()), *own])
        if doubts is None:
            return None  # nothing is asked for that would have to move
        if doubts.left:
            doubts = self._doubts(sight, [*doubts.used, *(k for k, one in enumerate(self.reached) if one[sight])])
            assert doubts is not None
        value = int(self.values[sight])
        while doubts.left:
            owner = min(doubts.left)
            theirs = insiders.classes(owner)
            moved = [self.pool.movements[k].classes for k in doubts.used]
            found = self._doubted(sight, np.concatenate((theirs, *moved))) or self._doubted(sight, theirs)
            if not found:
                made = self._reach(sight, value + 1, True, owner)
                if isinstance(made, Exposure):
                    made = self._reach(sight, value - 1, False, owner)
                if isinstance(made, Exposure):
                    if not self._knew(sight, owner):
                        return made
                    doubts.left -= {owner}
                    continue
                found = [made]
            doubts.used += found
            doubts.left &= self._excluding(found[0]) - {owner}
        self.pool.doubts[sight] = tuple(doubts.used)
        return None

    def _doubts(self, sight: int, numbers: Iterable[int]) -> Doubts | None:
        """As few of some movements as leave nobody in doubt whom all of them leave in none; None if none moves the sum."""
        assert self._insiders is not None
        found: Doubts | None = None
        for k in dict.fromkeys(numbers):
            if not self.reached[k][sight]:
                continue
            excluded = self._excluding(k)
            if found is None:
                found = Doubts([k], {o for o in excluded if not self._insiders.owns(o, sight)})
            elif not found.left <= excluded:
                found.used.append(k)
                found.left &= excluded
            if not found.left:
                break
        return found

    def _doubted(self, sight: int, barred: Ints) -> list[int]:
        """A movement of a watched sum by one or more, up or down, of other classes than some."""
        value = int(self.values[sight])
        return self._dealt(sight, value + 1, True, barred) or self._dealt(sight, value - 1, False, barred)

    def _excluding(self, number: int) -> frozenset[int]:
        assert self._insiders is not None
        if number not in self._excluded:
            self._excluded[number] = self._insiders.excluded_by(self.pool.movements[number], self.center)
        return self._excluded[number]

    def _exposure(self, sight: int, upper: bool, proof: Proof, *, insider: bool) -> Exposure:
        """The releases in a proof, and the factors of their facts."""
        system, watch = self.system, self.system.sights[sight].watch
        numbers: set[int] = set()
        combination: list[tuple[str, int, int]] = []
        for leaf in leaves(proof):
            used = [(row, y) for row, y in leaf.multipliers if row < len(system.row_low)]
            facts = [(int(system.row_release[row]), int(system.row_fact[row]), y) for row, y in used]
            facts += system.told_bounds(leaf.bounds)
            numbers |= {release for release, _, _ in facts}
            combination += [(system.names[release], fact, y) for release, fact, y in facts]
        releases = tuple(system.names[number] for number in sorted(numbers))
        return Exposure(
            watch.name, watch.release, upper, releases, tuple(combination), insider=insider, proved=self.complete
        )

    def _unsettled(self, sight: int, *, upper: bool) -> Exposure:
        watch = self.system.sights[sight].watch
        return Exposure(watch.name, watch.release, upper, (self.told.name,), proved=False)
