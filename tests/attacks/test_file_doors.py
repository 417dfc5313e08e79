"""Doors of a masked file in Python: what a released object carries along, and whether one that is not held gets out.

The attacker has the bytes of the released object (pickled, or saved as Arrow) and looks for texts of records that were
left out. A column of texts shares buffers with the column it was taken from, so until these tests were written every
left-out text was in these bytes; the first test shows that the search finds them in a table that is merely filtered.
"""

import io
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import reticent as rt
from reticent import mask
from reticent.base.errors import DataError, NotProtectedError, ParameterError
from reticent.data.microdata import Microdata
from reticent.data.schema import Schema, Variable
from reticent.microdata.protect import protect_data

SECRET = bytes.fromhex("8f3a1c77e2b94d0561fa3e9d2c7b8805d4e1f6a3907b5c2d18e4f9a0b6c3d752")
N = 300
NOTES = [f"person number {at:05d} said this" for at in range(N)]


def _people() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {"sex": rng.choice(["f", "m"], N), "region": rng.choice(list("nsew"), N), "w": np.full(N, 10.0), "note": NOTES}
    )


def _saved(table: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    table.write_ipc(buffer)
    return buffer.getvalue()


def _found(held: bytes, shown: list[str]) -> int:
    """How many texts of records that are not shown are in some bytes."""
    return sum(note.encode() in held for note in set(NOTES) - set(shown))


def test_the_search_finds_left_out_texts_in_a_table_that_is_merely_filtered() -> None:
    shown = _people()[np.flatnonzero(np.arange(N) % 20)]
    assert _found(_saved(shown), shown["note"].to_list()) == N / 20


@pytest.mark.parametrize("fraction", [0.95, 0.5])
@pytest.mark.parametrize("kind", ["polars", "lazy", "arrow", "pandas", "categorical"])
def test_a_released_file_carries_no_text_of_records_that_were_left_out(kind: str, fraction: float) -> None:
    table = _people()
    made: dict[str, Any] = {
        "polars": lambda: table,
        "lazy": table.lazy,
        "arrow": table.to_arrow,
        "pandas": table.to_pandas,
        "categorical": lambda: table.with_columns(pl.col("note").cast(pl.Categorical)),
    }
    data = rt.load(made[kind](), keys=["sex", "region"], weight="w")
    masked = data.protect([mask.Sample(fraction=fraction)], secret=SECRET, most=1.0).release(accept_risk="a test")
    shown = masked.frame.table["note"].to_list()
    assert 0 < len(shown) < N
    for held in (pickle.dumps(masked), pickle.dumps(masked.to_frame()), _saved(masked.frame.table)):
        assert _found(held, shown) == 0


def test_a_column_of_categories_lists_nothing_that_no_published_record_has() -> None:
    schema = Schema(
        (Variable("sex", role="key"), Variable("region", role="key"), Variable("w", role="weight", kind="numeric"),
         Variable("note"))
    )  # fmt: skip
    data = Microdata.of(_people().with_columns(pl.col("note").cast(pl.Categorical)), schema)
    run = protect_data(data, [mask.Sample(fraction=0.5)], secret=SECRET, most=1.0, accept_risk="a test")
    published = run.result.file.to_native().to_arrow()["note"].combine_chunks()
    listed = published.dictionary if hasattr(published, "dictionary") else published
    assert set(listed.to_pylist()) == set(published.to_pylist())


def test_nothing_lies_below_the_nulls_of_a_released_number() -> None:
    rng = np.random.default_rng(6)
    table = _people().drop("note").with_columns(code=pl.Series(rng.integers(100_000, 100_040, N)))
    data = rt.load(table, keys=["sex", "region", "code"], weight="w")
    masked = data.protect([mask.LocalSuppression(k=3)], secret=SECRET).release(accept_risk="a test")
    column = masked.to_frame()["code"].to_arrow()
    blank = np.array(column.is_null())
    below = np.frombuffer(column.buffers()[1], dtype=np.int64)[column.offset : column.offset + len(column)][blank]
    assert blank.any()
    assert not below.any()


@pytest.mark.parametrize("reason", [".", " ", "", "!!!", "\u200b\u200b\u200b", "ok", 3, True, ["because"]])
def test_a_reason_that_says_nothing_opens_no_door(reason: Any) -> None:
    run = rt.load(_people(), keys=["sex", "region"], weight="w").protect([], secret=SECRET)
    assert not run.verdict.held
    with pytest.raises(ParameterError, match="reason, in words|accept_risk must be a text or None, got a"):
        run.release(accept_risk=reason)
    with pytest.raises(ParameterError, match=r"accept_risk|reason"):
        rt.RiskSection(accept_risk=reason)


def test_a_file_that_is_held_back_becomes_no_frame() -> None:
    run = rt.load(_people(), keys=["sex", "region"], weight="w").protect([], secret=SECRET)
    with pytest.raises(NotProtectedError):
        run.release()
    with pytest.raises(NotProtectedError):
        run.found.result.masked.to_native()


def _odd_frames() -> dict[str, Any]:
    """Frames whose values no library converts, by what is odd about them."""
    plain = _people().drop("note").to_pandas()
    twice = plain.copy()
    twice.columns = ["sex", "sex", "w"]
    return {
        "a name twice": twice,
        "several kinds": plain.assign(odd=["a", 5] * (N // 2)),
        "durations": plain.assign(odd=pd.to_timedelta(np.arange(N), unit="D")),
        "periods": plain.assign(odd=pd.period_range("2020-01", periods=N, freq="M")),
        "complex": plain.assign(odd=np.arange(N) + 1j),
        "too large": plain.assign(odd=[10**30 + at for at in range(N)]),
        "lists": plain.assign(odd=[[at] for at in range(N)]),
        "infinite": plain.assign(odd=np.r_[np.inf, np.arange(N - 1.0)]),
        "overflowing": plain.assign(odd=np.r_[np.inf, np.arange(N - 1.0)].astype("float16")),
    }


@pytest.mark.parametrize("odd", list(_odd_frames()))
def test_a_frame_that_cannot_be_read_is_refused_without_its_values(odd: str) -> None:
    with pytest.raises(DataError) as refused:
        rt.load(_odd_frames()[odd], keys=["sex", "region"], weight="w").protect([], secret=SECRET)
    assert odd == "a name twice" or "'odd'" in str(refused.value)
    assert not any(char.isdigit() for char in str(refused.value))


@pytest.mark.parametrize(
    ("first", "dtype"),
    [(2**63, pl.UInt64), (2**53, pl.UInt64), (10**18, pl.Int64), (2**53, pl.String), (10**18, pl.String)],
)
def test_numbers_that_arithmetic_cannot_tell_apart_are_not_judged_as_equal(first: int, dtype: Any) -> None:
    """As floating point numbers most of these ids are equal, so that nobody could be linked by them: held, and published."""
    ids = pl.Series([first + at for at in range(N)], dtype=pl.UInt64).cast(dtype)
    data = rt.load(
        _people().drop("note").with_columns(odd=ids), keys=["sex", "region"], weight="w", kinds={"odd": "numeric"}
    )
    with pytest.raises(DataError, match="too many digits"):
        data.protect([], secret=SECRET)
    coded = rt.load(
        _people().drop("note").with_columns(odd=ids), keys=["sex", "region"], weight="w", kinds={"odd": "nominal"}
    )
    assert not coded.protect([], secret=SECRET).verdict.held


def test_one_number_is_written_in_one_way_whatever_stands_beside_it() -> None:
    """A code that is not a number keeps a column text; until now each spelling of a number was published as it stood."""
    spelt = ["5", "5.0", "05.", "5,00", "NA"] + ["7"] * (N - 5)
    schema = Schema((Variable("sex", role="key"), Variable("region", role="key"), Variable("w", role="weight", kind="numeric"),
                     Variable("odd", kind="numeric", missing=("NA",))))  # fmt: skip
    data = rt.load(_people().drop("note").with_columns(odd=pl.Series(spelt)), schema=schema)
    shown = data.protect([], secret=SECRET).release(accept_risk="a test").frame.table["odd"].to_list()
    assert sorted(set(shown)) == ["5", "7", "NA"]
