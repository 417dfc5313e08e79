"""Attacks on promises of protected databases, made from answers alone: equal sets, groups that occur, new versions."""

from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import PlanError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.ledger.chain import LedgerError
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Bounds, Policy
from reticent.queries.refusals import RISK, Answer, Refusal


def microdata(columns: dict[str, list[object]], codes: dict[str, tuple[str, ...]], roles: dict[str, Role]) -> Microdata:
    """Coded filters, variables with a role of their own, and sensitive numbers (all others)."""
    variables = []
    for name in columns:
        if name in codes:
            variables.append(Variable(name, codes=codes[name]))
        elif name in roles:
            variables.append(Variable(name, role=roles[name]))
        else:
            variables.append(Variable(name, role=Role.SENSITIVE, kind=Kind.NUMERIC))
    return Microdata.of(pl.DataFrame(columns), Schema(tuple(variables)))


def opened(data: Microdata, policy: Policy, ledger: Path, **more: object) -> ProtectedDatabase:
    """A database with the secret of all tests here."""
    return ProtectedDatabase(data, policy=policy, secret=1, test_secret=True, ledger=ledger, **more)  # type: ignore[arg-type]


PRIVATE = {"private": {"total": 5.0, "epsilon": 0.1}}


def ill(target: str) -> Microdata:
    """Eleven persons of region a, one of whom is 99."""
    columns: dict[str, list[object]] = {
        "region": ["a"] * 11, "age": ["30"] * 10 + ["99"], "ill": ["no"] * 10 + [target], "x": [1.0] * 11,
    }  # fmt: skip
    return microdata(columns, {"region": ("a", "b"), "age": ("30", "99"), "ill": ("no", "yes")}, {})


@pytest.mark.parametrize("target", ["no", "yes"])
def test_private_answers_do_not_tell_whether_two_conditions_select_the_same(target: str, tmp_path: Path) -> None:
    """Who compares prices (the note) or values of two queries learned whether a cell is empty, at any epsilon."""
    policy = Policy(filters=("region", "age", "ill"), responses=("x",), mode="private", bounds={"x": Bounds(0, 1)},
                    options=PRIVATE)  # fmt: skip
    db = opened(ill(target), policy, tmp_path / "l")
    first = db.ask("SELECT COUNT(*) FROM data WHERE region = 'a'", user="u")
    other = db.ask("SELECT COUNT(*) FROM data WHERE region = 'a' AND NOT (age = '99' AND ill = 'yes')", user="u")
    assert isinstance(first, Answer)
    assert isinstance(other, Answer)
    assert other.notes == first.notes != ()
    assert db.ask("SELECT COUNT(*), COUNT(*) FROM data WHERE region = 'b'", user="u").notes  # type: ignore[union-attr]
    assert db.ask("SELECT COUNT(*) FROM data WHERE region = 'b' AND ill = 'no'", user="u").notes  # type: ignore[union-attr]


def test_private_answers_are_repeated_for_the_same_condition(tmp_path: Path) -> None:
    """Order, brackets and repetition of parts cost nothing, before and after a restart; other conditions do."""
    policy = Policy(filters=("region", "age", "ill"), responses=("x",), mode="private", bounds={"x": Bounds(0, 1)},
                    options=PRIVATE)  # fmt: skip
    db = opened(ill("no"), policy, tmp_path / "l")
    one = db.ask("SELECT COUNT(*) FROM data WHERE region = 'a' AND age IN ('99', '30')", user="u")
    db.close()
    db = opened(ill("no"), policy, tmp_path / "l")
    same = db.ask("SELECT COUNT(*) FROM data WHERE NOT NOT (age IN ('30', '99') AND (region = 'a' AND region IN ('a')))",
                  user="v")  # fmt: skip
    assert isinstance(one, Answer)
    assert isinstance(same, Answer)
    assert same == one
    assert [row["remember"] for row in db.history()] == [{"spent": 0.1}, {"repeated": True}]


@pytest.mark.parametrize("mode", ["private", "cell-key", "exact"])
def test_groups_of_a_coded_number_do_not_tell_which_codes_occur(mode: str, tmp_path: Path) -> None:
    """A group without a record was left out, so that its appearance told that somebody is there."""
    codes = tuple("1234")
    schema = Schema((Variable("rooms", kind=Kind.NUMERIC, codes=codes),
                     Variable("x", role=Role.SENSITIVE, kind=Kind.NUMERIC)))  # fmt: skip
    for number, more in enumerate(([], [3.0])):
        rooms = [1.0] * 10 + [2.0] * 10 + [4.0] * 10 + more
        data = Microdata.of(pl.DataFrame({"rooms": rooms, "x": [float(i) for i in range(len(rooms))]}), schema)
        policy = Policy(filters=("rooms",), responses=("x",), mode=mode, bounds={"x": Bounds(0, 100)},
                        options=PRIVATE if mode == "private" else {})  # fmt: skip
        db = opened(data, policy, tmp_path / f"l{number}")
        answer = db.ask("SELECT COUNT(*) FROM data GROUP BY rooms", user="u")
        assert isinstance(answer, Answer)
        assert [row.group for row in answer.rows] == [(code,) for code in codes]
        if mode == "private":
            assert db.history()[-1]["remember"] == {"spent": 0.4}


def paid(bonus: bool, *, changed: bool, more: bool = False) -> Microdata:
    """Sixty persons in three groups; `bonus` is a tenth more than `pay`, with `changed` only roughly."""
    rng = np.random.default_rng(5)
    pay = rng.integers(20_000, 90_000, 60).astype(float)
    extra = np.round(pay * 1.1, 2)
    extra += rng.integers(-9_000, 9_000, 60) * changed
    sex = np.array(["m"] * 60)
    sex[[59, 3, 4, 5, 6, 7, 32, 33, 34, 35]] = "f"
    columns: dict[str, list[object]] = {
        "group": [*["r"] * 30, *["b"] * 15, *["c"] * 15, *["r"] * more],
        "sex": [*sex.tolist(), *["m"] * more],
        "pay": [*pay.tolist(), *[50_000.0] * more],
        "id": [f"i{i}" for i in range(60 + more)],
    }
    if bonus:
        columns["bonus"] = [*extra.tolist(), *[55_000.0] * more]
    return microdata(columns, {"group": ("r", "b", "c"), "sex": ("m", "f")}, {"id": Role.IDENTIFIER})


ALL_BUT_ONE = "SELECT SUM(pay) FROM data WHERE group = 'c' AND sex = 'm'"


@pytest.mark.parametrize("how", ["response", "version"])
def test_answers_stay_facts_when_ties_come_up(how: str, tmp_path: Path) -> None:
    """Sums of a regression were found again by their place, which ties moved: the total of group c was forgotten."""
    both = Policy(filters=("group", "sex"), responses=("pay", "bonus"))
    first = paid(True, changed=how == "version")
    policy = both if how == "version" else Policy(filters=("group", "sex"), responses=("pay",))
    db = opened(first, policy, tmp_path / "l")
    assert isinstance(db.ask("SELECT LINREG(pay, group) FROM data", user="u"), Answer)
    db.close()
    if how == "version":
        later = paid(True, changed=False, more=True)
        db = opened(later, both, tmp_path / "l", version="2", earlier=[("1", first)])
    else:
        db = opened(first, both, tmp_path / "l")
    for response in ("pay", "bonus") if how == "response" else ("pay",):
        assert isinstance(db.ask(ALL_BUT_ONE.replace("pay", response), user="u"), Refusal)


def test_a_tie_that_is_taken_away_closes_the_data_set(tmp_path: Path) -> None:
    """What an answer told about a tied response is never dropped."""
    rng = np.random.default_rng(8)  # two responses that have nothing to do with each other
    columns: dict[str, list[object]] = {
        "group": ["r"] * 30 + ["b"] * 30,
        "sex": ["m", "f"] * 30,
        "pay": rng.integers(20_000, 90_000, 60).astype(float).tolist(),
        "bonus": rng.integers(100, 9_000, 60).astype(float).tolist(),
    }
    data = microdata(columns, {"group": ("r", "b"), "sex": ("m", "f")}, {})
    names = {"filters": ("group", "sex"), "responses": ("pay", "bonus")}
    db = opened(data, Policy(**names, tied=(("pay", "bonus"),)), tmp_path / "l")  # type: ignore[arg-type]
    assert isinstance(db.ask("SELECT SUM(pay) FROM data", user="u"), Answer)
    db.close()
    with pytest.raises(LedgerError, match="stays closed"):
        opened(data, Policy(**names), tmp_path / "l")  # type: ignore[arg-type]


def grouped(version: int) -> Microdata:
    """Twelve groups of 22, the first three persons of group 0 being the target; each version has one record more."""
    names = tuple(f"g{k}" for k in range(12))
    n = 12 * 22 + version
    columns: dict[str, list[object]] = {
        "group": [names[min(i // 22, 11)] for i in range(n)],
        "target": ["yes" if i < 3 else "no" for i in range(n)],
        "x": [float(i % 2) for i in range(n)],
        "id": [f"i{i}" for i in range(n)],
    }
    return microdata(columns, {"group": names, "target": ("no", "yes")}, {"id": Role.IDENTIFIER})


def test_a_new_version_is_no_new_chance_for_near_pairs(tmp_path: Path) -> None:
    """Each version allowed four more measurements of the same three persons, to be averaged."""
    policy = Policy(filters=("group", "target"), responses=("x",), mode="analysis",
                    options={"analysis": {"strata": [], "pairs": 4}})  # fmt: skip
    pads = iter(combinations([f"g{k}" for k in range(1, 11)], 6))
    earlier: list[tuple[str, Microdata]] = []
    pairs = []
    for version in range(3):
        data = grouped(version)
        db = opened(data, policy, tmp_path / "l", version=str(version), earlier=earlier)
        measured = 0
        for _ in range(6):
            pad = "', '".join(next(pads))
            conditions = f"group IN ('g0', '{pad}')", f"group IN ('{pad}') OR (group = 'g0' AND target = 'no')"
            asked = [db.ask(f"SELECT SUM(x) FROM data WHERE {condition}", user="u") for condition in conditions]
            measured += all(isinstance(answer, Answer) for answer in asked)
        pairs.append(measured)
        earlier.append((str(version), data))
        db.close()
    assert pairs == [4, 0, 0]


@pytest.mark.parametrize("named_later", [False, True])
def test_a_record_without_a_respondent_is_the_same_in_another_version(named_later: bool, tmp_path: Path) -> None:
    """Such a record was named by its place: moved, its change stood for two respondents and was the difference of two sums."""
    data = []
    for order, change, name in ((1, 0.0, None), (-1, 17.0, "e0" if named_later else None)):
        columns: dict[str, list[object]] = {
            "group": ["a"] * 12,
            "x": [100.0 + change, *(100.0 + i * i % 50 for i in range(1, 12))][::order],
            "id": [f"i{i}" for i in range(12)][::order],
            "who": [name, *(f"e{i}" for i in range(1, 12))][::order],
        }
        roles = {"id": Role.IDENTIFIER, "who": Role.ENTITY}
        data.append(microdata(columns, {"group": ("a",)}, roles))
    policy = Policy(filters=("group",), responses=("x",), minimum=2)
    db = opened(data[0], policy, tmp_path / "l")
    assert isinstance(db.ask("SELECT SUM(x) FROM data", user="u"), Answer)
    db.close()
    db = opened(data[1], policy, tmp_path / "l", version="2", earlier=[("1", data[0])])
    assert isinstance(db.ask("SELECT SUM(x) FROM data", user="u"), Refusal)


def test_codes_of_refusals_do_not_tell_whether_an_event_is_one(tmp_path: Path) -> None:
    """Of what depends on values the code is RISK, in the same words as ever."""
    schema = Schema((Variable("t", kind=Kind.ORDINAL, codes=tuple("123")),
                     Variable("e", role=Role.SENSITIVE, kind=Kind.NUMERIC)))  # fmt: skip
    data = Microdata.of(pl.DataFrame({"t": ["1", "2", "3"] * 8, "e": [0.0, 1.0] * 11 + [0.0, 5.0]}), schema)
    db = opened(data, Policy(filters=("t",), responses=("e",)), tmp_path / "l")
    assert db.ask("SELECT KM(t, e) FROM data", user="u") == RISK


def test_bounds_whose_sums_could_overflow_are_refused_in_private(tmp_path: Path) -> None:
    """A sum that is infinite would reveal that several values are near the bound, at any epsilon."""
    policy = Policy(
        filters=("region",), responses=("x",), mode="private", bounds={"x": Bounds(0, 1e300)}, options=PRIVATE
    )
    with pytest.raises(PlanError, match="the bounds of 'x' are too large for noise"):
        opened(ill("no"), policy, tmp_path / "l")
