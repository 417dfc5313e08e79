# SPDX-License-Identifier: Apache-2.0
"""Releasing a sample: records or whole households, simple or stratified, with weights that count for those left out."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints
from reticent.base.checks import check_unique
from reticent.base.errors import DataError
from reticent.base.progress import Progress
from reticent.data.draws import StepDraws
from reticent.data.method import Applied, Group, Method, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.perturb.binding import keyed_uniforms, single_records, whole_households


@dataclass(frozen=True)
class Sample(Method):
    """Keep a random share of the records, drawn without replacement.

    With `strata` the share is kept in every stratum (at least one unit each); with `households` whole households are
    drawn. The weight of a kept record is multiplied by units over drawn units of its stratum; a file without weights
    gets the variable `weight` if it is named. Draws are keyed by record, so the order of the file does not matter.
    """

    name: ClassVar[str] = "sample"
    group: ClassVar[Group] = Group.RECORDS
    examples: ClassVar[Examples] = ({"fraction": 0.5}, {"fraction": 0.5, "households": True})

    fraction: float = field(metadata={"above": 0, "max": 1, "help": "share of units to keep"})
    strata: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "variables that form the strata"}
    )
    households: bool = field(default=False, metadata={"help": "draw whole households"})
    weight: str | None = field(default=None, metadata={"help": "name of a new weight variable, if there is none"})

    def __post_init__(self) -> None:
        check_unique(self.strata, name="strata", owner="sample")

    def check(self, schema: Schema) -> None:
        """Strata exist; households need an id; a new weight must not stand beside an old one."""
        schema.require(self.strata, owner="sample")
        if self.households and schema.household_id is None:
            raise DataError("sample: households = true needs a variable with the role household-id; declare one.")
        if self.weight is not None and (schema.weight is not None or self.weight in schema):
            raise DataError(f"sample: the file already has a weight or a variable {self.weight!r}; leave weight out.")

    def schema_after(self, schema: Schema) -> Schema:
        """A named new weight joins the variables."""
        if self.weight is None:
            return schema
        new = Variable(self.weight, role=Role.WEIGHT, kind=Kind.NUMERIC)
        return Schema((*schema.variables, new))

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Draw, and give the kept records their new weights."""
        self.check(data.schema)
        unit, n_units, key = _units(data, by_household=self.households)
        stratum = _strata(data, self.strata, unit, n_units)
        draw = keyed_uniforms(draws.of_file(data, self.strata), "sample", key)
        chosen, factor = draw_units(draw, stratum, self.fraction)
        kept = np.flatnonzero(chosen[unit])
        raised = factor[stratum][unit][kept]
        result = data.rows(kept)
        if data.schema.weight is not None:
            old = data.weights()
            assert old is not None
            result = result.with_numbers(data.schema.weight, old[kept] * raised)
        elif self.weight is not None:
            frame = result.frame.with_numbers(self.weight, raised)
            result = replace(result, frame=frame, schema=self.schema_after(data.schema), _encoded={})
        facts = {"records_before": data.n_records, "records_after": int(kept.size), "strata": int(factor.size)}
        return Applied(result, {}, facts)

    def weighs_by(self, schema: Schema) -> tuple[str, ...]:
        """How many are drawn is rounded in each stratum, so that weights differ by stratum."""
        return self.strata

    def promises(self) -> tuple[Promise, ...]:
        """Households are whole or absent."""
        if not self.households:
            return ()

        def broken(before: Microdata, after: Microdata) -> int:
            household = before.household()
            if household is None:
                return 1
            kept = household[np.isin(before.record_ids(), after.record_ids())]
            size = np.bincount(household)
            left = np.bincount(kept, minlength=size.size)
            return int(np.count_nonzero((left > 0) & (left < size)))

        return (Promise("every household is whole or absent", broken),)


def draw_units(
    draw: NDArray[np.float64], stratum: Ints, fraction: float
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """The units with the smallest draws of each stratum, and the factor (all units over drawn ones) of each stratum."""
    sizes = np.bincount(stratum)
    wanted = np.where(sizes > 0, np.maximum(1, np.round(fraction * sizes)), 0).astype(np.int64)
    order = np.lexsort((draw, stratum))
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    rank = np.empty(draw.size, dtype=np.int64)
    rank[order] = np.arange(draw.size) - starts[stratum[order]]
    factor = np.divide(sizes, wanted, out=np.zeros(sizes.size), where=wanted > 0)
    return rank < wanted[stratum], factor


def _units(data: Microdata, *, by_household: bool) -> tuple[Ints, int, NDArray[np.uint64]]:
    """Unit of each record, number of units, and the key of each unit's draw (its smallest record id)."""
    household = data.household() if by_household else None
    who = single_records(data) if household is None else whole_households(household, data.record_ids())
    return who.of, who.count, who.ids


def _strata(data: Microdata, names: tuple[str, ...], unit: Ints, n_units: int) -> Ints:
    if not names:
        return np.zeros(n_units, dtype=np.int64)
    group = data.patterns(names).group
    first = np.zeros(n_units, dtype=np.int64)
    first[unit[::-1]] = group[::-1]
    if bool((first[unit] != group).any()):
        raise DataError("sample: strata must be the same for all members of a household.", variables=names)
    return first
