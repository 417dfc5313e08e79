"""Microaggregation examples that can be checked by hand: EUSTAT's figures, and a toy file of the field."""

import numpy as np
import polars as pl
import pytest

from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Schema, Variable
from reticent.kernels.ward import farthest_pair, join_groups, seed_groups
from reticent.microdata.grouping import Partitioning, partition
from reticent.microdata.mask.microaggregation import Microaggregate
from reticent.microdata.risk.interval import ranking_attack


def file_of(**columns: list[float]) -> Microdata:
    schema = Schema(tuple(Variable(name, kind=Kind.NUMERIC) for name in columns))
    return Microdata.of(pl.DataFrame({name: np.array(v, dtype=float) for name, v in columns.items()}), schema)


def masked(method: Microaggregate, data: Microdata) -> np.ndarray:
    return method.apply(data, secret=as_secret(1), progress=silent).data.numbers(method.variables)


def test_toy_file() -> None:
    """Five records, k = 2: three low ones and two high ones (peers' issue 51)."""
    data = file_of(x=[2, 3, 3, 20, 21], y=[1, 2, 2, 19, 20])
    low, high = [8 / 3, 5 / 3], [20.5, 19.5]
    assert masked(Microaggregate(("x", "y"), k=2), data) == pytest.approx(np.array([low, low, low, high, high]))


def test_fixed_sizes_and_the_remainder() -> None:
    """EUSTAT: groups of successive k; if n is no multiple of k, the last one contains more."""
    values = [1.0, 2, 3, 4, 5, 6, 7, 8]
    expected = [2.0, 2, 2, 6, 6, 6, 6, 6]
    for name in ("individual-ranking", "first-component", "z-scores"):
        assert masked(Microaggregate(("x",), partition=name), file_of(x=values))[:, 0].tolist() == expected
    by_hand = masked(Microaggregate(("x",), partition="variable", sort_by="x"), file_of(x=values[::-1]))
    assert by_hand[:, 0].tolist() == expected[::-1]


def test_individual_ranking_gives_a_partition_per_variable() -> None:
    data = file_of(x=[1, 2, 3, 10, 11, 12], y=[6, 5, 4, 3, 20, 30])
    result = masked(Microaggregate(("x", "y"), partition="individual-ranking"), data)
    assert result[:, 0].tolist() == [2, 2, 2, 11, 11, 11]
    assert result[:, 1] == pytest.approx([56 / 3, 4, 4, 4, 56 / 3, 56 / 3])


def test_individual_ranking_can_be_attacked() -> None:
    """EUSTAT: the true value lies between the averages of the neighbouring groups."""
    data = file_of(x=[float(v) for v in range(30)])
    result = masked(Microaggregate(("x",), k=3, partition="individual-ranking"), data)
    assert ranking_attack(data.numbers(("x",)), result).covered == 1.0


def test_figure_1_variable_sizes() -> None:
    """Nine data items, k = 3: five on the left, four on the right; three groups of three would be unnatural."""
    left = [(1.0, 2.0), (1.5, 3.0), (2.0, 1.5), (2.2, 2.6), (2.8, 2.1)]
    right = [(8.0, 7.0), (8.4, 7.9), (9.1, 7.2), (8.8, 6.4)]
    x = np.array(left + right)
    for name in ("ward", "best"):
        grouping = partition(x, Partitioning(k=3, name=name, proposals=20_000), secret=1)
        assert sorted(grouping.sizes.tolist()) == [4, 5]
        assert len(set(grouping.labels[:5])) == 1
        assert grouping.within < partition(x, Partitioning(k=3, name="mdav")).within


def test_figure_2_the_extreme_that_starts_decides() -> None:
    """Six vectors, k = 3, the most distant are 2 and 5: starting from 2 or from 5 gives two different groupings."""
    points = np.array([(1.5, 1.0), (0.0, 0.0), (4.0, 1.0), (6.5, 1.0), (8.0, 0.0), (4.0, -2.0)])
    assert set(farthest_pair(points)) == {1, 4}
    from_two, from_five = seed_groups(points, 1, 4, 3), seed_groups(points, 4, 1, 3)
    assert [set((np.flatnonzero(from_two == g) + 1).tolist()) for g in (0, 1)] == [{1, 2, 3}, {4, 5, 6}]
    assert [set((np.flatnonzero(from_five == g) + 1).tolist()) for g in (0, 1)] == [{3, 4, 5}, {1, 2, 6}]


def test_two_groups_of_k_or_more_never_join() -> None:
    """Step 2 of the algorithm, on one variable: all twelve end in groups of at least three, the two ends apart."""
    x = np.array([[0.0], [1], [2], [3], [4], [5], [6], [7], [8], [9], [10], [11]])
    seeds = np.array([0, 0, 0, -1, -1, -1, -1, -1, -1, 1, 1, 1])
    labels = join_groups(x, seeds, 3)
    assert np.unique(labels, return_counts=True)[1].min() >= 3
    assert labels[0] == labels[1] == labels[2]
    assert labels[0] != labels[11]


def test_nobody_may_dominate_a_group() -> None:
    """EUSTAT 503: groups of k or more where no individual contributes too much."""
    data = file_of(x=[1.0, 1, 98, 200, 210, 220])
    with pytest.raises(Exception, match="one member holds more than 0.8"):
        masked(Microaggregate(("x",), partition="exact", largest_share=0.8), data)
    masked(Microaggregate(("x",), partition="exact", largest_share=0.99), data)
