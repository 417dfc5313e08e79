"""Respondents as attackers of intervals, alone or together: whoever is alone in a cell knows it.

`insiders` finds who works out another cell exactly; the methods protect against that. Here it is asked how closely: each
respondent, or each coalition of a few, subtracts the cells it knows, and the intervals of the other unsafe cells are held
against their levels. This is for information: no method promises levels against insiders.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.base import clock
from reticent.base.checks import check_integer
from reticent.base.progress import Progress, silent
from reticent.tables.attack.audit import carried, judge
from reticent.tables.attack.certify import certify
from reticent.tables.attack.ends import movement_ends
from reticent.tables.attack.insiders import single_respondents
from reticent.tables.problem import SuppressionProblem

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
LIMIT = 2_000
"""So many coalitions are attacked unless told otherwise; how many were left out is reported."""


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
    """What coalitions of up to `coalition` respondents find: their number, how many were left out, and the findings."""

    coalition: int
    levels: bool
    attacked: int
    left_out: int
    findings: tuple[InsideFinding, ...]

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
    """Attack with every respondent alone in a hidden cell, and with coalitions of up to `coalition` of them.

    With `levels` the unsafe cells must keep their protection levels, else they must not be found exactly. What the public
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
    own = {int(r): np.flatnonzero(hidden & (who == r)) for r in np.unique(who[hidden & (who >= 0)]).tolist()}
    seen: dict[int, list[frozenset[int]]] = {}
    findings: list[InsideFinding] = []
    groups = _groups(own, labels)
    total = len(own) + sum(math.comb(len(g), size) for g in groups for size in range(2, coalition + 1))
    attacked, deadline, late = 0, clock.now() + time_limit, False
    for members in itertools.islice(_coalitions(own, groups, coalition), limit):
        late = clock.now() > deadline
        if late:
            break
        attacked += 1
        if attacked % 20 == 0:
            progress(attacked / min(limit, total), "attacking from inside")
        known = np.concatenate([own[r] for r in members])
        near = hidden & np.isin(labels, labels[known])
        group = frozenset(members)
        for found in _find(asked, near, known, members, wanted):
            if not any(smaller < group for smaller in seen.get(found.cell, ())):
                seen.setdefault(found.cell, []).append(group)
                findings.append(found)
    left_out = total - attacked if late or attacked == limit else 0
    return InsideAudit(coalition, levels, attacked, left_out, tuple(findings))


def _groups(own: dict[int, Ints], labels: NDArray[np.int32]) -> list[list[int]]:
    """Respondents who have cells in the same group of hidden cells."""
    groups: dict[int, list[int]] = {}
    for respondent, cells in own.items():
        for label in np.unique(labels[cells]).tolist():
            groups.setdefault(label, []).append(respondent)
    return list(groups.values())


def _coalitions(own: dict[int, Ints], groups: list[list[int]], largest: int) -> Iterator[tuple[int, ...]]:
    """Single respondents first, then pairs and so on, of those who have cells in a common group."""
    yield from ((respondent,) for respondent in own)
    for size in range(2, largest + 1):
        told: set[tuple[int, ...]] = set()
        for members in groups:
            for chosen in itertools.combinations(members, size):
                if chosen not in told:
                    told.add(chosen)
                    yield chosen


def _find(
    problem: SuppressionProblem, near: Mask, known: Ints, members: tuple[int, ...], wanted: set[int]
) -> list[InsideFinding]:
    """The cells that are lost once some cells are known, with their exact intervals."""
    mask = np.zeros(problem.n_cells, dtype=bool)
    mask[known] = True
    reach, _ = certify(problem, near, known=mask)
    reduced = reach.reduced
    assert reach.lost is not None
    lost = reach.lost & np.isin(reduced.cells, list(wanted))
    if not lost.any():
        return []
    only = np.zeros(reduced.relations.n_cells, dtype=bool)
    only[reduced.leader[lost & (reduced.leader >= 0)]] = True
    down, up, _ = movement_ends(reduced, only=only)
    lower, upper = carried(reduced, down, up)
    noise = problem.tolerance
    lower, upper = np.where(lower > noise, lower, 0.0), np.where(upper > noise, upper, 0.0)
    found = judge(problem, reduced.cells[lost], lower[lost], upper[lost])
    knows = tuple(int(c) for c in known)
    return [
        InsideFinding(
            members,
            knows,
            int(c),
            *(float(x[k]) for x in (found.low, found.high, found.required_low, found.required_high)),
        )
        for k, c in enumerate(found.cells.tolist())
    ]
