# SPDX-License-Identifier: Apache-2.0
"""What makes a group of equal records safe: models for the search, each with what it guarantees under merging.

`monotone`: a safe group stays safe whatever it is merged with. `convex`: merging two safe groups gives a safe one. The
search draws conclusions about coarser nodes from the first always, from the second only when nothing is suppressed.
"""

from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Mask
from reticent.base.checks import check_between, check_integer
from reticent.base.errors import ParameterError
from reticent.microdata.risk.individual import record_risk


@dataclass(frozen=True)
class Groups:
    """Groups of a node: size and weight of each; and its cells by sensitive value (group, codes, count)."""

    counts: NDArray[np.int64]
    weights: NDArray[np.float64]
    cell_group: NDArray[np.int64]
    cell_codes: NDArray[np.int32]
    cell_counts: NDArray[np.int64]

    def by_value(self, sensitive: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Group, value and count of each (group, value of one sensitive variable) that occurs."""
        values = self.cell_codes[:, sensitive].astype(np.int64) + 1
        width = int(values.max(initial=0)) + 1
        keys, place = np.unique(self.cell_group * width + values, return_inverse=True)
        counts = np.bincount(place.ravel(), weights=self.cell_counts, minlength=keys.size).astype(np.int64)
        return keys // width, keys % width, counts


class SafetyModel(Protocol):
    """A property that every published group must have."""

    @property
    def monotone(self) -> bool:
        """A safe group stays safe whatever it is merged with."""
        ...

    @property
    def convex(self) -> bool:
        """Two safe groups merged are a safe group."""
        ...

    def unsafe(self, groups: Groups) -> Mask:
        """Which groups do not have the property."""
        ...


@dataclass(frozen=True)
class KAnonymity:
    """At least k records share the keys."""

    k: int
    monotone: ClassVar[bool] = True
    convex: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_integer(self.k, minimum=1, name="k", owner="k-anonymity")

    def unsafe(self, groups: Groups) -> Mask:
        """Fewer than k records."""
        return groups.counts < self.k


@dataclass(frozen=True)
class KMap:
    """At least k units of the population, estimated by the sum of weights, share the keys."""

    k: float
    monotone: ClassVar[bool] = True
    convex: ClassVar[bool] = True

    def unsafe(self, groups: Groups) -> Mask:
        """A sum of weights below k."""
        return groups.weights < self.k


@dataclass(frozen=True)
class RiskLimit:
    """The individual risk (negative binomial) of every record is at most `limit`."""

    limit: float
    monotone: ClassVar[bool] = False
    convex: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_between(self.limit, 0, 1, name="limit", owner="individual risk")

    def unsafe(self, groups: Groups) -> Mask:
        """Expected 1/F above the limit."""
        return record_risk(groups.counts, groups.weights) > self.limit


@dataclass(frozen=True)
class Diversity:
    """At least l well-represented values of a sensitive variable: distinct, by entropy, or recursive (c, l).

    A missing value is none of them: where all others have one value, whoever gave an answer has it.
    """

    l: float
    kind: str = "distinct"
    c: float = 2.0
    sensitive: int = 0

    def __post_init__(self) -> None:
        if self.kind not in ("distinct", "entropy", "recursive"):
            raise ParameterError(f"l-diversity: kind must be distinct, entropy or recursive, got {self.kind!r}.")
        check_between(self.l, 1, float("inf"), name="l", owner="l-diversity")

    @property
    def monotone(self) -> bool:
        """Only the number of distinct values never falls when groups merge."""
        return self.kind == "distinct"

    @property
    def convex(self) -> bool:
        """Distinct and entropy diversity hold for the union (entropy is concave); recursive diversity does too."""
        return True

    def unsafe(self, groups: Groups) -> Mask:
        """Fewer than l values; entropy below log l; largest count not below c times the sum from the l-th on."""
        group, value, counts = groups.by_value(self.sensitive)
        group, counts, n = group[value > 0], counts[value > 0], groups.counts.size  # 0: missing
        if self.kind == "distinct":
            return np.maximum(np.bincount(group, minlength=n), 1) < self.l
        if self.kind == "entropy":
            share = counts / np.bincount(group, weights=counts, minlength=n)[group]
            entropy = np.bincount(group, weights=-share * np.log(share), minlength=n)
            return np.asarray(entropy < np.log(self.l) - 1e-12)
        order = np.lexsort((-counts, group))
        starts = np.searchsorted(group[order], np.arange(n))
        rank = np.arange(order.size) - starts[group[order]]
        tail = np.bincount(group[order], weights=np.where(rank >= self.l - 1, counts[order], 0), minlength=n)
        largest = np.zeros(n, dtype=np.int64)
        np.maximum.at(largest, group, counts)
        return np.asarray((largest >= self.c * tail) & ((largest > 0) | (self.l > 1)))


@dataclass(frozen=True)
class Closeness:
    """t-closeness: the distribution of a sensitive variable in each group is within t of that in the file.

    `whole` has the share of each value in the file, the missing one first; without it the groups are all of the file.
    """

    t: float
    ordered: bool = False
    sensitive: int = 0
    whole: tuple[float, ...] = field(default=(), repr=False)
    monotone: ClassVar[bool] = False
    convex: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_between(self.t, 0, 1, name="t", owner="t-closeness")

    def unsafe(self, groups: Groups) -> Mask:
        """Half the sum of |q − p|; with order, the mean absolute difference of the cumulated shares."""
        group, value, counts = groups.by_value(self.sensitive)
        n, m = groups.counts.size, max(int(value.max(initial=0)) + 1, len(self.whole))
        whole = np.array(self.whole) if self.whole else np.bincount(value, weights=counts, minlength=m) / counts.sum()
        table = np.zeros((n, m))
        table[group, value] = counts / groups.counts[group]
        difference = table - whole
        if self.ordered:
            present = whole > 0
            steps = np.abs(np.cumsum(difference[:, present], axis=1)).sum(axis=1)
            return np.asarray(steps / max(int(present.sum()) - 1, 1) > self.t + 1e-12)
        return np.asarray(0.5 * np.abs(difference).sum(axis=1) > self.t + 1e-12)


@dataclass(frozen=True)
class All:
    """Several models at once."""

    models: tuple[SafetyModel, ...]

    @property
    def monotone(self) -> bool:
        """All are."""
        return all(model.monotone for model in self.models)

    @property
    def convex(self) -> bool:
        """All are."""
        return all(model.convex for model in self.models)

    def unsafe(self, groups: Groups) -> Mask:
        """Unsafe by any of them."""
        result = np.zeros(groups.counts.size, dtype=bool)
        for model in self.models:
            result |= model.unsafe(groups)
        return result
