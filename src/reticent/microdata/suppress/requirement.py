# SPDX-License-Identifier: Apache-2.0
"""What local suppression has to achieve and what a blank costs, as arrays.

Variables are numbered; a set of them is a bit mask. A requirement is a list of combinations S with the number k of records
that must agree with every record on what is left of S.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import InfeasibleError, ParameterError

ENUMERATED = 16
"""Up to this many variables, all sets of them are listed by cost; beyond, sets are searched."""
TABLE_VARIABLES = 20
"""Up to this many variables, limits are kept for every set."""


def mask_of(variables: Sequence[int]) -> int:
    """The bit mask of some variables."""
    return sum(1 << v for v in variables)


def variables_of(mask: int) -> tuple[int, ...]:
    """The variables of a bit mask."""
    return tuple(v for v in range(mask.bit_length()) if mask >> v & 1)


@dataclass(frozen=True)
class Requirement:
    """Combinations (as masks) and how many records must agree on each."""

    n_variables: int
    combinations: tuple[tuple[int, int], ...]

    @property
    def k(self) -> int:
        """The largest number of records asked for."""
        return max(k for _, k in self.combinations)

    @property
    def single(self) -> bool:
        """One combination of all variables: plain k-anonymity."""
        return len(self.combinations) == 1 and self.combinations[0][0] == (1 << self.n_variables) - 1

    def limits(self) -> dict[str, object]:
        """The options of `minimal_rare_sets`: a set R is rare when f_R < max k over the combinations around it."""
        if self.single:
            return {"limit": self.k}
        if self.n_variables <= TABLE_VARIABLES:
            table = np.zeros(1 << self.n_variables, np.int64)
            for mask, k in self.combinations:
                table[mask] = max(table[mask], k)
            for v in range(self.n_variables):  # pass each limit on to the sets without v
                grid = table.reshape(-1, 2, 1 << v)
                np.maximum(grid[:, 0], grid[:, 1], out=grid[:, 0])
            return {"by_mask": table}
        sizes = {mask.bit_count() for mask, _ in self.combinations}
        size, ks = max(sizes), {k for _, k in self.combinations}
        full = set(map(mask_of, combinations(range(self.n_variables), size)))
        if len(ks) > 1 or {mask for mask, _ in self.combinations if mask.bit_count() == size} != full:
            raise ParameterError(
                f"local-suppression: thresholds of their own are possible for up to {TABLE_VARIABLES} keys, "
                f"got {self.n_variables}. Use one threshold for all combinations up to a dimension."
            )
        return {"limit": self.k, "max_size": size}


@dataclass(frozen=True)
class Prices:
    """What blanking each variable costs, which may not be blanked, and how many blanks a record may get."""

    costs: tuple[float, ...]
    frozen: int = 0
    cap: int | None = None

    def of(self, mask: int) -> float:
        """Cost of a set of variables."""
        return sum(self.costs[v] for v in variables_of(mask))

    def of_masks(self, masks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Cost of many sets."""
        out = np.zeros(len(masks))
        for v, cost in enumerate(self.costs):
            out += cost * (masks >> v & 1)
        return out

    def candidates(self, *, cap: int | None = None, within: int | None = None) -> NDArray[np.int64]:
        """All sets that may be blanked (the empty one first), by rising cost, then size, then number."""
        q = len(self.costs)
        cap = self.cap if cap is None else cap
        free = [v for v in range(q) if not self.frozen >> v & 1 and (within is None or within >> v & 1)]
        sizes = range(min(len(free), len(free) if cap is None else cap) + 1)
        masks = np.array([mask_of(names) for size in sizes for names in combinations(free, size)], np.int64)
        return masks[np.lexsort((masks, np.bitwise_count(masks), np.round(self.of_masks(masks), 9)))]


def refuse_frozen(stuck: int, frozen: Sequence[str], cap: int | None) -> InfeasibleError:
    """The error when some records cannot be made safe under the restrictions."""
    why = []
    if frozen:
        why.append(f"the keys {', '.join(frozen)} may not be suppressed")
    if cap is not None:
        why.append(f"at most {cap} values of a record may be suppressed")
    return InfeasibleError(
        f"local-suppression: {stuck} records cannot be made safe while {' and '.join(why) or 'the demands stand'}. "
        "Recode a key to fewer categories, or relax the restriction."
    )
