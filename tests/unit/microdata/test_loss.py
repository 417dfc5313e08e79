"""Loss measures: zero on the file itself, hand values, and identities between them."""

import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.base.errors import ParameterError
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.loss import Classification, Regression, compare
from reticent.microdata.loss import numbers as on_numbers
from reticent.microdata.loss import tables as on_tables
from reticent.microdata.loss.definitions import DEFINITIONS
from reticent.microdata.loss.measure import LossReport
from reticent.microdata.loss.models import Fit, interval_overlap, least_squares, logistic, naive_bayes
from reticent.microdata.loss.propensity import logistic_propensity, specks, tree_propensity
from reticent.microdata.loss.rows import correlation_rows, distribution_rows, table_rows


def _of_variable(report: LossReport, name: str, variable: str) -> float:
    return next(one.value for one in report.measures if (one.name, one.variables) == (name, (variable,)))


SCHEMA = Schema(
    (
        Variable("id", role=Role.IDENTIFIER),
        Variable("sex", role=Role.KEY),
        Variable("grade", kind=Kind.ORDINAL, codes=("low", "mid", "high")),
        Variable("income", kind=Kind.NUMERIC),
        Variable("tax", kind=Kind.NUMERIC),
        Variable("w", role=Role.WEIGHT, kind=Kind.NUMERIC),
    )
)


def people(n: int = 200, seed: int = 0) -> Microdata:
    rng = np.random.default_rng(seed)
    income = rng.lognormal(3, 1, n)
    frame = pl.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "sex": np.where(income + rng.normal(0, 10, n) > 20, "m", "f"),
            "grade": rng.choice(["low", "mid", "high"], n),
            "income": income,
            "tax": 0.3 * income + rng.normal(0, 1, n),
            "w": rng.uniform(1, 2, n),
        }
    )
    return Microdata.of(frame, SCHEMA)


def noisy(data: Microdata, scale: float, seed: int = 1) -> Microdata:
    rng = np.random.default_rng(seed)
    for name in ("income", "tax"):
        values = data.numbers((name,))[:, 0]
        data = data.with_numbers(name, values + scale * values.std() * rng.normal(size=values.size))
    codes = data.codes(("sex",))[:, 0]
    return data.with_codes(
        "sex", np.where(rng.random(codes.size) < scale / 2, 1 - codes, codes).astype(np.int32), ("f", "m")
    )


def everything(data: Microdata, masked: Microdata):  # type: ignore[no-untyped-def]
    return compare(
        data,
        masked,
        regressions=(Regression("tax", ("income", "sex")), Regression("sex", ("income",))),
        classifications=(Classification("sex", ("income", "grade")),),
        trees=True,
        permutations=3,
    )


def test_nothing_changed_is_zero_everywhere() -> None:
    data = people()
    report = everything(data, data)
    for measure in report:
        if not measure.name.startswith("tree"):
            assert measure.value == pytest.approx(0, abs=1e-9), measure
    assert report.score == 0
    assert report.matched == 200


def test_more_noise_is_more_loss() -> None:
    data = people()
    little, much = everything(data, noisy(data, 0.1)), everything(data, noisy(data, 1.0))
    for name in ("il1s", "squares-share", "variables", "variances", "correlations", "hellinger", "entropy", "specks",
                 "regression-overlap", "pmse", "quantiles"):  # fmt: skip
        assert little[name] < much[name], name
    assert 0 < little.score < much.score < 1
    for measure in much:
        assert 0 <= measure.value <= measure.definition.most, measure


def test_every_measure_has_a_definition_and_a_row() -> None:
    data = people()
    report = everything(data, noisy(data, 0.3))
    assert {measure.name for measure in report} <= set(DEFINITIONS)
    assert set(DEFINITIONS) - {measure.name for measure in report} == set()
    assert all(row["formula"] and row["source"] for row in report.rows())
    assert _of_variable(report, "il1s", "tax") > 0
    with pytest.raises(ParameterError, match="Did you mean 'il1s'"):
        report["il1"]


def test_values_by_hand() -> None:
    x = np.array([[0.0], [2.0], [4.0]])
    y = np.array([[1.0], [2.0], [4.0]])
    assert on_numbers.il1s(x, y) == pytest.approx(1 / (np.sqrt(2) * 2) / 3)
    assert on_numbers.il1s_sum(x, y) == pytest.approx(1 / (np.sqrt(2) * 2))
    assert on_numbers.il1_percent(x + 1, y + 1) == pytest.approx(100)
    assert on_numbers.squares_share(x, y) == pytest.approx(1 / 8)
    assert on_numbers.mean_change(x, y) == pytest.approx(1 / 3 / 2)
    assert on_numbers.total_change(x, y, np.array([2.0, 1.0, 1.0]), np.ones(3)) == pytest.approx(1 / 6)


def test_records_are_matched_by_their_ids() -> None:
    data = people()
    half = data.rows(np.random.default_rng(4).permutation(200)[:100])
    report = compare(data, half)
    assert report.matched == 100
    assert report["il1s"] == 0
    assert report["records-lost"] == 0.5
    other = Microdata.of(
        people(seed=9).frame.table.with_columns(pl.Series("id", [f"q{i}" for i in range(200)])), SCHEMA
    )
    strangers = compare(data, other)
    assert strangers.matched == 0
    assert "il1s" not in strangers
    assert strangers["means"] > 0


def test_suppressions_are_counted_and_priced() -> None:
    data = people()
    codes = data.codes(("sex",))[:, 0].copy()
    codes[:7] = -1
    report = compare(data, data.with_codes("sex", codes, ("f", "m")))
    assert report["suppressions"] == 7
    assert _of_variable(report, "suppressions", "sex") == 7
    assert report["suppression-cost"] == 7 * 50
    assert report["suppression-share"] == pytest.approx(7 / 800)


def test_recoding_loses_the_entropy_within_the_new_codes() -> None:
    before = np.array([0, 1, 2, 3] * 5, dtype=np.int32)
    bits, share = on_tables.entropy_loss(before, before // 2, (4, 4))
    assert bits == pytest.approx(1.0)
    assert share == pytest.approx(0.5)


counts = st.lists(st.integers(0, 40), min_size=3, max_size=3).filter(lambda c: sum(c) > 0)


@given(counts, counts)
def test_table_distances_agree_with_each_other(a: list[int], b: list[int]) -> None:
    one, other = np.array(a, dtype=float), np.array(b, dtype=float)
    overlap = float(np.sqrt(one / one.sum() * other / other.sum()).sum())  # Bhattacharyya's coefficient
    assert on_tables.hellinger(one, other) == pytest.approx(np.sqrt(max(1 - overlap, 0.0)), abs=1e-7)
    assert 0 <= on_tables.jensen_shannon(one, other) <= 1 + 1e-12


def test_the_saturated_logistic_model_gives_the_table_formula() -> None:
    """VW·c(1−c)²/N of a one-way table is the pMSE of a model with an indicator per code."""
    a, b = np.array([30.0, 50.0, 20.0]), np.array([60.0, 40.0, 80.0])
    x, y = (np.repeat(np.eye(3)[:, 1:], t.astype(int), axis=0) for t in (a, b))
    found = logistic_propensity(x, y)
    assert found.pmse == pytest.approx(on_tables.table_pmse(a, b), rel=1e-6)
    assert found.expected == pytest.approx(2 * (1 - 180 / 280) ** 2 * (180 / 280) / 280)


def test_cramers_v() -> None:
    assert on_tables.cramers_v(np.array([[10.0, 0], [0, 10]])) == pytest.approx(1)
    assert on_tables.cramers_v(np.array([[5.0, 5], [5, 5]])) == 0
    assert on_tables.cramers_v(np.array([[20.0, 10], [10, 20]])) == pytest.approx(1 / 3)


def test_specks_by_hand() -> None:
    assert specks(np.array([0.1, 0.2, 0.8, 0.9]), np.array([False, False, True, True])) == 1
    assert specks(np.full(4, 0.5), np.array([False, False, True, True])) == 0


def test_a_new_sample_has_a_propensity_ratio_of_two() -> None:
    ratios = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        ratios.append(logistic_propensity(rng.normal(size=(300, 4)), rng.normal(size=(300, 4))).ratio)
    assert np.mean(ratios) == pytest.approx(2, abs=0.4)
    rng = np.random.default_rng(1)
    tree = tree_propensity(rng.normal(size=(300, 2)), rng.normal(1, 1, (300, 2)), secret=as_secret(1), permutations=5)
    assert tree.ratio > 1.5


def test_large_files_are_modelled_on_a_fixed_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same records on both sides, whatever their order: a file against its own permutation loses nothing."""
    monkeypatch.setattr(sys.modules["reticent.microdata.loss.compare"], "MOST_MODELLED", 60)
    data = people()
    turned = data.rows(np.random.default_rng(3).permutation(200))
    assert compare(data, turned)["pmse"] == pytest.approx(0, abs=1e-12)
    assert compare(data, noisy(data, 2.0))["pmse"] > 1e-4


def test_regressions() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 2))
    fit = least_squares(x, 1 + x @ [2.0, -1.0] + rng.normal(size=400))
    assert fit.coefficients == pytest.approx([1, 2, -1], abs=0.2)
    assert fit.errors == pytest.approx([0.05] * 3, rel=0.2)
    truth = 1 / (1 + np.exp(-(0.5 + x @ [1.0, -2.0])))
    response = (rng.random(400) < truth).astype(float)
    model, p = logistic(x, response)
    design = np.column_stack((np.ones(400), x))
    assert design.T @ (response - p) == pytest.approx(np.zeros(3), abs=1e-3)
    assert model.coefficients == pytest.approx([0.5, 1, -2], abs=0.5)
    separated, q = logistic(x[:, :1], (x[:, 0] > 0).astype(float))
    assert np.isfinite(separated.coefficients).all()
    assert np.isfinite(q).all()


def test_interval_overlap_by_hand() -> None:
    one = Fit(np.array([0.0]), np.array([1.0]), 2.0, 1)
    other = Fit(np.array([2.0]), np.array([1.0]), 2.0, 1)
    assert interval_overlap(one, other) == pytest.approx([0.5])
    assert interval_overlap(one, one) == pytest.approx([1])


def test_naive_bayes_learns_what_is_there() -> None:
    rng = np.random.default_rng(2)
    target = rng.integers(0, 2, 500)
    codes = np.where(rng.random(500) < 0.9, target, 1 - target)[:, None]
    numbers = rng.normal(target * 3.0, 1.0)[:, None]
    model = naive_bayes(codes, numbers, target, 2)
    assert np.mean(model.predict(codes, numbers) == target) > 0.93


def test_rows_for_pictures() -> None:
    data = people()
    masked = noisy(data, 0.4)
    bars = distribution_rows(data, masked, "income", bars=10)
    assert len(bars) == 10
    assert sum(bar.before for bar in bars) == pytest.approx(1)
    assert [bar.label for bar in distribution_rows(data, masked, "grade")] == ["low", "mid", "high"]
    assert len(correlation_rows(data, masked, ("income", "tax"))) == 1
    assert sum(row.before for row in table_rows(data, masked, "sex", "grade")) == 200


def test_bad_wishes() -> None:
    data = people()
    with pytest.raises(ParameterError, match="at least one predictor"):
        Regression("tax", ())
    with pytest.raises(ParameterError, match="numeric or have two codes"):
        compare(data, data, regressions=(Regression("grade", ("income",)),))
    with pytest.raises(ParameterError, match="table_dimension"):
        compare(data, data, table_dimension=0)
