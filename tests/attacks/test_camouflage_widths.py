"""Cells far wider than the values: sums that were counted in too few bits put the truth outside of the hull.

Then an interval does not hold its sum, and a database of the hull with fewer decimals gives other answers.
"""

import sys
from typing import Any

import numpy as np
import polars as pl

from attacks.query_scenarios import database, people, policy_of

CODES = ("a", "b", "c")


def told(pay: np.ndarray, group: np.ndarray) -> list[tuple[float, float]]:
    """The intervals of the sums over all and over each group."""
    options = {"camouflage": {"least": 1000.0, "unit": 1.0}}
    policy = policy_of(mode="camouflage", filters=("group",), responses=("pay",), options=options)
    db = database(pl.DataFrame({"group": group, "pay": pay}), people("group"), policy)
    wheres = ("", *(f" WHERE group = '{code}'" for code in CODES))
    replies: list[Any] = [db.ask(f"SELECT SUM(pay) FROM data{where}", user="u").as_json() for where in wheres]
    return [(reply["low"], reply["high"]) for reply in replies]


def missed(seed: int) -> bool:
    """Whether an interval does not hold the sum."""
    rng = np.random.default_rng(seed)
    pay, group = np.round(rng.uniform(-1.0, 1.0, 30), 15), rng.choice(CODES, 30)
    sums = [pay.sum(), *(pay[group == code].sum() for code in CODES)]
    return not all(low <= total <= high for total, (low, high) in zip(sums, told(pay, group)))


def differ(seed: int) -> bool:
    """Whether four decimals in place of fifteen, which move no total by a step of the grid, change an interval."""
    rng = np.random.default_rng(seed)
    pay, group = np.round(rng.uniform(-1.0, 1.0, 30), 15), rng.choice(CODES, 30)
    return told(pay, group) != told(np.round(pay, 4), group)


def test_intervals_of_values_with_many_decimals_hold_their_sums() -> None:
    """Of 20 databases 18 had an interval that does not."""
    assert not any(missed(seed) for seed in range(5))


def test_decimals_do_not_show() -> None:
    assert not any(differ(seed) for seed in range(5))


if __name__ == "__main__":  # PYTHONPATH=src:tests python -m attacks.test_camouflage_widths
    for attack in (missed, differ):
        sys.stdout.write(f"{attack.__name__}: {sum(attack(seed) for seed in range(20))} of 20\n")
