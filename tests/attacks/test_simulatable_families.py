"""Random twin databases under `simulatable`: the same records and gaps, other values, random questions, the same verdicts.

Values are random, constant, mostly 0, of any size, 0 or 1, multiples of each other, or what a filter determines. The fixture
is what version 0.1.0 replied (verdicts and errors, no answers):

    PYTHONPATH=<tree of version 0.1.0>/src python tests/attacks/test_simulatable_families.py <fixture>
"""

import dataclasses
import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from reticent.base import randomness
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Bounds, Policy
from reticent.queries.refusals import Answer

FIXTURE = Path(__file__).parent / "fixtures" / "v010" / "simulatable_families.json"
CODES = {"dep": "abc", "g": "01", "t": "123"}
RESPONSES = ("x", "y", "e")
SCHEMA = Schema(
    (
        Variable("dep", codes=tuple("abc")),
        Variable("g", codes=tuple("01")),
        Variable("t", kind=Kind.ORDINAL, codes=tuple("123")),
        *(Variable(name, role=Role.SENSITIVE, kind=Kind.NUMERIC) for name in RESPONSES),
    )
)
ITEMS = (
    "SUM(x)", "AVG(x)", "VARIANCE(x)", "STDDEV(y)", "VARIANCE(y)", "COUNT(x)", "SUM(e)", "KM(t, e)", "VARIANCE(e)",
    "AVG(e), COUNT(*)",
)  # fmt: skip
GROUPS = ("", "", " GROUP BY dep", " GROUP BY dep, g WITH TOTALS")


def questions(rng: np.random.Generator, many: int = 5) -> list[str]:
    """What an analyst may ask, variances and tables among it."""
    found = []
    for _ in range(many):
        parts = [
            f"{name} {rng.choice(['=', '<>'])} '{rng.choice(list(codes))}'"
            for name, codes in CODES.items()
            if rng.random() < 0.4
        ]
        where = f" WHERE {' AND '.join(parts)}" if parts else ""
        found.append(f"SELECT {rng.choice(ITEMS)} FROM data{where}{rng.choice(GROUPS)}")
    return found


def values(rng: np.random.Generator, filters: dict[str, list[str]]) -> np.ndarray[Any, Any]:
    """One of many kinds of values for the same records."""
    n = len(filters["dep"])
    kinds = (
        lambda: rng.normal(100, 20, n).round(2),
        lambda: np.full(n, 7.0),
        lambda: np.array([{"a": 1.0, "b": 2.0, "c": 5.0}[code] for code in filters["dep"]]),
        lambda: np.array([float(code) for code in filters["g"]]),
        lambda: rng.choice([1e300, -1e300, 1e-300], n),
        lambda: np.eye(n)[0] * 1e9,
    )
    return kinds[int(rng.integers(len(kinds)))]()


def family(seed: int, twins: int = 3) -> tuple[list[pl.DataFrame], list[str]]:
    """Databases that differ in values only, and what to ask all of them."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([8, 12, 20]))
    filters = {name: rng.choice(list(codes), n).tolist() for name, codes in CODES.items()}
    gaps = rng.random(n) < (0.15 if rng.random() < 0.3 else 0.0)
    asked, tables = questions(rng), []
    for _ in range(twins):
        x = values(rng, filters)
        y = 2 * x if rng.random() < 0.2 else values(rng, filters)
        events = (rng.integers(0, 2, n), np.zeros(n), np.array([int(code) for code in filters["g"]]))
        e = events[int(rng.integers(3))]
        known = [None if gap else float(v) for v, gap in zip(x, gaps)]
        tables.append(pl.DataFrame({**filters, "x": known, "y": y.tolist(), "e": e.astype(float).tolist()}))
    return tables, asked


def replies(table: pl.DataFrame, asked: Iterable[str]) -> list[str]:
    """What an analyst sees apart from answers: verdicts, hidden values, errors."""
    policy = Policy(mode="simulatable", filters=tuple(CODES), responses=RESPONSES, bounds={"e": Bounds(0, 1, True)})
    test = {"test_secret": True} if hasattr(randomness, "release_secret") else {}  # version 0.1.0 took any secret
    seen: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            db = ProtectedDatabase(
                Microdata.of(table, SCHEMA), policy=policy, secret=1, ledger=Path(folder) / "twin.ledger", **test
            )
            for question in asked:
                reply = db.ask(question, user="u")
                seen.append(str([row.hidden for row in reply.rows]) if isinstance(reply, Answer) else reply.code.value)
            db.close()
        except Exception as err:
            seen.append(f"{type(err).__name__}: {err}")
    return seen


def transcripts(seeds: Iterable[int]) -> dict[str, list[list[str]]]:
    """The replies of every twin of each family."""
    found = {}
    for seed in seeds:
        tables, asked = family(seed)
        found[str(seed)] = [replies(table, asked) for table in tables]
    return found


def told_apart(families: dict[str, list[list[str]]]) -> int:
    """The attack: in how many families something that is not an answer depends on values."""
    return sum(any(seen != twins[0] for seen in twins) for twins in families.values())


def test_no_reply_depends_on_values() -> None:
    before = json.loads(FIXTURE.read_text(encoding="utf-8"))
    today = transcripts(map(int, before))
    assert told_apart(before) >= 0.8 * len(before)
    assert told_apart(today) == 0
    seen = [reply for twins in today.values() for reply in twins[0]]
    assert not any("Error" in reply for reply in seen)
    assert {"RISK", "[(False,)]"} <= set(seen), "some are answered, some refused"


@pytest.mark.deep
def test_no_reply_depends_on_values_in_three_hundred_families() -> None:
    assert told_apart(transcripts(range(1_000, 1_300))) == 0


if __name__ == "__main__":
    assert "test" not in {field.name for field in dataclasses.fields(Policy)}, "this is not version 0.1.0"
    Path(sys.argv[1]).write_text(json.dumps(transcripts(range(8)), indent=1) + "\n", encoding="utf-8")
