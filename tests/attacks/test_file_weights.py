"""Weights that reveal where somebody lives, although noise was put on them.

The attacker has the published file and the design weight of each region, which surveys publish, and takes the region whose
weight is nearest. Noise made every weight unique, so that "weights that occur in one region only" found none: held, with
every region told.
"""

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import mask
from reticent.data.schema import Schema, Variable
from reticent.microdata.mask import NoiseOnWeights, Recode, RemoveIdentifiers

SECRET = bytes.fromhex("8f3a1c77e2b94d0561fa3e9d2c7b8805d4e1f6a3907b5c2d18e4f9a0b6c3d752")
N = 900
DESIGN = np.array([100.0, 130.0, 170.0, 220.0, 300.0, 400.0])
TREE = [[f"r{at}", "north" if at < 3 else "south"] for at in range(6)]


def _survey(by_region: bool, seed: int = 3) -> tuple[rt.Data, np.ndarray]:
    rng = np.random.default_rng(seed)
    region = rng.integers(0, 6, N)
    weight = DESIGN[region] if by_region else DESIGN[rng.integers(0, 6, N)]
    table = pl.DataFrame(
        {"region": [f"r{at}" for at in region], "sex": rng.choice(["f", "m"], N), "age": rng.choice(list("ymo"), N), "w": weight}
    )  # fmt: skip
    return rt.load(table, keys=["region", "sex", "age"], weight="w", hierarchies={"region": TREE}), region


def _told(run: rt.FileRun, region: np.ndarray) -> float:
    """The share of records whose region the published weight gives back (rows are compared in the order of the source)."""
    shown = run.confidential_frame()["w"].to_numpy()
    guess = np.abs(shown[:, None] / DESIGN[None, :] - 1).argmin(axis=1)
    return float((guess == region).mean())


@pytest.mark.parametrize("percent", [0.5, 5.0, 10.0])
@pytest.mark.parametrize("first", [mask.Recode("region", level=1), mask.RemoveIdentifiers(variables=("region",))])
def test_noise_that_leaves_regions_apart_is_not_held(first: Recode | RemoveIdentifiers, percent: float) -> None:
    data, region = _survey(by_region=True)
    run = data.protect([first, mask.NoiseOnWeights(percent=percent)], secret=SECRET, most=0.3)
    assert _told(run, region) > 0.99
    assert run.verdict["weights"].state == "not held"
    with pytest.raises(rt.NotProtectedError):
        run.release()


def test_samples_within_strata_do_not_hide_it_either() -> None:
    data, _ = _survey(by_region=True)
    steps = [mask.Sample(0.5, strata=("sex", "age")), mask.Recode("region", level=1), mask.NoiseOnWeights(percent=2)]
    assert data.protect(steps, secret=SECRET, most=0.3).verdict["weights"].state == "not held"


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("percent", [0.1, 5.0, 30.0])
def test_weights_that_have_nothing_to_do_with_the_region_stay_held(seed: int, percent: float) -> None:
    data, region = _survey(by_region=False, seed=seed)
    run = data.protect([Recode("region", level=1), NoiseOnWeights(percent=percent)], secret=SECRET, most=0.3)
    assert _told(run, region) < 0.3
    assert run.verdict["weights"].state == "held"


@pytest.mark.parametrize("seed", range(5))
def test_weights_of_their_own_for_everybody_are_no_alarm(seed: int) -> None:
    """Calibrated weights differ between all records; a few neighbours of one region are chance."""
    rng = np.random.default_rng(seed)
    table = pl.DataFrame({"region": rng.choice(["a", "b"], N, p=[0.8, 0.2]), "sex": rng.choice(["f", "m"], N),
                          "w": rng.lognormal(5, 0.5, N)})  # fmt: skip
    schema = Schema(
        (Variable("region", role="key"), Variable("sex", role="key"), Variable("w", role="weight", kind="numeric"))
    )
    for percent in (0.05, 1.0, 5.0):
        steps = [RemoveIdentifiers(variables=("region",)), NoiseOnWeights(percent=percent)]
        assert rt.load(table, schema=schema).protect(steps, secret=SECRET, most=1.0).verdict["weights"].state == "held"


def test_strong_noise_leaves_the_largest_weights_telling() -> None:
    """The bound of the noise is public: above 1.7 times the second largest design weight only one region is left."""
    data, region = _survey(by_region=True)
    run = data.protect([Recode("region", level=1), NoiseOnWeights(percent=70)], secret=SECRET, most=0.3)
    assert _told(run, region) < 0.5
    assert run.verdict["weights"].state == "not held"
    assert 0 < (run.verdict["weights"].value or 0) < N / 2
