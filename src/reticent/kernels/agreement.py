# SPDX-License-Identifier: Apache-2.0
"""Agreement patterns of all pairs of two files, counted without looking at any pair.

Codes are shared by the two files, −1 = missing, which agrees with nothing. A pattern is a bit mask: bit j is set when
the pair agrees on variable j. Pairs that agree at least on a set S number Σ n_A(v)·n_B(v) over the combinations v of S;
Möbius inversion over the sets gives the pairs that agree exactly on S.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit

from reticent.base.arrays import Codes, Ints, Narrow, Words
from reticent.kernels.grouping import group_rows

MAX_BITS = 63
THREADS = 2


def joint_patterns(left: Codes, right: Codes) -> tuple[Codes, Ints, Ints, Ints, Ints]:
    """Distinct rows of both files: codes, how often each occurs on the left and right, and each record's pattern."""
    both = np.vstack([left, right])
    cards = both.max(axis=0, initial=-1) + 1
    group, n = group_rows(both, np.maximum(cards, 1))
    first = np.empty(n, dtype=np.int64)
    first[group[::-1]] = np.arange(group.size - 1, -1, -1)
    left_group, right_group = group[: left.shape[0]], group[left.shape[0] :]
    counts = np.bincount(left_group, minlength=n), np.bincount(right_group, minlength=n)
    return both[first], *counts, left_group, right_group


def _merge(codes: Codes, left: Ints, right: Ints) -> tuple[Codes, Ints, Ints]:
    """Equal rows become one; O(rows · columns)."""
    if codes.shape[1] == 0:
        return codes[:1], left.sum(keepdims=True), right.sum(keepdims=True)
    group, n = group_rows(codes, np.maximum(codes.max(axis=0, initial=-1) + 1, 1))
    first = np.empty(n, dtype=np.int64)
    first[group[::-1]] = np.arange(group.size - 1, -1, -1)
    # float sums are exact below 2**53 records
    in_left = np.bincount(group, weights=left, minlength=n).astype(np.int64)
    in_right = np.bincount(group, weights=right, minlength=n).astype(np.int64)
    return np.ascontiguousarray(codes[first]), in_left, in_right


def _subsets(
    codes: Codes, left: Ints, right: Ints, names: tuple[int, ...], start: int
) -> Iterator[tuple[tuple[int, ...], Codes, Ints, Ints]]:
    """Every subset of the variables once, each merged from a superset that lacks nothing but one variable."""
    yield names, codes, left, right
    for position in range(start, len(names)):
        kept = [i for i in range(len(names)) if i != position]
        smaller = _merge(np.ascontiguousarray(codes[:, kept]), left, right)
        yield from _subsets(*smaller, tuple(names[i] for i in kept), position)


@njit(cache=True, nogil=True)
def _merge_packed(
    keys: Words,
    left: Ints,
    right: Ints,
    keep: np.uint64,
    table: Narrow,
    out_keys: Words,
    out_left: Ints,
    out_right: Ints,
) -> int:
    """Merge rows whose kept bits are equal (open addressing); returns how many are left. O(n) expected."""
    mask = np.uint64(table.size - 1)
    table[:] = -1
    n = 0
    for i in range(keys.size):
        key = keys[i] & keep
        word = key ^ (key >> np.uint64(29))
        at = ((word * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(24)) & mask
        while table[at] >= 0 and out_keys[table[at]] != key:
            at = (at + np.uint64(1)) & mask
        where = table[at]
        if where < 0:
            table[at] = n
            out_keys[n], out_left[n], out_right[n] = key, left[i], right[i]
            n += 1
        else:
            out_left[where] += left[i]
            out_right[where] += right[i]
    return n


@njit(cache=True, nogil=True)
def _agreeing_pairs(keys: Words, left: Ints, right: Ints, fields: Words) -> int:
    """Σ left·right over rows without a missing field (a field of zeros); O(n · fields)."""
    total = 0
    for i in range(keys.size):
        product = left[i] * right[i]
        if product > 0:
            for field in fields:
                if keys[i] & field == np.uint64(0):
                    product = 0
                    break
            total += product
    return total


def _packed(codes: Codes) -> tuple[Words, Words] | None:
    """All codes of a row in one word, code + 1 in a field of its own, and the fields; None if they do not fit."""
    widths = [int(column.max(initial=-1) + 1).bit_length() or 1 for column in codes.T]
    if sum(widths) > MAX_BITS:
        return None
    keys = np.zeros(codes.shape[0], dtype=np.uint64)
    fields, shift = [], 0
    for column, width in zip(codes.T, widths, strict=True):
        keys |= (column + 1).astype(np.uint64) << np.uint64(shift)
        fields.append(((1 << width) - 1) << shift)
        shift += width
    return keys, np.array(fields, dtype=np.uint64)


def _count_packed(
    keys: Words, left: Ints, right: Ints, fields: Words, names: tuple[int, ...], start: int, out: Ints
) -> None:
    """Pairs that agree at least on each subset reached from here; each is merged from a set with one variable more."""
    kept = fields[list(names)] if names else fields[:0]
    out[sum(1 << name for name in names)] = _agreeing_pairs(keys, left, right, kept)
    for position in range(start, len(names)):
        rest = names[:position] + names[position + 1 :]
        bits = np.bitwise_or.reduce(fields[list(rest)]) if rest else np.uint64(0)
        table = np.empty(1 << max(2, int(keys.size).bit_length() + 1), dtype=np.int32)
        merged = np.empty_like(keys), np.empty_like(left), np.empty_like(right)
        n = _merge_packed(keys, left, right, bits, table, *merged)
        _count_packed(merged[0][:n], merged[1][:n], merged[2][:n], fields, rest, position, out)


def agreement_counts(left: Codes, right: Codes) -> Ints:
    """Pairs by exact agreement pattern (2**q numbers); O(2**q · patterns) time, O(q · patterns) memory."""
    q = left.shape[1]
    codes, n_left, n_right, _, _ = joint_patterns(left, right)
    at_least = np.zeros(1 << q, dtype=np.int64)
    packed = _packed(codes)
    if packed is None:
        for names, rows, in_left, in_right in _subsets(codes, n_left, n_right, tuple(range(q)), 0):
            complete = (rows >= 0).all(axis=1)
            at_least[sum(1 << name for name in names)] = int((in_left[complete] * in_right[complete]).sum())
        return exactly(at_least)
    keys, fields = packed
    at_least[-1] = _agreeing_pairs(keys, n_left, n_right, fields)

    def branch(position: int) -> None:
        names = tuple(i for i in range(q) if i != position)
        bits = np.bitwise_or.reduce(fields[list(names)]) if names else np.uint64(0)
        table = np.empty(1 << max(2, int(keys.size).bit_length() + 1), dtype=np.int32)
        merged = np.empty_like(keys), np.empty_like(n_left), np.empty_like(n_right)
        n = _merge_packed(keys, n_left, n_right, bits, table, *merged)
        _count_packed(merged[0][:n], merged[1][:n], merged[2][:n], fields, names, position, at_least)

    with ThreadPoolExecutor(THREADS) as pool:  # branches write to different sets
        list(pool.map(branch, range(q)))
    return exactly(at_least)


def exactly(at_least: Ints) -> Ints:
    """Möbius inversion over supersets: from "agree at least on S" to "agree exactly on S"."""
    counts = at_least.copy()
    masks = np.arange(counts.size)
    bit = 1
    while bit < counts.size:
        without = masks[(masks & bit) == 0]
        counts[without] -= counts[without | bit]
        bit <<= 1
    return counts


def best_agreement(left: Codes, right: Codes, order: Sequence[int]) -> tuple[Ints, Ints]:
    """For each right record the first mask in `order` on which some left record agrees, and how many do (0: none).

    When `order` puts supersets before their subsets, these left records agree on exactly that mask.
    """
    codes, n_left, _, _, right_group = joint_patterns(left, right)
    best = np.zeros(codes.shape[0], dtype=np.int64)
    ties = np.zeros(codes.shape[0], dtype=np.int64)
    wanted = np.zeros(codes.shape[0], dtype=bool)
    wanted[right_group] = True
    have = np.flatnonzero(n_left > 0)
    for mask in order:
        columns = np.flatnonzero(mask >> np.arange(codes.shape[1]) & 1)
        open_ = np.flatnonzero(wanted & (ties == 0))
        if not open_.size:
            break
        if not columns.size:
            best[open_], ties[open_] = 0, int(n_left.sum())
            break
        open_ = open_[(codes[np.ix_(open_, columns)] >= 0).all(axis=1)]
        known = have[(codes[np.ix_(have, columns)] >= 0).all(axis=1)]
        rows = np.ascontiguousarray(codes[np.ix_(np.concatenate([known, open_]), columns)])
        if not open_.size or not known.size:
            continue
        group, n = group_rows(rows, rows.max(axis=0) + 1)
        per_group = np.bincount(group[: known.size], weights=n_left[known], minlength=n).astype(np.int64)
        hits = per_group[group[known.size :]]
        best[open_], ties[open_] = np.where(hits > 0, mask, 0), hits
    return best[right_group], ties[right_group]


def pairs_agreeing(left: Codes, right: Codes, columns: Sequence[int]) -> tuple[Ints, Ints]:
    """All pairs (left, right) that agree on the columns; O(pairs)."""
    columns = list(columns)
    a = np.flatnonzero((left[:, columns] >= 0).all(axis=1))
    b = np.flatnonzero((right[:, columns] >= 0).all(axis=1))
    rows = np.ascontiguousarray(np.vstack([left[a][:, columns], right[b][:, columns]]))
    if not a.size or not b.size:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    group, n = group_rows(rows, rows.max(axis=0) + 1)
    group_a, group_b = group[: a.size], group[a.size :]
    by_group = np.argsort(group_a, kind="stable")
    sizes = np.bincount(group_a, minlength=n)
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    repeat = sizes[group_b]
    offset = np.arange(int(repeat.sum())) - np.repeat(np.cumsum(repeat) - repeat, repeat)
    found = by_group[np.repeat(starts[group_b], repeat) + offset]
    return a[found], np.repeat(b, repeat)


def patterns_of_pairs(left: Codes, right: Codes) -> Ints:
    """The agreement mask of row i on the left with row i on the right."""
    agree = (left == right) & (left >= 0)
    return np.asarray(agree @ (1 << np.arange(left.shape[1], dtype=np.int64)), dtype=np.int64)
