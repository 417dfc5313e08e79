# SPDX-License-Identifier: Apache-2.0
"""Combinations of codes that no table shows, though tables show each part of them: none of them is below zero.

Turnover by region and size, by size and industry and by region and industry says more than each two of these tables do: there
must be turnover by all three that adds up to them. Where variables can be taken away one after another, as region and size
beside size and industry, there always is.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from reticent.base.arrays import Floats, Ints, Mask
from reticent.data.cells import CellStatus
from reticent.data.microdata import Microdata
from reticent.data.table import DimensionSpec, Table, TableSpec
from reticent.solve.highs import solve
from reticent.solve.model import LinearModel
from reticent.tables.protection import Judgement
from reticent.tables.request import WantedTable
from reticent.tabulation.dimensions import build_dimension
from reticent.tabulation.joint import Combinations
from reticent.tabulation.linked import System

MOST_COMBINATIONS = 5_000
"""So many combinations of one response are unknowns of the program at most."""
MOST_WHOLE = 200
"""Up to this many combinations of people are whole numbers to the attacker."""
_NOISE = 1e-9  # of the largest value
_EVEN = 0.5  # of an even share of a cell is what a combination in it has at least, where it can be

Variables = frozenset[str]


def combinations_of(
    wanted: Sequence[WantedTable], system: System, verdict: Judgement, *, hide_empty: bool
) -> tuple[tuple[Combinations, ...], tuple[str, ...]]:
    """The combinations of codes of which tables of a response show parts, and what to say about those that are not judged.

    Where the response is below zero somewhere, nobody knows anything of them.
    """
    if len(wanted) < 3 or bool((system.table.values < 0).any()):
        return (), ()
    nobody = verdict.status == CellStatus.EMPTY
    empty = np.zeros_like(nobody) if hide_empty else nobody
    found, left = [], []
    for names in circles([_variables(part) for part in system.parts]):
        one = _combined(wanted, system, names, empty, hide_empty=hide_empty)
        if one is None:
            left.append(_not_judged(names))
        elif len(one.values):
            found.append(one)
    return tuple(found), tuple(left)


def circles(shapes: Sequence[Variables]) -> list[Variables]:
    """The sets of variables of which tables show parts that go round in a circle.

    A variable of one table only says nothing of others, nor does a table that another contains; what is left when both are
    taken away again and again are circles.

    >>> [sorted(one) for one in circles([frozenset("adb"), frozenset("bc"), frozenset("ac"), frozenset("ce")])]
    [['a', 'b', 'c']]
    >>> circles([frozenset("ab"), frozenset("bc"), frozenset("ac"), frozenset("abc")])
    []
    """
    left = set(shapes)
    while True:
        shared = {name for one in left for name in one if sum(name in other for other in left) > 1}
        kept = {one & shared for one in left}
        kept = {one for one in kept if one and not any(one < other for other in kept)}
        if kept == left:
            return _connected(left)
        left = kept


def _connected(shapes: set[Variables]) -> list[Variables]:
    """The variables of tables that have some in common, directly or through others."""
    found: list[Variables] = []
    for one in sorted(shapes, key=sorted):
        beside = [other for other in found if other & one]
        found = [other for other in found if other not in beside]
        found.append(one.union(*beside))
    return found


@dataclass(frozen=True, eq=False)
class _Variable:
    """The finest codes of a variable that its tables show together: for each of them its code in each way of showing it."""

    specs: Sequence[DimensionSpec]
    codes: Sequence[Sequence[str]]
    of_record: Ints

    def __len__(self) -> int:
        return len(self.codes[0])

    @classmethod
    def of(cls, data: Microdata, specs: Sequence[DimensionSpec]) -> "_Variable":
        """All leaves of the one way in which tables have a variable; of several those together that some record has."""
        built = [build_dimension(data, spec) for spec in specs]
        nodes = [own[data.encoded(specs[0].variable).codes].astype(np.int64) for _, own in built]
        if len(specs) == 1:
            leaves = np.flatnonzero(built[0][0].is_leaf)
            return cls(specs, [[built[0][0].codes[leaf] for leaf in leaves]], np.searchsorted(leaves, nodes[0]))
        every, of_record = np.unique(np.column_stack(nodes), axis=0, return_inverse=True)
        codes = [[dimension.codes[node] for node in own] for (dimension, _), own in zip(built, every.T, strict=True)]
        return cls(specs, codes, of_record.reshape(-1))


def _combined(
    wanted: Sequence[WantedTable], system: System, names: Variables, empty: Mask, *, hide_empty: bool
) -> Combinations | None:
    """The combinations of the codes of some variables; None where they are too many or nobody can say what is in them."""
    data, like = wanted[0].records, wanted[0].source
    if not isinstance(data, Microdata) or not isinstance(like, TableSpec):
        return None
    if any(one.records is not data or one.redesign is not None for one in wanted):
        return None
    chosen = {name: _specs(wanted, name) for name in sorted(names)}
    if hide_empty and any(len(specs) > 1 for specs in chosen.values()):
        return None  # codes that go together would say that nobody has others
    read = {name: _Variable.of(data, specs) for name, specs in chosen.items()}
    sizes = [len(own) for own in read.values()]
    if math.prod(sizes) > MOST_COMBINATIONS:
        return None
    number = np.ravel_multi_index([own.of_record for own in read.values()], sizes)
    values = np.bincount(number, _of_records(data, like), minlength=math.prod(sizes)).astype(np.float64)
    return _added_up(system, _placed(wanted, system, read), values, empty)


def _added_up(system: System, placed: Sequence[Ints], values: Floats, empty: Mask) -> Combinations | None:
    """The combinations that may have somebody, and the rows of all cells that are `placed` in them (-1: nobody is there)."""
    there = np.logical_and.reduce([(own >= 0) & ~empty[own] for own in placed])
    if (values < 0).any():  # though none of their sums is: nobody knows that, and it is not so
        return Combinations(np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64), (), whole=False)
    size = _NOISE * (1.0 + float(system.table.values.max(initial=0.0)))
    rows = []
    for own in placed:
        added = np.bincount(own[there], values[there], minlength=system.table.n_cells)
        cells = np.unique(own[own >= 0])
        if (np.abs(added - system.table.values)[cells] > size).any():
            return None
        place = np.flatnonzero(there)
        order = np.argsort(own[place], kind="stable")
        ends = np.flatnonzero(np.diff(own[place][order])) + 1
        numbers = np.arange(len(place))
        rows += [
            (int(own[place[group[0]]]), tuple(numbers[group].tolist())) for group in np.split(order, ends) if len(group)
        ]
    counted = system.table.is_count and not system.table.weighted and int(there.sum()) <= MOST_WHOLE
    found = Combinations(values[there], values[there], placed[0][there], tuple(rows), whole=counted)
    return found if counted else replace(found, values=_inside(found, system.table.values))


def _inside(found: Combinations, values: Floats) -> Floats:
    """Values with the same sums of which as many as possible are above 0: nobody knows the true ones, so any will do.

    From there combinations may move both ways, and movements are easier to find.
    """
    n, rows = len(found.values), found.rows
    least = np.full(n, np.inf)
    for cell, parts in rows:
        own = np.array(parts, dtype=np.int64)
        least[own] = np.minimum(least[own], _EVEN * values[cell] / len(own))
    row_of = np.repeat(np.arange(len(rows)), [len(parts) for _, parts in rows])
    column = np.array([at for _, parts in rows for at in parts], dtype=np.int64)
    one = sparse.csr_array((np.ones(len(column)), (row_of, column)), shape=(len(rows), n))
    size = float(values.max(initial=1.0))
    sums = np.asarray(one @ found.values) / size
    # each is a part that counts, up to its share of the smallest cell that it is in, and a part that does not
    cost = np.concatenate((-np.ones(n), np.zeros(n)))
    most = np.concatenate((least / size, np.full(n, np.inf)))
    model = LinearModel(cost, np.zeros(2 * n), most, sparse.csr_array(sparse.hstack((one, one))), sums, sums)
    solved = solve(model)
    if not solved.feasible:
        return found.values
    moved = np.maximum(size * (solved.values[:n] + solved.values[n:]), 0.0)
    off = np.abs(one @ moved - one @ found.values).max(initial=0.0)
    return moved if off <= _NOISE * size else found.values


def _placed(wanted: Sequence[WantedTable], system: System, read: Mapping[str, _Variable]) -> list[Ints]:
    """For each table that shows most of the variables the cell that each combination of codes is in, -1 where there is none."""
    ways = [_ways(one, read) for one in wanted]
    found = []
    for t, own in enumerate(ways):
        others = [*(other for other in ways if own < other), *(other for other in ways[:t] if own == other)]
        if own and not others:
            found.append(_cells(system.parts[t], system.members[t], dict(own), read))
    return found


def _ways(one: WantedTable, read: Mapping[str, _Variable]) -> frozenset[tuple[str, int]]:
    """Which of the variables a table has, and in which of their ways."""
    assert isinstance(one.source, TableSpec)
    here = [own for own in one.source.dimensions if own.variable in read]
    return frozenset((own.variable, read[own.variable].specs.index(own)) for own in here)


def _cells(part: Table, members: Ints, own: Mapping[str, int], read: Mapping[str, _Variable]) -> Ints:
    """The cell of a table that each combination is in; the variables that it has besides stand at their totals."""
    crossed = [at for at, dimension in enumerate(part.dimensions) if dimension.name in own]
    sizes = [len(part.dimensions[at]) for at in crossed]
    alone = np.flatnonzero((np.delete(part.codes, crossed, axis=1) == 0).all(axis=1))
    cell_at = np.full(math.prod(sizes), -1, dtype=np.int64)
    cell_at[np.ravel_multi_index(tuple(part.codes[alone][:, crossed].T.astype(np.int64)), sizes)] = members[alone]
    every = dict(zip(read, np.indices([len(one) for one in read.values()]).reshape(len(read), -1), strict=True))
    nodes = []
    for dimension in (part.dimensions[at] for at in crossed):
        codes = read[dimension.name].codes[own[dimension.name]]
        places = np.array([dimension.index[code] for code in codes], dtype=np.int64)
        nodes.append(places[every[dimension.name]])
    return cell_at[np.ravel_multi_index(nodes, sizes)]


def _specs(wanted: Sequence[WantedTable], name: str) -> list[DimensionSpec]:
    """The ways in which tables have a variable."""
    found: list[DimensionSpec] = []
    for one in wanted:
        assert isinstance(one.source, TableSpec)
        found += [own for own in one.source.dimensions if own.variable == name and own not in found]
    return found


def _of_records(data: Microdata, spec: TableSpec) -> Floats:
    """What each record adds to a table."""
    values = np.ones(data.n_records) if spec.response is None else np.nan_to_num(data.numbers((spec.response,))[:, 0])
    weights = data.weights() if spec.weighted else None
    return values if weights is None else values * weights


def _variables(part: Table) -> Variables:
    return frozenset(part.names)


def _not_judged(names: Variables) -> str:
    """What a run says of combinations that it does not calculate with."""
    told = ", ".join(sorted(names))
    return (
        f"Not judged: what follows from tables that show parts of {told}, because no combination of these is below 0; give "
        "one table by all of them, or fewer codes."
    )
