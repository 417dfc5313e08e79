"""Every table method of the registry, with its own examples, on the demonstration survey of firms: the attacker is the judge."""

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import rules
from reticent.base.errors import NotProtectedError, ReticentError
from reticent.data.parameters import build
from reticent.tables.guarantee import Guarantee
from reticent.tables.methods import TABLE_METHODS
from reticent.tables.perturb.ptable import ptable_text
from reticent.tables.perturb.ptable_design import Design, design_ptable
from reticent.tables.suppression import SuppressionMethod

CASES = [(name, number) for name, method in TABLE_METHODS.items() for number in range(len(method.examples))]
EACH = pytest.mark.parametrize(("name", "number"), CASES, ids=[f"{name}-{number}" for name, number in CASES])
SECRET = 7


@pytest.fixture(autouse=True)
def _files_of_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that examples name, where they look for them."""
    (tmp_path / "ptable.txt").write_text(ptable_text(design_ptable(Design(largest=5, variance=3, skip=2))))
    monkeypatch.chdir(tmp_path)


@cache
def firms() -> Any:
    folder = files("reticent") / "demo_data"
    return rt.load(str(folder / "firms.csv"), schema=str(folder / "firms.schema.toml"))


@cache
def flat_firms() -> Any:
    frame = pl.read_csv(str(files("reticent") / "demo_data" / "firms.csv"))
    first = [pl.col(old).str.slice(0, 1).alias(new) for old, new in (("industry", "section"), ("region", "area"))]
    wanted = frame.with_columns(first).select("firm", "section", "area", "size", "turnover")
    return rt.load(wanted, identifiers=["firm"], keys=["section", "area", "size"])


def protected(name: str, number: int, *, secret: int = SECRET, response: str | None = None) -> Any:
    """The method on a table that it is for: sums, or counts where it takes nothing else."""
    method = build(TABLE_METHODS[name], TABLE_METHODS[name].examples[number], owner=name)
    asked = [rules.Threshold(3)] if response is None else [rules.PPercent(15), rules.Threshold(3)]
    table = firms().tabulate("region", "size", response=response)
    if getattr(method, "successive", False):  # three dimensions without hierarchies
        table = flat_firms().tabulate("section", "area", "size", response=response)
    return table.protect(rules=asked, method=method, time_limit=20, secret=secret, test_secret=True)


def run(name: str, number: int, *, secret: int = SECRET) -> Any:
    said = ""
    try:
        return protected(name, number, secret=secret, response="turnover")
    except ReticentError as err:
        said = str(err)
    assert "counts" in said or "network" in said
    return protected(name, number, secret=secret)


@cache
def made_once(name: str, number: int) -> Any:
    """A run that several tests look at."""
    return run(name, number)


@EACH
def test_a_method_says_what_it_promises_and_is_attacked(name: str, number: int) -> None:
    guarantee: Guarantee = TABLE_METHODS[name].guarantee
    assert len(str(guarantee)) > 40
    found = made_once(name, number).found
    assert found.audit is not None
    if issubclass(TABLE_METHODS[name], SuppressionMethod):
        assert len(found.exposed) == 0


@EACH
def test_the_same_secret_gives_the_same_bytes(name: str, number: int) -> None:
    first, again = (made.found.outcome for made in (made_once(name, number), run(name, number)))
    assert np.array_equal(first.hidden, again.hidden)
    assert (first.values is None) == (again.values is None)
    assert first.values is None or np.array_equal(first.values, again.values)


@EACH
def test_what_is_exposed_does_not_leave(name: str, number: int) -> None:
    made = made_once(name, number)
    if len(made.found.exposed):
        with pytest.raises(NotProtectedError):
            made.release()
        return
    published = made.release().to_frame()
    problem = made.found.problem
    if made.found.outcome.values is None:
        assert int((published["status"] == "hidden").sum()) >= int(problem.primary.sum())


def test_methods_that_draw_need_a_secret() -> None:
    drawing = [name for name, method in TABLE_METHODS.items() if getattr(method(), "draws", False)]
    assert {"round", "random-rounding", "adjust", "cell-key"} <= set(drawing)
    for name in drawing:
        table = firms().tabulate("region", "size")
        with pytest.raises(ReticentError, match="secret"):
            table.protect(rules=[rules.Threshold(3)], method=TABLE_METHODS[name]())
