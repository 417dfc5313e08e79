"""Noisy tables: a code of one person must not be listed with zeros where its tree was made from the records."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from reticent import Schema, Variable, load, methods, rules
from reticent.data.hierarchy import Hierarchy
from reticent.data.recoding import Recoding
from reticent.data.table import DimensionSpec
from reticent.tabulation.dimensions import build_dimension
from reticent.tabulation.recoded import recode

GUESSED = Hierarchy.from_children({"Total": ("1", "2", "3"), "1": ("11", "12"), "2": ("21", "22"), "3": ("37",)})


@pytest.mark.parametrize(
    "facts",
    [{"digits": (1, 1)}, {"hierarchy": GUESSED, "guessed": ("hierarchy",)}],
    ids=["levels by digits", "a guessed hierarchy"],
)
def test_a_code_of_one_person_with_noise_to_0_is_not_listed(facts: dict[str, Any]) -> None:
    jobs = ["37", *np.random.default_rng(0).choice(["11", "12", "21", "22"], 299)]
    schema = Schema((Variable("job", role="key", **facts),))
    table = load(pl.DataFrame({"job": jobs}), schema=schema).tabulate("job")
    for seed in range(6):
        made = table.protect(
            rules=[rules.Threshold(3)], method=methods.CellKey(), secret=seed, test_secret=True
        ).release()
        values = dict(zip(*made.to_frame().select("job", "value").to_dict(as_series=False).values(), strict=True))
        assert values.get("37") != 0
        assert values.get("3") != 0


def test_a_branch_that_a_batch_file_closes_declares_no_other_code() -> None:
    """The closed tree stands in the schema without its digits, so that it was taken for a declared one."""
    jobs = ["37", *np.random.default_rng(0).choice(["11", "12", "21", "22"], 299)]
    data = load(pl.DataFrame({"job": jobs}), schema=Schema((Variable("job", role="key", digits=(1, 1)),))).microdata
    closed = recode(data, "job", Recoding(closed=("1",)))
    dimension, _ = build_dimension(closed, DimensionSpec("job"))
    assert {"37", "3"} <= dimension.from_records
