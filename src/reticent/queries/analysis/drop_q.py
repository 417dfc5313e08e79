# SPDX-License-Identifier: Apache-2.0
"""Drop q: every universe loses a few records, the same ones for ever, so that differences of answers mean little.

q is uniform on {2, …, k}. The draw is keyed by the set of records and the server's secret (erratum 22), and made apart in
each stratum, which is fixed for the data set: padding a universe with other strata does not change what is dropped where
the target is. ξ (Lucero et al. 2011, (5)) is then the probability that two universes differing by one record lose the same
from every cell of a table of the target's stratum.
"""

import hashlib
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reticent.base.checks import check_integer
from reticent.base.errors import ParameterError
from reticent.base.randomness import Secret

OWNER = "drop q"


def kept_rows(
    rows: NDArray[np.int64], ids: NDArray[np.uint64], stratum: NDArray[np.int64], *, most: int, secret: Secret
) -> NDArray[np.int64]:
    """The rows that stay: in each stratum q ∈ {2..most} records are dropped, keyed by the set of ids in it."""
    check_integer(most, minimum=2, name="k", owner=OWNER)
    keep = np.ones(len(rows), dtype=bool)
    for number in np.unique(stratum[rows]):
        members = np.flatnonzero(stratum[rows] == number)
        order = np.argsort(ids[rows[members]], kind="stable")
        digest = hashlib.blake2b(ids[rows[members]][order].tobytes(), digest_size=16).hexdigest()
        rng = secret.stream(f"drop-q:{most}:{digest}")  # with another `most` drawn again, or the difference is a record
        q = int(rng.integers(2, most + 1))
        keep[members[order[rng.permutation(len(members))[:q]]]] = False
    return rows[keep]


def disclosure_probability(shares: Sequence[float], most: int) -> float:
    """ξ of (5): Σ_q Σ_x (1/(k−1))² (q!/Πx!)² Π Π_j^(2x_j), by convolution over the cells instead of enumeration."""
    check_integer(most, minimum=2, name="k", owner=OWNER)
    if any(s < 0 for s in shares) or abs(sum(shares) - 1) > 1e-9:
        raise ParameterError(f"{OWNER}: shares must not be negative and must add up to 1.")
    # Σ_x Π (Π_j^x_j / x_j!)² over Σx = q is the q-th coefficient of the product of Σ_x (Π_j²)^x / x!² t^x
    coefficients = np.zeros(most + 1)
    coefficients[0] = 1.0
    for share in shares:
        term = np.array([share ** (2 * x) / math.factorial(x) ** 2 for x in range(most + 1)])
        coefficients = np.convolve(coefficients, term)[: most + 1]
    total = sum(math.factorial(q) ** 2 * coefficients[q] for q in range(2, most + 1))
    return float(total) / (most - 1) ** 2


def disclosure_bounds(cells: int, most: int) -> tuple[float, float]:
    """The bounds (6): least when all cells are equal, at most the probability of the same q."""
    check_integer(cells, minimum=1, name="cells", owner=OWNER)
    return disclosure_probability([1.0 / cells] * cells, most), 1.0 / (most - 1)
