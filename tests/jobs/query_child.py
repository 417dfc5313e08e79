"""What child processes of the crash and race tests do: a small protected database, asked until killed.

`crash` asks random queries and dies at a step of one of them; `race` asks one half of each jointly unsafe pair.
"""

import itertools
import os
import signal
import time
from pathlib import Path

import numpy as np
import polars as pl

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.ledger.anchor import Anchor
from reticent.ledger.store import SqliteStore
from reticent.queries.database import ProtectedDatabase
from reticent.queries.engine import Engine
from reticent.queries.policy import Policy
from reticent.queries.refusals import Answer

STEPS = ("before-decide", "after-decide", "before-log", "after-log", "before-anchor", "after-anchor", "before-answer")
PAIRS = 12


SIZE = 12


def open_db(
    folder: Path, *, pairs: int = PAIRS, ledger: object = None, anchor: Path | None = None
) -> ProtectedDatabase:
    """Groups of twelve persons, one of them odd."""
    rng = np.random.default_rng(2)
    n = SIZE * pairs
    pair = np.repeat(np.arange(pairs), SIZE)
    odd = np.arange(n) % SIZE == 0
    schema = Schema(
        (
            Variable("pair", role=Role.KEY, kind=Kind.NUMERIC),
            Variable("odd", role=Role.KEY, kind=Kind.NUMERIC),
            Variable("x", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        )
    )
    table = pl.DataFrame({"pair": pair, "odd": odd.astype(int), "x": rng.integers(1, 50, n)})
    policy = Policy(filters=("pair", "odd"), responses=("x",))
    place = folder / "d.ledger" if ledger is None else ledger
    return ProtectedDatabase(
        Microdata.of(table, schema), policy=policy, secret=3, test_secret=True, ledger=place, anchor=anchor
    )  # type: ignore[arg-type]


def half(pair: int, which: int) -> str:
    """One of two queries of which only one may ever be answered."""
    return f"SELECT SUM(x) FROM data WHERE pair = {pair}" + (" AND odd = 0" if which else "")


def die() -> None:
    """As if the machine had lost power, for this process."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_at(step: str) -> None:
    """Wrap the stages of a decision so that the process dies at one of them."""
    owner, name = {
        "before-decide": (Engine, "_decide"),
        "after-decide": (Engine, "_payload"),
        "before-log": (SqliteStore, "append"),
        "after-log": (SqliteStore, "append"),
        "before-anchor": (Anchor, "write"),
        "after-anchor": (Anchor, "write"),
        "before-answer": (Engine, "_note"),
    }[step]
    original = getattr(owner, name)

    def wrapped(*args: object, **options: object) -> object:
        if not step.startswith("after"):
            die()
        result = original(*args, **options)
        die()
        return result

    setattr(owner, name, wrapped)


def crash(folder: Path, step: str, seed: int) -> None:
    """Ask random queries, writing each answer down only when it has arrived; die in the middle."""
    db = open_db(folder)
    rng = np.random.default_rng(seed)
    fatal = int(rng.integers(0, 6))
    with (folder / "received").open("a") as received:
        for number in itertools.count():
            if step in STEPS and number == fatal:
                die_at(step)
            pair, which = int(rng.integers(0, PAIRS)), int(rng.integers(0, 2))
            result = db.ask(half(pair, which), user="u")
            verdict = result.value if isinstance(result, Answer) else result.code.value
            received.write(f"{pair} {which} {verdict}\n")
            received.flush()


def race(folder: Path, which: int, pairs: int, url: str | None) -> None:
    """Wait at each pair for the other process, then ask."""
    db = open_db(folder, pairs=pairs, ledger=url, anchor=folder / "anchor" if url else None)
    for number in range(pairs):
        (folder / f"ready-{which}-{number}").touch()
        while not (
            folder / f"ready-{1 - which}-{number}"
        ).exists():  # whoever started both ends this one with the other
            time.sleep(0.0002)
        result = db.ask(half(number, which), user=f"u{which}")
        with (folder / f"result-{which}").open("a") as out:
            out.write(f"{number} {int(isinstance(result, Answer))}\n")
