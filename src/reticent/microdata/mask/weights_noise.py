"""Noise on the sampling weights, so that they do not point back to the design strata or to an outside file."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from reticent.base.errors import DataError, ParameterError
from reticent.base.progress import Progress
from reticent.base.randomness import Secret
from reticent.data.method import Applied, Method, Promise
from reticent.data.microdata import Microdata
from reticent.data.schema import Schema
from reticent.kernels.draws import uniform_matrix


@dataclass(frozen=True)
class NoiseOnWeights(Method):
    """Multiply every weight by 1 + U, U uniform in ±percent/100; the sum of the weights stays unless told otherwise.

    Members of a household get the same factor, so that equal weights within a household stay equal.
    """

    name: ClassVar[str] = "noise-on-weights"

    percent: float = field(default=5.0, metadata={"min": 0.0, "max": 99.0, "help": "largest change, in percent"})
    keep_total: bool = field(default=True, metadata={"help": "rescale so that the weights keep their sum"})
    decimals: int | None = field(default=None, metadata={"min": 0, "help": "round to this many decimals"})

    def __post_init__(self) -> None:
        if not 0 < self.percent < 100:
            raise ParameterError(f"noise-on-weights: percent must be above 0 and below 100, got {self.percent!r}.")

    def check(self, schema: Schema) -> None:
        """There is a weight."""
        if schema.weight is None:
            raise DataError("noise-on-weights: no variable has the role weight; declare one or leave the step out.")

    def apply(self, data: Microdata, *, secret: Secret, progress: Progress) -> Applied:
        """Draws are keyed by record (by household where there is one)."""
        self.check(data.schema)
        weights = data.weights()
        assert weights is not None
        assert data.schema.weight is not None
        key = data.record_ids()
        household = data.household()
        if household is not None:
            smallest = np.full(int(household.max()) + 1, np.iinfo(np.uint64).max, dtype=np.uint64)
            np.minimum.at(smallest, household, key)
            key = smallest[household]
        draws = uniform_matrix(*secret.words("weights"), key, 1)[:, 0]
        noisy = weights * (1.0 + self.percent / 100.0 * (2.0 * draws - 1.0))
        if self.keep_total:
            noisy *= weights.sum() / noisy.sum()
        if self.decimals is not None:
            noisy = np.round(noisy, self.decimals)
            if bool((noisy <= 0).any()):
                raise DataError("noise-on-weights: rounding would make weights 0; keep more decimals.")
        name = data.schema.weight
        facts = {"total_before": float(weights.sum()), "total_after": float(noisy.sum())}
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
