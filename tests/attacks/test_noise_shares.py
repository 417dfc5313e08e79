"""Shares of weighted counts with noise: a quotient with many digits shows digits that its two parts were published without.

A weighted count with noise is a whole number of respondents times the mean weight of the cell, W·k/n. As a whole number it says
little; with all its digits it says by what W was divided. Until November 2026 shares, ratios and means were made of values
with all their digits, and published with four decimals: they determined 154 of 208 weighted counts of 104 runs that were held;
what was written of the counts themselves determined none.
"""

import itertools
from dataclasses import replace

import numpy as np
import polars as pl

from attacks.test_noise_weights import WEIGHTED
from reticent import methods, rules
from reticent.data.microdata import Microdata
from reticent.data.published_table import PublishedTable
from reticent.data.schema import Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.tables.derived import ratio_table, share_table
from reticent.tables.release import mean_table

LEAST, MOST, LARGEST = 5, 39, 2
METHOD = methods.CellKey(largest=LARGEST, variance=1.0, skip=0)


def _published(seed: int) -> tuple[list[int], PublishedTable]:
    """Two cells of one to four people with whole weights: true weighted counts, and the table."""
    rng = np.random.default_rng(seed)
    a = [str(cell) for cell, n in enumerate(rng.integers(1, 5, 2)) for _ in range(n)]
    weights = rng.integers(LEAST, MOST + 1, len(a))
    columns = {"id": [f"p{at}" for at in range(len(a))], "a": a, "b": ["0"] * len(a), "g": weights}
    result = protect_table(
        Microdata.of(pl.DataFrame(columns), WEIGHTED), TableSpec((DimensionSpec("a"),), weighted=True),
        rules=[rules.Threshold(3)], method=METHOD, secret=seed, test_secret=True, accept_exposed=True,
    )  # fmt: skip
    assert result.state == "held"
    true = [int(weights[np.array(a) == code].sum()) for code in "01"]
    return true, result.published[0]


def _behind(written: float) -> np.ndarray:
    """All weighted counts that noise leads to what is written: value with all digits, people, weighted count."""
    found = [
        (weight * shown / people, people, weight)
        for people in range(1, 13)
        for shown in range(max(1, people - LARGEST), people + LARGEST + 1)
        for weight in range(LEAST * people, MOST * people + 1)
        if abs(weight * shown / people - written) <= 0.5
    ]
    return np.array(found)


def _determined(table: PublishedTable) -> list[int | None]:
    """The weighted counts of the two cells, where only one fits shares, written values and sums."""
    shares = share_table(table, "a")
    total, *parts = (_behind(float(table.text(row))) for row in range(3))
    fits: tuple[set[float], set[float]] = (set(), set())
    for value, people, weight in total:
        near = [
            part[np.abs(100 * part[:, 0] / value - float(shares.text(row))) <= 0.00005 + 1e-9]
            for row, part in enumerate(parts, start=1)
        ]
        for first, second in itertools.product(*near):
            if first[1] + second[1] == people and first[2] + second[2] == weight:
                fits[0].add(first[2])
                fits[1].add(second[2])
    return [int(*one) if len(one) == 1 else None for one in fits]


def test_shares_of_weighted_counts_show_no_digits_that_were_not_written() -> None:
    tried = [_published(seed) for seed in range(8)]
    right = sum(np.equal(true, _determined(table)).sum() for true, table in tried)
    assert right <= 4, right  # by chance; it was 16


def test_quotients_are_those_of_written_values() -> None:
    for _, table in (_published(seed) for seed in range(3)):
        written = [float(table.text(row)) for row in range(3)]
        assert table.values.tolist() == written
        assert [float(share_table(table, "a").text(row)) for row in range(3)] == [
            round(100 * v / written[0], 4) for v in written
        ]
        fewer = replace(table, values=table.values + 0.4)  # is written in the same way
        assert ratio_table(fewer, table).values.tolist() == mean_table(fewer, table).values.tolist() == [1.0, 1.0, 1.0]


def test_a_published_table_names_no_code_that_it_does_not_list() -> None:
    people = pl.DataFrame({"id": [f"p{at}" for at in range(9)], "c": ["x"] * 8 + ["rare"]})
    schema = Schema((Variable("id", role=Role.IDENTIFIER), Variable("c", role=Role.KEY)))
    hidden = 0
    for secret in range(4):
        (table,) = protect_table(
            Microdata.of(people, schema), TableSpec((DimensionSpec("c"),)), rules=[rules.Threshold(3)],
            method=methods.CellKey(), secret=secret, test_secret=True, accept_exposed=True,
        ).published  # fmt: skip
        assert table.undeclared["c"] == {code for (code,) in table.codes} - {"Total"}
        hidden += ("rare",) not in table.codes
    assert hidden
