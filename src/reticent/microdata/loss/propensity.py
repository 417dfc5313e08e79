# SPDX-License-Identifier: Apache-2.0
"""Propensity measures: how well a model tells masked records from original ones. Indistinguishable = nothing lost."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.base.optional import need
from reticent.base.randomness import Secret
from reticent.microdata.loss.models import logistic


@dataclass(frozen=True)
class Propensity:
    """pMSE, what to expect if masking only redrew the records, their ratio, the KS distance of the scores, PO50."""

    pmse: float
    expected: float
    ratio: float
    specks: float
    po50: float


def pmse(scores: Floats, masked: NDArray[np.bool_]) -> float:
    """Σ (p_i − c)² / N, c the share of masked records (Woo et al. 2009)."""
    return float(np.mean((scores - masked.mean()) ** 2))


def specks(scores: Floats, masked: NDArray[np.bool_]) -> float:
    """Largest distance of the two distribution functions of the scores (Bowen et al. 2021)."""
    order = np.argsort(scores, kind="stable")
    inside = masked[order]
    above = np.cumsum(inside) / max(int(inside.sum()), 1)
    below = np.cumsum(~inside) / max(int((~inside).sum()), 1)
    last = np.append(np.diff(scores[order]) > 0, True)
    return float(np.max(np.abs(above - below)[last]))


def po50(scores: Floats, masked: NDArray[np.bool_]) -> float:
    """Percent correctly classified above half (synthpop PO50); scores of exactly c count half."""
    c = masked.mean()
    right = np.where(scores == c, 0.5, (scores > c) == masked)
    return float(100 * right.mean() - 50)


def logistic_propensity(x: Floats, y: Floats) -> Propensity:
    """By logistic regression; E[pMSE] = (k − 1)(1 − c)² c / N with k coefficients (Snoke et al. 2018).

    That expectation holds the original fixed and redraws the masked file from the right model. Two independent samples
    of one source have both parts of the variance: their ratio is 1/(1 − c) on average, 2 for files of equal length.
    """
    design = np.concatenate((x, y))
    masked = np.arange(len(design)) >= len(x)
    keep = np.ptp(design, axis=0) > 0
    if not keep.any():
        return Propensity(0.0, 0.0, 0.0, 0.0, 0.0)
    fit, scores = logistic(design[:, keep], masked.astype(float))
    if fit.rank == 1:  # what differs is below the precision of the fit
        return Propensity(0.0, 0.0, 0.0, 0.0, 0.0)
    c = masked.mean()
    expected = float((fit.rank - 1) * (1 - c) ** 2 * c / len(design))
    value = pmse(scores, masked)
    # Equal files leave the scores at c up to rounding, which would otherwise be ranked.
    flat = float(np.abs(scores - c).max()) < 1e-9
    scores = np.full_like(scores, c) if flat else scores
    return Propensity(
        0.0 if flat else value,
        expected,
        0.0 if flat else value / expected,
        specks(scores, masked),
        po50(scores, masked),
    )


def tree_propensity(x: Floats, y: Floats, *, secret: Secret, permutations: int = 10) -> Propensity:
    """By a classification tree (needs scikit-learn); the expectation is the mean over random exchanges of the files."""
    tree = need("sklearn.tree", extra="synthesis", purpose="the tree propensity measure")
    design = np.concatenate((x, y))
    masked = np.arange(len(design)) >= len(x)
    smallest = max(int(0.01 * len(design)), 5)

    def scores_of(flags: NDArray[np.bool_]) -> Floats:
        model = tree.DecisionTreeClassifier(min_samples_leaf=smallest, random_state=0)
        return np.asarray(model.fit(design, flags).predict_proba(design)[:, 1])

    rng = secret.stream("propensity")
    scores = scores_of(masked)
    null = [pmse(scores_of(rng.permutation(masked)), masked) for _ in range(permutations)]
    expected = float(np.mean(null)) if null else 0.0
    value = pmse(scores, masked)
    ratio = value / expected if expected > 0 else 0.0
    return Propensity(value, expected, ratio, specks(scores, masked), po50(scores, masked))
