"""Parts of microaggregation: runs along an axis, blocks, groups joined until k respondents are behind each mean."""

import numpy as np
import pytest

from reticent.base.errors import DataError
from reticent.microdata.grouping.axes import exact_runs, first_component, fixed_runs, labels_of_starts, random_runs
from reticent.microdata.grouping.blocks import median_blocks, rotated_group_blocks
from reticent.microdata.grouping.entities import entity_counts, join_few_entities
from reticent.microdata.grouping.present import pooled_where_few, respondents_behind


def sizes(labels: np.ndarray) -> list[int]:
    return np.bincount(labels).tolist()


def is_run(labels: np.ndarray, scores: np.ndarray) -> bool:
    """Whether each group is a stretch of the records in their order."""
    ordered = labels[np.argsort(scores, kind="stable")]
    return bool((np.diff(ordered) >= 0).all())


def test_the_first_component_is_the_direction_of_most_spread() -> None:
    rng = np.random.default_rng(1)
    line = rng.normal(size=200)
    x = np.column_stack([line * 3, line * 3 + rng.normal(scale=0.1, size=200)])
    scores = first_component(x)
    assert abs(np.corrcoef(scores, line)[0, 1]) > 0.999
    assert np.corrcoef(scores, x[:, 0])[0, 1] > 0  # the largest loading is positive
    assert scores.var() >= x.var(axis=0).max()


def test_runs_are_cut_at_their_starts() -> None:
    assert labels_of_starts(np.array([2, 0, 1, 3]), np.array([0, 2])).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(("n", "k"), [(6, 3), (7, 3), (8, 3), (3, 3), (23, 5)])
def test_fixed_runs_have_k_and_the_last_takes_the_rest(n: int, k: int) -> None:
    scores = np.random.default_rng(n).normal(size=n)
    labels = fixed_runs(scores, k)
    assert is_run(labels, scores)
    assert sizes(labels)[:-1] == [k] * (n // k - 1)
    assert sum(sizes(labels)) == n


@pytest.mark.parametrize("seed", range(6))
def test_random_runs_have_k_to_less_than_two_k(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=57)
    labels = random_runs(scores, 4, rng)
    assert is_run(labels, scores)
    assert min(sizes(labels)) >= 4
    assert max(sizes(labels)) <= 7


def test_exact_runs_cost_no_more_than_fixed_ones() -> None:
    scores = np.array([0.0, 0.1, 5.0, 5.1, 5.2, 9.0, 9.1, 9.2])
    labels, cost = exact_runs(scores, 2)
    assert sizes(labels) == [2, 3, 3]

    def within(own: np.ndarray) -> float:
        return sum(float(((scores[own == g] - scores[own == g].mean()) ** 2).sum()) for g in np.unique(own))

    assert cost == pytest.approx(within(labels))
    assert within(labels) < within(fixed_runs(scores, 2))


@pytest.mark.parametrize("largest", [5, 17, 200])
def test_blocks_hold_everybody_once_and_are_small(largest: int) -> None:
    x = np.random.default_rng(2).normal(size=(100, 3))
    blocks = median_blocks(x, largest)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(100))
    assert max(len(block) for block in blocks) <= largest


def test_a_block_is_cut_at_the_median_of_the_widest_variable() -> None:
    x = np.column_stack([np.arange(10.0), np.zeros(10)])
    assert {frozenset(block.tolist()) for block in median_blocks(x, 5)} == {
        frozenset(range(5)),
        frozenset(range(5, 10)),
    }


def test_blocks_of_groups_keep_groups_whole() -> None:
    x = np.random.default_rng(3).normal(size=(60, 2))
    labels = fixed_runs(x[:, 0], 3)
    blocks = rotated_group_blocks(x, labels, 12)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(60))
    for block in blocks:
        own = set(labels[block].tolist())
        assert not own & set(np.delete(labels, block).tolist())


def test_respondents_are_counted_once_in_each_group() -> None:
    labels, entity = np.array([0, 0, 0, 1, 1]), np.array([7, 7, 8, 7, 9])
    assert entity_counts(labels, entity).tolist() == [2, 2]


def test_groups_of_few_respondents_join_the_nearest() -> None:
    values = np.array([[0.0], [0.1], [5.0], [5.1], [5.2], [5.3]])
    labels, entity = np.array([0, 0, 1, 1, 2, 2]), np.array([1, 1, 2, 3, 4, 5])
    found = join_few_entities(values, labels, entity, 2)
    assert entity_counts(found, entity).min() >= 2
    assert found[0] == found[2]  # the group of one respondent went to its neighbour, not to the farthest
    assert found[4] != found[0]
    assert labels.tolist() == [0, 0, 1, 1, 2, 2]  # what was given is left alone


def test_a_stratum_with_too_few_respondents_is_refused() -> None:
    with pytest.raises(DataError, match="fewer than k = 3 respondents"):
        join_few_entities(np.zeros((4, 1)), np.zeros(4, np.int64), np.array([1, 1, 2, 2]), 3)


def test_respondents_behind_a_mean_have_a_value() -> None:
    labels, who = np.array([0, 0, 0, 1, 1]), np.array([1, 1, 2, 3, 4])
    present = np.array([True, True, False, True, True])
    assert respondents_behind(labels, present, who).tolist() == [1, 2]


def test_groups_with_few_values_are_joined_along_the_order_and_within_strata() -> None:
    labels = np.repeat(np.arange(4), 2)
    who, strata = np.arange(8), np.array([0] * 4 + [1] * 4)
    keys = np.arange(8.0)[:, None]
    present = np.array([True, True, True, False, True, True, True, True])
    found = pooled_where_few(labels, present, who, keys, strata, k=2)
    assert found[0] == found[2]  # the second group has one value only
    assert len(np.unique(found[4:])) == 2  # the other stratum is untouched
    assert respondents_behind(found, present, who).min() >= 2


def test_groups_without_any_value_stay_alone() -> None:
    labels = np.repeat(np.arange(3), 2)
    present = np.array([False, False, True, False, True, True])
    found = pooled_where_few(labels, present, np.arange(6), np.arange(6.0)[:, None], np.zeros(6, np.int64), k=2)
    assert found[2] == found[4]
    assert found[0] != found[2]


def test_enough_values_change_nothing() -> None:
    labels = np.repeat(np.arange(3), 2)
    found = pooled_where_few(labels, np.ones(6, bool), np.arange(6), np.zeros((6, 1)), np.zeros(6, np.int64), k=2)
    assert found is labels
