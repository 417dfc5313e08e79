# SPDX-License-Identifier: Apache-2.0
"""What an attacker may know of a file: its keys, every number, and variables without a role that single records out.

A code works like an identifier when half of the records have a value that at most three records have, or that one
respondent or household alone has, whatever its role. Codes without a role count together, too: where their combination is
alone in half of the records, all of them count as known. Below these halves nobody is taken to know a code beside everything
else, but what it singles out by itself counts (`other_codes`).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Variable

NEVER = (Role.IDENTIFIER, Role.ENTITY, Role.HOUSEHOLD_ID)
MOSTLY = 0.5
"""The share of the records that a variable must single out to count as known."""
FEW = 3
"""Records that share a code of an identifier: a panel number stands on each record of one person."""


def known_variables(data: Microdata) -> tuple[str, ...]:
    """Keys first, then numbers (whatever their role: an income is known to an employer), then codes that single out."""
    numbers = [v.name for v in _rest(data) if v.kind is Kind.NUMERIC]
    return (*data.schema.keys, *numbers, *singling_codes(data))


def singling_codes(data: Microdata) -> tuple[str, ...]:
    """Codes that are not keys and count as known, because they single records out alone or together."""
    codes = [v for v in _rest(data) if v.kind is not Kind.NUMERIC]
    free = [v.name for v in codes if v.role is Role.OTHER]
    together = set(free) if _alone_together(data, free) else set()
    return tuple(v.name for v in codes if v.name in together or identifies(data, v.name))


def other_codes(data: Microdata) -> tuple[str, ...]:
    """Codes that do not count as known: neither keys nor codes that single out half of the records."""
    known = {*data.schema.keys, *singling_codes(data)}
    return tuple(v.name for v in _rest(data) if v.kind is not Kind.NUMERIC and v.name not in known)


def without_role(data: Microdata, names: Sequence[str]) -> tuple[str, ...]:
    """Those of the variables whose role nobody declared."""
    return tuple(name for name in names if data.schema[name].role is Role.OTHER)


def alone_in(data: Microdata, names: Sequence[str]) -> NDArray[np.bool_]:
    """Records whose values of these variables no other record has, or no other respondent."""
    group = data.patterns(names).group
    found = np.bincount(group)[group] == 1
    entity = data.entity()
    return np.asarray(found if entity is None else found | _one_unit(group, entity))


def identifying_variables(data: Microdata) -> tuple[str, ...]:
    """Variables that work like an identifier: codes that are not keys, and numbers without a role."""
    return tuple(
        v.name for v in _rest(data) if (v.kind is not Kind.NUMERIC or v.role is Role.OTHER) and identifies(data, v.name)
    )


def identifies(data: Microdata, name: str) -> bool:
    """Whether half of the records have a value of a few records, or of one respondent or household."""
    group = data.patterns((name,)).group
    told = rare(data, group) & ~data.missing(name)
    return bool(told.sum() >= max(MOSTLY * data.n_records, 2))


def rare(data: Microdata, group: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Records in a group of a few records, or of one respondent or household."""
    found = np.bincount(group)[group] <= FEW
    for unit in (data.entity(), data.household()):
        if unit is not None:
            found |= _one_unit(group, unit)
    return np.asarray(found)


def _rest(data: Microdata) -> list[Variable]:
    keys = data.schema.keys
    return [v for v in data.schema.variables if v.name not in keys and v.role not in NEVER]


def _alone_together(data: Microdata, names: Sequence[str]) -> bool:
    if not names:
        return False
    group = data.patterns(names).group
    return bool((np.bincount(group)[group] == 1).sum() >= max(MOSTLY * data.n_records, 2))


def _one_unit(group: NDArray[np.int64], unit: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Records whose value one unit alone has."""
    low = np.full(int(group.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    high = np.full(low.size, -1, dtype=np.int64)
    np.minimum.at(low, group, unit)
    np.maximum.at(high, group, unit)
    return np.asarray((low == high)[group])
