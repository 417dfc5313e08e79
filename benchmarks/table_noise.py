# SPDX-License-Identifier: Apache-2.0
"""Noise for tables: noise of many cells, additivity of a hypercube, and a census-like hypercube from records to the attack.

`python -m benchmarks.table_noise` prints processor seconds of each, compile time excluded.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.data.table import DimensionSpec, Table, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.tables.methods import CellKey, InvariantNoise
from reticent.tables.perturb.additivity import restore_additivity
from reticent.tables.perturb.cell_key import perturb_counts
from reticent.tables.perturb.ptable_design import Design, design_ptable
from reticent.tables.rules import Threshold
from reticent.tabulation.equations import relations_of
from reticent.tabulation.tabulate import tabulate


def records(n: int, sizes: tuple[int, ...], *, power: float = 0.6, seed: int = 1) -> Microdata:
    """Records of skewed, independent codes."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    for at, size in enumerate(sizes):
        weights = (np.arange(size) + 1.0) ** -power
        columns[f"v{at}"] = rng.choice(size, n, p=weights / weights.sum()).astype(str)
    variables = tuple(
        Variable(name, role=Role.KEY, codes=tuple(str(code) for code in range(size)))
        for name, size in zip(columns, sizes, strict=True)
    )
    return Microdata.of(pl.DataFrame(columns), Schema(variables))


def spec(sizes: tuple[int, ...]) -> TableSpec:
    """The table over all variables."""
    return TableSpec(tuple(DimensionSpec(f"v{at}") for at in range(len(sizes))))


def timed(words: str, work: Callable[[], Any]) -> Any:
    """Run, and print processor and wall-clock seconds."""
    start, wall = time.process_time(), time.perf_counter()
    result = work()
    sys.stdout.write(f"{words}: {time.process_time() - start:.2f} s of processor, {time.perf_counter() - wall:.2f} s\n")
    sys.stdout.flush()
    return result


def noise_of_cells(n: int = 10_000_000) -> None:
    """Noise of ten million counts."""
    rng = np.random.default_rng(1)
    counts, keys, table = rng.geometric(0.2, n) - 1, rng.random(n), design_ptable(Design(5, 3.0, 2))
    perturb_counts(counts[:10], keys[:10], table)
    timed(f"noise of {n} counts", lambda: perturb_counts(counts, keys, table))


def hypercube(n: int = 340_000, sizes: tuple[int, ...] = (165, 20, 25)) -> Table:
    """A table of about 77,500 cells, a third of them 1 or 2."""
    return tabulate(records(n, sizes), spec(sizes))


def additivity(largest: int = 5) -> None:
    """Additivity after noise with changes of at most D, no 1 and 2."""
    table = hypercube()
    relations, counts = relations_of(table), table.values.astype(np.int64)
    keys = np.random.default_rng(3).random(len(counts))
    noisy = perturb_counts(counts, keys, design_ptable(Design(largest, 2.0, 2, 0.3))).values
    small = hypercube(2_000, (8, 5, 4))
    restore_additivity(small.values, relations_of(small), way="kernel")
    found = timed(
        f"additivity of {len(counts)} cells, D = {largest}",
        lambda: restore_additivity(noisy, relations, skip=2, empty=counts == 0, way="kernel"),
    )
    before, after = np.abs(noisy - counts), np.abs(found.values - counts)
    sys.stdout.write(
        f"  mean deviation from the truth {before.mean():.3f} -> {after.mean():.3f}, largest {before.max():.0f} -> "
        f"{after.max():.0f}; change by additivity mean {found.mean:.3f}, largest {found.largest:.0f}; new small counts "
        f"{found.small}; largest residual {np.abs(relations.residuals(found.values)).max():.0f}\n"
    )


def census(n: int = 1_000_000, sizes: tuple[int, ...] = (150, 100, 50, 20)) -> None:
    """A hypercube in four dimensions, two million cells with somebody in them, from records to the attack, added up."""
    data = timed(f"{n} records", lambda: records(n, sizes, power=0.2))
    small = records(3_000, (6, 5, 4, 3))
    for method in (CellKey(variance=2.0, stay=0.3, add_up="kernel"), InvariantNoise(add_up="kernel")):
        options: dict[str, Any] = {"rules": [Threshold(minimum=3)], "accept_exposed": True, "secret": as_secret(1)}
        protect_table(small, spec((6, 5, 4, 3)), method=method, test_secret=True, **options)
        found = timed(
            f"{method.name}, added up and attacked",
            lambda method=method, options=options: protect_table(
                data, spec(sizes), method=method, test_secret=True, **options
            ),
        )
        facts = {name: fact for name, fact in found.outcome.facts.items() if name != "utility"}
        sys.stdout.write(f"  {found.table.n_cells} cells; {facts}\n")
        sys.stdout.writelines(f"  {note}\n" for note in found.notes)


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["noise", "additivity", "census"]
    for name in wanted:
        {"noise": noise_of_cells, "additivity": additivity, "census": census}[name]()
