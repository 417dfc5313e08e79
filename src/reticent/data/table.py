# SPDX-License-Identifier: Apache-2.0
"""Tables: dimensions with their code trees, and the non-empty cells as parallel arrays. Confidential.

A cell is a row of node positions, one a dimension; the total of a dimension is node 0. Only cells that have records
(or that a finished table lists) are there: an absent cell is empty.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.base.checks import check_unique, did_you_mean
from reticent.base.errors import DataError, ParameterError
from reticent.data.hierarchy import TOTAL, Hierarchy
from reticent.data.parameters import Parameters
from reticent.data.published_table import COUNT, MAGNITUDE, WEIGHTED
from reticent.frames.marks import NO_MARKS, Marks

Nodes = NDArray[np.int32]
OUTSIDE = -2
"""Parent of a node that is not part of a tree."""


@dataclass(frozen=True)
class DimensionSpec(Parameters):
    """What a table is crossed by: a variable, and how its codes add up.

    Without `trees` and `digits` the variable's own hierarchy counts, else its codes stand flat below the total.
    Several trees over the same leaves are allowed: each inner code belongs to one tree, all share the total.
    """

    variable: str
    trees: tuple[Hierarchy, ...] = ()
    digits: tuple[int, ...] = ()
    total: str = TOTAL
    level: int | None = field(default=None, metadata={"min": 1, "help": "deepest level shown"})

    def __post_init__(self) -> None:
        if self.trees and self.digits:
            raise ParameterError("give trees or digits, not both.", option="digits").at(f"dimension {self.variable!r}")


@dataclass(frozen=True)
class TableSpec(Parameters):
    """A table to be made from microdata: dimensions, what is summed, and what the rules look at.

    `response` is summed (absent: respondents are counted). The rules judge the `shadow` variable (default: the
    response). `cost` is a variable that says what hiding a cell loses. `request` names the variable whose codes
    `request_codes` mark respondents who asked for protection, `waiver` one whose codes `waiver_codes` mark those who
    consented to publication. `top` contributions are kept for each cell.
    """

    dimensions: tuple[DimensionSpec, ...]
    response: str | None = None
    shadow: str | None = None
    cost: str | None = None
    others: tuple[str, ...] = ()
    weighted: bool = False
    missing_safe: bool = False
    request: str | None = None
    request_codes: tuple[str, ...] = ("1", "2")
    waiver: str | None = None
    waiver_codes: tuple[str, ...] = ("1",)
    top: int = field(default=2, metadata={"min": 1, "max": 50})
    by_record: bool = False

    def __post_init__(self) -> None:
        if not self.dimensions:
            raise ParameterError("dimensions must name at least one variable.", option="dimensions")
        check_unique((d.variable for d in self.dimensions), name="dimensions", owner="TableSpec")
        if self.shadow is not None and self.response is None:
            raise ParameterError("a shadow variable needs a response.", option="response")

    @property
    def measures(self) -> tuple[str, ...]:
        """Every numeric variable that is summed, each once."""
        names = [self.response, self.shadow, self.cost, *self.others]
        return tuple(dict.fromkeys(name for name in names if name is not None))


@dataclass(frozen=True, eq=False)
class Dimension:
    """A dimension of a table: its nodes in reading order (a parent before its children) and one or more trees over them.

    `trees` has for each tree the parent of every node: −1 at the total (node 0), `OUTSIDE` for nodes of other trees.
    Codes `from_records` are declared nowhere: only the records show that they exist.
    """

    name: str
    codes: tuple[str, ...]
    trees: tuple[Nodes, ...]
    labels: tuple[str, ...] = ()
    missing: int = -1
    from_records: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"<Dimension {self.name!r}: {len(self.codes)} codes, {len(self.trees)} trees>"

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Position of each code."""
        return {code: position for position, code in enumerate(self.codes)}

    def position(self, code: str) -> int:
        """Position of a code; the empty text means the total."""
        if code == "":
            return 0
        found = self.index.get(code)
        if found is None:
            found = self.index.get(code.strip())
        if found is None:
            raise DataError(
                f"Dimension {self.name!r}: there is no code {code!r}.{did_you_mean(code, self.codes)}",
                variables=(self.name,),
            )
        return found

    @cached_property
    def declared(self) -> NDArray[np.bool_]:
        """Nodes that are known without the records."""
        return np.array([code not in self.from_records for code in self.codes], dtype=bool)

    @cached_property
    def levels(self) -> NDArray[np.int64]:
        """Distance of each node from the total."""
        levels = np.zeros(len(self.codes), dtype=np.int64)
        for tree in self.trees:
            for node in range(1, len(levels)):
                if tree[node] >= 0:
                    levels[node] = levels[tree[node]] + 1
        return levels

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Nodes without children in any tree."""
        leaf = np.ones(len(self.codes), dtype=bool)
        for tree in self.trees:
            leaf[tree[tree >= 0]] = False
        return leaf

    @cached_property
    def ancestors(self) -> tuple[NDArray[np.int64], Nodes]:
        """For each node itself and all nodes above it in any tree, compressed: (indptr, nodes)."""
        above: list[dict[int, None]] = [{} for _ in self.codes]
        for node in range(len(self.codes)):
            above[node][node] = None
            for tree in self.trees:
                at = int(tree[node])
                while at >= 0:
                    above[node][at] = None
                    at = int(tree[at])
        indptr = np.concatenate(([0], np.cumsum([len(a) for a in above]))).astype(np.int64)
        return indptr, np.array([node for a in above for node in a], dtype=np.int32)

    def label(self, node: int) -> str:
        """The label of a node, or its code."""
        return self.labels[node] if self.labels else self.codes[node]


@dataclass(frozen=True, eq=False)
class Measure:
    """One variable over the cells: weighted sums, sums of magnitudes, extremes, and the largest contributions.

    `top` holds |contribution| in falling order, 0 where there are fewer; `top_units` the respondents (−1: none);
    `top_weights` their weights (None: unweighted). Numbers are exact multiples of 10^−`decimals`.
    """

    name: str
    totals: Floats
    magnitudes: Floats
    minimum: Floats
    maximum: Floats
    top: Floats
    top_units: NDArray[np.int64]
    top_weights: Floats | None = None
    decimals: int = 0

    def take(self, order: NDArray[np.int64]) -> "Measure":
        """The same measure over some cells, in that order."""
        weights = None if self.top_weights is None else self.top_weights[order]
        return Measure(
            self.name,
            self.totals[order],
            self.magnitudes[order],
            self.minimum[order],
            self.maximum[order],
            self.top[order],
            self.top_units[order],
            weights,
            self.decimals,
        )


@dataclass(frozen=True, eq=False)
class Respondents:
    """What the rules see of each cell, for one kind of respondent (entities, or single records).

    `judged` measures hold only respondents without a waiver; without waivers they are the measures themselves.
    `requests` are, for each request code, the largest |contribution| and the number of respondents who asked.
    """

    counts: Ints
    weighted_counts: Floats
    measures: Mapping[str, Measure]
    judged_counts: Ints
    judged: Mapping[str, Measure]
    requests: tuple[tuple[Floats, Ints], ...] = ()

    def take(self, order: NDArray[np.int64]) -> "Respondents":
        """The same over some cells, in that order."""
        return Respondents(
            self.counts[order],
            self.weighted_counts[order],
            {name: m.take(order) for name, m in self.measures.items()},
            self.judged_counts[order],
            {name: m.take(order) for name, m in self.judged.items()},
            tuple((largest[order], number[order]) for largest, number in self.requests),
        )


@dataclass(frozen=True, eq=False)
class RestOfCells:
    """What the rules see of respondents who are in one finest cell only: a row of `codes` for each cell that has some."""

    codes: Nodes
    view: Respondents

    @cached_property
    def place(self) -> Mapping[tuple[int, ...], int]:
        """The row of each cell."""
        return {tuple(row): at for at, row in enumerate(self.codes.tolist())}


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each respondent gave to each finest cell, for respondents who may be in several cells.

    `columns` has the node of each contribution in every dimension; `judged` is false for respondents with a waiver. With a
    `rest` only respondents who do are in several finest cells are listed, and all others are known by cell.
    """

    columns: tuple[Nodes, ...]
    units: Ints
    values: Floats
    weights: Floats | None
    judged: NDArray[np.bool_]
    rest: RestOfCells | None = None


@dataclass(frozen=True, eq=False)
class Table:
    """The non-empty cells of a table. `values` is what would be published; `respondents` is what the rules judge.

    `cell_keys` is there only for perturbation by cell keys: a number in [0, 1) that belongs to the set of
    records of a cell, of `key_digits` decimals (0: of 53 bits). `least` is what a cell with respondents is at least in a
    table of counts: 1, or the least weight (0: nothing is known, or the table is of magnitudes), and `most` what one record
    counts at most; `few_weights` are all that occur, where they are few. `contributions` are there
    where respondents have several records, and say who is in several cells; `from_records` says that somebody could.
    `marks` are those of the text file that it came from.
    """

    dimensions: tuple[Dimension, ...]
    codes: Nodes
    values: Floats
    respondents: Respondents
    response: str | None = None
    shadow: str | None = None
    cost: str | None = None
    decimals: int = 0
    weighted: bool = False
    missing_safe: bool = False
    records: Respondents | None = None
    counted: bool = True
    notes: tuple[str, ...] = ()
    cell_keys: Floats | None = None
    key_digits: int = 0
    least: float = 0.0
    most: float = math.inf
    few_weights: tuple[float, ...] = ()
    contributions: Contributions | None = None
    from_records: bool = False
    marks: Marks = NO_MARKS

    def __post_init__(self) -> None:
        if self.codes.shape != (len(self.values), len(self.dimensions)):
            raise DataError("Table: there must be one code per dimension for every cell.")

    def __repr__(self) -> str:
        return f"<Table {self.title}>"

    @property
    def title(self) -> str:
        """The table in a line: its dimensions, what it adds up, and its numbers of cells."""
        names = " × ".join(d.name for d in self.dimensions)
        return f"{names}, {self.response or 'count'}: {self.n_possible} cells, {self.n_empty} empty"

    @property
    def n_cells(self) -> int:
        """Number of cells that are there."""
        return len(self.values)

    @cached_property
    def n_possible(self) -> int:
        """Number of cells of the whole cross-product."""
        size = 1
        for dimension in self.dimensions:
            size *= len(dimension)
        return size

    @property
    def n_empty(self) -> int:
        """Number of combinations without any record (cells listed as empty included)."""
        return self.n_possible - self.n_cells + int(self.listed_empty.sum())

    @property
    def listed_empty(self) -> NDArray[np.bool_]:
        """Which of the cells that are there have no respondent (only after `with_empty_cells`, or in finished tables)."""
        return np.asarray((self.respondents.counts == 0) & (self.values == 0) & self.counted)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the dimensions."""
        return tuple(d.name for d in self.dimensions)

    @property
    def is_count(self) -> bool:
        """Whether the table counts respondents."""
        return self.response is None

    @cached_property
    def kind(self) -> str:
        """What the values are: a count, a weighted count or a magnitude.

        A response that is 1 for everybody counts, too; of a table without frequencies, whole numbers may be counts.
        """
        if self.is_count:
            return WEIGHTED if self.weighted else COUNT
        whole = bool((self.values == np.rint(self.values)).all() and (self.values >= 0).all())
        alike = not self.counted or np.array_equal(self.values, self.respondents.counts)
        return COUNT if whole and alike and not self.weighted else MAGNITUDE

    @property
    def judged_variable(self) -> str | None:
        """The variable that the rules look at."""
        return self.shadow or self.response

    def cell_codes(self, cell: int) -> tuple[str, ...]:
        """The code of a cell in each dimension."""
        return tuple(d.codes[int(node)] for d, node in zip(self.dimensions, self.codes[cell], strict=True))

    def name_of(self, cell: int) -> str:
        """A cell in words: its codes with × between them."""
        return " × ".join(self.cell_codes(cell))

    @cached_property
    def _position(self) -> dict[tuple[int, ...], int]:
        return {tuple(row): number for number, row in enumerate(self.codes.tolist())}

    def find(self, codes: tuple[str, ...]) -> int | None:
        """Number of the cell with these codes, None if it is empty; unknown codes are errors."""
        if len(codes) != len(self.dimensions):
            raise DataError(f"Table: a cell of this table has {len(self.dimensions)} codes, got {len(codes)}.")
        row = tuple(d.position(code) for d, code in zip(self.dimensions, codes, strict=True))
        return self._position.get(row)

    @cached_property
    def is_inner(self) -> NDArray[np.bool_]:
        """Cells whose codes are all leaves."""
        inner = np.ones(self.n_cells, dtype=bool)
        for position, dimension in enumerate(self.dimensions):
            inner &= dimension.is_leaf[self.codes[:, position]]
        return inner

    @cached_property
    def has_missing(self) -> NDArray[np.bool_]:
        """Cells with a missing code in some dimension."""
        found = np.zeros(self.n_cells, dtype=bool)
        for position, dimension in enumerate(self.dimensions):
            if dimension.missing >= 0:
                found |= self.codes[:, position] == dimension.missing
        return found

    @cached_property
    def levels(self) -> NDArray[np.int64]:
        """Sum of the levels of a cell's codes: 0 is the grand total."""
        total = np.zeros(self.n_cells, dtype=np.int64)
        for position, dimension in enumerate(self.dimensions):
            total += dimension.levels[self.codes[:, position]]
        return total

    def take(self, order: NDArray[np.int64]) -> "Table":
        """Some cells of the table, in that order."""
        return replace(
            self,
            codes=self.codes[order],
            values=self.values[order],
            respondents=self.respondents.take(order),
            records=None if self.records is None else self.records.take(order),
            cell_keys=None if self.cell_keys is None else self.cell_keys[order],
        )

    def in_order(self) -> "Table":
        """The table with its cells in the order of their codes."""
        return self.take(np.lexsort(self.codes.T[::-1]))
