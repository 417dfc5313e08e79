"""Local suppression by trying everything: every set per record, every assignment for a whole small file."""

from itertools import product

import numpy as np

from reference.microdata_counts import count_all_pairs

Combinations = tuple[tuple[int, int], ...]


def blanked(codes: np.ndarray, masks: list[int]) -> np.ndarray:
    """The codes with each record's mask missing."""
    out = codes.copy()
    for i, mask in enumerate(masks):
        for v in range(codes.shape[1]):
            if mask >> v & 1:
                out[i, v] = -1
    return out


def is_safe(published: np.ndarray, truth: np.ndarray, combinations: Combinations, semantics: str) -> bool:
    """Whether every record has enough companions in every combination, by all pairs."""
    ones = np.ones(len(truth), np.int64)
    for mask, k in combinations:
        columns = [v for v in range(truth.shape[1]) if mask >> v & 1]
        if min(count_all_pairs(published[:, columns], truth[:, columns], semantics, ones)) < k:
            return False
    return True


def cheapest_per_record(
    codes: np.ndarray, combinations: Combinations, costs: tuple[float, ...], frozen: int = 0
) -> list[float | None]:
    """The optimum of (k,1) for each record on its own, over all sets of variables; None where there is none."""
    n, q = codes.shape
    best: list[float | None] = []
    for i in range(n):
        found: float | None = None
        for mask in range(1 << q):
            if mask & frozen:
                continue
            price = sum(costs[v] for v in range(q) if mask >> v & 1 and codes[i, v] >= 0)
            if found is not None and price >= found:
                continue
            ok = True
            for combination, k in combinations:
                known = [v for v in range(q) if combination >> v & 1 and not mask >> v & 1 and codes[i, v] >= 0]
                if int((codes[:, known] == codes[i, known]).all(axis=1).sum()) < k:
                    ok = False
                    break
            if ok:
                found = price
        best.append(found)
    return best


def cheapest_file(codes: np.ndarray, k: int, semantics: str, *, cap: int, violators_only: bool) -> int | None:
    """Fewest blanks that make a small file safe, over all assignments."""
    n, q = codes.shape
    everything: Combinations = (((1 << q) - 1, k),)
    ones = np.ones(n, np.int64)
    before = count_all_pairs(codes, codes, semantics, ones)
    options = [
        [m for m in range(1 << q) if m.bit_count() <= cap] if before[i] < k or not violators_only else [0]
        for i in range(n)
    ]
    best: int | None = None
    for masks in product(*options):
        size = sum(m.bit_count() for m in masks)
        if (best is None or size < best) and is_safe(blanked(codes, list(masks)), codes, everything, semantics):
            best = size
    return best
