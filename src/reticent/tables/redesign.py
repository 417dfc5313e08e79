# SPDX-License-Identifier: Apache-2.0
"""Redesign: merge categories until few enough cells are unsafe, at the least loss of detail.

Only categories with the same parent are merged (neighbours only, for ordinal variables). What a merging loses is the
information it takes away, in bits per record: Σ n_g · H(category | group g) / n. The search pops designs in the order of
their loss, so the first good one is the cheapest; beyond its budget of tables it goes on greedily and says so.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from reticent.base.checks import check_integer
from reticent.base.errors import InfeasibleError
from reticent.base.progress import Progress, silent
from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind
from reticent.data.table import TableSpec
from reticent.tables.protection import judge_cells
from reticent.tables.rules import Rule
from reticent.tabulation.tabulate import tabulate

OWNER = "redesign"
JOIN = "+"
Groups = tuple[tuple[str, ...], ...]
Design = tuple[Groups, ...]


@dataclass(frozen=True)
class Redesign:
    """Which categories to merge in each dimension, what that leaves unsafe, and what it loses (bits a record)."""

    merged: dict[str, tuple[tuple[str, ...], ...]]
    unsafe_before: int
    unsafe_after: int
    loss: float
    bound: float
    status: str
    tables: int
    spec: TableSpec = field(repr=False)
    data: Microdata = field(repr=False)

    def summary(self) -> dict[str, object]:
        """Plain numbers and the merged codes."""
        return {
            "merged": {name: [list(group) for group in groups] for name, groups in self.merged.items()},
            "unsafe before": self.unsafe_before,
            "unsafe after": self.unsafe_after,
            "loss": self.loss,
            "bound": self.bound,
            "status": self.status,
            "tables": self.tables,
        }


def redesign(
    data: Microdata,
    spec: TableSpec,
    rules: Sequence[Rule],
    *,
    at_most: int = 0,
    dimensions: Sequence[str] = (),
    budget: int = 500,
    progress: Progress = silent,
) -> Redesign:
    """Find the cheapest merging of categories that leaves at most `at_most` unsafe cells.

    `dimensions` are those that may be merged (default: all). `budget` is the number of tables that may be made.
    """
    check_integer(at_most, minimum=0, name="at_most", owner=OWNER)
    check_integer(budget, minimum=1, name="budget", owner=OWNER)
    names = tuple(d.variable for d in spec.dimensions)
    data.schema.require(dimensions, owner=OWNER)
    search = _Search(data, spec, tuple(rules), tuple(dimensions) or names)
    before = search.unsafe(search.start)
    found = search.cheapest(at_most, budget, progress)
    status, bound = "optimal", found[0] if found else 0.0
    if found is None:
        status, bound = "stopped", search.reached
        found = search.greedy(at_most)
    if found is None:
        raise InfeasibleError(
            f"{OWNER}: even with every allowed merge more than {at_most} cells are unsafe; allow coarser codes, or raise at_most."
        )
    loss, design = found
    merged = {n: tuple(g for g in groups if len(g) > 1) for n, groups in zip(search.names, design)}
    coarse, coarse_spec = search.apply(design)
    return Redesign(
        {n: groups for n, groups in merged.items() if groups}, before, search.unsafe(design), loss, bound, status,
        search.made, coarse_spec, coarse,
    )  # fmt: skip


class _Search:
    """The space of designs: for each dimension its leaves in groups."""

    def __init__(self, data: Microdata, spec: TableSpec, rules: tuple[Rule, ...], names: tuple[str, ...]) -> None:
        self.data, self.spec, self.rules, self.names = data, spec, rules, names
        self.trees = {name: _tree_of(data, spec, name) for name in names}
        self.counts = {name: _counts(data, name) for name in names}
        self.ordered = {name: data.schema[name].kind is Kind.ORDINAL for name in names}
        used = {name: tuple(c for c in self.trees[name].leaves if self.counts[name].get(c, 0) > 0) for name in names}
        self.start: Design = tuple(tuple((code,) for code in used[name]) for name in names)
        self.known: dict[Design, int] = {}
        self.reached = 0.0

    @property
    def made(self) -> int:
        """Tables made so far."""
        return len(self.known)

    def loss(self, design: Design) -> float:
        """Bits a record that the design takes away."""
        total = 0.0
        for name, groups in zip(self.names, design):
            for group in groups:
                counts = np.array([self.counts[name][code] for code in group], dtype=np.float64)
                if len(group) > 1:
                    total += float((counts * np.log2(counts.sum() / counts)).sum())
        return total / self.data.n_records

    def apply(self, design: Design) -> tuple[Microdata, TableSpec]:
        """The data and the table specification with categories merged."""
        data, dimensions = self.data, list(self.spec.dimensions)
        for name, groups in zip(self.names, design):
            new_code, tree = _merge(self.trees[name], groups)
            categories = data.categories(name)
            texts = [new_code.get(code, code) for code in categories]
            kept = tuple(dict.fromkeys(texts))
            place = np.array([kept.index(text) for text in texts] + [-1], dtype=np.int32)
            schema = data.schema.change(name, codes=(), labels=(), hierarchy=None)
            data = data.with_codes(name, place[data.codes((name,))[:, 0]], kept).with_schema(schema)
            for position, dimension in enumerate(dimensions):
                if dimension.variable == name:
                    dimensions[position] = replace(dimension, trees=(tree,), digits=(), level=None)
        return data, replace(self.spec, dimensions=tuple(dimensions))

    def unsafe(self, design: Design) -> int:
        """Number of unsafe cells of the merged table (made once)."""
        if design not in self.known:
            data, spec = self.apply(design)
            self.known[design] = int(judge_cells(tabulate(data, spec), self.rules).primary.sum())
        return self.known[design]

    def neighbours(self, design: Design) -> Iterator[Design]:
        """Every design with one more merge."""
        for position, name in enumerate(self.names):
            groups, tree = design[position], self.trees[name]
            for first, second in combinations(range(len(groups)), 2):
                same = tree.parents[tree.position(groups[first][0])] == tree.parents[tree.position(groups[second][0])]
                if same and not (self.ordered[name] and second != first + 1):
                    joined = groups[first] + groups[second]
                    rest = [joined if i == first else g for i, g in enumerate(groups) if i != second]
                    yield (*design[:position], tuple(rest), *design[position + 1 :])

    def cheapest(self, at_most: int, budget: int, progress: Progress) -> tuple[float, Design] | None:
        """Uniform-cost search: the first good design that is popped has the least loss of all."""
        heap: list[tuple[float, Design]] = [(0.0, self.start)]
        seen = {self.start}
        while heap and self.made < budget:
            loss, design = heapq.heappop(heap)
            self.reached = loss
            progress(min(1.0, self.made / budget), f"{self.made} tables")
            if self.unsafe(design) <= at_most:
                return loss, design
            for nearby in self.neighbours(design):
                if nearby not in seen:
                    seen.add(nearby)
                    heapq.heappush(heap, (self.loss(nearby), nearby))
        return None

    def greedy(self, at_most: int) -> tuple[float, Design] | None:
        """Take the merge that removes the most unsafe cells for its loss, until few enough are left."""
        design = self.start
        while self.unsafe(design) > at_most:
            here, lost = self.unsafe(design), self.loss(design)
            options = [
                ((here - self.unsafe(near)) / (self.loss(near) - lost + 1e-9), near) for near in self.neighbours(design)
            ]
            if not options:
                return None
            design = max(options)[1]
        return self.loss(design), design


def _tree_of(data: Microdata, spec: TableSpec, name: str) -> Hierarchy:
    chosen = next((d for d in spec.dimensions if d.variable == name), None)
    if chosen is None:
        raise InfeasibleError(f"{OWNER}: variable {name!r} is not a dimension of the table.")
    if len(chosen.trees) > 1:
        raise InfeasibleError(f"{OWNER}: dimension {name!r} has several trees; merge its categories by hand.")
    variable = data.schema[name]
    if chosen.trees:
        return chosen.trees[0]
    if chosen.digits:
        return Hierarchy.from_digits(data.categories(name), chosen.digits, total=chosen.total)
    return variable.hierarchy or Hierarchy.flat(data.categories(name), total=chosen.total)


def _counts(data: Microdata, name: str) -> dict[str, int]:
    encoded = data.encoded(name)
    found = np.bincount(encoded.codes[encoded.codes >= 0], minlength=len(encoded.categories))
    return {code: int(count) for code, count in zip(encoded.categories, found)}


def _merge(tree: Hierarchy, groups: Groups) -> tuple[dict[str, str], Hierarchy]:
    """New code of each leaf, and the tree over them; a family merged into one becomes its parent."""
    family = {tree.codes[i]: {tree.codes[c] for c in below} for i, below in enumerate(tree.children) if below}
    used = {code for group in groups for code in group}
    new_code: dict[str, str] = {}
    paths = []
    for group in groups:
        parent = tree.ancestors(group[0])[1]
        whole = len(group) > 1 and family[parent] & used == set(group) and parent != tree.total
        name = parent if whole else JOIN.join(group)
        new_code.update(dict.fromkeys(group, name))
        above = tuple(reversed(tree.ancestors(group[0])[1:-1]))
        paths.append(above if whole else (*above, name))
    return new_code, Hierarchy.from_paths(paths, total=tree.total)
