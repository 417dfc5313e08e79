"""Counting the slow obvious way: all pairs, all subsets."""

from itertools import combinations

import numpy as np

from reticent.kernels.wildcards import compatible_sums


def compatible(a: np.ndarray, b: np.ndarray, *, a_wild: bool, b_wild: bool) -> bool:
    """Whether two code rows can be the same; −1 matches anything on a wild side."""
    return all(x == y or (x < 0 and a_wild) or (y < 0 and b_wild) for x, y in zip(a.tolist(), b.tolist()))


def count_all_pairs(published: np.ndarray, truth: np.ndarray, semantics: str, values: np.ndarray) -> list[float]:
    """The table in `microdata.risk.semantics`, word by word."""
    n = len(published)
    out = []
    for i in range(n):
        match semantics:
            case "own-category":
                hits = [j for j in range(n) if (published[i] == published[j]).all()]
            case "match-anything":
                hits = [j for j in range(n) if compatible(published[i], published[j], a_wild=True, b_wild=True)]
            case "never-match":
                full = (published[i] >= 0).all()
                hits = [j for j in range(n) if j == i or (full and (published[i] == published[j]).all())]
            case "(k,1)":
                hits = [j for j in range(n) if compatible(published[i], truth[j], a_wild=True, b_wild=False)]
            case "(1,k)":
                hits = [j for j in range(n) if compatible(truth[i], published[j], a_wild=False, b_wild=True)]
            case _:
                first = [j for j in range(n) if compatible(published[i], truth[j], a_wild=True, b_wild=False)]
                second = [j for j in range(n) if compatible(truth[i], published[j], a_wild=False, b_wild=True)]
                out.append(min(values[first].sum(), values[second].sum()))
                continue
        out.append(values[hits].sum())
    return out


def unsafe_cells(codes: np.ndarray, variables: tuple[int, ...], threshold: float) -> tuple[int, int, int]:
    """(cells, unsafe cells, records in them); a row with −1 in the combination has no cell."""
    cells: dict[tuple[int, ...], int] = {}
    for row in codes[:, list(variables)].tolist():
        if min(row) >= 0:
            cells[tuple(row)] = cells.get(tuple(row), 0) + 1
    small = [f for f in cells.values() if f <= threshold]
    return len(cells), len(small), sum(small)


def minimal_rare_sets(codes: np.ndarray, k: int, max_size: int, *, missing: str) -> list[set[tuple[int, ...]]]:
    """Per row, every minimal set of variables on which fewer than k rows agree with it."""
    n, q = codes.shape
    found: list[set[tuple[int, ...]]] = [set() for _ in range(n)]
    for size in range(1, max_size + 1):
        for variables in combinations(range(q), size):
            part = codes[:, list(variables)]
            for i in range(n):
                if missing == "never" and (part[i] < 0).any():
                    continue
                if any(set(smaller) <= set(variables) for smaller in found[i]):
                    continue
                if int((part == part[i]).all(axis=1).sum()) < k:
                    found[i].add(variables)
    return found


def sdcmicro_counts(codes: np.ndarray, weights: np.ndarray | None = None, *, alpha: float = 1.0) -> np.ndarray:
    """Frequencies as sdcMicro's `freqCalc` has them, for comparison only.

    Complete key c: f(c) + alpha · Σ f(m) over compatible keys m with missing values. Key m with missing values:
    f(m) + Σ f(c) over compatible complete keys + alpha · Σ f(m') over other compatible keys with missing values.
    A key that is missing everywhere counts all records.
    """
    values = np.ones(len(codes)) if weights is None else weights
    rows, group = np.unique(codes, axis=0, return_inverse=True)
    group = group.reshape(-1)
    own = np.bincount(group, weights=values, minlength=len(rows))
    incomplete = (rows < 0).any(axis=1)
    full = compatible_sums(rows, rows[~incomplete], own[~incomplete], asking_wild=True, answering_wild=False)
    partial = compatible_sums(rows, rows[incomplete], own[incomplete], asking_wild=True, answering_wild=True)
    found = np.where(incomplete, own + full + alpha * (partial - own), full + alpha * partial)
    found[(rows < 0).all(axis=1)] = values.sum()
    return np.asarray(found[group])
