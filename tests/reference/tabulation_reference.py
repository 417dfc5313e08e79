"""The slow, obvious table: every cell looks at all records."""

import itertools
from collections import defaultdict
from collections.abc import Sequence


def slow_table(
    places: Sequence[Sequence[Sequence[int]]],
    values: Sequence[float],
    weights: Sequence[float],
    respondents: Sequence[int],
    top: int,
) -> dict[tuple[int, ...], tuple[int, float, float, list[float]]]:
    """For each cell: respondents, Σ w·x, Σ w·|x| by respondent, and the largest |x| of respondents.

    `places[i][d]` are the nodes of record i in dimension d: its own and all above.
    """
    records: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for i, nodes in enumerate(places):
        for cell in itertools.product(*nodes):
            records[cell].append(i)
    out = {}
    for cell, members in records.items():
        sums: dict[int, float] = defaultdict(float)
        weight: dict[int, float] = {}
        for i in members:
            sums[respondents[i]] += values[i]
            weight[respondents[i]] = weights[i]
        total = sum(weight[r] * x for r, x in sums.items())
        size = sum(weight[r] * abs(x) for r, x in sums.items())
        largest = sorted((abs(x) for x in sums.values()), reverse=True)[:top]
        out[cell] = (len(sums), total, size, largest + [0.0] * (top - len(largest)))
    return out
