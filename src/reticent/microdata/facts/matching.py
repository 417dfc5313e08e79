# SPDX-License-Identifier: Apache-2.0
"""Who may be who: published patterns against what the atoms of the ground can show, and the parts that stand by themselves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from reticent.base.arrays import Ints, Mask
from reticent.base.errors import DataError
from reticent.data.facts import MISSING, Ground
from reticent.microdata.facts.seen import Link

AT_ONCE = 20_000_000
"""Pairs of pattern and signature that are compared at once."""


@dataclass(frozen=True, eq=False)
class Matching:
    """Patterns of a file, signatures of atoms, and which pattern may be shown for which signature.

    Atoms with one signature can be shown as the same patterns. `edges` are pairs (pattern, signature).
    """

    pattern_of_record: Ints = field(repr=False)
    n_patterns: int
    signature_of_atom: Ints = field(repr=False)
    n_signatures: int
    edges: Ints = field(repr=False)

    @cached_property
    def parts(self) -> list[tuple[Ints, Ints]]:
        """The patterns and signatures of each part that no edge joins to another."""
        size = self.n_patterns + self.n_signatures
        ends = (self.edges[:, 0], self.edges[:, 1] + self.n_patterns)
        graph = sparse.coo_array((np.ones(len(self.edges), dtype=np.int8), ends), shape=(size, size))
        _, part = connected_components(graph, directed=False)
        joined = np.append(np.arange(self.n_patterns), self.n_patterns + np.unique(self.edges[:, 1]))
        order = joined[np.argsort(part[joined], kind="stable")]
        bounds = np.append(np.flatnonzero(np.diff(part[order], prepend=-1)), len(order))
        found = (order[first:last] for first, last in pairwise(bounds.tolist()))
        parts = ((nodes[nodes < self.n_patterns], nodes[nodes >= self.n_patterns]) for nodes in map(np.sort, found))
        return [(patterns, signatures - self.n_patterns) for patterns, signatures in parts]

    @cached_property
    def never_shown(self) -> Ints:
        """The atoms that no pattern of the file can stand for: if they had a record, it would be seen."""
        shown = np.zeros(self.n_signatures, dtype=bool)
        shown[self.edges[:, 1]] = True
        return np.flatnonzero(~shown[self.signature_of_atom])

    @cached_property
    def records(self) -> Ints:
        """How many records show each pattern."""
        return np.bincount(self.pattern_of_record, minlength=self.n_patterns).astype(np.int64)

    @cached_property
    def _atoms(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.signature_of_atom, kind="stable")
        return order, np.searchsorted(self.signature_of_atom[order], np.arange(self.n_signatures + 1))

    def atoms(self, signature: int) -> Ints:
        """The atoms with a signature."""
        order, bounds = self._atoms
        return np.sort(order[bounds[signature] : bounds[signature + 1]])

    @cached_property
    def _by_pattern(self) -> Ints:
        return np.searchsorted(self.edges[:, 0], np.arange(self.n_patterns + 1))

    def signatures(self, pattern: int) -> Ints:
        """The signatures that a pattern may be shown for."""
        return self.edges[self._by_pattern[pattern] : self._by_pattern[pattern + 1], 1]


Shown = tuple[str, Link, Ints]
"""A variable of the ground, what may be shown for it, and the label that each record shows (−1: blank)."""


def matching_of(ground: Ground, columns: Sequence[Shown], n_records: int) -> Matching:
    """Match the labels that records show with what the atoms can show."""
    labels = [own for _, _, own in columns]
    patterns, of_record = _distinct(np.column_stack(labels) if labels else np.zeros((n_records, 0), dtype=np.int64))
    kinds = [_kinds(link) for _, link, _ in columns]
    at = [ground.variables.index(name) for name, _, _ in columns]
    coarse = [kind[ground.codes[:, column]] for (kind, _), column in zip(kinds, at, strict=True)]
    signatures, of_atom = _distinct(
        np.column_stack(coarse) if coarse else np.zeros((ground.n_atoms, 0), dtype=np.int64)
    )
    tables = [table for _, table in kinds]
    edges = list(_edges(patterns, signatures, tables))
    found = np.concatenate(edges) if edges else np.zeros((0, 2), dtype=np.int64)
    alone = np.setdiff1d(np.arange(len(patterns)), found[:, 0])
    if len(alone):
        raise DataError(
            f"file: {int(np.isin(of_record, alone).sum())} of its records cannot come from these data by this plan; the file "
            "or the plan was changed."
        )
    return Matching(of_record, len(patterns), of_atom, len(signatures), found)


def _kinds(link: Link) -> tuple[Ints, Mask]:
    """A number for each category (the last: missing), equal for those that show the same; and which labels each kind may show."""
    may = np.zeros((link.n_categories + 1, len(link.labels) + 1), dtype=bool)
    may[link.pairs[:, 0], link.pairs[:, 1]] = True  # −1 is the last row and column: missing and blank
    table, kind = np.unique(may, axis=0, return_inverse=True)
    assert MISSING == -1
    return kind.reshape(-1).astype(np.int64), table


def _distinct(rows: Ints) -> tuple[Ints, Ints]:
    """The distinct rows, and which of them each row is."""
    if rows.shape[1] == 0:
        return rows[: min(len(rows), 1)], np.zeros(len(rows), dtype=np.int64)
    found, number = np.unique(rows, axis=0, return_inverse=True)
    return found, number.reshape(-1).astype(np.int64)


def _edges(patterns: Ints, signatures: Ints, tables: list[Mask]) -> Iterator[Ints]:
    size = max(1, AT_ONCE // max(len(signatures), 1))
    for start in range(0, len(patterns), size):
        block = patterns[start : start + size]
        fits = np.ones((len(block), len(signatures)), dtype=bool)
        for column, table in enumerate(tables):
            fits &= table[signatures[:, column]][:, block[:, column]].T
        rows, columns = np.nonzero(fits)
        yield np.column_stack((rows + start, columns)).astype(np.int64)
