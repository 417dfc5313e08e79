# SPDX-License-Identifier: Apache-2.0
"""SUDA: every minimal sample unique of every size, and what limits the size saves."""

import numpy as np

from benchmarks.census_keys import census_keys
from benchmarks.harness import Entry
from reticent.kernels.grouping import pattern_table
from reticent.kernels.uniques import minimal_rare_sets

Found = tuple[np.ndarray, np.ndarray, np.ndarray]


def _search(codes: np.ndarray, max_size: int | None = None) -> Found:
    first, counts, _, _ = pattern_table(codes, codes.max(axis=0) + 1)
    return minimal_rare_sets(codes[first], counts, max_size=max_size)


def _count(_: np.ndarray, found: Found) -> str:
    return f"{len(found[0]):,} minimal uniques"


def entries() -> list[Entry]:
    """All sizes on 7 and 8 keys, up to 3 of 8 keys."""
    sizes = (10_000, 100_000, 1_000_000)
    return [
        Entry(
            name=f"minimal uniques of all sizes, {q} keys",
            sizes=sizes,
            prepare=lambda n, q=q: census_keys(n, q),
            ours=_search,
            quality=_count,
            notes="sdcMicro's C++ takes 1.6 s for 100,000 × 7 (single thread, its own machine)" if q == 7 else "",
        )
        for q in (7, 8)
    ] + [
        Entry(
            name="minimal uniques up to 3 of 8 keys",
            sizes=sizes,
            prepare=lambda n: census_keys(n, 8),
            ours=lambda codes: _search(codes, 3),
            quality=_count,
        )
    ]
