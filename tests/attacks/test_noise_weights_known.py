"""Weighted counts with cell keys, and what else is known: weights of strata, one value for two cells, sums beside them.

The attacker writes down all numbers of people that can be behind the published values. Until November 2026 runs were held in
which this determined some (`largest = 1`): 14 of 54 by the weights of two strata, which every survey documents; 7 of 43 sparse
tables by cells with the same value, which continuous noise gives only to the same people; 1 of 19 by a sum beside a 0.
"""

import itertools

import numpy as np
import polars as pl
import pytest

from reticent import methods, rules
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.tables.perturb.cell_key import MagnitudeNoise
from reticent.tables.request import table_request
from reticent.tables.result import ProtectedTable
from reticent.tables.run import run_request

CODES = ("0", "1", "2")
SCHEMA = Schema((
    Variable("id", role=Role.IDENTIFIER), *(Variable(name, role=Role.KEY, codes=CODES) for name in "ab"),
    Variable("g", role=Role.WEIGHT, kind=Kind.NUMERIC), Variable("x", kind=Kind.NUMERIC, decimals=1),
))  # fmt: skip
METHOD = methods.CellKey(largest=1, variance=0.5, skip=0, noise=MagnitudeNoise(small=1.0))


def _people(a: list[int], b: list[int], weights: np.ndarray, x: np.ndarray | None = None) -> Microdata:
    texts = {"a": [str(code) for code in a], "b": [str(code) for code in b]}
    numbers = {"g": weights.astype(float), "x": np.ones(len(a)) if x is None else x}
    return Microdata.of(pl.DataFrame({"id": [f"p{at}" for at in range(len(a))], **texts, **numbers}), SCHEMA)


def _protected(data: Microdata, seed: int, *names: str) -> ProtectedTable:
    return protect_table(
        data, TableSpec(tuple(DimensionSpec(name) for name in names), weighted=True), rules=[rules.Threshold(3)],
        method=METHOD, secret=seed, test_secret=True, accept_exposed=True,
    )  # fmt: skip


def _shown(result: ProtectedTable) -> dict[tuple[str, ...], float]:
    (table,) = result.published
    return {codes: float(table.text(row)) for row, codes in enumerate(table.codes)}


def _exposed(result: ProtectedTable) -> set[tuple[str, ...]]:
    return {tuple(result.table.cell_codes(cell)) for cell in result.exposed}


def _numbers(shown: float, least: float, most: float, unit: float = 0.01) -> list[int]:
    """The numbers of people whose changed number, at most half a person off, weighs what is shown."""
    if shown == 0:
        return [0, 1]
    reach = [
        changed for changed in range(1, 40) if (changed - 0.5) * least - unit <= shown <= (changed + 0.5) * most + unit
    ]
    return list(range(max(1, reach[0] - 1), reach[-1] + 2))


@pytest.mark.parametrize("seed", [17, 31, 41])
def test_weights_of_strata_are_no_secret(seed: int) -> None:
    """Everybody of stratum 0 weighs 10, then 20 and 35: each published value tells to how many people it was changed."""
    weights = (10, 20, 35)
    a = [code for code, n in enumerate(np.random.default_rng(seed).integers(1, 5, 3)) for _ in range(n)]
    result = _protected(_people(a, a, np.array(weights)[a]), seed, "a")
    shown = _shown(result)
    total, fits = shown["Total",], []
    for people in itertools.product(
        *(_numbers(shown[str(at),], weight, weight, 1) for at, weight in enumerate(weights))
    ):
        n, weighs = sum(people), int(np.dot(people, weights))
        alone = any(people[at] == n and shown[str(at),] != total for at in range(3))
        if n and not alone and weighs * max(n - 1.5, 0.5) / n - 0.5 <= total <= weighs * (n + 1.5) / n + 0.5:
            fits.append((*people, n))
    known = {(code,) for code, *numbers in zip((*CODES, "Total"), *fits, strict=True) if len(set(numbers)) == 1}
    assert known
    assert known <= _exposed(result)


@pytest.mark.parametrize("seed", [0, 11, 28])
def test_cells_with_one_value_have_the_same_people(seed: int) -> None:
    result = _sparse(seed)
    found = _determined(_shown(result), result.table.least, result.table.most)
    assert found
    assert found <= _exposed(result)


def _sparse(seed: int) -> ProtectedTable:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.6, 9)
    counts[rng.integers(9)] += 1
    places = [divmod(cell, 3) for cell in range(9) for _ in range(counts[cell])]
    weights = np.round(rng.uniform(9.5, 10.5, len(places)), 2)
    return _protected(_people([a for a, _ in places], [b for _, b in places], weights), seed, "a", "b")


def _determined(shown: dict[tuple[str, ...], float], least: float, most: float) -> set[tuple[str, ...]]:
    """Cells with one number of people, not 0, in all that adds up; the same value is the same people, another one is not."""
    cells = list(itertools.product((*CODES, "Total"), repeat=2))
    value = [shown.get(cell, 0.0) for cell in cells]
    lists = {cell: _numbers(value[at], least, most) for at, cell in enumerate(cells)}
    inner = np.array(list(itertools.product(*(lists[cell] for cell in itertools.product(CODES, repeat=2)))))
    grid = inner.reshape(-1, 3, 3)
    grid = np.concatenate([grid, grid.sum(axis=1, keepdims=True)], axis=1)
    worlds = np.concatenate([grid, grid.sum(axis=2, keepdims=True)], axis=2).reshape(len(inner), 16)
    fits = np.all([np.isin(worlds[:, at], lists[cell]) for at, cell in enumerate(cells)], axis=0)
    for whole, part in itertools.permutations(range(16), 2):
        if all(one in (other, "Total") for one, other in zip(cells[whole], cells[part], strict=True)):
            same = worlds[:, whole] == worlds[:, part]
            if value[whole] != value[part]:
                fits &= ~same
            elif value[whole] > 0:
                fits &= same
    left = worlds[fits]
    return {cell for at, cell in enumerate(cells) if left[0, at] > 0 and (left[:, at] == left[0, at]).all()}


def test_a_sum_shows_who_is_behind_a_weighted_count_of_0() -> None:
    """Changes of at most 1: a weighted count of 0 beside a sum that is not 0 is one person."""
    seed = 14
    rng = np.random.default_rng(seed)
    a = [code for code, n in enumerate(np.maximum(rng.poisson(0.9, 3), [1, 0, 0])) for _ in range(n)]
    weights = np.round(rng.uniform(9.5, 10.5, len(a)), 2)
    data = _people(a, a, weights, np.round(rng.lognormal(3, 0.6, len(a)), 1))
    shape = (DimensionSpec("a"),)
    specs = [TableSpec(shape, weighted=True), TableSpec(shape, response="x", weighted=True)]
    results = run_request(
        table_request(data, specs, rules=[rules.Threshold(3)], method=METHOD, secret=seed, test_secret=True)
    )
    shown = {
        table.response: dict(zip(table.codes, table.values, strict=True)) for r in results for table in r.published
    }
    assert shown["count"]["0",] == 0 < shown["x"]["0",]
    assert "not held" in {result.state for result in results}
