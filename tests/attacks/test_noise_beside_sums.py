"""Counts and sums with noise in one run: each is judged by itself, too.

Until November 2026 the attack on both together asked no levels of sums, because counts have none, and forgot how the noise of
counts came about: of 40 tables in which a sum alone was refused, 10 to 39 were published beside a count.
"""

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import methods, rules
from reticent.tables.methods import TableMethod

METHODS: dict[str, TableMethod] = {
    "cell-key": methods.CellKey(),
    "narrow": methods.CellKey(largest=1, variance=0.5, skip=0),
    "random-rounding": methods.RandomRounding(base=3),
}


def _records(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng([14, seed])
    n = int(rng.integers(6, 18))
    return pl.DataFrame(
        {
            "id": [f"p{at}" for at in range(n)],
            "a": rng.integers(0, 2, n).astype(str),
            "b": rng.integers(0, 2, n).astype(str),
            "w": np.round(rng.lognormal(3, 0.6, n), 1),
        }
    )


@pytest.mark.parametrize("name", METHODS)
def test_what_is_refused_alone_is_refused_together(name: str) -> None:
    refused = 0
    for seed in range(6):
        data = rt.load(_records(seed), keys=["a", "b"], identifiers=["id"], kinds={"w": "numeric"})
        counts, sums = data.tabulate("a", "b"), data.tabulate("a", "b", response="w")
        how = {"rules": [rules.Threshold(3)], "method": METHODS[name], "secret": seed, "test_secret": True}
        alone = {(*cell, "count") for cell in counts.protect(**how).exposed}
        alone |= {(*cell, "w") for cell in sums.protect(**how).exposed}
        assert alone <= set(counts.linked(sums).protect(**how).exposed)
        refused += bool(alone)
    assert refused
