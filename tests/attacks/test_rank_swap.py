"""Attacks on rank swapping: whoever knows window and ranks undoes a narrow one, and finds the largest value where it was.

Fixture: `ranks.strata.csv` is what 0.1.0 made of `incomes()` with `RankSwap(("income",), strata=("region",))`: 5 percent of
21 to 31 records are one rank.
"""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import DataError
from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.mask import RankSwap
from reticent.microdata.protect import protect_data

FOLDER = Path(__file__).parent / "fixtures" / "v010" / "files"
SECRET = bytes.fromhex("8f3a1c77e2b94d0561fa3e9d2c7b8805d4e1f6a3907b5c2d18e4f9a0b6c3d752")
SCHEMA = Schema(
    (Variable("id", role=Role.IDENTIFIER), Variable("region", role=Role.KEY), Variable("income", kind=Kind.NUMERIC))
)


def incomes() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    region = np.repeat(np.arange(4), [21, 25, 31, 28])
    income = np.exp(rng.normal(8, 1, region.size)).round(2)
    names = [f"p{i:03d}" for i in range(region.size)]
    return pl.DataFrame({"id": names, "region": [f"r{x}" for x in region], "income": income})


def undone(published: pl.DataFrame) -> dict[str, float]:
    """The income of each record if ranks 1 and 2, 3 and 4, … of each region exchanged their values."""
    found = {}
    for _, rows in published.sort("income").group_by("region"):
        names, values = rows["id"].to_list(), rows["income"].to_list()
        for at in range(len(names)):
            other = at ^ 1
            found[names[at]] = values[other] if other < len(names) else values[at]
    return found


def right(true: pl.DataFrame, guess: dict[str, float]) -> float:
    return float(np.mean([guess[name] == value for name, value in true.select("id", "income").rows()]))


def swapped(true: pl.DataFrame, step: RankSwap, secret: int) -> pl.DataFrame:
    data = Microdata.of(true, SCHEMA)
    return step.apply(data, secret=as_secret(secret), progress=silent).data.frame.table


def test_a_window_of_one_rank_is_undone_and_refused() -> None:
    true = incomes()
    assert right(true, undone(pl.read_csv(FOLDER / "ranks.strata.csv"))) == 1.0
    for window in (1.0, 5.0, 8.0, 9.6):
        with pytest.raises(DataError, match="fewer than 3 ranks"):
            swapped(true, RankSwap(("income",), window=window, strata=("region",)), 1)
    wide = [
        right(true, undone(swapped(true, RankSwap(("income",), window=15, strata=("region",)), s))) for s in range(20)
    ]
    assert np.mean(wide) < 0.4


def test_a_stratum_of_one_or_two_is_refused() -> None:
    for size in (1, 2):
        true = pl.concat([incomes(), incomes()[:size].with_columns(id="id" + pl.col("id"), region=pl.lit("far"))])
        with pytest.raises(DataError, match=f"a group of {size} values"):
            swapped(true, RankSwap(("income",), window=100, strata=("region",)), 1)


def test_the_largest_value_does_not_stay_where_it_is() -> None:
    """Of an odd number one had no partner: the largest income of 0.1.0 stayed in two of three odd regions (one rank: in all)."""
    stored, true = pl.read_csv(FOLDER / "ranks.strata.csv"), incomes()
    assert _largest_stays(true, stored) == 3
    stays = sum(
        _largest_stays(true, swapped(true, RankSwap(("income",), window=20, strata=("region",)), secret))
        for secret in range(30)
    )
    assert stays <= 6  # of 90 odd regions


def _largest_stays(true: pl.DataFrame, published: pl.DataFrame) -> int:
    count = 0
    for region in ("r0", "r1", "r2"):
        both = [frame.filter(region=region).sort("income")["id"][-1] for frame in (true, published)]
        count += both[0] == both[1]
    return count


def boxed(true: np.ndarray, shown: np.ndarray, window: float) -> tuple[float, float]:
    """By window and ranks alone: records that only their own fits in all variables, and whose own is nearest of all."""
    reach = int(len(true) * window / 100)
    ranks = [np.argsort(np.argsort(values, axis=0), axis=0) for values in (true, shown)]
    apart = np.abs(ranks[0][:, None, :] - ranks[1][None, :, :]).max(axis=2)
    alone = (apart <= reach).sum(axis=1) == 1
    return float(alone.mean()), float((apart.argmin(axis=1) == np.arange(len(true))).mean())


@pytest.mark.parametrize(
    ("count", "window", "common"), [(2, 5, 0.3), (4, 15, 0.3), (6, 20, 0.3), (8, 25, 0.3), (5, 20, 0.8)]
)
def test_linkage_is_as_strong_as_the_intervals_of_all_variables_together(
    count: int, window: float, common: float
) -> None:
    """Six variables within 20 percent of the ranks: intervals link half of 500 records, where the verdict said 39 percent."""
    rng = np.random.default_rng(count)
    values = np.exp(rng.normal(size=(500, 1)) * common**0.5 + rng.normal(size=(500, count)) * (1 - common) ** 0.5)
    names = tuple(f"x{at}" for at in range(count))
    frame = pl.DataFrame({"id": [f"p{i:03d}" for i in range(500)]} | dict(zip(names, values.T, strict=True)))
    schema = Schema((Variable("id", role=Role.IDENTIFIER), *(Variable(name, kind=Kind.NUMERIC) for name in names)))
    risk = RiskSection(most=0.05, attacks=("linkage",))
    run = protect_data(Microdata.of(frame, schema), [RankSwap(names, window=window)], risk=risk, secret=SECRET)
    published = run.after.frame.table.sort("id").select(names).to_numpy()
    certain, nearest = boxed(values, published, window)
    verdict = next(one for one in run.verdict.attacks if one.attack == "linkage")
    assert verdict.value is not None
    assert verdict.value >= certain
    assert verdict.value >= nearest - 0.02  # the reader breaks ties by chance
    assert nearest > 0.03
    assert run.verdict.held == (verdict.value <= 0.05)
