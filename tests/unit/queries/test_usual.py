"""Which responses tell who has a rare value of another one, alone or together."""

import numpy as np
import pytest

from reticent.base.arrays import Floats
from reticent.queries.analysis.usual import allowed_share, reveals

N = 400
RNG = np.random.default_rng(0)
RARE = (np.arange(N) % 25 == 0).astype(np.float64)
ONE, TWO = (RNG.integers(0, 2, N).astype(np.float64) for _ in range(2))
SIGN, WIDE = RNG.choice([-1.0, 1.0], N), RNG.normal(0, 5, N)


@pytest.mark.parametrize(
    "columns",
    [
        (7.0 * RARE,),
        (ONE, ONE + RARE),
        (ONE, np.abs(ONE - RARE)),
        (ONE, TWO, ONE + TWO + RARE),
        (SIGN * (1 + 2 * RARE),),
    ],
)
def test_what_tells_a_rare_value(columns: tuple[Floats, ...]) -> None:
    assert reveals(np.column_stack(columns), RARE, 0.15)


@pytest.mark.parametrize("columns", [(ONE,), (WIDE + RARE,), (ONE, TWO), (np.zeros(N),)])
def test_what_does_not(columns: tuple[Floats, ...]) -> None:
    assert not reveals(np.column_stack(columns), RARE, 0.15)


def test_missing_values_and_equal_ones_tell_nothing() -> None:
    assert not reveals(np.full((N, 1), np.nan), RARE, 0.15)
    assert not reveals(ONE[:, None], np.zeros(N), 0.15)


def test_what_cannot_be_told_for_want_of_records_counts() -> None:
    assert reveals(np.column_stack((ONE, TWO, SIGN))[:6], np.array([0.0, 0, 1, 0, 0, 0]), 0.5)


def test_fewer_pairs_are_allowed_where_one_value_is_rarer() -> None:
    assert allowed_share(RARE) == pytest.approx(4 * 0.04 * 0.96)
