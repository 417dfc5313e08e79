"""Blanks of what a household shares: read off another member, or inferred because all members have one value.

Fixture: `households.strata.csv` is what 0.1.0 made of 60 people in 30 households (`people(1)`) with `LocalSuppression(k=2,
strata=("sex",), importance={"work": 5})`.
"""

from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.microdata.mask import LocalSuppression
from reticent.microdata.protect import protect_data
from samples import numbers

FOLDER = Path(__file__).parent / "fixtures" / "v010" / "files"
SECRET = bytes.fromhex("8f3a1c77e2b94d0561fa3e9d2c7b8805d4e1f6a3907b5c2d18e4f9a0b6c3d752")
SCHEMA = Schema(
    (
        Variable("id", role=Role.IDENTIFIER),
        Variable("dwelling", role=Role.HOUSEHOLD_ID),
        Variable("sex"),
        Variable("rent", household=True),
        Variable("work", role=Role.KEY),
        Variable("tenure", role=Role.KEY, household=True),
    )
)


def people(seed: int, homes: int = 30) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(homes), 2)
    tenure, work = rng.integers(0, 6, homes)[home], rng.integers(0, 3, 2 * homes)
    return pl.DataFrame(
        {
            "id": [f"p{i}" for i in range(2 * homes)],
            "dwelling": [f"h{x}" for x in home],
            "sex": ["m", "f"] * homes,
            "rent": [f"r{x}" for x in home],
            "work": [f"a{x}" for x in work],
            "tenure": [f"t{x}" for x in tenure],
        }
    )


def read_off(published: pl.DataFrame, name: str = "tenure") -> int:
    """Blanks of a household variable that another member of the household shows."""
    shown = published.drop_nulls(name).select("dwelling").unique()
    return published.filter(pl.col(name).is_null()).join(shown, on="dwelling").height


def certain(published: list[tuple[object, ...]], home: list[object], universe: list[list[object]], k: int) -> int:
    """Blanks with one value in each truth that keeps the promise (k,k), the last variable being one for each household."""
    owners: dict[tuple[object, int], list[tuple[int, int]]] = {}
    for i, row in enumerate(published):
        for j, value in enumerate(row):
            if value is None:
                owners.setdefault((home[i] if j == len(row) - 1 else i, j), []).append((i, j))
    seen: list[set[object]] = [set() for _ in owners]
    for values in product(*(universe[j] for _, j in owners)):
        if all(len(known) > 1 for known in seen):
            break
        truth = [list(row) for row in published]
        for places, value in zip(owners.values(), values, strict=True):
            for i, j in places:
                truth[i][j] = value
        fits = np.array(
            [[all(p is None or p == t for p, t in zip(row, true, strict=True)) for true in truth] for row in published]
        )
        if fits.sum(axis=0).min() >= k and fits.sum(axis=1).min() >= k:
            for known, value in zip(seen, values, strict=True):
                known.add(value)
    return sum(
        len(places) * (len(known) == 1 and len(universe[j]) > 1)
        for known, ((_, j), places) in zip(seen, owners.items(), strict=True)
    )


@pytest.mark.parametrize("semantics", ["(k,k)", "(k,1)", "(1,k)", "match-anything"])
@pytest.mark.parametrize("seed", numbers(1, 4))
def test_no_member_shows_what_is_blank_for_another(semantics: str, seed: int) -> None:
    """Strata that part households: 12 of 14 blanks of 0.1.0 stood in the record of the other member."""
    assert read_off(pl.read_csv(FOLDER / "households.strata.csv")) == 12
    step = LocalSuppression(
        k=2, strata=("sex",), importance={"work": 5.0}, semantics=semantics, linked={"work": ("rent",)}
    )
    run = protect_data(Microdata.of(people(seed), SCHEMA), [step], most=1.0, secret=SECRET)
    out = run.after.frame.table
    assert read_off(out) == read_off(out, "rent") == 0
    assert out["tenure"].null_count() > 1
    if semantics in ("(k,k)", "(k,1)"):
        assert run.result.steps[0].facts["inferred"]["kind"] == "lower bound"


def small_file(seed: int) -> tuple[pl.DataFrame, Schema]:
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(4), 2) if seed % 2 else np.array([0, 0, 0, 1, 1, 2, 2, 3])
    tenure = rng.integers(0, 2 if seed % 3 else 3, 4)[home]
    columns = {"a": rng.integers(0, 2, 8), "b": rng.integers(0, 2, 8), "tenure": tenure}
    texts = {name: [f"{name}{x}" for x in values] for name, values in columns.items()}
    frame = pl.DataFrame({"dwelling": [f"h{x}" for x in home], **texts})
    keys = (
        Variable("a", role=Role.KEY),
        Variable("b", role=Role.KEY),
        Variable("tenure", role=Role.KEY, household=True),
    )
    return frame, Schema((Variable("dwelling", role=Role.HOUSEHOLD_ID), *keys))


def family(seeds: range) -> tuple[int, int]:
    """Blanks of small files with households, and how many of them are certain; the run must say the same."""
    blanks = sure = 0
    for seed in seeds:
        frame, schema = small_file(seed)
        run = protect_data(
            Microdata.of(frame, schema), [LocalSuppression(k=2)], most=1.0, secret=SECRET + bytes([seed])
        )
        out = run.after.frame.table
        universe = [frame[name].unique().sort().to_list() for name in schema.keys]
        found = certain(out.select(schema.keys).rows(), out["dwelling"].to_list(), universe, 2)
        assert run.result.steps[0].facts["inferred"]["inferred"] == found
        blanks, sure = blanks + sum(out[name].null_count() for name in schema.keys), sure + found
    return blanks, sure


def test_no_blank_is_certain_for_who_knows_that_members_share_a_value() -> None:
    """Members were taken to have values of their own: the run said 0 (exact) where 4 of 233 blanks were certain."""
    blanks, sure = family(range(12))
    assert blanks > 40
    assert sure == 0


@pytest.mark.deep
def test_no_blank_is_certain_in_many_files_of_households() -> None:
    blanks, sure = family(range(12, 200))
    assert blanks > 800
    assert sure == 0
