"""Empty cells that are hidden: small tables with a single respondent in a row are protected, not refused, and nothing is known.

The reader enumerates whole-number worlds from the published text. Before, 20 of 24 such tables were refused, because who is
all of a total was to be kept from knowing that nobody else is in its parts.
"""

import csv
import itertools

import polars as pl
import pytest

from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.io.published import published_text
from reticent.jobs.protect_table import protect_table
from reticent.tables.rules import Threshold

SCHEMA = Schema((Variable("a", role=Role.KEY, codes=("a", "b")), Variable("b", role=Role.KEY, codes=("u", "v"))))
CELLS = list(itertools.product("ab", "uv"))
TABLES = [(1, 0, 0, 4), (1, 0, 3, 4), (1, 4, 0, 5), (2, 0, 0, 5), (1, 0, 5, 0), (1, 1, 0, 5), (2, 0, 3, 4)]


def published(counts: tuple[int, ...]) -> str:
    rows = [codes for codes, number in zip(CELLS, counts, strict=True) for _ in range(number)]
    data = Microdata.of(pl.DataFrame(rows, schema=["a", "b"], orient="row"), SCHEMA)
    spec = TableSpec((DimensionSpec("a"), DimensionSpec("b")))
    done = protect_table(data, spec, rules=[Threshold(3, protection=20)], hide_empty=True, time_limit=10)
    return published_text(done.published[0])


def worlds(text: str) -> list[tuple[int, ...]]:
    """Counts of the four inner cells up to 14 that agree with every published and every empty cell."""
    rows = [(row["a"], row["b"], row["value"], row["status"]) for row in csv.DictReader(text.splitlines())]
    shown = [(a, b, int(value or 0)) for a, b, value, status in rows if status != "hidden"]
    free = range(15)
    found = []
    for world in itertools.product(free, repeat=4):
        inner = dict(zip(CELLS, world, strict=True))
        if all(
            sum(n for (x, y), n in inner.items() if a in (x, "Total") and b in (y, "Total")) == v for a, b, v in shown
        ):
            found.append(world)
    return found


@pytest.mark.parametrize("counts", TABLES)
def test_a_table_with_somebody_alone_is_protected(counts: tuple[int, ...]) -> None:
    found = worlds(published(counts))
    assert counts in found
    for at, number in enumerate(counts):
        if 0 < number < 3:
            assert max(world[at] for world in found) >= 3, "an unsafe count is known to be below the minimum"
            assert min(world[at] for world in found) == 0, "somebody is known to be there"
        for other, mine in enumerate(counts):
            if mine == 1 and other != at and 0 < number < 3:  # a sole respondent of another cell knows it
                assert len({world[at] for world in found if world[other] == 1}) > 1
