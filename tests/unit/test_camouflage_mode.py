"""The camouflage mode of a protected database: intervals hold the truth, repeat for ever, and stand appended records."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from reference.hulls import sum_range
from reticent.base.errors import DataError, PlanError
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.ledger.chain import LedgerError
from reticent.ledger.ledger import open_ledger
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


def _policy(insiders: int = 1, **more: Any) -> Policy:
    policy = Policy(
        mode="camouflage",
        filters=("dep", "years"),
        responses=("pay",),
        bounds={"pay": Bounds(low=0)},
        options={"camouflage": {"insiders": insiders, "percent": 15}},
    )
    return replace(policy, **more)


def _open(folder: Path, insiders: int, data: Microdata | None = None, **more: Any) -> ProtectedDatabase:
    policy = more.pop("policy", _policy(insiders))
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


@pytest.mark.parametrize("insiders", [0, 2])
def test_the_ends_of_a_sum_are_attained(tmp_path: Path, insiders: int) -> None:
    """Linear answers are as narrow as they can be: no more than the rounding outward beyond the hull's own range."""
    data = _data(30)
    db = _open(tmp_path, insiders, data=data)
    hull, dep = db._engine.mode.hulls["pay"].hull, np.array(data.texts("dep"))
    for code in "abc":
        low, high = db.ask(f"SELECT SUM(pay) FROM data WHERE dep = '{code}'", user="u").value
        least, most = hull.linear_range(np.flatnonzero(dep == code), np.ones(int((dep == code).sum())))
        assert 0 <= least - low < 0.0101
        assert 0 <= high - most < 0.0101


STATISTICS = (
    "COUNT(*), SUM(pay), AVG(pay), MIN(pay), MAX(pay), MEDIAN(pay), QUANTILE(pay, 0.3), VARIANCE(pay), STDDEV(pay)"
)


def _told(values: np.ndarray) -> list[float]:
    """What the statistics would be for some values, the plain way."""
    ends = [values.min(), values.max(), np.median(values), np.quantile(values, 0.3)]
    spread = [values.var(ddof=1), values.std(ddof=1)] if len(values) > 1 else [np.nan, np.nan]
    return [values.sum(), values.mean(), *ends, *spread]


def _witness(hull: Any, record: int, known: np.ndarray, truth: np.ndarray, sign: int) -> np.ndarray:
    """A database of the hull with the known records at their true values and one record at an end of its cell."""
    low, high = hull.low * float(hull.half), hull.high * float(hull.half)
    point = truth.copy()
    point[record] = high[record] if sign > 0 else low[record]
    members = np.flatnonzero(hull.block == hull.block[record]) if hull.block[record] >= 0 else np.array([record])
    for other in members:
        if other != record and other not in known:  # the others make up for it
            miss = truth[members].sum() - point[members].sum()
            point[other] = np.clip(point[other] + miss, low[other], high[other])
    return point


@pytest.mark.parametrize("insiders", [0, 1, 2])
def test_no_transcript_of_any_statistics_narrows_a_cell(tmp_path: Path, insiders: int) -> None:
    """For each record and each end of its cell there is a database that fits every answer given, linear or not, and every
    value that insiders know: so no attacker, whatever his method, can exclude that end."""
    data = _data(24)
    db, truth = _open(tmp_path, insiders, data=data), data.numbers(("pay",))[:, 0]
    years, dep = data.numbers(("years",))[:, 0], np.array(data.texts("dep"))
    transcript = []
    for where, chosen in [
        *((f"dep = '{d}'", dep == d) for d in "abc"),
        *((f"years = {y}", years == y) for y in range(1, 5)),
        *((f"dep <> '{d}' AND years >= {y}", (dep != d) & (years >= y)) for d in "abc" for y in (2, 3)),
        *((f"dep = '{d}' AND years = {y}", (dep == d) & (years == y)) for d in "abc" for y in range(1, 5)),
        ("1 = 1", np.ones(24, dtype=bool)),
    ]:
        row = db.ask(f"SELECT {STATISTICS} FROM data WHERE {where}", user="u").rows[0].values
        transcript.append((chosen, row[1:]))
    slope = db.ask("SELECT LINREG(pay, years) FROM data", user="u").value["coefficients"]["years"]
    hull = db._engine.mode.hulls["pay"].hull
    rng = np.random.default_rng(7)
    for record in range(24):
        known = rng.choice(np.delete(np.arange(24), record), insiders, replace=False)
        for sign in (-1, 1):
            point = _witness(hull, record, known, truth, sign)
            assert point[known].tolist() == truth[known].tolist()
            for chosen, intervals in transcript:
                for interval, value in zip(intervals, _told(point[chosen]) if chosen.any() else [], strict=False):
                    if interval is not None:
                        assert interval[0] - 1e-6 <= value <= interval[1] + 1e-6
            assert slope[0] - 1e-6 <= np.polyfit(years, point, 1)[0] <= slope[1] + 1e-6


CHANGES = [
    ({"options": {"camouflage": {"insiders": 1, "percent": 10}}}, "percent = 15"),
    ({"options": {"camouflage": {"insiders": 0, "percent": 15}}}, "insiders = 1"),
    ({"options": {"camouflage": {"insiders": 1, "percent": 15, "least": 2.0}}}, "least = 1.0"),
    ({"options": {"camouflage": {"insiders": 1, "percent": 15, "unit": 1}}}, "unit = 0.01"),
    ({"options": {"camouflage": {"insiders": 1, "percent": 15, "bands": {"pay": [0, 50, 100]}}}}, r"bands = \[\]"),
    ({"bounds": {"pay": Bounds(low=0, high=100)}}, "bounds: high = none"),
    ({"bounds": {}}, "bounds: low = 0"),
    ({"bounds": {"pay": Bounds(low=0, integer=True)}}, "bounds: integer = false"),
]


@pytest.mark.parametrize("change, words", CHANGES)
def test_a_hull_is_never_drawn_with_other_widths(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    db = _open(tmp_path, 1)
    answer = db.ask("SELECT MIN(pay) FROM data", user="u")
    db.close()
    with pytest.raises(LedgerError, match=f"the hull of 'pay' was drawn with {words}"):
        _open(tmp_path, 1, policy=_policy(**change))
    assert _open(tmp_path, 1).ask("SELECT MIN(pay) FROM data", user="v") == answer


def test_nothing_is_fixed_before_the_first_question(tmp_path: Path) -> None:
    _open(tmp_path, 1).close()
    _open(tmp_path, 0).close()


OTHER_FILTERS = [("years", "dep"), ("dep",), ("years",), ()]


@pytest.mark.parametrize("filters", OTHER_FILTERS)
def test_other_filters_leave_the_hull_alone(tmp_path: Path, filters: tuple[str, ...]) -> None:
    """Blocks are made from the filters of the first opening, whatever the filters are now."""
    first = _open(tmp_path, 1)
    hull = first._engine.mode.hulls["pay"].hull
    answer = first.ask("SELECT SUM(pay), MIN(pay), VARIANCE(pay) FROM data", user="u")
    first.close()
    again = _open(tmp_path, 1, policy=_policy(filters=filters))
    assert all(np.array_equal(a, b) for a, b in _parts(hull, again._engine.mode.hulls["pay"].hull))
    assert again.ask("SELECT SUM(pay), MIN(pay), VARIANCE(pay) FROM data", user="v") == answer


def test_another_schema_is_refused_or_leaves_the_hull_alone(tmp_path: Path) -> None:
    first = _open(tmp_path, 1)
    hull = first._engine.mode.hulls["pay"].hull
    first.ask("SELECT SUM(pay) FROM data", user="u")
    first.close()
    opened = 0
    for name, facts in (
        ("dep", {"codes": ("c", "b", "a")}),
        ("dep", {"codes": ()}),
        ("dep", {"kind": Kind.ORDINAL}),
        ("dep", {"role": Role.ENTITY}),
        ("id", {"role": Role.KEY}),
        ("years", {"codes": ("1", "2", "3", "4")}),
    ):
        schema = Schema(tuple(replace(v, **facts) if v.name == name else v for v in SCHEMA.variables))
        try:
            again = _open(tmp_path, 1, data=_data().with_schema(schema))
        except (LedgerError, PlanError):
            continue
        opened += 1
        assert all(np.array_equal(a, b) for a, b in _parts(hull, again._engine.mode.hulls["pay"].hull)), facts
        again.close()
    assert opened >= 1


def test_answers_of_a_hull_that_is_not_in_the_ledger_stop_a_second_one(tmp_path: Path) -> None:
    """Version 0.1.0 did not write its hulls down."""
    _open(tmp_path, 1).close()
    ledger = open_ledger(tmp_path / "x.ledger", secret=as_secret(3).child("ledger"), dataset="data")
    with ledger.turn() as turn:
        turn.append("decision", {"answered": True, "mode": "camouflage", "user": "u"})
    ledger.close()
    with pytest.raises(LedgerError, match="answered from a hull that the ledger does not hold"):
        _open(tmp_path, 1)


def _parts(one: Any, other: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    names = ("low", "high", "block", "least_total", "most_total")
    return [(getattr(one, name), getattr(other, name)) for name in names]


def test_no_other_mode_answers_about_a_camouflaged_response(tmp_path: Path) -> None:
    first = _open(tmp_path, 1)
    first.ask("SELECT SUM(pay) FROM data", user="u")
    first.close()
    for mode in ("exact", "simulatable", "cell-key"):
        with pytest.raises(LedgerError, match="no other mode may answer about them exactly"):
            _open(tmp_path, 1, policy=_policy(mode=mode, options={}))
    with pytest.raises(PlanError, match="'years' is both a filter and a response"):
        _open(tmp_path, 1, policy=_policy(responses=("pay", "years")))


def test_a_respondent_has_one_record_in_a_block_and_known_ones_none(tmp_path: Path) -> None:
    """A firm with many records in one group: its records never share a slab, so its total stays as open as its records."""
    schema = Schema((*SCHEMA.variables, Variable("firm", role=Role.ENTITY)))
    rng = np.random.default_rng(2)
    firm = np.array(["big"] * 20 + ["known"] * 5 + [f"f{i}" for i in range(35)])
    columns = {
        "id": [f"p{i}" for i in range(60)],
        "dep": ["a"] * 60,
        "years": [1] * 60,
        "pay": rng.uniform(20, 90, 60).round(),
    }
    data = Microdata.of(pl.DataFrame({**columns, "firm": firm}), schema)
    db = _open(tmp_path, 1, data=data, policy=_policy(known=("known",)))
    hull = db._engine.mode.hulls["pay"].hull
    big = hull.block[:20]
    assert len(set(big[big >= 0].tolist())) == int((big >= 0).sum())
    assert (hull.block[20:25] == -1).all()
    db.ask("SELECT SUM(pay) FROM data", user="u")
    db.close()
    with pytest.raises(LedgerError, match="drawn with other known respondents"):
        _open(tmp_path, 1, data=data)
    low, high = sum_range(hull, np.arange(20))
    assert high - low == (hull.high - hull.low)[:20].sum(), "every sum of its cells is possible"


@pytest.mark.parametrize("low, high, integer", [(0.1234, 91.9877, False), (-3.3, 1e9, False), (20, 90, True)])
def test_bounds_need_not_lie_on_the_grid(tmp_path: Path, low: float, high: float, integer: bool) -> None:
    data = _data()
    pay = data.numbers(("pay",))[:, 0]
    pay[:4] = [low, high, low, high] if not integer else [20, 90, 21, 90]
    policy = _policy(bounds={"pay": Bounds(low, high, integer)})
    row = _open(tmp_path, 1, data=data.with_numbers("pay", pay), policy=policy).ask(
        "SELECT MIN(pay), MAX(pay), SUM(pay), VARIANCE(pay) FROM data", user="u"
    )
    for (least, most), told in zip(row.rows[0].values, [pay.min(), pay.max(), pay.sum(), pay.var(ddof=1)], strict=True):
        assert least <= told <= most


@pytest.mark.parametrize("percent", [51, 80, 99])
@pytest.mark.parametrize("sign, bounds", [(1, Bounds(low=0)), (1, Bounds(0, 1e6)), (-1, Bounds(high=0))])
def test_a_bound_at_zero_leaves_bands_beside_it(tmp_path: Path, percent: float, sign: int, bounds: Bounds) -> None:
    """Above 50 percent no band was wide enough at zero, so that a mean lay between 0 and 10^309."""
    data = _data()
    pay = sign * data.numbers(("pay",))[:, 0]
    policy = _policy(bounds={"pay": bounds}, options={"camouflage": {"percent": percent}})
    db = _open(tmp_path, 1, data=data.with_numbers("pay", pay), policy=policy)
    low, high = db.ask("SELECT AVG(pay) FROM data", user="u").value
    assert low <= pay.mean() <= high
    assert high - low < 100
    low, high = db.ask("SELECT MIN(pay) FROM data", user="u").value
    assert low <= pay.min() <= high
    assert high - low <= 200, "the cell of the least value is no wider than its band"


def test_values_outside_the_bands_are_refused(tmp_path: Path) -> None:
    policy = _policy(bounds={}, options={"camouflage": {"bands": {"pay": [0, 50]}}})
    with pytest.raises(DataError, match="outside the declared bands"):
        _open(tmp_path, 1, policy=policy)
    with pytest.raises(PlanError, match="bands names 'wage'"):
        _open(tmp_path, 1, policy=_policy(options={"camouflage": {"bands": {"wage": [0, 50]}}}))


@pytest.mark.parametrize("size", [1e-5, 1.0, 1e9, 1e20, 1e150, 1e300])
def test_values_of_any_size(tmp_path: Path, size: float) -> None:
    data = _data(24)
    pay = data.numbers(("pay",))[:, 0] * size
    db = _open(tmp_path, 1, data=data.with_numbers("pay", pay), policy=_policy(bounds={}))
    items = "SUM(pay), AVG(pay), MIN(pay), MAX(pay), MEDIAN(pay), QUANTILE(pay, 0.3)"
    row = db.ask(f"SELECT {items} FROM data", user="u").rows[0].values
    for (low, high), told in zip(
        row, [pay.sum(), pay.mean(), pay.min(), pay.max(), np.median(pay), np.quantile(pay, 0.3)], strict=True
    ):
        assert low <= told <= high
    spread = db.ask("SELECT VARIANCE(pay), STDDEV(pay) FROM data", user="u").rows[0].values
    scaled = (pay / size).std(ddof=1)
    assert spread[1][0] <= scaled * size <= spread[1][1]
    assert spread[0][0] <= int(scaled) ** 2 * int(max(size, 1)) ** 2 <= spread[0][1] or size < 1
    fit = db.ask("SELECT LINREG(pay, years) FROM data", user="u").value
    assert fit["coefficients"]["years"][0] <= fit["coefficients"]["years"][1]
