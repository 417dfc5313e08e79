# SPDX-License-Identifier: Apache-2.0
"""SUDA: special uniques, their minimal sample uniques (MSUs), scores, contributions and DIS-SUDA.

An MSU of a record is a set of keys on which the record is unique in the sample while it is on no proper subset (Elliot,
Manning and Ford 2002). Many and small MSUs make a record special: unique at a coarse level, so likely in the population.

With M keys and MSUs up to size m, an MSU of size s scores
* `original`: Π_{i=s}^{m−1} (M − i), which is (M − s)! when all sizes are searched (Elliot et al.; sdcMicro's default);
* `ihsn`: (2^{M−s} − 1) · s! (M − s)! / M! (the IHSN form, sdcMicro's `original_scores = FALSE`);
and a record's score is the sum over its MSUs.

The contribution of a key to a record is the share of the score in MSUs that contain the key; contributions of a record
add up to the average MSU size, not to 1. sdcMicro computes them wrongly when one key repeats or is nested in another
(research/microdata-peers.md, 7.4); here they come from the listed MSUs.

DIS-SUDA (Elliot, Manning, Mayes, Gurd and Bane 2005; formula as in sdcMicro): with U uniques, P records in pairs and
sampling share π, DIS = Uπ / (Uπ + P(1 − π)) estimates P(correct match | unique match). With Q = 1 + (8 − M)/20 and
A = Σ score^(−Q) over scored records, DIS-SUDA_i = 1 / (1 + P(1 − π) / (π · score_i^Q · A)). Without pairs in the
sample there is nothing to estimate from and every scored record gets 1; the result says so.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reticent.base.checks import check_between, check_choice, check_integer, check_unique
from reticent.base.errors import DataError, ParameterError
from reticent.data.microdata import Microdata
from reticent.kernels.uniques import MAX_VARIABLES, minimal_rare_sets

SCORES = ("original", "ihsn")
MISSING = ("no-part", "own-category")


@dataclass(frozen=True)
class MinimalUniques:
    """All minimal sample uniques: entry e says that `record[e]` is unique on `variables(e)`."""

    keys: tuple[str, ...]
    record: NDArray[np.int64]
    mask: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.record)

    def variables(self, entry: int) -> tuple[str, ...]:
        """The keys of one minimal unique."""
        return tuple(name for v, name in enumerate(self.keys) if int(self.mask[entry]) >> v & 1)

    def of_record(self, record: int) -> tuple[tuple[str, ...], ...]:
        """The minimal uniques of one record, the smallest first."""
        found = [self.variables(int(entry)) for entry in np.flatnonzero(self.record == record)]
        return tuple(sorted(found, key=lambda names: (len(names), [self.keys.index(name) for name in names])))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of keys in each minimal unique."""
        return np.bitwise_count(self.mask).astype(np.int64)


@dataclass(frozen=True)
class Suda:
    """Scores per record, what each key contributes, and the minimal uniques behind them."""

    keys: tuple[str, ...]
    score_kind: str
    missing: str
    scores: NDArray[np.float64] = field(repr=False)
    dis_scores: NDArray[np.float64] = field(repr=False)
    dis: float
    """Estimated probability that a unique match is correct (data intrusion simulation)."""
    no_pairs: bool
    """The sample has no pairs: DIS-SUDA has nothing to go on and is 1 for every scored record."""
    contributions: NDArray[np.float64] = field(repr=False)
    """Share of a record's score in minimal uniques with each key, records × keys (0 where there is no score)."""
    uniques: MinimalUniques = field(repr=False)

    @property
    def key_contributions(self) -> dict[str, float]:
        """Share of the file's total score in minimal uniques that contain each key."""
        total = float(self.scores.sum())
        shares = self.contributions.T @ self.scores / total if total else np.zeros(len(self.keys))
        return {name: float(share) for name, share in zip(self.keys, shares, strict=True)}

    @property
    def counts_by_size(self) -> dict[int, int]:
        """Number of minimal uniques of each size."""
        sizes, counts = np.unique(self.uniques.sizes, return_counts=True)
        return {int(s): int(c) for s, c in zip(sizes, counts, strict=True)}

    def summary(self) -> str:
        """The short form."""
        scored = int((self.scores > 0).sum())
        lines = [
            f"SUDA ({self.score_kind} scores, {len(self.keys)} keys): {scored} of {len(self.scores)} records have "
            f"{len(self.uniques)} minimal uniques",
            "  by size: " + (", ".join(f"{s}: {c}" for s, c in self.counts_by_size.items()) or "none"),
        ]
        shares = sorted(self.key_contributions.items(), key=lambda item: -item[1])
        lines += [f"  {name}: {100 * share:.1f} % of the score" for name, share in shares]
        if self.no_pairs and scored:
            lines.append("  DIS-SUDA is 1 for all of them, because the sample has no pairs to estimate from")
        return "\n".join(lines)


def msu_scores(n_keys: int, max_size: int, kind: str) -> NDArray[np.float64]:
    """Score of a minimal unique of each size 0 … n_keys (index 0 is not used)."""
    scores = np.zeros(n_keys + 1)
    for size in range(1, max_size + 1):
        if kind == "original":
            scores[size] = math.prod(n_keys - i for i in range(size, max_size))
        else:
            scores[size] = (2.0 ** (n_keys - size) - 1) / math.comb(n_keys, size)
    return scores


def minimal_uniques(
    data: Microdata, keys: Sequence[str] = (), *, max_size: int | None = None, missing: str = "no-part"
) -> MinimalUniques:
    """List every minimal sample unique of every record, up to `max_size` keys (default: all sizes)."""
    check_choice(missing, MISSING, name="missing", owner="minimal_uniques")
    keys = tuple(keys) or data.schema.keys
    if not keys:
        raise DataError("minimal_uniques: there are no keys; name some or give variables the role key.")
    data.schema.require(keys, owner="minimal_uniques")
    check_unique(keys, name="keys", owner="minimal_uniques")
    if len(keys) > MAX_VARIABLES:
        raise ParameterError(f"minimal_uniques: at most {MAX_VARIABLES} keys are possible, got {len(keys)}.")
    if max_size is not None:
        check_integer(max_size, minimum=1, maximum=len(keys), name="max_size", owner="minimal_uniques")
    patterns = data.patterns(keys)
    codes = patterns.codes + np.int32(1) if missing == "own-category" else patterns.codes
    rows, masks, _ = minimal_rare_sets(codes, patterns.counts, limit=2, max_size=max_size)
    holders = _records_of(patterns.group, len(patterns), rows)
    order = np.lexsort((masks, holders))
    return MinimalUniques(keys, holders[order], masks[order])


def _records_of(group: NDArray[np.int64], n_patterns: int, rows: NDArray[np.int32]) -> NDArray[np.int64]:
    """The one record of each pattern that has a minimal unique: agreeing alone on some keys, it is the only one."""
    record = np.empty(n_patterns, np.int64)
    record[group] = np.arange(len(group))
    return record[rows]


def suda(
    data: Microdata,
    keys: Sequence[str] = (),
    *,
    score: str = "original",
    max_size: int | None = None,
    sampling_fraction: float = 0.01,
    missing: str = "no-part",
) -> Suda:
    """Score every record by its minimal sample uniques.

    `missing`: a missing value takes no part in a minimal unique (`no-part`, as in sdcMicro), or is a code of its own.
    `sampling_fraction` is π of DIS-SUDA.
    """
    check_choice(score, SCORES, name="score", owner="suda")
    check_between(sampling_fraction, 0, 1, name="sampling_fraction", owner="suda")
    if sampling_fraction == 0:
        raise ParameterError("suda: sampling_fraction must be above 0 and at most 1, got 0.")
    uniques = minimal_uniques(data, keys, max_size=max_size, missing=missing)
    n_keys = len(uniques.keys)
    per_size = msu_scores(n_keys, n_keys if max_size is None else max_size, score)
    parts = per_size[uniques.sizes]
    scores = np.bincount(uniques.record, weights=parts, minlength=data.n_rows).astype(np.float64)
    contributions = np.zeros((data.n_rows, n_keys))
    for v in range(n_keys):
        inside = (uniques.mask >> v & 1).astype(np.float64)
        contributions[:, v] = np.bincount(uniques.record, weights=parts * inside, minlength=data.n_rows)
    np.divide(contributions, scores[:, None], out=contributions, where=scores[:, None] > 0)
    sizes = data.patterns(uniques.keys).counts
    singles, pairs = int((sizes == 1).sum()), 2 * int((sizes == 2).sum())
    dis, dis_scores = _dis_suda(scores, singles, pairs, n_keys, sampling_fraction)
    return Suda(uniques.keys, score, missing, scores, dis_scores, dis, pairs == 0, contributions, uniques)


def _dis_suda(
    scores: NDArray[np.float64], singles: int, pairs: int, n_keys: int, fraction: float
) -> tuple[float, NDArray[np.float64]]:
    """DIS and DIS-SUDA; see the head of this file."""
    known = singles * fraction + pairs * (1 - fraction)
    dis = singles * fraction / known if known else 0.0
    power = 1 + (8 - n_keys) / 20
    scored = scores > 0
    out = np.zeros(len(scores))
    if scored.any():
        total = float((scores[scored] ** -power).sum())
        out[scored] = 1 / (1 + pairs * (1 - fraction) / (fraction * scores[scored] ** power * total))
    return dis, out
