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
from reticent.microdata.mask.identifiers import RemoveIdentifiers
from reticent.microdata.mask.noise import Noise
from reticent.microdata.mask.pram import Pram
from reticent.microdata.mask.recode import Recode
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


AGES = Schema(
    (
        Variable("region", role=Role.KEY),
        Variable("age", role=Role.KEY),
        Variable("band"),
        Variable("w", role=Role.WEIGHT, kind=Kind.NUMERIC),
    )
)
TWENTIES = Recode("age", map={str(age): f"{age // 20 * 20}+" for age in range(20, 80)})


def by_bands(seed: int, *steps: MaskingMethod, numeric: bool = False) -> ProtectedFile:
    """A file of 1,003 people with ages, and with ten years of age that are left out at the end."""
    rng, n = np.random.default_rng(seed), 1003
    age = rng.integers(20, 80, n)
    frame = pl.DataFrame({"region": rng.choice(list("NSEW"), n), "age": age, "band": age // 10, "w": np.full(n, 10.0)})
    schema = AGES.change("age", kind=Kind.NUMERIC) if numeric else AGES
    risk = RiskSection(most=0.9, attacks=("recount", "weights"), accept_risk="a test of an attack")
    secret = hashlib.sha256(b"bands").digest()
    return protect_data(Microdata.of(frame.with_columns(pl.col("band").cast(pl.String)), schema),
                        [*steps, RemoveIdentifiers(("band",))], risk=risk, secret=secret, keep_order=True)  # fmt: skip


@pytest.mark.parametrize(
    ("later", "numeric", "least"),
    [(TWENTIES, False, 300), (Pram(("age",)), False, 30), (Noise(("age",), k=1.0), True, 100)],
    ids=["recode", "pram", "noise"],
)
def test_weights_of_bands_tell_ten_years_of_age(later: MaskingMethod, numeric: bool, least: int) -> None:
    """All weights were equal before the sample, so that only those that it makes tell the band: of 333 of 502 records."""
    found = by_bands(1, Sample(fraction=0.5, strata=("band",)), later, numeric=numeric).verdict["weights"]
    assert found.state is State.NOT_HELD
    assert found.value is not None
    assert found.value >= least


@pytest.mark.parametrize("before", [TWENTIES, Pram(("age",))], ids=["recode", "pram"])
def test_weights_without_strata_tell_no_ages(before: MaskingMethod) -> None:
    for seed in range(3):
        assert by_bands(seed, before, Sample(fraction=0.5)).verdict["weights"].state is State.HELD
