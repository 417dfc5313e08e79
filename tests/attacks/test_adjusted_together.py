"""All unsafe cells of an adjusted table together: each went up or down, and no other way fits the relations.

Before, the audit took the other unsafe cells as anywhere between their ends; 1 of 464 unsafe cells of generated tables had fewer
candidates than its two levels, and nothing said so (case 40).
"""

import hashlib
import itertools
import sys

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog

from reticent.base.errors import ReticentError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.tables.methods import Adjust
from reticent.tables.problem import SuppressionProblem
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import Threshold

KEYS = ("a", "b", "c")
LEVELS, CHANGES = (0.1, 0.2, 0.4), (0.02, 0.05, 0.1, 0.3, 0.9)
MOST = 7
SMALL = 1e-3


def adjusted(number: int) -> tuple[ProtectedTable, float, float, bool]:
    """Two linked tables of turnover, adjusted; level and largest change as shares, and whether the total is fixed."""
    rng = np.random.default_rng([number, *b"adjusted"])
    n = int(rng.integers(10, 22))
    values = np.rint(rng.lognormal(5, 1, n)).astype(int) + 1
    columns = {key: rng.choice(list("pqr")[: int(rng.integers(2, 4))], n) for key in KEYS}
    schema = Schema((*(Variable(key, role=Role.KEY) for key in KEYS), Variable("v", kind=Kind.NUMERIC)))
    data = Microdata.of(pl.DataFrame({**columns, "v": values}), schema)
    specs = [TableSpec((DimensionSpec(one), DimensionSpec(other)), response="v") for one, other in ("ab", "bc")]
    level, change, fixed = float(rng.choice(LEVELS)), float(rng.choice(CHANGES)), bool(rng.integers(2))
    method = Adjust(largest_change=change, fix_total=fixed, spread=float(rng.choice([0.25, 1.0])))
    secret = hashlib.sha256(str(number).encode()).digest()
    rules = (Threshold(2, protection=100 * level),)
    done = protect_table(data, specs, rules=rules, method=method, secret=secret, time_limit=10, accept_exposed=True)
    return done, level, change, fixed


def narrow(done: ProtectedTable, level: float, change: float, *, fixed: bool) -> dict[int, bool]:
    """Unsafe cells, and whether what is left of each is narrower than its two levels: all ways up and down are tried."""
    problem, shown = done.problem, done.outcome.values
    assert shown is not None
    unsafe = np.flatnonzero(problem.primary)
    low, high = np.where(shown >= 0, shown / (1 + change), 0.0), shown / (1 - change)
    still = problem.values == 0
    if fixed:
        still = still | (np.arange(len(shown)) == np.argmax(np.abs(problem.values)))
    still &= ~problem.primary
    low[still] = high[still] = problem.values[still]
    ends: dict[int, list[tuple[float, float]]] = {cell: [] for cell in unsafe.tolist()}
    if len(unsafe) > MOST:
        return {}
    for ways in itertools.product((True, False), repeat=len(unsafe)):
        for cell, up in zip(unsafe.tolist(), ways, strict=True):
            low[cell], high[cell] = (0.0, shown[cell] / (1 + level)) if up else (shown[cell] / (1 - level), np.inf)
        for cell, own in _ends(problem, low, high, unsafe.tolist()).items():
            ends[cell].append(own)
    wanted = 2 * level * problem.values
    return {cell: _width(own) < wanted[cell] * (1 - SMALL) for cell, own in ends.items()}


def _ends(
    problem: SuppressionProblem, low: np.ndarray, high: np.ndarray, cells: list[int]
) -> dict[int, tuple[float, float]]:
    relations = problem.relations
    rows = {"A_eq": relations.matrix().toarray().astype(float), "b_eq": relations.rhs}
    room = 1e-6 * np.maximum(1.0, np.abs(low))
    bounds = [
        (a, None if np.isinf(b) else b) for a, b in zip((low - room).tolist(), (high + room).tolist(), strict=True)
    ]
    found: dict[int, tuple[float, float]] = {}
    for cell in cells:
        goal = np.zeros(len(low))
        goal[cell] = 1.0
        least, most = (linprog(sign * goal, bounds=bounds, method="highs", **rows) for sign in (1, -1))
        if least.status == 2:
            return {}
        found[cell] = (float(least.fun), -float(most.fun) if most.status == 0 else np.inf)
    return found


def _width(ranges: list[tuple[float, float]]) -> float:
    width, end = 0.0, -np.inf
    for low, high in sorted(ranges):
        if high > end:
            width, end = width + high - max(low, end), high
    return width


def counts(number: int) -> tuple[int, int, int]:
    """Unsafe cells, those that are narrow, and those of them that nothing names."""
    done, level, change, fixed = adjusted(number)
    found = narrow(done, level, change, fixed=fixed)
    few = [cell for cell, is_narrow in found.items() if is_narrow]
    return len(found), len(few), len(set(few) - set(done.exposed))


@pytest.mark.parametrize("number", [8, 13, 40])
def test_what_all_ways_leave_is_said(number: int) -> None:
    assert counts(number)[2] == 0


if __name__ == "__main__":  # PYTHONPATH=src:tests python -m attacks.test_adjusted_together 200
    rates = []
    for case in range(int(sys.argv[1])):
        try:
            rates.append((case, *counts(case)))
        except ReticentError as err:
            sys.stdout.write(f"{case}: {type(err).__name__}\n")
    told = [one for one in rates if one[3]]
    sys.stdout.write(
        f"{sum(n for _, n, _, _ in rates)} unsafe, {sum(n for _, _, n, _ in rates)} narrow, not said in {told}\n"
    )
