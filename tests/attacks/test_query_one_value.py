"""One value in several records of a respondent: the sums of men and of women gave away who lives alone.

Everybody of a household has its income. Of an area where nearly all live as couples, the sum over the men less that of the women
is the income of the one who lives alone; so it is, squared, with variances. It is so where the couples of other areas have two
incomes, and of a car that a household has or has not. The attack has two sums, or two means, numbers and
variances. It succeeds on the mode `open`.
"""

import sys
from typing import Any

import numpy as np
import polars as pl
import pytest

from attacks.query_scenarios import database, policy_of
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase

HOUSEHOLDS = 12
MODES = ("exact", "simulatable")
FAMILIES = ("of all", "of one area", "a car")
WITH_CHILDREN = ("insured, with children", "an illness, with children", "a few kinds, with children")
Rows = list[tuple[str, str, str, float]]


def records(seed: int, alone: int = 1, *, differ: int = 0, family: str = FAMILIES[0]) -> Rows:
    """Persons: household, area, sex, income; men live alone in the first area, and in some couples each has an income."""
    rng, rows = np.random.default_rng(seed), []
    least, end = (0, 2) if family == "a car" else (1000, 90000)
    for area in "abc":
        for number in range(HOUSEHOLDS):
            name, income = f"{area}{number}", float(rng.integers(least, end))
            single = number < alone if area == "a" else rng.random() < 0.3
            two = HOUSEHOLDS - number <= differ or (family == "of one area" and area != "a")
            own = float(rng.integers(least, end)) if two else income
            sexes = "mf" if not single else "m" if area == "a" else rng.choice(["m", "f"])
            rows += [(name, area, sex, income if sex == "m" else own) for sex in sexes]
    return rows


def with_children(seed: int, family: str, alone: int = 1) -> Rows:
    """Couples that have one of few values, and up to three children, each with a value of its own."""
    rng, rows = np.random.default_rng(seed), []

    def drawn() -> float:
        return float(rng.integers(1, 6) if "few" in family else rng.random() < (0.15 if "illness" in family else 0.5))

    for area in "abc":
        for number in range(HOUSEHOLDS):
            name, own = f"{area}{number}", drawn()
            single = number < alone if area == "a" else rng.random() < 0.3
            rows += [(name, area, sex, own) for sex in ("m" if single else "mf")]
            rows += [(name, area, "y", drawn()) for _ in range(rng.integers(0, 4))]
    return rows


def opened(rows: Rows, mode: str, **policy: Any) -> ProtectedDatabase:
    household, area, sex, income = zip(*rows)
    keys = Variable("area", codes=tuple("abc")), Variable("sex", codes=("f", "m", "y"))
    schema = Schema(
        (Variable("household", role=Role.ENTITY), *keys, Variable("income", role=Role.SENSITIVE, kind=Kind.NUMERIC))
    )
    table = pl.DataFrame({"household": household, "area": area, "sex": sex, "income": income})
    options = {"filters": ("area", "sex"), "responses": ("income",), "minimum": 3} | policy
    return database(table, schema, policy_of(mode=mode, **options))


def asked(db: ProtectedDatabase, what: str) -> list[Any]:
    texts = [f"SELECT {what} FROM data WHERE area = 'a' AND sex = '{sex}'" for sex in "mf"]
    return [db.ask(text, user="u").as_json().get("value") for text in texts]


def given_away(seed: int, mode: str, family: str = FAMILIES[0]) -> bool:
    """Whether two sums give the income of the one who lives alone."""
    rows = with_children(seed, family) if family in WITH_CHILDREN else records(seed, family=family)
    men, women = asked(opened(rows, mode), "SUM(income)")
    return None not in (men, women) and abs(men - women - rows[0][3]) < 0.5


def squared(seed: int, mode: str) -> bool:
    """Whether two variances give it (sums alone are of three who live alone, one of whom has most)."""
    rows = [(*row[:3], row[3] * (1000.0 if k == 0 else 1.0)) for k, row in enumerate(records(seed))]
    db = opened(rows, mode)
    found = [asked(db, what) for what in ("COUNT(income)", "AVG(income)", "VARIANCE(income)")]
    if any(None in own for own in found):
        return False
    men, women = ((n - 1) * variance + n * mean**2 for n, mean, variance in zip(*found))
    return bool(abs(np.sqrt(men - women) / rows[0][3] - 1) < 1e-6)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("mode", MODES)
def test_two_sums_do_not_give_away_who_lives_alone(mode: str, family: str) -> None:
    assert given_away(0, "open", family)
    assert not any(given_away(seed, mode, family) for seed in range(3))


@pytest.mark.parametrize("family", WITH_CHILDREN)
def test_children_do_not_hide_what_couples_have_in_common(family: str) -> None:
    assert given_away(0, "open", family)
    assert not any(given_away(seed, mode, family) for seed in range(3) for mode in MODES)
    assert None not in asked(opened(with_children(0, family, alone=4), "exact"), "SUM(income)")


@pytest.mark.parametrize("mode", MODES)
def test_two_variances_do_not_give_away_who_lives_alone(mode: str) -> None:
    assert squared(0, "open")
    assert not squared(0, mode)


@pytest.mark.parametrize("mode", MODES)
def test_sums_are_answered_if_enough_live_alone(mode: str) -> None:
    assert None not in asked(opened(records(0, alone=4), mode), "SUM(income)")


def test_of_couples_with_two_incomes_each_too_few_are_not_singled_out_either() -> None:
    """Nobody lives alone, but one couple has two incomes: the difference of the sums is about this one."""
    assert None in asked(opened(records(0, alone=0, differ=1), "simulatable"), "SUM(income)")
    assert None in asked(opened(records(0, alone=0, differ=1), "exact"), "SUM(income)")


def test_values_that_agree_by_chance_are_not_taken_for_one() -> None:
    rng = np.random.default_rng(0)
    rows = [(*row[:3], float(rng.choice([100.0, 250.0, 700.0, rng.integers(1, 9999)]))) for row in records(0)]
    assert None not in asked(opened(rows, "exact"), "SUM(income)")


if __name__ == "__main__":  # PYTHONPATH=src:tests python -m attacks.test_query_one_value
    for each in (*FAMILIES, *WITH_CHILDREN):
        rates = {mode: sum(given_away(seed, mode, each) for seed in range(20)) for mode in ("open", *MODES)}
        sys.stdout.write(f"given_away, {each}: {rates} of 20\n")
    rates = {mode: sum(squared(seed, mode) for seed in range(20)) for mode in ("open", *MODES)}
    sys.stdout.write(f"squared: {rates} of 20\n")
