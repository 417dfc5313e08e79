# SPDX-License-Identifier: Apache-2.0
"""Nearest records without all pairs: a tree of boxes over records with numeric, ordinal and nominal coordinates.

The squared distance of a record x and a query q is a sum over coordinates: (x−q)² for numeric and ordinal ones; for
nominal ones (codes as floats) 0, or if they differ `nominal` of that coordinate (true is 1, or a weight). A missing
coordinate (NaN) of the query adds nothing; a missing coordinate of the record, where the query has one, adds `absent` of
that coordinate. Queries with a radius stop at the first record that settles them, so small noise costs O(log n) a record;
memory is O(n·d).
"""

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numba import njit

from reticent.base.arrays import Array, Floats, Ints, Mask

LEAF = 12
THREADS = 2
SMALL = 5_000
STACK = 256
"""Nodes that wait during a search: a tree halves its records, so that no path is longer."""
TIE = 1e-9
"""Two squared distances this close (relatively) are a tie: sums of rounded squares differ in the last digits."""


class Tree(NamedTuple):
    """Records in tree order, and per node its stretch, its first child (−1: leaf) and its box."""

    points: Floats
    order: Ints
    starts: Ints
    ends: Ints
    children: Ints
    low: Floats
    high: Floats
    gaps: Mask
    nominal: Mask
    absent: Floats


@njit(cache=True, nogil=True)
def _key(value: float) -> float:
    return value if value == value else np.inf


@njit(cache=True, nogil=True)
def _select(points: Floats, order: Ints, begin: int, end: int, middle: int, column: int) -> None:
    """Partial sort of order[begin:end] so that position `middle` holds what a full sort would put there; O(length)."""
    low, high = begin, end - 1
    while low < high:
        pivot = _key(points[order[(low + high) // 2], column])
        i, j = low, high
        while i <= j:
            while _key(points[order[i], column]) < pivot:
                i += 1
            while _key(points[order[j], column]) > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@njit(cache=True, nogil=True)
def _box(tree: Tree, node: int) -> int:
    """Bounds of the stretch of a node; returns the coordinate with the widest spread, −1 if all its records are equal."""
    widest, best = 0.0, -1
    for column in range(tree.points.shape[1]):
        smallest, largest = np.inf, -np.inf
        gap = False
        for i in range(tree.starts[node], tree.ends[node]):
            value = tree.points[tree.order[i], column]
            if value == value:
                smallest, largest = min(smallest, value), max(largest, value)
            else:
                gap = True
        tree.low[node, column], tree.high[node, column], tree.gaps[node, column] = smallest, largest, gap
        spread = largest - smallest
        if tree.nominal[column] and spread > 0:
            spread = 1.0
        if gap and spread == -np.inf:
            spread = 0.0
        if spread > widest:
            widest, best = spread, column
    return best


@njit(cache=True, nogil=True)
def _build(tree: Tree) -> int:
    """Split stretches at the median of their widest coordinate; returns the number of nodes. O(n log n · d)."""
    starts, ends, children = tree.starts, tree.ends, tree.children
    n_nodes = 1
    starts[0], ends[0] = 0, tree.points.shape[0]
    node = 0
    while node < n_nodes:
        begin, end = starts[node], ends[node]
        column = _box(tree, node)
        children[node] = -1
        if end - begin > LEAF and column >= 0:
            middle = (begin + end) // 2
            _select(tree.points, tree.order, begin, end, middle, column)
            children[node] = n_nodes
            starts[n_nodes], ends[n_nodes] = begin, middle
            starts[n_nodes + 1], ends[n_nodes + 1] = middle, end
            n_nodes += 2
        node += 1
    return n_nodes


def build_tree(points: Floats, nominal: Mask, absent: Floats) -> Tree:
    """A tree over the rows of `points` (n × d); O(n log n · d)."""
    points = np.ascontiguousarray(points, dtype=np.float64)
    n, d = points.shape
    size = max(1, 4 * (n // LEAF + 1))
    order = np.arange(n)
    starts, ends, children = (np.zeros(size, dtype=np.int64) for _ in range(3))
    low, high, gaps = np.zeros((size, d)), np.zeros((size, d)), np.zeros((size, d), dtype=np.bool_)
    m = _build(Tree(points, order, starts, ends, children, low, high, gaps, nominal, absent))
    return Tree(points[order], order, starts[:m], ends[:m], children[:m], low[:m], high[:m], gaps[:m], nominal, absent)


@njit(cache=True, nogil=True, inline="always")
def _to_box(tree: Tree, query: Floats, node: int) -> float:
    """Lower bound of the squared distance between a query and any record in the node."""
    total = 0.0
    for column in range(query.size):
        value = query[column]
        if value != value:
            continue
        below, above = tree.low[node, column] - value, value - tree.high[node, column]
        gap = max(below, above)
        if gap > 0:
            part = 1.0 * tree.nominal[column] if tree.nominal[column] else gap * gap
            total += min(part, tree.absent[column]) if tree.gaps[node, column] else part
    return total


@njit(cache=True, nogil=True, inline="always")
def _to_point(query: Floats, points: Floats, i: int, nominal: Array, absent: Floats, limit: float) -> float:
    """Squared distance to record i; stops once it is above the limit."""
    total = 0.0
    for column in range(query.size):
        value = query[column]
        if value != value:
            continue
        other = points[i, column]
        if other != other:
            total += absent[column]
        elif nominal[column]:
            if value != other:
                total += 1.0 * nominal[column]
        else:
            total += (value - other) * (value - other)
        if total > limit:
            return total
    return total


@njit(cache=True, nogil=True)
def _pair_distances(left: Floats, right: Floats, nominal: Array, absent: Floats, out: Floats) -> None:
    """Squared distance of row i of `left` (queries) to row i of `right` (records); O(n·d)."""
    for i in range(left.shape[0]):
        out[i] = _to_point(left[i], right, i, nominal, absent, np.inf)


@njit(cache=True, nogil=True, inline="always")
def _push(tree: Tree, query: Floats, child: int, nodes: Ints, bounds: Floats, depth: int) -> int:
    """Put both children of a node on the stack, the nearer one on top, because it narrows the search most."""
    left, right = _to_box(tree, query, child), _to_box(tree, query, child + 1)
    if left <= right:
        nodes[depth], bounds[depth] = child + 1, right
        nodes[depth + 1], bounds[depth + 1] = child, left
    else:
        nodes[depth], bounds[depth] = child, left
        nodes[depth + 1], bounds[depth + 1] = child + 1, right
    return depth + 2


@njit(cache=True, nogil=True, inline="always")
def _next_leaf(tree: Tree, query: Floats, limit: float, nodes: Ints, bounds: Floats, depth: int) -> tuple[int, int]:
    """Take nodes off the stack until one is a leaf within the limit: the leaf (−1: none is left) and the new depth."""
    while depth > 0:
        depth -= 1
        if bounds[depth] > limit:
            continue
        node = nodes[depth]
        if tree.children[node] < 0:
            return node, depth
        depth = _push(tree, query, tree.children[node], nodes, bounds, depth)
    return -1, 0


@njit(cache=True, nogil=True)
def _count_nearer(tree: Tree, queries: Floats, radii: Floats, cap: int, nearer: Ints, ties: Ints) -> None:
    """Records nearer than the radius (at most `cap`), and at the radius; stops at `cap`. O(log n) for small radii."""
    nodes, bounds = np.zeros(STACK, dtype=np.int64), np.zeros(STACK, dtype=np.float64)
    for i in range(queries.shape[0]):
        inner, outer = radii[i] * (1.0 - TIE), radii[i] * (1.0 + TIE)
        n_nearer, n_ties, depth = 0, 0, 1
        nodes[0], bounds[0] = 0, 0.0
        while n_nearer < cap:
            leaf, depth = _next_leaf(tree, queries[i], outer, nodes, bounds, depth)
            if leaf < 0:
                break
            for at in range(tree.starts[leaf], tree.ends[leaf]):
                distance = _to_point(queries[i], tree.points, at, tree.nominal, tree.absent, outer)
                if distance < inner:
                    n_nearer += 1
                    if n_nearer >= cap:
                        break
                elif distance <= outer:
                    n_ties += 1
        nearer[i], ties[i] = n_nearer, n_ties


@njit(cache=True, nogil=True)
def _alone_within(tree: Tree, units: Ints, queries: Floats, mine: Ints, radii: Floats, alone: Mask) -> None:
    """Whether only records of its own unit lie within the radius; stops at the first other, so that ties cost nothing."""
    nodes, bounds = np.zeros(STACK, dtype=np.int64), np.zeros(STACK, dtype=np.float64)
    for i in range(queries.shape[0]):
        outer = radii[i] * (1.0 + TIE)
        other, depth = False, 1
        nodes[0], bounds[0] = 0, 0.0
        while not other:
            leaf, depth = _next_leaf(tree, queries[i], outer, nodes, bounds, depth)
            if leaf < 0:
                break
            for at in range(tree.starts[leaf], tree.ends[leaf]):
                if (
                    units[at] != mine[i]
                    and _to_point(queries[i], tree.points, at, tree.nominal, tree.absent, outer) <= outer
                ):
                    other = True
                    break
        alone[i] = not other


@njit(cache=True, nogil=True)
def _sums_within(
    tree: Tree, values: Floats, queries: Floats, radii: Floats, cap: int, counts: Ints, sums: Floats
) -> None:
    """Records within each squared radius and the sum of their values; stops once `cap` records are found.

    Children are visited in the order of the tree, whatever is nearer, so that sums of floats are always added alike.
    """
    nodes = np.empty(STACK, dtype=np.int64)
    for i in range(queries.shape[0]):
        query = queries[i]
        outer = radii[i] * (1.0 + TIE)
        count, total, depth = 0, 0.0, 1
        nodes[0] = 0
        while depth > 0 and count < cap:
            depth -= 1
            node = nodes[depth]
            if _to_box(tree, query, node) > outer:
                continue
            child = tree.children[node]
            if child >= 0:
                nodes[depth], nodes[depth + 1] = child + 1, child
                depth += 2
                continue
            for at in range(tree.starts[node], tree.ends[node]):
                if _to_point(query, tree.points, at, tree.nominal, tree.absent, outer) <= outer:
                    count += 1
                    total += values[at]
        counts[i], sums[i] = count, total


@njit(cache=True, nogil=True)
def _nearest(tree: Tree, queries: Floats, found: Ints, distances: Floats) -> None:
    """Position (in tree order) of the nearest record of each query and its squared distance."""
    nodes, bounds = np.zeros(STACK, dtype=np.int64), np.zeros(STACK, dtype=np.float64)
    for i in range(queries.shape[0]):
        best, where, depth = np.inf, -1, 1
        nodes[0], bounds[0] = 0, 0.0
        while True:
            # a box as far as the best so far has nothing nearer: where many records are equal, that ends the search
            leaf, depth = _next_leaf(tree, queries[i], np.nextafter(best, -np.inf), nodes, bounds, depth)
            if leaf < 0:
                break
            for at in range(tree.starts[leaf], tree.ends[leaf]):
                distance = _to_point(queries[i], tree.points, at, tree.nominal, tree.absent, best)
                if distance < best:
                    best, where = distance, at
        found[i], distances[i] = where, best


def _in_threads(work: Callable[[int, int], None], n: int) -> None:
    """Both threads where there is enough to do; kernels release the lock, results do not depend on the split."""
    parts = THREADS if n >= SMALL else 1
    edges = [n * part // parts for part in range(parts + 1)]
    with ThreadPoolExecutor(parts) as pool:
        for done in [pool.submit(work, a, b) for a, b in itertools.pairwise(edges)]:
            done.result()


def pair_distances(queries: Floats, records: Floats, nominal: Mask, absent: Floats) -> Floats:
    """Squared distance of each query to the record in the same row."""
    out = np.empty(queries.shape[0])
    _pair_distances(queries, records, nominal, absent, out)
    return out


def count_nearer(tree: Tree, queries: Floats, radii: Floats, *, cap: int) -> tuple[Ints, Ints]:
    """How many records are nearer to each query than its squared radius (counted up to `cap`), and how many tie with it."""
    n = queries.shape[0]
    nearer, ties = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)

    def work(a: int, b: int) -> None:
        _count_nearer(tree, queries[a:b], radii[a:b], cap, nearer[a:b], ties[a:b])

    _in_threads(work, n)
    return nearer, ties


def alone_within(tree: Tree, units: Ints, queries: Floats, mine: Ints, radii: Floats) -> Mask:
    """Whether no record of another unit than the query's own lies within its squared radius (ties count as within).

    `units` has one for each row of the input of `build_tree`, `mine` one for each query.
    """
    n = queries.shape[0]
    alone = np.empty(n, dtype=np.bool_)
    ordered = np.ascontiguousarray(units[tree.order])

    def work(a: int, b: int) -> None:
        _alone_within(tree, ordered, queries[a:b], mine[a:b], radii[a:b], alone[a:b])

    _in_threads(work, n)
    return alone


def sums_within(tree: Tree, values: Floats, queries: Floats, radii: Floats, *, cap: int) -> tuple[Ints, Floats]:
    """How many records lie within the squared radius of each query, and the sum of their `values` (one for each row of the
    input of `build_tree`). The search stops once `cap` records are found: both are then lower bounds."""
    n = queries.shape[0]
    counts, sums = np.empty(n, dtype=np.int64), np.empty(n)
    ordered = np.ascontiguousarray(values[tree.order])

    def work(a: int, b: int) -> None:
        _sums_within(tree, ordered, queries[a:b], radii[a:b], cap, counts[a:b], sums[a:b])

    _in_threads(work, n)
    return counts, sums


def nearest(tree: Tree, queries: Floats) -> tuple[Ints, Floats]:
    """The nearest record of each query (its row in the input of `build_tree`) and its squared distance."""
    n = queries.shape[0]
    found, distances = np.empty(n, dtype=np.int64), np.empty(n)

    def work(a: int, b: int) -> None:
        _nearest(tree, queries[a:b], found[a:b], distances[a:b])

    _in_threads(work, n)
    return tree.order[found], distances
