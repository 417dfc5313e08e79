"""Selection by quotas as an attacker sees it: R* from frequencies, and whether a true table can be published so."""

from functools import cache

import numpy as np

SPREAD, MIX, SMALL, TOP, BEYOND = 0.15, 0.4, 3, 20, 6


def mixed(states: np.ndarray, first: float, back: float) -> np.ndarray:
    """R = PQ over the states, the first of which has the counts 1 to 3."""
    n = len(states)
    p = np.diag(np.full(n, 1 - 2 * SPREAD)) + SPREAD * (np.eye(n, k=1) + np.eye(n, k=-1))
    p[0, 0], p[0, 1], p[1, 0], p[1, 1] = 1 - first, first, back, 1 - SPREAD - back
    p[-1, -1] = 1 - SPREAD
    joint = states[:, None] * p
    q = np.array([joint[:, m] / joint[:, m].sum() if joint[:, m].sum() > 0 else np.eye(n)[m] for m in range(n)])
    return p @ q


def shares(states: np.ndarray, threes: float) -> tuple[float, float]:
    """How many leave the small counts and come back: no more leave than there are threes."""

    def along(part: float) -> tuple[float, float]:
        return SPREAD / 2 * part, SPREAD * part

    def leaving(part: float) -> float:
        return float(states[0] * mixed(states, *along(part))[0, 1:].sum())

    low, high = 0.0, 1.0
    if leaving(high) <= 0.9 * threes:
        return along(high)
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if leaving(middle) <= 0.9 * threes else (low, middle)
    return along(low)


@cache
def chances(counts: tuple[int, ...]) -> tuple[dict[int, dict[int, float]], int]:
    """Probabilities of results for each count of a table, and up to which count quotas hold."""
    often = [counts.count(i) for i in range(1, TOP + 3)]
    if not any(often):
        often = [1] * (TOP + 2)
    run = []
    for n in often[SMALL:]:
        if not n:
            break
        run.append(float(n))
    states = np.array([float(sum(often[:SMALL])), *run, *([run[-1] if run else 1.0] * BEYOND)])
    lazy = MIX * mixed(states, *shares(states, often[2])) + (1 - MIX) * np.eye(len(states))
    up = states[0] * lazy[0, 1:3]
    few = often[0] + often[1]
    zero = max(0.0, min(MIX * often[2] - up.sum(), 0.95 * few / SMALL))
    extra = zero / few if few else 0.0
    rows: dict[int, dict[int, float]] = {0: {0: 1.0}}
    for i in (1, 2):
        rise = min(1.0, i / SMALL + extra)
        rows[i] = {0: 1 - rise, SMALL: rise}
    threes = often[2] or 1
    rows[3] = {0: zero / threes, 3: 1 - (zero + up.sum()) / threes, 4: up[0] / threes, 5: up[1] / threes}
    if not often[2]:
        rows[3] = {3: 1.0}
    last = SMALL + len(states) - 3
    for state in range(1, len(states) - 2):
        rows[state + SMALL] = {j + SMALL: float(p) for j, p in enumerate(lazy[state])}
    for i in range(last + 1, 60):
        rows[i] = {j + i - last: p for j, p in rows[last].items()}
    rows = {i: {j: p for j, p in row.items() if p > 1e-15} for i, row in rows.items()}
    return rows, min(SMALL + max(len(run) - 2, 0) + 2, last)


def fits(world: np.ndarray, published: np.ndarray) -> bool:
    """Whether the numbers of cells that moved are neighbours of the expected ones, and so are the sums of columns."""
    rows, limit = chances(tuple(sorted(world.tolist())))
    columns: dict[int, list[float]] = {}
    for count in np.unique(world).tolist():
        here = published[world == count].tolist()
        if any(j not in rows[count] for j in here):
            return False
        for j, p in rows[count].items() if 0 < count <= limit else ():
            columns.setdefault(j, [0.0, 0])
            columns[j][0] += p * len(here)
            columns[j][1] += here.count(j)
            if not near(here.count(j), p * len(here)):
                return False
    small = [columns.get(j, [0.0, 0]) for j in (0, SMALL)]
    if not near(small[0][1] + small[1][1], small[0][0] + small[1][0]):
        return False
    return all(near(found, expected) for expected, found in columns.values())


def near(number: float, expected: float) -> bool:
    return bool(np.floor(expected + 1e-6) <= number <= np.ceil(expected - 1e-6))
