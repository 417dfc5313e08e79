# SPDX-License-Identifier: Apache-2.0
"""Small-count rounding: inner cells of small published counts become 0 or the base, and everything is added up again.

Only inner cells that reach a small published cell change, so every table made from the inner cells is additive,
consistent with every other one, and shows no count between 1 and base − 1 where it was small before. As in Langsrud
and Heldal (2018), cells are chosen greedily by the residual of the published cells; exchanges then improve the choice.
An inner cell that nobody publishes may still be the difference of published cells; it is treated as published.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base.arrays import Ints
from reticent.base.checks import check_integer
from reticent.base.errors import DataError, ParameterError
from reticent.kernels.elimination import PRIME, complete_kernel, eliminate

OWNER = "small-count rounding"
MAX_ROUNDS = 1000


@dataclass(frozen=True)
class SmallCountRounding:
    """Inner cells and published cells before and after, and how near they are."""

    inner: Ints = field(repr=False)
    published: Ints = field(repr=False)
    original: Ints = field(repr=False)
    changed: int

    @property
    def largest_difference(self) -> int:
        """The largest change of a published cell."""
        return int(np.abs(self.published - self.original).max(initial=0))

    @property
    def mean_difference(self) -> float:
        """Mean absolute change of a published cell."""
        return float(np.abs(self.published - self.original).mean())

    @property
    def root_mean_square(self) -> float:
        """Root of the mean squared change of a published cell."""
        return float(np.sqrt(((self.published - self.original) ** 2).mean()))

    @property
    def hellinger_utility(self) -> float:
        """1 − HD/√Σf with HD = √(½ Σ(√f − √g)²): 1 means unchanged."""
        distance = np.sqrt(0.5 * ((np.sqrt(self.original) - np.sqrt(self.published)) ** 2).sum())
        return float(1.0 - distance / np.sqrt(self.original.sum()))

    def summary(self) -> dict[str, float | int]:
        """Plain numbers."""
        return {
            "changed inner cells": self.changed,
            "largest difference": self.largest_difference,
            "mean difference": self.mean_difference,
            "root mean square": self.root_mean_square,
            "hellinger utility": self.hellinger_utility,
        }


def round_small_counts(
    inner: Ints,
    membership: sparse.csr_array,
    *,
    base: int,
    threshold: int | None = None,
    until_none: bool = True,
    derived: bool = True,
) -> SmallCountRounding:
    """Round small counts.

    `membership` has a row for each inner cell and a column for each published one (1: belongs to it). Published
    counts from 1 to `threshold` (default base − 1) are small. With `until_none` the search goes on until rounding has
    left no small published cell, as new ones may appear. With `derived`, inner cells that follow from published ones
    by sums and differences must not be small either.
    """
    check_integer(base, minimum=2, name="base", owner=OWNER)
    limit = base - 1 if threshold is None else threshold
    check_integer(limit, minimum=1, name="threshold", owner=OWNER)
    if (inner < 0).any():
        raise DataError(f"{OWNER}: counts must not be negative.")
    if membership.shape[0] != len(inner):
        raise ParameterError(f"{OWNER}: membership must have a row for each of the {len(inner)} inner cells.")
    matrix = sparse.csr_array(membership.astype(np.int64))
    original = np.asarray(inner @ matrix)
    seen = _with_derived(matrix) if derived else matrix
    candidates = np.zeros(len(inner), dtype=bool)
    rounded, published = inner.copy(), original
    for _ in range(MAX_ROUNDS):
        shown = np.asarray(rounded @ seen)
        reached = np.asarray(seen @ ((shown > 0) & (shown <= limit)).astype(np.int64)) > 0
        new = reached & (inner > 0) & ~candidates & (rounded % base != 0)
        if not new.any():
            break
        candidates |= new
        rounded = _choose(inner, matrix, original, candidates, base)
        published = np.asarray(rounded @ matrix)
        if not until_none:
            break
    return SmallCountRounding(rounded, published, original, int((rounded != inner).sum()))


def small_count_bounds(rounded: Ints, base: int, threshold: int | None = None) -> tuple[Ints, Ints]:
    """What rounded inner counts say about the true ones: only counts from 1 to the threshold become 0 or the base."""
    limit = base - 1 if threshold is None else threshold
    low = np.where(rounded == base, 1, rounded)
    high = np.where(rounded == base, max(base, limit), np.where(rounded == 0, limit, rounded))
    return low, high


def _with_derived(matrix: sparse.csr_array) -> sparse.csr_array:
    """The published cells and the inner cells that follow from them.

    An inner cell follows from sums that include it just if no change of the inner cells that leaves all published cells
    as they are moves it; a random one of these changes (modulo a prime) does not move the others only by a chance of
    2⁻³¹ each.
    """
    sums = sparse.csr_array(matrix.T)
    order = np.argsort(np.diff(sums.indptr), kind="stable")
    parts = eliminate(sums.indptr.astype(np.int64), sums.indices.astype(np.int32), sums.data, order, matrix.shape[0])
    change = complete_kernel(*parts, np.random.default_rng(7).integers(1, PRIME, matrix.shape[0]))
    fixed = np.flatnonzero(change == 0)
    single = sparse.csr_array(
        (np.ones(len(fixed), dtype=np.int64), (fixed, np.arange(len(fixed)))), (len(change), len(fixed))
    )
    return sparse.csr_array(sparse.hstack((matrix, single)))


def _choose(inner: Ints, matrix: sparse.csr_array, original: Ints, candidates: NDArray[np.bool_], base: int) -> Ints:
    """Which candidates become the base: greedy by residual, then exchanges while they lower the squared residual."""
    places = np.flatnonzero(candidates)
    part = sparse.csr_array(matrix[places])
    overlap = sparse.csr_array(part @ part.T).toarray().astype(np.float64)
    kept = np.where(candidates, 0, inner)
    pull = (part @ (original - np.asarray(kept @ matrix))).astype(np.float64)  # x · residual of each candidate
    wanted = int(np.clip(np.rint(inner[places].sum() / base), 0, len(places)))
    up = np.zeros(len(places), dtype=bool)
    for _ in range(wanted):
        best = int(np.argmax(np.where(up, -np.inf, pull)))
        up[best] = True
        pull -= base * overlap[best]
    _exchange(up, pull, overlap, base)
    rounded = kept.copy()
    rounded[places[up]] = base
    return rounded


def _exchange(up: NDArray[np.bool_], pull: NDArray[np.float64], overlap: NDArray[np.float64], base: int) -> None:
    """Swap one that is up with one that is not, the best first, until no swap lowers the squared residual.

    Taking i down and j up changes Σ residual² by 2·base·(pull_i − pull_j) + base²·(o_ii + o_jj − 2·o_ij).
    """
    diagonal = overlap.diagonal()
    for _ in range(10 * len(up)):
        ups, downs = np.flatnonzero(up), np.flatnonzero(~up)
        if not len(ups) or not len(downs):
            return
        change = 2.0 * base * (pull[ups][:, None] - pull[downs][None, :]) + base**2 * (
            diagonal[ups][:, None] + diagonal[downs][None, :] - 2.0 * overlap[np.ix_(ups, downs)]
        )
        at = int(np.argmin(change))
        i, j = ups[at // len(downs)], downs[at % len(downs)]
        if change.flat[at] >= -1e-9:
            return
        up[i], up[j] = False, True
        pull += base * (overlap[i] - overlap[j])
