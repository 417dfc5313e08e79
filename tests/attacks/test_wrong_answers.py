"""Answers that were wrong in version 0.1.0 (its transcripts are fixtures, made as `query_scenarios` says)."""

from typing import Any

import polars as pl
import pytest

from attacks.query_scenarios import SCENARIOS, database, policy_of
from attacks.transcripts import stored, value_of
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.policy import Bounds


def ordinal_counts(transcript: list[dict[str, Any]]) -> list[int | None]:
    return [value_of(entry) for entry in transcript]


def test_a_code_that_nobody_has_keeps_its_place_in_the_order() -> None:
    """0.1.0 put it last: `<= 'mid'` gave everybody."""
    truth = [500, 500, 500, 500, 500, 1000]
    assert ordinal_counts(stored("ordinal_codes")["transcript"]) == [1000, 1000, None, None, None, 1000]
    assert ordinal_counts(SCENARIOS["ordinal_codes"]()["transcript"]) == truth


def test_survival_takes_events_and_ordered_times_only() -> None:
    """0.1.0 gave a share of survivors below 0, and put the times 9, 10, 11 in an order they do not have."""
    before = [value_of(entry) for entry in stored("survival")["transcript"]]
    assert min(before[0]["survival"].values()) < 0
    assert before[1] is not None
    spells, places, ended = SCENARIOS["survival"]()["transcript"]
    assert (spells["code"], places["code"]) == ("RISK", "NOT_ALLOWED")
    assert value_of(ended) == before[2]


def test_shares_and_numbers_that_agree_in_six_digits_are_kept_apart() -> None:
    """0.1.0 took one quantile for the other (its key had six digits) and lost labels of seven digits."""
    before = stored("near_shares")["transcript"]
    assert value_of(before[0]) == value_of(before[1])
    now = SCENARIOS["near_shares"]()["transcript"]
    assert value_of(now[0]) < value_of(now[1])
    assert [row["serial"] for row in now[2]["rows"]] == ["1234567", "1234568"]


PLACES = {"low": 0, "mid": 1, "high": 2, "top": 3}
TESTS = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__}


@pytest.mark.parametrize("there", [("low", "high"), ("high", "top"), ("low", "mid", "high", "top"), ("top",)])
@pytest.mark.parametrize("declared", ["codes", "hierarchy"])
def test_every_order_comparison_counts_by_the_code_list(there: tuple[str, ...], declared: str) -> None:
    from reticent.data.hierarchy import Hierarchy

    codes = tuple(PLACES)
    extra: dict[str, Any] = {"codes": codes}
    if declared == "hierarchy":
        extra = {"hierarchy": Hierarchy(("all", *codes), (-1, 0, 0, 0, 0))}
    schema = Schema(
        (
            Variable("level", role=Role.KEY, kind=Kind.ORDINAL, **extra),
            Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        )
    )
    table = pl.DataFrame({"level": [*there] * 20, "pay": range(20 * len(there))})
    db = database(table, schema, policy_of(mode="open", filters=("level",), responses=("pay",)))
    for code, place in PLACES.items():
        for sign, test in TESTS.items():
            for negated in ("", "NOT "):
                found = db.ask(f"SELECT COUNT(*) FROM data WHERE {negated}level {sign} '{code}'", user="u")
                wanted = sum(20 for c in there if test(PLACES[c], place) != bool(negated))
                assert found.value == wanted, (there, code, sign, negated)  # type: ignore[union-attr]


def test_codes_without_a_place_are_neither_below_nor_above() -> None:
    """A code that its list lacks is unknown to an order comparison, also under NOT; a constant must be in the list."""
    schema = Schema(
        (
            Variable("level", role=Role.KEY, kind=Kind.ORDINAL, codes=("low", "high")),
            Variable("grade", role=Role.KEY, kind=Kind.ORDINAL),
            Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        )
    )
    table = pl.DataFrame(
        {"level": ["low", "high", "odd"] * 10, "grade": ["2", "10", "none"] * 10, "pay": list(range(30))}
    )
    db = database(table, schema, policy_of(mode="open", filters=("level", "grade"), responses=("pay",)))
    counts = {
        "level > 'low'": 10,
        "NOT level > 'low'": 10,
        "grade < 9": 10,
        "grade >= '9'": 10,
        "NOT grade < 9": 10,
    }
    for condition, count in counts.items():
        assert db.ask(f"SELECT COUNT(*) FROM data WHERE {condition}", user="u").value == count, condition  # type: ignore[union-attr]
    for condition in ("level <= 'odd'", "level <= 'nobody'", "grade <= 'none'", "grade <= 'zzz'"):
        assert db.ask(f"SELECT COUNT(*) FROM data WHERE {condition}", user="u").as_json()["code"] == "UNSUPPORTED"


def test_in_the_mode_simulatable_only_declared_bounds_make_an_event() -> None:
    schema = Schema(
        (
            Variable("year", role=Role.KEY, kind=Kind.ORDINAL, codes=("1", "2")),
            Variable("ended", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        )
    )
    table = pl.DataFrame({"year": ["1", "2"] * 20, "ended": [0, 1, 1, 0] * 10})
    plain = policy_of(mode="simulatable", filters=("year",), responses=("ended",))
    assert database(table, schema, plain).ask("SELECT KM(year, ended) FROM data", user="u").code == "NOT_ALLOWED"  # type: ignore[union-attr]
    bounds = {"ended": Bounds(0, 1, True)}
    declared = policy_of(mode="simulatable", filters=("year",), responses=("ended",), bounds=bounds)
    answer = database(table, schema, declared).ask("SELECT KM(year, ended) FROM data", user="u")
    assert answer.value["survival"] == {"1": 0.75, "2": 0.375}  # type: ignore[union-attr]
