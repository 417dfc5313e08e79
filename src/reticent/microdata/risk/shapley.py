# SPDX-License-Identifier: Apache-2.0
"""Which keys drive the risk: the fair share of each key (Shapley value) over all sets of keys.

With risk v(S) when an attacker knows the keys S, the share of key i is the average of v(S ∪ i) − v(S) over all orders
in which the keys can become known (Shapley 1953): Σ_S |S|! (q − |S| − 1)! / q! · (v(S ∪ i) − v(S)). Shares add up to
v(all keys) − v(no key), so unlike "share of unsafe combinations with this key" nothing is counted twice.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.base.checks import check_choice, check_integer
from reticent.base.errors import DataError, ParameterError
from reticent.data.microdata import Microdata
from reticent.kernels.subsets import refine
from reticent.microdata.risk.anonymity import KeySetRisk
from reticent.microdata.risk.individual import record_risk
from reticent.microdata.risk.semantics import keys_of

MEASURES = ("average", "uniques", "violations", "individual")
MAX_KEYS = 16

Sizes = tuple[NDArray[np.float64], NDArray[np.float64] | None]


@dataclass(frozen=True)
class KeyShares:
    """The share of each key in the risk of the file, and the risk of every set of keys they come from."""

    keys: tuple[str, ...]
    measure: str
    total: float
    without_keys: float
    shares: dict[str, float]
    alone: dict[str, float]
    """Risk when only this key is known."""
    last: dict[str, float]
    """By how much the risk falls when only this key is not known."""

    def rows(self) -> list[tuple[str, float, float, float]]:
        """(key, share, risk alone, fall without it), the largest share first."""
        order = sorted(self.keys, key=lambda name: -self.shares[name])
        return [(name, self.shares[name], self.alone[name], self.last[name]) for name in order]

    def summary(self) -> str:
        """One line per key."""
        gain = self.total - self.without_keys
        lines = [f"risk ({self.measure}): {self.total:.4g}, without keys {self.without_keys:.4g}"]
        lines += [
            f"  {name}: {share:.4g} ({100 * share / gain if gain else 0:.1f} % of the rise); alone {alone:.4g}"
            for name, share, alone, _ in self.rows()
        ]
        return "\n".join(lines)


def all_subsets(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    weights: NDArray[np.float64] | None,
    value: Callable[[Sizes], float],
) -> NDArray[np.float64]:
    """`value` of the cell sizes (and weights) of every subset of the variables, indexed by bit mask; −1 is a code."""
    n, q = codes.shape
    columns = [np.ascontiguousarray(codes[:, v] + np.int32(1)) for v in range(q)]
    cards = [int(c.max(initial=0)) + 1 for c in columns]
    out = np.empty(1 << q)

    def visit(mask: int, lowest: int, order: NDArray[np.int32], starts: NDArray[np.int64]) -> None:
        sizes = np.add.reduceat(counts[order], starts[:-1]).astype(np.float64)
        sums = None if weights is None else np.add.reduceat(weights[order], starts[:-1])
        out[mask] = value((sizes, sums))
        for v in range(lowest):
            visit(mask | 1 << v, v, *refine(order, starts, columns[v], cards[v]))

    visit(0, q, np.arange(n, dtype=np.int32), np.array([0, n], np.int64))
    return out


def shapley_values(risk: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shapley value of each of q players from the value of every coalition (index = bit mask). O(q · 2^q)."""
    q = len(risk).bit_length() - 1
    masks = np.arange(len(risk))
    sizes = np.bitwise_count(masks).astype(np.int64)
    factor = np.array([math.factorial(s) * math.factorial(q - s - 1) / math.factorial(q) for s in range(q)] + [0.0])
    out = np.empty(q)
    for v in range(q):
        outside = masks[masks >> v & 1 == 0]
        out[v] = float((factor[sizes[outside]] * (risk[outside | 1 << v] - risk[outside])).sum())
    return out


def key_shares(data: Microdata, keys: Sequence[str] = (), *, measure: str = "average", k: int = 3) -> KeyShares:
    """Shapley share of the risk per key, exact over all sets of up to 16 keys.

    `measure`: `average` re-identification risk J/n, share of sample `uniques`, share of records that violate k
    (`violations`), or mean `individual` risk from the weights.
    """
    check_choice(measure, MEASURES, name="measure", owner="key_shares")
    check_integer(k, minimum=2, name="k", owner="key_shares")
    names = keys_of(data, keys, owner="key_shares")
    if len(names) > MAX_KEYS:
        raise ParameterError(f"key_shares: at most {MAX_KEYS} keys are possible, got {len(names)}.")
    patterns = data.patterns(names)
    if measure == "individual" and patterns.weights is None:
        raise DataError("key_shares: the individual risk needs a variable with the role weight.")
    weights = patterns.weights if measure == "individual" else None
    risk = all_subsets(patterns.codes, patterns.counts, weights, _measure(measure, data.n_records, k))
    shares = shapley_values(risk)
    full = len(risk) - 1
    return KeyShares(
        names,
        measure,
        float(risk[full]),
        float(risk[0]),
        {name: float(shares[v]) for v, name in enumerate(names)},
        {name: float(risk[1 << v]) for v, name in enumerate(names)},
        {name: float(risk[full] - risk[full ^ 1 << v]) for v, name in enumerate(names)},
    )


def _measure(measure: str, n: int, k: int) -> Callable[[Sizes], float]:
    def individual(sizes: Sizes) -> float:
        assert sizes[1] is not None
        return float((record_risk(sizes[0].astype(np.int64), sizes[1]) * sizes[0]).sum() / n)

    measures: dict[str, Callable[[Sizes], float]] = {
        "average": lambda sizes: len(sizes[0]) / n,
        "uniques": lambda sizes: float((sizes[0] == 1).sum() / n),
        "violations": lambda sizes: float(sizes[0][sizes[0] < k].sum() / n),
        "individual": individual,
    }
    return measures[measure]


def key_set_risks(data: Microdata, keys: Sequence[str] = (), *, max_size: int | None = None) -> tuple[KeySetRisk, ...]:
    """Distinction and separation of every set of keys up to `max_size`, the most separating first."""
    names = keys_of(data, keys, owner="key_set_risks")
    if len(names) > MAX_KEYS:
        raise ParameterError(f"key_set_risks: at most {MAX_KEYS} keys are possible, got {len(names)}.")
    if max_size is not None:
        check_integer(max_size, minimum=1, maximum=len(names), name="max_size", owner="key_set_risks")
    patterns = data.patterns(names)
    n = data.n_records
    pairs = max(n * (n - 1), 1)
    distinct = all_subsets(patterns.codes, patterns.counts, None, lambda s: len(s[0]) / n)
    apart = all_subsets(patterns.codes, patterns.counts, None, lambda s: 1 - float((s[0] * (s[0] - 1)).sum()) / pairs)
    limit = max_size or len(names)
    rows = [
        KeySetRisk(tuple(name for v, name in enumerate(names) if m >> v & 1), float(distinct[m]), float(apart[m]))
        for m in range(1, 1 << len(names))
        if m.bit_count() <= limit
    ]
    return tuple(sorted(rows, key=lambda row: (-row.separation, len(row.keys))))
