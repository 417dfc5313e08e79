"""Weighted counts of people who all have the same weight: what is published is their number, changed, times a known weight.

The attacker divides by the weight and enumerates all true tables. Until November 2026 the attack did not:
25 of 110 runs with `largest = 1` were held and gave a count of 1 or 2 away, and random rounding to a base below the weight hid
nothing.
"""

import numpy as np
import polars as pl
import pytest

from attacks.test_noise_together import CELLS, SCHEMA, WORLDS, determined, different
from reticent import methods, rules
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.tables.methods import TableMethod
from reticent.tables.result import ProtectedTable

WEIGHTED = Schema((*SCHEMA.variables, Variable("g", role=Role.WEIGHT, kind=Kind.NUMERIC)))
SHAPE = TableSpec((DimensionSpec("a"), DimensionSpec("b")), weighted=True)


def _protected(counts: tuple[int, ...], weights: tuple[int, int], method: TableMethod, secret: int) -> ProtectedTable:
    """Counts of four cells, with a weight for each row."""
    places = [divmod(at, 2) for at, n in enumerate(counts) for _ in range(n)]
    columns = {"a": [str(a) for a, _ in places], "b": [str(b) for _, b in places], "g": [weights[a] for a, _ in places]}
    records = pl.DataFrame({"id": [f"p{at}" for at in range(len(places))], **columns})
    return protect_table(
        Microdata.of(records, WEIGHTED), SHAPE, rules=[rules.Threshold(3)], method=method, secret=secret,
        test_secret=True, accept_exposed=True,
    )  # fmt: skip


@pytest.mark.parametrize(("secret", "counts"), [(6, (1, 1, 3, 1)), (9, (1, 4, 1, 1))])
def test_counts_of_one_weight_are_attacked_as_counts(secret: int, counts: tuple[int, ...]) -> None:
    result = _protected(counts, (10, 10), methods.CellKey(largest=1, variance=0.5, skip=0), secret)
    (table,) = result.published
    shown = dict(zip(table.codes, table.values, strict=True))
    divided = np.array([round(shown.get(cell, 0) / 10) for cell in CELLS])
    fits = (
        different(divided) & (np.abs(WORLDS - divided) <= 1).all(axis=1) & ((WORLDS > 0) | (divided == 0)).all(axis=1)
    )
    known = {CELLS[at] for at in determined(fits)}
    assert known
    assert known <= {result.table.cell_codes(cell) for cell in result.exposed}


def test_counts_with_a_weight_for_each_stratum_are_attacked_as_counts() -> None:
    result = _protected((1, 4, 1, 1), (10, 25), methods.CellKey(largest=1, variance=0.5, skip=0), 9)
    assert result.state == "not held"


@pytest.mark.parametrize("base", [3.0, 5.0])
def test_a_base_below_the_weight_hides_nothing(base: float) -> None:
    result = _protected((1, 4, 2, 1), (10, 10), methods.RandomRounding(base=base), 1)
    (table,) = result.published
    assert (10 * np.rint(table.values / 10)).tolist() == [80, 30, 50, 50, 10, 40, 30, 20, 10]
    assert len(result.exposed) == 9


@pytest.mark.parametrize("method", [methods.CellKey(largest=1, variance=0.5, skip=0), methods.RandomRounding(base=3)])
def test_respondents_with_several_records_stay_within_what_is_found(method: TableMethod) -> None:
    """Cells with other records may have the same respondents: values that differ say nothing about their number."""
    schema = WEIGHTED.change("id", role=Role.ENTITY)
    for secret in range(4):
        rng = np.random.default_rng(secret)
        codes = {name: rng.integers(0, 2, 7).astype(str) for name in "ab"}
        records = pl.DataFrame({"id": [f"f{at % 3}" for at in range(7)], **codes, "g": [7] * 7})
        result = protect_table(
            Microdata.of(records, schema), SHAPE, rules=[rules.Threshold(3)], method=method, secret=secret,
            test_secret=True, accept_exposed=True,
        )  # fmt: skip
        true = result.problem.values[result.audit.cells]
        assert ((result.audit.low <= true) & (true <= result.audit.high)).all()
