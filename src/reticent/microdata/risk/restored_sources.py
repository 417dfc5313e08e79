# SPDX-License-Identifier: Apache-2.0
"""What else a file groups its records by: the members of a published household, and stretches of the order of a number.

Members who share a published household number say how large the household is and who is in it, although no column does. A
turnover says which size class a firm is in, although no two firms have the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from reticent.base.arrays import Floats, Ints
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role

LIMITS, PARTS = 128, 24
"""Different values up to which each is tried as a limit; of more values, the ends of this many parts of the records."""
MEMBER_CODES = 30
"""Different values of a variable up to which each is looked for among the other members of a household."""
FEW_CODES = 100
"""Codes of a variable among whose records a number is put in order."""
_NO_VALUES = (Role.IDENTIFIER, Role.ENTITY, Role.HOUSEHOLD_ID)
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
    """What the members of a published household have of each number together: its sum, mean, least and largest value."""
    household = masked.household()
    if household is None:
        return []
    found: list[tuple[tuple[str, ...], Floats]] = []
    size = np.bincount(household)
    for name in numbers_left(masked):
        own = masked.numbers((name,))[:, 0]
        total = np.bincount(household, weights=np.nan_to_num(own)).astype(np.float64)
        low, high = np.full(size.size, np.inf), np.full(size.size, -np.inf)
        np.fmin.at(low, household, own)
        np.fmax.at(high, household, own)
        for value in (total, total / np.maximum(size, 1), low, high):
            found.append(((name,), np.where(np.isfinite(value), value, np.nan)[household]))
    return found


def counted_members(masked: Microdata) -> list[tuple[tuple[str, ...], Groups]]:
    """Records by how many members of their household have a number below a limit (children, say), for some limits."""
    household = masked.household()
    if household is None:
        return []
    found: list[tuple[tuple[str, ...], Groups]] = []
    for variable in masked.schema.variables:
        if variable.kind is not Kind.NUMERIC or variable.role in (Role.IDENTIFIER, Role.ENTITY, Role.HOUSEHOLD_ID):
            continue
        own = masked.numbers((variable.name,))[:, 0]
        there = own[~np.isnan(own)]
        limits = np.unique(there)
        if limits.size > LIMITS:
            limits = np.unique(np.quantile(there, np.arange(1, PARTS) / PARTS))
        for limit in limits.tolist():
            many = np.bincount(household, weights=(own < limit).astype(np.float64))
            found.append(((variable.name,), _numbered(many[household])))
    return found


def paired_orders(
    masked: Microdata, groups: dict[str, Groups], columns: dict[str, Floats], most: int
) -> tuple[list[tuple[tuple[str, ...], Floats, Small]], int]:
    """Two numbers together (of which one may be a key), and numbers among the records of one code: names, order, groups.

    At most `most` orders; the second figure is how many pairs are left out.
    """
    keys = [v.name for v in masked.schema.variables if v.kind is Kind.NUMERIC and v.is_key and v.name in groups]
    all_numbers = {**columns, **{name: masked.numbers((name,))[:, 0] for name in keys}}
    both = [pair for pair in combinations(all_numbers, 2) if pair[0] in columns]
    codes = [n for n, (_, many) in groups.items() if 1 < many <= FEW_CODES and n not in columns]
    pairs = [(code, name) for code in sorted(codes, key=lambda code: groups[code][1]) for name in columns]
    everybody, found = np.zeros(masked.n_rows, dtype=np.int32), list[tuple[tuple[str, ...], Floats, Small]]()
    for names in both[: most // 4]:
        found += [(names, one, everybody) for one in combined_numbers(*(all_numbers[name] for name in names))]
    left = max(most - 4 * len(both), 0)
    for code, name in pairs[:left]:
        here = np.where(masked.missing(code), np.nan, columns[name])
        found.append(((code, name), here, groups[code][0]))
    return found, max(len(both) - most // 4, 0) + max(len(pairs) - left, 0)


@dataclass(frozen=True)
class Relatives:
    """What the other members of a published household have: records in groups, for each look at them.

    A household has one head, and the partner of a woman who is its head is a man: what one member hides, the others tell.
    """

    household: Small
    values: dict[str, Groups] = field(repr=False)
    blank: dict[str, NDArray[np.bool_]] = field(repr=False)

    @classmethod
    def of(cls, masked: Microdata) -> "Relatives | None":
        """None where no household number is published."""
        household = masked.household()
        if household is None:
            return None
        names = [v.name for v in masked.schema.variables if v.role not in _NO_VALUES]
        values = {name: _numbered(masked.patterns((name,)).group) for name in names}
        return cls(household.astype(np.int32), values, {name: masked.missing(name) for name in names})

    def all_values(self, name: str) -> Groups:
        """Records by which values of a variable the others have, whatever their order."""
        value, many = self.values[name]
        words = np.random.default_rng(0).integers(0, 2**63, many, dtype=np.uint64)[value]
        sums = np.zeros(int(self.household.max(initial=-1)) + 1, dtype=np.uint64)
        np.add.at(sums, self.household, words)
        return _numbered(sums[self.household] - words)

    def one_value(self, name: str, code: int) -> Groups:
        """Records by whether none, one or more of the others have one value, and whether that of another one is blank."""
        having = np.minimum(self._others(self.values[name][0] == code), 2)
        return (2 * having + (self._others(self.blank[name]) > 0)).astype(np.int32), 6

    def value_beside(self, name: str, code: int, key: str) -> Groups:
        """Records by their own value of a variable, and by the key of the one other member who has this value of it."""
        (own, many), (number, n_keys) = self.values[name], self.values[key]
        there = own == code
        having, found = self._others(there), self._others(np.where(there, number, 0))
        seen = np.where(having == 1, found, n_keys + np.minimum(having, 2))
        return (own * np.int64(n_keys + 3) + seen).astype(np.int32), many * (n_keys + 3)

    def _others(self, amounts: NDArray[np.bool_] | NDArray[np.integer]) -> Ints:
        """The sum over the other members of the household."""
        total = np.bincount(self.household, weights=amounts).astype(np.int64)
        return np.asarray(total[self.household] - amounts, dtype=np.int64)

    def looks(self, keys: Sequence[str], most: int) -> tuple[list["Look"], int]:
        """The first `most` looks, for one key or (none named) for all of them; and how many are left out."""
        few = sorted((n for n, (_, many) in self.values.items() if 1 < many <= MEMBER_CODES), key=self._codes)
        found = [Look((name,), None, partial(self.all_values, name)) for name in self.values]
        found += [Look((n,), None, partial(self.one_value, n, c)) for n in few for c in range(self._codes(n))]
        found += [
            Look((name, key), key, partial(self.value_beside, name, code, key))
            for name in few
            for key in keys
            if key != name and key in few
            for code in range(self._codes(name))
        ]
        return found[:most], max(len(found) - most, 0)

    def _codes(self, name: str) -> int:
        return self.values[name][1]


@dataclass(frozen=True)
class Look:
    """Variables of the other members, the key they are looked at for (None: any), and the groups."""

    names: tuple[str, ...]
    key: str | None
    groups: Callable[[], Groups] = field(repr=False)


def in_text_order(masked: Microdata, name: str) -> list[Floats]:
    """Codes by their place in the order of their texts, read from the beginning (postcodes, dates) and from the end."""
    encoded = masked.encoded(name)
    found = []
    for texts in (encoded.categories, [text[::-1] for text in encoded.categories]):
        place = np.full(len(texts) + 1, np.nan)
        place[np.argsort(np.array(texts, dtype=str), kind="stable")] = np.arange(len(texts))
        found.append(place[encoded.codes])
    return found


def combined_numbers(first: Floats, second: Floats) -> list[Floats]:
    """What two numbers give together: sum, difference, product and ratio."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        made = (first + second, first - second, first * second, first / second)
    return [np.where(np.isfinite(one), one, np.nan) for one in made]


def numbers_left(masked: Microdata) -> tuple[str, ...]:
    """Published numbers that are no keys."""
    roles = (Role.IDENTIFIER, Role.ENTITY, Role.HOUSEHOLD_ID)
    return tuple(
        v.name for v in masked.schema.variables if v.kind is Kind.NUMERIC and not v.is_key and v.role not in roles
    )


def _numbered(values: NDArray[Any]) -> Groups:
    _, group = np.unique(values, return_inverse=True)
    return group.ravel().astype(np.int32), int(group.max(initial=-1)) + 1


@dataclass(frozen=True)
class Ordered:
    """Records that have a number, in its order inside each group.

    `place` is the same for equal numbers, `home` is the group of each place.
    """

    records: Ints = field(repr=False)
    place: Ints = field(repr=False)
    home: Ints = field(repr=False)

    @classmethod
    def of(cls, number: Floats, within: Small) -> "Ordered":
        """Put records in order; those without a number are left out."""
        known = np.flatnonzero(~np.isnan(number))
        order = known[np.lexsort((number[known], within[known]))]
        new = np.append(True, (np.diff(number[order]) != 0) | (np.diff(within[order]) != 0))[: order.size]
        return cls(order, np.cumsum(new) - 1, within[order[new]].astype(np.int64))

    def shown_at(self, seen: Ints) -> Ints:
        """The value that all records of each place show; −1 where none shows one, −2 where they show several."""
        value = seen[self.records]
        shown = value >= 0
        low, high = np.full(self.home.size, np.iinfo(np.int64).max), np.full(self.home.size, -1, dtype=np.int64)
        np.minimum.at(low, self.place[shown], value[shown])
        np.maximum.at(high, self.place[shown], value[shown])
        return np.where(high < 0, -1, np.where(low == high, high, -2))


def stretches(order: Ordered, seen: Ints) -> tuple[Ints, int, float]:
    """Records by the stretches of an order in which all shown values are one, inside each group.

    A hidden value (−1) belongs to a stretch if its neighbours do, or if it is first or last; between two stretches, and where
    equal numbers show several values, records are alone. The last figure is the logarithm of the chance that every value has one
    stretch only in each group (0: some have several).
    """
    value, home = order.shown_at(seen), order.home
    shown = np.flatnonzero(value != -1)
    if not shown.size:
        return np.arange(seen.size), seen.size, 0.0
    new = np.append(True, (np.diff(value[shown]) != 0) | (np.diff(home[shown]) != 0)) | (value[shown] == -2)
    run = np.cumsum(new) - 1
    # the shown neighbours of each place (itself, if it shows something); those of other groups do not count
    at = np.arange(value.size)
    after = np.searchsorted(shown, at, "left").clip(max=shown.size - 1)
    before = (np.searchsorted(shown, at, "right") - 1).clip(min=0)
    left = np.where((shown[before] <= at) & (home[shown[before]] == home), run[before], -1)
    right = np.where((shown[after] >= at) & (home[shown[after]] == home), run[after], -1)
    own = np.where((left == right) | (right < 0), left, np.where(left < 0, right, -1))
    mixed = np.append(value[shown[new]] == -2, True)  # by run; the last is that of no run
    own = np.where(mixed[own], -1, own)[order.place]
    n_runs = int(run[-1]) + 1
    group = n_runs + np.arange(seen.size)
    group[order.records[own >= 0]] = own[own >= 0]
    there = seen[order.records] >= 0
    luck = _luck(seen[order.records][there], home[order.place][there], n_runs)
    return group, n_runs + seen.size, 0.0 if mixed[:-1].any() else luck


def _luck(value: Ints, home: Ints, n_runs: int) -> float:
    """How likely records in any order would have as few stretches as values; 0 where they have more."""
    cells, counts = np.unique(home * (int(value.max()) + 1) + value, return_counts=True)
    if cells.size < n_runs:
        return 0.0
    of = cells // (int(value.max()) + 1)
    values, records = np.bincount(of).astype(np.float64), np.bincount(of, weights=counts)
    log = special.gammaln
    return float(log(values + 1.0).sum() + log(counts + 1.0).sum() - log(records + 1.0).sum())
