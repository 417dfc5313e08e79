"""Weights by ten years of age beside bands of twenty: no weight has one age only, but each one halves the band.

The attacker has the published file and the table of weights that surveys document. The verdict on weights was *held*.
"""

import hashlib

import numpy as np
import polars as pl
import pytest

from reticent.base.randomness import as_secret
from reticent.data.method import MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.data.schema import Schema, Variable
from reticent.data.verdict import State
from reticent.microdata.mask.recode import Recode
from reticent.microdata.mask.weights_noise import NoiseOnWeights
from reticent.microdata.pipeline import apply_steps
from reticent.microdata.protect import protect_data
from reticent.microdata.risk.traces_left import weights_left

SECRET = hashlib.sha256(b"weight ranges").digest()
BANDS = Recode("age", bands=(20, 40, 60))


def survey(seed: int, *, weighted_by: str, n: int = 800) -> Microdata:
    rng = np.random.default_rng(seed)
    age, sex, region = rng.integers(20, 80, n), rng.integers(0, 2, n), rng.integers(0, 5, n)
    cell = {"age": 2 * (age // 10) + sex, "sex": sex, "region": region, "chance": rng.integers(0, 10, n)}[weighted_by]
    weight = np.linspace(20, 60, 20)[rng.permutation(20)[cell]].round(2)
    table = pl.DataFrame({"age": age, "sex": sex.astype(str), "region": region.astype(str), "weight": weight})
    variables = (
        Variable("age", role="key", kind="numeric"),  # type: ignore[arg-type]
        Variable("sex", role="key"),  # type: ignore[arg-type]
        Variable("region", role="key"),  # type: ignore[arg-type]
        Variable("weight", role="weight", kind="numeric"),  # type: ignore[arg-type]
    )
    return Microdata.of(table, Schema(variables))


@pytest.mark.parametrize("steps", [(BANDS,), (BANDS, NoiseOnWeights(1.0))], ids=["as they are", "with noise"])
def test_weights_that_halve_a_band_are_not_held(steps: tuple[MaskingMethod, ...]) -> None:
    data = survey(1, weighted_by="age")
    risk = RiskSection(attacks=("weights",), accept_risk="a test of an attack")
    run = protect_data(data, steps, risk=risk, secret=SECRET, keep_order=True)
    published, true = run.result.masked.to_native(), data.frame.table
    decades = dict(zip(true["weight"], true["age"] // 10, strict=True))  # each weight belongs to one decade and sex
    nearest = [min(decades, key=lambda weight: abs(weight - shown)) for shown in published["weight"]]
    assert [decades[weight] for weight in nearest] == (true["age"] // 10).to_list()
    verdict = run.verdict["weights"]
    assert verdict.state is State.NOT_HELD
    assert verdict.value is not None
    assert verdict.value >= 0.9 * len(true)
    assert "a narrow range of codes, of age" in verdict.text


@pytest.mark.parametrize("weighted_by", ["sex", "region", "chance"])
def test_weights_that_say_nothing_of_a_band_are_held(weighted_by: str) -> None:
    alarms = 0
    for seed in range(8):
        masked = apply_steps(survey(seed, weighted_by=weighted_by, n=400), [BANDS], secret=as_secret(SECRET))
        found = weights_left(masked.trace, masked.data)
        assert found is not None
        alarms += found.records > 0
    assert alarms == 0
