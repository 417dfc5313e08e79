"""ProtectedDatabase: one answer for ever, however asked, by whomever, across restarts and versions."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import ParameterError, PlanError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.ledger.chain import LedgerError
from reticent.ledger.store import SqliteStore
from reticent.queries.database import ProtectedDatabase
from reticent.queries.language import ask_for
from reticent.queries.policy import Bounds, Limits, Policy
from reticent.queries.refusals import RISK, Answer, Code, Refusal

SCHEMA = Schema(
    (
        Variable("id", role=Role.IDENTIFIER),
        Variable("firm", role=Role.ENTITY),
        Variable("dept", role=Role.KEY, codes=("a", "b", "c")),
        Variable("grade", role=Role.KEY, kind=Kind.ORDINAL, codes=("low", "mid", "top")),
        Variable("age", role=Role.KEY, kind=Kind.NUMERIC),
        Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        Variable("bonus", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        Variable("left", role=Role.SENSITIVE, kind=Kind.NUMERIC),
    )
)
POLICY = Policy(filters=("dept", "grade", "age"), responses=("pay", "bonus", "left"), minimum=3)


def frame(n: int = 120, *, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    pay = rng.integers(10, 100, n).astype(float)
    bonus = [None if rng.random() < 0.2 else float(rng.integers(1, 9)) for _ in range(n)]
    return pl.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "firm": [f"f{i}" for i in range(n)],
            "dept": rng.choice(["a", "b", "c"], n),
            "grade": rng.choice(["low", "mid", "top"], n),
            "age": rng.integers(20, 30, n),
            "pay": pay,
            "bonus": bonus,
            "left": rng.integers(0, 2, n),
        }
    )


def make(folder: Path, table: pl.DataFrame | None = None, policy: Policy = POLICY, **facts: Any) -> ProtectedDatabase:
    data = Microdata.of(frame() if table is None else table, SCHEMA)
    return ProtectedDatabase(data, policy=policy, secret=5, test_secret=True, ledger=folder / "d.ledger", **facts)


SPELLINGS = [
    "dept = 'a' AND age >= 25",
    "age >= 25 AND dept = 'a'",
    "((dept = 'a')) AND (age >= 25)",
    "'a' = dept AND 25 <= age",
    "dept IN ('a') AND age >= 25.0",
    "dept IN ('a', 'a', 'zzz') AND age > 24",
    "NOT (dept <> 'a' OR age < 25)",
    "NOT dept <> 'a' AND NOT age < 25",
    "NOT (NOT dept = 'a') AND age BETWEEN 25 AND 29",
    "NOT (dept IN ('b', 'c')) AND age BETWEEN 25 AND 1000",
    "dept = 'a' AND age >= 25 AND 1 = 1",
    "dept = 'a' AND age >= 25 AND TRUE",
    "(dept = 'a' AND age >= 25) OR FALSE",
    "(dept = 'a' AND age >= 25) OR (dept = 'a' AND age >= 27)",
    "dept = 'a' AND age >= 25 AND dept = dept",
    "dept = 'a' AND age >= 25 AND grade IS NOT NULL",
    "dept = 'a' AND age >= 25 AND NOT grade IS NULL",
    "dept = 'a' AND (age = 25 OR age = 26 OR age = 27 OR age = 28 OR age = 29)",
    "dept = 'a' AND age IN (25, 26, 27, 28, 29)",
    "dept = 'a' AND age > 24.5",
    "dept = 'a' AND age >= 25 AND age <> 19",
    "dept = 'a' AND age >= 25 AND age <> 1000 AND age <> 1001",
    "dept <> 'b' AND dept <> 'c' AND age >= 25",
    "dept = 'a' AND age >= 25 AND grade >= 'low'",
    "dept = 'a' AND age >= 25 AND grade IN ('low', 'mid', 'top')",
    "data.dept = 'a' AND data.age >= 25",
    "dept = 'a' /* twenty-five */ AND age >= 25 -- and more",
    "dept='a' and age>=25",
    "dept = 'a' AND -25 <= age AND 25 <= age",
    "dept = 'a' AND NOT age < 25 AND NOT age < 24",
    "(dept = 'a' OR dept = 'a') AND age >= 25",
    "dept = 'a' AND (age >= 25 OR age >= 26)",
    "dept = 'a' AND age >= 25 AND (grade = 'low' OR grade <> 'low')",
    "NOT (dept = 'b' OR dept = 'c' OR age <= 24)",
    "age >= 25 AND NOT (dept = 'b') AND NOT (dept = 'c')",
    "dept = 'a' AND age >= 25 AND 'x' = 'x'",
    "dept = 'a' AND age >= 25 AND 2 > 1",
    "dept = 'a' AND age >= 2.5e1",
    "\n  dept   =   'a'\n  AND\tage >= 25",
    '"dept" = \'a\' AND "age" >= 25',
]


def test_forty_spellings_are_one_query(tmp_path: Path) -> None:
    db = make(tmp_path)
    assert len(SPELLINGS) == 40
    answers = [db.ask(f"SELECT SUM(pay) FROM data WHERE {text}", user="u") for text in SPELLINGS]
    assert all(isinstance(answer, Answer) for answer in answers), [a for a in answers if isinstance(a, Refusal)]
    assert len({answer.value for answer in answers}) == 1  # type: ignore[union-attr]
    assert len({tuple(row["sets"]) for row in db.history()}) == 1
    assert sum("repeated" in row["remember"] for row in db.history()) == 39


def test_answers_are_right_and_survive_restart_and_row_order(tmp_path: Path) -> None:
    table = frame()
    chosen = table.filter(pl.col("dept") == "a")
    db = make(tmp_path, table)
    expected = {
        "COUNT(*)": chosen.height,
        "SUM(pay)": chosen["pay"].sum(),
        "AVG(pay)": chosen["pay"].mean(),
        "VARIANCE(pay)": chosen["pay"].var(),
        "STDDEV(pay)": chosen["pay"].std(),
        "COUNT(bonus)": chosen["bonus"].count(),
        "AVG(bonus)": chosen["bonus"].mean(),
        "CORR(pay, left)": float(np.corrcoef(chosen["pay"], chosen["left"])[0, 1]),
    }
    first = {}
    for text, value in expected.items():
        answer = db.ask(f"SELECT {text} FROM data WHERE dept = 'a'", user="u")
        assert isinstance(answer, Answer), text
        assert answer.value == pytest.approx(value, rel=1e-12), text
        first[text] = answer.value
    db.close()
    again = make(tmp_path, table)
    for text, value in first.items():
        assert again.ask(f"SELECT {text} FROM data WHERE NOT dept <> 'a'", user="v").value == value  # type: ignore[union-attr]
    other = tmp_path / "other"
    other.mkdir()
    shuffled = make(other, table.sample(fraction=1.0, shuffle=True, seed=3))
    for text, value in first.items():
        assert shuffled.ask(f"SELECT {text} FROM data WHERE dept = 'a'", user="v").value == value  # type: ignore[union-attr]


def test_regressions_are_those_of_least_squares(tmp_path: Path) -> None:
    table = frame(600)
    db = make(tmp_path, table)
    answer = db.ask("SELECT LINREG(pay, dept, left) FROM data", user="u")
    assert isinstance(answer, Answer), db.history()[-1]["staff"]
    common = table["dept"].value_counts().sort(["count", "dept"], descending=[True, False])["dept"][0]
    others = [code for code in "abc" if code != common]
    x = np.column_stack([np.ones(600), *((table["dept"] == code).to_numpy() for code in others), table["left"]])
    beta = np.linalg.lstsq(x.astype(float), table["pay"].to_numpy(), rcond=None)[0]
    assert list(answer.value["coefficients"].values()) == pytest.approx(beta.tolist())
    assert isinstance(db.ask("SELECT LOGREG(left, dept) FROM data", user="u"), Answer)
    refused = db.ask("SELECT KM(age, left) FROM data", user="u")
    assert isinstance(refused, Refusal)
    assert refused.code is Code.NOT_ALLOWED, "the ages would be shown, and only records know them"
    cut = tmp_path / "cut"
    cut.mkdir()
    curve = make(cut, table, Policy(**{**POLICY.__dict__, "cutpoints": {"age": (23.0, 26.0)}})).ask(
        "SELECT KM(age, left) FROM data", user="u"
    )
    assert isinstance(curve, Answer)
    steps = list(curve.value["survival"].values())
    assert steps == sorted(steps, reverse=True)


def test_a_regression_with_a_dummy_for_one_person_is_refused(tmp_path: Path) -> None:
    table = frame(200).with_columns(
        pl.when(pl.col("id") == "p7").then(pl.lit("c")).otherwise(pl.lit("a")).alias("dept")
    )
    db = make(tmp_path, table)
    assert db.ask("SELECT LINREG(pay, dept) FROM data", user="u") == RISK


def test_trackers_are_refused_for_all_users_together(tmp_path: Path) -> None:
    table = frame().with_columns(pl.when(pl.col("id") == "p3").then(pl.lit(99)).otherwise(pl.col("age")).alias("age"))
    db = make(tmp_path, table)
    assert isinstance(db.ask("SELECT SUM(pay) FROM data", user="ann"), Answer)
    assert db.ask("SELECT SUM(pay) FROM data WHERE age < 99", user="bob") == RISK
    assert db.ask("SELECT AVG(pay) FROM data WHERE age < 99", user="eve") == RISK
    assert db.ask("SELECT STDDEV(pay) FROM data WHERE age <> 99", user="eve") == RISK
    assert db.ask("SELECT COUNT(*) FROM data WHERE age = 99", user="eve") == RISK
    alone = tmp_path / "alone"
    alone.mkdir()
    per_user = make(alone, table, Policy(**{**POLICY.__dict__, "history": "user"}))
    assert isinstance(per_user.ask("SELECT SUM(pay) FROM data", user="ann"), Answer)
    assert isinstance(per_user.ask("SELECT SUM(pay) FROM data WHERE age < 99", user="bob"), Answer)
    assert per_user.ask("SELECT SUM(pay) FROM data", user="bob") == RISK, "what ann got is new to bob"


def test_nobody_and_few_look_the_same(tmp_path: Path) -> None:
    table = frame().with_columns(pl.when(pl.col("id") == "p3").then(pl.lit(99)).otherwise(pl.col("age")).alias("age"))
    db = make(tmp_path, table)
    for statistic in ("COUNT(*)", "SUM(pay)", "AVG(pay)"):
        few = db.ask(f"SELECT {statistic} FROM data WHERE age = 99", user="u")
        nobody = db.ask(f"SELECT {statistic} FROM data WHERE age = 1000", user="u")
        unlisted = db.ask(f"SELECT {statistic} FROM data WHERE dept = 'no such code'", user="u")
        assert few == nobody == unlisted == RISK


def test_missing_values_cannot_be_used_to_difference(tmp_path: Path) -> None:
    """COUNT(*) − COUNT(bonus) over a set where one bonus is missing is a count of one."""
    table = frame().with_columns(pl.when(pl.col("id") == "p3").then(None).otherwise(pl.lit(4.0)).alias("bonus"))
    db = make(tmp_path, table)
    assert isinstance(db.ask("SELECT COUNT(*) FROM data", user="u"), Answer)
    assert db.ask("SELECT COUNT(bonus) FROM data", user="u") == RISK


def test_respondents_count_not_records(tmp_path: Path) -> None:
    table = frame(40).with_columns(
        pl.when(pl.col("dept") == "a").then(pl.lit("f0")).otherwise(pl.col("firm")).alias("firm")
    )
    db = make(tmp_path, table)
    assert table.filter(pl.col("dept") == "a").height > 5
    assert db.ask("SELECT SUM(pay) FROM data WHERE dept = 'a'", user="u") == RISK
    assert isinstance(db.ask("SELECT SUM(pay) FROM data WHERE dept = 'b'", user="u"), Answer)


def test_groups_with_totals_hide_what_would_reveal_a_small_cell(tmp_path: Path) -> None:
    table = frame(60).with_columns(
        pl.when(pl.col("dept") == "c").then(pl.lit("b")).otherwise(pl.col("dept")).alias("dept")
    )
    table = table.with_columns(pl.when(pl.col("id") == "p1").then(pl.lit("c")).otherwise(pl.col("dept")).alias("dept"))
    db = make(tmp_path, table)
    answer = db.ask("SELECT COUNT(*), SUM(pay) FROM data GROUP BY dept WITH TOTALS", user="u")
    assert isinstance(answer, Answer)
    assert answer.as_json()["message"] == "Values that could expose somebody are hidden."
    shown = {row.group[0]: row.values for row in answer.rows}
    assert shown[None] == (60, table["pay"].sum())
    assert shown["c"] == (None, None)
    assert sum(values[0] is None for values in shown.values()) == 2, "one more is hidden to protect c"
    empty = make_second(tmp_path, table.filter(pl.col("dept") != "c"))
    again = empty.ask("SELECT COUNT(*) FROM data GROUP BY dept", user="u")
    assert isinstance(again, Answer)
    assert {row.group[0]: row.hidden for row in again.rows}["c"] == (True,), "an empty group is hidden like a small one"


def make_second(folder: Path, table: pl.DataFrame) -> ProtectedDatabase:
    second = folder / "second"
    second.mkdir()
    return make(second, table)


def test_versions_are_judged_together(tmp_path: Path) -> None:
    """The sum over everybody, before and after one person joined, is that person's pay."""
    old = frame(50)
    joined = frame(51, seed=0).tail(1).with_columns(pl.lit("new").alias("id"), pl.lit("fnew").alias("firm"))
    new = pl.concat([old, joined])
    db = make(tmp_path, old, version="2025")
    assert isinstance(db.ask("SELECT SUM(pay) FROM data", user="u"), Answer)
    db.close()
    data = Microdata.of(old, SCHEMA)
    later = make(tmp_path, new, version="2026", earlier=[("2025", data)])
    assert later.ask("SELECT SUM(pay) FROM data", user="u") == RISK
    assert isinstance(later.ask("SELECT SUM(bonus) FROM data", user="u"), Answer), "bonus was not asked before"
    later.close()
    with pytest.raises(LedgerError, match="'2025' of the data has been asked about"):
        make(tmp_path, new, version="2026")
    with pytest.raises(LedgerError, match="was other data"):
        make(tmp_path, new, version="2025")


def test_a_changed_value_is_another_unknown(tmp_path: Path) -> None:
    old = frame(50)
    new = old.with_columns(pl.when(pl.int_range(50) < 10).then(pl.col("pay") + 1).otherwise(pl.col("pay")).alias("pay"))
    db = make(tmp_path, old, version="1")
    assert isinstance(db.ask("SELECT SUM(pay) FROM data", user="u"), Answer)
    db.close()
    later = make(tmp_path, new, version="2", earlier=[("1", Microdata.of(old, SCHEMA))])
    assert later.ask("SELECT SUM(pay) FROM data", user="u").value == new["pay"].sum()  # type: ignore[union-attr]


@pytest.mark.slow
def test_refusals_do_not_depend_on_values_in_the_simulatable_mode(tmp_path: Path) -> None:
    policy = Policy(**{**POLICY.__dict__, "mode": "simulatable", "dominance": (1, 50), "bounds": {"pay": Bounds(0)}})
    results = []
    for number, pay in enumerate((0.0, 1e6)):
        folder = tmp_path / str(number)
        folder.mkdir()
        table = frame().with_columns(pl.when(pl.col("id") == "p3").then(pay).otherwise(pl.col("pay")).alias("pay"))
        db = make(folder, table, policy)
        rng = np.random.default_rng(1)
        log = []
        for _ in range(60):
            ages = ", ".join(str(a) for a in rng.choice(np.arange(20, 30), rng.integers(1, 9), replace=False))
            dept = rng.choice(["a", "b", "c"])
            text = f"SELECT SUM(pay) FROM data WHERE age IN ({ages}) AND dept <> '{dept}'"
            result = db.ask(text, user="u")
            log.append(result.as_json() if isinstance(result, Refusal) else "answered")
        results.append(log)
    assert results[0] == results[1]
    assert 5 < results[0].count("answered") < 60


def test_known_respondents_count_as_known(tmp_path: Path) -> None:
    """Whoever knows one of three records can subtract it; with minimum 3 the set then has two unknown ones."""
    table = frame(9).with_columns(pl.Series("dept", ["a"] * 3 + ["b"] * 6))
    assert isinstance(make(tmp_path, table).ask("SELECT SUM(pay) FROM data WHERE dept = 'a'", user="u"), Answer)
    insider = tmp_path / "insider"
    insider.mkdir()
    db = make(insider, table, Policy(**{**POLICY.__dict__, "known": ("f0",)}))
    assert db.ask("SELECT SUM(pay) FROM data WHERE dept = 'a'", user="u") == RISK
    assert isinstance(db.ask("SELECT SUM(pay) FROM data", user="u"), Answer)


@pytest.mark.slow
def test_families_and_pairs_are_protected_as_sums_of_classes(tmp_path: Path) -> None:
    """Two classes of department a, neither of them inferable: only their sum is, and that is the whole department.

    With a minimum alone every combination is watched; with dominance pairs and families are.
    """
    table = frame(30).with_columns(
        pl.Series("dept", ["a"] * 4 + ["b"] * 26),
        pl.Series("age", [20, 21, 22, 23] + [24] * 13 + [25] * 13),
    )
    queries = ("age IN (20, 21, 24)", "age IN (22, 23, 25)", "dept = 'b'")
    dominated: dict[str, Any] = {"minimum": 2, "dominance": (4, 99)}
    verdicts = {}
    for name, facts in {
        "classes": {"unions": 1, "dimension": 0, **dominated},
        "pairs": {"unions": 2, "dimension": 0, **dominated},
        "family": {"unions": 1, "dimension": 0, "families": (("dept",),), **dominated},
        "tables": {"unions": 1, **dominated},
        "minimum": {"unions": 1, "dimension": 0, "minimum": 5},
    }.items():
        folder = tmp_path / name
        folder.mkdir()
        db = make(folder, table, Policy(**{**POLICY.__dict__, **facts}))
        results = [db.ask(f"SELECT SUM(pay) FROM data WHERE {text}", user="u") for text in queries]
        verdicts[name] = [isinstance(result, Answer) for result in results]
    watched = ("pairs", "family", "tables", "minimum")
    assert verdicts == {"classes": [True, True, True], **{key: [True, True, False] for key in watched}}


def test_unions_of_three_classes_are_watched_if_the_policy_says_so(tmp_path: Path) -> None:
    """One of each of three ages is department a; no two of them are inferable together."""
    table = frame(30).with_columns(
        pl.Series("dept", ["a"] * 3 + ["b"] * 27), pl.Series("age", [20, 21, 22] + [24] * 9 + [25] * 9 + [26] * 9)
    )
    queries = ("age IN (20, 24)", "age IN (21, 25)", "age IN (22, 26)", "dept = 'b'")
    last = {}
    for unions in (2, 3):
        folder = tmp_path / str(unions)
        folder.mkdir()
        facts = {"minimum": 2, "dominance": (3, 99), "dimension": 0, "unions": unions}
        db = make(folder, table, Policy(**{**POLICY.__dict__, **facts}))
        results = [db.ask(f"SELECT SUM(pay) FROM data WHERE {text}", user="u") for text in queries]
        assert all(isinstance(result, Answer) for result in results[:-1])
        last[unions] = isinstance(results[-1], Answer)
    assert last == {2: True, 3: False}


def test_responses_tied_by_an_equation_are_judged_together(tmp_path: Path) -> None:
    """pay in one currency for everybody, in another for everybody but one: the difference is that one's pay."""
    table = frame().with_columns(
        pl.when(pl.col("id") == "p3").then(pl.lit(99)).otherwise(pl.col("age")).alias("age"),
        (pl.col("pay") * 0.75).alias("bonus"),
    )
    db = make(tmp_path, table)
    assert isinstance(db.ask("SELECT SUM(pay) FROM data", user="u"), Answer)
    assert db.ask("SELECT SUM(bonus) FROM data WHERE age < 99", user="u") == RISK
    assert isinstance(db.ask('SELECT SUM("left") FROM data WHERE age < 99', user="u"), Answer)
    total = tmp_path / "total"
    total.mkdir()
    parts = table.with_columns((pl.col("pay") * pl.col("age") % 7).alias("bonus"))
    parts = parts.with_columns((pl.col("pay") - pl.col("bonus")).alias("left"))
    db = make(total, parts)
    assert isinstance(db.ask("SELECT SUM(pay), SUM(bonus) FROM data", user="u"), Answer)
    assert db.ask('SELECT SUM("left") FROM data WHERE age < 99', user="u") == RISK


def test_a_response_that_is_also_a_filter_is_known(tmp_path: Path) -> None:
    """Σ pay and Σ pay·age over everybody, with age known: covariances must not serve to single somebody out.

    With two ages only, the two sums give the sum of pay at each age, and one of the ages is one person's.
    """
    table = frame().with_columns(pl.when(pl.col("id") == "p3").then(pl.lit(40)).otherwise(pl.lit(30)).alias("age"))
    policy = Policy(**{**POLICY.__dict__, "responses": ("pay", "age")})
    db = make(tmp_path, table, policy)
    assert db.ask("SELECT CORR(pay, age) FROM data", user="u") == RISK
    assert isinstance(db.ask("SELECT SUM(pay) FROM data", user="u"), Answer)
    assert db.ask("SELECT LINREG(pay, age) FROM data", user="u") == RISK
    assert db.ask("SELECT SUM(age) FROM data", user="u") == RISK or isinstance(
        db.ask("SELECT COUNT(*) FROM data", user="u"), Refusal
    )


def test_a_new_filter_does_not_disturb_the_past(tmp_path: Path) -> None:
    narrow = Policy(**{**POLICY.__dict__, "filters": ("dept",)})
    db = make(tmp_path, policy=narrow)
    first = db.ask("SELECT SUM(pay) FROM data WHERE dept = 'a'", user="u")
    db.close()
    wide = make(tmp_path)
    again = wide.ask("SELECT SUM(pay) FROM data WHERE dept = 'a'", user="u")
    assert first == again
    assert wide.history()[-1]["remember"] == {"repeated": True}
    wide.close()
    with pytest.raises(LedgerError, match="no longer selects"):
        make(tmp_path, policy=Policy(**{**POLICY.__dict__, "filters": ("age",)}))


def test_codes_that_only_records_know_are_never_shown(tmp_path: Path) -> None:
    table = frame().with_columns(
        pl.when(pl.col("id").is_in([f"p{i}" for i in range(9)]))
        .then(pl.lit("Q"))
        .otherwise(pl.col("dept"))
        .alias("dept")
    )
    db = make(tmp_path, table)
    answer = db.ask("SELECT COUNT(*) FROM data GROUP BY dept", user="u")
    assert [row.group[0] for row in answer.rows] == ["a", "b", "c"]  # type: ignore[union-attr]
    assert db.ask("SELECT LINREG(pay, dept) FROM data", user="u") == RISK


def test_what_cannot_be_logged_is_not_answered_and_not_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = frame().with_columns(pl.when(pl.col("id") == "p3").then(pl.lit(99)).otherwise(pl.col("age")).alias("age"))
    db = make(tmp_path, table)
    with monkeypatch.context() as broken:
        broken.setattr(SqliteStore, "append", _full_disk)
        with pytest.raises(LedgerError, match="no space"):
            db.ask("SELECT SUM(pay) FROM data", user="u")
    assert isinstance(db.ask("SELECT SUM(pay) FROM data WHERE age < 99", user="u"), Answer), "the other was not said"
    assert db.ask("SELECT SUM(pay) FROM data", user="u") == RISK


def _full_disk(*arguments: object) -> None:
    raise LedgerError("ledger: no space")


def test_limits_and_unknown_variables(tmp_path: Path) -> None:
    db = make(tmp_path, policy=Policy(**{**POLICY.__dict__, "limits": Limits(queries=1, cells=5)}))
    assert db.ask("SELECT SUM(pya) FROM data", user="u").message == "There is no variable 'pya' to ask about."  # type: ignore[union-attr]
    assert "Did you mean 'pay'" in db.ask("SELECT SUM(pya) FROM data", user="u").change  # type: ignore[union-attr]
    assert db.ask("SELECT SUM(pay) FROM data WHERE id = 'p1'", user="u").code is Code.UNKNOWN_VARIABLE  # type: ignore[union-attr]
    assert db.ask("SELECT SUM(pay) FROM data WHERE pay > 50", user="u").code is Code.NOT_ALLOWED  # type: ignore[union-attr]
    assert db.ask("SELECT MAX(pay) FROM data", user="u").code is Code.NOT_ALLOWED  # type: ignore[union-attr]
    assert db.ask("SELECT COUNT(*) FROM data GROUP BY age", user="u").code is Code.NOT_ALLOWED  # type: ignore[union-attr]
    assert db.ask("SELECT COUNT(*) FROM data GROUP BY dept, grade", user="u").code is Code.LIMIT  # type: ignore[union-attr]
    assert db.ask("SELECT COUNT(*) FROM data WHERE dept > 'a'", user="u").code is Code.UNSUPPORTED  # type: ignore[union-attr]
    assert isinstance(db.ask("SELECT SUM(pay) FROM data", user="u"), Answer)
    assert db.ask("SELECT SUM(pay) FROM data", user="u").code is Code.LIMIT  # type: ignore[union-attr]
    assert isinstance(db.ask(ask_for("sum", "pay"), user="v"), Answer)


def test_cutpoints_are_the_only_places_to_cut(tmp_path: Path) -> None:
    db = make(tmp_path, policy=Policy(**{**POLICY.__dict__, "cutpoints": {"age": (23.0, 26.0)}}))
    refusal = db.ask("SELECT COUNT(*) FROM data WHERE age >= 24", user="u")
    assert isinstance(refusal, Refusal)
    assert refusal.code is Code.CUTPOINT
    assert "23, 26" in refusal.message
    answer = db.ask("SELECT COUNT(*) FROM data GROUP BY age", user="u")
    assert [row.group for row in answer.rows] == [("[-inf, 23)",), ("[23, 26)",), ("[26, inf)",)]  # type: ignore[union-attr]


def test_policies_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="must name who asks"):
        make(tmp_path).ask("SELECT COUNT(*) FROM data", user=" ")
    with pytest.raises(PlanError, match="identifies respondents"):
        make(tmp_path, policy=Policy(filters=("id",)))
    with pytest.raises(PlanError, match="must be numeric"):
        make(tmp_path, policy=Policy(responses=("dept",)))
    with pytest.raises(PlanError, match="no mode 'exakt'. Did you mean 'exact'"):
        make(tmp_path, policy=Policy(**{**POLICY.__dict__, "mode": "exakt"}))


def test_no_message_or_refusal_shows_a_value(tmp_path: Path) -> None:
    table = frame().with_columns(pl.lit(77123.25).alias("pay"))
    db = make(tmp_path, table, Policy(**{**POLICY.__dict__, "minimum": 500}))
    for text in ("SUM(pay)", "AVG(pay)", "LINREG(pay, dept)", "STDDEV(pay)"):
        result = db.ask(f"SELECT {text} FROM data", user="u")
        assert result == RISK
    assert "77123" not in str(db.history())
