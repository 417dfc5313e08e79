"""EUSTAT, Audits for Databases: the EMP example under the dominance rule (2, 85 %)."""

import itertools
from pathlib import Path

import polars as pl
import pytest

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Policy
from reticent.queries.refusals import Answer, Refusal

QUERIES = {
    "q1": "SELECT SUM(SALARY) FROM data WHERE DEP = 'Administration'",
    "q2": "SELECT SUM(SALARY) FROM data WHERE DEP = 'Services'",
    "q3": "SELECT SUM(SALARY) FROM data",
    "q4": "SELECT SUM(SALARY) FROM data WHERE DEP = 'Management'",
}
VALUES = {"q1": 10.0, "q2": 10.0, "q3": 110.0}


def emp() -> Microdata:
    departments = ("Management", "Administration", "Services")
    schema = Schema(
        (
            Variable("ID", role=Role.IDENTIFIER),
            Variable("DEP", role=Role.KEY, codes=departments),
            Variable("SALARY", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        )
    )
    frame = pl.DataFrame(
        {
            "ID": [f"id{i}" for i in range(1, 10)],
            "DEP": [name for name in departments for _ in range(3)],
            "SALARY": [85, 3, 2, 4, 3, 3, 4, 3, 3],
        }
    )
    return Microdata.of(frame, schema)


def database(folder: Path, **facts: object) -> ProtectedDatabase:
    policy = Policy(minimum=1, dominance=(2, 85), filters=("DEP",), responses=("SALARY",), **facts)  # type: ignore[arg-type]
    return ProtectedDatabase(emp(), policy=policy, secret=1, test_secret=True, ledger=folder / "emp.ledger", name="EMP")


@pytest.mark.parametrize(
    "order, denied",
    [
        (("q1", "q2", "q3"), {"q3"}),
        (("q2", "q1", "q3"), {"q3"}),
        (("q1", "q3", "q2"), {"q3"}),
        (("q2", "q3", "q1"), {"q3"}),
        (("q3", "q1", "q2"), {"q1", "q2"}),
        (("q3", "q2", "q1"), {"q1", "q2"}),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else "",
)
def test_verdicts_in_every_order(tmp_path: Path, order: tuple[str, ...], denied: set[str]) -> None:
    db = database(tmp_path)
    for user, name in zip(itertools.cycle(("ann", "bob")), order):
        result = db.ask(QUERIES[name], user=user)
        if name in denied:
            assert isinstance(result, Refusal), name
            assert result.code == "RISK"
        else:
            assert isinstance(result, Answer), name
            assert result.value == VALUES[name]


def test_management_alone_is_denied(tmp_path: Path) -> None:
    result = database(tmp_path).ask(QUERIES["q4"], user="ann")
    assert isinstance(result, Refusal)


def test_staff_see_which_answers_would_have_revealed_it(tmp_path: Path) -> None:
    db = database(tmp_path)
    for name in ("q1", "q2", "q3"):
        db.ask(QUERIES[name], user="ann")
    numbers = {row["query"]["where"][-1]: row["number"] for row in db.history()}
    last = db.history()[-1]["number"]
    (reason,) = db.explain(last)
    assert reason.rule.startswith("dominance")
    assert set(reason.releases) == {numbers["Administration"], numbers["Services"]}
