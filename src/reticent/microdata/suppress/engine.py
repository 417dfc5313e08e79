# SPDX-License-Identifier: Apache-2.0
"""One task, one answer: which engine serves which demand and semantics."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Codes, Ints
from reticent.base.errors import ParameterError
from reticent.microdata.risk.semantics import Semantics
from reticent.microdata.suppress.attacker import Families, cheapest_of, families, household_blanks
from reticent.microdata.suppress.by_risk import lent_for_risk, risk_blanks
from reticent.microdata.suppress.cover import cover_blanks
from reticent.microdata.suppress.inference import Judge, loosened
from reticent.microdata.suppress.lend import lent_blanks, masks_of
from reticent.microdata.suppress.merge import merged_blanks
from reticent.microdata.suppress.requirement import ENUMERATED, Prices, Requirement
from reticent.microdata.suppress.slack import Costs, with_slack
from reticent.microdata.suppress.ties import first_with, spread


@dataclass(frozen=True)
class Task:
    """A file (or stratum) as codes, what must hold of it, and what blanks cost.

    `chance` has two uniforms of each record: the first orders the records (so that the order of the file does not
    matter), the second draws among blanks of equal cost. `slack` is how much costlier than the cheapest blanks may be.
    `cards` has the number of codes of each variable (none: as the codes of this part show it).
    """

    codes: Codes
    requirement: Requirement
    prices: Prices
    semantics: Semantics
    household: NDArray[np.int64] | None
    shared: int
    weights: NDArray[np.float64] | None
    risk_threshold: float | None
    risk: Callable[[NDArray[np.int64], NDArray[np.float64]], NDArray[np.float64]]
    seed: int = 0
    chance: NDArray[np.float64] | None = None
    slack: float = 0.0
    cards: tuple[int, ...] = ()

    def only(self, rows: NDArray[np.int64], *, seed: int) -> "Task":
        """The task of some records, with draws of their own."""
        given = {name: getattr(self, name) for name in ("household", "weights", "chance")}
        own: dict[str, Any] = {name: None if of is None else of[rows] for name, of in given.items()}
        return replace(self, codes=self.codes[rows], seed=seed, **own)


@dataclass(frozen=True)
class Solved:
    """The published codes, which records cannot be made safe, and a lower bound of the cost (None: not known)."""

    published: Codes
    stuck: NDArray[np.bool_]
    bound: float | None = None


def solve(task: Task) -> Solved:
    """The published codes; a function of the records and their draws, whatever their order."""
    if task.chance is None:
        return _solve(task)
    order = np.argsort(task.chance[:, 0], kind="stable")
    inner = replace(
        task,
        codes=task.codes[order],
        household=None if task.household is None else task.household[order],
        weights=None if task.weights is None else task.weights[order],
        chance=task.chance[order],
    )
    found = _solve(inner)
    published, stuck = np.empty_like(found.published), np.empty_like(found.stuck)
    published[order], stuck[order] = found.published, found.stuck
    return Solved(published, stuck, found.bound)


def _solve(task: Task) -> Solved:
    _check_listable(task)
    if task.semantics is Semantics.MATCH_ANYTHING:
        published, stuck = cover_blanks(task.codes, task.requirement, task.prices, seed=task.seed)
    elif task.semantics is Semantics.OWN_CATEGORY:
        published, stuck = merged_blanks(task.codes, task.requirement.k, task.prices)
    elif task.semantics is Semantics.ONE_K:
        published, stuck = lent_blanks(task.codes, task.codes, task.requirement, task.prices, keep_blanks=False)
    else:
        return _attacked(task)
    return Solved(_spread(published, task), stuck | _above_cap(_spread(published, task), task))


def _attacked(task: Task) -> Solved:
    """(k,1) at least cost, a little costlier by draw; under (k,k) records then lend themselves to those who need more."""
    masks, stuck, rare = _cheapest(task)
    sizes = None if task.household is None else np.bincount(task.household)[task.household]
    costs = Costs(task.codes >= 0, task.prices, task.shared, sizes)
    bound = costs.of_file(masks)
    generator = np.random.Generator(np.random.Philox(key=task.seed))
    # up to half of the slack for blanks that nobody needs, the rest for those that keep others from being inferred
    wider = with_slack(masks, costs, task.slack / 2, generator, rare=rare)
    published = _spread(blanked(task.codes, wider), task)
    unneeded = costs.of_file(masks_of(published, task.codes)) - bound
    if task.semantics is Semantics.KK:
        if task.risk_threshold is None:
            lent, left = lent_blanks(task.codes, published, task.requirement, task.prices, keep_blanks=True)
        else:
            assert task.weights is not None
            lent, left = lent_for_risk(task.codes, published, task.weights, task.risk_threshold, task.risk, task.prices)
        published, stuck = _spread(lent, task), stuck | left
    if task.slack > 0 and task.risk_threshold is None:
        cards = list(task.cards) or [max(int(c) + 1, 1) for c in task.codes.max(axis=0)]
        judge = Judge(cards, task.requirement, task.semantics, task.prices, _ties(task))
        left_over = task.slack * (costs.of_file(masks_of(published, task.codes)) - unneeded) - unneeded
        published = loosened(task.codes, published, judge, generator, budget=left_over)
    return Solved(published, stuck | _above_cap(published, task), None if stuck.any() else bound)


def _cheapest(task: Task) -> tuple[NDArray[np.int64], NDArray[np.bool_], Families | None]:
    """The blanks of (k,1), who is stuck, and what the blanks of each record must meet (where that is known)."""
    chance = None if task.chance is None else task.chance[:, 1]
    if task.risk_threshold is not None:
        assert task.weights is not None
        masks, stuck = risk_blanks(task.codes, task.weights, task.risk_threshold, task.risk, task.prices, chance=chance)
        return masks, stuck, None
    rare = families(task.codes, task.requirement)
    if task.household is None:
        masks, stuck = cheapest_of(rare, task.prices, chance=chance)
    else:
        masks, stuck = household_blanks(rare, task.prices, task.household, task.shared, chance=chance)
    return masks, stuck, rare


def _spread(published: Codes, task: Task) -> Codes:
    return published if task.household is None else spread(published, _ties(task))


def _ties(task: Task) -> Ints:
    return first_with(task.household, task.shared, (len(task.codes), task.codes.shape[1]))


def _above_cap(published: Codes, task: Task) -> NDArray[np.bool_]:
    """Records with more blanks than they may get: what a household shares can add to what a member needs."""
    if task.prices.cap is None:
        return np.zeros(len(published), np.bool_)
    return np.asarray(((published < 0) & (task.codes >= 0)).sum(axis=1) > task.prices.cap)


def blanked(codes: Codes, masks: NDArray[np.int64]) -> Codes:
    """The codes with each record's mask missing."""
    out = codes.copy()
    for v in range(codes.shape[1]):
        out[masks >> v & 1 == 1, v] = -1
    return out


def _check_listable(task: Task) -> None:
    """Where all sets of variables are listed, there must not be too many of them."""
    attacked = task.semantics in (Semantics.K1, Semantics.KK)
    if attacked and task.risk_threshold is None and task.household is None:
        return
    if task.codes.shape[1] > ENUMERATED:
        raise ParameterError(
            f"local-suppression: this demand is possible for up to {ENUMERATED} keys, got {task.codes.shape[1]}. "
            "Use k or combinations under (k,k) or (k,1) without household variables, or fewer keys."
        )
