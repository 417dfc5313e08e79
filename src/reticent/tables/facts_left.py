# SPDX-License-Identifier: Apache-2.0
"""What a published table tells, as facts over the ground: one declaration per table method.

A published value is an equation, or an interval where it was rounded or changed within known limits; a hidden cell is a
watch. That cells add up needs no facts: they are sums over the same atoms and units.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from reticent.base.arrays import Ints, Mask
from reticent.base.errors import DataError
from reticent.data import published_table
from reticent.data.declarations import Declarations
from reticent.data.facts import COUNT, Fact, Facts, Interval, Term, Watch
from reticent.data.published_table import EMPTY, PUBLISHED, PublishedTable, plain
from reticent.data.table import Table
from reticent.tables.attack.public import public_bounds
from reticent.tables.listing import nodes_of, with_empty, with_unlisted
from reticent.tables.methods import Adjust, CellKey, PrimaryOnly, Resample, Round, SmallCounts, TableMethod
from reticent.tables.perturb.invariant_method import InvariantNoise
from reticent.tables.perturb.origins import ALIKE, origins_of
from reticent.tables.perturb.random_rounding import RandomRounding
from reticent.tables.perturb.small_counts import small_count_bounds
from reticent.tables.result import ProtectedTable
from reticent.tables.somebody import by_status, by_value
from reticent.tables.suppression import SUPPRESSION_METHODS
from reticent.tabulation.cell_atoms import CellAtoms, atoms_of_cells
from reticent.tabulation.ground import GroundedData

WEIGHTED = "what weighted sums reveal about the values themselves"
NOTHING: Interval = (None, None)
Required = dict[tuple[str, ...], tuple[float, float]]
ByCodes = Mapping[tuple[str, ...], tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a published table in whole units of the response: values (0 where there is none), which are of inner cells."""

    published: PublishedTable
    table: Table = field(repr=False)
    values: Ints = field(repr=False)
    inner: Mask = field(repr=False)
    scale: int

    def steps(self, size: float) -> int:
        """A distance in whole units."""
        return int(Fraction(repr(float(size))) * self.scale)


@dataclass(frozen=True)
class Told:
    """The interval of each row (None: nothing is said), and what the table may tell beyond."""

    ends: Sequence[Interval]
    beyond: str = ""


Tell = Callable[[Any, Rows], Told]

DECLARED: Declarations[type[Any], Tell] = Declarations()
"""The declaration of each table method."""
declares = DECLARED.declares


def facts_left(
    grounded: GroundedData, result: ProtectedTable, method: TableMethod, *, release: str | Sequence[str]
) -> tuple[Facts, ...]:
    """The facts that each published table of a result leaves to the attacker, with a watch for each unsafe cell.

    `release` names the tables in sentences, one name per published table.
    """
    parts = shown_parts(result)
    names = [release] * len(parts) if isinstance(release, str) else list(release)
    return tuple(
        facts_of_table(grounded, published, table, method, release=name, required=required)
        for (published, table, required), name in zip(parts, names, strict=True)
    )


def shown_parts(result: ProtectedTable) -> list[tuple[PublishedTable, Table, Required]]:
    """Each published table of a result, the table it was made of, and what must stay possible of it, by codes."""
    if result.joint is not None:
        return [part for own in result.by_response() for part in shown_parts(own)]
    found = []
    for number, published in zip(result.published_numbers, result.published, strict=True):
        table, members = result.system.parts[number], result.system.members[number]
        required = {} if not result.problem.primary.any() else _required(result, table, members)
        found.append((published, table, required))
    return found


def known_bounds(result: ProtectedTable) -> list[Required]:
    """What the attacker of a plan knows beforehand of the cells of each published table, by codes."""
    if result.joint is not None:
        return [known for own in result.by_response() for known in known_bounds(own)]
    problem, found = result.problem, []
    for number in result.published_numbers:
        table, members = result.system.parts[number], result.system.members[number]
        ends = zip(problem.lower_bound[members].tolist(), problem.upper_bound[members].tolist(), strict=True)
        found.append({table.cell_codes(cell): (low, high) for cell, (low, high) in enumerate(ends) if low < high})
    return found


def _required(result: ProtectedTable, table: Table, members: Ints) -> Required:
    """What must stay possible of each unsafe cell: its value less and plus its levels, as far as its bounds leave room."""
    problem, levels = result.problem, result.outcome.levels
    found = {}
    for cell, at in enumerate(members.tolist()):
        if problem.primary[at]:
            value = float(problem.values[at])
            low = min(float(problem.lower_protection[at]), value - float(problem.lower_bound[at])) if levels else 0.0
            high = min(float(problem.upper_protection[at]), float(problem.upper_bound[at]) - value) if levels else 0.0
            found[table.cell_codes(cell)] = (value - low, value + high)
    return found


def facts_of_table(
    grounded: GroundedData,
    published: PublishedTable,
    table: Table,
    method: TableMethod,
    *,
    release: str,
    required: ByCodes | None = None,
    known: ByCodes | None = None,
) -> Facts:
    """The facts of one published table; `table` has its dimensions.

    `required` is what must stay possible, `known` what the attacker knows of cells beforehand, both by codes.
    """
    stated = _stated(grounded, published, table, method)
    if stated is None:
        return Facts(release, (), certified=False, beyond=WEIGHTED)
    rows, told, places = stated.rows, stated.told, stated.places
    facts = list(stated.facts().values())
    if places.response != COUNT:
        facts += by_status(rows.published, rows.inner, places.cells) if stated.exact else ()
        facts += by_value(grounded, places.response, told.ends, places.cells)
    facts += _beforehand(rows, places, known or {})
    watches = _watches(rows, told, places, _whole(rows.scale, required or {}, known or {}), release)
    return Facts(release, tuple(facts), (), watches, certified=not told.beyond, beyond=told.beyond)


def facts_by_cell(
    grounded: GroundedData, published: PublishedTable, table: Table, method: TableMethod
) -> dict[tuple[str, ...], Fact]:
    """What each row of a published table tells by itself, by its codes; rows that reveal nothing are left out."""
    stated = _stated(grounded, published, table, method)
    return {} if stated is None else {stated.codes[row]: fact for row, fact in stated.facts().items()}


def terms_by_cell(
    grounded: GroundedData, published: PublishedTable, table: Table, method: TableMethod
) -> dict[tuple[str, ...], Term]:
    """The unknowns that each row of a published table adds up, by its codes."""
    stated = _stated(grounded, published, table, method)
    every = [] if stated is None else [(codes, stated.places.of(row)) for row, codes in enumerate(stated.codes)]
    return {codes: Term.total(stated.places.response, own) for codes, own in every if stated and len(own)}


def atoms_by_cell(grounded: GroundedData, published: PublishedTable, table: Table) -> dict[tuple[str, ...], Ints]:
    """The atoms of each row of a published table, by its codes; the table may be of another version, without some codes."""
    listed = with_unlisted(published, table)
    cells = atoms_of_cells(grounded, table.dimensions, nodes_of(listed.codes, table), everybody=False)
    return {codes: cells.of(row) for row, codes in enumerate(listed.codes)}


@dataclass(frozen=True, eq=False)
class _Stated:
    """A published table over the ground: its rows, what it says of each, and the unknowns of each."""

    rows: Rows
    told: Told
    places: "_Places"
    exact: bool

    @property
    def codes(self) -> tuple[tuple[str, ...], ...]:
        """The codes of each row, those that the table leaves out too."""
        return self.rows.published.codes

    def facts(self) -> dict[int, Fact]:
        """What each row tells."""
        return {
            row: Fact((Term.total(self.places.response, own),), *ends)
            for row, ends in enumerate(self.told.ends)
            if ends != NOTHING and len(own := self.places.of(row))
        }


def _stated(grounded: GroundedData, published: PublishedTable, table: Table, method: TableMethod) -> _Stated | None:
    """A published table over the ground; None where what it adds up is not an unknown there."""
    response = response_of(grounded, table)
    if response is None:
        return None
    published = with_empty(grounded, with_unlisted(published, table), table)
    nodes = nodes_of(published.codes, table)
    inner = np.ones(len(published), dtype=bool)
    for at, dimension in enumerate(table.dimensions):
        inner &= dimension.is_leaf[nodes[:, at]]
    scale = 1 if response == COUNT else 10 ** grounded.decimals[response]
    values = np.rint(np.nan_to_num(published.values) * scale).astype(np.int64)
    rows = Rows(published, table, values, inner, scale)
    exact = published.method == "suppression"
    told = _exact(rows) if exact else DECLARED[_type_of(method)].read(method, rows)
    return _Stated(rows, told, _Places(grounded, response, atoms_of_cells(grounded, table.dimensions, nodes)), exact)


def response_of(grounded: GroundedData, table: Table) -> str | None:
    """The unknowns that a table adds up: counts, a response, or the weights; None for weighted sums."""
    if table.is_count and not table.weighted:
        return COUNT
    name = str(grounded.data.schema.weight) if table.is_count else str(table.response)
    if table.weighted and not table.is_count:
        return None
    if name not in grounded.decimals:
        raise DataError(f"facts: the ground does not have the response {name!r} of the table; name it there.")
    return name


def _type_of(method: Any) -> type[Any]:
    """The declared type of a method, also where it is bound to its table."""
    return type(method) if type(method) in DECLARED else type(getattr(method, "method", method))


@dataclass(frozen=True, eq=False)
class _Places:
    """The unknowns of each row."""

    grounded: GroundedData
    response: str
    cells: CellAtoms

    def of(self, row: int) -> Ints:
        """Atoms for counts, else the units with a value, and what empty atoms could add."""
        atoms = self.cells.of(row)
        if self.response == COUNT:
            return atoms
        start, places = self._by_atom
        found = [places[start[atom] : start[atom + 1]] for atom in atoms.tolist()]
        return np.sort(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)

    @property
    def _by_atom(self) -> tuple[Ints, Ints]:
        if "sorted" not in self.__dict__:
            ground = self.grounded.ground
            units = np.flatnonzero(self.grounded.there(self.response))
            there = np.append(units, np.arange(ground.n_units, ground.size(self.response)))
            atom = ground.atoms_of(self.response)[there]
            order = np.argsort(atom, kind="stable")
            start = np.searchsorted(atom[order], np.arange(self.grounded.ground.n_atoms + 1))
            self.__dict__["sorted"] = (start, there[order])
        found: tuple[Ints, Ints] = self.__dict__["sorted"]
        return found


def _exact(rows: Rows) -> Told:
    """True values, as far as the published decimals go; nobody is in an empty cell, and somebody in a hidden one if so said."""
    bounds = public_bounds(rows.published)
    counts = rows.published.kind == published_table.COUNT
    ends: list[Interval] = []
    for row, status in enumerate(rows.published.status):
        if status == PUBLISHED:
            ends.append(decimal_ends(rows.published, row, rows.scale))
        elif status == EMPTY:
            ends.append((0, 0))
        else:
            low = float(bounds.low[row])
            ends.append((int(low), None) if counts and low > 0 else NOTHING)
    return Told(ends)


def decimal_ends(published: PublishedTable, row: int, scale: int) -> tuple[int, int]:
    """The whole numbers of units that are written as a published value: one, unless it has fewer decimals than the data."""
    unit = 10**published.decimals
    text = published.text(row)
    exact = Fraction(text)
    if unit >= scale:
        whole = round(exact * scale)
        return whole, whole
    half, middle = Fraction(scale, 2 * unit), exact * scale
    low, high = -(-(middle - half).numerator // (middle - half).denominator), (middle + half).__floor__()
    # the tie rule is the one of the writer: an end belongs to the value if it is written so
    low += plain(low / scale, published.decimals) != text
    high -= plain(high / scale, published.decimals) != text
    return int(low), int(high)


def _beforehand(rows: Rows, places: _Places, known: ByCodes) -> list[Fact]:
    """What the attacker knows of cells before anything is published."""
    found = []
    for row, codes in enumerate(rows.published.codes):
        low, high = known.get(codes, (-np.inf, np.inf))
        ends = (
            math.ceil(low * rows.scale - 1e-9) if np.isfinite(low) else None,
            math.floor(high * rows.scale + 1e-9) if np.isfinite(high) else None,
        )
        if ends != NOTHING and len(own := places.of(row)):
            found.append(Fact((Term.total(places.response, own),), *ends))
    return found


def _whole(scale: int, required: ByCodes, known: ByCodes) -> dict[tuple[str, ...], tuple[int, int]]:
    """What must stay possible in whole units: the next ones outside, as for the table alone, unless they are known to be none."""
    found = {}
    for codes, (low, high) in required.items():
        least, most = (end * scale for end in known.get(codes, (-np.inf, np.inf)))
        first, last = math.floor(low * scale + 1e-6), math.ceil(high * scale - 1e-6)
        if low == high:
            first = last = round(low * scale)
        found[codes] = (first + (first < least - 1e-6), last - (last > most + 1e-6))
    return found


def _watches(
    rows: Rows, told: Told, places: _Places, required: Mapping[tuple[str, ...], tuple[int, int]], release: str
) -> tuple[Watch, ...]:
    found = []
    for row, codes in enumerate(rows.published.codes):
        if codes not in required or not len(own := places.of(row)):
            continue
        low, high = required[codes]
        if low == high:  # no level: it must only not be known exactly
            first, last = told.ends[row]
            low, high = (low, high + 1) if last is None or last > high else (low - 1, high)
            low = low if first is None else max(low, first)
        ones = np.ones(len(own), dtype=np.int64)
        found.append(Watch(places.response, own, ones, low, high, " × ".join(codes), release))
    return tuple(found)


@declares(
    PrimaryOnly,
    *SUPPRESSION_METHODS,
    tells="published cells exactly, empty cells, and that somebody is in a hidden one",
)
def _suppressed(method: Any, rows: Rows) -> Told:
    return _exact(rows)


def _around(rows: Rows, reach: int, which: Mask | None = None) -> list[Interval]:
    """Within a distance of the published value, for all rows or some."""
    signed = rows.published.signed
    return [
        (value - reach if signed else max(value - reach, 0), value + reach) if which is None or which[row] else NOTHING
        for row, value in enumerate(rows.values.tolist())
    ]


@declares(
    Round,
    tells="every value is less than (steps + 1) bases from the published one",
    beyond="only with rapid_fallback or successive: how near single cells are",
)
def _rounded(method: Round, rows: Rows) -> Told:
    base = rows.steps(method.base)
    if method.successive:
        return Told(_around(rows, 2 * base - 1, rows.inner), "how near cells of single slices are")
    if method.rapid_fallback:
        return Told(_around(rows, (method.steps + 1) * base - 1, rows.inner), "how near totals are that were added up")
    return Told(_around(rows, (method.steps + 1) * base - 1))


@declares(RandomRounding, tells="every value is less than a base from the published one", beyond=ALIKE)
def _randomly_rounded(method: RandomRounding, rows: Rows) -> Told:
    base = rows.steps(method.base)
    near = _around(rows, base - 1)
    # a value that is no multiple was fixed, and is the true one
    values = rows.values.tolist()
    return Told(
        [ends if value % base == 0 else (value, value) for ends, value in zip(near, values, strict=True)], ALIKE
    )


@declares(
    SmallCounts,
    tells="inner counts exactly, except that 0 and the base may stand for small ones",
    beyond="only with a threshold below base − 1: that counts between the threshold and the base stay",
)
def _small_counts(method: SmallCounts, rows: Rows) -> Told:
    limit = method.base - 1 if method.threshold is None else method.threshold
    low, high = small_count_bounds(rows.values, method.base, method.threshold)
    ends = [
        (int(a), int(b)) if inner else NOTHING for a, b, inner in zip(low.tolist(), high.tolist(), rows.inner.tolist())
    ]
    return Told(ends, "that counts between the threshold and the base stay" if limit < method.base - 1 else "")


MOVED = "which cells moved by how much, and that the others moved least"


@declares(Adjust, tells="with `fix_total` the largest total", beyond=MOVED)
def _adjusted(method: Adjust, rows: Rows) -> Told:
    ends: list[Interval] = [NOTHING] * len(rows.values)
    if method.fix_total and len(rows.values):
        top = int(np.argmax(rows.values))
        ends[top] = (int(rows.values[top]), int(rows.values[top]))
    return Told(ends, MOVED)


@declares(
    CellKey,
    tells="of counts the true ones that the p-table leads to the published one; of sums nothing",
    beyond=f"{ALIKE}; how large the noise of sums is, and with add_up or measure how far counts were moved",
)
def _keyed(method: CellKey, rows: Rows) -> Told:
    nothing: list[Interval] = [NOTHING] * len(rows.values)
    if not rows.table.is_count or rows.table.weighted:
        return Told(nothing, "how large the noise of sums is")
    if method.add_up != "no" or method.measure:
        return Told(nothing, "how far counts were moved until they add up, and the published measure")
    found = origins_of(method.tables(counts=True)["all"], rows.published.values)
    low, high = found.low.astype(np.int64), found.high.astype(np.int64)
    return Told(list(zip(low.tolist(), high.tolist(), strict=True)), ALIKE)


INVARIANT = "how often each true count occurs, and which changes follow from that"


@declares(InvariantNoise, tells="counts within 2 of the published ones, small ones within skip + 1", beyond=INVARIANT)
def _invariant(method: InvariantNoise, rows: Rows) -> Told:
    if method.add_up != "no":
        return Told([NOTHING] * len(rows.values), INVARIANT)
    near = _around(rows, max(2, method.skip + 1))
    shown = rows.values.tolist()
    return Told([(max(low or 0, 1 if v > 0 else 0), high) for (low, high), v in zip(near, shown)], INVARIANT)


DRAWN = "how likely the drawn counts are"


@declares(Resample, tells="the total, and that somebody is where a count above 0 is published", beyond=DRAWN)
def _resampled(method: Resample, rows: Rows) -> Told:
    ends: list[Interval] = [(1, None) if value > 0 else NOTHING for value in rows.values.tolist()]
    for row, codes in enumerate(rows.published.codes):
        if all(code == d.codes[0] for code, d in zip(codes, rows.table.dimensions, strict=True)):
            ends[row] = (int(rows.values[row]), int(rows.values[row]))
    return Told(ends, DRAWN)
