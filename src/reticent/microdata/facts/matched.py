# SPDX-License-Identifier: Apache-2.0
"""What a large file tells about numbers, as if the attacker knew which record is whose.

To say exactly what is open about that takes an unknown per kind of record and class of units, millions of them for a large
file. An assignment of the records to the units that agrees with everything shown is one of those that are possible: values
within what each unit's record shows satisfy the exact facts too. So a point found with these facts is a witness; what they
expose may be safe all the same, and stays undecided.
"""

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import maximum_flow

from reticent.base.arrays import Ints, Mask
from reticent.data.facts import Fact, Interval
from reticent.microdata.facts.builder import Builder, total
from reticent.microdata.facts.matching import Matching
from reticent.microdata.facts.values import ShownNumber, tell_nothing
from reticent.tabulation.ground import GroundedData

ASSUMES = "that it is known which record of the file is whose"
MOST_FLOWS = 20_000
"""Up to this many auxiliary unknowns, counted for single atoms, the exact facts are stated."""


def tell_matched(builder: Builder, grounded: GroundedData, matching: Matching, numbers: list[ShownNumber]) -> bool:
    """State an interval for each unit, where the exact facts are too many; returns whether that was done."""
    if not numbers or any(number.sums for number in numbers) or not _too_many(grounded, matching, numbers):
        return False
    group_of_unit = _assigned(grounded, matching, numbers)
    if group_of_unit is None:
        return False
    kinds = _groups(matching, numbers)[0][:, 1:]
    for at, number in enumerate(numbers):
        known = grounded.ground.bounds_of(number.response)
        there = grounded.there(number.response)
        for unit in np.flatnonzero(there).tolist():
            ends = number.kinds[int(kinds[group_of_unit[unit], at])]
            if ends not in (known, (None, None)):
                builder.facts.append(Fact((total(number.response, np.array([unit])),), *ends))
    tell_nothing(builder, grounded, numbers, grounded.ground.empty)
    builder.assumes = ASSUMES
    return True


def _groups(matching: Matching, numbers: list[ShownNumber]) -> tuple[Ints, Ints]:
    """Records that look alike: their pattern and kinds of intervals, and how many."""
    columns = [matching.pattern_of_record, *(number.kind for number in numbers)]
    rows, sizes = np.unique(np.column_stack(columns), axis=0, return_counts=True)
    return rows, sizes


def _too_many(grounded: GroundedData, matching: Matching, numbers: list[ShownNumber]) -> bool:
    """Whether the exact facts could need too many auxiliary unknowns, however finely releases select."""
    occupied = np.unique(grounded.ground.atom_of_unit)
    atoms = np.bincount(matching.signature_of_atom[occupied], minlength=matching.n_signatures)
    of_pattern = np.bincount(matching.edges[:, 0], weights=atoms[matching.edges[:, 1]], minlength=matching.n_patterns)
    rows, _ = _groups(matching, numbers)
    return float(of_pattern[rows[:, 0]].sum()) > MOST_FLOWS


def _assigned(grounded: GroundedData, matching: Matching, numbers: list[ShownNumber]) -> Ints | None:
    """The group of records of each unit in one assignment that agrees with the file; None if there is none."""
    atom = grounded.ground.atom_of_unit
    values = [np.where(grounded.there(n.response), grounded.whole(n.response), -1) for n in numbers]
    there = [grounded.there(n.response).astype(np.int64) for n in numbers]
    mine = np.column_stack([matching.signature_of_atom[atom], *values, *there])
    alike, of_unit, sizes = np.unique(mine, axis=0, return_inverse=True, return_counts=True)
    groups, records = _groups(matching, numbers)
    if len(atom) != int(records.sum()):
        return None
    left, right = _edges(alike, groups, matching, numbers)
    flow = _flow(left, right, sizes, records)
    if flow is None:
        return None
    order = np.argsort(of_unit.reshape(-1), kind="stable")
    by_unit = np.lexsort((right, left))
    found = np.empty(len(atom), dtype=np.int64)
    found[order] = np.repeat(right[by_unit], flow[by_unit])
    return found


def _edges(alike: Ints, groups: Ints, matching: Matching, numbers: list[ShownNumber]) -> tuple[Ints, Ints]:
    """Which units (by group) may be shown as which records (by group)."""
    by_signature = np.searchsorted(alike[:, 0], np.arange(matching.n_signatures + 1))
    by_pattern = np.searchsorted(groups[:, 0], np.arange(matching.n_patterns + 1))
    left, right = [], []
    for pattern, signature in matching.edges.tolist():
        units = np.arange(by_signature[signature], by_signature[signature + 1])
        records = np.arange(by_pattern[pattern], by_pattern[pattern + 1])
        fits: Mask = np.ones((len(units), len(records)), dtype=bool)
        for at, number in enumerate(numbers):
            values, known = alike[units, 1 + at], alike[units, 1 + at + len(numbers)] == 1
            low, high = _ends([number.kinds[int(k)] for k in groups[records, 1 + at]])
            fits &= ((values[:, None] >= low) & (values[:, None] <= high)) | ~known[:, None]
        rows, columns = np.nonzero(fits)
        left.append(units[rows])
        right.append(records[columns])
    return np.concatenate(left), np.concatenate(right)


def _ends(intervals: list[Interval]) -> tuple[Ints, Ints]:
    low = np.array([-(2**62) if a is None else a for a, _ in intervals], dtype=np.int64)
    return low, np.array([2**62 if b is None else b for _, b in intervals], dtype=np.int64)


def _flow(left: Ints, right: Ints, units: Ints, records: Ints) -> Ints | None:
    """How many units of each group are shown as records of each group, per edge; None if not all of them can be."""
    n, m = len(units), len(records)
    source, sink = n + m, n + m + 1
    tails = np.concatenate((left, np.full(n, source), n + np.arange(m)))
    heads = np.concatenate((n + right, np.arange(n), np.full(m, sink)))
    room = np.concatenate((np.minimum(units[left], records[right]), units, records)).astype(np.int32)
    graph = sparse.csr_array((room, (tails, heads)), shape=(n + m + 2, n + m + 2))
    solved = maximum_flow(graph, source, sink)
    if int(solved.flow_value) != int(units.sum()):
        return None
    return np.asarray(solved.flow[left, n + right], dtype=np.int64).reshape(-1)
