"""Factors that stay: averaging over universes comes to a respondent's blurred value, never to the true one."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.analysis.blur import blur_factors, blurred, respondent_ids
from reticent.queries.analysis.drop_q import kept_rows
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Policy
from reticent.queries.refusals import Answer

SECRET = as_secret(8)
SCHEMA = Schema(
    (
        Variable("firm", role=Role.IDENTIFIER),
        Variable("holding", role=Role.ENTITY),
        Variable("region", codes=("n", "s")),
        Variable("turnover", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        Variable("exports", role=Role.SENSITIVE, kind=Kind.NUMERIC),
    )
)


def data(first: int = 0, n: int = 200) -> Microdata:
    rng = np.random.default_rng(1)
    table = pl.DataFrame(
        {
            "firm": [f"f{i}" for i in range(n)],
            "holding": [f"h{i // 2}" for i in range(n)],
            "region": ["n", "s"] * (n // 2),
            "turnover": rng.lognormal(5, 0.5, n).round(),
            "exports": rng.integers(0, 2, n),
        }
    )
    return Microdata.of(table[first:], SCHEMA)


def test_factors_leave_a_gap_around_one_and_are_even() -> None:
    factors = blur_factors(np.arange(20_000, dtype=np.uint64), "y", blur=0.1, secret=SECRET) - 1
    assert np.abs(factors).min() >= 0.05
    assert np.abs(factors).max() <= 0.1
    assert abs(factors.mean()) < 0.002
    assert np.abs(factors).mean() == pytest.approx(0.075, abs=0.001)
    other = blur_factors(np.arange(20_000, dtype=np.uint64), "x", blur=0.1, secret=SECRET) - 1
    assert abs(np.corrcoef(factors, other)[0, 1]) < 0.03


def test_a_respondent_has_one_factor_in_all_its_records_and_all_versions() -> None:
    old, new = data(), data(first=30)
    one = blur_factors(respondent_ids(old), "turnover", blur=0.1, secret=SECRET)
    two = blur_factors(respondent_ids(new), "turnover", blur=0.1, secret=SECRET)
    assert np.array_equal(one[30:], two)
    assert np.array_equal(one[::2], one[1::2])
    assert len(np.unique(one)) == 100


def test_zeros_and_ones_stay() -> None:
    values = np.array([0.0, 1.0, np.nan, 1.0])
    assert np.array_equal(blurred(values, np.full(4, 1.1)), values, equal_nan=True)
    assert blurred(np.array([0.0, 2.0]), np.full(2, 1.1)).tolist() == [0.0, 2.2]


def test_averaging_over_universes_comes_to_the_blurred_value() -> None:
    """A thousand universes within the target's stratum: the dropped records average out, the factor does not."""
    rng = np.random.default_rng(5)
    n, target = 300, 7
    ids, stratum = np.arange(n, dtype=np.uint64), np.zeros(n, dtype=np.int64)
    values = rng.lognormal(3, 0.4, n)
    values[target] = 400.0
    mask = values * blur_factors(ids, "y", blur=0.1, secret=SECRET)
    found = {"plain": [], "blurred": []}
    for _ in range(1500):
        universe = np.flatnonzero(rng.random(n) < 0.6)
        without, whole = universe[universe != target], np.union1d(universe, [target])
        left, right = (kept_rows(rows, ids, stratum, most=5, secret=SECRET) for rows in (whole, without))
        if target in left:
            found["plain"].append(values[left].sum() - values[right].sum())
            found["blurred"].append(mask[left].sum() - mask[right].sum())
    assert np.mean(found["plain"]) == pytest.approx(values[target], rel=0.01)
    assert np.mean(found["blurred"]) == pytest.approx(mask[target], rel=0.01)
    assert abs(np.mean(found["blurred"]) / values[target] - 1) > 0.04


def test_totals_stay_near(tmp_path: Path) -> None:
    policy = Policy(mode="analysis", filters=("region",), responses=("turnover", "exports"))
    db = ProtectedDatabase(data(), policy=policy, secret=4, test_secret=True, ledger=tmp_path / "b.ledger")
    truth = data().numbers(("turnover",))[:, 0]
    assert db.ask("SELECT AVG(turnover) FROM data", user="u").value == pytest.approx(truth.mean(), rel=0.03)
    kept = db.ask("SELECT SUM(exports), COUNT(exports) FROM data", user="u").rows[0].values
    assert kept[0] == int(kept[0])


@pytest.mark.parametrize("firms, answered", [(1, True), (4, True), (12, False)])
def test_a_universe_needs_respondents_not_records(firms: int, answered: bool, tmp_path: Path) -> None:
    """Two hundred records of 200, 50 and 17 holdings; twenty are needed."""
    table = pl.DataFrame(
        {
            "firm": [f"f{i}" for i in range(200)],
            "holding": [f"h{i // firms}" for i in range(200)],
            "region": ["n"] * 200,
            "turnover": np.arange(200) + 50.0,
            "exports": [0, 1] * 100,
        }
    )
    policy = Policy(mode="analysis", filters=("region",), responses=("turnover", "exports"))
    db = ProtectedDatabase(
        Microdata.of(table, SCHEMA), policy=policy, secret=4, test_secret=True, ledger=tmp_path / "r.ledger"
    )
    assert isinstance(db.ask("SELECT SUM(turnover) FROM data", user="u"), Answer) == answered
