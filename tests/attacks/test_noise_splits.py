"""Many linked tables that divide one group in two: few people can be divided in few ways only.

The attacker knows that the same people are published alike. n people can be divided in two in 2^(n-1) ways, so q ways that are
published differently need at least 1 + log2(q) people; where noise allows no more than that, their number is known. Until
November 2026 the attack did not count ways: 5 of 39 runs with `largest = 2` and 20 tables were held and gave a count away.
"""

import itertools
import math

import numpy as np
import polars as pl
import pytest

from reticent import methods, rules
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.tables.attack.noise import posteriors
from reticent.tables.attack.noise_groups import _chance, _likelihood
from reticent.tables.attack.noise_splits import _how_often, _shapes
from reticent.tables.perturb.origins import Origins

NAMES = [f"b{at}" for at in range(8)]
SCHEMA = Schema(
    (
        Variable("id", role=Role.IDENTIFIER),
        *(Variable(name, role=Role.KEY, codes=("0", "1")) for name in ("a", *NAMES)),
    )
)


def _people(seed: int) -> pl.DataFrame:
    """Two to four people in one group and seven in the other, with answers to eight questions."""
    rng = np.random.default_rng(seed)
    a = ["0"] * int(rng.integers(2, 5)) + ["1"] * 7
    answers = {name: rng.integers(0, 2, len(a)).astype(str) for name in NAMES}
    return pl.DataFrame({"id": [f"p{at}" for at in range(len(a))], "a": a, **answers})


def _known(shown: list[dict[tuple[str, ...], int]], largest: int) -> int | None:
    """How many are in the first group, if the ways to divide it tell."""
    own = shown[0]["0", "Total"]
    ways = {tuple(sorted((table["0", "0"], table["0", "1"]))) for table in shown} | {(0, own)}
    least = 1 + math.ceil(math.log2(len(ways)))
    return least if least == own + largest else None


def test_the_ways_to_divide_a_group_are_counted() -> None:
    people = _people(78)
    result = protect_table(
        Microdata.of(people, SCHEMA), [TableSpec((DimensionSpec("a"), DimensionSpec(name))) for name in NAMES],
        rules=[rules.Threshold(5)], method=methods.CellKey(largest=2, variance=1.0, skip=0), secret=78, test_secret=True,
        accept_exposed=True,
    )  # fmt: skip
    shown = [dict(zip(one.codes, one.values.astype(int).tolist(), strict=True)) for one in result.published]
    assert _known(shown, 2) == people["a"].to_list().count("0") == 4
    assert result.state == "not held"
    assert ("0", *("Total" for _ in NAMES)) in {result.table.cell_codes(cell) for cell in result.exposed}


def test_ways_are_counted_by_their_sizes() -> None:
    """All divisions of five people into parts: the Bell number."""
    assert sum(_how_often(shape) for shape in _shapes(5, 5)) == 52
    assert [_how_often(shape) for shape in _shapes(3, 3)] == [1, 3, 1]


def test_who_always_agrees_is_one_person() -> None:
    """A group that no question divides is published as 5: each table by itself says four people, all together say one."""
    rng = np.random.default_rng(1)
    names = [f"b{at}" for at in range(16)]
    answers = {name: rng.integers(0, 2, 10).astype(str) for name in names}
    people = pl.DataFrame({"id": [f"p{at}" for at in range(10)], "a": ["0", *["1"] * 9], **answers})
    keys = (Variable(name, role=Role.KEY, codes=("0", "1")) for name in ("a", *names))
    data = Microdata.of(people, Schema((Variable("id", role=Role.IDENTIFIER), *keys)))
    result = protect_table(
        data, [TableSpec((DimensionSpec("a"), DimensionSpec(name))) for name in names], rules=[rules.Threshold(3)],
        method=methods.CellKey(), secret=3, test_secret=True, accept_exposed=True,
    )  # fmt: skip
    assert dict(zip(result.published[0].codes, result.published[0].values, strict=True))["0", "Total"] == 5
    order = np.argsort(result.audit.cells)
    assert result.outcome.origins is not None
    sure, likeliest = posteriors(
        result.problem.relations, result.outcome.origins, result.audit.low[order], result.audit.high[order]
    )
    group = [result.table.cell_codes(cell) for cell in range(result.table.n_cells)].index(("0", *["Total"] * 16))
    assert likeliest[group] == 1
    assert sure[group] > 0.9


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_likelihood_of_divisions_is_that_of_all_ways(size: int) -> None:
    """Against a sum over all ways in which three questions divide up to three people."""
    weights = np.array([[1.0, 0.2, 0.1, 0.0], [0.0, 0.5, 0.3, 0.2], [0.0, 0.3, 0.6, 0.8]])
    # cell 0 is the group, published as 2; pairs of cells are published as (0, 2), (1, 2) and (1, 2)
    shown = np.array([2, 0, 2, 1, 2, 2, 1])
    origins = Origins(np.zeros(7, dtype=np.int64), shown.astype(np.int32), weights > 0, weights, shown)
    halves = [(1, 2), (3, 4), (5, 6)]
    chance = {pair: _chance(size, pair, origins) for pair in halves}
    n_ways, total = 2 ** (size - 1), 0.0
    for chosen in itertools.product(range(n_ways), repeat=3):  # way 0 leaves all together
        product = 1.0
        for way in set(chosen):
            pairs = {tuple(sorted(shown[list(halves[at])].tolist())) for at, own in enumerate(chosen) if own == way}
            pair = halves[chosen.index(way)]
            product *= float(pairs == {(0, 2)}) if way == 0 else chance[pair] * (len(pairs) == 1)
        total += product / n_ways**3
    assert _likelihood(size, 0, halves, origins) == pytest.approx(total)
