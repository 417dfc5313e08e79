# SPDX-License-Identifier: Apache-2.0
"""The value of a response that most of a stratum have, and which responses reveal who has another one.

Hardly one of the few dropped records has another value, so that a near pair reveals more of it. An amount, a flag for it and its
code are one secret: what was answered about one of them is measured for all.
"""

import numpy as np

from reticent.base.arrays import Floats

MOST = 0.5
EXPLAINED = 0.25
"""Four pairs of a response that explains less than this of another reveal less of it than one pair of its own."""
SINGULAR = 1e-9


def allowed_share(values: Floats) -> float:
    """The share of the allowed pairs in a stratum: the variance of having the most common value, by ¼."""
    there = values[~np.isnan(values)]
    usual = float(np.unique(there, return_counts=True)[1].max(initial=0)) / max(len(there), 1)
    return 4 * usual * (1 - usual) if usual > MOST else 1.0


def reveals(told: Floats, values: Floats, share: float) -> bool:
    """Whether responses that are answered about some records, a column each, explain much of who has another value than most.

    Each by itself, and all of them by a line in them, their squares and their products: a total and its base by their
    difference, two answers by whether they agree. All allowed pairs of what explains no more than the share of them that is
    allowed for the value reveal no more of it. What fits by chance does not count (R² is adjusted).
    """
    there = ~(np.isnan(told).any(axis=1) | np.isnan(values))
    told, unusual = told[there], _unusual(values[there])
    if not len(unusual) or not bool(np.ptp(unusual)):
        return False
    much, own = max(EXPLAINED, share), _standard(told)
    others = np.column_stack([_unusual(column) for column in told.T])
    if float(_explained(np.column_stack((own, others)), unusual).max()) >= much:
        return True
    one, two = np.triu_indices(own.shape[1])
    design = _standard(np.column_stack((own, others, own[:, one] * own[:, two])))
    return _explained_together(design, unusual) >= much


def _unusual(values: Floats) -> Floats:
    """1 where there is another value than the most common one."""
    codes, own, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (own.reshape(-1) != int(counts.argmax())).astype(np.float64) if len(codes) else values


def _standard(columns: Floats) -> Floats:
    """Columns about their means, of a spread of 1 (0 where a column does not vary)."""
    scaled = columns / np.maximum(np.abs(columns).max(axis=0, initial=0), 1.0)
    apart = scaled - scaled.mean(axis=0)
    spread = apart.std(axis=0)
    return np.asarray(apart / np.where(spread > 0, spread, 1.0), dtype=np.float64)


def _explained(columns: Floats, unusual: Floats) -> Floats:
    """The squared correlation with each column; 0 where one does not vary."""
    a, b = _standard(columns), _standard(unusual[:, None])[:, 0]
    return np.asarray((a.T @ b / len(b)) ** 2, dtype=np.float64)


def _explained_together(design: Floats, unusual: Floats) -> float:
    """The adjusted R²; 1 where there are too few records to tell."""
    target = unusual - unusual.mean()
    squares, products = design.T @ design / len(target), design.T @ target / len(target)
    beta, _, rank, _ = np.linalg.lstsq(squares, products, rcond=SINGULAR)
    left = len(target) - 1 - int(rank)
    if left < 1:
        return 1.0
    spread = float(target @ target) / len(target)
    return 1.0 - (spread - float(beta @ products)) / left / (spread / (len(target) - 1))
