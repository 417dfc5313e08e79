"""The analysis mode: one subsample a record set, universe rules, regression rules, padding that does not help."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.analysis.drop_q import kept_rows
from reticent.queries.analysis.regression import RegressionRules, fit_regression, synthetic_residuals
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Policy
from reticent.queries.refusals import Refusal

SCHEMA = Schema(
    (
        Variable("region", codes=("n", "s")),
        Variable("sex", codes=("f", "m")),
        Variable("veteran", codes=("no", "yes")),
        Variable("age", kind=Kind.NUMERIC),
        Variable("income", role=Role.SENSITIVE, kind=Kind.NUMERIC),
    )
)


def _data(n: int = 400) -> Microdata:
    rng = np.random.default_rng(8)
    veteran = np.full(n, "no", dtype=object)
    veteran[:5] = "yes"
    columns = {
        "region": np.where(np.arange(n) < n // 4, "n", "s"),
        "sex": rng.choice(["f", "m"], n),
        "veteran": veteran,
        "age": rng.integers(20, 60, n),
        "income": rng.lognormal(3, 0.5, n).round(1),
    }
    return Microdata.of(pl.DataFrame(columns), SCHEMA)


def _open(folder: Path, **options) -> ProtectedDatabase:
    policy = Policy(
        mode="analysis",
        filters=("region", "sex", "veteran", "age"),
        responses=("income",),
        cutpoints={"age": (30.0, 40.0, 50.0)},
        options={"analysis": {"gamma": 20, "strata": ["region"], **options}},
    )
    return ProtectedDatabase(_data(), policy=policy, secret=5, test_secret=True, ledger=folder / "a.ledger")


def test_spellings_share_one_subsample(tmp_path: Path) -> None:
    db = _open(tmp_path)
    first = db.ask("SELECT SUM(income) FROM data WHERE sex = 'f'", user="u").value
    second = db.ask("SELECT SUM(income) FROM data WHERE NOT sex = 'm'", user="v").value
    assert first == second
    data = _data()
    chosen = np.array([text == "f" for text in data.texts("sex")])
    truth = data.numbers(("income",))[chosen, 0].sum()
    assert first != truth
    assert abs(first - truth) / truth < 0.2


def test_small_universes_are_refused(tmp_path: Path) -> None:
    db = _open(tmp_path)
    assert isinstance(db.ask("SELECT AVG(income) FROM data WHERE veteran = 'yes'", user="u"), Refusal)
    joint = "SELECT AVG(income) FROM data WHERE sex = 'f' OR veteran = 'yes'"
    assert isinstance(db.ask(joint, user="u"), Refusal)


SETS = {
    "answered": [
        "sex = 'f'",
        "NOT sex = 'm'",
        "sex <> 'm'",
        "sex IN ('f')",
        "sex IN ('f', 'nobody')",
        "(sex = 'f' AND region = 'n') OR (sex = 'f' AND region = 's')",
        "(sex = 'f' AND veteran = 'yes') OR (sex = 'f' AND veteran = 'no')",
        "sex = 'f' AND (age < 30 OR age >= 30)",
        "sex = 'f' OR (sex = 'f' AND veteran = 'yes')",
        "NOT (sex = 'm' OR (sex = 'm' AND veteran = 'no'))",
    ],
    "refused": [
        "sex = 'f' OR veteran = 'yes'",
        "NOT (sex = 'm' AND veteran = 'no')",
        "sex = 'f' OR (sex = 'm' AND veteran = 'yes')",
        "(sex = 'f' AND region = 'n') OR (sex = 'f' AND region = 's') OR veteran = 'yes'",
        "veteran = 'yes' OR sex <> 'm'",
    ],
}


@pytest.mark.parametrize("verdict", SETS)
def test_spellings_of_one_record_set_have_one_verdict(tmp_path: Path, verdict: str) -> None:
    db = _open(tmp_path)
    found = [db.ask(f"SELECT SUM(income) FROM data WHERE {text}", user="u") for text in SETS[verdict]]
    assert {isinstance(result, Refusal) for result in found} == {verdict == "refused"}
    if verdict == "answered":
        assert len({result.value for result in found}) == 1
        grouped = db.ask("SELECT SUM(income) FROM data GROUP BY sex", user="v")
        assert grouped.rows[0].values[0] == found[0].value


def test_dropping_is_keyed_by_the_part_in_each_stratum() -> None:
    """Padding with another stratum leaves what is dropped in the target's stratum alone."""
    ids = np.arange(300, dtype=np.uint64)
    stratum = (ids >= 100).astype(np.int64)
    secret = as_secret(2)
    alone = kept_rows(np.arange(100), ids, stratum, most=5, secret=secret)
    padded = kept_rows(np.arange(300), ids, stratum, most=5, secret=secret)
    assert np.array_equal(alone, padded[padded < 100])
    other = kept_rows(np.arange(99), ids, stratum, most=5, secret=secret)
    assert 2 <= 99 - len(other) <= 5


def test_regression_answers_and_residuals_are_synthetic(tmp_path: Path) -> None:
    db = _open(tmp_path)
    fit = db.ask("SELECT LINREG(income, sex) FROM data", user="u").value
    assert set(fit) >= {"coefficients", "standard_errors", "anova", "synthetic_residuals"}
    residuals = next(iter(fit["synthetic_residuals"].values()))["residual"]
    assert max(map(abs, residuals)) <= 4


RULES = RegressionRules(least=10, r_squared=0.95, leverage=0.3)


@pytest.mark.parametrize("epsilon", [1e-4, 1e-3, 1e-2, 0.1])
def test_the_artificial_outlier_is_refused(epsilon: float) -> None:
    """z = 1/(|x − x̂| + ε) makes one record's response the coefficient (SORT 226–250)."""
    rng = np.random.default_rng(3)
    x, y = rng.permutation(500).astype(float), rng.lognormal(3, 1, 500)
    z = 1.0 / (np.abs(x - x[7]) + epsilon)
    assert isinstance(fit_regression(np.column_stack([np.ones(500), z]), ("1", "z"), y, RULES), str)


def test_the_strategic_dummy_is_absorbed() -> None:
    rng = np.random.default_rng(3)
    dummy = np.zeros(500)
    dummy[7] = 1
    design = np.column_stack([np.ones(500), dummy, rng.normal(size=500)])
    fit = fit_regression(design, ("1", "target", "x"), rng.normal(size=500), RULES)
    assert not isinstance(fit, str)
    assert fit.labels == ("1", "x")


def test_saturated_and_perfect_models_are_refused() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 2, 200).astype(float), rng.integers(0, 2, 200).astype(float)
    full = np.column_stack([np.ones(200), a, b, a * b])
    assert "fully interacted" in str(fit_regression(full, ("1", "a", "b", "ab"), rng.normal(size=200), RULES))
    x = rng.normal(size=200)
    assert "R squared" in str(fit_regression(np.column_stack([np.ones(200), x]), ("1", "x"), 3 * x, RULES))


def test_synthetic_residuals_show_heteroscedasticity_and_repeat() -> None:
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 1, 800)
    fit = fit_regression(np.column_stack([np.ones(800), x]), ("1", "x"), 2 * x + x * rng.normal(size=800), RULES)
    assert not isinstance(fit, str)
    plot = synthetic_residuals(fit, as_secret(1))["x"]
    drawn, residual = np.array(plot["x"]), np.array(plot["residual"])
    assert residual[drawn > 0.7].std() > 1.8 * residual[drawn < 0.3].std()
    assert synthetic_residuals(fit, as_secret(1)) == synthetic_residuals(fit, as_secret(1))
