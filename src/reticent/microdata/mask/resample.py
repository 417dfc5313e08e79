# SPDX-License-Identifier: Apache-2.0
"""Resampling (plan name `resample`): averages of sorted bootstrap samples, given back by rank (Heer 1993)."""

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np

from reticent.base.arrays import Floats
from reticent.base.progress import Progress
from reticent.data.draws import StepDraws, step_input
from reticent.data.method import Applied, Group, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples
from reticent.microdata.perturb.binding import (
    OnNumbers,
    order_with_drawn_ties,
    slices,
    strata_of,
    units,
    with_all_numbers,
)


@dataclass(frozen=True)
class Resample(OnNumbers):
    """Draw `t` bootstrap samples of each variable, sort each, average them rank by rank; rank r gets average r.

    Ranks stay (equal values may part), values move towards a smoothed distribution. Missing values stay missing.
    """

    name: ClassVar[str] = "resample"
    group: ClassVar[Group] = Group.NUMBERS
    examples: ClassVar[Examples] = ({"variables": ["income"]},)
    variables: tuple[str, ...] = field(metadata={"names": "variables", "help": "numeric variables, each on its own"})
    t: int = field(default=3, metadata={"min": 1, "help": "number of bootstrap samples"})
    strata: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "within groups of these variables"}
    )

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Resample; samples are drawn by rank, so the order of records does not matter."""
        self.check(data.schema)
        who = units(data, self.variables, owner=self.name)
        values = data.numbers(self.variables)[who.first]
        masked = values.copy()
        groups = list(slices(strata_of(data, self.strata, first=who.first)))
        for position, name in enumerate(self.variables):
            own = step_input(data, (name,), first=who.first, ids=who.ids)
            for rows in groups:
                known = rows[~np.isnan(values[rows, position])]
                secret = draws.of_part(own.take(known))
                order = known[order_with_drawn_ties(values[known, position], secret.words("ties"), who.ids[known], 0)]
                masked[order, position] = averaged_samples(values[order, position], self.t, secret.stream("samples"))
            progress((position + 1) / len(self.variables), name)
        result, changed = with_all_numbers(data, self.variables, masked[who.of])
        return Applied(result, changed)

    def promises(self) -> tuple[Promise, ...]:
        """Values stay inside the range and in the order of the stratum."""
        return (Promise("ranks stay and values stay in their range", partial(_disordered, self)),)


def averaged_samples(ordered: Floats, t: int, stream: np.random.Generator) -> Floats:
    """Mean over `t` bootstrap samples of the r-th smallest value, for all r; O(t n), nothing is sorted again."""
    n = ordered.shape[0]
    total = np.zeros(n)
    for _ in range(t):
        counts = np.bincount(stream.integers(0, n, size=n), minlength=n) if n else np.zeros(0, dtype=np.int64)
        total += np.repeat(ordered, counts)
    mean: Floats = total / t
    return mean


def _disordered(method: Resample, before: Microdata, after: Microdata) -> int:
    who = units(before, method.variables, owner=method.name)
    old, new = before.numbers(method.variables)[who.first], after.numbers(method.variables)[who.first]
    count = int((np.isnan(old) != np.isnan(new)).sum())
    for rows in slices(strata_of(before, method.strata, first=who.first)):
        for position in range(len(method.variables)):
            known = rows[~np.isnan(old[rows, position])]
            if known.size == 0:
                continue
            order = known[np.lexsort((new[known, position], old[known, position]))]
            count += int((np.diff(new[order, position]) < 0).sum())
            low, high = old[order[0], position], old[order[-1], position]
            slack = 1e-9 * max(abs(low), abs(high))
            count += int(((new[known, position] < low - slack) | (new[known, position] > high + slack)).sum())
    return count
