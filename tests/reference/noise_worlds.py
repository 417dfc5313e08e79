"""Small tables for the attack on noise: made at random, perturbed by a p-table, and all true tables that fit, by enumeration."""

import itertools

import numpy as np

from reticent.data.relations import Relations
from reticent.tables.perturb.ptable import PerturbationTable, Row

SHAPES: tuple[tuple[int, tuple[tuple[tuple[int, ...], int], ...]], ...] = (
    (3, (((0, 1), 2),)),
    (4, (((0, 1, 2), 3),)),
    (5, (((0, 1), 2), ((2, 3), 4))),
    (7, (((0, 1), 2), ((3, 4), 5), ((2, 5), 6))),
    (8, (((0, 1), 2), ((3, 4), 5), ((0, 3), 6), ((1, 4), 7))),
    (8, (((0, 1, 2), 3), ((4, 5, 6), 7))),
)
"""Numbers of cells, and (parts, total) relations: rows, a tree, a cross table without grand total."""


def relations_of(shape: int) -> Relations:
    n, rows = SHAPES[shape]
    return Relations.from_rows(n, [((*parts, total), (*([1] * len(parts)), -1)) for parts, total in rows])


def true_table(shape: int, rng: np.random.Generator, largest: int = 5) -> np.ndarray:
    """Random inner counts, added up."""
    n, rows = SHAPES[shape]
    values = rng.integers(0, largest + 1, n).astype(float)
    for parts, total in rows:
        values[total] = values[list(parts)].sum()
    return values


def random_ptable(rng: np.random.Generator) -> PerturbationTable:
    """Any p-table: changes with gaps, small results left out or not, other rows for other sizes."""
    reach, skip = int(rng.integers(1, 4)), int(rng.integers(0, 3))
    rows = [Row.of(0.0, np.zeros(1), np.ones(1))]
    for size in range(1, reach + skip + 2):
        results = [j for j in range(max(0, size - reach), size + reach + 1) if j == 0 or j > skip]
        kept = [j for j in results if rng.random() < 0.75] or [max(results)]
        chances = rng.dirichlet(np.ones(len(kept)))
        rows.append(Row.of(float(size), np.array(kept, dtype=float) - size, chances))
    return PerturbationTable(tuple(rows))


def fitting_ends(shape: int, published: np.ndarray, table: PerturbationTable) -> tuple[np.ndarray, np.ndarray, int]:
    """Least and largest true count of each cell over all true tables that can be published so; and how many there are."""
    n, rows = SHAPES[shape]
    last, reach = len(table.rows) - 1, int(table.largest)
    possible = [set(row.changes[row.chances > 0].astype(int).tolist()) for row in table.rows]

    def origins(value: int) -> list[int]:
        return [i for i in range(max(0, value - reach), value + reach + 1) if value - i in possible[min(i, last)]]

    sets = [set(origins(int(value))) for value in published]
    totals = {total for _, total in rows}
    inner = [cell for cell in range(n) if cell not in totals]
    low, high, worlds = np.full(n, np.inf), np.full(n, -np.inf), 0
    for chosen in itertools.product(*(sorted(sets[cell]) for cell in inner)):
        world = np.zeros(n)
        world[inner] = chosen
        for parts, total in rows:
            world[total] = world[list(parts)].sum()
        if all(int(world[total]) in sets[total] for total in totals):
            low, high, worlds = np.minimum(low, world), np.maximum(high, world), worlds + 1
    return low, high, worlds
