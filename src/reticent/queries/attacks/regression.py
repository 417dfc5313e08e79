# SPDX-License-Identifier: Apache-2.0
"""Regression attacks on plain arrays, after the attacks on remote analysis servers described in SORT 35 (2011).

An attacker who may transform predictors makes one record lean out of all others (`outlier_attack`) or builds an indicator
that only the target has (`dummy_attack`); both read the target's response off the fit. The same models are put before the
rules of the analysis mode (`rules` given): then they are refused, or the telling column is absorbed.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.base.randomness import as_secret
from reticent.queries.analysis.regression import RegressionRules, fit_regression

STATES, FORMS, BRANCHES = 16, 6, 40


@dataclass(frozen=True)
class Firms:
    """Generated establishments: a skewed whole-number size, three codes, and a response that grows with the size."""

    size: Floats
    state: NDArray[np.int64]
    form: NDArray[np.int64]
    branch: NDArray[np.int64]
    turnover: Floats

    @property
    def columns(self) -> Floats:
        """What an attacker may know, as columns: size, federal state, legal form, branch."""
        return np.column_stack([self.size, self.state, self.form, self.branch]).astype(np.float64)


def generated_firms(n: int, *, unique_sizes: bool = False) -> Firms:
    """Firms from a fixed stream; with `unique_sizes` no two have the same size."""
    rng = as_secret(2011).stream("regression-attacks")
    size = np.round(np.exp(rng.normal(2.7, 1.8, n))) + 1
    if unique_sizes:
        size = np.sort(size) + np.arange(n)
    turnover = np.round(np.exp(0.75 * np.log(size) + rng.normal(4.0, 0.55, n)), 2)
    state, form, branch = (_codes(rng, n, k) for k in (STATES, FORMS, BRANCHES))
    return Firms(size.astype(np.float64), state, form, branch, turnover.astype(np.float64))


def _codes(rng: np.random.Generator, n: int, k: int) -> NDArray[np.int64]:
    """Codes of which the first are the most common."""
    weights = 1.0 / np.arange(2, k + 2)
    return np.asarray(rng.choice(k, n, p=weights / weights.sum()), dtype=np.int64)


def outlier_variable(x: Floats, guess: float, epsilon: float) -> Floats:
    """z = 1 / (|x − x̂| + ε): huge for somebody who has the guessed value, small for everybody else."""
    return np.asarray(1.0 / (np.abs(x - guess) + epsilon), dtype=np.float64)


def strategic_dummy(columns: Floats, guess: Floats, width: Floats) -> Floats:
    """1 where every known column is within `width` of the guess: a conjunction of indicators."""
    return np.asarray((np.abs(columns - guess) <= width).all(axis=1), dtype=np.float64)


def outlier_attack(
    x: Floats, y: Floats, *, guess: float, epsilon: float, rules: RegressionRules | None = None
) -> float | None:
    """The fitted value at the greatest z; None if the rules refuse the model."""
    z = outlier_variable(x, guess, epsilon)
    fitted = _fit(z, y, rules)
    return None if fitted is None else fitted[0] + fitted[1] * float(z.max())


def dummy_attack(
    columns: Floats, y: Floats, *, guess: Floats, width: Floats, rules: RegressionRules | None = None
) -> float | None:
    """Intercept + coefficient of the dummy; None if nobody matches, or the rules refuse the model or absorb the dummy."""
    dummy = strategic_dummy(columns, guess, width)
    if not 0 < dummy.sum() < len(dummy):
        return None
    fitted = _fit(dummy, y, rules)
    return None if fitted is None else fitted[0] + fitted[1]


def _fit(predictor: Floats, y: Floats, rules: RegressionRules | None) -> tuple[float, float] | None:
    """Intercept and slope, openly or under rules."""
    if rules is None:
        # deviations from the mean: the plain normal equations lose digits when one z is huge
        centred = predictor - predictor.mean()
        slope = float(centred @ (y - y.mean())) / float(centred @ centred)
        return float(y.mean()) - slope * float(predictor.mean()), slope
    fit = fit_regression(np.column_stack([np.ones(len(y)), predictor]), ("(intercept)", "z"), y, rules)
    if isinstance(fit, str) or "z" not in fit.labels:
        return None
    return float(fit.coefficients[0]), float(fit.coefficients[1])


@dataclass(frozen=True)
class Sweep:
    """One line of a sweep: how far off the attacker is, on an open regression and under rules.

    `own_weight` is the largest share that a target's own value has in what is answered about it: 1 gives it away, and with
    one half the rest of the answer comes from others.
    """

    epsilon: float
    knowledge: float
    open_error: float
    refused: float
    protected_error: float | None
    own_weight: float | None


Attack = Callable[[int, Floats, RegressionRules | None], float | None]


def sweep_outlier(
    firms: Firms,
    rules: RegressionRules,
    *,
    epsilons: tuple[float, ...],
    knowledge: tuple[float, ...],
    targets: int = 60,
) -> list[Sweep]:
    """Attack every this many firms for each ε and each relative error of the known size."""
    found = []
    for epsilon in epsilons:
        for off in knowledge:

            def attack(
                row: int, y: Floats, by: RegressionRules | None, e: float = epsilon, o: float = off
            ) -> float | None:
                return outlier_attack(firms.size, y, guess=float(firms.size[row]) * (1 + o), epsilon=e, rules=by)

            found.append(_line(firms, rules, attack, targets, epsilon, off))
    return found


def sweep_dummy(firms: Firms, rules: RegressionRules, *, widths: tuple[float, ...], targets: int = 60) -> list[Sweep]:
    """The same with indicators; the size is known within ± a share, the codes exactly."""
    found = []
    for share in widths:

        def attack(row: int, y: Floats, by: RegressionRules | None, near: float = share) -> float | None:
            guess = firms.columns[row]
            width = np.append(near * guess[0], np.zeros(len(guess) - 1))
            return dummy_attack(firms.columns, y, guess=guess, width=width, rules=by)

        found.append(_line(firms, rules, attack, targets, 0.0, share))
    return found


def _line(firms: Firms, rules: RegressionRules, attack: Attack, targets: int, epsilon: float, off: float) -> Sweep:
    rows = np.linspace(0, len(firms.size) - 1, targets).astype(int).tolist()
    openly, answered, weights = [], [], []
    for row in rows:
        truth = float(firms.turnover[row])
        openly.append(abs((attack(row, firms.turnover, None) or 0.0) - truth) / truth)
        found = attack(row, firms.turnover, rules)
        if found is not None:
            answered.append(abs(found - truth) / truth)
            weights.append(_own_weight(firms, attack, row, found, rules))
    middle, weight = (float(np.median(answered)), max(weights)) if answered else (None, None)
    return Sweep(epsilon, off, float(np.mean(openly)), 1 - len(answered) / len(rows), middle, weight)


def _own_weight(firms: Firms, attack: Attack, row: int, found: float, rules: RegressionRules) -> float:
    """How much of a change of the target's value shows in the answer."""
    other = firms.turnover.copy()
    other[row] *= 1.01
    changed = attack(row, other, rules)
    return 0.0 if changed is None else (changed - found) / (0.01 * float(firms.turnover[row]))
