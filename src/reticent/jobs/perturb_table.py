"""Rounding and adjustment of a finished problem (a JJ file): read, change, and give back plain numbers."""

from pathlib import Path
from typing import Any

import numpy as np

from reticent.base.errors import PlanError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import Secret
from reticent.io.jj import read_jj
from reticent.tables.perturb.adjustment import adjust
from reticent.tables.perturb.rounding import round_controlled, round_randomly, round_rapidly
from reticent.tables.problem import SuppressionProblem

WEIGHTS = ("unity", "value", "root")
KINDS = ("controlled", "random", "rapid")


def weights_for(problem: SuppressionProblem, kind: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """What a unit of change costs: the same everywhere, or relative to the value (or its root)."""
    size = np.maximum(np.abs(problem.values), 1.0)
    return {"unity": np.ones(problem.n_cells), "value": 1.0 / size, "root": 1.0 / np.sqrt(size)}[kind]


def round_file(
    path: Path,
    *,
    base: float,
    kind: str = "controlled",
    steps: int = 0,
    protect: bool = False,
    time_limit: float = 60.0,
    secret: Secret | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Round the table of a JJ file; with `protect` the protection levels of its primary cells are respected."""
    problem = read_jj(path)
    if kind == "random":
        if secret is None:
            raise PlanError("round: random rounding needs a secret; give --secret.")
        values = round_randomly(problem.values, base, secret=secret)
        distance = float(np.abs(values - problem.values).sum())
        return {"values": values.tolist(), "base": base, "distance": distance, "status": "random"}
    if kind == "rapid":
        rounded = round_rapidly(problem.values, problem.relations, base)
    else:
        rounded = round_controlled(
            problem.values, problem.relations, base, steps=steps, time_limit=time_limit, progress=progress,
            lower_protection=problem.lower_protection if protect else None,
            upper_protection=problem.upper_protection if protect else None,
        )  # fmt: skip
    return {"values": rounded.values.tolist(), **rounded.summary()}


def adjust_file(
    path: Path,
    *,
    norm: str = "l1",
    weights: str = "value",
    signs: str = "free",
    integers: bool = False,
    time_limit: float = 60.0,
    secret: Secret | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Adjust the table of a JJ file so that its primary cells leave their protection intervals."""
    problem = read_jj(path)
    adjusted = adjust(
        problem, norm=norm, weights=weights_for(problem, weights), signs=signs, integers=integers, time_limit=time_limit,  # type: ignore[arg-type]
        secret=secret, progress=progress,
    )  # fmt: skip
    return {"values": adjusted.values.tolist(), **adjusted.summary()}
