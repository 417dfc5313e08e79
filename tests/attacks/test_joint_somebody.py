"""Attacks on hidden counts by sums of another table that cannot be 0: rounded ones, and ones with negative values.

A table hides how many firms two industries have. A table of sums by industry and size has no rules; each of its cells that
cannot be 0 has somebody. What is possible is enumerated here from the two published tables alone.
"""

import math
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import reticent as rt
from reticent import methods, rules
from reticent.base.errors import NotProtectedError
from samples import numbers

SECRET, BASE, SHARE = 4711, 10, 0.8
SCHEMA = rt.Schema((
    rt.Variable("id", role=rt.Role.IDENTIFIER), rt.Variable("ind", codes=("A", "B", "C")),
    rt.Variable("size", codes=("x", "y", "z")), rt.Variable("value", role=rt.Role.SENSITIVE, kind=rt.Kind.NUMERIC),
))  # fmt: skip
Table = Any
Cells = dict[tuple[str, ...], tuple[float, str]]


def firms(rng: random.Random, *, negative: bool) -> pl.DataFrame:
    """Four to six firms in A and in B, many in C, where a sum is below 0 if so wished."""
    rows = [(ind, rng.choice("xyz")) for ind in "AB" for _ in range(rng.randint(4, 6))] + [("C", "x"), ("C", "y")] * 9
    values = [rng.randint(50, 400) for _ in rows]
    values[-1] -= 20_000 if negative else 0
    (ind, size), ids = zip(*rows), [f"f{at}" for at in range(len(rows))]
    return pl.DataFrame({"id": ids, "ind": ind, "size": size, "value": values})


def released(folder: Path, frame: pl.DataFrame, by: tuple[str, ...], method: Any) -> tuple[Cells, Cells | None]:
    """The table of counts, and the table of sums if it is released too."""
    data, ledger = rt.load(frame, schema=SCHEMA), rt.open_ledger(folder / "ledger", secret=SECRET, test_secret=True)
    counts = data.tabulate("ind").protect(rules=[rules.Threshold(7, protection=SHARE * 100)])
    first = counts.release(ledger=ledger, name="counts")
    sums = data.tabulate(*by, response="value").protect(rules=[], method=method, secret=SECRET, test_secret=True)
    try:
        return cells(first), cells(sums.release(ledger=ledger, name="sums"))
    except NotProtectedError:
        return cells(first), None


def cells(table: Table) -> Cells:
    return {codes: (value, status) for codes, value, status in zip(table.codes, table.values, table.status)}


def exposed(counts: Cells, sums: Cells, true: dict[str, int], reach: int) -> list[str]:
    """The industries whose required interval is not possible any more."""
    both = int(counts[("Total",)][0] - counts[("C",)][0])
    least = {
        ind: max(1, sum(abs(value) >= reach and status == "published" for (own, size), (value, status) in sums.items()
                        if own == ind and size != "Total")) for ind in "AB"
    }  # fmt: skip
    worlds = [(a, both - a) for a in range(both + 1) if a >= least["A"] and both - a >= least["B"]]
    found = []
    for at, ind in enumerate("AB"):
        low, high = math.floor(true[ind] * (1 - SHARE)), math.ceil(true[ind] * (1 + SHARE))
        low, high = max(low, 1), min(high, both - 1)  # what the table of counts itself leaves
        own = [world[at] for world in worlds]
        if min(own) > low or max(own) < high:
            found.append(ind)
    return found


@pytest.mark.parametrize("seed", numbers(2, 15))
@pytest.mark.parametrize("kind", ["rounded", "negative"])
def test_sums_that_cannot_be_zero_count_somebody(tmp_path: Path, kind: str, seed: int) -> None:
    """Of 30 ledgers, 30 excluded an end that must stay possible."""
    frame = firms(random.Random(seed), negative=kind == "negative")
    method = methods.Round(base=BASE) if kind == "rounded" else methods.PrimaryOnly()
    counts, sums = released(tmp_path, frame, ("ind", "size"), method)
    true = {ind: frame.filter(pl.col("ind") == ind).height for ind in "AB"}
    assert sums is None or exposed(counts, sums, true, BASE if kind == "rounded" else 1) == []


@pytest.mark.parametrize("kind", ["rounded", "negative"])
def test_sums_by_size_alone_are_released(tmp_path: Path, kind: str) -> None:
    """Many firms of C are in each size, so that these sums show nobody of A or B."""
    frame = firms(random.Random(1), negative=kind == "negative").with_columns(size=pl.lit("x"))
    method = methods.Round(base=BASE) if kind == "rounded" else methods.PrimaryOnly()
    assert released(tmp_path, frame, ("size",), method)[1] is not None
