"""One task, one answer: which engine serves which demand and semantics."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import ParameterError
from reticent.microdata.risk.semantics import Semantics
from reticent.microdata.suppress.attacker import cheapest_blanks, household_blanks
from reticent.microdata.suppress.by_risk import risk_blanks
from reticent.microdata.suppress.cover import cover_blanks
from reticent.microdata.suppress.demand import ENUMERATED, Demand, Prices
from reticent.microdata.suppress.lend import lent_blanks
from reticent.microdata.suppress.merge import merged_blanks

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Task:
    """A file (or stratum) as codes, what must hold of it, and what blanks cost."""

    codes: Codes
    demand: Demand
    prices: Prices
    semantics: Semantics
    household: NDArray[np.int64] | None
    shared: int
    weights: NDArray[np.float64] | None
    risk_threshold: float | None
    risk: Callable[[NDArray[np.int64], NDArray[np.float64]], NDArray[np.float64]]
    seed: int


def solve(task: Task) -> tuple[Codes, NDArray[np.bool_]]:
    """The published codes, and which records cannot be made safe."""
    if task.semantics is not Semantics.K1 or task.risk_threshold is not None:
        _check_listable(task)
    if task.risk_threshold is not None:
        assert task.weights is not None
        masks, stuck = risk_blanks(task.codes, task.weights, task.risk_threshold, task.risk, task.prices)
        published = blanked(task.codes, masks)
    elif task.semantics is Semantics.K1:
        if task.household is not None:
            _check_listable(task)
            masks, stuck = household_blanks(task.codes, task.demand, task.prices, task.household, task.shared)
        else:
            masks, stuck = cheapest_blanks(task.codes, task.demand, task.prices)
        published = blanked(task.codes, masks)
    elif task.semantics is Semantics.MATCH_ANYTHING:
        published, stuck = cover_blanks(task.codes, task.demand, task.prices, seed=task.seed)
    elif task.semantics is Semantics.OWN_CATEGORY:
        published, stuck = merged_blanks(task.codes, task.demand.k, task.prices)
    else:
        start, stuck = task.codes, np.zeros(len(task.codes), np.bool_)
        if task.semantics is Semantics.KK:
            masks, stuck = cheapest_blanks(task.codes, task.demand, task.prices)
            start = blanked(task.codes, masks)
        both = task.semantics is Semantics.KK
        published, left = lent_blanks(task.codes, start, task.demand, task.prices, keep_blanks=both)
        stuck |= left
    if task.household is not None:
        published = spread(published, task.household, task.shared)
    return published, stuck


def blanked(codes: Codes, masks: NDArray[np.int64]) -> Codes:
    """The codes with each record's mask missing."""
    out = codes.copy()
    for v in range(codes.shape[1]):
        out[masks >> v & 1 == 1, v] = -1
    return out


def spread(published: Codes, household: NDArray[np.int64], shared: int) -> Codes:
    """Blank a shared variable for all members of a household in which it is blank for one."""
    out = published.copy()
    for v in range(published.shape[1]):
        if shared >> v & 1:
            gone = np.zeros(int(household.max()) + 1, np.bool_)
            gone[household[published[:, v] < 0]] = True
            out[gone[household], v] = -1
    return out


def _check_listable(task: Task) -> None:
    if task.codes.shape[1] > ENUMERATED:
        raise ParameterError(
            f"local-suppression: this demand is possible for up to {ENUMERATED} keys, got {task.codes.shape[1]}. "
            "Use combinations under the semantics (k,1) without household variables, or fewer keys."
        )
