"""Recodings as lines: ranges compare as ARGUS compares codes, a later line wins, and missing codes stay missing."""

import pytest

from reticent.base.errors import DataError, PlanError, ReticentError
from reticent.data.recoding import Recoding, RecodingRule, parse_rules

AGES = ["7", "9", "10", "20", "21", "99", "100"]


@pytest.mark.parametrize(("lines", "image"), [
    (["1: -20"], {"7": "1", "9": "1", "10": "1", "20": "1"}),
    (["2: 21-"], {"21": "2", "99": "2", "100": "2"}),
    (["3: 9-20"], {"9": "3", "10": "3", "20": "3"}),
    (["4: 7, 100"], {"7": "4", "100": "4"}),
    (["5: 7-9, 21"], {"7": "5", "9": "5", "21": "5"}),
])  # fmt: skip
def test_ranges_are_closed_and_9_comes_before_10(lines: list[str], image: dict[str, str]) -> None:
    assert parse_rules(lines).image(AGES) == image


def test_a_later_line_wins() -> None:
    assert parse_rules(["1: 7-100", "2: 20"]).image(["7", "20"]) == {"7": "1", "20": "2"}


def test_codes_that_no_line_names_are_untouched() -> None:
    recoding = parse_rules(["1: -20"])
    assert recoding.untouched(AGES, missing=["99"]) == ("21", "100")


def test_texts_are_compared_as_texts() -> None:
    assert parse_rules(["west: a-c"]).image(["a", "b", "d", "B"]) == {"a": "west", "b": "west"}


def test_missing_codes_are_left_out_and_may_not_become_valid() -> None:
    assert parse_rules(["1: 90-"]).image(["95", "99"], missing=("99",)) == {"95": "1"}
    with pytest.raises(DataError, match="the missing code '99' would become the valid code '1'"):
        parse_rules(["1: 99"]).image(["99"], missing=("99",))
    kept = parse_rules(["9: 99", "<MISSING> 9"])
    assert kept.missing == ("9",)
    assert kept.image(["99", "5"], missing=("99",)) == {}


def test_lines_read_back() -> None:
    recoding = parse_rules(["1: -20", "2: 21-30, 99", "<MISSING> 8 9", '<CODELIST> "ages.cdl"'], owner="ages.grc")
    assert parse_rules(recoding.lines(), owner="ages.grc") == recoding
    assert recoding.code_list == "ages.cdl"
    assert recoding.owner == "ages.grc"


def test_comments_blank_lines_quotes_and_commas_between_missing_codes() -> None:
    text = '// ages\n\n1: "7", 9\n<missing> 8,9\n'
    recoding = parse_rules(text)
    assert recoding.rules == (RecodingRule("1", ("7", "9")),)
    assert recoding.missing == ("8", "9")


@pytest.mark.parametrize(("lines", "words"), [
    ([], "there is no rule"),
    (["// nothing"], "there is no rule"),
    (["1 20"], "line 1 must have the form"),
    ([": 20"], "it has no new code"),
    (["1: 20", "2: -"], "line 2 has a range without ends"),
    (["1: "], "names no old codes"),
    (["<TREE> a"], "unknown keyword <TREE>"),
])  # fmt: skip
def test_lines_that_are_none_are_said_with_their_number(lines: list[str], words: str) -> None:
    with pytest.raises(PlanError, match=words) as caught:
        parse_rules(lines, owner="ages.grc")
    assert str(caught.value).startswith("ages.grc: ")


def test_lines_or_closed_codes_not_both_and_not_neither() -> None:
    assert Recoding(closed=("A", "B")).is_tree
    for wrong in ({}, {"rules": (RecodingRule("1", ("2",)),), "closed": ("A",)}):
        with pytest.raises(ReticentError, match="Recoding: a recoding"):
            Recoding(**wrong)
