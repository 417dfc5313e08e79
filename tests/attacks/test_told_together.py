"""Recoded or dropped keys that published variables still have in ways that single codes do not show.

Two variables together, one beside the recoded key itself, sets of codes, the order of postcodes and numbers; in memory and in an
engine. The attacker knows how these go together (a map, a code list) and has the published file.
"""

import hashlib
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import mask
from reticent.data.verdict import State

SECRET = hashlib.sha256(b"known together").digest()
KEYS = ["region", "sex", "age"]
REGIONS, RECORDS, LIMIT = 12, 1_200, 0.34
HALVES = {f"r{code:02d}": "north" if code < REGIONS // 2 else "south" for code in range(REGIONS)}
TIED = ("two variables", "beside the key", "sets", "postcodes", "turnover")
LOOSE = ("nothing", "often", "skewed")


def people(kind: str, seed: int) -> pl.DataFrame:
    """People with a region, and variables that have it in one way or another, or have nothing to do with it."""
    draw = np.random.default_rng(seed)
    region = draw.integers(0, REGIONS, RECORDS)
    if kind == "skewed":
        region = draw.choice(REGIONS, RECORDS, p=[0.5, *[0.02] * 5, 0.3, *[0.02] * 5])
    first = draw.integers(0, REGIONS, RECORDS)
    sometimes = np.where(draw.random(RECORDS) < 0.85, region, first)
    further = {
        "two variables": {"p": [f"p{a}" for a in first], "q": [f"q{a}" for a in (region - first) % REGIONS]},
        "beside the key": {"place": [f"c{code % 6}" for code in region]},
        "sets": {"pair": [f"t{code // 2}" for code in region]},
        "postcodes": {
            "post": [f"{code:02d}{own:05d}" for code, own in zip(region, draw.permutation(RECORDS), strict=True)]
        },
        "turnover": {"turnover": np.round(1_000 * region + draw.uniform(0, 999, RECORDS), 3)},
        "often": {"near": [f"z{code}" for code in sometimes]},
    }
    return pl.DataFrame(
        {
            "person": range(RECORDS),
            "region": [f"r{code:02d}" for code in region],
            "sex": draw.choice(["f", "m"], RECORDS),
            "age": draw.choice(list("abcdefgh"), RECORDS, p=[0.2, 0.2, 0.2, 0.15, 0.1, 0.06, 0.05, 0.04]),
            "x": draw.choice(list("uvwxyz"), RECORDS),
            "income": np.round(draw.lognormal(10, 1, RECORDS), 2),
            **further.get(kind, {}),
        }
    )


def told(kind: str, shown: pl.DataFrame) -> list[frozenset[int]]:
    """The attack: the regions that each published record may be in, by what everybody knows of the variables."""
    if kind == "two variables":
        return [frozenset({(int(p[1:]) + int(q[1:])) % REGIONS}) for p, q in shown.select("p", "q").rows()]
    if kind == "beside the key":
        half = {"north": 0, "south": 6}
        places = shown.select("region", "place").rows() if "region" in shown.columns else []
        return [frozenset({half[region] + int(place[1:])}) for region, place in places] or [
            frozenset({int(place[1:]), 6 + int(place[1:])}) for place in shown["place"]
        ]
    if kind == "sets":
        return [frozenset({2 * int(code[1:]), 2 * int(code[1:]) + 1}) for code in shown["pair"]]
    if kind == "postcodes":
        return [frozenset({int(str(code)[:-5] or 0)}) for code in shown["post"]]
    return [frozenset({int(number // 1_000)}) for number in shown["turnover"]]


def found(kind: str, frame: pl.DataFrame, shown: pl.DataFrame) -> int:
    """People who fit fewer than three published records."""
    records: Counter[tuple[int, str, str]] = Counter()
    for regions, sex, age in zip(told(kind, shown), shown["sex"], shown["age"], strict=True):
        records.update((region, sex, age) for region in regions)
    return sum(records[int(region[1:]), sex, age] < 3 for region, sex, age in frame.select(KEYS).rows())


def protected(frame: pl.DataFrame, *, drop: bool = False, most: float = LIMIT) -> rt.FileRun:
    step = mask.RemoveIdentifiers(variables=("region",)) if drop else mask.Recode(variable="region", map=HALVES)
    return rt.load(frame, keys=KEYS, identifiers=["person"]).protect([step], secret=SECRET, most=most)


def in_an_engine(folder: Path, frame: pl.DataFrame, most: float = LIMIT) -> State:
    frame.write_parquet(folder / "people.parquet")
    limits = rt.RiskSection(most=most, accept_risk="a test of an attack")
    with rt.load(folder / "people.parquet", keys=KEYS, identifiers=["person"], engine="duckdb") as large:
        run = large.protect(
            [mask.Recode(variable="region", map=HALVES)], folder / "safe-*.parquet", risk=limits, secret=SECRET
        )
    return run.verdict["recount"].state


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("kind", TIED)
def test_what_variables_have_together_of_a_key_is_not_held(kind: str, drop: bool) -> None:
    frame = people(kind, 1)
    run = protected(frame, drop=drop)
    people_found = found(kind, frame, run.release(accept_risk="to show the attack").to_frame())
    assert people_found > 0 or (drop and kind == "beside the key")  # without its half a place is in two regions
    assert run.verdict["recount"].state is (State.NOT_JUDGED if people_found else State.HELD)


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("kind", LOOSE)
def test_variables_that_do_not_have_the_key_are_not_named(kind: str, drop: bool) -> None:
    verdict = protected(people(kind, 1), drop=drop, most=1.0).verdict["recount"]
    assert verdict.state is State.HELD
    assert "for whoever knows" not in verdict.text


def test_what_does_no_harm_to_anybody_is_held() -> None:
    """Every region has many people of each sex: whoever knows the region of all records finds nobody."""
    frame = people("sets", 1).drop("age")
    step = mask.Recode(variable="region", map=HALVES)
    run = rt.load(frame, keys=["region", "sex"], identifiers=["person"]).protect([step], secret=SECRET, most=LIMIT)
    assert run.verdict["recount"].state is State.HELD
    assert "records have fewer codes of region by pair" in run.verdict["recount"].text
    assert run.verdict["recount"].value == pytest.approx(1 / fewest(frame))


def fewest(frame: pl.DataFrame) -> int:
    """People of one sex in the two regions that a code of `pair` stands for, where these are fewest."""
    return int(frame.group_by("pair", "sex").len()["len"].min())  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", TIED)
def test_an_engine_does_not_judge_them_either(tmp_path: Path, kind: str) -> None:
    assert in_an_engine(tmp_path, people(kind, 1)) is State.NOT_JUDGED


@pytest.mark.parametrize("kind", LOOSE[:2])
def test_an_engine_names_nothing_else(tmp_path: Path, kind: str) -> None:
    assert in_an_engine(tmp_path, people(kind, 1)) is State.HELD


if __name__ == "__main__":
    for kind in (*TIED, *LOOSE):
        total: Counter[str] = Counter()
        for seed in range(20):
            frame = people(kind, seed)
            run = protected(frame)
            total[str(run.verdict["recount"].state)] += 1
            total["named"] += "for whoever knows" in run.verdict["recount"].text
            if kind in TIED:
                total["people"] += found(kind, frame, run.release(accept_risk="to show the attack").to_frame())
        sys.stdout.write(f"{kind}: {dict(total)}\n")
