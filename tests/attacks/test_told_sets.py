"""A year of birth beside an age in bands: whoever knows that one year has two ages has nearly the age, and no two years the same.

Sets of codes that overlap leave few codes to each record, though they tell no code and fall into no parts. The attacker knows the
sets, and has the published file.
"""

import hashlib
import sys
from collections import Counter

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import mask
from reticent.data.verdict import State

SECRET = hashlib.sha256(b"known in sets").digest()
RECORDS, LIMIT, CODES = 1_200, 0.34, 40
TIED = ("year of birth", "towns in two regions")
Sets = dict[str, frozenset[int]]


def people(kind: str, seed: int) -> tuple[pl.DataFrame, Sets]:
    """People with a key of many codes and a variable that leaves one or two of them; and which these are."""
    draw = np.random.default_rng(seed)
    code = draw.integers(0, CODES, RECORDS)
    if (
        kind == "towns in two regions"
    ):  # 100 towns of about twelve people; every second or third lies in two of twelve regions
        code %= 12
        first, both = np.arange(100) % 12, draw.random(100) < 0.4
        lies = [np.flatnonzero((first == region) | (both & ((first + 1) % 12 == region))) for region in range(12)]
        told = np.array([draw.choice(lies[region]) for region in code])
        left = [
            frozenset({int(at), int(at + 1) % 12} if two else {int(at)}) for at, two in zip(first, both, strict=True)
        ]
    else:
        told = code + draw.integers(0, 2, RECORDS)
        left = [frozenset({at - 1, at}) for at in range(CODES + 1)]
    if kind == "chance":
        told = draw.permutation(told)
    frame = pl.DataFrame(
        {
            "code": [f"c{at:02d}" for at in code],
            "sex": draw.choice(["f", "m"], RECORDS),
            "size": draw.choice(list("abcdefgh"), RECORDS, p=[0.2, 0.2, 0.2, 0.15, 0.1, 0.06, 0.05, 0.04]),
            "told": [f"t{at:03d}" for at in told],
        }
    )
    return frame, {f"t{at:03d}": some for at, some in enumerate(left)}


def protected(frame: pl.DataFrame, *, drop: bool = False) -> rt.FileRun:
    codes = sorted(set(frame["code"]))
    halves = {code: "low" if at < len(codes) / 2 else "high" for at, code in enumerate(codes)}
    step = mask.RemoveIdentifiers(variables=("code",)) if drop else mask.Recode(variable="code", map=halves)
    return rt.load(frame, keys=["code", "sex", "size"]).protect([step], secret=SECRET, most=LIMIT)


def found(frame: pl.DataFrame, shown: pl.DataFrame, sets: Sets) -> int:
    """The attack: people whom fewer than three published records fit by sex, size and the sets."""
    records: Counter[tuple[int, str, str]] = Counter()
    for told, sex, size in shown.select("told", "sex", "size").rows():
        records.update((code, sex, size) for code in sets[told])
    return sum(records[int(code[1:]), sex, size] < 3 for code, sex, size in frame.select("code", "sex", "size").rows())


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("kind", TIED)
def test_sets_of_codes_that_overlap_are_counted_with(kind: str, drop: bool) -> None:
    frame, sets = people(kind, 1)
    run = protected(frame, drop=drop)
    assert found(frame, run.release(accept_risk="to show the attack").to_frame(), sets) > 0
    assert run.verdict["recount"].state is State.NOT_JUDGED


@pytest.mark.parametrize("seed", range(3))
def test_sets_that_chance_makes_are_not_named(seed: int) -> None:
    verdict = protected(people("chance", seed)[0]).verdict["recount"]
    assert verdict.state is State.HELD
    assert "for whoever knows" not in verdict.text


if __name__ == "__main__":
    for kind in (*TIED, "chance"):
        for drop in (False, True):
            total: Counter[str] = Counter()
            for seed in range(20):
                frame, sets = people(kind, seed)
                run = protected(frame, drop=drop)
                total[str(run.verdict["recount"].state)] += 1
                total["named"] += "for whoever knows" in run.verdict["recount"].text
                if kind in TIED:
                    total["people"] += found(frame, run.release(accept_risk="to show the attack").to_frame(), sets)
            sys.stdout.write(f"{kind}, {'dropped' if drop else 'recoded'}: {dict(total)}\n")
