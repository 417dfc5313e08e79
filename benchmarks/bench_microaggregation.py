# SPDX-License-Identifier: Apache-2.0
"""Microaggregation: MDAV (n²/k by its nature), the search `best` on small files, and by blocks on a million records."""

from functools import partial

import numpy as np

from benchmarks.harness import Entry
from reticent.kernels.mdav import mdav
from reticent.microdata.grouping import Grouping, Partitioning, partition

K = 5
SMALL = 1_000


def _clouds(n: int, d: int) -> np.ndarray:
    """Records in 200 overlapping clouds, variables of unequal spread."""
    rng = np.random.default_rng(1)
    centres = rng.normal(0, 2, (200, d))
    return centres[rng.integers(0, 200, n)] + rng.normal(size=(n, d)) * np.linspace(1.0, 0.2, d)


def _standard(n: int, d: int) -> np.ndarray:
    x = _clouds(n, d)
    return (x - x.mean(axis=0)) / x.std(axis=0)


def _numpy_mdav(x: np.ndarray, k: int = K) -> np.ndarray:
    """The usual vectorised version, as a yardstick."""
    labels = np.zeros(len(x), np.int64)
    left = np.arange(len(x))
    group = 0

    def take(point: np.ndarray) -> None:
        nonlocal left, group
        near = np.argpartition(((x[left] - point) ** 2).sum(axis=1), k - 1)[:k]
        labels[left[near]] = group
        left = np.delete(left, near)
        group += 1

    while left.size >= 3 * k:
        r = x[left[np.argmax(((x[left] - x[left].mean(axis=0)) ** 2).sum(axis=1))]]
        s = x[left[np.argmax(((x[left] - r) ** 2).sum(axis=1))]]
        take(r)
        take(s)
    if left.size >= 2 * k:
        take(x[left[np.argmax(((x[left] - x[left].mean(axis=0)) ** 2).sum(axis=1))]])
    labels[left] = group
    return labels


def _best(x: np.ndarray) -> Grouping:
    return partition(x, Partitioning(k=K, name="best"), secret=1)


def _blocked(x: np.ndarray) -> Grouping:
    return partition(x, Partitioning(k=K, block_size=2500))


def _quality(against: Partitioning, x: np.ndarray, found: Grouping) -> str:
    plain = partition(x, against, secret=1)
    return f"loss {100 * found.loss:.3f} % against {100 * plain.loss:.3f} % ({found.loss / plain.loss:.3f})"


def entries() -> list[Entry]:
    """What is compared."""
    return [
        Entry("MDAV, 4 variables, k = 5", (10_000, 20_000, 50_000), lambda n: _standard(n, 4), lambda x: mdav(x, K), repeat=1,
              notes="grows like n²/k: a group needs the distances of all records that are left"),
        Entry("MDAV against numpy, 4 variables", (10_000,), lambda n: _standard(n, 4), lambda x: mdav(x, K), _numpy_mdav,
              "vectorised numpy", repeat=2),
        Entry("best, 8 variables, whole file", (SMALL, 5 * SMALL), lambda n: _clouds(n, 8), _best, repeat=1,
              quality=partial(_quality, Partitioning(k=K)), notes="loss against plain MDAV"),
        Entry("best, 8 variables, by blocks", (100_000, 300_000, 1_000_000), lambda n: _clouds(n, 8), _best, _blocked,
              "MDAV in blocks", repeat=1, quality=partial(_quality, Partitioning(k=K, block_size=2500)),
              notes="loss against MDAV in the same blocks"),
        Entry("best by blocks beside the whole file", (50_000,), lambda n: _clouds(n, 8), _best, repeat=1,
              quality=partial(_quality, Partitioning(k=K, name="best", block_size=50_000)),
              notes="loss against `best` in one block"),
    ]  # fmt: skip
