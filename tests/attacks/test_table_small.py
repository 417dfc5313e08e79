"""Small tables of counts, all of them: what is published is safe for an enumerating reader, and nothing is refused in vain.

The reader enumerates whole-number worlds and shares no code with the methods. Hiding more never reveals more, so some
pattern is safe exactly if hiding everything is; a refusal is right only where that is not. Version 0.1.0 published 2 by 2
tables in which hidden counts were known (`test_table_counts.py`), and later `hide_empty` refused 20 of 24 of them.
"""

import itertools
import random
from collections.abc import Iterator

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from reticent.base.errors import InfeasibleError, NotProtectedError
from reticent.data.microdata import Microdata
from reticent.data.published_table import EMPTY, HIDDEN, PUBLISHED, PublishedTable
from reticent.data.schema import Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.tables.rules import Threshold

MINIMUM, MOST = 3, 8
Codes = tuple[str, ...]
Shape = tuple[tuple[str, ...], ...]
SHAPES: dict[str, Shape] = {
    "2 by 2": (("a", "b"), ("u", "v")),
    "list of 3": (("a", "b", "c"),),
    "list of 4": (("a", "b", "c", "d"),),
}
FAMILY = [
    (name, counts, hide_empty)
    for name, shape in SHAPES.items()
    for counts in itertools.product((0, 1, 2, 4), repeat=int(np.prod([len(codes) for codes in shape])))
    if sum(counts) >= MINIMUM
    for hide_empty in (False, True)
]
SAMPLE = random.Random(11).sample(FAMILY, 60)


class Worlds:
    """Every way to fill the inner cells of a table with counts up to MOST, and the totals that follow."""

    def __init__(self, shape: Shape) -> None:
        self.inner = list(itertools.product(*shape))
        self.cells = list(itertools.product(*(("Total", *codes) for codes in shape)))
        self.member = np.array([[_in(inner, cell) for cell in self.cells] for inner in self.inner])
        filled = np.array(list(itertools.product(range(MOST + 1), repeat=len(self.inner))))
        self.values: NDArray[np.int64] = filled @ self.member

    def fitting(self, state: dict[Codes, str], shown: dict[Codes, int], hides_empty: bool) -> NDArray[np.bool_]:
        """The worlds that agree with what is published."""
        fits = np.ones(len(self.values), dtype=bool)
        for at, cell in enumerate(self.cells):
            if cell in shown:
                fits &= self.values[:, at] == shown[cell]
            elif state[cell] == EMPTY:
                fits &= self.values[:, at] == 0
            elif not hides_empty:
                fits &= self.values[:, at] >= 1
        return fits


def _in(inner: Codes, cell: Codes) -> int:
    return int(all(b in ("Total", a) for a, b in zip(inner, cell, strict=True)))


def found(worlds: Worlds, truth: NDArray[np.int64], state: dict[Codes, str], hides_empty: bool) -> list[str]:
    """What the reader of a pattern, and everybody alone in a cell, finds of unsafe counts."""
    shown = {cell: int(truth[at]) for at, cell in enumerate(worlds.cells) if state[cell] == PUBLISHED}
    fits = worlds.fitting(state, shown, hides_empty)
    seen, before = worlds.values[fits], worlds.values[worlds.fitting(state, {}, hides_empty)]
    unsafe = [at for at, value in enumerate(truth) if 0 < value < MINIMUM]
    told = []
    for at in unsafe:
        least = max(int(truth[at]) - 1, int(before[:, at].min()))
        if seen[:, at].max() < MINIMUM or seen[:, at].min() > least:
            told.append(f"{worlds.cells[at]} is {seen[:, at].min()} to {seen[:, at].max()}")
    for person in np.flatnonzero(truth[[worlds.cells.index(inner) for inner in worlds.inner]] == 1):
        known = [at for at in range(len(truth)) if worlds.member[person, at] and truth[at] == 1]
        inside, anyway = (table[(table[:, known] == 1).all(axis=1)] for table in (seen, before))
        told += [
            f"{worlds.inner[person]} knows {worlds.cells[at]}"
            for at in unsafe
            if at not in known and len(set(inside[:, at])) == 1 < len(set(anyway[:, at]))
        ]
    return told


def protected(shape: Shape, counts: tuple[int, ...], hide_empty: bool) -> PublishedTable | None:
    """What is published of the table; None if it is refused."""
    names = [f"v{at}" for at in range(len(shape))]
    rows = [codes for codes, number in zip(itertools.product(*shape), counts, strict=True) for _ in range(number)]
    schema = Schema(tuple(Variable(name, role=Role.KEY, codes=codes) for name, codes in zip(names, shape, strict=True)))
    data = Microdata.of(pl.DataFrame(rows, schema=names, orient="row"), schema)
    spec = TableSpec(tuple(DimensionSpec(name) for name in names))
    try:
        done = protect_table(
            data, spec, rules=[Threshold(MINIMUM, protection=20)], hide_empty=hide_empty, time_limit=20
        )
    except (InfeasibleError, NotProtectedError):
        return None
    return done.published[0]


def faults(cases: list[tuple[str, tuple[int, ...], bool]]) -> Iterator[str]:
    """Tables that tell too much, and tables refused although hiding everything is safe."""
    enumerated = {name: Worlds(shape) for name, shape in SHAPES.items()}
    for name, counts, hide_empty in cases:
        worlds = enumerated[name]
        truth = np.array(counts) @ worlds.member
        table = protected(SHAPES[name], counts, hide_empty)
        if table is None:
            all_hidden = {cell: HIDDEN if truth[at] or hide_empty else EMPTY for at, cell in enumerate(worlds.cells)}
            if not found(worlds, truth, all_hidden, hide_empty):
                yield f"{counts}, hide_empty {hide_empty}: refused although hiding everything is safe"
            continue
        state = dict(zip(table.codes, table.status, strict=True))
        for sentence in found(worlds, truth, state, table.hides_empty):
            yield f"{counts}, hide_empty {hide_empty}: {sentence}"


def test_the_reader_finds_what_is_known() -> None:
    """The smallest case: three people in three hidden cells beside an empty one."""
    worlds = Worlds(SHAPES["list of 4"])
    truth = np.array((1, 1, 1, 0)) @ worlds.member
    state = {("Total",): PUBLISHED, ("a",): HIDDEN, ("b",): HIDDEN, ("c",): HIDDEN, ("d",): EMPTY}
    assert len(found(worlds, truth, state, hides_empty=False)) >= 3


def test_small_tables_are_safe_and_not_refused_in_vain() -> None:
    assert list(faults(SAMPLE)) == []


@pytest.mark.deep
@pytest.mark.parametrize("name", list(SHAPES))
def test_all_small_tables(name: str) -> None:
    cases = [case for case in FAMILY if case[0] == name]
    assert len(cases) >= 100
    assert list(faults(cases)) == []
