"""One response for all, a tied one for all but the target: ties that were not found gave the target's value."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import PlanError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Policy

RNG = np.random.default_rng(7)
PAY = np.round(RNG.lognormal(10.5, 0.5, 30))
BASE = RNG.integers(20, 60, 30) * 1000.0
GROUP = ["a"] * 29 + ["t"]
FEW = [5.0, 7.0, 6.0, *[None] * 27]
RATES = np.array([1.1, 2.3, 7.5, 0.9, 1.7])[np.arange(30) // 6]

CASES: dict[str, tuple[dict[str, Any], int]] = {
    "another response is mostly missing": ({"y": np.round(PAY * 1.1, 2), "z": FEW}, 30),
    "rounded to hundreds": ({"y": np.round(PAY, -2)}, 12),
    "rounded to thousands": ({"y": np.round(PAY * 3, -3)}, 30),
    "a rate for each country of six": (
        {"country": [f"c{i // 6}" for i in range(30)], "y": np.round(PAY * RATES, 2)},
        30,
    ),
    "a rate for each country of three": (
        {"country": [f"c{i // 3}" for i in range(30)], "y": np.round(PAY * np.repeat(RATES[::3], 3), 2)},
        30,
    ),
    "less a public base": ({"base": BASE, "y": BASE + PAY}, 30),
    "three parts and a gappy fourth": ({"y": PAY + BASE, "z": BASE, "w": FEW}, 30),
}


def tied(columns: dict[str, Any], n: int) -> tuple[Microdata, tuple[str, ...], tuple[str, ...]]:
    """The data of a case, its filters and its responses; the target is the last record."""
    frame = {"group": GROUP[-n:], "x": PAY[-n:], **{name: list(values)[-n:] for name, values in columns.items()}}
    responses = tuple(name for name in frame if name in "xyzw")
    variables = [
        Variable(name, role=Role.SENSITIVE, kind=Kind.NUMERIC)
        if name in responses
        else Variable(name, kind=Kind.NUMERIC)
        if name == "base"
        else Variable(name, codes=tuple(sorted(set(frame[name]))))
        for name in frame
    ]
    filters = tuple(name for name in frame if name not in responses)
    return Microdata.of(pl.DataFrame(frame, strict=False), Schema(tuple(variables))), filters, responses


def opened(path: Path, data: Microdata, **policy: Any) -> ProtectedDatabase:
    return ProtectedDatabase(data, policy=Policy(minimum=3, **policy), secret=1, test_secret=True, ledger=path)


@pytest.mark.parametrize("case", CASES)
def test_a_tied_response_does_not_tell_the_target(tmp_path: Path, case: str) -> None:
    """In the mode exact the second sum is refused; in camouflage the database does not open."""
    data, filters, responses = tied(*CASES[case])
    database = opened(tmp_path / "l.ledger", data, filters=filters, responses=responses)
    where = "country = 'c9'" if case.endswith("three") else "country = 'c4'" if "country" in case else "1 = 1"
    condition = "" if where == "1 = 1" else f" WHERE {where}"
    first = database.ask(f"SELECT SUM(x) FROM data{condition}", user="ann")
    rest = f"{condition} AND group = 'a'" if condition else " WHERE group = 'a'"
    second = database.ask(f"SELECT SUM(y) FROM data{rest}", user="bob")
    assert not (hasattr(first, "rows") and hasattr(second, "rows"))
    with pytest.raises(PlanError, match="by an equation"):
        opened(tmp_path / "c.ledger", data, filters=filters, responses=responses, mode="camouflage")


@pytest.mark.parametrize("mode", ["exact", "simulatable"])
def test_a_tie_with_a_response_of_an_earlier_opening_counts(tmp_path: Path, mode: str) -> None:
    """The policy named `x` first and `y` later: what was answered about `x` is still known."""
    data, filters, _ = tied({"y": np.round(PAY * 1.1, 2)}, 30)
    first = opened(tmp_path / "l.ledger", data, filters=filters, responses=("x",), mode=mode)
    assert hasattr(first.ask("SELECT SUM(x) FROM data", user="ann"), "rows")
    first.close()
    for_all: dict[str, Any] = {"simulatable": {"ties": "all"}}
    second = opened(tmp_path / "l.ledger", data, filters=filters, responses=("y",), mode=mode, options=for_all)
    assert not hasattr(second.ask("SELECT SUM(y) FROM data WHERE group = 'a'", user="ann"), "rows")
    assert hasattr(second.ask("SELECT SUM(y) FROM data", user="ann"), "rows")


def test_a_tied_response_gets_no_hull_beside_one_on_record(tmp_path: Path) -> None:
    data, filters, _ = tied({"y": np.round(PAY * 1.1, 2)}, 30)
    first = opened(tmp_path / "l.ledger", data, filters=filters, responses=("x",), mode="camouflage")
    first.ask("SELECT SUM(x) FROM data", user="ann")
    first.close()
    with pytest.raises(PlanError, match="'y' is tied to x by an equation"):
        opened(tmp_path / "l.ledger", data, filters=filters, responses=("y",), mode="camouflage")


def test_responses_without_an_equation_stay_apart(tmp_path: Path) -> None:
    """No tie is found where there is none: small whole numbers, few records, many codes, gaps."""
    rng = np.random.default_rng(11)
    columns = {
        "country": [f"c{i // 3}" for i in range(30)],
        "base": BASE,
        "y": rng.integers(0, 9, 30).astype(float),
        "z": np.round(PAY * rng.uniform(0.8, 1.2, 30), -2),
        "w": [None if i % 3 == 0 else float(i % 7) for i in range(30)],
    }
    data, filters, responses = tied(columns, 30)
    database = opened(tmp_path / "l.ledger", data, filters=filters, responses=responses, mode="camouflage")
    assert hasattr(database.ask("SELECT SUM(x), SUM(y) FROM data", user="ann"), "rows")
