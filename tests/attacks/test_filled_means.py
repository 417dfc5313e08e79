"""The value of a group in which few have one: a mean of one value is that value.

Fixture: `means.filled.csv` is what 0.1.0 made of `survey(120, 0.7)` with `Microaggregate(("income",), k=3, using=("age",),
missing="fill")`.
"""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.mask import Microaggregate
from reticent.microdata.protect import protect_data

FOLDER = Path(__file__).parent / "fixtures" / "v010" / "files"
SECRET = bytes.fromhex("8f3a1c77e2b94d0561fa3e9d2c7b8805d4e1f6a3907b5c2d18e4f9a0b6c3d752")
OPTIONS = [
    {"variables": ("income",), "using": ("age",)},
    {"variables": ("age", "income")},
    {"variables": ("income",), "using": ("age",), "aggregation": "median"},
    {"variables": ("income",), "using": ("age",), "aggregation": "mode"},
]


def survey(count: int, missing: float, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age, income = rng.integers(18, 80, count).astype(float), np.exp(rng.normal(8, 1, count)).round(2)
    gone = rng.random(count) < missing
    shown = [None if lost else value for lost, value in zip(gone, income, strict=True)]
    return pl.DataFrame({"id": [f"p{i}" for i in range(count)], "age": age, "income": shown})


def exact(true: pl.DataFrame, published: pl.DataFrame) -> int:
    """Respondents whose value is published for a group in which fewer than three have one: a lookup in the file."""
    found = 0
    shown = published["income"].to_list()
    for row, value in enumerate(true["income"].to_list()):
        group = [other for other, one in enumerate(shown) if one is not None and one == shown[row]]
        have = sum(true["income"][other] is not None for other in group)
        found += value is not None and shown[row] is not None and abs(shown[row] - value) < 0.005 and have < 3
    return found


def released(true: pl.DataFrame, options: dict[str, object]) -> pl.DataFrame:
    numbers = (Variable("age", kind=Kind.NUMERIC), Variable("income", kind=Kind.NUMERIC))
    data = Microdata.of(true, Schema((Variable("id", role=Role.IDENTIFIER), *numbers)))
    run = protect_data(data, [Microaggregate(k=3, missing="fill", **options)], most=1.0, secret=SECRET)  # type: ignore[arg-type]
    return run.after.frame.table


@pytest.mark.parametrize("options", OPTIONS)
def test_no_value_stands_for_fewer_than_k_who_have_one(options: dict[str, object]) -> None:
    assert exact(survey(120, 0.7), pl.read_csv(FOLDER / "means.filled.csv")) >= 15
    shown = 0
    for seed, missing in ((1, 0.7), (2, 0.3), (3, 0.85)):
        true = survey(120, missing, seed)
        published = released(true, options)
        assert exact(true, published) == 0
        shown += published["income"].drop_nulls().len()
    assert shown > 60
