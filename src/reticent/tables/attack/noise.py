# SPDX-License-Identifier: Apache-2.0
"""The attacker of noisy counts who knows the p-table: possible true counts of each cell, narrowed by all relations.

Intervals follow by propagation over all relations. In small tables integer programs give both ends of every cell exactly; in
larger ones every cell gets a proof that a second true count is possible, or programs that look for one. Beyond intervals
there are probabilities: with those of the p-table and the frequencies of true counts that fit the published ones, how sure
is the likeliest true count?
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reticent.base import clock
from reticent.base.arrays import Floats, Mask
from reticent.base.errors import ParameterError
from reticent.base.progress import Progress, silent
from reticent.data.relations import Relations
from reticent.kernels.posterior import sharpest
from reticent.tables.attack.audit import Audit
from reticent.tables.attack.exchanged import audit_exchanged
from reticent.tables.attack.noise_groups import surer_groups
from reticent.tables.attack.noise_intervals import Narrowed, exact_ends, narrowed
from reticent.tables.attack.noise_splits import narrowed_by_splits
from reticent.tables.attack.noise_witnesses import MODERATE, confirmed, found_witnesses
from reticent.tables.attack.noise_worlds import weighed_worlds
from reticent.tables.attack.quota_worlds import quota_ends
from reticent.tables.outcome import Outcome
from reticent.tables.perturb.origins import Origins
from reticent.tables.problem import SuppressionProblem

EXACT_CELLS = 60
"""Up to this many cells both ends of all are found by integer programs."""
CERTAIN = 0.95
LONGEST = 40
"""Relations of more cells say too little about each of them to be worth the work."""
QUOTAS_UNJUDGED = (
    "what quotas reveal (how many cells moved from each count to each other one) is not judged: there are too many true tables "
    'to look at, or the published counts are not those that were selected; selection = "keys" is judged in every table'
)
WORK = 3e8
"""This many products are spent on relations, the shortest first."""


def audit_noise(problem: SuppressionProblem, outcome: Outcome, *, progress: Progress = silent) -> Audit:
    """Attack every cell of a table with noise; unsafe cells must keep their levels, or not be known exactly."""
    assert outcome.low is not None
    assert outcome.high is not None
    if outcome.origins is None or len(outcome.origins.base) != problem.n_cells:
        return audit_exchanged(problem, outcome.low, outcome.high, levels=outcome.levels, every=True, progress=progress)
    started = clock.now()
    found = narrowed(problem.relations, outcome.origins, outcome.low, outcome.high)
    found = narrowed_by_splits(problem.relations, outcome.origins, found)
    if not bool(((found.low <= problem.values) & (problem.values <= found.high)).all()):
        raise ParameterError("attack: the stated conclusions do not contain the true values.")
    progress(0.3, "looking for tables that fit")
    if problem.n_cells <= EXACT_CELLS:
        quotas = quota_ends(problem, outcome)
        if quotas is not None:
            return replace(_audit_of(problem, quotas[0], started), worlds=quotas[1])
        found = exact_ends(problem.relations, outcome.origins, found)
        return replace(_audit_of(problem, found, started), unjudged=_unjudged(outcome))
    proved = found_witnesses(problem, outcome.origins, found)
    found, left = confirmed(problem, outcome.origins, found, proved)
    return replace(_audit_of(problem, found, started, left), exact=not left.any(), unjudged=_unjudged(outcome))


def _unjudged(outcome: Outcome) -> str:
    """What no enumeration of true tables has looked at."""
    return "" if outcome.quotas is None else QUOTAS_UNJUDGED


def _audit_of(problem: SuppressionProblem, found: Narrowed, started: float, undecided: Mask | None = None) -> Audit:
    """Intervals as an audit over all cells: an unsafe cell is exposed where no second value is proved possible."""
    cells = np.arange(problem.n_cells, dtype=np.int32)
    point = found.high - found.low <= problem.tolerance
    if undecided is not None:
        point = point | undecided
    view = replace(
        problem.without_levels(),
        lower_bound=np.minimum(np.maximum(found.low, problem.lower_bound), problem.values),
        upper_bound=np.maximum(np.minimum(found.high, problem.upper_bound), problem.values),
    )
    few = problem.n_cells <= MODERATE  # in larger tables nobody reads, relation by relation, what reveals a cell
    return Audit(
        cells, found.low.copy(), found.high.copy(), problem.values.copy(), problem.values.copy(),
        np.asarray(problem.primary & point), found.programs, clock.now() - started, found.exact, view if few else None,
        np.ones(problem.n_cells, dtype=bool),
    )  # fmt: skip


@dataclass(frozen=True)
class NoiseFindings:
    """What the attacker of noisy counts gets: numbers of cells, of which `cells` have somebody in them.

    `pinned` counts with somebody in them are determined exactly, `small_pinned` of them are 1 or 2. `presence` cells are
    published as 0 and certainly not empty. For `certain` cells one count above 0 has a probability above 0.95, and
    of these `right` are true.
    """

    cells: int
    pinned: int
    small_pinned: int
    presence: int
    certain: int
    right: int
    width_alone: float
    width: float

    def sentence(self) -> str:
        """One or two sentences for reports."""
        sure = f"{self.certain} counts have a probability above {CERTAIN:g} ({self.right} of them are true)"
        return (
            f"Whoever knows the noise rules and combines all cells determines {self.pinned} of {self.cells} counts above 0 "
            f"exactly ({self.small_pinned} of them 1 or 2); {self.presence} cells published as 0 are shown to have somebody in "
            f"them; {sure}."
        )


def noise_findings(problem: SuppressionProblem, outcome: Outcome, found: Audit) -> NoiseFindings | None:
    """Pins, presence under 0 and posterior probabilities; None for noise that is not one of counts."""
    if outcome.origins is None or outcome.values is None or len(found.cells) < problem.n_cells:
        return None
    true, there = problem.values, (problem.values > 0) & ~problem.frozen
    low, high = found.low[np.argsort(found.cells)], found.high[np.argsort(found.cells)]
    point = there & (high - low <= problem.tolerance)
    sure, likeliest = posteriors(problem.relations, outcome.origins, low, high)
    certain = (sure > CERTAIN) & (likeliest > 0) & ~problem.frozen
    alone = outcome.origins.high - outcome.origins.low
    return NoiseFindings(
        int(there.sum()),
        int(point.sum()),
        int((point & (true <= 2)).sum()),
        int((there & (outcome.values == 0) & (low >= 1)).sum()),
        int(certain.sum()),
        int((certain & (likeliest == true)).sum()),
        float(alone[there].mean()) if there.any() else 0.0,
        float((high - low)[there].mean()) if there.any() else 0.0,
    )


def posteriors(relations: Relations, origins: Origins, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """How probable the likeliest true count of each cell is, and which one that is.

    The prior are the frequencies of true counts that fit the published ones best (by EM). In small tables all true tables
    that fit are weighed. In others a cell is judged by its own value within its interval, and by each relation of up to 40
    cells (in large tables fewer) with all values in it, a small group by all tables that divide it in two; the surest view
    counts, and what all relations say together may be surer.
    """
    assert origins.weights is not None
    width = origins.patterns.shape[1]
    prior = fitted_prior(origins)
    weighed = weighed_worlds(relations, origins, low, high, prior)
    if weighed is not None:
        return weighed
    values = origins.base[:, None] + np.arange(width)
    laws = origins.weights[origins.pattern] * prior[np.clip(values, 0, len(prior) - 1)]
    laws[(values < low[:, None]) | (values > high[:, None])] = 0.0
    total = laws.sum(axis=1, keepdims=True)
    laws = np.divide(laws, total, out=np.zeros_like(laws), where=total > 0)
    likeliest = (origins.base + np.argmax(laws, axis=1)).astype(np.float64)
    sure = laws.max(axis=1, initial=0.0)
    targets = np.rint(relations.rhs).astype(np.int64)
    longest = _affordable(np.diff(relations.indptr), width)
    sharpest(relations.indptr, relations.cells, relations.coefs, targets, origins.base, laws, longest, sure, likeliest)
    groups, surer, then = surer_groups(relations, origins, laws, low, high)
    better = surer > sure[groups]
    sure[groups[better]], likeliest[groups[better]] = surer[better], then[better]
    return sure, likeliest


def _affordable(lengths: NDArray[np.int64], width: int) -> int:
    """The longest relations that can be looked at in large tables."""
    often = np.bincount(np.minimum(lengths, LONGEST + 1), minlength=LONGEST + 2)[: LONGEST + 1]
    work = np.cumsum(often * (np.arange(LONGEST + 1.0) * width) ** 2)
    return int(np.searchsorted(work, WORK, side="right") - 1)


def fitted_prior(origins: Origins, *, rounds: int = 20) -> Floats:
    """Frequencies of true counts from 0 on under which the published ones are likely; the last holds for all larger counts.

    By EM with smoothing (EMS): without it every count that occurs a few times would be taken for certain.
    """
    assert origins.weights is not None
    width = origins.patterns.shape[1]
    level = 30 + 2 * width
    kinds, often = np.unique(
        np.column_stack([np.minimum(origins.base, level), origins.pattern]), axis=0, return_counts=True
    )
    at = np.clip(kinds[:, :1] + np.arange(width), 0, level)
    chances = origins.weights[kinds[:, 1]]
    inner = kinds[:, 0] + width <= level  # larger counts say nothing about the small ones
    prior = 1.0 / (1.0 + np.arange(level + 1))
    for _ in range(rounds):
        joint = chances * prior[at]
        total = joint.sum(axis=1, keepdims=True)
        share = np.divide(joint, total, out=np.zeros_like(joint), where=total > 0) * (often * inner)[:, None]
        counted = np.bincount(at.ravel(), weights=share.ravel(), minlength=level + 1) + 0.5
        smooth = np.convolve(np.pad(counted[1:], 1, mode="edge"), [0.25, 0.5, 0.25], mode="valid")
        prior = np.concatenate([counted[:1], smooth]) / counted.sum()
        prior[-width:] = prior[-width - 1]
    return np.asarray(prior, dtype=np.float64)


def _quota_sentence(found: Audit) -> str:
    """Whether the audit used how many cells quotas move."""
    if found.unjudged:
        return f" Not judged: {found.unjudged}."
    return (
        f" The audit looked at all {found.worlds} true tables that quotas can lead to what is published; probabilities do "
        "not use quotas."
    )


def _count_sentence(found: Audit, problem: SuppressionProblem, outcome: Outcome, published: Floats) -> str:
    """Pins and presence where what is published is no noise of a p-table: of the cells that were attacked."""
    cells = found.cells
    true = problem.values[cells]
    known = problem.frozen if outcome.kept is None else problem.frozen | outcome.kept
    there = (true > 0) & ~known[cells]
    point = there & (found.high - found.low <= problem.tolerance)
    shown = there & (published[cells] == 0) & (found.low >= 1 - problem.tolerance)
    which = "counts above 0" if len(cells) == problem.n_cells else "attacked counts above 0"
    return (
        f"Whoever knows the method and combines all cells determines {int(point.sum())} of {int(there.sum())} {which} exactly "
        f"({int((point & (true <= 2)).sum())} of them 1 or 2); {int(shown.sum())} cells published as 0 are shown to have "
        "somebody in them."
    )


def noise_note(found: Audit, problem: SuppressionProblem, outcome: Outcome) -> str:
    """What the attacker makes of noisy values, in words."""
    words = "" if outcome.additive else "The published values do not add up. "
    findings = noise_findings(problem, outcome, found)
    if findings is not None:
        return words + findings.sentence() + ("" if outcome.quotas is None else _quota_sentence(found))
    if problem.integral and found.exact and outcome.values is not None:
        return words + _count_sentence(found, problem, outcome, outcome.values)
    if len(found.cells) < problem.n_cells:
        return words + "The table is large: only its unsafe cells were attacked by the relations of all cells."
    known = int((found.high - found.low <= problem.tolerance).sum())
    return words + (
        f"Whoever knows the noise rules and combines all cells determines {known} of {problem.n_cells} true values exactly."
    )
