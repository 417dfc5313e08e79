# SPDX-License-Identifier: Apache-2.0
"""Log-linear Poisson models of the population's cells: how many sample uniques are population uniques, and their risk.

Source: Skinner and Shlomo (2008). Cell counts F ~ Poisson(λ) with log λ linear in main effects and two-way interactions;
f ~ Poisson(πλ). τ1 = Σ exp(−(1−π)λ) and τ2 = Σ (1 − exp(−(1−π)λ))/((1−π)λ) over sample uniques. The statistics B1, B2
estimate the bias of τ1, τ2 that a wrong model brings; divided by their standard deviation they are near N(0, 1) for a
model that fits, large for one that misses interactions, negative for one with too many.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from reticent.base.checks import check_integer
from reticent.base.errors import DataError
from reticent.base.progress import Progress, silent
from reticent.kernels.loglinear import log_means, sum_over_cells, sum_over_observed
from reticent.microdata.risk.individual import check_weights

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Edge = tuple[int, int]
OWNER = "log-linear risk"
MOST_CELLS = 200_000_000
MOST_FITTED = 4_000_000
GOOD_FIT = 1.96
SWEEPS = 1000
TOLERANCE = 1e-6


@dataclass(frozen=True)
class LogLinearModel:
    """One fitted model: its interactions, τ1 and τ2, their standardized bias (None: too many cells to sum over)."""

    interactions: tuple[tuple[str, str], ...]
    tau1: float
    tau2: float
    bias1: float | None
    bias2: float | None
    means: Floats = field(repr=False)
    converged: bool = True

    def row(self) -> dict[str, Any]:
        """One line of the model table."""
        names = ", ".join(f"{a}×{b}" for a, b in self.interactions) or "main effects only"
        return {"interactions": names, "tau1": self.tau1, "tau2": self.tau2, "bias1": self.bias1, "bias2": self.bias2}


@dataclass(frozen=True)
class LogLinearRisk:
    """All models of the search, the chosen one, and the risk of each sample unique under it."""

    records: int
    sample_uniques: int
    fraction: float
    cells: int
    models: tuple[LogLinearModel, ...]
    chosen: int
    record_risk: Floats = field(repr=False)

    @property
    def model(self) -> LogLinearModel:
        """The model whose bias statistic for τ2 is nearest to 0 (without statistics: the last)."""
        return self.models[self.chosen]

    def rows(self) -> tuple[dict[str, Any], ...]:
        """The model table."""
        return tuple({**model.row(), "chosen": i == self.chosen} for i, model in enumerate(self.models))

    def summary(self) -> dict[str, Any]:
        """The file in a few numbers."""
        return {
            "records": self.records,
            "sample_uniques": self.sample_uniques,
            "population_uniques_in_sample": self.model.tau1,
            "expected_correct_matches": self.model.tau2,
            "models": len(self.models),
        }


@dataclass(frozen=True)
class CellTable:
    """The observed cells of a file: codes (a missing value is a category of its own), counts, and what is fitted."""

    names: tuple[str, ...]
    codes: Codes = field(repr=False)
    counts: Integers = field(repr=False)
    totals: Floats = field(repr=False)
    cards: Integers
    fraction: float

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        codes: Codes,
        counts: npt.ArrayLike,
        *,
        weights: npt.ArrayLike | None = None,
        fraction: float | None = None,
    ) -> "CellTable":
        """From distinct rows and their counts, with the sum of weights of each row or one sampling fraction.

        Weights are fitted as they are (pseudo-likelihood); with a fraction, counts are fitted and divided by it.
        """
        f = np.asarray(counts, dtype=np.int64)
        if (weights is None) == (fraction is None):
            raise DataError(f"{OWNER}: give either weights or a sampling fraction.")
        if weights is not None:
            totals = np.asarray(weights, dtype=np.float64)
            check_weights(totals, owner=OWNER)
            share = float(f.sum() / totals.sum())
        else:
            share = float(fraction or 0.0)
            totals = f / share if share > 0 else f.astype(np.float64)
        if not 0 < share < 1:
            raise DataError(
                f"{OWNER}: the sampling fraction must be above 0 and below 1; weights must mostly exceed 1."
            )
        dense = np.empty(codes.shape, dtype=np.int32)  # only categories that occur make cells
        for column in range(codes.shape[1]):
            dense[:, column] = np.unique(codes[:, column], return_inverse=True)[1].ravel()
        return cls(tuple(names), dense, f, totals, dense.max(axis=0).astype(np.int64) + 1, share)

    def margin(self, variables: Sequence[int]) -> Floats:
        """Sums of the totals over the cells of some variables, as a dense array."""
        cards = self.cards[list(variables)]
        place = np.ravel_multi_index(tuple(self.codes[:, v] for v in variables), tuple(cards))
        flat = np.bincount(place, weights=self.totals, minlength=int(np.prod(cards)))
        return np.asarray(flat, dtype=np.float64).reshape(tuple(cards))


def _blocks(q: int, edges: Sequence[Edge]) -> list[tuple[int, ...]]:
    """Biconnected parts of the interaction graph (isolated variables alone): the model factorizes over them.

    Every edge outside a spanning forest closes a cycle; parts that share two variables belong together.
    """
    parts: list[set[int]] = [set(edge) for edge in edges]
    neighbours: dict[int, list[int]] = {v: [] for v in range(q)}
    for a, b in edges:
        path = _path(neighbours, a, b)
        if path is None:
            neighbours[a].append(b)
            neighbours[b].append(a)
        else:
            parts.append(set(path))
    merged: list[set[int]] = []
    while parts:
        part = parts.pop()
        touching = [other for other in merged + parts if len(other & part) >= 2]
        if touching:
            merged = [other for other in merged if other not in touching]
            parts = [other for other in parts if other not in touching]
            parts.append(part.union(*touching))
        else:
            merged.append(part)
    alone = [{v} for v in range(q) if not any(v in part for part in merged)]
    return sorted(tuple(sorted(part)) for part in merged + alone)


def _path(neighbours: dict[int, list[int]], start: int, end: int) -> list[int] | None:
    """The path between two variables in the forest, None if there is none."""
    trail: dict[int, int] = {start: -1}
    queue = [start]
    while queue:
        here = queue.pop()
        if here == end:
            path = [here]
            while trail[path[-1]] >= 0:
                path.append(trail[path[-1]])
            return path
        for other in neighbours[here]:
            if other not in trail:
                trail[other] = here
                queue.append(other)
    return None


def _fit_block(table: CellTable, block: tuple[int, ...], edges: Sequence[Edge]) -> tuple[Floats, bool]:
    """Fitted margin of a block: its own margin for one or two variables, iterative proportional fitting beyond."""
    if len(block) <= 2:
        return table.margin(block), True
    inside = [edge for edge in edges if set(edge) <= set(block)]
    targets = [(tuple(block.index(v) for v in edge), table.margin(edge)) for edge in inside]
    shape = tuple(int(table.cards[v]) for v in block)
    total = float(table.totals.sum())
    fitted = np.full(shape, total / float(np.prod(shape)))
    for _ in range(SWEEPS):
        worst = 0.0
        for axes, target in targets:
            others = tuple(axis for axis in range(len(block)) if axis not in axes)
            now = fitted.sum(axis=others)
            worst = max(worst, float(np.abs(now - target).max()))
            ratio = np.divide(target, now, out=np.zeros_like(target), where=now > 0)
            fitted *= ratio.reshape([shape[axis] if axis in axes else 1 for axis in range(len(block))])
        if worst <= TOLERANCE * total:
            return fitted, True
    return fitted, False


@dataclass(frozen=True)
class _Fit:
    tables: Floats
    offsets: Integers
    strides: Integers
    constant: float
    converged: bool


def _fit(table: CellTable, edges: Sequence[Edge], cache: dict[Any, tuple[Floats, bool]]) -> _Fit:
    """Log means as block tables: Σ blocks − (times − 1)·shared variables − (components − 1)·log N."""
    q = len(table.names)
    blocks = _blocks(q, edges)
    times = np.zeros(q, dtype=np.int64)
    for block in blocks:
        times[list(block)] += 1
    log_total = float(np.log(table.totals.sum()))
    flat, offsets, strides, length, converged = [], [], np.zeros((len(blocks), q), dtype=np.int64), 0, True
    seen: set[int] = set()
    for position, block in enumerate(blocks):
        inside = tuple(edge for edge in edges if set(edge) <= set(block))
        if (block, inside) not in cache:
            cache[block, inside] = _fit_block(table, block, inside)
        fitted, good = cache[block, inside]
        converged &= good
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(fitted)
            for axis, variable in enumerate(block):
                if variable not in seen and times[variable] > 1:
                    own = np.log(table.margin((variable,)))
                    shape = [-1 if i == axis else 1 for i in range(len(block))]
                    logs = logs - (times[variable] - 1) * own.reshape(shape)
                seen.add(variable)
        cards = [int(table.cards[v]) for v in block]
        for axis, variable in enumerate(block):
            strides[position, variable] = int(np.prod(cards[axis + 1 :]))
        flat.append(np.where(np.isnan(logs), -np.inf, logs).ravel())
        offsets.append(length)
        length += logs.size
    # a forest of blocks: the number of components is variables − Σ(size − 1)
    components = q - sum(len(block) - 1 for block in blocks)
    return _Fit(np.concatenate(flat), np.array(offsets), strides, -(components - 1) * log_total, converged)


def fit_model(
    table: CellTable, edges: Sequence[Edge], *, cache: dict[Any, tuple[Floats, bool]] | None = None
) -> LogLinearModel:
    """Fit main effects and the given interactions (pairs of positions in `table.names`) and measure risk and bias."""
    fit = _fit(table, edges, {} if cache is None else cache)
    arrays = fit.tables, fit.offsets, fit.strides, fit.constant
    means = np.exp(log_means(table.codes, *arrays))
    pi = table.fraction
    rest = (1.0 - pi) * means[table.counts == 1]
    tau1 = float(np.exp(-rest).sum())
    tau2 = float(mean_inverse(rest).sum())
    bias1 = bias2 = None
    if float(np.prod(table.cards.astype(np.float64))) <= MOST_CELLS:
        order = np.argsort(table.cards, kind="stable")  # the largest variable innermost
        sums = sum_over_cells(
            table.cards[order], *arrays[:2], np.ascontiguousarray(fit.strides[:, order]), arrays[3], pi
        )
        more = sum_over_observed(table.counts, means, pi)
        bias1 = float((sums[0] + more[0]) / np.sqrt(sums[1])) if sums[1] > 0 else 0.0
        bias2 = float((sums[2] + more[1]) / np.sqrt(sums[3])) if sums[3] > 0 else 0.0
    names = tuple((table.names[a], table.names[b]) for a, b in edges)
    return LogLinearModel(names, tau1, tau2, bias1, bias2, means, fit.converged)


def mean_inverse(rest: Floats) -> Floats:
    """(1 − e^−m)/m, 1 at m = 0: the expected 1/F of a sample unique with m = (1−π)λ."""
    small = rest < 1e-8
    return np.where(small, 1.0 - rest / 2.0, -np.expm1(-rest) / np.where(small, 1.0, rest))


def association(table: CellTable, edge: Edge) -> float:
    """G² of two variables minus twice its degrees of freedom: what their interaction gains by Akaike's criterion."""
    joint = table.margin(edge) * table.fraction
    rows, columns, total = joint.sum(axis=1), joint.sum(axis=0), joint.sum()
    expected = np.outer(rows, columns) / total
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(joint > 0, joint * np.log(joint / expected), 0.0)
    freedom = (int(np.count_nonzero(rows)) - 1) * (int(np.count_nonzero(columns)) - 1)
    return 2.0 * float(terms.sum()) - 2.0 * freedom


def log_linear_risk(table: CellTable, *, steps: int = 15, progress: Progress = silent) -> LogLinearRisk:
    """Forward search: from main effects, add the strongest interaction left until the bias statistic of τ2 is small.

    Interactions are in the order of `association`. One that would join variables into a part with more than four
    million cells to fit is passed over. The chosen model is the one with the smallest |B2|.
    """
    check_integer(steps, minimum=0, name="steps", owner=OWNER)
    q = len(table.names)
    queue = [(-association(table, edge), edge) for edge in combinations(range(q), 2)]
    heapq.heapify(queue)
    cache: dict[Any, tuple[Floats, bool]] = {}
    edges: list[Edge] = []
    models = [fit_model(table, edges, cache=cache)]
    while queue and len(models) <= steps and _keep_going(models[-1]):
        edge = heapq.heappop(queue)[1]
        trial = [*edges, edge]
        largest = max(float(np.prod(table.cards[list(b)].astype(np.float64))) for b in _blocks(q, trial))
        if largest > MOST_FITTED:
            continue
        edges = trial
        progress(len(models) / (steps + 1), "log-linear models")
        models.append(fit_model(table, edges, cache=cache))
    scores = [abs(model.bias2) if model.bias2 is not None else -i for i, model in enumerate(models)]
    chosen = int(np.argmin(scores))
    unique = table.counts == 1
    risk = np.zeros(table.counts.size)
    risk[unique] = mean_inverse((1.0 - table.fraction) * models[chosen].means[unique])
    cells = int(np.prod(table.cards.astype(object)))
    return LogLinearRisk(int(table.counts.sum()), int(unique.sum()), table.fraction, cells, tuple(models), chosen, risk)


def _keep_going(model: LogLinearModel) -> bool:
    return model.bias2 is None or model.bias2 > GOOD_FIT
