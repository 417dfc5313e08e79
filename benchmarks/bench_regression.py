# SPDX-License-Identifier: Apache-2.0
"""Linear regressions at growing files: fitted by blocks of records, in the modes that answer them."""

import tempfile
import time
from collections.abc import Callable

import numpy as np
import polars as pl

from benchmarks.harness import Entry
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Policy

MODES = ("open", "analysis", "exact")
CODES = tuple("abcde")


def _database(n: int, mode: str) -> ProtectedDatabase:
    rng = np.random.default_rng(1)
    schema = Schema(
        (
            Variable("region", codes=CODES),
            Variable("sex", codes=("f", "m")),
            Variable("wave", codes=tuple(str(k) for k in range(10))),
            Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC),
            Variable("hours", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        )
    )
    table = pl.DataFrame(
        {
            "region": rng.choice(CODES, n),
            "sex": rng.choice(["f", "m"], n),
            "wave": rng.choice([str(k) for k in range(10)], n),
            "pay": rng.lognormal(3, 0.5, n).round(2),
            "hours": rng.normal(50, 10, n).round(1),
        }
    )
    policy = Policy(mode=mode, test=mode == "open", filters=("region", "sex", "wave"), responses=("pay", "hours"))
    ledger = tempfile.mkdtemp() + "/bench.ledger"
    return ProtectedDatabase(Microdata.of(table, schema), policy=policy, secret=1, test_secret=True, ledger=ledger)


def _ask(database: ProtectedDatabase) -> int:
    """A regression with seven columns; each time of another set, for a repeated one is read from the ledger."""
    number = len(database.history())
    where = "TRUE" if number == 0 else f"wave <> '{number % 10}'"
    database.ask(f"SELECT LINREG(pay, region, sex, hours) FROM data WHERE {where}", user="u")
    return 1


def _maker(mode: str) -> Callable[[int], ProtectedDatabase]:
    return lambda n: _database(n, mode)


def entries() -> list[Entry]:
    """Growing files in each mode."""
    sizes = (10_000, 100_000, 1_000_000)
    return [Entry(f"a linear regression, mode {mode}", sizes, _maker(mode), _ask) for mode in MODES]


if __name__ == "__main__":
    for name in MODES:
        made = _database(1_000_000, name)
        for _ in range(2):
            start = time.process_time()
            _ask(made)
            print(f"{name}: {time.process_time() - start:.2f} s of processor time")
