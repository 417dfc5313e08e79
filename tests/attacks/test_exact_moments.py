"""Noise that keeps moments exactly: mean, variance and the angle to the masked values are equations for the true ones.

Until November 2026 groups of four records were enough, and whoever knew `k` solved the equations for whole numbers.
"""

import itertools

import numpy as np
import pytest

from reference.perturb_files import file_of, run
from reticent.base.errors import DataError
from reticent.mask import Noise

K, LARGEST = 0.2, 40


def masked_as_before(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Mean plus (deviations plus noise at a right angle to them) over √(1 + k), as published of small groups before."""
    centered = values - values.mean()
    basis = np.linalg.qr(np.column_stack([np.ones(len(values)), centered]))[0]
    noise = rng.normal(size=len(values))
    noise -= basis @ (basis.T @ noise)
    noise *= np.sqrt(K * (centered @ centered) / (noise @ noise))
    return np.asarray(values.mean() + (centered + noise) / np.sqrt(1 + K))


def solutions(masked: np.ndarray) -> list[list[int]]:
    """All whole numbers with the sum, the sum of squares and the angle that the masked ones of a group of four reveal."""
    mean = masked.mean()
    centered = masked - mean
    squares, total = centered @ centered, round(4 * mean)
    found = []
    for first, second in itertools.product(range(LARGEST + 1), repeat=2):
        rest = total - first - second
        known = centered[0] * first + centered[1] * second
        third = (squares / np.sqrt(1 + K) - known - centered[3] * rest) / (centered[2] - centered[3])
        values = np.array([first, second, round(third), rest - round(third)])
        fits = abs(((values - mean) ** 2).sum() - squares) < 1e-6
        if abs(third - round(third)) < 1e-6 and fits and values.min() >= 0:
            found.append(values.tolist())
    return found


def test_four_whole_numbers_were_solved() -> None:
    rng = np.random.default_rng(3)
    for _ in range(3):
        values = rng.integers(5, LARGEST, 4)
        assert solutions(masked_as_before(values.astype(float), rng)) == [values.tolist()]


@pytest.mark.parametrize(("size", "largest"), [(4, LARGEST), (20, 1000), (90, 2)])
def test_groups_that_could_be_solved_are_refused(size: int, largest: int) -> None:
    rng = np.random.default_rng(1)
    pay = np.concatenate([rng.integers(0, 1000, 60), rng.integers(0, largest, size)]).astype(float)
    data = file_of({"pay": pay, "town": np.array(["n"] * 60 + ["s"] * size)})
    with pytest.raises(DataError, match=f"a group of {size} records is too small"):
        run(Noise(("pay",), k=K, exact=True, strata=("town",)), data)
    assert run(Noise(("pay",), k=K, exact=True), data).data.numbers(("pay",)).mean() == pytest.approx(pay.mean())
