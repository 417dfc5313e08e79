"""Products of one response with two others: no combination of what is answered rests on fewer than three people.

Rates of more databases: PYTHONPATH=src:tests python -m property.test_shared_products
"""

import sys
from itertools import combinations

import numpy as np
import polars as pl
import pytest

from attacks.query_scenarios import database, policy_of
from reference.audit_oracle import Span
from reticent.data.schema import Kind, Role, Schema, Variable

PEOPLE, AREAS = 20, 2
Numbers = dict[str, list[int]]
Asked = tuple[str, str]
FAMILIES = ("few values", "nearly the same", "a line")


def rests_on_few(rows: list[list[int]], people: list[int]) -> bool:
    """Whether a combination of the rows is 0 for all but two people: without these the rows lose rank."""
    full = len(Span(rows).rows)
    for two in combinations(range(PEOPLE), 2):
        rest = [[v for v, who in zip(row, people) if who not in two] for row in rows]
        if len(Span(rest).rows) < full:
            return True
    return False


def unsafe(told: list[Asked], numbers: Numbers, area: list[str], line: list[bool]) -> bool:
    """Whether sums of z weighted by x and y, or of x and y weighted by z, rest on fewer than three; on the line y is 2 x."""
    of_z, of_xy = [], []
    for other, where in told:
        inside = [int(where in ("", code)) for code in area]
        of_z += [[i * w for i, w in zip(inside, weights)] for weights in ([1] * PEOPLE, numbers[other])]
        for weights in ([1] * PEOPLE, numbers["z"]):
            own = [i * w for i, w in zip(inside, weights)]
            on_x = own if other == "x" else [2 * w if on else 0 for w, on in zip(own, line)]
            on_y = [0] * PEOPLE if other == "x" else [0 if on else w for w, on in zip(own, line)]
            of_xy.append(on_x + on_y)
    return rests_on_few(of_z, list(range(PEOPLE))) or rests_on_few(of_xy, [*range(PEOPLE)] * 2)


def made(family: str, seed: int) -> tuple[Numbers, list[str], list[bool]]:
    rng = np.random.default_rng(seed)
    area, line = rng.integers(0, AREAS, PEOPLE).astype(str).tolist(), [False] * PEOPLE
    x, y, z = rng.integers(0, 3, PEOPLE), rng.integers(0, 3, PEOPLE), rng.integers(1000, 9000, PEOPLE)
    if family == "nearly the same":
        x = rng.integers(0, 2, PEOPLE)
        y = np.where(rng.random(PEOPLE) < 0.2, 1 - x, x)
    if family == "a line":
        line = (rng.random(PEOPLE) < 0.65).tolist()
        x, z = rng.integers(1000, 9000, PEOPLE), rng.integers(0, 2, PEOPLE)
        y = np.where(line, 2 * x, rng.integers(1000, 9000, PEOPLE))
    return {"x": x.tolist(), "y": y.tolist(), "z": z.tolist()}, area, line


def answered(family: str, seed: int) -> tuple[int, bool]:
    """How many correlations are answered, and whether a combination of them rests on too few."""
    numbers, area, line = made(family, seed)
    keys = {"area": area, "code": [str(int(on)) for on in line]}
    variables = [Variable(name, codes=("0", "1")) for name in keys]
    variables += [Variable(name, role=Role.SENSITIVE, kind=Kind.NUMERIC) for name in numbers]
    policy = policy_of(mode="exact", filters=("area", "code"), responses=("x", "y", "z"), minimum=3)
    table = pl.DataFrame({**keys, **{name: list(map(float, own)) for name, own in numbers.items()}})
    db = database(table, Schema(tuple(variables)), policy)
    told: list[Asked] = []
    for where in ("", *map(str, range(AREAS))):
        for other in ("x", "y"):
            text = f"SELECT CORR({other}, z) FROM data" + (f" WHERE area = '{where}'" if where else "")
            if db.ask(text, user="u").as_json().get("value") is not None:
                told.append((other, where))
    return len(told), bool(told) and unsafe(told, numbers, area, line)


@pytest.mark.parametrize("family", FAMILIES)
def test_no_combination_of_products_rests_on_two(family: str) -> None:
    found = [answered(family, seed) for seed in range(3)]
    assert sum(number for number, _ in found) > 3
    assert not any(few for _, few in found)


if __name__ == "__main__":
    for each in FAMILIES:
        rates = [answered(each, seed) for seed in range(20)]
        few, told = sum(few for _, few in rates), sum(number for number, _ in rates)
        sys.stdout.write(f"{each}: {few} of 20 databases, {told} of 120 correlations answered\n")
