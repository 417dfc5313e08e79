# SPDX-License-Identifier: Apache-2.0
"""Linked tables by several codings of one thing: a region is the sum of its districts, in whichever table they are.

Where the codes of two variables fall into classes, so that nobody has a code of one class and a code of another, the cells of a
class add up to the same in both tables. Districts that lie in one region each are the simplest case; missing codes are codes like
others, and two variables may determine a third together. Whoever knows the codes knows such classes, however few records there
are: for two variables it is not asked whether chance could have made them, for three it is.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from math import prod

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from reticent.base.arrays import Ints
from reticent.data.relations import Relations
from reticent.data.table import Table
from reticent.kernels.grouping import group_columns
from reticent.tabulation.code_bounds import Limit, limits_of
from reticent.tabulation.code_columns import CodeColumns
from reticent.tabulation.code_sums import MOST_CODES_OF_PAIRS, CodeSum, code_sums
from reticent.tabulation.dependence import SPARSE, believed
from reticent.tabulation.linked import System

Row = tuple[list[int], list[int]]
_LUCK = 0.05  # how likely chance may make records look as if two codes determined a third, before tables reckon with it
_MOST_SETS = 200  # ways to set the dimensions of two tables side by side that are looked at
MOST_LIMITS = 1_000
"""Tables of one response reckon with this many limits of codes that go together in part."""
MOST_LIMITS_OF_PAIRS = 30
"""And with this many where two variables count as one."""


@dataclass(frozen=True, eq=False)
class Link:
    """Dimensions of two tables whose codes fall into the same classes: the class of each combination of codes, −1: none.

    `same` is set where both have the same codes for the same records.
    """

    left: tuple[int, ...]
    right: tuple[int, ...]
    classes: tuple[Mapping[tuple[str, ...], int], Mapping[tuple[str, ...], int]] = field(repr=False)
    same: bool = False


@dataclass(frozen=True, eq=False)
class Side:
    """Two linked tables by their numbers, and dimensions of the one beside those of the other."""

    first: int
    second: int
    links: tuple[Link, ...]


@dataclass(frozen=True, eq=False)
class Within:
    """Two linked tables of which some codes of a dimension lie within codes of one of the other; `links` has further dimensions.

    The last of the links has numbers of codes, by which the `limits` name them.
    """

    first: int
    second: int
    links: tuple[Link, ...]
    limits: tuple[Limit, ...]


Coding = Side | CodeSum | Within


def codings_of(columns: CodeColumns) -> tuple[Coding, ...]:
    """All that records say of how codes of different tables add up to the same, or lie within others."""
    found: list[Coding] = []
    for first, second in combinations(range(len(columns.tables)), 2):
        known = _links(columns, first, second)
        for links in link_sets(known):
            side = Side(first, second, links)
            if not all(link.same for link in links) and not _in_one_table(columns, side):
                found.append(side)
        found += _within(columns, first, second, known)
    return (*found, *code_sums(columns))


def _within(columns: CodeColumns, first: int, second: int, known: Sequence[Link]) -> Iterator[Within]:
    """Dimensions of two tables whose codes go together in part, beside sets of links of their other dimensions."""
    left, right = columns.tables[first], columns.tables[second]
    ones, others = [(at,) for at in range(len(left))], [(to,) for to in range(len(right))]
    wanted: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
        *product(ones, others),
        *product(combinations(range(len(left)), 2), others),
        *product(ones, combinations(range(len(right)), 2)),
    ]
    for mine, its in wanted:
        limits, own = _in_part(columns, tuple(left[at] for at in mine), tuple(right[to] for to in its))
        link = Link(mine, its, own)
        further = [one for one in known if _apart(one, link)]
        for links in link_sets(further) if further and limits else [()] if limits else []:
            side = Side(first, second, (*links, link))
            if not _in_one_table(columns, side):
                yield Within(first, second, side.links, limits)


def _in_part(columns: CodeColumns, mine: tuple[int, ...], its: tuple[int, ...]) -> tuple[tuple[Limit, ...], "Classes"]:
    """The limits of two variables, one of which may be two that count as one, and the numbers of their codes."""
    turned = len(its) > 1 or (len(mine) == 1 and its < mine)
    numbers = (*its, *mine) if turned else (*mine, *its)
    apart = len(set(numbers)) == len(numbers) and not any(columns.levels_of_one(a, b) for a in mine for b in its)
    both = columns.together(numbers) if apart else None
    if both is None:
        return (), ({}, {})
    texts = [columns.columns[at].codes for at in numbers]
    places, at = np.unique(both[0][:, :-1], axis=0, return_inverse=True)
    if len(numbers) > 2 and len(places) > MOST_CODES_OF_PAIRS:
        return (), ({}, {})
    found = limits_of(np.column_stack((at.ravel(), both[0][:, -1])), (len(places), len(texts[-1])))
    limits = [limit for limit in found if len(numbers) == 2 or _only_together(limit, places)]
    first = {tuple(own[code] for own, code in zip(texts, row)): n for n, row in enumerate(places.tolist())}
    last: dict[tuple[str, ...], int] = {(code,): n for n, code in enumerate(texts[-1])}
    if turned:
        return tuple(replace(limit, turned=not limit.turned) for limit in limits), (last, first)
    return tuple(limits), (first, last)


def _only_together(limit: Limit, places: Ints) -> bool:
    """Whether two variables that count as one say more than each of them: of no one all codes, or none, are in the limit."""
    chosen = np.zeros(len(places), dtype=bool)
    chosen[list(limit.of if limit.turned else limit.within)] = True
    for at in range(places.shape[1]):
        size = int(places[:, at].max()) + 1
        inside = np.bincount(places[chosen, at], minlength=size)
        if bool(((inside == 0) | (inside == np.bincount(places[:, at], minlength=size))).all()):
            return False
    return True


def _in_one_table(columns: CodeColumns, side: Side) -> bool:
    """Whether a table crosses all these dimensions: then its own totals say it."""
    left, right = columns.tables[side.first], columns.tables[side.second]
    needed = {left[at] for link in side.links for at in link.left} | {
        right[at] for link in side.links for at in link.right
    }
    return any(needed <= set(table) for table in columns.tables)


def _links(columns: CodeColumns, first: int, second: int) -> list[Link]:
    left, right = columns.tables[first], columns.tables[second]
    found = [
        link
        for at, one in enumerate(left)
        for to, other in enumerate(right)
        if (link := _link(columns, (at, one), (to, other))) is not None
    ]
    for given, then, turned in ((left, right, False), (right, left, True)):
        for pair in combinations(range(len(given)), 2):
            for to, other in enumerate(then):
                if other in given or any(_says(link, pair, to, turned=turned) for link in found):
                    continue
                classes = _of_pair(columns, (given[pair[0]], given[pair[1]]), other)
                if classes is not None:
                    found.append(Link((to,), pair, classes[::-1]) if turned else Link(pair, (to,), classes))
    return found


def _says(link: Link, pair: tuple[int, ...], to: int, *, turned: bool) -> bool:
    """Whether a link knows something of a dimension and one of a pair already."""
    given, then = (link.right, link.left) if turned else (link.left, link.right)
    return len(given) == 1 and given[0] in pair and then == (to,)


Classes = tuple[dict[tuple[str, ...], int], dict[tuple[str, ...], int]]


def _link(columns: CodeColumns, left: tuple[int, int], right: tuple[int, int]) -> Link | None:
    """Two dimensions whose codes fall into more than one class."""
    (at, one), (to, other) = left, right
    if one == other:
        codes: dict[tuple[str, ...], int] = {(code,): number for number, code in enumerate(columns.columns[one].codes)}
        return Link((at,), (to,), (codes, codes), same=True)
    if columns.levels_of_one(one, other):
        # their common codes are the same cells; which of the finer codes nobody has is not for everybody to know
        shared = [code for code in columns.columns[one].codes if code in set(columns.columns[other].codes)]
        codes = {(code,): number for number, code in enumerate(shared)}
        return Link((at,), (to,), (codes, codes), same=True)
    both = columns.together((one, other) if one < other else (other, one))
    if both is None:
        return None
    pairs = both[0] if one < other else both[0][:, ::-1]
    size = len(columns.columns[one].codes)
    graph_size = size + len(columns.columns[other].codes)
    ends = (pairs[:, 0], size + pairs[:, 1])
    graph = sparse.coo_array((np.ones(len(pairs)), ends), shape=(graph_size, graph_size))
    label = np.asarray(connected_components(graph, directed=False)[1])
    if len(np.unique(label[pairs[:, 0]])) < 2:
        return None
    mine: dict[tuple[str, ...], int] = {
        (columns.columns[one].codes[node],): int(label[node]) for node in np.unique(pairs[:, 0]).tolist()
    }
    its: dict[tuple[str, ...], int] = {
        (columns.columns[other].codes[node],): int(label[size + node]) for node in np.unique(pairs[:, 1]).tolist()
    }
    return Link((at,), (to,), (mine, its))


def _of_pair(columns: CodeColumns, given: tuple[int, int], then: int) -> Classes | None:
    """The code of a column that each combination of codes of two others has, where it is one and that is no accident."""
    both = columns.together((*given, then))
    if both is None:
        return None
    codes, counts = both
    _, n = group_columns([codes[:, 0], codes[:, 1]], [len(columns.columns[at].codes) for at in given])
    n_records = int(counts.sum())
    if n < len(codes) or prod(len(columns.columns[at].codes) for at in given) > SPARSE * n_records:
        return None
    shares = np.bincount(codes[:, 2], weights=counts) / max(n_records, 1)
    if not believed(counts, shares, _LUCK, evidence=1):
        return None
    texts = [columns.columns[at].codes for at in (*given, then)]
    mine: dict[tuple[str, ...], int] = {(texts[0][a], texts[1][b]): c for a, b, c in codes.tolist()}
    return mine, {(texts[2][c],): c for c in np.unique(codes[:, 2]).tolist()}


def link_sets(links: Sequence[Link]) -> Iterator[tuple[Link, ...]]:
    """The largest sets of links in which no dimension stands twice; what smaller ones say follows from them."""
    found: list[frozenset[int]] = []

    def grow(chosen: frozenset[int], start: int) -> None:
        if len(found) >= _MOST_SETS:
            return
        fitting = [
            at for at in range(len(links)) if at not in chosen and all(_apart(links[at], links[own]) for own in chosen)
        ]
        if not fitting:
            found.append(chosen)
            return
        for at in fitting:
            if at >= start:
                grow(chosen | {at}, at + 1)

    grow(frozenset(), 0)
    for chosen in dict.fromkeys(found):
        if chosen:
            yield tuple(links[at] for at in sorted(chosen))


def _apart(one: Link, other: Link) -> bool:
    return not set(one.left) & set(other.left) and not set(one.right) & set(other.right)


def with_codings(system: System, codings: Sequence[Coding], *, equal: bool = False) -> System:
    """The system with a relation for each class of cells of one table that adds up to cells of another.

    That two single cells have the same records is another relation, which is made here only with `equal`.
    """
    rows = {
        (tuple(cells), tuple(coefs)): (cells, coefs)
        for one in codings
        if not _is_limit(one)
        for cells, coefs in _rows_of(system, one)
        if equal or len(cells) > 2
    }
    if not rows:
        return system
    extra = Relations.from_rows(system.table.n_cells, list(rows.values()), [0.0] * len(rows))
    return replace(system, relations=system.relations.with_rows(extra))


def _is_limit(one: Coding) -> bool:
    """Whether cells leave something over, instead of adding up."""
    return isinstance(one, Within) or (isinstance(one, CodeSum) and one.at_least)


def _rows_of(system: System, one: Coding) -> Iterator[Row]:
    """The cells of a coding, with factors."""
    if isinstance(one, CodeSum):
        return one.rows(system)
    return _limits(system, one) if isinstance(one, Within) else _rows(system, one)


def _rows(system: System, side: Side) -> Iterator[Row]:
    """The relations of two tables: the cells of each class on both sides, where their values agree."""
    values = system.table.values
    size = 1e-9 * float(np.abs(values).max(initial=1.0))
    left = _by_class(system.parts[side.first], system.members[side.first], side.links, right=False)
    right = _by_class(system.parts[side.second], system.members[side.second], side.links, right=True)
    for key, cells in left.items():
        own, other = set(cells), set(right.get(key, ()))
        own, other = own - other, other - own
        if not own or not other:
            continue
        mine, its = sorted(own), sorted(other)
        if abs(float(values[mine].sum()) - float(values[its].sum())) <= size:
            # the total comes first, as in other relations, where one side has one cell
            mine, its = (its, mine) if len(its) <= len(mine) else (mine, its)
            yield [*mine, *its], [*([-1] * len(mine)), *([1] * len(its))]


def rows_within(system: System, codings: Sequence[Coding]) -> list[Row]:
    """What cells of one table leave of cells of another that they lie within, which is not below 0 where no value is.

    At most `MOST_LIMITS`, those of the fewest cells; of two variables that count as one `MOST_LIMITS_OF_PAIRS` that leave least.
    """
    values = system.table.values
    if bool((values < 0).any()):
        return []
    single: dict[tuple[tuple[int, ...], tuple[int, ...]], Row] = {}
    double: dict[tuple[tuple[int, ...], tuple[int, ...]], Row] = {}
    for one in (own for own in codings if _is_limit(own)):
        wide = isinstance(one, Within) and len(one.links[-1].left) + len(one.links[-1].right) > 2
        for cells, coefs in _rows_of(system, one):
            (double if wide else single)[tuple(cells), tuple(coefs)] = cells, coefs
    near = sorted(double.values(), key=lambda row: (float(values[row[0]] @ np.array(row[1])), len(row[0])))
    return sorted(single.values(), key=lambda row: len(row[0]))[:MOST_LIMITS] + near[:MOST_LIMITS_OF_PAIRS]


def _limits(system: System, one: Within) -> Iterator[Row]:
    """The limits of two tables for each combination of classes of their other dimensions."""
    sides: list[dict[tuple[int, ...], dict[int, list[int]]]] = [{}, {}]
    for right, number in enumerate((one.first, one.second)):
        cells_of = _by_class(system.parts[number], system.members[number], one.links, right=bool(right))
        for classes, cells in cells_of.items():
            sides[right].setdefault(classes[:-1], {})[classes[-1]] = cells
    for key in sides[0]:
        for limit in one.limits:
            mine, its = (sides[side].get(key, {}) for side in ((1, 0) if limit.turned else (0, 1)))
            parts = {cell for code in limit.within for cell in mine.get(code, ())}
            whole = {cell for code in limit.of for cell in its.get(code, ())}
            if parts - whole:
                cells = [*sorted(whole - parts), *sorted(parts - whole)]
                yield cells, [*([1] * len(whole - parts)), *([-1] * len(parts - whole))]


def _by_class(table: Table, members: Ints, links: Sequence[Link], *, right: bool) -> dict[tuple[int, ...], list[int]]:
    """The cells of each combination of classes; dimensions without a link stand at their total."""
    placed = [(link.right if right else link.left, link.classes[right]) for link in links]
    used = {at for dimensions, _ in placed for at in dimensions}
    chosen = np.ones(table.n_cells, dtype=bool)
    for at in range(len(table.names)):
        if at not in used:
            chosen &= table.codes[:, at] == 0
    found: dict[tuple[int, ...], list[int]] = {}
    texts = [dimension.codes for dimension in table.dimensions]
    for cell in np.flatnonzero(chosen).tolist():
        row = table.codes[cell].tolist()
        key = tuple(classes.get(tuple(texts[at][row[at]] for at in dims), -1) for dims, classes in placed)
        if -1 not in key:
            found.setdefault(key, []).append(int(members[cell]))
    return found
