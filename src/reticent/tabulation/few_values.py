# SPDX-License-Identifier: Apache-2.0
"""Relations between responses of few different numbers: men and women of 0 and 1 are everybody, a benefit is 194 or nothing.

Few different rows of numbers say little by themselves: two of them always lie on a line. How many records lie on it says more.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import bdtrc

from reticent.base.arrays import Floats

_LUCK = 0.05  # how likely chance may make a relation before tables reckon with it
_MOST_VALUES = 50  # of one response
_MOST_SUMS = 20_000


def believed_by_records(columns: Sequence[Floats], coefs: Sequence[float], exceptions: int = 0) -> bool:
    """Whether a relation that all records but some exceptions obey is no accident: responses that have nothing to do with each
    other would rarely obey it so often.

    >>> men = np.array([1.0, 0, 1, 0, 0, 1, 1, 0])
    >>> believed_by_records([men, 1 - men, np.ones(8)], [1, 1, -1])
    True
    >>> believed_by_records([men[:3], 1 - men[:3], np.ones(3)], [1, 1, -1])
    False
    """
    spread: dict[float, float] = {0.0: 1.0}
    n = len(columns[0])
    for column, coef in zip(columns, coefs, strict=True):
        values, counts = np.unique(column, return_counts=True)
        if len(values) > _MOST_VALUES or len(values) * len(spread) > _MOST_SUMS:
            return False
        grown: dict[float, float] = {}
        for total, chance in spread.items():
            for value, count in zip((coef * values).tolist(), (counts / n).tolist(), strict=True):
                key = round(total + value, 9)
                grown[key] = grown.get(key, 0.0) + chance * count
        spread = grown
    trials = n - len(columns) + 1
    return trials > exceptions and float(bdtrc(trials - exceptions - 1, trials, spread.get(0.0, 0.0))) < _LUCK
