# SPDX-License-Identifier: Apache-2.0
"""Several responses as one system: the cells of each stand one behind the other, and relations tie those of the same codes.

`tot = dom + exp` holds in every cell, so it is a row for every cell. `exp <= tot`, and equalities up to rounding, get a
further cell each that makes up the difference: it is never published, and what is known of it are its bounds.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints, Mask
from reticent.base.errors import DataError
from reticent.data.relations import Relations
from reticent.data.table import Dimension, Respondents, Table
from reticent.kernels.grouping import group_columns
from reticent.tabulation.linked import System, column_in, common_dimension
from reticent.tabulation.tied_responses import Numbers, Tie

RESPONSE = "response"
WITHIN = "codes within others"
TOGETHER = "codes together"
Limit = tuple[Sequence[int], Sequence[int]]


class Left(NamedTuple):
    """Who is left of a limit: whether the rules call them unsafe, and who they are where they are few.

    Each has a number, and a cell of the same response that it has for itself (−1: none).
    """

    unsafe: bool = False
    who: tuple[tuple[int, int], ...] = ()


def response_name(table: Table) -> str:
    """The name of what a table adds up."""
    return table.response or "count"


@dataclass(frozen=True, eq=False)
class TieRows:
    """The rows of all ties over the joint cells, and the differences that some of them need as further cells.

    Difference d is in row `difference_row[d]` as joint cell `n_cells + d`, has the value `values[d]` and lies between
    `lower[d]` and `upper[d]`; `like[d]` is a cell of the same records, and `names[d]` the relation in words. Of the last
    `of_codes` differences `like[d]` has some of the records only: they are between codes of one response. The `unsafe` ones
    must not be known. `few` has who is in a difference where they are few: the number of their response, and each of them by a
    number of that response and a joint cell that it has for itself (−1: none).
    """

    rows: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    values: Floats
    lower: Floats
    upper: Floats
    like: Ints
    names: tuple[str, ...]
    exact: tuple[bool, ...]
    of_codes: int = 0
    unsafe: frozenset[int] = frozenset()
    few: Mapping[int, tuple[int, tuple[tuple[int, int], ...]]] = field(default_factory=dict)
    together: tuple[float, ...] = ()
    """The last cells are no differences but combinations of codes, which may be in several rows: what records have in each."""
    whole: tuple[bool, ...] = ()
    """Which of these everybody knows to be whole."""


@dataclass(frozen=True, eq=False)
class Combinations:
    """Combinations of codes that no table of a response shows: possible values, a cell that each is in (`like`), and rows.

    A row is a cell with the combinations that add up to it. `true` values are those of the records; they are `whole` where
    everybody may know that.
    """

    values: Floats
    true: Floats
    like: Ints
    rows: tuple[tuple[int, tuple[int, ...]], ...]
    whole: bool


def starts_of(systems: Sequence[System]) -> Ints:
    """Where the cells of each response begin in the joint system, and where they all end."""
    return np.concatenate(([0], np.cumsum([one.table.n_cells for one in systems]))).astype(np.int64)


def same_codes(systems: Sequence[System]) -> tuple[tuple[Dimension, ...], list[NDArray[np.int32]], Ints]:
    """The dimensions of all responses together, the codes of all cells in them, and a number for equal codes."""
    tables = [one.table for one in systems]
    names = tuple(dict.fromkeys(name for table in tables for name in table.names))
    dimensions = tuple(
        common_dimension(name, [d for t in tables for d in t.dimensions if d.name == name]) for name in names
    )
    columns = [np.concatenate([column_in(dimension, table) for table in tables]) for dimension in dimensions]
    return dimensions, columns, group_columns(columns, [len(d) for d in dimensions])[0]


def tie_rows(systems: Sequence[System], ties: Sequence[Tie]) -> TieRows:
    """One row for each tie and each combination of codes that its responses have.

    A combination that a response has no cell for, though its tables show where it would be, is empty there. Where no table
    of a response reaches, what is not below zero still says that the others leave room for it.
    """
    grid = _Grid(systems)
    rows: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    exact: list[bool] = []
    differences: list[tuple[float, float, float, int, str]] = []
    for tie in ties:
        for cells, coefs, bounds in grid.rows(tie):
            if bounds is None:
                rows.append((cells, coefs))
                exact.append(True)
                continue
            value = float(grid.values[list(cells)] @ np.array(coefs))
            rows.append(((*cells, grid.n_cells + len(differences)), (*coefs, -1)))
            exact.append(False)
            differences.append((value, min(bounds[0], value), max(bounds[1], value), cells[0], str(tie.relation)))
    made = np.array([d[:3] for d in differences]).reshape(-1, 3)
    like = np.array([d[3] for d in differences], dtype=np.int64)
    return TieRows(
        tuple(rows), made[:, 0], made[:, 1], made[:, 2], like, tuple(d[4] for d in differences), tuple(exact)
    )


def with_limits(
    rows: TieRows, systems: Sequence[System], limits: Sequence[Sequence[Limit]], left: Sequence[Sequence[Left]] = ()
) -> TieRows:
    """The rows with those of each response whose cells add up to a number that is not below 0, and who is `left` of each."""
    starts = starts_of(systems).tolist()
    values = np.concatenate([one.table.values for one in systems])
    found = [
        (tuple(start + cell for cell in cells), tuple(coefs))
        for start, own in zip(starts, limits, strict=False)
        for cells, coefs in own
    ]
    rest = np.array([float(values[list(cells)] @ np.array(coefs)) for cells, coefs in found])
    before, n = len(rows.values), len(found)
    everybody = [(number, one) for number, own in enumerate(left) for one in own]
    more = tuple(((*cells, starts[-1] + before + at), (*coefs, -1)) for at, (cells, coefs) in enumerate(found))
    return TieRows(
        (*rows.rows, *more),
        np.concatenate((rows.values, rest)),
        np.concatenate((rows.lower, np.minimum(rest, 0.0))),
        np.concatenate((rows.upper, np.full(n, np.inf))),
        np.concatenate((rows.like, np.array([cells[0] for cells, _ in found], dtype=np.int64))),
        (*rows.names, *([WITHIN] * n)),
        (*rows.exact, *([False] * n)),
        n,
        frozenset(before + at for at, (_, one) in enumerate(everybody) if one.unsafe),
        {
            before + at: (number, tuple((who, starts[number] + cell if cell >= 0 else -1) for who, cell in one.who))
            for at, (number, one) in enumerate(everybody)
            if one.who
        },
    )


def with_combinations(
    rows: TieRows, systems: Sequence[System], combinations: Sequence[Sequence[Combinations]]
) -> TieRows:
    """The rows with those of combinations that no table of a response shows, each of which is a further cell from 0 on."""
    starts = starts_of(systems).tolist()
    for start, own in zip(starts, combinations, strict=False):
        for one in own:
            before, n = starts[-1] + len(rows.values), len(one.values)
            more = [
                ((start + cell, *(before + at for at in parts)), (-1, *([1] * len(parts)))) for cell, parts in one.rows
            ]
            rows = replace(
                rows,
                rows=(*rows.rows, *more),
                values=np.concatenate((rows.values, one.values)),
                lower=np.concatenate((rows.lower, np.zeros(n))),
                upper=np.concatenate((rows.upper, np.full(n, np.inf))),
                like=np.concatenate((rows.like, start + one.like)),
                names=(*rows.names, *([TOGETHER] * n)),
                exact=(*rows.exact, *([False] * len(more))),
                of_codes=rows.of_codes + n,
                together=(*rows.together, *one.true.tolist()),
                whole=(*rows.whole, *([one.whole] * n)),
            )
    return rows


_Row = tuple[tuple[int, ...], tuple[int, ...], tuple[float, float] | None]


class _Grid:
    """The cells of all responses by their codes."""

    def __init__(self, systems: Sequence[System]) -> None:
        starts = starts_of(systems)
        dimensions, columns, number = same_codes(systems)
        self.n_cells = int(starts[-1])
        self.values = np.concatenate([one.table.values for one in systems])
        self._respondents = np.concatenate([np.maximum(one.table.respondents.weighted_counts, 1) for one in systems])
        self._place = {response_name(one.table): r for r, one in enumerate(systems)}
        self._cell_at = [_cells_by_number(number, a, b) for a, b in itertools.pairwise(starts.tolist())]
        first = np.zeros(int(number.max(initial=-1)) + 1, dtype=np.int64)
        first[number[::-1]] = np.arange(len(number) - 1, -1, -1)
        codes = [column[first] for column in columns]
        self._codes = {dimension.name: (dimension, column) for dimension, column in zip(dimensions, codes, strict=True)}
        self._covered = [_covered(one, dimensions, codes) for one in systems]
        self._signed = [bool((one.table.values < 0).any()) for one in systems]

    def rows(self, tie: Tie) -> list[_Row]:
        """The rows of a tie: cells, coefficients, and the bounds of their difference where it is not known to be 0."""
        places = [self._place[name] for name in tie.relation.names]
        coefs = np.array(tie.relation.coefs, dtype=np.int64)
        cells = np.column_stack([self._cell_at[r] for r in places])
        covered = np.column_stack([self._covered[r] for r in places])
        signed = np.array([self._signed[r] for r in places])
        found: list[_Row] = []
        for at in np.flatnonzero((cells >= 0).any(axis=1) & self._within(tie)).tolist():
            there, lacking = cells[at] >= 0, (cells[at] < 0) & ~covered[at]
            chosen = tuple(cells[at][there].tolist())
            reach = tie.rounding * (float(self._respondents[list(chosen)].max()) if tie.of_records else 1.0)
            if not tie.everywhere and (lacking.any() or not self._obeys(tie, chosen, coefs[there], reach)):
                continue
            bounds = _bounds(coefs[lacking], bool((signed & lacking).any()), tie.relation.inequality, reach)
            if bounds is None or (bounds != (-np.inf, np.inf) and (len(chosen) > 1 or not lacking.any())):
                found.append((chosen, tuple(coefs[there].tolist()), bounds))
        return found

    def _within(self, tie: Tie) -> Mask:
        """The combinations of codes that a tie is about."""
        anywhere = np.ones(len(self._cell_at[0]), dtype=bool)
        if tie.within is None:
            return anywhere
        if tie.within.variable not in self._codes:
            return ~anywhere
        dimension, column = self._codes[tie.within.variable]
        return np.array([code in tie.within.codes for code in dimension.codes])[column]

    def _obeys(self, tie: Tie, cells: tuple[int, ...], coefs: Ints, reach: float) -> bool:
        """Whether a relation that some records break holds for the sums of a cell: then the attacker takes it to."""
        terms = self.values[list(cells)] * coefs
        off, noise = float(terms.sum()), 1e-9 * (1.0 + float(np.abs(terms).sum()))
        return off >= -reach - noise and (tie.relation.inequality or off <= reach + noise)


def _bounds(lacking: Ints, signed: bool, inequality: bool, reach: float) -> tuple[float, float] | None:
    """Between what the known terms of a relation lie, if those that are `lacking` are not below zero; None: they are 0."""
    low, high = -reach, np.inf if inequality else reach
    if len(lacking):
        if signed or bool((lacking > 0).any()):
            low = -np.inf
        if signed or bool((lacking < 0).any()):
            high = np.inf
    return None if low == high == 0 else (low, high)


def _covered(system: System, dimensions: Sequence[Dimension], codes: Sequence[NDArray[np.int32]]) -> NDArray[np.bool_]:
    """Which combinations of codes some table of the system has a place for."""
    found = np.zeros(len(codes[0]) if codes else 0, dtype=bool)
    for part in system.parts:
        here = np.ones(len(found), dtype=bool)
        for dimension, column in zip(dimensions, codes, strict=True):
            if dimension.name not in part.names:
                here &= column == 0
                continue
            own = part.dimensions[part.names.index(dimension.name)].index
            here &= np.array([code in own for code in dimension.codes])[column]
        found |= here
    return found


def _cells_by_number(number: Ints, start: int, end: int) -> Ints:
    """The cell of one response for each combination of codes, −1 where it has none."""
    found = np.full(int(number.max(initial=-1)) + 1, -1, dtype=np.int64)
    found[number[start:end]] = np.arange(start, end)
    return found


def joint_system(systems: Sequence[System], rows: TieRows, *, differences: bool = True) -> System:
    """The cells of all responses in one system, with a further dimension that names the response.

    Without `differences` only rows that hold exactly are there.
    """
    starts = starts_of(systems)
    n = int(starts[-1])
    extra = len(rows.values) if differences else 0
    kept = [row for row, exact in zip(rows.rows, rows.exact, strict=True) if exact or differences]
    relations = Relations.from_rows(n + extra, kept)
    for one, start in zip(reversed(systems), reversed(starts[:-1].tolist()), strict=True):
        own = one.relations
        moved = Relations.from_arrays(n + extra, own.indptr, own.cells + start, own.coefs, own.rhs.tolist())
        relations = moved.with_rows(relations)
    members = tuple(
        mine + start for one, start in zip(systems, starts[:-1].tolist(), strict=True) for mine in one.members
    )
    parts = tuple(part for one in systems for part in one.parts)
    return System(_joint_table(systems, rows, extra), relations, parts, members)


def _joint_table(systems: Sequence[System], rows: TieRows, extra: int) -> Table:
    """All cells with their codes, the response first; what rules look at stays with the single responses."""
    dimensions, columns, _ = same_codes(systems)
    labels = tuple(response_name(one.table) for one in systems)
    told = (*labels, *dict.fromkeys(rows.names)) if extra else labels
    which = np.repeat(np.arange(len(systems)), [one.table.n_cells for one in systems])
    like = rows.like[:extra]
    place = {name: len(labels) + at for at, name in enumerate(dict.fromkeys(rows.names))}
    which = np.concatenate((which, [place[name] for name in rows.names[:extra]]))
    codes = np.column_stack([np.concatenate((column, column[like])) for column in columns] + [which]).astype(np.int32)
    tables = [one.table for one in systems]

    counts = np.concatenate([t.respondents.counts for t in tables])
    judged = np.concatenate([t.respondents.judged_counts for t in tables])
    weighted = np.concatenate([t.respondents.weighted_counts for t in tables])
    counts, judged, weighted = (np.concatenate((a, a[like])) for a in (counts, judged, weighted))
    name = RESPONSE if RESPONSE not in {d.name for d in dimensions} else f"{RESPONSE} variable"
    return Table(
        (*dimensions, Dimension(name, told, ())),
        codes,
        np.concatenate([t.values for t in tables] + [rows.values[:extra]]),
        Respondents(counts, weighted, {}, judged, {}),
        ", ".join(labels),
        decimals=max(t.decimals for t in tables),
        weighted=tables[0].weighted,
        counted=all(t.counted for t in tables),
        from_records=all(t.from_records for t in tables),
        notes=tuple(dict.fromkeys(note for t in tables for note in t.notes)),
    )


def cell_numbers(systems: Sequence[System]) -> Numbers:
    """The inner cells that all responses have as rows of numbers: where there are no records, relations show in them."""
    starts = starts_of(systems)
    dimensions, columns, number = same_codes(systems)
    inner = np.ones(len(number), dtype=bool)
    for dimension, column in zip(dimensions, columns, strict=True):
        inner &= dimension.is_leaf[column]
    cells = [_cells_by_number(number, int(starts[r]), int(starts[r + 1])) for r in range(len(systems))]
    common = np.all([c >= 0 for c in cells], axis=0)
    values = np.concatenate([one.table.values for one in systems])
    chosen = [c[common] for c in cells]
    if chosen and inner[chosen[0]].any():
        chosen = [c[inner[c]] for c in chosen]
    names = [response_name(one.table) for one in systems]
    if len(set(names)) < len(names):
        raise DataError("responses: the same response occurs with and without weights; give each a plan of its own.")
    columns_of = {name: values[c] for name, c in zip(names, chosen, strict=True)}
    steps = {name: 10.0**-one.table.decimals for name, one in zip(names, systems, strict=True)}
    return Numbers(columns_of, steps, of_records=False)
