# SPDX-License-Identifier: Apache-2.0
"""The sample of a regression: each category of its universe loses a few records.

A regression tells the sums of its response over each category, all of one sample, and its standard errors reveal how many
records each category has kept. A sample that drops a few records of the whole leaves most categories complete, and their sums
exact. Here q ∈ {2, …, k} records are dropped of each category of each filter, and of each combination of codes that an
interaction of the model shows. There is one sample for each universe (and its interactions) for ever, whatever the model.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints
from reticent.base.randomness import Secret
from reticent.queries.canonical import RecordSet, Universe, Version
from reticent.queries.design import columns_of
from reticent.queries.terms import Model

Ids = NDArray[np.uint64]


def covering_rows(rows: Ints, ids: Ids, parts: Sequence[Ints], *, sizes: tuple[int, int], secret: Secret) -> Ints:
    """The rows that stay; `parts` have a code for each row (below 0: none), `sizes` are the fewest records of a category
    that is covered and the most dropped for it.
    """
    least, most = sizes
    order = np.argsort(ids[rows], kind="stable")
    rng = secret.stream(f"cover:{least}:{most}:{_digest(ids[rows][order])}")
    groups = [members for part in parts for members in _groups(part[order]) if len(members) >= least]
    groups.sort(key=len)  # what small categories lose counts for the large ones, so that few are dropped in all
    lost = np.zeros(len(rows), dtype=bool)
    for members in groups:
        left = members[~lost[members]]
        need = int(rng.integers(2, most + 1)) - (len(members) - len(left))
        lost[rng.permutation(left)[: max(need, 0)]] = True
    return np.sort(rows[order[~lost]])


def draw_of(rows: Ints, ids: Ids, model: Model, version: Version) -> int:
    """A number that names the sample of a regression: other than 0, and the same only for the same sample."""
    return int(_digest(np.sort(ids[rows]), repr(_interactions(model, version)))[:15], 16) + 1


def parts_of(rows: Ints, model: Model, version: Version) -> list[Ints]:
    """The codes of each filter for some rows, and of the combinations that the interactions of a model show."""
    atoms = version.atom[rows]
    coded = {name: version.codes[name][atoms].astype(np.int64) for name in version.filters if _has_codes(version, name)}
    found = [np.zeros(len(rows), dtype=np.int64), *coded.values()]
    for names in _interactions(model, version):
        table = np.column_stack([coded[name] for name in names])
        _, number = np.unique(table, axis=0, return_inverse=True)
        found.append(np.where((table < 0).any(axis=1), -1, number.reshape(-1)).astype(np.int64))
    return found


def shown_sets(universe: Universe, records: RecordSet, model: Model) -> list[Ints]:
    """The rows that each column of a model is about: all of the universe, or those with its codes."""
    version, rows = universe.versions[records.version], universe.records(records)
    found = []
    for column in columns_of(universe, records, model):
        inside = np.ones(len(rows), dtype=bool)
        for part in column:
            if part.level is not None:
                inside &= version.codes[part.name][version.atom[rows]] == part.level
        found.append(rows[inside])
    return found


def _has_codes(version: Version, name: str) -> bool:
    return version.levels[name].numbers is None


def _interactions(model: Model, version: Version) -> list[tuple[str, ...]]:
    """The filters that each interaction of a model combines, where there are several."""
    found = set()
    for term in model.terms:
        names = {f.variable for f in term.factors if f.variable in version.levels and _has_codes(version, f.variable)}
        if len(names) > 1:
            found.add(tuple(sorted(names)))
    return sorted(found)


def _groups(codes: Ints) -> list[Ints]:
    """The places of each code that is not below 0."""
    order = np.argsort(codes, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1) if len(codes) else []
    return [part for part in parts if codes[part[0]] >= 0]


def _digest(ids: Ids, more: str = "") -> str:
    return hashlib.blake2b(ids.tobytes() + more.encode(), digest_size=16).hexdigest()
