"""Regression terms: transforms, interactions and their rules, in text and in Python, in every mode."""

import itertools
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import DataError, ParameterError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.language import Query, Statistic, ask_for, statistic_of
from reticent.queries.parse import parse
from reticent.queries.policy import Bounds, Limits, Policy
from reticent.queries.refusals import Answer, Code, Refusal
from reticent.queries.terms import Factor, Model, Term
from reticent.queries.wire import query_from_json, query_to_json

SCHEMA = Schema(
    (
        Variable("region", codes=("e", "n", "s")),
        Variable("sex", codes=("f", "m")),
        Variable("trade", codes=("a", "b", "c")),
        Variable("grade", kind=Kind.NUMERIC, codes=("1", "2", "3", "4")),
        Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        Variable("hours", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        Variable("ill", role=Role.SENSITIVE, kind=Kind.NUMERIC),
    )
)


def records(n: int = 600) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(11)
    grade = rng.integers(1, 5, n)
    sex = rng.choice(["f", "m"], n)
    hours = rng.integers(5, 60, n)
    return {
        "region": rng.choice(["e", "n", "s"], n, p=[0.2, 0.5, 0.3]),
        "sex": sex,
        "trade": rng.choice(["a", "b", "c"], n, p=[0.5, 0.48, 0.02]),
        "grade": grade,
        "pay": np.round(20 + 3 * grade**2 + 4 * (sex == "f") + rng.normal(0, 6, n), 1),
        "hours": hours,
        "ill": (rng.random(n) < 0.3).astype(int),
    }


def database(folder: Path, mode: str, columns: dict[str, np.ndarray] | None = None, **options) -> ProtectedDatabase:
    facts = {
        "filters": ("region", "sex", "trade", "grade"),
        "responses": ("pay", "hours", "ill"),
        "bounds": {"grade": Bounds(low=1.0), "pay": Bounds(low=0.0), "hours": Bounds(low=1.0)},
        "unions": 1,
        **options,
    }
    data = Microdata.of(pl.DataFrame(columns or records()), SCHEMA)
    folder.mkdir(exist_ok=True)
    policy = Policy(mode=mode, test=mode == "open", **facts)
    return ProtectedDatabase(data, policy=policy, secret=5, test_secret=True, ledger=folder / f"{mode}.ledger")


def ask(db: ProtectedDatabase, item: str) -> Answer | Refusal:
    return db.ask(f"SELECT {item} FROM data", user="u")


@pytest.mark.parametrize(
    "text",
    [
        "LINREG(pay, sex, grade, SQUARE(grade), LN(hours), sex * grade)",
        "LINREG(pay, grade * sex, LOG(hours), POWER(grade, 2), grade, sex)",
        "linreg(pay, (sex) * grade, ln(hours), (grade), square(grade), sex)",
    ],
)
def test_the_order_of_terms_and_factors_does_not_matter(text: str) -> None:
    query = parse(f"SELECT {text} FROM data")
    assert isinstance(query, Query)
    (statistic,) = query.statistics
    assert str(statistic) == "linreg(pay, grade, square(grade), log(hours), sex, grade * sex)"
    built = ask_for(
        "linreg",
        ("pay", Term.log("hours"), "sex", "grade", Term.of("sex") * Term.of("grade"), Term.square("grade")),
    )
    assert built.query() == query
    assert query_from_json(query_to_json(query)) == query


def test_a_model_without_transforms_is_the_plain_statistic() -> None:
    assert statistic_of("linreg", ["y", "b", "a"]) == Statistic("linreg", ("y", "a", "b"))
    assert Statistic("corr", ("y", "a")) == Statistic("corr", ("a", "y"))
    assert Statistic("ratio", ("y", "a")) != Statistic("ratio", ("a", "y"))


@pytest.mark.parametrize(
    "item, words",
    [
        ("LINREG(y, a, a * b)", "needs b in the model"),
        ("LINREG(y, a, b, c, a * b * c)", "needs a * b and a * c and b * c in the model"),
        ("LINREG(y, a, b, c, a * b, a * c, a * b * c)", "needs b * c in the model"),
        ("LINREG(y, a, b, LN(a) * b)", "needs log(a) in the model"),
        ("LINREG(y, a, a * a)", "write SQUARE(x) for x * x"),
        ("LINREG(y, a, a * SQUARE(a))", "write SQUARE(x) for x * x"),
        ("LINREG(y, a, b, c, d, a * b * c * d)", "two or three factors"),
        ("LINREG(y, a, a)", "twice"),
        ("LINREG(y, a, SQUARE(y))", "cannot explain itself"),
        ("LINREG(y)", "at least one predictor"),
        ("LINREG(a * b, c)", "one variable"),
        ("LINREG(y, EXP(a))", "not an allowed term"),
        ("LINREG(y, 1 / a)", "not an allowed term"),
        ("LINREG(y, LOG(10, a))", "not an allowed term"),
        ("LINREG(y, POWER(a, 3))", "not an allowed term"),
        ("LINREG(y, SQUARE(SQUARE(a)))", "Only plain variables"),
        ("LINREG(y, SQUARE(a, b))", "not an allowed term"),
        ("LINREG(y, a + b)", "not an allowed term"),
        ("KM(t, SQUARE(e))", "plain variables"),
        ("SUM(a) / 2", "Only two sums"),
        ("SUM(a) / AVG(b)", "Only two sums"),
        ("SUM(a * b) / SUM(c)", "Only plain variables"),
    ],
)
def test_what_breaks_the_rules_of_terms_is_refused(item: str, words: str) -> None:
    refusal = parse(f"SELECT {item} FROM data")
    assert isinstance(refusal, Refusal)
    assert words in f"{refusal.message} {refusal.change}"
    assert refusal.code is Code.UNSUPPORTED


def test_interactions_do_not_count_among_the_twenty() -> None:
    names = [f"x{i:02d}" for i in range(20)]
    pairs = [Term.of(a) * Term.of(b) for a, b in itertools.pairwise(names)]
    assert len(statistic_of("linreg", ["y", *names, *pairs]).regression.terms) == 39
    with pytest.raises(ParameterError, match="20 predictors"):
        statistic_of("linreg", ["y", *names, Term.square("x00")])


def test_a_ledger_with_another_order_is_not_replayed() -> None:
    plain = query_to_json(Query((Statistic("linreg", ("y", "a", "b")),)))
    plain["statistics"][0][1] = ["y", "b", "a"]
    with pytest.raises(DataError, match="not in the order"):
        query_from_json(plain)


def _expected(columns: dict[str, np.ndarray]) -> np.ndarray:
    female, grade = (columns["sex"] == "f").astype(float), columns["grade"].astype(float)
    other = "f" if (columns["sex"] == "m").sum() >= (columns["sex"] == "f").sum() else "m"
    dummy = female if other == "f" else 1 - female
    design = np.column_stack([np.ones(len(grade)), grade, grade**2, dummy, grade * dummy])
    return np.linalg.lstsq(design, columns["pay"], rcond=None)[0]


@pytest.mark.parametrize("mode", ["open", "exact"])
def test_the_coefficients_are_those_of_the_written_model(mode: str, tmp_path: Path) -> None:
    answer = ask(database(tmp_path, mode), "LINREG(pay, grade, SQUARE(grade), sex, sex * grade)")
    assert isinstance(answer, Answer), answer
    found = answer.value["coefficients"]
    assert list(found.values()) == pytest.approx(_expected(records()).tolist(), rel=1e-6)
    assert [label.split("[")[0] for label in found] == ["(intercept)", "grade", "square(grade)", "sex", "grade * sex"]


def test_an_answer_is_given_again_for_another_order(tmp_path: Path) -> None:
    db = database(tmp_path, "analysis")
    first = ask(db, "LINREG(LN(hours), sex, grade, grade * sex)")
    again = db.ask("SELECT LINREG(LN(hours), sex * grade, grade, sex) FROM data", user="v")
    assert isinstance(first, Answer)
    assert isinstance(again, Answer)
    assert first.rows == again.rows
    assert db.history()[-1]["remember"] == {"repeated": True}


@pytest.mark.parametrize(
    "item", ["LINREG(pay, sex, region, sex * region, hours)", "LOGREG(ill, sex, grade, SQUARE(grade))"]
)
def test_interactions_of_codes_become_indicators(item: str, tmp_path: Path) -> None:
    answer = ask(database(tmp_path, "analysis"), item)
    assert isinstance(answer, Answer), answer
    labels = list(answer.value["coefficients"])
    assert labels == list(ask(database(tmp_path, "open"), item).value["coefficients"])
    if "region" in item:
        assert [label for label in labels if "*" in label] == [
            f"region[{r}] * sex[{s}]" for r in ("e", "s") for s in (labels[-3].split("sex[")[1][:1],)
        ]


def test_sparse_codes_are_absorbed_with_their_products(tmp_path: Path) -> None:
    item = "LINREG(pay, trade, hours, trade * hours)"
    whole = ask(database(tmp_path, "open"), item).value["coefficients"]
    kept = ask(database(tmp_path, "analysis", options={"analysis": {"category": 30}}), item).value["coefficients"]
    assert "trade[c]" in whole
    assert "hours * trade[c]" in whole
    assert set(kept) == {label for label in whole if "trade[c]" not in label}


def test_saturated_models_of_codes_are_refused(tmp_path: Path) -> None:
    db = database(tmp_path, "analysis")
    saturated = ask(db, "LINREG(pay, sex, region, sex * region)")
    assert isinstance(saturated, Refusal)
    assert saturated.code is Code.RISK
    assert "fully interacted" in str(db.history()[-1]["staff"])
    assert isinstance(ask(db, "LOGREG(ill, sex, region, sex * region)"), Refusal)
    assert "fully interacted" in str(db.history()[-1]["staff"])
    assert isinstance(ask(db, "LINREG(pay, sex, region)"), Answer)


@pytest.mark.parametrize(
    "item, mode, words",
    [
        ("LINREG(pay, LN(ill))", "analysis", "published lower bound above 0"),
        ("LINREG(pay, SQRT(ill))", "analysis", "published lower bound of 0 or more"),
        ("LINREG(LN(pay), sex)", "analysis", "published lower bound above 0"),
        ("LINREG(pay, SQUARE(region))", "analysis", "only numbers can be transformed"),
        ("LINREG(pay, SQUARE(hours))", "exact", "'hours' is confidential"),
        ("LINREG(LN(hours), sex)", "exact", "'hours' is confidential"),
        ("LINREG(pay, hours, ill, hours * ill)", "exact", "product of two confidential variables"),
        ("LINREG(pay, SQUARE(hours))", "camouflage", "'hours' is confidential"),
    ],
)
def test_models_are_refused_by_metadata_and_policy(item: str, mode: str, words: str, tmp_path: Path) -> None:
    refusal = ask(database(tmp_path, mode), item)
    assert isinstance(refusal, Refusal)
    assert refusal.code is Code.NOT_ALLOWED
    assert words in refusal.message


@pytest.mark.parametrize(
    "limits, item, words",
    [
        (Limits(predictors=1), "LINREG(pay, sex, grade)", "1 predictors at most"),
        (Limits(factors=1), "LINREG(pay, sex, grade, sex * grade)", "not at all"),
        (Limits(factors=2), "LINREG(pay, sex, grade, hours, sex * grade, sex * hours, grade * hours, sex * grade * hours)",
         "2 variables at most"),
        (Limits(columns=6), "LINREG(pay, region, trade, sex, region * trade)", "too many columns"),
    ],
)  # fmt: skip
def test_the_policy_limits_models(limits: Limits, item: str, words: str, tmp_path: Path) -> None:
    refusal = ask(database(tmp_path, "analysis", limits=limits), item)
    assert isinstance(refusal, Refusal)
    assert refusal.code is Code.LIMIT
    assert words in refusal.message
    assert isinstance(ask(database(tmp_path / "wide", "analysis"), item), Answer)


def test_the_policy_chooses_transforms(tmp_path: Path) -> None:
    refusal = ask(database(tmp_path, "analysis", transforms=("square",)), "LINREG(pay, LN(hours))")
    assert isinstance(refusal, Refusal)
    assert refusal.code is Code.NOT_ALLOWED
    with pytest.raises(ParameterError, match="Did you mean 'square'"):
        Policy(transforms=("sqare",))


@pytest.mark.parametrize("value", [0.0, -3.0])
@pytest.mark.parametrize("mode", ["analysis", "open"])
@pytest.mark.parametrize("item", ["LINREG(pay, LN(hours))", "LINREG(pay, LN(ill))", "LINREG(pay, SQRT(hours), sex)"])
def test_a_value_that_has_no_logarithm_is_not_noticed(value: float, mode: str, item: str, tmp_path: Path) -> None:
    """Twins: one has a record below the known bound; what is refused, and how, is the same."""
    changed = records()
    changed["hours"] = changed["hours"].astype(float)
    changed["hours"][3] = value
    here, there = database(tmp_path / "a", mode), database(tmp_path / "b", mode, changed)
    one, two = ask(here, item), ask(there, item)
    assert isinstance(one, Refusal) == isinstance(two, Refusal)
    if isinstance(one, Refusal):
        assert one == two
    else:
        assert isinstance(two, Answer)
        assert one.value["n"] == two.value["n"]
        assert list(one.value["coefficients"]) == list(two.value["coefficients"])


def _two_grades(few: int) -> dict[str, np.ndarray]:
    columns = records(60)
    columns["grade"] = np.where(np.arange(60) < few, 3, 1)
    return columns


@pytest.mark.parametrize("term", ["SQUARE(grade)", "LN(grade)", "SQRT(grade)"])
def test_normal_equations_of_transformed_filters_are_audited(term: str, tmp_path: Path) -> None:
    """Σy and Σ g(k) y over two values of k give both sums; one of them is of two people only."""
    options = {"leverage": 1.0, "r_squared": 1.0}
    assert isinstance(ask(database(tmp_path / "o", "open", _two_grades(2), **options), f"LINREG(pay, {term})"), Answer)
    db = database(tmp_path / "few", "exact", _two_grades(2), **options)
    assert isinstance(ask(db, f"LINREG(pay, {term})"), Refusal)
    many = database(tmp_path / "many", "exact", _two_grades(20), **options)
    assert isinstance(ask(many, f"LINREG(pay, {term})"), Answer)
    implied = many.ask("SELECT SUM(pay) FROM data WHERE grade = 3", user="u")
    assert isinstance(implied, Answer)
    assert many.history()[-1]["remember"] == {"told": ["pay"]}


def test_an_audited_model_is_remembered_across_a_restart(tmp_path: Path) -> None:
    """What a model told stays told: a set that follows from it and a later query is refused after reopening."""
    columns = _two_grades(20)
    columns["sex"] = np.where(np.arange(60) < 18, "f", "m")  # two men have grade 3
    options = {"leverage": 1.0, "r_squared": 1.0}
    db = database(tmp_path, "exact", columns, **options)
    assert isinstance(ask(db, "LINREG(pay, SQUARE(grade))"), Answer)
    db.close()
    later = database(tmp_path, "exact", columns, **options)
    assert isinstance(later.ask("SELECT SUM(pay) FROM data WHERE sex = 'f'", user="u"), Refusal)
    fresh = database(tmp_path / "fresh", "exact", columns, **options)
    assert isinstance(fresh.ask("SELECT SUM(pay) FROM data WHERE sex = 'f'", user="u"), Answer)


def test_ratios_are_sums_divided(tmp_path: Path) -> None:
    columns = records()
    truth = columns["pay"].sum() / columns["hours"].sum()
    for mode in ("open", "exact"):
        assert ask(database(tmp_path, mode), "SUM(pay) / SUM(hours)").value == pytest.approx(truth, rel=1e-12)
    low, high = ask(database(tmp_path, "camouflage"), "SUM(pay) / SUM(hours)").value
    assert low <= truth <= high
    near = ask(database(tmp_path, "analysis"), "SUM(pay) / SUM(hours)").value
    assert near != pytest.approx(truth, rel=1e-9)
    assert near == pytest.approx(truth, rel=0.02)
    refused = ask(database(tmp_path, "simulatable"), "SUM(pay) / SUM(hours)")
    assert isinstance(refused, Refusal)
    assert refused.code is Code.NOT_ALLOWED


def test_both_sums_of_a_ratio_are_audited(tmp_path: Path) -> None:
    """The ratio over all, then the sum over all but two: their difference would be the two."""
    columns = records()
    columns["trade"][:] = "a"
    columns["trade"][:2] = "c"
    for response in ("pay", "hours"):
        db = database(tmp_path / response, "exact", columns)
        assert isinstance(ask(db, "SUM(pay) / SUM(hours)"), Answer)
        assert isinstance(db.ask(f"SELECT SUM({response}) FROM data WHERE trade = 'a'", user="u"), Refusal)


def test_a_ratio_by_zero_does_not_exist(tmp_path: Path) -> None:
    columns = records()
    columns["hours"] = np.zeros(600)
    for mode in ("exact", "analysis"):
        assert isinstance(ask(database(tmp_path, mode, columns, bounds={}), "SUM(pay) / SUM(hours)"), Refusal)
    zero = database(tmp_path, "camouflage", columns, bounds={})
    assert ask(zero, "SUM(pay) / SUM(hours)").value is None  # its interval would be without end


def test_models_say_what_they_are() -> None:
    model = Model(Factor("y", "log"), (Term.of("b"), Term.of("a"), Term.of("b") * Term.of("a")))
    assert str(model) == "log(y), a, b, a * b"
    assert not model.plain
    with pytest.raises(ParameterError, match="belongs to a regression"):
        Statistic("sum", ("y",), model=model)
