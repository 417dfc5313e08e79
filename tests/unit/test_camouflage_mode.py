"""The camouflage mode of a protected database: intervals hold the truth, repeat for ever, and stand appended records."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog

from reticent.base.errors import PlanError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.camouflage.hulls import BlockHull, CommonHull
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
    return ProtectedDatabase(
        data or _data(), policy=policy, secret=3, test_secret=True, ledger=folder / "x.ledger", **more
    )


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
    model = again.ask("SELECT LINREG(pay, years) FROM data", user="u")
    assert isinstance(model.value["coefficients"]["years"], tuple)
    again.close()
    assert _open(tmp_path, insiders).ask("SELECT LINREG(pay, years) FROM data", user="v") == model


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


def test_tied_responses_are_refused(tmp_path: Path) -> None:
    """Two hulls around the same truth, in two units: their intersection would be little more than the truth itself."""
    rng = np.random.default_rng(1)
    schema = Schema(
        (
            Variable("dep", codes=("a", "b")),
            Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC),
            Variable("cents", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        )
    )
    pay = rng.uniform(20, 90, 12).round()
    data = Microdata.of(pl.DataFrame({"dep": rng.choice(["a", "b"], 12), "pay": pay, "cents": 100 * pay}), schema)
    policy = Policy(mode="camouflage", filters=("dep",), responses=("pay", "cents"))
    with pytest.raises(PlanError, match="'pay' is tied to cents by an equation"):
        ProtectedDatabase(data, policy=policy, secret=3, test_secret=True, ledger=tmp_path / "x.ledger")


STATISTICS = (
    "COUNT(*), SUM(pay), AVG(pay), MIN(pay), MAX(pay), MEDIAN(pay), QUANTILE(pay, 0.3), VARIANCE(pay), STDDEV(pay)"
)


def _told(values: np.ndarray) -> list[float]:
    """What the statistics would be for some values, the plain way."""
    ends = [values.min(), values.max(), np.median(values), np.quantile(values, 0.3)]
    return [values.sum(), values.mean(), *ends, values.var(ddof=1), values.std(ddof=1)]


def _witness(hull: CommonHull | BlockHull, record: int, known: np.ndarray, truth: np.ndarray, sign: int) -> np.ndarray:
    """A point of the hull with the known records at their true values and one record as far away as it can be."""
    if isinstance(hull, CommonHull):
        return hull.vectors[int(np.argmax(sign * hull.vectors[:, record]))]
    point = truth.copy()
    point[record] = hull.high[record] if sign > 0 else hull.low[record]
    members = np.flatnonzero(hull.block == hull.block[record])
    if hull.block[record] < 0 or len(members) < 2:
        return point
    patterns = np.array(np.meshgrid(*[[0, 1]] * len(members))).reshape(len(members), -1).T
    corners = patterns[(patterns.sum(axis=1) % 2 == 1) == hull.odd[hull.block[record]]]
    points = hull.low[members] + corners * (hull.high - hull.low)[members]
    fixed = [i for i, m in enumerate(members) if m in known]
    equal = np.concatenate([points[:, fixed].T, np.ones((1, len(points)))])
    place = members.tolist().index(record)
    found = linprog(-sign * points[:, place], A_eq=equal, b_eq=np.append(truth[members[fixed]], 1.0), method="highs-ds")
    assert found.success
    point[members] = found.x @ points
    return point


@pytest.mark.parametrize("insiders", [0, 1, 2])
def test_no_transcript_of_any_statistics_narrows_a_protected_interval(tmp_path: Path, insiders: int) -> None:
    """For each record and each end of its protected interval there is a database that fits every answer given, linear
    or not, and every value that insiders know: so no attacker, whatever his method, can exclude that end."""
    data = _data(24)
    db, truth = _open(tmp_path, insiders, data=data), data.numbers(("pay",))[:, 0]
    years, dep = data.numbers(("years",))[:, 0], np.array(data.texts("dep"))
    transcript = []
    for where, chosen in [
        *((f"dep = '{d}'", dep == d) for d in "abc"),
        *((f"years = {y}", years == y) for y in range(1, 5)),
        *((f"dep <> '{d}' AND years >= {y}", (dep != d) & (years >= y)) for d in "abc" for y in (2, 3)),
        ("1 = 1", np.ones(24, dtype=bool)),
    ]:
        row = db.ask(f"SELECT {STATISTICS} FROM data WHERE {where}", user="u").rows[0].values
        transcript.append((chosen, row[1:]))
    slope = db.ask("SELECT LINREG(pay, years) FROM data", user="u").value["coefficients"]["years"]
    mode = db._engine.mode
    hull = mode.hulls["pay"]
    rng = np.random.default_rng(7)
    for record in range(24):
        known = rng.choice(np.delete(np.arange(24), record), insiders, replace=False)
        for sign in (-1, 1):
            point = _witness(hull, record, known, truth, sign)
            assert sign * (point[record] - truth[record]) >= 0.15 * truth[record] - 1e-9, "the whole protected interval"
            assert np.allclose(point[known], truth[known])
            for chosen, intervals in transcript:
                for interval, value in zip(intervals, _told(point[chosen]), strict=True):
                    if interval is not None:
                        assert interval[0] - 1e-6 <= value <= interval[1] + 1e-6
            assert slope[0] - 1e-6 <= np.polyfit(years, point, 1)[0] <= slope[1] + 1e-6


@pytest.mark.parametrize("insiders", [0, 2])
def test_the_ends_of_a_sum_are_attained(tmp_path: Path, insiders: int) -> None:
    """Linear answers are as narrow as they can be: no more than the rounding outward beyond the hull's own range."""
    data = _data(30)
    db = _open(tmp_path, insiders, data=data)
    hull, dep = db._engine.mode.hulls["pay"], np.array(data.texts("dep"))
    for code in "abc":
        low, high = db.ask(f"SELECT SUM(pay) FROM data WHERE dep = '{code}'", user="u").value
        least, most = hull.linear_range(np.flatnonzero(dep == code), np.ones(int((dep == code).sum())))
        assert 0 <= least - low < 0.0101
        assert 0 <= high - most < 0.0101
