# SPDX-License-Identifier: Apache-2.0
"""Where facts are stated: the atoms and units of one version of a data set, with the decimals and values of its responses."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from reticent.base.arrays import Floats, Ints, Mask
from reticent.base.errors import DataError
from reticent.base.randomness import Secret
from reticent.data.facts import COUNT, LARGEST, MISSING, OWN, Ground, Interval
from reticent.data.microdata import Microdata
from reticent.data.record_marks import record_words
from reticent.data.schema import Kind
from reticent.kernels.grouping import group_columns
from reticent.tabulation.assemble import MAX_DECIMALS
from reticent.tabulation.dependence import Ranges, ranges_of, rules_of
from reticent.tabulation.near_atoms import HiddenCells, near_atoms
from reticent.tabulation.tabulate import decimals_of

MOST_ATOMS = 200_000
"""Up to this many combinations are listed, empty ones included; of more, only those that occur and some near them."""
ABSENT_OR_NOT = ("there", "missing")
Bounds = Mapping[str, tuple[float | None, float | None]]
Near = Callable[[Ints, Sequence[int]], Ints]


def missing_of(response: str) -> str:
    """The variable that says whether a response is missing: which values are missing is known to everybody."""
    return f"{response} is missing"


@dataclass(frozen=True, eq=False)
class GroundedData:
    """A ground with the confidential data that it was made of; facts about them are stated in whole numbers.

    A response is counted in steps of 10^−`decimals`. Missing values are not unknowns: sums leave their units out. `ranges` are
    numbers that go with codes. Those of the names in `counted` follow from the codes alone: sums of them are sums of counts.
    """

    ground: Ground
    data: Microdata = field(repr=False)
    decimals: Mapping[str, int]
    ranges: tuple[Ranges, ...] = ()
    counted: frozenset[str] = frozenset()

    def whole(self, response: str) -> Ints:
        """The true values of a response in units of its last decimal (missing: 0)."""
        if response not in self._whole:
            values = np.nan_to_num(self.data.numbers((response,))[:, 0], nan=0.0)
            self._whole[response] = np.rint(values * 10.0 ** self.decimals[response]).astype(np.int64)
        return self._whole[response]

    @cached_property
    def _whole(self) -> dict[str, Ints]:
        return {}

    @property
    def values(self) -> dict[str, Ints]:
        """The true values of all responses."""
        return {name: self.whole(name) for name in self.decimals}

    def marks(self, secret: Secret) -> Ints:
        """A keyed number of each record, the same in every version of the data that has it."""
        return record_words(self.data, secret)[:, 0].astype(np.int64)

    def units(self, response: str, units: Ints) -> Ints:
        """Those of some units that have a value of a response."""
        return units[self.there(response)[units]]

    def there(self, response: str) -> Mask:
        """Which units have a value of a response."""
        if response not in self._there:
            self._there[response] = ~self.data.missing(response)
        return self._there[response]

    @cached_property
    def _there(self) -> dict[str, Mask]:
        return {}

    def by_atom(self, response: str) -> Ints:
        """What a record of each atom adds to a response that follows from codes, in units of its last decimal."""
        if response not in self._by_atom:
            own = next(one for one in self.ranges if one.response == response and one.determined)
            codes = self.ground.codes[:, self.ground.variables.index(own.variable)]
            values = np.where(np.isfinite(own.low), own.low, 0.0)[codes]
            self._by_atom[response] = np.rint(values * 10.0 ** self.decimals[response]).astype(np.int64)
        return self._by_atom[response]

    @cached_property
    def _by_atom(self) -> dict[str, Ints]:
        return {}

    def truth(self, response: str) -> Ints:
        """The true value of each unknown of a response (or of counts); nothing is in empty atoms."""
        if response == COUNT:
            return self.counts
        spare = self.ground.size(response) - self.ground.n_units
        return np.append(self.whole(response), np.zeros(spare, dtype=np.int64)) if spare else self.whole(response)

    @cached_property
    def counts(self) -> Ints:
        """The true number of records of each atom."""
        return np.bincount(self.ground.atom_of_unit, minlength=self.ground.n_atoms).astype(np.int64)


def ground_of(
    data: Microdata,
    variables: Sequence[str],
    *,
    responses: Sequence[str] = (),
    bounds: Bounds | None = None,
    most: int = MOST_ATOMS,
    hidden: Sequence[HiddenCells] = (),
    shown: Sequence[str] = (),
) -> GroundedData:
    """The ground of some data: `variables` is everything a release may select by, `responses` what it may add up.

    Without `bounds` a response is known to be at least 0 where no value is negative, and nothing is known otherwise. Where
    not all combinations can be listed, those are where records of `hidden` cells could be. A combination that breaks a rule
    between variables, which the records show, is none: everybody knows that it is empty. Of the numbers that files have
    `shown` it is looked for what goes with which codes.
    """
    names = tuple(dict.fromkeys(variables))
    data.schema.require((*names, *responses), owner="ground")
    columns, categories = zip(*(_column(data, name) for name in names), strict=True) if names else ((), ())
    absent = [name for name in responses if bool(data.missing(name).any())]
    columns = (*columns, *(data.missing(name).astype(np.int64) for name in absent))
    categories = (*categories, *(ABSENT_OR_NOT for _ in absent))
    own_names = (*names, *(missing_of(name) for name in absent))

    def near(codes: Ints, sizes: Sequence[int]) -> Ints:
        return near_atoms(codes, sizes, own_names, categories, hidden)

    codes, atom, complete = _atoms(columns, categories, data.n_records, most, near)
    n_there = int(atom.max(initial=-1)) + 1
    for rule in rules_of(columns, [len(texts) for texts in categories]):
        kept = rule.possible(codes)
        kept[:n_there] = True
        codes = codes[kept]
    decimals = {name: _decimals(data, name) for name in responses}
    own = {name: _bounds(data, name, decimals[name], (bounds or {}).get(name)) for name in responses}
    ground = Ground(own_names, categories, codes, atom, _entities(data), own, complete)
    return GroundedData(ground, data, decimals, tuple(_ranges(data, shown, names, columns, categories)))


def _ranges(
    data: Microdata,
    shown: Sequence[str],
    names: Sequence[str],
    columns: Sequence[Ints],
    categories: Sequence[Sequence[str]],
) -> Iterator[Ranges]:
    """The numbers that go with the codes of a variable."""
    for response in (name for name in shown if name not in names):
        values = data.numbers((response,))[:, 0]
        for name, codes, texts in zip(names, columns, categories, strict=False):
            found = ranges_of(response, values, name, codes, len(texts))
            if found is not None:
                yield found


def _column(data: Microdata, name: str) -> tuple[Ints, tuple[str, ...]]:
    """The codes of a variable and all its categories, those that only the schema lists included."""
    variable = data.schema[name]
    encoded = data.encoded(name)
    listed = variable.codes or (variable.hierarchy.leaves if variable.hierarchy else ())
    texts = tuple(dict.fromkeys((*encoded.categories, *(code for code in listed if code not in variable.missing))))
    return encoded.codes.astype(np.int64), texts


def _atoms(
    columns: Sequence[Ints], categories: Sequence[tuple[str, ...]], n_records: int, most: int, near: Near
) -> tuple[Ints, Ints, bool]:
    """The codes of the atoms, the atom of each record, and whether all combinations are listed."""
    if not columns:
        return np.zeros((1, 0), dtype=np.int64), np.zeros(n_records, dtype=np.int64), True
    atom, n_atoms = group_columns(list(columns), [len(texts) for texts in categories])
    first = np.empty(n_atoms, dtype=np.int64)
    first[atom[::-1]] = np.arange(n_records - 1, -1, -1)
    codes = np.column_stack([column[first] for column in columns]).astype(np.int64)
    least = np.array([MISSING if bool((column < 0).any()) else 0 for column in columns])
    sizes = [len(texts) - int(low) for texts, low in zip(categories, least, strict=True)]
    if math.prod(sizes) > most:
        return np.concatenate((codes, near(codes - least, sizes) + least)), atom.astype(np.int64), False
    every = np.column_stack(np.unravel_index(np.arange(math.prod(sizes)), sizes)).astype(np.int64)
    there = np.ravel_multi_index(tuple((codes - least).T), sizes)
    empty = np.ones(len(every), dtype=bool)
    empty[there] = False
    return np.concatenate((codes, every[empty] + least)), atom.astype(np.int64), True


def _entities(data: Microdata) -> Ints:
    """The respondent of each record; a record without one is its own."""
    entity = data.entity()
    if entity is None:
        return np.arange(data.n_records, dtype=np.int64)
    own = int(entity.max(initial=-1)) + 1 + np.arange(data.n_records, dtype=np.int64)
    return np.where(entity >= 0, entity, own)


def _decimals(data: Microdata, name: str) -> int:
    if name in (COUNT, OWN) or data.schema[name].kind is not Kind.NUMERIC:
        raise DataError(f"ground: the response {name!r} must be a numeric variable.", variables=(name,))
    values = data.numbers((name,))[:, 0]
    found = decimals_of(values)
    if found is None:
        raise DataError(
            f"ground: {name!r} has more than {MAX_DECIMALS} decimals; round it, so that sums are exact.",
            variables=(name,),
        )
    if float(np.nansum(np.abs(values))) * 10.0**found >= LARGEST:
        raise DataError(f"ground: sums of {name!r} are too large to be exact; round it.", variables=(name,))
    return found


def _bounds(data: Microdata, name: str, decimals: int, given: tuple[float | None, float | None] | None) -> Interval:
    values: Floats = data.numbers((name,))[:, 0]
    if given is None:
        return (0, None) if not bool((values < 0).any()) else (None, None)
    low, high = given
    scale = 10.0**decimals
    ends = (
        None if low is None or not math.isfinite(low) else math.ceil(low * scale - 1e-9),
        None if high is None or not math.isfinite(high) else math.floor(high * scale + 1e-9),
    )
    inside = np.rint(values[~np.isnan(values)] * scale)
    if (ends[0] is not None and bool((inside < ends[0]).any())) or (
        ends[1] is not None and bool((inside > ends[1]).any())
    ):
        raise DataError(f"ground: the bounds of {name!r} do not hold for all records; widen them.", variables=(name,))
    return ends
