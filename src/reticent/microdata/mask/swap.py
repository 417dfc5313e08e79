# SPDX-License-Identifier: Apache-2.0
"""Swapping (plan name `swap`): exchange values between pairs of records, at random or records at risk first."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import ParameterError
from reticent.base.progress import Progress
from reticent.data.draws import StepDraws
from reticent.data.method import Applied, Group, Method, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples
from reticent.data.schema import Kind, Schema
from reticent.kernels.swaps import pair_up
from reticent.microdata.perturb.binding import check_variables, joint_excess, keyed_uniforms, recoded, strata_of, units
from reticent.microdata.perturb.binding import with_all_numbers as with_numbers

# Free candidates looked at before a record counts as without a partner.
REACH = 256


@dataclass(frozen=True)
class Swap(Method):
    """Exchange the values of `variables`, together, between pairs of records that agree on `within`.

    With `keys`, records whose combination of keys occurs at most `threshold` times are swapped first (targeted
    swapping), all of them even if they are more than `rate`; the rest is drawn at random. Partners always differ in
    what is swapped. Every marginal of the swapped variables, also jointly with `within`, is kept exactly (of households,
    where these are household variables).

    With `keys` not for the transparent attacker: a record that is seen to be rare was swapped, so its value is not the one
    shown, and of two values it is the other. The facts count the rare records with two values to exchange (`value_told`).
    Without `keys`, only half of the records, drawn, take part where one value has at least half of a group: else all others
    could be exchanged, and who shows a rare value would be known not to have it. There `rate` may not be reached.
    """

    name: ClassVar[str] = "swap"
    group: ClassVar[Group] = Group.EXCHANGE
    examples: ClassVar[Examples] = ({"variables": ["marital"], "within": ["sex"], "rate": 20},)
    variables: tuple[str, ...] = field(metadata={"names": "variables", "help": "exchanged together"})
    rate: float = field(default=5.0, metadata={"min": 0.0, "max": 100.0, "help": "percent of records to change"})
    within: tuple[str, ...] = field(default=(), metadata={"names": "variables", "help": "partners agree on these"})
    keys: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "records rare on these are swapped first"}
    )
    threshold: int = field(default=1, metadata={"min": 1, "help": "a record is rare at or below this count"})

    def __post_init__(self) -> None:
        if set(self.variables) & set(self.within):
            raise ParameterError("a variable cannot be swapped and kept within at the same time.")

    def check(self, schema: Schema) -> None:
        """All variables are known and may be exchanged."""
        check_variables(schema, self.variables, owner=self.name)
        schema.require((*self.within, *self.keys), owner=self.name)

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Swap; the order in which records look for partners is drawn by record."""
        self.check(data.schema)
        who = units(data, self.variables, owner=self.name)
        group = strata_of(data, self.within, first=who.first)
        secret = draws.of_file(data, (*self.variables, *self.within, *self.keys))
        lottery = keyed_uniforms(secret, "pool", who.ids)
        value = _joint_values(data, self.variables)[who.first]
        taking_part = self._taking_part(group, value, keyed_uniforms(secret, "part", who.ids))
        pool = np.lexsort((lottery, group))
        pool = pool[taking_part[pool]]
        bounds = np.searchsorted(group[pool], np.arange(int(group.max()) + 2))
        rare = self._rare(data, who.of, who.count)
        random = keyed_uniforms(secret, "targets", who.ids)
        targets = np.lexsort((random, ~rare))
        targets = targets[taking_part[targets]]
        limit = max(round(who.count * self.rate / 100.0), 2 * int(rare.sum()))
        partner = pair_up(targets, limit, pool, bounds, group, value, REACH)
        masked, changed = exchange(data, self.variables, who.first[partner][who.of])
        facts: dict[str, Any] = {
            "swapped": int((partner != np.arange(who.count)).sum()),
            "rare": int(rare.sum()),
            "rare_without_partner": int((rare & (partner == np.arange(who.count))).sum()),
            "value_told": _of_two_values(group, value, rare & (partner != np.arange(who.count))),
        }
        return Applied(masked, changed, facts)

    def _taking_part(self, group: Ints, value: Ints, chance: Floats) -> NDArray[np.bool_]:
        """All records (rare ones must be swapped); without keys half of them where one value has half of a group."""
        if self.keys:
            return np.ones(len(group), dtype=np.bool_)
        pairs, count = np.unique(np.column_stack((group, value)), axis=0, return_counts=True)
        most = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.int64)
        np.maximum.at(most, pairs[:, 0], count)
        return (2 * most < np.bincount(group))[group] | (chance < 0.5)

    def _rare(self, data: Microdata, of: Ints, count: int) -> NDArray[np.bool_]:
        rare = np.zeros(count, dtype=np.bool_)
        if self.keys:
            rare[of[data.sample_counts(self.keys) <= self.threshold]] = True
        return rare

    def moves(self, schema: Schema) -> tuple[str, ...]:
        """The variables go to the partner together."""
        return self.variables

    def promises(self) -> tuple[Promise, ...]:
        """The joint distribution of swapped variables and `within` is exactly as before."""
        return (Promise("marginals are kept exactly", partial(_joint_moved, self.variables, self.within)),)


def exchange(data: Microdata, names: tuple[str, ...], source: Ints) -> tuple[Microdata, dict[str, int]]:
    """Give each record the values that the record at position `source` has."""
    changed: dict[str, int] = {}
    masked = data
    for name in names:
        if data.schema[name].kind is Kind.NUMERIC:
            masked, count = with_numbers(masked, (name,), data.numbers((name,))[source])
        else:
            masked, count = recoded(masked, {name: data.codes((name,))[source, 0]})
        changed.update(count)
    return masked, changed


def _of_two_values(group: Ints, value: Ints, swapped: NDArray[np.bool_]) -> int:
    """Swapped records of groups that have two values only."""
    pairs = np.unique(np.column_stack((group, value)), axis=0)
    return int((np.bincount(pairs[:, 0])[group[swapped]] == 2).sum())


def _joint_values(data: Microdata, names: tuple[str, ...]) -> Ints:
    """A number for each distinct combination of values; numeric variables by value."""
    joint = np.zeros(data.n_records, dtype=np.int64)
    for name in names:
        numeric = data.schema[name].kind is Kind.NUMERIC
        column = data.numbers((name,))[:, 0] if numeric else data.codes((name,))[:, 0]
        levels, code = np.unique(column, return_inverse=True)
        joint = np.unique(joint * len(levels) + code, return_inverse=True)[1]
    return joint


def _joint_moved(variables: tuple[str, ...], within: tuple[str, ...], before: Microdata, after: Microdata) -> int:
    return joint_excess(before, after, (*variables, *within), units(before, variables, owner=Swap.name).first)
