# SPDX-License-Identifier: Apache-2.0
"""Household risk: the chance that at least one member is re-identified; everyone in the household carries it.

Source: mu-ARGUS manual (base household risk); r_h = 1 − Π(1 − r_i), with matches of the members taken as independent.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from reticent.base.checks import check_between
from reticent.base.errors import DataError

Floats = npt.NDArray[np.float64]
OWNER = "household risk"


@dataclass(frozen=True)
class HouseholdRisk:
    """Risk per household and, broadcast, per record."""

    households: npt.NDArray[np.int64] = field(repr=False)
    sizes: npt.NDArray[np.int64] = field(repr=False)
    household_risk: Floats = field(repr=False)
    record_risk: Floats = field(repr=False)
    member_risk: Floats = field(repr=False)

    @property
    def expected_households(self) -> float:
        """Σ r_h: the households expected to have a member re-identified."""
        return float(self.household_risk.sum())

    @property
    def expected_records(self) -> float:
        """Σ size·r_h: the persons who live in them."""
        return float(self.record_risk.sum())

    def unsafe(self, threshold: float) -> npt.NDArray[np.bool_]:
        """Records to protect so that no household exceeds the threshold t: r_h ≥ t and own risk ≥ t/size (mu-ARGUS)."""
        check_between(threshold, 0, 1, name="threshold", owner=OWNER)
        share = threshold / self.sizes[self.households]
        return (self.record_risk >= threshold) & (self.member_risk >= share)

    def summary(self) -> dict[str, Any]:
        """The file in a few numbers."""
        n = self.record_risk.size
        return {
            "households": int(self.household_risk.size),
            "expected_households": self.expected_households,
            "expected_records": self.expected_records,
            "file_risk": self.expected_records / n if n else 0.0,
            "highest_risk": float(self.household_risk.max(initial=0.0)),
        }


def household_risk(risk: npt.ArrayLike, household: npt.ArrayLike) -> HouseholdRisk:
    """1 − Π(1 − r_i) over the members of each household, which need not stand together in the file.

    Examples
    --------
    >>> household_risk([0.02, 0.03, 0.03], [7, 7, 7]).household_risk.round(6).tolist()
    [0.077918]
    """
    each = np.asarray(risk, dtype=np.float64)
    ids = np.asarray(household)
    if each.shape != ids.shape:
        raise DataError(f"{OWNER}: there are {each.size} risks but {ids.size} household ids.")
    if each.size and not (each.min() >= 0.0 and each.max() <= 1.0):
        raise DataError(f"{OWNER}: every risk must be between 0 and 1.")
    if np.issubdtype(ids.dtype, np.integer) and ids.size and ids.min() < 0:
        raise DataError(f"{OWNER}: {int((ids < 0).sum())} records have no household id. Give each record one.")
    _, number, sizes = np.unique(ids, return_inverse=True, return_counts=True)
    number = number.ravel()
    certain = np.bincount(number[each == 1.0], minlength=sizes.size) > 0
    logs = np.bincount(number, weights=np.log1p(-np.where(each == 1.0, 0.0, each)), minlength=sizes.size)
    whole = np.where(certain, 1.0, -np.expm1(logs))
    return HouseholdRisk(number, sizes, whole, whole[number], each)
