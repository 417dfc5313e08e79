"""Counts beside sums by other variables: `python -m attacks.presence_families 60` (and a family).

Cells of a sum that are not empty have somebody in them, so that a count is at least the number of such cells within it. Families:
`finer` (counts by a, turnover by a × b), `crossed` (counts by a and by b, turnover by a × b), `levels` (counts by the regions of
a, turnover by its districts × b), `variables` (the same, regions are a variable of their own). The attacker has
the published tables and solves two integer programs for each unsafe count.
"""

import itertools
import sys
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from reticent.base.errors import InfeasibleError
from reticent.data.microdata import Microdata
from reticent.data.published_table import COUNT, EMPTY, HIDDEN, PUBLISHED, PublishedTable
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.tables.rules import Threshold

MINIMUM = 3
FAMILIES: Mapping[str, Sequence[tuple[tuple[str, ...], str | None]]] = {
    "finer": [(("a",), None), (("a", "b"), "t")],
    "crossed": [(("a",), None), (("b",), None), (("a", "b"), "t")],
    "levels": [(("region",), None), (("a", "b"), "t")],
    "variables": [(("r",), None), (("a", "b"), "t")],
}
CODES = {"a": ("11", "12", "21"), "b": ("b0", "b1", "b2")}
INNER = list(itertools.product(*CODES.values()))
Worlds = tuple[list[NDArray[np.float64]], list[float], list[float]]


def drawn(rng: np.random.Generator) -> pl.DataFrame:
    """Up to two people in each of nine cells."""
    rows = [(a, b, int(rng.integers(10, 100))) for a, b in INNER for _ in range(int(rng.integers(0, 3)))]
    return pl.DataFrame(rows or [("11", "b0", 50)], schema=["a", "b", "t"], orient="row")


def published(family: str, frame: pl.DataFrame) -> list[tuple[tuple[str, ...], PublishedTable]]:
    """The tables of a family, each with its variables."""
    keys = (Variable(name, role=Role.KEY, codes=codes) for name, codes in CODES.items())
    more = Variable("r", role=Role.KEY, codes=("1", "2")), Variable("t", kind=Kind.NUMERIC)
    data = Microdata.of(frame.with_columns(r=pl.col("a").str.slice(0, 1)), Schema((*keys, *more)))
    regions = {"region": DimensionSpec("a", digits=(1, 1), level=1), "b": DimensionSpec("b"), "r": DimensionSpec("r")}
    regions["a"] = DimensionSpec("a", digits=(1, 1)) if family == "levels" else DimensionSpec("a")
    specs = [TableSpec(tuple(regions[n] for n in names), response=of) for names, of in FAMILIES[family]]
    done = protect_table(data, specs, rules=[Threshold(MINIMUM, protection=20)])
    return [(names, table) for (names, _), table in zip(FAMILIES[family], done.published, strict=True)]


def within(names: Sequence[str], codes: Sequence[str]) -> NDArray[np.float64]:
    """Which of the nine cells a cell of a table contains."""
    given = {
        "a" if name in ("region", "r") else name: code
        for name, code in zip(names, codes, strict=True)
        if code != "Total"
    }
    return np.array([a.startswith(given.get("a", "")) and given.get("b", b) == b for a, b in INNER], dtype=float)


def worlds(tables: Sequence[tuple[tuple[str, ...], PublishedTable]]) -> Worlds:
    """What the tables say of how many people are in the nine cells."""
    rows, low, high = [], [], []
    for names, table in tables:
        for codes, state, value in zip(table.codes, table.status, table.values.tolist(), strict=True):
            counted = table.kind == COUNT and state == PUBLISHED
            rows.append(within(names, codes))
            low.append(0.0 if state == EMPTY else value if counted else 1.0)
            high.append(0.0 if state == EMPTY else value if counted else 9_000.0)
    return rows, low, high


def ends(known: Worlds, wanted: NDArray[np.float64]) -> tuple[float, float]:
    """The least and the largest number of people in a cell."""
    found = []
    for side in (1.0, -1.0):
        rows = LinearConstraint(np.array(known[0]), known[1], known[2])
        one = milp(
            side * wanted, constraints=rows, bounds=Bounds(0, 1_000), integrality=np.ones(len(INNER), dtype=np.int64)
        )
        assert one.fun is not None
        found.append(round(side * one.fun))
    return found[0], found[1]


def attacked(family: str, frame: pl.DataFrame) -> Counter[str]:
    """Hidden unsafe counts, and those that are known exactly or to be below the minimum."""
    tables = published(family, frame)
    known, found = worlds(tables), Counter[str](unsafe=0, exactly=0, below=0)
    people = np.array([frame.filter((pl.col("a") == a) & (pl.col("b") == b)).height for a, b in INNER])
    for names, table in tables:
        for codes, state in zip(table.codes, table.status, strict=True):
            wanted = within(names, codes)
            if table.kind == COUNT and state == HIDDEN and wanted @ people < MINIMUM:
                low, high = ends(known, wanted)
                found.update(unsafe=1, exactly=low == high, below=high < MINIMUM)
    return found


def rates(family: str, tables: int) -> Counter[str]:
    """Tables refused, written and broken, and what is found in them."""
    found: Counter[str] = Counter(refused=0, written=0, broken=0)
    for number in range(tables):
        try:
            one = attacked(family, drawn(np.random.default_rng([number, 41])))
        except InfeasibleError:
            found["refused"] += 1
            continue
        found.update(one)
        found.update(written=1, broken=one["exactly"] + one["below"] > 0)
    return found


if __name__ == "__main__":
    for name in sys.argv[2:] or FAMILIES:
        sys.stdout.write(f"{name}: {dict(rates(name, int(sys.argv[1])))}\n")
        sys.stdout.flush()
