# SPDX-License-Identifier: Apache-2.0
"""The attacker with the whole register: whoever knows every record of the file matches all of them at once.

Each true record belongs to one published record that it fits, so the attacker looks at perfect matchings between true and
published records. A pair that occurs in no perfect matching is ruled out, even if the two fit. The file itself is one
perfect matching; a pair lies in another one exactly if it closes an alternating cycle, that is, if both ends are in one
strongly connected component of the graph "fits" (true → published) and "is" (published → true). Records with equal codes
are one node, so the work grows with patterns × sets of blanks, not with pairs.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from reticent.base.arrays import Codes
from reticent.kernels.grouping import group_rows, pattern_table
from reticent.kernels.wildcards import compatible_sums

MOST_EDGES = 12_000_000
"""True patterns × sets of blanks up to which the attack is computed."""


@dataclass(frozen=True)
class RegisterAttack:
    """For each true record, how many published records it has in some perfect matching."""

    candidates: NDArray[np.int64] = field(repr=False, compare=False)

    @property
    def smallest(self) -> int:
        """The fewest candidates of any record."""
        return int(self.candidates.min(initial=len(self.candidates)))

    @property
    def identified(self) -> int:
        """Records whose published record is certain."""
        return int((self.candidates <= 1).sum())

    def below(self, k: int) -> int:
        """Records with fewer than k candidates."""
        return int((self.candidates < k).sum())


def attack_with_register(truth: Codes, published: Codes, *, limit: int = MOST_EDGES) -> RegisterAttack | None:
    """Attack with every true record known; None where the file is beyond the limit.

    The two have the same records in the same order (which the attacker does not know: it does not change the result).
    """
    cards = [int(max(t, p)) + 1 for t, p in zip(truth.max(axis=0), published.max(axis=0), strict=True)]
    first, _, _, true_as = pattern_table(truth, cards)
    shown, counts, _, shown_as = pattern_table(published, cards)
    masks = (published[shown] < 0) @ (np.int64(1) << np.arange(truth.shape[1], dtype=np.int64))
    if len(first) * len(np.unique(masks)) > limit:
        return None
    fits = _fits(truth[first], published[shown], masks, cards)
    own = np.unique(np.column_stack((shown_as, true_as)), axis=0)
    begin = np.concatenate((fits[:, 0], own[:, 0] + len(first)))
    end = np.concatenate((fits[:, 1] + len(first), own[:, 1]))
    size = len(first) + len(shown)
    graph = csr_array((np.ones(len(begin), np.int8), (begin, end)), shape=(size, size))
    label = connected_components(graph, directed=True, connection="strong")[1].astype(np.int32)
    asking = np.column_stack((truth[first], label[: len(first)])).astype(np.int32)
    answering = np.column_stack((published[shown], label[len(first) :])).astype(np.int32)
    found = compatible_sums(asking, answering, counts, asking_wild=False, answering_wild=True)
    return RegisterAttack(np.asarray(found[true_as]).astype(np.int64))


def _fits(truth: Codes, published: Codes, masks: NDArray[np.int64], cards: list[int]) -> NDArray[np.int64]:
    """Pairs (true pattern, published pattern) that fit: for each set of blanks one join on what is left."""
    pairs = []
    for mask in np.unique(masks).tolist():
        kept = [v for v in range(truth.shape[1]) if not mask >> v & 1]
        rows = np.flatnonzero(masks == mask)
        if not kept:
            one, other = np.arange(len(truth)), np.repeat(rows[0], len(truth))
        else:
            both = np.concatenate((truth[:, kept], published[rows][:, kept]))
            group, n_groups = group_rows(both, [cards[v] for v in kept])
            place = np.full(n_groups, -1, np.int64)
            place[group[len(truth) :]] = rows
            found = place[group[: len(truth)]]
            one = np.flatnonzero(found >= 0)
            other = found[one]
        pairs.append(np.column_stack((one, other)))
    return np.concatenate(pairs).astype(np.int64)
