"""Rows of facts and watched sums by row and by class, and rows that releases repeat."""

import numpy as np
from scipy import sparse

from reticent.data.facts import COUNT, Fact, Facts, Ground, Term, Watch
from reticent.releases.joint import JointSystem
from reticent.releases.stack import Stack
from reticent.releases.unknowns import Version


def _stack() -> tuple[Stack, np.ndarray]:
    rng = np.random.default_rng(5)
    dense = rng.integers(-2, 3, size=(9, 6)) * (rng.random((9, 6)) < 0.5)
    return Stack(sparse.csr_array(dense[:6]), sparse.csr_array(dense[6:])), dense


def test_rows_and_columns_are_those_of_both_matrices() -> None:
    stack, dense = _stack()
    assert np.array_equal(stack.chosen([7, 2, 8, 0]).toarray(), dense[[7, 2, 8, 0]])
    assert np.array_equal(stack.columns(np.array([4, 1])).toarray(), dense[:, [4, 1]])
    assert np.array_equal(stack.asking(1).chosen([6]).toarray(), dense[[7]])
    assert np.array_equal(stack.entries, (dense != 0).sum(axis=0))


def test_combinations_and_changes_are_products() -> None:
    stack, dense = _stack()
    factors = np.array([0.0, 2.0, 0.0, -1.5, 0.0, 0.0, 1.0, 0.0, -1.0])
    assert np.allclose(stack.combined(factors), factors @ dense)
    movement = np.array([0, 3, 0, 0, -2, 0])
    assert np.array_equal(stack.change(movement), dense[:6] @ movement)


def test_what_is_told_again_is_one_row_unless_it_is_narrower() -> None:
    ground = Ground(("a",), (("x", "y", "z"),), np.arange(3)[:, None], np.repeat(np.arange(3), 4), np.arange(12))
    watch = Watch(COUNT, np.array([0]), np.array([1]), 3, 5, "x", "T")
    system = JointSystem((Version(ground),))

    def pair(name: str, low: int, high: int, *watches: Watch) -> Facts:
        return Facts(name, (Fact((Term.total(COUNT, np.array([0, 1])),), low, high),), watches=watches)

    rows = []
    for facts in (pair("T", 6, 10, watch), pair("again", 6, 10), pair("wider", 5, 10), pair("narrower", 7, 9)):
        system.accept(facts)
        (part,) = system.parts.values()
        rows.append(len(part.system.row_low))
    assert rows == [1, 1, 1, 2]
