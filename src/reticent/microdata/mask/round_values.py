# SPDX-License-Identifier: Apache-2.0
"""Rounding (plan name `round`): replace numbers by the nearest point of a rounding set, one variable or several at once."""

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.spatial import KDTree

from reticent.base.arrays import Floats
from reticent.base.errors import DataError, ParameterError
from reticent.base.progress import Progress
from reticent.data.draws import StepDraws, step_input
from reticent.data.method import Applied, Group, Method, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples
from reticent.data.schema import Schema
from reticent.microdata.perturb.binding import check_variables, units, with_all_numbers
from reticent.microdata.perturb.covariance import moments

HOW = ("nearest", "random", "down", "up")


@dataclass(frozen=True)
class RoundValues(Method):
    """Round numeric variables (weights too) to a set of points.

    The set is the multiples of `base`, or the listed `points` (each variable on its own), or the listed `vectors`
    (all variables together: the nearest vector in units of the standard deviations). `random` rounds up with the
    probability that keeps the expected value; beyond the ends of a list the end is taken.
    """

    name: ClassVar[str] = "round"
    group: ClassVar[Group] = Group.DETAIL
    examples: ClassVar[Examples] = (
        {"variables": ["income"], "base": 100},
        {"variables": ["income"], "base": 100, "how": "random"},
        {"variables": ["age"], "points": [0, 30, 60]},
    )
    coarsens: ClassVar[bool] = True
    variables: tuple[str, ...] = field(metadata={"names": "variables", "help": "numeric variables"})
    base: float | None = field(default=None, metadata={"above": 0, "help": "round to multiples of this"})
    points: tuple[float, ...] = field(default=(), metadata={"help": "rounding set of single values"})
    vectors: tuple[tuple[float, ...], ...] = field(default=(), metadata={"help": "rounding set of vectors"})
    how: str = field(default="nearest", metadata={"choices": HOW, "help": "which neighbour is taken"})

    def __post_init__(self) -> None:
        if sum((self.base is not None, bool(self.points), bool(self.vectors))) != 1:
            raise ParameterError("give exactly one of base, points and vectors.")
        if self.vectors and self.how != "nearest":
            raise ParameterError("vectors are rounded to the nearest only.", option="vectors")
        if any(len(vector) != len(self.variables) for vector in self.vectors):
            raise ParameterError("each vector must have one value for each of the variables.")

    def check(self, schema: Schema) -> None:
        """The variables are numeric."""
        check_variables(schema, self.variables, owner=self.name, numeric=True, weights=True)

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Round the data; random rounding is keyed by record."""
        self.check(data.schema)
        who = units(data, self.variables, owner=self.name)
        values = data.numbers(self.variables)[who.first]
        if self.vectors:
            rounded = nearest_vectors(values, np.array(self.vectors, dtype=np.float64))
        else:
            rounded = values.copy()
            for position, name in enumerate(self.variables):
                low, high = self.neighbours(values[:, position])
                chance = None
                if self.how == "random":
                    own = step_input(data, (name,), first=who.first, ids=who.ids)
                    chance = draws.of_records(own, scale=()).uniforms()
                rounded[:, position] = choose_neighbour(values[:, position], low, high, how=self.how, chance=chance)
        progress(1.0, self.name)
        for position, name in enumerate(self.variables):
            if name == data.schema.weight and not bool((rounded[:, position] > 0).all()):
                raise DataError(f"{self.name}: rounding would make weights 0; take a smaller base.", variables=(name,))
        result, changed = with_all_numbers(data, self.variables, rounded[who.of])
        return Applied(result, changed)

    def neighbours(self, column: Floats) -> tuple[Floats, Floats]:
        """The points of the set just below and above each value (equal where the value is in the set)."""
        if self.base is not None:
            # Multiples are compared as multiples, so that 0.3 counts as a multiple of 0.1.
            whole = np.rint(column / self.base)
            is_multiple = np.isclose(column, whole * self.base, rtol=1e-12, atol=0.0)
            low = np.where(is_multiple, whole, np.floor(column / self.base))
            return low * self.base, np.where(is_multiple, low, low + 1) * self.base
        points = np.unique(np.array(self.points, dtype=np.float64))
        above = np.searchsorted(points, column, side="left").clip(0, len(points) - 1)
        below = (np.searchsorted(points, column, side="right") - 1).clip(0, len(points) - 1)
        return points[below], points[above]

    def promises(self) -> tuple[Promise, ...]:
        """All values are in the rounding set."""
        return (Promise("all values are in the rounding set", partial(_outside, self)),)


def choose_neighbour(values: Floats, low: Floats, high: Floats, *, how: str, chance: Floats | None) -> Floats:
    """The lower or upper neighbour; NaN stays. `chance` are uniforms for random rounding."""
    gap = high - low
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(gap > 0, (values - low) / gap, 0.0)
    if chance is not None:
        up = chance < share
    else:
        up = np.full(values.shape, how == "up") if how in ("up", "down") else share >= 0.5
    return np.where(np.isnan(values), np.nan, np.where(up, high, low))


def nearest_vectors(values: Floats, vectors: Floats) -> Floats:
    """The nearest vector of the set, distances in standard deviations; records with a missing value stay."""
    complete = ~np.isnan(values).any(axis=1)
    rounded = values.copy()
    if complete.any():
        deviation = np.sqrt(np.diag(moments(values[complete]).covariance))
        scale = np.where(deviation > 0, deviation, 1.0)
        rounded[complete] = vectors[KDTree(vectors / scale).query(values[complete] / scale)[1]]
    return rounded


def _outside(method: RoundValues, before: Microdata, after: Microdata) -> int:
    values = after.numbers(method.variables)
    if method.vectors:
        allowed = set(method.vectors)
        return sum(1 for row in values[~np.isnan(values).any(axis=1)].tolist() if tuple(row) not in allowed)
    known = values[~np.isnan(values)]
    if method.base is not None:
        return int((~np.isclose(known, np.rint(known / method.base) * method.base, rtol=1e-9, atol=0.0)).sum())
    return int((~np.isin(known, np.array(method.points, dtype=np.float64))).sum())
