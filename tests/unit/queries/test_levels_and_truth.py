"""The values of filters in their order, what comparisons select, three-valued truth, and names of written conditions."""

from itertools import product

import numpy as np
import polars as pl
import pytest

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.conditions import truth_of
from reticent.queries.language import And, Compare, Condition, Constant, In, IsMissing, Not, Or, Query, Statistic
from reticent.queries.levels import (
    CutpointError,
    Levels,
    OrderError,
    chosen_levels,
    comparable_levels,
    constant_text,
    encode,
)
from reticent.queries.policy import Policy
from reticent.queries.written import written_name

POLICY = Policy(cutpoints={"income": (10.0, 20.5)})


def data() -> Microdata:
    frame = pl.DataFrame(
        {
            "region": ["N", "S", None, "X"],
            "size": ["small", "huge", "middle", None],
            "grade": ["10", "9", "a", "2"],
            "age": [30.0, 5.5, None, 30.0],
            "income": [10.0, 9.0, 20.5, None],
        }
    )
    variables = (
        Variable("region", role=Role.KEY, codes=("S", "N", "W")),
        Variable("size", role=Role.KEY, kind=Kind.ORDINAL, codes=("small", "middle", "large")),
        Variable("grade", role=Role.KEY, kind=Kind.ORDINAL),
        Variable("age", role=Role.KEY, kind=Kind.NUMERIC),
        Variable("income", role=Role.KEY, kind=Kind.NUMERIC),
    )
    return Microdata.of(frame, Schema(variables))


def levels_of(name: str) -> tuple[list[int], Levels]:
    codes, levels = encode(data(), name, POLICY)
    return codes.tolist(), levels


def selected(levels: Levels, operator: str, value: str | float) -> list[str]:
    chosen = chosen_levels(Compare("x", operator, value), levels)
    assert not chosen[-1]  # a missing value is never selected
    return [text for text, there in zip(levels.texts, chosen, strict=False) if there]


@pytest.mark.parametrize(
    ("value", "text"), [("01", "01"), (3, "3"), (3.0, "3"), (-0.0, "0"), (0.1, "0.1"), (1e20, "100000000000000000000")]
)
def test_constants_are_written_as_codes_are(value: str | float, text: str) -> None:
    assert constant_text(value) == text


def test_listed_codes_come_first_whether_or_not_a_record_has_them() -> None:
    codes, levels = levels_of("region")
    assert levels.texts == ("S", "N", "W", "X")
    assert levels.shown == (0, 1, 2)  # X is in the records alone and is never shown
    assert codes == [1, 0, -1, 3]


def test_equality_on_codes() -> None:
    _, levels = levels_of("region")
    assert selected(levels, "=", "N") == ["N"]
    assert selected(levels, "<>", "N") == ["S", "W", "X"]
    assert selected(levels, "=", "nowhere") == []
    with pytest.raises(OrderError, match="have no order"):
        selected(levels, "<", "N")


def test_ordered_codes_compare_by_their_list() -> None:
    _, levels = levels_of("size")
    assert selected(levels, "<", "large") == ["small", "middle"]
    assert selected(levels, ">=", "middle") == ["middle", "large"]
    with pytest.raises(OrderError, match="no code 'huge' in its code list"):
        selected(levels, "<", "huge")  # only the list decides, never what records have
    there = comparable_levels(Compare("size", "<", "large"), levels)
    assert [text for text, known in zip(levels.texts, there, strict=False) if not known] == ["huge"]


def test_ordered_codes_without_a_list_compare_by_the_number_they_spell() -> None:
    _, levels = levels_of("grade")
    assert sorted(selected(levels, "<", 10)) == ["2", "9"]
    with pytest.raises(OrderError, match="no code list that gives its order"):
        selected(levels, "<", "a")


def test_numbers_compare_as_numbers() -> None:
    codes, levels = levels_of("age")
    assert levels.texts == ("5.5", "30")
    assert codes == [1, 0, -1, 1]
    assert selected(levels, ">", 6) == ["30"]
    assert selected(levels, "<=", 5.5) == ["5.5"]
    assert levels.shown == ()  # no code list: which ages occur is never shown
    with pytest.raises(OrderError, match="compare it with a number"):
        selected(levels, "=", "thirty")


def test_cutpoints_make_bins_that_can_be_taken_whole_only() -> None:
    codes, levels = levels_of("income")
    assert levels.texts == ("[-inf, 10)", "[10, 20.5)", "[20.5, inf)")
    assert codes == [1, 0, 2, -1]
    assert selected(levels, ">=", 10) == ["[10, 20.5)", "[20.5, inf)"]
    assert selected(levels, "<", 20.5) == ["[-inf, 10)", "[10, 20.5)"]
    for operator, value in ((">", 10), ("=", 10), (">=", 11), ("<=", 20.5)):
        with pytest.raises(CutpointError, match=r"one of its cutpoints: 10, 20\.5"):
            selected(levels, operator, value)


CODES = {"a": np.array([0, 1, -1], dtype=np.int32), "b": np.array([0, 0, 1], dtype=np.int32)}
LEVELS = {"a": Levels(("x", "y")), "b": Levels(("u", "v"))}


def truth(condition: Condition) -> list[bool | None]:
    true, false = truth_of(condition, CODES, LEVELS, 3)
    assert not (true & false).any()
    return [True if t else False if f else None for t, f in zip(true, false, strict=True)]


def test_a_comparison_with_a_missing_value_is_unknown() -> None:
    assert truth(Compare("a", "=", "x")) == [True, False, None]
    assert truth(Compare("a", "<>", "x")) == [False, True, None]
    assert truth(In("a", ("x", "y"))) == [True, True, None]
    assert truth(IsMissing("a")) == [False, False, True]
    assert truth(Constant(True)) == [True, True, True]


def three_valued(connective: type[And] | type[Or], parts: list[list[bool | None]]) -> list[bool | None]:
    strong = connective is Or
    out: list[bool | None] = []
    for values in zip(*parts, strict=True):
        out.append(strong if strong in values else None if None in values else not strong)
    return out


ATOMS: list[Condition] = [
    Compare("a", "=", "x"), In("b", ("v",)), IsMissing("a"), Constant(False), Not(Compare("a", "=", "y")),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), list(product(ATOMS, ATOMS)))
@pytest.mark.parametrize("connective", [And, Or])
def test_connectives_are_those_of_three_values(first: Condition, second: Condition, connective: type) -> None:
    expected = three_valued(connective, [truth(first), truth(second)])
    assert truth(connective((first, second))) == expected
    assert truth(Not(connective((first, second)))) == [None if v is None else not v for v in expected]


def name_of(condition: Condition) -> str:
    return written_name(Query((Statistic("count"),), where=condition), (), "v1")


A, B, C = Compare("a", "=", "x"), Compare("b", "<", 5), IsMissing("c")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (And((A, B)), And((B, A))),
        (And((A, A, B)), And((A, B))),
        (And((A, And((B, C)))), And((A, B, C))),
        (Or((A, Or((B, C)))), Or((C, B, A))),
        (Not(Not(A)), A),
        (And((A, Constant(True))), A),
        (Or((A, Constant(False))), A),
        (In("a", ("x",)), A),
        (In("a", ("x", "y", "x")), In("a", ("y", "x"))),
        (Compare("b", "<", 5.0), B),
    ],
)
def test_other_spellings_of_a_condition_have_the_same_name(one: Condition, other: Condition) -> None:
    assert name_of(one) == name_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (And((A, B)), Or((A, B))),
        (A, Not(A)),
        (Compare("b", "<", 5), Compare("b", "<=", 5)),
        (Compare("a", "=", "x"), Compare("a", "=", "y")),
        (IsMissing("a"), IsMissing("b")),
        (And((A, Constant(False))), A),
    ],
)
def test_other_conditions_have_other_names(one: Condition, other: Condition) -> None:
    assert name_of(one) != name_of(other)


def test_a_cell_is_the_condition_with_its_codes() -> None:
    by = Query((Statistic("count"),), where=B, by=("a",))
    asked = Query((Statistic("count"),), where=And((B, A)))
    assert written_name(by, ("x",), "v1") == written_name(asked, (), "v1")
    assert written_name(by, (None,), "v1") == written_name(Query((Statistic("count"),), where=B), (), "v1")
    assert written_name(by, ("x",), "v1") != written_name(by, ("x",), "v2")
