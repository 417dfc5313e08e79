# SPDX-License-Identifier: Apache-2.0
"""What noise did to a table, in the shape of SORT's tables 4, 5 and 6: for the confidential report, or to be published."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats
from reticent.base.errors import ParameterError

CLASSES = (1, 3, 10, 20, 50, 100, 300, 500, 1000, 5000)
"""Where classes of counts begin; the source's begin at 20."""


@dataclass(frozen=True)
class NoiseUtility:
    """Largest deviation per class of counts, shares of cells per absolute deviation, and frequencies of deviations.

    `before` and `moved` are the same for the noise before additivity and for the published measure, where there are such.
    """

    largest: tuple[tuple[str, int], ...]
    shares: tuple[tuple[int, float, float | None], ...]
    frequencies: tuple[tuple[int, int, int | None], ...]
    cells: int
    mean: float
    mean_before: float | None

    def summary(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "cells above 0": self.cells,
            "mean deviation": self.mean,
            "mean deviation before additivity": self.mean_before,
            "largest deviation by count": dict(self.largest),
            "per cent of cells by absolute deviation": [list(row) for row in self.shares],
            "cells by deviation": [list(row) for row in self.frequencies],
        }


def noise_utility(
    true: Floats,
    published: Floats,
    *,
    noisy: Floats | None = None,
    moved: Floats | None = None,
    classes: Sequence[int] = CLASSES,
) -> NoiseUtility:
    """Compare published counts with true ones over the cells above 0.

    `noisy` are the counts before they were made to add up, `moved` the deviations as the published measure has them.
    """
    if len(true) != len(published):
        raise ParameterError("noise report: there must be one published count for each true one.")
    there = true > 0
    deviation = np.rint(published - true)[there].astype(np.int64)
    before = None if noisy is None else np.abs(np.rint(noisy - true)[there].astype(np.int64))
    other = None if moved is None else np.rint(moved[there & ~np.isnan(moved)]).astype(np.int64)
    return NoiseUtility(
        _largest(true[there], np.abs(deviation), classes),
        _shares(np.abs(deviation), before),
        _frequencies(deviation, other),
        int(there.sum()),
        float(np.abs(deviation).mean()) if len(deviation) else 0.0,
        None if before is None or not len(before) else float(before.mean()),
    )


def _largest(true: Floats, size: NDArray[np.int64], classes: Sequence[int]) -> tuple[tuple[str, int], ...]:
    """Table 4: the largest deviation in each class of true counts that occurs."""
    starts = sorted(classes)
    rows = []
    for at, start in enumerate(starts):
        end = starts[at + 1] - 1 if at + 1 < len(starts) else None
        mine = (true >= start) & (true <= end if end is not None else np.ones(len(true), dtype=bool))
        if mine.any():
            rows.append((f"{start}-{end}" if end is not None else f"from {start}", int(size[mine].max())))
    return tuple(rows)


def _shares(after: NDArray[np.int64], before: NDArray[np.int64] | None) -> tuple[tuple[int, float, float | None], ...]:
    """Table 5: per cent of cells with each absolute deviation, after additivity and before."""
    top = max(int(after.max(initial=0)), 0 if before is None else int(before.max(initial=0)))
    n = max(len(after), 1)
    return tuple(
        (d, 100.0 * float((after == d).sum()) / n, None if before is None else 100.0 * float((before == d).sum()) / n)
        for d in range(top + 1)
    )


def _frequencies(
    deviation: NDArray[np.int64], moved: NDArray[np.int64] | None
) -> tuple[tuple[int, int, int | None], ...]:
    """Table 6: cells with each deviation, and by the perturbed deviation."""
    least = min(int(deviation.min(initial=0)), 0 if moved is None else int(moved.min(initial=0)))
    most = max(int(deviation.max(initial=0)), 0 if moved is None else int(moved.max(initial=0)))
    return tuple(
        (d, int((deviation == d).sum()), None if moved is None else int((moved == d).sum()))
        for d in range(least, most + 1)
    )
