"""A refused question made the database forget a sum that it answered later: two correlations gave away one person's pay.

In area c all but one person were ill in exactly one of two years, so the sum of pay less the products with both years is that
person's pay. A correlation over the areas b and e is refused before: what was worked out for it was taken back, and the next
answered sum of pay counted as seen. The attack has sums, variances and correlations. It succeeds on `open`.
"""

import sys
from typing import Any

import numpy as np
import polars as pl

from attacks.query_scenarios import database, policy_of
from attacks.test_query_shared_products import product
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase

EACH = 24
NAMES = ("pay", "ill", "was")
REFUSED = "SELECT CORR(pay, was) FROM data WHERE area IN ('b', 'e')"
ASKED = ("CORR(pay, ill)", *(f"{what}({name})" for name in NAMES for what in ("SUM", "VARIANCE")), "COUNT(pay)")


def opened(seed: int, mode: str, differ: int = 1) -> tuple[ProtectedDatabase, float]:
    """A database, and what those of area c have together who were ill in neither year."""
    rng = np.random.default_rng(seed)
    area = np.repeat(["b", "e", "c"], EACH)
    pay, ill = np.round(rng.lognormal(10, 0.5, 3 * EACH)), (rng.random(3 * EACH) < 0.5).astype(float)
    was = np.where(area == "b", ill, np.where(area == "e", 0.0, 1 - ill))
    ill[0], was[0] = 0.0, 1.0
    neither = np.flatnonzero(area == "c")[:differ]
    ill[neither] = was[neither] = 0.0
    table = {"area": area.tolist(), "pay": pay.tolist(), "ill": ill.tolist(), "was": was.tolist()}
    numbers = [Variable(name, role=Role.SENSITIVE, kind=Kind.NUMERIC) for name in NAMES]
    policy = policy_of(mode=mode, filters=("area",), responses=NAMES, minimum=3)
    schema = Schema((Variable("area", codes=("b", "e", "c")), *numbers))
    return database(pl.DataFrame(table), schema, policy), float(pay[neither].sum())


def computed(db: ProtectedDatabase) -> float | None:
    """The pay of those who were ill in neither year, from the answers about area c."""
    db.ask("SELECT CORR(pay, ill) FROM data WHERE area = 'b'", user="u")
    db.ask(REFUSED, user="u")
    questions = (*ASKED, "CORR(pay, was)")
    told: dict[str, Any] = {}
    for q in questions:
        told[q] = db.ask(f"SELECT {q} FROM data WHERE area = 'c'", user="u").as_json().get("value")
    if None in told.values():
        return None
    return float(told["SUM(pay)"]) - product(told, "pay", "ill") - product(told, "pay", "was")


def given_away(seed: int, mode: str) -> bool:
    """Whether the answers give the pay of the only person who was ill in neither year."""
    db, truth = opened(seed, mode)
    found = computed(db)
    return found is not None and abs(found - truth) < 0.5


def test_a_refused_question_does_not_hide_what_is_answered_after_it() -> None:
    assert given_away(0, "open")
    assert not any(given_away(seed, "exact") for seed in range(3))


def test_the_same_questions_are_answered_if_enough_differ() -> None:
    db, truth = opened(0, "exact", differ=4)
    found = computed(db)
    assert found is not None
    assert abs(found - truth) < 0.5


if __name__ == "__main__":  # PYTHONPATH=src:tests python -m attacks.test_query_products_taken_back
    rates = {mode: sum(given_away(seed, mode) for seed in range(10)) for mode in ("open", "exact")}
    sys.stdout.write(f"{rates} of 10\n")
