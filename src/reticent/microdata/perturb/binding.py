# SPDX-License-Identifier: Apache-2.0
"""What all perturbative methods need of a file: its units, strata, keyed draws, and counts of what changed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import DataError, ParameterError
from reticent.base.randomness import Secret
from reticent.data.method import Method
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema
from reticent.kernels import draws
from reticent.kernels.ranking import stable_order

# Variables with these roles hold the file together; perturbing them would not protect anybody.
STRUCTURE = (Role.IDENTIFIER, Role.WEIGHT, Role.HOUSEHOLD_ID, Role.ENTITY)


@dataclass(frozen=True)
class Units:
    """What is perturbed as one: a record, or a whole household for household variables.

    `first` is the position of each unit's first record, `of` the unit of each record, `ids` what draws are keyed by.
    """

    first: Ints
    of: Ints
    ids: NDArray[np.uint64]

    @property
    def count(self) -> int:
        """Number of units."""
        return len(self.first)


def units(data: Microdata, names: Sequence[str], *, owner: str, hidden: bool = False) -> Units:
    """Records, or households where all the variables are household variables (one value for all members).

    Where the household id was removed, members are records again, unless `hidden` asks for households all the same.
    """
    shared = [data.schema[name].is_household for name in names]
    household = data.home() if hidden else data.household()
    if not any(shared) or household is None:
        return single_records(data)
    if not all(shared):
        mixed = tuple(names)
        raise DataError(
            f"{owner}: {', '.join(mixed)} mix variables of households and of persons; mask them in separate steps.",
            variables=mixed,
        )
    return whole_households(household, data.record_ids())


def respondents(data: Microdata, names: Sequence[str]) -> Ints | None:
    """Who the values belong to: the household where members share all of them, else the respondent; None: each record."""
    household = data.home()
    shared = household is not None and all(data.schema[name].is_household for name in names)
    return household if shared else data.entity()


def single_records(data: Microdata) -> Units:
    """Each record by itself, in the order of the ids: what is computed never depends on the order of the file."""
    ids = data.record_ids()
    if bool((ids[1:] > ids[:-1]).all()):
        same = np.arange(len(ids))
        return Units(same, same, ids)
    order = np.argsort(ids, kind="stable")
    of = np.empty(len(ids), dtype=np.int64)
    of[order] = np.arange(len(ids))
    return Units(order, of, ids[order])


def in_id_order(data: Microdata) -> Microdata:
    """The records in the order of their ids."""
    return data.rows(single_records(data).first)


def whole_households(household: Ints, ids: NDArray[np.uint64]) -> Units:
    """Each household as one, in the order of the household ids, keyed by the smallest id of its members."""
    _, first, of = np.unique(household, return_index=True, return_inverse=True)
    of = of.astype(np.int64).ravel()
    return Units(first.astype(np.int64), of, smallest_ids(of, ids))


def smallest_ids(group: Ints, ids: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The smallest id in each group (numbered from 0): it does not depend on the order of records."""
    smallest = np.full(int(group.max(initial=-1)) + 1, np.iinfo(np.uint64).max, dtype=np.uint64)
    np.minimum.at(smallest, group, ids)
    return smallest


def refuse_structure(schema: Schema, names: Sequence[str], *, owner: str, done: str) -> None:
    """Refuse weight, household id and entity: they say how records belong together, and no code may stand for several."""
    for name in names:
        role = schema[name].role
        if role in STRUCTURE and role is not Role.IDENTIFIER:
            raise DataError(f"{owner}: {name} is the {role} of the file and cannot be {done}.", variables=(name,))


def check_variables(
    schema: Schema, names: Sequence[str], *, owner: str, numeric: bool | None = None, weights: bool = False
) -> None:
    """Refuse unknown, repeated or structural variables (`weights`: but not weights), and the wrong kind if one is given."""
    if not names:
        raise ParameterError(f"{owner}: variables must name at least one variable.")
    if len(set(names)) != len(names):
        raise ParameterError(f"{owner}: a variable occurs twice in its list; each may occur once.")
    schema.require(names, owner=owner)
    for name in names:
        variable = schema[name]
        if variable.role in STRUCTURE and not (weights and variable.role is Role.WEIGHT):
            raise DataError(
                f"{owner}: {name} is the {variable.role} of the file and cannot be perturbed.", variables=(name,)
            )
        if numeric is not None and (variable.kind is Kind.NUMERIC) != numeric:
            wanted = "numeric" if numeric else "ordinal or nominal"
            raise DataError(f"{owner}: {name} must be {wanted}, it is declared {variable.kind}.", variables=(name,))


class OnNumbers(Method):
    """A method that changes numeric `variables` within `strata`."""

    variables: tuple[str, ...]
    strata: tuple[str, ...]

    def check(self, schema: Schema) -> None:
        """The variables are numeric, the strata known."""
        check_variables(schema, self.variables, owner=self.name, numeric=True)
        schema.require(self.strata, owner=self.name)


def strata_of(data: Microdata, names: Sequence[str], *, first: Ints) -> Ints:
    """The stratum number of each unit (all 0 without stratum variables)."""
    if not names:
        return np.zeros(len(first), dtype=np.int64)
    return data.patterns(names).group[first]


def slices(group: Ints) -> Iterator[Ints]:
    """The positions of each group in turn, ascending within it; O(n log n)."""
    if group.size == 0:
        return
    if int(group.min()) == int(group.max()):
        yield np.arange(group.size)
        return
    order = np.argsort(group, kind="stable")
    cuts = np.flatnonzero(np.diff(group[order])) + 1
    yield from np.split(order, cuts)


def keyed_normals(secret: Secret, name: str, ids: NDArray[np.uint64], columns: int) -> Floats:
    """Standard normals that depend on secret, name and record only."""
    return draws.normal_matrix(*secret.words(name), ids, columns)


def keyed_uniforms(secret: Secret, name: str, ids: NDArray[np.uint64]) -> Floats:
    """Uniforms in [0, 1) that depend on secret, name and record only."""
    return draws.uniforms(*secret.words(name), ids)


def order_with_drawn_ties(values: Floats, words: tuple[int, int], ids: NDArray[np.uint64], draw: int) -> Ints:
    """Positions by value; equal values are in an order drawn by record, not in that of the file."""
    order = stable_order(values)
    ordered = values[order]
    if not bool((ordered[1:] == ordered[:-1]).any()):
        return order
    return np.lexsort((draws.uniforms(*words, ids, draw), values))


def with_all_numbers(data: Microdata, names: Sequence[str], values: Floats) -> tuple[Microdata, dict[str, int]]:
    """Exchange numeric variables; also how many values changed in each."""
    before = data.numbers(names)
    changed: dict[str, int] = {}
    for position, name in enumerate(names):
        column = np.ascontiguousarray(values[:, position])
        changed[name] = differing(before[:, position], column)
        if changed[name]:
            data = data.with_numbers(name, column)
    return data, changed


def differing(before: Floats, after: Floats) -> int:
    """How many values differ; missing equals missing."""
    return int(((before != after) & ~(np.isnan(before) & np.isnan(after))).sum())


def missing_moved(names: tuple[str, ...], before: Microdata, after: Microdata) -> int:
    """Values that became missing, or were and are not any more."""
    return int((np.isnan(before.numbers(names)) != np.isnan(after.numbers(names))).sum())


def zeros_moved(names: tuple[str, ...], before: Microdata, after: Microdata) -> int:
    """Zeros that are no longer zero."""
    return int(((before.numbers(names) == 0) & (after.numbers(names) != 0)).sum())


def recoded(
    data: Microdata, codes: Mapping[str, NDArray[np.int32]], categories: Mapping[str, Sequence[str]] | None = None
) -> tuple[Microdata, dict[str, int]]:
    """Exchange the codes of categorical variables (categories as before if not given); also what changed."""
    changed: dict[str, int] = {}
    for name, column in codes.items():
        before: NDArray[Any] = data.encoded(name).codes
        changed[name] = int((before != column).sum())
        if changed[name]:
            new = data.categories(name) if categories is None else categories[name]
            data = data.with_codes(name, column.astype(np.int32), new)
    return data, changed


def joint_excess(before: Microdata, after: Microdata, names: Sequence[str], rows: Ints | None = None) -> int:
    """Records in combinations of `names` that are more frequent than before; 0 means the joint table is unchanged."""
    which = np.arange(before.n_records) if rows is None else rows
    joint = [np.zeros(len(which), dtype=np.int64), np.zeros(len(which), dtype=np.int64)]
    for name in names:
        place: dict[str, int] = {}
        for data in (before, after):
            for category in data.categories(name):
                place.setdefault(category, len(place) + 1)
        for side, data in enumerate((before, after)):
            number = np.array([0, *(place[category] for category in data.categories(name))])
            joint[side] = joint[side] * (len(place) + 1) + number[data.encoded(name).codes[which].astype(np.int64) + 1]
        both = np.unique(np.concatenate(joint), return_inverse=True)[1]
        joint = [both[: len(which)], both[len(which) :]]
    size = int(max(joint[0].max(), joint[1].max())) + 1
    surplus = np.bincount(joint[1], minlength=size) - np.bincount(joint[0], minlength=size)
    return int(surplus[surplus > 0].sum())
