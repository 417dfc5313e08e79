# SPDX-License-Identifier: Apache-2.0
"""What published variables tell of hidden keys, where records stay in an engine: one pass counts each variable with each key."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints
from reticent.base.progress import Progress, silent
from reticent.data.large import BLOCK
from reticent.data.schema import Role
from reticent.microdata.large_masked import LOOKED, masked_sources, rows_of
from reticent.microdata.large_steps import LargeSteps
from reticent.microdata.risk.restored import ALONE, Hidden, How, Told
from reticent.microdata.risk.told_outside import Outside

MOST_VALUES = 1_000_000
"""Different values of a variable up to which it is tried."""
DENSE = 1 << 23
"""Cells of groups by states up to which all of them are counted, whether they occur or not."""
WORK = 6_000_000_000
"""Records times keys times pairs of variables that are counted; further pairs are left out, and the result says how many."""
PAIR = 1 << 18
"""Cells of pairs by states of a key up to which a pair is counted in one table."""
SORTED, COSTLIER = 5_000_000, 20
"""Records up to which pairs of more cells are counted by sorting, and how much costlier that is."""


@dataclass(frozen=True)
class ToldInEngine:
    """For each key what reveals most of its hidden values; `pairs_left_out` of variables were not tried.

    `outside` has what they tell to somebody who knows more.
    """

    told: tuple[Told, ...] = ()
    pairs_left_out: int = 0
    outside: Outside = field(default_factory=Outside)


def told_in_engine(ready: LargeSteps, keys: Sequence[str], *, progress: Progress = silent) -> ToldInEngine:
    """What published variables tell of hidden keys, each alone and in a pair with another one or with a key.

    O(records · keys · pairs of variables), in memory one block and a table of each variable or pair by each key. What only
    masked blocks show (see `large_masked`) is looked at in some of the records of a large file.
    """
    trace, shown, file = ready.combined.trace, ready.combined.data, ready.file
    found = [Hidden.of(trace, shown, name) for name in keys]
    hidden = [key for key in found if key is not None and key.open.any()]
    if not hidden:
        return ToldInEngine()
    codes = _others(ready, keys)
    masked = masked_sources(ready, keys, codes)
    first = [
        _Source(name, len(shown.categories(name) if name in keys else file.categories(name)) + 1)
        for name in (*keys, *codes)
    ]
    all_sources = [*first, *(_Source(one.name, one.size + 1, one.how) for one in masked)]
    told: list[Told] = []
    left_out = 0
    for sources, known, n in (
        (first, len(keys), file.n_records), (all_sources, len(first), min(file.n_records, LOOKED))
    ):  # fmt: skip
        if len(sources) == known:
            continue
        pairs, left = _pairs([one.size for one in sources], known, hidden, n)
        sets = [*((at,) for at in range(known, len(sources))), *pairs]
        rows = _coded_rows(ready, keys, codes, progress) if sources is first else rows_of(ready, keys, codes, masked)
        told += _told(sources, sets, hidden, rows)
        left_out += left
    best = sorted((one for one in told if one.records), key=lambda one: (-one.records, len(one.by)))
    return ToldInEngine(tuple({one.key: one for one in reversed(best)}.values()), left_out)


@dataclass(frozen=True)
class _Source:
    """A published variable that groups records: its number of codes (with "missing"), and what these are."""

    name: str
    size: int
    how: How = "values"


Rows = Iterator[tuple[NDArray[np.int64], list[Ints]]]
"""Blocks of records: the combination of keys of each, and the codes of all sources."""


def _coded_rows(ready: LargeSteps, keys: Sequence[str], codes: Sequence[str], progress: Progress) -> Rows:
    """All records; a key counts as it is published, the others as they are in the file."""
    file, done = ready.file, 0
    shown_keys = [ready.combined.data.encoded(name).codes for name in keys]
    maps = [file.code_map(name) for name in (*keys, *codes)]
    for found, _ in file.view.coded_blocks(maps, (ready.identifier,), rows=BLOCK):
        place = ready.place(found[:, : len(keys)])
        yield place, [*(own[place] for own in shown_keys), *found[:, len(keys) :].T]
        done += len(found)
        progress(done / file.n_records, "what other variables tell of keys")


def _told(
    sources: Sequence[_Source], sets: Sequence[tuple[int, ...]], hidden: Sequence[Hidden], rows: Rows
) -> list[Told]:
    """What each set of sources tells of each hidden key."""
    states = [_States.of(key) for key in hidden]
    tables = [
        [
            _Counts.of(number, key, prod(sources[at].size for at in one))
            for number, key in enumerate(states)
            if key.key.name not in [sources[at].name for at in one]
        ]
        for one in sets
    ]
    for place, columns in rows:
        now = [key.state[place] for key in states]
        for one, own in zip(sets, tables, strict=True):
            group = np.zeros(len(place), dtype=np.int64)
            for at in one:
                group = group * sources[at].size + columns[at] + 1
            for table in own:
                table.add(group, now[table.number])
    trials = len(sets) * len(hidden)
    return [
        Told(
            table.states.key.name,
            tuple(sources[at].name for at in one),
            table.told(trials),
            "ranges" if any(sources[at].how == "ranges" for at in one) else "values",
        )
        for one, own in zip(sets, tables, strict=True)
        for table in own
    ]


def _pairs(sizes: list[int], known: int, hidden: Sequence[Hidden], n: int) -> tuple[list[tuple[int, ...]], int]:
    """Pairs of which the second is not among the first `known`, those of few codes first; and how many are left out."""
    pairs = [pair for pair in combinations(range(len(sizes)), 2) if pair[1] >= known]
    pairs.sort(key=lambda pair: sizes[pair[0]] * sizes[pair[1]])
    states = max(len(np.unique(np.column_stack((key.seen, key.true)), axis=0)) for key in hidden)
    small = [pair for pair in pairs if sizes[pair[0]] * sizes[pair[1]] * states <= PAIR]
    each = n * len(hidden)
    tried: list[tuple[int, ...]] = [*small[: WORK // each]]
    if n <= SORTED:
        rest = WORK - len(tried) * each
        tried += [pair for pair in pairs if sizes[pair[0]] * sizes[pair[1]] * states > PAIR][
            : rest // (COSTLIER * each)
        ]
    return tried, len(pairs) - len(tried)


def _others(ready: LargeSteps, keys: Sequence[str]) -> tuple[str, ...]:
    """Published variables that may reveal keys: not changed by chance, and with values that several records share."""
    file = ready.file
    changed = {name for one in ready.late for name in one.variables}
    names = [
        v.name
        for v in file.schema.variables
        if v.name not in keys and v.role not in (Role.IDENTIFIER, Role.ENTITY) and v.name not in changed
    ]
    most = min(ALONE * file.n_records, MOST_VALUES)
    different = [file.view.facts(n=f"COUNT(DISTINCT {file.view.connection.quote(name)})")["n"] for name in names]
    return tuple(name for name, n in zip(names, different, strict=True) if n <= most)


@dataclass(frozen=True, eq=False)
class _States:
    """A key that hides values: for each combination of keys what it shows and what is true, as one of few states."""

    key: Hidden
    state: NDArray[np.int32] = field(repr=False)
    first: NDArray[np.int64] = field(repr=False)

    @classmethod
    def of(cls, key: Hidden) -> "_States":
        """The states that occur; `key` has a row for each combination of keys."""
        both = np.column_stack((key.seen, key.true, key.known))
        _, first, state = np.unique(both, axis=0, return_index=True, return_inverse=True)
        return cls(key, state.ravel().astype(np.int32), first)


@dataclass(eq=False)
class _Counts:
    """How many records of each group (a value of another variable) have each state of a key, the one of this number."""

    number: int
    states: _States
    dense: NDArray[np.int64] | None = field(repr=False)
    cells: list[tuple[Ints, Ints]] = field(default_factory=list, repr=False)
    held: int = 0

    @classmethod
    def of(cls, number: int, states: _States, groups: int) -> "_Counts":
        """Nothing counted."""
        size = groups * len(states.first)
        return cls(number, states, np.zeros(size, dtype=np.int64) if size <= DENSE else None)

    def add(self, group: NDArray[np.int64], state: NDArray[np.int32]) -> None:
        """Count a block: the group of each record (a value of the other variable or variables), and the state of its key."""
        cell = group * len(self.states.first) + state
        if self.dense is not None:
            self.dense += np.bincount(cell, minlength=len(self.dense))
            return
        self.cells.append(np.unique(cell, return_counts=True))
        self.held += len(self.cells[-1][0])
        if self.held > DENSE:
            self.cells = [self._merged()]
            self.held = min(len(self.cells[0][0]), DENSE // 2)

    def _merged(self) -> tuple[Ints, Ints]:
        cells, which = np.unique(np.concatenate([one for one, _ in self.cells]), return_inverse=True)
        counts = np.zeros(len(cells), dtype=np.int64)
        np.add.at(counts, which.ravel(), np.concatenate([many for _, many in self.cells]))
        return cells, counts

    def told(self, trials: int) -> int:
        """Records whose key follows from the other variable."""
        if self.dense is not None:
            cells = np.flatnonzero(self.dense)
            counts = self.dense[cells]
        else:
            cells, counts = self._merged()
        first = self.states.first
        groups, group = np.unique(cells // len(first), return_inverse=True)
        state = first[cells % len(first)]
        own, key = np.full(len(cells), -1), self.states.key
        rows = Hidden(key.name, key.seen[state], key.true[state], key.known[state], own, key.stays, key.shares)
        return int(counts[rows.told_by(group.ravel(), groups.size, counts, trials=trials)].sum())
