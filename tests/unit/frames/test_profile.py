"""Facts about columns that guesses are made from: empty values, codes for missing, numbers, hierarchies of digits."""

import polars as pl
import pytest

from reticent.frames.frame import Frame
from reticent.frames.profile import (
    Profile,
    constant_within,
    distinct_rows,
    frequent_values,
    group_sizes,
    profile,
)


def seen(values: list[object], missing: tuple[str, ...] = ()) -> Profile:
    return profile(Frame(pl.DataFrame({"v": values})), "v", missing=missing)


def test_numbers_and_whole_numbers() -> None:
    assert (seen([1, 2, 3]).is_number, seen([1, 2, 3]).is_whole) == (True, True)
    assert (seen(["1,5", "2,5"]).is_number, seen(["1,5", "2,5"]).is_whole) == (True, False)
    assert not seen(["1", "b"]).is_number
    assert not seen([None, None]).is_number
    assert seen([1, 2]).positive
    assert not seen([0, 2]).positive


def test_empty_values_and_blanks_are_one() -> None:
    found = seen(["a", "", "  ", None, "b"])
    assert (found.n_empty, found.n_present, found.n_distinct) == (3, 2, 2)
    assert not found.unique


@pytest.mark.parametrize("word", ["NA", "n/a", ".", "?", "Unknown"])
def test_words_for_missing_are_no_codes(word: str) -> None:
    found = seen(["1", "2", word, "3"])
    assert found.missing_codes == (word,)
    assert found.n_missing_codes == 1
    assert found.is_number


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([20, 31, 45, 99, 99], ("99",)),
        ([20, 31, 45, 99], ()),  # one 99 may be an age
        ([96, 97, 98, 99, 99], ()),  # no gap
        ([1, 2, 3, 999, 999], ("999",)),
        ([5, 7, 9, -9, -9], ("-9",)),
        ([5, 7, -50, -9], ()),  # negative values are values
        ([99, 99], ()),  # nothing else to tell it from
    ],
)
def test_nines_above_a_gap_and_small_negative_codes(values: list[int], codes: tuple[str, ...]) -> None:
    found = seen(list(values))
    assert found.missing_codes == codes
    assert found.n_missing_codes == sum(str(value) in codes for value in values)


def test_declared_codes_stop_the_guessing() -> None:
    found = seen([1, 2, 99, 99, 8], missing=("8",))
    assert found.missing_codes == ("8",)
    assert found.n_missing_codes == 1
    assert seen([1.0, 8.0], missing=("8",)).n_missing_codes == 1, "8.0 is the code 8"


def test_codes_of_digits_and_ranges() -> None:
    assert seen(["011", "012", "021"]).prefixes == (1, 2, 3)
    assert seen(["011", "12"]).prefixes == ()
    assert seen(["011", "012"]).leading_zeros
    assert not seen([11, 12]).leading_zeros
    assert seen(["0-9", "10 to 19", "20+"]).ranges
    assert not seen(["0-9", "old"]).ranges


def test_uniqueness_needs_two_records() -> None:
    assert seen(["a", "b"]).unique
    assert not seen(["a"]).unique
    assert not seen(["a", "a"]).unique


def test_groups_of_a_frame() -> None:
    frame = Frame(
        pl.DataFrame({"h": [1, 1, 2, 2], "r": ["n", "n", "s", "s"], "a": [3, 4, 5, 5], "m": [None, None, 1, None]})
    )
    assert constant_within(frame, ("r", "a", "m"), "h") == ("r",)
    assert group_sizes(frame, "h") == (2, 2)
    assert distinct_rows(frame, ("r", "h")) == [("n", "1"), ("s", "2")]
    assert frequent_values(frame, "a", 1) == ("5",)
    assert frequent_values(frame, "m", 5) == ("1",)
