# SPDX-License-Identifier: Apache-2.0
"""What methods that draw noise for counts have in common: frozen and published cells, additivity, measure, and the outcome."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from reticent.base.arrays import Floats
from reticent.base.errors import DataError, ParameterError
from reticent.base.randomness import Secret
from reticent.tables.outcome import Outcome, change_facts
from reticent.tables.perturb.accuracy import moved_changes
from reticent.tables.perturb.additivity import Restored, Way, restore_additivity
from reticent.tables.perturb.noise_origins import Counts, told_of, what_is_possible
from reticent.tables.perturb.noise_report import noise_utility
from reticent.tables.perturb.origins import Drawn, Strata, Told
from reticent.tables.perturb.ptable import PerturbationTable
from reticent.tables.perturb.quota_rule import QuotaRule, widest_table
from reticent.tables.problem import Before, SuppressionProblem

ADJUSTED = (
    "The published values add up. A cell has the same noise in every table of this secret and design, but each table that is "
    "made to add up moves it by itself: publish tables that share cells together as linked tables, or name the earlier ones, "
    "whose cells are then kept."
)


@dataclass(frozen=True)
class CountNoise:
    """Noise for counts that has been drawn: by which table, and what becomes of it.

    `strata` are groups of cells with tables of their own (none: all by `table`). `alike` says that cells with the same records
    got the same noise, `within` that those of one stratum did, `quotas` how cells were selected where they
    were not drawn one by one.
    """

    table: PerturbationTable
    values: Floats = field(repr=False)
    keys: Floats = field(repr=False)
    skip: int
    add_up: Way
    measure: bool
    status: str
    owner: str
    strata: Strata = ()
    alike: bool = False
    quotas: QuotaRule | None = None
    within: bool = False


def noisy_outcome(problem: SuppressionProblem, noise: CountNoise, *, secret: Secret, time_limit: float) -> Outcome:
    """The outcome of drawn noise: what is published, and which true counts anybody who knows the p-table finds possible."""
    true = problem.values
    if bool((true < 0).any()) or bool((true != np.rint(true)).any()):
        raise DataError(f"{noise.owner}: counts must be whole and not negative.")
    noisy = np.where(problem.frozen, true, noise.values)
    before = _before(problem)
    restored = _restored(problem, noise, noisy, before.values, time_limit)
    values = _agreeing(noise, noisy, before.values) if restored is None else restored.values
    alike = noise.alike and restored is None
    shown = (values > 0) & ~problem.frozen & ~before.known
    moved = moved_changes(values - true, noise.keys, shown=shown, alike=alike, secret=secret) if noise.measure else None
    strata = noise.strata or ((np.arange(len(true)), noise.table),)
    told, counts = told_of(moved, before), Counts(true, noisy, values, ~problem.frozen)
    mean_slack = 0.0 if restored is None else restored.mean
    found = what_is_possible(strata, counts, before, told=told, mean_slack=mean_slack, alike=alike)
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
            **_facts(problem, values, restored),
            "utility": noise_utility(
                true, values, noisy=None if restored is None else noisy, moved=None if moved is None else moved.changes
            ).summary(),
        },
        additive=restored is not None,
        levels=False,  # a count above 0 shows that somebody is there, whatever the noise
        noise=True,
        origins=found,
        measure=None if moved is None else moved.sizes,
        drawn=Drawn(strata, noisy, noise.alike, noise.within),
        quotas=None if noise.quotas is None else _with_origins(noise.quotas, noise.skip, counts, before, told),
    )


def _with_origins(rule: QuotaRule, skip: int, counts: Counts, before: Before, told: Told | None) -> QuotaRule:
    """The rule of selection with all true counts that its matrices may lead to what is published.

    Without them where the counts that were selected are not those that are published.
    """
    if bool((counts.values != counts.noisy).any()) or bool(before.known.any()) or not bool(counts.free.all()):
        return rule
    wide = ((np.arange(len(counts.true)), widest_table(skip)),)
    return replace(rule, origins=what_is_possible(wide, counts, before, told=told, mean_slack=0.0, alike=False))


def _before(problem: SuppressionProblem) -> Before:
    """What was released before; nothing where no release is named."""
    if problem.published is not None:
        return problem.published
    nothing = np.full(problem.n_cells, np.nan)
    return Before(nothing, np.full(problem.n_cells, -1, dtype=np.int64), nothing)


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


def _facts(problem: SuppressionProblem, values: Floats, restored: Restored | None) -> dict[str, Any]:
    size = float(np.abs(problem.values).max(initial=1))
    return {
        **change_facts(problem.values, values),
        "additive": bool((np.abs(problem.relations.residuals(values)) <= 1e-9 * size).all()),
        **({} if restored is None else restored.facts()),
    }
