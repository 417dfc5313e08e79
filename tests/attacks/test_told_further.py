"""Keys that published variables still have by what is missing, by an order inside of codes, and after an exchange.

Continues `test_told_together.py`: the attacker has a map, and the published file. Households are counted with the map, too.
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

SECRET = hashlib.sha256(b"known further").digest()
KEYS = ["region", "sex", "age"]
REGIONS, RECORDS, LIMIT = 12, 1_200, 0.34
HALVES = {f"r{code:02d}": "north" if code < REGIONS // 2 else "south" for code in range(REGIONS)}
TIED = ("missing", "inside of codes", "sum", "ratio", "exchanged")
LOOSE = ("missing by chance", "numbers by chance", "exchanged by chance")
INDUSTRIES = 6


def people(kind: str, seed: int) -> pl.DataFrame:
    """People with a region, and variables that have it in one way or another, or have nothing to do with it."""
    draw = np.random.default_rng(seed)
    region = draw.integers(0, REGIONS, RECORDS)
    told = draw.integers(0, REGIONS, RECORDS) if kind in LOOSE else region
    industry, within = draw.integers(0, INDUSTRIES, RECORDS), draw.uniform(0, 0.999, RECORDS)
    share = draw.uniform(0, 1, RECORDS)
    total = told + within
    places = {
        "missing": {"fare": [None if code == 0 else f"f{code}" for code in draw.integers(1, 5, RECORDS) * (told > 0)]},
        "inside of codes": {
            "industry": [f"i{code}" for code in industry],
            "turnover": np.round(1_000 * ((told + 5 * industry) % REGIONS + within), 3),
        },
        "sum": {"home": np.round(1_000 * total * share, 3), "abroad": np.round(1_000 * total * (1 - share), 3)},
        "ratio": {"home": np.round(1_000 * (1 + share), 6), "abroad": np.round(1_000 * (1 + share) * (1 + total), 6)},
        "exchanged": {
            "district": [f"d{code:02d}{of}" for code, of in zip(told, draw.integers(0, 3, RECORDS), strict=True)]
        },
    }
    places |= {
        "missing by chance": places["missing"],
        "numbers by chance": places["inside of codes"] | places["sum"],
        "exchanged by chance": places["exchanged"],
    }
    return pl.DataFrame(
        {
            "person": range(RECORDS),
            "region": [f"r{code:02d}" for code in region],
            "sex": draw.choice(["f", "m"], RECORDS),
            "age": draw.choice(list("abcdefgh"), RECORDS, p=[0.2, 0.2, 0.2, 0.15, 0.1, 0.06, 0.05, 0.04]),
            **places[kind],
        }
    )


def told_region(kind: str, shown: pl.DataFrame) -> list[int | None]:
    """The attack: the region of each published record, by what everybody knows of the variables."""
    if kind == "missing":
        return [0 if fare is None else None for fare in shown["fare"]]
    if kind == "inside of codes":
        rows = shown.select("industry", "turnover").rows()
        return [(int(turnover // 1_000) - 5 * int(industry[1:])) % REGIONS for industry, turnover in rows]
    if kind == "sum":
        return [int((home + abroad) // 1_000) for home, abroad in shown.select("home", "abroad").rows()]
    if kind == "ratio":
        return [int(abroad / home - 1) for home, abroad in shown.select("home", "abroad").rows()]
    return [int(code[1:3]) for code in shown["district"]]


def found(kind: str, frame: pl.DataFrame, shown: pl.DataFrame) -> int:
    """People who fit fewer than three published records and whose region another variable tells."""
    regions = told_region(kind, shown)
    records = Counter(zip(regions, shown["sex"], shown["age"], strict=True))
    people_of = [(int(region[1:]), sex, age) for region, sex, age in frame.select(KEYS).rows()]
    return sum(records[person] < 3 for person in people_of if kind != "missing" or person[0] == 0)


def steps(kind: str) -> list[mask.Recode | mask.Swap]:
    exchange = kind.startswith("exchanged")
    return [mask.Swap(variables=("region",), rate=100) if exchange else mask.Recode(variable="region", map=HALVES)]


def protected(kind: str, frame: pl.DataFrame, *, most: float = LIMIT) -> rt.FileRun:
    return rt.load(frame, keys=KEYS, identifiers=["person"]).protect(steps(kind), secret=SECRET, most=most)


@pytest.mark.parametrize("kind", TIED)
def test_what_variables_have_of_a_key_is_not_held(kind: str) -> None:
    frame = people(kind, 1)
    run = protected(kind, frame)
    assert found(kind, frame, run.release(accept_risk="to show the attack").to_frame()) > 0
    assert run.verdict["recount"].state is State.NOT_JUDGED


@pytest.mark.parametrize("kind", LOOSE)
def test_variables_that_do_not_have_the_key_are_not_named(kind: str) -> None:
    verdict = protected(kind, people(kind, 1), most=1.0).verdict["recount"]
    assert verdict.state is State.HELD
    assert "for whoever knows" not in verdict.text


@pytest.mark.parametrize("kind", TIED[:2])
def test_an_engine_does_not_judge_them_either(tmp_path: Path, kind: str) -> None:
    people(kind, 1).write_parquet(tmp_path / "people.parquet")
    limits = rt.RiskSection(most=LIMIT, accept_risk="a test of an attack")
    with rt.load(tmp_path / "people.parquet", keys=KEYS, identifiers=["person"], engine="duckdb") as large:
        run = large.protect(steps(kind), tmp_path / "safe-*.parquet", risk=limits, secret=SECRET)
    assert run.verdict["recount"].state is State.NOT_JUDGED


def couples(seed: int) -> pl.DataFrame:
    """Couples in districts of twelve regions: many of each kind in each half, few in each region."""
    draw = np.random.default_rng(seed)
    region = draw.integers(0, REGIONS, 600)
    kinds = draw.integers(0, 6, 600)
    both = np.repeat(region, 2)
    members = np.array([(a, b) for a in range(3) for b in range(a, 3)])[kinds].ravel()
    return pl.DataFrame(
        {
            "person": range(1_200),
            "home": np.repeat(np.arange(600), 2),
            "region": [f"r{code:02d}" for code in both],
            "age": [f"a{code}" for code in members],
            "district": [f"d{code:02d}" for code in both],
        }
    )


def protected_couples(frame: pl.DataFrame) -> rt.FileRun:
    step = mask.Recode(variable="region", map=HALVES)
    loaded = rt.load(frame, keys=["region", "age"], identifiers=["person"], household="home")
    return loaded.protect([step], secret=SECRET, most=LIMIT)


def homes_found(frame: pl.DataFrame, shown: pl.DataFrame) -> int:
    """Households that fit fewer than three published ones by the ages of their members and the region of the district."""
    looked_up = shown.with_columns(region="r" + pl.col("district").str.slice(1))
    records = Counter(_compositions(looked_up))
    return sum(records[home] < 3 for home in _compositions(frame))


def _compositions(frame: pl.DataFrame) -> list[tuple[str, tuple[str, ...]]]:
    rows = frame.group_by("home").agg(pl.col("region").first(), pl.col("age").sort()).rows()
    return [(region, tuple(ages)) for _, region, ages in rows]


def test_households_are_counted_with_the_map_too() -> None:
    frame = couples(1)
    run = protected_couples(frame)
    assert homes_found(frame, run.release(accept_risk="to show the attack").to_frame()) > 0
    assert run.verdict["recount"].state is State.HELD
    assert run.verdict["households"].state is State.NOT_JUDGED


def incomes(seed: int) -> pl.DataFrame:
    """People in districts, with two numbers that noise will change."""
    draw = np.random.default_rng(seed)
    region = draw.integers(0, REGIONS, RECORDS)
    return pl.DataFrame(
        {
            "person": range(RECORDS),
            "region": [f"r{code:02d}" for code in region],
            "sex": draw.choice(["f", "m"], RECORDS),
            "age": draw.choice(list("abcd"), RECORDS),
            "district": [f"d{code:02d}" for code in region],
            "income": np.round(draw.lognormal(10, 1, RECORDS), 2),
            "tax": np.round(draw.lognormal(8, 1, RECORDS), 2),
        }
    )


def protected_incomes(frame: pl.DataFrame) -> rt.FileRun:
    made = [mask.Recode(variable="region", map=HALVES), mask.Noise(variables=("income", "tax"), k=0.2)]
    return rt.load(frame, keys=KEYS, identifiers=["person"]).protect(made, secret=SECRET, most=LIMIT, keep_order=True)


def linked(frame: pl.DataFrame, shown: pl.DataFrame, *, by_district: bool) -> float:
    """The share of published records whose nearest person of the same sex, age and place is the right one."""
    place = ["r" + code[1:] for code in shown["district"]] if by_district else shown["region"].to_list()
    places = frame["region"].to_list() if by_district else [HALVES[code] for code in frame["region"]]
    cells: dict[tuple[str, ...], list[int]] = {}
    for person, cell in enumerate(zip(places, frame["sex"], frame["age"], strict=True)):
        cells.setdefault(cell, []).append(person)
    numbers, changed = (one.select("income", "tax").to_numpy() for one in (frame, shown))
    right = 0
    for record, cell in enumerate(zip(place, shown["sex"], shown["age"], strict=True)):
        people_there = np.array(cells[cell])
        far = (((numbers[people_there] - changed[record]) / numbers.std(axis=0)) ** 2).sum(axis=1)
        right += int(people_there[np.argmin(far)] == record)
    return right / frame.height


def test_records_are_linked_with_the_map_too() -> None:
    frame = incomes(1)
    run = protected_incomes(frame)
    shown = run.release(accept_risk="to show the attack").to_frame()
    assert linked(frame, shown, by_district=False) < LIMIT < linked(frame, shown, by_district=True)
    assert run.verdict["recount"].state is State.HELD
    assert run.verdict["linkage"].state is State.NOT_JUDGED


def test_a_variable_that_is_missing_everywhere_tells_nothing() -> None:
    frame = people("missing", 5).with_columns(fare=pl.lit(None, dtype=pl.String))
    assert "fare" not in protected("missing", frame).verdict["recount"].text


if __name__ == "__main__":
    for kind in (*TIED, *LOOSE):
        total: Counter[str] = Counter()
        for seed in range(20):
            frame = people(kind, seed)
            run = protected(kind, frame)
            total[str(run.verdict["recount"].state)] += 1
            total["named"] += "for whoever knows" in run.verdict["recount"].text
            if kind in TIED:
                total["people"] += found(kind, frame, run.release(accept_risk="to show the attack").to_frame())
        sys.stdout.write(f"{kind}: {dict(total)}\n")
    total = Counter()
    for seed in range(20):
        frame = couples(seed)
        run = protected_couples(frame)
        total[str(run.verdict["households"].state)] += 1
        total["recount held"] += run.verdict["recount"].state is State.HELD
        homes = homes_found(frame, run.release(accept_risk="to show the attack").to_frame())
        total["homes"] += homes
        total["homes in held files"] += homes if run.verdict["households"].state is State.HELD else 0
    sys.stdout.write(f"households: {dict(total)}\n")
    shares = Counter[str]()
    for seed in range(20):
        frame = incomes(seed)
        run = protected_incomes(frame)
        share = linked(frame, run.release(accept_risk="to show the attack").to_frame(), by_district=True)
        shares[f"{run.verdict['linkage'].state}, above the limit: {share > LIMIT}"] += 1
    sys.stdout.write(f"linkage: {dict(shares)}\n")
