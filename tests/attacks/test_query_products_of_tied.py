"""Products with responses that an equation ties for most: correlations gave away one of those who do not follow it.

Income is pay and rent, but not for four people of an area, so the three sums are answered. Of these one alone is ill: the sums
of ill times income, times pay and times rent give what this one has besides. Or income is pay and 250 for each child, and one of
the four has a child. The attack has means, variances, correlations and the equation. It succeeds on the mode `open`.
"""

import sys
from typing import Any

import numpy as np
import pytest

from attacks.test_query_equations_for_most import AREA, opened
from reticent.queries.database import ProtectedDatabase

PEOPLE, AREAS = 60, 3
FAMILIES = {
    "a third response": ("ill", {"pay": 1.0, "rent": 1.0}),
    "one of the responses": ("rent", {"pay": 1.0, "rent": 250.0}),
}
Table = dict[str, Any]


def records(family: str, seed: int) -> tuple[Table, float]:
    """The records, and what the target has besides, times the factor of all products."""
    rng = np.random.default_rng(seed)
    area = np.arange(PEOPLE) % AREAS
    off = (rng.random(PEOPLE) < 0.25) & (area > 0)
    off[::AREAS][:4] = True
    pay, ill = rng.integers(1000, 9000, PEOPLE), (rng.random(PEOPLE) < 0.4).astype(int)
    rent = rng.integers(0, 4, PEOPLE) if family == "one of the responses" else rng.integers(100, 3000, PEOPLE)
    factor, (name, parts) = np.where(np.arange(PEOPLE) == 0, 1, 0), FAMILIES[family]
    chosen = rent if name == "rent" else ill
    chosen[::AREAS][:4] = factor[::AREAS][:4]
    more = np.where(off, rng.integers(500, 5000, PEOPLE), 0)
    income = pay + parts["rent"] * rent + more
    numbers = {"pay": pay, "rent": rent, "income": income, **({"ill": ill} if name == "ill" else {})}
    keys = {"area": area.astype(str), "code": (np.arange(PEOPLE) // AREAS % 2).astype(str)}
    return {**keys, **{k: v.astype(float) for k, v in numbers.items()}}, float(more[0])


def asked(db: ProtectedDatabase, what: str) -> Any:
    return db.ask(f"SELECT {what} FROM data WHERE {AREA}", user="u").as_json().get("value")


def squares(db: ProtectedDatabase, name: str) -> Any:
    n, mean, variance = (asked(db, f"{what}({name})") for what in ("COUNT", "AVG", "VARIANCE"))
    return None if None in (n, mean, variance) else (n, mean, variance, variance * (n - 1) + n * mean**2)


def given_away(family: str, seed: int, mode: str) -> bool:
    """Whether products of one response with those that the equation ties give what one person has besides."""
    table, truth = records(family, seed)
    db, (factor, parts) = opened(table, mode), FAMILIES[family]
    told = {name: squares(db, name) for name in (factor, *parts, "income")}
    if None in told.values():
        return False
    n, mean, variance, own = told[factor]
    left = 0.0
    for name, share in {**parts, "income": -1.0}.items():
        if name == factor:
            left -= share * own
            continue
        together = asked(db, f"CORR({min(name, factor)}, {max(name, factor)})")
        if together is None:
            return False
        _, other, spread, _ = told[name]
        left -= share * (together * np.sqrt(variance * spread) * (n - 1) + n * mean * other)
    return bool(abs(left - truth) < 0.5)


@pytest.mark.parametrize("family", FAMILIES)
def test_products_do_not_give_away_who_does_not_follow_an_equation(family: str) -> None:
    assert given_away(family, 0, "open")
    assert not given_away(family, 0, "exact")


def test_all_but_one_of_the_products_and_all_squares_are_answered() -> None:
    db = opened(records("a third response", 1)[0], "exact")
    for name in ("pay", "rent", "income"):
        assert squares(db, name) is not None
    assert [asked(db, f"CORR(ill, {name})") is not None for name in ("pay", "rent", "income")] == [True, True, False]
    assert asked(db, "CORR(pay, rent)") is not None


if __name__ == "__main__":  # PYTHONPATH=src:tests python -m attacks.test_query_products_of_tied
    for each in FAMILIES:
        rates = {mode: sum(given_away(each, seed, mode) for seed in range(20)) for mode in ("open", "exact")}
        sys.stdout.write(f"{each}: {rates} of 20\n")
