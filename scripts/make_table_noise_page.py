# SPDX-License-Identifier: Apache-2.0
"""Write docs/explanation/table-noise.md: what noise for tables does, with the numbers of SORT as the spec tests have them.

python scripts/make_table_noise_page.py [--check]
"""

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from reference.sort_noise import FREQUENCIES, HELD_1, TABLE_1, VARIANCE_1  # noqa: E402
from reticent.tables.perturb.invariant import InvariantDesign, invariant_table  # noqa: E402
from reticent.tables.perturb.ptable_design import Design, design_ptable  # noqa: E402

PAGE = ROOT / "docs" / "explanation" / "table-noise.md"
COLUMNS = (0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)
EXAMPLE = np.append(np.array(FREQUENCIES, dtype=float), (5, 4, 3, 3, 2, 2))

HEAD = """# Noise for tables

<!-- written by scripts/make_table_noise_page.py -->

Two kinds of noise for counts are drawn by *p-tables*: row i has the probabilities with which a count i is published as j.
`cell-key` designs rows in which the change has mean 0, a fixed variance V and at most the size D; `invariant` makes rows that
keep how often each count occurs. Both can leave out small results, so that nobody reads a 1 or a 2. [Describe a
table](../how-to/tables.md#noise-by-cell-keys) shows how to use them. The numbers below are those of Giessing and Höhne (SORT
2011), *the source*; the tests in `tests/spec/tables/test_sort_noise.py` hold them to the printed digits.
"""

DESIGN = """## Designed rows

Table 1 of the source follows from a declared design: V = 2.003, no result 1 or 2, a wanted probability 0.7 of no change and
normal tails. The source says V = 2 + ε; the print shows ε, because V = 2 would give 0.600 where 0.601 is printed (D = 3, i = 4).
In a plan, for D = 5:

```toml
[protect]
method = "cell-key"
largest = 5
variance = 2.003
skip = 2
stay = 0.7
tails = "normal"
held = {held}
```

**The rule.** Where the equations do not allow 0.7, each tail is level; a count that cannot stay has its next higher result
in place of the centre. Elsewhere a tail is a level and on it the tail of a normal distribution that begins at 2: levels and
spread follow from sum, mean and variance. A lower tail that lacks two changes or more is level, and where 0 stands apart it
has a level of its own, and one more and one fewer are equally likely. 15 of 21 rows follow from this rule alone.

**Declared probabilities.** In the six rows marked * the source began from a lower tail chosen by hand and ended by moving
one variable of a linear program, without saying which; the rule alone misses them by up to 0.0063. There the design declares
some of the printed numbers (`held`, printed bold), and the others follow: they are the nearest row, in relative entropy, to
the one of the rule. No declared number can be left out.

Every row has sum 1, mean 0 and variance 2.003 to 1e−12, and each of its numbers is the printed one to half a unit of the
third digit (`test_every_row_of_table_1_by_design`). The printed rows themselves are rounded (sums 0.998 to 1.003); as a
p-table file they are made exact by `printed = 2`, which moves no number by more than 0.003.
"""

INVARIANT = """## Rows that keep frequencies

Example 1: 96 cells have the count 1, 32 the count 2, 20 the count 3, then 16, 15, 13, 9, 6. P moves to each neighbour with
probability 0.15; the counts 1 to 3 are one state, which leaves upwards with 0.075. R = PQ, R* = 0.4 R + 0.6 I. Expected
numbers of cells, rows true, columns published:
"""

SPLIT = """\
The state of the small counts is then split: only the 3s leave upwards, 0.6 of them stay, the rest becomes 0; the 1s and 2s
become 0 or 3 so that their sum is kept.
"""

TAIL = """\
n0 + n3 = {both:.6g}: as many cells are small as before. 3 · n3 = {sum3:.6g}: as many persons are in them. With `selection =
"quotas"` the numbers that are drawn are whole, and equal the expected ones where these are whole (here 148, 16, 15, …).

## What an attacker does with it

Somebody who knows the p-table knows which true counts are possible behind each published one. The relations of the true
counts narrow this: 1 + 1 = 2 published as 3, 3 and 0 with changes of at most 2 has one solution. The attack propagates these
sets over all relations; for every count it then finds another true table that would be published in the same
way, or integer programs prove that there is none. It also uses what is published beside the counts
(`tests/attacks/test_noise_together.py`, by enumeration):

- **cells with the same records** have the same noise, so a total whose published value differs from that of one of its parts
  has somebody else in it (`cell-key`, `random-rounding`, and `invariant` by keys; 25 counts of 100 small sparse tables are
  determined without this, 39 with it);
- a **measure** is within 2 of the size of the change, and cells with the same records have the same one; a cell gets one
  measure, and none if it was published before. On all tables of three counts up to 4 with their total (D = 3, V = 2) 5 of 2,976
  runs are refused, and by all draws that are possible no unsafe count is determined in the others. Among the
  outputs of 24 secrets, 1,710 of 3,232 unsafe counts are behind outputs that no other count gave; 201 of 2,427 without measures;
- **earlier releases**: their cells moved no further than that release allows, however far the later table moves its own;
- **quotas** of `invariant`: the numbers of cells that moved are a rounding of what the matrix of the true table expects. In
  tables of up to about nine inner cells the audit examines every true table, each with its own matrix (in 7 of 50 tables of 2
  by 2 a count was called protected and was not; such runs are refused now). Larger tables, `add_up` and earlier releases
  are *not judged* for this, and such a run is refused unless you accept it. So the default chooses cells by their keys;
- **frequencies** themselves: the matrix depends on them, so a change that is impossible for some frequencies would reveal them.
  Chosen by keys, the matrix of any true table has the same changes (`test_the_matrix_of_any_true_table_has_the_same_changes`);
- **strata** of `invariant` have matrices of their own, and `resample` keeps the number of respondents.

What is reported:

- **pins**: counts above 0 that are determined exactly. A single such cell makes the run refused, unless you accept it;
- **presence shown under 0**: cells published as 0 that are certainly not empty;
- **probable counts**: with the probabilities of the p-table and the frequencies that fit the published counts best, a count
  above 0.95. In small tables every true table that fits is weighed; in larger ones each relation is weighed separately, so all
  relations together may say more than the report shows (of small tables half such counts were missed by single relations
  where half of the counts stay as they are, none where one in five does).

On three real tables, one secret (`python -m reference.noise_pins` in `tests`; 647, 413 and 506 counts above 0):

| table | noise | pins, before → after `add_up` | presence under 0 | mean width of intervals |
|---|---|---|---|---|
| Adult, education × occupation × sex | D = 2 | 2 → 0 | 3 → 0 | 3.5 → 9.2 |
| | D = 3, no 1 and 2 | 0 → 0 | 5 → 0 | 5.3 → 16.0 |
| Adult, country × race × salary | D = 2 | 0 → 0 | 10 → 0 | 2.8 → 8.5 |
| | D = 3, no 1 and 2 | 2 → 0 | 16 → 0 | 4.6 → 11.8 |
| SD2011, region × education × marital | D = 2 | 0 → 0 | 10 → 0 | 3.6 → 8.7 |
| | D = 3, no 1 and 2 | 0 → 0 | 8 → 0 | 5.3 → 12.0 |

After `add_up` the sums of published counts reveal nothing new, and the attacker only knows that noisy counts were moved by at
most the stated change: pins become rarer. A second table with the same cells that was made to add up separately reveals more:
the noise of a cell is the same, the movement is not. So tables that share cells are made together, or the later one keeps
the cells of the earlier one; averages of many adjusted tables reveal
no more than the noisy counts of all cells together.

Processor times (`python -m benchmarks.table_noise`, two cores): noise of 10 million counts 0.3 s; additivity of 77,197 cells
with D = 5 and no 1 and 2 0.7 s, mean deviation from the truth 1.149 → 1.261, largest 5 → 7, no new small count, every relation
exact; 1 million records in four dimensions, 2,062,413 cells above 0, with `add_up`, from records to the attack: `cell-key`
40 s, `invariant` 38 s.

What no noise on counts does: hide that somebody is there if a count above 0 is published (0 stays 0), or hide that
everybody of a row is in one column.
"""


def designed(largest: int) -> list[str]:
    """The designed rows of one D as a table."""
    held = HELD_1[largest]
    rows = design_ptable(Design(largest, VARIANCE_1, 2, 0.7, tails="normal", held=held)).rows[1:]
    width = len(TABLE_1[largest][-1])
    lines = [
        f"\nD = {largest}:\n",
        "| i | " + " | ".join(f"{j}" for j in COLUMNS[:width]) + " |",
        "|---" * (width + 1) + "|",
    ]
    for row in rows:
        size = int(row.size)
        ours = {int(row.size + v): p for v, p in zip(row.changes, row.chances, strict=True)}
        marks = {j: "**" if f"{size} to {j}" in held else "" for j in COLUMNS[:width]}
        numbers = " | ".join(f"{mark}{ours.get(j, 0.0):.3f}{mark}" for j, mark in marks.items())
        lines.append(f"| {size}{' *' if any(marks.values()) else ''} | {numbers} |")
    return lines


def matrix(head: tuple[str, ...], rows: list[tuple[str, list[float]]]) -> list[str]:
    """Numbers with the digits of the print."""
    lines = ["", "| | " + " | ".join(head) + " |", "|---" * (len(head) + 1) + "|"]
    return [*lines, *(f"| {name} | " + " | ".join(f"{x:.8g}" for x in numbers) + " |" for name, numbers in rows), ""]


def page() -> str:
    """The whole page."""
    found = invariant_table(EXAMPLE, InvariantDesign(skip=2))
    flows = np.zeros((7, 20))
    for i in range(1, 7):
        row = found.table.rows[i]
        flows[i, (i + row.changes).astype(int)] = EXAMPLE[i - 1] * row.chances
    joint = [(name, found.expected[i, :6].tolist()) for i, name in enumerate(("1–3", "4", "5", "6"))]
    split = [(str(i), flows[i, [0, 3, 4, 5, 6]].tolist()) for i in range(1, 7)]
    n0, n3 = flows[:, 0].sum(), flows[:, 3].sum()
    held = ", ".join(f'"{text}" = {chance:g}' for text, chance in HELD_1[5].items())
    lines = [
        HEAD,
        DESIGN.replace("{held}", f"{{ {held} }}"),
        *(line for largest in (3, 4, 5) for line in designed(largest)),
        "",
        INVARIANT,
    ]
    lines += matrix(("0–3", "4", "5", "6", "7", "8"), joint)
    lines += [SPLIT, *matrix(("0", "3", "4", "5", "6"), split), TAIL.format(both=n0 + n3, sum3=3 * n3)]
    return "\n".join(lines)


def main() -> int:
    """Write the page, or with --check say whether it is up to date."""
    text = page()
    if "--check" in sys.argv:
        return int(PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
