"""Linkage by those who know how strongly values were disturbed, with published values only.

Linkage was called held, or far too small, for files that these attackers link: every changed code weighed the same, one
missing value switched off who knows how disturbances go together, and noise within strata was measured by one scale.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linear_sum_assignment

from reticent.data.microdata import Microdata
from reticent.data.schema import Schema, Variable
from reticent.microdata.mask import Noise, Pram
from reticent.microdata.protect import protect_data
from reticent.microdata.result import ProtectedFile

SECRET = bytes.fromhex("8f3a1c77e2b94d0561fa3e9d2c7b8805d4e1f6a3907b5c2d18e4f9a0b6c3d752")
SLACK = 0.04
"""The attacks here know the disturbances from outside, ours from the run: they need not agree to the record."""


def _share(run: ProtectedFile) -> float:
    assert run.attacks.linkage is not None
    return run.attacks.linkage.share


def _rightly(costs: np.ndarray) -> float:
    least = costs.min(axis=1, keepdims=True)
    alone = (costs <= least + 1e-9).sum(axis=1) == 1
    return float(((costs.argmin(axis=1) == np.arange(len(costs))) & alone).mean())


def _evidence(shown: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Costs of all pairs: agreement by how often a variable is kept (analysts get the matrices), over that by chance."""
    costs = np.zeros((len(shown), len(true)))
    for at in range(shown.shape[1]):
        agree = shown[:, at][:, None] == true[:, at][None, :]
        chance, keep = agree.mean(), agree.diagonal().mean()
        costs -= np.where(agree, np.log(keep / chance), np.log((1 - keep) / (1 - chance)))
    return costs


def _codes(run: ProtectedFile, data: Microdata, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    return (np.array(one.frame.table.select(names).rows()) for one in (run.after, data))  # type: ignore[return-value]


@pytest.mark.parametrize("seed", range(2))
def test_codes_weigh_by_how_often_they_are_kept(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cards, keeps = [20] * 2 + [4] * 10, [0.7] * 2 + [0.3] * 10
    names = [f"k{at}" for at in range(len(cards))]
    columns = {}
    for name, card in zip(names, cards, strict=True):
        share = 1 / np.arange(1, card + 1)
        columns[name] = rng.choice(card, 400, p=share / share.sum()).astype(str)
    data = Microdata.of(pl.DataFrame(columns), Schema(tuple(Variable(x, role="key") for x in names)))
    steps = [Pram((name,), keep=keep) for name, keep in zip(names, keeps, strict=True)]
    run = protect_data(data, steps, most=0.25, secret=SECRET)
    found = _rightly(_evidence(*_codes(run, data, names)))
    assert found > 0.25  # unweighted distances link about 0.13
    assert _share(run) >= found - SLACK
    assert run.verdict["linkage"].state == "not held"


def test_households_are_linked_by_weighted_codes() -> None:
    rng = np.random.default_rng(5)
    keeps, cards, homes = [0.5] * 2 + [0.3] * 4, [30] * 2 + [4] * 4, 80
    names = [f"k{at}" for at in range(6)]
    columns = {name: rng.integers(0, card, 3 * homes).astype(str) for name, card in zip(names, cards, strict=True)}
    frame = pl.DataFrame({"home": np.repeat(np.arange(homes), 3).astype(str), **columns})
    schema = Schema((Variable("home", role="household-id"), *(Variable(name, role="key") for name in names)))
    data = Microdata.of(frame, schema)
    steps = [Pram((name,), keep=keep) for name, keep in zip(names, keeps, strict=True)]
    run = protect_data(data, steps, most=0.5, secret=SECRET)
    costs = _evidence(*_codes(run, data, names))
    whole = np.array(
        [[_paired(costs[3 * a : 3 * a + 3, 3 * b : 3 * b + 3]) for b in range(homes)] for a in range(homes)]
    )
    found = _rightly(whole)
    assert found > 0.6
    assert run.attacks.households is not None
    assert run.attacks.households.linkage is not None
    assert run.attacks.households.linkage.share >= found - SLACK
    assert run.verdict["households"].state == "not held"


def _paired(costs: np.ndarray) -> float:
    return float(costs[linear_sum_assignment(costs)].sum())


def _numbers(values: np.ndarray, codes: np.ndarray) -> tuple[Microdata, tuple[str, ...]]:
    names = tuple(f"x{at}" for at in range(values.shape[1]))
    columns = {name: pl.Series(values[:, at]).fill_nan(None) for at, name in enumerate(names)}
    schema = Schema((Variable("s", role="key"), *(Variable(x, role="sensitive", kind="numeric") for x in names)))
    return Microdata.of(pl.DataFrame({"s": codes, **columns}), schema), names


@pytest.mark.parametrize("seed", range(2))
def test_missing_values_do_not_hide_how_disturbances_go_together(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 10_000, (600, 1)) + rng.normal(0, 300, (600, 6)) + 30_000
    values[0] = np.nan
    data, names = _numbers(values, np.tile(["f", "m"], 300))
    run = protect_data(data, [Noise(names, k=1.0, kind="correlated")], most=0.05, secret=SECRET)
    shown, true = run.after.numbers(names)[1:], values[1:]
    # the plan says k = 1: noise has the covariance of the data
    turn = np.linalg.cholesky(np.linalg.inv(np.cov(true.T)))
    found = _rightly((((shown @ turn)[:, None, :] - (true @ turn)[None, :, :]) ** 2).sum(axis=2))
    assert found > 0.05  # linked before: 0.03
    assert _share(run) >= found - 0.01
    assert run.verdict["linkage"].state == "not held"


def test_noise_within_strata_is_measured_by_stratum() -> None:
    rng = np.random.default_rng(0)
    codes = np.tile(list("abcd"), 150)
    scale = (10.0 ** rng.integers(0, 5, (4, 8)))[np.arange(600) % 4]
    values = (rng.normal(0, 1, (600, 8)) + 5) * scale
    data, names = _numbers(values, codes)
    run = protect_data(data, [Noise(names, k=2.0, kind="uncorrelated", strata=("s",))], most=0.1, secret=SECRET)
    shown = run.after.numbers(names)
    units = np.array([values[codes == code].std(axis=0) for code in "abcd"])[np.arange(600) % 4]
    costs = (((shown / units)[:, None, :] - (values / units)[None, :, :]) ** 2).sum(axis=2)
    found = _rightly(np.where(codes[:, None] == codes[None, :], costs, np.inf))
    assert found > 0.12  # linked before: 0.10
    assert _share(run) >= found - SLACK
