"""The private mode: noise of the stated scale, a budget that survives restarts, repeated answers for free."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import PlanError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Bounds, Policy
from reticent.queries.refusals import Answer, Refusal

pytest.importorskip("opendp")
SCHEMA = Schema(
    (
        Variable("firm", role=Role.ENTITY),
        Variable("dep", codes=("a", "b")),
        Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC),
    )
)


def _open(
    folder: Path, *, total: float = 1.0, epsilon: float = 0.25, bounds: Bounds | None = None
) -> ProtectedDatabase:
    n = 300
    columns = {"firm": np.arange(n) // 2, "dep": ["a", "b"] * (n // 2), "pay": np.full(n, 50.0)}
    policy = Policy(
        mode="private",
        filters=("dep",),
        responses=("pay",),
        bounds={"pay": bounds or Bounds(low=0, high=100)},
        options={"private": {"total": total, "epsilon": epsilon, "contributions": 2}},
    )
    data = Microdata.of(pl.DataFrame(columns), SCHEMA)
    return ProtectedDatabase(data, policy=policy, secret=1, test_secret=True, ledger=folder / "p.ledger")


def test_budget_is_spent_once_and_remembered(tmp_path: Path) -> None:
    db = _open(tmp_path)
    first = db.ask("SELECT SUM(pay) FROM data", user="u")
    assert isinstance(first, Answer)
    assert db.ask("SELECT SUM(pay) FROM data", user="v").value == first.value
    for code in "ab":
        assert isinstance(db.ask(f"SELECT COUNT(*) FROM data WHERE dep = '{code}'", user="u"), Answer)
    db.close()
    again = _open(tmp_path)
    assert isinstance(again.ask("SELECT COUNT(*) FROM data", user="u"), Answer)
    refused = again.ask("SELECT AVG(pay) FROM data", user="u")
    assert isinstance(refused, Refusal)
    assert refused.code.value == "BUDGET"
    assert again.ask("SELECT SUM(pay) FROM data", user="w").value == first.value


def test_noise_has_the_stated_scale(tmp_path: Path) -> None:
    """Laplace noise of scale contributions/epsilon: its mean absolute value is that scale."""
    mode = _open(tmp_path, total=1e6)._engine.mode
    draws = np.array([mode._noisy_count(100, 0.25) - 100 for _ in range(2000)])
    assert np.abs(draws).mean() == pytest.approx(8.0, rel=0.12)
    assert abs(draws.mean()) < 1.0


def test_bounds_are_needed(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="needs low and high bounds"):
        _open(tmp_path, bounds=Bounds(low=0)).ask("SELECT SUM(pay) FROM data", user="u")
