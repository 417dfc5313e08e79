"""The door of a protected database: copies of a ledger that share an anchor, forks, texts where true or false is asked for.

`fixtures/v010/queries/shared_anchor.json` is what version 0.1.0 answered:

    PYTHONPATH=<tree of version 0.1.0>/src:tests python tests/attacks/test_query_doors.py <fixture>
"""

import json
import multiprocessing
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from attacks.query_scenarios import database, database_file, outcome_of, policy_of
from attacks.transcripts import stored
from reticent.base.errors import ReticentError
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.jobs.answer_query import open_database
from reticent.ledger.chain import LedgerError
from reticent.queries.database import ProtectedDatabase
from reticent.queries.language import ask_for
from reticent.queries.policy import Bounds

PAY = Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC)
ALL, OTHERS = "SELECT SUM(pay) FROM data", "SELECT SUM(pay) FROM data WHERE dep = 'a'"
SECRET = bytes.fromhex("9f0c7d2ab4e86135c17f5e02d98a6b3471fce0952a8d46b3e7150c9f82d4a6be")


def told(db: ProtectedDatabase, query: str) -> float | None:
    """A value, or nothing where it is refused or the ledger stays closed."""
    try:
        return db.ask(query, user="u").as_json().get("value")
    except ReticentError:
        return None


def shared_anchor() -> list[float | None]:
    """Two processes serve two copies of one ledger, with the one anchor on another disk: each answers one half."""
    path = database_file(Path(tempfile.mkdtemp()))
    text = path.read_text().replace('path = "pay.ledger"', 'path = "pay.ledger"\nanchor = "other.anchor"')
    path.write_text(text)
    open_database(path).close()
    shutil.copy(path.parent / "pay.ledger", path.parent / "copy.ledger")
    copy = path.with_name("copy.toml")
    copy.write_text(text.replace("pay.ledger", "copy.ledger"))
    first, second = open_database(path), open_database(copy)
    return [told(first, ALL), told(second, OTHERS)]


def test_two_copies_with_one_anchor_do_not_answer_both_halves() -> None:
    before = stored("shared_anchor")["values"]
    assert before[0] - before[1] == 221, "one person's pay"
    assert shared_anchor() == [before[0], None]


def test_an_anchor_that_goes_while_the_database_is_open_closes_it() -> None:
    path = database_file(Path(tempfile.mkdtemp()))
    db = open_database(path)
    (path.parent / "pay.ledger.anchor").unlink()
    with pytest.raises(ReticentError, match="its anchor 'pay.ledger.anchor' is missing"):
        db.ask(ALL, user="u")


WIDE = "\n[policy.bounds.pay]\nlow = 0\nhigh = 1000\n"


@pytest.mark.parametrize("more", [WIDE, 'mode = "camouflage"' + WIDE])
def test_records_that_do_not_open_can_be_corrected(more: str, tmp_path: Path) -> None:
    """The sentence says so; the ledger had the wrong records on record and refused the right ones."""
    path = database_file(tmp_path, more)
    good = (tmp_path / "pay.csv").read_text()
    lines = good.splitlines()
    lines[3] = lines[3].rsplit(",", 1)[0] + ",9000"
    (tmp_path / "pay.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(ReticentError, match="correct"):
        open_database(path)
    assert not list(tmp_path.glob("*-wal")), "a ledger that is not served is closed"
    (tmp_path / "pay.csv").write_text(good)
    db = open_database(path)
    assert [e.kind for e in db._ledger.entries()] == ["ledger", "version"]
    db.close()
    (tmp_path / "pay.csv").write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(ReticentError):
        open_database(path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_answers_nothing() -> None:
    """Locks are shared over a fork, so parent and child could decide at the same time."""
    path = database_file(Path(tempfile.mkdtemp()))
    db = open_database(path)
    context = multiprocessing.get_context("fork")
    replies = context.SimpleQueue()
    child = context.Process(target=lambda: replies.put(outcome_of(lambda: db._ledger.turn().__enter__())))
    child.start()
    child.join()
    assert replies.get() == "sentence"
    assert told(db, ALL) is not None


def test_a_closed_database_answers_nothing_and_closes_no_other(tmp_path: Path) -> None:
    """Closing it twice closed the lock of the database that was opened since, because its file had the same number."""
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
    first = open_database(database_file(folders[0]))
    first.close()
    second = open_database(database_file(folders[1]))
    first.close()
    assert told(second, ALL) is not None
    second.close()
    assert outcome_of(lambda: first.ask(ALL, user="u")) == outcome_of(first.history) == "sentence"
    with pytest.raises(LedgerError, match="closed"):
        first.history()


ODD_QUESTIONS: dict[str, Callable[[], Any]] = {
    "no variables": lambda: ask_for("sum", None),
    "a number": lambda: ask_for("sum", 5),
    "a share among the variables": lambda: ask_for("quantile", ("pay", 0.5)),
    "one more statistic of a number": lambda: ask_for("sum", "pay").also("avg", 5),  # type: ignore[arg-type]
    "a text as a list": lambda: ask_for("sum", "pay").where("dep", "in", "ab"),
    "a number as a list": lambda: ask_for("sum", "pay").where("dep", "in", 5),
}


@pytest.mark.parametrize("name", ODD_QUESTIONS)
def test_odd_questions_in_python_get_one_sentence(name: str, tmp_path: Path) -> None:
    """Most ended in errors of Python; a text was taken for the list of its letters."""
    db = open_database(database_file(tmp_path))
    assert outcome_of(lambda: db.ask(ODD_QUESTIONS[name](), user="u")) == "sentence"
    db.close()


def test_a_ledger_named_as_memory_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite takes the name `:memory:` for a database that ends with the process."""
    import reticent as rt

    monkeypatch.chdir(tmp_path)
    data = rt.load(pl.DataFrame({"dep": list("aaab"), "pay": [1.0, 2.0, 3.0, 4.0]}), keys=["dep"], sensitive=["pay"])
    options: dict[str, Any] = {"policy": rt.Policy(filters=("dep",), responses=("pay",)), "secret": SECRET}
    db = rt.open_database(data, ledger=":memory:", **options)
    assert told(db, ALL) == 10
    db.close()
    assert told(rt.open_database(data, ledger=":memory:", **options), OTHERS) is None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("largest", [5e-324, 1e300, 1.7976931348623157e308])
def test_noise_on_the_largest_numbers_is_answered_or_refused(largest: float, tmp_path: Path) -> None:
    """A noisy sum beyond floating-point numbers ended in an error of Python, after a warning with a path of the program."""
    import reticent as rt

    table = pl.DataFrame({"dep": list("aaab") * 5, "pay": [1.0, 2.0, 3.0, 4.0] * 4 + [1.0, largest, 2.0, 3.0]})
    data = rt.load(table, keys=["dep"], sensitive=["pay"])
    options = {"cell-key": {"sums": {"small": 0.2}}}
    policy = rt.Policy(mode="cell-key", filters=("dep",), responses=("pay",), options=options)
    for number in range(8):
        db = rt.open_database(data, policy=policy, secret=SECRET[::-1] + bytes([number]), ledger=tmp_path / str(number))
        for what in ("SUM", "AVG"):
            assert db.ask(f"SELECT {what}(pay) FROM data", user="u").as_json()["code"] in ("OK", "RISK")


def regressions(mode: str, values: Any, cutpoint: float | None) -> list[str]:
    """How regressions and correlations of a response, which may be a filter in bins too, are answered."""
    rng = np.random.default_rng(0)
    table = {"dep": np.arange(300) % 3, "x": np.arange(300) // 3 % 4, "pay": values, "age": rng.normal(40, 9, 300)}
    keys = [Variable(name, codes=("0", "1", "2", "3")) for name in ("dep", "x")]
    numbers = [Variable(name, role=Role.SENSITIVE, kind=Kind.NUMERIC) for name in ("pay", "age")]
    frame = pl.DataFrame({name: own.astype(str) if name in ("dep", "x") else own for name, own in table.items()})
    cutpoints = {} if cutpoint is None else {"pay": (cutpoint,)}
    policy = policy_of(
        mode=mode, filters=("dep", "x", *cutpoints), responses=("pay", "age"), minimum=3, cutpoints=cutpoints
    )
    db = database(frame, Schema((*keys, *numbers)), policy)
    items = ("LINREG(pay, dep, x)", "LOGREG(pay, dep, x)", "LINREG(pay, age)", "LOGREG(pay, age)", "LINREG(age, pay)")
    return [str(db.ask(f"SELECT {item} FROM data", user="u").as_json()["code"]) for item in (*items, "CORR(pay, age)")]


RNG = np.random.default_rng(1)
PAYS = {
    "pays": (RNG.integers(1, 9000, 300) * 1.0, 5000.0),
    "zeros and ones": (RNG.integers(0, 2, 300) * 1.0, 1.0),
    "the largest numbers": (RNG.choice([-1.7e308, 1.7e308], 300), 0.0),
}


@pytest.mark.parametrize("mode", ["analysis", "exact", "open"])
@pytest.mark.parametrize("pays", PAYS)
@pytest.mark.parametrize("bins", [True, False])
def test_a_response_that_is_also_a_filter_in_bins_is_answered_or_refused(mode: str, pays: str, bins: bool) -> None:
    """Models of it ended in errors of Python, as did a logistic one of numbers whose sum is beyond floating-point numbers."""
    values, cutpoint = PAYS[pays]
    told_of = regressions(mode, values, cutpoint if bins else None)
    assert set(told_of) <= {"OK", "RISK", "NOT_ALLOWED"}
    if pays == "pays":
        assert told_of[0] == "OK"


@pytest.mark.parametrize(
    ("query", "cost"),
    [
        ("SELECT SUM(pay) FROM data WHERE dep = '0' AND dep = '1' GROUP BY dep", 3),
        ("SELECT SUM(pay), SUM(pay) FROM data", 1),
        ("SELECT SUM(pay) FROM data WHERE dep = '0' GROUP BY dep WITH TOTALS", 4),
    ],
)
def test_a_value_with_noise_has_one_draw_in_a_query_and_is_charged_once(
    query: str, cost: float, tmp_path: Path
) -> None:
    """Two groups with one condition had two values, and asked again one."""
    pytest.importorskip("opendp")
    schema = Schema((Variable("dep", codes=("0", "1", "2", "3")), PAY))
    policy = policy_of(
        mode="private", filters=("dep",), responses=("pay",), bounds={"pay": Bounds(0, 9)},
        options={"private": {"total": cost, "epsilon": 1.0}},
    )  # fmt: skip
    frame = pl.DataFrame({"dep": list("0123") * 9, "pay": [1.0, 2.0, 3.0] * 12})
    db = database(frame, schema, policy, ledger=tmp_path / "l.ledger")
    first = db.ask(query, user="u").as_json()
    assert db.ask(query, user="v").as_json() == first
    assert first["code"] == "OK"
    assert told(db, "SELECT SUM(pay) FROM data WHERE dep = '3'") is None


WRONG: dict[str, dict[str, Any]] = {
    "create": {"create": "no"},
    "adopt": {"adopt_anchor": "false"},
    "test": {"test_secret": "false"},
    "streams": {"streams": "2"},
    "a true number of streams": {"streams": True},
    "a name": {"name": 3},
    "no name": {"name": ""},
    "a version": {"version": 1},
    "a ledger": {"ledger": 3},
    "no ledger": {"ledger": ""},
    "an odd ledger": {"ledger": "a\0b"},
    "an anchor": {"anchor": 5},
    "versions": {"earlier": "abc"},
    "no versions": {"earlier": None},
    "versions without names": {"earlier": [pl.DataFrame({"dep": ["a"]})]},
    "versions that are frames": {"earlier": [("0", pl.DataFrame({"dep": ["a"]}))]},
}


@pytest.mark.parametrize("name", WRONG)
def test_no_option_of_the_wrong_kind_is_taken(name: str, tmp_path: Path) -> None:
    """0.1.0 had no front door; `create = "no"` and `adopt_anchor = "false"` counted as true."""
    import reticent as rt

    data = rt.load(pl.DataFrame({"dep": list("aaab"), "pay": [1.0, 2.0, 3.0, 4.0]}), keys=["dep"], sensitive=["pay"])
    options = {"secret": SECRET, "ledger": tmp_path / "l", **WRONG[name]}
    with pytest.raises(rt.ReticentError, match=r"^(ProtectedDatabase|open_database): [a-z_]+ must be "):
        rt.open_database(data, policy=rt.Policy(filters=("dep",), responses=("pay",)), **options)
    assert not list(tmp_path.iterdir())


def test_an_anchor_may_be_a_text(tmp_path: Path) -> None:
    import reticent as rt

    data = rt.load(pl.DataFrame({"dep": list("aaab"), "pay": [1.0, 2.0, 3.0, 4.0]}), keys=["dep"], sensitive=["pay"])
    policy = rt.Policy(filters=("dep",), responses=("pay",))
    rt.open_database(data, policy=policy, secret=SECRET, ledger=str(tmp_path / "l"), anchor=str(tmp_path / "a")).close()
    assert (tmp_path / "a").exists()


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps({"values": shared_anchor()}) + "\n", encoding="utf-8")
