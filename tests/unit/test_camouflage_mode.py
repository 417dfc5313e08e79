"""The camouflage mode of a protected database: intervals hold the truth, repeat for ever, and stand appended records."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import PlanError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Bounds, Policy

SCHEMA = Schema(
    (
        Variable("id", role=Role.IDENTIFIER),
        Variable("dep", codes=("a", "b", "c")),
        Variable("years", kind=Kind.NUMERIC),
        Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC),
    )
)


def _data(n: int = 60) -> Microdata:
    rng = np.random.default_rng(4)
    columns = {
        "id": [f"p{i}" for i in range(n)],
        "dep": rng.choice(["a", "b", "c"], n),
        "years": rng.integers(1, 5, n),
        "pay": rng.uniform(20, 90, n).round(),
    }
    return Microdata.of(pl.DataFrame(columns), SCHEMA)


def _open(folder: Path, insiders: int, data: Microdata | None = None, **more) -> ProtectedDatabase:
    policy = Policy(
        mode="camouflage",
        filters=("dep", "years"),
        responses=("pay",),
        bounds={"pay": Bounds(low=0)},
        options={"camouflage": {"insiders": insiders, "percent": 15}},
    )
    return ProtectedDatabase(data or _data(), policy=policy, secret=3, ledger=folder / "x.ledger", **more)


@pytest.mark.parametrize("insiders", [0, 2])
def test_every_interval_holds_the_truth(tmp_path: Path, insiders: int) -> None:
    db, data = _open(tmp_path, insiders), _data()
    pay, years = data.numbers(("pay",))[:, 0], data.numbers(("years",))[:, 0]
    for code in "abc":
        chosen = np.array([text == code for text in data.texts("dep")])
        row = db.ask(
            f"SELECT COUNT(*), SUM(pay), AVG(pay), MIN(pay), MAX(pay), MEDIAN(pay), STDDEV(pay) FROM data WHERE dep = '{code}'",
            user="u",
        ).rows[0]
        here = pay[chosen]
        truth = [here.sum(), here.mean(), here.min(), here.max(), np.median(here), here.std(ddof=1)]
        assert row.values[0] == chosen.sum()
        for (low, high), value in zip(row.values[1:], truth, strict=True):
            assert low <= value <= high
            assert low < high
    fit = db.ask("SELECT LINREG(pay, years) FROM data", user="u").value
    slope = np.polyfit(years, pay, 1)[0]
    low, high = fit["coefficients"]["years"]
    assert low <= slope <= high


@pytest.mark.parametrize("insiders", [0, 1])
def test_the_same_question_gets_the_same_answer_after_a_restart(tmp_path: Path, insiders: int) -> None:
    first = _open(tmp_path, insiders)
    question = "SELECT SUM(pay) FROM data WHERE dep IN ('a', 'b')"
    answer = first.ask(question, user="u").value
    first.close()
    again = _open(tmp_path, insiders)
    assert again.ask("SELECT SUM(pay) FROM data WHERE NOT dep = 'c'", user="v").value == answer


@pytest.mark.parametrize("insiders", [0, 1])
def test_appended_records_leave_earlier_intervals_alone(tmp_path: Path, insiders: int) -> None:
    old = _data(40).with_schema(SCHEMA)
    first = _open(tmp_path, insiders, data=old)
    one = first.ask("SELECT MAX(pay) FROM data WHERE dep = 'a'", user="u").value
    first.close()
    grown = _data(40)
    extra = pl.DataFrame({"id": ["q1", "q2"], "dep": ["b", "c"], "years": [1, 2], "pay": [50.0, 60.0]})
    frame = pl.concat([grown.frame.table, extra.cast(dict(grown.frame.table.schema))])
    second = _open(tmp_path, insiders, data=Microdata.of(frame, SCHEMA), version="2", earlier=[("1", old)])
    assert second.ask("SELECT MAX(pay) FROM data WHERE dep = 'a'", user="u").value == one


def test_changed_values_are_refused(tmp_path: Path) -> None:
    old = _data(20)
    new = old.with_numbers("pay", old.numbers(("pay",))[:, 0] + 1)
    with pytest.raises(PlanError, match="append records only"):
        _open(tmp_path, 0, data=new, version="2", earlier=[("1", old)]).ask("SELECT SUM(pay) FROM data", user="u")
