"""Answers that reveal more than the sums they were counted as: curves, last digits, insiders, bins, weights with an offset.

Each attack has answers only, and succeeds first on the mode `open` (or on unrounded numbers, which are no longer answered).
"""

from itertools import combinations
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import least_squares

from attacks.lattices import known_people
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Bounds, Policy

Table = dict[str, np.ndarray]


def database(folder: Path, table: Table, responses: tuple[str, ...], mode: str, **policy: Any) -> ProtectedDatabase:
    """Numbers, of which all can be filters that are not responses; `both` names responses that are filters too."""
    entity = policy.pop("entity", None)
    filters = tuple(name for name in table if name not in (*responses, entity)) + policy.pop("both", ())
    roles = dict.fromkeys(responses, Role.SENSITIVE) | {entity: Role.ENTITY}
    schema = Schema(tuple(Variable(name, kind=Kind.NUMERIC, role=roles.get(name, Role.OTHER)) for name in table))
    rules = Policy(mode=mode, filters=filters, responses=responses, test=mode == "open", **policy)
    own = Path(mkdtemp(dir=folder))
    data = Microdata.of(pl.DataFrame({name: values.astype(float) for name, values in table.items()}), schema)
    return ProtectedDatabase(data, policy=rules, secret=5, test_secret=True, ledger=own / "it.ledger")


def asked(base: ProtectedDatabase, what: str, where: str = "") -> dict[str, Any]:
    return base.ask(f"SELECT {what} FROM data{' WHERE ' + where if where else ''}", user="u").as_json()


def logistic_residuals(pay: np.ndarray, table: Table, answers: list[dict[str, Any]]) -> np.ndarray:
    """By how much scores and standard errors of answered models miss, if somebody's pay were this."""
    found: list[float] = []
    for answer in answers:
        names = list(answer["coefficients"])[1:]
        beta, errors = (np.array(list(answer[kind].values())) for kind in ("coefficients", "standard_errors"))
        x = np.column_stack([np.ones(len(pay)), *(pay if name == "pay" else table[name] for name in names)])
        share = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
        information = x.T @ (x * (share * (1 - share))[:, None])
        found += (errors * (x.T @ (table["ill"] - share))).tolist()
        found += np.log(np.sqrt(np.abs(np.diag(np.linalg.pinv(information)))) / errors).tolist()
    return np.array(found)


def test_logistic_curves_of_a_confidential_number_give_its_values(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    n, names = 20, [f"z{k}" for k in range(5)]
    table = {name: rng.integers(1, 9, n) for name in names} | {"ill": rng.random(n) < 0.5}
    table["pay"] = np.round(rng.lognormal(3, 0.6, n))
    models = [f"LOGREG(ill, pay, {', '.join(own)})" for own in (*((z,) for z in names), *combinations(names, 2))]
    base = database(tmp_path, table, ("pay", "ill"), "open", both=("ill",))
    replies = [asked(base, model) for model in models]
    answers = [reply["value"] for reply in replies if reply["answered"]]
    start = np.full(n, float(np.median(table["pay"]))) + rng.normal(0, 3, n)
    fit = least_squares(logistic_residuals, start, args=(table, answers), xtol=1e-12, ftol=1e-14, x_scale=10.0)
    assert (np.abs(fit.x - table["pay"]) < 0.5).all(), "nothing but models, each counted as a few sums"
    base = database(tmp_path, table, ("pay", "ill"), "exact", both=("ill",))
    assert {asked(base, model)["code"] for model in models} == {"NOT_ALLOWED"}


def fitted(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Coefficients as anybody's least squares gives them, with all digits."""
    r = np.linalg.qr(np.column_stack([x, y]), mode="r")
    return np.linalg.solve(r[:-1, :-1], r[:-1, -1])


def test_last_digits_of_a_regression_say_no_more_than_its_sums(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    n = 16
    table = {f"z{k}": rng.integers(1, 4, n) for k in range(3)} | {"ill": rng.random(n) < 0.5}
    designs = [np.column_stack([np.ones(n), table[f"z{k}"]]) for k in range(3)]
    every = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(float)
    fitting = every[np.all([every @ x == table["ill"] @ x for x in designs], axis=(0, 2))]
    raw = [fitted(x, table["ill"].astype(float)) for x in designs]
    left = [own for own in fitting if all(np.array_equal(fitted(x, own), t) for x, t in zip(designs, raw))]
    assert len(fitting) > 3 * len(left), "with all digits, most databases that have the same sums are excluded"
    base = database(tmp_path, table, ("ill",), "exact")
    replies = [asked(base, f"LINREG(ill, z{k})") for k in range(3)]
    there = [(x, r["value"]["coefficients"]) for x, r in zip(designs, replies) if r["answered"]]
    assert there
    for x, told in there:
        numbers = [(float(value), len(repr(float(value)).partition(".")[2])) for value in told.values()]
        for own in fitting:
            assert [round(f, d) for f, (_, d) in zip(fitted(x, own), numbers)] == [value for value, _ in numbers]


@pytest.mark.parametrize("values", [[0, 0, 0, 0, 7], [30, 30, 30, 30, 30, 30, 41], [5, 5, 5, 5, 6]])
def test_the_only_one_with_another_value_does_not_know_all_others(tmp_path: Path, values: list[int]) -> None:
    table = {"group": np.array([1] * len(values) + [2] * 6), "pay": np.array([*values, 1, 5, 2, 8, 3, 9])}
    n, own = len(values), values[-1]
    base = database(tmp_path, table, ("pay",), "open")
    mean, variance = (asked(base, f"{name}(pay)", "group = 1")["value"] for name in ("AVG", "VARIANCE"))
    rest = (n - 1) * variance + n * mean**2 - own**2, n * mean - own
    assert rest[0] == pytest.approx(rest[1] ** 2 / (n - 1)), "all others have one value"
    base = database(tmp_path, table, ("pay",), "exact", minimum=3)
    assert asked(base, "AVG(pay)", "group = 1")["answered"]
    assert not asked(base, "VARIANCE(pay)", "group = 1")["answered"]
    assert asked(base, "VARIANCE(pay)", "group = 2")["answered"]
    assert not asked(base, "VARIANCE(pay)")["answered"], "all less the others"


@pytest.mark.parametrize("records", [1, 2])
def test_the_only_one_off_a_pay_scale_does_not_know_all_others(tmp_path: Path, records: int) -> None:
    rng = np.random.default_rng(0)
    n = 20
    grade = rng.integers(1, 6, n)
    pay = 1500 + 350 * grade + 1700 * (np.arange(n) < records)
    table = {"grade": grade, "firm": np.maximum(np.arange(n), records - 1), "pay": pay}
    x = np.column_stack([np.ones(n), grade])
    reply = asked(database(tmp_path, table, ("pay",), "open"), "LINREG(pay, grade)")["value"]
    left = x.T @ x @ np.array(list(reply["coefficients"].values())) - x[:records].T @ pay[:records]
    line = np.linalg.solve(x[records:].T @ x[records:], left)
    assert x[records:] @ line == pytest.approx(pay[records:]), "all others, by somebody who takes the own off"
    base = database(tmp_path, table, ("pay",), "exact", entity="firm")
    assert not asked(base, "LINREG(pay, grade)")["answered"]
    table["pay"] = pay + rng.integers(-300, 300, n)
    assert asked(database(tmp_path, table, ("pay",), "exact", entity="firm"), "LINREG(pay, grade)")["answered"]


@pytest.mark.parametrize("bounds", [{}, {"age": Bounds(0, 120, True)}], ids=["no bounds", "bounds"])
def test_a_sum_at_the_end_of_its_bin_is_refused(tmp_path: Path, bounds: dict[str, Bounds]) -> None:
    rng = np.random.default_rng(0)
    table = {
        "group": np.repeat([1, 2, 3], [3, 3, 54]),
        "age": np.append([25, 25, 25, 25, 26, 29], rng.integers(18, 66, 54)),
    }
    points: dict[str, Any] = {"cutpoints": {"age": (20, 25, 30, 40, 50)}, "both": ("age",)}
    young = "age >= 25 AND age < 30"
    assert (
        asked(database(tmp_path, table, ("age",), "open", **points), "SUM(age)", f"{young} AND group = 1")["value"]
        == 75
    )
    base = database(tmp_path, table, ("age",), "exact", bounds=bounds, **points)
    assert not asked(base, "SUM(age)", f"{young} AND group = 1")["answered"], "three of at least 25 are 75 together"
    assert not asked(base, "SUM(age)", "group = 1")["answered"], "the bin need not be named"
    assert asked(base, "SUM(age)", f"{young} AND group = 2")["answered"]


def subset_sums(base: ProtectedDatabase, subsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums over all and over subsets, from the slopes of regressions on numbers that are one more in the subset."""
    n, whole = subsets.shape[1], asked(base, "SUM(ill)")["value"]
    rows, totals = [np.ones(n)], [whole]
    for k, chosen in enumerate(subsets):
        reply = asked(base, f"LINREG(ill, z{k})")
        if reply["answered"]:
            slope, inside = reply["value"]["coefficients"][f"z{k}"], chosen.sum()
            rows.append(chosen.astype(float))
            totals.append(round((slope + whole / (n - inside)) / (1 / inside + 1 / (n - inside))))
    return np.array(rows), np.array(totals)


@pytest.mark.parametrize("bounds", [{}, {"ill": Bounds(0, 1, True)}], ids=["no bounds", "0 or 1"])
def test_an_offset_of_public_numbers_hides_no_sum_from_the_count(tmp_path: Path, bounds: dict[str, Bounds]) -> None:
    rng = np.random.default_rng(3)
    n, q, offset = 20, 16, 10_000
    subsets, ill = rng.random((q, n)) < 0.5, rng.random(n) < 0.5
    numbers = [{f"z{k}": plus + own for k, own in enumerate(subsets)} for plus in (offset, 0)]
    base = database(tmp_path, {**numbers[0], "ill": ill}, ("ill",), "open")
    assert known_people(*subset_sums(base, subsets)) == n
    answered = []
    for own in numbers:
        base = database(tmp_path, {**own, "ill": ill}, ("ill",), "exact", bounds=bounds)
        rows, totals = subset_sums(base, subsets)
        answered.append(len(rows))
        assert known_people(rows, totals) == 0
    assert answered[0] == answered[1] < q
