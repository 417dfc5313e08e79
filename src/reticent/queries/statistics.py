"""The value of a statistic on a record set. Sums are exact integers; the same record set gives the same bits for ever.

Nothing here protects anything: modes decide what may leave.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.queries.canonical import COUNT, RecordSet, Universe
from reticent.queries.language import Statistic
from reticent.queries.pieces import Factor, complete, design

ITERATIONS = 50
TOLERANCE = 1e-10


def evaluate(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    """A number, or a mapping of named results; None where the statistic does not exist (no records, no variance)."""
    return _TABLE[statistic.name](statistic, universe, complete(universe, records, statistic.variables))


def exact_sum(universe: Universe, records: RecordSet, *names: str) -> Fraction:
    """Σ Π names over the records, exactly."""
    columns = universe.columns(*(names or (COUNT,)))
    return Fraction(columns.total(columns.mask(records)), columns.values.scale)


def _count(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    return int(exact_sum(universe, records))


def _sum(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    return float(exact_sum(universe, records, *statistic.variables))


def _avg(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    n = exact_sum(universe, records)
    return float(exact_sum(universe, records, *statistic.variables) / n) if n else None


def _central(universe: Universe, records: RecordSet, first: str, second: str) -> Fraction:
    n = exact_sum(universe, records)
    product = exact_sum(universe, records, first) * exact_sum(universe, records, second)
    return exact_sum(universe, records, first, second) - product / n


def _variance(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    n = exact_sum(universe, records)
    name = statistic.variables[0]
    return float(max(_central(universe, records, name, name), Fraction(0)) / (n - 1)) if n > 1 else None


def _stddev(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    variance = _variance(statistic, universe, records)
    return None if variance is None else math.sqrt(variance)


def _corr(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    if not exact_sum(universe, records):
        return None
    first, second = statistic.variables
    spread = _central(universe, records, first, first) * _central(universe, records, second, second)
    if spread <= 0:
        return None
    return float(_central(universe, records, first, second)) / math.sqrt(spread)


def _values(universe: Universe, records: RecordSet, name: str) -> NDArray[np.float64]:
    data = universe.versions[records.version].data
    return np.asarray(data.numbers((name,))[universe.records(records), 0], dtype=np.float64)


def _quantile(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    share = {"min": 0.0, "max": 1.0, "median": 0.5}.get(statistic.name, statistic.parameter or 0.0)
    values = _values(universe, records, statistic.variables[0])
    return float(np.quantile(values, share)) if len(values) else None


def design_matrix(
    universe: Universe, records: RecordSet, names: tuple[str, ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, ...]]:
    """X (with intercept), y and the names of X's columns, for the complete records."""
    version = universe.versions[records.version]
    factors = design(universe, records, names[1:])
    rows = universe.records(records)
    columns, labels = [np.ones(len(rows))], ["(intercept)"]
    for factor in factors:
        columns.append(_factor_column(universe, records, factor, rows))
        label = "" if factor.level is None else f"[{version.levels[factor.name].texts[factor.level]}]"
        labels.append(factor.name + label)
    return np.column_stack(columns), _values(universe, records, names[0]), tuple(labels)


def _factor_column(
    universe: Universe, records: RecordSet, factor: Factor, rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    version = universe.versions[records.version]
    if factor.level is None:
        return np.asarray(version.data.numbers((factor.name,))[rows, 0], dtype=np.float64)
    return np.asarray(version.codes[factor.name][version.atom[rows]] == factor.level, dtype=np.float64)


def leverage(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """The diagonal of the hat matrix: how far a record can pull its own fitted value."""
    basis, triangle = np.linalg.qr(x)
    keep = np.abs(np.diag(triangle)) > TOLERANCE * max(float(np.abs(triangle).max(initial=0.0)), 1.0)
    return np.asarray((basis[:, keep] ** 2).sum(axis=1), dtype=np.float64)


def _linreg(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    x, y, labels = design_matrix(universe, records, statistic.variables)
    n, k = x.shape
    if n <= k or np.linalg.matrix_rank(x) < k:
        return None
    beta = np.asarray(np.linalg.lstsq(x, y, rcond=None)[0], dtype=np.float64)
    residual = y - x @ beta
    variance = float(residual @ residual) / (n - k)
    spread = float(((y - y.mean()) ** 2).sum())
    errors = np.sqrt(variance * np.diag(np.linalg.inv(x.T @ x)))
    fit = 1.0 - float(residual @ residual) / spread if spread else 1.0
    return _named(labels, beta, errors) | {"n": n, "r_squared": fit}


def _logreg(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    x, y, labels = design_matrix(universe, records, statistic.variables)
    n, k = x.shape
    if n <= k or np.linalg.matrix_rank(x) < k or not bool(np.isin(y, (0.0, 1.0)).all()):
        return None
    beta: NDArray[np.float64] = np.zeros(k)
    for _ in range(ITERATIONS):
        p = 1.0 / (1.0 + np.exp(-np.clip(x @ beta, -30.0, 30.0)))
        information = (x * (p * (1 - p))[:, None]).T @ x
        if np.linalg.matrix_rank(information) < k:
            return None  # the codes separate zeros from ones
        step = np.linalg.solve(information, x.T @ (y - p))
        beta = np.asarray(beta + step, dtype=np.float64)
        if float(np.abs(step).max()) < TOLERANCE:
            return _named(labels, beta, np.sqrt(np.diag(np.linalg.inv(information)))) | {"n": n}
    return None


def _named(labels: tuple[str, ...], beta: NDArray[np.float64], errors: NDArray[np.float64]) -> dict[str, Any]:
    return {
        "coefficients": {label: float(value) for label, value in zip(labels, beta)},
        "standard_errors": {label: float(value) for label, value in zip(labels, errors)},
    }


def _km(statistic: Statistic, universe: Universe, records: RecordSet) -> Any:
    """Kaplan–Meier: the share surviving each time, Π (1 − events/at risk) (Kaplan and Meier 1958)."""
    time, event = statistic.variables
    version = universe.versions[records.version]
    codes = version.codes[time]
    there = np.unique(codes[records.atoms])
    at_risk = exact_sum(universe, records)
    survival, curve = Fraction(1), {}
    for code in there.tolist():
        at_time = universe.record_set(records.atoms & (codes == code), version=records.version)
        if at_risk:
            survival *= 1 - exact_sum(universe, at_time, event) / at_risk
        curve[version.levels[time].texts[code]] = float(survival)
        at_risk -= exact_sum(universe, at_time)
    return {"survival": curve}


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
    "corr": _corr,
    "linreg": _linreg,
    "logreg": _logreg,
    "km": _km,
}
