"""The variances that the manual states of an attacker's estimate, after one release and after several."""

import numpy as np
import polars as pl
import pytest

from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.mask.multiplicative import MultiplicativeNoise
from reticent.microdata.mask.noise import Noise
from reticent.microdata.pipeline import apply_steps

N = 4000
PAY = np.round(np.random.default_rng(0).gamma(2.0, 1500.0, N), 2)
MEAN, VARIANCE = PAY.mean(), PAY.var()


def published(step: Noise | MultiplicativeNoise) -> np.ndarray:
    frame = pl.DataFrame({"id": [f"p{i}" for i in range(N)], "pay": PAY})
    data = Microdata.of(frame, Schema((Variable("id", role=Role.IDENTIFIER), Variable("pay", kind=Kind.NUMERIC))))
    return apply_steps(data, (step,), secret=as_secret(b"variances of noise, 32 bytes long")).data.numbers(("pay",))[
        :, 0
    ]


@pytest.mark.parametrize("kind", ["uncorrelated", "linear"])
@pytest.mark.parametrize("m", [1, 4])
def test_several_releases_of_noise_leave_what_the_manual_says(kind: str, m: int) -> None:
    """Strengths differ by next to nothing, so that draws are independent and the variance is k σ²/m."""
    made = []
    for release in range(m):
        k = 0.1 * (1 + 1e-6 * release)
        y = published(Noise(("pay",), k=k, kind=kind))
        made.append(y if kind == "uncorrelated" else MEAN + (y - MEAN) * np.sqrt(1 + k))
    error = np.mean(made, axis=0) - PAY
    assert error.var() / VARIANCE == pytest.approx(0.1 / m, rel=0.12)


@pytest.mark.parametrize(("scheme", "k"), [("plain", 0.15), ("plain", 1.0), ("z-score", 0.15), ("z-score", 1.0)])
def test_factors_leave_what_the_manual_says_of_each_scheme(scheme: str, k: float) -> None:
    """The manual gave the formula of `plain` for both; `z-score` disturbs x + (√(1+k) − 1)μ, and by less."""
    root = np.sqrt(1 + k)
    lag = 1.0 if scheme == "plain" else root
    y = published(MultiplicativeNoise(("pay",), k=k, scheme=scheme))
    disturbed = root * (y + (lag - 1) * MEAN) - (root - 1) * lag * MEAN
    error = np.log(disturbed) - np.log(PAY + (lag - 1) * MEAN)
    stated = np.log(1 + k * VARIANCE / (VARIANCE + lag**2 * MEAN**2))
    assert error.var() == pytest.approx(stated, rel=0.12)
