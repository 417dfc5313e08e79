"""Weights by strata tell the true code of a key that chance has changed later: the sample rounds how many it draws in each."""

import hashlib

import numpy as np
import polars as pl
import pytest

from reticent.data.method import MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.verdict import State
from reticent.microdata.mask.pram import Pram
from reticent.microdata.mask.sampling import Sample
from reticent.microdata.mask.swap import Swap
from reticent.microdata.protect import protect_data
from reticent.microdata.result import ProtectedFile

KEYS = tuple(Variable(name, role=Role.KEY) for name in ("region", "ill"))
SCHEMA = Schema((*KEYS, Variable("w", role=Role.WEIGHT, kind=Kind.NUMERIC)))


def protect(seed: int, *steps: MaskingMethod) -> ProtectedFile:
    rng, n = np.random.default_rng(seed), 1003
    ill = rng.choice(["no", "a", "b", "c"], n, p=[0.9, 0.05, 0.03, 0.02])
    data = Microdata.of(
        pl.DataFrame({"region": rng.choice(list("NSEW"), n), "ill": ill, "w": np.full(n, 10.0)}), SCHEMA
    )
    risk = RiskSection(most=0.05, attacks=("recount", "weights"), accept_risk="a test of an attack")
    secret = hashlib.sha256(b"strata").digest()
    return protect_data(data, steps, risk=risk, secret=secret, keep_order=True)


@pytest.mark.parametrize("later", [Pram(("ill",)), Swap(("ill",), rate=30.0)], ids=["pram", "swap"])
def test_weights_of_strata_tell_what_chance_has_changed(later: MaskingMethod) -> None:
    run = protect(2, Sample(fraction=0.5, strata=("ill",)), later)
    assert run.verdict["weights"].state is State.NOT_HELD


@pytest.mark.parametrize("strata", [(), ("ill",)], ids=["no strata", "changed before"])
def test_weights_that_have_nothing_to_do_with_it_tell_nothing(strata: tuple[str, ...]) -> None:
    for seed in range(5):
        run = protect(seed, Pram(("ill",)), Sample(fraction=0.5, strata=strata))
        assert run.verdict["weights"].state is State.HELD
