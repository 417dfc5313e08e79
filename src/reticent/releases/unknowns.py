# SPDX-License-Identifier: Apache-2.0
"""The unknowns of a data set over its versions: which values and counts of different versions are the same unknown.

For one response a unit whose value did not change between versions is one unknown, a changed value is another. A count is
split by where its units are in the other versions: who stays in an atom is counted once.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from reticent.base.arrays import Ints
from reticent.base.errors import DataError
from reticent.data.facts import COUNT, Ground

OPEN = 2**62
"""Stands for an open end: larger than every sum of known bounds."""
NOBODY = -1


@dataclass(frozen=True, eq=False)
class Version:
    """One version of a data set: its ground, the marks of its records, and the true values (scaled) by response.

    Marks link versions; values are needed to link them, and to know what insiders know.
    """

    ground: Ground
    marks: Ints | None = None
    values: Mapping[str, Ints] = field(default_factory=dict)

    def __post_init__(self) -> None:
        arrays = {**self.values, **({} if self.marks is None else {"marks": self.marks})}
        for name, array in arrays.items():
            if len(array) != self.ground.n_units:
                raise DataError(f"Version: {name} must have one entry for each of the {self.ground.n_units} units.")


@dataclass(frozen=True, eq=False)
class Columns:
    """The unknowns of one response: what everybody knows of each, a guess (the truth, where it is given), whose it is.

    `codes` are those of the ground, a row per unknown (no column where versions are linked). `places[v]` has a row per place of
    version v and a column per unknown; None where places are the unknowns.
    """

    low: Ints
    high: Ints
    guess: Ints
    owner: Ints
    places: tuple[sparse.csr_array | None, ...]
    codes: Ints

    def weights(self, version: int, places: Ints, weights: Ints) -> tuple[Ints, Ints]:
        """The unknowns, and their weights, that places of a version with these weights stand for."""
        matrix = self.places[version]
        if matrix is None:
            return places.astype(np.int64), weights.astype(np.int64)
        chosen = matrix[places]
        row = np.repeat(np.arange(len(places)), np.diff(chosen.indptr))
        total = np.zeros(matrix.shape[1], dtype=np.int64)
        np.add.at(total, chosen.indices, weights[row])
        kept = np.flatnonzero(total)
        return kept.astype(np.int64), total[kept]

    def values(self, version: int, unknowns: Ints) -> Ints:
        """What values of the unknowns are at the places of a version."""
        matrix = self.places[version]
        return unknowns if matrix is None else np.asarray(matrix @ unknowns, dtype=np.int64)


def columns_of(versions: tuple[Version, ...], response: str) -> Columns:
    """The unknowns of a response, or of the counts."""
    low, high = _bounds(versions, response)
    if len(versions) == 1:
        ground = versions[0].ground
        if response == COUNT:
            guess = np.bincount(ground.atom_of_unit, minlength=ground.n_atoms).astype(np.int64)
            owner, codes = np.full(ground.n_atoms, NOBODY, dtype=np.int64), ground.codes
        else:
            guess = versions[0].values.get(response, np.zeros(ground.n_units, dtype=np.int64)).astype(np.int64)
            spare = ground.size(response) - ground.n_units
            guess = np.append(guess, np.zeros(spare, dtype=np.int64))
            owner = np.append(ground.entity_of_unit.astype(np.int64), np.full(spare, NOBODY, dtype=np.int64))
            codes = ground.codes[ground.atoms_of(response)]
        return replace(_columns(low, high, guess, owner, (None,)), codes=codes)
    if any(version.marks is None for version in versions):
        raise DataError("Versions of a data set are linked by record marks; a version has none.")
    return _linked_counts(versions, low, high) if response == COUNT else _linked_values(versions, response, low, high)


def _bounds(versions: tuple[Version, ...], response: str) -> tuple[int, int]:
    """The bounds that hold for every version."""
    ends = [version.ground.bounds_of(response) for version in versions]
    lows = [low for low, _ in ends if low is not None]
    highs = [high for _, high in ends if high is not None]
    low = min(lows) if len(lows) == len(ends) else -OPEN
    high = max(highs) if len(highs) == len(ends) else OPEN
    return low, high


def _columns(low: int, high: int, guess: Ints, owner: Ints, places: tuple[sparse.csr_array | None, ...]) -> Columns:
    n = len(guess)
    lows, highs = np.full(n, low, dtype=np.int64), np.full(n, high, dtype=np.int64)
    return Columns(lows, highs, np.clip(guess, lows, highs), owner, places, np.zeros((n, 0), dtype=np.int64))


def _linked_values(versions: tuple[Version, ...], response: str, low: int, high: int) -> Columns:
    """One unknown per record mark and value."""
    if any(response not in version.values for version in versions):
        raise DataError(f"Versions of a data set: the values of {response!r} are needed to see which of them changed.")
    marks = np.concatenate([_marks(version) for version in versions])
    values = np.concatenate([version.values[response] for version in versions]).astype(np.int64)
    owner = np.concatenate([version.ground.entity_of_unit for version in versions]).astype(np.int64)
    pairs = np.column_stack((marks, values))
    _, first, unit = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    ends = np.cumsum([0, *(version.ground.n_units for version in versions)])
    places = tuple(_one_each(unit[a:b].reshape(-1), len(first)) for a, b in itertools.pairwise(ends))
    return _columns(low, high, values[first], owner[first], places)


def _linked_counts(versions: tuple[Version, ...], low: int, high: int) -> Columns:
    """One unknown per combination of atoms over the versions; an empty atom may have units that stay, leave or come."""
    marks = np.unique(np.concatenate([_marks(version) for version in versions]))
    where = np.full((len(marks), len(versions)), NOBODY, dtype=np.int64)
    for v, version in enumerate(versions):
        where[np.searchsorted(marks, _marks(version)), v] = version.ground.atom_of_unit
    listed = [where]
    for v, version in enumerate(versions):
        alone = np.full((version.ground.n_atoms, len(versions)), NOBODY, dtype=np.int64)
        alone[:, v] = np.arange(version.ground.n_atoms)
        listed.append(alone)
    if len({version.ground.codes.tobytes() for version in versions}) == 1:
        listed.append(np.repeat(np.arange(versions[0].ground.n_atoms)[:, None], len(versions), axis=1))
    joint, of_row = np.unique(np.concatenate(listed), axis=0, return_inverse=True)
    guess = np.bincount(of_row.reshape(-1)[: len(marks)], minlength=len(joint)).astype(np.int64)
    places = []
    for v, version in enumerate(versions):
        columns = np.flatnonzero(joint[:, v] != NOBODY)
        shape = (version.ground.n_atoms, len(joint))
        ones = np.ones(len(columns), dtype=np.int64)
        places.append(sparse.csr_array((ones, (joint[columns, v], columns)), shape=shape))
    return _columns(low, high, guess, np.full(len(joint), NOBODY, dtype=np.int64), tuple(places))


def _marks(version: Version) -> Ints:
    assert version.marks is not None  # the caller has looked
    if len(np.unique(version.marks)) != len(version.marks):
        raise DataError("Version: each record needs a mark of its own.")
    return version.marks


def _one_each(unknown: Ints, n_unknowns: int) -> sparse.csr_array:
    n = len(unknown)
    return sparse.csr_array((np.ones(n, dtype=np.int64), (np.arange(n), unknown)), shape=(n, n_unknowns))
