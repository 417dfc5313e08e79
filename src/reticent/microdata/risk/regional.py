# SPDX-License-Identifier: Apache-2.0
"""Regional indicators: the area that several of them pin down together must not be too small.

A degree of urbanisation, the number of inhabitants and the place of work each name a set of areas; a record that shows
all of them names the intersection (EUSTAT 731–738). An intersection is unsafe when its population is below a threshold.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations as choose

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import DataError, ParameterError
from reticent.data.microdata import Microdata


@dataclass(frozen=True)
class RegionalRow:
    """One set of indicators: how many of its intersections are too small, and how many records show them."""

    indicators: tuple[str, ...]
    areas: int
    unsafe_areas: int
    unsafe_records: int
    smallest_population: float


@dataclass(frozen=True)
class RegionalTable:
    """All sets of indicators, the worst first."""

    rows: tuple[RegionalRow, ...]
    threshold: float
    at_risk: NDArray[np.bool_] = field(repr=False, compare=False)

    @property
    def unsafe_records(self) -> int:
        """Records that show an area that is too small."""
        return int(self.at_risk.sum())

    def summary(self) -> str:
        """One line per set of indicators."""
        lines = [f"areas below {self.threshold:g} people: {self.unsafe_records} records show one"]
        lines += [
            f"  {' ∩ '.join(r.indicators)}: {r.unsafe_areas} of {r.areas} areas, {r.unsafe_records} records, "
            f"smallest {r.smallest_population:g}"
            for r in self.rows
        ]
        return "\n".join(lines)


def regional_check(
    data: Microdata,
    indicators: Sequence[str],
    *,
    threshold: float,
    region: str | None = None,
    population: Mapping[str, float] | None = None,
) -> RegionalTable:
    """Every intersection of regional indicators against a population threshold (unsafe below it).

    With `region` (the finest area, a variable of the file) and `population` (people by its codes), an intersection has
    the people of all regions that carry these indicator values. Without, its people are the sum of weights.
    """
    if not indicators:
        raise ParameterError("regional_check: indicators must name at least one variable, got none.")
    if not threshold > 0:
        raise ParameterError(f"regional_check: threshold must be above 0, got {threshold!r}.")
    data.schema.require((*indicators, *((region,) if region else ())), owner="regional_check")
    if (region is None) != (population is None):
        raise ParameterError("regional_check: region and population go together; give both or none.")
    weights = data.weights()
    if region is None and weights is None:
        raise DataError("regional_check: give the population of each region, or a variable with the role weight.")
    at_risk = np.zeros(data.n_records, np.bool_)
    rows = []
    for size in range(1, len(indicators) + 1):
        for names in choose(tuple(indicators), size):
            patterns = data.patterns(names)
            shown = (patterns.codes >= 0).all(axis=1)
            if region is not None and population is not None:
                people = _people(data, patterns.group, len(patterns), region, population)
            else:
                assert patterns.weights is not None
                people = patterns.weights
            unsafe = shown & (people < threshold)
            at_risk |= unsafe[patterns.group]
            rows.append(
                RegionalRow(
                    names, int(shown.sum()), int(unsafe.sum()), int(patterns.counts[unsafe].sum()),
                    float(people[shown].min()) if shown.any() else 0.0,
                )
            )  # fmt: skip
    rows.sort(key=lambda row: (-row.unsafe_records, len(row.indicators)))
    return RegionalTable(tuple(rows), threshold, at_risk)


def _people(
    data: Microdata, group: NDArray[np.int64], n_groups: int, region: str, population: Mapping[str, float]
) -> NDArray[np.float64]:
    """People of the regions that occur in each group, each region once."""
    codes = data.codes((region,))[:, 0].astype(np.int64)
    names = data.categories(region)
    present = np.unique(codes[codes >= 0])
    absent = [names[code] for code in present if names[code] not in population]
    if absent:
        raise DataError(
            f"regional_check: {len(absent)} codes of {region!r} that occur have no population; add them to the list.",
            variables=(region,),
        )
    size = np.array([float(population.get(name, 0.0)) for name in names])
    pairs = np.unique(group[codes >= 0] * len(names) + codes[codes >= 0])
    return np.bincount(pairs // len(names), weights=size[pairs % len(names)], minlength=n_groups).astype(np.float64)
