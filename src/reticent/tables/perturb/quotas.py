# SPDX-License-Identifier: Apache-2.0
"""Selection by quotas: how many cells of each value take each change, whole numbers as near to the expected ones as can be.

Independent draws keep frequencies in expectation only. Here diag(V)·R is rounded by controlled rounding without bias:
each flow goes to one of its two neighbours, and so does each margin that is not whole; whole margins are kept, and so is how
many cells are small. Every such rounding is possible. Which cells take which change is drawn: the cells of a value, in the order
of their keys, fill the quotas one after another.
"""

from collections.abc import Sequence

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import DataError, ParameterError
from reticent.base.randomness import Secret
from reticent.kernels.transitions import round_flows
from reticent.tables.perturb.ptable import PerturbationTable

OWNER = "quotas"
NEAR = 1e-6


def round_expected(flows: Floats, secret: Secret, name: str, together: Sequence[int] = ()) -> Ints:
    """A matrix of expected numbers as whole ones: each entry and each margin goes to a neighbour, whole margins stay.

    So does the sum of the columns `together`. Further rows (one of them for these columns) and a further column take what
    margins lack to the next whole number, as Cox (1987) does.
    """
    if bool((flows < 0).any()) or not np.isfinite(flows).all():
        raise ParameterError(f"{OWNER}: expected numbers must be at least 0.")
    lacking = _to_next(flows.sum(axis=0))
    joint = np.zeros(len(lacking), dtype=bool)
    joint[list(together)] = True
    wide = np.zeros((flows.shape[0] + 2, flows.shape[1] + 1))
    wide[:-2, :-1] = flows
    wide[-2, :-1], wide[-1, :-1] = np.where(joint, lacking, 0.0), np.where(joint, 0.0, lacking)
    wide[:-1, -1] = _to_next(wide[:-1, :-1].sum(axis=1))
    wide[-1, -1] = max(_to_next(wide[-1].sum()), _to_next(wide[:, -1].sum()))
    words = np.array(secret.words(name), dtype=np.uint64)
    return np.asarray(round_flows(wide, words[0], words[1], True)[:-2, :-1])


def _to_next(sums: Floats) -> Floats:
    """What sums lack to the next whole number; nothing if they are whole up to rounding."""
    whole = np.abs(sums - np.rint(sums)) < NEAR
    return np.asarray(np.where(whole, 0.0, np.ceil(sums) - sums))


def select_by_quotas(
    counts: Ints, keys: Floats, table: PerturbationTable, *, rows: int, secret: Secret, name: str = "quotas"
) -> Floats:
    """The change of each count: quotas for counts from 1 to `rows`, the key alone for larger ones; 0 stays 0."""
    if bool((counts < 0).any()):
        raise DataError(f"{OWNER}: counts must not be negative.")
    if len(keys) != len(counts):
        raise DataError(f"{OWNER}: there must be one key for each of the {len(counts)} cells.")
    changes = np.where(counts == 0, 0.0, table.changes(counts, keys))
    present, flows = expected_flows(counts, table, rows)
    if not present:
        return changes
    quotas = round_expected(flows, secret, name, small_results(table))
    for place, at in enumerate(present):
        mine = np.flatnonzero(counts == at)
        order = mine[np.argsort(keys[mine], kind="stable")]
        results = np.repeat(np.arange(quotas.shape[1]), quotas[place])
        changes[order] = results[: len(order)] - at
    return changes


def small_results(table: PerturbationTable) -> tuple[int, ...]:
    """The results that small counts have in place of their own: as many cells together stay small as were small."""
    return (0, table.skipped + 1) if table.skipped else ()


def expected_flows(counts: Ints, table: PerturbationTable, rows: int) -> tuple[list[int], Floats]:
    """Which counts from 1 to `rows` occur, and how many cells of each are expected to be published as 0, 1, 2, …"""
    rows = min(rows, len(table.rows) - 1)
    present = [at for at in range(1, rows + 1) if bool((counts == at).any())]
    flows = np.zeros((len(present), rows + int(table.largest) + 1))
    for place, at in enumerate(present):
        row = table.rows[at]
        flows[place, (at + row.changes).astype(np.int64)] = row.chances * float((counts == at).sum())
    return present, flows
