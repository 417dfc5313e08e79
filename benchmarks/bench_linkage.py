# SPDX-License-Identifier: Apache-2.0
"""Record linkage of a file with its masked version: no pair is listed, so a million against a million is feasible."""

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from benchmarks.harness import Entry
from reticent.base.randomness import as_secret
from reticent.kernels.agreement import agreement_counts
from reticent.microdata.risk.linkage_coordinates import Coordinates, from_numbers
from reticent.microdata.risk.linkage_distance import DistanceLinkage, distance_linkage
from reticent.microdata.risk.linkage_probabilistic import probabilistic_linkage

SIZES = (10_000, 100_000, 1_000_000)
KEYS = (20, 2, 17, 5, 8, 30)


def _noisy(n: int, noise: float = 0.1) -> Coordinates:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((n, 6))
    return from_numbers(x, x + noise * rng.standard_normal(x.shape))


def _by_kd_tree(files: Coordinates) -> np.ndarray:
    """All nearest neighbours with scipy's tree on both cores (ties not shared)."""
    _, found = cKDTree(files.original).query(files.masked, workers=2)
    return np.asarray(found == np.arange(files.n_original))


def _quality(files: Coordinates, result: DistanceLinkage) -> str:
    return f"{result.share:.1%} linked"


def _changed(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Six keys; one value in ten is drawn anew."""
    rng = np.random.default_rng(2)
    left = np.stack([rng.integers(0, size, n) for size in KEYS], axis=1).astype(np.int32)
    other = np.stack([rng.integers(0, size, n) for size in KEYS], axis=1).astype(np.int32)
    return left, np.where(rng.random(left.shape) < 0.1, other, left)


def _best_match(files: Any) -> Any:
    return probabilistic_linkage(*files, tuple("abcdef"), secret=as_secret(1), assign="none")


def entries() -> list[Entry]:
    """What is measured."""
    return [
        Entry("distance linkage, 6 variables, noise 0.1 sd", SIZES, _noisy, distance_linkage, _by_kd_tree,
              "scipy kd-tree, nearest neighbour", repeat=1, quality=_quality),
        Entry("distance linkage, 6 variables, noise 1 sd", (10_000, 100_000), lambda n: _noisy(n, 1.0), distance_linkage,
              _by_kd_tree, "scipy kd-tree, nearest neighbour", repeat=1, quality=_quality),
        Entry("agreement patterns of all pairs, 6 keys", SIZES, _changed, lambda d: agreement_counts(*d), repeat=1,
              notes="n² pairs counted exactly, none listed"),
        Entry("probabilistic linkage, 6 keys, best match", SIZES, _changed, _best_match, repeat=1,
              quality=lambda _, result: f"{result.share:.1%} linked"),
    ]  # fmt: skip
