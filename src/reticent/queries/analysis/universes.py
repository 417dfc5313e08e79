# SPDX-License-Identifier: Apache-2.0
"""Rules for universes: No Marginal 1 or 2, and Universe Gamma for disjoint and joint pieces.

A universe is judged by its records, not by how it is written: first the filters that it really depends on, then the
simple universes (a choice of codes for each filter) that fit into it and cannot be made larger. These are the prime
implicants of logic with many values; the same records always have the same ones.
"""

import itertools

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Mask
from reticent.kernels.grouping import group_columns
from reticent.queries.canonical import Version

Codes = NDArray[np.int64]
Cube = tuple[int, ...]
MOST_PIECES = 64
MOST_INTERSECTIONS = 4096


def deciding_filters(version: Version, atoms: Mask) -> tuple[str, ...]:
    """The filters that a set of records depends on: any that the others make superfluous is left out, finest first."""
    order = sorted(version.filters, key=lambda name: (-len(version.levels[name]), name))
    table, inside = np.column_stack([np.zeros(len(atoms), dtype=np.int64), *_codes(version, order)]), atoms
    names = ["", *order]  # the first column is constant, so that the last filter can go too
    for name in order:
        at = names.index(name)
        rest = np.delete(table, at, axis=1)
        group, n_groups = _grouped(rest)
        chosen = np.bincount(group, weights=inside, minlength=n_groups)
        if bool(((chosen == 0) | (chosen == np.bincount(group, minlength=n_groups))).all()):
            first = _first(group, n_groups)
            table, inside = rest[first], inside[first]
            names.pop(at)
    return tuple(sorted(names[1:]))


def _codes(version: Version, names: list[str]) -> list[Codes]:
    return [version.codes[name].astype(np.int64) + 1 for name in names]


def _grouped(table: Codes) -> tuple[Codes, int]:
    group, n_groups = group_columns([table[:, c] for c in range(table.shape[1])], (table.max(axis=0) + 1).tolist())
    return np.asarray(group, dtype=np.int64), int(n_groups)


def _first(group: Codes, n_groups: int) -> Codes:
    first = np.empty(n_groups, dtype=np.int64)
    first[group[::-1]] = np.arange(len(group) - 1, -1, -1)
    return first


def has_small_marginal(version: Version, names: tuple[str, ...]) -> bool:
    """Whether an (m − 1)-way marginal of the m-way table of these variables is 1 or 2 (one variable: a category is)."""
    sizes = np.bincount(version.atom, minlength=version.n_atoms)
    subsets = itertools.combinations(names, len(names) - 1) if len(names) > 1 else [names]
    for subset in subsets:
        group, n_groups = _grouped(np.column_stack(_codes(version, list(subset))))
        totals = np.bincount(group, weights=sizes, minlength=n_groups)
        if bool(((totals == 1) | (totals == 2)).any()):
            return True
    return False


def simple_universes(version: Version, atoms: Mask, names: tuple[str, ...]) -> list[Mask] | None:
    """The largest simple universes inside a set of records that depends on `names`, as atoms; None if there are too many."""
    if not bool(atoms.any()) or len(names) < 2:
        return [atoms] if bool(atoms.any()) else []
    table = np.column_stack(_codes(version, list(names)))
    group, n_groups = _grouped(table)
    first = _first(group, n_groups)
    cells, inside = table[first], atoms[first]
    cells = _alike_together(cells, inside)
    cubes = largest_cubes(cells, inside)
    if cubes is None:
        return None
    masks = []
    for cube in cubes:
        there = np.ones(n_groups, dtype=bool)
        for column, codes in enumerate(cube):
            there &= _has(codes, int(cells[:, column].max()))[cells[:, column]]
        masks.append(there[group])
    # products that differ by combinations nobody has are the same records, or lie in each other
    masks.sort(key=lambda mask: -int(mask.sum()))
    largest: list[Mask] = []
    for mask in masks:
        if not any(bool((wider | ~mask).all()) for wider in largest):
            largest.append(mask)
    return largest


def _has(codes: int, most: int) -> Mask:
    return np.array([(codes >> code) & 1 for code in range(most + 1)], dtype=bool)


def _alike_together(cells: Codes, inside: Mask) -> Codes:
    """Give codes of a variable the same number if all other filters treat them alike; numbers follow the codes' order."""
    found = cells.copy()
    for column in range(cells.shape[1]):
        others, _ = _grouped(np.delete(cells, column, axis=1))
        pattern = 2 * others + inside
        order = np.lexsort((pattern, cells[:, column]))
        ends = np.flatnonzero(np.diff(cells[order, column])) + 1
        number: dict[bytes, int] = {}
        for part in np.split(order, ends):
            found[part, column] = number.setdefault(pattern[part].tobytes(), len(number))
    return found


def largest_cubes(cells: Codes, inside: Mask) -> list[Cube] | None:
    """The products of code sets (bits) that hold no cell outside, some cell inside, and cannot be made larger.

    Every cell outside splits the cubes that hold it into those without its code in one variable; cubes that lie in others
    are dropped on the way. None if more than `MOST_PIECES` come up.
    """
    own = {tuple(row) for row in cells[inside].tolist()}
    cubes: list[Cube] = [tuple((1 << int(top) + 1) - 1 for top in cells.max(axis=0))]
    for cell in sorted({tuple(row) for row in cells[~inside].tolist()}):
        kept, split = [], []
        for cube in cubes:
            if not _holds(cube, cell):
                kept.append(cube)
                continue
            for column, code in enumerate(cell):
                smaller = (*cube[:column], cube[column] & ~(1 << code), *cube[column + 1 :])
                if smaller[column]:
                    split.append(smaller)
        fresh = [cube for cube in dict.fromkeys(split) if any(_holds(cube, row) for row in own)]
        cubes = [cube for cube in [*kept, *fresh] if not any(_within(cube, other) for other in [*kept, *fresh])]
        if len(cubes) > MOST_PIECES:
            return None
    return cubes


def _holds(cube: Cube, cell: tuple[int, ...]) -> bool:
    return all((codes >> code) & 1 for codes, code in zip(cube, cell))


def _within(cube: Cube, other: Cube) -> bool:
    return cube != other and all(codes & ~wider == 0 for codes, wider in zip(cube, other))


def too_small(version: Version, masks: list[Mask], *, gamma: int, joint_gamma: int) -> bool | None:
    """Whether a piece has fewer than `gamma` records, or a non-empty intersection of pieces fewer than `joint_gamma`.

    None: too many intersections to check.
    """
    sizes = np.bincount(version.atom, minlength=version.n_atoms)
    if not masks or any(int(sizes[mask].sum()) < gamma for mask in masks):
        return True
    layer = [(mask, at) for at, mask in enumerate(masks)]
    while layer:  # every non-empty intersection of pieces, growing by one piece at a time
        following = []
        for mask, last in layer:
            for at in range(last + 1, len(masks)):
                both = mask & masks[at]
                size = int(sizes[both].sum())
                if 0 < size < joint_gamma:
                    return True
                if size and not np.array_equal(both, mask):
                    following.append((both, at))
        if len(following) > MOST_INTERSECTIONS:
            return None
        layer = following
    return False
