"""A database that starts from a snapshot decides like one that works through its whole ledger; a forged one is not used."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.audit.auditor import Auditor
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Policy

KEYS = ("a", "b", "c")
SCHEMA = Schema(
    (
        *(Variable(name, role=Role.KEY, codes=("0", "1", "2", "3", "4")) for name in KEYS),
        Variable("x", role=Role.SENSITIVE, kind=Kind.NUMERIC),
    )
)
POLICY = Policy(filters=KEYS, responses=("x",), minimum=3, dominance=(1, 60))


def opened(folder: Path, *, policy: Policy = POLICY, value: float | None = None) -> ProtectedDatabase:
    rng = np.random.default_rng(3)
    columns: dict[str, object] = {name: rng.integers(0, 5, 400).astype(str) for name in KEYS}
    columns["x"] = rng.integers(1, 500, 400).astype(float)
    if value is not None:
        columns["x"][0] = value  # type: ignore[index]
    data = Microdata.of(pl.DataFrame(columns), SCHEMA)
    return ProtectedDatabase(data, policy=policy, secret=4, test_secret=True, ledger=folder / "d.ledger")


def ask(db: ProtectedDatabase, first: int, last: int) -> list[dict[str, object]]:
    found = []
    for number in range(first, last):
        rng = np.random.default_rng(number)
        parts = [f"{k} IN ({', '.join(repr(str(c)) for c in rng.choice(5, rng.integers(1, 4), False))})" for k in KEYS]
        what = str(rng.choice(["SUM(x)", "SUM(x)", "AVG(x)", "VARIANCE(x)"]))
        found.append(db.ask(f"SELECT {what} FROM data WHERE {' AND '.join(parts)}", user="u").as_json())
    return found


@pytest.fixture
def replayed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The releases that were worked through again."""
    seen: list[int] = []
    original: Callable[..., None] = Auditor.replay

    def counted(self: Auditor, row: object, release: int) -> None:
        seen.append(release)
        original(self, row, release)

    monkeypatch.setattr(Auditor, "replay", counted)
    return seen


@pytest.mark.slow
def test_decisions_are_the_same_with_and_without_a_snapshot(tmp_path: Path, replayed: list[int]) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    uninterrupted = opened(whole)
    expected = ask(uninterrupted, 0, 90)
    db = opened(tmp_path)
    found = ask(db, 0, 50)
    db._engine.store_snapshot(least=1)
    found += ask(db, 50, 60)
    db._ledger.close()  # as after a crash: what came after the snapshot is only in the ledger
    state = tmp_path / "d.ledger.anchor.state"
    assert state.stat().st_mode & 0o077 == 0
    again = opened(tmp_path)
    after = set(replayed)
    assert after, "what the snapshot does not cover is replayed"
    assert min(after) > 50, "what it covers is not"
    found += ask(again, 60, 90)
    assert found == expected
    assert {f["answered"] for f in found} == {True, False}
    assert ask(again, 0, 50) == expected[:50], "released values are as they were"
    again.close()


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["flipped", "shortened", "foreign", "empty"])
def test_a_snapshot_that_cannot_be_trusted_is_not_used(tmp_path: Path, replayed: list[int], damage: str) -> None:
    db = opened(tmp_path)
    expected = ask(db, 0, 40)
    db._engine.store_snapshot(least=1)
    db.close()
    state = tmp_path / "d.ledger.anchor.state"
    content = bytearray(state.read_bytes())
    if damage == "flipped":
        content[len(content) // 2] ^= 1
    elif damage == "foreign":
        other = tmp_path / "other"
        other.mkdir()
        twin = opened(other)
        ask(twin, 20, 40)
        twin._engine.store_snapshot(least=1)
        content = bytearray((other / "d.ledger.anchor.state").read_bytes())  # signed with the same secret
    replayed.clear()
    state.write_bytes(bytes(content[: {"shortened": 100, "empty": 0}.get(damage, len(content))]))
    again = opened(tmp_path)
    assert replayed, "everything is worked out from the ledger"
    assert ask(again, 0, 40) == expected


def test_another_policy_does_not_use_it(tmp_path: Path, replayed: list[int]) -> None:
    db = opened(tmp_path)
    ask(db, 0, 40)
    db._engine.store_snapshot(least=1)
    db.close()
    opened(tmp_path).close()
    assert not replayed, "the same policy does"
    opened(tmp_path, policy=Policy(**{**POLICY.__dict__, "minimum": 4})).close()
    assert replayed
