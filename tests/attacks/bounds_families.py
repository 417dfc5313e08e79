"""Linked tables of which the second says what everybody knows of its cells: `python -m attacks.bounds_families 40`.

Turnover by a × b, and by a × c where everybody knows every cell within 25 per cent (`order` 1: the tables the other way round).
The attacker has the published tables and these bounds, an unknown for each combination of codes, and two programs for each
hidden unsafe cell.
"""

import itertools
import sys
from collections import Counter

import numpy as np
import polars as pl
from scipy.optimize import linprog

from reticent.base.errors import InfeasibleError
from reticent.data.microdata import Microdata
from reticent.data.published_table import HIDDEN
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.data.table_plan import BoundsOptions
from reticent.jobs.protect_table import protect_table
from reticent.tables.request import TableRequest, WantedTable
from reticent.tables.rules import PPercent, Threshold

SIZES = (3, 3, 3)
KNOWN = 0.25
RULES = (PPercent(15), Threshold(3, protection=20))
_NEAR = 1e-4  # how far from the true end a program may stop, as a share of the value


def attacked(number: int, order: int) -> Counter[str]:
    """Hidden unsafe cells of a case, and those that are known more closely than they may be."""
    rng = np.random.default_rng([number, 58])
    inner = list(itertools.product(*map(range, SIZES)))
    people = [at for at in inner for _ in range(int(rng.integers(0, 4)))]
    turnover = np.exp(rng.normal(4, 1, len(people))).astype(int).tolist()
    rows = [(*(f"{name}{code}" for name, code in zip("abc", at, strict=True)), t) for at, t in zip(people, turnover)]
    keys = (Variable(name, role=Role.KEY, codes=tuple(f"{name}{n}" for n in range(3))) for name in "abc")
    data = Microdata.of(
        pl.DataFrame(rows, schema=[*"abc", "t"], orient="row"), Schema((*keys, Variable("t", kind=Kind.NUMERIC)))
    )
    share = f"{100 * KNOWN:g} %"
    wanted = [
        WantedTable(
            TableSpec(tuple(map(DimensionSpec, names)), response="t"), RULES, data,
            bounds=BoundsOptions(share, share) if names == "ac" else BoundsOptions(),
        )
        for names in (("ab", "ac"), ("ac", "ab"))[order]
    ]  # fmt: skip
    tables = protect_table(TableRequest(tuple(wanted), time_limit=60)).published
    exact, known, hidden = [], [], []
    for table in tables:
        for codes, state, value in zip(table.codes, table.status, table.values.tolist(), strict=True):
            given = {name: int(code[1:]) for name, code in zip(table.dimensions, codes, strict=True) if code != "Total"}
            inside = np.array([all(at["abc".index(n)] == c for n, c in given.items()) for at in inner], dtype=float)
            own = sorted((t for at, t in zip(people, turnover) if inside[inner.index(at)]), reverse=True)
            if state == HIDDEN:
                hidden.append((inside, own))
                if table.dimensions == ("a", "c"):
                    known.append((inside, sum(own) * (1 - KNOWN), sum(own) * (1 + KNOWN)))
            else:
                exact.append((inside, value if state != "empty" else 0.0))
    return _found(exact, known, hidden)


def _found(
    exact: list[tuple[np.ndarray, float]],
    known: list[tuple[np.ndarray, float, float]],
    hidden: list[tuple[np.ndarray, list[int]]],
) -> Counter[str]:
    found: Counter[str] = Counter(unsafe=0, closely=0)
    equal, right = np.array([row for row, _ in exact]), np.array([value for _, value in exact])
    limits = np.array([row for row, _, _ in known] + [-row for row, _, _ in known]).reshape(-1, equal.shape[1])
    most = np.array([high for _, _, high in known] + [-low for _, low, _ in known])
    for inside, own in hidden:
        level = 0.15 * own[0] - sum(own[2:])
        level = level if level > 0 else 0.2 * sum(own) if len(own) < 3 else 0.0
        if level <= 0:
            continue
        ends = []
        for side in (1.0, -1.0):
            one = linprog(side * inside, A_ub=limits, b_ub=most, A_eq=equal, b_eq=right)
            assert one.status == 0, one.message
            ends.append(side * one.fun)
        slack, total = _NEAR * sum(own), sum(own)
        closely = ends[0] > max(0.0, total - level) + slack or ends[1] < total + level - slack
        found.update(unsafe=1, closely=closely)
    return found


def rates(plans: int, order: int) -> Counter[str]:
    """Plans refused, written and broken, and what is found in them."""
    found: Counter[str] = Counter(refused=0, written=0, broken=0)
    for number in range(plans):
        try:
            one = attacked(number, order)
        except InfeasibleError:
            found["refused"] += 1
            continue
        found.update(one)
        found.update(written=1, broken=one["closely"] > 0)
    return found


if __name__ == "__main__":
    for first in (0, 1):
        sys.stdout.write(f"order {first}: {dict(rates(int(sys.argv[1]), first))}\n")
        sys.stdout.flush()
