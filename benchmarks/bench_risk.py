# SPDX-License-Identifier: Apache-2.0
"""Risk models on a million records: individual risk, population uniques, log-linear models."""

from typing import Any

import numpy as np
from scipy.special import hyp2f1

from benchmarks.harness import Entry
from reticent.base.randomness import as_secret
from reticent.kernels.grouping import group_rows
from reticent.microdata.risk.individual import individual_risk
from reticent.microdata.risk.loglinear import CellTable, LogLinearRisk, log_linear_risk
from reticent.microdata.risk.population import population_uniques

CARDS = {
    "region": (20, 0.7),
    "sex": (2, 0.0),
    "age": (17, 0.2),
    "marital": (5, 1.0),
    "educ": (8, 0.6),
    "occ": (30, 0.9),
}
SIZES = (10_000, 100_000, 1_000_000)
FRACTION = 0.02


def file(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Six keys with falling shares (occupation half determined by education), their cardinalities, and weights."""
    rng = np.random.default_rng(20240601)
    columns = []
    for size, slope in CARDS.values():
        share = np.arange(1, size + 1.0) ** -slope
        columns.append(rng.choice(size, n, p=share / share.sum()))
    follows = rng.random(n) < 0.5
    columns[5][follows] = (columns[4][follows] * 4 + rng.integers(0, 4, n)[follows]) % 30
    codes = np.stack(columns, axis=1).astype(np.int32)
    return np.asfortranarray(codes), codes.max(axis=0) + 1, rng.integers(20, 181, n).astype(np.float64)


def _individual(data: Any) -> Any:
    codes, cards, weights = data
    return individual_risk(group_rows(codes, cards)[0], weights)


def _individual_by_scipy(data: Any) -> Any:
    """The same by scipy's hypergeometric function, once per distinct group."""
    codes, _, weights = data
    _, group = np.unique(codes, axis=0, return_inverse=True)
    f = np.bincount(group.ravel())
    p = np.minimum(1.0, f / np.bincount(group.ravel(), weights=weights))
    return (p / f * hyp2f1(1, 1, f + 1, 1 - p))[group.ravel()]


def _cells(n: int) -> tuple[CellTable, np.ndarray, np.ndarray]:
    """A population of n units, a sample of it as a table of cells, and the true counts of the cells."""
    codes, cards, _ = file(n)
    group, n_cells = group_rows(codes, cards)
    first = np.empty(n_cells, dtype=np.int64)
    first[group[::-1]] = np.arange(n - 1, -1, -1)
    F = np.bincount(group, minlength=n_cells)
    f = np.random.default_rng(7).binomial(F, FRACTION)
    seen = f > 0
    return CellTable.of(tuple(CARDS), np.ascontiguousarray(codes[first][seen]), f[seen], fraction=FRACTION), f, F


def _log_linear_quality(data: Any, result: LogLinearRisk) -> str:
    _, f, F = data
    truth = float((1 / F[f == 1]).sum())
    return f"expected matches {result.model.tau2:.0f}, true {truth:.0f} ({result.model.tau2 / truth - 1:+.1%})"


def _counts(n: int) -> tuple[np.ndarray, int]:
    codes, cards, _ = file(n)
    return np.bincount(group_rows(codes, cards)[0]), 50 * n


def entries() -> list[Entry]:
    """What is measured."""
    return [
        Entry("individual risk, 6 keys, counting included", SIZES, file, _individual, _individual_by_scipy,
              "numpy unique + scipy hyp2f1"),
        Entry("log-linear search, population of", SIZES, _cells, lambda d: log_linear_risk(d[0]),
              quality=_log_linear_quality, repeat=1, notes="2 % sample; forward search with bias statistics"),
        Entry("population uniques, four models, 3 checks", SIZES, _counts,
              lambda d: population_uniques(d[0], population=d[1], secret=as_secret(1)), repeat=1),
    ]  # fmt: skip
