"""The mode `analysis` and values that few have: two universes that differ by one person gave this one's value.

Of the few records that a universe loses hardly one has the rare value, so that fewer pairs are allowed for it, or none. But two
universes that had been counted before were no new pair when they were summed. Only zeros and ones were looked at, not codes 1 and
2, nor amounts that most have not; and only in all records, although a value that half have may be rare in the universes. The
attack asks for both universes, and says that the person has the rare value if the two sums differ by more than half of it. The
same secret may also be several responses (an amount, a flag for it, a code), each asked for by pairs of its own.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from attacks.query_scenarios import database, policy_of
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase

PEOPLE, RARE, PAIRS = 1200, 0.03, 4
FAMILIES = {
    "counted before": ("COUNT(*)", (0.0, 1.0)),
    "another response before": ("SUM(child)", (0.0, 1.0)),
    "codes 1 and 2": (None, (1.0, 2.0)),
    "amounts that few have": (None, (0.0, 700.0)),
    "half of all, few of a group": (None, (0.0, 1.0)),
}

FORMS = {"flag": (0.0, 1.0), "lacks": (1.0, 0.0), "code": (1.0, 2.0), "amount": (0.0, 100.0)}
"""Responses that one in ten has another value of: the same people."""


def opened(
    values: tuple[float, float], seed: int, own: bool, rare: float = RARE, half: bool = False
) -> ProtectedDatabase:
    """Filters p and q agree for all but the first person. With `half`, those outside of the group make it half of all."""
    rng = np.random.default_rng(seed)
    has, side, pad = rng.random(PEOPLE) < rare, rng.integers(0, 2, PEOPLE), rng.integers(0, PAIRS + 1, PEOPLE)
    has[0], pad[0], group = own, PAIRS, np.zeros(PEOPLE, dtype=int)
    if half:
        has, side, pad = np.concatenate((has, ~has)), np.tile(side, 2), np.tile(pad, 2)
        group = np.repeat([0, 1], PEOPLE)
    table: dict[str, Any] = {"home": group.astype(str).tolist(), "pad": pad.astype(str).tolist()}
    for name, first in (("p", 0), ("q", 1)):
        side[0] = first
        table[name] = side.astype(str).tolist()
    keys = [Variable(name, role=Role.KEY, codes=tuple(sorted(set(codes)))) for name, codes in table.items()]
    table["own"] = np.where(has, values[1], values[0]).tolist()
    table["child"] = rng.integers(0, 2, len(has)).astype(float).tolist()
    numbers = [Variable(name, role=Role.SENSITIVE, kind=Kind.NUMERIC) for name in ("own", "child")]
    policy = policy_of(mode="analysis", filters=("pad", "home", "p", "q"), responses=("own", "child"), minimum=3)
    return database(pl.DataFrame(table), Schema((*keys, *numbers)), policy, secret=seed + 1)


def differences(family: str, seed: int, own: bool, rare: float = RARE) -> list[float]:
    """What the sums of the pairs differ by, as a part of the rare value; of those that were answered."""
    before, (usual, value) = FAMILIES[family]
    db = opened((usual, value), seed, own, rare, half=family.startswith("half"))

    def ask(what: str, side: str, pad: int) -> float | None:
        question = f"SELECT {what} FROM data WHERE home = '0' AND ({side} = '0' OR pad = '{pad}')"
        told = db.ask(question, user="u").as_json().get("value")
        return None if told is None else float(told)

    for pair in range(PAIRS if before else 0):
        ask(str(before), "p", pair), ask(str(before), "q", pair)
    found = []
    for pair in range(PAIRS):
        sums, counts = ([ask(what, side, pair) for side in "pq"] for what in ("SUM(own)", "COUNT(*)"))
        if None not in (*sums, *counts):
            rest = (sums[0] - sums[1]) - usual * (counts[0] - counts[1])  # type: ignore[operator]
            found.append(rest / (value - usual))
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_no_pair_is_answered_about_a_rare_value(family: str) -> None:
    assert not differences(family, 0, own=True)


@pytest.mark.parametrize("family", FAMILIES)
def test_pairs_are_answered_about_a_value_that_half_have(family: str) -> None:
    assert differences(family, 0, own=True, rare=0.5)


def test_numbers_of_records_reveal_no_rare_value_and_are_answered() -> None:
    db = opened((0.0, 1.0), 0, own=True)
    for side in "pq":
        assert db.ask(f"SELECT COUNT(own) FROM data WHERE {side} = '0' OR pad = '1'", user="u").as_json()["answered"]


def opened_in_forms(seed: int, own: bool, responses: Sequence[str], ledger: Path | None = None) -> ProtectedDatabase:
    """As `opened`, without strata, so that each pair is another one where the person is."""
    rng = np.random.default_rng(seed)
    has, side, pad = rng.random(PEOPLE) < 0.1, rng.integers(0, 2, PEOPLE), rng.integers(0, PAIRS + 1, PEOPLE)
    has[0], pad[0] = own, PAIRS
    sides = {name: np.where(np.arange(PEOPLE) == 0, first, side) for name, first in (("p", 0), ("q", 1))}
    table: dict[str, Any] = {name: own.astype(str).tolist() for name, own in {"pad": pad, **sides}.items()}
    keys = [Variable(name, role=Role.KEY, codes=tuple(sorted(set(codes)))) for name, codes in table.items()]
    table |= {name: np.where(has, value, usual).tolist() for name, (usual, value) in FORMS.items()}
    numbers = [Variable(name, role=Role.SENSITIVE, kind=Kind.NUMERIC) for name in FORMS]
    options = {"options": {"analysis": {"strata": []}}, "filters": ("pad", "p", "q"), "minimum": 3}
    policy = policy_of(mode="analysis", responses=tuple(responses), **options)
    return database(pl.DataFrame(table), Schema((*keys, *numbers)), policy, secret=seed + 1, ledger=ledger)


def difference(db: ProtectedDatabase, name: str, pair: int) -> float | None:
    """What the two sums of a pair differ by, as a part of the rare value."""

    def ask(what: str, side: str) -> Any:
        told = db.ask(f"SELECT {what} FROM data WHERE {side} = '0' OR pad = '{pair}'", user="u")
        return told.as_json().get("value")

    (usual, value), (one, other) = (
        FORMS[name],
        ([ask(what, side) for side in "pq"] for what in (f"SUM({name})", "COUNT(*)")),
    )
    if None in (*one, *other):
        return None
    return float(((one[0] - one[1]) - usual * (other[0] - other[1])) / (value - usual))


def by_forms(seed: int, own: bool) -> list[float]:
    """A pair for each form of the response."""
    db = opened_in_forms(seed, own, tuple(FORMS))
    found = [difference(db, name, pair) for pair, name in enumerate(FORMS)]
    return [part for part in found if part is not None]


def test_forms_of_one_response_have_their_pairs_together() -> None:
    assert len(by_forms(0, own=True)) == 1


def test_forms_of_one_response_have_their_pairs_together_when_policies_change(tmp_path: Path) -> None:
    told = [
        difference(opened_in_forms(3, True, (name,), tmp_path / "ledger"), name, pair)
        for pair, name in enumerate(FORMS)
    ]
    assert told[0] is not None
    assert told[1:] == [None] * (PAIRS - 1)


def by_regressions(seed: int, own: bool) -> list[float]:
    """What the means of a category with a rare value differ by, times its size; half of the others have the value."""
    rng = np.random.default_rng(seed)
    small, pad = np.arange(PEOPLE) < 150, rng.integers(0, PAIRS + 1, PEOPLE)
    has = rng.random(PEOPLE) < np.where(small, RARE, 0.5)
    has[0], pad[0] = own, PAIRS
    table: dict[str, Any] = {"pad": pad.astype(str).tolist()}
    for name, first in (("p", "0"), ("q", "1")):
        table[name] = [first, *np.where(small, "0", "1")[1:].tolist()]
    keys = [Variable(name, role=Role.KEY, codes=tuple(sorted(set(codes)))) for name, codes in table.items()]
    schema = Schema((*keys, Variable("own", role=Role.SENSITIVE, kind=Kind.NUMERIC)))
    options = {"options": {"analysis": {"strata": []}}, "filters": ("pad", "p", "q"), "minimum": 3}
    frame = pl.DataFrame(table | {"own": has.astype(float).tolist()})
    db = database(frame, schema, policy_of(mode="analysis", responses=("own",), **options), secret=seed + 1)
    found = []
    for pair in range(PAIRS):
        asked = (f"SELECT LINREG(own, {side}) FROM data WHERE pad <> '{pair}'" for side in "pq")
        told = [db.ask(question, user="u").as_json().get("value") for question in asked]
        if None not in told:
            one, other = (sum(fit["coefficients"].values()) for fit in told)  # type: ignore[index]
            found.append((one - other) * small.sum() * PAIRS / (PAIRS + 1))
    return found


def test_no_pair_of_regressions_is_answered_about_a_value_that_is_rare_in_a_category() -> None:
    assert not by_regressions(0, own=True)


if __name__ == "__main__":  # PYTHONPATH=src:tests python -m attacks.test_query_rare_values
    for each in FAMILIES:
        made = [(own, differences(each, seed, own)) for seed in range(10) for own in (False, True)]
        told = [own == (np.mean(parts) > 0.5) for own, parts in made if parts]
        sys.stdout.write(f"{each}: {sum(told)} right of {len(told)} of {len(made)} databases\n")
    made = [(own, by_forms(seed, own)) for seed in range(50) for own in (False, True)]
    told = [own == (np.mean(parts) > 0.5) for own, parts in made]
    sys.stdout.write(f"four forms of one in ten: {sum(told)} right of {len(told)} databases\n")
    made = [(own, by_regressions(seed, own)) for seed in range(25) for own in (False, True)]
    told = [own == (np.mean(parts) > 0.4) for own, parts in made if parts]
    sys.stdout.write(f"regressions: {sum(told)} right of {len(told)} of {len(made)} databases\n")
