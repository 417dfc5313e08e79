# SPDX-License-Identifier: Apache-2.0
"""Data shuffling (plan name `shuffle`): a model says who should have the large values, the values are the true ones."""

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np
from scipy import special

from reticent.base.arrays import Floats, Ints, taken
from reticent.base.errors import DataError, ParameterError
from reticent.base.progress import Progress
from reticent.data.draws import StepDraws
from reticent.data.method import Applied, Group, Method, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples
from reticent.data.schema import Kind, Schema
from reticent.kernels.ranking import centered_ranks, stable_order
from reticent.microdata.perturb.binding import check_variables, differing, keyed_normals, slices, strata_of, units
from reticent.microdata.perturb.binding import with_all_numbers as with_numbers
from reticent.microdata.perturb.covariance import check_not_constant, factor, nearest_psd


@dataclass(frozen=True)
class Shuffle(Method):
    """Exchange the values of numeric variables so that rank relations are kept (Muralidhar and Sarathy 2006).

    Ranks become normal scores with the correlations 2 sin(π ρ/6) of Spearman's ρ; given the scores of the predictors,
    new scores are drawn, and the record with the r-th largest new score gets the r-th largest true value. Marginals
    (within strata) are exact; rank correlations hold up to chance. Nominal predictors enter as indicators.
    """

    name: ClassVar[str] = "shuffle"
    group: ClassVar[Group] = Group.EXCHANGE
    examples: ClassVar[Examples] = ({"variables": ["income"], "predictors": ["age", "sex"]},)
    variables: tuple[str, ...] = field(metadata={"names": "variables", "help": "numeric variables to shuffle together"})
    predictors: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "variables that stay and explain"}
    )
    strata: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "shuffle within groups of these variables"}
    )

    def __post_init__(self) -> None:
        if set(self.variables) & set(self.predictors):
            raise ParameterError("a variable cannot be shuffled and be a predictor at the same time.")

    def check(self, schema: Schema) -> None:
        """The shuffled variables are numeric, the others known."""
        check_variables(schema, self.variables, owner=self.name, numeric=True)
        schema.require((*self.predictors, *self.strata), owner=self.name)

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Shuffle; the new scores are keyed by record."""
        self.check(data.schema)
        who = units(data, self.variables, owner=self.name)
        values = taken(data.numbers(self.variables), who.first)
        check_not_constant(values, self.variables, owner=self.name)
        known = _predictor_columns(data, self.predictors, who.first)
        secret = draws.of_file(data, (*self.variables, *self.predictors, *self.strata))
        noise = keyed_normals(secret, self.name, who.ids, len(self.variables))
        masked = values.copy()
        groups = list(slices(strata_of(data, self.strata, first=who.first)))
        for number, rows in enumerate(groups):
            if len(rows) < 2:
                raise DataError(
                    f"{self.name}: a stratum has a single record, which nothing can hide. Use larger strata."
                )
            if len(groups) == 1:
                masked = shuffled(values, known, noise)
            else:
                masked[rows] = shuffled(values[rows], known[rows], noise[rows])
            progress((number + 1) / len(groups), self.name)
        result, changed = with_numbers(data, self.variables, taken(masked, who.of))
        return Applied(result, changed, {"strata": len(groups), "predictor_columns": known.shape[1]})

    def promises(self) -> tuple[Promise, ...]:
        """Every stratum has exactly the same values as before."""
        return (Promise("marginals are kept exactly within strata", partial(_marginals_moved, self)),)


def shuffled(values: Floats, predictors: Floats, noise: Floats) -> Floats:
    """Shuffle values (n, d) given predictors (n, p) with standard normal noise (n, d); NaN stays."""
    d, p = values.shape[1], predictors.shape[1]
    ranks = np.empty((d + p, values.shape[0]))
    for j in range(d + p):
        ranks[j] = _ranks_or_middle(values[:, j] if j < d else predictors[:, j - d])
    correlation = copula_correlation(ranks)
    between, within = correlation[d:, :d], correlation[d:, d:]
    weights = np.linalg.pinv(within, hermitian=True) @ between if p else np.zeros((0, d))
    residual = correlation[:d, :d] - between.T @ weights
    names = tuple(f"variable {j + 1}" for j in range(d))
    scores = noise @ factor(nearest_psd(residual), names, owner="shuffle", nearest=True).T
    for q in range(p):
        # Centred ranks are (rank − (n+1)/2)/n, so adding one half gives the share (rank − ½)/n.
        row = ranks[d + q]
        row += 0.5
        scores += special.ndtri(row, out=row)[:, None] * weights[q]
    result = values.copy()
    for j in range(d):
        missing = np.isnan(values[:, j])
        if missing.any():
            present = np.flatnonzero(~missing)
            result[present[stable_order(scores[present, j])], j] = np.sort(values[present, j])
        else:
            result[stable_order(scores[:, j]), j] = np.sort(values[:, j])
    return result


def copula_correlation(ranks: Floats) -> Floats:
    """Normal-copula correlations 2 sin(π ρ/6) from rows of centred ranks, made positive semidefinite."""
    cross = ranks @ ranks.T
    deviation = np.sqrt(np.diag(cross))
    scale = np.where(deviation > 0, deviation, 1.0)
    spearman = np.clip(cross / np.outer(scale, scale), -1.0, 1.0)
    correlation = 2.0 * np.sin(np.pi * spearman / 6.0)
    np.fill_diagonal(correlation, 1.0)
    return nearest_psd(correlation)


def _ranks_or_middle(column: Floats) -> Floats:
    """Centred ranks; a missing value is in the middle."""
    missing = np.isnan(column)
    if not missing.any():
        return centered_ranks(column)
    out = np.zeros(column.shape[0])
    out[~missing] = centered_ranks(column[~missing])
    return out


def _predictor_columns(data: Microdata, names: tuple[str, ...], first: Ints) -> Floats:
    """Numbers, ordinal codes, and one indicator for each but the last code of nominal variables."""
    columns: list[Floats] = []
    for name in names:
        kind = data.schema[name].kind
        if kind is Kind.NUMERIC:
            columns.append(taken(data.numbers((name,))[:, 0], first))
            continue
        codes = data.codes((name,))[first, 0]
        if kind is Kind.ORDINAL:
            columns.append(np.where(codes < 0, np.nan, codes.astype(np.float64)))
        else:
            columns += [(codes == code).astype(np.float64) for code in range(len(data.categories(name)) - 1)]
    return np.column_stack(columns) if columns else np.zeros((len(first), 0))


def _marginals_moved(method: Shuffle, before: Microdata, after: Microdata) -> int:
    who = units(before, method.variables, owner=method.name)
    old, new = before.numbers(method.variables)[who.first], after.numbers(method.variables)[who.first]
    groups = list(slices(strata_of(before, method.strata, first=who.first)))
    return sum(
        differing(np.sort(o[rows]), np.sort(n[rows])) for rows in groups for o, n in zip(old.T, new.T, strict=True)
    )
