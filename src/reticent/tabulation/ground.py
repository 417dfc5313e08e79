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
from reticent.tabulation.dependence import Ranges, everything_known, ranges_of
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
class Surroundings:
    """What releases have: `hidden` cells, numbers that files have `shown`, and variables that stand `apart`, two by two.

    Those that stand apart are in tables no one of which crosses both; everybody knows which of their codes go together.
    """

    hidden: Sequence[HiddenCells] = ()
    shown: Sequence[str] = ()
    apart: Sequence[tuple[str, str]] = ()


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
    possible: Mask | None = field(default=None, repr=False)
    """Of one of several versions: the atoms where somebody can be by its own codes and rules."""
    common: Ints | None = field(default=None, repr=False)
    """Of one of several versions: the codes of the atoms by numbers that mean the same in all of them."""

    def whole(self, response: str) -> Ints:
        """The true values of a response in units of its last decimal (missing: 0, also of all where the data do not have it)."""
        if response not in self._whole and response not in self.data.schema:
            self._whole[response] = np.zeros(self.ground.n_units, dtype=np.int64)
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
            self._there[response] = ~_absent(self.data, response)
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
    releases: Surroundings | None = None,
) -> GroundedData:
    """The ground of some data: `variables` is everything a release may select by, `responses` what it may add up.

    Without `bounds` a response is known to be at least 0 where no value is negative, and nothing is known otherwise. Where
    not all combinations can be listed, those are where records of cells that the `releases` hide could be. A combination that
    breaks a rule between variables, which the records show, is none: everybody knows that it is empty. Of the numbers that files
    have shown it is looked for what goes with which codes.
    """
    beside = releases or Surroundings()
    names = tuple(dict.fromkeys(variables))
    data.schema.require((*names, *responses), owner="ground")
    columns, categories = zip(*(_column(data, name) for name in names), strict=True) if names else ((), ())
    absent = [name for name in responses if bool(data.missing(name).any())]
    columns = (*columns, *(data.missing(name).astype(np.int64) for name in absent))
    categories = (*categories, *(ABSENT_OR_NOT for _ in absent))
    own_names = (*names, *(missing_of(name) for name in absent))

    def near(codes: Ints, sizes: Sequence[int]) -> Ints:
        return near_atoms(codes, sizes, own_names, categories, beside.hidden)

    codes, atom, complete = _atoms(columns, categories, data.n_records, most, near)
    n_there = int(atom.max(initial=-1)) + 1
    for rule in everything_known(columns, [len(texts) for texts in categories], _numbers(beside.apart, own_names)):
        kept = rule.possible(codes)
        kept[:n_there] = True
        codes = codes[kept]
    decimals = {name: _decimals(data, name) for name in responses}
    own = {name: _bounds(data, name, decimals[name], (bounds or {}).get(name)) for name in responses}
    ground = Ground(own_names, categories, codes, atom, _entities(data), own, complete)
    return GroundedData(ground, data, decimals, tuple(_ranges(data, beside.shown, names, columns, categories)))


def grounds_of(
    versions: Sequence[Microdata],
    variables: Sequence[str],
    *,
    responses: Sequence[str] = (),
    entities: Sequence[Ints],
    most: int = MOST_ATOMS,
    releases: Surroundings | None = None,
) -> tuple[GroundedData, ...]:
    """The grounds of several versions of a data set, with the same atoms and decimals; see `ground_of`.

    Each has its own variables and codes. Where a version does not have the codes of an atom, it counts as missing there, and
    nobody can be at that atom. `entities` has the respondent of each record, by numbers that mean the same in all versions.
    """
    beside = releases or Surroundings()
    names = tuple(dict.fromkeys(variables))
    absent = [name for name in responses if any(bool(_absent(data, name).any()) for data in versions)]
    every = (*names, *(missing_of(name) for name in absent))
    read = [
        [_column_if(data, name) for name in names] + [_whether_if(data, name) for name in absent] for data in versions
    ]
    categories = tuple(tuple(dict.fromkeys(t for own in read for t in own[at][1])) for at in range(len(every)))
    columns = [[_recoded(*own, categories[at]) for at, own in enumerate(one)] for one in read]

    def near(codes: Ints, sizes: Sequence[int]) -> Ints:
        return near_atoms(codes, sizes, every, categories, beside.hidden)

    stacked = [np.concatenate([own[at] for own in columns]) for at in range(len(every))]
    codes, atom, complete = _atoms(stacked, categories, sum(data.n_records for data in versions), most, near)
    atoms = np.split(atom, np.cumsum([data.n_records for data in versions])[:-1])
    texts = [[own for _, own in one] for one in read]
    pairs = _numbers(beside.apart, every)
    masks = [_possible(own, codes, at, (listed, categories), pairs) for own, at, listed in zip(columns, atoms, texts)]
    kept = np.logical_or.reduce(masks)
    codes, number = codes[kept], np.cumsum(kept) - 1
    decimals = {name: max(_decimals(data, name) for data in versions if name in data.schema) for name in responses}
    made = []
    for v, data in enumerate(versions):
        own = [at for at, name in enumerate((*names, *absent)) if name in data.schema]
        mine = np.column_stack([_recoded(codes[:, at], categories[at], texts[v][at]) for at in own] or [codes[:, :0]])
        bounds = {name: _bounds(data, name, decimals[name], None) for name in responses if name in data.schema}
        ground = Ground(
            tuple(every[at] for at in own), tuple(texts[v][at] for at in own), mine, number[atoms[v]], entities[v],
            bounds, complete,
        )  # fmt: skip
        known = [name for name in names if name in data.schema]
        ranges = _ranges(
            data,
            [n for n in beside.shown if n in data.schema],
            known,
            [read[v][at][0] for at in own],
            ground.categories,
        )
        made.append(GroundedData(ground, data, decimals, tuple(ranges), possible=masks[v][kept], common=codes))
    return tuple(made)


def _numbers(apart: Sequence[tuple[str, str]], names: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of variables by their numbers."""
    return [(names.index(one), names.index(other)) for one, other in apart if one in names and other in names]


def _possible(
    columns: Sequence[Ints],
    codes: Ints,
    atom: Ints,
    texts: tuple[Sequence[Sequence[str]], Sequence[Sequence[str]]],
    apart: Sequence[tuple[int, int]],
) -> Mask:
    """The atoms where records of one version can be: with its codes, and not against the rules that its records show."""
    found = np.ones(len(codes), dtype=bool)
    listed, categories = texts
    for at, own in enumerate(listed):
        able = np.array([*(text in {*own} for text in categories[at]), bool((columns[at] < 0).any())])
        found &= able[codes[:, at]]  # the last stands for what is missing
    for rule in everything_known(columns, [len(one) for one in categories], apart):
        found &= rule.possible(codes)
    found[atom] = True
    return found


def _whether_if(data: Microdata, name: str) -> tuple[Ints, tuple[str, ...]]:
    """Whether a response is missing in each record; of data that do not have it nothing is said."""
    if name in data.schema:
        return data.missing(name).astype(np.int64), ABSENT_OR_NOT
    return np.full(data.n_records, MISSING, dtype=np.int64), ()


def _column_if(data: Microdata, name: str) -> tuple[Ints, tuple[str, ...]]:
    if name in data.schema:
        return _column(data, name)
    return np.full(data.n_records, MISSING, dtype=np.int64), ()


def _recoded(codes: Ints, texts: Sequence[str], every: Sequence[str]) -> Ints:
    """Codes by their places in another list of texts; what it does not have is missing."""
    place = {text: at for at, text in enumerate(every)}
    return np.array([*(place.get(text, MISSING) for text in texts), MISSING], dtype=np.int64)[codes]


def _absent(data: Microdata, name: str) -> Mask:
    """Which records have no value of a variable; all, if the data do not have it."""
    return data.missing(name) if name in data.schema else np.ones(data.n_records, dtype=bool)


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
