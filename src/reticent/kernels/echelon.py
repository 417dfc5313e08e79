# SPDX-License-Identifier: Apache-2.0
"""Arithmetic modulo the prime 2^61 − 1 for row spaces of integer matrices whose rows are sums of bit masks.

A row is a list of terms, each a coefficient (already reduced) times a 0/1 vector over the columns, stored as 64-bit
words. `inverse` is the inverse of the square submatrix of the pivot columns; it is kept up to date row by row, so that
membership, combinations and random vectors of the null space cost O(rank² + set bits), not O(rank · columns).
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

PRIME = 2**61 - 1
Residues = NDArray[np.uint64]

_P = np.uint64(PRIME)
_ONE, _ZERO = np.uint64(1), np.uint64(0)
_M30, _M31 = np.uint64(2**30 - 1), np.uint64(2**31 - 1)
_S30, _S31, _S61, _S1 = np.uint64(30), np.uint64(31), np.uint64(61), np.uint64(1)


@njit(cache=True, inline="always")
def _times(a: np.uint64, b: np.uint64) -> np.uint64:
    """a · b modulo the prime, by 31-bit halves (no 128-bit product is needed)."""
    ah, al = a >> _S31, a & _M31
    bh, bl = b >> _S31, b & _M31
    # 2^61 = 1 modulo a Mersenne prime (Knuth, volume 2, 4.3.2): what lies above bit 61 is folded back by an addition
    middle = al * bh + ah * bl
    x = ((ah * bh) << _S1) + (middle >> _S30) + ((middle & _M30) << _S31) + al * bl
    x = (x >> _S61) + (x & _P)
    return x - _P if x >= _P else x


@njit(cache=True, inline="always")
def _plus(a: np.uint64, b: np.uint64) -> np.uint64:
    """a + b modulo the prime."""
    x = a + b
    return x - _P if x >= _P else x


@njit(cache=True)
def multiply(a: Residues, b: Residues) -> Residues:
    """Elementwise product."""
    out = np.empty_like(a)
    for i in range(len(a)):
        out[i] = _times(a[i], b[i])
    return out


@njit(cache=True)
def ratios(a: Residues, b: Residues) -> Residues:
    """a / b elementwise; no b may be 0. One inversion for all of them (running products)."""
    n = len(a)
    before = np.empty(n + 1, dtype=np.uint64)
    before[0] = _ONE
    for i in range(n):
        before[i + 1] = _times(before[i], b[i])
    # Montgomery's trick (1987): invert the product of all, then peel off one factor at a time; Fermat gives the inverse
    inverse, base, exponent = _ONE, before[n], PRIME - 2
    while exponent > 0:
        if exponent & 1:
            inverse = _times(inverse, base)
        base = _times(base, base)
        exponent >>= 1
    out = np.empty(n, dtype=np.uint64)
    for i in range(n - 1, -1, -1):
        out[i] = _times(a[i], _times(inverse, before[i]))
        inverse = _times(inverse, b[i])
    return out


@njit(cache=True)
def dot(a: Residues, b: Residues) -> np.uint64:
    """Scalar product."""
    total = _ZERO
    for i in range(len(a)):
        if a[i] != _ZERO and b[i] != _ZERO:
            total = _plus(total, _times(a[i], b[i]))
    return total


@njit(cache=True)
def add_multiple(target: Residues, source: Residues, factor: np.uint64) -> None:
    """target += factor · source, in place."""
    if factor == _ZERO:
        return
    for i in range(len(target)):
        if source[i] != _ZERO:
            target[i] = _plus(target[i], _times(factor, source[i]))


@njit(cache=True)
def _lowest_bit(word: np.uint64) -> int:
    """Position of the lowest set bit of a word that is not 0."""
    position = 0
    if word & np.uint64(0xFFFFFFFF) == _ZERO:
        position += 32
        word >>= np.uint64(32)
    if word & np.uint64(0xFFFF) == _ZERO:
        position += 16
        word >>= np.uint64(16)
    if word & np.uint64(0xFF) == _ZERO:
        position += 8
        word >>= np.uint64(8)
    if word & np.uint64(0xF) == _ZERO:
        position += 4
        word >>= np.uint64(4)
    if word & np.uint64(0x3) == _ZERO:
        position += 2
        word >>= np.uint64(2)
    if word & _ONE == _ZERO:
        position += 1
    return position


@njit(cache=True)
def rows_times(
    bits: Residues, coefficients: Residues, starts: NDArray[np.int64], n_rows: int, vector: Residues, relevant: Residues
) -> Residues:
    """The product of every row with a vector over the columns; `relevant` masks the columns that are not 0."""
    out = np.zeros(n_rows, dtype=np.uint64)
    for row in range(n_rows):
        total = _ZERO
        for term in range(starts[row], starts[row + 1]):
            inside = _ZERO
            for w in range(bits.shape[1]):
                word = bits[term, w] & relevant[w]
                while word != _ZERO:
                    column = w * 64 + _lowest_bit(word)
                    inside = _plus(inside, vector[column])
                    word &= word - _ONE
            total = _plus(total, _times(coefficients[term], inside))
        out[row] = total
    return out


@njit(cache=True)
def combine_rows(
    bits: Residues,
    coefficients: Residues,
    starts: NDArray[np.int64],
    factors: Residues,
    relevant: Residues,
    n_columns: int,
) -> Residues:
    """The combination of rows with the given factors, at the relevant columns (0 elsewhere)."""
    out = np.zeros(n_columns, dtype=np.uint64)
    for row in range(len(factors)):
        if factors[row] == _ZERO:
            continue
        for term in range(starts[row], starts[row + 1]):
            step = _times(factors[row], coefficients[term])
            for w in range(bits.shape[1]):
                word = bits[term, w] & relevant[w]
                while word != _ZERO:
                    column = w * 64 + _lowest_bit(word)
                    out[column] = _plus(out[column], step)
                    word &= word - _ONE
    return out


@njit(cache=True)
def combine_exactly(
    bits: Residues,
    coefficients: NDArray[np.int64],
    starts: NDArray[np.int64],
    factors: NDArray[np.int64],
    relevant: Residues,
    n_columns: int,
) -> NDArray[np.int64]:
    """The same combination in ordinary 64-bit integers; the caller makes sure that nothing can overflow."""
    out = np.zeros(n_columns, dtype=np.int64)
    for row in range(len(factors)):
        if factors[row] == 0:
            continue
        for term in range(starts[row], starts[row + 1]):
            step = factors[row] * coefficients[term]
            for w in range(bits.shape[1]):
                word = bits[term, w] & relevant[w]
                while word != _ZERO:
                    out[w * 64 + _lowest_bit(word)] += step
                    word &= word - _ONE
    return out


@njit(cache=True)
def column_of(bits: Residues, coefficients: Residues, starts: NDArray[np.int64], n_rows: int, column: int) -> Residues:
    """One column of the matrix."""
    out = np.zeros(n_rows, dtype=np.uint64)
    word, shift = column // 64, np.uint64(column % 64)
    for row in range(n_rows):
        for term in range(starts[row], starts[row + 1]):
            if (bits[term, word] >> shift) & _ONE:
                out[row] = _plus(out[row], coefficients[term])
    return out


@njit(cache=True)
def left_product(values: Residues, inverse: Residues, rank: int) -> Residues:
    """values · inverse, a vector over the rows; O(set values · rank)."""
    out = np.zeros(rank, dtype=np.uint64)
    for i in range(rank):
        if values[i] != _ZERO:
            for j in range(rank):
                if inverse[i, j] != _ZERO:
                    out[j] = _plus(out[j], _times(values[i], inverse[i, j]))
    return out


@njit(cache=True)
def right_product(inverse: Residues, values: Residues, rank: int) -> Residues:
    """inverse · values, a vector over the pivots; O(rank²) over the entries that are not 0."""
    out = np.zeros(rank, dtype=np.uint64)
    for i in range(rank):
        total = _ZERO
        for j in range(rank):
            entry = inverse[i, j]
            if entry != _ZERO and values[j] != _ZERO:
                total = _plus(total, _times(entry, values[j]))
        out[i] = total
    return out


@njit(cache=True)
def border_inverse(inverse: Residues, rank: int, left: Residues, right: Residues, schur_inverse: np.uint64) -> None:
    """Add a row and a pivot: left = new row's pivot values · inverse, right = inverse · new column; O(rank²), in place."""
    # the inverse of a bordered matrix by its Schur complement (Banachiewicz 1937): no elimination starts again
    for i in range(rank):
        if right[i] != _ZERO:
            factor = _times(right[i], schur_inverse)
            for j in range(rank):
                if left[j] != _ZERO:
                    inverse[i, j] = _plus(inverse[i, j], _times(factor, left[j]))
            inverse[i, rank] = _P - factor
        else:
            inverse[i, rank] = _ZERO
    for j in range(rank):
        product = _times(left[j], schur_inverse)
        inverse[rank, j] = _ZERO if product == _ZERO else _P - product
    inverse[rank, rank] = schur_inverse


@njit(cache=True)
def shrink_inverse(inverse: Residues, last: int, corner_inverse: np.uint64) -> None:
    """Remove the last row and pivot again: the opposite of `border_inverse`, in place; O(rank²).

    The corner of the inverse can be 0 only if the remaining pivots were dependent, which `border_inverse` excludes.
    """
    for i in range(last):
        if inverse[i, last] != _ZERO:
            factor = _P - _times(inverse[i, last], corner_inverse)
            for j in range(last):
                if inverse[last, j] != _ZERO:
                    inverse[i, j] = _plus(inverse[i, j], _times(factor, inverse[last, j]))


@njit(cache=True)
def exchange(inverse: Residues, share: Residues, place: int, rank: int) -> None:
    """Exchange the pivot at a place: share = inverse · the new pivot's column, not 0 at the place; O(rank²), in place."""
    # the pivot step of the revised simplex method (product form, Dantzig and Orchard-Hays 1954), modulo the prime
    exponent, base, scale = PRIME - 2, share[place], _ONE
    while exponent > 0:
        if exponent & 1:
            scale = _times(scale, base)
        base = _times(base, base)
        exponent >>= 1
    for j in range(rank):
        inverse[place, j] = _times(inverse[place, j], scale)
    for i in range(rank):
        if i != place and share[i] != _ZERO:
            factor = _P - share[i]
            for j in range(rank):
                if inverse[place, j] != _ZERO:
                    inverse[i, j] = _plus(inverse[i, j], _times(factor, inverse[place, j]))
