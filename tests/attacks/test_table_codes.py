"""What the list of codes says: a code that only records can have brought in is somebody's, also where empty cells are hidden.

The stored table was written before this was seen, by `hide_empty = true`: three codes of one person each, and everything
else published.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.io.table_formats import write_published_table
from reticent.jobs.protect_table import protect_table
from reticent.tables.rules import Threshold

LEAKED = "a,value,status\nTotal,18,published\np,,hidden\nq,,hidden\nr,8,published\ns,7,published\nt,,hidden\n"
PEOPLE = [*"pqt", *"r" * 8, *"s" * 7]


def worlds(text: str, *, declared: bool) -> list[dict[str, int]]:
    """All whole numbers behind the hidden codes: 0 is possible only for a code that everybody knew before."""
    rows = list(csv.DictReader(text.splitlines()))
    hidden = [row["a"] for row in rows if row["status"] == "hidden"]
    shown = {row["a"]: int(row["value"]) for row in rows if row["status"] == "published"}
    rest = shown.pop("Total") - sum(shown.values())
    least = 0 if declared else 1
    return [dict(zip(hidden, choice, strict=True)) for choice in shares(rest, len(hidden), least)]


def shares(rest: int, parts: int, least: int) -> Iterator[tuple[int, ...]]:
    """All ways to make a number of so many parts that are not below the least."""
    if parts == 1:
        yield from [(rest,)] if rest >= least else []
        return
    for first in range(least, rest + 1):
        for others in shares(rest - first, parts - 1, least):
            yield first, *others


def protect(tmp_path: Path, *, declared: bool) -> str:
    schema = Schema((Variable("a", role=Role.KEY, codes=tuple("pqtrs") if declared else ()),))
    data = Microdata.of(pa.table({"a": PEOPLE}), schema)
    spec = TableSpec((DimensionSpec("a"),))
    done = protect_table(data, spec, rules=[Threshold(minimum=3, protection=20)], hide_empty=True, time_limit=10)
    write_published_table(done.published[0], tmp_path / "table.csv")
    return (tmp_path / "table.csv").read_text()


def test_a_listed_code_is_somebodys(tmp_path: Path) -> None:
    assert len(worlds(LEAKED, declared=False)) == 1  # everybody knew all three
    found = worlds(protect(tmp_path, declared=False), declared=False)
    for code in "pqt":
        assert {world[code] for world in found} >= {1, 2, 3}


@pytest.mark.parametrize("declared", [True, False])
def test_every_hidden_code_may_reach_the_minimum(declared: bool, tmp_path: Path) -> None:
    found = worlds(protect(tmp_path, declared=declared), declared=declared)
    assert all(max(world[code] for world in found) >= 3 for code in "pqt")
