"""Column helpers: ids that stay the same in every format, and coded columns of the kind they had."""

import numpy as np
import polars as pl
import pytest

from reticent.frames.columns import decoded, frame_of, repeat_text, series, unique_ids


def test_whole_numbers_are_their_own_ids() -> None:
    found = unique_ids(pl.Series([3, -1, 7]))
    assert found is not None
    assert found.view(np.int64).tolist() == [3, -1, 7]


def test_texts_have_ids_that_depend_on_the_text_alone() -> None:
    first, second = unique_ids(pl.Series(["p", "q"])), unique_ids(pl.Series(["q", "r", "p"]))
    assert first is not None
    assert second is not None
    assert first[0] == second[2]
    assert first[1] == second[0]
    assert len(set(second.tolist())) == 3


@pytest.mark.parametrize("values", [["p", "p"], ["p", None], [1, 1], [1, None]])
def test_repeated_or_missing_ids_are_none(values: list[object]) -> None:
    assert unique_ids(pl.Series(values)) is None


def test_coded_values_come_back_as_texts_or_numbers() -> None:
    codes = np.array([1, -1, 0, 1], dtype=np.int32)
    texts = decoded("region", codes, ["N", "S"], pl.Series(["x"]))
    assert texts.name == "region"
    assert texts.cast(pl.String).to_list() == ["S", None, "N", "S"]
    whole = decoded("age", codes, ["30", "40"], pl.Series([1], dtype=pl.Int32))
    assert whole.dtype == pl.Int32
    assert whole.to_list() == [40, None, 30, 40]


def test_text_is_repeated_and_columns_make_a_frame() -> None:
    assert repeat_text("x", 3).to_list() == ["x"] * 3
    assert repeat_text(None, 2).to_list() == [None, None]
    assert repeat_text(None, 2).dtype == pl.String
    frame = frame_of([series(np.array([True, False])).alias("a"), pl.Series("b", [1, 2])])
    assert frame.names == ("a", "b")
    assert frame.n_records == 2
