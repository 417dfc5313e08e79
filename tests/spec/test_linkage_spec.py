"""Distance-based linkage and interval disclosure on examples that can be checked by hand."""

import numpy as np
import polars as pl
import pytest

from reference.linkage import gower_distances
from reticent.base.errors import DataError
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Schema, Variable
from reticent.microdata.risk.interval import deviation_intervals, rank_intervals, ranking_attack
from reticent.microdata.risk.linkage_coordinates import from_files, from_numbers
from reticent.microdata.risk.linkage_distance import (
    all_distances,
    assigned_linkage,
    distance_linkage,
    linkage_growth,
)

A = {
    "name": ["Joan", "Pere", "J.M.", "Juan", "Ricardo", "Pere", "Juan", "Ricard"],
    "surname": ["Casanovas", "Joan", "Casanovas", "Garcia", "Garcia", "Garcia", "Garcia", "Tanaka"],
    "age": [19, 17, 35, 53, 14, 18, 18, 14],
}
B = {
    "name": ["Joan", "Pere", "J.Manel", "Juan", "Ricard", "Pere", "Juan", "Ricard"],
    "surname": A["surname"],
    "age": [19, 17, 35, 53, 14, 82, 18, 18],
}
SCHEMA = Schema((Variable("name"), Variable("surname"), Variable("age", kind=Kind.NUMERIC)))


def pairs() -> tuple[Microdata, Microdata]:
    return Microdata.of(pl.DataFrame(A), SCHEMA), Microdata.of(pl.DataFrame(B), SCHEMA)


def test_dft_eight_pairs_by_distance() -> None:
    """DFT Table 1, nominal 0/1, age in standard deviations (12.7), sum of squares.

    Ricard Garcia 14 is at 1 from Ricardo Garcia 14 and from Ricard Tanaka 14: half a credit. Pere Garcia 82 is nearer to
    Juan Garcia 53 (1 + (29/12.7)²) than to Pere Garcia 18 ((64/12.7)²): none. All others are found.
    """
    original, masked = pairs()
    result = distance_linkage(from_files(original, masked, ("name", "surname", "age")))
    assert result.credit.tolist() == [1, 1, 1, 1, 0.5, 0, 1, 1]
    assert result.share == 6.5 / 8


def test_dft_eight_pairs_by_string_distance() -> None:
    """Letter by letter, Ricard is at 1/7 from Ricardo; without age J.Manel is 4 of 7 letters from J.M. and from Joan."""
    original, masked = pairs()
    coordinates = from_files(original, masked, ("age",), strings=("name", "surname"))
    assert distance_linkage(coordinates).credit.tolist() == [1, 1, 1, 1, 1, 0, 1, 1]
    names_only = distance_linkage(from_files(original, masked, (), strings=("name", "surname")))
    assert names_only.credit.tolist() == [1, 1, 0.5, 0.5, 1, 1, 0.5, 1]


def test_ordinal_distance_is_zero_for_equal_codes() -> None:
    """Errata 9: |difference of positions|/(|D|−1), so low-high is 1 and low-middle 1/2; squares add up."""
    schema = Schema((Variable("level", kind=Kind.ORDINAL, codes=("low", "middle", "high")),))
    original = Microdata.of(pl.DataFrame({"level": ["low", "middle", "high"]}), schema)
    matrix = all_distances(from_files(original, original, ("level",)))
    np.testing.assert_allclose(matrix, [[0, 0.25, 1], [0.25, 0, 0.25], [1, 0.25, 0]])


def test_ties_are_shared() -> None:
    original = np.array([[0.0], [0.0], [1.0], [5.0]])
    result = distance_linkage(from_numbers(original, original))
    assert result.credit.tolist() == [0.5, 0.5, 1.0, 1.0]
    assert result.by_chance == 0.25


def test_identical_and_independent_files() -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((2000, 3))
    assert distance_linkage(from_numbers(x, x)).share == 1.0
    assert distance_linkage(from_numbers(x, rng.standard_normal((2000, 3)))).share < 5 / 2000


def test_mahalanobis_sees_through_correlated_noise() -> None:
    rng = np.random.default_rng(3)
    x = rng.multivariate_normal([0, 0], [[1, 0.99], [0.99, 1]], 1500)
    y = x + rng.multivariate_normal([0, 0], [[0.04, 0.0396], [0.0396, 0.04]], 1500)
    euclid = distance_linkage(from_numbers(x, y)).share
    assert distance_linkage(from_numbers(x, y, measure="mahalanobis")).share > 1.2 * euclid
    twice = np.column_stack([x, x[:, 0]])  # a repeated variable is a null direction, not an error
    assert from_numbers(twice, twice, measure="mahalanobis").n_columns == 2


def test_growth_with_known_variables() -> None:
    rng = np.random.default_rng(4)
    x = rng.standard_normal((1000, 4))
    y = x + 0.1 * rng.standard_normal(x.shape)
    growth = linkage_growth(from_numbers(x, y), secret=as_secret(1), sets=3)
    rows = growth.rows()
    assert [row["known"] for row in rows] == [1, 2, 3, 4]
    assert [row["sets"] for row in rows] == [3, 3, 3, 1]
    means = [row["mean"] for row in rows]
    assert means == sorted(means)
    assert means[0] < 0.05 < 0.9 < means[-1]


def test_truth_by_nearest_record() -> None:
    """DFT's definition: the record corresponds to its nearest one on all d variables; on all d it is then always found."""
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((300, 3)), rng.standard_normal((300, 3))
    files = from_numbers(x, y)
    assert distance_linkage(files, truth="nearest").share == 1.0
    assert distance_linkage(files).share < 0.05


def test_depth_shows_how_far_down_the_own_record_is() -> None:
    x = np.arange(10.0)[:, None]
    result = distance_linkage(from_numbers(x, x + 2.0), depth=10)  # own record is two places away
    assert result.within(1) == pytest.approx(0.1)  # only the last has no one beyond
    assert result.within(5) == 1.0
    assert result.nearer[:5].tolist() == [3, 3, 3, 3, 3]


def test_one_to_one_reference_rows() -> None:
    """sdcMicro test_recordLinkage.R (rows 50, 51)."""
    x = np.array([[1.0, 0], [0, 1], [-1, 0], [0, -1]])
    y = np.array([[0.0, 0], [0, 2.1], [-2.1, 0], [0, -2.1]])
    assert assigned_linkage(gower_distances(x, y)).share == 1.0
    x, y = np.array([[1.0], [2], [3], [4]]), np.array([[2.0], [3], [4], [-0.1]])
    assert assigned_linkage(gower_distances(x, y)).share == 0.0
    x, y = np.array([[0.0], [2], [100]]), np.array([[0.0], [100], [101]])
    assert assigned_linkage(np.abs(y - x.T)).total == 99.0


def test_rank_intervals_by_hand() -> None:
    """Ten masked values 1…10, 40 % of 10 records: two ranks to either side; original values shifted by 2 and by 3."""
    masked = np.arange(1.0, 11.0)
    assert rank_intervals(masked + 2, masked, percent=40).inside[:8, 0].all()
    assert rank_intervals(masked + 3, masked, percent=40).share == 0.0
    assert rank_intervals(masked, masked, percent=0).share == 1.0


def test_deviation_intervals_by_hand() -> None:
    """sd of 0, 10 (n−1) is 7.07; k = 0.5 reaches 3.5."""
    result = deviation_intervals([[3.0, 0], [14.0, 0]], [[0.0, 1], [10.0, 1]], k=0.5)
    assert result.inside.tolist() == [[True, False], [False, False]]
    assert result.by_variable == (0.5, 0.0)
    assert result.records == 0.0
    assert deviation_intervals([1.0, 2.0, 3.0], [np.nan, 2.0, 3.0]).share == pytest.approx(2 / 3)


def test_attack_on_individual_ranking() -> None:
    """Groups of 3 of 1…9: means 2, 5, 8; every value of the middle group lies in [2, 8]."""
    original = np.arange(1.0, 10.0)
    masked = np.repeat([2.0, 5.0, 8.0], 3)
    result = ranking_attack(original, masked, percent=60.0)
    assert result.covered == 1.0
    assert result.groups == 3
    assert result.narrow_share == pytest.approx(1 / 9)  # 5 ± 60 % is [2, 8]


def test_bad_input() -> None:
    with pytest.raises(DataError, match="same length"):
        distance_linkage(from_numbers([[1.0], [2.0]], [[1.0]]))
    with pytest.raises(DataError, match="must be the same"):
        from_numbers([[1.0, 2.0]], [[1.0]])
    original, masked = pairs()
    with pytest.raises(DataError, match="Did you mean 'surname'"):
        from_files(original, masked, ("surnam",))
    with pytest.raises(DataError, match="at least one variable"):
        from_files(original, masked, ())
    with pytest.raises(DataError, match="same records and variables"):
        rank_intervals([1.0], [1.0, 2.0], percent=5)
