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
FAMILIES = (
    "of all",
    "of one area",
    "given by half of the women elsewhere",
    "of 0 and 1",
    "of 0 and 1, seldom 1, with children",
    "of 0 and 1, given by six in ten, with children",
)
LIKE_ALL = {FAMILIES[1]: 0.0, FAMILIES[2]: 0.5, FAMILIES[5]: 0.6}
Rows = list[tuple[str, str, str, float, float | None]]


def records(family: str, seed: int, alone: int = 1) -> Rows:
    """Persons: household, area, sex, income, partner's income; of the first area some men live alone."""
    rng, rows = np.random.default_rng(seed), []
    for area in "abc":
        for number in range(HOUSEHOLDS):
            name, (his, hers, other, *young) = f"{area}{number}", drawn(family, rng)
            if number < alone if area == "a" else rng.random() < 0.3:
                rows.append((name, area, "m", his, None))
                continue
            like_all = area == "a" or rng.random() < LIKE_ALL.get(family, 1.0)
            rows += [(name, area, "m", his, hers), (name, area, "f", hers, his if like_all else other)]
            rows += [(name, area, "y", own, None) for own in young if "children" in family]
    return rows


def drawn(family: str, rng: np.random.Generator) -> list[float]:
    """What he and she have, what may be given instead, and what up to two children have."""
    if "0 and 1" in family:
        often = 0.15 if "seldom" in family else 0.5
        return [float(rng.random() < often) for _ in range(3 + rng.integers(0, 3))]
    return [float(own) for own in rng.integers(1000, 90000, 3)]


def answers(rows: Rows, mode: str, what: str) -> list[Any]:
    """A statistic of income over the men of the first area, and of the partner's income over the women."""
    keys = Variable("area", codes=tuple("abc")), Variable("sex", codes=("f", "m", "y"))
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
