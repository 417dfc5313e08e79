# SPDX-License-Identifier: Apache-2.0
"""Sets that are watched although nobody asked for them: cells of tables, respondents, and totals less their parts.

Only rules that weigh contributions need them: that no combination rests on too few respondents is seen to elsewhere. Cells
and respondents are unsafe sets of columns, looked for in the row space of the answers. A total less its parts needs no
looking for: it follows from answers, so it has to be safe by itself.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints, Mask
from reticent.kernels.echelon import PRIME
from reticent.kernels.grouping import group_columns
from reticent.queries.canonical import Version
from reticent.queries.columns import Columns
from reticent.queries.rules import SetRules
from reticent.releases.rows import Proposal

LOW = np.uint64(2**31 - 1)
HALF = np.uint64(31)
MOST_TOTALS = 64
Bytes = NDArray[np.uint8]


def table_cells(columns: Columns, versions: Sequence[Version], dimension: int, least: int) -> Iterator[Mask]:
    """The columns of each cell, with enough records, of every table of up to this many filters in every version."""
    for number, version in enumerate(versions):
        atoms = columns.atom_of[number]
        for size in range(1, dimension + 1):
            for names in combinations(version.filters, size):
                codes = [np.append(version.codes[name], -1)[atoms].astype(np.int64) for name in names]
                group, n_groups = group_columns(codes, [len(version.levels[name]) for name in names])
                inside = np.bincount(group, weights=columns.counts * (atoms >= 0), minlength=n_groups)
                for g in np.flatnonzero(inside >= least).tolist():
                    yield (group == g) & (atoms >= 0)


def own_columns(columns: Columns) -> Iterator[Mask]:
    """For each respondent with several columns that nobody else is in: these."""
    alone = np.flatnonzero(columns.n_respondents == 1)
    owner = columns.entity[columns.start[:-1][alone]]
    order = np.argsort(owner, kind="stable")
    for part in np.split(alone[order], np.flatnonzero(np.diff(owner[order])) + 1):
        if len(part) > 1:
            mask = np.zeros(columns.n_columns, dtype=bool)
            mask[part] = True
            yield mask


@dataclass(frozen=True)
class Watched:
    """Unsafe sets, as the columns of all of them one after another."""

    columns: Ints
    starts: Ints

    @classmethod
    def of(cls, sets: Iterable[Mask], own: Columns, rules: SetRules) -> "Watched":
        """Those of the sets that are unsafe by themselves, each once."""
        found: dict[bytes, Ints] = {}
        for mask in sets:
            if mask.any() and rules.broken(own, mask) is not None:
                found[np.packbits(mask).tobytes()] = np.flatnonzero(mask)
        ends = np.cumsum([len(part) for part in found.values()], dtype=np.int64)
        parts = list(found.values())
        return cls(
            np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64),
            np.concatenate(([0], ends)).astype(np.int64),
        )

    def candidates(self, proposal: Proposal) -> Iterator[Ints]:
        """The classes of each set that is a union of classes and may follow (a superset of those that do)."""
        if len(self.starts) == 1:
            return
        partition, places = proposal.partition, self.starts[:-1]
        maybe = np.ones(len(places), dtype=bool)
        for vector in proposal.null:
            spread = np.zeros(len(partition.class_of), dtype=np.uint64)
            spread[partition.representative] = vector
            inside = spread[self.columns]
            low = np.add.reduceat(inside & LOW, places) % np.uint64(PRIME)
            high = np.add.reduceat(inside >> HALF, places)
            sums = [(int(a) + (int(b) << 31)) % PRIME for a, b in zip(low.tolist(), high.tolist())]
            maybe &= np.array([total == 0 for total in sums])
        for k in np.flatnonzero(maybe).tolist():
            members = self.columns[self.starts[k] : self.starts[k + 1]]
            classes, counts = np.unique(partition.class_of[members], return_counts=True)
            if bool((counts == partition.size[classes]).all()):
                yield classes


@dataclass
class Totals:
    """The sets whose sums were answered; a set less answered sets inside of it, none of which overlap, follows."""

    n_columns: int
    _rows: list[bytes] = field(default_factory=list)
    _seen: set[bytes] = field(default_factory=set)

    def add(self, mask: Mask) -> None:
        """Remember an answered set."""
        packed = np.packbits(mask).tobytes()
        if packed not in self._seen:
            self._seen.add(packed)
            self._rows.append(packed)

    def __len__(self) -> int:
        return len(self._rows)

    def back_to(self, length: int) -> None:
        """Forget what was answered since there were this many."""
        while len(self._rows) > length:
            self._seen.discard(self._rows.pop())

    def state(self) -> Bytes:
        """All sets, for `restore`."""
        width = (self.n_columns + 7) // 8
        return np.frombuffer(b"".join(self._rows), dtype=np.uint8).reshape(len(self._rows), width)

    def restore(self, sets: Bytes) -> None:
        """Become the sets whose state this is."""
        self._rows = [row.tobytes() for row in np.asarray(sets, dtype=np.uint8)]
        self._seen = set(self._rows)

    def rests(self, mask: Mask) -> Iterator[Mask]:
        """What follows by difference once the sum of a set is answered too: totals less parts that touch the set.

        Each total less one part, and less all its parts in the order of their answers, leaving out those that overlap
        earlier ones. Of the totals that hold the set the smallest are looked at.
        """
        new = np.packbits(mask)
        answered = self.state()
        if len(answered) == 0:
            return
        inside = ~(answered & ~new).any(axis=1) & (answered != new).any(axis=1)
        around = ~(new & ~answered).any(axis=1) & (answered != new).any(axis=1)
        for k in np.flatnonzero(inside).tolist():
            yield self._unpacked(new & ~answered[k])
        sizes = np.unpackbits(answered[around], axis=1).sum(axis=1)
        totals = np.flatnonzero(around)[np.argsort(sizes, kind="stable")][:MOST_TOTALS]
        for k in totals.tolist():
            yield self._unpacked(answered[k] & ~new)
        for whole in (new, *(answered[k] for k in totals)):
            rest = whole if whole is new else whole & ~new
            parts = ~(answered & ~rest).any(axis=1) & answered.any(axis=1)
            for k in np.flatnonzero(parts).tolist():
                if not (answered[k] & ~rest).any():
                    rest = rest & ~answered[k]
            if rest.any():
                yield self._unpacked(rest)

    def _unpacked(self, packed: Bytes) -> Mask:
        return np.unpackbits(packed)[: self.n_columns].astype(bool)
