"""Lines that some records lie on twice, or that few points make: their two sums gave away the one who is not on the line.

A tax is a quarter above what is declared, and who declares nothing pays nothing: their two values are equal, so these were not
counted as on the line, so they hid the one who is not. Or a benefit is 250 for each child, and nobody has more than four (or than
one: an allowance). Or all pay rises by 5 % from one version to the next, and nothing stays nothing. The attack has two sums over
an area and the line. It succeeds on the mode `open`.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from attacks.query_scenarios import policy_of
from attacks.test_query_partial_ties import opened
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.indexed import lines_in_common

PEOPLE = 80
FAMILIES = {
    "a tax": 1.25,
    "a tax that few pay": 1.25,
    "a tax that hardly anybody pays": 1.25,
    "a benefit": 250.0,
    "an allowance": 250.0,
    "a rise": 1.05,
}
AREA = "area = '0'"


def records(family: str, seed: int, others: int = 1) -> tuple[dict[str, Any], float]:
    """The records, and what those of the first area have together who are not on the line."""
    rng = np.random.default_rng(seed)
    area = np.arange(PEOPLE) % 4
    nothing = rng.random(PEOPLE) < (0.7 if "hardly" in family else 0.45 if "few" in family else 0.2)
    x = np.where(nothing, 0, rng.integers(50, 450, PEOPLE) * 20)
    if family == "a benefit":
        x = rng.integers(0, 5, PEOPLE)
    if family == "an allowance":
        x = rng.integers(0, 2, PEOPLE)
    off = (rng.random(PEOPLE) < 0.25) & (area > 0)
    off[np.flatnonzero(area == 0)[:others]] = True
    more = np.where(off, rng.integers(100, 3000, PEOPLE), 0)
    y = FAMILIES[family] * x + more
    codes = {"area": area.astype(str), "code": (np.arange(PEOPLE) % 2).astype(str)}
    return {**codes, "x": x.astype(float), "y": y}, float(more[area == 0].sum())


def versions(table: dict[str, Any], mode: str, folder: Path) -> tuple[Any, Any]:
    """The sums over the first area in a version with the values x, and in the next one with the values y."""
    ids = Variable("id", role=Role.IDENTIFIER, permanent=True)
    schema = Schema(
        (ids, Variable("area", codes=tuple("0123")), Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC))
    )
    keys = {"id": [f"p{i}" for i in range(PEOPLE)], "area": table["area"]}
    data = [Microdata.of(pl.DataFrame({**keys, "pay": table[name]}), schema) for name in "xy"]
    policy, found = policy_of(mode=mode, filters=("area",), responses=("pay",), minimum=3), []
    for number, own in enumerate(data):
        earlier = {"earlier": (("1", data[0]),)} if number else {}
        db = ProtectedDatabase(
            own,
            policy=policy,
            secret=7,
            ledger=folder / "l.ledger",
            version=str(number + 1),
            test_secret=True,
            **earlier,
        )
        found.append(db.ask(f"SELECT SUM(pay) FROM data WHERE {AREA}", user="u").as_json().get("value"))
        db.close()
    return found[0], found[1]


def sums(family: str, table: dict[str, Any], mode: str, folder: Path) -> tuple[Any, Any]:
    if family == "a rise":
        return versions(table, mode, folder)
    db = opened(table, mode)
    x, y = (db.ask(f"SELECT SUM({name}) FROM data WHERE {AREA}", user="u").as_json().get("value") for name in "xy")
    return x, y


def given_away(family: str, seed: int, mode: str, folder: Path) -> bool:
    table, truth = records(family, seed)
    x, y = sums(family, table, mode, folder)
    return None not in (x, y) and abs(y - FAMILIES[family] * x - truth) < 0.5


@pytest.mark.parametrize("family", FAMILIES)
def test_two_sums_do_not_give_away_who_is_not_on_the_line(family: str, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("open", "exact")]
    for folder in folders:
        folder.mkdir()
    assert given_away(family, 0, "open", folders[0])
    assert not given_away(family, 0, "exact", folders[1])


@pytest.mark.parametrize("family", FAMILIES)
def test_sums_are_answered_if_enough_are_not_on_it(family: str, tmp_path: Path) -> None:
    table, _ = records(family, 0, others=5)
    assert None not in sums(family, table, "exact", tmp_path)


def test_few_values_that_agree_by_chance_are_no_line() -> None:
    rng = np.random.default_rng(0)
    for shares in ((0.8, 0.1, 0.05, 0.05), (0.4, 0.3, 0.2, 0.1)):
        x, y = rng.choice(4, (2, 200), p=shares).astype(float)
        assert not list(lines_in_common(x, y, []))
    for share in (0.5, 0.2, 0.9):
        x = (rng.random(200) < share).astype(float)
        for y in (np.where(rng.random(200) < 0.9, x, 1 - x), rng.choice(4, 200, p=(0.4, 0.3, 0.2, 0.1)).astype(float)):
            assert not list(lines_in_common(x, y, [np.arange(200) % 7]))


if __name__ == "__main__":  # PYTHONPATH=src:tests python -m attacks.test_query_lines_of_few
    for each in FAMILIES:
        found = dict.fromkeys(("open", "exact"), 0)
        for mode in found:
            for seed in range(20):
                with tempfile.TemporaryDirectory() as name:
                    found[mode] += given_away(each, seed, mode, Path(name))
        sys.stdout.write(f"{each}: {found} of 20\n")
