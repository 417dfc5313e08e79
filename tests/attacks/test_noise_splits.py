"""Many linked tables that divide one group in two: few people can be divided in few ways only.

The attacker knows that the same people are published alike. n people can be divided in two in 2^(n-1) ways, so q ways that are
published differently need at least 1 + log2(q) people; where noise allows no more than that, their number is known. Until
November 2026 the attack did not count ways: 5 of 39 runs with `largest = 2` and 20 tables were held and gave a count away.
"""

import math

import numpy as np
import polars as pl

from reticent import methods, rules
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.tables.attack.noise_splits import _how_often, _shapes

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
