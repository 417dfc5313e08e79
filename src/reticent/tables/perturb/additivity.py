# SPDX-License-Identifier: Apache-2.0
"""Additivity restored: counts with noise are moved as little as possible until all totals add up, without new small counts.

Three ways. *exact*: a linear program that only adds up, then an integer program in which no count from 1 to `skip` is left
(Giessing and Höhne 2011, after controlled tabular adjustment). *kernel*, for large tables: inner cells move by allowed steps
as long as the squared distance of all cells from the noisy ones falls; sums of allowed inner counts are allowed. *ipf*:
inner cells are scaled to the noisy totals and rounded; quick, coarse, and it makes new small counts, which is reported.
The noisy counts are all that is looked at, so that averaging over differently adjusted tables gives these and no more.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base import clock
from reticent.base.arrays import Floats, Ints, Mask
from reticent.base.errors import DataError, InfeasibleError, ParameterError
from reticent.data.relations import Relations
from reticent.kernels.additivity import Sums, double_steps, proportional_fitting, single_steps, sums_of
from reticent.solve.highs import solve
from reticent.solve.model import LinearModel, Status
from reticent.tables.perturb.summing import Summing, summing

Way = Literal["no", "yes", "exact", "kernel", "ipf"]
OWNER = "add_up"
EXACT_CELLS = 150
"""Up to this many cells `yes` means `exact`."""
PROGRAM_CELLS = 3_000
"""Up to this many cells an integer program decides where the kernel cannot meet fixed totals."""
SWEEPS = 60
HARD = 1e4
"""What a unit of a published total or of a link between tables costs against a unit of any other cell."""
STALL = 0.002
"""The search ends when a sweep lowers the squared distance by a smaller share."""
FITTINGS = 30


@dataclass(frozen=True, eq=False)
class Restored:
    """Counts that add up; how far that took them from the noisy ones; and how it was done.

    `small` are counts from 1 to `skip` among them: none unless by `ipf`.
    """

    values: Floats = field(repr=False)
    way: str
    largest: float
    mean: float
    small: int
    bound: float | None
    status: str

    def facts(self) -> dict[str, float | int | str | None]:
        """Plain numbers."""
        return {
            "additivity": self.way,
            "largest change by additivity": self.largest,
            "mean change by additivity": round(self.mean, 6),
            "new small counts": self.small,
        }


@dataclass(frozen=True, eq=False)
class NoisyCounts:
    """What is to add up: noisy counts, which cells must stay 0, and which were published before (NaN: not)."""

    noisy: Floats
    relations: Relations
    empty: Mask
    published: Floats
    skip: int = 0

    @property
    def known(self) -> Mask:
        """Cells that were published before."""
        return np.asarray(~np.isnan(self.published))


def restore_additivity(
    noisy: Floats,
    relations: Relations,
    *,
    skip: int = 0,
    empty: Mask | None = None,
    published: Floats | None = None,
    way: Way = "yes",
    time_limit: float = 60.0,
) -> Restored:
    """Counts near the noisy ones that satisfy all relations; `published` cells keep the value that was released before.

    No count from 1 to `skip` is made, and cells that are `empty` stay 0. Where published cells leave no way, that is
    refused: cells of an earlier table cannot be taken back.
    """
    if len(noisy) != relations.n_cells:
        raise DataError(f"{OWNER}: there must be one count for each of the {relations.n_cells} cells.")
    if not np.isfinite(noisy).all() or bool((noisy != np.rint(noisy)).any()) or bool((noisy < 0).any()):
        raise DataError(
            f"{OWNER}: needs whole counts that are not negative; sums and weighted counts have no such way."
        )
    n = len(noisy)
    given = NoisyCounts(
        np.asarray(noisy, dtype=np.float64),
        relations,
        np.zeros(n, dtype=bool) if empty is None else empty,
        np.full(n, np.nan) if published is None else published,
        skip,
    )
    _check_published(given)
    if way == "yes":
        way = "exact" if n <= EXACT_CELLS else "kernel"
    if way == "exact":
        return _exact(given, time_limit)
    if way == "kernel":
        return _kernel_or_program(given, time_limit)
    if way == "ipf":
        return _fitted(given)
    raise ParameterError(f"{OWNER}: must be one of yes, exact, kernel, ipf, got {way!r}.")


def _check_published(given: NoisyCounts) -> None:
    known = given.known
    shown = given.published[known]
    if bool((shown < 0).any()) or bool((shown != np.rint(shown)).any()):
        raise DataError(f"{OWNER}: counts that were published before must be whole and not negative.")
    if bool((given.empty[known] & (shown > 0)).any()):
        raise DataError(
            f"{OWNER}: a cell without records was published with a count above 0 before; the release must be of these data."
        )


def _result(given: NoisyCounts, values: Floats, way: str, bound: float | None, status: str) -> Restored:
    """The result, checked: relations, published cells and small counts by code that did not make it."""
    off = np.abs(given.relations.residuals(values)).max(initial=0.0)
    kept = np.abs(values - given.published)[given.known].max(initial=0.0)
    if off > 1e-6 or kept > 1e-6:
        raise InfeasibleError(
            f"{OWNER}: {way} found no counts that add up with all cells that are fixed; "
            "publish the tables together as linked tables, or without add_up."
        )
    new = (values > 0) & (values <= given.skip) & ~given.known
    if way != "ipf" and bool(new.any()):
        raise InfeasibleError(f"{OWNER}: {way} left counts from 1 to {given.skip}; use another way.")
    change = np.abs(values - given.noisy)
    mean = float(change.mean()) if len(change) else 0.0
    return Restored(values + 0.0, way, float(change.max(initial=0.0)), mean, int(new.sum()), bound, status)


def _exact(given: NoisyCounts, time_limit: float) -> Restored:
    """First the sums alone, by a linear program; then without small counts, by an integer program."""
    low = np.where(given.known, given.published, 0.0)
    high = np.where(given.known, given.published, np.where(given.empty, 0.0, np.inf))
    plain = _nearest_model(given, low, high, whole=False)
    relaxed = solve(plain, time_limit=time_limit)
    if relaxed.status is Status.INFEASIBLE:
        raise _cannot(given)
    n = len(given.noisy)
    if relaxed.feasible:
        first = relaxed.values[:n]
        near = np.rint(first)
        small = (near > 0) & (near <= given.skip) & ~given.known
        if bool((np.abs(first - near) < 1e-6).all()) and not small.any():
            return _result(given, near, "exact", relaxed.objective, "optimal")
    found = solve(_nearest_model(given, low, high, whole=True), time_limit=time_limit, start=_start(given, time_limit))
    if found.status is Status.INFEASIBLE:
        raise _cannot(given)
    if not found.feasible:
        raise InfeasibleError(f"{OWNER}: nothing was found in {time_limit:g} seconds; allow more time or use kernel.")
    status = "optimal" if found.status is Status.OPTIMAL else "stopped"
    return _result(given, np.rint(found.values[:n]), "exact", found.bound, status)


def _start(given: NoisyCounts, time_limit: float) -> Floats | None:
    """What the kernel finds, as a first point for the integer program; None if it finds nothing."""
    try:
        values = _by_kernel(given, time_limit).values
    except (InfeasibleError, DataError):
        return None
    there = [(values > 0).astype(np.float64)] if given.skip else []
    return np.concatenate([values, np.abs(values - given.noisy), *there])


def _cannot(given: NoisyCounts) -> InfeasibleError:
    fixed = int(given.known.sum())
    if fixed:
        return InfeasibleError(
            f"{OWNER}: no counts add up with the {fixed} cells that earlier releases fix; these cannot be taken back. Publish "
            "this table without add_up, or all tables together as linked tables."
        )
    return InfeasibleError(f"{OWNER}: no counts without 1 to {given.skip} add up; lower skip.")


def _nearest_model(given: NoisyCounts, low: Floats, high: Floats, *, whole: bool) -> LinearModel:
    """min Σ t with t ≥ ±(y − noisy) and all relations; `whole`: y whole, and 0 or at least skip + 1."""
    n = len(given.noisy)
    eye, none = sparse.eye_array(n), sparse.csr_array((n, n))
    matrix = sparse.csr_array(given.relations.matrix().astype(np.float64))
    bare = sparse.csr_array(matrix.shape)
    width = 3 if whole and given.skip else 2
    top = np.minimum(high, given.noisy.max(initial=0.0) + 10.0 * n + given.skip + 1)
    blocks: list[list[Any]] = [[matrix, bare, bare], [-eye, eye, none], [eye, eye, none]]
    infinite = np.full(n, np.inf)
    lower = [given.relations.rhs, -given.noisy, given.noisy]
    upper = [given.relations.rhs, infinite, infinite]
    if width == 3:  # (skip + 1)·z ≤ y ≤ M·z, except where what was released before is small
        least = np.where(given.known, 0.0, given.skip + 1.0)
        blocks += [
            [eye, none, -sparse.diags_array(least)],
            [-eye, none, sparse.diags_array(top)],
        ]
        lower += [np.zeros(n), np.zeros(n)]
        upper += [infinite, infinite]
    rows = sparse.csr_array(sparse.vstack([sparse.hstack(block[:width]) for block in blocks]))
    integer = np.concatenate([np.ones(n), np.zeros(n), np.ones(n)])[: width * n] > 0 if whole else None
    return LinearModel(
        np.concatenate([np.zeros(n), np.ones(n), np.zeros(n)])[: width * n],
        np.concatenate([low, np.zeros(n), np.zeros(n)])[: width * n],
        np.concatenate([high, infinite, np.ones(n)])[: width * n],
        rows,
        np.concatenate(lower),
        np.concatenate(upper),
        integer=integer,
    )


@dataclass(frozen=True, eq=False)
class _Kernel:
    """The table as the kernel sees it: for each inner cell the sums it belongs to, with what each sum should be."""

    indptr: Ints
    cells: NDArray[np.int32]
    coefs: NDArray[np.int32]
    targets: Ints
    weights: Floats
    start: Ints
    free: Mask
    hard: Mask


def _kernel_or_program(given: NoisyCounts, time_limit: float) -> Restored:
    """The kernel; where fixed totals stop it and the table is not large, the integer program, which decides."""
    try:
        return _by_kernel(given, time_limit)
    except InfeasibleError:
        if len(given.noisy) > PROGRAM_CELLS:
            raise
    return _exact(given, time_limit)


def _by_kernel(given: NoisyCounts, time_limit: float) -> Restored:
    sums = summing(given.relations)
    kernel = _prepared(given, sums)
    values, off = _descended(kernel, given.skip, time_limit)
    if bool((off[kernel.hard] != 0).any()):
        raise InfeasibleError(
            f"{OWNER}: {int((off[kernel.hard] != 0).sum())} totals that earlier releases fix or linked tables share could not "
            "be met; publish all tables together as linked tables, or without add_up."
        )
    return _result(given, np.asarray(sums.matrix @ values.astype(np.float64)), "kernel", None, "found")


def _prepared(given: NoisyCounts, sums: Summing) -> _Kernel:
    """Targets are the noisy counts; published cells and links must be met, so they weigh more than everything else."""
    wide = sparse.csc_array(sparse.vstack([sums.matrix, sums.links]))
    n_links = int(sums.links.shape[0])
    known = np.concatenate([given.known, np.ones(n_links, dtype=bool)])
    targets = np.concatenate([np.where(given.known, given.published, given.noisy), np.zeros(n_links)])
    inner = sums.inner
    noisy = np.where(given.known[inner], given.published[inner], given.noisy[inner]).astype(np.int64)
    free = ~(given.known[inner] | given.empty[inner])
    small = free & (noisy > 0) & (noisy <= given.skip)
    start = np.where(small, given.skip + 1, np.where(given.empty[inner] & ~given.known[inner], 0, noisy))
    return _Kernel(
        wide.indptr.astype(np.int64),
        wide.indices.astype(np.int32),
        wide.data.astype(np.int32),
        targets.astype(np.int64),
        np.where(known, HARD, 1.0),
        start.astype(np.int64),
        np.asarray(free),
        np.asarray(known),
    )


def _descended(kernel: _Kernel, skip: int, time_limit: float) -> tuple[Ints, Ints]:
    """Sweeps of single steps, then of double steps with partners that share a sum, until nothing falls any more."""
    started = clock.now()
    values = kernel.start.copy()
    place = Sums(kernel.indptr, kernel.cells, kernel.coefs)
    off = sums_of(values, place, len(kernel.targets)) - kernel.targets
    rng = np.random.default_rng(11)  # the order of the search; no secret depends on it
    n = len(values)
    energy = np.inf
    for sweep in range(SWEEPS):
        order = np.arange(n) if sweep % 2 == 0 else np.arange(n)[::-1].copy()
        single_steps(values, order, kernel.free, place, off, kernel.weights, skip)
        partners, signs = _partners(kernel, order, rng)
        double_steps(values, order, partners, signs, kernel.free, place, off, kernel.weights, skip)
        before, energy = energy, float((kernel.weights * off.astype(np.float64) ** 2).sum())
        met = not (off[kernel.hard] != 0).any()
        if (met and energy > (1.0 - STALL) * before) or clock.now() - started > time_limit:
            break
    return values, off


def _partners(kernel: _Kernel, order: Ints, rng: np.random.Generator) -> tuple[Ints, NDArray[np.int32]]:
    """For each inner cell another that shares a sum with it, and the sign with which it leaves that sum as it is."""
    lengths = np.diff(kernel.indptr)
    pick = kernel.indptr[:-1] + (rng.random(len(lengths)) * lengths).astype(np.int64)
    hard = kernel.hard[kernel.cells]
    if hard.any():  # fixed sums come first: only together with another cell can a cell move there
        first = np.full(len(lengths), -1, dtype=np.int64)
        entries = np.flatnonzero(hard)
        owner = np.searchsorted(kernel.indptr, entries, side="right") - 1
        shuffled = rng.permutation(len(entries))
        first[owner[shuffled]] = entries[shuffled]
        pick = np.where(first >= 0, first, pick)
    shared = kernel.cells[pick]
    grouped = np.lexsort((rng.random(len(shared)), shared))
    after = np.roll(grouped, -1)
    same = shared[grouped] == shared[after]
    partner = np.full(len(shared), -1, dtype=np.int64)
    partner[grouped[same]] = after[same]
    signs = np.where(partner >= 0, -kernel.coefs[pick] * kernel.coefs[pick[np.maximum(partner, 0)]], 0)
    return partner[order], signs[order].astype(np.int32)


def _fitted(given: NoisyCounts) -> Restored:
    """Inner cells scaled to the noisy totals in turn, rounded, and added up."""
    sums = summing(given.relations)
    if sums.links.shape[0]:
        raise ParameterError(
            f"{OWNER}: ipf needs tables with common inner cells; use exact or kernel for linked tables."
        )
    if given.known.any():
        raise ParameterError(f"{OWNER}: ipf cannot keep cells that were published before; use exact or kernel.")
    matrix = sums.matrix
    size = np.diff(matrix.indptr)
    order = np.argsort(size, kind="stable")
    order = order[size[order] > 1]
    values = given.noisy[sums.inner].astype(np.float64)
    indptr, members = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    proportional_fitting(values, indptr, members, given.noisy, order, FITTINGS)
    return _result(given, np.asarray(matrix @ np.rint(values)), "ipf", None, "found")
