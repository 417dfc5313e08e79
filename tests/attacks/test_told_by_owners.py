"""Values exchanged within a region tell the region: whoever has everybody's incomes knows whose income stands there.

The region is recoded, dropped or blanked afterwards. `python -m attacks.test_told_by_owners N` counts N files of each kind.
"""

import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import mask
from reticent.data.method import Method

SECRET = hashlib.sha256(b"whose values are these").digest()
KEYS = ["region", "sex", "age"]
REGIONS = 12
HALVES = {f"r{code:02d}": "north" if code < REGIONS // 2 else "south" for code in range(REGIONS)}
RECODE, DROP = mask.Recode(variable="region", map=HALVES), mask.RemoveIdentifiers(variables=("region",))
NO_RENT = mask.RemoveIdentifiers(variables=("rent",))
INCOME, REGION = ("income",), ("region",)


def people(seed: int, n: int = 1_200) -> pl.DataFrame:
    """People of twelve regions with incomes and rents of their own, which have nothing to do with the region."""
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "region": [f"r{code:02d}" for code in draw.integers(0, REGIONS, n)],
            "sex": draw.choice(["f", "m"], n),
            "age": draw.choice(list("abcdefgh"), n, p=[0.2, 0.2, 0.2, 0.15, 0.1, 0.06, 0.05, 0.04]),
            "income": np.round(np.exp(draw.normal(10, 0.5, n)), 2),
            "rent": np.round(np.exp(draw.normal(6, 0.5, n)), 2),
        }
    )


def steps(how: str) -> Sequence[Method]:
    kinds: dict[str, Callable[[], Sequence[Method]]] = {
        "rank-swap, recoded": lambda: (mask.RankSwap(INCOME, window=40, strata=REGION), NO_RENT, RECODE),
        "rank-swap, dropped": lambda: (mask.RankSwap(INCOME, window=40, strata=REGION), NO_RENT, DROP),
        "shuffle, recoded": lambda: (mask.Shuffle(INCOME, predictors=("rent",), strata=REGION), NO_RENT, RECODE),
        "swap, dropped": lambda: (mask.Swap(INCOME, rate=90, within=REGION), NO_RENT, DROP),
        "swap, blanked": lambda: (mask.Swap(INCOME, rate=90, within=REGION), NO_RENT, mask.LocalSuppression(k=3)),
        "swap within region and sex": lambda: (mask.Swap(INCOME, rate=90, within=("region", "sex")), NO_RENT, RECODE),
        "swap, a little noise, recoded": lambda: (
            mask.Swap(INCOME, rate=90, within=REGION), mask.Noise(INCOME, k=1e-9), NO_RENT, RECODE,
        ),
        "swap, more noise, recoded": lambda: (
            mask.Swap(INCOME, rate=90, within=REGION), mask.Noise(INCOME, k=1e-6), NO_RENT, RECODE,
        ),
        "swap, rounded at random, recoded": lambda: (
            mask.Swap(INCOME, rate=90, within=REGION), mask.RoundValues(INCOME, base=1, how="random"), NO_RENT, RECODE,
        ),
        "rank-swap, rounded, recoded": lambda: (
            mask.RankSwap(INCOME, window=40, strata=REGION), mask.RoundValues(INCOME, base=1000), NO_RENT, RECODE,
        ),
        "everywhere: rank-swap": lambda: (mask.RankSwap(INCOME, window=40), NO_RENT, RECODE),
        "everywhere: shuffle": lambda: (mask.Shuffle(INCOME, predictors=("rent",)), NO_RENT, DROP),
        "everywhere: swap of few": lambda: (mask.Swap(INCOME, rate=4), NO_RENT, RECODE),
        "everywhere: swap within sex": lambda: (mask.Swap(INCOME, rate=90, within=("sex",)), NO_RENT, DROP),
        "everywhere: noise": lambda: (mask.Noise(INCOME, k=0.5), mask.RoundValues(INCOME, base=1000), NO_RENT, RECODE),
    }  # fmt: skip
    return kinds[how]()


WITHIN = (
    "swap, a little noise, recoded", "swap, more noise, recoded",
    "swap, rounded at random, recoded", "rank-swap, recoded", "rank-swap, dropped",
    "shuffle, recoded", "swap, dropped", "swap, blanked", "swap within region and sex", "rank-swap, rounded, recoded",
)  # fmt: skip
EVERYWHERE = tuple(f"everywhere: {how}" for how in ("rank-swap", "shuffle", "swap of few", "swap within sex", "noise"))


def found(frame: pl.DataFrame, run: rt.FileRun) -> int:
    """The attack: people who fit fewer than three records by their keys, where the owners of an income say the regions.

    Owners are those with the nearest income, by thousands where all incomes are.
    """
    shown = run.release(accept_risk="to show the attack").to_frame()
    whole = bool((shown["income"] % 1000 == 0).all())
    truth = frame.with_columns(near=pl.col("income") / 1000).with_columns(
        near=pl.col("near").round() if whole else "near"
    )
    regions: dict[float, set[str]] = {}
    for income, region in truth.select("near", "region").rows():
        regions.setdefault(income, set()).add(region)
    incomes = np.array(sorted(regions))
    at = np.searchsorted((incomes[1:] + incomes[:-1]) / 2, shown["income"].to_numpy() / 1000)
    records = shown.select("sex", "age", *({"region"} & set(shown.columns))).rows()
    possible = Counter[tuple[str, str, str]]()
    for (sex, age, *published), income in zip(records, incomes[at].tolist(), strict=True):
        for region in regions[income]:
            if not published or published[0] in (None, region, HALVES[region]):
                possible.update(
                    (s, a, region) for s in ([sex] if sex else "fm") for a in ([age] if age else "abcdefgh")
                )
    return sum(0 < possible[sex, age, region] < 3 for region, sex, age in frame.select(KEYS).rows())


def protected(frame: pl.DataFrame, how: str) -> rt.FileRun:
    return rt.load(frame, keys=KEYS).protect(list(steps(how)), secret=SECRET, most=0.34)


@pytest.mark.parametrize("how", WITHIN[:-2])
def test_values_exchanged_within_a_region_tell_it(how: str) -> None:
    frame = people(1)
    run = protected(frame, how)
    verdict = run.verdict["recount"]
    assert found(frame, run) > 0
    assert str(verdict.state) == "not judged"
    assert (
        "of region by income, finer than the file shows it, for whoever knows who truly has the values" in verdict.text
    )
    with pytest.raises(rt.NotProtectedError):
        run.release()


def scores(seed: int, moved: Sequence[str]) -> tuple[rt.FileRun, int]:
    """Two scores from 0 to 99, exchanged apart within a region; and the people whom both together find."""
    draw = np.random.default_rng([seed, 1])
    frame = (
        people(seed).drop("income", "rent").with_columns(x=draw.integers(0, 100, 1_200), y=draw.integers(0, 100, 1_200))
    )
    within = REGION if moved else ()
    steps = [mask.Swap(("x",), rate=90, within=within), mask.Swap(("y",), rate=90, within=within), RECODE]
    run = rt.load(frame, keys=KEYS).protect(steps, secret=SECRET, most=0.34)
    shown = run.release(accept_risk="to show the attack").to_frame()
    owners = {name: frame.group_by(name).agg("region").rows_by_key(name) for name in "xy"}
    possible = Counter[tuple[str, str, str]]()
    for half, sex, age, x, y in shown.select(*KEYS, "x", "y").rows():
        both = set(owners["x"][x][0][0]) & set(owners["y"][y][0][0])
        possible.update((sex, age, region) for region in both if HALVES[region] == half)
    return run, sum(0 < possible[sex, age, region] < 3 for region, sex, age in frame.select(KEYS).rows())


def test_two_numbers_that_few_people_share_tell_it_together() -> None:
    run, people_found = scores(0, REGION)
    assert people_found > 0
    assert str(run.verdict["recount"].state) == "not judged"
    assert str(scores(0, ())[0].verdict["recount"].state) == "held"


@pytest.mark.parametrize("how", EVERYWHERE)
def test_values_exchanged_everywhere_tell_nothing(how: str) -> None:
    verdict = protected(people(2), how).verdict["recount"]
    assert str(verdict.state) == "held"
    assert "truly has" not in verdict.text


def test_rounding_that_makes_owners_many_is_enough() -> None:
    """The same attacker, counted with the regions that the owners of a rounded income leave."""
    frame = people(3)
    run = protected(frame, "rank-swap, rounded, recoded")
    assert found(frame, run) == 0
    assert str(run.verdict["recount"].state) == "held"


if __name__ == "__main__":
    for how in (*WITHIN, *EVERYWHERE):
        total: Counter[str] = Counter()
        for seed in range(int(sys.argv[1]) if len(sys.argv) > 1 else 20):
            frame = people(seed)
            run = protected(frame, how)
            total[f"recount {run.verdict['recount'].state}"] += 1
            if how in WITHIN:
                total["people found"] += found(frame, run)
        sys.stdout.write(f"{how}: {dict(total)}\n")
    found_by_two, states = 0, Counter[str]()
    for seed in range(int(sys.argv[1]) if len(sys.argv) > 1 else 20):
        run, people_found = scores(seed, REGION)
        found_by_two += people_found
        states[f"recount {run.verdict['recount'].state}"] += 1
    sys.stdout.write(f"two scores: {dict(states)}, people found {found_by_two}\n")
