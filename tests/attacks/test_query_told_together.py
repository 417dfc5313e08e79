"""The mode `analysis` and rare values that several responses tell together: a total less its base is an allowance that few get.

Each of them has many values, or two that half have, so that four pairs of universes that differ by one person are answered.
All responses of one sample have lost the same records, so that hardly anything hides what they tell together. The attack says
that the person has the rare value if what the two universes of the pairs tell differs by more than half of it.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from attacks.query_scenarios import database, policy_of
from reticent.base.arrays import Ints
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase

PEOPLE, RARE, PAIRS = 1200, 0.03, 4
Told = dict[str, float]


def total(rng: np.random.Generator, rare: Ints) -> dict[str, Ints]:
    base = rng.integers(0, 2, len(rare))
    return {"base": base, "total": base + rare}


def differing(rng: np.random.Generator, rare: Ints) -> dict[str, Ints]:
    base = rng.integers(0, 2, len(rare))
    return {"base": base, "total": base ^ rare}


def amounts(rng: np.random.Generator, rare: Ints) -> dict[str, Ints]:
    base = np.round(rng.normal(0, 300, len(rare))).astype(np.int64)
    return {"base": base, "total": base + 700 * rare}


def parts(rng: np.random.Generator, rare: Ints) -> dict[str, Ints]:
    a, b, c = (rng.integers(0, 2, len(rare)) for _ in range(3))
    return {"a": a, "b": b, "c": c, "total": a + b + c + rare}


def signed(rng: np.random.Generator, rare: Ints) -> dict[str, Ints]:
    return {"a": rng.choice([-1, 1], len(rare)) * (1 + 2 * rare)}


def both(rng: np.random.Generator, rare: Ints) -> dict[str, Ints]:
    """Two things that half have; hardly anybody has both."""
    a = rng.integers(0, 2, len(rare))
    b = (1 - a) * (rng.random(len(rare)) < 0.96)
    return {"a": a | rare, "b": b | rare}


def product(told: Told) -> float:
    """The sum of a · b of zeros and ones, from their correlation."""
    n = told["COUNT(*)"]
    a, b = told["SUM(a)"] / n, told["SUM(b)"] / n
    return float(n * (told["CORR(a, b)"] * np.sqrt(a * (1 - a) * b * (1 - b)) + a * b))


def square(told: Told) -> float:
    n = told["COUNT(*)"]
    return (told["VARIANCE(a)"] * (n - 1) + n * (told["AVG(a)"] ** 2 - 1)) / 8


FAMILIES: dict[str, tuple[Callable[..., dict[str, Ints]], tuple[str, ...], Callable[[Told], float]]] = {
    "a total and its base": (total, ("SUM(total)", "SUM(base)"), lambda t: t["SUM(total)"] - t["SUM(base)"]),
    "a total over its base": (
        total,
        ("SUM(total) / SUM(base)", "SUM(base)"),
        lambda t: (t["SUM(total) / SUM(base)"] - 1) * t["SUM(base)"],
    ),
    "answers that differ": (differing, ("SUM(total)", "SUM(base)"), lambda t: t["SUM(total)"] - t["SUM(base)"]),
    "amounts": (amounts, ("SUM(total)", "SUM(base)"), lambda t: (t["SUM(total)"] - t["SUM(base)"]) / 700),
    "a total and three parts": (
        parts,
        ("SUM(total)", "SUM(a)", "SUM(b)", "SUM(c)"),
        lambda t: t["SUM(total)"] - t["SUM(a)"] - t["SUM(b)"] - t["SUM(c)"],
    ),
    "squares": (signed, ("VARIANCE(a)", "AVG(a)", "COUNT(*)"), square),
    "products": (both, ("CORR(a, b)", "SUM(a)", "SUM(b)", "COUNT(*)"), product),
}


def opened(family: str, seed: int, own: bool, rare: float) -> ProtectedDatabase:
    """Filters p and q agree for all but the first person; with each pad they are another pair of universes."""
    rng = np.random.default_rng(seed)
    has, side, pad = rng.random(PEOPLE) < rare, rng.integers(0, 2, PEOPLE), rng.integers(0, PAIRS + 1, PEOPLE)
    has[0], pad[0] = own, PAIRS
    sides = {name: np.where(np.arange(PEOPLE) == 0, first, side) for name, first in (("p", 0), ("q", 1))}
    table: dict[str, Any] = {name: codes.astype(str).tolist() for name, codes in {"pad": pad, **sides}.items()}
    keys = [Variable(name, role=Role.KEY, codes=tuple(sorted(set(codes)))) for name, codes in table.items()]
    values = FAMILIES[family][0](rng, has.astype(np.int64)) | {"rare": has.astype(np.int64)}
    table |= {name: amount.astype(float).tolist() for name, amount in values.items()}
    numbers = [Variable(name, role=Role.SENSITIVE, kind=Kind.NUMERIC) for name in values]
    options = {"options": {"analysis": {"strata": []}}, "filters": ("pad", "p", "q"), "minimum": 3}
    policy = policy_of(mode="analysis", responses=tuple(values), **options)
    return database(pl.DataFrame(table), Schema((*keys, *numbers)), policy, secret=seed + 1)


def differences(family: str, seed: int, own: bool, rare: float = RARE) -> list[float]:
    """What the pairs differ by of which everything was answered."""
    db, (_, asked, read) = opened(family, seed, own, rare), FAMILIES[family]

    def ask(side: str, pair: int) -> float | None:
        told = [
            db.ask(f"SELECT {what} FROM data WHERE {side} = '0' OR pad = '{pair}'", user="u").as_json().get("value")
            for what in asked
        ]
        return None if None in told else read(dict(zip(asked, map(float, told))))

    pairs = ([ask(side, pair) for side in "pq"] for pair in range(PAIRS))
    return [one - other for one, other in pairs if one is not None and other is not None]


@pytest.mark.parametrize("family", FAMILIES)
def test_no_pair_tells_a_rare_value_by_several_responses(family: str) -> None:
    assert not differences(family, 0, own=True)


@pytest.mark.parametrize("family", ["a total and its base", "answers that differ"])
def test_pairs_of_several_responses_are_answered_where_half_have_the_value(family: str) -> None:
    assert len(differences(family, 0, own=True, rare=0.5)) == PAIRS


if __name__ == "__main__":  # PYTHONPATH=src:tests python -m attacks.test_query_told_together
    for rare in (RARE, 0.1):
        for each in FAMILIES:
            made = [(own, differences(each, seed, own, rare)) for seed in range(20) for own in (False, True)]
            told = [own == (np.mean(parts) > 0.5) for own, parts in made if parts]
            sys.stdout.write(f"{each}, {rare}: {sum(told)} right of {len(told)} of {len(made)} databases\n")
