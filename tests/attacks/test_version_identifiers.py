"""Identifiers that do not mean the same record in two versions: what one hides was the difference of two answers or tables.

Records that are found again by their contents count as the same ones now, and identifiers that tell nothing apart are refused.
"""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reticent as rt
from attacks.identifier_families import CHANGES, DATABASE, Row, database_gives, firms, ledger_gives, renumbered
from reticent.base.errors import DataError
from reticent.base.randomness import as_secret
from reticent.queries.versions import open_universe
from reticent.tabulation.following import followed, linked
from samples import numbers


@pytest.mark.parametrize("change", [*CHANGES])
@pytest.mark.parametrize("seed", numbers(1, 10))
def test_a_table_of_the_next_version_does_not_show_what_the_first_hides(change: str, seed: int, tmp_path: Path) -> None:
    assert not ledger_gives(tmp_path, seed, CHANGES[change])


@pytest.mark.parametrize("change", [*CHANGES])
@pytest.mark.parametrize("seed", numbers(1, 10))
def test_two_versions_of_a_database_do_not_show_who_left(change: str, seed: int, tmp_path: Path) -> None:
    assert not database_gives(tmp_path, seed, CHANGES[change])


@pytest.mark.parametrize("change", [*CHANGES])
@pytest.mark.parametrize("seed", numbers(1, 10))
def test_counts_of_the_next_version_do_not_show_what_the_first_hides(change: str, seed: int, tmp_path: Path) -> None:
    assert not ledger_gives(tmp_path, seed, CHANGES[change], counts=True)


@pytest.mark.parametrize("mode", ["simulatable", "camouflage", "analysis", "cell-key"])
def test_modes_that_draw_or_decide_by_identifiers_refuse_new_ones(mode: str) -> None:
    rng = np.random.default_rng(1)
    rows = [
        {
            "id": f"f{at}",
            "ind": "ABC"[rng.integers(3)],
            "size": "xyz"[rng.integers(3)],
            "value": at % 7,
            "staff": at % 5,
        }
        for at in range(400)
    ]
    opened(mode, rows, rows[1:])
    with pytest.raises(DataError, match="give each record its old identifier"):
        opened(mode, rows, renumbered(rows[1:], random.Random(1)))


def opened(mode: str, old: list[Row], new: list[Row], schema: rt.Schema = DATABASE) -> None:
    first, second = (rt.load(pl.DataFrame(rows), schema=schema).microdata for rows in (old, new))
    bounds = {"value": rt.Bounds(0, 10, True)}
    policy = rt.Policy(mode=mode, filters=("ind", "size"), responses=("value",), minimum=3, bounds=bounds)  # type: ignore[arg-type]
    open_universe([("1", first), ("2", second)], policy, as_secret(1))


def _other(at: int, rng: random.Random) -> Row:
    own = {"value": rng.randint(1000, 2000), "staff": rng.randint(1000, 2000)}
    return {"id": f"n{at}", "ind": rng.choice("ABC"), "size": rng.choice("xyz"), **own}


def test_who_left_and_who_came_are_not_taken_for_one_by_chance() -> None:
    """Others with other amounts, of the same industries and sizes: nobody is found again."""
    rng = random.Random(4)
    old = firms(rng, 12)
    new = [row if at % 3 else _other(at, rng) for at, row in enumerate(rng.sample(old, len(old)))]
    data = [rt.load(pl.DataFrame(rows), schema=DATABASE).microdata for rows in (old, new)]
    ids = linked(data, ["1", "2"]).ids
    assert all(np.array_equal(own, given) for own, given in zip(followed(data, ids), ids, strict=True))
    again = [rt.load(pl.DataFrame(rows), schema=DATABASE).microdata for rows in (old, renumbered(old, rng))]
    ids = linked(again, ["1", "2"]).ids
    assert np.array_equal(followed(again, ids)[1], ids[0])


@pytest.mark.parametrize("mode", ["exact", "simulatable", "camouflage", "analysis", "cell-key"])
def test_versions_of_which_few_records_are_found_again_need_identifiers_that_never_change(mode: str) -> None:
    """Contents that say nothing cannot tell whether identifiers were replaced or other units were surveyed."""
    rng = random.Random(4)
    old = firms(rng, 12)
    new = [row if at < 5 else _other(at, rng) for at, row in enumerate(old)]
    with pytest.raises(DataError, match="permanent = true for 'id'"):
        opened(mode, old, new)
    lasting = rt.Schema(tuple(replace(own, permanent=own.name == "id") for own in DATABASE.variables))
    opened(mode, old, new, lasting)
