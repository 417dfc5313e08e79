# SPDX-License-Identifier: Apache-2.0
"""Noise on the sampling weights, so that they do not point back to the design strata or to an outside file."""

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from reticent.base.errors import DataError
from reticent.base.progress import Progress
from reticent.data.draws import StepDraws
from reticent.data.method import Applied, Group, Method, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples
from reticent.data.schema import Schema
from reticent.microdata.perturb.binding import keyed_uniforms, single_records, whole_households


@dataclass(frozen=True)
class NoiseOnWeights(Method):
    """Multiply every weight by 1 + U, U uniform in ±percent/100; the sum of the weights stays unless told otherwise.

    Members of a household get the same factor, so that equal weights within a household stay equal.
    """

    name: ClassVar[str] = "noise-on-weights"
    group: ClassVar[Group] = Group.NUMBERS
    examples: ClassVar[Examples] = ({}, {"percent": 10, "keep_total": False})

    percent: float = field(default=5.0, metadata={"above": 0, "below": 100, "help": "largest change, in percent"})
    keep_total: bool = field(default=True, metadata={"help": "rescale so that the weights keep their sum"})
    decimals: int | None = field(default=None, metadata={"min": 0, "help": "round to this many decimals"})

    def check(self, schema: Schema) -> None:
        """There is a weight."""
        if schema.weight is None:
            raise DataError("noise-on-weights: no variable has the role weight; declare one or leave the step out.")

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Draws are keyed by record (by household where there is one)."""
        self.check(data.schema)
        weights = data.weights()
        assert weights is not None
        assert data.schema.weight is not None
        household = data.household()
        who = single_records(data) if household is None else whole_households(household, data.record_ids())
        chance = keyed_uniforms(draws.of_file(data, (data.schema.weight,)), "weights", who.ids)[who.of]
        noisy = weights * (1.0 + self.percent / 100.0 * (2.0 * chance - 1.0))
        if self.keep_total:
            noisy *= math.fsum(weights) / math.fsum(noisy)  # exact sums: the order of records does not matter
        if self.decimals is not None:
            noisy = np.round(noisy, self.decimals)
            if bool((noisy <= 0).any()):
                raise DataError("noise-on-weights: rounding would make weights 0; keep more decimals.")
        name = data.schema.weight
        facts = {"total_before": math.fsum(weights), "total_after": math.fsum(noisy)}
        return Applied(data.with_numbers(name, noisy), {name: int((noisy != weights).sum())}, facts)

    def promises(self) -> tuple[Promise, ...]:
        """All weights stay positive, and their sum stays where that was asked for."""

        def broken(before: Microdata, after: Microdata) -> int:
            old, new = before.weights(), after.weights()
            if old is None or new is None:
                return 1
            wrong = int(np.count_nonzero(~(new > 0)))
            if self.keep_total and self.decimals is None:
                wrong += not np.isclose(old.sum(), new.sum(), rtol=1e-9)
            return wrong

        return (Promise("every weight stays positive and their sum is kept", broken),)
