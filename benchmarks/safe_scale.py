# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.safe_scale [RECORDS …] [--secrets N] [--first K] [--adult]`: SAFE on generated files and on Adult.

For each secret: the largest deviation over all controlled cells within the processor time of the small and of the large
budget (encoding, recount and report included), whether everything adds up, 1,000 random crossings, memory. A search is a
fixed sequence of steps that a time limit cuts, so what it has after 30 seconds is what a run of 30 seconds gives.
"""

import argparse
import os
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.harness import ProcessorClock
from reticent.base import clock
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.microdata.mask.safe import Safe

NAMES = ("area", "age", "sex", "family", "work", "school", "origin", "home")
ONE = tuple((name,) for name in NAMES)
TWO = (
    ("area", "age"), ("area", "sex"), ("area", "family"), ("area", "work"), ("area", "school"), ("age", "sex"),
    ("age", "family"), ("sex", "family"), ("family", "work"), ("school", "origin"), ("sex", "origin"), ("age", "school"),
)  # fmt: skip
THREE = (
    ("area", "age", "sex"), ("age", "sex", "family"), ("sex", "family", "work"), ("area", "sex", "family"),
    ("work", "school", "sex"), ("school", "origin", "sex"), ("age", "sex", "school"), ("age", "sex", "home"),
    ("family", "work", "school"), ("sex", "origin", "home"), ("area", "sex", "home"),
)  # fmt: skip
TABLES = ONE + TWO + THREE
"""31 controlled tables: 8 of one variable, 12 of two, 11 of three."""
CROSSINGS = 1_000
BUDGETS = {100_000: (10.0, 10.0), 1_000_000: (30.0, 120.0)}
"""Processor seconds of the two results of each size."""
FIRST_STEPS = 36


def generated_codes(n: int, seed: int = 0) -> NDArray[np.int32]:
    """Skewed codes, a tenth of them shifted by area; areas grow with the file: about 90 % of patterns stand 1 or 2 times."""
    rng = np.random.default_rng(seed)
    sizes = (max(2, n // 1_500), 60, 2, 5, 20, 6, 20, 6)
    area = rng.integers(0, sizes[0], n)
    columns = [area]
    for size in sizes[1:]:
        shares = 1 / np.arange(1, size + 1) ** 2.15
        base = rng.choice(size, size=n, p=shares / shares.sum())
        columns.append(np.where(rng.random(n) < 0.1, (base + area % size) % size, base))
    return np.column_stack(columns).astype(np.int32)


def generated_file(n: int, seed: int = 0) -> Microdata:
    """The generated codes as a file of keys."""
    codes = generated_codes(n, seed)
    frame = pl.DataFrame({name: codes[:, at] for at, name in enumerate(NAMES)})
    return Microdata.of(frame, Schema(tuple(Variable(name, role=Role.KEY) for name in NAMES)))


@dataclass
class Trail:
    """What the search had reached when, in processor seconds since the step began."""

    began: float
    seen: list[tuple[float, str]] = field(default_factory=list)

    def __call__(self, share: float, what: str = "") -> None:
        self.seen.append((time.process_time() - self.began, what))

    def largest_at(self, seconds: float) -> int | None:
        """The largest deviation of the best counts at that time."""
        found = [int(what.split()[-1]) for at, what in self.seen if at <= seconds and what.startswith("largest")]
        return found[-1] if found else None


def small_cells(published: Microdata, crossings: int) -> int:
    """Cells of 1 or 2 in random crossings: some variables, codes merged at random, some records filtered out."""
    codes = np.column_stack([published.encoded(name).codes.astype(np.int64) for name in published.schema.names])
    rows, counts = np.unique(codes, axis=0, return_counts=True)
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(crossings):
        chosen = rng.permutation(rows.shape[1])[: int(rng.integers(1, rows.shape[1] + 1))]
        cell = np.zeros(len(rows), dtype=np.int64)
        for at in chosen.tolist():
            n_codes = int(rows[:, at].max()) + 1
            merged = rng.integers(0, n_codes, n_codes) if rng.random() < 0.5 else np.arange(n_codes)
            _, cell = np.unique(cell * n_codes + merged[rows[:, at]], return_inverse=True)
        left_out = rng.integers(0, int(rows[:, 0].max()) + 1)
        totals = np.bincount(cell, weights=counts * (rows[:, 0] != left_out))
        found += int(((totals == 1) | (totals == 2)).sum())
    return found


def run(data: Microdata, tables: Sequence[tuple[str, ...]], budgets: tuple[float, float], secrets: range) -> list[str]:
    """A line for each secret."""
    lines = []
    for number in secrets:
        secret = as_secret(bytes([number]) * 31 + b"s")
        trail = Trail(time.process_time())
        method = Safe(tables=tuple(tables), time_limit=max(budgets) * 0.9)
        with clock.using(ProcessorClock()):
            applied = method.apply(data, secret=secret, progress=trail)
        total = time.process_time() - trail.began
        closing = total - [at for at, what in trail.seen if what.startswith("largest")][-1]
        facts = applied.facts
        reached = [trail.largest_at(budget - closing) for budget in budgets]
        broken = sum(promise.broken(data, applied.data) for promise in method.promises())
        crossed = small_cells(applied.data, CROSSINGS if number == 0 else CROSSINGS // 10)
        others = [row["largest"] for row in facts["tables"] if not row["controlled"]]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        marks = ", ".join(f"{r} in {b:g} s" for r, b in zip(reached, budgets, strict=True))
        lines.append(
            f"secret {number}: largest {marks}; at the end {facts['largest deviation']}, mean {facts['mean deviation']}, "
            f"others up to {max(others)}, {facts['search']['steps']} steps ({facts['search']['ended']}), {total:.1f} s in all "
            f"(recount and report {closing:.1f} s); first {FIRST_STEPS} steps {trail.seen[FIRST_STEPS - 1][0]:.1f} s; records "
            f"{applied.data.n_records} of {data.n_records}, promises broken {broken}, cells of 1 or 2 in crossings {crossed}, "
            f"peak {peak:.2f} GB"
        )
        print(lines[-1], flush=True)
    return lines


def describe(data: Microdata, tables: Sequence[tuple[str, ...]]) -> int:
    """Print what the file is like; returns its patterns."""
    found = data.patterns(data.schema.names)
    cells = sum(len(data.patterns(table)) for table in tables)
    print(
        f"{data.n_records} records, {len(found)} patterns ({(found.counts < 3).mean():.1%} in 1 or 2 records), "
        f"{len(tables)} controlled tables with {cells} cells",
        flush=True,
    )
    return len(found)


def adult() -> Microdata | None:
    """The Adult file (30,162 records) with age in bands of five years, if it is there (`../shared`, or RETICENT_SHARED)."""
    for folder in (os.environ.get("RETICENT_SHARED"), str(Path(__file__).resolve().parents[2] / "shared")):
        path = Path(folder or "nowhere") / "data" / "microdata" / "adult" / "adult.csv"
        if path.is_file():
            frame = pl.read_csv(path, separator=";").with_columns((pl.col("age") // 5 * 5).cast(pl.Int32))
            return Microdata.of(frame, Schema(tuple(Variable(name, role=Role.KEY) for name in frame.columns)))
    return None


def main() -> None:
    """Compile, then run each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", nargs="*", type=int, default=[100_000, 1_000_000])
    parser.add_argument("--secrets", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="number of the first secret")
    parser.add_argument(
        "--adult", action="store_true", help="also Adult, all tables of one and two variables controlled"
    )
    options = parser.parse_args()
    secrets = range(options.first, options.first + options.secrets)
    small = generated_file(4_000)
    Safe(tables=TABLES, steps=60).apply(small, secret=as_secret(b"w" * 32), progress=Trail(0.0))
    for n in options.records:
        data = generated_file(n)
        describe(data, TABLES)
        run(data, TABLES, BUDGETS.get(n, (10.0, 10.0)), secrets)
    real = adult() if options.adult else None
    if real is not None:
        tables = tuple(table for size in (1, 2) for table in combinations(real.schema.names, size))
        describe(real, tables)
        run(real, tables, (10.0, 10.0), secrets)


if __name__ == "__main__":
    main()
