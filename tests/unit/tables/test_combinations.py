"""Combinations of codes that no table shows, as unknowns of the attacker's system."""

import json

import numpy as np
import polars as pl
import pytest

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.tables import combinations
from reticent.tables.attack.verify import verify
from reticent.tables.combinations import circles
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import PPercent, Threshold

PAIRS = ("ab", "bc", "ac")


def records(*sizes: int, share: float = 0.5, least: int = 1) -> Microdata:
    rng = np.random.default_rng(5)
    every = np.array(list(np.ndindex(*sizes)))
    chosen = np.repeat(every, np.where(rng.random(len(every)) < share, rng.integers(1, 5, len(every)), 0), axis=0)
    columns = {name: [f"{name}{code}" for code in chosen[:, at]] for at, name in enumerate("abcd"[: len(sizes)])}
    values = rng.integers(least, 200, len(chosen))
    schema = Schema((*(Variable(name) for name in columns), Variable("t", kind=Kind.NUMERIC)))
    return Microdata.of(pl.DataFrame({**columns, "t": values}), schema)


def protected(data: Microdata, shapes: tuple[str, ...], response: str | None = "t") -> ProtectedTable:
    specs = [TableSpec(tuple(map(DimensionSpec, names)), response=response) for names in shapes]
    rules = (PPercent(15), Threshold(3)) if response else (Threshold(3),)
    found = protect_table(data, specs, rules=rules, time_limit=30)
    return found if found.whole is None else found.whole


@pytest.mark.parametrize("response", ["t", None])
@pytest.mark.parametrize("sizes", [(3, 3, 3), (8, 7, 5)])
def test_cells_are_sums_of_combinations_and_the_certificate_holds(sizes: tuple[int, ...], response: str | None) -> None:
    found = protected(records(*sizes), PAIRS, response)
    problem = found.problem
    assert len(problem.combinations) > 0
    assert np.abs(problem.relations.residuals(problem.values)).max() < 1e-5
    assert np.abs(problem.with_records().relations.residuals(problem.with_records().values)).max() < 1e-9
    assert found.outcome.hidden[list(problem.combinations)].all()
    checked = verify(json.loads(found.certificate().to_text()))
    assert not checked.faults
    assert len(checked.proved) > 0
    assert not checked.unproved


def test_a_table_by_all_variables_leaves_no_combinations() -> None:
    found = protected(records(3, 3, 3), (*PAIRS, "abc"))
    assert not found.problem.combinations


def test_four_tables_in_a_circle_have_combinations_of_four_codes() -> None:
    found = protected(records(2, 3, 2, 3, share=0.4), ("ab", "bc", "cd", "ad"))
    assert len(found.problem.combinations) > 12


def test_combinations_below_zero_are_not_held_to_be_above() -> None:
    found = protected(records(3, 3, 3, least=-40), PAIRS)
    assert not found.problem.combinations
    assert not any("Not judged" in note for note in found.notes)


def test_too_many_combinations_are_said_not_to_be_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(combinations, "MOST_COMBINATIONS", 26)
    found = protected(records(3, 3, 3), PAIRS)
    assert not found.problem.combinations
    assert any(note.startswith("Not judged") and "a, b, c" in note for note in found.notes)


def test_variables_of_one_table_only_are_in_no_circle() -> None:
    assert circles([frozenset("ab"), frozenset("bc"), frozenset("cd")]) == []
    assert circles([frozenset("ab"), frozenset("bc"), frozenset("cd"), frozenset("ad")]) == [frozenset("abcd")]
