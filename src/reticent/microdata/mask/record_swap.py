# SPDX-License-Identifier: Apache-2.0
"""Record swapping (plan name `record-swap`): exchange the areas of whole households with the same profile."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints
from reticent.base.errors import DataError, ParameterError
from reticent.base.progress import Progress
from reticent.data.draws import StepDraws
from reticent.data.method import Applied, Group, Method, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples
from reticent.data.schema import Role, Schema
from reticent.microdata.mask.swap import exchange
from reticent.microdata.perturb.binding import (
    Units,
    check_variables,
    joint_excess,
    keyed_uniforms,
    single_records,
    whole_households,
)
from reticent.microdata.perturb.households import REASONS, HouseholdSwaps, areas_told, swap_households


@dataclass(frozen=True)
class RecordSwap(Method):
    """Exchange the areas of pairs of households that have the same profile and live in different areas.

    `areas` go from coarse to fine. A household is at risk at a level if the combination of `keys` of one of its
    members occurs fewer than `k` times in its area of that level; it is then exchanged with a household outside that
    area, if one with the same profile is left. Profiles are tried in their order. Then households are drawn, rare ones
    first, until `rate` percent are swapped. All other variables stay with the household, `carry_along` move with
    the area. Without a household id each record is a household.

    Not for the transparent attacker: whoever sees a household that is rare wherever it lives knows that it does not live where it
    is shown, and with two areas, where it lives (40 of 40 households of ten generated files). The facts say for how many
    households at risk the profile occurs in two areas only (`area_told`). Several releases: `docs/how-to/perturb-a-file.md`.
    """

    name: ClassVar[str] = "record-swap"
    group: ClassVar[Group] = Group.EXCHANGE
    examples: ClassVar[Examples] = ({"areas": ["region"], "profiles": [["weight"]], "keys": ["marital", "education"]},)
    areas: tuple[str, ...] = field(metadata={"names": "variables", "help": "geographic variables, coarse to fine"})
    profiles: tuple[tuple[str, ...], ...] = field(metadata={"help": "lists of variables partners must agree on"})
    keys: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "combination that makes a person at risk"}
    )
    k: int = field(default=3, metadata={"min": 1, "help": "at risk: fewer than k in the area"})
    rate: float = field(default=5.0, metadata={"min": 0.0, "max": 100.0, "help": "percent of households to swap"})
    carry_along: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "variables that move with the area"}
    )

    def __post_init__(self) -> None:
        if not self.profiles or not all(self.profiles):
            raise ParameterError("profiles must hold at least one list of variables.", option="profiles")
        moving = {*self.areas, *self.carry_along}
        if moving & {name for profile in self.profiles for name in profile}:
            raise ParameterError("a variable of a profile cannot move with the area.")

    def check(self, schema: Schema) -> None:
        """All variables are known; what moves is not part of the file's structure."""
        check_variables(schema, (*self.areas, *self.carry_along), owner=self.name)
        schema.require((*self.keys, *(name for profile in self.profiles for name in profile)), owner=self.name)

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Swap; draws are keyed by household."""
        self.check(data.schema)
        who = _households(data)
        names = dict.fromkeys((*self.areas, *self.carry_along, *(n for profile in self.profiles for n in profile)))
        _check_constant(data, who, tuple(names), owner=self.name)
        areas = np.column_stack([data.patterns(self.areas[: level + 1]).group for level in range(len(self.areas))])
        at_risk, rarest = self._risk(data, areas, who)
        profiles = np.column_stack([data.patterns(profile).group[who.first] for profile in self.profiles])
        progress(0.4, "risk by area")
        secret = draws.of_file(data, (*names, *self.keys))
        swaps = swap_households(
            areas[who.first],
            profiles,
            at_risk,
            keyed_uniforms(secret, self.name, who.ids),
            rarest,
            n_swapped=round(who.count * self.rate / 100.0),
        )
        progress(0.8, "swapping")
        partner = np.arange(who.count)
        partner[swaps.first], partner[swaps.second] = swaps.second, swaps.first
        masked, changed = exchange(data, (*self.areas, *self.carry_along), who.first[partner][who.of])
        told = areas_told(areas[who.first], profiles, swaps)
        return Applied(masked, changed, {**self._facts(swaps, who, at_risk), "area_told": told})

    def _risk(self, data: Microdata, areas: Ints, who: Units) -> tuple[NDArray[np.bool_], Ints]:
        """Which households are at risk at which level, and the smallest count of a member in the finest area."""
        at_risk = np.zeros((who.count, len(self.areas)), dtype=np.bool_)
        smallest = np.ones(who.count, dtype=np.int64)
        if self.keys:
            for level in range(len(self.areas)):
                counts = data.sample_counts((*self.areas[: level + 1], *self.keys))
                smallest = np.full(who.count, np.iinfo(np.int64).max)
                np.minimum.at(smallest, who.of, counts)
                at_risk[:, level] = smallest < self.k
        return at_risk, smallest

    def _facts(self, swaps: HouseholdSwaps, who: Units, at_risk: NDArray[np.bool_]) -> dict[str, Any]:
        """The audit: every swap by the position of the households' first records (from 1)."""
        audit = [
            {
                "record": first,
                "with": second,
                "level": self.areas[level],
                "profile": profile + 1,
                "reason": REASONS[why],
            }
            for first, second, level, profile, why in zip(
                (who.first[swaps.first] + 1).tolist(),
                (who.first[swaps.second] + 1).tolist(),
                swaps.level.tolist(),
                swaps.profile.tolist(),
                swaps.reason.tolist(),
                strict=True,
            )
        ]
        return {
            "households": who.count,
            "at_risk": int(at_risk.any(axis=1).sum()),
            "swapped": 2 * len(audit),
            "unmatched": (who.first[swaps.unmatched] + 1).tolist(),
            "swaps": audit,
        }

    def moves(self, schema: Schema) -> tuple[str, ...]:
        """What lies in an area moves with it."""
        return (*self.areas, *self.carry_along)

    def promises(self) -> tuple[Promise, ...]:
        """Households stay together, and the table of areas by common profile variables is unchanged."""
        shared = tuple(name for name in self.profiles[0] if all(name in profile for profile in self.profiles))
        return (
            Promise("a household is in one area", partial(_split_households, self.areas)),
            Promise("households by area and common profile are as before", partial(_table_moved, self.areas, shared)),
        )


def _households(data: Microdata) -> Units:
    household = data.household()
    return single_records(data) if household is None else whole_households(household, data.record_ids())


def _check_constant(data: Microdata, who: Units, names: tuple[str, ...], *, owner: str) -> None:
    for name in names:
        codes = data.encoded(name).codes
        if (codes != codes[who.first][who.of]).any():
            raise DataError(
                f"{owner}: {name} differs within households, so it can neither move with the area nor be part of a "
                f"profile. Use a variable that is the same for all members (role {Role.HOUSEHOLD_VARIABLE}).",
                variables=(name,),
            )


def _split_households(areas: tuple[str, ...], before: Microdata, after: Microdata) -> int:
    who = _households(before)
    return sum(int((c != c[who.first][who.of]).sum()) for c in (after.encoded(name).codes for name in areas))


def _table_moved(areas: tuple[str, ...], shared: tuple[str, ...], before: Microdata, after: Microdata) -> int:
    return joint_excess(before, after, (*areas, *shared), _households(before).first)
