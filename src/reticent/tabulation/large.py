# SPDX-License-Identifier: Apache-2.0
"""Tables of records that stay in an engine: finest cells come from there, totals are added up here as in memory.

Numbers are added up as whole multiples of their last decimal, so that every order gives the same sum; a number without
such a unit is refused. Respondents that are in several finest cells come to the driver, all others as cells only.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Words
from reticent.base.errors import DataError
from reticent.base.progress import Progress, part, silent
from reticent.data.large import LargeFile
from reticent.data.microdata import Microdata
from reticent.data.table import Contributions, Dimension, Nodes, Respondents, RestOfCells, Table, TableSpec
from reticent.frames.engines.seam import CodeMap
from reticent.frames.engines.units import GIVING, JUDGED, EngineUnits, FoundCells, FoundPairs, UnitRows, Who
from reticent.tabulation.assemble import (
    MAX_DECIMALS,
    MOST_STRATA,
    RECORDS,
    REQUEST,
    Maker,
    Scales,
    few_weights,
    table_of,
    view_beside,
    view_of,
)
from reticent.tabulation.cells import Cells, Lists, roll_up
from reticent.tabulation.dimensions import build_dimension
from reticent.tabulation.key_sums import add_up, key_sums, sums_of_cells
from reticent.tabulation.respondents import Units, tabulate_units
from reticent.tabulation.tabulate import EXACT, absent_note, check_spec, tabulate, unused_weight

Built = tuple[tuple[Dimension, Nodes], ...]


def tabulate_large(file: LargeFile, spec: TableSpec, *, progress: Progress = silent) -> Table:
    """Make the table in the engine: the same that `tabulate` makes of the same records in the order of their ids."""
    check_spec(file.schema, spec)
    built = built_dimensions(file, spec, progress=part(progress, 0.0, 0.2))
    dimensions = tuple(dimension for dimension, _ in built)
    scales, digits, lacking = _scales(file, spec, progress=part(progress, 0.2, 0.3))
    rows = _rows(file, spec, built, digits, lacking=lacking)
    with _units(file, rows, progress=part(progress, 0.3, 0.6)) as units:
        if units.unequal_weights():
            raise DataError(
                f"table: weight {file.schema.weight!r} differs between records of one respondent; a weighted table by "
                f"{file.schema.entity!r} needs one weight for each.",
                variables=(str(file.schema.weight),),
            )
        pairs = units.pairs()
        alone = _alone(units, dimensions, spec, part(progress, 0.6, 0.9))
        maker = _maker(units, dimensions, spec, pairs, alone)
        cells, view = view_of(maker, spec, scales)
        contributions = _contributions(maker, alone, pairs, spec, scales)
        records = _by_record(file, rows, cells, spec, scales, built) if rows.combined and spec.by_record else None
    table = table_of(dimensions, cells, view, spec, scales)
    table = replace(table, records=records, contributions=contributions, marks=file.marks)
    progress(1.0, "done")
    return table.in_order()


def built_dimensions(file: LargeFile, spec: TableSpec, *, progress: Progress = silent) -> Built:
    """Each dimension, and the node of each category of its variable."""
    found = []
    for at, dimension in enumerate(spec.dimensions):
        data = file.column(
            dimension.variable, progress=part(progress, *(n / len(spec.dimensions) for n in (at, at + 1)))
        )
        found.append(build_dimension(data, dimension))
    return tuple(found)


def node_maps(file: LargeFile, built: Built) -> tuple[CodeMap, ...]:
    """Which node each value of a dimension's variable has."""
    found = []
    for dimension, nodes in built:
        codes = file.code_map(dimension.name)
        own = nodes[np.asarray(codes.codes, dtype=np.int64)]
        found.append(CodeMap(codes.values, own, len(dimension), absent=dimension.missing))
    return tuple(found)


@contextmanager
def _units(file: LargeFile, rows: UnitRows, *, progress: Progress = silent) -> Iterator[EngineUnits]:
    units = EngineUnits.opened(file.view, rows, progress=progress)
    try:
        yield units
    finally:
        units.close()


def _scales(file: LargeFile, spec: TableSpec, *, progress: Progress) -> tuple[Scales, dict[str, int], bool]:
    """The unit of each number, its decimals, and whether the response is missing somewhere; inexact sums are refused."""
    weight = file.schema.weight if spec.weighted else None
    digits, totals = {}, {}
    notes = unused_weight(file.schema, spec)
    least, largest, lacking = None, 1.0, False
    for name in dict.fromkeys((*(() if weight is None else (weight,)), *spec.measures)):
        digits[name], facts = exact_digits(file, name)
        totals[name] = facts["size"]
        if name in spec.measures:
            notes += absent_note(name, int(facts["absent"]))
            lacking |= name == spec.response and facts["absent"] > 0
        if name == weight:
            least, largest = facts["least"], facts["most"]
    weight_digits = 0 if weight is None else digits[weight]
    progress(1.0, "reading the numbers")
    for name in spec.measures:
        if totals[name] * 10.0 ** digits[name] * largest * 10.0**weight_digits >= EXACT:
            raise DataError(
                f"table: the sum of {name!r} has more than 15 digits, so it is not exact in an engine; give the variable in "
                "a larger unit, or with fewer decimals.",
                variables=(name,),
            )
    values = {name: 10.0 ** digits[name] for name in spec.measures}
    decimals = {name: min(digits[name] + weight_digits, MAX_DECIMALS) for name in spec.measures}
    if spec.response is None and file.schema.entity is not None:
        values[RECORDS], decimals[RECORDS] = 1.0, 0
    most = None if least is None else largest
    few = () if weight is None or spec.response is not None else _few(file, weight)
    made = Scales(values, decimals, 10.0**weight_digits, weight_digits, least, most, notes, few)
    return made, digits, lacking


def _few(file: LargeFile, weight: str) -> tuple[float, ...]:
    """The weights that occur, where they are few."""
    if int(file.view.facts(n=f"COUNT(DISTINCT {file.number_text(weight)})")["n"]) > MOST_STRATA:
        return ()
    return few_weights(file.column(weight).numbers((weight,))[:, 0])


def exact_digits(file: LargeFile, name: str, *, owner: str = "table") -> tuple[int, dict[str, float]]:
    """The fewest decimals that all values have, and facts of the column; more than declared are refused.

    Sums decide here what is unsafe or published, so they must be the same whatever the engine's order is.
    """
    text = file.number_text(name)
    whole = file.view.is_whole(name)
    declared = 0 if whole else min(file.schema[name].decimals, MAX_DECIMALS)
    wanted = {"absent": f"SUM(CASE WHEN {text} IS NULL THEN 1 ELSE 0 END)", "size": f"SUM(CAST(ABS({text}) AS DOUBLE))"}
    wanted |= {"least": f"MIN({text})", "most": f"MAX({text})"}
    for digits in () if whole else range(declared + 1):
        scaled = f"({text} * {10**digits})"
        wanted[f"off{digits}"] = f"SUM(CASE WHEN ROUND({scaled}) / {10**digits} <> {text} THEN 1 ELSE 0 END)"
    found = file.view.facts(**wanted)
    facts = {key: float(value or 0) for key, value in found.items()}
    fitting = [digits for digits in range(declared + 1) if whole or not facts[f"off{digits}"]]
    if not fitting:
        raise DataError(
            f"{owner}: {int(facts[f'off{declared}'])} values of {name!r} have more decimals than the {declared} that the schema "
            "declares, so an engine cannot add them up exactly; declare decimals (at most 6), or round the variable.",
            variables=(name,),
        )
    return fitting[0], facts


def _rows(file: LargeFile, spec: TableSpec, built: Built, digits: Mapping[str, int], *, lacking: bool) -> UnitRows:
    """What the engine reads of each record."""
    numbers = tuple(_whole(file, name, digits[name]) for name in spec.measures)
    place = {name: f"x{at}" for at, name in enumerate(spec.measures)}
    values = dict(place)
    if spec.response is None and file.schema.entity is not None:
        values[RECORDS] = "1"
    if lacking and spec.response is not None:
        values[GIVING] = f"x{len(numbers)}"
        numbers += (f"CASE WHEN {file.number_text(spec.response)} IS NULL THEN 0 ELSE 1 END",)
    marks: dict[str, str] = {}
    judged_name = spec.shadow or spec.response
    if spec.request is not None:
        for number, code in enumerate(spec.request_codes):
            marks[f"f{number}"] = f"CASE WHEN {_has_code(file, spec.request, (code,))} THEN 1 ELSE 0 END"
            if judged_name is not None:
                values[f"{REQUEST}{number}"] = f"f{number} * {place[judged_name]}"
            values[f"{REQUEST}present {number}"] = f"f{number}"
    if spec.waiver is not None:
        marks[JUDGED] = f"CASE WHEN {_has_code(file, spec.waiver, spec.waiver_codes)} THEN 0 ELSE 1 END"
    weight = None if not spec.weighted else str(file.schema.weight)
    return UnitRows(
        node_maps(file, built), numbers, values, _unit(file, needed=bool(spec.measures)),
        None if weight is None else _whole(file, weight, digits[weight]), marks,
        combined=file.schema.entity is not None,
    )  # fmt: skip


def _whole(file: LargeFile, name: str, digits: int) -> str:
    return f"COALESCE(CAST(ROUND(({file.number_text(name)}) * {10**digits}) AS BIGINT), 0)"


def _has_code(file: LargeFile, name: str, codes: tuple[str, ...]) -> str:
    """Whether a record has one of these codes; values are compared as their codes are written."""
    data = file.column(name)
    wanted = [number for number, text in enumerate(data.categories(name)) if text in codes]
    return file.is_one_of(name, np.flatnonzero(np.isin(data.encoded(name).codes, wanted)))


def _unit(file: LargeFile, *, needed: bool) -> str:
    """Who a record belongs to, in SQL: the respondent, or the record by its identifier (never by its place)."""
    entity = file.schema.entity
    if entity is None:
        return _numbered(file, _identifier(file, "the largest contributions of a cell")) if needed else "0"
    connection = file.view.connection
    text = connection.quote(entity)
    codes = ", ".join(connection.text(code) for code in file.schema[entity].missing)
    known = f"(CASE WHEN CAST({text} AS STRING) IN ({codes}) THEN NULL ELSE {text} END)" if codes else text
    if file.view.facts(n=f"COUNT({known})")["n"] == file.n_records:
        return _numbered(file, entity)
    own = connection.quote(_identifier(file, f"records without {entity!r}"))
    alone, named = f"CONCAT('i', CAST({own} AS STRING))", f"CONCAT('r', CAST({known} AS STRING))"
    return f"(CASE WHEN {known} IS NULL THEN {alone} ELSE {named} END)"


def _identifier(file: LargeFile, purpose: str) -> str:
    name = file.unique_identifier()
    if name is None:
        raise DataError(
            f"table: {purpose} need an identifier column in an engine, because records have no place there; give a "
            "variable without missing or repeated values the role identifier."
        )
    return name


def _numbered(file: LargeFile, name: str) -> str:
    """A unit's number from 0 on where it has one, else its text."""
    text = file.view.connection.quote(name)
    if not file.view.is_whole(name):
        return f"CAST({text} AS STRING)"
    low, high = file.view.facts(low=f"MIN({text})", high=f"MAX({text})").values()
    if int(high) - min(int(low), 0) >= 2**63:
        return f"CAST({text} AS STRING)"
    return f"(CAST({text} AS BIGINT) - ({min(int(low), 0)}))"


Making = Callable[[Mapping[str, int], Who], Cells]


def _maker(
    units: EngineUnits, dimensions: tuple[Dimension, ...], spec: TableSpec, pairs: FoundPairs | None, alone: Making
) -> Maker:
    """All cells: `alone` makes those of units in one finest cell, the others are added here."""

    def cells(tops: Mapping[str, int], who: Who) -> Cells:
        found = alone(tops, who)
        return found if pairs is None else _with_pairs(found, pairs, dimensions, tops, who)

    rows = units.rows
    requests = sum(name.startswith(f"{REQUEST}present") for name in rows.values)
    return Maker(
        tuple(name for name in rows.values if name != GIVING), dimensions, cells, requests,
        lacking=GIVING in rows.values, waived=JUDGED in rows.marks, by_respondent=rows.combined,
    )  # fmt: skip


def _alone(units: EngineUnits, dimensions: tuple[Dimension, ...], spec: TableSpec, progress: Progress) -> Making:
    """The cells of units that are in one finest cell only; the engine is asked once for each kind."""
    found: dict[Who, Cells] = {}

    def cells(tops: Mapping[str, int], who: Who) -> Cells:
        if who not in found:
            named = [name for name in tops if name in spec.measures or name == RECORDS]
            base = _cells(units.cells(tops, named, who=who, progress=progress), dimensions)
            found[who] = roll_up(base, dimensions) if len(base) else base
        return found[who]

    return cells


def _nodes(codes: NDArray[np.int32], dimensions: tuple[Dimension, ...]) -> tuple[Nodes, ...]:
    """Codes from an engine as nodes: a value that is missing has the node of missing values."""
    return tuple(
        np.where(codes[:, at] < 0, dimension.missing, codes[:, at]).astype(np.int32)
        for at, dimension in enumerate(dimensions)
    )


def _cells(found: FoundCells, dimensions: tuple[Dimension, ...]) -> Cells:
    lists = {name: Lists(one.sums, one.top, one.units, one.weights) for name, one in found.lists.items()}
    return Cells(_nodes(found.codes, dimensions), found.counts, lists)


def _with_pairs(
    cells: Cells, pairs: FoundPairs, dimensions: tuple[Dimension, ...], tops: Mapping[str, int], who: Who
) -> Cells:
    """The cells with respondents that are in several finest cells: in each cell their contributions add up first."""
    numbers, place = np.unique(pairs.units, return_inverse=True)
    values = {name: pairs.values[name] for name in tops}
    units = Units(_nodes(pairs.codes, dimensions), values, pairs.weights, place.astype(np.int64))
    if who != "all":
        units = units.rows(_giving(pairs) & pairs.judged if who == "judged" else _giving(pairs))
    if not len(units.columns[0]):
        return cells
    apart = tabulate_units(units, dimensions, tops)
    named = {
        name: replace(one, units=np.where(one.units < 0, -1, numbers[one.units])) for name, one in apart.lists.items()
    }
    apart = replace(apart, lists=named)
    return cells.joined(apart) if len(cells) else apart


def _giving(pairs: FoundPairs) -> NDArray[np.bool_]:
    """Which contributions have a value of the response."""
    return pairs.values[GIVING] > 0 if GIVING in pairs.values else np.ones(len(pairs.units), dtype=bool)


def _contributions(
    maker: Maker, alone: Making, pairs: FoundPairs | None, spec: TableSpec, scales: Scales
) -> Contributions | None:
    """What respondents in several finest cells gave to each, and what the rules see of all others."""
    if not maker.by_respondent:
        return None
    cells, view = view_of(replace(maker, cells=alone), spec, scales)
    rest = RestOfCells(np.column_stack(cells.columns).astype(np.int32), view)
    if pairs is None:
        nobody = np.zeros(0)
        weights = None if scales.least_weight is None else nobody
        empty = tuple(np.zeros(0, dtype=np.int32) for _ in maker.dimensions)
        return Contributions(empty, np.zeros(0, np.int64), nobody, weights, np.zeros(0, np.bool_), rest)
    name = spec.shadow or spec.response or RECORDS
    giving = _giving(pairs)
    return Contributions(
        _nodes(pairs.codes[giving], maker.dimensions),
        pairs.units[giving],
        pairs.values[name][giving] / scales.values[name],
        None if pairs.weights is None else pairs.weights[giving] / scales.weight,
        pairs.judged[giving],
        rest,
    )


def _by_record(
    file: LargeFile, rows: UnitRows, cells: Cells, spec: TableSpec, scales: Scales, built: Built
) -> Respondents:
    """What rules on single records see of each cell."""
    if rows.marks:
        raise DataError(
            "table: requests and waivers of respondents cannot be judged record by record in an engine; "
            "read the file without one."
        )
    unit = _numbered(file, _identifier(file, "rules on single records")) if spec.measures else "0"
    dimensions = tuple(dimension for dimension, _ in built)
    with _units(file, replace(rows, unit=unit, combined=False)) as units:
        alone = _alone(units, dimensions, spec, silent)
        return view_beside(cells, _maker(units, dimensions, spec, None, alone), spec, scales)


def table_from(data: Microdata | LargeFile, spec: TableSpec, *, progress: Progress = silent) -> Table:
    """The table of records, wherever these are."""
    if isinstance(data, LargeFile):
        return tabulate_large(data, spec, progress=progress)
    return tabulate(data, spec, progress=progress)


def sums_from(
    data: Microdata | LargeFile,
    spec: TableSpec,
    table: Table,
    words_of: Callable[[Microdata], Words],
    names: tuple[str, ...] = (),
) -> Words:
    """Σ words over the records of each cell, wherever the records are; `names` are what `words_of` looks at besides ids."""
    if isinstance(data, LargeFile):
        return large_key_sums(data, spec, table, words_of, names)
    return key_sums(data, spec, table, words_of(data))


def large_key_sums(
    file: LargeFile, spec: TableSpec, table: Table, words_of: Callable[[Microdata], Words], names: tuple[str, ...]
) -> Words:
    """Σ words over the records of each cell of the table, as `key_sums` in memory; records come in blocks with `names`.

    Words are keyed by the identifier of a record, and added up in whole numbers: neither blocks nor their order matter.
    """
    identifier = _identifier(file, "record keys")
    built = built_dimensions(file, spec)
    dimensions = tuple(dimension for dimension, _ in built)
    sizes = [len(d) for d in dimensions]
    columns: list[Nodes] = []
    sums: Words | None = None
    for codes, block in file.coded_blocks(
        node_maps(file, built), tuple(dict.fromkeys((identifier, *names))), identifier
    ):
        words = words_of(block)
        own = _nodes(codes, dimensions)
        if sums is not None:
            own = tuple(np.concatenate(pair) for pair in zip(columns, own, strict=True))
            words = np.concatenate((sums, words))
        columns, sums = add_up(own, sizes, np.arange(len(words)), words)
    assert sums is not None
    return sums_of_cells(columns, sums, dimensions, table)
