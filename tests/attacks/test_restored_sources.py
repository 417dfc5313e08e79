"""Blanks that no column of equal values fills: members of a household count themselves, and a turnover tells the size class.

The attackers have the published file alone. The recount counted these blanks as unknown and held.
"""

import hashlib

import numpy as np
import polars as pl
import pytest

from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.data.schema import Schema, Variable
from reticent.data.verdict import State
from reticent.microdata.mask.local_suppression import LocalSuppression
from reticent.microdata.pipeline import apply_steps
from reticent.microdata.protect import protect_data
from reticent.microdata.result import ProtectedFile
from reticent.microdata.risk.recount import recount
from reticent.microdata.risk.restored import restore

SECRET = hashlib.sha256(b"restored sources").digest()
LIMIT = 0.34


def homes(seed: int, *, counted: bool = True, n: int = 300) -> Microdata:
    rng = np.random.default_rng(seed)
    size = rng.choice(7, n, p=[0.35, 0.3, 0.15, 0.12, 0.05, 0.02, 0.01]) + 1
    home = np.repeat(np.arange(n), size)
    shown = size if counted else rng.integers(1, 8, n)
    table = pl.DataFrame(
        {
            "home": home,
            "size": shown[home].astype(str),
            "region": rng.integers(0, 5, n)[home].astype(str),
            "sex": rng.choice(["f", "m"], home.size),
            "age": (rng.integers(0, 8, home.size) * 10).astype(str),
        }
    )
    shared = [Variable(name, role="key", household=True) for name in ("size", "region")]  # type: ignore[arg-type]
    own = [Variable(name, role="key") for name in ("sex", "age")]  # type: ignore[arg-type]
    return Microdata.of(table, Schema((Variable("home", role="household-id"), *shared, *own)))  # type: ignore[arg-type]


def firms(seed: int, *, determined: bool = True, by_trade: bool = False, n: int = 700) -> Microdata:
    rng = np.random.default_rng(seed)
    trade, turnover = rng.integers(0, 4, n), np.exp(rng.normal(10, 1.5, n)).round(2)
    limits = np.array([8.0, 9.5, 11.0, 12.5]) + (0.7 * trade[:, None] if by_trade else 0.0)
    size = (np.log(turnover)[:, None] >= limits).sum(axis=1) if determined else rng.integers(0, 5, n)
    table = pl.DataFrame(
        {
            "size": size.astype(str),
            "region": rng.integers(0, 8, n).astype(str),
            "form": rng.choice(list("abc"), n),
            "trade": trade.astype(str),
            "turnover": turnover,
        }
    )
    keys = [Variable(name, role="key") for name in ("size", "region", "form")]  # type: ignore[arg-type]
    return Microdata.of(table, Schema((*keys, Variable("trade"), Variable("turnover", kind="numeric"))))  # type: ignore[arg-type]


def protect(data: Microdata) -> ProtectedFile:
    risk = RiskSection(most=LIMIT, attacks=("recount",), accept_risk="a test of an attack")
    return protect_data(data, [LocalSuppression(k=3)], risk=risk, secret=SECRET, keep_order=True)


def largest_risk(published: list[tuple[str | None, ...]], true: list[tuple[str, ...]]) -> float:
    fitting = [
        sum(all(a is None or a == b for a, b in zip(row, who, strict=True)) for row in published) for who in true
    ]
    return 1 / min(fitting)


def test_members_count_themselves() -> None:
    data = homes(0)
    run = protect(data)
    published = run.result.masked.to_native()
    sizes = published.group_by("home").len()
    count = dict(zip(sizes["home"], sizes["len"].cast(str), strict=True))
    true, keys = data.frame.table, ["region", "sex", "age"]
    blanks = published["size"].is_null()
    guesses = pl.Series([count[home] for home in published["home"]])
    assert blanks.sum() > 0
    assert (guesses == true["size"]).all()
    rows = [(size, *rest) for size, rest in zip(guesses, published.select(keys).rows(), strict=True)]
    verdict = run.verdict["recount"]
    assert verdict.state is State.NOT_HELD
    assert verdict.value == largest_risk(rows, true.select("size", *keys).rows())
    assert "of size follow from the members of a household (their number): drop the household id" in verdict.text
    masked = apply_steps(data, [LocalSuppression(k=3)], secret=as_secret(SECRET))
    assert recount(masked.trace, masked.data, data.schema.keys).sample_risk.max() <= LIMIT  # blanks as unknown values


@pytest.mark.parametrize("by_trade", [False, True])
def test_ranges_of_a_number_tell_a_class(by_trade: bool) -> None:
    data = firms(1, by_trade=by_trade)
    run = protect(data)
    published, true = run.result.masked.to_native(), data.frame.table["size"].to_list()
    ranges: dict[tuple[str, str], tuple[float, float]] = {}
    trades = published["trade"] if by_trade else pl.Series(["any"] * len(published))
    for trade, size, turnover in zip(trades, published["size"], published["turnover"], strict=True):
        if size is not None:
            low, high = ranges.get((trade, size), (turnover, turnover))
            ranges[trade, size] = min(low, turnover), max(high, turnover)
    blanks = [at for at, size in enumerate(published["size"]) if size is None]
    right = 0
    for at in blanks:
        turnover = published["turnover"][at]
        fitting = [
            size for (trade, size), (low, high) in ranges.items() if trade == trades[at] and low <= turnover <= high
        ]
        right += fitting == [true[at]]
    assert len(blanks) > 4
    assert right >= 0.7 * len(blanks)
    verdict = run.verdict["recount"]
    assert verdict.state is State.NOT_HELD
    assert "of size follow from ranges of " in verdict.text


def test_nothing_is_told_where_there_is_nothing_to_tell() -> None:
    """False alarms over 20 files whose households and turnovers have nothing to do with the keys."""
    alarms = 0
    for seed in range(10):
        for data in (homes(seed, counted=False, n=100), firms(seed, determined=False, n=200)):
            masked = apply_steps(data, [LocalSuppression(k=2)], secret=as_secret(SECRET))
            alarms += bool(restore(masked.trace, masked.data, data.schema.keys).told)
    assert alarms <= 1


def test_the_order_of_the_source_is_no_order_of_a_number() -> None:
    """Equal numbers have no order: a source that is sorted by a key must not make them tell it."""
    data = firms(3, determined=False)
    table = data.frame.table.with_columns(
        pl.when(pl.col("turnover") > 20_000).then(50_000.0).otherwise(10_000.0).alias("turnover")
    )
    masked = apply_steps(
        Microdata.of(table.sort("size"), data.schema), [LocalSuppression(k=4)], secret=as_secret(SECRET)
    )
    assert masked.data.missing("size").any()
    assert not restore(masked.trace, masked.data, data.schema.keys).told
