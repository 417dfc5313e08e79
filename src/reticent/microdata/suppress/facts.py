# SPDX-License-Identifier: Apache-2.0
"""What blanks cost and where they are, in counts; codes numbered as they occur."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.microdata.risk.register import MOST_EDGES, RegisterAttack
from reticent.microdata.suppress.requirement import Prices


def occurring(codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """The codes numbered without gaps, in their order: a code that no record has is not a value that a blank can have."""
    out = np.full(codes.shape, -1, np.int32)
    for v in range(codes.shape[1]):
        known = codes[:, v] >= 0
        out[known, v] = np.unique(codes[known, v], return_inverse=True)[1]
    return out


def missing_as_code(codes: NDArray[np.int32], columns: Sequence[int]) -> NDArray[np.int32]:
    """The codes, with "missing" as a code of its own in columns of which everybody knows that nothing is blanked."""
    codes = codes.copy()
    for v in columns:
        codes[codes[:, v] < 0, v] = codes[:, v].max(initial=-1) + 1
    return codes


def entropy(codes: NDArray[np.int32], copies: NDArray[np.int64] | None = None) -> float:
    """H = log2 N − (1/N) Σ f log2 f over the known codes of a variable: what a blank loses on average (mu-ARGUS)."""
    known = codes >= 0
    counts = np.bincount(codes[known], weights=None if copies is None else copies[known]).astype(np.int64)
    counts = counts[counts > 0]
    total = int(counts.sum())
    return float(np.log2(total) - (counts * np.log2(counts)).sum() / total) if total else 0.0


def suppression_facts(
    codes: NDArray[np.int32],
    published: NDArray[np.int32],
    prices: Prices,
    names: tuple[str, ...],
    semantics: str,
    *,
    copies: NDArray[np.int64] | None = None,
) -> dict[str, Any]:
    """How many values were blanked, where, and at what cost; rows may stand for several records (`copies`)."""
    blanked = (published < 0) & (codes >= 0)
    many = np.ones(len(codes), dtype=np.int64) if copies is None else copies
    per_record = np.bincount(blanked.sum(axis=1), weights=many, minlength=1)
    columns = many @ blanked
    return {
        "suppressed": int(columns.sum()),
        "records_touched": int(many[blanked.any(axis=1)].sum()),
        "blanks_per_record": {str(blanks): int(count) for blanks, count in enumerate(per_record)},
        "by_variable": {name: int(columns[v]) for v, name in enumerate(names)},
        "cost": float(sum(price * int(columns[v]) for v, price in enumerate(prices.costs))),
        "semantics": semantics,
    }


def patterns_of(codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """The number of each row's combination of codes (all 0 without columns)."""
    if not codes.shape[1]:
        return np.zeros(len(codes), dtype=np.int64)
    return np.unique(codes, axis=0, return_inverse=True)[1].ravel().astype(np.int64)


def register_facts(attack: RegisterAttack | None, k: int) -> dict[str, Any]:
    """How many candidates are left to somebody who knows the keys of all records at once."""
    if attack is None:
        return {"computed": False, "why": f"more than {MOST_EDGES:,} pairs of patterns and sets of blanks"}
    return {
        "computed": True,
        "smallest": attack.smallest,
        "identified": attack.identified,
        "below_k": attack.below(k),
    }
