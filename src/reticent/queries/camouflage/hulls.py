"""Sets that hide the truth: all that answers ever depend on, and so all that any number of questions can reveal.

`CommonHull` is the hull of k ≥ 3 vectors; the truth is a secret uneven combination of them, never one of them. Deviations
cancel over groups, so that sums have narrow intervals. It is for attackers who know no value for certain.

`BlockHull` is for insiders. By counting dimensions no hull of few vectors can stand an attacker who knows some values, so
records are taken in blocks of t + 2, each with its own set: low or high for each record, with an even (or odd) number of
highs. Any t + 1 records of a block can still take all combinations, so knowing t values says nothing about another one.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import InfeasibleError
from reticent.base.randomness import Secret
from reticent.kernels.camouflage import choose_shapes
from reticent.kernels.draws import uniforms

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
OWNER = "camouflage"
SHAPES = 24
SMALLEST_SHARE = 0.5


@dataclass(frozen=True)
class Demand:
    """What must stay open for each record: every value of [lower, upper], and what everybody knows (floor, ceiling)."""

    values: Floats = field(repr=False)
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)
    floor: float = -np.inf
    ceiling: float = np.inf


@dataclass(frozen=True)
class CommonHull:
    """k vectors over the records; `shares` (secret) combine them to the truth."""

    vectors: Floats = field(repr=False)
    shares: Floats = field(repr=False)

    @property
    def lowest(self) -> Floats:
        """The least value of each record in the hull."""
        return np.asarray(self.vectors.min(axis=0))

    @property
    def highest(self) -> Floats:
        """The greatest value of each record in the hull."""
        return np.asarray(self.vectors.max(axis=0))

    def linear_range(self, rows: Integers, weights: Floats) -> tuple[float, float]:
        """The exact range of Σ w·a: a linear function is least and greatest at vertices."""
        sums = self.vectors[:, rows] @ weights
        return float(sums.min()), float(sums.max())


@dataclass(frozen=True)
class BlockHull:
    """Low and high of each record, its block (−1: on its own), and the parity of highs of each block."""

    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    block: Integers = field(repr=False)
    odd: NDArray[np.bool_] = field(repr=False)

    @property
    def lowest(self) -> Floats:
        """The least value of each record."""
        return self.low

    @property
    def highest(self) -> Floats:
        """The greatest value of each record."""
        return self.high

    def linear_range(self, rows: Integers, weights: Floats) -> tuple[float, float]:
        """The exact range of Σ w·a over the product of the blocks' sets."""
        weight = np.zeros(len(self.low))
        np.add.at(weight, rows, weights)
        greatest = _parity_best(self, weight)
        least = -_parity_best(self, -weight)
        return least, greatest


def _parity_best(hull: BlockHull, weight: Floats) -> float:
    """Take the better end of every record; a block of the wrong parity turns round its cheapest record."""
    take_high = weight > 0
    best = float(np.where(take_high, weight * hull.high, weight * hull.low).sum())
    inside = hull.block >= 0
    n_blocks = len(hull.odd)
    if not n_blocks:
        return best
    highs = np.bincount(hull.block[inside], weights=take_high[inside], minlength=n_blocks).astype(np.int64)
    price = np.full(n_blocks, np.inf)
    np.minimum.at(price, hull.block[inside], (np.abs(weight) * (hull.high - hull.low))[inside])
    wrong = (highs % 2 == 1) != hull.odd
    return best - float(price[wrong].sum())


def common_hull(demand: Demand, group: Integers, *, vectors: int, secret: Secret) -> CommonHull:
    """Build the hull: secret shares, random shapes with mean zero under them, one shape a record so that sums cancel."""
    rng = secret.stream("camouflage-shares")
    shares = rng.uniform(SMALLEST_SHARE, 1.5, vectors)
    shares /= shares.sum()
    shapes = _shapes(shares, rng)
    below, above = demand.values - demand.lower, demand.upper - demand.values
    tall, deep = shapes.max(axis=1), -shapes.min(axis=1)
    scale = np.maximum(above[:, None] / tall, below[:, None] / deep)
    room_up, room_down = demand.ceiling - demand.values, demand.values - demand.floor
    fits = (scale * tall <= room_up[:, None] + 1e-12) & (scale * deep <= room_down[:, None] + 1e-12)
    scale = np.where(fits, scale, np.inf)
    order = np.argsort(group, kind="stable")
    n_groups = int(group.max(initial=-1)) + 1
    chosen = np.empty(len(group), dtype=np.int64)
    chosen[order] = choose_shapes(group[order], scale[order], shapes, n_groups)
    _refuse_stuck(chosen < 0)
    deviation = shapes[chosen] * scale[np.arange(len(chosen)), chosen][:, None]
    return CommonHull(np.ascontiguousarray((demand.values[:, None] + deviation).T), shares)


def _shapes(shares: Floats, rng: np.random.Generator) -> Floats:
    """Random vectors with Σ share·shape = 0 and no small range; each stands with its negative, so that pairs cancel."""
    made: list[Floats] = []
    while len(made) < SHAPES:
        draw = rng.uniform(-1.0, 1.0, len(shares))
        draw -= shares @ draw
        tall, deep = draw.max(), -draw.min()
        if min(tall, deep) > 0.4 * max(tall, deep):
            made += [draw / max(tall, deep), -draw / max(tall, deep)]
    return np.array(made)


def block_hull(demand: Demand, group: Integers, *, insiders: int, secret: Secret, ids: NDArray[np.uint64]) -> BlockHull:
    """Build the blocks within groups; the place of the truth between low and high is drawn from [1/3, 2/3].

    In that range the truth lies in the hull of the even (or odd) corners: a point is outside only if it is nearer than 1
    to a corner of the wrong parity, and its distance from any corner is at least a third for each of three records.
    """
    word0, word1 = secret.words("camouflage-places")
    place = (1.0 + uniforms(word0, word1, ids, 0)) / 3.0
    below, above = demand.values - demand.lower, demand.upper - demand.values
    width = np.maximum(below / place, above / (1.0 - place))
    low, high = demand.values - place * width, demand.values + (1.0 - place) * width
    _refuse_stuck((low < demand.floor - 1e-12) | (high > demand.ceiling + 1e-12))
    size = insiders + 2
    mixing = uniforms(word0, word1, ids, 1)
    order = np.lexsort((mixing, group))
    start = np.searchsorted(group[order], group[order], side="left")
    within = np.arange(len(group)) - start
    members = np.bincount(group, minlength=int(group.max(initial=-1)) + 1)[group[order]]
    whole = within < members // size * size
    block = np.full(len(group), -1, dtype=np.int64)
    first = whole & (within % size == 0)
    block[order] = np.where(whole, np.cumsum(first) - 1, -1)
    odd = secret.stream("camouflage-parity").random(int(first.sum())) < 0.5
    return BlockHull(low, high, block, odd)


def _refuse_stuck(stuck: NDArray[np.bool_]) -> None:
    if bool(stuck.any()):
        raise InfeasibleError(
            f"{OWNER}: {int(stuck.sum())} records cannot be protected, because their interval reaches beyond what everybody "
            "knows of the variable; widen the policy's bounds or ask for less protection."
        )
