"""Who has a value at all, from answers of the mode `analysis`: universes that differ by somebody without one have one answer.

    PYTHONPATH=src:tests python -m attacks.presence_pair_families

Only records that have a value are dropped, and what is dropped belongs to the set of these: the same set has one answer.
"""

import sys
from typing import Any

import numpy as np
import polars as pl

from attacks.query_scenarios import database, policy_of
from reticent.data.schema import Kind, Role, Schema, Variable

PEOPLE, PAIRS = 1200, 4


def said(own: bool, seed: int, part: float, what: str) -> bool:
    """Whether the attacker says that the first person has an amount, which a part of all have."""
    rng = np.random.default_rng(seed)
    has, side, pad = rng.random(PEOPLE) < part, rng.integers(0, 2, PEOPLE), rng.integers(0, PAIRS + 1, PEOPLE)
    has[0], pad[0] = own, PAIRS
    sides = {name: np.where(np.arange(PEOPLE) == 0, first, side) for name, first in (("p", 0), ("q", 1))}
    table: dict[str, Any] = {name: codes.astype(str).tolist() for name, codes in {"pad": pad, **sides}.items()}
    keys = [Variable(name, role=Role.KEY, codes=tuple(sorted(set(codes)))) for name, codes in table.items()]
    amounts = rng.integers(100, 900, PEOPLE).astype(float).tolist()
    table["amount"] = [amount if there else None for amount, there in zip(amounts, has)]
    schema = Schema((*keys, Variable("amount", role=Role.SENSITIVE, kind=Kind.NUMERIC)))
    options = {"options": {"analysis": {"strata": []}}, "filters": ("pad", "p", "q"), "minimum": 3}
    db = database(
        pl.DataFrame(table), schema, policy_of(mode="analysis", responses=("amount",), **options), secret=seed + 1
    )
    for pair in range(PAIRS):
        asked = (f"SELECT {what} FROM data WHERE {name} = '0' OR pad = '{pair}'" for name in "pq")
        one, other = (db.ask(question, user="u").as_json().get("value") for question in asked)
        if one != other:
            return True
    return False


if __name__ == "__main__":
    for part in (0.5, 0.1):
        for what in ("SUM(amount)", "COUNT(amount)"):
            right = sum(said(own, seed, part, what) == own for seed in range(20) for own in (False, True))
            sys.stdout.write(f"{what}, a part of {part} have one: {right} of 40 databases right\n")
