"""Linking back a masked file by ranks of skewed numbers and by which values are missing, with published values only.

Linkage was called held for files that these attackers link back to 40 % and more: distances were measured in standard
deviations, which a few large values of a skewed number stretch, and a blank said nothing.
"""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from reticent.data.microdata import Microdata
from reticent.data.schema import Schema, Variable
from reticent.microdata.mask import MultiplicativeNoise, Noise, RankSwap
from reticent.microdata.protect import protect_data

SECRET = bytes.fromhex("8f3a1c77e2b94d0561fa3e9d2c7b8805d4e1f6a3907b5c2d18e4f9a0b6c3d752")
NAMES = tuple(f"x{at}" for at in range(6))
LIMIT = 0.1


def _file(values: np.ndarray, names: tuple[str, ...]) -> Microdata:
    n = len(values)
    columns = {name: pl.Series(values[:, at]).fill_nan(None) for at, name in enumerate(names)}
    schema = Schema(
        (Variable("sex", role="key", kind="nominal"), *(Variable(x, role="sensitive", kind="numeric") for x in names))
    )
    return Microdata.of(pl.DataFrame({"sex": np.tile(["f", "m"], n // 2), **columns}), schema)


def _ranks(values: np.ndarray) -> np.ndarray:
    return np.argsort(np.argsort(values, axis=0), axis=0) / len(values)


def _linked(shown: np.ndarray, true: np.ndarray) -> float:
    distance = ((_ranks(shown)[:, None, :] - _ranks(true)[None, :, :]) ** 2).sum(axis=2)
    return float((distance.argmin(axis=1) == np.arange(len(true))).mean())


@pytest.mark.parametrize(
    ("steps", "spread"),
    [
        (lambda: [RankSwap(NAMES, window=20.0)], 3.0),
        (lambda: [RankSwap(NAMES, window=15.0)], 4.0),
        (lambda: [MultiplicativeNoise((name,), k=3.0) for name in NAMES], 3.0),
    ],
)
def test_what_ranks_link_is_not_called_held(steps: Callable[[], list[object]], spread: float) -> None:
    values = np.round(np.exp(np.random.default_rng(1).normal(0, spread, (400, 6)) + 8), 2)
    run = protect_data(_file(values, NAMES), steps(), most=LIMIT, secret=SECRET)
    found = _linked(run.after.numbers(NAMES), values)
    assert found > 0.3
    assert run.attacks.linkage is not None
    assert run.attacks.linkage.share >= found
    assert not run.verdict.held


def test_noise_that_withstands_ranks_is_still_held() -> None:
    values = np.random.default_rng(2).normal(0, 1, (400, 2))
    run = protect_data(_file(values, NAMES[:2]), [Noise(NAMES[:2], k=5.0)], most=LIMIT, secret=SECRET)
    assert run.verdict["linkage"].state == "held"


def test_which_values_are_missing_links_records() -> None:
    names = tuple(f"x{at}" for at in range(10))
    rng = np.random.default_rng(3)
    values = np.where(rng.random((400, 10)) < 0.3, np.nan, rng.normal(0, 1, (400, 10)))
    run = protect_data(_file(values, names), [Noise((x,), k=20.0) for x in names], most=LIMIT, secret=SECRET)
    published = run.after.frame.table.select(pl.col(names).is_null()).to_numpy() @ (1 << np.arange(10))
    _, counts = np.unique(published, return_counts=True)
    alone = int((counts == 1).sum()) / 400
    assert (published == np.isnan(values) @ (1 << np.arange(10))).all()
    assert alone > 0.3
    assert run.attacks.linkage is not None
    assert run.attacks.linkage.share >= alone
    assert not run.verdict.held
