"""Numbers rounded at random, linked by their true values: the nearest published record with the same keys.

Linkage compared published values with one of those that a true value may become, instead of with the true value.
"""

import hashlib

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import mask

KEYS = ("region", "sex", "age")


def linked(true: pl.DataFrame, published: pl.DataFrame, names: list[str]) -> float:
    """The share of published records whose nearest true record with their keys is their own, and the only one (by tag)."""
    rows = dict(true.group_by(KEYS))
    found = 0
    for key, part in published.group_by(KEYS):
        candidates = rows[key]
        far = (candidates[names].to_numpy()[:, None, :] - part[names].to_numpy()[None, :, :]) ** 2
        distance = far.sum(axis=2)
        nearest = distance.argmin(axis=0)
        only = (distance <= distance.min(axis=0) + 1e-9).sum(axis=0) == 1
        found += int((only & (candidates["tag"].to_numpy()[nearest] == part["tag"].to_numpy())).sum())
    return found / len(published)


@pytest.mark.parametrize("seed", [1])
def test_true_numbers_link_no_more_than_the_verdict_says(seed: int) -> None:
    rng, n = np.random.default_rng(seed), 900
    names = ["hours", "visits"]
    data = pl.DataFrame(
        {
            "region": rng.choice(["n", "s", "w"], n),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.choice(["a", "b", "c", "d"], n),
            **{name: rng.integers(0, 30, n) for name in names},
            "tag": [f"t{at}" for at in range(n)],  # not known to the attacker: it tells afterwards who was right
        }
    )
    risk = rt.RiskSection(most=0.05, attacks=("linkage",), known=(*KEYS, *names))
    secret = hashlib.sha256(b"rounding").digest()
    steps = [mask.RoundValues(tuple(names), base=15, how="random")]
    run = rt.load(data, keys=list(KEYS)).protect(steps, risk=risk, secret=secret)
    share = linked(data, run.release(accept_risk="a test of an attack").to_frame(), names)
    assert run.attacks.linkage is not None
    assert share > 0.08  # the verdict was held with less than 0.03
    assert run.attacks.linkage.share >= share - 0.005
