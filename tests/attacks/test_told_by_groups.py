"""Means of groups inside of a region tell the region, also where a little noise makes each of them different.

The attacker has everybody's incomes and regions and carries out `microaggregate`, which draws nothing: the nearest mean is that
of a group of one region. `python -m attacks.test_told_by_groups N` counts N files of each kind.
"""

import sys
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
import pytest

import reticent as rt
from attacks.test_told_by_owners import DROP, INCOME, RECODE, REGION, REGIONS, SECRET
from reticent import mask
from reticent.data.method import Method

KEYS = ["region", "sex"]
KINDS: dict[str, Callable[[], Sequence[Method]]] = {
    "noise, recoded": lambda: (mask.Microaggregate(INCOME, k=4, strata=REGION), mask.Noise(INCOME, k=1e-9), RECODE),
    "noise, dropped": lambda: (mask.Microaggregate(INCOME, k=4, strata=REGION), mask.Noise(INCOME, k=1e-9), DROP),
    "groups of six, dropped": lambda: (
        mask.Microaggregate(INCOME, k=6, strata=REGION), mask.Noise(INCOME, k=1e-9), DROP,
    ),
    "more noise, recoded": lambda: (mask.Microaggregate(INCOME, k=4, strata=REGION), mask.Noise(INCOME, k=1e-7), RECODE),
    "more noise, dropped": lambda: (mask.Microaggregate(INCOME, k=4, strata=REGION), mask.Noise(INCOME, k=1e-7), DROP),
    "much more, dropped": lambda: (mask.Microaggregate(INCOME, k=4, strata=REGION), mask.Noise(INCOME, k=1e-5), DROP),
    "exchanged as well": lambda: (
        mask.Microaggregate(INCOME, k=4, strata=REGION), mask.Swap(INCOME, rate=90, within=REGION),
        mask.Noise(INCOME, k=1e-9), DROP,
    ),
}  # fmt: skip
EVERYWHERE: dict[str, Callable[[], Sequence[Method]]] = {
    "everybody": lambda: (mask.Microaggregate(INCOME, k=4), mask.Noise(INCOME, k=1e-9), DROP),
    "everybody, more noise": lambda: (mask.Microaggregate(INCOME, k=4), mask.Noise(INCOME, k=1e-6), DROP),
    "within sex": lambda: (mask.Microaggregate(INCOME, k=4, strata=("sex",)), mask.Noise(INCOME, k=1e-9), RECODE),
}


def people(seed: int, n: int = 1_200) -> pl.DataFrame:
    """People of twelve regions, of whom 3 % are men."""
    draw = np.random.default_rng([seed, 9])
    return pl.DataFrame(
        {
            "region": [f"r{code:02d}" for code in draw.integers(0, REGIONS, n)],
            "sex": draw.choice(["f", "m"], n, p=[0.97, 0.03]),
            "income": np.round(np.exp(draw.normal(10, 0.5, n)), 2),
        }
    )


def protected(frame: pl.DataFrame, steps: Sequence[Method]) -> rt.FileRun:
    return rt.load(frame, keys=KEYS).protect(list(steps), secret=SECRET, most=0.34)


def found(frame: pl.DataFrame, steps: Sequence[Method], run: rt.FileRun) -> int:
    """The attack: people who fit fewer than three records by sex and the regions of those whose mean is nearest."""
    groups = protected(frame, steps[:1]).release(accept_risk="the attacker repeats the step").to_frame()
    regions: dict[float, set[str]] = {}
    for income, region in groups.select("income", "region").rows():
        regions.setdefault(income, set()).add(region)
    means = np.array(sorted(regions))
    shown = run.release(accept_risk="to show the attack").to_frame()
    nearest = means[np.searchsorted((means[1:] + means[:-1]) / 2, shown["income"].to_numpy())]
    possible = Counter[tuple[str, str]]()
    for sex, mean in zip(shown["sex"], nearest.tolist(), strict=True):
        possible.update((region, sex) for region in regions[mean])
    return sum(0 < possible[person] < 3 for person in frame.select(KEYS).rows())


@pytest.mark.parametrize("kind", KINDS)
def test_means_of_groups_in_a_region_tell_it(kind: str) -> None:
    frame, steps = people(0), KINDS[kind]()
    run = protected(frame, steps)
    assert found(frame, steps, run) > 0
    assert str(run.verdict["recount"].state) == "not judged"
    assert "of region by income, finer than the file shows it" in run.verdict["recount"].text


@pytest.mark.parametrize("kind", EVERYWHERE)
def test_means_of_groups_of_all_regions_tell_nothing(kind: str) -> None:
    verdict = protected(people(1), EVERYWHERE[kind]()).verdict["recount"]
    assert str(verdict.state) == "held"
    assert "finer than the file shows it" not in verdict.text


if __name__ == "__main__":
    for kind, make in {**KINDS, **EVERYWHERE}.items():
        total: Counter[str] = Counter()
        for seed in range(int(sys.argv[1]) if len(sys.argv) > 1 else 20):
            frame, steps = people(seed), make()
            run = protected(frame, steps)
            total[f"recount {run.verdict['recount'].state}, linkage {run.verdict['linkage'].state}"] += 1
            total["people found"] += found(frame, steps, run) if kind in KINDS else 0
        sys.stdout.write(f"{kind}: {dict(total)}\n")
