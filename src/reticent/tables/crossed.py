# SPDX-License-Identifier: Apache-2.0
"""Tables that nobody publishes or judges, but that the cells of other responses let everybody calculate with.

Turnover by region and by size adds up by region and size too, and where a table of counts is empty there is no turnover. Counts
by region and by size are at least the cells of turnover by region and industry, and by industry and size, that are not empty:
the industries tie the two.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from reticent.data.microdata import Microdata
from reticent.data.table import DimensionSpec, TableSpec
from reticent.tables.memory import Memory
from reticent.tables.request import WantedTable

Variables = frozenset[str]
Shape = tuple[Variables, str | None]
"""The variables of a table, and its response if that shows other people than the counts do."""


def crossed(wanted: Sequence[WantedTable]) -> list[WantedTable]:
    """For each response the tables by variables that its own tables have apart and those of another response together.

    The empty cells of the others show who may be where: what one table says then bears on another of the same response.
    """
    specs = [one.source for one in wanted if isinstance(one.source, TableSpec)]
    if len(specs) < len(wanted) or any(one.redesign is not None for one in wanted):
        return []
    found: list[WantedTable] = []
    for response in dict.fromkeys(spec.response for spec in specs):
        own = [spec for spec in specs if spec.response == response]
        found += _of_response(own, [one for one, spec in zip(wanted, specs, strict=True) if spec.response != response])
    return found


def _of_response(own: Sequence[TableSpec], others: Sequence[WantedTable]) -> list[WantedTable]:
    had = [_variables(spec) for spec in own]
    near = _connected(frozenset().union(*had), others)
    known = frozenset().union(*had, _shared([_shape(one, own[0].response) for one in near]))
    found: dict[tuple[DimensionSpec, ...], WantedTable] = {}
    for one in near:
        both = tuple(dimension for dimension in _spec(one).dimensions if dimension.variable in known)
        if any({dimension.variable for dimension in both} <= names for names in had):
            continue
        like = own[0]
        source = replace(
            _spec(one), dimensions=both, response=like.response, shadow=like.shadow, weighted=like.weighted
        )
        found[both] = replace(
            one,
            source=source,
            rules=(),
            a_priori=(),
            earlier=None,
            previous=None,
            bounds=None,
            notes=(),
            memory=Memory(),
        )
    return list(found.values())


def _connected(names: Variables, others: Sequence[WantedTable]) -> list[WantedTable]:
    """The tables that have a variable in common with these, or with a table that has: the rest bears on their total alone."""
    near: list[WantedTable] = []
    while True:
        more = [one for one in others if one not in near and names & _variables(_spec(one))]
        if not more:
            return [one for one in others if one in near]
        near += more
        names = names.union(*(_variables(_spec(one)) for one in more))


def _shared(shapes: Sequence[Shape]) -> Variables:
    """The variables of tables of different shapes: what one table shows of their codes bears on the other.

    A table that has only some variables of another of the same people shows nothing beside that one.
    """
    found: defaultdict[str, set[Shape]] = defaultdict(set)
    for names, people in shapes:
        if not any(names < more and people == own for more, own in shapes):
            for name in names:
                found[name].add((names, people))
    return frozenset(name for name, where in found.items() if len(where) > 1)


def _shape(one: WantedTable, response: str | None) -> Shape:
    """Beside counts, responses that some lack show different people, who add up; beside sums only the variables matter."""
    spec = _spec(one)
    alike = response is not None or (
        spec.response is not None
        and isinstance(one.records, Microdata)
        and not one.records.missing(spec.response).any()
    )
    return _variables(spec), None if alike else spec.response


def _spec(one: WantedTable) -> TableSpec:
    assert isinstance(one.source, TableSpec)
    return one.source


def _variables(spec: TableSpec) -> Variables:
    return frozenset(dimension.variable for dimension in spec.dimensions)
