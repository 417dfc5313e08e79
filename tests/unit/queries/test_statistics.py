"""Values of statistics on record sets, against numpy; sums are exact, and what does not exist is None."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.canonical import RecordSet, Universe, Version
from reticent.queries.language import EVERYONE, Compare, Condition, Statistic
from reticent.queries.policy import Policy
from reticent.queries.statistics import design_matrix, evaluate, exact_sum

N = 60
_rng = np.random.default_rng(7)
PAY = np.round(_rng.lognormal(7, 0.5, N), 2)
TAX = np.round(0.3 * PAY + _rng.normal(0, 50, N), 2)
SEX = _rng.choice(["f", "m"], N)
AGE = _rng.integers(20, 30, N).astype(float)
SICK = (_rng.random(N) < 0.4).astype(float)
MISSING = np.arange(N) % 7 == 0


@pytest.fixture(scope="module")
def universe() -> Universe:
    frame = pl.DataFrame(
        {"sex": SEX.tolist(), "age": AGE, "pay": PAY, "tax": np.where(MISSING, np.nan, TAX), "sick": SICK}
    ).with_columns(pl.col("tax").fill_nan(None))
    codes = tuple(str(age) for age in range(20, 30))
    variables = (
        Variable("sex", role=Role.KEY, codes=("f", "m")),
        Variable("age", role=Role.KEY, kind=Kind.NUMERIC, codes=codes),
        Variable("pay", kind=Kind.NUMERIC),
        Variable("tax", kind=Kind.NUMERIC),
        Variable("sick", kind=Kind.NUMERIC),
    )
    policy = Policy(filters=("sex", "age"), responses=("pay", "tax", "sick"))
    return Universe((Version("1", Microdata.of(frame, Schema(variables)), policy),), policy, as_secret(1))


def records(universe: Universe, condition: Condition = EVERYONE) -> RecordSet:
    return universe.record_set(universe.current.select(condition))


WOMEN = Compare("sex", "=", "f")
NOBODY = Compare("age", ">", 99)


def value(
    universe: Universe, name: str, *variables: str, condition: Condition = EVERYONE, parameter: float | None = None
):
    return evaluate(Statistic(name, variables, parameter), universe, records(universe, condition))


@pytest.mark.parametrize(("condition", "inside"), [(EVERYONE, np.ones(N, bool)), (WOMEN, SEX == "f")])
def test_plain_statistics_are_those_of_numpy(universe: Universe, condition: Condition, inside: np.ndarray) -> None:
    pay = PAY[inside]
    assert value(universe, "count", condition=condition) == inside.sum()
    assert value(universe, "sum", "pay", condition=condition) == pytest.approx(pay.sum())
    assert value(universe, "avg", "pay", condition=condition) == pytest.approx(pay.mean())
    assert value(universe, "variance", "pay", condition=condition) == pytest.approx(pay.var(ddof=1))
    assert value(universe, "stddev", "pay", condition=condition) == pytest.approx(pay.std(ddof=1))
    assert value(universe, "min", "pay", condition=condition) == pay.min()
    assert value(universe, "max", "pay", condition=condition) == pay.max()
    assert value(universe, "median", "pay", condition=condition) == np.median(pay)
    assert value(universe, "quantile", "pay", condition=condition, parameter=0.9) == np.quantile(pay, 0.9)


def test_sums_are_exact(universe: Universe) -> None:
    expected = sum((Fraction(repr(float(pay))) for pay in PAY), Fraction(0))
    assert exact_sum(universe, records(universe), "pay") == expected
    squares = sum((Fraction(repr(float(pay))) ** 2 for pay in PAY), Fraction(0))
    assert exact_sum(universe, records(universe), "pay", "pay") == squares


def test_records_without_a_value_are_left_out(universe: Universe) -> None:
    there = ~MISSING
    assert value(universe, "avg", "tax") == pytest.approx(TAX[there].mean())
    assert value(universe, "corr", "pay", "tax") == pytest.approx(np.corrcoef(PAY[there], TAX[there])[0, 1])
    assert value(universe, "ratio", "tax", "pay") == pytest.approx(TAX[there].sum() / PAY.sum())  # each over who has it


@pytest.mark.parametrize("name", ["avg", "variance", "stddev", "median", "min"])
def test_a_statistic_of_nobody_does_not_exist(universe: Universe, name: str) -> None:
    assert value(universe, name, "pay", condition=NOBODY) is None
    assert value(universe, "count", condition=NOBODY) == 0
    assert value(universe, "ratio", "tax", "pay", condition=NOBODY) is None
    assert value(universe, "corr", "pay", "tax", condition=NOBODY) is None


def test_a_regression_is_least_squares(universe: Universe) -> None:
    there = ~MISSING
    found = value(universe, "linreg", "tax", "pay", "sex")
    x = np.column_stack([np.ones(there.sum()), PAY[there], (SEX[there] == "m").astype(float)])
    beta, *_ = np.linalg.lstsq(x, TAX[there], rcond=None)
    assert list(found["coefficients"].values()) == pytest.approx(beta.tolist())
    assert found["n"] == there.sum()
    left = TAX[there] - x @ beta
    assert found["r_squared"] == pytest.approx(1 - (left**2).sum() / ((TAX[there] - TAX[there].mean()) ** 2).sum())


def test_the_design_has_an_intercept_and_named_columns(universe: Universe) -> None:
    x, y, labels = design_matrix(universe, records(universe), Statistic("linreg", ("pay", "age")))
    assert labels[0] == "(intercept)"
    assert x[:, 0].tolist() == [1.0] * N
    assert sorted(x[:, 1]) == sorted(AGE)
    assert sorted(y) == sorted(PAY)


def test_survival_is_the_product_of_kaplan_and_meier(universe: Universe) -> None:
    found = value(universe, "km", "age", "sick")["survival"]
    share, expected = 1.0, {}
    for age in np.unique(AGE):
        at_risk, events = (age <= AGE).sum(), SICK[age == AGE].sum()
        share *= 1 - events / at_risk
        expected[str(int(age))] = share
    assert found == pytest.approx(expected)
