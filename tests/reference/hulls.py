"""Ranges of sums over a hull of camouflage."""

import numpy as np

from reticent.queries.camouflage.hulls import Hull, Members


def sum_range(hull: Hull, rows: np.ndarray) -> tuple[int, int]:
    """The exact range of a sum over some records (each once), in half steps."""
    inside = np.zeros(len(hull.low), dtype=bool)
    inside[rows] = True
    alone = inside & (hull.block < 0)
    touched = np.unique(hull.block[inside & (hull.block >= 0)])
    members = np.flatnonzero(np.isin(hull.block, touched))
    ends = hull.partial(Members.of(hull, members), inside[members])
    return int(hull.low[alone].sum()) + int(ends[0].sum()), int(hull.high[alone].sum()) + int(ends[1].sum())
