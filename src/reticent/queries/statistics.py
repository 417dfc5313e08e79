# SPDX-License-Identifier: Apache-2.0
"""The value of a statistic on a record set. Sums are exact integers; the same record set gives the same bits for ever.

Nothing here protects anything: modes decide what may leave.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.queries.canonical import COUNT, RecordSet, Universe
from reticent.queries.design import Numbers, columns_of, factor_values, label_of, values_of
from reticent.queries.fitting import independent, least_squares, logistic, tellable, told, triangle
from reticent.queries.fixed import as_number, root
from reticent.queries.language import Statistic
from reticent.queries.pieces import complete
from reticent.queries.terms import Factor


@dataclass(frozen=True)
class _Fitted:
    """A regression with all digits, and up to which part of the standard errors they are shown."""

    labels: tuple[str, ...]
    beta: Floats
    errors: Floats
    n: int
    part: float
    r_squared: float | None = None


def evaluate(statistic: Statistic, universe: Universe, records: RecordSet, *, all_digits: bool = False) -> Any:
    """A number, or a mapping of named results; None where the statistic does not exist (no records, no variance).

    Regressions are rounded to what sums over the records tell; `all_digits` leaves them as they were calculated.
    """
    inside = records if statistic.name == "ratio" else complete(universe, records, statistic.variables)
    found = _TABLE[statistic.name](statistic, universe, inside)
    if not isinstance(found, _Fitted):
        return found
    return _named(replace(found, part=0.0) if all_digits else found)


def exact_sum(universe: Universe, records: RecordSet, *names: str) -> Fraction:
    """Σ Π names over the records, exactly."""
    columns = universe.columns(*(names or (COUNT,)))
    return Fraction(columns.total(columns.mask(records)), columns.values.scale)


def _count(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    return int(exact_sum(universe, records))


def _sum(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    return as_number(exact_sum(universe, records, *statistic.variables))


def _avg(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    n = exact_sum(universe, records)
    return as_number(exact_sum(universe, records, *statistic.variables) / n) if n else None


def _central(universe: Universe, records: RecordSet, first: str, second: str) -> Fraction:
    n = exact_sum(universe, records)
    product = exact_sum(universe, records, first) * exact_sum(universe, records, second)
    return exact_sum(universe, records, first, second) - product / n


def _spread(statistic: Statistic, universe: Universe, records: RecordSet) -> Fraction | None:
    n = exact_sum(universe, records)
    name = statistic.variables[0]
    return _central(universe, records, name, name) / (n - 1) if n > 1 else None


def _variance(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    variance = _spread(statistic, universe, records)
    return None if variance is None else as_number(variance)


def _stddev(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    variance = _spread(statistic, universe, records)
    return None if variance is None else root(variance)


def _corr(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    if not exact_sum(universe, records):
        return None
    first, second = statistic.variables
    spread = _central(universe, records, first, first) * _central(universe, records, second, second)
    if spread <= 0:
        return None
    together = _central(universe, records, first, second)
    size = root(together**2 / spread)
    return -size if together < 0 else size


def _values(universe: Universe, records: RecordSet, name: str) -> NDArray[np.float64]:
    data = universe.versions[records.version].data
    return np.asarray(data.numbers((name,))[universe.records(records), 0], dtype=np.float64)


def _quantile(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    share = {"min": 0.0, "max": 1.0, "median": 0.5}.get(statistic.name, statistic.parameter or 0.0)
    values = _values(universe, records, statistic.variables[0])
    return float(np.quantile(values, share)) if len(values) else None


def design_matrix(
    universe: Universe,
    records: RecordSet,
    statistic: Statistic,
    *,
    rows: NDArray[np.int64] | None = None,
    numbers: Numbers | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, ...]]:
    """X (with intercept), y and the names of X's columns, for records that are complete.

    `rows` picks some of the records (the columns are still those of all); `numbers` gives the values of a factor for
    them, where these are not the plain ones.
    """
    version, model = universe.versions[records.version], statistic.regression
    columns = columns_of(universe, records, model)
    chosen = universe.records(records) if rows is None else rows

    def plain(factor: Factor) -> NDArray[np.float64]:
        return factor_values(universe, records.version, factor, chosen)

    x = np.ones((len(chosen), len(columns) + 1))
    for place, column in enumerate(columns, start=1):
        x[:, place] = values_of(version, column, chosen, numbers or plain)
    labels = ("(intercept)", *(label_of(version, column) for column in columns))
    return x, (numbers or plain)(model.response), labels


def _linreg(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    x, y, labels = design_matrix(universe, records, statistic)
    fit = least_squares(x, y)
    if fit is None:
        return None
    size = float(np.linalg.norm(y / fit.size))
    part = tellable(fit.r, size * float(np.sqrt((len(y) - x.shape[1]) / fit.left)) if fit.left > 0 else np.inf)
    return _Fitted(labels, fit.beta, fit.errors, len(y), part, fit.r_squared)


def _logreg(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    x, y, labels = design_matrix(universe, records, statistic)
    n, k = x.shape
    r = triangle(x)
    if n <= k or len(independent(r)) < k or not bool(np.isin(y, (0.0, 1.0)).all()):
        return None
    found = logistic(x, y)
    if found is None:
        return None
    part = tellable(r, float(np.sqrt(n)))
    return _Fitted(labels, found[0], found[1], n, part)


def _ratio(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    """Σa / Σb, each over the records that have it; None where the divisor is 0."""
    top, bottom = (exact_sum(universe, records, name) for name in statistic.variables)
    return as_number(top / bottom) if bottom else None


def _named(fit: _Fitted) -> dict[str, Any]:
    found: dict[str, Any] = {
        "coefficients": dict(zip(fit.labels, told(fit.beta, fit.errors, fit.part))),
        "standard_errors": dict(zip(fit.labels, told(fit.errors, fit.errors, fit.part))),
        "n": fit.n,
    }
    if fit.r_squared is not None:
        found["r_squared"] = told(np.array([fit.r_squared]), np.ones(1), fit.part)[0]
    return found


def _km(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    """Kaplan–Meier: the share surviving each time, Π (1 − events/at risk) (Kaplan and Meier 1958)."""
    time, event = statistic.variables
    version = universe.versions[records.version]
    codes = version.codes[time]
    there = np.unique(codes[records.atoms])
    if not universe.is_event(event) and not universe.holds_event(event):
        return None  # an event that neither happened nor did not, anywhere in the data
    if set(there.tolist()) - set(version.levels[time].shown):
        return None  # times that only records know must not be shown
    at_risk = exact_sum(universe, records)
    survival, curve = Fraction(1), {}
    for code in there.tolist():
        at_time = universe.record_set(records.atoms & (codes == code), version=records.version)
        if at_risk:
            survival *= 1 - _events(universe, at_time, event) / at_risk
        curve[version.levels[time].texts[code]] = float(survival)
        at_risk -= exact_sum(universe, at_time)
    return {"survival": curve}


def _events(universe: Universe, records: RecordSet, event: str) -> Fraction:
    """How many records have an event.

    In the mode `simulatable` the declared bounds are taken at their word: a value beyond them counts as the nearest one.
    """
    if universe.policy.mode == "simulatable":
        return universe.clamped(event, records, 0.0, 1.0)[1]
    return exact_sum(universe, records, event)


_TABLE: dict[str, Callable[[Statistic, Universe, RecordSet], Any]] = {
    "count": _count,
    "sum": _sum,
    "avg": _avg,
    "variance": _variance,
    "stddev": _stddev,
    "min": _quantile,
    "max": _quantile,
    "median": _quantile,
    "quantile": _quantile,
    "ratio": _ratio,
    "corr": _corr,
    "linreg": _linreg,
    "logreg": _logreg,
    "km": _km,
}
