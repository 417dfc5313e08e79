# SPDX-License-Identifier: Apache-2.0
"""Subtraction–attribution probability: how likely an intruder who knows n respondents empties a cell by subtracting them.

A cell that becomes zero says of everybody else that they are not in it. Exact by counting: the ways to draw n of N
respondents that empty no cell are the coefficient of xⁿ in Π ((1 + x)^c − x^c) over the cells with count c.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from reticent.base.checks import check_integer
from reticent.base.errors import ParameterError
from reticent.base.randomness import Secret
from reticent.tables.perturb.ptable import PerturbationTable

EXACT_WORK = 20_000_000


@dataclass(frozen=True)
class Sap:
    """The probability; `error` is its standard error (0: exact)."""

    probability: float
    error: float
    known: int
    draws: int = 0

    def __repr__(self) -> str:
        how = "exact" if self.draws == 0 else f"± {self.error:.2g}, {self.draws} draws"
        return f"<Sap {self.probability:.4g} for {self.known} known respondents ({how})>"


def sap(
    counts: Sequence[int] | NDArray[np.int64], known: int, *, secret: Secret | None = None, draws: int = 20_000
) -> Sap:
    """Probability that at least one zero is recovered; a zero that is there already is recovered with certainty.

    Exact where the work allows it, else by simulation (which needs a `secret`).

    >>> sap([1, 3], 1).probability
    0.25
    """
    cells = [int(c) for c in counts]
    if any(c < 0 for c in cells):
        raise ParameterError("sap: counts must not be negative.")
    total = sum(cells)
    check_integer(known, minimum=0, maximum=total, name="known", owner="sap")
    if 0 in cells:
        return Sap(1.0, 0.0, known)
    if len(cells) * (known + 1) ** 2 <= EXACT_WORK:
        return Sap(float(sap_exact(cells, known)), 0.0, known)
    if secret is None:
        raise ParameterError("sap: this table is too large for the exact count; give a secret to simulate.")
    return sap_simulated(cells, known, secret=secret, draws=draws)


def sap_exact(counts: Sequence[int], known: int) -> Fraction:
    """The probability as a fraction. O(cells · known²) multiplications of whole numbers."""
    ways = [1] + [0] * known  # coefficients up to x^known of the product so far
    for count in counts:
        factor = [math.comb(count, j) - (j == count) for j in range(min(count, known) + 1)]
        ways = [
            sum(factor[j] * ways[total - j] for j in range(min(len(factor) - 1, total) + 1))
            for total in range(known + 1)
        ]
    return 1 - Fraction(ways[known], math.comb(sum(counts), known))


def sap_simulated(counts: Sequence[int], known: int, *, secret: Secret, draws: int) -> Sap:
    """The probability by drawing sets of known respondents."""
    check_integer(draws, minimum=100, name="draws", owner="sap")
    stream = secret.stream("sap")
    cells = np.asarray(counts, dtype=np.int64)
    hits = 0
    for start in range(0, draws, 500):
        size = min(500, draws - start)
        taken = stream.multivariate_hypergeometric(cells, known, size=size, method="marginals")
        hits += int((taken == cells).any(axis=1).sum())
    return _share_of_hits(hits, known, draws)


def _share_of_hits(hits: int, known: int, draws: int) -> Sap:
    """A share by simulation; its error near 0 or 1 is that of one more hit, so that it is never stated as 0."""
    share = hits / draws
    return Sap(share, math.sqrt(max(share * (1 - share), 1.0 / (draws + 1)) / draws), known, draws)


def _cells_of_tables(cells_of_respondents: NDArray[np.int64], known: int, draws: int) -> list[NDArray[np.int64]]:
    """How many respondents each cell of each table has; refuses numbers that cannot be."""
    n, n_tables = cells_of_respondents.shape
    check_integer(known, minimum=0, maximum=n, name="known", owner="sap")
    check_integer(draws, minimum=100, name="draws", owner="sap")
    return [np.bincount(cells_of_respondents[:, t]) for t in range(n_tables)]


def sap_linked(cells_of_respondents: NDArray[np.int64], known: int, *, secret: Secret, draws: int = 5_000) -> Sap:
    """For several tables of the same respondents: column t holds each respondent's cell in table t. By simulation."""
    counts = _cells_of_tables(cells_of_respondents, known, draws)
    stream, n = secret.stream("sap linked"), len(cells_of_respondents)
    hits = 0
    for _ in range(draws):
        chosen = stream.choice(n, known, replace=False)
        hits += any(
            bool((np.bincount(cells_of_respondents[chosen, t], minlength=len(counts[t])) == counts[t])[counts[t] > 0].any())
            for t in range(len(counts))
        )  # fmt: skip
    return _share_of_hits(hits, known, draws)


def sap_perturbed(counts: Sequence[int] | NDArray[np.int64], known: int, table: PerturbationTable) -> Sap:
    """The same after noise by a p-table, before it is drawn: what matters is when the intruder may be sure of a zero.

    After subtracting the known ones a cell is empty for certain only if the published count can come from no true count above
    their number. A cell with count c is recovered where all c are known and c is the largest origin of what is published.

    >>> from reticent.tables.perturb.ptable_design import Design, design_ptable
    >>> sap_perturbed([1, 3], 1, design_ptable(Design(2, 1.0))).probability < sap([1, 3], 1).probability
    True
    """
    cells = [int(c) for c in counts]
    if any(c < 0 for c in cells):
        raise ParameterError("sap: counts must not be negative.")
    check_integer(known, minimum=0, maximum=sum(cells), name="known", owner="sap")
    if len(cells) * (known + 1) ** 2 > EXACT_WORK:
        raise ParameterError(
            "sap: this table is too large for the exact count; take a part of it or fewer known respondents."
        )
    shares = {c: largest_origin_chance(table, c) for c in set(cells)}
    ways = [Fraction(1)] + [Fraction(0)] * known
    for count in cells:
        lost = Fraction(shares[count]).limit_denominator(10**9)
        factor = [Fraction(math.comb(count, j)) - (lost if j == count else 0) for j in range(min(count, known) + 1)]
        ways = [
            sum((factor[j] * ways[total - j] for j in range(min(len(factor) - 1, total) + 1)), Fraction(0))
            for total in range(known + 1)
        ]
    return Sap(float(1 - ways[known] / math.comb(sum(cells), known)), 0.0, known)


def largest_origin_chance(table: PerturbationTable, count: int) -> float:
    """How likely a count is published as something that no larger count can become."""
    row = table.rows[min(count, len(table.rows) - 1)]
    results = (count + row.changes).astype(np.int64)
    _, high = table.origins(results)
    return float(row.chances[(high <= count) & (row.chances > 0)].sum())


def sap_linked_perturbed(
    cells_of_respondents: NDArray[np.int64], known: int, table: PerturbationTable, *, secret: Secret, draws: int = 5_000
) -> Sap:
    """For several perturbed tables of the same respondents: each draw takes known respondents and noise for every cell."""
    counts = _cells_of_tables(cells_of_respondents, known, draws)
    stream, n = secret.stream("sap linked noise"), len(cells_of_respondents)
    hits = 0
    for _ in range(draws):
        chosen = stream.choice(n, known, replace=False)
        for t, own in enumerate(counts):
            published = (own + table.changes(own, stream.random(len(own)))).astype(np.int64)
            taken = np.bincount(cells_of_respondents[chosen, t], minlength=len(own))
            if bool(((table.origins(published)[1] <= taken) & (taken == own) & (own > 0)).any()):
                hits += 1
                break
    return _share_of_hits(hits, known, draws)
