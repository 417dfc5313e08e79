"""The mode `analysis`: statistics of subsampled universes, after the rules of the U.S. Census Bureau's analysis server."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import PlanError
from reticent.data.parameters import build
from reticent.queries.analysis.drop_q import kept_rows
from reticent.queries.analysis.regression import (
    RegressionRules,
    absorb_sparse,
    fit_regression,
    saturated,
    synthetic_residuals,
)
from reticent.queries.analysis.universes import has_small_marginal, too_small
from reticent.queries.canonical import RecordSet
from reticent.queries.fitting import leverage, logistic
from reticent.queries.language import Statistic
from reticent.queries.modes import Cell, Decision, Request, Setting
from reticent.queries.pieces import complete
from reticent.queries.refusals import RISK, Answer, Row, StaffReason
from reticent.queries.statistics import design_matrix

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class AnalysisOptions:
    """`[policy.options.analysis]`; every number here is confidential."""

    gamma: int = field(default=20, metadata={"min": 3, "help": "fewest records of a piece of a universe"})
    joint_gamma: int = field(default=10, metadata={"min": 3, "help": "fewest records of a non-empty intersection"})
    drop: int = field(default=5, metadata={"min": 2, "max": 50, "help": "most records dropped in a stratum"})
    strata: tuple[str, ...] = field(default=(), metadata={"help": "filters that form the strata of the dropping"})
    category: int = field(default=10, metadata={"min": 3, "help": "fewest records of a category in a regression"})
    noise: float = field(default=0.25, metadata={"min": 0.01, "max": 2, "help": "noise of synthetic residuals"})


@dataclass
class AnalysisMode:
    """Answers depend on the universe alone: no memory, no order effects, one subsample a universe for ever."""

    setting: Setting
    options: AnalysisOptions
    stratum: Integers = field(repr=False)
    name: ClassVar[str] = "analysis"
    guarantee: ClassVar[str] = (
        "Universes are unions of published categories with enough records in every piece and intersection. Every answer is "
        "computed without a few records, chosen once for ever for each universe and stratum, so that two universes that "
        "differ by one record agree in what they lost only with a small probability. Regressions that lean on single "
        "records are refused; residuals are synthetic."
    )
    leakage: ClassVar[tuple[str, ...]] = (
        "a refusal tells that a universe or a model breaks a size, leverage or fit rule",
        "answers are near the truth: averaging over many different universes narrows totals",
        "a value that outweighs the dropped records (and more so its square) shows in differences of answers",
    )
    statistics: ClassVar[frozenset[str]] = frozenset(
        {"count", "sum", "avg", "variance", "stddev", "median", "quantile", "ratio", "corr", "linreg", "logreg"}
    )

    def decide(self, request: Request) -> Decision:
        """Check the universe of every cell, subsample it, and compute."""
        reasons: list[StaffReason] = []
        rows = []
        for cell in request.cells:
            broken = self._broken(request, cell)
            values: list[Any] = []
            for statistic in request.query.statistics:
                found = broken or self._value(statistic, cell.records)
                if isinstance(found, str):
                    reasons.append(StaffReason("analysis", found))
                    values.append(None)
                else:
                    values.append(found)
            rows.append(Row(cell.group, tuple(values)))
        if all(value is None for row in rows for value in row.values):
            return Decision(RISK, tuple(dict.fromkeys(reasons)))
        columns = tuple(str(statistic) for statistic in request.query.statistics)
        return Decision(Answer(columns, tuple(rows), request.query.by, self.name), tuple(dict.fromkeys(reasons)))

    def replay(self, request: Request, remember: Mapping[str, Any]) -> None:
        """Nothing to remember."""

    def _broken(self, request: Request, cell: Cell) -> str | None:
        """The universe rule that a cell breaks."""
        version = self.setting.universe.versions[cell.records.version]
        names = request.query.condition_variables
        if names and has_small_marginal(version, names):
            return "No Marginal 1 or 2"
        within = cell.records.atoms
        small = too_small(
            version, request.query.where, within, gamma=self.options.gamma, joint_gamma=self.options.joint_gamma
        )
        if small is None:
            return "Universe Gamma: too many pieces"
        if small:
            return "Universe Gamma"
        rows = self.setting.universe.records(cell.records)
        sizes = np.bincount(self.stratum[rows])
        if bool(((sizes > 0) & (sizes < self.options.joint_gamma)).any()):
            return "Universe Gamma in a stratum"
        return None

    def _kept(self, records: RecordSet) -> Integers:
        universe = self.setting.universe
        ids = universe.versions[records.version].data.record_ids()
        secret = self.setting.secret.child("drop-q")
        return kept_rows(universe.records(records), ids, self.stratum, most=self.options.drop, secret=secret)

    def _value(self, statistic: Statistic, records: RecordSet) -> Any:
        """A value, or the name of the rule that forbids it."""
        full = complete(self.setting.universe, records, statistic.variables)
        if len(self.setting.universe.records(full)) < self.options.gamma:
            return "too few complete records"
        kept = self._kept(records)
        rows = np.intersect1d(kept, self.setting.universe.records(full))
        if statistic.name == "count":
            return len(rows)
        if statistic.name in ("linreg", "logreg"):
            return self._regression(statistic, full, rows)
        data = self.setting.universe.versions[records.version].data
        if statistic.name == "ratio":
            top, bottom = np.nansum(data.numbers(statistic.variables)[kept], axis=0)
            return float(top / bottom) if bottom else "a ratio by nothing"
        return _SIMPLE[statistic.name](statistic, data.numbers(statistic.variables)[rows])

    def _regression(self, statistic: Statistic, full: RecordSet, rows: Integers) -> Any:
        design, response, labels = design_matrix(self.setting.universe, full, statistic)
        kept = np.isin(self.setting.universe.records(full), rows)
        policy = self.setting.policy
        rules = RegressionRules(self.options.category, policy.r_squared, policy.leverage)
        if statistic.name == "logreg":
            return self._logistic(design[kept], labels, response[kept], rules)
        fit = fit_regression(design[kept], labels, response[kept], rules)
        if isinstance(fit, str):
            return fit
        secret = self.setting.secret.child(f"residuals:{statistic.variables[0]}")
        return {
            "coefficients": dict(zip(fit.labels, map(float, fit.coefficients))),
            "standard_errors": dict(zip(fit.labels, map(float, fit.errors))),
            "anova": {"model": fit.sums[0], "residual": fit.sums[1]},
            "r_squared": fit.r_squared,
            "n": fit.n,
            "synthetic_residuals": synthetic_residuals(fit, secret, noise=self.options.noise),
        }

    def _logistic(self, design: Floats, labels: tuple[str, ...], response: Floats, rules: RegressionRules) -> Any:
        design, labels = absorb_sparse(design, labels, rules.least)
        ones = int(response.sum())
        if not bool(np.isin(response, (0.0, 1.0)).all()) or not rules.least <= ones <= len(response) - rules.least:
            return "a response that is not two codes, or has too few of one"
        if len(response) < design.shape[1] + rules.least:
            return "too few records for the model"
        if saturated(design):
            return "fully interacted model of indicators only"
        if float(leverage(design).max()) > rules.leverage:
            return "a record has too much leverage"
        found = logistic(design, response)
        if found is None:
            return "the codes separate the response"
        beta, errors, deviance = found
        return {
            "coefficients": dict(zip(labels, map(float, beta))),
            "standard_errors": dict(zip(labels, map(float, errors))),
            "deviance": deviance,
            "n": len(response),
        }


def _quantile(statistic: Statistic, values: Floats) -> Any:
    """Quantiles are averaged over neighbours, so that no single record's value is shown."""
    share = 0.5 if statistic.name == "median" else float(statistic.parameter or 0.0)
    ordered = np.sort(values[:, 0])
    n = len(ordered)
    middle = round(share * (n - 1))
    width = max(2, n // 50)
    low = min(max(middle - width, 0), n - 2 * width - 1)
    return float(ordered[low : low + 2 * width + 1].mean())


def _correlation(statistic: Statistic, values: Floats) -> Any:
    deviations = values.std(axis=0)
    if not bool((deviations > 0).all()):
        return "a variable does not vary"
    centred = (values - values.mean(axis=0)) / deviations
    return float((centred[:, 0] * centred[:, 1]).mean())


_SIMPLE: dict[str, Callable[[Statistic, Floats], Any]] = {
    "sum": lambda statistic, values: float(values.sum()),
    "avg": lambda statistic, values: float(values.mean()),
    "variance": lambda statistic, values: float(values[:, 0].var(ddof=1)),
    "stddev": lambda statistic, values: float(values[:, 0].std(ddof=1)),
    "median": _quantile,
    "quantile": _quantile,
    "corr": _correlation,
}


def analysis(setting: Setting) -> AnalysisMode:
    """Make the mode; strata are the combinations of the chosen filters."""
    options = build(AnalysisOptions, setting.policy.options.get("analysis", {}), owner="policy: options analysis")
    for name in options.strata:
        if name not in setting.policy.filters:
            raise PlanError(f"policy: options analysis: the stratum variable {name!r} must be one of the filters.")
    if options.drop + 2 > options.joint_gamma:
        raise PlanError("policy: options analysis: joint_gamma must be at least drop + 2, so that records remain.")
    version = setting.universe.current
    place = np.zeros(version.n_atoms, dtype=np.int64)
    for name in options.strata:
        place = place * (len(version.levels[name]) + 1) + version.codes[name] + 1
    _, stratum = np.unique(place, return_inverse=True)
    return AnalysisMode(setting, options, stratum[version.atom].astype(np.int64))
