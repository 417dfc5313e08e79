"""Relations: residuals, components, restriction."""

import numpy as np
import pytest

from reticent.base.errors import DataError
from reticent.data.relations import Relations


def small() -> Relations:
    # 0 = 1 + 2, 3 = 4 + 5
    return Relations.from_rows(6, [([0, 1, 2], [-1, 1, 1]), ([3, 4, 5], [-1, 1, 1])])


def test_residuals_tell_which_relation_misses() -> None:
    assert small().residuals(np.array([3.0, 1, 2, 9, 4, 4])).tolist() == [0.0, -1.0]


def test_components_of_the_masked_cells() -> None:
    labels = small().components(np.array([False, True, True, False, True, False]))
    assert labels.tolist() == [-1, 0, 0, -1, 1, -1]
    assert small().components(np.zeros(6, dtype=bool)).max() == -1


def test_restriction_keeps_numbers_of_the_whole() -> None:
    part = small().restrict(np.array([False, False, False, True, False, True]))
    assert part.cells.tolist() == [3, 5]
    assert part.rows.tolist() == [1]
    assert part.relations.matrix().toarray().tolist() == [[-1.0, 1.0]]


def test_by_cell_and_added_rows() -> None:
    both = small().with_rows(Relations.from_rows(6, [([1, 4], [1, -1])]))
    indptr, rows, coefs = both.by_cell
    assert rows[indptr[4] : indptr[5]].tolist() == [1, 2]
    assert coefs[indptr[4] : indptr[5]].tolist() == [1, -1]


def test_broken_arrays_are_refused() -> None:
    with pytest.raises(DataError, match="cell numbers"):
        Relations.from_rows(2, [([0, 5], [1, 1])])
    with pytest.raises(DataError, match="as many coefficients"):
        Relations.from_rows(2, [([0, 1], [1])])
