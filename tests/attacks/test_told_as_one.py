"""Values that were moved as one, or among records with equal keys, tell the stratum together, though each has many owners.

The attacker knows everybody's keys and scores, and which variables a step moved. `python -m attacks.test_told_as_one N` counts
N files of each kind.
"""

import sys
from collections import Counter

import numpy as np
import polars as pl
import pytest

import reticent as rt
from attacks.test_told_by_owners import DROP, HALVES, KEYS, RECODE, REGION, SECRET, people
from reticent import mask
from reticent.data.method import Method

KINDS: dict[str, tuple[Method, Method, tuple[str, ...]]] = {
    "two scores as one, recoded": (mask.Swap(("x", "y"), rate=90, within=REGION), RECODE, ("x", "y")),
    "two scores as one, dropped": (mask.Swap(("x", "y"), rate=90, within=REGION), DROP, ("x", "y")),
    "within region and sex": (mask.Swap(("z",), rate=90, within=("region", "sex")), RECODE, ("z", "sex")),
    "within all keys, recoded": (mask.Swap(("x",), rate=90, within=tuple(KEYS)), RECODE, ("x", "sex", "age")),
    "within all keys, dropped": (mask.Swap(("x",), rate=90, within=tuple(KEYS)), DROP, ("x", "sex", "age")),
}
EVERYWHERE: dict[str, Method] = {
    "as one": mask.Swap(("x", "y"), rate=90),
    "within sex": mask.Swap(("x", "y"), rate=90, within=("sex",)),
    "within sex and age": mask.Swap(("x",), rate=90, within=("sex", "age")),
}


def scored(seed: int, n: int = 1_200) -> pl.DataFrame:
    """People with two scores from 0 to 39, which everybody shares with about thirty others, and one from 0 to 199."""
    draw = np.random.default_rng([seed, 2])
    scores = {name: draw.integers(0, end, n) for name, end in (("x", 40), ("y", 40), ("z", 200))}
    return people(seed, n).drop("income", "rent").with_columns(**scores)


def protected(frame: pl.DataFrame, moved: Method, then: Method) -> rt.FileRun:
    used = {*moved.variables} if hasattr(moved, "variables") else set[str]()
    frame = frame.drop({"x", "y", "z"} - used)
    return rt.load(frame, keys=KEYS).protect([moved, then], secret=SECRET, most=0.34)


def found(frame: pl.DataFrame, run: rt.FileRun, tied: tuple[str, ...]) -> int:
    """The attack: people who fit fewer than three records, where those who have the values of a record say its region."""
    owners: dict[tuple[object, ...], set[str]] = {}
    for *values, region in frame.select(*tied, "region").rows():
        owners.setdefault(tuple(values), set()).add(region)
    possible = Counter[tuple[str, str, str]]()
    for record in run.release(accept_risk="to show the attack").to_frame().to_dicts():
        for region in owners[tuple(record[name] for name in tied)]:
            if record.get("region", HALVES[region]) == HALVES[region]:
                possible[record["sex"], record["age"], region] += 1
    return sum(0 < possible[sex, age, region] < 3 for region, sex, age in frame.select(KEYS).rows())


@pytest.mark.parametrize("kind", KINDS)
def test_values_moved_as_one_tell_the_stratum(kind: str) -> None:
    moved, then, tied = KINDS[kind]
    frame = scored(0)
    run = protected(frame, moved, then)
    assert found(frame, run, tied) > 0
    verdict = run.verdict["recount"]
    assert str(verdict.state) == "not judged"
    assert (
        f"of region by {' with '.join(tied)}, finer than the file shows it, for whoever knows who truly" in verdict.text
    )


def test_scores_that_one_step_moved_are_looked_at_without_others() -> None:
    """Three scores from 0 to 9 went the same way, a fourth one another: the three tell the region, with no pair nor with all."""
    draw = np.random.default_rng([7, 3])
    frame = people(7).drop("income", "rent").with_columns(**{name: draw.integers(0, 10, 1_200) for name in "xyzw"})
    steps = [mask.Swap(("x", "y", "z"), rate=90, within=REGION), mask.Swap(("w",), rate=90), RECODE]
    run = rt.load(frame, keys=KEYS).protect(steps, secret=SECRET, most=0.34)
    assert found(frame, run, ("x", "y", "z")) > 0
    assert str(run.verdict["recount"].state) == "not judged"


@pytest.mark.parametrize("kind", EVERYWHERE)
def test_values_moved_everywhere_as_one_tell_nothing(kind: str) -> None:
    verdict = protected(scored(1), EVERYWHERE[kind], RECODE).verdict["recount"]
    assert str(verdict.state) == "held"
    assert "truly has" not in verdict.text


if __name__ == "__main__":
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    for kind, (moved, then, tied) in KINDS.items():
        total: Counter[str] = Counter()
        for seed in range(files):
            frame = scored(seed)
            run = protected(frame, moved, then)
            total[f"recount {run.verdict['recount'].state}, linkage {run.verdict['linkage'].state}"] += 1
            total["people found"] += found(frame, run, tied)
        sys.stdout.write(f"{kind}: {dict(total)}\n")
    for kind, moved in EVERYWHERE.items():
        total = Counter(str(protected(scored(seed), moved, RECODE).verdict["recount"].state) for seed in range(files))
        sys.stdout.write(f"everywhere, {kind}: {dict(total)}\n")
