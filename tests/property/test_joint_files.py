"""A table with hidden cells and a file of the same records, judged together: the verdict against all small worlds."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from fact_worlds import Record, can_come, data_of, records_of, released
from reticent.data.facts import Watch
from reticent.data.table import DimensionSpec, TableSpec
from reticent.microdata.mask.local_suppression import LocalSuppression
from reticent.microdata.mask.recode import Recode
from reticent.microdata.mask.round_values import RoundValues
from reticent.microdata.mask.sampling import Sample
from reticent.microdata.mask.top_code import TopCode
from reticent.releases.joint import JointSystem
from reticent.releases.unknowns import Version
from reticent.tables.apriori import Entry, EntryGroup
from reticent.tables.facts_left import facts_left
from reticent.tables.methods import PrimaryOnly
from reticent.tables.request import TableRequest, WantedTable
from reticent.tables.run import run_request

TOP = 3
Images = Callable[[Record], list[Record]]


def _same(record: Record) -> list[Record]:
    return [record]


def _joined(record: Record) -> list[Record]:
    return [("any", *record[1:])]


def _blanked(record: Record) -> list[Record]:
    return [(a, b, record[2]) for a in (record[0], None) for b in (record[1], None)]


def _rounded(record: Record) -> list[Record]:
    return [(*record[:2], float(2 * ((record[2] + 1) // 2)))]


def _coded(record: Record) -> list[Record]:
    return [(*record[:2], float(min(record[2], 1)))]


ANY = Recode("a", map={"a1": "any", "a2": "any", "a3": "any"})
FILES: dict[str, tuple[list[Any], list[Images]]] = {
    "untouched": ([], [_same]),
    "recoded": ([ANY], [_joined]),
    "blanks": ([LocalSuppression(k=2)], [_blanked]),
    "rounded": ([RoundValues(("v",), base=2)], [_rounded]),
    "recoded and rounded": ([ANY, RoundValues(("v",), base=2)], [_joined, _rounded]),
    "top-coded": ([TopCode("v", value=1)], [_coded]),
    "sampled": ([Sample(0.5)], [_same]),
}


def _worlds(people: list[Record]) -> list[list[Record]]:
    return [
        [(*person[:2], value) for person, value in zip(people, values, strict=True)]
        for values in product(range(TOP + 1), repeat=len(people))
    ]


def _watched(watch: Watch, values: np.ndarray, rng: np.random.Generator) -> Watch:
    """The same cell with another required interval, of which its value may be an end."""
    true = int(values[watch.places].sum())
    low, high = max(0, true - int(rng.integers(0, 2))), true + int(rng.integers(0, 2))
    return replace(watch, low=low, high=high + (low == high))


def _case(name: str, seed: int) -> str:
    """The verdict on the file, compared with all worlds; the word for it."""
    rng = np.random.default_rng(seed)
    cells = [("a1", "b1"), ("a1", "b2"), ("a2", "b1"), ("a2", "b2")]
    cells.append(cells[int(rng.integers(0, 4))])
    people = [(*cell, int(rng.integers(0, TOP))) for cell in cells]
    data, grounded = data_of(people, top=TOP)
    hidden = EntryGroup(tuple(Entry((a, b), "U") for a in ("a1", "a2") for b in ("b1", "b2")))
    spec = TableSpec((DimensionSpec("a"), DimensionSpec("b")), response="v")
    wanted = WantedTable(spec, (), data, a_priori=(hidden,))
    (result,) = run_request(TableRequest((wanted,), method=PrimaryOnly()))
    (table,) = facts_left(grounded, result, PrimaryOnly(), release="table T")
    table = replace(table, watches=(_watched(table.watches[int(rng.integers(0, 4))], grounded.values["v"], rng),))
    system = JointSystem([Version(grounded.ground, values=grounded.values)])
    if not system.judge(table).safe:
        return "table alone"
    system.accept(table)
    steps, images = FILES[name]
    file, facts = released(data, grounded, steps, seed + 1)
    shown = records_of(file)
    published = {codes: value for codes, value, status in
                 zip(result.published[0].codes, result.published[0].values, result.published[0].status, strict=True)
                 if status == "published"}  # fmt: skip

    def through(record: Record) -> list[Record]:
        found = [record]
        for image in images:
            found = [new for one in found for new in image(one)]
        return found

    totals = tuple(dimension.codes[0] for dimension in result.table.dimensions)
    left = [
        [record[2] for record in world]
        for world in _worlds(people)
        if all(sum(r[2] for r in world if all(c in (x, t) for c, x, t in zip(codes, r, totals))) == value
               for codes, value in published.items())
        and can_come(world, shown, through)
    ]  # fmt: skip
    worlds = np.array(left)
    safe = all(
        int(worlds[:, watch.places].sum(axis=1).min()) <= watch.low
        and int(worlds[:, watch.places].sum(axis=1).max()) >= watch.high
        for watch in table.watches
    )
    assert system.judge(facts).safe == safe, (people, shown)
    return "safe" if safe else "exposed"


def test_the_verdict_is_that_of_all_worlds() -> None:
    found = Counter(_case(name, seed) for name in FILES for seed in range(10))
    assert found["safe"] >= 3
    assert found["exposed"] >= 3


@pytest.mark.deep
@pytest.mark.parametrize("name", list(FILES))
def test_the_verdict_is_that_of_all_worlds_in_many_cases(name: str) -> None:
    for seed in range(1_000, 1_300):
        _case(name, seed)
