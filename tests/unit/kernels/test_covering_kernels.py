"""Kernels of local suppression: state that can be done and undone, covers that cover, cleaning that never uncovers."""

from itertools import combinations

import numpy as np
import pytest

from reticent.kernels.suppression import act, cheapen, give, greedy_cover, improve, rescue, trim


class Cover:
    """A small covering problem, built the plain way: one record per pattern, masks of one or two variables."""

    def __init__(self, rows: np.ndarray, k: int) -> None:
        n, q = rows.shape
        self.rows, self.k = rows, k
        self.masks = [mask for size in (1, 2) for mask in self._of_size(q, size)]
        self.cost = np.array([float(bin(mask).count("1")) for mask in self.masks])
        clusters: list[list[int]] = []
        self.cluster_of = np.full((len(self.masks), n), -1, dtype=np.int32)
        mask_of = []
        for m, mask in enumerate(self.masks):
            kept = [v for v in range(q) if not mask >> v & 1]
            groups: dict[tuple[int, ...], list[int]] = {}
            for i, row in enumerate(rows):
                groups.setdefault(tuple(row[kept].tolist()), []).append(i)
            for members in groups.values():
                if len(members) >= k:
                    self.cluster_of[m, members] = len(clusters)
                    clusters.append(members)
                    mask_of.append(m)
        self.mask_of = np.array(mask_of, dtype=np.int32)
        self.starts = np.cumsum([0, *map(len, clusters)]).astype(np.int64)
        self.members = np.array([i for members in clusters for i in members], dtype=np.int32)
        alike = (rows[:, None, :] == rows[None, :, :]).all(axis=2).sum(axis=1)
        self.demand = np.maximum(k - alike, 0).astype(np.int32)
        self.left, self.got = np.ones(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
        self.weight = self.weights()

    @staticmethod
    def _of_size(q: int, size: int) -> list[int]:
        return [sum(1 << v for v in chosen) for chosen in combinations(range(q), size)]

    def weights(self) -> np.ndarray:
        """Records of each cluster that still need somebody."""
        needy = np.where(self.got < self.demand, self.left, 0)
        return np.array(
            [needy[self.members[a:b]].sum() for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)],
            dtype=np.int64,
        )

    @property
    def problem(self) -> tuple[np.ndarray, ...]:
        return self.cluster_of, self.starts, self.members, self.demand

    @property
    def state(self) -> tuple[np.ndarray, ...]:
        return self.left, self.got, self.weight

    def uncovered(self) -> list[int]:
        """Patterns that some cluster could help and that still need somebody."""
        helpable = (self.cluster_of >= 0).any(axis=0)
        return np.flatnonzero(helpable & (self.left > 0) & (self.got < self.demand)).tolist()


def cover(seed: int, n: int = 30, k: int = 3) -> Cover:
    rng = np.random.default_rng(seed)
    return Cover(np.unique(rng.integers(0, 3, (n, 4)), axis=0), k)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_done_can_be_undone(seed: int) -> None:
    own = cover(seed)
    before = [part.copy() for part in own.state]
    actions = [(v, m) for m in range(len(own.masks)) for v in range(len(own.rows)) if own.cluster_of[m, v] >= 0][:4]
    done = []
    for v, m in actions:
        if own.left[v] > 0:
            act(v, m, 1, own.problem, own.state)
            done.append((v, m))
            np.testing.assert_array_equal(own.weight, own.weights())
    for v, m in reversed(done):
        act(v, m, -1, own.problem, own.state)
    for now, then in zip(own.state, before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_companions_are_given_to_all_but_the_actor() -> None:
    own = cover(1)
    c = int(np.argmax(np.diff(own.starts)))
    members = own.members[own.starts[c] : own.starts[c + 1]].tolist()
    give(c, members[0], 1, own.problem, own.state)
    assert own.got[members[0]] == 0
    assert own.got[members[1:]].tolist() == [1] * (len(members) - 1)
    np.testing.assert_array_equal(own.weight, own.weights())


def greedy(own: Cover) -> tuple[np.ndarray, np.ndarray, int]:
    actors, masks = np.empty(1000, dtype=np.int32), np.empty(1000, dtype=np.int32)
    n = greedy_cover(own.problem, own.state, own.mask_of, own.cost, max(own.k - 2, 0), actors, masks, 0)
    return actors, masks, n


@pytest.mark.parametrize("seed", range(6))
def test_a_cover_leaves_nobody_in_need_and_cleaning_and_search_make_it_no_dearer(seed: int) -> None:
    own = cover(seed)
    actors, masks, n = greedy(own)
    assert own.uncovered() == []
    first = own.cost[masks[:n]].sum()
    by_cost = np.argsort(own.cost, kind="stable")
    n = cheapen(own.problem, own.state, own.cost, by_cost, actors, masks, n)
    assert own.uncovered() == []
    cleaned = own.cost[masks[:n]].sum()
    assert cleaned <= first
    n = improve(own.problem, own.state, own.cost, by_cost, actors, masks, n, 50, np.uint64(7))
    assert own.uncovered() == []
    assert own.cost[masks[:n]].sum() <= cleaned
    np.testing.assert_array_equal(own.weight, own.weights())


def agreeing(codes: np.ndarray) -> np.ndarray:
    """For each record how many agree with it, a missing value with anything."""
    same = (codes[:, None, :] == codes[None, :, :]) | (codes[:, None, :] < 0) | (codes[None, :, :] < 0)
    return same.all(axis=2).sum(axis=1)


@pytest.mark.parametrize("seed", range(6))
def test_needy_records_are_rescued_by_the_cheapest_mask_and_trimmed_again(seed: int) -> None:
    truth = np.random.default_rng(seed).integers(0, 3, (25, 3)).astype(np.int32)
    k, masks = 3, np.array([1, 2, 4, 3, 5, 6, 7], dtype=np.int64)
    codes, found = truth.copy(), agreeing(truth).astype(np.int64)
    needy = np.flatnonzero(found < k)
    failed = rescue(codes, truth, found, k, masks, needy, np.zeros(25, np.int64), 3)
    assert failed == 0
    np.testing.assert_array_equal(found, agreeing(codes))
    assert found.min() >= k
    blanks = int((codes < 0).sum())
    touched = np.flatnonzero((codes < 0).any(axis=1))
    trim(codes, truth, found, k, np.concatenate(([0], masks)), touched)
    np.testing.assert_array_equal(found, agreeing(codes))
    assert found.min() >= k
    assert int((codes < 0).sum()) <= blanks
    assert bool(((codes == truth) | (codes < 0)).all())


def test_a_cap_on_blanks_leaves_some_in_need() -> None:
    truth = np.array([[0, 0], [1, 1], [2, 2]], dtype=np.int32)
    codes, found = truth.copy(), np.ones(3, np.int64)
    failed = rescue(codes, truth, found, 3, np.array([1, 2, 3]), np.arange(3), np.zeros(3, np.int64), 1)
    assert failed == 3
    np.testing.assert_array_equal(codes, truth)
