"""Two attackers who know that values are whole numbers: an integer program, and a reduced lattice basis.

They have rows (who is in a sum, with which public weight) and published totals, and share no code with the auditor.
"""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

Whole = list[list[int]]


def known_people(rows: np.ndarray, totals: np.ndarray, high: int = 1) -> int:
    """How many values from 0 to `high` are fixed by sums over them."""
    n, seen, fixed = rows.shape[1], [], 0
    first = _database(rows, totals, np.zeros(n), np.full(n, float(high)), 0)
    assert first is not None, "the truth fits"
    seen.append(first)
    for i in range(n):
        if any(found[i] != first[i] for found in seen):
            continue
        other = None
        for low, top in ((0.0, first[i] - 1), (first[i] + 1, float(high))):
            lowest, highest = np.zeros(n), np.full(n, float(high))
            lowest[i], highest[i] = low, top
            other = other if other is not None or low > top else _database(rows, totals, lowest, highest, i)
        fixed += other is None
        seen += [] if other is None else [other]
    return fixed


def _database(rows: np.ndarray, totals: np.ndarray, low: np.ndarray, high: np.ndarray, seed: int) -> np.ndarray | None:
    n = rows.shape[1]
    cost = np.random.default_rng(seed).normal(size=n)
    sums = LinearConstraint(rows, totals, totals)
    found = milp(cost, constraints=sums, integrality=np.ones(n), bounds=Bounds(low, high))
    assert found.status in (0, 2), "solved, or nothing fits"
    return None if found.x is None else np.rint(found.x)


def spelled_out(rows: Whole, totals: Sequence[int], low: int, high: int) -> list[int] | None:
    """Whole values from low to high that give the totals of weighted rows: a short vector of a lattice.

    2x − low − high is short for the true x (Lagarias and Odlyzko 1985; Coster et al. 1992).
    """
    n, width = len(rows[0]), high - low
    large = 4 * width * n
    basis = [[*(2 * int(i == j) for j in range(n)), 0, *(large * row[i] for row in rows)] for i in range(n)]
    basis.append([*([-low - high] * n), width, *(-large * total for total in totals)])
    for vector in reduced(basis):
        if abs(vector[n]) == width and not any(vector[n + 1 :]):
            found = [(vector[n] // width * v + low + high) // 2 for v in vector[:n]]
            if all(low <= v <= high for v in found):
                return found
    return None


def reduced(basis: Whole) -> Whole:
    """A basis of short vectors, in whole numbers throughout (Lenstra, Lenstra and Lovász; Cohen 1993, algorithm 2.6.7)."""
    b, n = [list(row) for row in basis], len(basis)
    d = [1] + [0] * n
    lam = [[0] * n for _ in range(n)]

    def dot(x: list[int], y: list[int]) -> int:
        return sum(p * q for p, q in zip(x, y, strict=True))

    def reduce(k: int, j: int) -> None:
        q = (2 * lam[k][j] + d[j + 1]) // (2 * d[j + 1])
        if q:
            b[k] = [x - q * y for x, y in zip(b[k], b[j], strict=True)]
            lam[k][j] -= q * d[j + 1]
            for i in range(j):
                lam[k][i] -= q * lam[j][i]

    k, most, d[1] = 1, 0, dot(b[0], b[0])
    while k < n:
        if k > most:
            most = k
            for j in range(k + 1):
                u = dot(b[k], b[j])
                for i in range(j):
                    u = (d[i + 1] * u - lam[k][i] * lam[j][i]) // d[i]
                if j < k:
                    lam[k][j] = u
                else:
                    d[k + 1] = u
        reduce(k, k - 1)
        if 4 * d[k + 1] * d[k - 1] >= 3 * d[k] ** 2 - 4 * lam[k][k - 1] ** 2:
            for j in range(k - 2, -1, -1):
                reduce(k, j)
            k += 1
            continue
        b[k], b[k - 1] = b[k - 1], b[k]
        for j in range(k - 1):
            lam[k][j], lam[k - 1][j] = lam[k - 1][j], lam[k][j]
        own = lam[k][k - 1]
        new = (d[k - 1] * d[k + 1] + own * own) // d[k]
        for i in range(k + 1, most + 1):
            t = lam[i][k]
            lam[i][k] = (d[k + 1] * lam[i][k - 1] - own * t) // d[k]
            lam[i][k - 1] = (new * t + own * lam[i][k]) // d[k + 1]
        d[k] = new
        k = max(1, k - 1)
    return b
