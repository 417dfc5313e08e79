# SPDX-License-Identifier: Apache-2.0
"""Microdata + TableSpec → Table: totals and subtotals of every dimension, only where there are records."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import DataError
from reticent.base.progress import Progress, part, silent
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Schema
from reticent.data.table import Contributions, Dimension, Measure, Respondents, Table, TableSpec
from reticent.frames.engines.units import Who
from reticent.kernels.grouping import group_columns
from reticent.tabulation.assemble import (
    MAX_DECIMALS,
    RECORDS,
    REQUEST,
    Maker,
    Scales,
    few_weights,
    scatter,
    table_of,
    view_beside,
    view_of,
)
from reticent.tabulation.cells import Cells
from reticent.tabulation.dimensions import build_dimension
from reticent.tabulation.respondents import Units, combine, tabulate_units

EXACT = 2.0**53
MAX_EMPTY = 20_000_000


def decimals_of(values: Floats) -> int | None:
    """Digits behind the point that all values have, None if there are more than six."""
    finite = values[np.isfinite(values)]
    for digits in range(MAX_DECIMALS + 1):
        scaled = finite * 10.0**digits
        if bool(np.all(np.abs(scaled - np.rint(scaled)) <= 1e-9 * np.maximum(np.abs(scaled), 1.0))):
            return digits
    return None


@dataclass(frozen=True, eq=False)
class _Numbers:
    """Contributions and weights as whole multiples of a small unit, so that sums are exact."""

    values: dict[str, Floats]
    weights: Floats | None
    scales: Scales


def tabulate(data: Microdata, spec: TableSpec, *, progress: Progress = silent) -> Table:
    """Make the table: counts, sums and the largest contributions of every non-empty cell."""
    check_spec(data.schema, spec)
    progress(0.0, "reading the dimensions")
    built = [build_dimension(data, dimension) for dimension in spec.dimensions]
    dimensions = tuple(dimension for dimension, _ in built)
    columns = tuple(nodes[data.encoded(dimension.name).codes] for dimension, nodes in built)
    numbers = _numbers(data, spec)
    respondent = respondents_of(data)
    if respondent is not None and numbers.weights is not None:
        _check_equal_weights(respondent, numbers.weights, data)
    units = Units(columns, numbers.values, numbers.weights, respondent)
    asked, waived = _flags(data, spec, respondent)
    progress(0.1, "adding up the cells")
    cells, view = view_of(_maker(units, dimensions, spec, asked, waived), spec, numbers.scales)
    progress(0.8, "adding up the records")
    records = None
    if respondent is not None and spec.by_record:
        maker = _maker(replace(units, respondent=None), dimensions, spec, asked, waived)
        records = view_beside(cells, maker, spec, numbers.scales)
    table = table_of(dimensions, cells, view, spec, numbers.scales)
    found = _contributions(units, dimensions, spec, numbers, waived)
    part(progress, 0.9, 1.0)(1.0, "done")
    return replace(table, records=records, contributions=found, marks=data.frame.marks).in_order()


def _maker(
    units: Units,
    dimensions: tuple[Dimension, ...],
    spec: TableSpec,
    asked: list[NDArray[np.bool_]],
    waived: NDArray[np.bool_] | None,
) -> Maker:
    """The cells of units in memory."""
    judged_name = spec.shadow or spec.response
    values = dict(units.values)
    for number, mask in enumerate(asked):
        if judged_name is not None:
            values[f"{REQUEST}{number}"] = np.where(mask, units.values[judged_name], 0.0)
        values[f"{REQUEST}present {number}"] = mask.astype(np.float64)
    every = replace(units, values=values)
    giving = _giving(units, dimensions, spec)

    def cells(tops: Mapping[str, int], who: Who) -> Cells:
        chosen = every
        if who != "all":
            keep = giving if who == "giving" or waived is None else giving & ~waived
            chosen = units.rows(keep)
        return tabulate_units(replace(chosen, values={name: chosen.values[name] for name in tops}), dimensions, tops)

    return Maker(
        tuple(values), dimensions, cells, len(asked), lacking=not giving.all(), waived=waived is not None,
        by_respondent=units.respondent is not None,
    )  # fmt: skip


def _giving(units: Units, dimensions: tuple[Dimension, ...], spec: TableSpec) -> NDArray[np.bool_]:
    """The records of units that have a value of the response in their finest cell; all where the table counts."""
    if spec.response is None:
        return np.ones(len(units.columns[0]), dtype=bool)
    have = ~np.isnan(units.values[spec.response])
    if units.respondent is None or have.all():
        return have
    sizes = [*(len(d) for d in dimensions), int(units.respondent.max(initial=0)) + 1]
    return _any_of(have, group_columns([*units.columns, units.respondent], sizes)[0])


def _contributions(
    units: Units,
    dimensions: tuple[Dimension, ...],
    spec: TableSpec,
    numbers: _Numbers,
    waived: NDArray[np.bool_] | None,
) -> Contributions | None:
    """What each respondent gave to each finest cell; nothing where every record is a respondent of its own."""
    if units.respondent is None:
        return None
    waiver = " waiver"
    values = dict(units.values) if waived is None else {**units.values, waiver: waived.astype(np.float64)}
    giving = replace(units, values=values).rows(_giving(units, dimensions, spec))
    one = combine(giving, [len(d) for d in dimensions])
    assert one.respondent is not None
    name = spec.shadow or spec.response or RECORDS
    kept = np.ones(len(one.respondent), dtype=bool) if waived is None else one.values[waiver] == 0
    weights = None if one.weights is None else one.weights / numbers.scales.weight
    return Contributions(one.columns, one.respondent, one.values[name] / numbers.scales.values[name], weights, kept)


def check_spec(schema: Schema, spec: TableSpec) -> None:
    """Refuse a table that the data cannot give, before any work."""
    schema.require([d.variable for d in spec.dimensions], owner="table")
    schema.require(spec.measures, owner="table")
    for name in spec.measures:
        if schema[name].kind is not Kind.NUMERIC:
            raise DataError(f"table: variable {name!r} must be numeric to be added up.", variables=(name,))
    schema.require([n for n in (spec.request, spec.waiver) if n is not None], owner="table")
    if spec.weighted and schema.weight is None:
        raise DataError("table: weighted = true needs a variable with the role weight; declare one.")


def _numbers(data: Microdata, spec: TableSpec) -> _Numbers:
    weights = data.weights() if spec.weighted else None
    weight_digits = decimals_of(weights) if weights is not None else 0
    weight_scale = 10.0 ** (weight_digits or 0)
    published_digits = MAX_DECIMALS if weight_digits is None else weight_digits
    largest = float(weights.max()) if weights is not None else 1.0
    values, scales, decimals = {}, {}, {}
    notes = unused_weight(data.schema, spec)
    for name in spec.measures:
        raw = data.numbers((name,))[:, 0]
        notes += absent_note(name, int(np.isnan(raw).sum()))
        digits = decimals_of(raw)
        scale = 10.0**digits if digits is not None else 1.0
        exact = digits is not None and float(np.nansum(np.abs(raw))) * scale * largest * weight_scale < EXACT
        scales[name] = scale if exact else 1.0
        values[name] = np.rint(raw * scale) if exact and scale != 1.0 else raw
        # a weighted sum has the decimals of both factors: fewer would publish a rounded one as if it were exact
        decimals[name] = MAX_DECIMALS if digits is None else min(digits + published_digits, MAX_DECIMALS)
    if spec.response is None and data.schema.entity is not None:
        values[RECORDS], scales[RECORDS], decimals[RECORDS] = np.ones(data.n_records), 1.0, 0
    if weights is not None and weight_digits is not None:
        weights = np.rint(weights * weight_scale)
    least = None if weights is None else float(weights.min(initial=np.inf)) / weight_scale
    most = None if weights is None else float(weights.max(initial=-np.inf)) / weight_scale
    few = () if weights is None or spec.response is not None else few_weights(weights / weight_scale)
    made = Scales(scales, decimals, weight_scale, published_digits, least, most, notes, few)
    return _Numbers(values, weights, made)


def unused_weight(schema: Schema, spec: TableSpec) -> tuple[str, ...]:
    """What there is to say of a weight that is declared and not used."""
    if schema.weight is None or spec.weighted:
        return ()
    return (f"The weight {schema.weight} is declared and not used: records count once. Say weighted = true to use it.",)


def absent_note(name: str, absent: int) -> tuple[str, ...]:
    """What there is to say of a variable that some records lack."""
    return (
        (f"{name}: missing in {absent} records, which add nothing and are no respondents of its sums.",)
        if absent
        else ()
    )


def respondents_of(data: Microdata) -> Ints | None:
    """A number for the respondent of each record; None where every record is one of its own."""
    entity = data.entity()
    if entity is None:
        return None
    unknown = entity < 0  # a record without respondent is its own
    out = entity.copy()
    out[unknown] = int(entity.max(initial=-1)) + 1 + np.arange(int(unknown.sum()))
    return out


def _check_equal_weights(respondent: Ints, weights: Floats, data: Microdata) -> None:
    any_weight = np.zeros(int(respondent.max()) + 1)
    any_weight[respondent] = weights
    if bool((any_weight[respondent] != weights).any()):
        raise DataError(
            f"table: weight {data.schema.weight!r} differs between records of one respondent; a weighted table by "
            f"{data.schema.entity!r} needs one weight for each.",
            variables=(str(data.schema.weight),),
        )


def _flags(
    data: Microdata, spec: TableSpec, respondent: Ints | None
) -> tuple[list[NDArray[np.bool_]], NDArray[np.bool_] | None]:
    """Who asked for protection (one mask a code), and who waived it; a respondent's records speak with one voice."""
    asked = []
    if spec.request is not None:
        for code in spec.request_codes:
            mask = _has_code(data, spec.request, (code,))
            asked.append(mask if respondent is None else _any_of(mask, respondent))
    waived = None
    if spec.waiver is not None:
        waived = _has_code(data, spec.waiver, spec.waiver_codes)
        if respondent is not None:
            waived = ~_any_of(~waived, respondent)
    return asked, waived


def _has_code(data: Microdata, name: str, codes: tuple[str, ...]) -> NDArray[np.bool_]:
    wanted = [number for number, text in enumerate(data.categories(name)) if text in codes]
    return np.asarray(np.isin(data.encoded(name).codes, wanted))


def _any_of(mask: NDArray[np.bool_], respondent: Ints) -> NDArray[np.bool_]:
    some = np.zeros(int(respondent.max(initial=0)) + 1, dtype=bool)
    some[respondent[mask]] = True
    return some[respondent]


def with_empty_cells(table: Table) -> Table:
    """The table with every combination listed; those without records have count 0."""
    if table.n_possible > MAX_EMPTY:
        raise DataError(
            f"table: its {table.n_possible} combinations are too many to list; at most {MAX_EMPTY} "
            "can be shown; use fewer or coarser dimensions."
        )
    sizes = [len(d) for d in table.dimensions]
    place = np.ravel_multi_index(tuple(table.codes.T.astype(np.int64)), sizes)
    source = np.full(table.n_possible, -1, dtype=np.int64)
    source[place] = np.arange(table.n_cells)
    absent = source < 0
    wide = table.take(np.where(absent, 0, source))
    codes = np.column_stack(np.unravel_index(np.arange(table.n_possible), sizes)).astype(np.int32)
    return replace(
        wide,
        codes=codes,
        values=np.where(absent, 0.0, wide.values),
        respondents=_emptied(wide.respondents, absent),
        records=None if wide.records is None else _emptied(wide.records, absent),
        cell_keys=None if wide.cell_keys is None else np.where(absent, 0.0, wide.cell_keys),
    )


def _emptied(view: Respondents, absent: NDArray[np.bool_]) -> Respondents:
    keep = np.where(absent, len(absent), np.arange(len(absent)))

    def blank(measure: Measure) -> Measure:
        return scatter(measure.take(np.flatnonzero(~absent)), np.flatnonzero(~absent), len(keep))

    return Respondents(
        np.where(absent, 0, view.counts),
        np.where(absent, 0.0, view.weighted_counts),
        {name: blank(m) for name, m in view.measures.items()},
        np.where(absent, 0, view.judged_counts),
        {name: blank(m) for name, m in view.judged.items()},
        tuple((np.where(absent, 0.0, top), np.where(absent, 0, here)) for top, here in view.requests),
    )
