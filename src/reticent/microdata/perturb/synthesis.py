"""Models that draw one variable given others: trees with donors from their leaves, and parametric regressions.

Numeric columns are floats with NaN for missing, categorical ones codes with −1. A model is fitted on observed columns
and then draws for synthetic ones from uniforms in [0, 1), one a record, so that everything random is keyed by record.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import special

from reticent.base.optional import need
from reticent.microdata.perturb.additive import normal_scores, quantiles

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Column:
    """One variable: numbers, or codes of `n_codes` categories (0: numeric) that may be ordered."""

    values: NDArray[Any]
    n_codes: int = 0
    ordered: bool = False

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return self.n_codes == 0

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which values are missing."""
        return np.isnan(self.values) if self.numeric else self.values < 0

    def take(self, rows: NDArray[Any]) -> "Column":
        """Some records."""
        return Column(self.values[rows], self.n_codes, self.ordered)


class Model(Protocol):
    """Draws a value for each record of synthetic predictors."""

    def draw(self, predictors: Sequence[Column], uniform: Floats) -> NDArray[Any]: ...


@dataclass(frozen=True)
class Donors:
    """Observed values sorted by cell (leaf) and size, with Bayesian-bootstrap weights: the source of draws."""

    values: NDArray[Any]
    cumulative: Floats
    start: Ints
    smooth: bool
    whole: bool

    @classmethod
    def of(cls, values: NDArray[Any], cell: Ints, n_cells: int, exponential: Floats, *, smooth: bool) -> "Donors":
        """Dirichlet(1, …, 1) weights in each cell, from one exponential draw a record (Rubin 1981)."""
        order = np.lexsort((values, cell))
        start = np.searchsorted(cell[order], np.arange(n_cells + 1))
        whole = bool(np.all(values == np.rint(values)))
        return cls(values[order], np.cumsum(exponential[order]), start, smooth, whole)

    def draw(self, cell: Ints, uniform: Floats) -> NDArray[Any]:
        """One donor for each record from its cell; smoothed: a point between the donor and the next larger one."""
        before = np.append(0.0, self.cumulative)
        low, high = before[self.start[cell]], before[self.start[cell + 1]]
        point = low + uniform * (high - low)
        place = np.searchsorted(self.cumulative, point, side="right")
        place = np.clip(place, self.start[cell], self.start[cell + 1] - 1)
        drawn: NDArray[Any] = self.values[place]
        if not self.smooth:
            return drawn
        above = self.values[np.minimum(place + 1, self.start[cell + 1] - 1)]
        within = np.clip((point - before[place]) / (before[place + 1] - before[place]), 0.0, 1.0)
        smoothed: Floats = drawn + within * (above - drawn)
        return np.asarray(np.rint(smoothed)) if self.whole else smoothed


@dataclass(frozen=True)
class Marginal:
    """Draws without predictors."""

    donors: Donors

    def draw(self, predictors: Sequence[Column], uniform: Floats) -> NDArray[Any]:
        """A donor among all records."""
        return self.donors.draw(np.zeros(len(uniform), dtype=np.int64), uniform)


@dataclass(frozen=True)
class Tree:
    """A classification or regression tree; a record gets the value of a donor in its leaf."""

    tree: Any
    scores: tuple[Floats | None, ...]
    leaf_number: Ints
    donors: Donors

    def draw(self, predictors: Sequence[Column], uniform: Floats) -> NDArray[Any]:
        """A donor in the leaf of each record."""
        leaf = self.leaf_number[self.tree.apply(tree_design(predictors, self.scores))]
        return self.donors.draw(leaf, uniform)


def fit_marginal(response: Column, exponential: Floats, *, smooth: bool) -> Marginal:
    """Draws from the observed values as they are."""
    cell = np.zeros(len(response.values), dtype=np.int64)
    return Marginal(Donors.of(response.values, cell, 1, exponential, smooth=smooth and response.numeric))


def fit_tree(
    response: Column, predictors: Sequence[Column], exponential: Floats, *, minimum_leaf: int, smooth: bool, state: int
) -> Tree:
    """Grow a tree until leaves have `minimum_leaf` records; nominal predictors are ordered by the response."""
    trees = need("sklearn.tree", extra="synthesis", purpose="synthesis by trees")
    scores = tuple(_code_scores(predictor, response) for predictor in predictors)
    design = tree_design(predictors, scores)
    kind = trees.DecisionTreeRegressor if response.numeric else trees.DecisionTreeClassifier
    tree = kind(min_samples_leaf=minimum_leaf, random_state=state).fit(design, response.values)
    leaf = np.asarray(tree.apply(design), dtype=np.int64)
    numbers = np.full(int(tree.tree_.node_count), -1, dtype=np.int64)
    used = np.unique(leaf)
    numbers[used] = np.arange(len(used))
    donors = Donors.of(response.values, numbers[leaf], len(used), exponential, smooth=smooth and response.numeric)
    return Tree(tree, scores, numbers, donors)


def tree_design(predictors: Sequence[Column], scores: Sequence[Floats | None]) -> NDArray[np.float32]:
    """Predictors as numbers for a tree: values (missing below all), codes, or the scores of nominal codes."""
    columns = []
    for predictor, score in zip(predictors, scores, strict=True):
        if score is not None:
            columns.append(score[predictor.values.astype(np.int64)])
        elif predictor.numeric:
            # Far below every value, so that one split separates the missing ones.
            columns.append(np.where(np.isnan(predictor.values), -3e38, np.clip(predictor.values, -1e38, 1e38)))
        else:
            columns.append(predictor.values.astype(np.float64))
    return np.column_stack(columns).astype(np.float32)


def _code_scores(predictor: Column, response: Column) -> Floats | None:
    """A number for each nominal code: the mean response, or the first axis of its table with the response's codes.

    Ordered by these, splits of a tree are the best two-way splits of the codes (Breiman et al. 1984 for two classes).
    The last entry is for missing ones.
    """
    if predictor.numeric or predictor.ordered or predictor.n_codes <= 2:
        return None
    size = predictor.n_codes + 1
    code = np.where(predictor.values < 0, predictor.n_codes, predictor.values).astype(np.int64)
    if response.numeric:
        count = np.bincount(code, minlength=size)
        total = np.bincount(code, weights=response.values, minlength=size)
        mean = float(response.values.mean())
        return np.where(count > 0, total / np.maximum(count, 1), mean)
    table = np.zeros((size, response.n_codes))
    np.add.at(table, (code, response.values.astype(np.int64)), 1.0)
    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    expected = rows @ columns / max(1.0, table.sum())
    residual = np.divide(table - expected, np.sqrt(expected), out=np.zeros_like(table), where=expected > 0)
    axis = np.linalg.svd(residual, full_matrices=False)[0][:, 0]
    # The sign of an axis is arbitrary; fix it, so that the same data give the same tree.
    axis = axis * (1.0 if axis[np.argmax(np.abs(axis))] >= 0 else -1.0)
    scores: Floats = np.divide(axis, np.sqrt(rows.ravel()), out=np.zeros(size), where=rows.ravel() > 0)
    return scores


@dataclass(frozen=True)
class NormalRegression:
    """A linear regression of normal scores; draws are read back through the observed distribution."""

    ordered: Floats
    coefficients: Floats
    deviation: float
    scaling: tuple[Floats, Floats]

    def draw(self, predictors: Sequence[Column], uniform: Floats) -> NDArray[Any]:
        """A draw of the score of each record, as a value."""
        mean = _standardised(linear_design(predictors), self.scaling) @ self.coefficients
        noise = special.ndtri(np.clip(uniform, 1e-16, 1.0 - 1e-16))
        return quantiles(self.ordered, special.ndtr(mean + self.deviation * noise))


@dataclass(frozen=True)
class LogisticRegression:
    """A multinomial logistic regression of the codes."""

    model: Any
    scaling: tuple[Floats, Floats]

    def draw(self, predictors: Sequence[Column], uniform: Floats) -> NDArray[Any]:
        """A code drawn from each record's probabilities."""
        shares = self.model.predict_proba(_standardised(linear_design(predictors), self.scaling))
        place = (np.cumsum(shares, axis=1) <= uniform[:, None]).sum(axis=1).clip(0, shares.shape[1] - 1)
        return np.asarray(self.model.classes_[place])


def fit_regression(response: Column, predictors: Sequence[Column], exponential: Floats) -> Model:
    """A parametric model; exponential weights (the Bayesian bootstrap) make its parameters a posterior draw."""
    raw = linear_design(predictors)
    deviation = raw.std(axis=0)
    scaling = (raw.mean(axis=0), np.where(deviation > 0, deviation, 1.0))
    design = _standardised(raw, scaling)
    if response.numeric:
        scores = normal_scores(response.values[:, None])[:, 0]
        root = np.sqrt(exponential)
        coefficients = np.asarray(
            np.linalg.lstsq(design * root[:, None], scores * root, rcond=None)[0], dtype=np.float64
        )
        residual = scores - design @ coefficients
        spread = float(np.sqrt(np.average(residual**2, weights=exponential)))
        return NormalRegression(np.sort(response.values), coefficients, spread, scaling)
    if len(np.unique(response.values)) == 1:
        return fit_marginal(response, exponential, smooth=False)
    linear = need("sklearn.linear_model", extra="synthesis", purpose="parametric synthesis")
    with warnings.catch_warnings():
        # Not fully converged coefficients still give proper probabilities; nothing else is warned about here.
        warnings.simplefilter("ignore")
        model = linear.LogisticRegression(max_iter=200).fit(design, response.values, sample_weight=exponential)
    return LogisticRegression(model, scaling)


def linear_design(predictors: Sequence[Column]) -> Floats:
    """Constant, numbers (missing at 0 with an indicator), and an indicator for each code but the first."""
    n = len(predictors[0].values)
    columns: list[Floats] = [np.ones(n)]
    for predictor in predictors:
        if predictor.numeric:
            columns.append(np.where(np.isnan(predictor.values), 0.0, predictor.values))
            columns.append(np.isnan(predictor.values).astype(np.float64))
        else:
            columns += [(predictor.values == code).astype(np.float64) for code in range(1, predictor.n_codes)]
            columns.append((predictor.values < 0).astype(np.float64))
    return np.column_stack(columns)


def _standardised(design: Floats, scaling: tuple[Floats, Floats]) -> Floats:
    centered: Floats = (design - scaling[0]) / scaling[1]
    centered[:, 0] = 1.0
    return centered
