"""Weights of `massc` tell how rare a record's keys are, which an attacker who counts the true keys expects.

The attacker has the true keys and weights of everybody, counts how often each combination of keys occurs, takes the usual
change of the weight for each such count, and links the published record that fits best in keys and weight together.
"""

import hashlib

import numpy as np
import polars as pl
import pytest

from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.mask import Massc
from reticent.microdata.protect import protect_data

N, KEYS = 300, ("a", "b", "c")


def survey(seed: int) -> pl.DataFrame:
    """Three skewed keys and equal weights; the id finds a record again after the run, and is not used otherwise."""
    rng = np.random.default_rng(seed)
    codes = [rng.geometric(0.3, N).clip(1, 12), rng.geometric(0.3, N).clip(1, 10), rng.integers(0, 2, N)]
    table = {name: [str(code) for code in column] for name, column in zip(KEYS, codes)}
    return pl.DataFrame({"id": [f"p{i:03d}" for i in range(N)], **table, "w": [10.0] * N})


def linked_by_rarity(true: pl.DataFrame, shown: pl.DataFrame, own: np.ndarray) -> float:
    """The share of published records that are the one best fit of their own true record."""
    count = true.select(pl.len().over(KEYS))["len"].to_numpy().clip(max=20)
    weight = shown["w"].to_numpy()
    usual = np.array([np.median(weight[count[own] == at]) if (count[own] == at).any() else 10.0 for at in range(21)])
    apart = np.zeros((len(true), len(shown)))
    for name in KEYS:
        apart += true[name].to_numpy()[:, None] != shown[name].to_numpy()[None, :]
    apart += 0.5 * np.abs(usual[count][:, None] - weight[None, :]) / weight.std()
    best = apart.min(axis=0)
    alone = (apart == best).sum(axis=0) == 1
    return float((alone & (apart[own, np.arange(len(shown))] == best)).mean())


@pytest.mark.parametrize("seed", range(2))
def test_the_verdict_knows_what_weights_of_massc_tell(seed: int) -> None:
    """Before, an attacker with the weights by rarity linked more records than the verdict said."""
    true = survey(seed)
    keys = [Variable(name, role=Role.KEY) for name in KEYS]
    weight = Variable("w", role=Role.WEIGHT, kind=Kind.NUMERIC)
    data = Microdata.of(true, Schema((Variable("id", role=Role.IDENTIFIER), *keys, weight)))
    risk = RiskSection(most=0.05, attacks=("linkage",))
    run = protect_data(data, [Massc(KEYS)], risk=risk, secret=hashlib.sha256(b"%d" % seed).digest())
    after = run.after
    shown = pl.DataFrame({**{name: after.texts(name) for name in ("id", *KEYS)}, "w": after.weights()})
    own = np.array([int(name[1:]) for name in shown["id"]])
    share = dict(run.attacks.linkage.by_attacker)
    others = max(part for name, part in share.items() if "rarity" not in name)
    assert max(share.values()) > others
    assert max(share.values()) >= linked_by_rarity(true, shown, own)
