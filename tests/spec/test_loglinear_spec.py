"""Log-linear risk: the corrected scale on sdcMicro's example, and populations whose truth is known."""

import numpy as np
import pytest

from reticent.base.errors import DataError
from reticent.microdata.risk.loglinear import CellTable, fit_model, log_linear_risk, mean_inverse

FIXTURE_C = np.array(
    [[2, 3, 2, 3, 3, 1, 2, 3, 2, 2], [2, 1, 2, 2, 1, 2, 1, 1, 1, 2], [5, 4, 4, 5, 4, 4, 3, 3, 2, 2]], dtype=np.int32
).T


def fixture_c(**options: object) -> CellTable:
    cells, counts = np.unique(FIXTURE_C - [1, 1, 2], axis=0, return_counts=True)
    return CellTable.of(("Var1", "Var2", "Var3"), cells.astype(np.int32), counts, **options)  # type: ignore[arg-type]


def test_correct_scale() -> None:
    """Row 27: weights 100, main effects: τ1 ≈ 0, τ2 = 0.191919 for the 8 sample uniques."""
    model = fit_model(fixture_c(fraction=0.01), [])
    assert model.tau1 == pytest.approx(0.0, abs=1e-6)
    assert model.tau2 == pytest.approx(0.191919, abs=1e-6)


def test_sdcmicro_reports_another_quantity() -> None:
    """Rows 24 and 26: modRisk takes the sample mean μ for the population mean λ and divides by the number of cells.

    The same fit gives its 0.552916 and 0.7053842 (bound 1.5: 0.622 and 0.794): "55 % population uniques" at 1 %
    sampling, where τ1 is 0.
    """
    table = fixture_c(fraction=0.01)
    mu = fit_model(table, []).means * 0.01
    unique = table.counts == 1
    assert np.exp(-0.99 * mu[unique]).sum() / table.counts.size == pytest.approx(0.552916, abs=1e-6)
    assert mean_inverse(0.99 * mu[unique]).sum() / table.counts.size == pytest.approx(0.7053842, abs=1e-7)
    assert np.exp(-0.99 * mu[unique]).sum() / (table.counts <= 1.5).sum() == pytest.approx(0.622, abs=1e-3)
    assert mean_inverse(0.99 * mu[unique]).sum() / (table.counts <= 1.5).sum() == pytest.approx(0.794, abs=1e-3)


def test_weights_and_fraction_agree_when_weights_are_equal() -> None:
    table = fixture_c(fraction=0.01)
    weighted = fixture_c(weights=table.counts * 100.0)
    assert fit_model(weighted, []).tau2 == pytest.approx(fit_model(table, []).tau2, rel=1e-12)


def population(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """200,000 units, five variables; c depends on a, e on d: the model needs these two interactions."""
    rng = np.random.default_rng(seed)
    n = 200_000
    a, b, d = rng.integers(0, 12, n), rng.integers(0, 8, n), rng.integers(0, 10, n)
    c = (a + rng.integers(0, 3, n)) % 12
    e = (d * 2 + rng.geometric(0.6, n)) % 9
    cells, group = np.unique(np.stack([a, b, c, d, e], axis=1), axis=0, return_inverse=True)
    return cells.astype(np.int32), group.ravel()


def test_search_finds_the_structure_and_the_truth() -> None:
    cells, group = population(1)
    F = np.bincount(group)
    drawn = np.random.default_rng(2).random(group.size) < 0.05
    f = np.bincount(group[drawn], minlength=F.size)
    table = CellTable.of(tuple("abcde"), cells[f > 0], f[f > 0], fraction=0.05)
    result = log_linear_risk(table, steps=6)
    unique = f == 1
    assert set(result.model.interactions) == {("a", "c"), ("d", "e")}
    assert result.model.tau1 == pytest.approx((unique & (F == 1)).sum(), rel=0.1)
    assert result.model.tau2 == pytest.approx((1 / F[unique]).sum(), rel=0.05)
    start = result.models[0]
    assert start.bias2 is not None
    assert result.model.bias2 is not None
    assert start.bias2 > 20  # main effects only: far off, and the statistic says so
    assert abs(result.model.bias2) < 3
    assert abs(start.tau2 - (1 / F[unique]).sum()) > 3 * abs(result.model.tau2 - (1 / F[unique]).sum())
    assert [row["chosen"] for row in result.rows()].count(True) == 1
    assert result.record_risk.sum() == pytest.approx(result.model.tau2)


def test_everything_sampled_would_be_certain() -> None:
    """m → 0: each sample unique is a population unique."""
    assert mean_inverse(np.array([0.0, 1e-12])).tolist() == pytest.approx([1.0, 1.0])


def test_bad_input() -> None:
    cells, counts = np.zeros((1, 1), dtype=np.int32), [3]
    with pytest.raises(DataError, match="either weights or a sampling fraction"):
        CellTable.of(("a",), cells, counts)
    with pytest.raises(DataError, match="above 0 and below 1"):
        CellTable.of(("a",), cells, counts, fraction=1.0)
    with pytest.raises(DataError, match="every weight must be a number above 0"):
        CellTable.of(("a",), cells, counts, weights=[-2.0])
