# SPDX-License-Identifier: Apache-2.0
"""Records of all versions as the unknowns of one response: a value that did not change is one unknown, in columns by atoms.

Where values follow lines over those of an earlier version (`indexed`), a unit is the old value. Its columns are divided further
by the lines that the values of its record follow in each version, those of other responses too: if all but one person's pay rose
by an amount, the sum of pay times hours rose by that amount times the hours of all but one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints, Words
from reticent.data.microdata import Microdata
from reticent.kernels.grouping import group_columns
from reticent.queries.columns import ABSENT, Columns
from reticent.queries.fixed import fixed_point, product
from reticent.queries.indexed import Before


class Atoms(Protocol):
    """The records of one version and the atoms that they form."""

    data: Microdata
    ids: Words
    atom: Ints
    n_atoms: int


@dataclass(frozen=True)
class Stacked:
    """What is linked: for each layer its version, values (one column per factor), respondents, and marks that divide columns.

    Marks are numbers from 0 on, one column for each kind, of which there are `kinds`.
    """

    versions: Sequence[Atoms]
    values: Sequence[Floats]
    entities: Sequence[Ints]
    marks: Sequence[Ints]
    kinds: Sequence[int] = ()

    def columns(self, label: str, known: Sequence[int], *, different: bool) -> tuple[Columns, Ints]:
        """The units by the atoms and marks that they have; `known` respondents have columns of their own.

        Also the marks of each column, by layer and kind.
        """
        places, marks, values, entity, unit_at = self._units()
        keys = list(places.T.astype(np.int64)) + [
            marks[:, v, k] for k, _ in enumerate(self.kinds) for v in self._layers
        ]
        sizes = [version.n_atoms for version in self.versions] + [n for n in self.kinds for _ in self._layers]
        if known:
            place = np.searchsorted(known, entity).clip(max=len(known) - 1)
            keys.append(np.where(np.array(known)[place] == entity, place, ABSENT))
            sizes.append(len(known))
        group, n_columns = group_columns(keys, sizes)
        order = np.argsort(group, kind="stable")
        start = np.concatenate(([0], np.cumsum(np.bincount(group, minlength=n_columns)))).astype(np.int64)
        first = order[start[:-1]]
        factors = [fixed_point(column) for column in values[order].T]
        made = Columns(
            label,
            tuple(places[first].T),
            start,
            entity[order],
            factors[0] if len(factors) == 1 else product(factors),
            tuple(factors) if different else (),
            unit_at=_in_order(unit_at, order),
        )
        return made, marks[first]

    @property
    def _layers(self) -> range:
        return range(len(self.versions))

    def _units(self) -> tuple[Ints, Ints, Floats, Ints, list[Ints]]:
        """One unit for each record and value (of each factor): its atom in each layer (−1: none), marks, value, respondent.

        Also the unit of each record of each layer (−1: none).
        """
        if len(self.versions) == 1:
            present = ~np.isnan(self.values[0]).any(axis=1)
            atoms, marks = self.versions[0].atom[present][:, None], self.marks[0][present][:, None, :]
            unit_at = np.where(present, np.cumsum(present) - 1, ABSENT)
            return atoms, marks, self.values[0][present], self.entities[0][present], [unit_at]
        ids = np.concatenate([version.ids for version in self.versions])
        number = np.concatenate([np.full(version.data.n_records, v) for v, version in enumerate(self.versions)])
        flat = np.concatenate(self.values)
        keep = ~np.isnan(flat).any(axis=1)
        first, unit = _distinct(ids[keep], flat[keep])
        places = np.full((len(first), len(self.versions)), ABSENT, dtype=np.int64)
        places[unit, number[keep]] = np.concatenate([version.atom for version in self.versions])[keep]
        marks = np.zeros((*places.shape, self.marks[0].shape[1]), dtype=np.int64)
        marks[unit, number[keep]] = np.concatenate(self.marks)[keep]
        unit_of = np.full(len(flat), ABSENT, dtype=np.int64)
        unit_of[keep] = unit
        ends = np.cumsum([version.data.n_records for version in self.versions])[:-1]
        return places, marks, flat[keep][first], np.concatenate(self.entities)[keep][first], np.split(unit_of, ends)


def _in_order(unit_at: Sequence[Ints], order: Ints) -> tuple[Ints, ...]:
    """The units of records by their place in some order."""
    place = np.full(len(order) + 1, ABSENT, dtype=np.int64)  # the last one is for records without a unit
    place[order] = np.arange(len(order))
    return tuple(place[own] for own in unit_at)


def _distinct(ids: NDArray[np.uint64], values: Floats) -> tuple[Ints, Ints]:
    """The first row of each record with the same values, and which of them each row is."""
    named = np.empty(len(ids), dtype=[("id", np.uint64), *((f"value{k}", np.float64) for k in range(values.shape[1]))])
    named["id"] = ids
    for k in range(values.shape[1]):
        named[f"value{k}"] = values[:, k]
    _, first, unit = np.unique(named, return_index=True, return_inverse=True)
    return first, unit


def link_before(
    label: str, before: Before, power: int, stacked: Stacked, known: Sequence[int], others: Mapping[str, Before]
) -> Columns:
    """The unknowns of responses whose values count as before (`power` 2: of their squares).

    `others` are responses whose values rose by amounts; `stacked` has versions and respondents of each layer, and the values of
    another response if the unknowns are products with it.
    """
    versions = [layer.version for layer in before.layers]
    lines = [[own.line[own.layer_of(name, v)] for name, own in others.items()] for v in versions]
    more_factors = [stacked.values] if stacked.values else []
    whole = replace(
        stacked,
        values=[np.column_stack(factors) for factors in zip(*[before.values] * power, *more_factors)],
        marks=[np.column_stack([own, *more]) for own, more in zip(before.line, lines)],
        kinds=[len(before.lines), *(len(own.lines) for own in others.values())],
    )
    columns, marks = whole.columns(label, known, different=bool(stacked.values))
    rates = np.array(before.weights(power), dtype=object)
    amounts = {
        name: tuple(np.array(own.amounts, dtype=object)[marks[:, v, k]] for v in range(len(versions)))
        for k, (name, own) in enumerate(others.items(), start=1)
    }
    own_lines = tuple(marks[:, v, 0] for v in range(len(versions)))
    return replace(columns, weights=tuple(rates[line] for line in own_lines), lines=own_lines, amounts=amounts)
