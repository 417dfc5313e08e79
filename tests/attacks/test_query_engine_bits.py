"""Values in whole hundreds, or with fewer decimals than are declared, in an engine: few are possible, and sums spell them out.

The attack lists all values in these steps, from the least to the greatest, that fit the answers. It succeeds on the mode `open`.
"""

from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.data.large import LargeFile
from reticent.data.microdata import Microdata
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Policy

PEOPLE = 9
SCHEMA = rt.Schema(
    (
        rt.Variable("person", role="identifier"),
        rt.Variable("place", kind="numeric"),
        rt.Variable("pay", role="sensitive", kind="numeric", decimals=2),
    )
)
Sums = list[tuple[list[int], float]]


def answered(ledger: Path, data: Microdata | LargeFile, seed: int, mode: str) -> Sums:
    """Of twelve random sets, those whose sum is answered, and the sums."""
    policy = Policy(mode=mode, filters=("place",), responses=("pay",), minimum=3, test=mode == "open")
    base = ProtectedDatabase(data, policy=policy, secret=5, test_secret=True, ledger=ledger)
    rng = np.random.default_rng(seed)
    found: Sums = []
    for _ in range(12):
        chosen = sorted(rng.choice(PEOPLE, int(rng.integers(4, 8)), replace=False).tolist())
        where = f"place IN ({', '.join(map(str, chosen))})"
        reply = base.ask(f"SELECT SUM(pay) FROM data WHERE {where}", user="u").as_json()
        found += [(chosen, reply["value"])] if reply["answered"] else []
    return found


def known_by(sums: Sums, step: float) -> int:
    """How many values are the same in all databases of 0 and one step that fit."""
    worlds = np.array(list(product((0.0, step), repeat=PEOPLE)))
    for chosen, value in sums:
        worlds = worlds[np.isclose(worlds[:, chosen].sum(axis=1), value)]
    return int((worlds == worlds[0]).all(axis=0).sum())


@pytest.mark.parametrize("seed, step", [(0, 100.0), (5, 0.5)])
def test_an_engine_counts_only_values_that_are_possible(tmp_path: Path, seed: int, step: float) -> None:
    pay = np.random.default_rng(seed).integers(0, 2, PEOPLE) * step
    names = [f"p{k}" for k in range(PEOPLE)]
    table = pl.DataFrame({"person": names, "place": np.arange(PEOPLE, dtype=float), "pay": pay})
    table.write_parquet(tmp_path / "people.parquet")
    memory = Microdata.of(table, SCHEMA)
    before = answered(tmp_path / "open.ledger", memory, seed, "open")
    with rt.load(tmp_path / "people.parquet", schema=SCHEMA, engine="duckdb") as large:
        after = answered(tmp_path / "exact.ledger", large.file, seed, "exact")
    assert known_by(before, step) == PEOPLE
    assert known_by(after, step) == 0
    assert after == answered(tmp_path / "memory.ledger", memory, seed, "exact")
    assert len(after) > 1
