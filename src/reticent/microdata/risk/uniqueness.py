# SPDX-License-Identifier: Apache-2.0
"""Uniques of sample and population, and the chance that a unique match is the right one.

Sources: Skinner and Elliot (2002) for θ and its estimate; Skinner and Carter (2003) for unequal probabilities; Elliot
(2000) for the simulation that removes a record, copies it back with the sampling probability and matches.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reticent.base.checks import check_between, check_integer
from reticent.base.errors import DataError, ParameterError
from reticent.base.randomness import Secret
from reticent.microdata.risk.individual import check_weights

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
OWNER = "uniqueness"

OUTCOMES = (
    "correct unique match",
    "non-match",
    "multiple match with the correct one",
    "false unique match",
    "false multiple match",
)


@dataclass(frozen=True)
class PopulationUniqueness:
    """Uniques counted with the population at hand; a share without cases to divide by is None."""

    sample_uniques: int
    population_uniques: int
    both: int
    population_unique_share: float
    population_unique_given_sample_unique: float | None
    correct_given_unique_match: float | None

    def summary(self) -> dict[str, Any]:
        """The counts and the three probabilities P(PU), P(PU|SU), P(cm|um)."""
        return dict(vars(self))


def uniqueness_in_population(sample_counts: npt.ArrayLike, population_counts: npt.ArrayLike) -> PopulationUniqueness:
    """P(PU) = Σ I(F=1)/N, P(PU|SU) = Σ I(f=1, F=1)/Σ I(f=1), P(cm|um) = Σ I(f=1)/Σ F·I(f=1), over aligned cells.

    Cells of the population without a record in the sample belong in too, with f = 0.

    Examples
    --------
    >>> uniqueness_in_population([1, 1, 2, 0], [1, 3, 5, 1]).correct_given_unique_match
    0.5
    """
    f = np.asarray(sample_counts, dtype=np.int64)
    F = np.asarray(population_counts, dtype=np.int64)
    if f.shape != F.shape:
        raise DataError(f"{OWNER}: there are {f.size} sample cells but {F.size} population cells.")
    wrong = int(np.count_nonzero((f > F) | (f < 0)))
    if wrong:
        raise DataError(f"{OWNER}: {wrong} cells have more records in the sample than in the population.")
    total = int(F.sum())
    if not total:
        raise DataError(f"{OWNER}: the population has no records.")
    unique = f == 1
    n_unique, n_both = int(unique.sum()), int((unique & (F == 1)).sum())
    return PopulationUniqueness(
        sample_uniques=n_unique,
        population_uniques=int((F == 1).sum()),
        both=n_both,
        population_unique_share=int((F == 1).sum()) / total,
        population_unique_given_sample_unique=n_both / n_unique if n_unique else None,
        correct_given_unique_match=n_unique / int(F[unique].sum()) if n_unique else None,
    )


def aligned_counts(sample: Integers, population: Integers) -> tuple[Integers, Integers]:
    """Sample and population counts of every population cell, from group numbers over the same numbering."""
    size = int(max(sample.max(initial=-1), population.max(initial=-1))) + 1
    return np.bincount(sample, minlength=size), np.bincount(population, minlength=size)


def skinner_elliot(sample_counts: npt.ArrayLike, *, fraction: float) -> float | None:
    """θ̂ = π·n1 / (π·n1 + 2(1−π)·n2): the chance that a unique match is correct, under equal probabilities.

    `sample_counts` are the counts of cells; None when there are neither uniques nor pairs.

    Examples
    --------
    >>> round(skinner_elliot([1, 1, 1, 2, 2, 5], fraction=0.1), 6)
    0.076923
    """
    check_between(fraction, 0, 1, name="fraction", owner=OWNER)
    counts = np.asarray(sample_counts, dtype=np.int64)
    n1, n2 = int((counts == 1).sum()), int((counts == 2).sum())
    below = fraction * n1 + 2 * (1 - fraction) * n2
    return fraction * n1 / below if below > 0 else None


def skinner_carter(group: npt.ArrayLike, weights: npt.ArrayLike) -> float | None:
    """θ̂ = n1 / (n1 + Σ over records in pairs of (w − 1)): the same with unequal probabilities π = 1/w.

    A record of a pair that had not been drawn would have left its twin as a false unique match; it stands for
    (1−π)/π = w − 1 such units outside the sample. With equal weights this is `skinner_elliot`.

    Examples
    --------
    >>> round(skinner_carter([0, 1, 2, 3, 3, 4, 4], [10.0] * 7), 6)
    0.076923
    """
    groups = np.asarray(group, dtype=np.int64)
    each = np.asarray(weights, dtype=np.float64)
    check_weights(each, owner=OWNER)
    counts = np.bincount(groups)[groups]
    n1 = int((counts == 1).sum())
    false = float(np.maximum(each[counts == 2] - 1.0, 0.0).sum())
    return n1 / (n1 + false) if n1 + false > 0 else None


@dataclass(frozen=True)
class IntrusionSimulation:
    """How often each outcome came up, and the share of correct ones among the unique matches."""

    fraction: float
    trials: int
    outcomes: tuple[tuple[str, int], ...]
    correct_given_unique_match: float | None
    expected: float | None

    def summary(self) -> dict[str, Any]:
        """Outcome counts, the simulated and the expected probability."""
        return {
            "fraction": self.fraction,
            "trials": self.trials,
            **dict(self.outcomes),
            "correct_given_unique_match": self.correct_given_unique_match,
            "expected": self.expected,
        }


def simulate_intrusion(
    group: npt.ArrayLike, *, fraction: float, secret: Secret, trials: int = 100_000
) -> IntrusionSimulation:
    """Elliot's attack: take a record out at random, copy it back with the sampling probability, match it on the keys.

    The expected share of correct matches among unique ones is θ̂ of Skinner and Elliot.
    """
    check_between(fraction, 0, 1, name="fraction", owner=OWNER)
    check_integer(trials, minimum=1, name="trials", owner=OWNER)
    groups = np.asarray(group, dtype=np.int64)
    if not groups.size:
        raise ParameterError(f"{OWNER}: the simulation needs at least one record.")
    sizes = np.bincount(groups)
    rng = secret.stream("intrusion simulation")
    size = sizes[groups[rng.integers(0, groups.size, trials)]]
    back = rng.random(trials) < fraction
    kind = np.where(back, np.where(size == 1, 0, 2), np.where(size == 1, 1, np.where(size == 2, 3, 4)))
    counts = np.bincount(kind, minlength=len(OUTCOMES))
    unique = int(counts[0] + counts[3])
    return IntrusionSimulation(
        fraction=fraction,
        trials=trials,
        outcomes=tuple((name, int(count)) for name, count in zip(OUTCOMES, counts, strict=True)),
        correct_given_unique_match=int(counts[0]) / unique if unique else None,
        expected=skinner_elliot(sizes[sizes > 0], fraction=fraction),
    )
