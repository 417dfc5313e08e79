"""Worked examples of the cell key method: designed tables, the handbook's magnitudes, limits of the flex function."""

import numpy as np
import pytest

from reticent.base.errors import InfeasibleError
from reticent.tables.perturb.cell_key import MagnitudeCells, MagnitudeNoise, perturb_magnitudes
from reticent.tables.perturb.ptable import PerturbationTable, Row
from reticent.tables.perturb.ptable_design import Design, design_ptable


def test_the_documented_table_of_maximal_entropy() -> None:
    """D = 2, V = 1.05, no result 1, monotone but for row 3 (documentation of the R package ptable)."""
    made = design_ptable(Design(2, 1.05, 1, monotone=(True, True, False, True), at_most=True))
    expected = [
        ([-1, 1, 2], [0.50833333, 0.475, 0.01666667]),
        ([-2, 0, 1, 2], [0.16155827, 0.55565037, 0.24246618, 0.04032518]),
        ([-1, 0, 1, 2], [0.41231301, 0.28806097, 0.18693903, 0.11268699]),
        ([-2, -1, 0, 1, 2], [0.07012498, 0.24450007, 0.3707499, 0.24450007, 0.07012498]),
    ]
    assert len(made.rows) == 5
    for row, (changes, chances) in zip(made.rows[1:], expected, strict=True):
        assert row.changes.tolist() == changes
        assert np.abs(row.chances - chances).max() < 1.5e-8  # the figures are rounded to eight places


@pytest.mark.parametrize("largest", [3, 4, 5, 10])
def test_no_ones_and_twos_at_the_least_variance(largest: int) -> None:
    """Erratum 21: at V = 2 the rows of 1 and 2 are (2/3, 1/3) and (1/3, 2/3)."""
    made = design_ptable(Design(largest, 2.0, 2))
    assert made.rows[1].changes.tolist() == [-1, 2]
    assert made.rows[1].chances == pytest.approx([2 / 3, 1 / 3], abs=1e-12)
    assert made.rows[2].changes.tolist() == [-2, 1]
    assert made.rows[2].chances == pytest.approx([1 / 3, 2 / 3], abs=1e-12)
    for row in made.rows[1:]:
        assert abs(row.mean) < 1e-12
        assert row.variance == pytest.approx(2.0, abs=1e-12)


def test_what_cannot_be_is_told_exactly() -> None:
    """Erratum 21: without 1 and 2, D = 3 needs 2 ≤ V ≤ 3, and D = 2 cannot be."""
    assert design_ptable(Design(3, 3.0, 2)).rows[1].chances == pytest.approx([0.75, 0.25], abs=1e-12)
    for variance in (1.9, 3.1):
        with pytest.raises(InfeasibleError, match="row 1 needs a variance from 2 to 3"):
            design_ptable(Design(3, variance, 2))
    with pytest.raises(InfeasibleError, match="row 3"):
        design_ptable(Design(2, 2.0, 2))
    with pytest.raises(InfeasibleError, match="needs a variance at least 4"):  # the R package refuses it too
        design_ptable(Design(5, 3.0, 3, monotone=True, at_most=True))


def _handbook_table() -> PerturbationTable:
    """Key 0.8 leaves 2 as it is and adds 1 to 3."""
    rows = [Row.of(0.0, np.zeros(1), np.ones(1))]
    rows += [
        Row.of(float(i), np.array([-1.0, 0.0, 1.0]), np.array(p))
        for i, p in ((1, [0.3, 0.6, 0.1]), (2, [0.3, 0.6, 0.1]))
    ]
    rows.append(Row.of(3.0, np.array([-1.0, 0.0, 1.0]), np.array([0.3, 0.4, 0.3])))
    return PerturbationTable(tuple(rows))


@pytest.mark.parametrize("multiple, expected", [(0.5, 400.0), (0.6, 360.0)])
def test_magnitude_example_of_the_handbook(multiple: float, expected: float) -> None:
    """300 with a largest contribution of 200 and key 0.8: 400 for δ = 0.5; between two rows for δ = 0.6: 360."""
    cells = MagnitudeCells(
        np.array([300.0]), np.array([[200.0]]), np.array([2]), np.array([0.8]), np.array([False])
    )  # fmt: skip
    noise = MagnitudeNoise(small=multiple, same_key=True)
    found = perturb_magnitudes(cells, noise, {"all": _handbook_table()})
    assert found.values == pytest.approx([expected])
    assert found.low[0] <= 300 <= found.high[0]


def test_limits_of_the_flex_function() -> None:
    """m(z_f) = σ1 and m(z) → σ0."""
    noise = MagnitudeNoise(scaling="flex", small=0.3, large=0.03, turning=1000.0, power=3.0)
    assert noise.multiple(np.array([1.0, 999.0, 1000.0])) == pytest.approx([0.3, 0.3, 0.3])
    assert noise.multiple(np.array([1e12])) == pytest.approx([0.03], rel=1e-6)
    assert MagnitudeNoise(small=0.2).multiple(np.array([5.0, 1e9])).tolist() == [0.2, 0.2]
