"""Slow, obvious lattice search: every node, every record."""

from collections import Counter
from itertools import product


def groups(records, steps, node):  # type: ignore[no-untyped-def]
    """Records by their codes at the node."""
    return Counter(tuple(steps[j][g][r[j]] if r[j] >= 0 else -1 for j, g in enumerate(node)) for r in records)


def safe_nodes(records, steps, k, limit):  # type: ignore[no-untyped-def]
    """All nodes at which at most a share `limit` of the records is in groups smaller than k."""
    found = []
    for node in product(*(range(len(levels)) for levels in steps)):
        small = sum(size for size in groups(records, steps, node).values() if size < k)
        if small <= int(limit * len(records) + 1e-9):
            found.append(node)
    return found
