"""A response that is a product or a square for nearly all of an area: its sum beside a correlation gave away the others.

Sick pay is pay times ill, or 80 percent of it, or a rate for each code times it; bonus is pay times a rate and 100; net is pay
without pay times a rate; a response is the square of another one. One person in the area has more besides. A correlation or a
variance of the factors, with their means and variances, gives the sum of the products, and what the response has beyond it is
this one's. The attack has answers and the equation. It succeeds on the mode `open`.
"""

import sys
from typing import Any

import numpy as np
import polars as pl
import pytest

from attacks.query_scenarios import database, policy_of
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase

PEOPLE = 90
FAMILIES = {
    "sick pay": ("sick", "pay", "ill"),
    "part of the pay": ("sick", "pay", "ill"),
    "a rate for each code": ("sick", "pay", "ill"),
    "for all but one of all": ("sick", "pay", "ill"),
    "and an amount": ("bonus", "pay", "share"),
    "less a product": ("net", "pay", "share"),
    "a square": ("area2", "side", "side"),
}
KEYS = ("area", "code")
RATES = np.array([1.0, 0.5])


def records(family: str, seed: int, others: int = 1) -> tuple[dict[str, Any], float]:
    """The records, and what those in the first area have besides."""
    rng = np.random.default_rng(seed)
    area, code = np.arange(PEOPLE) % 3, np.arange(PEOPLE) // 3 % 2
    besides = (rng.random(PEOPLE) < 0.25) & (area > 0) & (family != "for all but one of all")
    besides[np.flatnonzero(area == 0)[:others]] = True
    more = np.where(besides, rng.integers(500, 5000, PEOPLE), 0)
    pay, ill = rng.integers(1000, 9000, PEOPLE), rng.integers(0, 2, PEOPLE)
    share, side = rng.integers(1, 9, PEOPLE) / 10, rng.integers(10, 99, PEOPLE)
    table: dict[str, Any] = {
        "sick pay": {"pay": pay, "ill": ill, "sick": pay * ill},
        "part of the pay": {"pay": pay, "ill": ill, "sick": 0.8 * pay * ill},
        "a rate for each code": {"pay": pay, "ill": ill, "sick": RATES[code] * pay * ill},
        "for all but one of all": {"pay": pay, "ill": ill, "sick": pay * ill},
        "and an amount": {"pay": pay, "share": share, "bonus": pay * share + 100},
        "less a product": {"pay": pay, "share": share, "net": pay - pay * share},
        "a square": {"side": side, "area2": side**2},
    }[family]
    response = FAMILIES[family][0]
    table[response] = np.round(table[response] + more, 2)
    return {"area": area.astype(str), "code": code.astype(str), **table}, float(more[area == 0].sum())


def opened(table: dict[str, Any], mode: str) -> ProtectedDatabase:
    keys = [Variable(name, codes=tuple(sorted(set(table[name])))) for name in KEYS]
    own = tuple(name for name in table if name not in KEYS)
    numbers = [Variable(name, role=Role.SENSITIVE, kind=Kind.NUMERIC) for name in own]
    frame = pl.DataFrame({name: list(values) for name, values in table.items()})
    return database(frame, Schema((*keys, *numbers)), policy_of(mode=mode, filters=KEYS, responses=own, minimum=3))


def asked(db: ProtectedDatabase, what: str, where: str) -> Any:
    return db.ask(f"SELECT {what} FROM data WHERE {where}", user="u").as_json().get("value")


def product(db: ProtectedDatabase, one: str, other: str, where: str) -> float | None:
    """The sum of the products of two responses, or of the squares of one, from statistics of both."""
    found = [1.0 if one == other else asked(db, f"CORR({one}, {other})", where)]
    names = (one, other, "*")
    found += [asked(db, f"{what}({name})", where) for name in names[:2] for what in ("VARIANCE", "AVG")]
    found.append(asked(db, "COUNT(*)", where))
    if None in found:
        return None
    correlation, variance, mean, another, second, n = found
    return float(correlation * np.sqrt(variance * another) * (n - 1) + n * mean * second)


def given_away(family: str, seed: int, mode: str, response_first: bool = False) -> bool:
    """Whether the answers give what one person has besides."""
    table, truth = records(family, seed)
    db = opened(table, mode)
    response, one, other = FAMILIES[family]
    parts = ["area = '0' AND code = '0'", "area = '0' AND code = '1'"] if "code" in family else ["area = '0'"]
    rates = RATES if "code" in family else [{"part of the pay": 0.8, "less a product": -1.0}.get(family, 1.0)]
    left = 0.0
    for where, rate in zip(parts, rates):
        questions = [lambda: asked(db, f"SUM({response})", where), lambda: product(db, one, other, where)]  # noqa: B023
        found = [question() for question in (questions if response_first else questions[::-1])]
        total, products = found if response_first else found[::-1]
        constant = {"and an amount": 100 * 30.0, "less a product": asked(db, "SUM(pay)", where)}.get(family, 0.0)
        if None in (total, products, constant):
            return False
        left += float(total - rate * products - constant)
    return abs(left - truth) < 0.5


@pytest.mark.parametrize("family", FAMILIES)
def test_a_sum_beside_products_does_not_give_away_who_has_more(family: str) -> None:
    """Of 10 databases of each family 10 gave it away."""
    assert given_away(family, 0, "open")
    assert not any(given_away(family, seed, "exact", seed > 0) for seed in range(2))


@pytest.mark.parametrize("family", FAMILIES)
def test_sums_beside_products_are_answered_where_enough_have_more(family: str) -> None:
    table, _ = records(family, 1, others=8)
    response, one, other = FAMILIES[family]
    db = opened(table, "exact")
    assert product(db, one, other, "area = '0'") is not None
    assert asked(db, f"SUM({response})", "area = '0'") is not None


if __name__ == "__main__":  # PYTHONPATH=src:tests python -m attacks.test_query_products_for_most
    for each in FAMILIES:
        rates = {
            mode: [sum(given_away(each, seed, mode, first) for seed in range(10)) for first in (False, True)]
            for mode in ("open", "exact")
        }
        sys.stdout.write(f"{each}: {rates} of 10, the products or the response first\n")
