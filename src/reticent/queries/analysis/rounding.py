# SPDX-License-Identifier: Apache-2.0
"""Answers are shown to a tenth of their standard error: further digits would tell about single records.

Who knows a public number of many digits for everybody reads off the last digits of a sum which records were dropped, and
off the last digits of a coefficient who has a value of 1. Nobody who analyses data needs these digits.
"""

import math

import numpy as np

from reticent.base.arrays import Floats

SHOWN = 10
DEVIANCE = 1.0
"""Deviances are compared with chi-squared variables, whose unit is 1, not with their own spread."""


def coarse(value: float, error: float) -> float:
    """A number rounded to 1, 2 or 5 times a power of ten, which is at most a tenth of its standard error.

    >>> coarse(1234.567, 130.0), coarse(0.123456, 0.021), coarse(5.0, 0.0)
    (1230.0, 0.124, 5.0)
    """
    unit = error / SHOWN
    if not 0.0 < unit < math.inf:
        return value
    power = math.floor(math.log10(unit))
    step = max(step for step in (1, 2, 5) if step == 1 or step * 10.0**power <= unit)
    steps = value / step * 10.0**-power if -300 < power < 300 else math.inf
    return float(f"{round(steps) * step}e{power}") if math.isfinite(steps) else value


def coarse_all(values: Floats, errors: Floats) -> list[float]:
    """Each number rounded by its own standard error."""
    return [coarse(value, error) for value, error in zip(values.tolist(), errors.tolist())]


def coarse_errors(errors: Floats, n: int) -> list[float]:
    """Standard errors of n records, rounded by their own uncertainty."""
    return coarse_all(errors, errors / math.sqrt(2 * n))


def deviation(values: Floats) -> float:
    """The standard deviation of some values; 0 for fewer than two."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
