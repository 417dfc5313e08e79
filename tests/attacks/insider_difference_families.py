"""Sole respondents of a cell and differences of linked cells: `python -m attacks.insider_difference_families 60`.

The families of `difference_families`. Who is alone in a hidden cell, or in a difference, subtracts what it knows: how many
unsafe differences, in which it has no part, does somebody so find exactly? That anybody can take its own part from a
published cell is no finding: the rules have judged that cell.
"""

import sys
from collections import Counter
from itertools import product

import numpy as np

from attacks.difference_families import drawn, published
from reticent.base.errors import InfeasibleError, NotProtectedError
from reticent.data.published_table import EMPTY, HIDDEN


def attacked(family: str, number: int) -> Counter[str]:
    """The unsafe differences of a case for each sole respondent of a hidden cell, and those that are known exactly."""
    n, codings, people, crossed = drawn(family, number)
    cells = []
    for own, table in zip(codings, published(family, n, codings, people, crossed=crossed), strict=True):
        for code, state in zip(table.codes, table.status, strict=True):
            kinds = frozenset(range(n)) if code[0] == "Total" else own.get(code[0])
            kinds = frozenset(range(n)) - frozenset().union(*own.values()) if kinds is None else kinds
            sexes = {"m": (0,), "f": (1,)}.get(code[-1] if crossed else "", (0, 1))
            cells.append((np.array([float(k in kinds and s in sexes) for k, s in product(range(n), (0, 1))]), state))
    nobody = np.any([row > 0 for row, state in cells if state == EMPTY] or [np.zeros(2 * n, dtype=bool)], axis=0)
    where = [2 * kind + sex for kind, sex, _ in people]
    have = {row.tobytes() for row, _ in cells}
    pairs = ((whole - part) for whole, _ in cells for part, _ in cells)
    wanted = {left.tobytes(): left for left in pairs if left.any() and left.min() >= 0 and left.tobytes() not in have}
    shown = {row.tobytes() for row, state in cells if state != HIDDEN}
    secret = [*(row for row, state in cells if state == HIDDEN), *wanted.values()]
    inside = [[row for row in secret if row[at] and row[where].sum() == 1] for at in where]
    found: Counter[str] = Counter(unsafe=0, exactly=0)
    for left, (at, mine) in product(wanted.values(), zip(where, inside, strict=True)):
        sizes = sorted((t for place, (_, _, t) in zip(where, people, strict=True) if left[place]), reverse=True)
        dominated = family.endswith("-sums") and bool(sizes) and 0.15 * sizes[0] > sum(sizes[2:])
        safe = not sizes or (len(sizes) >= 3 and not dominated)
        with_own = left + (np.arange(2 * n) == at)
        if safe or left[at] or not mine or with_own.tobytes() in shown:
            continue
        known = np.array([row[~nobody] for row, state in cells if state != HIDDEN] + [row[~nobody] for row in mine])
        rest = left[~nobody] - known.T @ np.linalg.lstsq(known.T, left[~nobody], rcond=None)[0]
        found.update(unsafe=1, exactly=bool(np.abs(rest).max() < 1e-7))
    return found


def rates(family: str, plans: int) -> Counter[str]:
    """Plans refused, written and broken, and what is found in them."""
    found: Counter[str] = Counter(refused=0, written=0, broken=0)
    for number in range(plans):
        try:
            one = attacked(family, number)
        except (InfeasibleError, NotProtectedError):
            found["refused"] += 1
            continue
        found.update(one)
        found.update(written=1, broken=one["exactly"] > 0)
    return found


if __name__ == "__main__":
    for chosen in sys.argv[2:] or [
        f"{family}{of}" for of in ("", "-sums") for family in ("ages", "groups", "flags", "missing")
    ]:
        sys.stdout.write(f"{chosen}: {dict(rates(chosen, int(sys.argv[1])))}\n")
