"""Responses that are tied for all who have them: sums gave away the one of an area who lacks one of them.

Euros are pay times 1.25, or income is pay and rent, and one person of an area has no income on record, or no rent. The sums
of the other responses are over all, that of the missing one over the others, their difference is this person's. The attack is
two or three sums over the area and the equation; it succeeds on the mode `open`.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from attacks.query_scenarios import database, policy_of
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase

PEOPLE = 60
FAMILIES = {"in euros": "euro", "a total": "income", "a part": "rent"}
MODES = ("exact", "simulatable")


def records(family: str, seed: int, lacking: int = 1) -> tuple[dict[str, Any], float]:
    """The records, and what the sums would give away of those in the first area who lack a response."""
    rng = np.random.default_rng(seed)
    area, pay, rent = np.arange(PEOPLE) % 3, rng.integers(1000, 9000, PEOPLE), rng.integers(100, 3000, PEOPLE)
    lacks = (rng.random(PEOPLE) < 0.3) & (area > 0)
    lacks[np.flatnonzero(area == 0)[:lacking]] = True
    table: dict[str, Any] = {"pay": pay, "rent": rent, "income": pay + rent}
    if family == "in euros":
        table = {"pay": pay, "euro": pay * 1.25}
    told = {"in euros": -1.25 * pay, "a total": -pay - rent, "a part": rent}[family]
    missing = FAMILIES[family]
    table[missing] = np.where(lacks, np.nan, table[missing])
    return {"area": area.astype(str), **table}, float(told[lacks & (area == 0)].sum())


def opened(
    table: dict[str, Any], mode: str, ledger: Path | None = None, names: tuple[str, ...] = (), ties: str = "some"
) -> ProtectedDatabase:
    own = [name for name in table if name != "area"]
    numbers = [Variable(name, role=Role.SENSITIVE, kind=Kind.NUMERIC) for name in own]
    frame = pl.DataFrame({name: list(values) for name, values in table.items()}).fill_nan(None)
    options = {"options": {"simulatable": {"ties": ties}}} if ties != "some" else {}
    policy = policy_of(mode=mode, filters=("area",), responses=names or tuple(own), minimum=3, **options)
    return database(frame, Schema((Variable("area", codes=tuple("012")), *numbers)), policy, ledger=ledger)


def total(db: ProtectedDatabase, name: str, what: str = "SUM") -> Any:
    return db.ask(f"SELECT {what}({name}) FROM data WHERE area = '0'", user="u").as_json().get("value")


def given_away(family: str, seed: int, mode: str, ties: str = "some") -> bool:
    """Whether the sums give what one person has."""
    table, truth = records(family, seed)
    db = opened(table, mode, ties=ties)
    told = {name: total(db, name) for name in table if name != "area"}
    if None in told.values():
        return False
    found = told["euro"] - 1.25 * told["pay"] if "euro" in told else told["income"] - told["pay"] - told["rent"]
    return bool(abs(found - truth) < 0.5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("family", FAMILIES)
def test_sums_do_not_give_away_who_lacks_a_response(family: str, mode: str) -> None:
    assert given_away(family, 0, "open")
    assert not any(given_away(family, 0, mode, ties) for ties in ("some", "all"))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("family", FAMILIES)
def test_sums_are_answered_if_enough_lack_it(family: str, mode: str) -> None:
    table, _ = records(family, 1, lacking=4)
    db = opened(table, mode, ties="all")
    assert None not in [total(db, name) for name in table if name != "area"]


@pytest.mark.parametrize("mode", MODES)
def test_who_lacks_a_response_is_known_after_opening_with_another_one(tmp_path: Path, mode: str) -> None:
    """What was answered about a response that the policy no longer names: its means too."""
    for number, what in enumerate(("SUM", "AVG")):
        ledger = tmp_path / f"{number}.ledger"
        db = opened(records("in euros", 0)[0], mode, ledger, ("euro",))
        assert total(db, "euro", what) is not None
        db.close()
        assert total(opened(records("in euros", 0)[0], mode, ledger, ("pay",)), "pay") is None


if __name__ == "__main__":  # PYTHONPATH=src:tests python -m attacks.test_query_ties_of_some
    for each in FAMILIES:
        rates = {mode: sum(given_away(each, seed, mode) for seed in range(20)) for mode in ("open", *MODES)}
        sys.stdout.write(f"{each}: {rates} of 20\n")
