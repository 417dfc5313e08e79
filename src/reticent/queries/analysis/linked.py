# SPDX-License-Identifier: Apache-2.0
"""Records of all versions of a data set as one list, so that near pairs are counted over versions.

A unit is a record with its values: a record whose values change between versions (other than all in one way), or that gets
another id, is another unit, but of the same respondent, whose pairs are counted on. Strata are those of each version; a unit
that is not in a version is put there by the codes it has elsewhere.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reticent.base.arrays import Floats, Ints, Mask, Words
from reticent.kernels.grouping import group_columns
from reticent.queries.canonical import Universe, Version

NOWHERE = "\0"


@dataclass(frozen=True)
class Units:
    """The unit of each row of each version, the respondent of each unit, and its stratum by each version, the last first.

    `place` is the same for units that no condition tells apart, `generation` counts the units that a record has been, and `key`
    is what draws know a unit by: the record's id, for later generations with the values. So a set with a changed value is
    drawn again, and what it loses does not cancel against what it lost before. `known` are those of respondents whose values
    the policy calls public: they hide nobody.
    """

    of_rows: tuple[Ints, ...]
    respondent: Ints
    strata: tuple[Ints, ...]
    place: Ints
    generation: Ints
    key: Words
    known: Mask


def link_units(universe: Universe, strata: Sequence[tuple[str, ...]]) -> Units:
    """Link the records of all versions by id; `strata` are the filters that form the strata of each version."""
    versions = universe.versions
    ids = np.concatenate([version.data.record_ids() for version in versions])
    unit, first = np.arange(len(ids), dtype=np.int64), np.arange(len(ids), dtype=np.int64)
    generation, key = np.zeros(len(ids), dtype=np.int64), ids
    if len(versions) > 1:
        values = np.column_stack([_values(universe, name) for name in universe.policy.responses])
        named = np.column_stack([ids, np.ascontiguousarray(values).view(np.uint64)])
        _, first, unit = np.unique(named, axis=0, return_index=True, return_inverse=True)
        generation, key = _generations(named[first], first)
    ends = np.cumsum([version.data.n_records for version in versions])[:-1]
    of_rows = tuple(np.split(unit.reshape(-1).astype(np.int64), ends))
    owner = np.concatenate([universe.entities(number) for number in range(len(versions))])[first]
    _, respondent = np.unique(owner, return_inverse=True)
    views: list[Ints] = []
    for own in reversed(range(len(versions))):
        labels = _labels(versions, strata[own])
        view = np.zeros(len(first), dtype=np.int64)
        for number in (
            *(n for n in range(len(versions)) if n != own),
            own,
        ):  # its own codes decide where there are some
            view[of_rows[number]] = labels[number][versions[number].atom]
        if not any(np.array_equal(view, other) for other in views):
            views.append(view)
    place, _ = group_columns(list(_atoms(versions, of_rows, len(first)).T), [v.n_atoms for v in versions])
    known = np.isin(owner, np.fromiter(universe.known_entities(), dtype=np.int64))
    return Units(of_rows, respondent.astype(np.int64), tuple(views), np.asarray(place), generation, key, known)


def _generations(named: Words, first: Ints) -> tuple[Ints, Words]:
    """Which unit of its record each one is, by the first row that has it, and the keys of all."""
    order = np.lexsort((first, named[:, 0]))
    new = np.append(True, np.diff(named[order, 0]) != 0)
    runs = np.arange(len(order)) - np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    generation = np.empty(len(order), dtype=np.int64)
    generation[order] = runs
    key = named[:, 0].copy()
    for unit in np.flatnonzero(generation).tolist():
        digest = hashlib.blake2b(np.ascontiguousarray(named[unit]).tobytes(), digest_size=8).digest()
        key[unit] = int.from_bytes(digest, "little")
    return generation, key


def _atoms(versions: Sequence[Version], of_rows: Sequence[Ints], n_units: int) -> Ints:
    """The atom of each unit in each version, −1 where it is not."""
    found = np.full((n_units, len(versions)), -1, dtype=np.int64)
    for number, (version, units) in enumerate(zip(versions, of_rows)):
        found[units, number] = version.atom
    return found


def _values(universe: Universe, response: str) -> Floats:
    """The values of all versions; those that all changed in one way are as they were before."""
    before = universe.before(response)
    if before is None:
        return np.concatenate([version.data.numbers((response,))[:, 0] for version in universe.versions])
    return np.concatenate([before.values[before.layer_of(response, v)] for v in range(len(universe.versions))])


def _labels(versions: Sequence[Version], names: tuple[str, ...]) -> list[Ints]:
    """The stratum of each atom of each version, the same number for the same codes."""
    texts: list[list[tuple[str, ...]]] = []
    for version in versions:
        columns = [[(*version.levels[name].texts, NOWHERE)[code] for code in version.codes[name]] for name in names]
        texts.append(list(zip(*columns)) if columns else [()] * version.n_atoms)
    number = {label: place for place, label in enumerate(sorted(set().union(*map(set, texts))))}
    return [np.array([number[label] for label in own], dtype=np.int64) for own in texts]
