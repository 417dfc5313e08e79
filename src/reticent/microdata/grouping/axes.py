# SPDX-License-Identifier: Apache-2.0
"""Partitions along one ordering of the records: sorted, then cut into runs of k to 2k − 1."""

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.kernels.univariate import genetic_path, shortest_path

GENETIC_POPULATION = 60
GENETIC_CHILDREN = 20_000


def first_component(x: Floats) -> Floats:
    """Scores on the first principal component of standardised numbers; its largest loading is made positive."""
    vector = np.linalg.eigh(x.T @ x)[1][:, -1]
    return np.asarray(x @ (vector * np.sign(vector[np.argmax(np.abs(vector))])))


def labels_of_starts(order: Ints, starts: Ints) -> Ints:
    """Group numbers of the records when `order` is cut at `starts`."""
    labels = np.empty(order.size, np.int64)
    labels[order] = np.repeat(np.arange(starts.size), np.diff(np.append(starts, order.size)))
    return labels


def fixed_runs(scores: Floats, k: int) -> Ints:
    """Runs of k in ascending order of the scores; the last one takes the remainder (k to 2k − 1)."""
    order = np.argsort(scores, kind="stable").astype(np.int64)
    return labels_of_starts(order, np.arange(scores.size // k, dtype=np.int64) * k)


def random_runs(scores: Floats, k: int, rng: np.random.Generator) -> Ints:
    """Runs of random sizes k to 2k − 1, so that nobody can count off where a group ends."""
    starts, at = [0], 0
    n = scores.size
    while n - at >= 2 * k:
        at = min(at + int(rng.integers(k, 2 * k)), n - k)
        starts.append(at)
    order = np.argsort(scores, kind="stable").astype(np.int64)
    return labels_of_starts(order, np.asarray(starts, dtype=np.int64))


def exact_runs(scores: Floats, k: int) -> tuple[Ints, float]:
    """The optimal partition of one variable and its cost (Hansen and Mukherjee 2003)."""
    order = np.argsort(scores, kind="stable").astype(np.int64)
    starts, cost = shortest_path(np.ascontiguousarray(scores[order]), k)
    return labels_of_starts(order, starts), float(cost)


def genetic_runs(scores: Floats, k: int, words: tuple[int, int]) -> Ints:
    """A good partition of one variable by genetic search (Mateo-Sanz and Domingo-Ferrer 1998)."""
    order = np.argsort(scores, kind="stable").astype(np.int64)
    state = np.array(words, dtype=np.uint64) | np.uint64(1)
    starts, _ = genetic_path(np.ascontiguousarray(scores[order]), k, GENETIC_POPULATION, GENETIC_CHILDREN, state)
    return labels_of_starts(order, starts)
