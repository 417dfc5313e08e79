"""`minimum_together`: unsafe cells of one row with fewer respondents in all have no sum that is known.

The reader has the published table and linear algebra; who is in a cell is used to judge only. Rates:
`PYTHONPATH=src:tests python tests/attacks/test_table_together.py 200`.
"""

import itertools
import sys

import numpy as np
import polars as pl
import pytest

from reticent.data.microdata import Microdata
from reticent.data.published_table import PublishedTable
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.tables.methods import TABLE_METHODS
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import Threshold

TOTAL, ENOUGH = "Total", 5
Cell = tuple[str, str]


def known_sums(table: PublishedTable, rows: list[list[Cell]]) -> list[tuple[Cell, ...]]:
    """Sums of two to four of the hidden cells of each row that follow from what is published."""
    place = {codes: at for at, codes in enumerate(table.codes)}
    relations = []
    for at, codes in enumerate(table.codes):
        for axis in range(2):
            if codes[axis] == TOTAL:
                row = np.zeros(len(table))
                row[at] = -1
                row[[n for c, n in place.items() if c[axis] != TOTAL and c[1 - axis] == codes[1 - axis]]] = 1
                relations.append(row)
    hidden = [at for at, state in enumerate(table.status) if state == "hidden"]
    system = np.array(relations)[:, hidden]
    rank = np.linalg.matrix_rank(system)
    found = []
    for small in rows:
        mine = [cell for cell in small if place[cell] in hidden]
        for size in range(2, min(4, len(mine)) + 1):
            for group in itertools.combinations(mine, size):
                wanted = np.isin(hidden, [place[cell] for cell in group]).astype(float)
                if np.linalg.matrix_rank(np.vstack((system, wanted))) == rank:
                    found.append(group)
    return found


def too_few(records: pl.DataFrame, table: PublishedTable) -> list[tuple[Cell, ...]]:
    """Known sums of unsafe cells of one row that have fewer respondents than are asked for, each counted once."""
    who: dict[Cell, set[str]] = {}
    for a, b, firm in records.select("a", "b", "firm").iter_rows():
        for cell in itertools.product((a, TOTAL), (b, TOTAL)):
            who.setdefault(cell, set()).add(firm)
    small = [cell for cell, firms in who.items() if len(firms) < 3]
    rows = [
        [c for c in small if c[axis] == code and c[1 - axis] != TOTAL]
        for axis in range(2)
        for code in {codes[axis] for codes in table.codes}
    ]
    return [group for group in known_sums(table, rows) if len(set().union(*(who[cell] for cell in group))) < ENOUGH]


def protected(records: pl.DataFrame, name: str, *, counts: bool, together: int = ENOUGH) -> ProtectedTable:
    schema = Schema(
        (
            Variable("a", role=Role.KEY),
            Variable("b", role=Role.KEY),
            Variable("firm", role=Role.ENTITY),
            Variable("v", kind=Kind.NUMERIC),
        )
    )
    spec = TableSpec((DimensionSpec("a"), DimensionSpec("b")), response=None if counts else "v")
    method = TABLE_METHODS[name](minimum_together=together)
    rules = [Threshold(3, protection=20)]
    return protect_table(Microdata.of(records, schema), spec, rules=rules, method=method, time_limit=60)


def drawn(seed: int) -> pl.DataFrame:
    """Firms with several plants: some are in two small cells of a row."""
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(2, 5)), int(rng.integers(3, 6))
    sizes = rng.choice([0, 1, 2, 2, 4, 6, 9], shape)
    cells = [(f"r{a}", f"c{b}") for (a, b), size in np.ndenumerate(sizes) for _ in range(size)]
    n = len(cells)
    return pl.DataFrame(
        {
            "a": [a for a, _ in cells],
            "b": [b for _, b in cells],
            "firm": [f"f{rng.integers(0, max(2, int(0.8 * n)))}" for _ in range(n)],
            "v": [int(v) + 1 for v in rng.lognormal(4, 0.7, n)],
        }
    )


@pytest.mark.parametrize(("name", "seed"), [("heuristic", 4), ("optimal", 5), ("modular", 62), ("hypercube", 47)])
@pytest.mark.parametrize("counts", [True, False])
def test_who_is_in_two_cells_counts_once(name: str, seed: int, counts: bool) -> None:
    found = protected(drawn(seed), name, counts=counts)
    assert found.state == "held"
    assert not too_few(drawn(seed), found.published[0])


def crossing() -> pl.DataFrame:
    """Three unsafe cells of a row with six firms; two of them, with four, are what two other relations publish."""
    sizes = {"r0": (2, 2, 2, 40), "r1": (9, 9, 9, 9), "r2": (9, 9, 9, 9), "r3": (9, 9, 9, 9)}
    value = {"r0": (50, 50, 50, 1), "r1": (20, 20, 9000, 9000), "r2": (9000, 9000, 20, 20), "r3": (9000,) * 4}
    rows = [
        (row, f"c{at}", value[row][at]) for row, sized in sizes.items() for at, n in enumerate(sized) for _ in range(n)
    ]
    return pl.DataFrame(
        {
            "a": [row for row, _, _ in rows],
            "b": [column for _, column, _ in rows],
            "firm": [f"f{n}" for n in range(len(rows))],
            "v": [v + n % 7 for n, (_, _, v) in enumerate(rows)],
        }
    )


def test_some_cells_of_a_row_count_as_well_as_all() -> None:
    plain = protected(crossing(), "optimal", counts=False, together=0)
    assert (("r0", "c0"), ("r0", "c1")) in too_few(crossing(), plain.published[0])
    found = protected(crossing(), "optimal", counts=False)
    assert found.state == "held"
    assert not too_few(crossing(), found.published[0])


def rates(tables: int) -> tuple[int, int]:
    """Generated tables that are held, by four methods in turn, and how many of them have a known sum of too few."""
    held = known = 0
    for seed in range(tables):
        name = ("heuristic", "optimal", "modular", "hypercube")[seed % 4]
        found = protected(drawn(seed), name, counts=bool(seed // 4 % 2))
        if found.state == "held":
            held += 1
            known += bool(too_few(drawn(seed), found.published[0]))
    return held, known


if __name__ == "__main__":
    sys.stdout.write("{} held, {} of them with a known sum of too few\n".format(*rates(int(sys.argv[1]))))
