# SPDX-License-Identifier: Apache-2.0
"""The common coarser level of two files: a recoded variable is compared at the detail that both can show.

Old codes beside new ones would differ in every record, and a pure recoding would look like a ruined file. What the coarser
level no longer says is not free: it is the entropy of the true code given the published one, which `compare` measures on the
uncoarsened codes and puts into the combined score.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Schema


def at_common_level(
    original: Microdata, masked: Microdata, names: Sequence[str], here: Ints, there: Ints
) -> tuple[Microdata, Microdata]:
    """Both files with the coded variables at their common level; `here` and `there` are positions of the same records."""
    if not here.size:
        return original, masked
    for name in names:
        found = _maps(original, masked, name, here, there)
        if found is not None:
            first, second, labels = found
            original = _recoded(original, name, first, labels, masked.schema)
            masked = _recoded(masked, name, second, labels, masked.schema)
    return original, masked


def _recoded(data: Microdata, name: str, table: Ints, labels: Sequence[str], after: Schema) -> Microdata:
    codes = np.append(table, -1)[data.encoded(name).codes].astype(np.int32)
    kind = after[name].kind if after[name].kind is not Kind.NUMERIC else Kind.NOMINAL
    plain = data.schema.change(name, kind=kind, codes=(), labels=(), hierarchy=None, digits=(), missing=())
    return data.with_schema(plain).with_codes(name, codes, list(labels))


def _maps(
    original: Microdata, masked: Microdata, name: str, here: Ints, there: Ints
) -> tuple[Ints, Ints, tuple[str, ...]] | None:
    """For each code of either file its code at the common level, and that level's codes; None where nothing is coarser."""
    old, new = original.encoded(name), masked.encoded(name)
    before, after = old.codes[here], new.codes[there]
    both = (before >= 0) & (after >= 0)
    pairs, counts = np.unique(np.column_stack((before[both], after[both])), axis=0, return_counts=True)
    if not len(pairs):
        return None
    seen = {old.categories[code] for code in np.unique(old.codes[old.codes >= 0])}
    fresh = np.array([text not in seen for text in new.categories])
    if np.unique(pairs[:, 0]).size == len(pairs):
        if not _is_recoding(old.categories, new.categories, pairs, fresh, int(counts.sum())):
            return None
        return _by_function(old.categories, new.categories, pairs)
    if not fresh[pairs[:, 1]].any():
        return None
    if fresh[pairs[:, 1]].all():
        order = np.lexsort((-counts, pairs[:, 0]))
        first = np.unique(pairs[order, 0], return_index=True)[1]
        return _by_function(old.categories, new.categories, pairs[order][first])
    return _by_components(old.categories, new.categories, pairs[fresh[pairs[:, 1]]])


def _is_recoding(old: Sequence[str], new: Sequence[str], pairs: Ints, fresh: NDArray[np.bool_], records: int) -> bool:
    """Whether a map from old to new codes is a recoding: new codes, or several codes in one, on more than a few records.

    Codes that everybody has alone lead to one code each whatever was done to them, which proves nothing.
    """
    if fresh[pairs[:, 1]].all():
        return True
    same = all(old[a] == new[b] for a, b in pairs.tolist())
    coarser = np.unique(pairs[:, 1]).size < len(pairs)
    return not same and coarser and records >= 2 * len(pairs)


def _by_function(old: Sequence[str], new: Sequence[str], pairs: Ints) -> tuple[Ints, Ints, tuple[str, ...]]:
    """Every old code becomes the new code shown for it; an old code that is never shown keeps one of its own."""
    first = np.full(len(old), -1, dtype=np.int64)
    first[pairs[:, 0]] = pairs[:, 1]
    labels = list(new)
    for code in np.flatnonzero(first < 0).tolist():
        first[code] = len(labels)
        labels.append(f"{old[code]} (before)")
    return first, np.arange(len(new)), tuple(labels)


def _by_components(old: Sequence[str], new: Sequence[str], pairs: Ints) -> tuple[Ints, Ints, tuple[str, ...]]:
    """Where only some records were recoded, a new code and all codes it was shown for are one code of the common level."""
    labels = list(dict.fromkeys((*old, *new)))
    place = {text: at for at, text in enumerate(labels)}
    root = np.arange(len(labels))

    def find(at: int) -> int:
        while root[at] != at:
            at = int(root[at])
        return at

    for a, b in pairs.tolist():
        one, other = find(place[old[a]]), find(place[new[b]])
        root[max(one, other)] = min(one, other)
    top = np.array([find(at) for at in range(len(labels))])
    return top[[place[text] for text in old]], top[[place[text] for text in new]], tuple(labels)
