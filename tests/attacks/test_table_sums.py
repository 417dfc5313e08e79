"""What hidden cells add up to follows from the published file; a holding with two of them to itself is published.

The attack reads CSV text only. It succeeds on what version 0.1.0 wrote (fixtures/v010/table_sums, made by
`python table_sum_cases.py` with that version) and fails on what is written today.
"""

import csv
import io
import tempfile
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from attacks.table_sum_cases import COLUMNS, ROWS, cases, family, firms, publish, publish_firms

FIXTURES = Path(__file__).parent / "fixtures" / "v010" / "table_sums"
Cell = tuple[str, str]


class File:
    """A published file of rows and columns with their totals, and what it says about sums of hidden cells."""

    def __init__(self, text: str) -> None:
        lines = list(csv.reader(io.StringIO(text)))[1:]
        shown = {(r, c): 0.0 if status == "empty" else float(v) for r, c, v, status in lines if status != "hidden"}
        self.hidden = [(r, c) for r, c, _, status in lines if status == "hidden"]
        rows = list(dict.fromkeys(r for r, _, _, _ in lines if r != "Total"))
        columns = list(dict.fromkeys(c for _, c, _, _ in lines if c != "Total"))
        sums = [[((r, "Total"), -1.0), *(((r, c), 1.0) for c in columns)] for r in ("Total", *rows)]
        sums += [[(("Total", c), -1.0), *(((r, c), 1.0) for r in rows)] for c in ("Total", *columns)]
        self.place = {cell: at for at, cell in enumerate(self.hidden)}
        self.matrix, self.right = np.zeros((len(sums), len(self.hidden))), np.zeros(len(sums))
        for at, line in enumerate(sums):
            for cell, factor in line:
                if cell in self.place:
                    self.matrix[at, self.place[cell]] += factor
                else:
                    self.right[at] -= factor * shown[cell]

    def ends(self, cells: list[Cell]) -> tuple[float, float]:
        """The least and the largest sum of some hidden cells."""
        goal = np.zeros(len(self.hidden))
        goal[[self.place[cell] for cell in cells]] = 1.0
        found = [linprog(sign * goal, A_eq=self.matrix, b_eq=self.right, bounds=(0, None)) for sign in (1, -1)]
        return found[0].fun, np.inf if found[1].status == 3 else -found[1].fun

    def known(self, cells: list[Cell]) -> float | None:
        """What some hidden cells add up to, if the file says so."""
        low, high = self.ends(cells)
        return low if high - low < 1e-6 else None


@pytest.mark.parametrize("case", cases())
def test_the_sum_of_two_cells_was_known_and_is_not(case: str, tmp_path: Path) -> None:
    pair = [("a", "1"), ("a", "2")]
    truth = sum(size for row, column, _, size in firms(case) if (row, column) in pair)
    assert File((FIXTURES / f"{case}.csv").read_text()).known(pair) == pytest.approx(truth)
    today = File(publish(case, tmp_path))
    assert today.known(pair) is None
    assert all(today.known([cell]) is None for cell in pair)


def small_sets(records: list[tuple[str, str, str, int]], hidden: list[Cell]) -> list[list[Cell]]:
    """Sets of two or three hidden inner cells with fewer than three firms in all."""
    inner = [cell for cell in hidden if "Total" not in cell]
    who = {cell: {firm for row, column, firm, _ in records if (row, column) == cell} for cell in inner}
    pairs = [[a, b] for n, a in enumerate(inner) for b in inner[n + 1 :]]
    threes = [[*pair, c] for pair in pairs for c in inner[inner.index(pair[1]) + 1 :]]
    return [cells for cells in pairs + threes if 0 < len(set().union(*(who[cell] for cell in cells))) < 3]


@pytest.mark.parametrize("number", range(12))
def test_no_small_sum_of_a_generated_table_is_known(number: int) -> None:
    records = family(number)
    with tempfile.TemporaryDirectory() as folder:
        text = publish_firms(records, Path(folder))
    assert text
    file = File(text)
    assert [cells for cells in small_sets(records, file.hidden) if file.known(cells) is not None] == []
    assert set(ROWS) | set(COLUMNS) >= {code for cell in file.hidden for code in cell} - {"Total"}
