# SPDX-License-Identifier: Apache-2.0
"""The unknowns of a data set over its versions: which values and counts of different versions are the same unknown.

For one response a unit whose value did not change between versions is one unknown, a changed value is another. A count is
split by where its records are in the other versions (`histories.py`): who stays in an atom is counted once.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from reticent.base.arrays import Ints, Mask
from reticent.base.errors import DataError
from reticent.data.facts import COUNT, Ground
from reticent.releases.histories import Between, Crossing, Member, histories_of

OPEN = 2**62
"""Stands for an open end: larger than every sum of known bounds."""
NOBODY = -1


@dataclass(frozen=True, eq=False)
class Version:
    """One version of a data set: its ground, the marks of its records, and the true values (scaled) by response.

    Marks link versions; values are needed to link them, and to know what insiders know. Somebody can be at the `possible`
    atoms (None: at all of them); `common` has their codes by numbers that mean the same in all versions (None: as in the
    ground). With `between` it is no version but what is known of several of them together.
    """

    ground: Ground
    marks: Ints | None = None
    values: Mapping[str, Ints] = field(default_factory=dict)
    name: str = ""
    possible: Mask | None = None
    common: Ints | None = None
    between: Between | None = None

    def __post_init__(self) -> None:
        arrays = {**self.values, **({} if self.marks is None else {"marks": self.marks})}
        for name, array in arrays.items():
            if len(array) != self.ground.n_units:
                raise DataError(f"Version: {name} must have one entry for each of the {self.ground.n_units} units.")


def linked(
    versions: Sequence[Version], crossing: Mapping[str, Crossing] | None = None, n_rows: int = 0
) -> tuple[Version, ...]:
    """Several versions and, after them, what is known between them.

    `crossing` has sums over units of several versions, which facts of the last one may name by their rows.
    """
    members = [
        Member(own.name, own.ground, _marks(own), own.ground.codes if own.common is None else own.common, own.possible)
        for own in versions
    ]
    between = Between(histories_of(members), crossing or {}, n_rows)
    return (*versions, Version(between.ground(), between=between))


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
        np.add.at(total, chosen.indices, chosen.data * weights[row])
        kept = np.flatnonzero(total)
        return kept.astype(np.int64), total[kept]

    def values(self, version: int, unknowns: Ints) -> Ints:
        """What values of the unknowns are at the places of a version."""
        matrix = self.places[version]
        return unknowns if matrix is None else np.asarray(matrix @ unknowns, dtype=np.int64)


def columns_of(versions: tuple[Version, ...], response: str) -> Columns:
    """The unknowns of a response, or of the counts."""
    if len(versions) > 1:
        return _linked_counts(versions) if response == COUNT else _linked_values(versions, response)
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
    low, high = (np.full(len(guess), end, dtype=np.int64) for end in _ends(ground, response))
    return Columns(low, high, np.clip(guess, low, high), owner, (None,), codes)


def _ends(ground: Ground, response: str) -> tuple[int, int]:
    low, high = ground.bounds_of(response)
    return -OPEN if low is None else low, OPEN if high is None else high


def _linked_counts(versions: tuple[Version, ...]) -> Columns:
    """One unknown per way in which records can be somewhere in all versions."""
    own = next((version.between for version in versions if version.between is not None), None)
    if own is None:
        raise DataError("Versions of a data set are judged with what is known between them; link them first.")
    found, n = own.histories, len(own.histories.guess)
    places: list[sparse.csr_array | None] = []
    for v, version in enumerate(versions):
        if version.between is not None:
            each = sparse.eye_array(n, dtype=np.int64, format="csr")
            sums = _tall(found.sums, version.ground.n_atoms - n)
            places.append(sparse.csr_array(sparse.vstack((sums, each), format="csr")))
            continue
        columns = np.flatnonzero(found.where[:, v] != NOBODY)
        ones, shape = np.ones(len(columns), dtype=np.int64), (version.ground.n_atoms, n)
        places.append(sparse.csr_array((ones, (found.where[columns, v], columns)), shape=shape))
    if any(version.ground.bounds_of(COUNT) != (0, None) for version in versions):
        raise DataError("Versions of a data set: bounds of counts belong into facts, not into the ground.")
    low, high = np.zeros(n, dtype=np.int64), np.full(n, OPEN, dtype=np.int64)
    return _columns(low, high, found.guess, np.full(n, NOBODY, dtype=np.int64), tuple(places))


def _tall(matrix: sparse.csr_array, n_rows: int) -> sparse.csr_array:
    """A matrix with this many rows, empty ones at its end."""
    more = sparse.csr_array((n_rows - matrix.shape[0], matrix.shape[1]), dtype=np.int64)
    return sparse.csr_array(sparse.vstack((matrix, more), format="csr"))


def _columns(low: Ints, high: Ints, guess: Ints, owner: Ints, places: tuple[sparse.csr_array | None, ...]) -> Columns:
    return Columns(low, high, np.clip(guess, low, high), owner, places, np.zeros((len(guess), 0), dtype=np.int64))


def _linked_values(versions: tuple[Version, ...], response: str) -> Columns:
    """One unknown per record mark and value, one per atom that is empty in all versions; known bounds of all versions hold."""
    real = [version for version in versions if version.between is None]
    if any(response not in version.values for version in real):
        raise DataError(f"Versions of a data set: the values of {response!r} are needed to see which of them changed.")
    marks = np.concatenate([_marks(version) for version in real])
    values = np.concatenate([version.values[response] for version in real]).astype(np.int64)
    owner = np.concatenate([version.ground.entity_of_unit for version in real]).astype(np.int64)
    _, first, unit = np.unique(np.column_stack((marks, values)), axis=0, return_index=True, return_inverse=True)
    ends = np.cumsum([0, *(version.ground.n_units for version in real)])
    units = [unit.reshape(-1)[a:b] for a, b in itertools.pairwise(ends)]
    spare = _spare(real, response)
    n = len(first) + len(spare)
    low, high = np.full(n, -OPEN, dtype=np.int64), np.full(n, OPEN, dtype=np.int64)
    places: list[sparse.csr_array | None] = []
    for version, own in zip(real, units, strict=True):
        ground = version.ground
        empty = ground.empty if response in ground.spare else np.zeros(0, dtype=np.int64)
        shared = np.flatnonzero(np.isin(empty, spare))
        columns = np.concatenate((own, len(first) + np.searchsorted(spare, empty[shared])))
        rows = np.concatenate((np.arange(ground.n_units), ground.n_units + shared))
        ones, shape = np.ones(len(rows), dtype=np.int64), (ground.size(response), n)
        places.append(sparse.csr_array((ones, (rows, columns)), shape=shape))
        least, most = _ends(ground, response)
        low[columns], high[columns] = np.maximum(low[columns], least), np.minimum(high[columns], most)
    for version in versions:
        if version.between is not None:
            places.append(_crossing(version.between, response, units, n))
    guess = np.append(values[first], np.zeros(len(spare), dtype=np.int64))
    return _columns(low, high, guess, np.append(owner[first], np.full(len(spare), NOBODY)), tuple(places))


def _spare(real: Sequence[Version], response: str) -> Ints:
    """The atoms that are empty in all versions, so that whoever could be there is there in all of them with one value.

    An atom that is empty in some of them is taken to be known as empty there, which makes the attacker stronger.
    """
    if any(response not in version.ground.spare for version in real):
        return np.zeros(0, dtype=np.int64)
    n = real[0].ground.n_atoms
    empty = np.ones(n, dtype=bool)
    for version in real:
        own = np.zeros(n, dtype=bool)
        own[version.ground.empty] = True
        empty &= own if version.possible is None else own & version.possible
    return np.flatnonzero(empty)


def _crossing(between: Between, response: str, units: Sequence[Ints], n: int) -> sparse.csr_array:
    """The sums over units of several versions, as rows over unknowns."""
    own = between.crossing.get(response)
    if own is None:
        return sparse.csr_array((between.n_rows, n), dtype=np.int64)
    at = np.array([units[v][unit] for v, unit in zip(own.version.tolist(), own.unit.tolist(), strict=True)], np.int64)
    return sparse.csr_array((own.weight.astype(np.int64), (own.row, at)), shape=(between.n_rows, n))


def _marks(version: Version) -> Ints:
    if version.marks is None:
        raise DataError("Versions of a data set are linked by record marks; a version has none.")
    if len(np.unique(version.marks)) != len(version.marks):
        raise DataError("Version: each record needs a mark of its own.")
    return version.marks
