"""Attacks on hidden counts by two files that are joined record by record: by a number that both show, or by their order.

A table hides how many firms of an industry have a size. One file shows the industry of each firm, the other its size. The
attacker joins them and counts. `PYTHONPATH=src:tests python -m attacks.test_joint_joined_files 30` says how often that gives all
hidden cells.
"""

import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import reticent as rt
from reticent import mask, rules
from reticent.base.errors import NotProtectedError
from samples import numbers

SECRET = 4711
SCHEMA = rt.Schema((
    rt.Variable("id", role=rt.Role.IDENTIFIER), rt.Variable("ind", role=rt.Role.KEY, codes=("A", "B", "C")),
    rt.Variable("size", role=rt.Role.KEY, codes=("x", "y", "z")),
    rt.Variable("value", role=rt.Role.SENSITIVE, kind=rt.Kind.NUMERIC),
    rt.Variable("staff", role=rt.Role.SENSITIVE, kind=rt.Kind.NUMERIC),
))  # fmt: skip
WAYS = ("number", "version", "order", "added up")


def firms(rng: random.Random) -> pl.DataFrame:
    """Two firms in two cells, some more in the others, in random order."""
    rows = []
    for ind in "ABC":
        for size in "xyz":
            few = (ind, size) in (("A", "z"), ("B", "x"))
            many = 2 if few else rng.choice((3, 4, 5))
            rows += [(ind, size, rng.randint(80, 400), rng.randint(5, 9000)) for _ in range(many)]
    rng.shuffle(rows)
    return pl.DataFrame([(f"f{at}", *row) for at, row in enumerate(rows)], SCHEMA.names, orient="row")


def released(data: Any, ledger: Any, name: str, *shown: str, base: float | None = None, **more: bool) -> pl.DataFrame:
    """A file with some variables, staff rounded to a base if so wished."""
    steps: list[Any] = [mask.RemoveIdentifiers(tuple(own for own in SCHEMA.names if own not in shown))]
    steps += [] if base is None else [mask.RoundValues(("staff",), base=base)]
    run = data.protect(steps, secret=SECRET, test_secret=True, most=1.0, **more)
    found: pl.DataFrame = run.release(ledger=ledger, name=name, accept_risk="that firms exist is no secret").frame.table
    return found


def opened(folder: Path, frame: pl.DataFrame, version: str = "1", **more: Any) -> tuple[Any, Any]:
    """The data, and the ledger, in which a table hides counts."""
    data = rt.load(frame, schema=SCHEMA)
    return data, rt.open_ledger(folder / "ledger", secret=SECRET, test_secret=True, version=version, **more)


def hiding(data: Any, ledger: Any) -> Any:
    """A table that hides counts."""
    table = data.tabulate("ind", "size").protect(rules=[rules.Threshold(3, protection=50)])
    return table.release(ledger=ledger, name="table")


def known(folder: Path, seed: int, way: str) -> bool:
    """Whether all cells that a table hides are known from two files that were released beside it."""
    frame = firms(random.Random(seed))
    data, ledger = opened(folder, frame)
    table = hiding(data, ledger)
    if way == "added up":
        data.tabulate("ind", response="staff").protect(rules=[]).release(ledger=ledger, name="sums")
    both, kept = () if way == "order" else ("staff",), way == "order"
    first = released(data, ledger, "first", "ind", *both, keep_order=kept)
    if way == "version":
        changed = frame.with_columns(value=pl.col("value") + pl.int_range(pl.len()) % 3)
        data, ledger = opened(folder, changed, "2", earlier=[("1", data)])
    try:
        second = released(data, ledger, "second", "size", *both, keep_order=kept)
    except NotProtectedError:
        return False
    joined = first.join(second, on="staff") if both else pl.concat([first, second], how="horizontal")
    hidden = [codes for codes, status in zip(table.codes, table.status) if status == "hidden" and "Total" not in codes]
    counts, true = Counter(joined.select("ind", "size").iter_rows()), Counter(frame.select("ind", "size").iter_rows())
    return bool(hidden) and all(counts[codes] == true[codes] for codes in hidden)


@pytest.mark.parametrize("seed", numbers(2, 30))
@pytest.mark.parametrize("way", WAYS)
def test_two_files_are_not_joined(tmp_path: Path, way: str, seed: int) -> None:
    assert not known(tmp_path, seed, way)


def test_sums_after_two_files_are_not_certified(tmp_path: Path) -> None:
    """Two files that were judged as joined by a number, which a table adds up afterwards."""
    data, ledger = opened(tmp_path, firms(random.Random(1)))
    hiding(data, ledger)
    released(data, ledger, "first", "ind", "staff")
    released(data, ledger, "coarse", "size", "staff", base=20_000)
    with pytest.raises(NotProtectedError, match="two files show 'staff'"):
        data.tabulate("ind", response="staff").protect(rules=[]).release(ledger=ledger, name="sums")


@pytest.mark.parametrize("seed", numbers(2, 10))
@pytest.mark.parametrize("other", ["twice", "less", "opposite"])
def test_numbers_in_step_join_no_files(tmp_path: Path, other: str, seed: int) -> None:
    """Until November 2026 the second file was released in all of 10 ledgers: whoever sorts both has them side by side."""
    staff = pl.col("staff")
    change = {"twice": staff * 2, "less": staff - staff // 10 - 7, "opposite": 10_000 - staff}[other]
    data, ledger = opened(tmp_path, firms(random.Random(seed)).with_columns(value=change))
    hiding(data, ledger)
    released(data, ledger, "first", "ind", "staff")
    with pytest.raises(NotProtectedError, match="two files can be joined by"):
        released(data, ledger, "second", "size", "value")


def test_what_joins_nothing_is_released(tmp_path: Path) -> None:
    """The same number beside the same key, by itself, and so coarse that it joins nobody; a second file in drawn order."""
    data, ledger = opened(tmp_path, firms(random.Random(1)))
    hiding(data, ledger)
    released(data, ledger, "first", "ind", "staff", keep_order=True)
    released(data, ledger, "rounded", "ind", "staff", base=100)
    released(data, ledger, "alone", "staff")
    released(data, ledger, "coarse", "size", "staff", base=20_000)
    released(data, ledger, "another number", "size", "value")
    with pytest.raises(NotProtectedError, match="joined line by line"):
        released(data, ledger, "in order", "size", keep_order=True)
    released(data, ledger, "drawn", "size")


if __name__ == "__main__":
    for one in WAYS:
        cases = []
        for number in range(int(sys.argv[1])):
            with tempfile.TemporaryDirectory() as place:
                cases.append(known(Path(place), number, one))
        print(f"{one}: {sum(cases)} of {len(cases)}")  # noqa: T201
