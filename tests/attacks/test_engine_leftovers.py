"""What a file in an engine left in: a telephone number among its codes, and blanks that two variables fill together.

In memory both made the verdict *not held*; in an engine linkage went by keys and numbers only, and variables were tried alone.
"""

import hashlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import mask
from reticent.base.errors import NotProtectedError
from reticent.data.verdict import State

KEYS = ("region", "sex", "age")
SECRET = hashlib.sha256(b"leftovers").digest()
BLANKS = mask.LocalSuppression(
    k=16, keys=KEYS, semantics="own-category", by_combination=True, importance={"region": 0.01}
)


def frame(n: int = 1200) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    region, one = rng.integers(0, 6, n), rng.integers(0, 6, n)
    return pl.DataFrame(
        {
            "person": range(n),
            "region": [f"R{code}" for code in region],
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(0, 6, n).astype(str),
            "phone": [f"0{number}" for number in rng.permutation(10**6)[:n]],
            "one": [f"a{code}" for code in one],
            "two": [f"b{code}" for code in (region + one) % 6],
        }
    )


def protect(folder: Path, data: pl.DataFrame, *steps: object, **risk: object) -> pl.DataFrame:
    data.write_parquet(folder / "people.parquet")
    limits = rt.RiskSection(most=0.07, **risk)  # type: ignore[arg-type]
    with rt.load(folder / "people.parquet", keys=list(KEYS), identifiers=["person"], engine="duckdb") as large:
        run = large.protect([*steps], folder / f"{len(risk)}-*.parquet", risk=limits, secret=SECRET)  # type: ignore[list-item]
    assert risk or run.verdict.state is State.HELD
    return pl.read_parquet(str(folder / f"{len(risk)}-*.parquet"))


def test_a_telephone_number_among_the_codes_is_not_held(tmp_path: Path) -> None:
    data = frame().drop("one", "two")
    published = protect(tmp_path, data, BLANKS, accept_risk="a test of an attack")
    assert set(published["phone"]) == set(data["phone"])  # whoever has a number has the record
    with pytest.raises(NotProtectedError, match=r"100\.00% of the records are singled out by phone"):
        protect(tmp_path, data, BLANKS)


@pytest.mark.parametrize("way", ["dropped", "recoded", "rare"])
def test_codes_that_single_nobody_out_are_let_go(way: str, tmp_path: Path) -> None:
    data = frame().drop("one", "two")
    if way == "recoded":
        first = mask.Recode("phone", map={number: number[:2] for number in data["phone"]})
        assert protect(tmp_path, data, first, BLANKS)["phone"].n_unique() < 12
        return
    few = pl.when(pl.col("person") < 40).then(pl.col("phone")).otherwise(pl.lit("none"))  # 40 of 1,200 are 3.3 %
    data = data.drop("phone") if way == "dropped" else data.with_columns(few.alias("phone"))
    assert len(protect(tmp_path, data, BLANKS)) == len(data)


def test_blanks_that_two_variables_fill_are_not_judged(tmp_path: Path) -> None:
    data = frame().drop("phone")
    published = protect(tmp_path, data, BLANKS, accept_risk="a test of an attack")
    shown = published.drop_nulls("region").group_by("one", "two").agg(pl.col("region").unique())
    one = shown.filter(pl.col("region").list.len() == 1).with_columns(pl.col("region").list.first().alias("guess"))
    blanks = published.filter(pl.col("region").is_null()).join(one.drop("region"), on=["one", "two"])
    right = blanks.with_columns(
        ("R" + ((pl.col("two").str.slice(1).cast(int) - pl.col("one").str.slice(1).cast(int)) % 6).cast(str)).alias(
            "true"
        )
    )
    assert len(blanks) > 300
    assert (right["guess"] == right["true"]).all()
    with pytest.raises(
        NotProtectedError, match=r"recount is not judged: \d+ hidden values of region follow from one with two"
    ):
        protect(tmp_path, data, BLANKS)


def test_what_variables_reveal_does_not_depend_on_how_it_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, said = frame().drop("phone"), []
    for dense in (1 << 23, 8):  # all cells, or those that occur, merged again and again
        monkeypatch.setattr("reticent.microdata.large_restored.DENSE", dense)
        monkeypatch.setattr("reticent.microdata.large_restored.BLOCK", 200)
        with pytest.raises(NotProtectedError) as refused:
            protect(tmp_path, data, BLANKS)
        said.append(str(refused.value))
    assert "hidden values of region follow from one with two" in said[0]
    assert said[0] == said[1]
