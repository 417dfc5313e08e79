"""Rates for finished tables of what every firm has one or more of: their cells are counts as well, and none that is hidden is 0.

PYTHONPATH=src:tests python -m attacks.plant_families 100

The attacker reads the CSV file only, and knows that a cell with somebody in it has a plant.
"""

import csv
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np

from attacks.file_reader import Knowledge, attack_files
from reticent.base.errors import ReticentError
from reticent.jobs.protect_table import run_table_plan
from reticent.tables import inputs

TOTAL = "Total"
PLAN = """
[data]
path = "cells.csv"
[table]
dimensions = ["a", "b"]
response = "plants"
finished = { value = "plants", count = "firms" }
rules = [{ rule = "threshold", minimum = 3, protection = 20 }]
[protect]
method = "heuristic"
search_steps = 4000
[output]
path = "out.csv"
"""


def cells(rng: np.random.Generator) -> dict[tuple[str, str], tuple[int, int]]:
    """Plants and firms of each cell of 3 × 3 with totals: most firms have one plant."""
    firms = rng.choice([0, 0, 1, 1, 2, 3, 6], (3, 3))
    plants = firms + rng.binomial(firms, 0.2)
    found = {}
    for a, rows in zip([*"pqr", TOTAL], [[0], [1], [2], [0, 1, 2]], strict=True):
        for b, columns in zip([*"xyz", TOTAL], [[0], [1], [2], [0, 1, 2]], strict=True):
            part = np.ix_(rows, columns)
            found[a, b] = int(plants[part].sum()), int(firms[part].sum())
    return found


def attacked(
    table: dict[tuple[str, str], tuple[int, int]], folder: Path, *, known: bool
) -> tuple[int, int, int] | None:
    """Unsafe cells, those known exactly, and the cells that are hidden; None if the plan is refused."""
    with (folder / "cells.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("a", "b", "plants", "firms"))
        writer.writerows((*codes, *numbers) for codes, numbers in table.items())
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    try:
        if known:
            run_table_plan(folder / "plan.toml")
        else:
            with patch.object(inputs, "_may_count", return_value=False):
                run_table_plan(folder / "plan.toml")
    except ReticentError:
        return None
    knowledge = Knowledge(counts=frozenset(("plants",)), least={"plants": 1.0})
    release, attack = attack_files([("plants", folder / "out.csv")], {}, knowledge)
    unsafe = exactly = 0
    for codes, (_, firms) in table.items():
        if 0 < firms < 3:
            cell = "plants", frozenset((n, c) for n, c in zip("ab", codes, strict=True) if c != TOTAL)
            low, high = attack.ends(cell)
            unsafe, exactly = unsafe + 1, exactly + (high - low < 0.5)
    return unsafe, exactly, sum(shown.status == "hidden" for shown in release.cells.values())


def rates(tables: int, *, known: bool) -> tuple[int, int, int, int, int]:
    """Tables that give something away and that are refused, and the sums over the others."""
    rng = np.random.default_rng(3)
    found, refused, given = np.zeros(3, dtype=int), 0, 0
    for _ in range(tables):
        with tempfile.TemporaryDirectory() as name:
            one = attacked(cells(rng), Path(name), known=known)
        if one is None:
            refused += 1
            continue
        given += one[1] > 0
        found += one
    return given, refused, int(found[0]), int(found[1]), int(found[2])


if __name__ == "__main__":
    for known in (False, True):
        given, refused, unsafe, exactly, hidden = rates(int(sys.argv[1]), known=known)
        sys.stdout.write(
            f"{'now' if known else 'before'}: {given} tables give something away, {refused} refused; {exactly} of {unsafe} "
            f"unsafe cells known exactly; {hidden} cells hidden\n"
        )
