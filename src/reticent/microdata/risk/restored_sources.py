# SPDX-License-Identifier: Apache-2.0
"""What else a file groups its records by: the members of a published household, and stretches of the order of a number.

Members who share a published household number say how large the household is and who is in it, although no column does. A
turnover says which size class a firm is in, although no two firms have the same.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from reticent.base.arrays import Floats, Ints
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role

Small = NDArray[np.int32]
Groups = tuple[Small, int]


def compositions(masked: Microdata) -> list[tuple[tuple[str, ...], Groups]]:
    """Records by how many members their household has (no name), and by what these have of each variable.

    None where no household number is published.
    """
    household = masked.household()
    if household is None:
        return []
    size = np.bincount(household)
    found: list[tuple[tuple[str, ...], Groups]] = [((), _numbered(size[household]))]
    draws = np.random.default_rng(0)
    for variable in masked.schema.variables:
        if variable.role in (Role.IDENTIFIER, Role.ENTITY, Role.HOUSEHOLD_ID):
            continue
        value = masked.patterns((variable.name,)).group
        # a sum of drawn words says which values members have, whatever their order
        words = draws.integers(0, 2**63, int(value.max(initial=-1)) + 1, dtype=np.uint64)
        sums = np.zeros(size.size, dtype=np.uint64)
        np.add.at(sums, household, words[value])
        found.append(((variable.name,), _numbered(sums[household])))
    return found


def members_once(masked: Microdata) -> Floats:
    """What each record counts where a household counts once."""
    household = masked.household()
    assert household is not None
    return np.asarray(1.0 / np.bincount(household)[household])


def totals(masked: Microdata) -> list[tuple[tuple[str, ...], Floats]]:
    """Each number added up over the members of a published household."""
    household = masked.household()
    if household is None:
        return []
    found: list[tuple[tuple[str, ...], Floats]] = []
    for name in numbers_left(masked):
        column = np.nan_to_num(masked.numbers((name,))[:, 0])
        found.append(((name,), np.bincount(household, weights=column)[household].astype(np.float64)))
    return found


def numbers_left(masked: Microdata) -> tuple[str, ...]:
    """Published numbers that are no keys."""
    roles = (Role.IDENTIFIER, Role.ENTITY, Role.HOUSEHOLD_ID)
    return tuple(
        v.name for v in masked.schema.variables if v.kind is Kind.NUMERIC and not v.is_key and v.role not in roles
    )


def _numbered(values: NDArray[Any]) -> Groups:
    _, group = np.unique(values, return_inverse=True)
    return group.ravel().astype(np.int32), int(group.max(initial=-1)) + 1


def ordered(number: Floats, within: Small) -> Ints:
    """Records that have the number, in its order inside each group of `within`."""
    known = np.flatnonzero(~np.isnan(number))
    return known[np.lexsort((number[known], within[known]))]


def stretches(order: Ints, within: Small, seen: Ints) -> tuple[Ints, int, float]:
    """Records by the stretches of an order in which all shown values are one, inside each group of `within`.

    A hidden value (−1) belongs to a stretch if its neighbours do, or if it is first or last; between two stretches it is alone.
    The last figure is the logarithm of the chance that every value has one stretch only in each group (0: some have several).
    """
    value, home = seen[order], within[order].astype(np.int64)
    shown = np.flatnonzero(value >= 0)
    if not shown.size:
        return np.arange(seen.size), seen.size, 0.0
    new = np.append(True, (np.diff(value[shown]) != 0) | (np.diff(home[shown]) != 0))
    run = np.cumsum(new) - 1
    # the shown neighbours of each record, those of other groups do not count
    after = np.searchsorted(shown, np.arange(order.size), "left").clip(max=shown.size - 1)
    before = (np.searchsorted(shown, np.arange(order.size), "right") - 1).clip(min=0)
    left, right = (np.where(home[shown[at]] == home, run[at], -1) for at in (before, after))
    left = np.where(shown[before] <= np.arange(order.size), left, -1)
    right = np.where(shown[after] >= np.arange(order.size), right, -1)
    own = np.where((left == right) | (right < 0), left, np.where(left < 0, right, -1))
    n_runs = int(run[-1]) + 1
    group = n_runs + np.arange(seen.size)
    group[order[own >= 0]] = own[own >= 0]
    return group, n_runs + seen.size, _luck(value[shown], home[shown], n_runs)


def _luck(value: Ints, home: Ints, n_runs: int) -> float:
    """How likely records in any order would have as few stretches as values; 0 where they have more."""
    cells, counts = np.unique(home * (int(value.max()) + 1) + value, return_counts=True)
    if cells.size < n_runs:
        return 0.0
    of = cells // (int(value.max()) + 1)
    values, records = np.bincount(of).astype(np.float64), np.bincount(of, weights=counts)
    log = special.gammaln
    return float(log(values + 1.0).sum() + log(counts + 1.0).sum() - log(records + 1.0).sum())
