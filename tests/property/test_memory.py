"""Tables protected with memory against exhaustive search: if any pattern is jointly safe one is found, else it is refused."""

import hashlib
import itertools
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import InfeasibleError, NotProtectedError
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.published_table import HIDDEN
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.history.book import Book, joined
from reticent.history.made import recipe_of_tables
from reticent.history.memory import Remembered, remember
from reticent.history.table_recipe import TableRecipe
from reticent.ledger.blobs import Blobs
from reticent.ledger.ledger import open_ledger
from reticent.releases.verifier import verify
from reticent.tables.memory import Memory, hideable
from reticent.tables.methods import PrimaryOnly, Round
from reticent.tables.request import TableRequest, table_request
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import Threshold
from reticent.tables.run import run_request

SECRET = hashlib.sha256(b"memory").digest()


class Case:
    """Few records, a table that is out, and a table that is to follow; c is b but for some records."""

    def __init__(self, seed: int, folder: Path) -> None:
        rng = random.Random(seed)
        rows = []
        for _ in range(rng.randint(7, 11)):
            b = rng.choice("rs")
            c = b if rng.random() < 0.7 else rng.choice("rs")
            rows.append({"a": rng.choice("pq"), "b": b, "c": c, "x": rng.randint(5, 60)})
        schema = Schema((*(Variable(name, role=Role.KEY) for name in "abc"), Variable("x", kind=Kind.NUMERIC)))
        frame = pl.DataFrame(rows).select("a", "b", "c", "x")
        self.data = Microdata.of(frame, schema)
        response = rng.choice(("x", "x", None))
        self.first = self.request(("a", "b"), response, rng.choice((1, 2, 3, 3)))
        names = rng.choice((("a", "b"), ("a", "c"), ("b", "c"), ("c",), ("b",)))
        self.second = self.request(names, response, rng.choice((1, 2, 3)))
        self.ledger = open_ledger(folder / f"{seed}.ledger", secret=as_secret(SECRET).child("ledger"), dataset="data")
        self.book = Book(self.ledger, Blobs(folder / f"{seed}.blobs"), self.data)

    def request(self, names: tuple[str, ...], response: str | None, minimum: int) -> TableRequest:
        spec = TableSpec(tuple(DimensionSpec(name) for name in names), response=response)
        return table_request(self.data, spec, rules=[Threshold(minimum, protection=20)])

    def release(self, request: TableRequest, name: str) -> Remembered:
        found = remember(self.book, request, name, run)
        if found.judged.verdict.safe:
            with self.book.turn() as turn:
                self.book.record(turn, found.recipe, name)
        return found

    def patterns(self, request: TableRequest) -> Iterator[bool]:
        """Whether each pattern that hides at least the unsafe cells is jointly safe."""
        results = run_request(TableRequest(request.tables, PrimaryOnly()))
        recipe = recipe_of_tables(request, results)
        stage = self.book.stage(recipe, "second")
        system, cells = stage.system(), list(hideable(results[0])[0].costs)
        for mask in itertools.product((True, False), repeat=len(cells)):
            chosen = [cell for cell, hidden in zip(cells, mask, strict=True) if hidden]
            told = recipe.hiding([chosen]).facts(stage.scene.grounded, "second")
            yield system.judge(joined(told, "second")).safe

    def roundings(self, request: TableRequest, base: int) -> Iterator[bool]:
        """Whether each additive rounding of the inner cells, one way or the other, is jointly safe."""
        table = run_request(request)[0].table
        inner = np.flatnonzero(table.is_inner)
        for ups in itertools.product((0, 1), repeat=len(inner)):
            chosen = zip(inner.tolist(), ups, strict=True)
            rounded = {
                table.cell_codes(cell): base * (table.values[cell] // base + up * bool(table.values[cell] % base))
                for cell, up in chosen
            }
            memory = Memory(window={codes: (value, value) for codes, value in rounded.items()})
            try:
                _, recipe = run(replace(request, tables=(replace(request.tables[0], memory=memory),)))
            except (InfeasibleError, NotProtectedError):
                continue
            yield self.book.judge(recipe, "second").verdict.safe


def run(request: TableRequest, *, exposed: bool = False) -> tuple[tuple[ProtectedTable, ...], TableRecipe]:
    results = run_request(request)
    for result in results:
        result.require(accept_exposed=exposed)
    return results, recipe_of_tables(request, results)


def ends(seed: int, folder: Path) -> str:
    """How a case ends: as it came, with more hidden, or refused; compared with all patterns where it is refused."""
    case = Case(seed, folder)
    try:
        return _ends(case, seed)
    except (InfeasibleError, NotProtectedError):
        return "not protected alone"
    finally:
        case.ledger.close()


def _ends(case: Case, seed: int) -> str:
    case.release(case.first, "first")
    before = run(case.second)[1]
    found = case.release(case.second, "second")
    if not found.judged.verdict.safe:
        assert not any(case.patterns(case.second)), f"case {seed}: a pattern is safe, and none was found"
        return "refused"
    stage = case.book.stage(found.recipe, "second")
    system = stage.system()
    system.accept(stage.new)
    assert verify([stage.scene.grounded.ground], system.accepted, system.witnesses()), f"case {seed}"
    return "as it came" if hidden(found.recipe) <= hidden(before) else "more hidden"


def rounded(seed: int, folder: Path) -> str:
    """How a case ends whose second table is rounded."""
    case = Case(seed, folder)
    try:
        case.release(case.first, "first")
        request = replace(case.second, method=Round(base=5.0), secret=SECRET)
        found = remember(case.book, request, "second", run)
        if not found.judged.verdict.safe:
            assert not any(case.roundings(request, 5)), f"case {seed}: a rounding is safe, and none was found"
            return "refused"
        return "another way" if found.notes else "as it came"
    except (InfeasibleError, NotProtectedError):
        return "not protected alone"
    finally:
        case.ledger.close()


def hidden(recipe: TableRecipe) -> set[tuple[str, ...]]:
    published = recipe.tables[0].published
    return {codes for codes, state in zip(published.codes, published.status, strict=True) if state == HIDDEN}


def test_a_safe_pattern_is_found_if_there_is_one(tmp_path: Path) -> None:
    found = [ends(seed, tmp_path) for seed in (2, 3, 4, 5, 7, 8, 10)]
    assert found.count("more hidden") >= 3, found
    assert found.count("refused") >= 2, found


def test_a_safe_rounding_is_found_if_there_is_one(tmp_path: Path) -> None:
    found = [rounded(seed, tmp_path) for seed in (3, 5, 18, 31, 35)]
    assert found == ["as it came", "refused", "another way", "refused", "refused"]


def test_a_row_that_rounding_leaves_out_counts_as_zero(tmp_path: Path) -> None:
    """All of p became 0, so that p is not listed; whoever knows p from the first table knows that its counts are below 5."""
    case = Case(27, tmp_path)
    case.release(case.first, "first")
    request = replace(case.second, method=Round(base=5.0), secret=SECRET)
    recipe = run(request, exposed=True)[1]
    stage = case.book.stage(recipe, "second")
    case.ledger.close()
    table = recipe.tables[0]
    left = set(itertools.product(*(d.codes for d in table.dimensions))) - {*table.published.codes}
    told = recipe.cell_facts(stage.scene.grounded, "second")[0]
    assert left
    assert {told[codes].high for codes in left if codes in told} == {4}


@pytest.mark.deep
def test_many_roundings(tmp_path: Path) -> None:
    found = [rounded(seed, tmp_path) for seed in range(40, 300)]
    assert found.count("another way") >= 5
    assert found.count("refused") >= 5


@pytest.mark.deep
def test_many_cases(tmp_path: Path) -> None:
    found = [ends(seed, tmp_path) for seed in range(11, 300)]
    assert found.count("more hidden") >= 40
    assert found.count("refused") >= 30
