# SPDX-License-Identifier: Apache-2.0
"""Distance-based record linkage: how many masked records are nearest to the record they came from.

Source: Domingo-Ferrer and Torra (2001) and the description in Domingo-Ferrer, Franconi and Torra. A masked record is
correctly linked when no original record is nearer than its own; a tie with t records counts 1/t. The search asks just
that (is anyone nearer than its own record?), with a tree and an early stop, never all pairs; strings are the exception.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from reticent.base.checks import check_choice, check_integer
from reticent.base.errors import DataError
from reticent.base.randomness import Secret
from reticent.kernels.nearest import TIE, Tree, alone_within, build_tree, count_nearer, nearest, pair_distances
from reticent.microdata.risk.linkage_coordinates import OWNER, Coordinates

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
BLOCK = 2_000_000
"""Pairs whose distances are held at a time where strings force all pairs."""
MOST_PAIRS = 4_000_000_000
MOST_ASSIGNED = 25_000_000
TRUTHS = ("position", "nearest")


@dataclass(frozen=True)
class DistanceLinkage:
    """Credit of every masked record (1 linked, 1/t in a tie of t, 0 not) and how many originals are nearer."""

    variables: tuple[str, ...]
    credit: Floats = field(repr=False)
    nearer: Integers = field(repr=False)
    depth: int
    n_original: int
    truth: str

    @property
    def share(self) -> float:
        """Expected share of correctly linked records."""
        return float(self.credit.mean())

    @property
    def by_chance(self) -> float:
        """What blind guessing would give."""
        return 1.0 / self.n_original

    def within(self, k: int) -> float:
        """Share of masked records with fewer than k originals nearer than their own (k up to `depth`)."""
        check_integer(k, minimum=1, maximum=self.depth, name="k", owner=OWNER)
        return float((self.nearer < k).mean())

    def summary(self) -> dict[str, Any]:
        """The file in a few numbers."""
        return {
            "variables": len(self.variables),
            "records": int(self.credit.size),
            "linked_share": self.share,
            "by_chance": self.by_chance,
            "truth": self.truth,
        }


@dataclass(frozen=True)
class LinkageGrowth:
    """Linked share by number of variables that the intruder knows."""

    rows_: tuple[tuple[int, int, float, float, float], ...] = field(repr=False)
    by_chance: float

    def rows(self) -> tuple[dict[str, float], ...]:
        """Known variables, sets of them tried, and the lowest, mean and highest share over these sets."""
        names = ("known", "sets", "lowest", "mean", "highest")
        return tuple(dict(zip(names, row, strict=True)) for row in self.rows_)

    def summary(self) -> dict[str, Any]:
        """Shares with one and with all variables known."""
        return {"by_chance": self.by_chance, "one": self.rows_[0][3], "all": self.rows_[-1][3]}


def _truth(coordinates: Coordinates, truth: str) -> Integers:
    """The original record that each masked one belongs to."""
    n, m = coordinates.n_original, coordinates.n_masked
    if truth == "position":
        if n != m:
            raise DataError(
                f"{OWNER}: truth by position needs files of the same length, they have {n} and {m} records. "
                "Use truth = 'nearest', or link before records are dropped."
            )
        return np.arange(n)
    if coordinates.texts:
        return np.concatenate([d.argmin(axis=1) for _, d in _blocks(coordinates)])
    tree = build_tree(coordinates.original, coordinates.nominal, coordinates.absent)
    return nearest(tree, coordinates.masked)[0]


def _blocks(coordinates: Coordinates) -> Iterable[tuple[slice, Floats]]:
    """Squared distances of all pairs, some masked records at a time."""
    x, y = coordinates.original, coordinates.masked
    n, m = coordinates.n_original, coordinates.n_masked
    if n * m > MOST_PAIRS:
        raise DataError(
            f"{OWNER}: strings need all pairs, and {m} × {n} are too many; leave them out or link by blocks."
        )
    step = max(1, BLOCK // max(n, 1))
    for start in range(0, m, step):
        rows = slice(start, min(start + step, m))
        total = np.zeros((rows.stop - rows.start, n))
        for column in range(x.shape[1]):
            total += _column_distances(x[:, column], y[rows, column], coordinates, column)
        for texts in coordinates.texts:
            total += texts.block(rows)
        yield rows, total


def _column_distances(x: Floats, y: Floats, coordinates: Coordinates, column: int) -> Floats:
    difference = y[:, None] - x[None, :]
    part = (difference != 0).astype(np.float64) if coordinates.nominal[column] else difference**2
    part[:, np.isnan(x)] = coordinates.absent[column]
    part[np.isnan(y)] = 0.0
    return part


def distance_linkage(
    coordinates: Coordinates, *, truth: str = "position", own: npt.ArrayLike | None = None, depth: int = 1
) -> DistanceLinkage:
    """Link every masked record to its nearest original record and compare with the truth.

    `truth` is the record's own position, or 'nearest': the record nearest on all the variables given; `own` gives the
    true original of each masked record instead. `depth` is how
    many nearer records are counted before a record is given up; above 1 it shows how far down the list its own one is.
    """
    check_choice(truth, TRUTHS, name="truth", owner=OWNER)
    check_integer(depth, minimum=1, name="depth", owner=OWNER)
    if own is None:
        return _linked(coordinates, _truth(coordinates, truth), truth, depth)
    given = np.asarray(own, dtype=np.int64)
    n = coordinates.n_original
    if given.size != coordinates.n_masked or given.min(initial=0) < 0 or given.max(initial=-1) >= n:
        raise DataError(f"{OWNER}: own must name one of the {n} original records for each masked one.")
    return _linked(coordinates, given, "given", depth)


def _linked(coordinates: Coordinates, own: Integers, truth: str, depth: int) -> DistanceLinkage:
    if coordinates.texts:
        nearer, ties = _count_all_pairs(coordinates, own, depth)
    else:
        nearer, ties = _count_in_tree(coordinates, own, depth)
    credit = np.where(nearer == 0, 1.0 / np.maximum(ties, 1), 0.0)
    return DistanceLinkage(coordinates.names, credit, nearer, depth, coordinates.n_original, truth)


def uniquely_linked(coordinates: Coordinates, own: Integers, units: Integers | None = None) -> npt.NDArray[np.bool_]:
    """Whether its own original record of each masked one is nearest, and nobody else is as near; O(log n) a record.

    With `units` (the respondent of each original record) any record of its own respondent will do.
    """
    tree = build_tree(coordinates.original, coordinates.nominal, coordinates.absent)
    order, queries, radii = _in_tree_order(coordinates, tree, own)
    if units is None:
        units = np.arange(coordinates.n_original)
    else:
        radii = np.minimum(radii, nearest(tree, queries)[1])
    linked = np.empty(order.size, dtype=np.bool_)
    linked[order] = alone_within(tree, units, queries, np.ascontiguousarray(units[own[order]]), radii)
    return linked


def _in_tree_order(coordinates: Coordinates, tree: Tree, own: Integers) -> tuple[Integers, Floats, Floats]:
    """Masked records with neighbours in the tree one after another (the cache stays warm), and their own distances."""
    place = np.empty(tree.order.size, dtype=np.int64)
    place[tree.order] = np.arange(tree.order.size)
    order = np.argsort(place[own], kind="stable")
    queries = np.ascontiguousarray(coordinates.masked[order])
    return (
        order,
        queries,
        pair_distances(queries, coordinates.original[own[order]], coordinates.nominal, coordinates.absent),
    )


def _count_in_tree(coordinates: Coordinates, own: Integers, depth: int) -> tuple[Integers, Integers]:
    tree = build_tree(coordinates.original, coordinates.nominal, coordinates.absent)
    order, queries, radii = _in_tree_order(coordinates, tree, own)
    found = count_nearer(tree, queries, radii, cap=depth)
    nearer, ties = np.empty(order.size, dtype=np.int64), np.empty(order.size, dtype=np.int64)
    nearer[order], ties[order] = found
    return nearer, ties


def _count_all_pairs(coordinates: Coordinates, own: Integers, depth: int) -> tuple[Integers, Integers]:
    m = coordinates.n_masked
    nearer, ties = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    for rows, distances in _blocks(coordinates):
        radius = distances[np.arange(rows.stop - rows.start), own[rows]][:, None]
        inner = distances < radius * (1 - TIE)
        nearer[rows] = np.minimum(inner.sum(axis=1), depth)
        ties[rows] = (~inner & (distances <= radius * (1 + TIE))).sum(axis=1)
    return nearer, ties


def linkage_growth(
    coordinates: Coordinates, *, secret: Secret, sets: int = 5, truth: str = "position", sizes: Sequence[int] = ()
) -> LinkageGrowth:
    """Linked share against the number of known variables, over up to `sets` sets of variables of each size."""
    check_choice(truth, TRUTHS, name="truth", owner=OWNER)
    check_integer(sets, minimum=1, name="sets", owner=OWNER)
    own = _truth(coordinates, truth)
    d = coordinates.n_columns
    rng = secret.stream("linkage growth")
    rows = []
    for size in sizes or range(1, d + 1):
        check_integer(size, minimum=1, maximum=d, name="sizes", owner=OWNER)
        shares = [distance_linkage(coordinates.columns(s), own=own).share for s in _some_sets(d, size, sets, rng)]
        rows.append((size, len(shares), min(shares), float(np.mean(shares)), max(shares)))
    return LinkageGrowth(tuple(rows), 1.0 / coordinates.n_original)


def _some_sets(d: int, size: int, limit: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    if comb(d, size) <= limit:
        return list(combinations(range(d), size))
    chosen: dict[tuple[int, ...], None] = {}
    while len(chosen) < limit:
        chosen[tuple(sorted(int(i) for i in rng.choice(d, size, replace=False)))] = None
    return list(chosen)


@dataclass(frozen=True)
class AssignedLinkage:
    """One-to-one linkage: the original record given to each masked one, and the total distance."""

    assigned: Integers = field(repr=False)
    share: float
    total: float

    def summary(self) -> dict[str, Any]:
        """Share and total distance."""
        return {"linked_share": self.share, "total_distance": self.total}


def assigned_linkage(distances: npt.ArrayLike, *, own: npt.ArrayLike | None = None) -> AssignedLinkage:
    """Link one to one at least total distance (linear sum assignment) from a matrix of masked × original records.

    The constraint helps the intruder: a record that is taken cannot be claimed by another.
    """
    matrix = np.asarray(distances, dtype=np.float64)
    if matrix.size > MOST_ASSIGNED:
        raise DataError(f"{OWNER}: one-to-one linkage of {matrix.shape[0]} × {matrix.shape[1]} records is too large; "
                        "do it by blocks.")  # fmt: skip
    truth = np.arange(matrix.shape[0]) if own is None else np.asarray(own)
    rows, columns = linear_sum_assignment(matrix)
    assigned = np.full(matrix.shape[0], -1, dtype=np.int64)
    assigned[rows] = columns
    return AssignedLinkage(assigned, float((assigned == truth).mean()), float(matrix[rows, columns].sum()))


def all_distances(coordinates: Coordinates) -> Floats:
    """Squared distances of all pairs, masked × original: for small files and for one-to-one linkage in blocks."""
    return np.vstack([distances for _, distances in _blocks(coordinates)])
