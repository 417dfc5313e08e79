"""All databases of twelve people with 0 or 1 each, enumerated: how many of them fix somebody, with the count of bits and without.

The count looks at no value, so it cannot prevent what a sum, or a sum less another, at its least or greatest reveals (3 of 3
are ill): such people are counted apart.
"""

from itertools import product

import numpy as np
import pytest

from reticent.queries.audit.auditor import Auditor
from reticent.queries.audit.digits import Digits
from reticent.queries.audit.ranges import People, Range
from reticent.queries.columns import Columns
from reticent.queries.fixed import Fixed
from reticent.queries.policy import Bounds, Policy
from reticent.queries.rules import SetRules
from reticent.releases.rows import LinearRow

N = 12
EVERY = np.array(list(product((0, 1), repeat=N)), dtype=np.int64)
SIGNED = np.array(list(product((-1, 0, 1), repeat=N)), dtype=np.float32)


def answered(rng: np.random.Generator, minimum: int, *, counted: bool) -> np.ndarray:
    """The random sums that are answered, by an auditor who looks at no value."""
    columns = Columns("ill", (np.arange(N),), np.arange(N + 1), np.arange(N), Fixed(np.zeros(N, dtype=np.int64), 1))
    rules = SetRules.of(Policy(minimum=minimum), by_value=False)
    digits = Digits("ill", People.of(columns, frozenset()), Range.declared(Bounds(0, 1, True)), minimum)
    auditor = Auditor(columns, rules, np.random.default_rng(0), digits=(digits, 0) if counted else None)
    rows = []
    for number in range(40):
        mask = np.zeros(N, dtype=bool)
        mask[rng.choice(N, rng.integers(minimum, N + 1), replace=False)] = True
        verdict = auditor.release(LinearRow.of(mask), number)
        rows += [mask.astype(np.int64)] if verdict.allowed and not verdict.implied else []
    return np.array(rows)


def fixed_shares(rows: np.ndarray) -> tuple[float, float]:
    """The shares of people, over all databases, whom a sum at its end reveals, and who are fixed otherwise."""
    totals = EVERY @ rows.T
    _, same = np.unique(totals, axis=0, return_inverse=True)
    same = same.reshape(-1)
    ones = np.column_stack([np.bincount(same, weights=EVERY[:, i]) for i in range(N)])
    fixed = ((ones == 0) | (ones == np.bincount(same)[:, None]))[same]
    basis = np.linalg.qr(rows.T.astype(np.float64))[0].astype(np.float32)
    told = SIGNED[np.abs(SIGNED - (SIGNED @ basis) @ basis.T).max(axis=1) < 1e-3].astype(np.int64)
    at_end = told.clip(min=0).sum(axis=1) == EVERY @ told.T
    given = (at_end.astype(np.int64) @ np.abs(told)) > 0
    return float(given.mean()), float((fixed & ~given).mean())


@pytest.mark.parametrize("minimum", [pytest.param(3, marks=pytest.mark.deep), 5])
def test_few_databases_fix_anybody(minimum: int) -> None:
    found = {
        counted: np.array(
            [fixed_shares(answered(np.random.default_rng(seed), minimum, counted=counted)) for seed in range(8)]
        ).mean(axis=0)
        for counted in (False, True)
    }
    before, after = found[False], found[True]
    assert before.sum() > 0.3, "linear algebra alone lets people be found"
    assert after[1] < 0.005, "hardly anybody is fixed but by a sum at its end"
    assert after[0] <= 2.0 ** (1 - minimum), "and that is less than what one sum of the fewest people does"
