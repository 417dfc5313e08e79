"""Posteriors of parts against the enumeration of all ways, and lookups in perturbation tables against their rows."""

from itertools import product

import numpy as np
import pytest

from reticent.kernels.posterior import sharpest
from reticent.kernels.ptables import look_up, perturbed


def enumerated(
    coefs: list[int], target: int, base: list[int], laws: np.ndarray
) -> tuple[list[float], list[float]] | None:
    """For each part the largest probability of one value given the sum, and that value, by going through all ways."""
    width = laws.shape[1]
    mass = np.zeros_like(laws)
    for ways in product(range(width), repeat=len(coefs)):
        if sum(c * (b + j) for c, b, j in zip(coefs, base, ways, strict=True)) == target:
            chance = float(np.prod([laws[at, j] for at, j in enumerate(ways)]))
            for at, j in enumerate(ways):
                mass[at, j] += chance
    if mass.sum() == 0:
        return None
    return (mass.max(axis=1) / mass.sum(axis=1)).tolist(), (np.array(base) + mass.argmax(axis=1)).tolist()


def asked(coefs: list[int], target: int, base: list[int], laws: np.ndarray, longest: int = 9) -> tuple[list, list]:
    k = len(coefs)
    out, likeliest = np.zeros(k), np.full(k, np.nan)
    sharpest(
        np.array([0, k], np.int64), np.arange(k, dtype=np.int32), np.array(coefs, np.int32),
        np.array([target], np.int64), np.array(base, np.int64), laws, longest, out, likeliest,
    )  # fmt: skip
    return out.tolist(), likeliest.tolist()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("coefs", [[1, 1, -1], [1, 1, 1, -1], [1, -1], [1, 1, 1, 1]])
def test_the_sharpest_posterior_is_that_of_all_ways(seed: int, coefs: list[int]) -> None:
    rng = np.random.default_rng(seed)
    laws = rng.random((len(coefs), 3))
    laws[rng.random(laws.shape) < 0.2] = 0.0
    laws[:, 0] += 0.1
    laws /= laws.sum(axis=1, keepdims=True)
    base = rng.integers(0, 4, len(coefs)).tolist()
    target = sum(c * (b + 1) for c, b in zip(coefs, base, strict=True))
    expected = enumerated(coefs, target, base, laws)
    found, likeliest = asked(coefs, target, base, laws)
    if expected is None:
        assert found == [0.0] * len(coefs)
        return
    assert found == pytest.approx(expected[0])
    for at, value in enumerate(likeliest):  # of equally likely values either is right
        if expected[0][at] > 0.5:
            assert value == expected[1][at]


def test_two_parts_of_a_small_sum_are_certain() -> None:
    laws = np.full((2, 3), 1 / 3)
    found, likeliest = asked([1, 1], 0, [0, 0], laws)
    assert found == [1.0, 1.0]
    assert likeliest == [0.0, 0.0]


def test_relations_that_are_too_long_say_nothing() -> None:
    laws = np.full((3, 2), 0.5)
    assert asked([1, 1, 1], 0, [0, 0, 0], laws, longest=2)[0] == [0.0, 0.0, 0.0]


def test_what_is_known_already_is_not_made_less() -> None:
    laws = np.full((2, 3), 1 / 3)
    out, likeliest = np.array([0.9, 0.1]), np.array([7.0, 7.0])
    sharpest(
        np.array([0, 2], np.int64), np.arange(2, dtype=np.int32), np.ones(2, np.int32), np.array([2], np.int64),
        np.zeros(2, np.int64), laws, 9, out, likeliest,
    )  # fmt: skip
    assert out.tolist() == pytest.approx([0.9, 1 / 3])
    assert likeliest[0] == 7.0


# a table with rows for 0, 1 and "2 and more": 0 stays, 1 goes to 0 or 3, larger ones by −1, 0 or +1
BOUNDS = np.array([[1.0, 1.0, 1.0], [0.6, 1.0, 1.0], [0.25, 0.75, 1.0]])
CHANGES = np.array([[0.0, 0.0, 0.0], [-1.0, 2.0, 0.0], [-1.0, 0.0, 1.0]])
LENGTHS = np.array([1, 2, 3], np.int64)


@pytest.mark.parametrize(
    ("count", "key", "change"),
    [
        (0, 0.0, 0.0), (0, 0.999, 0.0), (1, 0.0, -1.0), (1, 0.599, -1.0), (1, 0.6, 2.0), (1, 0.9999, 2.0),
        (2, 0.2499, -1.0), (2, 0.25, 0.0), (2, 0.75, 1.0), (700, 0.1, -1.0), (700, 0.8, 1.0),
    ],
)  # fmt: skip
def test_a_change_is_the_first_whose_bound_lies_above_the_key(count: int, key: float, change: float) -> None:
    found = look_up(np.array([count], np.int64), np.array([key]), BOUNDS, CHANGES, LENGTHS)
    assert found.tolist() == [change]


def test_a_key_beyond_all_bounds_takes_the_last_change() -> None:
    found = look_up(np.array([1], np.int64), np.array([1.0]), BOUNDS, CHANGES, LENGTHS)
    assert found.tolist() == [2.0]


@pytest.mark.parametrize("zeros", [True, False])
def test_one_pass_gives_the_value_and_the_counts_behind_it(zeros: bool) -> None:
    counts = np.array([0, 1, 1, 2, 5], np.int64)
    keys = np.array([0.5, 0.1, 0.7, 0.5, 0.9])
    # who is published as 0 was 0 or 1; as 1: 2; as 2: 2 or 3; as 3: 1 to 4; larger ones may be off by one
    steps = np.array([[0, 1], [1, 1], [0, 1], [-2, 1], [-1, 1]], np.int64)
    values, low, high = perturbed(counts, keys, BOUNDS, CHANGES, LENGTHS, steps, zeros)
    assert values.tolist() == [0.0, 0.0, 3.0, 2.0, 6.0]
    assert low.tolist() == [0.0, 0.0, 1.0, 2.0, 5.0]
    assert high.tolist() == [1.0, 1.0, 4.0, 3.0, 7.0]
    assert bool((low <= counts).all() and (counts <= high).all())


def test_zeros_stay_zero_unless_they_are_perturbed_too() -> None:
    bounds, changes, lengths = np.array([[0.5, 1.0]]), np.array([[0.0, 1.0]]), np.array([2], np.int64)
    steps = np.array([[0, 0], [-1, 0]], np.int64)
    for zeros, expected in ((True, 1.0), (False, 0.0)):
        values, _, _ = perturbed(np.zeros(1, np.int64), np.array([0.9]), bounds, changes, lengths, steps, zeros)
        assert values.tolist() == [expected]
