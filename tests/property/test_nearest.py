"""The tree search agrees with loops over all pairs, with missing values, ties and mixed kinds."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reference import linkage as reference
from reticent.kernels.nearest import build_tree, count_nearer, nearest, pair_distances
from reticent.microdata.risk.linkage_coordinates import Coordinates
from reticent.microdata.risk.linkage_distance import all_distances, distance_linkage


@st.composite
def two_files(draw: st.DrawFn) -> Coordinates:
    n, d = draw(st.integers(1, 60)), draw(st.integers(1, 4))
    values = st.one_of(st.integers(0, 4).map(float), st.just(float("nan")))
    x = draw(hnp.arrays(np.float64, (n, d), elements=values))
    y = draw(hnp.arrays(np.float64, (n, d), elements=values))
    nominal = draw(hnp.arrays(np.bool_, d))
    return Coordinates(tuple("abcd"[:d]), x, y, nominal, np.where(nominal, 1.0, 2.0))


@given(two_files())
def test_credits(files: Coordinates) -> None:
    expected = reference.credits(files.original, files.masked, files.nominal, files.absent)
    np.testing.assert_allclose(distance_linkage(files).credit, expected)


@given(two_files())
def test_nearest_distance(files: Coordinates) -> None:
    tree = build_tree(files.original, files.nominal, files.absent)
    found, distance = nearest(tree, files.masked)
    matrix = all_distances(files)
    np.testing.assert_allclose(distance, matrix.min(axis=1))
    np.testing.assert_allclose(matrix[np.arange(len(found)), found], matrix.min(axis=1))


@given(two_files(), st.integers(1, 5))
def test_counts_up_to_the_cap(files: Coordinates, cap: int) -> None:
    tree = build_tree(files.original, files.nominal, files.absent)
    radii = pair_distances(files.masked, files.original, files.nominal, files.absent)
    nearer, _ = count_nearer(tree, files.masked, radii, cap=cap)
    matrix = all_distances(files)
    np.testing.assert_array_equal(nearer, np.minimum((matrix < radii[:, None] * (1 - 1e-9)).sum(axis=1), cap))


def test_large_file_with_two_threads_equals_blocks() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((6000, 3))
    y = x + 0.2 * rng.standard_normal(x.shape)
    files = Coordinates(("a", "b", "c"), x, y, np.zeros(3, dtype=bool), np.full(3, 2.0))
    matrix = all_distances(files)
    expected = (matrix.argmin(axis=1) == np.arange(6000)).mean()
    assert distance_linkage(files).share == expected
