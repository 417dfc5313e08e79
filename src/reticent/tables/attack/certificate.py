"""Certificates: movements in whole numbers that prove the protection of a pattern, for a verifier to re-check.

All numbers are scaled to integers (values by 10^decimals, then by a common factor so that thirds and quarters of a unit
are whole). Bounds are rounded towards the value and levels away from it, so what is proved for integers holds for the
table. A movement is kept only if it is exact; a demand without an exact movement stays in `unproved`.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.progress import Progress, silent
from reticent.data.relations import Relations
from reticent.tables.attack.certify import certify
from reticent.tables.problem import SuppressionProblem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
FACTOR = 12
_FAR = 2.0**50  # stands for no bound


@dataclass(frozen=True, eq=False)
class Certificate:
    """Everything the verifier needs, in integers; `movements` are sparse (cells, steps) pairs."""

    scale: int
    values: Ints
    lower: Ints
    upper: Ints
    needs: dict[int, tuple[int, int, int]]
    hidden: Ints
    relations: Relations
    movements: tuple[tuple[Ints, Ints], ...]
    unproved: tuple[int, ...]

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
        }

    def write(self, path: Path) -> None:
        """Write the certificate as JSON."""
        Path(path).write_text(json.dumps(self.to_json()), encoding="ascii")


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
        moved = steps != 0
        if not moved.any():
            return
        full = np.zeros(self.problem.n_cells, dtype=np.int64)
        full[cells] = steps
        if not self._exact(full):
            return
        new = ((full > self.up) & (self.up < self.problem.upper_protection)) | (
            (-full > self.down) & (self.down < self.problem.lower_protection)
        )
        if new.any():
            self.kept.append((cells[moved].astype(np.int64), steps[moved]))
            np.maximum(self.up, full, out=self.up)
            np.maximum(self.down, -full, out=self.down)

    def _exact(self, full: Ints) -> bool:
        relations = self.problem.relations
        products = np.append(relations.coefs.astype(np.int64) * full[relations.cells], 0)
        sums = np.concatenate(([0], np.cumsum(products)))
        adds_up = (sums[relations.indptr[1:]] == sums[relations.indptr[:-1]]).all()
        return bool(adds_up and (full <= self._room_up).all() and (-full <= self._room_down).all())


def make_certificate(problem: SuppressionProblem, hidden: Mask, *, progress: Progress = silent) -> Certificate:
    """Prove the demands of all primaries by exact movements, as far as that goes."""
    scale = 10**problem.decimals * FACTOR
    whole = _in_integers(problem, scale)
    recorder = _Recorder(whole)
    certify(whole, hidden, recorder=recorder, progress=progress)
    bare = problem.needs_movement
    stuck = bare & (recorder.up < whole.upper_protection)
    if stuck.any():
        down = np.where(stuck & (whole.values > whole.lower_bound), 1.0, whole.lower_protection)
        other = replace(whole, lower_protection=down, upper_protection=np.where(stuck, 0.0, whole.upper_protection))
        recorder.problem = other
        certify(other, hidden, recorder=recorder, progress=progress)
    low, high, slide = (_up(x * scale) for x in _levels(problem))
    needs = {int(c): (int(low[c]), int(high[c]), int(slide[c])) for c in np.flatnonzero(problem.primary)}
    reached = (recorder.down >= low) & (recorder.up >= high) & (recorder.down + recorder.up >= np.maximum(slide, 1))
    unproved = tuple(int(c) for c in np.flatnonzero(problem.primary & ~reached))
    return Certificate(
        scale,
        whole.values.astype(np.int64),
        whole.lower_bound.astype(np.int64),
        whole.upper_bound.astype(np.int64),
        needs,
        np.flatnonzero(hidden),
        problem.relations,
        tuple(recorder.kept),
        unproved,
    )


def _levels(problem: SuppressionProblem) -> tuple[Floats, Floats, Floats]:
    # a level below the tolerance of the judge is no level
    low = np.where(problem.lower_protection > problem.tolerance, problem.lower_protection, 0.0)
    high = np.where(problem.upper_protection > problem.tolerance, problem.upper_protection, 0.0)
    return low, high, problem.sliding_protection


def _up(x: Floats) -> Floats:
    # levels are given in decimals too: a rounding error of the scaling must not add a step
    return np.ceil(x - 1e-6)


def _in_integers(problem: SuppressionProblem, scale: int) -> SuppressionProblem:
    """The problem in steps of 1/scale; primaries without levels need one step up."""
    values = np.rint(problem.values * scale / FACTOR) * FACTOR
    lower = np.maximum(np.ceil(problem.lower_bound * scale - 1e-6), values - _FAR)
    upper = np.minimum(np.floor(problem.upper_bound * scale + 1e-6), values + _FAR)
    low, high, slide = _levels(problem)
    needed = np.where(problem.needs_movement, 1.0, _up(high * scale))
    return replace(
        problem,
        values=values,
        lower_bound=np.minimum(lower, values),
        upper_bound=np.maximum(upper, values),
        lower_protection=_up(low * scale),
        upper_protection=needed,
        sliding_protection=_up(slide * scale),
    )
