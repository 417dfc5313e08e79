"""The attacker's count of key combinations: how many true records fit what was published.

A combination of a published record is unsafe when 0 < f ≤ threshold, f being the true records that have these codes
(the reading `(k,1)` of missing values). A recount of the published file alone would call a cell unsafe only because the
other records in it were suppressed; the attacker does not know who they are, and gains nothing from it.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from reticent.data.microdata import Microdata
from reticent.kernels.grouping import group_columns
from reticent.microdata.risk.combinations import Combination, CombinationCount, CombinationTable, KeyCombinations
from reticent.microdata.risk.semantics import aligned_codes


def truth_behind(original: Microdata, published: Microdata, keys: Iterable[str]) -> Microdata:
    """The true records in the codes of the published file: what was coarsened is coarsened, what was blanked is there.

    A key whose published codes are a function of the true ones was recoded: its blanks get the code they would have had.
    Any other key was perturbed: its published values stand for themselves.
    """
    truth = published
    if original.n_records != published.n_records or not np.array_equal(original.record_ids(), published.record_ids()):
        return truth
    for name in keys:
        if name not in original.schema:
            continue
        image = _image(original.codes((name,))[:, 0], published.codes((name,))[:, 0], len(original.categories(name)))
        if image is not None:
            codes = np.append(image, -1)[original.codes((name,))[:, 0]].astype(np.int32)
            truth = truth.with_codes(name, codes, published.categories(name))
    return truth


def _image(true: NDArray[np.int32], published: NDArray[np.int32], n_codes: int) -> NDArray[np.int32] | None:
    """The published code of each true code, None if a true code was published as two different ones."""
    seen = (true >= 0) & (published >= 0)
    image = np.full(n_codes, -1, dtype=np.int32)
    image[true[seen]] = published[seen]
    return image if bool((image[true[seen]] == published[seen]).all()) else None


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
    rows = []
    for one in listed:
        at = [names.index(name) for name in one.variables]
        columns = [np.concatenate([true[:, v], shown[:, v]]) for v in at]
        group, n_groups = group_columns(columns, [sizes[v] for v in at])
        fits = np.bincount(group[: len(true)], minlength=n_groups)
        mine = group[len(true) :]
        whole = (shown[:, at] >= 0).all(axis=1)
        unsafe = whole & (fits[mine] <= one.threshold)
        tally += unsafe
        cells, bad = np.unique(mine[whole]), np.unique(mine[unsafe])
        rows.append(CombinationCount(one.variables, one.threshold, len(cells), len(bad), int(unsafe.sum())))
    rows.sort(key=lambda row: -row.unsafe_cells)
    return CombinationTable(tuple(rows), published.n_records, "records", "(k,1)", tally)
