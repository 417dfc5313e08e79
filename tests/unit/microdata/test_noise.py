"""Additive noise: what each kind promises, and how it refuses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reference.perturb_files import correlated_normals, file_of, run
from reticent.base.errors import DataError, ParameterError
from reticent.data.schema import Role
from reticent.microdata.mask.noise import KINDS, Noise
from reticent.microdata.perturb import additive, covariance

NAMES = ("a", "b", "c")


def normal_file(n: int = 4000, seed: int = 0):
    return file_of(dict(zip(NAMES, (correlated_normals(n, seed=seed) * [1, 2, 3] + [5, 0, -2]).T)))


@pytest.mark.parametrize("kind", KINDS)
def test_no_noise_changes_nothing(kind) -> None:
    data = normal_file(50)
    applied = run(Noise(NAMES, k=0.0, kind=kind), data)
    assert np.array_equal(applied.data.numbers(NAMES), data.numbers(NAMES))


def test_uncorrelated_and_correlated_inflate_as_promised() -> None:
    data = normal_file(40_000)
    before = np.cov(data.numbers(NAMES).T)
    alone = np.cov(run(Noise(NAMES, k=0.5, kind="uncorrelated"), data).data.numbers(NAMES).T)
    assert np.diag(alone) / np.diag(before) == pytest.approx(1.5, abs=0.03)
    assert alone[0, 1] / before[0, 1] == pytest.approx(1.0, abs=0.04)
    together = np.cov(run(Noise(NAMES, k=0.5, kind="correlated"), data).data.numbers(NAMES).T)
    assert together / before == pytest.approx(1.5, abs=0.05)


def test_the_noise_is_normal_with_the_stated_variance() -> None:
    data = normal_file(20_000)
    noise = run(Noise(NAMES, k=0.25, kind="uncorrelated"), data).data.numbers(NAMES) - data.numbers(NAMES)
    for j in range(3):
        deviation = 0.5 * data.numbers(NAMES)[:, j].std()
        assert stats.kstest(noise[:, j] / deviation, "norm").pvalue > 1e-4


def test_linear_transformation_keeps_moments_in_expectation_and_exactly_on_request() -> None:
    data = normal_file(2000)
    before = data.numbers(NAMES)
    ratios = [
        np.cov(run(Noise(NAMES, k=0.3), data, secret=s).data.numbers(NAMES).T) / np.cov(before.T) for s in range(40)
    ]
    assert np.mean(ratios, axis=0) == pytest.approx(1.0, abs=0.03)
    exact = run(Noise(NAMES, k=0.3, exact=True), data).data.numbers(NAMES)
    assert exact.mean(axis=0) == pytest.approx(before.mean(axis=0), abs=1e-10)
    assert np.cov(exact.T) == pytest.approx(np.cov(before.T), abs=1e-9)
    assert np.corrcoef(exact[:, 0], before[:, 0])[0, 1] == pytest.approx(1 / np.sqrt(1.3), abs=1e-9)


def test_nonlinear_keeps_each_distribution_and_range() -> None:
    skewed = np.exp(correlated_normals(5000))
    data = file_of(dict(zip(NAMES, skewed.T)))
    masked = run(Noise(NAMES, k=0.5, kind="nonlinear"), data).data.numbers(NAMES)
    for j in range(3):
        assert skewed[:, j].min() <= masked[:, j].min()
        assert masked[:, j].max() <= skewed[:, j].max()
        assert stats.ks_2samp(skewed[:, j], masked[:, j]).pvalue > 1e-3
    before, after = stats.spearmanr(skewed)[0], stats.spearmanr(masked)[0]
    assert after == pytest.approx(before, abs=0.05)


def test_outliers_only_leaves_the_middle_alone() -> None:
    data = normal_file(3000)
    values = data.numbers(NAMES)
    far = additive.outliers(values, cutoff=2.5)
    masked = run(Noise(NAMES, k=0.3, outliers=2.5), data).data.numbers(NAMES)
    changed = (masked != values).any(axis=1)
    assert 0 < far.sum() < 300
    assert np.array_equal(changed, far)


def test_zeros_and_missing_values_stay() -> None:
    values = np.exp(correlated_normals(1000))
    values[:300, 0] = 0.0
    values[290:320, 1] = np.nan
    data = file_of(dict(zip(NAMES, values.T)))
    masked = run(Noise(NAMES, k=0.2, keep_zeros=True), data).data.numbers(NAMES)
    assert (masked[:300, 0] == 0).all()
    assert (masked[300:, 0] != values[300:, 0]).all()
    assert np.isnan(masked[290:320, 1]).all()


def test_strata_keep_their_own_moments() -> None:
    values = correlated_normals(600)
    stratum = np.repeat(["x", "y", "z"], 200)
    values[stratum == "y"] += 100
    data = file_of({**dict(zip(NAMES, values.T)), "s": stratum})
    masked = run(Noise(NAMES, k=0.5, exact=True, strata=("s",)), data).data.numbers(NAMES)
    for name in "xyz":
        inside = stratum == name
        assert masked[inside].mean(axis=0) == pytest.approx(values[inside].mean(axis=0), abs=1e-9)
        assert np.cov(masked[inside].T) == pytest.approx(np.cov(values[inside].T), abs=1e-8)


def test_draws_follow_the_record_not_its_place() -> None:
    values = correlated_normals(200)
    order = np.random.default_rng(1).permutation(200)
    ids = np.array([f"p{i:03d}" for i in range(200)])
    roles = {"id": Role.IDENTIFIER}
    straight = file_of({"id": ids, **dict(zip(NAMES, values.T))}, roles=roles)
    mixed = file_of({"id": ids[order], **dict(zip(NAMES, values[order].T))}, roles=roles)
    first, second = (run(Noise(NAMES), d).data.numbers(NAMES) for d in (straight, mixed))
    assert second == pytest.approx(first[order], rel=1e-9)
    assert np.array_equal(run(Noise(NAMES), straight).data.numbers(NAMES), first)
    assert not np.array_equal(run(Noise(NAMES), straight, secret=2).data.numbers(NAMES), first)


def test_a_household_variable_stays_one_value_per_household() -> None:
    household = np.repeat(np.arange(50), 3)
    income = np.exp(np.random.default_rng(0).normal(size=50))[household]
    data = file_of(
        {"hh": household.astype(str), "income": income}, roles={"hh": Role.HOUSEHOLD_ID}, household=("income",)
    )
    masked = run(Noise(("income",)), data).data.numbers(("income",))[:, 0].reshape(50, 3)
    assert (masked == masked[:, :1]).all()
    assert (masked[:, 0] != income.reshape(50, 3)[:, 0]).all()


@pytest.mark.parametrize(
    "method, message",
    [
        (lambda: Noise(NAMES, k=-1), "k must be at least 0"),
        (lambda: Noise(NAMES, kind="lineal"), "Did you mean 'linear'"),
        (lambda: Noise(NAMES, exact=True, kind="correlated"), "exact moments go with kind"),
    ],
)
def test_bad_parameters_are_refused(method, message) -> None:
    with pytest.raises(ParameterError, match=message):
        method()


def test_bad_data_are_refused_in_one_sentence() -> None:
    data = file_of({"a": np.ones(50), "b": np.arange(50.0), "sex": np.array(["f", "m"] * 25)})
    with pytest.raises(DataError, match="a has the same value in all records"):
        run(Noise(("a", "b")), data)
    with pytest.raises(DataError, match="sex must be numeric"):
        run(Noise(("sex",)), data)
    with pytest.raises(ParameterError, match="twice"):
        run(Noise(("b", "b")), data)
    with pytest.raises(DataError, match="not in the schema"):
        run(Noise(("bb",)), data)


def test_a_matrix_that_is_no_covariance_names_its_variables_or_is_repaired() -> None:
    bad = np.array([[1, 0.9, -0.9, 0.1], [0.9, 1, 0.9, 0.1], [-0.9, 0.9, 1, 0.1], [0.1, 0.1, 0.1, 1.0]])
    scaled = bad * np.outer([1, 10, 100, 1], [1, 10, 100, 1])
    with pytest.raises(DataError, match="a, b, c ask for together") as caught:
        covariance.factor(scaled, ("a", "b", "c", "d"), owner="noise", nearest=False)
    assert caught.value.variables == ("a", "b", "c")
    root = covariance.factor(scaled, ("a", "b", "c", "d"), owner="noise", nearest=True)
    assert np.diag(root @ root.T) == pytest.approx(np.diag(scaled), rel=1e-9)


@given(seed=st.integers(0, 10_000), d=st.integers(2, 5))
def test_nearest_psd_keeps_good_matrices_and_the_diagonal(seed, d) -> None:
    rng = np.random.default_rng(seed)
    good = np.cov(rng.normal(size=(d, 3 * d)))
    assert covariance.nearest_psd(good) == pytest.approx(good, abs=1e-9)
    bad = rng.uniform(-1, 1, size=(d, d))
    bad = (bad + bad.T) / 2
    np.fill_diagonal(bad, rng.uniform(0.5, 2, d))
    near = covariance.nearest_psd(bad)
    assert np.diag(near) == pytest.approx(np.diag(bad))
    assert np.linalg.eigvalsh(near).min() > -1e-10


def test_shrinkage_pulls_correlations_towards_zero_only() -> None:
    values = correlated_normals(20)
    plain, shrunk = covariance.moments(values), covariance.moments(values, shrink=True)
    assert np.diag(shrunk.covariance) == pytest.approx(np.diag(plain.covariance))
    ratio = shrunk.covariance[0, 1] / plain.covariance[0, 1]
    assert 0 < ratio < 1
    assert shrunk.covariance[0, 2] / plain.covariance[0, 2] == pytest.approx(ratio)
