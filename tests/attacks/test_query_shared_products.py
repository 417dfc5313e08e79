"""Products of one response with two others: the difference of two correlations gave away one person's pay.

All but one person have the same answer to two questions (ill last year, ill this year), so the sums of pay times either differ by
that person's pay. Or income is twice the pay for a group, and of those outside of it one person has a 1: the sums of both times
this variable give away what this one has. The attack has counts, means, variances and correlations. It succeeds on `open`.
"""

import sys
from typing import Any

import numpy as np
import polars as pl
import pytest

from attacks.query_scenarios import database, policy_of
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase

PEOPLE = 48
FAMILIES = {"two questions": ("pay", "ill", "was", 1.0), "a line for one code": ("z", "x", "y", 2.0)}
Table = dict[str, Any]


def records(family: str, seed: int, differ: int = 1) -> tuple[Table, float]:
    """The records, and what would be given away of the only one who differs; more may differ."""
    rng = np.random.default_rng(seed)
    area, some = np.arange(PEOPLE) % 2, rng.permutation(np.arange(0, PEOPLE, 2))
    if family == "two questions":
        pay, ill = np.round(rng.lognormal(10, 0.5, PEOPLE)), (rng.random(PEOPLE) < 0.4).astype(float)
        ill[some[:differ]] = 0.0
        was = np.where(np.isin(np.arange(PEOPLE), some[:differ]) | ((area == 1) & (rng.random(PEOPLE) < 0.5)), 1, ill)
        table, truth = {"pay": pay, "ill": ill, "was": was}, -pay[some[0]]
    else:
        x, other, z = rng.integers(1000, 9000, PEOPLE), rng.integers(1000, 9000, PEOPLE), rng.random(PEOPLE) < 0.5
        code = np.isin(np.arange(PEOPLE), some[:6]) | (area == 1)
        z[some[:6]] = np.arange(6) < differ
        y = np.where(code, other, 2 * x)
        table, truth = {"x": x, "y": y, "z": z}, 2.0 * x[some[0]] - y[some[0]]
        table["code"] = code.astype(int).astype(str)
    numbers = {name: list(map(float, values)) for name, values in table.items() if name != "code"}
    keys = {"area": area.astype(str), "code": table.get("code", area.astype(str))}
    return {**keys, **numbers}, float(truth)


def opened(table: Table, mode: str) -> ProtectedDatabase:
    keys = [Variable(name, codes=tuple(sorted(set(table[name])))) for name in ("area", "code")]
    names = [name for name in table if name not in ("area", "code")]
    numbers = [Variable(name, role=Role.SENSITIVE, kind=Kind.NUMERIC) for name in names]
    policy = policy_of(mode=mode, filters=("area", "code"), responses=tuple(names), minimum=3)
    return database(pl.DataFrame({k: list(v) for k, v in table.items()}), Schema((*keys, *numbers)), policy)


def answers(db: ProtectedDatabase, family: str) -> dict[str, float | None]:
    """The correlations first, then what turns them into sums."""
    own, *others, _ = FAMILIES[family]
    questions = [f"CORR({own}, {other})" for other in others]
    questions += [f"{what}({name})" for name in (own, *others) for what in ("SUM", "VARIANCE")] + [f"COUNT({own})"]
    return {q: db.ask(f"SELECT {q} FROM data WHERE area = '0'", user="u").as_json().get("value") for q in questions}


def product(told: dict[str, Any], own: str, other: str) -> float:
    """The sum of the products of two responses, from their correlation."""
    n = told[f"COUNT({own})"]
    spread = np.sqrt(told[f"VARIANCE({own})"] * told[f"VARIANCE({other})"]) * (n - 1)
    return float(told[f"CORR({own}, {other})"] * spread + told[f"SUM({own})"] * told[f"SUM({other})"] / n)


def given_away(family: str, seed: int, mode: str) -> bool:
    """Whether two correlations give what only one person has."""
    table, truth = records(family, seed)
    told = answers(opened(table, mode), family)
    own, first, second, factor = FAMILIES[family]
    if any(told[q] is None for q in told):
        return False
    return abs(factor * product(told, own, first) - product(told, own, second) - truth) < 0.5


@pytest.mark.parametrize("family", FAMILIES)
def test_two_correlations_do_not_give_away_who_differs(family: str) -> None:
    assert given_away(family, 0, "open")
    assert not any(given_away(family, seed, "exact") for seed in range(3))


@pytest.mark.parametrize("family", FAMILIES)
def test_two_correlations_are_answered_if_enough_differ(family: str) -> None:
    table, _ = records(family, 1, differ=4 if family == "two questions" else 3)
    assert None not in answers(opened(table, "exact"), family).values()


if __name__ == "__main__":  # PYTHONPATH=src:tests python -m attacks.test_query_shared_products
    for each in FAMILIES:
        found = {mode: sum(given_away(each, seed, mode) for seed in range(10)) for mode in ("open", "exact")}
        sys.stdout.write(f"{each}: {found} of 10\n")
