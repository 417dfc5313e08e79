# SPDX-License-Identifier: Apache-2.0
"""A linear system in fractions: what makes an equilibrium that floating point proposed exact."""

from collections.abc import Sequence
from fractions import Fraction


def solve_exactly(rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction] | None:
    """The only solution of a system with as many equations as unknowns; None where there is none, or more than one."""
    work = [[*row, value] for row, value in zip(rows, right, strict=True)]
    size = len(work)
    for column in range(size):
        pivot = next((row for row in range(column, size) if work[row][column]), None)
        if pivot is None:
            return None
        work[column], work[pivot] = work[pivot], work[column]
        scale = work[column][column]
        work[column] = [value / scale for value in work[column]]
        for row in range(size):
            factor = work[row][column]
            if row != column and factor:
                work[row] = [mine - factor * theirs for mine, theirs in zip(work[row], work[column], strict=True)]
    return [row[-1] for row in work]
