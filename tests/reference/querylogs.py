"""Semantic microaggregation of query logs as the source writes it: dense matrices and plain loops, errata applied."""

from collections import Counter


def similarity(counts: list[Counter[str]]) -> list[list[int]]:
    """Σ over categories of the smaller count; the diagonal is 0."""
    n = len(counts)
    return [
        [0 if i == j else sum(min(counts[i][c], counts[j][c]) for c in counts[i]) for j in range(n)] for i in range(n)
    ]


def clusters(matrix: list[list[int]], k: int) -> list[list[int]]:
    """The most similar pair, then the closest to the added-up rows, until k; who is left joins the last cluster."""
    alive = list(range(len(matrix)))
    found: list[list[int]] = []
    while len(alive) >= k:
        best = None
        for i in alive:
            for j in alive:
                if i != j and (best is None or matrix[i][j] > matrix[best[0]][best[1]]):
                    best = (i, j)
        assert best is not None
        own = [best[0], best[1]]
        while len(own) < k:
            rest = [j for j in alive if j not in own]
            together = {j: sum(matrix[i][j] for i in own) for j in rest}
            own.append(max(rest, key=lambda j: (together[j], -j)))
        found.append(own)
        alive = [i for i in alive if i not in own]
    found[-1] += alive
    return found


def remaining(own: list[Counter[str]], centroid: list[Counter[str]]) -> float:
    """The mean over users of Σ min(own, centroid) / Σ own."""
    shares = []
    for mine, theirs in zip(own, centroid, strict=True):
        total = sum(mine.values())
        if total:
            shares.append(sum(min(mine[c], theirs[c]) for c in mine) / total)
    return sum(shares) / len(shares)
