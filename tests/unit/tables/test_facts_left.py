"""What each table method leaves: a world agrees with its facts just if this table can be published of it."""

from collections import Counter
from collections.abc import Callable
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

from fact_worlds import A, B, Record, counts_in, data_of, satisfied
from reticent.base.errors import ReticentError
from reticent.data.facts import COUNT, Facts
from reticent.data.parameters import build
from reticent.data.published_table import EMPTY, HIDDEN, PUBLISHED, PublishedTable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.tables.facts_left import DECLARED, decimal_ends, facts_left
from reticent.tables.methods import TABLE_METHODS
from reticent.tables.request import TableRequest, WantedTable
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import Threshold
from reticent.tables.run import run_request
from reticent.tabulation.ground import GroundedData

PEOPLE: list[list[Record]] = [
    [("a1", "b1", 1), ("a1", "b1", 3), ("a1", "b2", 2), ("a2", "b1", 4), ("a2", "b2", 0), ("a2", "b2", 1)],
    [("a1", "b1", 1), ("a2", "b1", 3), ("a2", "b2", 2), ("a3", "b2", 4), ("a3", "b2", 2)],
]
TOTAL = "Total"


def _run(
    people: list[Record], name: str, options: dict[str, Any], *, response: str | None = None, seed: int = 3
) -> tuple[GroundedData, PublishedTable, Facts, ProtectedTable]:
    data, grounded = data_of(people)
    method = build(TABLE_METHODS[name], options, owner=name)
    spec = TableSpec((DimensionSpec("a"), DimensionSpec("b")), response=response)
    wanted = WantedTable(spec, (Threshold(2),), data)
    (result,) = run_request(TableRequest((wanted,), method=method, secret=seed, test_secret=True))
    (facts,) = facts_left(grounded, result, method, release="table T")
    return grounded, result.published[0], facts, result


def _tabulated(people: list[Record], published: PublishedTable) -> list[int]:
    """How many people each row of the table has, counted by hand."""
    totals = [next(code for code, depth in published.depths[name].items() if depth == 0) for name in ("a", "b")]
    return [sum(all(c in (r, t) for c, r, t in zip(codes, person, totals)) for person in people)
            for codes in published.codes]  # fmt: skip


def _check(
    grounded: GroundedData, published: PublishedTable, facts: Facts, fits: Callable[[str, float, int], bool], most: int
) -> tuple[int, int]:
    yes = no = 0
    for size in range(most + 1):
        for people in combinations_with_replacement(list(product(A, B)), size):
            counts = _tabulated(list(people), published)
            true = all(map(fits, published.status, published.values.tolist(), counts))
            assert satisfied(facts, {COUNT: counts_in(grounded, people)}) == true, (people, published.rows())
            yes, no = yes + true, no + (not true)
    return yes, no


def _as_hidden(status: str, value: float, count: int) -> bool:
    """Published cells are true, empty ones have nobody, hidden ones somebody; which were hidden is left open."""
    return {PUBLISHED: count == value, EMPTY: count == 0, HIDDEN: count > 0}[status]


@pytest.mark.parametrize("people", PEOPLE)
@pytest.mark.parametrize("name", ["primary-only", "optimal", "heuristic", "hypercube"])
def test_suppression_tells_what_is_published(people: list[Record], name: str) -> None:
    grounded, published, facts, result = _run(people, name, {})
    assert facts.certified
    assert HIDDEN in published.status
    yes, no = _check(grounded, published, facts, _as_hidden, len(people) + 1)
    assert yes >= 1
    assert no
    unsafe = {result.table.name_of(int(cell)) for cell in np.flatnonzero(result.problem.primary)}
    assert {watch.name for watch in facts.watches} == unsafe
    truth = dict(zip(published.codes, _tabulated([p[:2] for p in people], published), strict=True))
    assert all(w.low <= truth[tuple(w.name.split(" × "))] <= w.high for w in facts.watches)
    assert all(w.low < w.high for w in facts.watches)


@pytest.mark.parametrize("people", PEOPLE)
@pytest.mark.parametrize(("name", "base"), [("round", 3), ("random-rounding", 3), ("round", 2)])
def test_rounding_tells_less_than_a_base(people: list[Record], name: str, base: int) -> None:
    grounded, published, facts, _ = _run(people, name, {"base": base})
    assert facts.certified == (name == "round"), "the same records are randomly rounded in the same way"

    def fits(status: str, value: float, count: int) -> bool:
        low = count // base * base
        return value in (low, low if low == count else low + base)

    yes, no = _check(grounded, published, facts, fits, len(people) + 2)
    assert yes > 1
    assert no


@pytest.mark.parametrize("people", PEOPLE)
def test_small_counts_become_0_or_the_base(people: list[Record]) -> None:
    grounded, published, facts, _ = _run(people, "small-counts", {"base": 3})
    assert facts.certified
    inner = [all(code in A + B for code in codes) for codes in published.codes]

    def may(count: int, value: float) -> bool:
        return value in (0, 3) if 0 < count < 3 else value == count

    for size in range(len(people) + 2):
        for world in combinations_with_replacement(list(product(A, B)), size):
            counts = _tabulated(list(world), published)
            values = published.values.tolist()
            # totals are added up from what the inner cells became
            true = all(may(c, v) for c, v, own in zip(counts, values, inner, strict=True) if own)
            assert satisfied(facts, {COUNT: counts_in(grounded, world)}) == true


@pytest.mark.parametrize("people", PEOPLE)
def test_cell_keys_tell_what_the_p_table_leaves(people: list[Record]) -> None:
    options = {"largest": 2, "variance": 1.0, "skip": 0}
    grounded, published, facts, _ = _run(people, "cell-key", options)
    table = build(TABLE_METHODS["cell-key"], options, owner="cell-key").tables(counts=True)["all"]

    def fits(status: str, value: float, count: int) -> bool:
        row = table.rows[min(count, len(table.rows) - 1)]
        chances = Counter(dict(zip(row.changes.tolist(), row.chances.tolist(), strict=True)))
        return chances[value - count] > 0

    assert not facts.certified, "the same records get the same noise, which no interval says"
    _check(grounded, published, facts, fits, len(people) + 1)


def test_a_table_of_sums_tells_sums_and_who_is_nowhere() -> None:
    people = [("a1", "b1", 1), ("a1", "b1", 3), ("a2", "b1", 4), ("a2", "b1", 2)]
    _, published, facts, _ = _run(people, "primary-only", {}, response="v")
    assert facts.certified
    for values in product(range(5), repeat=4):
        world = np.array(values, dtype=np.int64)
        totals = {("a1", "b1"): world[:2].sum(), ("a2", "b1"): world[2:].sum()}
        shown = {codes[:2]: value for codes, value in zip(published.codes, published.values.tolist(), strict=True)}
        true = all(total == shown[codes] for codes, total in totals.items())
        assert satisfied(facts, {"v": world}) == true
    empty = [fact for fact in facts.facts if fact.terms[0].response == COUNT and fact.high == 0]
    assert len(empty) == sum(
        status == EMPTY and all(code in A + B for code in codes)
        for status, codes in zip(published.status, published.codes, strict=True)
    )


@pytest.mark.parametrize(("value", "decimals", "scale", "ends"), [
    (12.0, 0, 1, (12, 12)),
    (12.0, 0, 10, (115, 125)),
    (13.0, 0, 10, (126, 134)),
    (1.5, 1, 1000, (1450, 1550)),
])  # fmt: skip
def test_fewer_decimals_are_an_interval_by_the_tie_rule(
    value: float, decimals: int, scale: int, ends: tuple[int, int]
) -> None:
    published = PublishedTable(("a",), (("x",),), np.array([value]), (PUBLISHED,), decimals=decimals)
    low, high = decimal_ends(published, 0, scale)
    written = [n for n in range(ends[0] - 60, ends[1] + 60) if f"{n / scale:.{decimals}f}" == f"{value:.{decimals}f}"]
    assert (low, high) == (min(written), max(written))
    assert abs(low - ends[0]) <= 1
    assert abs(high - ends[1]) <= 1


def test_every_table_method_has_a_declaration() -> None:
    """A method that is added without one fails here."""
    assert set(DECLARED) == set(TABLE_METHODS.values())


@pytest.mark.parametrize("name", list(TABLE_METHODS))
@pytest.mark.parametrize("response", [None, "v"])
def test_what_a_method_tells_is_true(name: str, response: str | None) -> None:
    for example in TABLE_METHODS[name].examples:
        if "ptable" in example:  # a file: what it tells is that of the design which it was written from
            continue
        for people in PEOPLE:
            try:
                grounded, _, facts, _ = _run(people, name, dict(example), response=response)
            except ReticentError as err:
                said = str(err)
            else:
                said = ""
            if said:
                assert any(word in said for word in ("count", "network", "three dimensions"))
                continue
            facts.check(grounded.ground)
            assert satisfied(facts, {COUNT: grounded.counts, "v": grounded.whole("v")})
            assert all(
                watch.low <= int((grounded.counts if watch.response == COUNT else grounded.whole("v"))[watch.places].sum())
                <= watch.high
                for watch in facts.watches
            )  # fmt: skip
