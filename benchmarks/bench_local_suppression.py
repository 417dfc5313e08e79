# SPDX-License-Identifier: Apache-2.0
"""Local suppression, k = 3: (k,k), (k,1) and the covering under match-anything, proven by recount."""

from functools import partial

import numpy as np

from benchmarks.census_keys import census_keys
from benchmarks.harness import Entry
from reticent.microdata.risk.individual import record_risk
from reticent.microdata.risk.semantics import Semantics, count_codes
from reticent.microdata.suppress.engine import Task, solve
from reticent.microdata.suppress.requirement import Prices, Requirement

K = 3


def _solve(semantics: Semantics, codes: np.ndarray) -> np.ndarray:
    q = codes.shape[1]
    task = Task(
        codes=codes,
        demand=Requirement(q, (((1 << q) - 1, K),)),
        prices=Prices((1.0,) * q),
        semantics=semantics,
        household=None,
        shared=0,
        weights=None,
        risk_threshold=None,
        risk=record_risk,
        seed=1,
        chance=np.random.default_rng(1).random((len(codes), 2)),
        slack=0.02,
    )
    solved = solve(task)
    assert not solved.stuck.any()
    return solved.published


def _blanks(semantics: Semantics, codes: np.ndarray, published: np.ndarray) -> str:
    found = count_codes(published, codes, np.ones(len(codes), np.int64), semantics)
    return f"{int((published < 0).sum()):,} blanks, recount: {int((found < K).sum())} records below k"


def _entry(semantics: Semantics, q: int, sizes: tuple[int, ...]) -> Entry:
    return Entry(
        name=f"{semantics}, {q} keys, k = {K}",
        sizes=sizes,
        prepare=lambda n: census_keys(n, q),
        ours=partial(_solve, semantics),
        quality=partial(_blanks, semantics),
        repeat=2,
    )


def entries() -> list[Entry]:
    """The main semantics up to a million records, the others up to 100,000."""
    wide = (10_000, 100_000, 1_000_000)
    return [
        _entry(Semantics.MATCH_ANYTHING, 5, (10_000,)),
        _entry(Semantics.K1, 5, (10_000,)),
        _entry(Semantics.MATCH_ANYTHING, 7, wide),
        _entry(Semantics.K1, 7, wide),
        _entry(Semantics.KK, 7, wide),
        *(_entry(semantics, 7, wide[:2]) for semantics in (Semantics.OWN_CATEGORY, Semantics.ONE_K)),
    ]
