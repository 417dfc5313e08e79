"""Regression attacks (SORT 35, 2011): they work on an open regression and are refused or blunted by the rules."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.analysis.regression import RegressionRules
from reticent.queries.attacks.regression import (
    dummy_attack,
    generated_firms,
    outlier_attack,
    outlier_variable,
    strategic_dummy,
    sweep_dummy,
    sweep_outlier,
)
from reticent.queries.attacks.risk_tables import RiskRow, table_1, table_2, table_3
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Policy
from reticent.queries.refusals import Answer, Code, Refusal

RULES = RegressionRules(least=10, r_squared=0.99, leverage=0.5)


def test_outlier_recovers_values_of_unique_sizes_on_an_open_regression() -> None:
    firms = generated_firms(800, unique_sizes=True)
    errors = []
    for row in range(800):
        found = outlier_attack(firms.size, firms.turnover, guess=firms.size[row], epsilon=1e-4)
        assert found is not None
        errors.append(abs(found - firms.turnover[row]) / firms.turnover[row])
    assert np.mean(errors) < 0.002


def test_dummy_recovers_the_value_exactly() -> None:
    firms = generated_firms(800, unique_sizes=True)
    for row in range(0, 800, 8):
        found = dummy_attack(firms.columns, firms.turnover, guess=firms.columns[row], width=np.zeros(4))
        assert found == pytest.approx(firms.turnover[row], rel=1e-9)


def test_the_variance_of_a_dummy_tells_that_it_is_unique() -> None:
    """Erratum 15: 1/n − 1/n², or 1/n with the divisor n − 1."""
    firms = generated_firms(800, unique_sizes=True)
    dummy = strategic_dummy(firms.columns, firms.columns[5], np.zeros(4))
    assert dummy.var() == pytest.approx(1 / 800 - 1 / 800**2, rel=1e-12)
    assert dummy.var(ddof=1) == pytest.approx(1 / 800, rel=1e-12)


def test_an_outlier_shared_by_several_gives_their_mean() -> None:
    """Erratum 19: with q records alike the limit of the fitted value is their mean."""
    firms = generated_firms(800)
    size = np.round(firms.size / 50) * 50
    alike = size == size[np.argmax(np.bincount(size.astype(int))[size.astype(int)] == 3)]
    assert alike.sum() == 3
    found = outlier_attack(size, firms.turnover, guess=float(size[alike][0]), epsilon=1e-9)
    assert found == pytest.approx(firms.turnover[alike].mean(), rel=1e-6)


def test_outliers_are_refused_or_blunted_over_the_sweep() -> None:
    firms = generated_firms(800, unique_sizes=True)
    lines = sweep_outlier(
        firms, RULES, epsilons=(10.0, 1.0, 0.1, 1e-2, 1e-4, 1e-6), knowledge=(0.0, 0.001, 0.01, 0.05), targets=30
    )
    assert min(line.open_error for line in lines) < 0.002
    for line in lines:
        # leverage at most one half: what is answered comes from others for the larger part
        assert (line.refused == 1.0) == (line.own_weight is None)
        assert line.own_weight is None or line.own_weight <= 0.5, line
        if line.open_error < 0.02:
            assert line.refused == 1.0, line
    assert any(line.refused < 1.0 for line in lines)


def test_dummies_are_absorbed_over_the_sweep() -> None:
    firms = generated_firms(2000)
    lines = sweep_dummy(firms, RULES, widths=(0.0, 0.01, 0.05, 0.2, 1.0), targets=40)
    assert lines[0].open_error < lines[-1].open_error
    for line in lines:
        # an indicator has ten records at least
        assert line.refused == 1.0 or (line.own_weight is not None and line.own_weight <= 0.1 + 1e-9), line


SCHEMA = Schema(
    (
        Variable("trade", codes=("a", "b")),
        Variable("z", kind=Kind.NUMERIC),
        Variable("turnover", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        Variable("w", role=Role.SENSITIVE, kind=Kind.NUMERIC),
    )
)


def _asked(folder: Path, mode: str, z: np.ndarray, turnover: np.ndarray, model: str) -> dict[str, float] | None:
    """The coefficients of a model in a database whose owner was so careless as to hold the attacker's variable."""
    trade = np.where(np.arange(len(z)) % 2 == 0, "a", "b")
    data = Microdata.of(pl.DataFrame({"trade": trade, "z": z, "turnover": turnover, "w": z}), SCHEMA)
    policy = Policy(mode=mode, test=mode == "open", filters=("trade", "z"), responses=("turnover", "w"))
    folder.mkdir()
    db = ProtectedDatabase(data, policy=policy, secret=6, test_secret=True, ledger=folder / "s.ledger")
    result = db.ask(f"SELECT LINREG(turnover, {model}) FROM data", user="eve")
    db.close()
    return result.value["coefficients"] if isinstance(result, Answer) else None


@pytest.mark.parametrize("model", ["z", "w", "trade, z, trade * z"])
@pytest.mark.parametrize("off", [0.0, 0.001, 0.02])
def test_the_sweep_against_the_mode_itself(off: float, model: str, tmp_path: Path) -> None:
    """ε from 1 to 1e−6: wherever the open database gives the target away, the analysis mode does not."""
    firms = generated_firms(400, unique_sizes=True)
    row, told = 300, 0
    for epsilon in (1.0, 1e-2, 1e-4, 1e-6):
        z = outlier_variable(firms.size, float(firms.size[row]) * (1 + off), epsilon)
        name = model.split(",")[0] if "," not in model else "z"
        found = {}
        for mode in ("open", "analysis"):
            fit = _asked(tmp_path / f"{mode}{epsilon:g}", mode, z, firms.turnover, model)
            if fit is not None and name in fit:
                own = "a" if row % 2 == 0 else "b"
                added = fit.get(f"trade[{own}]", 0.0) + fit.get(f"trade[{own}] * z", 0.0) * float(z.max())
                found[mode] = fit["(intercept)"] + fit[name] * float(z.max()) + added
        truth = firms.turnover[row]
        told += abs(found["open"] - truth) / truth < 0.01
        assert "analysis" not in found or abs(found["analysis"] - truth) / truth > 0.05
    assert told >= (2 if off == 0 else 0)


@pytest.mark.parametrize("width", [0.0, 0.02, 0.1])
def test_dummies_against_the_mode_itself(width: float, tmp_path: Path) -> None:
    firms = generated_firms(1000)
    row = int(np.argsort(firms.size)[-3])
    widths = np.append(width * firms.size[row], np.zeros(3))
    dummy = strategic_dummy(firms.columns, firms.columns[row], widths)
    assert dummy.sum() == 1
    openly = _asked(tmp_path / "open", "open", dummy, firms.turnover, "z")
    assert openly is not None
    assert openly["(intercept)"] + openly["z"] == pytest.approx(firms.turnover[row], rel=1e-9)
    guarded = _asked(tmp_path / "analysis", "analysis", dummy, firms.turnover, "z")
    assert guarded is None or "z" not in guarded


def test_the_attackers_transform_cannot_be_asked_at_all(tmp_path: Path) -> None:
    firms = generated_firms(200)
    data = Microdata.of(
        pl.DataFrame({"trade": ["a", "b"] * 100, "z": firms.size, "turnover": firms.turnover, "w": firms.size}), SCHEMA
    )
    policy = Policy(mode="open", test=True, filters=("trade", "z"), responses=("turnover", "w"))
    db = ProtectedDatabase(data, policy=policy, secret=6, test_secret=True, ledger=tmp_path / "s.ledger")
    for term in ("1 / (ABS(z - 55) + 0.0001)", "POWER(z, 9)", "EXP(z)", "z = 55", "CASE WHEN z = 55 THEN 1 END"):
        refused = db.ask(f"SELECT LINREG(turnover, {term}) FROM data", user="eve")
        assert isinstance(refused, Refusal), term
        assert refused.code is Code.UNSUPPORTED


@pytest.fixture(scope="module")
def tables() -> tuple[list[RiskRow], list[RiskRow], list[RiskRow]]:
    firms = generated_firms(12_814)  # as many as in the source
    return table_1(firms), table_2(firms), table_3(firms)


def test_tables_have_the_rows_of_the_source(tables: tuple[list[RiskRow], ...]) -> None:
    first, second, third = tables
    quantiles = [None, 0.5, 0.75, 0.9, 0.99]
    assert [row.quantile for row in first] == [row.quantile for row in second] == quantiles
    assert first[0].n == 12_814
    assert [(row.quantile, row.indicators) for row in third] == [
        (quantile, indicators)
        for quantile in quantiles
        for indicators in ("exact size", "approx. size", "+ federal state", "+ legal form", "+ branch")
    ]


def test_tables_say_what_the_source_says(tables: tuple[list[RiskRow], ...]) -> None:
    """Risk grows with size and with knowledge; who is unique is lost, others are not; table 3 agrees with table 1."""
    first, second, third = tables
    for rows in (first, second):
        shares = [row.unique for row in rows]
        assert shares == sorted(shares)
        assert shares[0] < 0.2 < 0.8 < shares[-1]
        for row in rows:
            assert row.error_unique is not None
            assert row.error_unique < 0.002
        assert rows[0].error_all > 100 * rows[0].error_unique
    assert all(two.unique > one.unique for one, two in zip(first, second))
    by_quantile = [third[k : k + 5] for k in range(0, 25, 5)]
    for one, rows in zip(first, by_quantile):
        assert rows[0].unique == one.unique
        grows = [row.unique for row in rows[1:]]
        assert grows == sorted(grows)
        assert rows[1].unique < rows[0].unique < rows[4].unique
        assert all(row.error_unique in (0.0, None) for row in rows)
        assert rows[4].error_all < rows[1].error_all


def test_a_table_row_is_what_the_attacks_give() -> None:
    """Closed forms and shared outliers against one regression for each target."""
    firms = generated_firms(300)
    found = [outlier_attack(firms.size, firms.turnover, guess=s, epsilon=1e-4) for s in firms.size]
    error = np.abs(np.array(found) - firms.turnover) / firms.turnover
    assert table_1(firms)[0].error_all == pytest.approx(error.mean())
    for at, known in ((1, 1), (2, 2), (4, 4)):
        mean = []
        for row in range(300):
            width = np.append(0.025 * firms.size[row], np.zeros(known - 1))
            fitted = dummy_attack(
                firms.columns[:, :known], firms.turnover, guess=firms.columns[row, :known], width=width
            )
            mean.append(abs(fitted - firms.turnover[row]) / firms.turnover[row])
        assert table_3(firms)[at].error_all == pytest.approx(np.mean(mean))
