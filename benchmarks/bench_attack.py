# SPDX-License-Identifier: Apache-2.0
"""The attacker: exact intervals beside scipy's linprog on the same programs, and several workers beside one.

The business table needs mag_100k.csv of `benchdata.py` in RETICENT_BENCHDATA; without it that entry is left out.
"""

import os

import numpy as np
from scipy.optimize import linprog

from benchmarks.bench_business import business_table
from benchmarks.harness import Entry
from reticent.data.relations import Relations
from reticent.tables.attack.audit import audit
from reticent.tables.problem import SuppressionProblem


def _table(side: int) -> tuple[SuppressionProblem, np.ndarray]:
    rng = np.random.default_rng(side)
    inner = rng.integers(1, 200, (side, side)).astype(float)
    full = np.pad(inner, ((0, 1), (0, 1)))
    full[:-1, -1], full[-1, :-1], full[-1, -1] = inner.sum(1), inner.sum(0), inner.sum()
    ids = np.arange(full.size).reshape(full.shape)
    rows = [(line.tolist(), [1] * side + [-1]) for lines in (ids, ids.T) for line in lines]
    hidden = np.zeros(full.shape, dtype=bool)
    hidden[:-1, :-1] = rng.random((side, side)) < 0.08
    relations = Relations.from_rows(full.size, rows)
    return SuppressionProblem.from_values(full.ravel(), relations, primary=hidden.ravel()), hidden.ravel()


def _ours(table: tuple[SuppressionProblem, np.ndarray]) -> int:
    return audit(*table).programs


def _linprog(table: tuple[SuppressionProblem, np.ndarray]) -> int:
    """The same attack, two programs a hidden cell, each from scratch on the hidden cells only."""
    problem, hidden = table
    cells = np.flatnonzero(hidden)
    matrix = problem.relations.matrix()[:, cells].tocsc()
    right = matrix @ problem.values[cells]
    for cell in range(len(cells)):
        for sign in (1.0, -1.0):
            cost = np.zeros(len(cells))
            cost[cell] = sign
            linprog(cost, A_eq=matrix, b_eq=right, bounds=(0, None), method="highs")
    return 2 * len(cells)


def _rates(table: tuple[SuppressionProblem, np.ndarray], programs: int) -> str:
    return f"{int(table[1].sum())} hidden cells: {programs} programs ours, {2 * int(table[1].sum())} linprog"


def _half_hidden(size: int) -> tuple[SuppressionProblem, np.ndarray]:
    """A business table with three quarters of its inner cells hidden: groups large enough to keep the solver busy."""
    problem = business_table(size, 0.2)
    inner = np.ones(problem.n_cells, dtype=bool)
    inner[problem.relations.cells[problem.relations.coefs < 0]] = False
    drawn = np.random.default_rng(0).random(problem.n_cells) < 0.75
    return problem, problem.primary | (inner & drawn)


def _alone(table: tuple[SuppressionProblem, np.ndarray]) -> int:
    return audit(*table, workers=1).programs


def _programs(table: tuple[SuppressionProblem, np.ndarray], programs: int) -> str:
    return f"{int(table[1].sum())} hidden cells, {programs} programs"


def entries() -> list[Entry]:
    """Growing tables; then all cores against one."""
    found = [
        Entry(
            "exact intervals, 8 % of a two-dimensional table hidden", (20, 40, 80), _table, _ours, _linprog,
            "scipy linprog, the same intervals", size_unit="rows and columns", quality=_rates, repeat=2,
        ),
        Entry(
            "exact intervals, all cores", (80, 120), _table, _ours, _alone, "the same with one worker",
            size_unit="rows and columns", quality=_programs, repeat=2,
        ),
    ]  # fmt: skip
    if os.environ.get("RETICENT_BENCHDATA"):
        found.append(
            Entry(
                "exact intervals of a business table, all cores",
                (9_982, 100_010),
                _half_hidden,
                _ours,
                _alone,
                "the same with one worker",
                size_unit="cells",
                quality=_programs,
                repeat=1,
            )
        )
    return found
