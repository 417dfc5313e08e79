# SPDX-License-Identifier: Apache-2.0
"""Random draws keyed by record: Philox4x32-10, so that a draw depends on secret, record id and draw number only.

Order of records, chunks and threads never matter. The generator is that of Salmon, Moraes, Dror and Shaw (2011),
"Parallel random numbers: as easy as 1, 2, 3"; the tests hold its published known answers.
"""

import math
from collections.abc import Iterator

import numpy as np
from numba import njit
from numpy.typing import NDArray

from reticent.base.arrays import Floats

Ids = NDArray[np.uint64]

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_MULTIPLIER_0 = np.uint64(0xD2511F53)
_MULTIPLIER_1 = np.uint64(0xCD9E8D57)
_WEYL_0 = np.uint64(0x9E3779B9)
_WEYL_1 = np.uint64(0xBB67AE85)
_ROUNDS = 10
_UNIT = 1.0 / 9007199254740992.0
_WORD = (1 << 64) - 1
_BLOCK = 1 << 15


@njit(cache=True, inline="always")
def philox(
    c0: np.uint64, c1: np.uint64, c2: np.uint64, c3: np.uint64, k0: np.uint64, k1: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """One block of four 32-bit words (kept in uint64, so that no product overflows); O(1)."""
    for _ in range(_ROUNDS):
        p0 = _MULTIPLIER_0 * c0
        p1 = _MULTIPLIER_1 * c2
        c0, c1, c2, c3 = (p1 >> _HALF) ^ c1 ^ k0, p1 & _LOW, (p0 >> _HALF) ^ c3 ^ k1, p0 & _LOW
        k0 = (k0 + _WEYL_0) & _LOW
        k1 = (k1 + _WEYL_1) & _LOW
    return c0, c1, c2, c3


@njit(cache=True, inline="always")
def record_pair(word0: np.uint64, word1: np.uint64, record: np.uint64, block: np.uint64) -> tuple[float, float]:
    """Two uniforms in [0, 1) of 53 bits for one record and one block number.

    The first word is Philox's key; the second whitens the counter's upper half, so all 128 secret bits count and
    (record, block) stays one to one with the counter (block below 2**32).
    """
    c0, c1, c2, c3 = philox(
        record & _LOW,
        record >> _HALF,
        (block ^ word1) & _LOW,
        word1 >> _HALF,
        word0 & _LOW,
        word0 >> _HALF,
    )
    first = (c0 << np.uint64(21)) ^ (c1 >> np.uint64(11))
    second = (c2 << np.uint64(21)) ^ (c3 >> np.uint64(11))
    return float(first) * _UNIT, float(second) * _UNIT


@njit(cache=True)
def record_uniform(word0: np.uint64, word1: np.uint64, record: np.uint64, draw: np.uint64) -> float:
    """Draw number `draw` of one record, uniform in [0, 1): for kernels that need a varying number of draws."""
    first, second = record_pair(word0, word1, record, draw >> np.uint64(1))
    return float(first if (draw & np.uint64(1)) == np.uint64(0) else second)


@njit(cache=True)
def _fill_hashes(word0: np.uint64, word1: np.uint64, ids: Ids, values: Ids, out: Ids) -> None:
    """Chain id and values of each record through Philox (as CBC-MAC does, for one length per key); O(n · columns)."""
    n, columns = values.shape
    for i in range(n):
        c0, c1, c2, c3 = philox(
            ids[i] & _LOW, ids[i] >> _HALF, word1 & _LOW, word1 >> _HALF, word0 & _LOW, word0 >> _HALF
        )
        for j in range(columns):
            c0, c1, c2, c3 = philox(
                c0 ^ (values[i, j] & _LOW), c1 ^ (values[i, j] >> _HALF), c2, c3, word0 & _LOW, word0 >> _HALF
            )
        out[i, 0] = (c0 << _HALF) | c1
        out[i, 1] = (c2 << _HALF) | c3


@njit(cache=True)
def _fill(word0: np.uint64, word1: np.uint64, ids: Ids, start: int, normal: bool, out: Floats) -> None:
    """Draws start, start + 1, … of each record into the columns of `out`; O(n · columns).

    Uniforms, or standard normals by Box and Muller: draw 2b is the cosine half of block b, draw 2b + 1 the sine half.
    """
    n, columns = out.shape
    for i in range(n):
        j = 0
        while j < columns:
            draw = start + j
            first, second = record_pair(word0, word1, ids[i], np.uint64(draw >> 1))
            if normal:
                radius = math.sqrt(-2.0 * math.log(first + 0.5 * _UNIT))
                angle = 2.0 * math.pi * second
                first, second = radius * math.cos(angle), radius * math.sin(angle)
            if draw % 2 == 1:
                out[i, j] = second
                j += 1
            else:
                out[i, j] = first
                if j + 1 < columns:
                    out[i, j + 1] = second
                j += 2


def _words(word0: int, word1: int) -> tuple[np.uint64, np.uint64]:
    return np.uint64(word0 & _WORD), np.uint64(word1 & _WORD)


def record_hashes(word0: int, word1: int, ids: Ids, values: Ids) -> Ids:
    """A keyed 128-bit hash, shape (n, 2), of each record's id and its values as 64-bit words (n, d)."""
    out = np.empty((ids.shape[0], 2), dtype=np.uint64)
    own = np.ascontiguousarray(values, dtype=np.uint64)
    _fill_hashes(*_words(word0, word1), np.ascontiguousarray(ids, dtype=np.uint64), own, out)
    return out


def record_keys(word0: int, word1: int, ids: Ids, values: Ids) -> Ids:
    """The first word of each record's hash, made block by block: the second is not kept."""
    out = np.empty(len(ids), dtype=np.uint64)
    for rows in _blocks(len(ids)):
        out[rows] = record_hashes(word0, word1, ids[rows], values[rows])[:, 0]
    return out


def fingerprint(word0: int, word1: int, ids: Ids, values: Ids) -> bytes:
    """A fingerprint of a set of records that does not depend on their order: the sum of their keyed hashes."""
    total = np.zeros(2, dtype=np.uint64)
    for rows in _blocks(len(ids)):
        total += np.sum(record_hashes(word0, word1, ids[rows], values[rows]), axis=0, dtype=np.uint64)
    return total.astype("<u8").tobytes()


def _blocks(n: int) -> Iterator[slice]:
    """Parts of n records that fit into the cache."""
    return (slice(start, start + _BLOCK) for start in range(0, n, _BLOCK))


def uniform_matrix(word0: int, word1: int, ids: Ids, columns: int, *, start: int = 0) -> Floats:
    """Uniforms in [0, 1), shape (n, columns): column j is draw number start + j of each record."""
    out = np.empty((ids.shape[0], columns))
    _fill(*_words(word0, word1), np.ascontiguousarray(ids, dtype=np.uint64), start, False, out)
    return out


def normal_matrix(word0: int, word1: int, ids: Ids, columns: int, *, start: int = 0) -> Floats:
    """Standard normals, shape (n, columns): column j is draw number start + j of each record."""
    out = np.empty((ids.shape[0], columns))
    _fill(*_words(word0, word1), np.ascontiguousarray(ids, dtype=np.uint64), start, True, out)
    return out


def uniforms(word0: int, word1: int, ids: Ids, draw: int = 0) -> Floats:
    """Uniforms in [0, 1): draw number `draw` of each record."""
    return uniform_matrix(word0, word1, ids, 1, start=draw).ravel()


def normals(word0: int, word1: int, ids: Ids, draw: int = 0) -> Floats:
    """Standard normals: draw number `draw` of each record."""
    return normal_matrix(word0, word1, ids, 1, start=draw).ravel()
