# SPDX-License-Identifier: Apache-2.0
"""Combining rules: one estimate and its variance from the estimates of m synthetic copies."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from reticent.base.checks import check_choice
from reticent.base.doors import door
from reticent.base.errors import ParameterError

KINDS = ("partial", "full", "simple")


@dataclass(frozen=True)
class CombinedEstimate:
    """The combined estimate, its variance, and the degrees of freedom of its t distribution."""

    estimate: float
    variance: float
    degrees_of_freedom: float


@door
def combine(
    estimates: Sequence[float], variances: Sequence[float], *, kind: str = "partial", size_ratio: float = 1.0
) -> CombinedEstimate:
    """Combine m point estimates and their variances.

    With b the variance between copies and u the mean variance within: `partial` is u + b/m (Reiter 2003); `full`,
    for copies drawn from a posterior of the whole population, is (1 + 1/m) b − u (Raghunathan, Reiter and Rubin
    2003), replaced by size_ratio · u where that is not positive (Reiter 2002); `simple`, for completely synthetic
    copies of a simple random sample with size_ratio = synthetic over original size, is u (size_ratio + 1/m) (Raab,
    Nowok and Dibben 2016) and needs only one copy.

    >>> combine([10.0, 12.0, 11.0], [1.0, 1.0, 1.0])
    CombinedEstimate(estimate=11.0, variance=1.3333333333333333, degrees_of_freedom=32.0)
    """
    check_choice(kind, KINDS, name="kind", owner="combine")
    m = len(estimates)
    if m != len(variances) or m == 0:
        raise ParameterError("combine: give one variance for each estimate, at least one of both.")
    if m < 2 and kind != "simple":
        raise ParameterError(f"combine: the {kind} rule needs at least two copies, got {m}.")
    center, within = float(np.mean(estimates)), float(np.mean(variances))
    between = float(np.var(estimates, ddof=1)) if m > 1 else 0.0
    if kind == "simple":
        return CombinedEstimate(center, within * (size_ratio + 1.0 / m), inf)
    if kind == "partial":
        freedom = (m - 1) * (1.0 + within / (between / m)) ** 2 if between > 0 else inf
        return CombinedEstimate(center, within + between / m, freedom)
    variance = (1.0 + 1.0 / m) * between - within
    if variance <= 0:
        return CombinedEstimate(center, size_ratio * within, inf)
    freedom = (m - 1) * (1.0 - within / ((1.0 + 1.0 / m) * between)) ** 2
    return CombinedEstimate(center, variance, freedom)
