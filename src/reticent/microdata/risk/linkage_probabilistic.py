# SPDX-License-Identifier: Apache-2.0
"""Probabilistic record linkage (Fellegi and Sunter 1969, Jaro 1989): agreement patterns, EM, thresholds, one to one.

m_j and u_j are the chances that a matched and an unmatched pair agree on variable j; the weight of a pattern is the log
of the ratio of its chances. Pattern counts come from `kernels.agreement`, so no pair is listed until the last step.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array, hstack
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from reticent.base.checks import check_between, check_choice, check_options
from reticent.base.errors import DataError, ParameterError
from reticent.base.randomness import Secret
from reticent.data.microdata import Microdata
from reticent.kernels.agreement import agreement_counts, best_agreement, pairs_agreeing, patterns_of_pairs

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
OWNER = "probabilistic linkage"
MOST_VARIABLES = 14
MOST_PAIRS = 30_000_000
FLOOR = 1e-9
TOLERANCE = 1e-9
FEW_MATCHES = 0.01
LINK, POSSIBLE, NON_LINK = "link", "possible", "non-link"


@dataclass(frozen=True)
class LinkageModel:
    """The fitted model: chances of agreement per variable, prior share of matches, and the pattern table."""

    names: tuple[str, ...]
    counts: Integers = field(repr=False)
    m: Floats
    u: Floats
    prior: float
    iterations: int
    converged: bool

    @property
    def weights(self) -> Floats:
        """log(m(γ)/u(γ)) of every pattern, by its bit mask."""
        bits = _bits(len(self.names))
        ratio: Floats = bits @ np.log(self.m / self.u) + (1 - bits) @ np.log((1 - self.m) / (1 - self.u))
        return ratio

    def posterior(self) -> Floats:
        """The chance that a pair with the pattern is a match."""
        odds = np.log(self.prior) - np.log1p(-self.prior) + self.weights
        chance: Floats = 1.0 / (1.0 + np.exp(-odds))
        return chance

    def rows(self, decisions: Sequence[str] | None = None) -> tuple[dict[str, Any], ...]:
        """The patterns that occur, by falling weight."""
        weights, posterior = self.weights, self.posterior()
        order = [int(i) for i in np.argsort(-weights, kind="stable") if self.counts[i] > 0]
        return tuple(
            {
                "pattern": "".join("1" if i >> j & 1 else "0" for j in range(len(self.names))),
                "pairs": int(self.counts[i]),
                "weight": float(weights[i]),
                "match_probability": float(posterior[i]),
                **({"decision": decisions[i]} if decisions else {}),
            }
            for i in order
        )


def _bits(q: int) -> Floats:
    return ((np.arange(1 << q)[:, None] >> np.arange(q)) & 1).astype(np.float64)


def fit_linkage_model(
    counts: npt.ArrayLike,
    names: Sequence[str],
    *,
    n_left: int,
    n_right: int,
    fixed_u: bool | None = None,
    iterations: int = 5000,
) -> LinkageModel:
    """EM over agreement patterns, in logarithms; agreement is independent given the match status, and m ≥ u.

    With `fixed_u` the u_j are the shares of all pairs that agree, which random pairs make up almost entirely, and only
    m and the share of matches are fitted: this keeps EM from finding classes other than matches. By default that is
    done when matches can be at most 1 % of the pairs.
    """
    counts = np.asarray(counts, dtype=np.int64)
    q = len(names)
    if counts.size != 1 << q or counts.min(initial=0) < 0:
        raise DataError(f"{OWNER}: {q} variables need {1 << q} pattern counts, none negative.")
    total = int(counts.sum())
    bits, seen = _bits(q), counts.astype(np.float64)
    u = np.clip(seen @ bits / total, FLOOR, 1 - FLOOR)
    m = np.clip(np.maximum(np.full(q, 0.9), u), FLOOR, 1 - FLOOR)
    most = min(n_left, n_right) / total
    fixed_u = most <= FEW_MATCHES if fixed_u is None else fixed_u
    prior, converged, done = most * 0.5, False, 0
    before = np.full(2 * q + 1, np.inf)
    while done < iterations and not converged:
        done += 1
        log_m = np.log(prior) + bits @ np.log(m) + (1 - bits) @ np.log1p(-m)
        log_u = np.log1p(-prior) + bits @ np.log(u) + (1 - bits) @ np.log1p(-u)
        both = np.logaddexp(log_m, log_u)
        share = np.exp(log_m - both)
        matched = seen * share
        prior = float(np.clip(matched.sum() / total, 1e-3 / total, most))
        m = np.clip(matched @ bits / max(matched.sum(), 1e-300), FLOOR, 1 - FLOOR)
        if not fixed_u:
            u = np.clip((seen - matched) @ bits / max((seen - matched).sum(), 1e-300), FLOOR, 1 - FLOOR)
        m = np.maximum(m, u)
        now = np.concatenate(([np.log(prior)], m, u))
        converged = float(np.abs(now - before).max()) < TOLERANCE
        before = now
    return LinkageModel(tuple(names), counts, m, u, prior, done, converged)


@dataclass(frozen=True)
class Thresholds:
    """Decision for every pattern, with the error rates that it really has under the model."""

    upper: float
    lower: float
    decisions: tuple[str, ...] = field(repr=False)
    false_match: float
    false_nonmatch: float


def decide(model: LinkageModel, *, false_match: float = 0.001, false_nonmatch: float = 0.05) -> Thresholds:
    """The two thresholds of Fellegi and Sunter from bounds on P(link | unmatched) and P(non-link | matched).

    Patterns are taken from the top while Σu stays within the first bound, from the bottom while Σm stays within the
    second; what is left is possible. Where the two would meet, links come first.
    """
    check_between(false_match, 0, 1, name="false_match", owner=OWNER)
    check_between(false_nonmatch, 0, 1, name="false_nonmatch", owner=OWNER)
    bits = _bits(len(model.names))
    chance_m = np.exp(bits @ np.log(model.m) + (1 - bits) @ np.log1p(-model.m))
    chance_u = np.exp(bits @ np.log(model.u) + (1 - bits) @ np.log1p(-model.u))
    order = np.argsort(-model.weights, kind="stable")
    n_links = int(np.searchsorted(np.cumsum(chance_u[order]), false_match, side="right"))
    n_links = int(min(n_links, (model.weights > 0).sum()))
    below = np.cumsum(chance_m[order][::-1])
    n_non = min(int(np.searchsorted(below, false_nonmatch, side="right")), order.size - n_links)
    decisions = np.full(order.size, POSSIBLE, dtype=object)
    decisions[order[:n_links]] = LINK
    decisions[order[order.size - n_non :]] = NON_LINK
    sorted_weights = model.weights[order]
    return Thresholds(
        upper=float(sorted_weights[n_links - 1]) if n_links else float("inf"),
        lower=float(sorted_weights[order.size - n_non]) if n_non else float("-inf"),
        decisions=tuple(str(d) for d in decisions),
        false_match=float(chance_u[order[:n_links]].sum()),
        false_nonmatch=float(chance_m[order[order.size - n_non :]].sum()),
    )


@dataclass(frozen=True)
class ProbabilisticLinkage:
    """Model, decisions and the share of masked records whose best match is their own record."""

    model: LinkageModel
    thresholds: Thresholds
    credit: Floats = field(repr=False)
    linked: Floats = field(repr=False)
    one_to_one: float | None
    assigned: Integers | None = field(repr=False)

    @property
    def share(self) -> float:
        """Expected share of masked records that are linked correctly when each takes its best match (ties shared)."""
        return float(self.credit.mean())

    def summary(self) -> dict[str, Any]:
        """Shares with and without the one-to-one constraint, and the model's quality."""
        return {
            "variables": len(self.model.names),
            "linked_share": self.share,
            "linked_share_one_to_one": self.one_to_one,
            "correct_among_links": float(self.credit[self.linked > 0].mean()) if (self.linked > 0).any() else None,
            "share_of_records_linked": float(self.linked.mean()),
            "converged": self.model.converged,
        }


def shared_codes(original: Microdata, masked: Microdata, names: Sequence[str]) -> tuple[Codes, Codes]:
    """Codes of both files in one numbering per variable; −1 is missing."""
    for data in (original, masked):
        data.schema.require(names, owner=OWNER)
    left = original.codes(names)
    right = np.empty((masked.n_records, len(names)), dtype=np.int32)
    for column, name in enumerate(names):
        place = {code: i for i, code in enumerate(original.categories(name))}
        for code in masked.categories(name):
            place.setdefault(code, len(place))
        table = np.array([place[code] for code in masked.categories(name)] + [-1], dtype=np.int32)
        right[:, column] = table[masked.codes((name,))[:, 0]]
    return left, right


class Deciding(TypedDict, total=False):
    """The largest rates of false matches and non-matches, and whether chance agreement is counted, not fitted."""

    false_match: float
    false_nonmatch: float
    fixed_u: bool | None


def probabilistic_linkage(
    left: Codes,
    right: Codes,
    names: Sequence[str],
    *,
    secret: Secret,
    own: npt.ArrayLike | None = None,
    assign: str = "links",
    **deciding: Unpack[Deciding],
) -> ProbabilisticLinkage:
    """Link masked (right) to original (left) records by agreement on shared codes (see `shared_codes`).

    `own` is the true original of each masked record (default: same position; −1: none). `assign` says which pairs
    enter the one-to-one step: those decided as links, also the possible ones, or none.
    """
    check_options(deciding, Deciding.__annotations__, owner=OWNER)
    check_choice(assign, ("links", "links-and-possible", "none"), name="assign", owner=OWNER)
    q = len(names)
    if not 1 <= q <= MOST_VARIABLES:
        raise ParameterError(f"{OWNER}: give 1 to {MOST_VARIABLES} variables, got {q}.")
    truth = np.arange(right.shape[0]) if own is None else np.asarray(own, dtype=np.int64)
    if truth.size != right.shape[0] or (own is None and left.shape[0] != right.shape[0]):
        raise DataError(f"{OWNER}: the truth needs one original record for each masked one.")
    counts = agreement_counts(left, right)
    model = fit_linkage_model(
        counts, names, n_left=left.shape[0], n_right=right.shape[0], fixed_u=deciding.get("fixed_u")
    )
    thresholds = decide(
        model, false_match=deciding.get("false_match", 0.001), false_nonmatch=deciding.get("false_nonmatch", 0.05)
    )
    order = _by_weight(model.weights, q)
    best, ties = best_agreement(left, right, order)
    has_own = truth >= 0
    own_mask = np.full(truth.size, -1, dtype=np.int64)
    own_mask[has_own] = patterns_of_pairs(left[truth[has_own]], right[has_own])
    credit = np.where((own_mask == best) & (ties > 0), 1.0 / np.maximum(ties, 1), 0.0)
    linked = np.array([thresholds.decisions[mask] == LINK for mask in best], dtype=np.float64)
    assigned, share = None, None
    if assign != "none":
        allowed = {LINK} if assign == "links" else {LINK, POSSIBLE}
        assigned = _assign(left, right, model, thresholds, allowed, secret)
        share = float((assigned[has_own] == truth[has_own]).sum() / truth.size)
    return ProbabilisticLinkage(model, thresholds, credit, linked, share, assigned)


def _by_weight(weights: Floats, q: int) -> list[int]:
    """Masks by falling weight; of equal weights (m = u) the larger set first, so that supersets precede subsets."""
    size = _bits(q).sum(axis=1)
    return [int(i) for i in np.lexsort((-size, -weights))]


def _assign(
    left: Codes, right: Codes, model: LinkageModel, thresholds: Thresholds, allowed: set[str], secret: Secret
) -> Integers:
    """One-to-one linkage of greatest total weight over the allowed pairs; −1 where a record stays alone."""
    pairs = _candidates(left, right, model, thresholds, allowed)
    assigned = np.full(right.shape[0], -1, dtype=np.int64)
    if not pairs[0].size:
        return assigned
    weights = model.weights[patterns_of_pairs(left[pairs[0]], right[pairs[1]])]
    gain = weights - weights.min() + 1.0
    rows, row_of = np.unique(pairs[1], return_inverse=True)
    columns, column_of = np.unique(pairs[0], return_inverse=True)
    # equal weights are settled by chance, not by the order of the files, which is the truth
    rng = secret.stream("one-to-one linkage")
    row_shuffle, column_shuffle = rng.permutation(rows.size), rng.permutation(columns.size)
    top = float(gain.max()) + 1.0
    cost = coo_array(
        (top - gain, (row_shuffle[row_of.ravel()], column_shuffle[column_of.ravel()])), shape=(rows.size, columns.size)
    ).tocsr()
    alone = csr_array((np.full(rows.size, top), (np.arange(rows.size), np.arange(rows.size))))
    found = min_weight_full_bipartite_matching(hstack([cost, alone]).tocsr())
    back_row, back_column = np.argsort(row_shuffle), np.argsort(column_shuffle)
    for row, column in zip(*found, strict=True):
        if column < columns.size:
            assigned[rows[back_row[row]]] = columns[back_column[column]]
    return assigned


def _candidates(
    left: Codes, right: Codes, model: LinkageModel, thresholds: Thresholds, allowed: set[str]
) -> tuple[Integers, Integers]:
    """All pairs whose pattern is allowed: joined on the smallest allowed sets, then each kept once."""
    q = len(model.names)
    masks = [i for i in range(1 << q) if thresholds.decisions[i] in allowed and model.counts[i] > 0]
    minimal = [i for i in masks if not any(j != i and j & i == j for j in masks)]
    if 0 in minimal:
        raise DataError(f"{OWNER}: pairs that agree on nothing would be allowed; lower the bound on false matches.")
    n_pairs = sum(int(model.counts[[k for k in range(1 << q) if k & i == i]].sum()) for i in minimal)
    if n_pairs > MOST_PAIRS:
        raise DataError(
            f"{OWNER}: {n_pairs} pairs would enter the one-to-one step (at most {MOST_PAIRS}); lower the bound on "
            "false matches, add variables, or set assign = 'none'."
        )
    found = [pairs_agreeing(left, right, [j for j in range(q) if i >> j & 1]) for i in minimal]
    if not found:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    keys = np.unique(np.concatenate([a * right.shape[0] + b for a, b in found]))
    a, b = keys // right.shape[0], keys % right.shape[0]
    keep = np.isin(patterns_of_pairs(left[a], right[b]), masks)
    return a[keep], b[keep]
