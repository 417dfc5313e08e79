"""Weighted counts of people with different weights: lists of numbers and weighted counts that fit, and that must add up.

With cell keys a weighted count was published as W·k/n, the true one times the changed by the true number of people. The attacker
knows the rules and the range of weights, writes down every n, k and W for two cells and their total, and keeps what adds up.
Until November 2026 runs were held in which this determined 80 of 208 weighted counts (weights from 5 to 40 with two decimals,
`largest = 2`). Random rounding to a base below weights that are nearly equal was held too, and gave every number of people away.
"""

import numpy as np
import polars as pl
import pytest

from reticent import methods, rules
from reticent.base.errors import NotProtectedError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.tables.methods import TableMethod
from reticent.tables.result import ProtectedTable

SCHEMA = Schema((
    Variable("id", role=Role.IDENTIFIER), Variable("a", role=Role.KEY, codes=("0", "1")),
    Variable("g", role=Role.WEIGHT, kind=Kind.NUMERIC), Variable("key", kind=Kind.NUMERIC),
))  # fmt: skip
CELLS = ("Total", "0", "1")
MOST_PEOPLE = 12


def _protected(seed: int, method: TableMethod, weights: tuple[float, float], decimals: int = 2) -> ProtectedTable:
    """Two cells of one to four people each."""
    rng = np.random.default_rng(seed)
    a = [str(cell) for cell, n in enumerate(rng.integers(1, 5, 2)) for _ in range(n)]
    columns = {"g": np.round(rng.uniform(*weights, len(a)), decimals), "key": rng.random(len(a)).round(8)}
    people = pl.DataFrame({"id": [f"p{at}" for at in range(len(a))], "a": a, **columns})
    return protect_table(
        Microdata.of(people, SCHEMA), TableSpec((DimensionSpec("a"),), weighted=True), rules=[rules.Threshold(3)],
        method=method, secret=seed, test_secret=True, accept_exposed=True,
    )  # fmt: skip


def _behind(shown: float, largest: int, result: ProtectedTable, spread: float) -> np.ndarray:
    """All people, with the least and largest weighted count in units of its last digit, that can be published as shown."""
    unit, found = 10.0**-result.table.decimals, [(0, 0, 0)] if shown == 0 else []
    for people in range(1, MOST_PEOPLE + 1):
        for changed in range(max(0, people - largest), people + largest + 1):
            low, high = people * result.table.least, people * result.table.most
            if (changed == 0) != (shown == 0):
                continue
            if changed:
                low = max(low, (shown - unit / 2) * people / (changed + spread))
                high = min(high, (shown + unit / 2) * people / (changed - spread))
            ends = int(np.ceil(low / unit - 1e-6)), int(np.floor(high / unit + 1e-6))
            if ends[0] <= ends[1]:
                found.append((people, *ends))
    return np.array(found)


def _determined(result: ProtectedTable, largest: int, *, spread: float) -> set[str]:
    """The cells of which all that adds up has one number of people, or one weighted count."""
    (table,) = result.published
    shown = {code: float(table.text(row)) for row, (code,) in enumerate(table.codes)}
    total, one, two = (_behind(shown.get(code, 0.0), largest, result, spread) for code in CELLS)
    # the same people are published alike, so two cells that are not have somebody between them
    one, two = (
        part[part[:, 0] > 0] if shown.get(rest, 0.0) != shown["Total"] else part
        for part, rest in ((one, "1"), (two, "0"))
    )
    first, second = (grid.ravel() for grid in np.meshgrid(np.arange(len(one)), np.arange(len(two)), indexing="ij"))
    sums = one[first] + two[second]
    fits = (
        (sums[:, None, 0] == total[:, 0]) & (sums[:, None, 1] <= total[:, 2]) & (sums[:, None, 2] >= total[:, 1])
    )  # fmt: skip
    pair, whole = np.nonzero(fits)
    left, right, both = one[first[pair]], two[second[pair]], total[whole]
    narrowed = {
        "Total": (both[:, 0], np.maximum(both[:, 1], sums[pair, 1]), np.minimum(both[:, 2], sums[pair, 2])),
        "0": (left[:, 0], np.maximum(left[:, 1], both[:, 1] - right[:, 2]), np.minimum(left[:, 2], both[:, 2] - right[:, 1])),
        "1": (right[:, 0], np.maximum(right[:, 1], both[:, 1] - left[:, 2]), np.minimum(right[:, 2], both[:, 2] - left[:, 1])),
    }  # fmt: skip
    cells = [result.table.cell_codes(cell)[0] for cell in range(result.table.n_cells)]
    counts = dict(zip(cells, result.table.respondents.counts.tolist(), strict=True))
    for code, (people, _, _) in narrowed.items():
        assert counts[code] in people  # the truth is among what fits
    return {code for code, (people, low, high) in narrowed.items() if len(set(people)) == 1 or low.min() == high.max()}


def _exposed(result: ProtectedTable) -> set[str]:
    return {result.table.cell_codes(cell)[0] for cell in result.exposed}


def test_steps_of_stored_keys_determine_weighted_counts_and_are_not_called_judged() -> None:
    method = methods.CellKey(largest=2, variance=1.0, skip=0, record_key="key")
    results = [_protected(seed, method, (5, 40)) for seed in range(8)]
    assert sum(len(_determined(result, 2, spread=0.0) & {"0", "1"}) for result in results) >= 4
    assert {result.state for result in results} <= {"not judged", "not held"}
    with pytest.raises(NotProtectedError, match="few weighted counts have the digits of such a product"):
        results[0].require()


@pytest.mark.parametrize("decimals", [0, 2, 4])
def test_continuous_noise_leaves_several_numbers_and_weighted_counts(decimals: int) -> None:
    for seed in range(5):
        result = _protected(seed, methods.CellKey(largest=2, variance=1.0, skip=0), (5, 40), decimals)
        assert result.state == "held"
        assert not _determined(result, 2, spread=0.5)


@pytest.mark.parametrize("weights", [(5, 40), (9.5, 10.5)])
def test_what_a_list_of_candidates_determines_is_exposed(weights: tuple[float, float]) -> None:
    found = 0
    for seed in (30, 34, 37, 40):
        result = _protected(seed, methods.CellKey(largest=1, variance=0.5, skip=0), weights)
        known = _determined(result, 1, spread=0.5)
        assert known == _exposed(result)
        found += len(known)
    assert found


def test_a_base_below_weights_that_differ_little_hides_nothing() -> None:
    """Between 9.5 and 10.5 each, n people weigh so much that a multiple of 5 is enough to count a few of them."""
    result = _protected(1, methods.RandomRounding(base=5.0), (9.5, 10.5))
    (table,) = result.published
    counts = result.table.respondents.counts
    assert [round(value / 10) for value in table.values] == counts.tolist()
    assert _exposed(result) == set(CELLS)
    assert _protected(1, methods.RandomRounding(base=50.0), (9.5, 10.5)).state == "held"
