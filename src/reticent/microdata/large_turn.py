# SPDX-License-Identifier: Apache-2.0
"""Numbers of a sample in units and directions of their disturbance, for attackers of records that stay in an engine."""

from dataclasses import dataclass

import numpy as np

from reticent.base.arrays import Codes, Floats, Ints
from reticent.microdata.risk.linkage_attackers import turned

Side = tuple[Codes, Floats]
"""Codes and numbers of some records."""


@dataclass(frozen=True)
class Turn:
    """Numbers in other directions, each in its unit: `order` says which number comes first, `factor` what to solve for.

    Each direction needs only the numbers before it, so that a missing one spoils no more than the directions after it.
    """

    order: Ints
    factor: Floats
    unit: float = 1.0

    @classmethod
    def scaled(cls, spread: Floats) -> "Turn":
        """Each number by itself, in units of its spread."""
        return cls(np.arange(spread.size), np.diag(spread))

    @classmethod
    def whitening(cls, gap: Floats, *, unit: float = 1.0) -> "Turn":
        """Directions in which the disturbances `gap` do not go together, each in units of its disturbance."""
        order = np.argsort(np.isnan(gap).sum(axis=0), kind="stable")
        gap = gap[:, order]
        d = gap.shape[1]
        if not d:
            return cls.scaled(np.ones(0))
        error = above_zero(root_mean_square(gap))
        scaled = gap[np.isfinite(gap).all(axis=1)] / error
        spread = scaled.T @ scaled / max(len(scaled), 1) if len(scaled) > d else np.eye(d)
        floor = 1e-6 * max(float(np.linalg.eigvalsh(spread).max()), 1e-300) * np.eye(d)
        return cls(order, error[:, None] * np.linalg.cholesky(spread + floor), unit)

    def __call__(self, values: Floats) -> Floats:
        """The coordinates of some records."""
        return turned(values[:, self.order], self.factor) * self.unit


def root_mean_square(gap: Floats) -> Floats:
    """The disturbance of each number, 0 where nothing is known of it."""
    there = np.isfinite(gap)
    many = np.maximum(there.sum(axis=0), 1)
    return np.asarray(np.sqrt((np.where(there, gap, 0.0) ** 2).sum(axis=0) / many))


def above_zero(values: Floats) -> Floats:
    """The values, 1 where they are 0."""
    return np.where(values > 0, values, 1.0)
