# SPDX-License-Identifier: Apache-2.0
"""Models that draw one variable given others: trees with smoothed leaves, and parametric regressions.

Numeric columns are floats with NaN for missing, categorical ones codes with −1. A model is fitted on observed columns
and then draws for synthetic ones from uniforms in [0, 1), one a record, so that everything random is keyed by record.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import special

from reticent.base.arrays import Floats, Ints
from reticent.base.optional import need
from reticent.kernels import draws
from reticent.microdata.perturb.additive import normal_scores
from reticent.microdata.perturb.columns import Column, Design, fit_design
from reticent.microdata.perturb.leaves import Atoms, Drawn, code_atoms, number_atoms
from reticent.microdata.perturb.shares import (
    STEPS,
    Cell,
    Coded,
    goal_of,
    pull_of,
    respondents_of,
    seen_without,
    shown,
    shown_only,
    smoothed_shares,
)

SPLIT_GAIN = 3.0
"""A split lowers the impurity by this many times the share of one record: less is noise, which only copies records."""

WEIGHED = 1.4
"""How much more a record moves the codes of a regression than its leverage says: its weight is drawn, and all codes move."""


class Model(Protocol):
    """Draws a value for each record of synthetic predictors."""

    def draw(self, predictors: Sequence[Column], uniform: Floats) -> NDArray[Any]: ...


@dataclass(frozen=True)
class Strength:
    """How much more than usual is smoothed of one variable: of its own distribution, and of what others explain.

    And how much more is hidden of codes that few respondents have.
    """

    margin: float = 1.0
    relation: float = 1.0
    hiding: float = 1.0

    def more(self, rises: tuple[bool, bool, bool], factor: float) -> "Strength":
        """Stronger where it rises."""
        now = (self.margin, self.relation, self.hiding)
        return Strength(*(x * factor if rise else x for x, rise in zip(now, rises, strict=True)))


@dataclass(frozen=True)
class Source:
    """What a model is fitted to: the response, the bootstrap's exponentials, the respondent of each value, and k.

    By the secret `words` it is decided of each code that few respondents have whether it is drawn; none is of fewer than `first`.
    """

    response: Column
    exponential: Floats
    who: Ints
    k: int
    words: tuple[int, int] | None = None
    strength: Strength = Strength()
    first: int = 2

    def take(self, rows: NDArray[Any]) -> "Source":
        """Some records."""
        return replace(self, response=self.response.take(rows), exponential=self.exponential[rows], who=self.who[rows])

    @property
    def records(self) -> Floats:
        """How many records the respondent of each record has."""
        number = np.unique(self.who, return_inverse=True)[1].ravel()
        return np.bincount(number)[number].astype(np.float64)

    @property
    def coded(self) -> Coded:
        """The codes of a response that has some."""
        who = np.unique(self.who, return_inverse=True)[1].ravel()
        codes = np.zeros(len(who), np.int64) if self.response.numeric else self.response.values.astype(np.int64)
        column, chance = self.response, None
        if self.words is not None:
            chance = draws.uniforms(*self.words, np.arange(column.n_codes, dtype=np.uint64))
        full = max(self.k, self.first + STEPS - 1) * self.strength.hiding
        made = Coded(codes, column.n_codes, who, self.exponential, self.k, self.first, full, column.public, chance)
        return replace(made, ordered=column.ordered, strength=self.strength.margin)

    def drawn(self, cells: Sequence[Cell]) -> Drawn:
        """What is drawn in each cell."""
        if self.response.numeric:
            return number_atoms(self.response.values, cells, self.coded, self.words)
        return code_atoms(self.coded, cells)


@dataclass(frozen=True)
class Fitted:
    """A model, and for each record that it was fitted to the chance of its own value, with the record and without it.

    `margin` is the part of the latter in the former as far as the distribution of all records makes it.
    """

    model: Model
    own: Floats
    without: Floats
    margin: Floats
    seen: Floats


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


def fit_marginal(source: Source) -> Fitted:
    """Draws from all records together."""
    drawn = source.drawn([(np.arange(len(source.who)),)])
    return Fitted(Marginal(drawn.atoms), drawn.own, drawn.without, drawn.margin, drawn.seen)


def fit_tree(source: Source, predictors: Sequence[Column], *, minimum_leaf: int, state: int) -> Fitted:
    """Grow a tree until leaves have `minimum_leaf` records; nominal predictors are ordered by the response."""
    trees = need("sklearn.tree", extra="synthesis", purpose="synthesis by trees")
    response = _on_one_scale(source.response)
    scores = tuple(_code_scores(one, response, source.who, minimum_leaf) for one in predictors)
    design = tree_design(predictors, scores)
    kind = trees.DecisionTreeRegressor if response.numeric else trees.DecisionTreeClassifier
    least = SPLIT_GAIN * _impurity(response) / len(response.values)
    tree = kind(
        min_samples_leaf=math.ceil(minimum_leaf * source.strength.relation),
        min_impurity_decrease=least,
        random_state=state,
    )
    tree.fit(design, response.values)
    inside = tree.decision_path(design).tocsc()
    numbers = np.full(int(tree.tree_.node_count), -1, dtype=np.int64)
    above = np.full_like(numbers, -1)
    for side in (tree.tree_.children_left, tree.tree_.children_right):
        above[side[side >= 0]] = np.flatnonzero(side >= 0)
    rows: dict[int, Ints] = {}
    cells: list[Cell] = []
    for leaf in np.unique(tree.apply(design)).tolist():
        numbers[leaf] = len(cells)
        cells.append(_upwards(inside, above, leaf, rows))
    drawn = source.drawn(cells)
    return Fitted(Tree(tree, scores, numbers, drawn.atoms), drawn.own, drawn.without, drawn.margin, drawn.seen)


def _on_one_scale(response: Column) -> Column:
    """What splits are judged by: numbers as normal scores, because a few large ones would be all the variance there is."""
    return Column(normal_scores(response.values[:, None])[:, 0]) if response.numeric else response


def _impurity(response: Column) -> float:
    """What a tree measures before its first split: the variance of numbers, the Gini index of codes."""
    if response.numeric:
        return float(np.var(response.values))
    shares = np.bincount(response.values.astype(np.int64)) / len(response.values)
    return float(1.0 - (shares**2).sum())


def _upwards(inside: Any, above: Ints, leaf: int, rows: dict[int, Ints]) -> Cell:
    """The records of a leaf, of the node above it, and so on up to the root; `rows` has those of nodes that were met before."""
    cell: list[Ints] = []
    node = leaf
    while node >= 0:
        if node not in rows:
            rows[node] = np.sort(inside.indices[inside.indptr[node] : inside.indptr[node + 1]]).astype(np.int64)
        cell.append(rows[node])
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
    """A multinomial logistic regression of the codes; codes of few respondents are drawn less often, or not at all."""

    model: Any
    design: Design
    everybody: Floats
    part: Floats

    def draw(self, predictors: Sequence[Column], uniform: Floats) -> NDArray[Any]:
        """A code drawn from each record's probabilities."""
        shares = self.shares(self.design.of(predictors))
        place = (np.cumsum(shares, axis=1) <= uniform[:, None]).sum(axis=1).clip(0, shares.shape[1] - 1)
        return np.asarray(self.model.classes_[place])

    def shares(self, columns: Floats) -> Floats:
        """The probability of each code for each record."""
        return shown_only(self.model.predict_proba(columns), self.everybody, self.part)


def fit_regression(source: Source, predictors: Sequence[Column], *, minimum_leaf: int) -> Fitted:
    """A parametric model; exponential weights (the Bayesian bootstrap) make its parameters a posterior draw.

    It leans on single records as little as a tree does: no column of its design stands for fewer than `minimum_leaf` of them,
    and coefficients are drawn to 0 by the weight of as many.
    """
    if not source.response.numeric and len(np.unique(source.response.values)) == 1:
        return fit_marginal(source)
    design = fit_design(predictors, source.who, fewest=minimum_leaf)
    columns = design.of(predictors)
    penalty = minimum_leaf * source.strength.relation
    if source.response.numeric:
        return _normal(source, design, columns, penalty)
    return _logistic(source, design, columns, penalty)


def _normal(source: Source, design: Design, columns: Floats, penalty: float) -> Fitted:
    """Linear regression of normal scores; what one record changes is its leverage, beside its part of the distribution."""
    scores = normal_scores(source.response.values[:, None])[:, 0]
    coefficients = _ridge(columns, scores, source.exponential, penalty)
    residual = scores - columns @ coefficients
    spread = float(np.sqrt(np.average(residual**2, weights=source.exponential)))
    even = fit_marginal(replace(source, exponential=np.ones(len(scores))))
    assert isinstance(even.model, Marginal)
    atoms, values = even.model.atoms, source.response.values
    ends = [special.ndtri(atoms.up_to(0, values + side * atoms.step / 2)) for side in (-1, 1)]
    low, high = (special.ndtr((end - columns @ coefficients) / max(spread, 1e-12)) for end in ends)
    own = high - low if atoms.step > 0 else np.zeros(len(values))
    lever = _leverage(columns, source.exponential, penalty) * source.exponential * source.records
    lever = np.minimum(lever, 0.9)
    farther = (residual / (1 - lever)) ** 2 - residual**2
    kept = np.divide(even.without, even.own, out=np.ones(len(own)), where=even.own > 0)
    without = own * kept * np.exp(-farther / max(2 * spread**2, 1e-12))
    return Fitted(NormalRegression(atoms, coefficients, spread, design), own, without, kept, np.ones(len(own)))


def _logistic(source: Source, design: Design, columns: Floats, penalty: float) -> Fitted:
    """Multinomial logistic regression; further records at the middle of the design draw its constants to smoothed shares."""
    linear = need("sklearn.linear_model", extra="synthesis", purpose="parametric synthesis")
    coded, goal = source.coded, goal_of(source.coded)
    people = respondents_of(coded.codes, coded.who, coded.size)
    part, seen = shown(people, coded), seen_without(people, coded)
    found = np.flatnonzero((people > 0) | ((goal > 0) & (part > 0)))
    part, goal = part[found], goal[found] / goal[found].sum()
    count = np.bincount(coded.codes, minlength=coded.size)[found] / len(columns)
    pull = min(pull_of(count, goal, len(np.unique(coded.who)), source.strength.margin), 0.99)
    further = goal * len(columns) * pull / (1 - pull)
    middle = np.zeros((len(found), columns.shape[1]))
    with warnings.catch_warnings():
        # Not fully converged coefficients still give proper probabilities; nothing else is warned about here.
        warnings.simplefilter("ignore")
        regression = linear.LogisticRegression(max_iter=200, C=1.0 / penalty)
        both, weights = np.append(coded.codes, found), np.append(source.exponential, further)
        model = regression.fit(np.vstack((columns, middle)), both, sample_weight=weights)
    made = LogisticRegression(model, design, (1 - pull) * count + pull * goal, part)
    place = np.searchsorted(found, coded.codes)
    plain, own = model.predict_proba(columns), made.shares(columns)[np.arange(len(columns)), place]
    without = np.zeros(len(own))
    for number in range(len(found)):
        rows = place == number
        share = plain[:, number]
        weight = share * (1 - share)
        constant = float(further.sum() * weight.mean())
        lever = _leverage(columns, source.exponential * weight, penalty, constant)[rows]
        lever *= source.exponential[rows] * source.records[rows]
        moved = lever * (1 - share[rows]) / np.maximum(1 - lever * weight[rows], 0.1)
        odds = np.exp(-WEIGHED * moved)
        ratio = odds / (1 - share[rows] + share[rows] * odds)
        without[rows] = own[rows] * ratio * (seen[found[number]] if coded.chance is None else 1.0)
    whole = smoothed_shares(coded, [(np.arange(len(own)),)])
    return Fitted(made, own, np.minimum(without, own * whole.margin), whole.margin, whole.seen)


def _leverage(columns: Floats, weight: Floats, penalty: float, constant: float = 0.0) -> Floats:
    """How far each record's own residual moves what is fitted to it."""
    pull = np.full(columns.shape[1], penalty)
    pull[0] = constant + 1e-9
    inner = (columns * weight[:, None]).T @ columns + np.diag(pull)
    return np.asarray(np.einsum("ij,ij->i", columns, np.linalg.solve(inner, columns.T).T))


def _ridge(columns: Floats, scores: Floats, weights: Floats, penalty: float) -> Floats:
    """Weighted least squares whose coefficients, all except that of the constant, are drawn to 0."""
    root = np.sqrt(weights)
    pull = np.sqrt(penalty) * np.eye(columns.shape[1])[1:]
    both = np.vstack((columns * root[:, None], pull))
    wanted = np.append(scores * root, np.zeros(len(pull)))
    return np.asarray(np.linalg.lstsq(both, wanted, rcond=None)[0], dtype=np.float64)
