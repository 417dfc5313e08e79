"""Slow, obvious linkage: loops over all pairs."""

import math
from collections.abc import Sequence


def squared_distance(x: Sequence[float], q: Sequence[float], nominal: Sequence[bool], absent: Sequence[float]) -> float:
    """Sum over coordinates; a missing coordinate of the query adds nothing, one of the record adds `absent`."""
    total = 0.0
    for a, b, is_nominal, gone in zip(x, q, nominal, absent):
        if math.isnan(b):
            continue
        if math.isnan(a):
            total += gone
        elif is_nominal:
            total += a != b
        else:
            total += (a - b) ** 2
    return total


def credits(original, masked, nominal, absent) -> list[float]:  # type: ignore[no-untyped-def]
    """1/ties where nobody is nearer than the record at the same position, else 0."""
    result = []
    for i, q in enumerate(masked):
        distances = [squared_distance(x, q, nominal, absent) for x in original]
        own = distances[i]
        nearer = sum(d < own * (1 - 1e-9) for d in distances)
        ties = sum(own * (1 - 1e-9) <= d <= own * (1 + 1e-9) for d in distances)
        result.append(0.0 if nearer else 1.0 / ties)
    return result
