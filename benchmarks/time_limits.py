# SPDX-License-Identifier: Apache-2.0
"""Time limits of suppression, the audit included: 60 generated tables × 6 methods × limits of 1, 5 and 20 seconds.

    python -m benchmarks.time_limits --tables 60-62 --limits 60       (three tables of about 10,000 cells)
    python -m benchmarks.time_limits [--limits 1,5,20] [--tables 0-59] [--methods heuristic,optimal] [--wall] [--out runs.jsonl]

Each run is `protect_table` from records to the judged result, so that making the tables, the search, whole-number attacks,
attacks from inside and the last audit are all within what is measured. The clock is processor time of the process (put in
place of the machine's, see `reticent.base.clock`): what else runs on the machine has no part in it; with `--wall` it is the
machine's own, as for those who wait, on a core that nothing else uses (`nice -n -20 taskset -c 1`). A run keeps its limit
if it ends within a tenth of it or 2 seconds, whichever is more; it ends with a pattern without exposed cells, or with a
refusal. Runs that are in `--out` already are not repeated.
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.harness import ProcessorClock
from reticent.base import clock
from reticent.base.errors import InfeasibleError, NotProtectedError, ParameterError, ReticentError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.tables.request import Attacker
from reticent.tables.rules import PPercent, Threshold
from reticent.tables.suppression import SUPPRESSION_METHODS

LIMITS = (1.0, 5.0, 20.0)
TABLES = 60

# for each dimension how many codes stand below each code of the level above, and how many records there are
SHAPES: tuple[tuple[tuple[tuple[int, ...], ...], int], ...] = (
    (((4,), (5,)), 60),
    (((3, 3), (6,)), 200),
    (((9, 4), (8,)), 1_000),
    (((9, 6), (9, 4)), 6_000),
    (((3,), (4,), (5,)), 400),
    (((3, 3), (4,), (5,)), 1_200),
    (((4, 4), (3, 3), (4,)), 3_000),
    (((6, 5), (4, 3), (6,)), 8_000),
    (((5, 5), (5, 4), (4, 3)), 20_000),
    (((3,), (3,), (3,), (4,)), 1_500),
    (((3, 3), (3, 2), (4,), (3,)), 8_000),
    (((2,), (3,), (2,), (3,), (2,), (3,)), 3_000),
)
# about 10,000 cells with many relations: tables 60 to 62, for a limit of 60 seconds
LARGE: tuple[tuple[str, tuple[tuple[int, ...], ...], int], ...] = (
    ("sum", ((4,), (4,), (4,), (4,), (3,), (3,)), 30_000),
    ("count", ((4,), (4,), (4,), (4,), (3,), (3,)), 30_000),
    ("inside", ((5, 4), (6, 3), (6, 2)), 20_000),
)
KINDS = ("sum", "count", "inside", "linked", "coalition")


@dataclass(frozen=True)
class Case:
    """One generated table: records, specs and what is asked."""

    number: int
    words: str
    data: Microdata
    specs: tuple[TableSpec, ...]
    wishes: dict[str, Any]


def case(number: int) -> Case:
    """The table of a number; the same wherever it is made."""
    if number >= TABLES:
        kind, shape, records = LARGE[number - TABLES]
        words = f"large {kind}"
    else:
        kind = KINDS[number // len(SHAPES) % len(KINDS)]
        shape, records = SHAPES[number % len(SHAPES)]
        words = f"{kind} {number % len(SHAPES)}"
    return made(number, words, kind, shape, records)


def made(number: int, words: str, kind: str, shape: tuple[tuple[int, ...], ...], records: int) -> Case:
    """A table of a kind and a shape; the number is the seed."""
    rng = np.random.default_rng([17, number])
    names = [f"d{at}" for at in range(len(shape))]
    columns: dict[str, Any] = {name: _codes(levels, records, rng) for name, levels in zip(names, shape, strict=True)}
    columns["value"] = np.round(rng.lognormal(4.0, 1.3, records), 0)
    columns["firm"] = [f"f{who}" for who in rng.integers(0, max(2, records * 4 // 5), records)]
    variables = [*(Variable(name, role=Role.KEY) for name in names), Variable("value", kind=Kind.NUMERIC)]
    schema = Schema((*variables, Variable("firm", role=Role.ENTITY)))
    dimensions = tuple(
        DimensionSpec(name, digits=(1,) * len(levels)) if len(levels) > 1 else DimensionSpec(name)
        for name, levels in zip(names, shape, strict=True)
    )
    counted = kind == "count"
    response = None if counted else "value"
    specs = (TableSpec(dimensions, response=response),)
    if kind == "linked":
        specs = tuple(TableSpec((*dimensions[:at], *dimensions[at + 1 :]), response=response) for at in (0, 1))
    rules = [Threshold(minimum=3, protection=20)] if counted else [PPercent(p=15), Threshold(minimum=3)]
    wishes: dict[str, Any] = {"rules": rules}
    if kind == "inside":
        wishes["attacker"] = Attacker(insiders="protect")
    if kind == "coalition":
        wishes["attacker"] = Attacker(coalition=2)
    return Case(number, words, Microdata.of(pl.DataFrame(columns), schema), specs, wishes)


def _codes(levels: tuple[int, ...], records: int, rng: np.random.Generator) -> list[str]:
    """Codes of one digit per level, the first ones of each level the most frequent."""
    drawn = []
    for size in levels:
        weights = 1.0 / np.arange(1, size + 1) ** 0.8
        drawn.append(rng.choice(size, records, p=weights / weights.sum()))
    return ["".join(str(int(one[at])) for one in drawn) for at in range(records)]


def run(one: Case, method: str, limit: float, watch: clock.Clock) -> dict[str, Any]:
    """One run: how long it took by its clock and of the processor, how it ended, and what it cost."""
    how = {kind.name: kind for kind in SUPPRESSION_METHODS}[method]()
    started, processor = watch.peek(), time.process_time()
    row: dict[str, Any] = {"table": one.number, "what": one.words, "method": method, "limit": limit}
    with clock.using(watch):
        try:
            found = protect_table(one.data, list(one.specs), method=how, time_limit=limit, **one.wishes)
        except NotProtectedError as err:
            row |= {"end": "refused", "said": str(err)[:160]}
        except (InfeasibleError, ParameterError) as err:
            row |= {"end": type(err).__name__, "said": str(err)[:160]}
        except ReticentError as err:
            row |= {"end": f"error {type(err).__name__}", "said": str(err)[:160]}
        else:
            row |= {
                "end": "pattern", "cells": found.problem.n_cells, "cost": found.outcome.cost,
                "bound": found.outcome.bound, "exposed": len(found.exposed),
                "inside": found.inside.state,
            }  # fmt: skip
    row["seconds"] = round(watch.peek() - started, 3)
    row["processor"] = round(time.process_time() - processor, 3)
    row["kept"] = row["seconds"] <= limit + max(0.1 * limit, 2.0)
    return row


def numbers_in(text: str) -> Iterator[int]:
    """The numbers of a text such as 0-9,12."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def main() -> None:
    """Run what is asked for, a line per run, and sum up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limits", default=",".join(f"{limit:g}" for limit in LIMITS))
    parser.add_argument("--tables", default=f"0-{TABLES - 1}")
    parser.add_argument("--methods", default=",".join(kind.name for kind in SUPPRESSION_METHODS))
    parser.add_argument("--wall", action="store_true")
    parser.add_argument("--out", type=Path, default=None)
    asked = parser.parse_args()
    rows = [json.loads(line) for line in asked.out.read_text().splitlines()] if asked.out and asked.out.exists() else []
    done = {(row["table"], row["method"], row["limit"]) for row in rows}
    watch: clock.Clock = clock.MachineClock() if asked.wall else ProcessorClock()
    for number in (0, 12):
        run(case(number), "heuristic", 20.0, watch)  # kernels compile here
    for number in numbers_in(asked.tables):
        one = case(number)
        for method in asked.methods.split(","):
            for limit in (float(text) for text in asked.limits.split(",")):
                if (number, method, limit) in done:
                    continue
                row = run(one, method, limit, watch)
                rows.append(row)
                print(json.dumps(row), flush=True)
                if asked.out:
                    with asked.out.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")
    print(summary(rows))


def summary(rows: list[dict[str, Any]]) -> str:
    """How many runs kept their limit, how they ended, and the worst overrun."""
    ends: dict[str, int] = {}
    for row in rows:
        ends[row["end"]] = ends.get(row["end"], 0) + 1
    over = max((row["seconds"] - row["limit"] for row in rows), default=0.0)
    exposed = sum(row.get("exposed", 0) for row in rows)
    kept = sum(row["kept"] for row in rows)
    return f"{kept} of {len(rows)} kept their limit, at most {over:.2f} s over it; {exposed} cells exposed; {ends}"


if __name__ == "__main__":
    main()
