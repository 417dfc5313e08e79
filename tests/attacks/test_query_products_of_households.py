"""Products with a value that respondents have in several records: correlations gave away the income of one household.

A household has one income, and one spouse is ill. Four who are ill live alone, so sums over men and over women differ
by their incomes, and those of ill times income by these and by that of the couple. Or all live as couples, and four times one
spouse is ill, and the same ones, and one more, have a car: the two products differ by the income of the one. The attack has
means, variances, numbers and correlations over men and over women. It succeeds on the mode `open`.
"""

import sys
from typing import Any

import numpy as np
import polars as pl
import pytest

from attacks.query_scenarios import database, policy_of
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase

HOUSEHOLDS, OTHERS = 20, 4
FAMILIES = {"one product": ("ill",), "two products": ("ill", "car")}
Table = dict[str, list[Any]]


def records(family: str, seed: int, targets: int = 1) -> tuple[Table, float]:
    """The records of persons, and the income of the households in which nobody else hides it."""
    rng, names, truth = np.random.default_rng(seed), FAMILIES[family], 0.0
    table: Table = {name: [] for name in ("household", "area", "sex", "income", *names)}
    for area in "abc":
        for number in range(HOUSEHOLDS):
            target, other = area == "a" and number < targets, area == "a" and targets <= number < targets + OTHERS
            income = float(rng.integers(1000, 9000))
            truth += target * income
            single = other if len(names) == 1 else False
            for name in names:
                here = bool(rng.random() < 0.4) or target or other
                differ = area != "a" and rng.random() < 0.4
                if target:
                    differ = name == names[-1]
                elif other:
                    differ = True
                table[name] += [float(here)] if single else [float(here), float(here != differ)]
            for sex in "m" if single else "mf":
                for name, value in zip(table, (f"{area}{number}", area, sex, income)):
                    table[name].append(value)
    return table, truth


def opened(table: Table, mode: str) -> ProtectedDatabase:
    numbers = [name for name in table if name not in ("household", "area", "sex")]
    keys = Variable("area", codes=tuple("abc")), Variable("sex", codes=("f", "m"))
    responses = (Variable(name, role=Role.SENSITIVE, kind=Kind.NUMERIC) for name in numbers)
    schema = Schema((Variable("household", role=Role.ENTITY), *keys, *responses))
    policy = policy_of(mode=mode, filters=("area", "sex"), responses=tuple(numbers), minimum=3)
    return database(pl.DataFrame(table), schema, policy)


def asked(db: ProtectedDatabase, what: str, sex: str) -> Any:
    return db.ask(f"SELECT {what} FROM data WHERE area = 'a' AND sex = '{sex}'", user="u").as_json().get("value")


def products(db: ProtectedDatabase, name: str, sex: str) -> tuple[float, float] | None:
    """The sum of incomes, and that of products with them."""
    told = [asked(db, f"{what}({of})", sex) for of in ("income", name) for what in ("COUNT", "AVG", "VARIANCE")]
    together = None if None in told else asked(db, f"CORR({min(name, 'income')}, {max(name, 'income')})", sex)
    if together is None:
        return None
    n, mean, variance, _, other, spread = told
    return n * mean, together * np.sqrt(variance * spread) * (n - 1) + n * mean * other


def given_away(family: str, seed: int, mode: str) -> bool:
    """Whether products over men less those over women, less plain sums or other products, are one income."""
    table, truth = records(family, seed)
    db, by_name = opened(table, mode), []
    for name in FAMILIES[family]:
        men, women = (products(db, name, sex) for sex in "mf")
        if men is None or women is None:
            return False
        by_name.append([of_men - of_women for of_men, of_women in zip(men, women)])
    less = by_name[0][0] if family == "one product" else by_name[0][1]
    return bool(abs(by_name[-1][1] - less - truth) < 0.5)


@pytest.mark.parametrize("family", FAMILIES)
def test_products_do_not_give_away_the_income_of_a_household(family: str) -> None:
    assert given_away(family, 1, "open")
    assert not given_away(family, 1, "exact")


@pytest.mark.parametrize("family", FAMILIES)
def test_products_are_answered_if_enough_households_differ(family: str) -> None:
    db = opened(records(family, 0, targets=4)[0], "exact")
    assert None not in [products(db, name, sex) for name in FAMILIES[family] for sex in "mf"]


if __name__ == "__main__":  # PYTHONPATH=src:tests python -m attacks.test_query_products_of_households
    for each in FAMILIES:
        rates = {mode: sum(given_away(each, seed, mode) for seed in range(20)) for mode in ("open", "exact")}
        sys.stdout.write(f"{each}: {rates} of 20\n")
