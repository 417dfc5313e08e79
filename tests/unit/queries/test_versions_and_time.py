"""Differences between versions are audited; when an answer leaves does not show how long it took."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import PlanError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries import database as module
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Limits, Policy
from reticent.queries.refusals import Answer, Refusal

SCHEMA = Schema(
    (
        Variable("id", role=Role.IDENTIFIER),
        Variable("dep", codes=("a", "b")),
        Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC),
    )
)
TARGET = 4


def frame() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {"id": [f"p{i}" for i in range(20)], "dep": ["a"] * 10 + ["b"] * 10, "pay": rng.integers(20, 90, 20)}
    )


def changed(what: str) -> pl.DataFrame:
    table = frame()
    if what == "left":
        return table.filter(pl.col("id") != f"p{TARGET}")
    if what == "moved":
        return table.with_columns(dep=pl.when(pl.col("id") == f"p{TARGET}").then(pl.lit("b")).otherwise(pl.col("dep")))
    if what == "rise":
        return table.with_columns(
            pay=pl.when(pl.col("id") == f"p{TARGET}").then(pl.col("pay") + 7).otherwise(pl.col("pay"))
        )
    return table.with_columns(pay=pl.col("pay") + pl.Series(np.arange(20) + 1))


def database(folder: Path, mode: str, **facts) -> ProtectedDatabase:
    policy = Policy(mode=mode, test=mode == "open", filters=("dep",), responses=("pay",), minimum=3)
    table = facts.pop("table", frame())
    return ProtectedDatabase(
        Microdata.of(table, SCHEMA), policy=policy, secret=2, test_secret=True, ledger=folder / "v.ledger", **facts
    )


def ask_twice(folder: Path, mode: str, what: str, where: str) -> tuple[Answer | Refusal, Answer | Refusal]:
    folder.mkdir()
    text = f"SELECT SUM(pay) FROM data WHERE {where}"
    first = database(folder, mode)
    before = first.ask(text, user="ann")
    first.close()
    second = database(folder, mode, table=changed(what), version="2", earlier=[("1", Microdata.of(frame(), SCHEMA))])
    return before, second.ask(text, user="bob")


@pytest.mark.parametrize(
    "what, where, secret",
    [
        ("left", "TRUE", lambda pay: pay),
        ("left", "dep = 'a'", lambda pay: pay),
        ("moved", "dep = 'b'", lambda pay: -pay),
        ("rise", "TRUE", lambda pay: -7),
    ],
)
def test_a_difference_between_versions_is_a_query_too(what: str, where: str, secret, tmp_path: Path) -> None:
    """One person left, moved or got a rise: the open database tells by how much, the audited ones refuse."""
    before, after = ask_twice(tmp_path / "open", "open", what, where)
    pay = float(frame()["pay"][TARGET])
    assert before.value - after.value == secret(pay)
    if what == "rise":  # refusals that depend on no value cannot protect changed values
        with pytest.raises(PlanError, match="other values than in an earlier version"):
            ask_twice(tmp_path / "simulatable", "simulatable", what, where)
    for mode in ("exact",) if what == "rise" else ("exact", "simulatable"):
        first, second = ask_twice(tmp_path / mode, mode, what, where)
        assert isinstance(first, Answer)
        assert isinstance(second, Refusal)


def test_a_version_that_changes_everybody_is_answered(tmp_path: Path) -> None:
    before, after = ask_twice(tmp_path / "exact", "exact", "everybody", "TRUE")
    assert isinstance(before, Answer)
    assert isinstance(after, Answer)


class _Clock:
    """Time that passes only where a test moves it on."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize("tick, gone", [(0.5, [0.5, 0.5, 1.0]), (0.0, [0.01, 0.37, 0.61])])
def test_results_leave_at_ticks(
    tick: float, gone: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer, a refusal and a syntax error that took 0.01, 0.37 and 0.61 seconds; an error of the caller waits too."""
    policy = Policy(filters=("dep",), responses=("pay",), limits=Limits(tick=tick))
    db = ProtectedDatabase(
        Microdata.of(frame(), SCHEMA), policy=policy, secret=2, test_secret=True, ledger=tmp_path / "t.ledger"
    )
    clock = _Clock()
    monkeypatch.setattr(module, "time", clock)
    real, work = db._engine.ask, iter([0.01, 0.37, 0.61])

    def slow(*args, **facts):
        clock.now += next(work)
        return real(*args, **facts)

    monkeypatch.setattr(db._engine, "ask", slow)
    found = []
    for text in ("SELECT SUM(pay) FROM data", "SELECT SUM(pay) FROM data WHERE dep = 'x'", "SELEC"):
        start = clock.now
        db.ask(text, user="ann")
        found.append(clock.now - start)
    assert found == pytest.approx(gone)
    assert "the time until" in db.leakage[-1]
    assert ("in steps of 0.5 seconds" in db.leakage[-1]) == (tick > 0)
