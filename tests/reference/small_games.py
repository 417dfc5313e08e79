"""Equilibria of small games by brute force in fractions: slow and obvious, shares no code with the package."""

import itertools
from fractions import Fraction

Matrix = list[list[Fraction]]


def solve_linear(rows: Matrix, right: list[Fraction]) -> list[Fraction] | None:
    """The unique solution of a square system by Gauss's elimination; None if it is singular."""
    size = len(rows)
    work = [[*row, value] for row, value in zip(rows, right, strict=True)]
    for column in range(size):
        pivot = next((r for r in range(column, size) if work[r][column] != 0), None)
        if pivot is None:
            return None
        work[column], work[pivot] = work[pivot], work[column]
        head = work[column][column]
        work[column] = [value / head for value in work[column]]
        for r in range(size):
            if r != column and work[r][column] != 0:
                factor = work[r][column]
                work[r] = [a - factor * b for a, b in zip(work[r], work[column], strict=True)]
    return [row[-1] for row in work]


def _indifferent(payoff: Matrix, own: tuple[int, ...], other: tuple[int, ...], size: int) -> list[Fraction] | None:
    """The mixture on `own` that makes the opponent's strategies `other` equally good (payoff[own][other])."""
    count = len(own)
    rows, right = [], []
    for reply in other:
        rows.append([payoff[s][reply] for s in own] + [Fraction(-1)])
        right.append(Fraction(0))
    rows.append([Fraction(1)] * count + [Fraction(0)])
    right.append(Fraction(1))
    found = solve_linear(rows, right)
    if found is None or any(share <= 0 for share in found[:-1]):
        return None
    whole = [Fraction(0)] * size
    for strategy, share in zip(own, found[:-1], strict=True):
        whole[strategy] = share
    return whole


def nash_equilibria(a: Matrix, b: Matrix) -> set[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]]:
    """All equilibria of a nondegenerate game of two players: equal supports, indifference, no better reply."""
    rows, columns = len(a), len(a[0])
    for_columns = [[b[i][j] for j in range(columns)] for i in range(rows)]
    for_rows = [[a[i][j] for i in range(rows)] for j in range(columns)]
    found = set()
    for size in range(1, min(rows, columns) + 1):
        for mine in itertools.combinations(range(rows), size):
            for theirs in itertools.combinations(range(columns), size):
                x = _indifferent(for_columns, mine, theirs, rows)
                y = _indifferent(for_rows, theirs, mine, columns)
                if x is None or y is None:
                    continue
                of_rows = [sum(a[i][j] * y[j] for j in range(columns)) for i in range(rows)]
                of_columns = [sum(b[i][j] * x[i] for i in range(rows)) for j in range(columns)]
                if max(of_rows) == of_rows[mine[0]] and max(of_columns) == of_columns[theirs[0]]:
                    found.add((tuple(x), tuple(y)))
    return found


def pure_profiles(payoffs: dict[tuple[int, ...], tuple[Fraction, ...]], shape: tuple[int, ...]) -> set[tuple[int, ...]]:
    """Profiles from which no single change helps the player who makes it."""
    found = set()
    for profile in payoffs:
        good = True
        for player, count in enumerate(shape):
            for other in range(count):
                moved = (*profile[:player], other, *profile[player + 1 :])
                good = good and payoffs[moved][player] <= payoffs[profile][player]
        if good:
            found.add(profile)
    return found
