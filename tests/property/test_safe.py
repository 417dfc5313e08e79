"""SAFE: kernels against slow ones, the search against exact optima, and what must hold of every file it makes."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.perturb_files import file_of, run
from reference.safe_reference import SlowExchange, exact_optimum
from reticent.kernels import safe as kernel
from reticent.microdata.mask.safe import Safe
from reticent.microdata.perturb.safe_search import Controls, Limits, first_counts, safe_counts
from samples import examples, numbers

KINDS = 3


def small_case(seed: int, most: int = 60) -> tuple[np.ndarray, np.ndarray, list[tuple[int, ...]]]:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, int(rng.integers(2, 5)))
    records = np.stack([rng.integers(0, size, int(rng.integers(most // 2, most))) for size in sizes[:1]])
    n = records.shape[1]
    records = np.stack(
        [records[0], *(rng.choice(size, n, p=rng.dirichlet(np.full(size, 1.5))) for size in sizes[1:])], 1
    )
    patterns, counts = np.unique(records, axis=0, return_counts=True)
    columns = range(len(sizes))
    tables: list[tuple[int, ...]] = [(column,) for column in columns]
    tables += [pair for pair in combinations(columns, 2) if rng.random() < 0.7]
    tables += [three for three in combinations(columns, 3) if rng.random() < 0.4]
    return patterns.astype(np.int32), counts.astype(np.int64), tables


def prices(seed: int) -> np.ndarray:
    """Some energy of whole numbers that grows with the deviation."""
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.integers(0, 50, (KINDS, kernel.LIMIT + kernel.MOST + 1)), axis=1)


@pytest.mark.parametrize("seed", numbers(3, 8))
def test_kernels_make_the_exchanges_of_the_slow_reference(seed: int) -> None:
    patterns, x, tables = small_case(seed, most=24)
    rng = np.random.default_rng(seed)
    energy = prices(seed)
    controls = Controls.of(patterns, tables)
    kept = len(tables)  # watched tables are left out: the reference has the controlled ones
    cells, kinds = np.ascontiguousarray(controls.cells[:, :kept]), controls.kinds[:kept]
    y = first_counts(x, rng.permutation(len(x)).astype(np.int32))
    deviation = kernel.deviations(cells, y - x, controls.n_cells)
    slow = SlowExchange(patterns, x, y, tables, lambda kind, size: int(energy[kind, size]))
    gains = kernel.gains_of(energy)

    orders = np.stack([rng.permutation(len(x)) for _ in range(2)]).astype(np.int32)
    places = np.argsort(orders, axis=1).astype(np.int32)
    bounds = np.array([0, 1, 10**6])
    kernel.sweep(cells, kinds, deviation, gains, y, orders[0], 2)
    slow.sweep(orders[0].tolist(), 2)
    assert y.tolist() == slow.y.tolist()

    chosen = rng.permutation(len(x))
    kernel.mend(cells, kinds, deviation, gains, y, chosen, orders, places, 2, bounds)
    slow.mend(chosen.tolist(), orders.tolist(), 2, bounds.tolist())
    assert y.tolist() == slow.y.tolist()

    pairs = rng.integers(-1, len(x), (2, 40))
    pairs[0] = np.maximum(pairs[0], 0)
    limits = rng.integers(0, 200, 40)
    kernel.wander(cells, kinds, deviation, gains, y, pairs[0], pairs[1], limits, bounds)
    slow.wander(pairs[0].tolist(), pairs[1].tolist(), limits.tolist(), bounds.tolist())
    assert y.tolist() == slow.y.tolist()
    # deviations that were carried along are those counted from scratch
    assert deviation.tolist() == kernel.deviations(cells, y - x, controls.n_cells).tolist()
    assert sorted(abs(size) for size in slow.deviations().values()) == sorted(
        np.abs(deviation[controls.controlled]).tolist()
    )


def test_deviations_beyond_the_table_of_prices_are_priced_in_a_straight_line() -> None:
    energy = np.tile(np.arange(kernel.LIMIT + kernel.MOST + 1) ** 2, (KINDS, 1))
    gains = kernel.gains_of(energy)
    cells = np.array([[0], [1]], dtype=np.int32)
    deviation, y = np.array([-5_000, 5_000]), np.array([3, 9])
    assert kernel.try_pair(cells, np.zeros(1, dtype=np.int64), deviation, gains, y, 0, 1, 0)
    assert y.tolist() == [8, 4]
    assert deviation.tolist() == [-4_995, 4_995]


def test_members_are_the_patterns_of_each_cell() -> None:
    patterns, _, tables = small_case(3)
    controls = Controls.of(patterns, tables)
    starts, members = kernel.list_members(controls.cells, controls.n_cells)
    for cell in range(controls.n_cells):
        wanted = np.flatnonzero((controls.cells == cell).any(axis=1))
        assert members[starts[cell] : starts[cell + 1]].tolist() == wanted.tolist()


@pytest.mark.parametrize("seed", numbers(2, 40))
def test_small_cases_are_within_one_of_the_exact_optimum(seed: int) -> None:
    patterns, x, tables = small_case(100 + seed, most=160)
    found = safe_counts(x, patterns, Controls.of(patterns, tables), stream=np.random.default_rng(seed))
    assert max(found.largest) <= exact_optimum(patterns, x, tables) + 1


@given(st.lists(st.integers(1, 7), min_size=1, max_size=30), st.integers(0, 1000))
@examples(20)
def test_first_counts_keep_the_total(counts: list[int], seed: int) -> None:
    x = np.array(counts, dtype=np.int64)
    order = np.random.default_rng(seed).permutation(len(x)).astype(np.int32)
    if x.sum() < 3:
        return
    y = first_counts(x, order)
    assert y.sum() == x.sum()
    assert not np.isin(y, (1, 2)).any()
    assert (y >= 0).all()


@pytest.mark.parametrize("seed", numbers(2, 12))
def test_counts_are_safe_whenever_the_search_is_cut(seed: int) -> None:
    patterns, x, tables = small_case(seed)
    controls = Controls.of(patterns, tables)
    largest = []
    for steps in (1, 2, 7, 40, 120):
        found = safe_counts(x, patterns, controls, stream=np.random.default_rng(seed), limits=Limits(steps=steps))
        assert found.counts.sum() == x.sum()
        assert not np.isin(found.counts, (1, 2)).any()
        assert (found.counts >= 0).all()
        largest.append(max(found.largest))
    assert largest == sorted(largest, reverse=True)


def people(seed: int, n: int = 400) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "region": rng.integers(0, 9, n).astype(str),
        "sex": rng.integers(0, 2, n).astype(str),
        "job": np.array(list("abcdef"))[np.minimum(rng.geometric(0.4, n) - 1, 5)],
        "age": rng.integers(3, 12, n).astype(str),
    }


@pytest.mark.parametrize("seed", range(4))
def test_no_table_of_the_file_has_a_count_of_one_or_two(seed: int) -> None:
    before = file_of(people(seed))
    after = run(Safe(ways=2, steps=60), before, secret=seed).data.frame.table
    assert after.height == before.n_records
    assert after.select(
        pl.struct(pl.all()).is_in(before.frame.table.select(pl.struct(pl.all())).to_series().implode())
    )[:, 0].all()
    for size in range(1, 5):
        for names in combinations(after.columns, size):
            counts = after.group_by(names).len()["len"]
            assert counts.min() >= 3
            kept = after.filter(pl.col("region").is_in(["1", "2", "5"])).group_by(names).len()["len"]
            assert kept.is_empty() or kept.min() >= 3


def test_the_same_secret_gives_the_same_bytes_in_any_order_of_records() -> None:
    columns = people(1)
    mixed = np.random.default_rng(5).permutation(400)
    method = Safe(ways=2, steps=60)
    first = run(method, file_of(columns)).data.frame.table
    again = run(method, file_of(columns)).data.frame.table
    other_order = run(method, file_of({name: values[mixed] for name, values in columns.items()})).data.frame.table
    other_secret = run(method, file_of(columns), secret=2).data.frame.table
    assert first.equals(again)
    by = list(columns)
    assert first.sort(by).equals(other_order.sort(by))
    assert not first.sort(by).equals(other_secret.sort(by))
