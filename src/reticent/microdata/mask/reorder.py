"""A random order of records and households: the order of a file often follows area or date of interview."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from reticent.base.progress import Progress
from reticent.base.randomness import Secret
from reticent.data.method import Applied, Method, Promise
from reticent.data.microdata import Microdata


@dataclass(frozen=True)
class Reorder(Method):
    """Put the records in random order; households stay together unless `mix_households` is set.

    Members come in random order within their household too. To make regrouping fail, mix households and drop or renew
    the household id.
    """

    name: ClassVar[str] = "reorder"

    mix_households: bool = field(default=False, metadata={"help": "also separate the members of a household"})

    def apply(self, data: Microdata, *, secret: Secret, progress: Progress) -> Applied:
        """One permutation from the step's own stream."""
        rng = secret.stream("order")
        draw = rng.random(data.n_records)
        household = None if self.mix_households else data.household()
        if household is None:
            order = np.argsort(draw, kind="stable")
        else:
            place = rng.permutation(int(household.max()) + 1)
            order = np.lexsort((draw, place[household]))
        moved = int((order != np.arange(data.n_records)).sum())
        return Applied(data.rows(order), {}, {"records_moved": moved})

    def promises(self) -> tuple[Promise, ...]:
        """The same records, whatever their order."""

        def broken(before: Microdata, after: Microdata) -> int:
            names = before.schema.names
            old = sorted(zip(*(map(str, before.texts(name)) for name in names), strict=True))
            new = sorted(zip(*(map(str, after.texts(name)) for name in names), strict=True))
            return sum(a != b for a, b in zip(old, new)) + abs(len(old) - len(new))

        return (Promise("the records are the same, in another order", broken),)
