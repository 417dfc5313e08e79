"""Exchanges in which nothing can stay: what is shown is then known to be wrong.

Before, in all generated files: whoever showed the rarer of two values after `swap` with a rate of 20 percent had the other one,
and whoever showed the only smallest code after `rank-swap` had the next one.
"""

import numpy as np
import polars as pl
import pytest

from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.mask import RankSwap, Swap

TAG, REGION = Variable("tag", role=Role.IDENTIFIER), Variable("region", role=Role.KEY)


def changed_among(true: pl.DataFrame, published: pl.DataFrame, name: str, value: str) -> tuple[int, int]:
    """Of the records that show a value: how many there are, and how many have another one."""
    both = true.join(published, on="tag", suffix="_shown").filter(pl.col(f"{name}_shown") == value)
    return len(both), int((both[name] != value).sum())


@pytest.mark.parametrize("codes", [("no", "yes"), ("no", "yes", "refused")])
@pytest.mark.parametrize("rate", [20.0, 100.0])
def test_who_shows_a_rare_value_may_have_it(codes: tuple[str, ...], rate: float) -> None:
    shown = wrong = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rare = rng.choice(codes[1:], 200)
        ill = np.where(rng.random(200) < 0.05, rare, "no")
        true = pl.DataFrame({"tag": [f"{i}" for i in range(200)], "region": rng.choice(["n", "s"], 200), "ill": ill})
        data = Microdata.of(true, Schema((TAG, REGION, Variable("ill"))))
        done = Swap(("ill",), rate=rate, within=("region",)).apply(data, secret=as_secret(seed), progress=silent)
        found = changed_among(true, done.data.frame.table, "ill", "yes")
        shown, wrong = shown + found[0], wrong + found[1]
    assert shown > 80
    assert 0.3 * shown < wrong < 0.7 * shown


@pytest.mark.parametrize("n", [60, 61])
@pytest.mark.parametrize("end", ["1", "5"])
def test_who_shows_the_only_smallest_or_largest_code_may_have_it(n: int, end: str) -> None:
    wrong = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        health = np.append(rng.permutation(np.resize(["2", "3", "4"], n - 1)), end)
        true = pl.DataFrame({"tag": [f"{i}" for i in range(n)], "health": health})
        schema = Schema((TAG, Variable("health", kind=Kind.ORDINAL, codes=tuple("12345"))))
        done = RankSwap(("health",), window=10).apply(
            Microdata.of(true, schema), secret=as_secret(seed), progress=silent
        )
        shown, other = changed_among(true, done.data.frame.table, "health", end)
        assert shown == 1
        wrong += other
    assert 8 <= wrong <= 32


def test_distinct_values_are_all_exchanged() -> None:
    """The chance to stay is for values that nothing else hides; incomes that differ move as before."""
    rng = np.random.default_rng(1)
    true = pl.DataFrame({"tag": [f"{i}" for i in range(100)], "income": rng.permutation(100) * 10.0})
    data = Microdata.of(true, Schema((TAG, Variable("income", kind=Kind.NUMERIC))))
    for step in (RankSwap(("income",), window=10), Swap(("income",), rate=100)):
        done = step.apply(data, secret=as_secret(1), progress=silent)
        assert (done.data.numbers(("income",))[:, 0] != true["income"].to_numpy()).all()
