"""Selection by quotas: how many cells of each value take each change, whole numbers as near to the expected ones as can be.

Independent draws keep frequencies in expectation only. Here diag(V)·R is rounded by controlled rounding without bias:
each flow goes to one of its two neighbours, and so does each margin that is not whole; whole margins are kept. Which cells
take which change is drawn: the cells of a value, in the order of their keys, fill the quotas one after the other.
"""

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import DataError, ParameterError
from reticent.base.randomness import Secret
from reticent.kernels.transitions import round_flows
from reticent.tables.perturb.ptable import PerturbationTable

OWNER = "quotas"
NEAR = 1e-6


def round_expected(flows: Floats, secret: Secret, name: str) -> Ints:
    """A matrix of expected numbers as whole ones: each entry and each margin goes to a neighbour, whole margins stay.

    A further row and column take what margins lack to the next whole number, as Cox (1987) does.
    """
    if bool((flows < 0).any()) or not np.isfinite(flows).all():
        raise ParameterError(f"{OWNER}: expected numbers must be at least 0.")
    rows, columns = flows.sum(axis=1), flows.sum(axis=0)
    rows, columns = (np.where(np.abs(m - np.rint(m)) < NEAR, np.rint(m), m) for m in (rows, columns))
    wide = np.zeros((len(rows) + 1, len(columns) + 1))
    wide[:-1, :-1] = flows
    wide[:-1, -1] = np.ceil(rows) - rows
    wide[-1, :-1] = np.ceil(columns) - columns
    corner = float(np.ceil(wide[-1].sum())) - float(wide[-1].sum())
    wide[-1, -1] = max(corner, float(np.ceil(wide[:, -1].sum())) - float(wide[:, -1].sum()))
    words = np.array(secret.words(name), dtype=np.uint64)
    return np.asarray(round_flows(wide, words[0], words[1])[:-1, :-1])


def select_by_quotas(
    counts: Ints, keys: Floats, table: PerturbationTable, *, rows: int, secret: Secret, name: str = "quotas"
) -> Floats:
    """The change of each count: quotas for counts from 1 to `rows`, the key alone for larger ones; 0 stays 0."""
    if bool((counts < 0).any()):
        raise DataError(f"{OWNER}: counts must not be negative.")
    if len(keys) != len(counts):
        raise DataError(f"{OWNER}: there must be one key for each of the {len(counts)} cells.")
    changes = np.where(counts == 0, 0.0, table.changes(counts, keys))
    rows = min(rows, len(table.rows) - 1)
    present = [at for at in range(1, rows + 1) if bool((counts == at).any())]
    if not present:
        return changes
    reach = int(table.largest)
    flows = np.zeros((len(present), rows + reach + 1))
    for place, at in enumerate(present):
        row = table.rows[at]
        flows[place, (at + row.changes).astype(np.int64)] = row.chances * float((counts == at).sum())
    quotas = round_expected(flows, secret, name)
    for place, at in enumerate(present):
        mine = np.flatnonzero(counts == at)
        order = mine[np.argsort(keys[mine], kind="stable")]
        results = np.repeat(np.arange(quotas.shape[1]), quotas[place])
        changes[order] = results[: len(order)] - at
    return changes
