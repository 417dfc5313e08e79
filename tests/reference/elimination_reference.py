"""Elimination and kernel vectors the slow and obvious way, in fractions; residues only at the very end."""

from collections.abc import Sequence
from fractions import Fraction


def residue(number: Fraction, prime: int) -> int:
    """The number modulo a prime (its denominator must not be a multiple of it)."""
    return number.numerator * pow(number.denominator, -1, prime) % prime


def echelon(rows: Sequence[Sequence[int]], pivots: Sequence[int]) -> list[list[Fraction]]:
    """Each row less the echelon rows before it, so that no earlier pivot is left; what remains has 1 at its own pivot.

    The pivots are given, in the order of the rows that remain; everything else follows from them.
    """
    found: list[list[Fraction]] = []
    for row in rows:
        rest = [Fraction(value) for value in row]
        for pivot, basis in zip(pivots, found, strict=False):
            factor = rest[pivot]
            rest = [value - factor * other for value, other in zip(rest, basis, strict=True)]
        if any(rest):
            lead = rest[pivots[len(found)]]
            found.append([value / lead for value in rest])
    return found


def completed(rows: Sequence[Sequence[Fraction]], pivots: Sequence[int], vector: Sequence[int]) -> list[Fraction]:
    """The vector with its pivot entries chosen so that every echelon row times it is 0: the last row first."""
    found = [Fraction(value) for value in vector]
    for row, pivot in reversed(list(zip(rows, pivots, strict=True))):
        found[pivot] = Fraction(0)
        found[pivot] = -sum((a * b for a, b in zip(row, found, strict=True)), Fraction(0))
    return found


def reduced_modulo(rows: Sequence[Sequence[int]], prime: int) -> list[list[int]]:
    """The reduced echelon form modulo a prime, by its pivots: of all combinations with a leading 1 the one with zeros above."""
    left, found = [list(row) for row in rows], []
    for column in range(len(rows[0]) if rows else 0):
        own = next((row for row in left if row[column]), None)
        if own is None:
            continue
        left.remove(own)
        factor = pow(own[column], -1, prime)
        own = [value * factor % prime for value in own]
        left, found = (
            [[(v - row[column] * o) % prime for v, o in zip(row, own, strict=True)] for row in part]
            for part in (left, found)
        )
        found.append(own)
    return found
