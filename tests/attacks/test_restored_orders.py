"""Blanks that follow from the beginning of a code, from two numbers together, or from what members of a household have together.

The attackers have the published file alone: they put its records in order and look at the neighbours. The recount counted
these blanks as unknown and held.
"""

import hashlib
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import mask
from reticent.api.file_run import FileRun
from reticent.data.verdict import State

KEYS = ("size", "region", "form")
SECRET = hashlib.sha256(b"restored orders").digest()


def classes(values: np.ndarray, many: int = 8) -> list[str]:  # type: ignore[type-arg]
    return [f"S{at}" for at in np.searchsorted(np.quantile(values, np.arange(1, many) / many), values)]


def firms(way: str, seed: int = 1, n: int = 1200) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    first, second = rng.lognormal(8, 1, n).round(2), rng.lognormal(8, 1, n).round(2)
    day = np.datetime64("1970-01-01") + rng.permutation(n)
    place = rng.integers(0, 8, n)
    number = rng.permutation(9000)[:n] + 1000
    size = {
        "sum": classes(first + second),
        "ratio": classes(first / second),
        "date": classes(day.astype(np.int64)),
        "postcode": [f"S{at}" for at in place],
    }
    more = {
        "date": {"since": day.astype(str)},
        "postcode": {"place": [f"D{at}{own}" for at, own in zip(place, number, strict=True)]},
    }
    return pl.DataFrame(
        {
            "size": size.get(way, rng.choice([f"S{at}" for at in range(8)], n).tolist()),
            "region": rng.choice(list("nswe"), n),
            "form": rng.choice(["a", "b"], n),
            **more.get(way, {"home": first, "abroad": second} | ({"place": number} if way == "nothing" else {})),
            "tag": [f"t{at}" for at in range(n)],  # tells afterwards who was right
        }
    )


ORDER: dict[str, Callable[[pl.DataFrame], pl.Series]] = {
    "sum": lambda file: file["home"] + file["abroad"],
    "ratio": lambda file: file["home"] / file["abroad"],
    "date": lambda file: file["since"],
    "postcode": lambda file: file["place"],
}


def protect(data: pl.DataFrame) -> FileRun:
    steps = [
        mask.LocalSuppression(k=18, keys=KEYS, semantics="own-category", by_combination=True, importance={"size": 0.01})
    ]
    risk = rt.RiskSection(most=0.056, known=KEYS, attacks=("recount",))
    return rt.load(data, keys=list(KEYS)).protect(steps, risk=risk, secret=SECRET)


@pytest.mark.parametrize("way", ORDER)
def test_an_order_of_published_values_fills_blanks(way: str) -> None:
    data = firms(way)
    run = protect(data)
    published = run.release(accept_risk="a test of an attack").to_frame()
    published = published.join(data.select("tag", true="size"), on="tag")
    ordered = published.with_columns(order=ORDER[way](published)).sort("order")
    before, after = pl.col("size").fill_null(strategy="forward"), pl.col("size").fill_null(strategy="backward")
    filled = ordered.with_columns(guess=before, same=before == after).filter(pl.col("size").is_null() & pl.col("same"))
    blanks = published["size"].null_count()
    assert len(filled) > 0.9 * blanks > 200
    assert (filled["guess"] == filled["true"]).all()
    verdict = {one.attack: one for one in run.verdict.attacks}["recount"]
    assert verdict.state is State.NOT_HELD
    assert run.attacks.restored is not None
    assert sum(one.records for one in run.attacks.restored.told) >= len(filled)


def test_orders_that_have_nothing_to_do_with_keys_fill_nothing() -> None:
    for seed in range(3):
        run = protect(firms("nothing", seed))
        assert run.attacks.restored is not None
        assert run.attacks.restored.told == ()


@pytest.mark.parametrize("way", ["children", "income per head"])
def test_members_of_a_household_tell_what_they_have_together(way: str) -> None:
    rng, homes = np.random.default_rng(3), 500
    size = rng.integers(1, 6, homes)
    home = np.repeat(np.arange(homes), size)
    age, income = rng.integers(0, 85, home.size), rng.lognormal(7, 1, home.size).round(2)
    children = np.minimum(np.bincount(home, weights=age < 16), 3).astype(int)
    per_head = np.bincount(home, weights=income) / size
    band = [f"S{at}" for at in children] if way == "children" else classes(per_head, 6)
    county = rng.choice(10, homes, p=np.array([8, 7, 6, 5, 4, 4, 3, 2, 1, 1]) / 41)
    data = pl.DataFrame(
        {
            "home": home,
            "county": [f"C{at}" for at in county[home]],
            "band": [band[at] for at in home],
            **({"age": age} if way == "children" else {"income": income}),
        }
    )
    schema = rt.Schema(
        (
            rt.Variable("home", role="household-id"),
            *(rt.Variable(name, role="key", household=True) for name in ("county", "band")),
            rt.Variable(data.columns[-1], kind="numeric"),
        )
    )
    steps = [mask.LocalSuppression(k=25, keys=("county", "band"), importance={"band": 0.01})]
    risk = rt.RiskSection(most=0.04, known=("county", "band"), attacks=("recount",))
    run = rt.load(data, schema=schema).protect(steps, risk=risk, secret=SECRET)
    published = run.release(accept_risk="a test of an attack").to_frame()
    assert {one.attack: one for one in run.verdict.attacks}["recount"].state is State.NOT_HELD
    assert run.attacks.restored is not None
    told = sum(one.records for one in run.attacks.restored.told)
    assert told >= 0.8 * published["band"].null_count() > 100
