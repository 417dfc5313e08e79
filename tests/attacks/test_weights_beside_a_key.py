"""Weights that two regions share tell them apart by sex: the verdict looks at weights beside each other published key."""

import hashlib

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import mask

SECRET = hashlib.sha256(b"weights beside a key").digest()
DESIGN = np.array([100.0, 130.0, 170.0, 220.0])


def survey(*, told: bool) -> pl.DataFrame:
    """Weights by region and sex so that each alone leaves two regions; or drawn without regard to either."""
    draw = np.random.default_rng(1)
    region, sex = draw.integers(0, 4, 600), draw.integers(0, 2, 600)
    weight = np.where(sex == 0, DESIGN[region], DESIGN[(region + 1) % 4]) if told else draw.choice(DESIGN, 600)
    return pl.DataFrame(
        {
            "region": [f"r{code}" for code in region],
            "sex": ["fm"[code] for code in sex],
            "age": draw.choice(list("ymo"), 600),
            "weight": weight,
        }
    )


def published(frame: pl.DataFrame, *, noise: bool) -> rt.FileRun:
    steps = [mask.RemoveIdentifiers(variables=("region",)), *([mask.NoiseOnWeights(percent=2)] if noise else [])]
    data = rt.load(frame, keys=["region", "sex", "age"], weight="weight")
    return data.protect(steps, secret=SECRET, most=0.3)


def regions_found(frame: pl.DataFrame, shown: pl.DataFrame) -> float:
    """The attack, from published sex and weight and the survey's design: which region has this weight for this sex?"""
    nearest = np.abs(np.log(shown["weight"].to_numpy()[:, None] / DESIGN)).argmin(axis=1)
    found = np.where(shown["sex"].to_numpy() == "f", nearest, (nearest - 1) % 4)
    counted = pl.DataFrame({"region": [f"r{code}" for code in found]}).group_by("region").len().sort("region")
    true = frame.group_by("region").len().sort("region")
    return float((counted["len"] == true["len"]).mean())


@pytest.mark.parametrize("noise", [False, True])
def test_the_verdict_is_not_held_where_the_attack_succeeds(noise: bool) -> None:
    frame = survey(told=True)
    run = published(frame, noise=noise)
    assert str(run.verdict["weights"].state) == "not held"
    with pytest.raises(rt.NotProtectedError):
        run.release()
    shown = run.release(accept_risk="to show the attack").to_frame()
    assert regions_found(frame, shown) == 1.0


@pytest.mark.parametrize("noise", [False, True])
def test_weights_that_tell_nothing_raise_no_alarm(noise: bool) -> None:
    assert str(published(survey(told=False), noise=noise).verdict["weights"].state) == "held"
