# SPDX-License-Identifier: Apache-2.0
"""What could be released instead of a table that is refused; each offer was judged with everything that was released.

Further cells to hide, intervals for these cells, and the table with one dimension coarser or left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reticent.base.errors import ReticentError
from reticent.data.facts import COUNT, Fact, Facts
from reticent.data.table import DimensionSpec, TableSpec
from reticent.history.book import Book
from reticent.history.memory import Looked, look
from reticent.history.remembered import AlsoHidden, Run, named
from reticent.history.table_recipe import TableRecipe
from reticent.releases.joint import JointSystem
from reticent.tables.request import TableRequest, hides
from reticent.tables.result import ProtectedTable
from reticent.tabulation.ground import GroundedData

MOST_INTERVALS = 5
MOST_VERDICTS = 120
"""This many verdicts the search for cells to hide may cost: an offer need not be the best one."""
SECONDS = 10.0
"""What a coarser table may take at most, so that a refusal does not keep anybody waiting."""
MOST_TRIED = 8
"""This many coarser tables are tried."""
WIDTHS = tuple(digit * 10**power for power in range(12) for digit in (1, 2, 5))
"""What an interval may be wide, in units of the last decimal."""


@dataclass(frozen=True)
class Interval:
    """What may be published of a cell instead of its value: that it lies between two numbers."""

    table: int
    codes: tuple[str, ...]
    low: float
    high: float

    def __str__(self) -> str:
        return f"{' × '.join(self.codes)} between {self.low:g} and {self.high:g}"


@dataclass(frozen=True)
class Coarser:
    """A dimension that is shown down to a level only, or (None) left out."""

    variable: str
    level: int | None

    def __str__(self) -> str:
        return f"without {self.variable}" if self.level is None else f"with {self.variable} at level {self.level}"


@dataclass(frozen=True)
class Instead:
    """What could be released instead, as far as something was found: cells to hide, intervals for them, coarser tables."""

    hide: tuple[AlsoHidden, ...] = ()
    intervals: tuple[Interval, ...] = ()
    coarser: tuple[Coarser, ...] = ()

    def sentence(self) -> str:
        """In words; nothing where nothing was found."""
        offers = []
        if self.hide:
            cells = named([" × ".join(one.codes) for one in self.hide])
            offers.append(f"the same with {cells} hidden in addition (say memory = true in [ledger])")
        if self.intervals:
            offers.append(f"of these cells that {named([str(one) for one in self.intervals])}")
        if self.coarser:
            offers.append(f"the table {' or '.join(str(one) for one in self.coarser)}")
        return f"Instead could be released: {'; '.join(offers)}." if offers else ""

    def summary(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "hide": [one.summary() for one in self.hide],
            "intervals": [
                {"table": one.table + 1, "cell": list(one.codes), "low": one.low, "high": one.high}
                for one in self.intervals
            ],
            "coarser": [{"variable": one.variable, "level": one.level} for one in self.coarser],
        }


def instead_of(
    book: Book, request: TableRequest, name: str, run: Run, made: tuple[Sequence[ProtectedTable], TableRecipe]
) -> Instead:
    """What could be released instead of refused tables; `made` is what their run gave."""
    results, recipe = made
    hide: tuple[AlsoHidden, ...] = ()
    intervals: tuple[Interval, ...] = ()
    if hides(request.method):
        stage = book.stage(recipe, name)
        looked = look(stage, results, recipe, name, most=MOST_VERDICTS)
        if looked.refused is None:
            hide, intervals = looked.also, tuple(_intervals(looked, stage.scene.grounded, name))
    return Instead(hide, intervals, tuple(_safe_coarser(book, request, name, run)))


def _intervals(looked: Looked, grounded: GroundedData, name: str) -> Iterator[Interval]:
    """The narrowest interval of each hidden cell, on a grid of round numbers, that leaves everything unknown."""
    for one, fact in list(zip(looked.also, looked.told, strict=True))[:MOST_INTERVALS]:
        ends = _narrowest(looked.system, fact, name)
        if ends is not None:
            response = fact.terms[0].response
            scale = 1 if response == COUNT else 10 ** grounded.decimals[response]
            yield Interval(one.table, one.codes, ends[0] / scale, ends[1] / scale)


def _narrowest(system: JointSystem, fact: Fact, name: str) -> tuple[int, int] | None:
    """Halve the widths: wider intervals reveal less, except for where they begin; what comes out was judged safe itself."""
    if fact.low is None or fact.high is None:
        return None
    first, last, found = 0, len(WIDTHS) - 1, None
    while first <= last:
        middle = (first + last) // 2
        width = WIDTHS[middle]
        low, high = fact.low // width * width, fact.high // width * width + width
        verdict = system.judge(Facts(name, (Fact(fact.terms, low, high),)))
        if verdict.safe:
            found, last = (verdict, low, high), middle - 1
        else:
            first = middle + 1
    if found is None:
        return None
    system.accept(found[0])  # the next interval is looked for beside this one
    return found[1], found[2]


def _safe_coarser(book: Book, request: TableRequest, name: str, run: Run) -> Iterator[Coarser]:
    """The finest table per dimension, coarser than asked for, that is safe with everything that was released."""
    done: set[str] = set()
    for tried, (coarser, asked) in enumerate(_coarser(request)):
        if coarser.variable in done or tried >= MOST_TRIED:
            continue
        try:
            _, recipe = run(replace(asked, time_limit=min(asked.time_limit, SECONDS)))
            safe = book.judge(recipe, name).verdict.safe
        except ReticentError:  # no such table can be made, protected or judged: it is no offer
            continue
        if safe:
            done.add(coarser.variable)
            yield coarser


def _coarser(request: TableRequest) -> Iterator[tuple[Coarser, TableRequest]]:
    """The request with one dimension at each level above its own, and without it."""
    specs = [one.source for one in request.tables if isinstance(one.source, TableSpec)]
    for variable in dict.fromkeys(d.variable for spec in specs for d in spec.dimensions):
        using = [d for spec in specs for d in spec.dimensions if d.variable == variable]
        deepest = min(_depth(request, dimension) for dimension in using)
        for level in range(deepest - 1, 0, -1):
            yield Coarser(variable, level), _changed(request, variable, level)
        if all(len(spec.dimensions) > 1 for spec in specs if any(d in using for d in spec.dimensions)):
            yield Coarser(variable, None), _changed(request, variable, None)


def _depth(request: TableRequest, dimension: DimensionSpec) -> int:
    """How many levels below the total a dimension shows."""
    if dimension.level is not None:
        return dimension.level
    if dimension.trees:
        return max(tree.depth for tree in dimension.trees)
    records = request.tables[0].records
    own = None if records is None else records.schema[dimension.variable].hierarchy
    return len(dimension.digits) or (own.depth if own is not None else 1)


def _changed(request: TableRequest, variable: str, level: int | None) -> TableRequest:
    tables = []
    for one in request.tables:
        assert isinstance(one.source, TableSpec)  # finished tables are not released with a ledger
        dimensions = tuple(
            replace(d, level=level) if d.variable == variable else d
            for d in one.source.dimensions
            if d.variable != variable or level is not None
        )
        tables.append(replace(one, source=replace(one.source, dimensions=dimensions)))
    return replace(request, tables=tuple(tables))
