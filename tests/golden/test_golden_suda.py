"""SUDA as sdcMicro reports it (research/microdata-peers.md section 3, by row), and where it errs."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import DataError, ParameterError
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.microdata.risk.suda import suda

FIVE = ("urbrur", "roof", "walls", "water", "sex")
IHSN = {
    "residence": list("UUUURUUUUU"),
    "gender": list("FFFMFMFMFF"),
    "education": ["si", "si", "pi", "sc", "sc", "sc", "pc", "ps", "si", "si"],
    "labor": ["E", "E", "N", "E", "Un", "E", "N", "Un", "N", "N"],
}


def _file(columns: pl.DataFrame | dict[str, list[object]], keys: tuple[str, ...] = ()) -> Microdata:
    frame = pl.DataFrame(columns)
    roles = [Variable(n, role=Role.KEY if not keys or n in keys else Role.OTHER) for n in frame.columns]
    return Microdata.of(frame, Schema(tuple(roles)))


def test_rows_16_and_18_ihsn_example() -> None:
    result = suda(_file(IHSN))
    assert result.scores.tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    assert result.dis_scores[[2, 4, 6, 7]] == pytest.approx([0.0049868, 0.01138301, 0.0049868, 0.00916668], abs=5e-8)
    assert result.uniques.of_record(4) == (
        ("residence",),
        ("gender", "education"),
        ("gender", "labor"),
        ("education", "labor"),
    )


@pytest.mark.parametrize("order", ["abc", "cab", "bca", "cba"])
def test_row_19_contributions_in_any_column_order(order: str) -> None:
    columns = {"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]}
    result = suda(_file({name: columns[name] for name in order}))
    assert result.scores.tolist() == [2, 4, 2]
    assert result.key_contributions == pytest.approx({"a": 0.5, "b": 0.375, "c": 0.375})


def test_row_22_testdata2(shared_data: Path) -> None:
    data = _file(pl.read_csv(shared_data / "microdata/testdata2.csv"), FIVE)
    result = suda(data, FIVE)
    assert result.scores[0] == 2
    assert result.scores.sum() == 149


def test_no_pairs_is_said(shared_data: Path) -> None:
    """Peers 7.11: without exact pairs DIS-SUDA is 1 for all; the value is the formula's, the result warns."""
    seven = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")
    result = suda(_file(pl.read_csv(shared_data / "microdata/testdata2.csv"), seven), seven)
    assert result.no_pairs
    assert set(result.dis_scores[result.scores > 0].tolist()) == {1.0}
    assert "no pairs" in result.summary()


def test_ihsn_score_of_one_size() -> None:
    """(2^(M−s) − 1) s! (M−s)!/M! with M = 4: sizes 1 and 2 score 7/4 and 1/2."""
    result = suda(_file(IHSN), score="ihsn")
    assert result.scores[[2, 4, 7]] == pytest.approx([7 / 4, 7 / 4 + 3 * 3 / 6, 7 / 4 + 2 * 3 / 6])


def test_size_limit_keeps_the_small_ones() -> None:
    full, short = suda(_file(IHSN)), suda(_file(IHSN), max_size=1)
    assert len(short.uniques) == full.counts_by_size[1]
    assert short.scores.tolist() == [0, 0, 1, 0, 1, 0, 1, 1, 0, 0]


def test_a_key_with_one_value_and_an_all_missing_key_change_nothing_but_the_number_of_keys() -> None:
    wide = _file({**IHSN, "same": ["x"] * 10, "gone": [None] * 10})
    assert (suda(wide).scores > 0).tolist() == (suda(_file(IHSN)).scores > 0).tolist()
    assert np.array_equal(np.unique(suda(wide).uniques.mask), np.unique(suda(_file(IHSN)).uniques.mask))


def test_bad_input_is_one_sentence() -> None:
    with pytest.raises(ParameterError, match="max_size must be a whole number from 1 to 4"):
        suda(_file(IHSN), max_size=5)
    with pytest.raises(ParameterError, match="sampling_fraction"):
        suda(_file(IHSN), sampling_fraction=0.0)
    with pytest.raises(DataError, match="no keys"):
        suda(Microdata.of(pl.DataFrame({"a": [1]}), Schema((Variable("a"),))))
