"""Responses of few different numbers are related like others: hidden counts of men are not those of all less those of women.

Before, a relation needed several different rows of numbers to be found, and responses of 0 and 1 have two.
"""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from attacks.indicator_families import attacked
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Schema, Variable
from reticent.tabulation.responses import ties_in_records

FEES = [pytest.param("fee", number, marks=pytest.mark.deep) for number in range(10)]


@pytest.mark.parametrize(("family", "number"), [("sexes", 0), ("sexes", 1), ("sexes", 2), ("status", 0), *FEES])
def test_the_files_tell_no_unsafe_number(family: str, number: int, tmp_path: Path) -> None:
    unsafe, exactly, closely = attacked(family, np.random.default_rng([number, 7]), tmp_path)
    assert unsafe
    assert not exactly
    assert not closely


def relations(columns: dict[str, list[int]], names: tuple[str, ...]) -> list[str]:
    """The equations that are found between some responses."""
    schema = Schema(tuple(Variable(name, kind=Kind.NUMERIC) for name in columns))
    data = Microdata.of(pl.DataFrame(columns), schema)
    ties = ties_in_records(data, names, [], find=True, dimensions=(), cells=False)
    return [str(tie.relation) for tie in ties if not tie.relation.inequality]


def test_a_few_people_without_a_sex_hide_nothing() -> None:
    men = [1, 0, 0, 1, 0] * 20
    women = [1 - x for x in men]
    men[3], women[7] = 0, 0
    assert "count = men + women" in relations({"men": men, "women": women}, ("men", "women", "count"))


def test_chance_relates_nothing() -> None:
    rng = np.random.default_rng(3)
    drawn = {name: (rng.random(60) < 0.4).astype(int).tolist() for name in ("a", "b", "c")}
    assert relations(drawn, ("a", "b", "c", "count")) == []
    assert relations({"a": [1, 0, 0], "b": [0, 1, 1]}, ("a", "b", "count")) == []  # of three records nobody knows
