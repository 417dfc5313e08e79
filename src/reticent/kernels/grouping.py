# SPDX-License-Identifier: Apache-2.0
"""Which records share a combination of codes, and how many they are: the counting core.

Codes are small integers per variable, −1 = missing (here a category of its own; the other readings of a missing value
are in `wildcards`). Every record gets one mixed-radix number; equal numbers are equal combinations, never only equal
hashes. Small number ranges are counted in a dense table, large ones in hash tables over radix partitions. Time is
O(n·q); memory beyond the input is at most 4–8 bytes a record for the number, as much again for the partitions
and 8 for the result, or a dense table of at most 4 bytes × `DENSE_PER_RECORD` · n.

Groups are numbered by first appearance, so that the result depends on the data alone, never on threads or hashes.
"""

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from reticent.base.arrays import Array, Ints

THREADS = 2
SMALL = 50_000
"""Below this many records a second thread costs more than it brings."""
BLOCK = 32_768
"""Records whose numbers are built at a time: they stay in the second-level cache over all columns."""
DENSE_PER_RECORD = 6
DENSE_ALWAYS = 1 << 16
DENSE_MAX = 1 << 24
PARTITION = 8_192
MAX_SPACE = 1 << 62

Integers = NDArray[Any]


@njit(cache=True, nogil=True)
def _append_column(keys: Array, column: Array, low: int, radix: np.uint32 | np.uint64) -> None:
    """keys ← keys · radix + (column − low): one more digit. O(n)."""
    for i in range(keys.size):
        keys[i] = keys[i] * radix + keys.dtype.type(np.int64(column[i]) - low)


@njit(cache=True, nogil=True)
def _dense_count(keys: Array, low: np.uint32 | np.uint64, high: np.uint32 | np.uint64, table: Array) -> None:
    """Count the numbers in [low, high): each thread owns a stretch of the table. O(n)."""
    for i in range(keys.size):
        key = keys[i]
        if low <= key < high:
            table[key] += 1


@njit(cache=True, nogil=True)
def _dense_groups(keys: Array, table: Array, group: Ints) -> int:
    """Group numbers by first appearance through a table that starts at −1; returns how many there are. O(n)."""
    n_groups = 0
    for i in range(keys.size):
        if table[keys[i]] < 0:
            table[keys[i]] = n_groups
            n_groups += 1
        group[i] = table[keys[i]]
    return n_groups


@njit(cache=True, nogil=True)
def _gather(keys: Array, table: Array, out: Ints) -> None:
    """out[i] ← table[keys[i]]. O(n)."""
    for i in range(keys.size):
        out[i] = table[keys[i]]


@njit(cache=True, nogil=True)
def _mix(key: np.uint32 | np.uint64) -> np.uint64:
    """Spread a number over 64 bits (Fibonacci hashing of the folded word)."""
    word = np.uint64(key)
    word ^= word >> np.uint64(29)
    return word * np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True)
def _partition_sizes(keys: Array, shift: np.uint64, sizes: Ints) -> None:
    """How many records fall in each partition. O(n)."""
    for i in range(keys.size):
        sizes[_mix(keys[i]) >> shift] += 1


@njit(cache=True, nogil=True)
def _partition(keys: Array, shift: np.uint64, place: Ints, parts: Array) -> None:
    """Scatter numbers to their partitions, keeping the order of records; `place` moves on. O(n)."""
    for i in range(keys.size):
        part = _mix(keys[i]) >> shift
        parts[place[part]] = keys[i]
        place[part] += 1


@njit(cache=True, nogil=True)
def _label_partitions(parts: Array, bounds: Ints, begin: int, end: int, counting: bool) -> None:
    """Replace each number by its frequency (`counting`) or by its label 0, 1, … within the partition. O(n) expected."""
    largest = 1
    for part in range(begin, end):
        largest = max(largest, bounds[part + 1] - bounds[part])
    size = 2
    while size < 2 * largest:
        size *= 2
    mask = np.uint64(size - 1)
    table = np.empty(size, parts.dtype)
    labels = np.full(size, -1, np.int32)
    counts = np.empty(largest, parts.dtype)
    used = np.empty(largest, np.int32)
    for part in range(begin, end):
        n_labels = 0
        for at in range(bounds[part], bounds[part + 1]):
            key = parts[at]
            slot = (_mix(key) >> np.uint64(20)) & mask
            while labels[slot] >= 0 and table[slot] != key:
                slot = (slot + np.uint64(1)) & mask
            if labels[slot] < 0:
                labels[slot] = n_labels
                table[slot] = key
                used[n_labels] = slot
                counts[n_labels] = 0
                n_labels += 1
            counts[labels[slot]] += parts.dtype.type(1)
            parts[at] = labels[slot]
        if counting:
            for at in range(bounds[part], bounds[part + 1]):
                parts[at] = counts[parts[at]]
        for label in range(n_labels):
            labels[used[label]] = -1


@njit(cache=True, nogil=True)
def _collect(keys: Array, shift: np.uint64, place: Ints, parts: Array, out: Ints) -> None:
    """Read the partitions back in the order of records: the same walk as `_partition`. O(n)."""
    for i in range(keys.size):
        part = _mix(keys[i]) >> shift
        out[i] = parts[place[part]]
        place[part] += 1


@njit(cache=True, nogil=True)
def _collect_groups(keys: Array, shift: np.uint64, bounds: Ints, parts: Array, number: Array, group: Ints) -> int:
    """Turn labels within partitions into group numbers by first appearance; returns how many there are. O(n).

    `number` is scratch, one entry a record, −1 at the start.
    """
    place = bounds[:-1].copy()
    n_groups = 0
    for i in range(keys.size):
        part = _mix(keys[i]) >> shift
        at = bounds[part] + np.int64(parts[place[part]])
        place[part] += 1
        if number[at] < 0:
            number[at] = n_groups
            n_groups += 1
        group[i] = number[at]
    return n_groups


@njit(cache=True, nogil=True)
def _tally(group: Ints, first_row: Ints, counts: Ints) -> None:
    """First record and size of every group. O(n)."""
    for i in range(group.size):
        if counts[group[i]] == 0:
            first_row[group[i]] = i
        counts[group[i]] += 1


@njit(cache=True, nogil=True)
def _sort_members(group: Ints, starts: Ints, order: Ints) -> None:
    """Records group after group, in their order; `starts` has the groups' sizes shifted by one place. O(n)."""
    for g in range(1, starts.size):
        starts[g] += starts[g - 1]
    place = starts[:-1].copy()
    for i in range(group.size):
        order[place[group[i]]] = i
        place[group[i]] += 1


def _spans(n: int, parts: int) -> list[tuple[int, int]]:
    edges = [n * part // parts for part in range(parts + 1)]
    return [(a, b) for a, b in itertools.pairwise(edges) if b > a]


def _in_threads(work: Callable[[int, int], None], n: int, *, size: int) -> None:
    """Run `work(begin, end)` over [0, n) on both threads when there is enough to do (kernels release the lock)."""
    spans = _spans(n, THREADS if size >= SMALL else 1)
    _each_span(spans, lambda _, stretch: work(stretch.start, stretch.stop))


def _each_span(spans: list[tuple[int, int]], work: Callable[[int, slice], None]) -> None:
    """Run `work(s, slice of records)` for every stretch, each on its own thread."""
    if len(spans) <= 1:
        for s, (begin, end) in enumerate(spans):
            work(s, slice(begin, end))
        return
    with ThreadPoolExecutor(len(spans)) as pool:
        for done in [pool.submit(work, s, slice(begin, end)) for s, (begin, end) in enumerate(spans)]:
            done.result()


def radix_keys(columns: Sequence[Integers], cardinalities: Sequence[int]) -> tuple[Integers, int]:
    """One number per record, equal exactly where all codes are equal, and the size of the range [0, space).

    Only the codes that occur (least to greatest) use up the range; a prefix whose range would pass 2**62 is replaced
    by its group numbers first, so there is no overflow for any number of variables. `cardinalities` bounds the codes;
    it spares the scan where the code range is known to be small.
    """
    if not columns:
        raise ValueError("grouping: at least one column is needed.")
    n = len(columns[0])
    digits: list[tuple[int, int]] = []
    for column, cardinality in zip(columns, cardinalities, strict=True):
        low, high = (int(column.min()), int(column.max())) if n else (0, 0)
        if low < -1 or high >= max(cardinality, 1):
            raise ValueError(f"grouping: codes must be −1 to {cardinality - 1}, got {low} to {high}.")
        digits.append((low, high - low + 1))
    stop, space = 0, 1
    while stop < len(digits) and space * digits[stop][1] <= MAX_SPACE:
        space *= digits[stop][1]
        stop += 1
    keys: Integers = np.zeros(n, np.uint32 if max(space, n) <= 1 << 32 else np.uint64)

    def build(begin: int, end: int) -> None:
        for start in range(begin, end, BLOCK):
            block = slice(start, min(start + BLOCK, end))
            for column, (low, radix) in zip(columns[:stop], digits[:stop]):
                _append_column(keys[block], column[block], np.int64(low), keys.dtype.type(radix))

    _in_threads(build, n, size=n)
    if stop == len(columns):
        return keys, space
    group, n_groups = _group_keys(keys, space)
    return radix_keys([group, *columns[stop:]], [n_groups, *cardinalities[stop:]])


def _counter(n: int) -> type[np.int32] | type[np.int64]:
    return np.int32 if n < 1 << 31 else np.int64


def _is_dense(n: int, space: int) -> bool:
    return space <= DENSE_ALWAYS or (space <= DENSE_PER_RECORD * n and space <= DENSE_MAX)


@dataclass(frozen=True, slots=True)
class _Partitions:
    """Numbers laid out by partition; `places` is where each thread's stretch of records begins in each partition."""

    parts: Integers
    bounds: NDArray[np.int64]
    places: NDArray[np.int64]
    spans: list[tuple[int, int]]
    shift: np.uint64


def _partitioned(keys: Integers) -> _Partitions:
    """Lay the numbers out by partition, so that each partition's table fits a processor cache."""
    n = keys.size
    bits = max(1, min(12, int(n // PARTITION).bit_length()))
    shift = np.uint64(64 - bits)
    spans = _spans(n, THREADS if n >= SMALL else 1)
    sizes = np.zeros((len(spans), 1 << bits), np.int64)
    _each_span(spans, lambda s, stretch: _partition_sizes(keys[stretch], shift, sizes[s]))
    bounds = np.zeros((1 << bits) + 1, np.int64)
    np.cumsum(sizes.sum(axis=0), out=bounds[1:])
    places = bounds[:-1] + np.cumsum(sizes, axis=0) - sizes
    parts = np.empty_like(keys)
    moving = places.copy()
    _each_span(spans, lambda s, stretch: _partition(keys[stretch], shift, moving[s], parts))
    return _Partitions(parts, bounds, places, spans, shift)


def _label(layout: _Partitions, *, counting: bool) -> None:
    parts, bounds = layout.parts, layout.bounds
    _in_threads(lambda a, b: _label_partitions(parts, bounds, a, b, counting), bounds.size - 1, size=parts.size)


def _count_keys(keys: Integers, space: int) -> NDArray[np.int64]:
    n = keys.size
    out = np.empty(n, np.int64)
    if _is_dense(n, space):
        table = np.zeros(space, _counter(n))
        kind = keys.dtype.type
        _in_threads(lambda a, b: _dense_count(keys, kind(a), kind(b), table), space, size=n)
        _in_threads(lambda a, b: _gather(keys[a:b], table, out[a:b]), n, size=n)
        return out
    layout = _partitioned(keys)
    _label(layout, counting=True)
    _each_span(
        layout.spans,
        lambda s, stretch: _collect(keys[stretch], layout.shift, layout.places[s], layout.parts, out[stretch]),
    )
    return out


def _group_keys(keys: Integers, space: int) -> tuple[NDArray[np.int64], int]:
    n = keys.size
    group = np.empty(n, np.int64)
    if n == 0:
        return group, 0
    if not _is_dense(n, space):
        layout = _partitioned(keys)
        _label(layout, counting=False)
        number = np.full(n, -1, _counter(n))
        return group, int(_collect_groups(keys, layout.shift, layout.bounds, layout.parts, number, group))
    table = np.full(space, -1, _counter(n))
    return group, int(_dense_groups(keys, table, group))


def _columns_of(codes: Integers) -> list[Integers]:
    """The columns of a code matrix; a matrix without columns puts all records in one group."""
    if codes.shape[1] == 0:
        return [np.zeros(codes.shape[0], np.int32)]
    return [codes[:, j] for j in range(codes.shape[1])]


def _cards_of(codes: Integers, cardinalities: Sequence[int] | NDArray[np.int64]) -> list[int]:
    return [int(c) for c in cardinalities] if codes.shape[1] else [1]


def group_columns(columns: Sequence[Integers], cardinalities: Sequence[int]) -> tuple[NDArray[np.int64], int]:
    """Group number of each record (by first appearance) and the number of groups, from separate code columns."""
    return _group_keys(*radix_keys(columns, cardinalities))


def group_rows(codes: Integers, cardinalities: Sequence[int] | NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Group number of each row of `codes` (n × q, −1 = missing = own category), numbered by first appearance."""
    return group_columns(_columns_of(codes), _cards_of(codes, cardinalities))


def frequencies_of_columns(columns: Sequence[Integers], cardinalities: Sequence[int]) -> NDArray[np.int64]:
    """How many records share each record's combination: the fast path when no group numbers are needed."""
    return _count_keys(*radix_keys(columns, cardinalities))


def frequencies(codes: Integers, cardinalities: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """How many rows of `codes` (n × q, −1 = missing = own category) equal each row."""
    return frequencies_of_columns(_columns_of(codes), _cards_of(codes, cardinalities))


def members_of_groups(group: Integers, n_groups: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each group begins (n_groups + 1 entries) and the records group after group, in their order. O(n)."""
    starts = np.zeros(n_groups + 1, np.int64)
    starts[1:] = np.bincount(group, minlength=n_groups)
    order = np.empty(len(group), np.int64)
    _sort_members(group, starts, order)
    return starts, order


def pattern_table(
    codes: Integers,
    cardinalities: Sequence[int] | NDArray[np.int64],
    weights: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64] | None, NDArray[np.int64]]:
    """The distinct rows: first record, count and weight sum (if weights are given) of each, and each record's pattern.

    Patterns are numbered by first appearance, so `first_row` is increasing and `codes[first_row]` are the patterns.
    """
    group, n_groups = group_rows(codes, cardinalities)
    first_row = np.zeros(n_groups, np.int64)
    counts = np.zeros(n_groups, np.int64)
    _tally(group, first_row, counts)
    sums = None if weights is None else np.bincount(group, weights=weights, minlength=n_groups).astype(np.float64)
    return first_row, counts, sums, group


def distinct_rows(codes: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The distinct rows, and the number of each record's row among them."""
    cards = [int(codes[:, v].max(initial=-1)) + 1 for v in range(codes.shape[1])]
    first, _, _, group = pattern_table(codes, cards)
    return codes[first], group
