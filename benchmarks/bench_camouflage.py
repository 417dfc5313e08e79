"""Camouflage: linear questions at growing files; the answer comes from sums over atoms, so that records do not count."""

import tempfile
from typing import Any

import numpy as np
import polars as pl

from benchmarks.harness import Entry
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Policy

QUESTIONS = 20
KEYS = ("a", "b", "c", "d", "e")


def _database(n: int) -> ProtectedDatabase:
    rng = np.random.default_rng(1)
    columns: dict[str, Any] = {name: rng.integers(0, 6, n) for name in KEYS}
    columns["pay"] = rng.lognormal(7, 0.5, n).round()
    schema = Schema(
        (*(Variable(k, codes=tuple("012345")) for k in KEYS), Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC))
    )
    policy = Policy(mode="camouflage", filters=KEYS, responses=("pay",))
    ledger = tempfile.mkdtemp() + "/bench.ledger"
    database = ProtectedDatabase(
        Microdata.of(pl.DataFrame(columns), schema), policy=policy, secret=1, test_secret=True, ledger=ledger
    )
    database.ask("SELECT SUM(pay) FROM data", user="warm")
    return database


def _ask(database: ProtectedDatabase) -> int:
    """Twenty different sums, each decided, written to the ledger, and answered."""
    number = len(database.history())
    for step in range(number, number + QUESTIONS):
        digits = [(step // 6**place) % 6 for place in range(5)]
        where = " AND ".join(f"{k} <> '{d}'" for k, d in zip(KEYS, digits))
        database.ask(f"SELECT SUM(pay) FROM data WHERE {where}", user="u")
    return QUESTIONS


def entries() -> list[Entry]:
    """Growing files."""
    return [
        Entry(
            f"{QUESTIONS} new sums, decision on disk before each answer", (10_000, 100_000, 1_000_000), _database, _ask,
            quality=lambda database, n: f"seconds are for {n} questions",
        )
    ]  # fmt: skip
