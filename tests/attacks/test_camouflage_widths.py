"""Cells far wider than the values: sums that were counted in too few bits put the truth outside of the hull.

Then an interval does not hold its sum, and a database of the hull with fewer decimals gives other answers. And values of
which one is larger than all others by many orders of magnitude: what rounding leaves of its weight moves all coefficients.
"""

import sys
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from attacks.query_scenarios import database, people, policy_of
from reticent import ask_for
from reticent.data.schema import Kind, Role, Schema, Variable

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


def misled(seed: int) -> bool:
    """Whether a coefficient of a regression on groups lies outside of its interval, where one value is 10^15 to 10^300."""
    rng = np.random.default_rng(seed)
    group = rng.choice(CODES, 40)
    pay = [float(amount) for amount in rng.integers(500, 9000, 40)]
    for person in rng.choice(40, rng.integers(1, 3), replace=False):
        pay[int(person)] = float(f"{rng.integers(1, 9)}e{rng.choice([15, 30, 100, 300])}")
    policy = policy_of(mode="camouflage", filters=("group",), responses=("pay",))
    pay_of = Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC)
    schema = Schema((Variable("group", role=Role.KEY, codes=CODES), pay_of))
    db = database(pl.DataFrame({"group": group, "pay": pay}), schema, policy)
    reply: Any = db.ask(ask_for("linreg", ("pay", "group")), user="u").as_json()
    found = reply["value"]["coefficients"]
    own = {code: [Fraction(repr(v)) for v, g in zip(pay, group) if g == code] for code in CODES}
    means = {code: sum(values) / len(values) for code, values in own.items()}
    base = next(means[code] for code in CODES if f"group[{code}]" not in found)
    truth = {"(intercept)": base, **{f"group[{code}]": means[code] - base for code in CODES}}
    return not all(Fraction(repr(low)) <= truth[name] <= Fraction(repr(high)) for name, (low, high) in found.items())


def test_coefficients_beside_one_huge_value_lie_in_their_intervals() -> None:
    assert not any(misled(seed) for seed in range(5))


def test_intervals_of_values_with_many_decimals_hold_their_sums() -> None:
    """Of 20 databases 18 had an interval that does not."""
    assert not any(missed(seed) for seed in range(5))


def test_decimals_do_not_show() -> None:
    assert not any(differ(seed) for seed in range(5))


if __name__ == "__main__":  # PYTHONPATH=src:tests python -m attacks.test_camouflage_widths
    for attack, cases in ((missed, 20), (differ, 20), (misled, 60)):
        sys.stdout.write(f"{attack.__name__}: {sum(attack(seed) for seed in range(cases))} of {cases}\n")
