# SPDX-License-Identifier: Apache-2.0
"""Suppression of a table of a million cells, generated here: three dimensions, two of them hierarchical.

A run takes up to half an hour. `cell` is a combination of codes that occurs or not; the size counts the cells that occur,
because only these are ever made.
"""

from functools import cache
from typing import Any

import numpy as np

from benchmarks.bench_business import business_problem
from benchmarks.harness import Entry
from reticent.tables.attack import audit
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression import Heuristic, Suppression

RECORDS = 10_000_000
REGIONS = (15, 12)
INDUSTRIES = (12, 6, 5)
CLASSES = 11
LIMIT = 1_500.0


def _shares(count: int) -> np.ndarray:
    weights = (np.arange(count) + 1.0) ** -0.7
    return weights / weights.sum()


@cache
def million() -> SuppressionProblem:
    """Ten million firms by region, industry and size class; cells of one or two firms are unsafe, cost = value."""
    import polars as pl

    rng = np.random.default_rng(14)
    regions = [f"R{x:02d}{y:02d}" for x in range(REGIONS[0]) for y in range(REGIONS[1])]
    industries = [
        f"I{x:02d}{y:02d}{z:02d}"
        for x in range(INDUSTRIES[0])
        for y in range(INDUSTRIES[1])
        for z in range(INDUSTRIES[2])
    ]
    classes = [f"S{x:02d}" for x in range(CLASSES)]
    size = rng.choice(CLASSES, RECORDS, p=_shares(CLASSES))
    columns = {
        "region": _pick(rng, regions),
        "industry": _pick(rng, industries),
        "size": pl.Series(classes).gather(size),
        "value": np.exp(5 + 0.6 * size + 1.4 * rng.standard_normal(RECORDS)).round(1),
    }
    return business_problem(pl.DataFrame(columns), 0.0)


def _pick(rng: np.random.Generator, codes: list[str]) -> Any:
    import polars as pl

    shuffled = rng.permutation(np.array(codes))
    return pl.Series(shuffled.tolist()).gather(rng.choice(len(codes), RECORDS, p=_shares(len(codes))))


def _protect(problem: SuppressionProblem) -> Suppression:
    return Heuristic(singletons=False).protect(problem, time_limit=LIMIT)


def _quality(problem: SuppressionProblem, found: Suppression) -> str:
    report = audit(problem, found.hidden, mode="certify")
    gap = 100 * (found.cost - (found.bound or 0.0)) / max(found.cost, 1e-9)
    primaries, secondaries = int(problem.primary.sum()), int((found.hidden & ~problem.primary).sum())
    return (
        f"{primaries} primaries, {secondaries} secondaries, cost {found.cost:,.0f}, gap {gap:.1f} %; the audit certifies "
        f"all but {report.n_exposed}"
    )


def entries() -> list[Entry]:
    """One run, no warm-up."""
    cells = million().n_cells
    return [
        Entry(
            "heuristic on a million cells against exact disclosure",
            (cells,),
            lambda _: million(),
            _protect,
            size_unit="cells",
            repeat=1,
            quality=_quality,
            warm_up=False,
        )
    ]
