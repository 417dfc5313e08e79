"""What could be released instead, in words and as plain data: nothing is offered where nothing was found."""

import json

import pytest

from reticent.history.instead import WIDTHS, Coarser, Instead, Interval
from reticent.history.remembered import AlsoHidden, named

HIDE = tuple(AlsoHidden(0, ("A", str(number))) for number in range(3))
BETWEEN = Interval(1, ("A", "z"), 10.0, 20.5)


def test_nothing_found_is_no_sentence() -> None:
    assert Instead().sentence() == ""
    assert Instead().summary() == {"hide": [], "intervals": [], "coarser": []}


@pytest.mark.parametrize(("found", "words"), [
    (Instead(HIDE), "the same with A × 0, A × 1, A × 2 hidden in addition (say memory = true in [ledger])"),
    (Instead(intervals=(BETWEEN,)), "of these cells that A × z between 10 and 20.5"),
    (Instead(coarser=(Coarser("size", 1), Coarser("region", None))), "with size at level 1 or without region"),
])  # fmt: skip
def test_each_offer_is_said(found: Instead, words: str) -> None:
    said = found.sentence()
    assert said.startswith("Instead could be released: ")
    assert words in said
    assert said.endswith(".")


def test_several_offers_are_one_sentence() -> None:
    said = Instead(HIDE, (BETWEEN,), (Coarser("size", None),)).sentence()
    assert said.count(";") == 2
    assert said.count("Instead") == 1


def test_long_lists_are_cut_with_their_number() -> None:
    words = [f"cell {number}" for number in range(40)]
    assert named(words[:2]) == "cell 0, cell 1"
    assert named(words).endswith("more")
    assert "cell 39" not in named(words)


def test_plain_data_count_tables_from_1() -> None:
    plain = json.loads(json.dumps(Instead(HIDE[:1], (BETWEEN,), (Coarser("size", 2),)).summary()))
    assert plain["hide"] == [{"table": 1, "cell": ["A", "0"]}]
    assert plain["intervals"] == [{"table": 2, "cell": ["A", "z"], "low": 10.0, "high": 20.5}]
    assert plain["coarser"] == [{"variable": "size", "level": 2}]


def test_widths_of_intervals_are_round_numbers_that_rise() -> None:
    assert WIDTHS[:6] == (1, 2, 5, 10, 20, 50)
    assert list(WIDTHS) == sorted(set(WIDTHS))
