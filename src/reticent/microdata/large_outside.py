# SPDX-License-Identifier: Apache-2.0
"""Keys that are recoded while other published variables still have them, where records stay in an engine.

A sample of the records is read as it is published, with the codes that its keys had, and looked at as a file in memory is.
"""

from collections.abc import Sequence

import numpy as np

from reticent.base.arrays import Ints, Mask
from reticent.data.large import LargeFile
from reticent.data.microdata import Microdata
from reticent.frames.columns import stacked
from reticent.microdata.large_masked import some_blocks
from reticent.microdata.large_steps import LargeSteps
from reticent.microdata.risk.outside_key import OutsideKey
from reticent.microdata.risk.told_outside import Outside, look_outside

LOOKED = 100_000
"""Records that are looked at, about; in a larger file these are chosen by a hash of the identifier."""


def outside_in_engine(file: LargeFile, ready: LargeSteps, keys: Sequence[str]) -> Outside:
    """What published variables tell of the codes that keys have in the file, before any step."""
    blocks = list(some_blocks(ready, LOOKED))
    if not blocks:
        return Outside()
    frame = stacked([block.shown.frame for block in blocks])
    shown = Microdata(frame, blocks[0].shown.schema, np.concatenate([block.shown.ids for block in blocks]))
    values = np.vstack([block.values for block in blocks])
    found = []
    for name in keys:
        true = _true(file, name, values[:, ready.looked_up.index(name)].astype(np.int64))
        code = np.where(shown.missing(name), -1, shown.patterns((name,)).group)
        hidden = (code < 0) | _of_several(code, true)
        if (hidden & (true >= 0)).any():
            found.append(OutsideKey(name, true, code, hidden, shown.multiplicity))
    # nothing counts people with overlapping sets here, and what only narrows a key does no harm to most people
    return look_outside(found, shown, keys, overlapping=False)


def _true(file: LargeFile, name: str, rows: Ints) -> Ints:
    """The number of the value of each record; −1 where it is missing."""
    column = file.column(name)
    return np.where(column.missing(name)[rows], -1, rows)


def _of_several(code: Ints, true: Ints) -> Mask:
    """Records whose published code stands for several values."""
    pairs = np.unique(np.column_stack((code, true))[(code >= 0) & (true >= 0)], axis=0)
    return np.asarray(np.bincount(pairs[:, 0], minlength=int(code.max(initial=-1)) + 2)[code] > 1)
