"""SORT's Tables 1, 2, 3 and 6 (Giessing and Höhne 2011): invariant matrices and designed p-tables against the print."""

import subprocess
import sys
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from reference.sort_noise import (
    COLUMNS_1,
    FREQUENCIES,
    HELD_1,
    TABLE_1,
    TABLE_2,
    TABLE_3,
    TABLE_6,
    VARIANCE_1,
)
from reticent.base.errors import DataError, InfeasibleError, ParameterError
from reticent.base.randomness import as_secret
from reticent.tables.perturb.accuracy import BAND, perturbed_changes
from reticent.tables.perturb.invariant import InvariantDesign, invariant_table
from reticent.tables.perturb.keyed import CellKey
from reticent.tables.perturb.ptable_design import Design, design_ptable
from reticent.tables.perturb.ptable_nearest import nearest_row
from reticent.tables.perturb.quotas import select_by_quotas

DESIGN = InvariantDesign(spread=0.15, mix=0.4, skip=2)
PRINTED = np.array(FREQUENCIES, dtype=float)
EXAMPLE = np.append(PRINTED, (5, 4, 3, 3, 2, 2))  # counts above 8 are not printed and change nothing that is


def as_printed(value: float, text: str) -> bool:
    """Whether the number, rounded to as many decimals as the text has, is the text."""
    digits = max(len(text.partition(".")[2]), 1)
    return abs(Decimal(value) - Decimal(text)) <= Decimal("0.5000001") * Decimal(10) ** -digits


def flow(i: int, j: int) -> float:
    """Expected number of cells with the count i that are published as j."""
    row = invariant_table(EXAMPLE, DESIGN).table.rows[i]
    return float(EXAMPLE[i - 1] * row.chances[row.changes == j - i].sum())


def test_table_2_to_every_printed_digit() -> None:
    found = invariant_table(EXAMPLE, DESIGN).expected
    for i, row in enumerate(TABLE_2):
        for j, text in enumerate(row):
            assert text is None or as_printed(float(found[i, j]), text), (i, j, found[i, j])


def test_table_3_to_every_printed_digit() -> None:
    for i, row in enumerate(TABLE_3, start=1):
        for j, text in zip((0, 3, 4, 5, 6), row, strict=True):
            assert as_printed(flow(i, j), text), (i, j, flow(i, j))


def test_what_the_small_counts_keep() -> None:
    """n0 + n3 = 148 and 3·n3 = 220 in expectation: as many small cells, and as many persons in them."""
    n0 = sum(flow(i, 0) for i in range(1, 10))
    n3 = sum(flow(i, 3) for i in range(1, 10))
    assert n0 + n3 == pytest.approx(148, abs=1e-9)
    assert 3 * n3 == pytest.approx(96 + 2 * 32 + 3 * 20, abs=1e-9)
    for j in range(4, 13):
        assert sum(flow(i, j) for i in range(1, 15)) == pytest.approx(EXAMPLE[j - 1], abs=1e-9)


def test_frequencies_are_kept_where_few_counts_could_leave() -> None:
    """With few 3s and many 4s more had to come up than there were 3s: the 4s lost what did not come."""
    rng = np.random.default_rng(1)
    for _ in range(150):
        often = rng.poisson(rng.choice([0.5, 2.0, 20.0]), int(rng.integers(4, 25))).astype(float)
        often[2] = rng.integers(0, 2)
        often[3] += 1
        design = InvariantDesign(
            float(rng.choice([0.05, 0.15, 0.49])), float(rng.choice([0.4, 1.0])), int(rng.integers(0, 5))
        )
        made = invariant_table(often, design)
        found = np.zeros(40)
        for i, n in enumerate(often, start=1):
            row = made.table.rows[min(i, len(made.table.rows) - 1)]
            found[(i + row.changes).astype(int)] += n * row.chances
        kept = slice(design.skip + 1 if design.skip else 0, made.kept)
        assert np.abs(found[1 : len(often) + 1] - often)[kept].max(initial=0.0) < 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_drawn_by_quotas_148_stay_small(seed: int) -> None:
    counts = np.repeat(np.arange(1, 15), EXAMPLE.astype(int))
    keys = np.random.default_rng(seed).random(len(counts))
    found = invariant_table(EXAMPLE, DESIGN)
    change = select_by_quotas(counts, keys, found.table, rows=found.kept + 2, secret=as_secret(seed))
    often = np.bincount((counts + change).astype(int), minlength=20)
    assert often[1] == often[2] == 0
    assert often[0] + often[3] == 148
    assert abs(3 * often[3] - 220) < 3
    assert often[4:13].tolist() == EXAMPLE[3:12].tolist()


def printed(largest: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Changes and printed probabilities of a row of Table 1."""
    row = TABLE_1[largest][size - 1]
    return np.array(COLUMNS_1[: len(row)]) - size, np.array(row)


ROWS_1 = [(largest, size) for largest in (3, 4, 5) for size in range(1, largest + 4)]
ROUNDED = 0.0005 + 1e-9


def off_the_print(largest: int, size: int, held: Mapping[str, float]) -> float:
    """The largest difference of a designed row from the printed one; the row meets its three equations."""
    design = Design(largest, VARIANCE_1, 2, 0.7, tails="normal", held=held)
    row = design_ptable(design, sizes=[size]).rows[-1]
    assert abs(row.mean) < 1e-12
    assert abs(row.variance - VARIANCE_1) < 1e-12
    assert float(row.chances.sum()) == pytest.approx(1.0, abs=1e-12)
    ours = dict(zip(row.changes.astype(int).tolist(), row.chances.tolist(), strict=True))
    changes, chances = printed(largest, size)
    far = [abs(ours.pop(v, 0.0) - p) for v, p in zip(changes.tolist(), chances.tolist(), strict=True)]
    return max(*far, *ours.values())


@pytest.mark.parametrize(("largest", "size"), ROWS_1)
def test_every_row_of_table_1_by_design(largest: int, size: int) -> None:
    """The declared design gives each printed number to half a unit of its last digit."""
    assert off_the_print(largest, size, HELD_1[largest]) <= ROUNDED


def test_which_rows_of_table_1_need_no_declared_probability() -> None:
    """15 rows follow from the rule alone; the manual says so of these and of no others."""
    alone = [(largest, size) for largest, size in ROWS_1 if off_the_print(largest, size, {}) <= ROUNDED]
    declared = {(largest, int(text.split()[0])) for largest, held in HELD_1.items() for text in held}
    assert len(alone) == 15
    assert declared == set(ROWS_1) - set(alone)
    assert max(off_the_print(largest, size, {}) for largest, size in declared) < 0.0064


def test_no_declared_probability_is_idle() -> None:
    """Each of them is needed: without it some number of its row is not the printed one."""
    for largest, held in HELD_1.items():
        for text in held:
            fewer = {other: chance for other, chance in held.items() if other != text}
            assert off_the_print(largest, int(text.split()[0]), fewer) > ROUNDED, text


@pytest.mark.parametrize(("largest", "size"), ROWS_1)
def test_every_row_of_table_1_is_a_rounded_exact_row(largest: int, size: int) -> None:
    """Within the print's rounding there is a row with mean 0 and variance 2 exactly: that is what the system (9) asks."""
    changes, chances = printed(largest, size)
    row = nearest_row(float(size), changes.astype(float), chances, variance=2.0)
    assert abs(row.mean) < 1e-12
    assert abs(row.variance - 2.0) < 1e-12
    exact = {int(v): p for v, p in zip(row.changes, row.chances, strict=True)}
    assert max(abs(exact.get(int(v), 0.0) - p) for v, p in zip(changes, chances, strict=True)) < 0.003


def printed_file(largest: int, path: Path) -> Path:
    """Table 1 for one D as a p-table file with the digits of the print."""
    lines = ["i;j;p;v;p_ij_ub", "0;0;1;0;1"]
    for size in range(1, largest + 4):
        changes, chances = printed(largest, size)
        bounds = np.minimum(np.cumsum(chances), 1.0)
        lines += [f"{size};{size + v};{p};{v};{b}" for v, p, b in zip(changes, chances, bounds, strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("largest", [3, 4, 5])
def test_table_1_serves_as_a_printed_file(largest: int, tmp_path: Path) -> None:
    """Its rounded rows are refused as they stand, and with `printed` the exact rows nearest to them perturb the table."""
    path = str(printed_file(largest, tmp_path / "table1.txt"))
    with pytest.raises(DataError, match="add up to 1"):
        CellKey(ptable=path).tables(counts=True)
    table = CellKey(ptable=path, printed=2.0).tables(counts=True)["all"]
    assert table.skipped == 2
    assert table.largest == largest
    for row in table.rows[1:]:
        assert abs(row.mean) < 1e-12
        assert abs(row.variance - 2.0) < 1e-12
        assert float(row.chances.sum()) == pytest.approx(1.0, abs=1e-12)
    with pytest.raises((DataError, InfeasibleError), match="mean 0 and variance 3"):
        CellKey(ptable=path, printed=3.0).tables(counts=True)


def test_a_p_table_file_and_a_design_exclude_each_other() -> None:
    with pytest.raises(ParameterError, match="so variance and skip cannot be asked for"):
        CellKey(ptable="table.txt", variance=2.0, skip=0)
    with pytest.raises(ParameterError, match="printed is the variance of a ptable file"):
        CellKey(printed=2.0)


@pytest.mark.parametrize(
    ("held", "says"),
    [
        ({"3-6": 0.1}, "must be a count and its result"),
        ({"3 to 2": 0.1}, "3 can become 0, 3, 4, 5, 6"),
        ({"9 to 9": 0.1}, "must begin with a count from 1 to 6"),
        ({"3 to 6": 0.1, "3  to 6": 0.2}, "names one change twice"),
        ({"3 to 6": 1.5}, "between 0 and 1"),
    ],
)
def test_declared_probabilities_that_cannot_be_meant(held: Mapping[str, float], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        Design(3, 2.003, 2, 0.7, tails="normal", held=held)
    with pytest.raises(ParameterError, match="leave out either"):
        CellKey(ptable="table.txt", held={"3 to 6": 0.1})


def test_declared_probabilities_without_a_row_are_told_with_the_variances() -> None:
    with pytest.raises(InfeasibleError, match="row 3 needs a variance from 9 to 9 with these demands"):
        design_ptable(Design(3, 2.003, 2, held={"3 to 6": 0.5}))
    with pytest.raises(InfeasibleError, match="row 3 cannot have mean 0 with these demands"):
        design_ptable(Design(3, 2.003, 2, 0.7, tails="normal", held={"3 to 6": 0.5}))
    row = design_ptable(Design(5, 3.0, 2, held={"4 to 3": 0.01})).rows[4]
    assert row.chances[row.changes == -1] == pytest.approx(0.01, abs=1e-12)
    assert row.variance == pytest.approx(3.0, abs=1e-12)


@pytest.mark.parametrize("largest", [3, 4, 5])
def test_all_designed_rows_have_mean_0_and_variance_2(largest: int) -> None:
    for row in design_ptable(Design(largest, 2.0, 2, 0.7, tails="normal")).rows[1:]:
        assert abs(row.mean) < 1e-12
        assert abs(row.variance - 2.0) < 1e-12
        assert not set((row.size + row.changes).tolist()) & {1.0, 2.0}
        assert np.abs(row.changes).max() <= largest


def test_table_6_frequencies_are_kept_on_the_average() -> None:
    """The source misses n_d by up to 2. Kept numbers are equations for an attacker: each cell is drawn alone."""
    deviations = np.repeat(np.array(list(TABLE_6)), [n // 40 for n in TABLE_6.values()]).astype(float)
    keys = np.random.default_rng(1).random(len(deviations))
    moved = perturbed_changes(deviations, keys, secret=as_secret(6)).changes
    sizes = np.arange(deviations.min() - BAND, deviations.max() + BAND + 2) - 0.5
    before, after = (np.histogram(one, sizes)[0] for one in (deviations, moved))
    assert (np.abs(after - before) <= 5 * np.sqrt(before + 1)).all()
    assert not np.array_equal(before, after)
    assert np.abs(moved - deviations).max() <= BAND
    assert (moved != deviations).mean() > 0.2


def test_the_page_of_the_manual_has_these_numbers() -> None:
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [sys.executable, str(root / "scripts" / "make_table_noise_page.py"), "--check"],
        check=False,
        capture_output=True,
    )
    assert done.returncode == 0, "run: python scripts/make_table_noise_page.py"
