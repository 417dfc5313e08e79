# SPDX-License-Identifier: Apache-2.0
"""Rank swapping (plan name `rank-swap`): exchange values between records of nearby rank (Moore 1996)."""

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints, taken
from reticent.base.errors import DataError
from reticent.base.progress import Progress
from reticent.data.draws import StepDraws
from reticent.data.method import Applied, Group, Method, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples
from reticent.data.schema import Kind, Schema
from reticent.kernels import draws as kernel
from reticent.kernels.swaps import STAY_DRAW, TIE_DRAW, rank_partners
from reticent.microdata.perturb.binding import (
    check_variables,
    differing,
    order_with_drawn_ties,
    recoded,
    slices,
    strata_of,
    units,
)
from reticent.microdata.perturb.binding import with_all_numbers as with_numbers

LEAST_RANKS = 3
"""Narrower windows are refused: within one rank all partners are known, within two every second one."""


@dataclass(frozen=True)
class RankSwap(Method):
    """Exchange each value with one whose rank is at most `window` percent of the records away.

    Every variable is swapped on its own; its marginal distribution (within strata, if given) is kept exactly. Ordinal
    variables are ranked by the order of their codes. Missing values stay where they are. In a group of an odd number three
    values go round. Window and ranks bound every value: the arithmetic attacker has an interval of twice the window, and where
    several variables are swapped, few records fit all their intervals (linkage tries that). The transparent attacker is sure
    of no partner, and of none with more than 0.54 (window of 3 ranks) or 0.3 (5 ranks). A smallest or largest value whose
    whole window has one other value stays where it is half of the time: who shows it would else be known to have the other.
    """

    name: ClassVar[str] = "rank-swap"
    group: ClassVar[Group] = Group.EXCHANGE
    examples: ClassVar[Examples] = (
        {"variables": ["income"]},
        {"variables": ["education"], "window": 20, "strata": ["sex"]},
    )
    variables: tuple[str, ...] = field(
        metadata={"names": "variables", "help": "numeric or ordinal variables, each swapped on its own"}
    )
    window: float = field(
        default=5.0, metadata={"min": 0.0, "max": 100.0, "help": "largest difference of ranks, percent of records"}
    )
    strata: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "swap within groups of these variables"}
    )

    def check(self, schema: Schema) -> None:
        """The variables have an order, the strata are known."""
        check_variables(schema, self.variables, owner=self.name)
        schema.require(self.strata, owner=self.name)
        for name in self.variables:
            if schema[name].kind is Kind.NOMINAL:
                raise DataError(
                    f"{self.name}: {name} is nominal and has no ranks; use swap or pram.", variables=(name,)
                )

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Swap; each partner is drawn by the lower-ranked record's own keyed draws."""
        self.check(data.schema)
        masked, changed, unswapped = data, {}, {}
        for number, name in enumerate(self.variables):
            who = units(data, (name,), owner=self.name)
            values = taken(_ranked_values(data, name), who.first)
            group = strata_of(data, self.strata, first=who.first)
            words = draws.of_file(data, (name, *self.strata)).words("partners")
            new, lonely = self._swap(values, group, who.ids, words)
            masked, changed[name] = _write(masked, name, taken(new, who.of))
            unswapped[name] = lonely
            progress((number + 1) / len(self.variables), name)
        return Applied(masked, changed, {"unswapped": unswapped})

    def _swap(
        self, values: Floats, group: NDArray[np.int64], ids: NDArray[np.uint64], words: tuple[int, int]
    ) -> tuple[Floats, int]:
        """The swapped values, and how many found no partner."""
        swapped, lonely = values.copy(), 0
        if self.window == 0:
            return swapped, lonely
        for rows in slices(group):
            missing = np.isnan(taken(values, rows))
            known = rows[~missing] if missing.any() else rows
            order = known[order_with_drawn_ties(taken(values, known), words, taken(ids, known), TIE_DRAW)]
            window = ranks_within(len(order), self.window)
            if (window < LEAST_RANKS and len(np.unique(values[known])) > 1) or len(known) == 1:
                raise DataError(
                    f"{self.name}: {self.window:g} percent of a group of {len(order)} values are fewer than {LEAST_RANKS} "
                    "ranks, so that partners could be identified. Use a wider window or fewer strata."
                )
            partner = rank_partners(np.uint64(words[0]), np.uint64(words[1]), ids[order], window)
            _let_ends_stay(partner, taken(values, order), window, words=words, ids=ids[order])
            swapped[order] = values[order[partner]]
            lonely += int((partner == np.arange(len(order))).sum())
        return swapped, lonely

    def promises(self) -> tuple[Promise, ...]:
        """Marginals are exact and no value moved farther than the window."""
        return (
            Promise("each variable has the same values as before in each stratum", partial(_marginals_moved, self)),
            Promise("no value moved by more ranks than the window", partial(_moved_too_far, self)),
        )


def _let_ends_stay(
    partner: Ints, ordered: Floats, window: int, *, words: tuple[int, int], ids: NDArray[np.uint64]
) -> None:
    """Half of the time, take a smallest or largest value out of its exchange if all values within its window are one other."""
    last = len(ordered) - 1
    for end, near in ((0, ordered[1 : window + 1]), (last, ordered[max(0, last - window) : last])):
        if not len(near) or near[0] != near[-1] or near[0] == ordered[end]:
            continue
        if kernel.uniforms(*words, ids[end : end + 1], STAY_DRAW)[0] < 0.5:
            partner[partner == end] = partner[end]  # of three that go round, the other two exchange theirs
            partner[end] = end


def ranks_within(count: int, percent: float) -> int:
    """The window in ranks: the whole part of `percent` percent of `count`."""
    return int(np.floor(count * percent / 100.0 + 1e-9))


def _ranked_values(data: Microdata, name: str) -> Floats:
    if data.schema[name].kind is Kind.NUMERIC:
        return data.numbers((name,))[:, 0]
    codes = data.codes((name,))[:, 0]
    return np.where(codes < 0, np.nan, codes.astype(np.float64))


def _write(data: Microdata, name: str, values: Floats) -> tuple[Microdata, int]:
    if data.schema[name].kind is Kind.NUMERIC:
        masked, changed = with_numbers(data, (name,), values[:, None])
    else:
        masked, changed = recoded(data, {name: np.where(np.isnan(values), -1, values).astype(np.int32)})
    return masked, changed[name]


def _strata_slices(method: RankSwap, data: Microdata, name: str) -> list[NDArray[np.int64]]:
    who = units(data, (name,), owner=method.name)
    return [who.first[rows] for rows in slices(strata_of(data, method.strata, first=who.first))]


def _marginals_moved(method: RankSwap, before: Microdata, after: Microdata) -> int:
    count = 0
    for name in method.variables:
        old, new = _ranked_values(before, name), _ranked_values(after, name)
        for rows in _strata_slices(method, before, name):
            count += differing(np.sort(old[rows]), np.sort(new[rows]))
    return count


def _moved_too_far(method: RankSwap, before: Microdata, after: Microdata) -> int:
    """Ties span a range of ranks; the distance between the ranges is what counts."""
    count = 0
    for name in method.variables:
        old, new = _ranked_values(before, name), _ranked_values(after, name)
        for rows in _strata_slices(method, before, name):
            known = rows[~np.isnan(old[rows])]
            ordered = np.sort(old[known])
            low_old, high_old = (np.searchsorted(ordered, old[known], side=s) for s in ("left", "right"))
            low_new, high_new = (np.searchsorted(ordered, new[known], side=s) for s in ("left", "right"))
            distance = np.maximum(low_new - (high_old - 1), low_old - (high_new - 1))
            count += int((distance > ranks_within(len(known), method.window)).sum())
    return count
