"""What answers tell: a world agrees with the facts just if it gives the same answer."""

from collections.abc import Callable
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import polars as pl
import pytest

from fact_worlds import A, B, Record, counts_in, data_of, satisfied
from reticent.base.randomness import as_secret
from reticent.data.facts import COUNT, Facts
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Schema, Variable
from reticent.queries.canonical import Universe, Version
from reticent.queries.facts_left import DECLARED, facts_left
from reticent.queries.language import Query
from reticent.queries.modes import MODES, Cell, Mode, Request, Setting, mode_factory
from reticent.queries.parse import parse
from reticent.queries.policy import Bounds, Policy
from reticent.queries.refusals import RISK, Answer
from reticent.tabulation.ground import GroundedData, ground_of

PEOPLE: list[Record] = [("a1", "b1", 1), ("a1", "b2", 3), ("a2", "b1", 4), ("a2", "b1", 0)]


@cache
def _setting(mode: str) -> tuple[GroundedData, Setting]:
    data, grounded = data_of(PEOPLE)
    policy = Policy(
        mode=mode,
        test=mode == "open",
        filters=("a", "b"),
        responses=("v",),
        minimum=1,
        bounds={"v": Bounds(0, 4, True)},
    )
    universe = Universe((Version("v1", data, policy),), policy, as_secret(3))
    return grounded, Setting(universe, policy, as_secret(4))


def _asked(mode_name: str, text: str, wheres: list[tuple[str | None, ...]] | None = None) -> tuple[Mode, Request]:
    _, setting = _setting(mode_name)
    query = parse(text, setting.policy.limits)
    assert isinstance(query, Query), query
    here = setting.universe.current
    cells = []
    for group in wheres or [()]:
        mask = here.select(query.where)
        for name, label in zip(query.by, group, strict=True):
            if label is not None:
                mask = mask & (here.codes[name] == here.levels[name].texts.index(label))
        cells.append(Cell(group, setting.universe.record_set(mask)))
    return mode_factory(mode_name)(setting), Request(query, tuple(cells), "analyst")


def _told(mode_name: str, text: str, groups: list[tuple[str | None, ...]] | None = None) -> tuple[Facts, Answer]:
    grounded, setting = _setting(mode_name)
    mode, request = _asked(mode_name, text, groups)
    answer = mode.decide(request).result
    assert isinstance(answer, Answer)
    return facts_left(grounded, setting.universe, mode, request, answer, release="answer 1"), answer


CONDITIONS: list[tuple[str, Callable[[Record], bool]]] = [
    ("a = 'a1'", lambda r: r[0] == "a1"),
    ("a IN ('a1', 'a3') AND NOT b = 'b1'", lambda r: r[0] in ("a1", "a3") and r[1] != "b1"),
    ("a = 'a3' OR b = 'b2'", lambda r: r[0] == "a3" or r[1] == "b2"),
]


@pytest.mark.parametrize("mode", ["open", "simulatable", "camouflage"])
@pytest.mark.parametrize(("where", "holds"), CONDITIONS)
def test_a_count_is_one_equation_over_all_atoms(mode: str, where: str, holds: Callable[[Record], bool]) -> None:
    facts, answer = _told(mode, f"SELECT COUNT(*) FROM data WHERE {where}")
    assert facts.certified
    grounded, _ = _setting("open")
    for size in range(5):
        for world in combinations_with_replacement(list(product(A, B)), size):
            same = sum(map(holds, world)) == answer.value
            assert satisfied(facts, {COUNT: counts_in(grounded, world)}) == same


def _sums(where: Callable[[Record], bool]) -> Callable[[tuple[int, ...]], int]:
    inside = [where(record) for record in PEOPLE]
    return lambda values: sum(value for value, there in zip(values, inside, strict=True) if there)


@pytest.mark.parametrize(("where", "holds"), CONDITIONS[:2])
@pytest.mark.parametrize("statistic", ["SUM(v)", "AVG(v)", "SUM(v), AVG(v)"])
def test_sums_and_means_tell_sums(statistic: str, where: str, holds: Callable[[Record], bool]) -> None:
    facts, _ = _told("open", f"SELECT {statistic} FROM data WHERE {where}")
    assert facts.certified
    total = _sums(holds)
    true = total(tuple(record[2] for record in PEOPLE))
    for values in product(range(5), repeat=len(PEOPLE)):
        assert satisfied(facts, {"v": np.array(values)}) == (total(values) == true)


@pytest.mark.parametrize("mode", ["open", "exact", "simulatable", "camouflage"])
@pytest.mark.parametrize("text", ["SUM(v)", "MAX(v)", "MEDIAN(v)"])
@pytest.mark.parametrize(("where", "holds"), CONDITIONS)
def test_an_answer_that_needs_somebody_tells_of_counts_just_that(
    mode: str, text: str, where: str, holds: Callable[[Record], bool]
) -> None:
    if mode in ("exact", "simulatable") and text != "SUM(v)":
        return  # they do not answer it, or not over so few
    facts, _ = _told(mode, f"SELECT {text} FROM data WHERE {where}")
    grounded, _ = _setting("open")
    for size in range(4):
        for world in combinations_with_replacement(list(product(A, B)), size):
            assert satisfied(facts, {COUNT: counts_in(grounded, world)}) == any(map(holds, world))


def test_a_sum_of_0_tells_of_nobody_where_empty_sets_are_answered() -> None:
    """The mode `open` says 0 of an empty set too."""
    grounded, setting = _setting("open")
    data, other = data_of([("a1", "b1", 0), ("a2", "b1", 2)])
    universe = Universe((Version("v1", data, setting.policy),), setting.policy, as_secret(3))
    own = Setting(universe, setting.policy, as_secret(4))
    query = parse("SELECT SUM(v) FROM data WHERE a = 'a1'", own.policy.limits)
    assert isinstance(query, Query)
    request = Request(query, (Cell((), universe.record_set(universe.current.select(query.where))),), "analyst")
    answer = mode_factory("open")(own).decide(request).result
    assert isinstance(answer, Answer)
    told = facts_left(other, universe, mode_factory("open")(own), request, answer, release="answer 1")
    assert satisfied(told, {COUNT: np.zeros(grounded.ground.n_atoms, dtype=np.int64)})


def test_groups_and_totals_tell_each_of_their_values() -> None:
    groups: list[tuple[str | None, ...]] = [("a1",), ("a2",), ("a3",), (None,)]
    facts, _ = _told("open", "SELECT COUNT(*), SUM(v) FROM data GROUP BY a WITH TOTALS", groups)
    grounded, _ = _setting("open")
    shown = {group: sum(group[0] in (None, r[0]) for r in PEOPLE) for group in groups}
    for size in range(3, 6):
        for world in combinations_with_replacement(list(product(A, B)), size):
            same = all(sum(group[0] in (None, r[0]) for r in world) == n for group, n in shown.items())
            assert satisfied(facts, {COUNT: counts_in(grounded, world)}) == same


@pytest.mark.parametrize("text", ["VARIANCE(v)", "MAX(v)", "MEDIAN(v)"])
def test_moments_and_orders_are_not_certified_and_true(text: str) -> None:
    facts, _ = _told("open", f"SELECT {text} FROM data")
    grounded, _ = _setting("open")
    assert not facts.certified
    assert facts.beyond
    assert satisfied(facts, {COUNT: grounded.counts, "v": grounded.whole("v")})


def test_camouflage_tells_its_hull() -> None:
    facts, _ = _told("camouflage", "SELECT SUM(v) FROM data WHERE a = 'a1'")
    assert facts.certified
    grounded, setting = _setting("camouflage")
    mode: Any = mode_factory("camouflage")(setting)
    placed = mode.hulls["v"]
    assert satisfied(facts, {"v": grounded.whole("v")})
    for values in product(range(5), repeat=len(PEOPLE)):
        own = [float(value / placed.hull.half) for value in values]
        rows = placed.positions.tolist()
        inside = all(placed.hull.low[r] <= x <= placed.hull.high[r] for r, x in zip(rows, own, strict=True))
        for block in set(placed.hull.block[placed.hull.block >= 0].tolist()):
            total = sum(x for r, x in zip(rows, own, strict=True) if placed.hull.block[r] == block)
            inside &= bool(placed.hull.least_total[block] <= total <= placed.hull.most_total[block])
        assert satisfied(facts, {"v": np.array(values)}) == inside


def test_noisy_counts_tell_what_the_noise_can_come_from() -> None:
    facts, answer = _told("cell-key", "SELECT COUNT(*) FROM data")
    grounded, setting = _setting("cell-key")
    mode: Any = mode_factory("cell-key")(setting)
    table = mode.options.tables()[0]
    for size in range(9):
        row = table.rows[min(size, len(table.rows) - 1)]
        chances = dict(zip((size + row.changes).astype(int).tolist(), row.chances.tolist(), strict=True))
        counts = np.zeros(grounded.ground.n_atoms, dtype=np.int64)
        counts[0] = size
        may = chances.get(answer.value, 0.0) > 0
        assert satisfied(facts, {COUNT: counts}) or not may
    assert not facts.certified, "the same records get the same noise, which no interval says"


def test_a_refusal_tells_nothing() -> None:
    grounded, setting = _setting("open")
    mode, request = _asked("open", "SELECT SUM(v) FROM data")
    facts = facts_left(grounded, setting.universe, mode, request, RISK, release="answer 1")
    assert facts.certified
    assert not facts.facts


def test_every_mode_has_a_declaration() -> None:
    """A mode that is added without one fails here."""
    assert set(DECLARED) == set(MODES)


ASKED = {
    "SELECT COUNT(*) FROM data WHERE age >= 30 AND dept <> 'c'": True,
    "SELECT COUNT(pay) FROM data WHERE age < 40": True,
    "SELECT SUM(pay), AVG(hours) FROM data WHERE yrs > 3 OR dept = 'd'": True,
    "SELECT SUM(yrs) FROM data WHERE dept = 'a'": True,
    "SELECT SUM(pay) / SUM(hours) FROM data": True,
    "SELECT LINREG(pay, yrs) FROM data": False,
    "SELECT LINREG(hours, dept, yrs) FROM data": False,
    "SELECT CORR(pay, hours) FROM data": False,
    "SELECT MIN(hours) FROM data WHERE dept = 'b'": False,
}


def _of_an_open_database(text: str, data: Microdata, policy: Policy, grounded: GroundedData) -> Facts:
    universe = Universe((Version("1", data, policy),), policy, as_secret(2))
    mode = mode_factory("open")(Setting(universe, policy, as_secret(3)))
    query = parse(text, policy.limits)
    assert isinstance(query, Query), query
    request = Request(query, (Cell((), universe.record_set(universe.current.select(query.where))),), "analyst")
    facts = facts_left(grounded, universe, mode, request, mode.decide(request).result, release="answer 1")
    facts.check(grounded.ground)
    return facts


@pytest.mark.parametrize(("text", "certified"), ASKED.items())
def test_facts_of_all_statistics_are_true(text: str, certified: bool) -> None:
    """Filters with numbers and cutpoints, missing values, decimals, a code that nobody has."""
    rng = np.random.default_rng(1)
    columns = {
        "dept": rng.choice(["a", "b", "c"], 60),
        "age": rng.integers(20, 60, 60),
        "yrs": rng.integers(0, 9, 60),
        "pay": [None if value < 3 else int(value) for value in rng.integers(0, 90, 60)],
        "hours": rng.integers(1, 40, 60) / 2,
    }
    numeric = [Variable(name, kind=Kind.NUMERIC) for name in ("age", "yrs", "pay", "hours")]
    data = Microdata.of(pl.DataFrame(columns), Schema((Variable("dept", codes=("a", "b", "c", "d")), *numeric)))
    grounded = ground_of(data, ("dept", "age", "yrs"), responses=("pay", "hours"))
    policy = Policy(
        mode="open", test=True, filters=("dept", "age", "yrs"), responses=("pay", "hours"), minimum=1,
        cutpoints={"age": (30.0, 40.0)},
    )  # fmt: skip
    facts = _of_an_open_database(text, data, policy, grounded)
    assert facts.facts
    assert facts.certified == certified
    assert satisfied(facts, {COUNT: grounded.counts, **grounded.values})


@pytest.mark.parametrize("text", ["SELECT LINREG(v, a, b) FROM data", "SELECT KM(a, v) FROM data"])
def test_codes_of_regressions_and_times_of_life_tables_are_counted(text: str) -> None:
    """Their standard errors and steps tell how many records have each code; the joint verdict must know it."""
    records: list[Record] = [(a, b, v) for a in A[:2] for b in B for v in (0, 1, 1)]
    data, grounded = data_of(records)
    policy = Policy(mode="open", test=True, filters=("a", "b"), responses=("v",), minimum=1)
    facts = _of_an_open_database(text, data, policy, grounded)
    other = records[:-1] + [(A[0], B[0], records[-1][2])]  # somebody has moved: the number of all is the same
    assert satisfied(facts, {COUNT: grounded.counts, **grounded.values})
    assert not satisfied(facts, {COUNT: counts_in(grounded, other), **grounded.values})
