"""Every registered protection mode: it says what it promises, decides the same again, and survives a restart."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.modes import MODES
from reticent.queries.policy import Bounds, Policy
from reticent.queries.refusals import HIDDEN, Answer, Refusal

QUERIES = (
    "SELECT COUNT(*) FROM data",
    "SELECT SUM(pay) FROM data",
    "SELECT SUM(pay) FROM data WHERE dept <> 'c'",
    "SELECT AVG(pay), COUNT(*) FROM data GROUP BY dept WITH TOTALS",
    "SELECT STDDEV(pay) FROM data WHERE dept = 'a'",
    "SELECT MAX(pay) FROM data",
    "SELECT MEDIAN(pay) FROM data WHERE dept = 'b'",
    "SELECT CORR(pay, hours) FROM data",
    "SELECT LINREG(pay, dept, hours) FROM data",
    "SELECT SUM(pay) FROM data WHERE dept = 'nobody'",
    "SELECT SUM(pay) FROM data WHERE grade = 'top'",
)


def database(folder: Path, mode: str, **options: Any) -> ProtectedDatabase:
    rng = np.random.default_rng(4)
    n = 150
    grade = np.where(np.arange(n) == 0, "top", rng.choice(["low", "mid"], n))
    table = pl.DataFrame(
        {
            "dept": rng.choice(["a", "b", "c"], n),
            "grade": grade,
            "pay": rng.integers(10, 90, n),
            "hours": rng.integers(10, 40, n),
        }
    )
    schema = Schema(
        (
            Variable("dept", role=Role.KEY, codes=("a", "b", "c")),
            Variable("grade", role=Role.KEY, codes=("low", "mid", "top")),
            Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC),
            Variable("hours", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        )
    )
    bounds = {"pay": Bounds(-1000, 1000), "hours": Bounds(-1000, 1000)}
    policy = Policy(
        mode=mode, test=mode == "open", filters=("dept", "grade"), responses=("pay", "hours"), bounds=bounds
    )
    return ProtectedDatabase(
        Microdata.of(table, schema), policy=policy, secret=9, test_secret=True, ledger=folder / "d.ledger", **options
    )


@pytest.mark.parametrize("mode", sorted(MODES))
def test_a_mode_keeps_its_word(tmp_path: Path, mode: str) -> None:
    db = database(tmp_path, mode)
    assert len(db.guarantee) > 20
    assert mode == "open" or "arithmetic attacker" in db.guarantee or "transparent attacker" in db.guarantee
    assert all(db.leakage)
    first = [db.ask(text, user="ann") for text in QUERIES]
    assert any(isinstance(result, Answer) for result in first)
    again = [db.ask(text, user="bob") for text in QUERIES]
    db.close()
    later = [database(tmp_path, mode).ask(text, user="eve") for text in QUERIES]
    assert first == again == later, "the same words, notes and all"


@pytest.mark.parametrize("mode", sorted(MODES))
def test_values_that_were_given_apart_are_given_together_with_their_notes(tmp_path: Path, mode: str) -> None:
    db = database(tmp_path, mode)
    asked = ("COUNT(*)", "COUNT(pay)") if mode == "cell-key" else ("COUNT(*)", "SUM(pay)")
    apart = [db.ask(f"SELECT {one} FROM data WHERE dept <> 'c'", user="ann") for one in asked]
    together = db.ask(f"SELECT {', '.join(asked)} FROM data WHERE dept <> 'c'", user="bob")
    assert isinstance(together, Answer)
    assert together.rows[0].values == tuple(one.value for one in apart)  # type: ignore[union-attr]
    assert together.notes == tuple(dict.fromkeys(note for one in apart for note in one.notes))  # type: ignore[union-attr]


def test_what_was_hidden_beside_a_value_is_not_said_of_the_value(tmp_path: Path) -> None:
    db = database(tmp_path, "exact")
    grades = db.ask("SELECT SUM(pay) FROM data GROUP BY grade", user="ann")
    assert isinstance(grades, Answer)
    assert any(row.hidden[0] for row in grades.rows)
    assert grades.notes == (HIDDEN,)
    given = next(row for row in grades.rows if not row.hidden[0])
    alone = db.ask(f"SELECT SUM(pay) FROM data WHERE grade = '{given.group[0]}'", user="bob")
    assert isinstance(alone, Answer)
    assert (alone.value, alone.notes) == (given.values[0], ())


@pytest.mark.parametrize("mode", sorted(set(MODES) - {"open"}))
def test_one_person_is_not_shown_in_any_mode(tmp_path: Path, mode: str) -> None:
    """The only person of grade top, asked for directly and as a difference."""
    (tmp_path / "open").mkdir()
    truth = database(tmp_path / "open", "open").ask("SELECT SUM(pay) FROM data WHERE grade = 'top'", user="ann")
    assert isinstance(truth, Answer)
    db = database(tmp_path, mode)
    direct = db.ask("SELECT SUM(pay) FROM data WHERE grade = 'top'", user="ann")
    assert isinstance(direct, Refusal) or direct.value != truth.value
    everyone = db.ask("SELECT SUM(pay) FROM data", user="ann")
    others = db.ask("SELECT SUM(pay) FROM data WHERE grade <> 'top'", user="bob")
    if isinstance(everyone, Answer) and isinstance(others, Answer) and not isinstance(everyone.value, tuple):
        assert everyone.value - others.value != truth.value
