# SPDX-License-Identifier: Apache-2.0
"""Respondents with several records: attackers count and link respondents, never the records of one of them.

Ten visits of one patient are no crowd to hide in: records that show the same keys are one candidate if they belong to one
respondent. Nor are copies of one record a crowd.
"""

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.data.microdata import Microdata


def respondents_of(original: Microdata) -> Ints | None:
    """The number of each record's respondent; None where nobody has several records. A missing id is one of its own."""
    entity = original.entity()
    if entity is None:
        return None
    known = np.where(entity < 0, entity.max(initial=-1) + 1 + np.arange(entity.size), entity)
    numbers = np.unique(known, return_inverse=True)[1].ravel().astype(np.int64)
    return None if numbers.max(initial=-1) + 1 == numbers.size else numbers


def counted_once(original: Microdata, own: Ints) -> Ints | None:
    """The same, also where each record is a respondent of its own but some have several published ones (copies)."""
    found = respondents_of(original)
    if found is not None or not copies_in(own):
        return found
    return np.arange(original.n_rows)


def copies_in(own: Ints) -> int:
    """Published records (`own`: whose values each has) that stand beside another one of the same original record."""
    known = own[own >= 0]
    return int(known.size - np.unique(known).size)


def respondents_shown(who: Ints, own: Ints) -> Ints:
    """The respondent of each published record (`own`: its original record); a record of nobody is one of its own."""
    return np.where(own >= 0, who[own], who.max(initial=-1) + 1 + np.arange(own.size))


def shares_of(who: Ints, shown: NDArray[np.int32], *, exclusive: bool) -> Floats:
    """What each published record adds to a count of respondents, so that nobody counts more than once.

    Different whole patterns cannot fit the same person (`exclusive`), so equal patterns of one respondent share 1: the
    count is exact. Where several patterns may fit (blanks, detail that differs, numbers that chance has moved), all
    records of the respondent share 1: the count is a lower bound, and the risk an upper one.
    """
    _, group = np.unique(who, return_inverse=True)
    loose = np.zeros(who.size, dtype=bool)
    if not exclusive:
        loose[:] = True
    elif shown.shape[1]:
        blank = np.bincount(group.ravel(), weights=(shown < 0).any(axis=1)) > 0
        loose = blank[group.ravel()]
    rows = np.where(loose[:, None], -1, shown)
    _, same = np.unique(np.column_stack((group.ravel(), rows)), axis=0, return_inverse=True)
    return np.asarray(1.0 / np.bincount(same.ravel())[same.ravel()])
