# SPDX-License-Identifier: Apache-2.0
"""A random order of records and households: the order of a file often follows area or date of interview."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from reticent.base.progress import Progress
from reticent.data.draws import StepDraws
from reticent.data.method import Applied, Group, Method, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples
from reticent.microdata.perturb.binding import keyed_uniforms, smallest_ids


@dataclass(frozen=True)
class Reorder(Method):
    """Put the records in random order; households stay together unless `mix_households` is set.

    Members come in random order within their household too. To make regrouping fail, mix households and drop or renew
    the household id.
    """

    name: ClassVar[str] = "reorder"
    group: ClassVar[Group] = Group.RECORDS
    examples: ClassVar[Examples] = ({}, {"mix_households": True})

    mix_households: bool = field(default=False, metadata={"help": "also separate the members of a household"})

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """One permutation; it depends on the records, not on the order they come in."""
        # Of all variables: the same order in a release of other data would join the two line by line.
        secret = draws.of_file(data, data.schema.names)
        draw = keyed_uniforms(secret, "records", data.record_ids())
        household = None if self.mix_households else data.household()
        if household is None:
            order = np.argsort(draw, kind="stable")
        else:
            place = keyed_uniforms(secret, "households", smallest_ids(household, data.record_ids()))
            order = np.lexsort((draw, household, place[household]))
        moved = int((order != np.arange(data.n_records)).sum())
        return Applied(data.rows(order), {}, {"records_moved": moved})

    def promises(self) -> tuple[Promise, ...]:
        """The same records, whatever their order."""

        def broken(before: Microdata, after: Microdata) -> int:
            if not np.array_equal(np.sort(before.record_ids()), np.sort(after.record_ids())):
                return abs(before.n_records - after.n_records) + 1
            order = np.argsort(before.record_ids())
            from_where = order[np.searchsorted(before.record_ids()[order], after.record_ids())]
            same = before.rows(from_where)
            return sum(not same.frame.table[name].equals(after.frame.table[name]) for name in before.schema.names)

        return (Promise("the records are the same, in another order", broken),)
