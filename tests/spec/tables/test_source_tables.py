"""Tables of the source documents: linkage (SESRIC 2.3–2.7, 2.11), attacks by role (TORRA 40–129), EUSTAT's frequencies."""

import numpy as np
import polars as pl
import pytest

from reference.tables import crossed, flat
from reticent.base.errors import ReticentError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.tables.attack import audit
from reticent.tables.perturb.adjustment import adjust
from reticent.tables.problem import SuppressionProblem
from reticent.tables.protection import judge_cells
from reticent.tables.redesign import redesign
from reticent.tables.rules import Threshold
from reticent.tabulation.tabulate import tabulate
from table_makers import with_totals

COUNTS = np.array([[2, 15, 30, 20, 10], [72, 20, 1, 30, 10], [38, 38, 15, 40, 5]])
PAY = np.array([[360.0, 450, 720, 400, 360], [1440, 540, 22, 570, 320], [722, 1178, 375, 800, 363]])
EUSTAT = """
2 . . . . . . 2
7 3 6 2 5 1 . 24
2 . 3 8 3 . 1 17
. 2 1 7 6 2 2 20
5 . 7 6 8 4 1 31
. 4 9 4 2 1 . 20
. . 2 2 2 1 1 8
1 4 13 11 3 1 . 33
5 6 2 3 5 . . 21
4 2 2 2 2 . . 12
12 2 3 2 1 . . 20
. 2 2 4 6 . 2 16
3 4 7 5 2 . . 21
1 1 2 3 1 . 2 10
5 2 3 1 . . . 11
6 3 3 6 . . . 18
14 5 3 1 2 1 . 26
2 . . 1 . . . 3
69 40 68 68 48 11 9 313
"""


def people(counts: np.ndarray, names: tuple[str, str], codes: tuple[list[str], list[str]]) -> Microdata:
    rows = [(r, c) for r in range(counts.shape[0]) for c in range(counts.shape[1]) for _ in range(counts[r, c])]
    frame = pl.DataFrame({names[0]: [codes[0][r] for r, _ in rows], names[1]: [codes[1][c] for _, c in rows]})
    ordered = Variable(names[0], role=Role.KEY, kind=Kind.ORDINAL, codes=tuple(codes[0]))
    return Microdata.of(frame, Schema((ordered, Variable(names[1], role=Role.KEY))))


def test_three_harmless_tables_determine_the_fourth() -> None:
    """SESRIC 2.3–2.5: each pair of variables is published; that nothing is negative gives every cell of 2.6 away."""
    inner = np.zeros((2, 2, 2))  # Var1 (A, B), Var2 (C, D), Var3 (E, F)
    inner[0, 0], inner[0, 1], inner[1, 0], inner[1, 1] = (0, 3), (1, 1), (8, 1), (2, 0)
    values, relations, ids = with_totals(inner)
    assert values[ids[:2, :2, 2]].tolist() == [[3, 2], [9, 2]]  # 2.3
    assert values[ids[:2, 2, :2]].tolist() == [[1, 4], [10, 1]]  # 2.4
    assert values[ids[2, :2, :2]].tolist() == [[8, 4], [3, 1]]  # 2.5
    hidden = np.zeros(27, dtype=bool)
    hidden[ids[:2, :2, :2].ravel()] = True
    problem = SuppressionProblem.from_values(values, relations, primary=hidden)
    found = audit(problem, hidden)
    assert found.low.tolist() == found.high.tolist() == values[found.cells].tolist()
    assert found.n_exposed == 8
    free = SuppressionProblem.from_values(values, relations, primary=hidden, lower_bound=np.full(27, -np.inf))
    assert audit(free, hidden).n_exposed == 0


def test_the_redesign_of_the_textbook_is_the_cheapest() -> None:
    """SESRIC 2.7: low with medium and high with very high."""
    levels = ["low", "medium", "high", "very high"]
    data = people(np.array([[2, 0], [1, 4], [12, 10], [1, 2]]), ("education", "sex"), (levels, ["male", "female"]))
    spec = TableSpec((DimensionSpec("education"), DimensionSpec("sex")))
    found = redesign(data, spec, (Threshold(minimum=3),), dimensions=("education",))
    assert found.status == "optimal"
    assert found.merged == {"education": (("low", "medium"), ("high", "very high"))}
    table = tabulate(found.data, found.spec)
    shown = {table.cell_codes(cell): table.values[cell] for cell in range(table.n_cells)}
    assert [shown[row, sex] for row in ("low+medium", "high+very high") for sex in ("male", "female")] == [3, 4, 13, 12]


def test_the_adjustment_of_the_textbook() -> None:
    """SESRIC 2.11: the four risky cells go to 0 or 3 with alternating signs, and only the margins follow."""
    inner = np.array([[15.0, 1, 3, 1], [20, 10, 10, 15], [3, 10, 10, 2], [12, 14, 7, 2]])
    values, relations, ids = with_totals(inner)
    risky = np.zeros(25, dtype=bool)
    risky[[ids[0, 1], ids[0, 3], ids[2, 3], ids[3, 3]]] = True
    up = np.zeros(25, dtype=bool)
    up[[ids[0, 3], ids[3, 3]]] = True
    problem = SuppressionProblem.from_values(
        values, relations, primary=risky, lower_protection=np.where(risky, values, 0),
        upper_protection=np.where(risky, 3 - values, 0), integral=True,
    )  # fmt: skip
    fixed = np.zeros(25, dtype=bool)
    fixed[ids[:4, :4].ravel()] = True
    found = adjust(problem, secret=None, signs=up, fixed=fixed & ~risky, integers=True)
    assert found.values[ids].tolist() == [
        [15, 0, 3, 3, 21], [20, 10, 10, 15, 55], [3, 10, 10, 0, 23], [12, 14, 7, 3, 36], [50, 34, 30, 21, 135],
    ]  # fmt: skip


def test_a_count_of_one_beside_a_sum() -> None:
    """TORRA 40–63: the only person of P3 in M2 earns 22, as both tables together tell; P1 in M1 are two."""
    assert COUNTS.sum() == 346
    assert PAY.sum() == 8620
    counts, _, ids = with_totals(COUNTS)
    frame = [(f"M{r + 1}", f"P{c + 1}", PAY[r, c] / COUNTS[r, c])
             for r in range(3) for c in range(5) for _ in range(COUNTS[r, c])]  # fmt: skip
    schema = Schema((*(Variable(n, role=Role.KEY) for n in ("town", "work")), Variable("pay", kind=Kind.NUMERIC)))
    data = Microdata.of(pl.DataFrame(frame, schema=["town", "work", "pay"], orient="row"), schema)
    table = tabulate(data, TableSpec((DimensionSpec("town"), DimensionSpec("work")), response="pay"))
    unsafe = judge_cells(table, (Threshold(minimum=3),)).primary
    named = {table.cell_codes(int(c)): round(float(table.values[c])) for c in np.flatnonzero(unsafe)}
    assert named == {("M2", "P3"): 22, ("M1", "P1"): 360}
    assert counts[ids[1, 2]] == 1


def test_the_pattern_of_the_slides_leaves_one_cell_open() -> None:
    """TORRA 113–129, erratum 11: (M2, P3) is protected to [0, 342], but 363, called sensitive, is published."""
    values, relations = crossed([flat(3), flat(5)], PAY)
    grid = np.arange(24).reshape(4, 6)
    hidden = np.zeros(24, dtype=bool)
    hidden[[grid[1, 3], grid[1, 5], grid[2, 3], grid[2, 5]]] = True
    one = np.arange(24) == grid[2, 3]
    found = audit(SuppressionProblem.from_values(values, relations, primary=one), hidden)
    at = found.cells.tolist().index(int(grid[2, 3]))
    assert (found.low[at], found.high[at]) == (0, 342)
    both = one | (np.arange(24) == grid[3, 5])
    with pytest.raises(ReticentError, match="1 primary cells are not hidden"):
        audit(SuppressionProblem.from_values(values, relations, primary=both), hidden)


def test_the_frequencies_of_eustat() -> None:
    """EUSTAT 1242–1270, erratum 2: 18 × 7 cells add up; 43 inner cells of 1 or 2, 44 with margins."""
    printed = np.array([[0 if n == "." else int(n) for n in line.split()] for line in EUSTAT.strip().splitlines()])
    values, relations, ids = with_totals(printed[:-1, :-1])
    assert np.array_equal(values[ids], printed)
    codes = ([f"{n:02}" for n in range(18)], list("abcdefg"))
    table = tabulate(people(printed[:-1, :-1], ("activity", "size"), codes),
                     TableSpec((DimensionSpec("activity"), DimensionSpec("size"))))  # fmt: skip
    unsafe = judge_cells(table, (Threshold(minimum=3),)).primary
    assert int((unsafe & table.is_inner).sum()) == 43
    assert int(unsafe.sum()) == 44
    assert relations.n_cells == 19 * 8
