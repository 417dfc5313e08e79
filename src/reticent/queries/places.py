# SPDX-License-Identifier: Apache-2.0
"""Where the records and conditions of a query database are in the ground on which all releases state their facts."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints, Mask
from reticent.base.errors import DataError
from reticent.queries.canonical import RecordSet, Universe, Version
from reticent.queries.columns import ABSENT
from reticent.queries.conditions import truth_of
from reticent.queries.design import lower_bound
from reticent.queries.fixed import fixed_point
from reticent.queries.levels import Levels
from reticent.queries.modes import Cell, Request
from reticent.queries.terms import Factor, transformed
from reticent.tabulation.ground import GroundedData, missing_of

NOWHERE = -2


@dataclass(frozen=True, eq=False)
class Places:
    """Where the records and conditions of one version of a database are in the ground."""

    grounded: GroundedData
    universe: Universe
    number: int
    _levels: dict[str, tuple[NDArray[np.int32], Levels]] = field(default_factory=dict, repr=False)

    @property
    def version(self) -> Version:
        """The version that is asked about."""
        return self.universe.versions[self.number]

    @cached_property
    def unit_of_record(self) -> Ints:
        """The unit of each record of the version, by its id."""
        mine, theirs = self.grounded.data.record_ids(), self.version.data.record_ids()
        order = np.argsort(mine, kind="stable")
        at = np.minimum(np.searchsorted(mine[order], theirs), len(mine) - 1)
        if len(mine) != len(theirs) or not bool((mine[order][at] == theirs).all()):
            raise DataError("facts: the ground and the database are of different records; make it of this version.")
        return np.asarray(order[at], dtype=np.int64)

    def units(self, records: RecordSet, response: str) -> Ints:
        """The units of a record set that have a value of a response."""
        found = np.sort(self.unit_of_record[self.universe.records(records)])
        return self.grounded.units(response, found) if response in self.grounded.decimals else found

    def levels(self, name: str) -> tuple[NDArray[np.int32], Levels]:
        """The level of each atom of the ground for a filter, and the levels: all numbers that the ground has count as such."""
        if name not in self._levels:
            ground, own = self.grounded.ground, self.version.levels[name]
            if name not in ground.variables:
                raise DataError(f"facts: the ground does not have the filter {name!r}; name it among its variables.")
            at = ground.variables.index(name)
            texts = ground.categories[at]
            if own.cutpoints:
                of = [int(np.searchsorted(np.array(own.cutpoints), float(t), side="right")) for t in texts]
            elif own.numbers is not None:
                numbers = np.array([float(text) for text in texts])
                own, of = Levels(texts, numbers=numbers, ordered=True), list(range(len(texts)))
            else:
                place = {text: position for position, text in enumerate(own.texts)}
                of = [place.get(text, NOWHERE) for text in texts]
            self._levels[name] = (np.array([*of, ABSENT], dtype=np.int32)[ground.codes[:, at]], own)
        return self._levels[name]

    def numbers(self, factor: Factor) -> NDArray[np.object_]:
        """A number, or its transform, at each atom of the ground as whole multiples of one unit (missing: 0)."""
        ground = self.grounded.ground
        at = ground.variables.index(factor.variable)
        plain = np.array([float(text) for text in ground.categories[at]])
        whole = fixed_point(transformed(plain, factor.transform, lower_bound(self.universe.policy, factor))).integers
        return np.append(whole.astype(object), 0)[ground.codes[:, at]]

    def at_atoms(self, factor: Factor) -> NDArray[np.object_] | None:
        """A known number at each atom of the ground, as whole multiples of one unit; None if its codes do not tell it."""
        if factor.variable in self.grounded.counted and not factor.transform:
            return self.grounded.by_atom(factor.variable).astype(object)
        return self.numbers(factor) if factor.variable in self.grounded.ground.variables else None

    def atoms(self, request: Request, cell: Cell, present: tuple[str, ...]) -> Ints:
        """The atoms of a cell, empty ones included, with a value of some variables."""
        query, ground = request.query, self.grounded.ground
        found = {name: self.levels(name) for name in query.condition_variables}
        codes = {name: levels[0] for name, levels in found.items()}
        inside = truth_of(query.where, codes, {name: own[1] for name, own in found.items()}, ground.n_atoms)[0]
        for name, label in zip(query.by, cell.group, strict=True):
            if label is not None:
                inside = inside & self.labelled(name, label)
        for name in present:
            inside = inside & self._present(name)
        return np.flatnonzero(inside)

    def labelled(self, name: str, label: str) -> Mask:
        """The atoms of the ground that have a code of a filter."""
        codes, levels = self.levels(name)
        if levels.numbers is not None:
            return np.asarray(np.isin(codes, np.flatnonzero(levels.numbers == float(label))))
        return np.asarray(codes == levels.texts.index(label))

    def _present(self, name: str) -> Mask:
        ground, asked = self.grounded.ground, name if name in self.version.levels else missing_of(name)
        if asked not in ground.variables:
            return np.ones(ground.n_atoms, dtype=bool)
        codes = ground.codes[:, ground.variables.index(asked)]
        return np.asarray(codes >= 0 if asked == name else codes == 0)
