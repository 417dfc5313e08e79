# SPDX-License-Identifier: Apache-2.0
"""Statistics of what is left of a universe, with no respondent's weight beyond what the policy allows.

A function here gives a value, or, as text for staff, the rule that forbids it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.queries.analysis.dominance import Holders, Shares
from reticent.queries.canonical import RecordSet, Universe
from reticent.queries.design import factor_values, lower_bound
from reticent.queries.language import Statistic
from reticent.queries.pieces import complete
from reticent.queries.terms import Factor, Model, transformed

NOBODY = "too few respondents with a value other than 0"


@dataclass(frozen=True)
class Sample:
    """A universe, the rows of it that are left, how much a respondent may hold, and the values of a response for all rows."""

    universe: Universe
    records: RecordSet
    kept: Ints
    shares: Shares
    response: Callable[[str], Floats]

    def complete_rows(self, names: tuple[str, ...]) -> Ints:
        """The rows left that have all these variables."""
        full = complete(self.universe, self.records, names)
        return self.kept[full.atoms[self.universe.versions[full.version].atom[self.kept]]]

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
            if levels is not None and levels.numbers is None:
                continue
            if levels is not None:
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
    return float(values.sum() if statistic.name == "sum" else values.mean())


def _ratio(statistic: Statistic, sample: Sample) -> Any:
    top, bottom = (sample.limited(name, power=1) for name in statistic.variables)
    if top is None or bottom is None:
        return NOBODY
    divisor = float(bottom.sum())
    return float(top.sum()) / divisor if divisor else "a ratio by nothing"


def _variance(statistic: Statistic, sample: Sample) -> Any:
    values = sample.limited(statistic.variables[0], power=2)
    if values is None:
        return NOBODY
    return float(values.var(ddof=1) if statistic.name == "variance" else values.std(ddof=1))


def _quantile(statistic: Statistic, sample: Sample) -> Any:
    """Quantiles are averaged over neighbours, of whom none may hold too much, so that no single value is shown."""
    share = 0.5 if statistic.name == "median" else float(statistic.parameter or 0.0)
    rows = sample.complete_rows(statistic.variables)
    values = sample.values(statistic.variables[0], rows)
    order = np.argsort(values, kind="stable")
    n = len(order)
    middle = round(share * (n - 1))
    width = max(2, n // 50)
    low = min(max(middle - width, 0), n - 2 * width - 1)
    near = order[low : low + 2 * width + 1]
    limited = sample.holders(rows[near]).limited(values[near], power=1)
    return NOBODY if limited is None else float(limited.mean())


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
    return float(((one - one.mean()) * (two - two.mean())).mean() / (one.std() * two.std()))


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
