# SPDX-License-Identifier: Apache-2.0
"""A table as the suppression methods and the attacker see it: numbers, demands, bounds and relations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Mask
from reticent.base.checks import check_options
from reticent.base.errors import DataError, InfeasibleError
from reticent.data.cells import CellStatus
from reticent.data.relations import Relations

MAX_DECIMALS = 6
_ARRAYS = (
    "values",
    "cost",
    "lower_protection",
    "upper_protection",
    "sliding_protection",
    "lower_bound",
    "upper_bound",
    "status",
)

_OPTIONAL = ("counts", "respondent", "whole_cells", "published")


class SumJudge(Protocol):
    """Who says which sums of cells would be unsafe if they were published, all respondents of them combined."""

    def unsafe(self, groups: Sequence[tuple[int, ...]]) -> Mask:
        """Whether the sum of each group of cells is unsafe."""
        ...

    def respondents(self, groups: Sequence[tuple[int, ...]]) -> NDArray[np.int64]:
        """How many respondents each group of cells has, each counted once; −1 where that is not known."""
        ...


class Known(TypedDict, total=False):
    """What may be said of cells besides values, relations and which are unsafe; one number stands for all cells."""

    cost: Floats | None
    lower_protection: Floats | float
    upper_protection: Floats | float
    sliding_protection: Floats | float
    lower_bound: Floats | float | None
    upper_bound: Floats | float
    frozen: Mask | None
    empty: Mask | None
    counts: NDArray[np.int64] | None
    respondent: NDArray[np.int64] | None
    integral: bool


@dataclass(frozen=True, eq=False)
class Before:
    """What earlier releases show of each cell after noise: values (NaN: nothing), which release (−1: none), and what is
    published there of the size of the change (NaN: nothing).
    """

    values: Floats
    release: NDArray[np.int64]
    measure: Floats

    def __len__(self) -> int:
        return len(self.values)

    @property
    def known(self) -> Mask:
        """Cells that were published before."""
        return np.asarray(~np.isnan(self.values))


@dataclass(frozen=True, eq=False)
class SuppressionProblem:
    """Cells with true values, what hiding them costs, what each primary needs, and what the attacker knows.

    `lower_protection`, `upper_protection` and `sliding_protection` are distances; `lower_bound` and `upper_bound` are
    absolute and belong to the attacker's knowledge of a hidden cell. `counts` are respondents a cell (optional), and
    `respondent` is the respondent of each cell that has only one (−1 elsewhere). `integral` says that the attacker
    knows all values to be whole numbers; where that is so of some only, `whole_cells` marks them. The last cells may be
    `sums` of others, which are not cells of a table; the `judge` says which sums are unsafe (None: nobody can tell). No
    `coalition` of up to this many sole respondents of a cell may find another primary exactly, nor with `insider_levels` more
    closely than its levels. `partners` are the respondents of cells that have a few: if these join, they know the cell.
    `published` has what earlier releases show of each cell after noise, `window` the least and the largest value that a method
    that changes values may publish beside them. With `hides_empty` cells without respondents may be among the hidden ones.
    `rests` are differences of cells that must not be known. `combinations` of codes are in no table: what the records have in
    each, where the values are any that fit.
    """

    values: Floats
    cost: Floats
    lower_protection: Floats
    upper_protection: Floats
    sliding_protection: Floats
    lower_bound: Floats
    upper_bound: Floats
    status: NDArray[np.int8]
    relations: Relations
    counts: NDArray[np.int64] | None = None
    respondent: NDArray[np.int64] | None = None
    integral: bool = False
    whole_cells: Mask | None = None
    sums: tuple[tuple[int, ...], ...] = ()
    judge: SumJudge | None = field(default=None, repr=False)
    insider_levels: bool = False
    coalition: int = 1
    partners: Mapping[int, frozenset[int]] = field(default_factory=dict, repr=False)
    published: Before | None = field(default=None, repr=False)
    window: tuple[Floats, Floats] | None = field(default=None, repr=False)
    hides_empty: bool = False
    rests: frozenset[int] = frozenset()
    combinations: Mapping[int, float] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        n = self.relations.n_cells
        for name in _ARRAYS + tuple(k for k in _OPTIONAL if getattr(self, k) is not None):
            if len(getattr(self, name)) != n:
                raise DataError(f"SuppressionProblem: {name} must have {n} entries, one per cell of the relations.")
        if not np.isfinite(self.values).all():
            raise DataError("SuppressionProblem: every value must be a finite number.")
        if not np.isfinite(self.cost).all() or (self.cost < 0).any():
            raise DataError("SuppressionProblem: costs must be finite and not negative.")
        for name in ("lower_protection", "upper_protection", "sliding_protection"):
            if not (getattr(self, name) >= 0).all():
                raise DataError(f"SuppressionProblem: {name} is a distance and must not be negative.")
        outside = np.flatnonzero((self.values < self.lower_bound) | (self.values > self.upper_bound))
        if len(outside):
            raise DataError(
                f"SuppressionProblem: {len(outside)} cells lie outside the attacker's bounds, the first is cell "
                f"{outside[0]}; the bounds must contain the true value."
            )

    def __repr__(self) -> str:
        return f"<SuppressionProblem: {self.n_cells} cells, {int(self.primary.sum())} primary, {self.relations!r}>"

    @classmethod
    def from_values(
        cls,
        values: Floats,
        relations: Relations,
        *,
        primary: Mask,
        **known: Unpack[Known],
    ) -> "SuppressionProblem":
        """The usual case: cost = |value|, lower bound 0 (minus infinity if any value is negative)."""
        values = np.asarray(values, dtype=np.float64)
        n = len(values)
        check_options(known, Known.__annotations__, owner="SuppressionProblem")
        lower_bound, cost = known.get("lower_bound"), known.get("cost")
        if lower_bound is None:
            lower_bound = -np.inf if (values < 0).any() else 0.0
        status = np.full(n, CellStatus.SAFE, dtype=np.int8)
        for cells, what in ((known.get("empty"), CellStatus.EMPTY), (known.get("frozen"), CellStatus.FROZEN)):
            if cells is not None:
                status[cells] = what
        status[primary] = CellStatus.PRIMARY

        def spread(item: Floats | float) -> Floats:
            return np.array(np.broadcast_to(np.asarray(item, dtype=np.float64), (n,)))

        return cls(
            values,
            np.abs(values) if cost is None else np.asarray(cost, dtype=np.float64),
            np.where(primary, spread(known.get("lower_protection", 0.0)), 0.0),
            np.where(primary, spread(known.get("upper_protection", 0.0)), 0.0),
            np.where(primary, spread(known.get("sliding_protection", 0.0)), 0.0),
            spread(lower_bound),
            spread(known.get("upper_bound", np.inf)),
            status,
            relations,
            known.get("counts"),
            known.get("respondent"),
            known.get("integral", False),
        )

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.values)

    @property
    def n_own(self) -> int:
        """Number of cells that are not sums of others."""
        return len(self.values) - len(self.sums)

    @cached_property
    def guarded(self) -> Mask:
        """Primaries that respondents are kept from: cells of a table, and differences of cells."""
        own = self.primary.copy()
        own[self.n_own :] = False
        return own

    @cached_property
    def primary(self) -> Mask:
        """Cells that must be protected."""
        return np.asarray(self.status == CellStatus.PRIMARY)

    @cached_property
    def frozen(self) -> Mask:
        """Cells that must keep their value and be shown."""
        return np.asarray(self.status == CellStatus.FROZEN)

    @cached_property
    def forced(self) -> Mask:
        """Cells that must be hidden: primaries and given secondaries."""
        return np.asarray((self.status == CellStatus.PRIMARY) | (self.status == CellStatus.SECONDARY))

    @cached_property
    def candidates(self) -> Mask:
        """Cells a method may hide."""
        return np.asarray(self.status == CellStatus.SAFE)

    @cached_property
    def decimals(self) -> int:
        """Digits behind the point that the values of cells have (at most 6)."""
        values = np.delete(self.values, list(self.combinations))
        for digits in range(MAX_DECIMALS):
            scaled = values * 10.0**digits
            if np.all(np.abs(scaled - np.rint(scaled)) <= 1e-6 + 1e-12 * np.abs(scaled)):
                return digits
        return MAX_DECIMALS

    @property
    def unit(self) -> float:
        """The smallest step of a value."""
        return float(10.0**-self.decimals)

    @cached_property
    def tolerance(self) -> float:
        """What counts as no distance: far below a unit, above the noise of floating point."""
        largest = float(np.abs(self.values).max(initial=1.0))
        return max(1e-3 * self.unit, 1e-11 * largest)

    @cached_property
    def whole(self) -> Mask:
        """Cells that the attacker knows to be whole numbers."""
        return np.full(self.n_cells, self.integral) if self.whole_cells is None else self.whole_cells

    def without_integrality(self) -> "SuppressionProblem":
        """The same problem for an attacker who does not know that values are whole."""
        return replace(self, integral=False, whole_cells=None)

    @cached_property
    def needs_movement(self) -> Mask:
        """Primaries without levels: their interval must not be a single point."""
        levels = np.maximum(np.maximum(self.lower_protection, self.upper_protection), self.sliding_protection)
        return np.asarray(self.primary & (levels <= self.tolerance))

    def check_attainable(self) -> None:
        """Refuse levels that even hiding everything cannot give, because the attacker's bounds forbid them."""
        slack = self.tolerance
        short = (self.values - self.lower_bound < self.lower_protection - slack) | (
            self.upper_bound - self.values < self.upper_protection - slack
        )
        short |= self.upper_bound - self.lower_bound < self.sliding_protection - slack
        short |= self.needs_movement & (self.upper_bound - self.lower_bound <= slack)
        cells = np.flatnonzero(short & self.primary)
        if len(cells):
            raise InfeasibleError(
                f"Suppression: the protection levels of {len(cells)} primary cells reach beyond the attacker's bounds "
                "(cells {cells}). Lower their levels or widen the bounds.",
                cells=tuple(int(c) for c in cells),
            )

    def with_status(self, cells: Mask, status: CellStatus) -> "SuppressionProblem":
        """The same problem with another status for some cells."""
        changed = self.status.copy()
        changed[cells] = status
        return replace(self, status=changed)

    def with_records(self) -> "SuppressionProblem":
        """The same problem with what the records have in the combinations that no table shows."""
        values = self.values.copy()
        values[list(self.combinations)] = list(self.combinations.values())
        return replace(self, values=values)

    def without_combinations(self) -> "SuppressionProblem":
        """The same problem for an attacker who does not think of combinations that no table shows."""
        aside = np.zeros(self.n_cells, dtype=bool)
        aside[list(self.combinations)] = True
        shown = self.with_status(aside, CellStatus.FROZEN)
        return replace(shown, relations=self.relations.without(aside), combinations={})

    def without_levels(self) -> "SuppressionProblem":
        """The same problem where primaries need no more than not to be known exactly."""
        none = np.zeros(self.n_cells)
        return replace(self, lower_protection=none, upper_protection=none, sliding_protection=none)
