"""Residue kernels against Python's own integers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reticent.kernels import echelon
from reticent.kernels.echelon import PRIME

RESIDUES = st.one_of(
    st.integers(0, PRIME - 1), st.sampled_from([0, 1, 2, 2**31 - 1, 2**31, 2**60, PRIME - 2, PRIME - 1])
)


def residues(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.uint64)


@given(st.lists(st.tuples(RESIDUES, RESIDUES), min_size=1, max_size=20), RESIDUES)
def test_products_and_sums(pairs: list[tuple[int, int]], factor: int) -> None:
    left, right = residues([a for a, _ in pairs]), residues([b for _, b in pairs])
    assert echelon.multiply(left, right).tolist() == [a * b % PRIME for a, b in pairs]
    assert int(echelon.dot(left, right)) == sum(a * b for a, b in pairs) % PRIME
    target = left.copy()
    echelon.add_multiple(target, right, np.uint64(factor))
    assert target.tolist() == [(a + factor * b) % PRIME for a, b in pairs]
    usable = [(a, b) for a, b in pairs if b]
    if usable:
        quotients = echelon.ratios(residues([a for a, _ in usable]), residues([b for _, b in usable]))
        assert [int(q) * b % PRIME for q, (_, b) in zip(quotients, usable)] == [a % PRIME for a, _ in usable]


@given(st.integers(1, 6), st.integers(0, 2**32))
def test_an_inverse_grows_and_shrinks(size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = [[int(v) for v in row] for row in rng.integers(0, PRIME, (size, size))]
    inverse = np.zeros((size, size), dtype=np.uint64)
    kept = []
    for rank in range(size):
        row = residues(matrix[rank][:rank])
        column = residues([matrix[i][rank] for i in range(rank)])
        left = echelon.left_product(row, inverse, rank)
        right = echelon.right_product(inverse, column, rank)
        schur = (matrix[rank][rank] - int(echelon.dot(left, column))) % PRIME
        kept.append(inverse[:rank, :rank].copy())
        echelon.border_inverse(inverse, rank, left, right, np.uint64(pow(schur, PRIME - 2, PRIME)))
        for i in range(rank + 1):
            for j in range(rank + 1):
                entry = sum(matrix[i][k] * int(inverse[k, j]) for k in range(rank + 1)) % PRIME
                assert entry == int(i == j)
    for last in range(size - 1, -1, -1):
        corner = np.uint64(pow(int(inverse[last, last]), PRIME - 2, PRIME))
        echelon.shrink_inverse(inverse, last, corner)
        assert (inverse[:last, :last] == kept[last]).all()
