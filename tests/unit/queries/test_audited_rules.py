"""What the audited modes refuse beyond sums: values without spread, changes of few respondents, what does not exist."""

from pathlib import Path

import polars as pl
import pytest

from reticent.base.errors import DataError, PlanError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Bounds, Policy
from reticent.queries.refusals import RISK, Answer

SCHEMA = Schema(
    (
        Variable("id", role=Role.IDENTIFIER),
        Variable("dept", role=Role.KEY, codes=("a", "b")),
        Variable("team", role=Role.KEY, codes=("1", "2")),
        Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        Variable("bonus", role=Role.SENSITIVE, kind=Kind.NUMERIC),
    )
)


def table(pay: list[float], dept: str | None = None, bonus: list[float] | None = None) -> pl.DataFrame:
    n = len(pay)
    return pl.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "dept": list(dept or "a" * n),
            "team": ["1"] * (n - n // 3) + ["2"] * (n // 3),
            "pay": pay,
            "bonus": bonus or [float(i * i % 7) for i in range(n)],
        }
    )


def make(
    folder: Path, data: pl.DataFrame, *, earlier: pl.DataFrame | None = None, **policy: object
) -> ProtectedDatabase:
    folder.mkdir(exist_ok=True)
    options = {"filters": ("dept", "team"), "responses": ("pay", "bonus"), **policy}
    return ProtectedDatabase(
        Microdata.of(data, SCHEMA),
        policy=Policy(**options),  # type: ignore[arg-type]
        secret=3,
        test_secret=True,
        ledger=folder / "d.ledger",
        version="1" if earlier is None else "2",
        earlier=() if earlier is None else [("1", Microdata.of(earlier, SCHEMA))],
    )


@pytest.mark.parametrize("statistic", ["VARIANCE(pay)", "STDDEV(pay)", "CORR(pay, bonus)"])
def test_values_without_spread_are_not_given_away(tmp_path: Path, statistic: str) -> None:
    """A variance of 0, or a correlation that does not exist, would reveal that everybody earns the mean."""
    db = make(tmp_path, table([40.0] * 9))
    assert isinstance(db.ask("SELECT SUM(pay) FROM data", user="u"), Answer)
    assert db.ask(f"SELECT {statistic} FROM data", user="u") == RISK
    assert db.explain(len(db.history()) + 2)[0].rule.startswith("spread")


def test_nor_by_the_difference_of_two_variances(tmp_path: Path) -> None:
    data = table([40.0] * 6 + [10.0, 70.0, 35.0, 20.0, 90.0, 15.0], "a" * 6 + "b" * 6)
    db = make(tmp_path, data)
    assert isinstance(db.ask("SELECT VARIANCE(pay) FROM data WHERE dept = 'b'", user="u"), Answer)
    assert db.ask("SELECT VARIANCE(pay) FROM data", user="u") == RISK, "the rest has six records, all the same"
    assert isinstance(db.ask("SELECT AVG(pay) FROM data", user="u"), Answer)


def test_a_small_spread_within_the_interval_is_refused(tmp_path: Path) -> None:
    data = table([100.0, 101.0, 99.0, 100.0, 101.0, 99.0])
    assert isinstance(make(tmp_path / "0", data).ask("SELECT VARIANCE(pay) FROM data", user="u"), Answer)
    assert make(tmp_path / "5", data, interval=5).ask("SELECT VARIANCE(pay) FROM data", user="u") == RISK


@pytest.mark.parametrize("minimum", [2, 3])
def test_a_variance_takes_one_respondent_more(tmp_path: Path, minimum: int) -> None:
    """Sum and sum of squares of two values are the two values; of three, to one who knows his own, the other two."""
    db = make(tmp_path, table([10.0, 70.0, 35.0][:minimum]), minimum=minimum)
    assert isinstance(db.ask("SELECT SUM(pay) FROM data", user="u"), Answer)
    assert db.ask("SELECT VARIANCE(pay) FROM data", user="u") == RISK
    more = make(tmp_path / "more", table([10.0, 70.0, 35.0, 20.0][: minimum + 1]), minimum=minimum)
    assert isinstance(more.ask("SELECT VARIANCE(pay) FROM data", user="u"), Answer)


@pytest.mark.parametrize("coalition", [0, 1])
@pytest.mark.parametrize("minimum", [2, 3])
def test_the_change_of_one_value_between_versions_is_refused(tmp_path: Path, minimum: int, coalition: int) -> None:
    old = table([10.0, 70.0, 35.0, 20.0, 90.0, 15.0])
    new = old.with_columns(pay=pl.when(pl.col("id") == "p2").then(50.0).otherwise(pl.col("pay")))
    rules = {"minimum": minimum, "coalition": coalition}
    first = make(tmp_path, old, **rules)
    assert isinstance(first.ask("SELECT SUM(pay) FROM data", user="u"), Answer)
    first.close()
    later = make(tmp_path, new, earlier=old, **rules)
    assert later.ask("SELECT SUM(pay) FROM data", user="u") == RISK
    assert later.explain(len(later.history()) + 3)[0].releases == (3,), "the earlier answer is named"
    many = old.with_columns(pay=pl.col("pay") + 1)
    both = make(tmp_path / "many", old, **rules)
    assert isinstance(both.ask("SELECT SUM(pay) FROM data", user="u"), Answer)
    both.close()
    again = make(tmp_path / "many", many, earlier=old, **rules)
    assert isinstance(again.ask("SELECT SUM(pay) FROM data", user="u"), Answer), "a change of six is a safe total"


def test_what_does_not_exist_is_refused_and_leaves_no_trace(tmp_path: Path) -> None:
    """After a restart every decision must be the same: so a refused statistic may not be remembered as released."""
    data = table([10.0, 70.0, 35.0, 20.0, 90.0, 15.0], "ababab", bonus=[1.0, 5.0, 1.0, 2.0, 1.0, 3.0])
    db = make(tmp_path, data, minimum=1, coalition=0)
    assert db.ask("SELECT LOGREG(pay, dept) FROM data", user="u") == RISK, "pay is not 0 or 1"
    before = {key: auditor.rank() for key, auditor in db._engine.mode._auditors.items()}  # type: ignore[attr-defined]
    assert set(before.values()) <= {0}


TWINS = [
    "SUM(pay) FROM data",
    "SUM(bonus) FROM data WHERE dept = 'a'",
    "VARIANCE(pay) FROM data WHERE team = '1'",
    "VARIANCE(pay) FROM data WHERE dept = 'b'",
    "AVG(pay), COUNT(*) FROM data WHERE dept = 'a' AND team = '1'",
    "SUM(bonus) FROM data WHERE dept = 'a' AND team = '1'",
    "SUM(pay) FROM data WHERE dept = 'a' OR team = '2'",
    "STDDEV(bonus) FROM data",
    "CORR(pay, bonus) FROM data",
    "MEDIAN(pay) FROM data",
]


@pytest.mark.parametrize("pay, bonus", [(40.0, 5.0), (1e6, 1.0), (0.0, 0.0)])
def test_twins_get_the_same_refusals_in_the_simulatable_mode(tmp_path: Path, pay: float, bonus: float) -> None:
    """Another value of one person changes answers, but not one byte of what is refused; also where all were the same."""
    results = []
    for number, own in enumerate(((40.0, 5.0), (pay, bonus))):
        data = table(
            [40.0] * 8 + [10.0, 70.0, 35.0, own[0]],
            "a" * 6 + "b" * 6,
            bonus=[5.0, 2.0, 7.0, 5.0] * 2 + [5.0] * 3 + [own[1]],
        )
        db = make(tmp_path / str(number), data, mode="simulatable", dominance=(1, 60))
        replies = [db.ask(f"SELECT {text}", user="u") for text in TWINS]
        results.append([reply.as_json() if not isinstance(reply, Answer) else "answered" for reply in replies])
    assert results[0] == results[1]
    assert 3 < results[0].count("answered") < len(TWINS)


def test_ties_are_a_matter_of_the_policy_in_the_simulatable_mode(tmp_path: Path) -> None:
    """Whether two responses are tied depends on values: found by the program, it would show in refusals."""
    pay = [10.0, 70.0, 35.0, 20.0, 90.0, 15.0, 44.0]
    tied = table(pay, "aaaaaab", bonus=[2 * v for v in pay])
    other = table(pay, "aaaaaab")
    declared = {"simulatable": {"ties": "declared"}}
    named = {"tied": (("pay", "bonus"),), "options": declared}
    for kind, (options, answered) in enumerate((({}, False), (named, False), ({"options": declared}, True))):
        for number, data in enumerate((tied, other)):
            db = make(tmp_path / f"tied{number}{kind}", data, mode="simulatable", **options)
            assert isinstance(db.ask("SELECT SUM(pay) FROM data", user="u"), Answer)
            reply = db.ask("SELECT SUM(bonus) FROM data WHERE dept = 'a'", user="u")
            assert isinstance(reply, Answer) == answered, "the total of one and all but one of the other"
    with pytest.raises(PlanError, match="ties must be one of some, all, declared"):
        make(tmp_path / "bad", other, mode="simulatable", options={"simulatable": {"ties": "found"}})
    with pytest.raises(PlanError, match="two or more of the responses"):
        make(tmp_path / "1", other, tied=(("pay",),))


def test_a_second_response_is_refused_where_an_equation_for_some_would_tell_about_the_others(tmp_path: Path) -> None:
    """Over the same records, or as total less a part; what follows from its own sums is answered, also after opening again."""
    data = table([float(i) for i in range(18)], "a" * 9 + "b" * 9)
    for number, (options, answered) in enumerate((({}, False), ({"options": {"simulatable": {"ties": "all"}}}, True))):
        db = make(tmp_path / str(number), data, mode="simulatable", **options)
        for text in (
            "SUM(pay) FROM data",
            "SUM(bonus) FROM data WHERE dept = 'a'",
            "SUM(pay) FROM data WHERE team = '1'",
        ):
            assert isinstance(db.ask(f"SELECT {text}", user="u"), Answer)
        db._engine.store_snapshot(least=1)  # type: ignore[attr-defined]
        db.close()
        db = make(tmp_path / str(number), data, mode="simulatable", **options)
        assert isinstance(db.ask("SELECT SUM(pay) FROM data WHERE team = '2'", user="u"), Answer), "total less part"
        for text in (
            "SUM(bonus) FROM data",
            "SUM(bonus) FROM data WHERE dept = 'b'",
            "SUM(pay) FROM data WHERE dept = 'b'",
        ):
            assert isinstance(db.ask(f"SELECT {text}", user="u"), Answer) == answered


def test_a_hidden_value_leaves_no_trace_in_what_a_response_tells_itself(tmp_path: Path) -> None:
    """A sum that was taken back must not count as answered afterwards."""
    data = table([float(i) for i in range(12)], "a" * 6 + "b" * 6)
    db = make(tmp_path, data, mode="simulatable")
    assert isinstance(db.ask("SELECT SUM(pay) FROM data WHERE dept = 'a'", user="u"), Answer)
    # the square of bonus follows from nothing, its sum from that of pay: both are taken back
    assert db.ask("SELECT VARIANCE(bonus) FROM data WHERE dept = 'a'", user="u") == RISK
    assert db.ask("SELECT SUM(bonus) FROM data WHERE dept = 'a'", user="u") == RISK
    assert isinstance(db.ask("SELECT SUM(bonus) FROM data WHERE dept = 'b'", user="u"), Answer)


def test_changed_values_are_not_for_the_simulatable_mode(tmp_path: Path) -> None:
    old = table([10.0, 70.0, 35.0, 20.0, 90.0, 15.0])
    new = old.with_columns(pay=pl.when(pl.col("id") == "p2").then(50.0).otherwise(pl.col("pay")))
    with pytest.raises(PlanError, match="other values than in an earlier version"):
        make(tmp_path, new, earlier=old, mode="simulatable")
    make(tmp_path / "less", old.head(5), earlier=old, mode="simulatable").close()


def test_bounds_that_do_not_hold_are_the_owners_mistake(tmp_path: Path) -> None:
    data = table([10.0, -70.0, 35.5, 20.0])
    with pytest.raises(DataError, match="bounds of 'pay' do not hold for 1 records"):
        make(tmp_path, data, bounds={"pay": Bounds(0)})
    with pytest.raises(DataError, match="for 2 records"):
        make(tmp_path, data, bounds={"pay": Bounds(0, None, True)})
