"""What one spouse earns is what the other gives as a partner's income: two sums gave away who lives alone.

The attack has the sum of income over the men of an area and that of partners' incomes over the women, or their numbers, means and
variances. The respondents are households. It succeeds on the mode `open`.
"""

import sys
from typing import Any

import numpy as np
import polars as pl
import pytest

from attacks.query_scenarios import database, policy_of
from reticent.data.schema import Kind, Role, Schema, Variable

HOUSEHOLDS = 12
FAMILIES = ("of all", "of one area", "given by half of the women elsewhere")
Rows = list[tuple[str, str, str, float, float | None]]


def records(family: str, seed: int, alone: int = 1) -> Rows:
    """Persons: household, area, sex, income, partner's income; of the first area some men live alone."""
    rng, rows = np.random.default_rng(seed), []
    for area in "abc":
        for number in range(HOUSEHOLDS):
            name, his, hers = f"{area}{number}", *(float(own) for own in rng.integers(1000, 90000, 2))
            if number < alone if area == "a" else rng.random() < 0.3:
                rows.append((name, area, "m", his, None))
                continue
            given = his if area == "a" or family == "of all" else float(rng.integers(1000, 90000))
            if family == FAMILIES[2] and area != "a":
                given = his if rng.random() < 0.5 else given
            rows += [(name, area, "m", his, hers), (name, area, "f", hers, given)]
    return rows


def answers(rows: Rows, mode: str, what: str) -> list[Any]:
    """A statistic of income over the men of the first area, and of the partner's income over the women."""
    keys = Variable("area", codes=tuple("abc")), Variable("sex", codes=("f", "m"))
    numbers = [Variable(name, role=Role.SENSITIVE, kind=Kind.NUMERIC) for name in ("income", "partner")]
    schema = Schema((Variable("household", role=Role.ENTITY), *keys, *numbers))
    table = pl.DataFrame(rows, schema=["household", "area", "sex", "income", "partner"], orient="row")
    options: dict[str, Any] = {"filters": ("area", "sex"), "responses": ("income", "partner"), "minimum": 3}
    db = database(table, schema, policy_of(mode=mode, **options))
    asked = (("income", "m"), ("partner", "f"))
    texts = [f"SELECT {what}({name}) FROM data WHERE area = 'a' AND sex = '{sex}'" for name, sex in asked]
    return [db.ask(text, user="u").as_json().get("value") for text in texts]


def given_away(family: str, seed: int, mode: str) -> bool:
    """Whether two sums give the income of the one who lives alone."""
    rows = records(family, seed)
    men, women = answers(rows, mode, "SUM")
    return None not in (men, women) and abs(men - women - rows[0][3]) < 0.5


@pytest.mark.parametrize("family", FAMILIES)
def test_sums_of_two_responses_do_not_give_away_who_lives_alone(family: str) -> None:
    """Of 20 databases of each family 20 gave it away."""
    assert given_away(family, 0, "open")
    assert not any(given_away(family, seed, "exact") for seed in range(4))


def test_variances_do_not_either() -> None:
    assert None in answers(records(FAMILIES[0], 0), "exact", "VARIANCE")


@pytest.mark.parametrize("family", FAMILIES)
def test_sums_are_answered_where_enough_live_alone(family: str) -> None:
    assert None not in answers(records(family, 1, alone=4), "exact", "SUM")


if __name__ == "__main__":  # PYTHONPATH=src:tests python -m attacks.test_query_crossed_values
    for each in FAMILIES:
        rates = {mode: sum(given_away(each, seed, mode) for seed in range(20)) for mode in ("open", "exact")}
        sys.stdout.write(f"{each}: {rates} of 20\n")
