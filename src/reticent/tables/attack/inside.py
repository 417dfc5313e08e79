# SPDX-License-Identifier: Apache-2.0
"""Respondents as attackers of intervals, alone or together: whoever is the only respondent in a cell knows it.

`insiders` finds who works out another cell exactly; the methods protect against that. Here it is asked how closely: each
respondent, or each coalition of a few, subtracts the cells it knows, and the intervals of the other unsafe cells are held
against their levels. `Breaches` is the same attack for methods that must keep them out.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.base import clock
from reticent.base.arrays import Floats, Ints, Mask
from reticent.base.checks import check_integer
from reticent.base.progress import Progress, silent
from reticent.data.cells import CellStatus
from reticent.tables.attack.audit import carried
from reticent.tables.attack.certify import certify
from reticent.tables.attack.ends import movement_ends
from reticent.tables.attack.insiders import single_respondents
from reticent.tables.attack.reduce import reduce
from reticent.tables.problem import SuppressionProblem

LIMIT = 2_000
"""This many coalitions are attacked unless told otherwise; how many were left out is reported."""


@dataclass(frozen=True)
class InsideFinding:
    """An unsafe cell that respondents who know the cells `known` find more closely than it needs."""

    respondents: tuple[int, ...]
    known: tuple[int, ...]
    cell: int
    low: float
    high: float
    required_low: float
    required_high: float

    @property
    def exact(self) -> bool:
        """Whether they find its value."""
        return self.low == self.high


@dataclass(frozen=True)
class InsideAudit:
    """What coalitions of up to `coalition` respondents find: their number, how many were left out, and the findings.

    Where it is not known who the respondents are, or values were exchanged, nothing is `judged`. `differences` has the number of
    unsafe differences of cells that they find exactly, where these are not among the findings.
    """

    coalition: int
    levels: bool
    attacked: int
    left_out: int
    findings: tuple[InsideFinding, ...]
    judged: bool = True
    differences: int = 0

    @property
    def cells(self) -> tuple[int, ...]:
        """The unsafe cells that are found too closely, each once."""
        return tuple(sorted({found.cell for found in self.findings}))

    @property
    def state(self) -> str:
        """`held`, `not held` (something is found too closely) or `not judged` (not all who could were able to try)."""
        if self.findings or self.differences:
            return "not held"
        return "held" if self.judged and not self.left_out else "not judged"

    def sentence(self) -> str:
        """The headline."""
        words = f"Sole respondents of a cell: {self.state}"
        if self.findings:
            exactly = len({found.cell for found in self.findings if found.exact})
            n = len(self.cells)
            one, closely = ("cell", "its level allows") if n == 1 else ("cells", "their levels allow")
            more = f", {exactly} of them exactly" if exactly and self.levels else ""
            words += f"; they find {n} other unsafe {one} {f'more closely than {closely}' if self.levels else 'exactly'}{more}"
        if self.differences:
            one = "difference" if self.differences == 1 else "differences"
            words += f"; they find {self.differences} unsafe {one} of cells exactly"
        if not self.judged and not self.findings:
            words += "; who they are is not known here"
        if self.left_out:
            words += f"; {self.left_out} of {self.attacked + self.left_out} attackers were not tried"
        return words + "."

    def __repr__(self) -> str:
        return f"<InsideAudit: {self.attacked} coalitions attacked, {self.left_out} left out, {len(self.findings)} findings>"


def audit_inside(
    problem: SuppressionProblem,
    hidden: Mask,
    *,
    levels: bool = True,
    coalition: int = 1,
    limit: int = LIMIT,
    time_limit: float = math.inf,
    progress: Progress = silent,
) -> InsideAudit:
    """Attack with every sole respondent of a hidden cell, and with coalitions of up to `coalition` of them.

    With `levels` the unsafe cells must keep their protection levels, else they must not be found exactly; what respondents
    know of a cell even if nothing is published (a total is not below one's own part of it) is not a finding. What the public
    finds anyway, or a smaller coalition, is not repeated. Respondents whose cells have no relation in common are no
    coalition: together they know no more than apart. After `limit` coalitions or `time_limit` seconds the others are left
    out, and counted.
    """
    check_integer(coalition, minimum=1, name="coalition", owner="audit")
    check_integer(limit, minimum=1, name="limit", owner="audit")
    asked = problem if levels else problem.without_levels()
    who = single_respondents(problem)
    labels = problem.relations.components(hidden)
    reach, _ = certify(asked, hidden)
    assert reach.lost is not None
    public = set(reach.reduced.cells[reach.lost].tolist())
    wanted = set(np.flatnonzero(problem.guarded).tolist()) - public
    partners = partners_of(problem, coalition)
    own = _own_cells(who, partners, hidden)
    anyway = _Unpublished(asked)
    seen: dict[int, list[tuple[frozenset[int], bool]]] = {}
    findings: list[InsideFinding] = []
    groups = _groups(own, labels)
    total = len(own) + sum(math.comb(len(g), size) for g in groups for size in range(2, coalition + 1))
    attacked, deadline, late = 0, clock.now() + time_limit, True
    with clock.within(deadline):
        for members in itertools.islice(_coalitions(own, groups, coalition), limit):
            if clock.now() > deadline:
                break
            if attacked % 20 == 19:
                progress(attacked / min(limit, total), "attacking from inside")
            known = _known_to(members, who, partners)
            known = known[hidden[known]]
            near, group = hidden & np.isin(labels, labels[known]), frozenset(members)
            for found in _find(asked, near, known, members, wanted, anyway) if len(known) else ():
                # what a smaller coalition finds is not repeated, unless the larger one has it exactly
                if not any(less < group and (exact or not found.exact) for less, exact in seen.get(found.cell, ())):
                    seen.setdefault(found.cell, []).append((group, found.exact))
                    findings.append(found)
            attacked += 1
        else:
            late = False
    left_out = total - attacked if late or attacked == limit else 0
    return InsideAudit(coalition, levels, attacked, left_out, tuple(findings))


@dataclass(frozen=True)
class Breach:
    """What respondents who know some cells find too closely: for each cell how far it must get down and up at least.

    Where both are 0 any movement will do.
    """

    known: tuple[int, ...]
    cells: tuple[int, ...]
    down: tuple[float, ...]
    up: tuple[float, ...]


class _Unpublished:
    """How far cells move for respondents if nothing is published: what they know anyway no table reveals."""

    def __init__(self, problem: SuppressionProblem) -> None:
        self._problem = problem
        self._everything = np.asarray(problem.status != CellStatus.EMPTY)
        self._labels = problem.relations.components(self._everything)
        self._ends: dict[bytes, dict[int, tuple[float, float]]] = {}

    def needs(self, known: Ints, cells: Ints) -> tuple[Floats, Floats]:
        """The levels of some cells as far as such respondents do not know better anyway."""
        told = self._ends.setdefault(known.tobytes(), {})
        new = [cell for cell in cells.tolist() if cell not in told]
        if new:
            near = self._everything & np.isin(self._labels, self._labels[new])
            low, high = _exact_ends(self._problem, near, known, np.array(new))
            told.update(zip(new, zip(low.tolist(), high.tolist(), strict=True), strict=True))
        down, up = (np.array([told[cell][side] for cell in cells.tolist()]) for side in (0, 1))
        problem = self._problem
        return np.minimum(problem.lower_protection[cells], down), np.minimum(problem.upper_protection[cells], up)

    def moves(self, known: Ints, cells: Ints) -> Mask:
        """Which of these cells respondents do not know exactly if nothing is published."""
        self.needs(known, cells)
        told = self._ends[known.tobytes()]
        return np.array([sum(told[cell]) > self._problem.tolerance for cell in cells.tolist()], dtype=bool)


def _exact_ends(problem: SuppressionProblem, near: Mask, known: Ints, cells: Ints) -> tuple[Floats, Floats]:
    """How far some cells move down and up once others are known."""
    mask = np.zeros(problem.n_cells, dtype=bool)
    mask[known] = True
    reduced = reduce(problem, near, known=mask)
    place = np.searchsorted(reduced.cells, cells)
    only = np.zeros(reduced.relations.n_cells, dtype=bool)
    carriers = reduced.leader[place]
    only[carriers[carriers >= 0]] = True
    down, up, _ = movement_ends(reduced, only=only)
    lower, upper = carried(reduced, down, up)
    noise = problem.tolerance
    lower, upper = np.where(lower > noise, lower, 0.0), np.where(upper > noise, upper, 0.0)
    return lower[place], upper[place]


class Breaches:
    """What respondents and coalitions may not find out in a pattern, as the problem asks for it.

    A coalition that fails in a pattern fails in every larger one: it is not asked again.
    """

    def __init__(self, problem: SuppressionProblem) -> None:
        self._problem = problem if problem.insider_levels else problem.without_levels()
        self._who = single_respondents(problem)
        self._partners = partners_of(problem, problem.coalition)
        # exact disclosure to a single respondent is found by algebra, much quicker
        self._least = 1 if problem.insider_levels else 2
        self._kept_out: dict[tuple[int, ...], list[Mask]] = {}
        self._anyway = _Unpublished(self._problem)

    def find(self, hidden: Mask, *, most: int) -> list[Breach]:
        """Up to `most` breaches of a pattern that is safe from the public; none means that there is none."""
        problem = self._problem
        found: list[Breach] = []
        if problem.coalition < self._least:
            return found
        labels = problem.relations.components(hidden)
        own = _own_cells(self._who, self._partners, hidden)
        for members in _coalitions(own, _groups(own, labels), problem.coalition, least=self._least):
            clock.check()
            # what is published of their cells they know as well, and would if it were hidden
            known = _known_to(members, self._who, self._partners)
            if not hidden[known].any() or any(
                bool((hidden | ~before).all()) for before in self._kept_out.get(members, ())
            ):
                continue
            touched = np.unique(labels[known][hidden[known]])
            breach = breach_of(problem, hidden & np.isin(labels, touched), known, self._anyway)
            if breach is None:
                self._kept_out.setdefault(members, []).append(hidden.copy())
                continue
            found.append(breach)
            if len(found) >= most:
                break
        return found


def breach_of(problem: SuppressionProblem, near: Mask, known: Ints, anyway: _Unpublished) -> Breach | None:
    """The cells that are found too closely once some cells are known, by what is published and not by that alone."""
    mask = np.zeros(problem.n_cells, dtype=bool)
    mask[known] = True
    if not (problem.guarded & near & ~mask).any():
        return None
    reach, _ = certify(problem, near, known=mask)
    assert reach.lost is not None
    lost = reach.reduced.cells[reach.lost].astype(np.int64)
    lost = lost[problem.guarded[lost]]
    if len(lost) == 0:
        return None
    down, up = _exact_ends(problem, near, known, lost)
    need_down, need_up = anyway.needs(known, lost)
    short_down, short_up = down < need_down - problem.tolerance, up < need_up - problem.tolerance
    still = (down + up <= problem.tolerance) & anyway.moves(known, lost)
    wrong = short_down | short_up | still
    if not wrong.any():
        return None
    return Breach(
        tuple(known.tolist()),
        tuple(lost[wrong].tolist()),
        tuple(np.where(short_down, need_down, 0.0)[wrong].tolist()),
        tuple(np.where(short_up, need_up, 0.0)[wrong].tolist()),
    )


Partners = Mapping[int, frozenset[int]]


def partners_of(problem: SuppressionProblem, coalition: int) -> Partners:
    """The respondents of cells that a coalition of this size may know because nobody else is in them.

    Where respondents have no names (counts of persons), those of a cell without parts are persons of their own, and those of
    a total are the ones of its parts.
    """
    if coalition < 2:
        return {}
    if problem.respondent is None and problem.counts is not None:
        return partners_by_relations(problem, coalition)
    return {cell: who for cell, who in problem.partners.items() if len(who) <= coalition}


def partners_by_relations(problem: SuppressionProblem, coalition: int) -> Partners:
    """The same for respondents without names, who have the numbers of `single_respondents` or further ones."""
    assert problem.counts is not None
    counts, relations = problem.counts[: problem.n_own], problem.relations
    who = single_respondents(problem)
    found = {int(cell): frozenset((int(who[cell]),)) for cell in np.flatnonzero(counts == 1)}
    parts_of: dict[int, list[int]] = {}
    for number in range(relations.n_rows):
        cells, coefs = relations.row(number)
        totals = cells[coefs < 0].tolist()
        if len(totals) == 1 and totals[0] < len(counts) and 2 <= counts[totals[0]] <= coalition:
            parts_of.setdefault(totals[0], [c for c in cells[coefs > 0].tolist() if c < len(counts) and counts[c] > 0])
    free = int(who.max(initial=-1)) + 1
    few = np.flatnonzero((counts >= 2) & (counts <= coalition)).tolist()
    for cell in sorted(few, key=lambda c: (c in parts_of, counts[c])):
        whole = frozenset().union(*(found.get(part, frozenset()) for part in parts_of.get(cell, ())))
        if len(whole) != counts[cell]:
            whole, free = frozenset(range(free, free + int(counts[cell]))), free + int(counts[cell])
        found[cell] = whole
    return {cell: found[cell] for cell in few}


def _own_cells(who: Ints, partners: Partners, hidden: Mask) -> dict[int, Ints]:
    """The hidden cells of which each respondent is the sole one, or which it shares with so few that they may join."""
    own = {int(r): np.flatnonzero(hidden & (who == r)).tolist() for r in np.unique(who[hidden & (who >= 0)]).tolist()}
    for cell, members in partners.items():
        for respondent in members if hidden[cell] else ():
            own.setdefault(respondent, []).append(cell)
    return {respondent: np.array(cells, dtype=np.int64) for respondent, cells in own.items()}


def _known_to(members: tuple[int, ...], who: Ints, partners: Partners) -> Ints:
    """The cells that nobody but these respondents is in."""
    joined = frozenset(members)
    shared = [cell for cell, own in partners.items() if own <= joined]
    return np.concatenate((np.flatnonzero(np.isin(who, members)), np.array(shared, dtype=np.int64)))


def _groups(own: dict[int, Ints], labels: NDArray[np.int32]) -> list[list[int]]:
    """Respondents who have cells in the same group of hidden cells."""
    groups: dict[int, list[int]] = {}
    for respondent, cells in own.items():
        for label in np.unique(labels[cells]).tolist():
            groups.setdefault(label, []).append(respondent)
    return list(groups.values())


def _coalitions(
    own: dict[int, Ints], groups: list[list[int]], largest: int, *, least: int = 1
) -> Iterator[tuple[int, ...]]:
    """Single respondents first, then pairs and so on, of those who have cells in a common group."""
    if least == 1:
        yield from ((respondent,) for respondent in own)
    for size in range(max(2, least), largest + 1):
        told: set[tuple[int, ...]] = set()
        for members in groups:
            for chosen in itertools.combinations(members, size):
                if chosen not in told:
                    told.add(chosen)
                    yield chosen


def _find(
    problem: SuppressionProblem,
    near: Mask,
    known: Ints,
    members: tuple[int, ...],
    wanted: set[int],
    anyway: _Unpublished,
) -> list[InsideFinding]:
    """The cells that are lost once some cells are known, with their exact intervals."""
    breach = breach_of(problem, near, known, anyway)
    chosen = np.array([cell for cell in (breach.cells if breach else ()) if cell in wanted], dtype=np.int64)
    if len(chosen) == 0:
        return []
    down, up = _exact_ends(problem, near, known, chosen)
    need_down, need_up = anyway.needs(known, chosen)
    values = problem.values[chosen]
    ends = zip(values - down, values + up, values - need_down, values + need_up, strict=True)
    knows = tuple(int(c) for c in known if near[c])
    return [
        InsideFinding(members, knows, cell, *(float(end) for end in four))
        for cell, four in zip(chosen.tolist(), ends, strict=True)
    ]
