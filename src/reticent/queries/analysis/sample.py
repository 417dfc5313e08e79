# SPDX-License-Identifier: Apache-2.0
"""Statistics of what is left of a universe, with no respondent's weight beyond what the policy allows.

A function here gives a value, or, as text for staff, the rule that forbids it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.queries.analysis.dominance import Holders, Shares
from reticent.queries.analysis.rounding import SHOWN, coarse, deviation
from reticent.queries.canonical import RecordSet, Universe
from reticent.queries.design import factor_values, lower_bound
from reticent.queries.language import Statistic
from reticent.queries.pieces import complete
from reticent.queries.terms import Factor, Model, transformed

NOBODY = "too few respondents with a value other than 0"


@dataclass(frozen=True)
class Sample:
    """A universe, what is left of the records of it that have some variables, how much a respondent may hold, and the values
    of a response for all rows.
    """

    universe: Universe
    records: RecordSet
    left: Callable[[RecordSet], Ints]
    shares: Shares
    response: Callable[[str], Floats]

    def complete_rows(self, names: tuple[str, ...]) -> Ints:
        """The rows left of those that have all these variables: records without them hide nobody, so none of them is dropped."""
        return self.left(complete(self.universe, self.records, names))

    def holders(self, rows: Ints) -> Holders:
        """The respondents of some rows."""
        return Holders.of(self.universe.entities(self.records.version)[rows], self.shares)

    def values(self, name: str, rows: Ints) -> Floats:
        """A response's values in some rows."""
        return self.response(name)[rows]

    def limited(self, name: str, *, power: int) -> Floats | None:
        """A response's values, limited; None if too few respondents have any."""
        rows = self.complete_rows((name,))
        return self.holders(rows).limited(self.values(name, rows), power=power)

    def numbers(self, model: Model, rows: Ints, *, limit_response: bool) -> dict[Factor, Floats] | None:
        """The numbers of a model's factors in some rows, confidential ones limited; None if too few have any."""
        version = self.universe.versions[self.records.version]
        holders = self.holders(rows)
        found: dict[Factor, Floats] = {}
        for factor in model.factors:
            levels = version.levels.get(factor.variable)
            if levels is not None and levels.numbers is None and factor != model.response:
                continue  # codes, or bins; a response in bins is still a number
            if levels is not None and levels.numbers is not None:
                found[factor] = factor_values(self.universe, self.records.version, factor, rows)
                continue
            low = lower_bound(self.universe.policy, factor)
            values: Floats | None = transformed(self.values(factor.variable, rows), factor.transform, low)
            if values is not None and (limit_response or factor != model.response):
                values = holders.limited(values, power=2)
            if values is None:
                return None
            found[factor] = values
        return found


def value_of(statistic: Statistic, sample: Sample) -> Any:
    """The value of a statistic other than a regression."""
    return _TABLE[statistic.name](statistic, sample)


def _count(statistic: Statistic, sample: Sample) -> Any:
    return len(sample.complete_rows(statistic.variables))


def _sum(statistic: Statistic, sample: Sample) -> Any:
    values = sample.limited(statistic.variables[0], power=1)
    if values is None:
        return NOBODY
    root, spread = math.sqrt(len(values)), deviation(values)
    if statistic.name == "sum":
        return coarse(float(values.sum()), spread * root)
    return coarse(float(values.mean()), spread / root)


def _ratio(statistic: Statistic, sample: Sample) -> Any:
    top, bottom = (sample.limited(name, power=1) for name in statistic.variables)
    if top is None or bottom is None:
        return NOBODY
    divisor = float(bottom.sum())
    if not divisor:
        return "a ratio by nothing"
    ratio = float(top.sum()) / divisor
    spreads = [deviation(values) * math.sqrt(len(values)) for values in (top, bottom)]
    return coarse(ratio, math.hypot(spreads[0], ratio * spreads[1]) / abs(divisor))


def _variance(statistic: Statistic, sample: Sample) -> Any:
    values = sample.limited(statistic.variables[0], power=2)
    if values is None:
        return NOBODY
    n, spread = len(values), deviation(values)
    if statistic.name == "variance":
        return coarse(float(values.var(ddof=1)), spread * spread * math.sqrt(2 / n))
    return coarse(spread, spread / math.sqrt(2 * n))


def _quantile(statistic: Statistic, sample: Sample) -> Any:
    """Between the means of blocks of neighbours, of whom none may hold too much, so that no single value is shown.

    Blocks do not overlap: means of overlapping ones differ by single values. Each mean is rounded, because exact ones would
    say of each universe which records were dropped.
    """
    share = 0.5 if statistic.name == "median" else float(statistic.parameter or 0.0)
    rows = sample.complete_rows(statistic.variables)
    values = sample.values(statistic.variables[0], rows)
    order = np.argsort(values, kind="stable")
    n = len(order)
    blocks = np.array_split(np.arange(n), max(1, n // (2 * max(2, n // 50) + 1)))
    centres = np.array([block.mean() for block in blocks])
    position = share * (n - 1)
    last = int(np.clip(np.searchsorted(centres, position), 1, max(1, len(blocks) - 1)))
    near = range(max(0, last - 1), min(last + 1, len(blocks)))
    means = [_block_mean(sample, rows[order[blocks[at]]], values[order[blocks[at]]]) for at in near]
    if any(mean is None for mean in means):
        return NOBODY
    return float(np.interp(position, centres[list(near)], np.array(means, dtype=np.float64)))


def _block_mean(sample: Sample, rows: Ints, values: Floats) -> float | None:
    """The mean of neighbours in the order of values, rounded; None if too few of them have any."""
    limited = sample.holders(rows).limited(values, power=1)
    if limited is None:
        return None
    # about ten times the error that the mean of values spread evenly over the block has, which `coarse` takes a tenth of
    return coarse(float(limited.mean()), SHOWN * float(np.ptp(limited)) / (2 * math.sqrt(len(limited))))


def _correlation(statistic: Statistic, sample: Sample) -> Any:
    rows = sample.complete_rows(statistic.variables)
    holders = sample.holders(rows)
    pair = [holders.limited(sample.values(name, rows), power=2) for name in statistic.variables]
    if pair[0] is None or pair[1] is None:
        return NOBODY
    one, two = pair[0], pair[1]
    if not one.std() > 0 or not two.std() > 0:
        return "a variable does not vary"
    if holders.dominated(one * two):
        return "a respondent holds too much of a cross product"
    found = float(((one - one.mean()) * (two - two.mean())).mean() / (one.std() * two.std()))
    return coarse(found, 1 / math.sqrt(len(one)))


_TABLE: dict[str, Callable[[Statistic, Sample], Any]] = {
    "count": _count,
    "sum": _sum,
    "avg": _sum,
    "ratio": _ratio,
    "variance": _variance,
    "stddev": _variance,
    "median": _quantile,
    "quantile": _quantile,
    "corr": _correlation,
}
