"""Additivity after noise: every relation exact, no new small count, empty and published cells kept, near the noisy table."""

import itertools

import numpy as np
import pytest

from reticent.base.errors import DataError, InfeasibleError, ParameterError
from reticent.data.relations import Relations
from reticent.tables.perturb.additivity import restore_additivity
from reticent.tables.perturb.cell_key import perturb_counts
from reticent.tables.perturb.ptable_design import Design, design_ptable
from reticent.tables.perturb.summing import summing
from samples import numbers
from table_makers import with_totals

TABLE = design_ptable(Design(5, 2.0, 2, 0.3))


def noisy_table(shape: tuple[int, ...], mean: float, seed: int) -> tuple[np.ndarray, np.ndarray, Relations]:
    rng = np.random.default_rng(seed)
    true, relations, _ = with_totals(rng.poisson(mean, shape))
    return true, perturb_counts(true.astype(np.int64), rng.random(len(true)), TABLE).values, relations


@pytest.mark.parametrize("way", ["exact", "kernel", "yes"])
@pytest.mark.parametrize("seed", numbers(2, 12))
def test_everything_adds_up_without_small_counts(way: str, seed: int) -> None:
    true, noisy, relations = noisy_table((3, 4, 2)[: 2 + seed % 2], 2.5, seed)
    found = restore_additivity(noisy, relations, skip=2, empty=true == 0, way=way)  # type: ignore[arg-type]
    assert np.abs(relations.residuals(found.values)).max() == 0
    assert not np.isin(found.values, (1, 2)).any()
    assert (found.values[true == 0] == 0).all()
    assert found.largest == np.abs(found.values - noisy).max()
    assert found.mean == pytest.approx(np.abs(found.values - noisy).mean())


@pytest.mark.parametrize("seed", range(12))
def test_exact_is_the_nearest_of_all(seed: int) -> None:
    """By trying all inner counts up to 7: no table without 1 and 2 that adds up is nearer."""
    _, noisy, relations = noisy_table((2, 2), 2.0, seed)
    found = restore_additivity(noisy, relations, skip=2, way="exact")
    sums = summing(relations)
    best = min(
        float(np.abs(sums.matrix @ np.array(inner, dtype=float) - noisy).sum())
        for inner in itertools.product((0, 3, 4, 5, 6, 7, 8, 9), repeat=4)
    )
    assert float(np.abs(found.values - noisy).sum()) == pytest.approx(best)
    near = restore_additivity(noisy, relations, skip=2, way="kernel")
    assert np.abs(near.values - noisy).sum() <= best + 8


def test_ipf_says_what_it_leaves() -> None:
    true, noisy, relations = noisy_table((12, 15, 6), 1.5, 3)
    found = restore_additivity(noisy, relations, skip=2, empty=true == 0, way="ipf")
    assert np.abs(relations.residuals(found.values)).max() == 0
    assert found.small == int(((found.values > 0) & (found.values < 3)).sum()) > 0
    assert found.facts()["new small counts"] == found.small


def linked(seed: int) -> tuple[np.ndarray, np.ndarray, Relations]:
    """A × B and A × C with A in common and no inner cells in common."""
    rng = np.random.default_rng(seed)
    cube = rng.poisson(1.2, (4, 3, 5))
    ab, ac, a = cube.sum(axis=2).ravel(), cube.sum(axis=1).ravel(), cube.sum(axis=(1, 2))
    true = np.concatenate([ab, ac, a, [a.sum()]]).astype(float)
    rows = []
    for at in range(4):
        rows.append((([*range(3 * at, 3 * at + 3), 32 + at]), [1, 1, 1, -1]))
        rows.append((([*range(12 + 5 * at, 12 + 5 * at + 5), 32 + at]), [1] * 5 + [-1]))
    rows.append(([32, 33, 34, 35, 36], [1, 1, 1, 1, -1]))
    noisy = perturb_counts(true.astype(np.int64), rng.random(len(true)), TABLE).values
    return true, noisy, Relations.from_rows(37, rows)


@pytest.mark.parametrize("way", ["exact", "kernel"])
@pytest.mark.parametrize("seed", range(5))
def test_linked_tables_agree(way: str, seed: int) -> None:
    true, noisy, relations = linked(seed)
    assert summing(relations).links.shape[0] == 4
    found = restore_additivity(noisy, relations, skip=2, empty=true == 0, way=way)  # type: ignore[arg-type]
    assert np.abs(relations.residuals(found.values)).max() == 0
    assert not np.isin(found.values, (1, 2)).any()


@pytest.mark.parametrize("way", ["exact", "kernel"])
def test_published_cells_are_kept(way: str) -> None:
    """A later table takes the margin of an earlier one as it is out."""
    true, noisy, relations = linked(2)
    first = restore_additivity(noisy, relations, skip=2, empty=true == 0)
    published = np.full(len(true), np.nan)
    published[32:] = first.values[32:]
    other = perturb_counts(true.astype(np.int64), np.random.default_rng(99).random(len(true)), TABLE).values
    again = restore_additivity(
        other, relations, skip=2, empty=true == 0, published=published, way=way,  # type: ignore[arg-type]
    )  # fmt: skip
    assert again.values[32:].tolist() == first.values[32:].tolist()
    assert np.abs(relations.residuals(again.values)).max() == 0
    assert not np.isin(again.values[:32], (1, 2)).any()


def test_published_cells_that_leave_no_way_are_refused() -> None:
    relations = Relations.from_rows(3, [([0, 1, 2], [1, 1, -1])])
    noisy, fixed = np.array([4.0, 5.0, 9.0]), np.array([4.0, np.nan, 5.0])
    with pytest.raises(InfeasibleError, match="2 cells that earlier releases fix"):
        restore_additivity(noisy, relations, skip=2, published=fixed, way="exact")
    with pytest.raises(InfeasibleError, match="2 cells that earlier releases fix"):
        restore_additivity(noisy, relations, skip=2, published=fixed, way="kernel")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0, -2.0, 1.0], "not negative"),
        ([1.5, 2.0, 3.0], "whole counts"),
        ([np.nan, 1, 1], "whole counts"),
        ([1, 2], "one count"),
    ],
)  # fmt: skip
def test_bad_counts(values: list[float], words: str) -> None:
    with pytest.raises(DataError, match=words):
        restore_additivity(np.array(values), Relations.from_rows(3, [([0, 1, 2], [1, 1, -1])]))


def test_bad_ways() -> None:
    relations = Relations.from_rows(3, [([0, 1, 2], [1, 1, -1])])
    with pytest.raises(ParameterError, match="one of yes, exact, kernel, ipf"):
        restore_additivity(np.array([1.0, 2.0, 3.0]), relations, way="lp")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="ipf cannot keep"):
        restore_additivity(np.array([1.0, 2.0, 3.0]), relations, published=np.array([1.0, np.nan, 3.0]), way="ipf")
