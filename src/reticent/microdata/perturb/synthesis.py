# SPDX-License-Identifier: Apache-2.0
"""Models that draw one variable given others: trees with smoothed leaves, and parametric regressions.

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

from reticent.base.arrays import Floats, Ints
from reticent.base.optional import need
from reticent.microdata.perturb.additive import normal_scores
from reticent.microdata.perturb.columns import Column, Design, fit_design
from reticent.microdata.perturb.leaves import Atoms, Cell, code_atoms, number_atoms

SPLIT_GAIN = 3.0
"""A split lowers the impurity by this many times the share of one record: less is noise, which only copies records."""


class Model(Protocol):
    """Draws a value for each record of synthetic predictors."""

    def draw(self, predictors: Sequence[Column], uniform: Floats) -> NDArray[Any]: ...


@dataclass(frozen=True)
class Source:
    """What a model is fitted to: the response, the bootstrap's exponentials, the respondent of each value, and k."""

    response: Column
    exponential: Floats
    who: Ints
    k: int

    def take(self, rows: NDArray[Any]) -> "Source":
        """Some records."""
        return Source(self.response.take(rows), self.exponential[rows], self.who[rows], self.k)

    def atoms(self, cells: Sequence[Cell]) -> Atoms:
        """What is drawn in each cell."""
        if self.response.numeric:
            return number_atoms(self.response.values, cells, self.exponential, self.who, self.k)
        return code_atoms(self.response.values, cells, self.exponential, self.who, self.k)


@dataclass(frozen=True)
class Marginal:
    """Draws without predictors."""

    atoms: Atoms

    def draw(self, predictors: Sequence[Column], uniform: Floats) -> NDArray[Any]:
        """A draw from all records."""
        return self.atoms.draw(np.zeros(len(uniform), dtype=np.int64), uniform)


@dataclass(frozen=True)
class Tree:
    """A classification or regression tree; a record gets a draw from its leaf."""

    tree: Any
    scores: tuple[Floats | None, ...]
    leaf_number: Ints
    atoms: Atoms

    def draw(self, predictors: Sequence[Column], uniform: Floats) -> NDArray[Any]:
        """A draw from the leaf of each record."""
        leaf = self.leaf_number[self.tree.apply(tree_design(predictors, self.scores))]
        return self.atoms.draw(leaf, uniform)


def fit_marginal(source: Source) -> Marginal:
    """Draws from all records together."""
    return Marginal(source.atoms([(np.arange(len(source.who)),)]))


def fit_tree(source: Source, predictors: Sequence[Column], *, minimum_leaf: int, state: int) -> Tree:
    """Grow a tree until leaves have `minimum_leaf` records; nominal predictors are ordered by the response."""
    trees = need("sklearn.tree", extra="synthesis", purpose="synthesis by trees")
    response = _on_one_scale(source.response)
    scores = tuple(_code_scores(one, response, source.who, minimum_leaf) for one in predictors)
    design = tree_design(predictors, scores)
    kind = trees.DecisionTreeRegressor if response.numeric else trees.DecisionTreeClassifier
    least = SPLIT_GAIN * _impurity(response) / len(response.values)
    tree = kind(min_samples_leaf=minimum_leaf, min_impurity_decrease=least, random_state=state)
    tree.fit(design, response.values)
    inside = tree.decision_path(design).tocsc()
    numbers = np.full(int(tree.tree_.node_count), -1, dtype=np.int64)
    above = np.full_like(numbers, -1)
    for side in (tree.tree_.children_left, tree.tree_.children_right):
        above[side[side >= 0]] = np.flatnonzero(side >= 0)
    cells: list[Cell] = []
    for leaf in np.unique(tree.apply(design)).tolist():
        numbers[leaf] = len(cells)
        cells.append(_upwards(inside, above, leaf))
    return Tree(tree, scores, numbers, source.atoms(cells))


def _on_one_scale(response: Column) -> Column:
    """What splits are judged by: numbers as normal scores, because a few large ones would be all the variance there is."""
    return Column(normal_scores(response.values[:, None])[:, 0]) if response.numeric else response


def _impurity(response: Column) -> float:
    """What a tree measures before its first split: the variance of numbers, the Gini index of codes."""
    if response.numeric:
        return float(np.var(response.values))
    shares = np.bincount(response.values.astype(np.int64)) / len(response.values)
    return float(1.0 - (shares**2).sum())


def _upwards(inside: Any, above: Ints, leaf: int) -> Cell:
    """The records of a leaf, of the node above it, and so on up to the root."""
    cell: list[Ints] = []
    node = leaf
    while node >= 0:
        cell.append(np.sort(inside.indices[inside.indptr[node] : inside.indptr[node + 1]]).astype(np.int64))
        node = int(above[node])
    return cell


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


def _code_scores(predictor: Column, response: Column, who: Ints, fewest: int) -> Floats | None:
    """A number for each nominal code: the mean response, or the first axis of its table with the response's codes.

    Ordered by these, splits of a tree are the best two-way splits of the codes (Breiman et al. 1984 for two classes).
    The last entry is for missing ones. Codes of fewer respondents than `fewest` have one score: by its own, a code that one
    person has would go where that person's response is.
    """
    if predictor.numeric or predictor.ordered or predictor.n_codes <= 2:
        return None
    common = predictor.common(who, fewest)
    size = predictor.n_codes + 1
    place = np.full(size, len(common))
    place[list(common)] = np.arange(len(common))
    code = place[predictor.values.astype(np.int64)]
    if response.numeric:
        count = np.bincount(code, minlength=size)
        total = np.bincount(code, weights=response.values, minlength=size)
        mean = float(response.values.mean())
        return np.asarray(np.where(count > 0, total / np.maximum(count, 1), mean)[place])
    table = np.zeros((len(common) + 1, response.n_codes))
    np.add.at(table, (code, response.values.astype(np.int64)), 1.0)
    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    expected = rows @ columns / max(1.0, table.sum())
    residual = np.divide(table - expected, np.sqrt(expected), out=np.zeros_like(table), where=expected > 0)
    axis = np.linalg.svd(residual, full_matrices=False)[0][:, 0]
    # The sign of an axis is arbitrary; fix it, so that the same data give the same tree.
    axis = axis * (1.0 if axis[np.argmax(np.abs(axis))] >= 0 else -1.0)
    scores: Floats = np.divide(axis, np.sqrt(rows.ravel()), out=np.zeros(len(rows)), where=rows.ravel() > 0)
    return np.asarray(scores[place])


@dataclass(frozen=True)
class NormalRegression:
    """A linear regression of normal scores; draws are read back through the smoothed distribution of all records."""

    atoms: Atoms
    coefficients: Floats
    deviation: float
    design: Design

    def draw(self, predictors: Sequence[Column], uniform: Floats) -> NDArray[Any]:
        """A draw of the score of each record, as a value."""
        mean = self.design.of(predictors) @ self.coefficients
        noise = special.ndtri(np.clip(uniform, 1e-16, 1.0 - 1e-16))
        share = np.minimum(special.ndtr(mean + self.deviation * noise), np.nextafter(1.0, 0.0))
        return self.atoms.draw(np.zeros(len(share), dtype=np.int64), share)


@dataclass(frozen=True)
class LogisticRegression:
    """A multinomial logistic regression of the codes."""

    model: Any
    design: Design

    def draw(self, predictors: Sequence[Column], uniform: Floats) -> NDArray[Any]:
        """A code drawn from each record's probabilities."""
        shares = self.model.predict_proba(self.design.of(predictors))
        place = (np.cumsum(shares, axis=1) <= uniform[:, None]).sum(axis=1).clip(0, shares.shape[1] - 1)
        return np.asarray(self.model.classes_[place])


def fit_regression(source: Source, predictors: Sequence[Column], *, minimum_leaf: int) -> Model:
    """A parametric model; exponential weights (the Bayesian bootstrap) make its parameters a posterior draw.

    It leans on single records as little as a tree does: no column of its design stands for fewer than `minimum_leaf` of them,
    and coefficients are drawn to 0 by the weight of as many.
    """
    response, exponential = source.response, source.exponential
    if not response.numeric and len(np.unique(response.values)) == 1:
        return fit_marginal(source)
    design = fit_design(predictors, source.who, fewest=minimum_leaf)
    columns = design.of(predictors)
    if response.numeric:
        scores = normal_scores(response.values[:, None])[:, 0]
        coefficients = _ridge(columns, scores, exponential, float(minimum_leaf))
        residual = scores - columns @ coefficients
        spread = float(np.sqrt(np.average(residual**2, weights=exponential)))
        even = Source(response, np.ones(len(exponential)), source.who, source.k)
        return NormalRegression(fit_marginal(even).atoms, coefficients, spread, design)
    linear = need("sklearn.linear_model", extra="synthesis", purpose="parametric synthesis")
    with warnings.catch_warnings():
        # Not fully converged coefficients still give proper probabilities; nothing else is warned about here.
        warnings.simplefilter("ignore")
        regression = linear.LogisticRegression(max_iter=200, C=1.0 / minimum_leaf)
        model = regression.fit(columns, response.values, sample_weight=exponential)
    return LogisticRegression(model, design)


def _ridge(columns: Floats, scores: Floats, weights: Floats, penalty: float) -> Floats:
    """Weighted least squares whose coefficients, all except that of the constant, are drawn to 0."""
    root = np.sqrt(weights)
    pull = np.sqrt(penalty) * np.eye(columns.shape[1])[1:]
    both = np.vstack((columns * root[:, None], pull))
    wanted = np.append(scores * root, np.zeros(len(pull)))
    return np.asarray(np.linalg.lstsq(both, wanted, rcond=None)[0], dtype=np.float64)
