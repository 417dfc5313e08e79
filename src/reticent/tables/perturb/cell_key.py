# SPDX-License-Identifier: Apache-2.0
"""Cell-key perturbation of counts and magnitudes: noise that depends on the set of records and nothing else.

The same set of records has the same cell key, hence the same noise, wherever it is published: repeating a table does not
average the noise out. Totals are perturbed like any other cell, so published values do not add up.
Sources: Fraser and Wooton (2005); Thompson, Broadfoot and Elazar (2013); the magnitude scheme of tau-ARGUS (Giessing 2016).
"""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import DataError, ParameterError
from reticent.data.parameters import Examples, Parameters
from reticent.tables.perturb.ptable import PerturbationTable
from reticent.tables.perturb.record_keys import turned

OWNER = "cell keys"


@dataclass(frozen=True, eq=False)
class KeyedValues:
    """Perturbed values, and within which distance of them the true ones are known to lie by anybody with the rules."""

    values: Floats = field(repr=False)
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)


def perturb_counts(
    counts: Ints,
    keys: Floats,
    table: PerturbationTable,
    *,
    zeros: bool = False,
    weights: Floats | None = None,
    spread: Floats | None = None,
) -> KeyedValues:
    """Counts plus the change that the table has for each count and cell key.

    A count of 0 stays 0 unless `zeros` (then row 0 of the table decides). With `weights` (the weighted counts) the
    result is the perturbed count times the mean weight of the cell, as in tau-ARGUS. Few weighted counts and numbers of
    respondents have such a quotient; `spread`, a uniform number in [0, 1) for each cell, moves perturbed counts above 0 by up to
    half a respondent, so that its digits reveal nothing.
    """
    table = table.for_counts()
    if bool((counts < 0).any()):
        raise DataError(f"{OWNER}: counts must not be negative.")
    _check_keys(counts, keys)
    published, low, high = table.perturbed(counts, keys, zeros=zeros)
    if weights is None:
        return KeyedValues(published, low, high)
    mean = np.divide(weights, counts, out=np.ones(len(counts)), where=counts > 0)
    if spread is not None:
        published = published + np.where(published > 0, spread - 0.5, 0.0)
    return KeyedValues(published * mean, low * mean, high * mean)


@dataclass(frozen=True)
class MagnitudeNoise(Parameters):
    """How large the noise of a magnitude is, as in tau-ARGUS.

    The noise of a cell is a multiple of `magnifier`: its `contributions` largest contributions, their mean, their range
    (at least the largest of them) or the value itself. The multiple is `small` (σ1); with scaling flex it falls from
    there, beginning at the size `turning` (z_f), towards `large` (σ0) with the power `power`. Further contributions count
    by `shares` (ε2, ε3, …). `parity` takes other rows for even and odd numbers of respondents. `separation` treats values
    below a point that follows from the second table by that table and without scaling. Unsafe cells move by at least
    `extra` (μ_c).
    """

    called: ClassVar[str] = OWNER
    examples: ClassVar[Examples] = ({}, {"contributions": 20, "shares": [0.5] * 19})
    magnifier: Literal["top", "mean", "range", "sum"] = "top"
    contributions: int = field(default=1, metadata={"min": 1, "max": 20})
    scaling: Literal["flex", "simple"] = "simple"
    small: float = field(default=0.1, metadata={"above": 0, "help": "σ1, the multiple for small contributions"})
    large: float = field(default=0.05, metadata={"min": 0, "help": "σ0, the multiple for the largest contributions"})
    turning: float = field(default=1000.0, metadata={"min": 0, "help": "z_f, where the multiple begins to fall"})
    power: float = field(default=3.0, metadata={"min": 1, "help": "q, how fast it falls"})
    shares: tuple[float, ...] = field(default=(), metadata={"min": 0, "max": 1})
    parity: bool = False
    separation: bool = False
    extra: float = field(default=0.0, metadata={"min": 0, "help": "μ_c, least noise of unsafe cells"})
    include_zeros: bool = field(default=False, metadata={"help": "records with 0 take part in the cell key"})
    same_key: bool = field(default=False, metadata={"help": "the largest contribution takes the cell key unturned"})

    def __post_init__(self) -> None:
        if self.scaling == "flex" and not (self.large > 0 and self.turning > 0):
            raise ParameterError("for scaling flex, large and turning must be above 0.")
        if self.magnifier != "top" and self.contributions != 1:
            raise ParameterError(
                f"contributions other than 1 need magnifier top, not {self.magnifier!r}.", option="contributions"
            )
        if len(self.shares) != self.contributions - 1:
            raise ParameterError(
                f"shares must be {self.contributions - 1} numbers from 0 to 1, one for each contribution after "
                f"the largest; got {len(self.shares)}.",
                option="shares",
            )

    def multiple(self, sizes: Floats) -> Floats:
        """m(z): σ1 for small contributions, from z_f on falling to σ0 with scaling flex."""
        if self.scaling == "simple":
            return np.full(len(sizes), self.small)
        ends, turn = self.large, self.turning
        reach = np.maximum(sizes, turn)
        bent = ends * (
            1 + (self.small * reach - ends * turn) / (ends * turn) * (2 * turn / (reach + turn)) ** self.power
        )
        return np.where(sizes < turn, self.small, bent)

    def separation_point(self, table: PerturbationTable | None) -> float:
        """z_s: below it the second table serves."""
        if not self.separation:
            return 0.0
        if table is None:
            raise ParameterError(f"{OWNER}: separation needs a second p-table for small values.")
        spread = 1.0 + sum(share**2 for share in self.shares)
        return float(np.sqrt(table.rows[-1].variance) / (self.small * np.sqrt(spread)))


@dataclass(frozen=True, eq=False)
class MagnitudeCells:
    """What the noise of magnitudes looks at in each cell: values, |contributions| in falling order, numbers of them."""

    values: Floats
    contributions: Floats
    counts: Ints
    keys: Floats
    unsafe: NDArray[np.bool_]


def perturb_magnitudes(
    cells: MagnitudeCells,
    noise: MagnitudeNoise,
    tables: dict[str, PerturbationTable],
    *,
    small_table: PerturbationTable | None = None,
    digits: int = 8,
    spread: Floats | None = None,
) -> KeyedValues:
    """Magnitudes with noise in proportion to their largest contributions; 0 stays 0 and no value changes its sign.

    `tables` has the kind `all`, or `even` and `odd` with parity. The interval of the result is that of somebody who
    knows the noise rules and even how large the noise of each cell could be. A p-table has few changes, so that without
    `spread` few true values can be behind a published one. `spread`, a uniform number in [0, 1) for each cell, moves the
    first change by up to half the gap between changes, which makes the noise continuous.
    """
    _check_keys(cells.counts, cells.keys)
    point = noise.separation_point(small_table)
    value, reach = cells.values.copy(), np.zeros(len(cells.values))
    keys = cells.keys if noise.same_key else turned(cells.keys, digits)
    for rank in range(min(noise.contributions, cells.contributions.shape[1])):
        share = 1.0 if rank == 0 else noise.shares[rank - 1]
        size = cells.contributions[:, rank]
        big = size >= point if point > 0 else size > 0
        active = (value != 0) & (size > 0) & (rank < cells.counts) & (share > 0)
        if rank > 0:
            active &= big
        step = np.where(big, share * size * noise.multiple(size), 1.0)
        short = active & (np.abs(value) < step)
        step = np.where(short, np.abs(value), step)
        big = np.where(short, np.abs(value) / (noise.small * max(share, 1e-300)) >= point, big)
        if rank == 0:
            step = np.where(big, step, 1.0)
        else:
            active &= big
            keys = np.where(active, turned(keys, digits), keys)
        large = big if noise.separation else np.ones(len(big), dtype=bool)
        at = np.divide(np.abs(value), step, out=np.zeros(len(value)), where=active & (step > 0))
        change, most, gap = _looked_up(at, keys, cells.counts, large, tables, small_table, noise)
        if rank == 0 and spread is not None:
            width = gap * np.minimum(at, 1.0)
            change, most = change + width * (spread - 0.5), most + width / 2
        extra = np.where(cells.unsafe & (cells.contributions[:, 0] >= point), noise.extra, 0.0) if rank == 0 else 0.0
        moved = np.sign(value) * step * np.sign(change) * (np.abs(change) + extra)
        moved = np.where(change < 0, np.sign(value) * np.maximum(np.sign(value) * moved, -np.abs(value)), moved)
        value = np.where(active, value + moved, value)
        reach = reach + np.where(active, step * (most + extra), 0.0)
    low, high = value - reach, value + reach
    if not bool((cells.values < 0).any()):
        low = np.maximum(low, 0.0)
    return KeyedValues(value, low, high)


def _looked_up(
    at: Floats,
    keys: Floats,
    counts: Ints,
    large: NDArray[np.bool_],
    tables: dict[str, PerturbationTable],
    small_table: PerturbationTable | None,
    noise: MagnitudeNoise,
) -> tuple[Floats, Floats, Floats]:
    """The change of each cell by the table that serves it, the largest that table has, and the gap between its changes."""
    change, most, gap = np.zeros(len(at)), np.zeros(len(at)), np.zeros(len(at))
    kinds = {"even": counts % 2 == 0, "odd": counts % 2 == 1} if noise.parity else {"all": np.ones(len(at), dtype=bool)}
    for kind, mine in kinds.items():
        if kind not in tables:
            raise DataError(f"{OWNER}: the p-table has no rows of type {kind}, which parity = {noise.parity} needs.")
        use = mine & large
        change[use], most[use] = tables[kind].interpolated(at[use], keys[use]), tables[kind].largest
        gap[use] = tables[kind].gap
    if small_table is not None and not large.all():
        change[~large], most[~large] = small_table.interpolated(at[~large], keys[~large]), small_table.largest
        gap[~large] = small_table.gap
    return change, most, gap


def _check_keys(counts: Ints, keys: Floats) -> None:
    if len(keys) != len(counts) or bool(((keys < 0) | (keys >= 1)).any()):
        raise DataError(f"{OWNER}: there must be one key, at least 0 and below 1, for each of the {len(counts)} cells.")
