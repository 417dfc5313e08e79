"""A hidden count has somebody in it: whoever knows that reads hidden counts off the published file.

The attack reads CSV text only. It succeeds on what version 0.1.0 wrote (fixtures/v010/table_counts, made by
`python table_count_cases.py` with that version) and finds nothing exactly in what is written today.
"""

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from attacks.table_count_cases import cases, family, publish, publish_counts

FIXTURES = Path(__file__).parent / "fixtures" / "v010" / "table_counts"
Cell = frozenset[tuple[str, str]]


def intervals(texts: Iterable[str], least: float, *, hides_empty: bool = False) -> dict[Cell, tuple[float, float]]:
    """The ends of every hidden cell, from the text of published files (linked, if there are several)."""
    shown: dict[Cell, float] = {}
    hidden: set[Cell] = set()
    sums: list[tuple[Cell, list[Cell]]] = []
    for text in texts:
        lines = list(csv.reader(io.StringIO(text)))
        names, rows = lines[0][:-2], lines[1:]
        for line in rows:
            if line[-1] == "hidden":
                hidden.add(_cell(names, line))
            else:
                shown[_cell(names, line)] = 0.0 if line[-1] == "empty" else float(line[-2])
        sums += _sums(names, [tuple(line[:-2]) for line in rows])
    cells = sorted(hidden - set(shown), key=sorted)
    place = {cell: at for at, cell in enumerate(cells)}
    matrix, right = np.zeros((len(sums), len(cells))), np.zeros(len(sums))
    for at, (total, parts) in enumerate(sums):
        for cell, factor in [(total, -1.0), *((part, 1.0) for part in parts)]:
            if cell in place:
                matrix[at, place[cell]] += factor
            else:
                right[at] -= factor * shown[cell]
    floor = 0.0 if hides_empty else least
    found = {}
    for cell, at in place.items():
        goal = np.zeros(len(cells))
        goal[at] = 1.0
        ends = [linprog(sign * goal, A_eq=matrix, b_eq=right, bounds=(floor, None)) for sign in (1, -1)]
        assert ends[0].status == 0
        found[cell] = (ends[0].fun, np.inf if ends[1].status == 3 else -ends[1].fun)
    return found


def _cell(names: list[str], codes: Iterable[str]) -> Cell:
    return frozenset((name, code) for name, code in zip(names, codes, strict=False) if code != "Total")


def _sums(names: list[str], rows: list[tuple[str, ...]]) -> list[tuple[Cell, list[Cell]]]:
    """Totals and their parts; codes of two digits add up to their first digit, others to the total."""
    found = []
    for at, name in enumerate(names):
        codes = list(dict.fromkeys(row[at] for row in rows if row[at] != "Total"))
        nested = name == "row" and all(code.isdigit() for code in codes)
        above = {code: code[0] if nested and len(code) == 2 else "Total" for code in codes}
        for row in rows:
            parts = [(*row[:at], code, *row[at + 1 :]) for code in codes if above[code] == row[at]]
            if parts:
                found.append((_cell(names, row), [_cell(names, part) for part in parts]))
    return found


def exact(found: dict[Cell, tuple[float, float]]) -> set[Cell]:
    """Hidden cells that are known."""
    return {cell for cell, (low, high) in found.items() if high - low < 1e-6}


@pytest.mark.parametrize("case", cases())
def test_hidden_counts_were_known_and_are_not(case: str, tmp_path: Path) -> None:
    least = 10.0 if case == "weighted" else 1.0
    before = [path.read_text() for path in sorted(FIXTURES.glob(f"{case}-out*.csv"))]
    assert before
    assert exact(intervals(before, least))
    today = publish(case, tmp_path)
    assert not exact(intervals(today.values(), least))


@pytest.mark.parametrize("case", ["smallest-optimal", "smallest-heuristic", "finished", "groups"])
def test_empty_cells_hidden_like_others(case: str, tmp_path: Path) -> None:
    """With hide_empty the cells beside an unsafe one look all alike, and margins can stay."""
    text = next(iter(publish(case, tmp_path, options="hide_empty = true").values()))
    rows = list(csv.reader(io.StringIO(text)))[1:]
    small = "a" if case != "groups" else "11"
    states = {line[-1] for line in rows if line[0] == small and line[1] != "Total"}
    assert "empty" not in states
    ends = intervals([text], 1.0, hides_empty=True)
    unsafe = [cell for cell in ends if len(cell) == 2 and ("row", small) in cell]
    assert unsafe
    assert not exact(ends)


def test_certificates_start_where_hidden_counts_start(tmp_path: Path) -> None:
    """0.1.0 certified the smallest case with counts that start at 0, and `verify` called it sound."""
    publish("smallest-optimal", tmp_path)
    from reticent.jobs.protect_table import audit_plan, write_certificates
    from reticent.tables.attack.verify import verify

    (unproved,) = write_certificates([audit_plan(tmp_path / "plan.toml")], tmp_path / "proof.json").values()
    proof = json.loads((tmp_path / "proof.json").read_text())
    assert not unproved
    assert verify(proof).sound
    assert proof["least"] == proof["scale"] == 1
    assert all(proof["lower"][cell] >= 1 for cell in proof["hidden"])
    proof["lower"] = [0] * len(proof["lower"])
    assert verify(proof).faults == ("a hidden cell may be lower than everybody knows it to be",)


@pytest.mark.parametrize("numbers", [range(8), pytest.param(range(8, 60), marks=pytest.mark.deep)], ids=str)
def test_small_counts_reach_the_smallest_safe_one(tmp_path: Path, numbers: range) -> None:
    """A generated family: every count under 3 could be 3 for all that is published, and none is refused."""
    for number in numbers:
        counts = family(number)
        folder = tmp_path / str(number)
        folder.mkdir()
        text = publish_counts(counts, folder)
        assert text, number
        if "hidden" not in text:
            continue
        ends = intervals([text], 1.0)
        for row, line in counts.items():
            for at, n in enumerate(line):
                if 0 < n < 3:
                    low, high = ends[frozenset({("row", row), ("col", str(at + 1))})]
                    assert low <= n <= high
                    assert high >= 3 - 1e-6
