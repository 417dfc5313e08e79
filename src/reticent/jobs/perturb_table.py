"""Rounding and adjustment of a finished problem (a JJ file): read, change, and give back plain numbers."""

from pathlib import Path
from typing import Any

import numpy as np

from reticent.base.progress import Progress, part, silent
from reticent.base.randomness import Secret, Source
from reticent.io.jj import read_jj
from reticent.jobs.suppress_jj import interval_rows
from reticent.tables.attack.audit import Audit
from reticent.tables.attack.exchanged import audit_exchanged
from reticent.tables.methods import Adjust, RandomRounding, adjusted, attack, attainable_levels
from reticent.tables.perturb.adjustment import adjust, largest_total
from reticent.tables.perturb.rounding import Rounded, round_controlled, round_randomly, round_rapidly, rounding_bounds
from reticent.tables.perturb.secrets import secret_for, secret_notes
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
    fallback: bool = False,
    time_limit: float = 60.0,
    workers: int | None = None,
    secret: Source = None,
    test_secret: bool = False,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Round the table of a JJ file and attack the result jointly.

    With `protect` the protection levels of its primary cells are respected and judged; without, a cell is exposed when
    it is determined exactly. With `fallback` a table that controlled rounding cannot do is rounded rapidly.
    """
    problem = read_jj(path)
    answer: dict[str, Any]
    used = 0
    if kind == "random":
        drawn = secret_for(RandomRounding(base), secret, test=test_secret)
        values = round_randomly(problem.values, base, secret=drawn)
        distance = float(np.abs(values - problem.values).sum())
        answer = {"values": _unsigned(values), "base": base, "distance": distance, "status": "random"}
        answer |= _said(drawn)
    else:
        rounded = _rounded(problem, base, kind, steps, protect, fallback, time_limit, part(progress, 0.0, 0.6))
        values, used = rounded.values, rounded.steps
        answer = {"values": _unsigned(values), **rounded.summary()}
    low, high = rounding_bounds(
        values, problem.relations, base, steps=used, rapid=answer["status"] == "rapid", unit=problem.unit
    )
    found = audit_exchanged(problem, low, high, levels=protect, workers=workers, progress=part(progress, 0.6, 1.0))
    return answer | _judged(found)


def _rounded(
    problem: SuppressionProblem,
    base: float,
    kind: str,
    steps: int,
    protect: bool,
    fallback: bool,
    time_limit: float,
    progress: Progress,
) -> Rounded:
    if kind == "rapid":
        return round_rapidly(problem.values, problem.relations, base)
    lower, upper = attainable_levels(problem) if protect else (None, None)
    return round_controlled(
        problem.values, problem.relations, base, steps=steps, time_limit=time_limit, rapid=fallback, progress=progress,
        lower_protection=lower, upper_protection=upper, unit=problem.unit,
    )  # fmt: skip


def adjust_file(
    path: Path,
    *,
    norm: str = "l1",
    weights: str = "value",
    signs: str = "free",
    integers: bool = False,
    fix_total: bool = False,
    largest_change: float | None = None,
    spread: float = 1.0,
    time_limit: float = 60.0,
    secret: Source = None,
    test_secret: bool = False,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Adjust the table of a JJ file so that its primary cells leave their protection intervals, and attack the result.

    How far they go beyond their levels is drawn from the secret; a cell is known by its id.
    """
    problem = read_jj(path)
    fixed = largest_total(problem) if fix_total else None
    drawn = secret_for(Adjust(), secret, test=test_secret)
    found = adjust(
        problem, norm=norm, weights=weights_for(problem, weights), signs=signs, fixed=fixed,  # type: ignore[arg-type]
        largest_change=largest_change, integers=integers, time_limit=time_limit, secret=drawn, spread=spread,
        progress=part(progress, 0.0, 0.6),
    )  # fmt: skip
    outcome = adjusted(problem, found, fixed, largest_change)
    audit = attack(problem, outcome, progress=part(progress, 0.6, 1.0))
    return {"values": _unsigned(found.values), **found.summary(), **_said(drawn), **_judged(audit)}


def _unsigned(values: np.ndarray[Any, np.dtype[np.float64]]) -> list[float]:
    """The values as plain numbers; -0.0 becomes 0.0, because its sign tells that there was something to take away."""
    return [float(value) for value in values + 0.0]


def _said(secret: Secret) -> dict[str, str]:
    """What the result must say of its secret."""
    notes = secret_notes(secret)
    return {"secret": " ".join(notes)} if notes else {}


def _judged(found: Audit) -> dict[str, Any]:
    """What the attacker of the published values concludes: exposed ids, and the interval of every attacked cell."""
    return {"exposed": found.exposed_cells.tolist(), "exact": found.exact, "intervals": interval_rows(found)}
