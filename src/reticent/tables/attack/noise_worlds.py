# SPDX-License-Identifier: Apache-2.0
"""Small tables with noise: the probability of each true count, by weighing every true table that fits what is published."""

import math
from dataclasses import dataclass

import numpy as np

from reticent.base.arrays import Floats, Ints, Mask
from reticent.base.errors import DataError
from reticent.data.relations import Relations
from reticent.tables.attack.noise_intervals import contained
from reticent.tables.perturb.origins import Origins
from reticent.tables.perturb.summing import Summing, summing

MOST = 2_000_000
"""This many counts, over all tables that fit, are looked at."""


@dataclass(frozen=True, eq=False)
class Worlds:
    """All tables of true counts that relations and possible counts of single cells allow: a row each, with totals."""

    inner: Ints
    counts: Ints
    fits: Mask


def all_worlds(relations: Relations, origins: Origins, low: Floats, high: Floats, most: int = MOST) -> Worlds | None:
    """Enumerate the tables within the intervals; None where there are too many, or relations are not sums of parts."""
    if _too_many(relations, low, high, most):
        return None
    try:
        sums = summing(relations)
    except DataError:
        return None
    sets = [_possible(origins, low, high, cell) for cell in sums.inner.tolist()]
    n = math.prod(len(one) for one in sets)
    if not 0 < n * relations.n_cells <= most:
        return None
    inner = np.zeros((1, 0), dtype=np.int64)
    for one in sets:
        inner = np.column_stack([np.repeat(inner, len(one), axis=0), np.tile(one, len(inner))])
    counts = np.rint(inner @ sums.matrix.T.toarray()).astype(np.int64)
    inside = ((counts >= low) & (counts <= high)).all(axis=1)
    return Worlds(inner, counts, np.asarray(inside & _linked(sums, inner)))


def weighed_worlds(
    relations: Relations, origins: Origins, low: Floats, high: Floats, prior: Floats
) -> tuple[Floats, Floats] | None:
    """How probable the likeliest count of each cell is, and which that is; None where there are too many tables.

    Inner counts are independent with the prior. Cells with the same records have one noise where `alike` says so.
    """
    found = all_worlds(relations, origins, low, high)
    if found is None:
        return None
    inner, worlds = found.inner, found.counts
    weights = _weights(relations, origins, worlds, found.fits)
    weights *= prior[np.clip(inner, 0, len(prior) - 1)].prod(axis=1)
    total = float(weights.sum())
    if not total > 0:
        return None
    sure, likeliest = np.zeros(relations.n_cells), np.zeros(relations.n_cells)
    for cell in range(relations.n_cells):
        law = np.bincount(worlds[:, cell], weights=weights) / total
        likeliest[cell] = float(np.argmax(law))
        sure[cell] = float(law.max())
    return sure, likeliest


def _too_many(relations: Relations, low: Floats, high: Floats, most: int) -> bool:
    """Whether two counts of each open inner cell are too many tables already: large tables end here."""
    inner = np.ones(relations.n_cells, dtype=bool)
    inner[relations.cells[relations.coefs < 0]] = False
    return int((inner & (low < high)).sum()) > math.log2(most / max(relations.n_cells, 1))


def _possible(origins: Origins, low: Floats, high: Floats, cell: int) -> Ints:
    values = origins.base[cell] + np.flatnonzero(origins.patterns[origins.pattern[cell]])
    return np.asarray(values[(values >= low[cell]) & (values <= high[cell])])


def _linked(sums: Summing, inner: Ints) -> Mask:
    """Tables in which linked tables agree."""
    return np.asarray((np.abs(inner @ sums.links.T.toarray()) < 0.5).all(axis=1))


def _weights(relations: Relations, origins: Origins, worlds: Ints, fits: Mask) -> Floats:
    """How likely each true table is published so."""
    assert origins.weights is not None
    width = origins.patterns.shape[1]
    drawn = np.empty(worlds.shape)
    for cell in range(worlds.shape[1]):
        at = worlds[:, cell] - origins.base[cell]
        law = origins.weights[origins.pattern[cell]]
        drawn[:, cell] = np.where((at >= 0) & (at < width), law[np.clip(at, 0, width - 1)], 0.0)
    fits = fits & (drawn > 0).all(axis=1)
    if origins.alike is None:
        return np.asarray(np.where(fits, drawn.prod(axis=1), 0.0))
    once = drawn.copy()
    for total, part in contained(relations, origins).tolist():
        both = origins.alike[[total, part]]
        if (both < 0).any():
            continue
        same = worlds[:, total] == worlds[:, part]
        if both[0] != both[1]:
            fits &= ~same
        once[same, total] = 1.0  # the noise of these records is that of the part
    return np.asarray(np.where(fits, once.prod(axis=1), 0.0))
