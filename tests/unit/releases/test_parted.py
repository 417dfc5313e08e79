# SPDX-License-Identifier: Apache-2.0
"""Classes parted by one sum after another are those that all of them make at once."""

import numpy as np
import pytest

from reticent.releases.classes import Classes


@pytest.mark.parametrize("seed", range(30))
def test_classes_parted_one_by_one_are_refined_ones(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    start = Classes.single(np.unique(rng.integers(2, size=n), return_inverse=True)[1].reshape(-1))
    sums = []
    for _ in range(int(rng.integers(1, 5))):
        places = rng.permutation(n)[: int(rng.integers(1, n + 1))]
        sums.append((places, rng.integers(1, 4, size=len(places))))
    whole, parted = start.refined(sums), start
    for places, weights in sums:
        finer = parted.parted(places, weights)
        assert (parted.of == finer.parent[finer.of]).all()
        parted = finer
    assert parted.n == whole.n
    assert len(np.unique(np.column_stack((parted.of, whole.of)), axis=0)) == whole.n
