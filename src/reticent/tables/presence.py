# SPDX-License-Identifier: Apache-2.0
"""Where everybody knows somebody to be: cells of other responses that are not empty, or whose changed sum cannot be 0.

A count is at least the number of such cells within it that have no records in common, whatever is published of it.
"""

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from reticent.base.arrays import Floats, Ints, Mask
from reticent.data.published_table import MAGNITUDE
from reticent.data.table import Dimension, Table
from reticent.kernels.grouping import group_columns
from reticent.tables.apriori import Knowledge
from reticent.tables.attack.public import floor_of
from reticent.tables.joint import Judged
from reticent.tables.outcome import Outcome
from reticent.tabulation.code_columns import CodeColumns
from reticent.tabulation.linked import System, column_in, common_dimension

Told = tuple[System, Mask]
"""The cells of one response, and in which of them everybody knows somebody to be."""
Implied = Mapping[str, Mapping[str, Mapping[str, str]]]
"""What the code of a variable says of another one: by variable, other variable and code, where each code has one."""
NOTHING: Implied = MappingProxyType({})


def implied_by(columns: CodeColumns) -> Implied:
    """Variables whose codes say that of another one, as a district says its region, though these are two variables."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for one, other in itertools.permutations(range(len(columns.columns)), 2):
        mine, its = columns.columns[one], columns.columns[other]
        both = None if mine.name == its.name else columns.together((one, other))
        if both is not None and len(np.unique(both[0][:, 0])) == len(both[0]):
            said = {mine.codes[code]: its.codes[to] for code, to in both[0].tolist()}
            found.setdefault(mine.name, {}).setdefault(its.name, {}).update(said)
    return found


def told_by_sums(parts: Sequence[Judged], outcome: Outcome) -> list[Told]:
    """What published sums tell of presence: those of these responses, one behind the other in the outcome.

    Noise leaves a 0 as it is, so that what is published as another number is not 0. Of other methods the intervals say it.
    """
    if outcome.values is None or outcome.low is None or outcome.high is None:
        return []
    shown = (outcome.low > 0) | (outcome.high < 0)
    if not outcome.additive:
        shown |= outcome.values != 0
    return [
        (one.system, shown[span] if one.aside is None else shown[span] & ~one.aside)
        for one, span in zip(parts, _spans([one.system for one in parts]), strict=True)
        if one.system.table.kind == MAGNITUDE
    ]


def with_presence(outcome: Outcome, systems: Sequence[System], told: Sequence[Told]) -> Outcome:
    """The outcome in which a count is at least what one respondent counts wherever a sum tells that somebody is there."""
    if outcome.values is None or outcome.low is None or not told:
        return outcome
    floors = [_floors(system, told) for system in systems]
    low = outcome.low.copy()
    for span, floor in zip(_spans(systems), floors, strict=True):
        low[span] = np.maximum(low[span], floor)
    single = tuple(
        one if one.low is None else replace(one, low=np.maximum(one.low, floor))
        for one, floor in zip(outcome.single, floors if outcome.single else (), strict=True)
    )
    return replace(outcome, low=low, single=single)


def _spans(systems: Sequence[System]) -> list[slice]:
    ends = np.cumsum([0, *(system.table.n_cells for system in systems)]).tolist()
    return [slice(start, stop) for start, stop in itertools.pairwise(ends)]


def _floors(system: System, told: Sequence[Told]) -> Floats:
    """What each cell of a response is at least by the presence that sums tell; nothing is known of other sums."""
    table = system.table
    if table.kind == MAGNITUDE:
        return np.full(table.n_cells, -np.inf)
    people = people_told(table, told)
    return np.where(people > 0, np.minimum(_of_one(table) * people, table.values), -np.inf)


def not_empty(system: System, latent: Collection[int]) -> Told:
    """In which cells everybody sees somebody where empty cells are shown as such; `latent` tables nobody sees."""
    table = system.table
    seen = np.zeros(table.n_cells, dtype=bool)
    for number, members in enumerate(system.members):
        seen[members] |= number not in latent
    return system, seen & ~table.listed_empty & (table.counted | (table.values != 0))


def with_people(knowledge: Knowledge, table: Table, told: Sequence[Told], implied: Implied = NOTHING) -> Knowledge:
    """The knowledge in which each count is at least the people that other responses tell of.

    What one person has at least of a sum, or at most of losses, each of them has. Ends that a cell does not keep nobody knows.
    """
    people = np.maximum(people_told(table, told, implied), 1)
    if not (people > 1).any():
        return knowledge
    nothing = np.full(table.n_cells, -np.inf), np.full(table.n_cells, np.inf)
    low, high = nothing if knowledge.of_one is None else knowledge.of_one
    least = np.where(low > 0, low * people, low)
    most = np.where(high < 0, high * people, high)
    if table.kind != MAGNITUDE:
        least = np.maximum(least, _of_one(table) * people)
    ends = np.where(least <= table.values, least, low), np.where(most >= table.values, most, high)
    return replace(knowledge, of_one=ends)


def people_told(table: Table, told: Sequence[Told], implied: Implied = NOTHING) -> Ints:
    """How many people everybody knows to be in each cell of a table at least: nobody is in two cells without common records.

    Cells of another response lie within those whose codes theirs imply.
    """
    found = np.zeros(table.n_cells, dtype=np.int64)
    for system, shown in told:
        for part, members in zip(system.parts, system.members, strict=True):
            there = shown[members]
            finest = np.ones(part.n_cells, dtype=bool)
            for at, dimension in enumerate(part.dimensions):
                finest &= _undivided(dimension)[part.codes[:, at]]
            wide = _with_implied(part, table, implied)
            found = np.maximum(found, np.minimum(_cells_within(table, wide, there), 1))
            found = np.maximum(found, _cells_within(table, wide, there & finest))
    return found


def _with_implied(part: Table, table: Table, implied: Implied) -> Table:
    """A table with the dimensions of another one that the codes of its cells imply; their total where nothing is said."""
    for wanted in table.dimensions:
        said = (
            []
            if wanted.name in part.names
            else [own for own in part.dimensions if wanted.name in implied.get(own.name, {})]
        )
        if said:
            columns = [_node_said(own, wanted, implied)[part.codes[:, part.names.index(own.name)]] for own in said]
            codes = np.column_stack((part.codes, np.max(columns, axis=0))).astype(np.int32)
            part = replace(part, dimensions=(*part.dimensions, wanted), codes=codes)
    return part


def _node_said(own: Dimension, wanted: Dimension, implied: Implied) -> Ints:
    """The node of another dimension that each code says; of several that contain the same cell the deepest is the last."""
    code_of = implied[own.name][wanted.name]
    return np.array([wanted.index.get(code_of.get(code, ""), 0) for code in own.codes], dtype=np.int64)


def _undivided(dimension: Dimension) -> Mask:
    """The codes of the first tree that have no parts in it: no record has two of them."""
    first = dimension.trees[0]
    found = np.asarray(first >= -1)
    found[first[first >= 0]] = False
    return found


def _cells_within(table: Table, part: Table, chosen: Mask) -> Ints:
    """How many of the chosen cells of another table lie in each cell of a table, by the codes of the variables that both have."""
    rows = np.flatnonzero(chosen)
    columns: list[Ints] = []
    part = replace(part, dimensions=tuple(_as_called_in(table, dimension) for dimension in part.dimensions))
    dimensions = [
        common_dimension(own.name, [own, *(d for d in part.dimensions if d.name == own.name)])
        for own in table.dimensions
    ]
    for dimension in dimensions:
        indptr, above = dimension.ancestors
        nodes = column_in(dimension, part)[rows]
        sizes = np.diff(indptr)[nodes]
        rows, columns = np.repeat(rows, sizes), [np.repeat(column, sizes) for column in columns]
        within = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        columns.append(above[np.repeat(indptr[nodes], sizes) + within].astype(np.int64))
    joined = [
        np.concatenate((column_in(dimension, table).astype(np.int64), column))
        for dimension, column in zip(dimensions, columns, strict=True)
    ]
    number, groups = group_columns(joined, [len(dimension) for dimension in dimensions])
    return np.bincount(number[table.n_cells :], minlength=groups)[number[: table.n_cells]]


def _as_called_in(table: Table, dimension: Dimension) -> Dimension:
    """The dimension of another table with the code that this table has for its total."""
    own = next((d for d in table.dimensions if d.name == dimension.name), dimension)
    return (
        dimension if own.codes[0] in dimension.index else replace(dimension, codes=(own.codes[0], *dimension.codes[1:]))
    )


def _of_one(table: Table) -> float:
    """What a cell with somebody in it counts at least."""
    return max(floor_of(table.kind, unit=10.0**-table.decimals, told_apart=True), table.least)
