"""Sampling with new weights, noise on weights, reordering."""

import itertools

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import DataError, ParameterError
from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.mask.reorder import Reorder
from reticent.microdata.mask.sampling import Sample
from reticent.microdata.mask.weights_noise import NoiseOnWeights

N = 600


def file(*, weight: bool = True) -> Microdata:
    columns = {
        "id": list(range(N)),
        "house": [i // 3 for i in range(N)],
        "region": [(i // 30) % 4 for i in range(N)],
        "w": [1.0 + i % 7 for i in range(N)],
    }
    variables = (
        Variable("id", role=Role.IDENTIFIER),
        Variable("house", role=Role.HOUSEHOLD_ID),
        Variable("region", role=Role.KEY),
        Variable("w", role=Role.WEIGHT if weight else Role.OTHER, kind=Kind.NUMERIC),
    )
    return Microdata.of(pl.DataFrame(columns), Schema(variables))


def run(step, data: Microdata, secret: int = 1):  # type: ignore[no-untyped-def]
    applied = step.apply(data, secret=as_secret(secret), progress=silent)
    assert all(promise.broken(data, applied.data) == 0 for promise in step.promises())
    return applied


def test_stratified_sample_keeps_the_share_and_raises_weights() -> None:
    data = file()
    after = run(Sample(0.25, strata=("region",)), data).data
    regions = np.array(after.texts("region"))
    shares = {region: (regions == region).sum() for region in "0123"}
    assert shares == {"0": 38, "1": 38, "2": 38, "3": 38} or all(abs(s - 37.5) <= 1 for s in shares.values())
    assert after.weights() is not None
    ids = np.array([int(x) for x in after.texts("id")])
    np.testing.assert_allclose(after.weights(), (1.0 + ids % 7) * 150 / shares["0"])


def test_whole_households_and_a_new_weight() -> None:
    after = run(Sample(0.1, households=True, weight="weight"), file(weight=False)).data
    assert after.n_records == 60
    assert after.schema.weight == "weight"
    assert after.weights().tolist() == [10.0] * 60


def test_sample_does_not_depend_on_the_order_of_the_file() -> None:
    data = file()
    shuffled = data.rows(np.random.default_rng(5).permutation(N))
    one = run(Sample(0.2), data).data.texts("id")
    other = run(Sample(0.2), shuffled).data.texts("id")
    assert sorted(one) == sorted(other)
    assert sorted(one) != sorted(run(Sample(0.2), data, secret=2).data.texts("id"))


def test_inclusion_probability_is_the_fraction() -> None:
    hits = np.zeros(N)
    for secret in range(60):
        hits[[int(x) for x in run(Sample(0.3), file(), secret).data.texts("id")]] += 1
    assert hits.sum() == 60 * 180
    assert np.abs(hits / 60 - 0.3).max() < 0.3


def test_noise_on_weights() -> None:
    data = file()
    after = run(NoiseOnWeights(percent=10.0), data).data
    factor = after.weights() / data.weights()
    assert 0.88 < factor.min() < 0.93
    assert 1.07 < factor.max() < 1.12
    assert after.weights().sum() == pytest.approx(data.weights().sum())
    np.testing.assert_allclose(factor.reshape(-1, 3).std(axis=1), 0, atol=1e-12)  # one factor per household


def test_reorder_keeps_households_together_or_not() -> None:
    data = file()
    kept = run(Reorder(), data).data.texts("house")
    runs = 1 + sum(a != b for a, b in itertools.pairwise(kept))
    assert runs == N // 3
    assert kept != data.texts("house")
    mixed = run(Reorder(mix_households=True), data).data.texts("house")
    assert 1 + sum(a != b for a, b in itertools.pairwise(mixed)) > N // 2


def test_wrong_use() -> None:
    schema = file().schema
    with pytest.raises(ParameterError, match="above 0 and at most 1"):
        Sample(0.0)
    with pytest.raises(DataError, match="already has a weight"):
        Sample(0.5, weight="w2").check(schema)
    with pytest.raises(DataError, match="household-id"):
        Sample(0.5, households=True).check(Schema((Variable("x"),)))
    with pytest.raises(DataError, match="no variable has the role weight"):
        NoiseOnWeights().check(Schema((Variable("x"),)))
    with pytest.raises(ParameterError, match="above 0 and below 100"):
        NoiseOnWeights(percent=100.0)
    with pytest.raises(DataError, match="same for all members"):
        run(Sample(0.5, households=True, strata=("w",)), file())
