"""A district beside a region that is recoded: whoever knows where the district lies has the region, and the verdict says so.

The recount is by what the file shows, and no record shows the region in full: it is *not judged* then, and nothing leaves.
"""

import hashlib
import sys
from collections import Counter

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import mask
from reticent.base.errors import NotProtectedError

SECRET = hashlib.sha256(b"known from outside").digest()
KEYS = ["region", "sex", "age"]
REGIONS = 12


def people(seed: int, *, tied: bool = True) -> pl.DataFrame:
    """1,200 people in 36 districts of twelve regions; or districts that have nothing to do with the regions."""
    draw = np.random.default_rng(seed)
    district = draw.integers(0, 3 * REGIONS, 1_200)
    region = district // 3 if tied else draw.integers(0, REGIONS, 1_200)
    return pl.DataFrame(
        {
            "region": [f"r{code:02d}" for code in region],
            "sex": draw.choice(["f", "m"], 1_200),
            "age": draw.choice(list("abcdefgh"), 1_200, p=[0.2, 0.2, 0.2, 0.15, 0.1, 0.06, 0.05, 0.04]),
            "district": [f"d{(7 * code) % 36:02d}" for code in district],
        }
    )


def protected(frame: pl.DataFrame, *, drop: bool = False) -> rt.FileRun:
    halves = {f"r{code:02d}": "north" if code < REGIONS // 2 else "south" for code in range(REGIONS)}
    step = mask.RemoveIdentifiers(variables=("region",)) if drop else mask.Recode(variable="region", map=halves)
    return rt.load(frame, keys=KEYS).protect([step], secret=SECRET, most=0.34)


def found(frame: pl.DataFrame, shown: pl.DataFrame) -> int:
    """The attack: people who fit fewer than three records by sex, age and the region in which the district lies."""
    lies_in = dict(frame.select("district", "region").unique().rows())
    records = Counter((lies_in[d], s, a) for d, s, a in shown.select("district", "sex", "age").rows())
    return sum(records[person] < 3 for person in frame.select(KEYS).rows())


@pytest.mark.parametrize("drop", [False, True])
def test_the_verdict_names_what_tells_a_key_to_somebody_who_knows_more(drop: bool) -> None:
    frame = people(1)
    run = protected(frame, drop=drop)
    assert found(frame, run.release(accept_risk="to show the attack").to_frame()) > 0
    assert "1200 records have one code of region by district" in run.verdict["recount"].text
    assert str(run.verdict["recount"].state) == "not judged"
    with pytest.raises(NotProtectedError, match="recount is not judged"):
        run.release()


@pytest.mark.parametrize("seed", range(3))
def test_variables_that_have_nothing_to_do_with_the_key_are_not_named(seed: int) -> None:
    assert "district" not in protected(people(seed, tied=False)).verdict["recount"].text


if __name__ == "__main__":
    total: Counter[str] = Counter()
    for seed in range(20):
        run = protected(people(seed))
        shown = run.release(accept_risk="to show the attack").to_frame()
        total["held"] += str(run.verdict["recount"].state) == "held"
        total["people found"] += found(people(seed), shown)
        total["named"] += "by district" in run.verdict["recount"].text
        total["linkage held"] += str(run.verdict["linkage"].state) == "held"
    sys.stdout.write(f"{dict(total)}\n")
