"""Blanks that the other members of a household fill: it has one head, and the partner of a woman who is its head is a man.

The recount compared what all members of a household have together with a blank, and never with what the others have.
"""

import hashlib
from collections import Counter

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import mask

SECRET = hashlib.sha256(b"the other members").digest()
KEYS = ["relation", "sex", "age", "nationality"]
Row = tuple[str | None, ...]


def households(seed: int) -> pl.DataFrame:
    """700 households: a head, perhaps a partner of the other sex, perhaps children."""
    draw, rows = np.random.default_rng(seed), []
    for number in range(700):
        kind = draw.choice(["single", "couple", "family", "lone"], p=[0.35, 0.25, 0.3, 0.1])
        sex, age = draw.choice(["f", "m"]), draw.choice(list("ymo"), p=[0.3, 0.4, 0.3])
        nations = draw.choice(list("uvwx"), 2, p=[0.9, 0.05, 0.03, 0.02])
        rows.append((f"h{number}", "head", sex, age, nations[0]))
        if kind in ("couple", "family"):
            rows.append((f"h{number}", "partner", "m" if sex == "f" else "f", draw.choice(list("ymo")), nations[1]))
        if kind in ("family", "lone"):
            for _ in range(draw.integers(1, 4)):
                rows.append((f"h{number}", "child", draw.choice(["f", "m"]), "c", draw.choice(nations)))
    return pl.DataFrame(rows, schema=["home", *KEYS], orient="row")


def strangers(seed: int) -> pl.DataFrame:
    """The same people, put together by chance."""
    people = households(seed)
    return people.with_columns(home=pl.Series(np.random.default_rng(seed).permutation(people["home"].to_numpy())))


def protected(frame: pl.DataFrame) -> rt.FileRun:
    return rt.load(frame, keys=KEYS, household="home").protect([mask.LocalSuppression(k=3)], secret=SECRET, most=0.34)


def filled(shown: pl.DataFrame) -> tuple[list[Row], int]:
    """The attack, from the published file alone: its records with what the others tell, and how many blanks that fills."""
    homes: dict[str, list[list[str | None]]] = {}
    for home, *record in shown.select("home", *KEYS).rows():
        homes.setdefault(home, []).append(record)
    many = 0
    for members in homes.values():
        unknown = [member for member in members if member[0] is None]
        if len(unknown) == 1 and all(member[0] != "head" for member in members):
            unknown[0][0] = "head"
            many += 1
        couple = [member for member in members if member[0] in ("head", "partner")]
        if len(couple) == 2:
            for one, other in (couple, couple[::-1]):
                if one[1] is None and other[1] is not None:
                    one[1] = "m" if other[1] == "f" else "f"
                    many += 1
    return [tuple(member) for members in homes.values() for member in members], many


def found(frame: pl.DataFrame, records: list[Row]) -> int:
    """People whose true keys fit fewer than three of the records."""
    counts = Counter(records)
    return sum(
        many
        for person, many in Counter(frame.select(KEYS).rows()).items()
        if sum(n for r, n in counts.items() if all(c in (None, p) for c, p in zip(r, person, strict=True))) < 3
    )


def rates(seeds: range) -> Counter[str]:
    """What the attack fills and finds, and in how many files the verdict lets that pass."""
    total: Counter[str] = Counter()
    for seed in seeds:
        frame = households(seed)
        run = protected(frame)
        shown = run.release(accept_risk="to show the attack").to_frame()
        records, many = filled(shown)
        total["blanks of relation and sex"] += shown["relation"].null_count() + shown["sex"].null_count()
        total["filled"] += many
        total["people found"] += found(frame, records)
        held = str(run.verdict["recount"].state) == "held"
        total["held"] += held
        total["held, and people found"] += held and found(frame, records) > 0
    return total


def test_what_other_members_tell_counts_as_published() -> None:
    total = rates(range(4))
    assert total["filled"] > 0.25 * total["blanks of relation and sex"]
    assert total["people found"] > 0
    assert total["held"] == 0


@pytest.mark.parametrize("seed", range(4))
def test_members_who_have_nothing_to_do_with_each_other_raise_no_alarm(seed: int) -> None:
    verdict = protected(strangers(seed)).verdict["recount"]
    assert str(verdict.state) == "held"
    assert "members" not in verdict.text


def test_without_the_household_number_nothing_is_told() -> None:
    frame = households(0)
    data = rt.load(frame, keys=KEYS, household="home")
    steps = [mask.RemoveIdentifiers(variables=("home",)), mask.LocalSuppression(k=3)]
    assert "members" not in data.protect(steps, secret=SECRET, most=0.34).verdict["recount"].text


if __name__ == "__main__":
    import sys

    sys.stdout.write(f"{dict(rates(range(20)))}\n")
