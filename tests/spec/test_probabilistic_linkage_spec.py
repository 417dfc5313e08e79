"""Fellegi–Sunter linkage: DFT's eight pairs by hand, EM on files with known chances, thresholds."""

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import DataError, ParameterError
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Schema, Variable
from reticent.kernels.agreement import agreement_counts
from reticent.microdata.risk.linkage_probabilistic import (
    decide,
    fit_linkage_model,
    probabilistic_linkage,
    shared_codes,
)

NAMES = ("name", "surname", "age")
A = [("Joan", "Casanovas", 19), ("Pere", "Joan", 17), ("J.M.", "Casanovas", 35), ("Juan", "Garcia", 53),
     ("Ricardo", "Garcia", 14), ("Pere", "Garcia", 18), ("Juan", "Garcia", 18), ("Ricard", "Tanaka", 14)]  # fmt: skip
B = [("Joan", "Casanovas", 19), ("Pere", "Joan", 17), ("J.Manel", "Casanovas", 35), ("Juan", "Garcia", 53),
     ("Ricard", "Garcia", 14), ("Pere", "Garcia", 82), ("Juan", "Garcia", 18), ("Ricard", "Tanaka", 18)]  # fmt: skip


def dft() -> tuple[np.ndarray, np.ndarray]:
    schema = Schema(tuple(Variable(name) for name in NAMES))
    files = [Microdata.of(pl.DataFrame(rows, schema=list(NAMES), orient="row"), schema) for rows in (A, B)]
    return shared_codes(files[0], files[1], NAMES)


def test_dft_pattern_counts() -> None:
    """DFT Table 1: eight coincidence vectors over 64 pairs (bit 0 name, bit 1 surname, bit 2 age).

    All three: rows 1, 2, 4, 7. Name and surname: the Pere Garcias, Juan Garcia 53 and 18 both ways, Ricard Tanaka.
    Name and age: Ricard aged 14. Surname and age: Casanovas 35, Garcia 14, Pere and Juan Garcia 18.
    """
    assert agreement_counts(*dft()).tolist() == [37, 2, 11, 4, 2, 1, 3, 4]


def test_dft_both_ways_of_linking() -> None:
    """Each for itself, Ricard Garcia 14 goes to Ricard Tanaka 14; one to one, all eight pairs are found."""
    left, right = dft()
    result = probabilistic_linkage(left, right, NAMES, secret=as_secret(1), false_match=0.06, false_nonmatch=0.2)
    assert result.model.converged
    assert (result.model.m > result.model.u).all()
    assert result.credit.tolist() == [1, 1, 1, 1, 0, 1, 1, 1]
    assert result.assigned is not None
    assert result.assigned.tolist() == list(range(8))
    rows = result.model.rows(result.thresholds.decisions)
    assert [row["pattern"] for row in rows][:4] == ["111", "110", "101", "011"]
    assert sum(row["pairs"] for row in rows) == 64
    assert {row["decision"] for row in rows[:4]} == {"link"}


def test_em_recovers_known_chances() -> None:
    """Pattern counts as the model itself would give: 10⁶ matches among 10⁹ pairs, with given m and u."""
    m, u = np.array([0.9, 0.8, 0.7, 0.85]), np.array([0.1, 0.05, 0.02, 0.3])
    bits = (np.arange(16)[:, None] >> np.arange(4)) & 1
    chance = lambda p: np.prod(np.where(bits, p, 1 - p), axis=1)  # noqa: E731
    counts = np.round(1e9 * (0.001 * chance(m) + 0.999 * chance(u))).astype(np.int64)
    model = fit_linkage_model(counts, tuple("abcd"), n_left=10**6, n_right=10**6, fixed_u=False)
    np.testing.assert_allclose(model.m, m, rtol=1e-3)
    np.testing.assert_allclose(model.u, u, rtol=1e-3)
    assert model.prior == pytest.approx(0.001, rel=1e-3)
    odds = 0.001 / 0.999 * np.prod(m / u)
    assert model.posterior()[15] == pytest.approx(odds / (1 + odds), rel=1e-3)


def test_thresholds_keep_both_bounds() -> None:
    m, u = np.array([0.9, 0.8]), np.array([0.1, 0.2])
    bits = (np.arange(4)[:, None] >> np.arange(2)) & 1
    counts = np.round(1e8 * np.prod(np.where(bits, u, 1 - u), axis=1)).astype(np.int64)
    model = fit_linkage_model(counts, ("a", "b"), n_left=10**4, n_right=10**4)
    model = type(model)(("a", "b"), counts, m, u, 1e-4, 1, True)
    result = decide(model, false_match=0.03, false_nonmatch=0.05)
    # chances of 11, 10, 01, 00 under u: .02 .08 .18 .72; under m: .72 .18 .08 .02
    assert result.decisions == ("non-link", "possible", "possible", "link")
    assert result.false_match == pytest.approx(0.02)
    assert result.false_nonmatch == pytest.approx(0.02)
    wide = decide(model, false_match=0.5, false_nonmatch=0.5)
    assert "possible" not in wide.decisions


def test_identical_files_are_linked_completely() -> None:
    rng = np.random.default_rng(1)
    codes = np.column_stack([rng.permutation(200), rng.integers(0, 9, 200)]).astype(np.int32)
    result = probabilistic_linkage(codes, codes, ("a", "b"), secret=as_secret(1))
    assert result.share == 1.0
    assert result.one_to_one == 1.0


def test_ties_are_not_settled_by_position() -> None:
    """Ten equal records: each for itself 1/10; one to one a random permutation, not the true one."""
    codes = np.zeros((10, 1), dtype=np.int32)
    other = np.vstack([codes, np.arange(1, 31, dtype=np.int32)[:, None]])
    result = probabilistic_linkage(other, other, ("a",), secret=as_secret(3), false_match=0.2)
    np.testing.assert_allclose(result.credit[:10], 0.1)
    assert result.assigned is not None
    assert (result.assigned[:10] == np.arange(10)).sum() < 6
    assert (result.assigned[10:] == np.arange(10, 40)).all()


def test_bad_input() -> None:
    codes = np.zeros((3, 1), dtype=np.int32)
    with pytest.raises(DataError, match="one original record for each"):
        probabilistic_linkage(codes, codes[:2], ("a",), secret=as_secret(1))
    with pytest.raises(ParameterError, match="1 to 14 variables"):
        probabilistic_linkage(np.zeros((3, 15), dtype=np.int32), np.zeros((3, 15), dtype=np.int32), "a" * 15,
                              secret=as_secret(1))  # fmt: skip
    with pytest.raises(DataError, match="8 pattern counts"):
        fit_linkage_model([1, 2], ("a", "b", "c"), n_left=1, n_right=3)
