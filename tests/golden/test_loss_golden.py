"""Loss values that sdcMicro's own tests state, on data rebuilt with R's random numbers."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reference.r_random import RRandom
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Schema, Variable
from reticent.microdata.loss import compare
from reticent.microdata.loss.numbers import inverse_correlation_change


def test_r_random_numbers_are_those_of_r() -> None:
    assert RRandom(1).normal(3) == pytest.approx([-0.6264538107, 0.1836433242, -0.8356286124], abs=1e-9)
    assert RRandom(1).uniform(2) == pytest.approx([0.2655086631, 0.3721238996], abs=1e-9)


def test_il_correl_on_noisy_tarragona(shared_data: Path) -> None:
    """sdcMicro test_il_correl.R: additive noise of 100 and then 25 percent after set.seed(1)."""
    x = np.loadtxt(shared_data / "microdata" / "Tarragona.csv", delimiter=",", skiprows=1)
    rng = RRandom(1)
    for noise, expected in ((1.0, 0.462347410776), (0.25, 0.229297771144)):
        masked = np.stack([c + rng.normal(len(c)) * noise * c.std(ddof=1) for c in x.T], axis=1)
        assert inverse_correlation_change(x, masked) == pytest.approx(expected, abs=1e-9)
    assert inverse_correlation_change(x, x) == 0


def test_il_variables_on_mixed_data() -> None:
    """sdcMicro test_il_variables.R: 150 records of a factor, two numbers and an ordered factor."""
    rng = RRandom(1)
    n = 150
    letters = rng.sample(n, 5)
    normal = rng.normal(n)
    uniform = np.tile(rng.uniform(3), n // 3)
    grade = rng.sample(n, 3)
    new_letters, new_grade = letters.copy(), grade.copy()
    new_normal = 5 + rng.normal(n)
    new_letters[:5], new_grade[:5] = 0, 1
    words = np.array(["bad", "mediocre", "good"])
    schema = Schema(
        (
            Variable("v1", codes=tuple("abcde")),
            Variable("v2", kind=Kind.NUMERIC),
            Variable("v3", kind=Kind.NUMERIC),
            Variable("v4", kind=Kind.ORDINAL, codes=("bad", "mediocre", "good")),
        )
    )

    def data(v1: np.ndarray, v2: np.ndarray, v4: np.ndarray) -> Microdata:
        frame = pl.DataFrame({"v1": np.array(list("abcde"))[v1], "v2": v2, "v3": uniform, "v4": words[v4]})
        return Microdata.of(frame, schema)

    report = compare(data(letters, normal, grade), data(new_letters, new_normal, new_grade))
    assert report["variables"] == pytest.approx(0.223034535696, abs=1e-9)
