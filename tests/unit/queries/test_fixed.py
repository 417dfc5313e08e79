"""Exact arithmetic for any finite number: sums, products, roots, and verdicts with declared bounds that are not whole."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.base.errors import DataError, PlanError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.fixed import as_number, exact, fixed_point, product, root
from reticent.queries.policy import Bounds, Policy
from reticent.queries.refusals import Answer

FINITE = st.floats(allow_nan=False, allow_infinity=False)
SOME = st.one_of(
    st.lists(FINITE, max_size=12),
    st.lists(st.integers(-(10**9), 10**9).map(lambda cents: cents / 100), max_size=12),
    st.lists(st.sampled_from([0.0, -0.0, 5e-324, 1.7e308, -1.7e308, 0.1, 1 / 3, 9e9, 2.0**52]), max_size=12),
)


@given(SOME)
def test_every_finite_number_is_what_its_text_says(values: list[float]) -> None:
    held = fixed_point(np.array(values, dtype=np.float64))
    assert [Fraction(int(i), held.scale) for i in held.integers] == [Fraction(repr(v)) for v in values]
    assert Fraction(int(held.integers.sum()), held.scale) == sum(map(exact, values), Fraction(0))


@given(st.lists(st.tuples(FINITE, FINITE), min_size=1, max_size=8))
def test_products_are_exact(pairs: list[tuple[float, float]]) -> None:
    columns = np.array(pairs, dtype=np.float64)
    held = product([fixed_point(columns[:, 0]), fixed_point(columns[:, 1])])
    assert [Fraction(int(i), held.scale) for i in held.integers] == [exact(a) * exact(b) for a, b in pairs]


@given(st.fractions(min_value=0))
def test_roots_are_the_nearest_numbers(amount: Fraction) -> None:
    found = root(amount)
    assert found == pytest.approx(math.sqrt(amount), rel=1e-15, abs=0)
    huge = root((amount + 1) * 10**800)
    assert abs(Fraction(huge, 10**400) - exact(root(amount + 1))) <= exact(root(amount + 1)) / 10**15


def test_infinite_numbers_have_no_text() -> None:
    with pytest.raises(DataError, match="not finite"):
        fixed_point(np.array([1.0, math.inf]))


def test_what_is_beyond_floating_point_numbers_is_whole() -> None:
    assert as_number(Fraction(10) ** 400 / 3) == 10**400 // 3
    assert as_number(Fraction(1, 3)) == 1 / 3


def _database(folder: Path, values: list[float], policy: Policy) -> ProtectedDatabase:
    schema = Schema((Variable("dep", codes=("a", "b")), Variable("y", role=Role.SENSITIVE, kind=Kind.NUMERIC)))
    half = len(values) // 2
    frame = pl.DataFrame({"dep": ["a"] * half + ["b"] * (len(values) - half), "y": values})
    return ProtectedDatabase(
        Microdata.of(frame, schema), policy=policy, secret=1, test_secret=True, ledger=folder / "x.ledger"
    )


@pytest.mark.parametrize("size", [1.0, 7.1e7, 1e12, 1e100])
@pytest.mark.parametrize("bounds", [{}, {"y": Bounds(low=0)}])
def test_variance_and_regression_of_large_values(tmp_path: Path, size: float, bounds: dict[str, Bounds]) -> None:
    """0.1.0 failed above 7e7."""
    values = [size * v for v in (1.5, 2.5, 7.0, 3.0, 9.5, 4.0, 6.0, 8.5)]
    policy = Policy(filters=("dep",), responses=("y",), bounds=bounds, interval=5 if bounds else 0)
    database = _database(tmp_path, values, policy)
    variance = database.ask("SELECT VARIANCE(y) FROM data", user="u").value
    truth = [exact(v) for v in values]
    mean = sum(truth, Fraction(0)) / 8
    assert variance == as_number(sum(((v - mean) ** 2 for v in truth), Fraction(0)) / 7)
    fit = database.ask("SELECT LINREG(y, dep) FROM data", user="u").value
    assert fit["coefficients"]["(intercept)"] == pytest.approx(size * 3.5, rel=1e-12)
    assert fit["coefficients"]["dep[b]"] == pytest.approx(size * 3.5, rel=1e-12)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1.0, 1e160, 1e306])
@pytest.mark.parametrize("mode", ["exact", "camouflage"])
def test_two_responses_of_any_size(tmp_path: Path, mode: str, size: float) -> None:
    """Whether responses are tied does not depend on their unit."""
    schema = Schema(
        (
            Variable("dep", codes=("a", "b")),
            Variable("y", role=Role.SENSITIVE, kind=Kind.NUMERIC),
            Variable("z", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        )
    )
    rng = np.random.default_rng(1)
    y, z = rng.uniform(1, 9, 20) * size, rng.uniform(1, 9, 20)
    policy = Policy(mode=mode, filters=("dep",), responses=("y", "z"))
    for name, other in (("free", z), ("tied", 2 * y)):
        data = Microdata.of(pl.DataFrame({"dep": ["a", "b"] * 10, "y": y, "z": other}), schema)
        ledger = tmp_path / f"{name}.ledger"
        try:
            database = ProtectedDatabase(data, policy=policy, secret=1, test_secret=True, ledger=ledger)
        except PlanError:
            assert (mode, name) == ("camouflage", "tied")
            continue
        assert (len(database._engine.universe.linked["y"]) == 2) == (name == "tied")
        assert isinstance(database.ask("SELECT SUM(y), AVG(z) FROM data", user="u"), Answer)


@pytest.mark.parametrize("low, high", [(0.1, 1.1), (1e-30, 1.0000001), (-1e300, 1e300), (0.3, 7e15)])
def test_values_at_a_bound_that_is_not_whole_are_seen(tmp_path: Path, low: float, high: float) -> None:
    """All of department a are at their least: the sum would give every value away. 0.1.0 overflowed at 0.1 and 1.1."""
    middle = [low / 2 + high / 2, low / 4 + high * 0.75, low * 0.75 + high / 4]
    policy = Policy(filters=("dep",), responses=("y",), bounds={"y": Bounds(low, high)})
    database = _database(tmp_path, [low] * 4 + [*middle, high], policy)
    assert not isinstance(database.ask("SELECT SUM(y) FROM data WHERE dep = 'a'", user="u"), Answer)
    assert isinstance(database.ask("SELECT SUM(y) FROM data WHERE dep = 'b'", user="u"), Answer)
