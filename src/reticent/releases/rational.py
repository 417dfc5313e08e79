# SPDX-License-Identifier: Apache-2.0
"""Exact rational arithmetic: residues back to fractions, and p-adic lifting of solutions with large coefficients."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import isqrt, lcm
from typing import Any

import numpy as np

from reticent.base.arrays import Ints

PIECE_BITS = 16
LIMB_BITS = 24
MOST_DIGITS = 64


def reconstruct(residue: int, modulus: int) -> Fraction | None:
    """The fraction with numerator and denominator below √(modulus/2) that has this residue, if there is one.

    The extended Euclidean algorithm stopped half way (Wang 1981); the fraction is unique if it exists.

    >>> reconstruct(pow(3, -1, 2**61 - 1) * 2 % (2**61 - 1), 2**61 - 1)
    Fraction(2, 3)
    """
    limit = isqrt(modulus // 2)
    if residue <= limit:
        return Fraction(residue)
    if modulus - residue <= limit:
        return Fraction(residue - modulus)
    before, now, cofactor_before, cofactor = modulus, residue, 0, 1
    while now > limit:
        quotient = before // now
        before, now = now, before - quotient * now
        cofactor_before, cofactor = cofactor, cofactor_before - quotient * cofactor
    if abs(cofactor) > limit or cofactor == 0:
        return None
    return Fraction(now, cofactor)


def reconstruct_all(residues: list[int], modulus: int) -> list[Fraction] | None:
    """All of them, or None if one has no fraction; a denominator found for one is tried for the next."""
    common, out = 1, []
    for residue in residues:
        found = reconstruct(residue * common % modulus, modulus)
        if found is None:
            return None
        found /= common
        common = lcm(common, found.denominator)
        out.append(found)
    return out


def lift(
    target: Ints,
    prime: int,
    solve: Callable[[list[int]], list[int]],
    apply: Callable[[Ints], Ints],
) -> Iterator[list[Fraction]]:
    """Candidate solutions of x · A = target with ever larger coefficients (Dixon 1982).

    `solve` solves the system modulo the prime, `apply` multiplies small integers by A exactly. The caller checks each
    candidate; the true solution is among the first whose coefficients fit the precision reached.
    """
    rest: list[int] = [int(value) for value in target]
    digits: list[int] = [0] * len(rest)
    # Fractions are tried at doubling precision only: the tries cost more than the digits, and doubling wastes at most half.
    power, wanted = 1, 2
    for count in range(1, MOST_DIGITS + 1):
        step = solve([value % prime for value in rest])
        used = [0] * len(rest)
        for shift in range(0, prime.bit_length(), PIECE_BITS):
            piece = apply(np.array([(value >> shift) & (2**PIECE_BITS - 1) for value in step], dtype=np.int64))
            used = [total + (int(amount) << shift) for total, amount in zip(used, piece)]
        rest = [(value - amount) // prime for value, amount in zip(rest, used)]
        digits = [total + power * digit for total, digit in zip(digits, step)]
        power *= prime
        if count == wanted or not any(rest):
            wanted *= 2
            found = reconstruct_all(digits, power)
            if found is not None:
                yield found
            if not any(rest):
                return


def limbs(values: list[int]) -> list[Ints]:
    """Whole numbers as signed digits to the base 2^24, lowest first."""
    out, rest = [], [abs(value) for value in values]
    signs = np.array([-1 if value < 0 else 1 for value in values], dtype=np.int64)
    while True:
        out.append(np.array([value & (2**LIMB_BITS - 1) for value in rest], dtype=np.int64) * signs)
        rest = [value >> LIMB_BITS for value in rest]
        if not any(rest):
            return out


def all_zero(digits: list[Ints]) -> bool:
    """Whether numbers given by signed digits to the base 2^24 (of any 62-bit size) are all 0."""
    carry: Any = np.zeros_like(digits[0])
    for digit in digits:
        now = digit + carry
        if bool((now & (2**LIMB_BITS - 1)).any()):
            return False
        carry = now >> LIMB_BITS
    return not bool(carry.any())
