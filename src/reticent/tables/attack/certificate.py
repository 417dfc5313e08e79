# SPDX-License-Identifier: Apache-2.0
"""Certificates: movements in whole numbers that prove the protection of a pattern, for a verifier to re-check.

All numbers are scaled to integers (values by 10^decimals, then by a common factor so that thirds and quarters of a unit
are whole; counts are whole already). Bounds are rounded towards the value and levels away from it, so what is proved
for integers holds for the table. A movement is kept only if it is exact; a demand without an exact movement stays in
`unproved`.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints, Mask
from reticent.base.progress import Progress, part, silent
from reticent.data.cells import CellStatus
from reticent.data.relations import Relations
from reticent.tables.attack.certify import certify
from reticent.tables.problem import SuppressionProblem

FACTOR = 12
_FAR = 2.0**50  # stands for no bound


@dataclass(frozen=True, eq=False)
class Certificate:
    """Everything the verifier needs, in integers; `movements` are sparse (cells, steps) pairs.

    `least` is what everybody knows each hidden cell to be at least (None: nothing), whatever the bounds say. That is so of
    the first `cells` (None: all): behind them are differences of cells and combinations that no table shows.
    """

    scale: int
    values: Ints
    lower: Ints
    upper: Ints
    needs: dict[int, tuple[int, int, int]]
    hidden: Ints
    relations: Relations
    movements: tuple[tuple[Ints, Ints], ...]
    unproved: tuple[int, ...]
    least: int | None = None
    cells: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The certificate as plain data (confidential: it holds the true values)."""
        return {
            "format": "reticent-certificate-1",
            "scale": self.scale,
            "values": self.values.tolist(),
            "lower": self.lower.tolist(),
            "upper": self.upper.tolist(),
            "needs": {str(cell): list(need) for cell, need in self.needs.items()},
            "hidden": self.hidden.tolist(),
            "relations": {
                "indptr": self.relations.indptr.tolist(),
                "cells": self.relations.cells.tolist(),
                "coefs": self.relations.coefs.tolist(),
            },
            "movements": [{"cells": c.tolist(), "steps": s.tolist()} for c, s in self.movements],
            "unproved": list(self.unproved),
            "least": self.least,
            **({} if self.cells is None else {"cells": self.cells}),
        }

    def to_text(self) -> str:
        """The certificate as JSON text."""
        return json.dumps(self.to_json(), separators=(",", ":"))

    def write(self, path: Path) -> None:
        """Write the certificate as JSON."""
        Path(path).write_text(self.to_text(), encoding="ascii")


class _Recorder:
    """Collects the movements that prove something new, in exact steps."""

    def __init__(self, problem: SuppressionProblem) -> None:
        self.problem = problem
        self.up = np.zeros(problem.n_cells, dtype=np.int64)
        self.down = np.zeros(problem.n_cells, dtype=np.int64)
        self.kept: list[tuple[Ints, Ints]] = []
        self._room_down = (problem.values - problem.lower_bound).astype(np.int64)
        self._room_up = (problem.upper_bound - problem.values).astype(np.int64)

    def __call__(self, cells: NDArray[np.int32], lifted: Floats) -> None:
        steps = np.rint(lifted).astype(np.int64)
        moved = np.flatnonzero(steps)
        if len(moved) == 0:
            return
        at, by = cells[moved].astype(np.int64), steps[moved]
        new = ((by > self.up[at]) & (self.up[at] < self.problem.upper_protection[at])) | (
            (-by > self.down[at]) & (self.down[at] < self.problem.lower_protection[at])
        )
        if not new.any() or not self._exact(at, by):
            return
        self.kept.append((at, by))
        self.up[at] = np.maximum(self.up[at], by)
        self.down[at] = np.maximum(self.down[at], -by)

    def _exact(self, cells: Ints, steps: Ints) -> bool:
        """Whether a movement adds up and keeps the bounds, in integers; the work is that of the moved cells only."""
        if not ((steps <= self._room_up[cells]).all() and (-steps <= self._room_down[cells]).all()):
            return False
        indptr, rows, coefs = self.problem.relations.by_cell
        lengths = indptr[cells + 1] - indptr[cells]
        starts = np.concatenate(([0], np.cumsum(lengths)))
        entries = np.arange(starts[-1]) + np.repeat(indptr[cells] - starts[:-1], lengths)
        touched, place = np.unique(rows[entries], return_inverse=True)
        sums = np.zeros(len(touched), dtype=np.int64)
        np.add.at(sums, place, coefs[entries].astype(np.int64) * np.repeat(steps, lengths))
        return not sums.any()


def make_certificate(
    problem: SuppressionProblem,
    hidden: Mask,
    *,
    least: float = -np.inf,
    cells: int | None = None,
    progress: Progress = silent,
) -> Certificate:
    """Prove the demands of all primaries by exact movements, as far as that goes.

    `least` is what the published tables say of every hidden cell, for the verifier to hold the bounds against; of these are
    the first `cells` (None: all).

    First by linear programs, whose movements are mostly whole; what is left by integer programs. Primaries without levels
    are moved up, or else down.
    """
    problem = problem.with_records()  # whole steps from what is possible in whole steps
    of_cells = np.delete(problem.whole, list(problem.combinations))
    factor = 1 if of_cells.all() else FACTOR  # who knows that values are whole is not deceived by parts of them
    scale = 10**problem.decimals * factor
    whole = _in_integers(problem, scale, factor)
    recorder = _Recorder(whole)
    low, high, slide = (_up(x * scale) for x in _levels(problem))
    labels = problem.relations.components(hidden)
    passes = ((False, False), (True, False), (False, True), (True, True))
    for number, (downward, integers) in enumerate(passes):
        width = np.maximum(slide, 1)
        reached = (recorder.down >= low) & (recorder.up >= high) & (recorder.down + recorder.up >= width)
        left = problem.primary & ~reached
        if not left.any():
            break
        share = part(progress, number / len(passes), (number + 1) / len(passes))
        recorder.problem = _asked_for(whole, left, downward=downward, integers=integers)
        near = hidden & np.isin(labels, labels[left])
        certify(recorder.problem, near, recorder=recorder, progress=share)
    reached = (recorder.down >= low) & (recorder.up >= high) & (recorder.down + recorder.up >= np.maximum(slide, 1))
    return Certificate(
        scale,
        whole.values.astype(np.int64),
        whole.lower_bound.astype(np.int64),
        whole.upper_bound.astype(np.int64),
        {int(c): (int(low[c]), int(high[c]), int(slide[c])) for c in np.flatnonzero(problem.primary)},
        np.flatnonzero(hidden),
        problem.relations,
        tuple(recorder.kept),
        tuple(int(c) for c in np.flatnonzero(problem.primary & ~reached)),
        int(np.ceil(least * scale - 1e-6)) if np.isfinite(least) else None,
        cells,
    )


def _asked_for(whole: SuppressionProblem, left: Mask, *, downward: bool, integers: bool) -> SuppressionProblem:
    """The demands that are still open; downward: primaries without levels need their step down instead of up."""
    bare = left & (whole.lower_protection == 0) & (whole.sliding_protection == 0)
    turned = bare & (whole.values > whole.lower_bound) if downward else np.zeros(len(left), dtype=bool)
    return replace(
        whole,
        lower_protection=np.where(turned, whole.upper_protection, np.where(left, whole.lower_protection, 0.0)),
        upper_protection=np.where(left & ~turned, whole.upper_protection, 0.0),
        sliding_protection=np.where(left, whole.sliding_protection, 0.0),
        status=np.where(whole.primary & ~left, CellStatus.SECONDARY, whole.status).astype(np.int8),
        integral=integers,
    )


def _levels(problem: SuppressionProblem) -> tuple[Floats, Floats, Floats]:
    # a level below the tolerance of the judge is no level
    low = np.where(problem.lower_protection > problem.tolerance, problem.lower_protection, 0.0)
    high = np.where(problem.upper_protection > problem.tolerance, problem.upper_protection, 0.0)
    return low, high, problem.sliding_protection


def _up(x: Floats) -> Floats:
    # levels are given in decimals too: a rounding error of the scaling must not add a step
    return np.ceil(x - 1e-6)


def _in_integers(problem: SuppressionProblem, scale: int, factor: int) -> SuppressionProblem:
    """The problem in steps of 1/scale; primaries without levels need some steps up."""
    values = np.rint(problem.values * scale / factor) * factor
    lower = np.maximum(np.ceil(problem.lower_bound * scale - 1e-6), values - _FAR)
    upper = np.minimum(np.floor(problem.upper_bound * scale + 1e-6), values + _FAR)
    low, high, slide = _levels(problem)
    # a step that the judge can tell from none, also where values are so large that floating point has few digits left
    step = max(1.0, np.ceil(1e-10 * np.abs(values).max(initial=1.0)))
    needed = np.where(problem.needs_movement, step, _up(high * scale))
    return replace(
        problem,
        values=values,
        lower_bound=np.minimum(lower, values),
        upper_bound=np.maximum(upper, values),
        lower_protection=_up(low * scale),
        upper_protection=needed,
        sliding_protection=_up(slide * scale),
        whole_cells=None,
    )
