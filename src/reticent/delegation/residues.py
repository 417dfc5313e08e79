# SPDX-License-Identifier: Apache-2.0
"""Verification by residues: the total modulo fresh secret primes, on the plain data and on the result.

A wrong result differs from the right one by some D ≠ 0 with |D| < 2^B. At most B/30 primes above 2^30 divide D, and the primes
are drawn after the result has arrived, from about 50.7 million between 2^30 and 2^31: with m primes a wrong result passes
with probability at most (B/30 / 50.7 million)^m.
"""

import math
import secrets
from collections.abc import Callable

N_PRIMES = 50_697_537
"""Primes between 2^30 and 2^31: π(2^31) − π(2^30) = 105,097,565 − 54,400,028."""

WANTED = 2.0**-40
_BASES = (2, 3, 5, 7)  # decides every number below 3.2 billion (Jaeschke 1993)


def is_prime(number: int) -> bool:
    """Whether a number below 3.2 billion is prime (Miller–Rabin with bases that decide it)."""
    if number < 2 or any(number % base == 0 for base in _BASES):
        return number in _BASES
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(_passes(number, base, odd, twos) for base in _BASES)


def _passes(number: int, base: int, odd: int, twos: int) -> bool:
    power = pow(base, odd, number)
    if power in (1, number - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False


def fresh_primes(count: int, *, bits: int = 31, draw: Callable[[int], int] = secrets.randbelow) -> tuple[int, ...]:
    """Different primes of this many bits, each as likely as any other; they must never be used for a second result."""
    found: set[int] = set()
    low = 1 << (bits - 1)
    while len(found) < count:
        number = low + draw(low)
        if is_prime(number):
            found.add(number)
    return tuple(found)


def primes_needed(bound: int) -> int:
    """How many primes keep the chance of a wrong result below 2^-40, for results up to `bound` in absolute value."""
    count = 1
    while chance_of_passing(bound, count) >= WANTED:
        count += 1
    return count


def chance_of_passing(bound: int, count: int) -> float:
    """The bound of the proof: a difference below 2·bound + 1, different primes drawn at random."""
    dividing = max(1, math.floor(math.log2(2 * bound + 1) / 30))
    return float((dividing / N_PRIMES) ** count)
