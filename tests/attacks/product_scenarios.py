"""What an attacker sees of products and squares of confidential values, over three or more groups of records.

The fixture `fixtures/v010/queries/products.json` is this file run by version 0.1.0:

    PYTHONPATH=<tree of version 0.1.0>/src:tests python tests/attacks/product_scenarios.py tests/attacks/fixtures/v010/queries
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from attacks.query_scenarios import asked, database, policy_of
from reticent.data.schema import Kind, Role, Schema, Variable

ROUNDS = 10
GROUPS = ["g1"] * 6 + ["g2"] * 6 + ["g3"] * 6 + ["r1"] * 8 + ["r2"] * 8 + ["r3"] * 8
ITEMS = ("COUNT(*)", "AVG(pay)", "AVG(d)", "STDDEV(pay)", "STDDEV(d)", "CORR(pay, d)")
LESS = (("g1", "r1", "r2"), ("g2", "r2", "r3"), ("g1", "g2", "g3", "r1", "r2", "r3"), ("r1", "r2", "r3"))
CROSSED = (("g1", "r1", "r3"), ("g2", "g3", "r2"), ("g1", "g2", "r1", "r2"), ("r1", "r2", "r3"))
Sets = tuple[tuple[str, ...], ...]


def told(groups: list[str], pay: Any, d: Any, sets: Sets, **rules: Any) -> list[list[Any]]:
    """Numbers, means, deviations and the correlation over some unions of groups; None where nothing is answered."""
    codes = tuple(sorted(set(groups)))
    numbers = (Variable(name, role=Role.SENSITIVE, kind=Kind.NUMERIC) for name in ("pay", "d"))
    table = pl.DataFrame({"g": groups, "pay": pay.tolist(), "d": d.tolist()})
    policy = policy_of(filters=("g",), responses=("pay", "d"), minimum=3, **rules)
    db = database(table, Schema((Variable("g", codes=codes), *numbers)), policy)
    where = [f"g IN ({', '.join(map(repr, one))})" for one in sets]
    queries = [[f"SELECT {item} FROM data WHERE {part}" for item in ITEMS] for part in where]
    return [[entry.get("value") for entry in asked(db, each)] for each in queries]


def _indicator(rng: np.random.Generator, sets: Sets, **rules: Any) -> dict[str, Any]:
    """One of 18 in g1, g2 and g3 has d = 1, and many others have."""
    pay = rng.integers(20000, 90000, len(GROUPS))
    d = (rng.random(len(GROUPS)) < 0.6).astype(int)
    d[:18], target = 0, int(rng.integers(0, 18))
    d[target] = 1
    return {"told": told(GROUPS, pay, d, sets, **rules), "truth": int(pay[target])}


def three_groups(rng: np.random.Generator) -> dict[str, Any]:
    """The whole less three groups is three groups."""
    return _indicator(rng, LESS)


def crossed_groups(rng: np.random.Generator) -> dict[str, Any]:
    """Two sums less a third; no total less its parts. With dominance and the p percent rule."""
    return _indicator(rng, CROSSED, dominance=(2, 85), p_percent=10)


def three_values(rng: np.random.Generator) -> dict[str, Any]:
    """Everybody has one job, one person has two, the insider three."""
    pay, d = rng.integers(20000, 90000, 20), np.ones(20, dtype=int)
    d[:2] = 2, 3
    return {"told": told(["a"] * 20, pay, d, (("a",),)), "truth": int(pay[0]), "own": int(pay[1])}


def values_by_group(rng: np.random.Generator) -> dict[str, Any]:
    """Each of twelve groups has its own number of hours; one person of g00 has one more, and the insider of g01 has."""
    groups = [f"g{i:02}" for i in range(12) for _ in range(8)]
    pay, d = rng.integers(20000, 90000, 96), np.repeat(np.arange(30, 42) * 7 % 41, 8)
    base = d[::8].tolist()
    d[0], d[8] = d[0] + 1, d[8] + 1
    sets = (tuple(sorted(set(groups))), *((g,) for g in sorted(set(groups))))
    return {"told": told(groups, pay, d, sets), "truth": int(pay[0]), "own": int(pay[8]), "base": base}


def equal_values(rng: np.random.Generator) -> dict[str, Any]:
    """All 18 of g1, g2 and g3 have the same pay."""
    pay, d = rng.integers(20000, 90000, len(GROUPS)), rng.integers(20000, 90000, len(GROUPS))
    pay[:18] = pay[0]
    return {"told": told(GROUPS, pay, d, LESS), "truth": int(pay[0])}


FAMILIES: tuple[Callable[[np.random.Generator], dict[str, Any]], ...] = (
    three_groups, crossed_groups, three_values, values_by_group, equal_values,
)  # fmt: skip


def rounds(number: int = ROUNDS) -> dict[str, list[dict[str, Any]]]:
    """Each family with several databases."""
    return {make.__name__: [make(np.random.default_rng(seed)) for seed in range(number)] for make in FAMILIES}


if __name__ == "__main__":
    (Path(sys.argv[1]) / "products.json").write_text(json.dumps(rounds()) + "\n", encoding="utf-8")
