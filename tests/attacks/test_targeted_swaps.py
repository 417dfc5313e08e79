"""Targeted swaps exchange all rare records: with two areas or values, what is shown is what is not true.

That cannot be helped without leaving records at risk where they are, so the methods say that they are not for the transparent
attacker, and each run counts what is told; the attack here finds no more than that.
"""

import numpy as np
import polars as pl
import pytest

from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.microdata.mask import RecordSwap, Swap

KEY = Role.KEY
SCHEMA = Schema(
    (Variable("id", role=Role.IDENTIFIER), Variable("area", role=KEY), Variable("size"), Variable("age", role=KEY))
)


def people(seed: int, areas: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    columns = {"area": rng.integers(0, areas, 400), "size": rng.integers(1, 4, 400), "age": rng.integers(0, 60, 400)}
    names = [f"p{i:03d}" for i in range(400)]
    return pl.DataFrame({"id": names, **{name: [f"{x}" for x in values] for name, values in columns.items()}})


def other_area(published: pl.DataFrame, few: int) -> dict[str, str]:
    """The area of each record whose age is rare in the whole file, if there are two: the one that is not shown."""
    areas = sorted(published["area"].unique())
    counts = dict(published["age"].value_counts().rows())
    rows = [row for row in published.select("id", "age", "area").rows() if counts[row[1]] < few]
    return {name: areas[1 - areas.index(area)] for name, _, area in rows} if len(areas) == 2 else {}


@pytest.mark.parametrize("areas", [2, 3])
@pytest.mark.parametrize(
    ("step", "few", "fact"),
    [
        (RecordSwap(("area",), (("size",),), keys=("age",)), 3, "area_told"),
        (Swap(("area",), within=("size",), keys=("age", "area")), 2, "value_told"),
    ],
)
def test_what_a_targeted_swap_tells_is_counted(areas: int, step: RecordSwap | Swap, few: int, fact: str) -> None:
    right = guessed = told = 0
    for seed in range(10):
        true = people(seed, areas)
        applied = step.apply(Microdata.of(true, SCHEMA), secret=as_secret(seed), progress=silent)
        guess = other_area(applied.data.frame.table, few)
        truth = dict(true.select("id", "area").rows())
        guessed, right = guessed + len(guess), right + sum(truth[name] == area for name, area in guess.items())
        told += applied.facts[fact]
    assert "ot for the transparent attacker" in str(type(step).__doc__)
    if areas == 2:
        assert right == guessed > 0
        assert told >= guessed
    else:
        assert told == 0
