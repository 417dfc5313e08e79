"""Partitions of numeric and mixed records: sizes, order, threads, secrets, refusals, EUSTAT's figure."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import microaggregation as reference
from reticent.base import clock
from reticent.base.errors import DataError, ParameterError
from reticent.base.randomness import as_secret
from reticent.microdata.grouping import (
    PARTITIONS,
    Partitioning,
    mixed_columns,
    partition,
    partition_in_steps,
    partition_mixed,
    recheck_sizes,
)
from reticent.microdata.grouping.bound import mutual_bound, neighbour_bound
from reticent.microdata.grouping.search import Search, search_blocks, take_turns
from reticent.microdata.patience import Patience

MULTIVARIATE = tuple(name for name in PARTITIONS if name not in ("exact", "genetic", "individual-ranking"))
UNIVARIATE = tuple(name for name in PARTITIONS if name != "individual-ranking")
QUICK = 40_000


def points(n: int, d: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).lognormal(size=(n, d))


def groups_of(labels: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == g).tolist()) for g in np.unique(labels)}


@pytest.mark.parametrize("name", MULTIVARIATE)
@given(st.integers(1, 60), st.integers(2, 5), st.integers(2, 4), st.integers(0, 10**6))
def test_sizes_are_k_to_2k_minus_1(name: str, n: int, k: int, d: int, seed: int) -> None:
    x = points(max(n, k, 2), d, seed)
    grouping = partition(x, Partitioning(k=k, name=name, proposals=2000), secret=seed)
    assert grouping.sizes.min() >= k
    assert grouping.sizes.max() <= 2 * k - 1
    assert recheck_sizes(grouping.labels, k) == 0
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    assert grouping.within == pytest.approx(reference.squares_within(z, grouping.labels), rel=1e-9)


@pytest.mark.parametrize("name", MULTIVARIATE)
def test_the_order_of_records_does_not_matter(name: str) -> None:
    x = points(97, 3, 5)
    mixed = np.random.default_rng(1).permutation(97)
    how = Partitioning(k=4, name=name, proposals=QUICK)
    before = partition(x, how, secret=3).labels
    after = partition(x[mixed], how, secret=3).labels
    assert groups_of(before[mixed]) == groups_of(after)


@pytest.mark.parametrize("name", UNIVARIATE)
def test_one_variable(name: str) -> None:
    x = points(50, 1, 8)
    exact = partition(x, Partitioning(k=3, name="exact"))
    grouping = partition(x, Partitioning(k=3, name=name, proposals=QUICK))
    assert recheck_sizes(grouping.labels, 3) == 0
    assert grouping.within >= exact.within - 1e-9


@pytest.mark.slow
def test_threads_do_not_matter_and_the_secret_decides() -> None:
    x = points(120, 4, 2)
    results = [
        partition(x, Partitioning(k=3, name="best", proposals=QUICK, threads=threads), secret=9).labels.tobytes()
        for threads in (1, 2)
    ]
    assert results[0] == results[1]
    assert partition(x, Partitioning(k=3, name="best", proposals=QUICK), secret=10).labels.tobytes() != results[0]


@pytest.mark.slow
def test_best_is_at_least_as_good_as_its_start_and_above_its_bound() -> None:
    x = points(90, 3, 4)
    for start in ("mdav", "v-mdav", "cbfs", "ward", "first-component", "z-scores"):
        plain = partition(x, Partitioning(k=3, name=start))
        best = partition(x, Partitioning(k=3, name="best", start=start, proposals=QUICK), secret=1)
        assert best.within <= plain.within * (1 + 1e-12)
        assert best.lower_bound is not None
        assert best.lower_bound <= best.within


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(4, 10))
def test_lower_bounds_hold_for_the_true_optimum(seed: int, k: int, n: int) -> None:
    x = points(n, 2, seed)
    optimum = reference.cheapest_partition(x, k)
    assert neighbour_bound(x, k) <= optimum
    assert neighbour_bound(x, k) <= mutual_bound(x, k, 10 * optimum) <= optimum * (1 + 1e-12)


def test_the_mutual_bound_holds_when_most_records_are_not_listed() -> None:
    """Sixty records, each with its 24 nearest: the bound must stay below every partition that is found."""
    for seed in range(5):
        x = points(60, 3, seed)
        z = (x - x.mean(axis=0)) / x.std(axis=0)
        best = partition(x, Partitioning(k=3, name="best", proposals=400_000), secret=seed)
        assert best.lower_bound is not None
        assert 1.1 * neighbour_bound(z, 3) < best.lower_bound < best.within


def test_a_time_limit_of_nothing_still_gives_a_valid_partition() -> None:
    grouping = partition(points(500, 3, 1), Partitioning(k=3, name="best", time_limit=0.0), secret=1)
    assert not grouping.finished
    assert recheck_sizes(grouping.labels, 3) == 0


@pytest.mark.parametrize(
    ("n", "options", "ends"),
    [
        pytest.param(300, {"proposals": 900_000}, (1, 2, 3, 4), id="annealing, then settling"),
        pytest.param(
            900,
            {"proposals": 3_000, "block_size": 50},
            (1, 3, 6, 14),
            id="blocks, two passes",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            3000,
            {"proposals": 30_000, "block_size": 100},
            (1, 3, 6, 10, 14),
            id="blocks, also within the second pass",
            marks=pytest.mark.deep,
        ),
    ],
)
def test_a_search_that_time_cut_is_repeated_by_its_steps(
    n: int, options: dict[str, int], ends: tuple[int, ...]
) -> None:
    """Wherever the clock ends it: this many steps give the same groups, on any number of threads and any machine."""
    x, found = points(n, 2, 3), set()
    for end in ends:
        with clock.using(clock.StepClock()):
            patience = Patience(0.01 * (end + 0.5))
            (cut,) = take_turns([partition_in_steps(x, how(**options), secret=1)], patience)
        assert not cut.finished
        assert recheck_sizes(cut.labels, 3) == 0
        assert patience.to_repeat() == {"repeat": {"steps": end}}
        again = partition(x, how(**options, steps=end, threads=1), secret=1)
        assert again.labels.tobytes() == cut.labels.tobytes()
        found.add(cut.labels.tobytes())
    assert len(found) > 2
    whole = partition(x, how(**options), secret=1)
    assert whole.finished
    assert whole.within <= cut.within * (1 + 1e-12)


def how(**options: int) -> Partitioning:
    return Partitioning(k=3, name="best", **options)  # type: ignore[arg-type]


def test_blocks_are_valid_better_than_blocked_mdav_and_free_of_threads() -> None:
    x = points(9000, 3, 7)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    plain = partition(x, Partitioning(k=5, block_size=2500))
    searches = [search_blocks(z, 5, Search(as_secret(1), proposals=400_000, threads=threads)) for threads in (1, 2)]
    runs = take_turns(searches, Patience(None))
    assert runs[0][0].tobytes() == runs[1][0].tobytes()
    assert recheck_sizes(runs[0][0], 5) == 0
    assert reference.squares_within(z, runs[0][0]) < 0.97 * plain.within


def test_modified_ward_keeps_two_clouds_of_five_and_four_apart() -> None:
    """EUSTAT's figure: nine points in two clouds, k = 3; fixed sizes must mix the clouds."""
    left = np.array([[1.0, 1.2], [1.3, 1.0], [1.1, 1.5], [1.5, 1.4], [1.4, 1.7]])
    right = np.array([[6.0, 4.1], [6.3, 4.4], [6.1, 4.6], [6.5, 4.0]])
    x = np.concatenate((left, right))
    ward = partition(x, Partitioning(k=3, name="ward"))
    assert groups_of(ward.labels) == {frozenset(range(5)), frozenset(range(5, 9))}
    for name in ("mdav", "first-component", "z-scores", "variable"):
        assert ward.within < 0.5 * partition(x, Partitioning(k=3, name=name)).within


def test_random_sizes_differ_between_secrets_and_are_valid() -> None:
    x = points(100, 2, 3)
    how = Partitioning(k=4, name="first-component", random_sizes=True)
    one, other = partition(x, how, secret=1), partition(x, how, secret=2)
    assert recheck_sizes(one.labels, 4) == recheck_sizes(other.labels, 4) == 0
    assert one.sizes.tolist() != other.sizes.tolist()
    with pytest.raises(ParameterError, match="random_sizes needs a partition along one axis"):
        Partitioning(name="mdav", random_sizes=True)


def test_refusals_name_the_variable_and_the_way_out() -> None:
    x = points(10, 2, 1)
    x[:, 1] = 4.0
    with pytest.raises(DataError, match="'tax' is constant"):
        partition(x, Partitioning(k=3), names=("income", "tax"))
    with pytest.raises(DataError, match="2 records cannot make a group of k = 3"):
        partition(points(2, 2, 1), Partitioning(k=3))
    with pytest.raises(DataError, match="present and finite"):
        partition(np.array([[1.0], [np.nan], [2.0]]), Partitioning(k=2))
    with pytest.raises(ParameterError, match="takes one variable, got 2"):
        partition(points(10, 2, 1), Partitioning(k=3, name="exact"))
    with pytest.raises(ParameterError, match="Did you mean 'mdav'"):
        Partitioning(name="mdaf")


@given(st.integers(3, 50), st.integers(2, 5), st.integers(0, 10**6), st.booleans())
def test_mixed_groups_are_disjoint_and_sized(n: int, k: int, seed: int, square: bool) -> None:
    rng = np.random.default_rng(seed)
    n = max(n, k)
    numbers = rng.normal(size=(n, 2))
    numbers[rng.random((n, 2)) < 0.1] = np.nan
    ordinal = rng.integers(-1, 4, (n, 1)).astype(np.int32)
    nominal = rng.integers(-1, 3, (n, 2)).astype(np.int32)
    columns, flags = mixed_columns(numbers, ordinal, nominal, (4,))
    labels = partition_mixed(columns, flags, k, square=square)
    assert recheck_sizes(labels, k) == 0


def test_mixed_grouping_puts_like_with_like() -> None:
    nominal = np.array([[0], [0], [0], [1], [1], [1]], dtype=np.int32)
    ordinal = np.array([[0], [0], [1], [3], [3], [2]], dtype=np.int32)
    columns, flags = mixed_columns(np.empty((6, 0)), ordinal, nominal, (4,))
    assert groups_of(partition_mixed(columns, flags, 3)) == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}
