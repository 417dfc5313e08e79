# SPDX-License-Identifier: Apache-2.0
"""What a release tells and what must stay unknown: linear statements over the unknowns of a data set, in whole numbers.

The unknowns are the values of the units of each response, the numbers of respondents in the atoms, and auxiliary unknowns
of a release itself. All numbers are scaled to whole numbers by the declared decimals of the response.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from reticent.base.arrays import Ints
from reticent.base.errors import DataError

COUNT = "*"
"""The response of counts: the unknowns are the numbers of respondents (or records) in the atoms."""
OWN = "*own"
"""The auxiliary unknowns that a release brings itself; no variable can have this name."""
MISSING = -1
"""The code of an atom whose records have no value of a variable."""
LARGEST = 2**53
"""Whole numbers in facts are below this, so that a float holds each of them exactly."""
FEW = 32
"""Up to this many numbers are looked at one by one, which is quicker than as arrays; very many facts have so few."""

Interval = tuple[int | None, int | None]
"""Both ends of what everybody knows; None is an open end."""


@dataclass(frozen=True, eq=False)
class Ground:
    """Where facts are stated: the units and atoms of one version of a data set.

    Atoms are combinations of codes at the finest level, those that occur first, then empty ones as far as they are listed.
    With `complete` all combinations are listed; otherwise it is assumed to be known that the others are empty, so that
    what is proved safe stays safe, while what is exposed by this assumption alone is not proved.

    Whoever is in an empty atom has values too. For the responses in `spare`, those that relations connect with counts, the
    sum in each empty atom is an unknown as well: after the units, in the order of the atoms.
    """

    variables: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]
    codes: Ints
    atom_of_unit: Ints
    entity_of_unit: Ints
    bounds: Mapping[str, Interval] = field(default_factory=dict)
    complete: bool = False
    spare: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        n = len(self.variables)
        if len(self.categories) != n or self.codes.ndim != 2 or self.codes.shape[1] != n:
            raise DataError(f"Ground: categories and codes must have one column for each of the {n} variables.")
        sizes = np.array([len(codes) for codes in self.categories], dtype=np.int64)
        if self.codes.size and ((self.codes < MISSING) | (self.codes >= sizes)).any():
            raise DataError("Ground: a code is not among the categories of its variable.")
        if len(self.atom_of_unit) != len(self.entity_of_unit):
            raise DataError("Ground: atom_of_unit and entity_of_unit must have one entry for each unit.")
        _check_places(self.atom_of_unit, self.n_atoms, "Ground: atom_of_unit")
        for name, (low, high) in self.bounds.items():
            _check_ends(low, high, f"Ground: the bounds of {name!r}")
            if name in self.spare and ((low is not None and low > 0) or (high is not None and high < 0)):
                raise DataError(f"Ground: the bounds of {name!r} must allow 0, which is its sum where nobody is.")

    @property
    def n_atoms(self) -> int:
        """Number of atoms listed."""
        return len(self.codes)

    @property
    def n_units(self) -> int:
        """Number of units (records)."""
        return len(self.atom_of_unit)

    def size(self, response: str) -> int:
        """Number of unknowns of a response (or of counts)."""
        if response == COUNT:
            return self.n_atoms
        return self.n_units + (len(self.empty) if response in self.spare else 0)

    @cached_property
    def empty(self) -> Ints:
        """The atoms without units."""
        there = np.zeros(self.n_atoms, dtype=bool)
        there[self.atom_of_unit] = True
        return np.flatnonzero(~there)

    def atoms_of(self, response: str) -> Ints:
        """The atom of each unknown of a response (or of counts)."""
        if response == COUNT:
            return np.arange(self.n_atoms)
        return np.concatenate((self.atom_of_unit, self.empty)) if response in self.spare else self.atom_of_unit

    def spare_places(self, response: str, atoms: Ints) -> Ints:
        """The unknowns of a response in those of some atoms that are empty."""
        if response not in self.spare:
            return np.zeros(0, dtype=np.int64)
        chosen = np.zeros(self.n_atoms, dtype=bool)
        chosen[atoms] = True
        return self.n_units + np.flatnonzero(chosen[self.empty])

    def bounds_of(self, response: str) -> Interval:
        """What everybody knows about each unknown of a response; counts are never negative."""
        return self.bounds.get(response, (0, None) if response == COUNT else (None, None))


@dataclass(frozen=True, eq=False)
class Term:
    """Σ weights · unknown[places] of one response: atoms for `COUNT`, auxiliary unknowns for `OWN`, units otherwise.

    >>> Term("turnover", np.array([2, 5]), np.array([1, -1]))
    <Term: 2 unknowns of turnover>
    """

    response: str
    places: Ints
    weights: Ints

    def __post_init__(self) -> None:
        _check_weights(self.places, self.weights, f"Term: {self.response}")

    def __repr__(self) -> str:
        return f"<Term: {len(self.places)} unknowns of {self.response}>"

    @classmethod
    def total(cls, response: str, places: Ints) -> "Term":
        """The plain sum of some unknowns."""
        return cls.times(response, places, 1)

    @classmethod
    def times(cls, response: str, places: Ints, weight: int) -> "Term":
        """The sum of some unknowns with one weight, which is one number in memory for however many of them."""
        if len(places) <= FEW:
            return cls(response, places, np.full(len(places), weight, dtype=np.int64))
        return cls(response, places, np.broadcast_to(np.int64(weight), len(places)))


@dataclass(frozen=True, eq=False)
class Fact:
    """low ≤ Σ terms ≤ high in units of the last decimal; None is an open end.

    A relation that is stated of every class of records has a name: stated of all parts of a class, it says more than of the
    class.
    """

    terms: tuple[Term, ...]
    low: int | None
    high: int | None
    relation: str = ""

    def __post_init__(self) -> None:
        if not self.terms:
            raise DataError("Fact: at least one term is needed.")
        if self.low is None and self.high is None:
            raise DataError("Fact: at least one end is needed; a fact that is open at both ends reveals nothing.")
        _check_ends(self.low, self.high, "Fact")

    @classmethod
    def exact(cls, terms: tuple[Term, ...], value: int) -> "Fact":
        """An equation."""
        return cls(terms, value, value)

    @property
    def is_exact(self) -> bool:
        """Whether it is an equation."""
        return self.low is not None and self.low == self.high


@dataclass(frozen=True, eq=False)
class Watch:
    """A sum that must stay unknown: what the attacker can infer about it must cover [low, high].

    `name` says in codes what it is, `release` what hides it; both are in sentences. With `known_inside` some
    respondents know it already; it is kept from everybody else, other respondents too.
    """

    response: str
    places: Ints
    weights: Ints
    low: int
    high: int
    name: str
    release: str
    known_inside: bool = False

    def __post_init__(self) -> None:
        _check_weights(self.places, self.weights, f"Watch: {self.name}")
        _check_ends(self.low, self.high, f"Watch: {self.name}")
        if self.response == OWN:
            raise DataError(f"Watch: {self.name} must be of counts or of a response, not of auxiliary unknowns.")


@dataclass(frozen=True, eq=False)
class Facts:
    """What one release tells, and what it watches.

    `own` are the bounds of its auxiliary unknowns. A release that may reveal more than its facts is not certified;
    `beyond` says what. Where facts state more than the release tells, `assumes` says what: what is safe with them is safe,
    what they expose is undecided.
    """

    release: str
    facts: tuple[Fact, ...]
    own: tuple[tuple[int, int | None], ...] = ()
    watches: tuple[Watch, ...] = ()
    certified: bool = True
    beyond: str = ""
    assumes: str = ""

    def __post_init__(self) -> None:
        if not self.release:
            raise DataError("Facts: the release needs a name; sentences name it.")
        for low, high in self.own:
            _check_ends(low, high, f"Facts of {self.release}: bounds of an auxiliary unknown")
        for fact in self.facts:
            for term in fact.terms:
                if term.response == OWN:
                    _check_places(term.places, len(self.own), f"Facts of {self.release}: auxiliary unknowns")
        if not self.certified and not self.beyond:
            raise DataError(f"Facts of {self.release}: beyond must say what it may reveal where it is not certified.")

    def __repr__(self) -> str:
        return f"<Facts of {self.release}: {len(self.facts)} facts, {len(self.watches)} watches>"

    def check(self, ground: Ground) -> None:
        """Refuse places that the ground does not have."""
        for term in (term for fact in self.facts for term in fact.terms if term.response != OWN):
            _check_places(term.places, ground.size(term.response), f"Facts of {self.release}: {term.response}")
        for watch in self.watches:
            _check_places(watch.places, ground.size(watch.response), f"Facts of {self.release}: {watch.name}")

    def responses(self) -> frozenset[str]:
        """The responses that it tells or watches."""
        told = {term.response for fact in self.facts for term in fact.terms if term.response != OWN}
        return frozenset(told | {watch.response for watch in self.watches})


def _check_weights(places: Ints, weights: Ints, where: str) -> None:
    for name, array in (("places", places), ("weights", weights)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise DataError(f"{where}: {name} must be a list of whole numbers.")
    if len(places) != len(weights):
        raise DataError(f"{where}: places and weights must have the same length.")
    rising = _rising(places)  # as most are, so that nothing need be sorted
    if len(places) and (places[0] if rising else places.min()) < 0:
        raise DataError(f"{where}: places are counted from 0.")
    if not rising and len(np.unique(places)) != len(places):
        raise DataError(f"{where}: each place may occur only once; add its weights up.")
    _check_size(_extremes(weights), f"{where}: weights")


def _rising(places: Ints) -> bool:
    if len(places) <= FEW:
        return all(a < b for a, b in pairwise(places.tolist()))
    return bool((places[1:] > places[:-1]).all())


def _extremes(numbers: Ints) -> Sequence[int]:
    """Some numbers, or only the least and the largest of many."""
    if len(numbers) <= FEW:
        few: list[int] = numbers.tolist()
        return few
    return int(numbers.min()), int(numbers.max())


def _check_places(places: Ints, size: int, where: str) -> None:
    if any(place < 0 or place >= size for place in _extremes(places)):
        raise DataError(f"{where}: places must be from 0 to {size - 1}.")


def _check_ends(low: int | None, high: int | None, where: str) -> None:
    if low is not None and high is not None and low > high:
        raise DataError(f"{where}: the lower end must not be above the upper one.")
    _check_size((end for end in (low, high) if end is not None), where)


def _check_size(numbers: Iterable[int], where: str) -> None:
    if any(number >= LARGEST or number <= -LARGEST for number in numbers):
        raise DataError(f"{where}: whole numbers must be below 2^53; declare fewer decimals.")
