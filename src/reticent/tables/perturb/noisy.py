"""What methods that draw noise for counts have in common: frozen and published cells, additivity, measure, and the outcome."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reticent.base.arrays import Floats
from reticent.base.errors import DataError, ParameterError
from reticent.base.randomness import Secret
from reticent.tables.outcome import Outcome
from reticent.tables.perturb.accuracy import BAND, moved_changes
from reticent.tables.perturb.additivity import Restored, Way, restore_additivity
from reticent.tables.perturb.noise_report import noise_utility
from reticent.tables.perturb.origins import origins_of
from reticent.tables.perturb.ptable import PerturbationTable
from reticent.tables.problem import SuppressionProblem

ADJUSTED = (
    "The published values add up. A cell has the same noise in every table of this secret and design, but each table that is "
    "made to add up moves it by itself: publish tables that share cells together as linked tables, or name the earlier ones, "
    "whose cells are then kept."
)


@dataclass(frozen=True)
class CountNoise:
    """Noise for counts that has been drawn: by which table, and what becomes of it."""

    table: PerturbationTable
    values: Floats = field(repr=False)
    keys: Floats = field(repr=False)
    skip: int
    add_up: Way
    measure: bool
    status: str
    owner: str


def noisy_outcome(problem: SuppressionProblem, noise: CountNoise, *, secret: Secret, time_limit: float) -> Outcome:
    """The outcome of drawn noise: what is published, and which true counts anybody who knows the p-table finds possible."""
    true = problem.values
    if bool((true < 0).any()) or bool((true != np.rint(true)).any()):
        raise DataError(f"{noise.owner}: counts must be whole and not negative.")
    noisy = np.where(problem.frozen, true, noise.values)
    before = np.full(len(true), np.nan) if problem.published is None else problem.published
    restored = _restored(problem, noise, noisy, before, time_limit)
    values = _agreeing(noise, noisy, before) if restored is None else restored.values
    slack = int(np.abs(values - noisy)[~problem.frozen].max(initial=0.0)) if restored is not None else 0
    moved = None
    if noise.measure:
        shown = (values > 0) & ~problem.frozen
        moved = moved_changes(values - true, noise.keys, shown=shown, secret=secret)
    measure = None if moved is None else np.abs(moved)
    mean = 0.0 if restored is None else restored.mean
    found = origins_of(noise.table, values, slack=slack, mean_slack=mean, measure=measure, band=BAND)
    found = found.fixed(problem.frozen, true)
    change = np.abs(values - true)
    return Outcome(
        np.zeros(problem.n_cells, dtype=bool),
        float(change.sum()),
        None if restored is None else restored.bound,
        noise.status if restored is None else f"{noise.status}, made to add up",
        values,
        np.maximum(found.low, problem.lower_bound),
        np.minimum(found.high, problem.upper_bound),
        {
            **_facts(problem, values, change, restored),
            "utility": noise_utility(true, values, noisy=None if restored is None else noisy, moved=moved).summary(),
        },
        additive=restored is not None,
        levels=False,  # a count above 0 shows that somebody is there, whatever the noise
        noise=True,
        origins=found,
        measure=measure,
    )


def _restored(
    problem: SuppressionProblem, noise: CountNoise, noisy: Floats, before: Floats, time_limit: float
) -> Restored | None:
    if noise.add_up == "no":
        return None
    fixed = np.where(problem.frozen, problem.values, before)
    return restore_additivity(
        noisy, problem.relations, skip=noise.skip, empty=problem.values == 0, published=fixed, way=noise.add_up,
        time_limit=time_limit,
    )  # fmt: skip


def _agreeing(noise: CountNoise, noisy: Floats, before: Floats) -> Floats:
    """The noisy values, if they are those that were published before: another secret or design would be a second look."""
    other = ~np.isnan(before) & (before != noisy)
    if other.any():
        raise ParameterError(
            f"{noise.owner}: {int(other.sum())} cells of an earlier release have other values there. Use the secret and design "
            'of that release, or add_up = "yes", which keeps its cells as they are.'
        )
    return noisy


def _facts(problem: SuppressionProblem, values: Floats, change: Floats, restored: Restored | None) -> dict[str, Any]:
    size = float(np.abs(problem.values).max(initial=1))
    return {
        "changed": int((change > 0).sum()),
        "largest change": float(change.max(initial=0.0)),
        "mean change": float(change.mean()) if len(change) else 0.0,
        "additive": bool((np.abs(problem.relations.residuals(values)) <= 1e-9 * size).all()),
        **({} if restored is None else restored.facts()),
    }
