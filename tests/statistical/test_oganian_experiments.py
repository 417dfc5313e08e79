"""Oganian's experiments repeated (SORT 2011, section 5), with what errata 18 says to expect."""

import numpy as np
import pytest

from reference.perturb_files import correlated_normals, file_of, run
from reticent.microdata.mask.multiplicative import MultiplicativeNoise, Zone

NAMES = ("a", "b", "c")
DEVIATIONS = np.sqrt([5.0, 7.0, 10.0])
# Log-normal with mean 2 and variances 4, 8, 16.
LOG_VARIANCES = np.log1p(np.array([4.0, 8.0, 16.0]) / 4.0)


def draw_set(kind: str, replicate: int, n: int = 10_000) -> np.ndarray:
    normal = correlated_normals(n, seed=replicate)
    if kind == "normal":
        return 3.5 + normal * DEVIATIONS
    return np.exp(np.log(2.0) - LOG_VARIANCES / 2 + normal * np.sqrt(LOG_VARIANCES))


def ratios(kind: str, replicates: int, **options) -> np.ndarray:
    method = MultiplicativeNoise(NAMES, **options)
    out = np.empty((replicates, 3, 3))
    for replicate in range(replicates):
        values = draw_set(kind, replicate)
        masked = run(method, file_of(dict(zip(NAMES, values.T))), secret=replicate).data.numbers(NAMES)
        out[replicate] = np.cov(masked.T) / np.cov(values.T)
        if kind == "lognormal":
            assert (masked >= 0).all()
    return out


@pytest.mark.deep
def test_covariance_ratio_over_500_replicates() -> None:
    normal = ratios("normal", 500, k=0.15, scheme="z-score").mean(axis=0)
    assert np.abs(normal - 1).max() <= 0.005
    for scheme in ("plain", "z-score"):
        skewed = ratios("lognormal", 500, k=0.15, scheme=scheme).mean(axis=0)
        assert np.abs(skewed - 1).max() <= 0.02


@pytest.mark.deep
def test_two_zones_over_500_replicates() -> None:
    zones = (Zone(k=0.15, up_to=15.0), Zone(k=0.01))
    found = ratios("lognormal", 500, zones=zones, nearest_psd=True)
    assert np.mean(np.abs(found.mean(axis=0) - 1) <= 0.04) >= 0.9
    assert np.mean((found >= 0.96) & (found <= 1.04)) >= 0.9


def test_covariance_ratio_short() -> None:
    """Twenty replicates: the standard error is below 0.005 for normal data, 0.028 for log-normal (300 replicates)."""
    assert np.abs(ratios("normal", 20, k=0.15, scheme="z-score").mean(axis=0) - 1).max() <= 0.015
    assert np.abs(ratios("lognormal", 20, k=0.15, scheme="z-score").mean(axis=0) - 1).max() <= 0.085
    zones = ratios("lognormal", 20, zones=(Zone(k=0.15, up_to=15.0), Zone(k=0.01)), nearest_psd=True)
    assert np.mean((zones >= 0.96) & (zones <= 1.04)) >= 0.85
