# SPDX-License-Identifier: Apache-2.0
"""How much more often a synthetic file shows a record that was used than one that was not, worked out before anything is drawn.

Models know the chance that a draw equals a record, and what it would be had they been fitted without it. Of `draws` draws, a
record that was used is met with 1 − (1 − own)^draws; one like it that was held back, with the chance without it.
"""

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from reticent.base.arrays import Floats

LIMIT = 0.02
"""How much more often records that were used may be met, beside what twenty files of the same size cannot tell from it."""
FILES = 20


class Chances(Protocol):
    """What models of one variable say of each record (see `synthesis.Fitted`)."""

    @property
    def own(self) -> Floats:
        """The chance of its own value."""
        ...

    @property
    def without(self) -> Floats:
        """The same without the record."""
        ...

    @property
    def margin(self) -> Floats:
        """The part of the latter in the former as far as the distribution of all records makes it."""
        ...

    @property
    def seen(self) -> Floats:
        """The probability that the value would be drawn at all without the record."""
        ...


def expected_rates(models: Sequence[Chances], *, draws: int) -> tuple[float, float]:
    """How often records are met that were used, and that were held back."""
    used, held_back = _met(models, draws)
    return float(used.mean()), float(held_back.mean())


def _met(models: Sequence[Chances], draws: int) -> tuple[Floats, Floats]:
    """The probability that each record is met, and what it would be had the record been held back."""
    columns = ([one.own for one in models], [one.without for one in models], [one.seen for one in models])
    chance, less, seen = (np.prod(np.array(column), axis=0) for column in columns)
    used, held_back = (-np.expm1(draws * np.log1p(-np.clip(one, 0.0, 1.0 - 1e-12))) for one in (chance, less))
    return used, held_back * seen


def to_smooth(models: Sequence[Chances], *, draws: int) -> list[tuple[bool, bool, bool]]:
    """Of each variable: whether its margin or its relations are to be smoothed more, or more of its rare codes hidden.

    Those are that make most of the difference.
    """
    used, held_back = _met(models, draws)
    weight = np.maximum(used - held_back, 0.0)
    parts = []
    for one in models:
        ratio = np.divide(one.without, one.own, out=np.ones(len(weight)), where=one.own > 0)
        total, margin, seen = (-np.log(np.maximum(part, 1e-3)) for part in (ratio, one.margin, one.seen))
        margin = np.minimum(margin, total)
        parts.append((float(weight @ margin), float(weight @ (total - margin)), float(weight @ seen)))
    least = float(np.mean(parts))
    return [(margin >= least, relation >= least, seen >= least) for margin, relation, seen in parts]


def allowed_excess(used: float, held_back: float, records: int) -> float:
    """The limit, and one standard error of the mean excess of twenty files: no more than these could tell."""
    return LIMIT + math.sqrt((used * (1 - used) + held_back * (1 - held_back)) / (FILES * records))
