# SPDX-License-Identifier: Apache-2.0
"""Camouflage: linear questions at growing files, and how wide the intervals are.

Answers come from sums over atoms, so that records do not count. `python -m benchmarks.bench_camouflage` prints the widths of
sums, means and slopes; with an older version of the package on the path it prints that version's.
"""

import hashlib
import tempfile
from typing import Any

import numpy as np
import polars as pl

from benchmarks.harness import Entry
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Bounds, Policy

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


SECRET = hashlib.blake2b(b"benchmark").digest()
ASKED = {
    "sum of all": "SELECT SUM(pay) FROM data",
    "mean of a sixth": "SELECT AVG(pay) FROM data WHERE dep = 'a'",
    "mean of a group": "SELECT AVG(pay) FROM data WHERE dep = 'a' AND sex = 'f' AND years = 3",
    "median": "SELECT MEDIAN(pay) FROM data",
    "deviation": "SELECT STDDEV(pay) FROM data",
}


def _staff(n: int, insiders: int) -> ProtectedDatabase:
    rng = np.random.default_rng(4)
    columns = {
        "dep": rng.choice(list("abcdef"), n),
        "sex": rng.choice(list("fm"), n),
        "years": rng.integers(1, 9, n),
        "pay": rng.lognormal(7, 0.5, n).round(),
    }
    schema = Schema(
        (
            Variable("dep", codes=tuple("abcdef")),
            Variable("sex", codes=("f", "m")),
            Variable("years", kind=Kind.NUMERIC),
            Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        )
    )
    policy = Policy(
        mode="camouflage",
        filters=("dep", "sex", "years"),
        responses=("pay",),
        bounds={"pay": Bounds(low=0)},
        options={"camouflage": {"insiders": insiders}},
    )
    data = Microdata.of(pl.DataFrame(columns), schema)
    return ProtectedDatabase(data, policy=policy, secret=SECRET, ledger=tempfile.mkdtemp() + "/widths.ledger")


def widths(n: int, insiders: int) -> list[float]:
    """Widths in percent of the middle of the interval, and the width of a slope in percent of the mean."""
    database = _staff(n, insiders)
    found = []
    for question in ASKED.values():
        low, high = database.ask(question, user="u").value
        found.append(200 * (high - low) / (high + low))
    low, high = database.ask("SELECT LINREG(pay, years) FROM data", user="u").value["coefficients"]["years"]
    mean = sum(database.ask("SELECT AVG(pay) FROM data", user="u").value) / 2
    return [*found, 100 * (high - low) / mean]


def main() -> None:
    """Print the widths as a table."""
    print("| records | insiders | " + " | ".join((*ASKED, "slope")) + " |")
    for n in (200, 2_000, 20_000):
        for insiders in (0, 1, 2):
            print(f"| {n:,} | {insiders} | " + " | ".join(f"{width:.2f} %" for width in widths(n, insiders)) + " |")


if __name__ == "__main__":
    main()
