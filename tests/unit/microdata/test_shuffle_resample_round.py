"""Shuffling, resampling and rounding: what they keep, how they are distributed, what they refuse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reference.perturb_files import correlated_normals, file_of, run
from reticent.base.errors import DataError, ParameterError
from reticent.data.schema import Role
from reticent.microdata.mask.resample import Resample, averaged_samples
from reticent.microdata.mask.round_values import RoundValues
from reticent.microdata.mask.shuffle import Shuffle


@given(
    seed=st.integers(0, 10_000),
    ties=st.booleans(),
    strata=st.booleans(),
    predictors=st.sampled_from([(), ("p",), ("p", "n")]),
)
def test_shuffle_keeps_marginals(seed, ties, strata, predictors) -> None:
    rng = np.random.default_rng(seed)
    values = correlated_normals(120, seed=seed)
    values = np.round(values) if ties else values
    values[:5, 0] = np.nan
    data = file_of({"x": values[:, 0], "y": values[:, 1], "p": values[:, 2], "n": rng.integers(0, 3, 120).astype(str),
                    "s": np.repeat(["u", "v"], 60)})  # fmt: skip
    applied = run(Shuffle(("x", "y"), predictors=predictors, strata=("s",) if strata else ()), data)
    assert np.isnan(applied.data.numbers(("x",))[:5]).all()
    assert np.array_equal(applied.data.numbers(("p",)), data.numbers(("p",)))


def test_shuffle_keeps_rank_correlations() -> None:
    values = np.exp(correlated_normals(20_000, d=4, correlation=0.6))
    data = file_of(dict(zip("abcd", values.T)))
    masked = run(Shuffle(("a", "b"), predictors=("c", "d")), data).data.numbers(("a", "b", "c", "d"))
    assert stats.spearmanr(masked)[0] == pytest.approx(stats.spearmanr(values)[0], abs=0.03)
    # New values are independent of the old ones given the predictors: the partial correlation vanishes.
    scores = stats.norm.ppf(stats.rankdata(np.column_stack([values, masked[:, 0]]), axis=0) / 20_001)
    design = np.column_stack([np.ones(20_000), scores[:, 2:4]])
    residual = scores[:, [0, 4]] - design @ np.linalg.lstsq(design, scores[:, [0, 4]], rcond=None)[0]
    assert abs(np.corrcoef(residual.T)[0, 1]) < 0.03


@pytest.mark.parametrize("times", [160, pytest.param(640, marks=pytest.mark.deep)])
def test_shuffle_without_predictors_is_a_uniform_permutation(times: int) -> None:
    data = file_of({"x": np.arange(8.0)})
    first = [int(run(Shuffle(("x",)), data, secret=s).data.numbers(("x",))[0, 0]) for s in range(times)]
    assert stats.chisquare(np.bincount(first, minlength=8)).pvalue > 1e-4


def test_shuffle_follows_the_record_and_refuses_nonsense() -> None:
    values, order = correlated_normals(100, d=2), np.random.default_rng(0).permutation(100)
    ids = np.array([f"p{i:03d}" for i in range(100)])
    straight = file_of({"id": ids, "x": values[:, 0], "p": values[:, 1]}, roles={"id": Role.IDENTIFIER})
    mixed = file_of({"id": ids[order], "x": values[order, 0], "p": values[order, 1]}, roles={"id": Role.IDENTIFIER})
    first, second = (run(Shuffle(("x",), predictors=("p",)), d).data.numbers(("x",))[:, 0] for d in (straight, mixed))
    assert np.array_equal(first[order], second)
    with pytest.raises(ParameterError, match="be a predictor"):
        Shuffle(("x",), predictors=("x",))
    with pytest.raises(DataError, match="same value in all records"):
        run(Shuffle(("x",)), file_of({"x": np.ones(5)}))
    with pytest.raises(DataError, match="single record"):
        run(Shuffle(("x",), strata=("s",)), file_of({"x": np.arange(3.0), "s": np.array(["a", "a", "b"])}))


@given(seed=st.integers(0, 10_000), t=st.integers(1, 5), ties=st.booleans())
def test_resample_keeps_ranks_and_range(seed, t, ties) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=60)
    values = np.round(values) if ties else values
    values[:4] = np.nan
    run(Resample(("x",), t=t, strata=("s",)), file_of({"x": values, "s": np.repeat(["u", "v", "w"], 20)}))


def test_resample_moments_over_many_draws() -> None:
    ordered = np.sort(np.random.default_rng(0).exponential(size=50))
    draws = np.array([averaged_samples(ordered, 3, np.random.default_rng(s)) for s in range(2000)])
    assert draws.mean() == pytest.approx(ordered.mean(), rel=0.01)
    # The sum of one bootstrap sample has variance n·σ²; the mean of three averages has σ²/(3n).
    assert draws.mean(axis=1).var() == pytest.approx(ordered.var() / 150, rel=0.12)


def test_resample_by_hand() -> None:
    class Fixed:
        def __init__(self) -> None:
            self.samples = iter([np.array([0, 0, 2]), np.array([1, 1, 2])])

        def integers(self, low, high, size):
            return next(self.samples)

    assert averaged_samples(np.array([1.0, 2.0, 6.0]), 2, Fixed()) == pytest.approx([1.5, 1.5, 6.0])


@pytest.mark.parametrize(
    "how, expected",
    [("nearest", [0, 5, 5, 10, -5]), ("down", [0, 0, 5, 5, -5]), ("up", [5, 5, 5, 10, 0])],
)
def test_rounding_to_a_base(how, expected) -> None:
    data = file_of({"x": np.array([1.0, 3.0, 5.0, 8.0, -3.0])})
    assert run(RoundValues(("x",), base=5.0, how=how), data).data.numbers(("x",))[:, 0].tolist() == expected


def test_rounding_to_points_and_vectors() -> None:
    data = file_of({"x": np.array([1.0, 4.0, 90.0, np.nan]), "y": np.array([1.0, 1.0, 3.0, 2.0])})
    points = run(RoundValues(("x",), points=(0.0, 3.0, 10.0)), data).data.numbers(("x",))[:, 0]
    assert points[:3].tolist() == [0, 3, 10]
    assert np.isnan(points[3])
    both = run(RoundValues(("x", "y"), vectors=((0.0, 1.0), (80.0, 3.0))), data).data.numbers(("x", "y"))
    assert both[:3].tolist() == [[0, 1], [0, 1], [80, 3]]


@given(
    seed=st.integers(0, 10_000),
    base=st.sampled_from([0.1, 0.25, 1.0, 7.0, 1000.0]),
    how=st.sampled_from(["nearest", "random", "up", "down"]),
)
def test_rounding_keeps_its_promise_and_multiples_stay(seed, base, how) -> None:
    rng = np.random.default_rng(seed)
    data = file_of({"x": rng.normal(size=50) * 100})
    rounded = run(RoundValues(("x",), base=base, how=how), data)
    assert np.abs(rounded.data.numbers(("x",)) - data.numbers(("x",))).max() <= base * (1 + 1e-9)
    assert run(RoundValues(("x",), base=base, how=how), rounded.data, secret=5).changed == {"x": 0}


def test_random_rounding_is_unbiased() -> None:
    data = file_of({"x": np.full(20_000, 1.3)})
    up = (run(RoundValues(("x",), base=1.0, how="random"), data).data.numbers(("x",)) == 2).sum()
    assert stats.binomtest(int(up), 20_000, 0.3).pvalue > 1e-4


@pytest.mark.parametrize(
    "options, message",
    [
        ({}, "exactly one of"),
        ({"base": 1.0, "points": (1.0,)}, "exactly one of"),
        ({"base": 0.0}, "above 0"),
        ({"vectors": ((1.0, 2.0),)}, "one value for each"),
        ({"vectors": ((1.0,),), "how": "up"}, "nearest only"),
    ],
)
def test_bad_rounding_sets_are_refused(options, message) -> None:
    with pytest.raises(ParameterError, match=message):
        RoundValues(("x",), **options)
