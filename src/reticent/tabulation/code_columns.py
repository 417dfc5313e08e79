# SPDX-License-Identifier: Apache-2.0
"""The finest codes that tables cross records by, and which of them occur together: counted here, or in an engine.

An engine counts combinations itself and gives back each once. Up to `MOST_COMBINATIONS` are asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from reticent.base.arrays import Ints
from reticent.data.large import LargeFile
from reticent.data.microdata import Microdata
from reticent.data.table import TableSpec
from reticent.frames.engines.seam import CodeMap
from reticent.kernels.grouping import group_columns
from reticent.tabulation.dimensions import build_dimension
from reticent.tabulation.large import built_dimensions, node_maps

MOST_COMBINATIONS = 4_000_000
"""With more combinations of two or three codes than this, it is not looked for what goes with what."""


@dataclass(frozen=True, eq=False)
class CodeColumn:
    """The finest code of each record in one dimension of a table: `nodes` by record, or `lookup` for an engine."""

    name: str
    codes: tuple[str, ...]
    nodes: Ints | None = field(default=None, repr=False)
    lookup: CodeMap | None = field(default=None, repr=False)

    def same(self, other: "CodeColumn") -> bool:
        """Whether both have the same code for each record."""
        if (self.name, self.codes) != (other.name, other.codes):
            return False
        mine, its = (one.nodes if one.lookup is None else np.asarray(one.lookup.codes) for one in (self, other))
        return mine is not None and its is not None and np.array_equal(mine, its)


@dataclass(frozen=True, eq=False)
class CodeColumns:
    """The columns of linked tables, each once: `tables` has for each table the numbers of the columns of its dimensions."""

    data: Microdata | LargeFile = field(repr=False)
    columns: tuple[CodeColumn, ...]
    tables: tuple[tuple[int, ...], ...]
    _kept: dict[tuple[int, ...], tuple[Ints, Ints] | None] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, sources: Sequence[tuple[Microdata | LargeFile, TableSpec]]) -> "CodeColumns":
        """The columns of tables; each may have the records recoded for itself."""
        columns: list[CodeColumn] = []
        tables = []
        for data, spec in sources:
            numbers = []
            for own in _columns(data, spec):
                at = next((at for at, known in enumerate(columns) if known.same(own)), len(columns))
                columns += [own] if at == len(columns) else []
                numbers.append(at)
            tables.append(tuple(numbers))
        return cls(sources[0][0], tuple(columns), tuple(tables))

    def levels_of_one(self, one: int, other: int) -> bool:
        """Whether two columns are one variable by fewer and by more levels: the codes of one are among those of the other."""
        first, second = self.columns[one], self.columns[other]
        if one == other or first.name != second.name:
            return False
        few, many = sorted((set(first.codes), set(second.codes)), key=len)
        return few < many

    def together(self, numbers: tuple[int, ...]) -> tuple[Ints, Ints] | None:
        """The combinations of codes of some columns that occur, and the records of each; None: there may be too many."""
        if numbers not in self._kept:
            sizes = [len(self.columns[at].codes) for at in numbers]
            self._kept[numbers] = None if prod(sizes) > MOST_COMBINATIONS else self._counted(numbers, sizes)
        return self._kept[numbers]

    def _counted(self, numbers: tuple[int, ...], sizes: Sequence[int]) -> tuple[Ints, Ints]:
        chosen = [self.columns[at] for at in numbers]
        if isinstance(self.data, LargeFile):
            found = self.data.view.grouped([one.lookup for one in chosen if one.lookup is not None], {})
            return found.codes.astype(np.int64), found.counts
        nodes = [one.nodes for one in chosen if one.nodes is not None]
        group, n = group_columns(nodes, sizes)
        first = np.zeros(n, dtype=np.int64)
        first[group[::-1]] = np.arange(len(group) - 1, -1, -1)
        return np.column_stack([one[first] for one in nodes]), np.bincount(group, minlength=n).astype(np.int64)


def _columns(data: Microdata | LargeFile, spec: TableSpec) -> list[CodeColumn]:
    if isinstance(data, LargeFile):
        built = built_dimensions(data, spec)
        maps = node_maps(data, built)
        return [CodeColumn(one.name, one.codes, lookup=own) for (one, _), own in zip(built, maps, strict=True)]
    found = []
    for wanted in spec.dimensions:
        dimension, nodes = build_dimension(data, wanted)
        own = nodes[data.encoded(wanted.variable).codes].astype(np.int64)
        found.append(CodeColumn(wanted.variable, dimension.codes, nodes=own))
    return found
