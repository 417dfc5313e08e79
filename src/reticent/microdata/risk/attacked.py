# SPDX-License-Identifier: Apache-2.0
"""The attacker's count of key combinations: how many true records fit what was published.

A combination of a published record is unsafe when 0 < f ≤ threshold, f being the true records that have these codes
(the reading `(k,1)` of missing values). A recount of the published file alone would call a cell unsafe only because the
other records in it were suppressed; the attacker does not know who they are, and gains nothing from it.
"""

from collections.abc import Iterable

import numpy as np

from reticent.data.microdata import Microdata
from reticent.kernels.grouping import group_columns
from reticent.microdata.risk.combinations import Combination, CombinationCount, CombinationTable, KeyCombinations
from reticent.microdata.risk.semantics import aligned_codes


def attacked_combinations(
    published: Microdata, truth: Microdata, combinations: KeyCombinations | Iterable[Combination]
) -> CombinationTable:
    """Count the unsafe combinations of a published file against the true records."""
    listed = (
        combinations.resolve(published.schema) if isinstance(combinations, KeyCombinations) else tuple(combinations)
    )
    names = tuple(dict.fromkeys(name for one in listed for name in one.variables))
    shown, true = published.codes(names), aligned_codes(truth, published, names)
    sizes = [int(max(shown[:, v].max(initial=-1), true[:, v].max(initial=-1))) + 1 for v in range(len(names))]
    tally = np.zeros(len(shown), dtype=np.int64)
    copies = truth.multiplicity
    rows = []
    for one in listed:
        at = [names.index(name) for name in one.variables]
        columns = [np.concatenate([true[:, v], shown[:, v]]) for v in at]
        group, n_groups = group_columns(columns, [sizes[v] for v in at])
        fits = np.zeros(n_groups, dtype=np.int64)
        np.add.at(fits, group[: len(true)], copies)
        mine = group[len(true) :]
        whole = (shown[:, at] >= 0).all(axis=1)
        # a combination that chance has made fits nobody, and tells of nobody
        unsafe = whole & (fits[mine] > 0) & (fits[mine] <= one.threshold)
        tally += unsafe
        cells, bad = np.unique(mine[whole]), np.unique(mine[unsafe])
        rows.append(CombinationCount(one.variables, one.threshold, len(cells), len(bad), int(copies[unsafe].sum())))
    rows.sort(key=lambda row: -row.unsafe_cells)
    return CombinationTable(tuple(rows), published.n_records, "records", "(k,1)", tally, published.copies)
