# SPDX-License-Identifier: Apache-2.0
"""All risk models of one file side by side: what each says of uniques and expected matches, and what it rests on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reticent.base.arrays import Floats
from reticent.base.errors import DataError
from reticent.base.progress import Progress, part, silent
from reticent.base.randomness import Secret
from reticent.data.microdata import Microdata, Patterns
from reticent.kernels.grouping import group_rows
from reticent.microdata.risk.household import HouseholdRisk, household_risk
from reticent.microdata.risk.individual import IndividualRisk, individual_risk, record_risk
from reticent.microdata.risk.linkage_probabilistic import shared_codes
from reticent.microdata.risk.loglinear import CellTable, LogLinearRisk, log_linear_risk
from reticent.microdata.risk.population import PopulationUniques, population_uniques
from reticent.microdata.risk.uniqueness import (
    PopulationUniqueness,
    aligned_counts,
    skinner_carter,
    skinner_elliot,
    uniqueness_in_population,
)

OWNER = "risk models"
MOST_CELLS = 1_000_000
"""Combinations up to which the log-linear model is fitted where rows stand for several records."""


@dataclass(frozen=True)
class RiskModels:
    """Results of the models; those that need a population size are None where it is not known."""

    keys: tuple[str, ...]
    individual: IndividualRisk
    poisson: IndividualRisk
    households: HouseholdRisk | None
    correct_given_unique_match: float | None
    population: PopulationUniques | None
    log_linear: LogLinearRisk | None

    def rows(self) -> tuple[dict[str, Any], ...]:
        """One row per model: what is estimated and the value."""
        found: list[tuple[str, str, float | None]] = [
            ("negative binomial", "expected matches", self.individual.expected_reidentifications),
            ("Poisson", "expected matches", self.poisson.expected_reidentifications),
            ("Skinner and Elliot", "share of unique matches that are correct", self.correct_given_unique_match),
        ]
        if self.households is not None:
            found.append(("households", "expected households with a match", self.households.expected_households))
        if self.log_linear is not None:
            found.append(("log-linear", "expected matches of sample uniques", self.log_linear.model.tau2))
            found.append(("log-linear", "sample uniques unique in the population", self.log_linear.model.tau1))
        if self.population is not None:
            found += [(e.model, "population uniques", e.uniques) for e in self.population.estimates]
        return tuple({"model": model, "quantity": what, "value": value} for model, what, value in found)

    def summary(self) -> dict[str, Any]:
        """The parts' own summaries."""
        parts = {
            "individual": self.individual,
            "households": self.households,
            "population": self.population,
            "log_linear": self.log_linear,
        }
        return {"keys": self.keys, **{name: one.summary() for name, one in parts.items() if one is not None}}


def risk_models(
    data: Microdata,
    keys: Sequence[str] = (),
    *,
    secret: Secret,
    fraction: float | None = None,
    steps: int = 15,
    progress: Progress = silent,
) -> RiskModels:
    """Run every model on a file; the population is known from its weights, or from the sampling fraction."""
    names = tuple(keys) or data.schema.keys
    data.schema.require(names, owner=OWNER)
    if not names:
        raise DataError(f"{OWNER}: the schema has no keys; declare them or name some.")
    if fraction is not None and not 0 < fraction <= 1:
        raise DataError(f"{OWNER}: the sampling fraction must be above 0 and at most 1, got {fraction!r}.")
    patterns = data.patterns(names)
    weights = data.weights()
    if weights is None and fraction is not None:
        weights = data.multiplicity / fraction
    individual = _individual(data, patterns, weights, "negative-binomial")
    household = data.household()
    whole = None if weights is None else float(weights.sum())
    theta, uniques, fitted = None, None, None
    progress(0.2, "individual risk")
    if weights is not None and whole is not None and whole > data.n_records:
        equal = data.weights() is None
        theta = (
            skinner_elliot(patterns.counts, fraction=data.n_records / whole)
            if equal
            else _skinner_carter(data, patterns, weights)
        )
        uniques = population_uniques(patterns.counts, population=whole, secret=secret)
        sums = np.bincount(patterns.group, weights=weights, minlength=len(patterns))
        table = CellTable.of(names, patterns.codes, patterns.counts, weights=sums)
        if data.copies is None or len(patterns) <= MOST_CELLS:
            fitted = log_linear_risk(table, steps=steps, progress=part(progress, 0.4, 1.0))
    return RiskModels(
        keys=names,
        individual=individual,
        poisson=_individual(data, patterns, weights, "poisson"),
        households=None if household is None else household_risk(individual.risk, household),
        correct_given_unique_match=theta,
        population=uniques,
        log_linear=fitted,
    )


def _individual(data: Microdata, patterns: Patterns, weights: Floats | None, model: str) -> IndividualRisk:
    """The risk of each record; where rows stand for several records, of each combination with its number of records."""
    if data.copies is None:
        return individual_risk(patterns.group, weights, model=model)
    counts = patterns.counts
    sums = counts.astype(np.float64) if weights is None else _sums(patterns, weights)
    return IndividualRisk(model, record_risk(counts, sums, model=model), counts, sums, counts)


def _skinner_carter(data: Microdata, patterns: Patterns, weights: Floats) -> float | None:
    if data.copies is None:
        return skinner_carter(patterns.group, weights)
    singles = int((patterns.counts == 1).sum())
    others = float((_sums(patterns, weights)[patterns.counts == 2] - 2.0).sum())
    return singles / (singles + others) if singles + others > 0 else None


def _sums(patterns: Patterns, weights: Floats) -> Floats:
    return np.asarray(np.bincount(patterns.group, weights=weights, minlength=len(patterns)), dtype=np.float64)


def uniqueness_of_files(sample: Microdata, population: Microdata, keys: Sequence[str] = ()) -> PopulationUniqueness:
    """P(PU), P(PU|SU) and P(cm|um) with the population's own file at hand."""
    names = tuple(keys) or sample.schema.keys
    left, right = shared_codes(population, sample, names)
    both = np.vstack([left, right])
    group, _ = group_rows(both, np.maximum(both.max(axis=0, initial=-1) + 1, 1))
    return uniqueness_in_population(*aligned_counts(group[population.n_records :], group[: population.n_records]))
