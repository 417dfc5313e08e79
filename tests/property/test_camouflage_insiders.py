"""Camouflage by enumeration: whoever knows any t respondents leaves every other record all values of its cell."""

from collections import defaultdict
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest

from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.camouflage.mode import CamouflageMode, camouflage
from reticent.queries.canonical import Universe, Version
from reticent.queries.language import Query, Statistic
from reticent.queries.modes import Cell, Request, Setting
from reticent.queries.policy import Bounds, Policy
from reticent.queries.refusals import Answer

Database = tuple[int, ...]
STATISTICS = tuple(Statistic(name, ("x",)) for name in ("sum", "min", "max", "median"))


def opened(values: Database, owners: tuple[int, ...], policy: Policy, secret: int) -> CamouflageMode:
    """A database in which conditions single out every record."""
    names = [f"r{i}" for i in range(len(values))]
    schema = Schema(
        (
            Variable("id", role=Role.IDENTIFIER),
            Variable("firm", role=Role.ENTITY),
            Variable("who", codes=tuple(names)),
            Variable("x", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        )
    )
    table = pl.DataFrame({"id": names, "firm": [f"f{o}" for o in owners], "who": names, "x": list(values)})
    own = as_secret(secret)
    universe = Universe((Version("1", Microdata.of(table, schema), policy),), policy, own.child("universe"))
    return camouflage(Setting(universe, policy, own))


def told(mode: CamouflageMode, n: int) -> str:
    """All answers about all sets of one and two records, and of all but two, one and none."""
    universe, cells = mode.setting.universe, []
    sizes = sorted({1, 2, n - 2, n - 1, n})
    for chosen in (set(c) for size in sizes for c in combinations(range(n), size)):
        atoms = np.zeros(universe.current.n_atoms, dtype=bool)
        atoms[universe.current.atom[sorted(chosen)]] = True
        cells.append(Cell((), universe.record_set(atoms)))
    result = mode.decide(Request(Query(STATISTICS), tuple(cells), "u")).result
    assert isinstance(result, Answer)
    return repr([row.values for row in result.rows])


def narrowed(
    owners: tuple[int, ...], top: int, insiders: int, secret: int, *, promised: int | None = None
) -> tuple[int, int]:
    """How many ranges left by t known respondents are no whole cell, and of how many."""
    n = len(owners)
    options = {"camouflage": {"insiders": insiders if promised is None else promised, "least": 0.5, "percent": 1.0}}
    policy = Policy(
        mode="camouflage", filters=("who",), responses=("x",), bounds={"x": Bounds(0, top, True)}, options=options
    )
    alike: dict[str, list[Database]] = defaultdict(list)
    for values in product(range(top + 1), repeat=n):
        alike[told(opened(values, owners, policy, secret), n)].append(values)
    wrong = looked_at = 0
    for databases in alike.values():
        cells = [{values[i] for values in databases} for i in range(n)]
        assert min(map(len, cells)) >= 2
        for known in combinations(sorted(set(owners)), insiders):
            inside = [i for i in range(n) if owners[i] in known]
            left: dict[Database, list[Database]] = defaultdict(list)
            for values in databases:
                left[tuple(values[i] for i in inside)].append(values)
            for rest in left.values():
                for i in set(range(n)) - set(inside):
                    looked_at += 1
                    wrong += {values[i] for values in rest} != cells[i]
    return wrong, looked_at


def test_one_known_respondent_narrows_nobody() -> None:
    wrong, looked_at = narrowed((0, 0, 1, 2, 3, 4), 1, 1, 1)
    assert looked_at > 50
    assert wrong == 0
    assert narrowed((0, 0, 1, 2, 3, 4), 1, 1, 1, promised=0)[0] > 0, (
        "where nobody promised it, one who knows reveals more"
    )


@pytest.mark.deep
@pytest.mark.parametrize(
    "owners, top, insiders",
    [
        (tuple(range(5)), 3, 0),
        (tuple(range(5)), 3, 1),
        (tuple(range(7)), 1, 2),
        ((0, 0, 1, 2, 3), 3, 1),
        ((0, 0, 0, 1, 1, 2, 3, 4, 5), 1, 1),
    ],
)
@pytest.mark.parametrize("secret", [1, 2])
def test_known_respondents_narrow_nobody(owners: tuple[int, ...], top: int, insiders: int, secret: int) -> None:
    assert narrowed(owners, top, insiders, secret)[0] == 0
