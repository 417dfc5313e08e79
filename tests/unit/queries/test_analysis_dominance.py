"""In the analysis mode nobody counts for more than the dominance rules allow, and no refusal tells who would."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.analysis.dominance import Holders, Shares
from reticent.queries.attacks.catalogue import run_attack
from reticent.queries.attacks.scenario import establishments
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Policy
from reticent.queries.refusals import Answer, Refusal

RULES = [
    Shares(dominance=(1, 0.25)),
    Shares(dominance=(2, 0.6)),
    Shares(p_share=0.1),
    Shares(dominance=(1, 0.5), p_share=0.2, coalition=2),
    Shares(reach=5.0),
]


def meets(rules: Shares, amounts: list[Fraction]) -> bool:
    """The rules as they are in the documents, in fractions."""
    ordered, total = sorted(amounts, reverse=True), sum(amounts)
    holding = sum(a > 0 for a in amounts)
    if rules.dominance and sum(ordered[: rules.dominance[0]]) > Fraction(str(rules.dominance[1])) * total:
        return False
    if rules.reach and ordered[0] * holding > Fraction(rules.reach) * total:
        return False
    if rules.p_share is None:
        return True
    rest = total - sum(ordered[: rules.coalition + 1])
    return holding > rules.coalition + 1 and Fraction(str(rules.p_share)) * ordered[0] <= rest


@given(st.sampled_from(RULES), st.lists(st.integers(0, 10**6), min_size=1, max_size=30))
def test_the_limit_is_the_largest_that_meets_the_rules(rules: Shares, sizes: list[int]) -> None:
    amounts = [Fraction(size) for size in sizes]
    limit = rules.limit(np.array(sizes, dtype=np.float64))
    if limit is None:  # even equal contributions are too much
        assert not meets(rules, [min(a, Fraction(1, 10**9)) for a in amounts])
    elif limit == np.inf:
        assert not any(sizes) or meets(rules, amounts)
    else:
        assert not meets(rules, amounts)
        assert meets(rules, [min(a, Fraction(limit) * (1 - Fraction(1, 10**9))) for a in amounts])
        assert not meets(rules, [min(a, Fraction(limit) * (1 + Fraction(1, 10**9))) for a in amounts])


@pytest.mark.parametrize("power", [1, 2])
def test_a_respondent_is_limited_over_all_its_records(power: int) -> None:
    rng = np.random.default_rng(2)
    entity = np.concatenate([np.zeros(4, dtype=np.int64), np.arange(1, 41)])
    values = np.concatenate([[400.0, 300.0, -50.0, 0.0], rng.uniform(5, 10, 40)])
    limited = Holders.of(entity, RULES[0]).limited(values, power=power)
    assert limited is not None
    held = np.abs(np.bincount(entity, weights=limited**power))
    assert held[0] / held.sum() == pytest.approx(0.25)
    assert np.array_equal(limited[4:], values[4:])
    assert limited[1] / limited[0] == pytest.approx(0.75)
    known = Holders.of(entity, replace(RULES[0], known=frozenset({0})))
    assert np.array_equal(known.limited(values, power=power), values)


SCHEMA = Schema(
    (
        Variable("region", codes=("n", "s")),
        Variable("turnover", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        Variable("staff", role=Role.SENSITIVE, kind=Kind.NUMERIC),
    )
)


def database(folder: Path, largest: float, *, dominance: tuple[float, ...] = (1, 40.0), **facts) -> ProtectedDatabase:
    rng = np.random.default_rng(7)
    turnover = np.append(largest, rng.uniform(50, 150, 119).round())
    staff = np.append(rng.uniform(1, 9) if largest < 1e6 else 5.0, rng.uniform(1, 9, 119)).round(1)
    frame = pl.DataFrame({"region": ["n", "s"] * 60, "turnover": turnover, "staff": staff})
    policy = Policy(mode="analysis", filters=("region",), responses=("turnover", "staff"), dominance=dominance, **facts)
    folder.mkdir(exist_ok=True)
    return ProtectedDatabase(
        Microdata.of(frame, SCHEMA), policy=policy, secret=3, test_secret=True, ledger=folder / "d.ledger"
    )


@pytest.mark.parametrize("statistic", ["SUM", "AVG", "VARIANCE", "STDDEV"])
def test_a_giant_is_not_shown_and_not_told(statistic: str, tmp_path: Path) -> None:
    """One firm holds nearly everything: the answer tells only that it is large, and twins are answered alike."""
    answers = {}
    for size in (1e7, 2e7, 90.0):
        db = database(tmp_path / f"{size:g}", size)
        result = db.ask(f"SELECT {statistic}(turnover) FROM data", user="u")
        assert isinstance(result, Answer)
        answers[size] = (result.value, result.notes)
    assert answers[1e7] == answers[2e7]
    assert answers[1e7][1] == answers[90.0][1]
    free = database(tmp_path / "free", 1e7, dominance=()).ask(f"SELECT {statistic}(turnover) FROM data", user="u")
    assert free.value > 20 * answers[1e7][0]


@pytest.mark.parametrize("item", ["LINREG(turnover, staff)", "LINREG(turnover, region)", "CORR(turnover, staff)"])
def test_models_and_correlations_do_not_lean_on_a_giant(item: str, tmp_path: Path) -> None:
    one, two = (database(tmp_path / f"{s:g}", s).ask(f"SELECT {item} FROM data", user="u") for s in (1e7, 2e7))
    assert isinstance(one, Refusal) == isinstance(two, Refusal)
    if isinstance(one, Answer):
        first, second = one.value, two.value
        if isinstance(first, dict):
            first, second = first["coefficients"], second["coefficients"]
        assert first == pytest.approx(second)
        assert first != pytest.approx(
            database(tmp_path / "free", 1e7, dominance=()).ask(f"SELECT {item} FROM data", user="u")
        )


def test_a_dominated_category_is_no_predictor(tmp_path: Path) -> None:
    """Overall the firm is not too large, but in its category it is: the coefficient would show it."""
    rng = np.random.default_rng(5)
    region = np.array(["n"] * 20 + ["s"] * 380)
    turnover = np.concatenate([[9000.0], rng.uniform(50, 150, 19), rng.uniform(400, 900, 380)]).round()
    frame = pl.DataFrame({"region": region, "turnover": turnover, "staff": rng.uniform(1, 9, 400).round(1)})
    policy = Policy(mode="analysis", filters=("region",), responses=("turnover", "staff"), dominance=(1, 40.0))
    db = ProtectedDatabase(
        Microdata.of(frame, SCHEMA), policy=policy, secret=3, test_secret=True, ledger=tmp_path / "d.ledger"
    )
    assert isinstance(db.ask("SELECT LINREG(turnover, region, staff) FROM data", user="u"), Refusal)
    assert "cross product" in str(db.history()[-1]["staff"])
    assert isinstance(db.ask("SELECT LINREG(staff, region) FROM data", user="u"), Answer)


def test_reach_holds_without_dominance(tmp_path: Path) -> None:
    free = database(tmp_path / "a", 2000.0, dominance=()).ask("SELECT VARIANCE(turnover) FROM data", user="u").value
    options = {"analysis": {"reach": 10}}
    tight = database(tmp_path / "b", 2000.0, dominance=(), options=options)
    assert tight.ask("SELECT VARIANCE(turnover) FROM data", user="u").value < 0.2 * free


@pytest.mark.slow
def test_the_covariance_attack_on_a_dominant_firm_fails() -> None:
    """Over secrets: without the rule, and without factors, most succeed; with either none comes near."""
    scenario = establishments(mode="analysis", own_codes=False)
    values = scenario.data.numbers(("turnover",))[:, 0]
    assert values[0] ** 2 / (values**2).sum() > 0.25  # the rule of the scenario
    plain = {"analysis": {"strata": ["region"], "blur": 0.0}}
    free = replace(scenario, policy=replace(scenario.policy, dominance=(), options=plain))
    assert sum(run_attack("covariance", free, secret=k).succeeded for k in range(5)) >= 3
    ruled = replace(scenario, policy=replace(scenario.policy, options=plain))
    factors = replace(scenario, policy=replace(scenario.policy, dominance=()))
    for guarded in (scenario, ruled, factors):
        for secret in range(3):
            finding = run_attack("covariance", guarded, secret=secret)
            assert finding.recovered_error is not None
            assert finding.recovered_error > 0.03
