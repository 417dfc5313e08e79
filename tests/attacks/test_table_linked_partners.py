"""Two persons who share a cell of linked counts with nobody else know it, also where codes of the tables lie within each other.

Before, persons without names were partners in a single system of cells only; where codes of linked tables narrowed each
other, a coalition of two found another unsafe count exactly in 8 of 40 generated plans.
"""

import itertools
import sys

import numpy as np
import polars as pl
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import reticent as rt
from reticent import rules

CODES = {"a": 4, "b": 3, "s": 3}
DIMENSIONS = (("a", "s"), ("b", "s"))
WHOLE = 1e-5


def people(number: int) -> dict[str, list[str]]:
    """Codes of a few persons: nearly each code of a lies within one code of b."""
    rng = np.random.default_rng([9, number])
    n = int(rng.integers(12, 40))
    a, s = rng.integers(0, CODES["a"], n), rng.integers(0, CODES["s"], n)
    b = np.minimum((a + (rng.random(n) < 0.15)) // 2, CODES["b"] - 1)
    return {name: [f"{name}{code}" for code in codes] for name, codes in zip("abs", (a, b, s), strict=True)}


def published(columns: dict[str, list[str]]) -> list[list[dict[str, object]]]:
    """The rows of both tables, kept from any two persons."""
    schema = rt.Schema(
        [rt.Variable(name, role="key", codes=tuple(f"{name}{i}" for i in range(n))) for name, n in CODES.items()]
    )
    data = rt.load(pl.DataFrame(columns), schema=schema)
    first, second = (data.tabulate(*names) for names in DIMENSIONS)
    run = first.linked(second).protect(rules=[rules.Threshold(3)], coalition=2, time_limit=60)
    return [table.rows() for table in run.release_all()]


class Reader:
    """Counts of the combinations that anybody has, as far as both tables tell."""

    def __init__(self, columns: dict[str, list[str]], tables: list[list[dict[str, object]]]) -> None:
        there = set(zip(columns["a"], columns["b"], strict=True))
        sizes = sorted(f"s{i}" for i in range(CODES["s"]))
        self.atoms = [(*pair, size) for pair in sorted(there) for size in sizes]
        self.high = np.full(len(self.atoms), 1e4)
        self.rows: list[tuple[np.ndarray, float, float]] = []
        self.hidden: list[tuple[np.ndarray, frozenset[int]]] = []
        for names, rows in zip(DIMENSIONS, tables, strict=True):
            for row in rows:
                self._read(names, row, columns)

    def _read(self, names: tuple[str, ...], row: dict[str, object], columns: dict[str, list[str]]) -> None:
        def fits(codes: dict[str, str]) -> bool:
            return all(row[name] in ("Total", codes[name]) for name in names)

        cells = np.array([float(fits(dict(zip("abs", atom, strict=True)))) for atom in self.atoms])
        if row["status"] == "empty":
            self.high[cells > 0] = 0
        elif row["status"] == "published":
            self.rows.append((cells, float(str(row["value"])), float(str(row["value"]))))
        else:
            n = len(columns["a"])
            who = frozenset(i for i in range(n) if fits({name: columns[name][i] for name in "abs"}))
            self.rows.append((cells, 1.0, np.inf))
            self.hidden.append((cells, who))

    def width(self, cells: np.ndarray, known: list[tuple[np.ndarray, float, float]]) -> float:
        """How far the ends of a count are apart for somebody who knows some of the others."""
        matrix, low, high = zip(*self.rows, *known, strict=True)
        rows = LinearConstraint(np.array(matrix), np.array(low) - 1e-7, np.array(high) + 1e-7)
        bounds, whole = Bounds(0, self.high), np.ones(len(self.atoms))
        ends = [milp(sign * cells, constraints=rows, bounds=bounds, integrality=whole).fun for sign in (1, -1)]
        return float(-ends[1] - ends[0])

    def found_by_two(self) -> bool:
        """Whether two persons who know the hidden cells that nobody else is in have another count below three."""
        alone = {next(iter(who)) for _, who in self.hidden if len(who) == 1}
        pairs = {who for _, who in self.hidden if len(who) == 2} | {*map(frozenset, itertools.combinations(alone, 2))}
        for pair in pairs:
            known = [(cells, float(len(who)), float(len(who))) for cells, who in self.hidden if who <= pair]
            others = [cells for cells, who in self.hidden if 0 < len(who) < 3 and not who <= pair]
            if any(self.width(cells, known) < WHOLE for cells in others):
                return True
        return False


@pytest.mark.parametrize("number", [0, 1, 2, 14])
def test_two_persons_find_no_other_count(number: int) -> None:
    columns = people(number)
    assert not Reader(columns, published(columns)).found_by_two()


if __name__ == "__main__":
    made = [people(number) for number in range(40)]
    found = sum(Reader(columns, published(columns)).found_by_two() for columns in made)
    sys.stdout.write(f"{found} of {len(made)}\n")
