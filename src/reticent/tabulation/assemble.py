# SPDX-License-Identifier: Apache-2.0
"""From the cells of units, in memory or in an engine, to what the rules see of them and to the table."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import DataError
from reticent.data.table import Dimension, Measure, Respondents, Table, TableSpec
from reticent.frames.engines.units import Who
from reticent.kernels.grouping import group_columns
from reticent.tabulation.cells import Cells

MAX_DECIMALS = 6
RECORDS = " records"
REQUEST = " request "
MOST_STRATA = 50
"""Where there are more different weights, they are not taken for those of strata."""
MOST_LISTED = 200
"""Contributions that are kept of each cell where weights are below 1."""


@dataclass(frozen=True)
class Scales:
    """Whole multiples of which unit the numbers are, and how many decimals their sums have.

    `least_weight` and `most_weight` are the ends of the weights in the unit of the data; None where records count once.
    `few_weights` are all that occur, where they are few (weights by stratum).
    """

    values: Mapping[str, float]
    decimals: Mapping[str, int]
    weight: float
    weight_decimals: int
    least_weight: float | None
    most_weight: float | None
    notes: tuple[str, ...]
    few_weights: tuple[float, ...] = ()


def few_weights(weights: Floats) -> tuple[float, ...]:
    """The weights that occur; none where there are too many for weights of strata."""
    found = np.unique(weights)
    return tuple(found.tolist()) if len(found) <= MOST_STRATA else ()


@dataclass(frozen=True, eq=False)
class Maker:
    """What makes all cells of the units: `cells(tops, who)` gives the cells, with this many of the largest contributions.

    `values` names all that is added up, with two variables of its own for each of this many `requests`. `lacking` says that
    some units have no value of the response, `waived` that some have waived protection.
    """

    values: tuple[str, ...]
    dimensions: tuple[Dimension, ...]
    cells: Callable[[Mapping[str, int], Who], Cells]
    requests: int
    lacking: bool
    waived: bool
    by_respondent: bool


def view_of(maker: Maker, spec: TableSpec, scales: Scales) -> tuple[Cells, Respondents]:
    """All cells, and what the rules see of each; who has no value of the response is no respondent of its sums."""
    length = _list_length(spec.top, scales)
    # counts have no contributions to compare, but who is in a cell must be known by name there as well
    tops = {name: length if name in spec.measures or name == RECORDS else 1 for name in maker.values}
    cells = maker.cells(tops, "all")
    measures = {name: _measure(cells, name, scales) for name in maker.values}
    judged_name = spec.shadow or spec.response
    requests = []
    for number in range(maker.requests):
        present = measures.pop(f"{REQUEST}present {number}").maximum > 0
        largest = measures.pop(f"{REQUEST}{number}", None)
        scale = 1.0 if judged_name is None else scales.values[judged_name]
        top = np.zeros(len(cells)) if largest is None else largest.top[:, 0] / scale
        requests.append((top, present.astype(np.int64)))
    sizes = cells.counts
    if maker.lacking:
        own = {name: tops[name] for name in (spec.response, spec.shadow) if name is not None}
        sizes, giving = _some(maker, scales, own, cells, "giving")
        measures |= giving
    judged_sizes, judged = sizes, measures
    if maker.waived:
        judged_sizes, judged = _some(maker, scales, {name: tops[name] for name in measures}, cells, "judged")
    counts = sizes[:, 0].astype(np.int64)
    weighted = sizes[:, 1] / scales.weight
    if maker.by_respondent and scales.least_weight is None:
        weighted = counts.astype(np.float64)
    judged_counts = judged_sizes[:, 0].astype(np.int64)
    return cells, Respondents(counts, weighted, measures, judged_counts, judged, tuple(requests))


def view_beside(cells: Cells, maker: Maker, spec: TableSpec, scales: Scales) -> Respondents:
    """What rules see of other units of the same records, in the order of `cells`: both have the same cells."""
    own, view = view_of(maker, spec, scales)
    columns = [np.concatenate(pair) for pair in zip(own.columns, cells.columns, strict=True)]
    place = group_columns(columns, [len(d) for d in maker.dimensions])[0]
    order = np.empty(len(own), dtype=np.int64)
    order[place[: len(own)]] = np.arange(len(own))
    return view.take(order[place[len(own) :]])


def table_of(
    dimensions: tuple[Dimension, ...], cells: Cells, view: Respondents, spec: TableSpec, scales: Scales
) -> Table:
    """The table of all cells, in the order of the cells."""
    decimals = scales.decimals[spec.response] if spec.response is not None else scales.weight_decimals
    if spec.response is not None:
        values = view.measures[spec.response].totals
    elif RECORDS in view.measures:
        values = view.measures[RECORDS].totals
    else:
        values = view.weighted_counts if spec.weighted else view.counts.astype(np.float64)
    return Table(
        dimensions, np.column_stack(cells.columns).astype(np.int32), values, view, spec.response, spec.shadow, spec.cost,
        decimals, spec.weighted, spec.missing_safe, notes=scales.notes, least=_least(scales, spec),
        most=_most(scales, spec), few_weights=scales.few_weights, from_records=True,
    )  # fmt: skip


def _least(scales: Scales, spec: TableSpec) -> float:
    """What a cell with somebody in it counts at least: one record, or the least weight."""
    if spec.response is not None:
        return 0.0
    return 1.0 if scales.least_weight is None else scales.least_weight


def _most(scales: Scales, spec: TableSpec) -> float:
    """What one record of a cell counts at most: 1, or the largest weight."""
    if spec.response is not None:
        return math.inf
    return 1.0 if scales.most_weight is None else scales.most_weight


def _some(
    maker: Maker, scales: Scales, tops: Mapping[str, int], cells: Cells, who: Who
) -> tuple[Floats, dict[str, Measure]]:
    """Numbers (units, weight) and measures of some units, over the same cells."""
    kept = maker.cells(tops, who)
    n = len(cells)
    columns = [np.concatenate(pair) for pair in zip(cells.columns, kept.columns, strict=True)]
    place = group_columns(columns, [len(d) for d in maker.dimensions])[0][n:]
    sizes = np.zeros((n, 2))
    sizes[place] = kept.counts
    return sizes, {name: scatter(_measure(kept, name, scales), place, n) for name in tops}


def scatter(measure: Measure, place: Ints, n: int) -> Measure:
    """A measure over some cells as one over all: zero where nobody is left."""
    source = np.full(n, len(measure.totals), dtype=np.int64)
    source[place] = np.arange(len(place))

    def padded(array: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.concatenate((array, np.zeros((1, *array.shape[1:]))))

    wide = Measure(
        measure.name, padded(measure.totals), padded(measure.magnitudes), padded(measure.minimum),
        padded(measure.maximum), padded(measure.top),
        np.concatenate((measure.top_units, np.full((1, measure.top_units.shape[1]), -1))),
        None if measure.top_weights is None else padded(measure.top_weights), measure.decimals,
    )  # fmt: skip
    return wide.take(source)


def _measure(cells: Cells, name: str, scales: Scales) -> Measure:
    return cells.lists[name].measure(
        name, scale=scales.values.get(name, 1.0), weight_scale=scales.weight, decimals=scales.decimals.get(name, 0)
    )


def _list_length(top: int, scales: Scales) -> int:
    """How many contributions hold `top` units: more of them where weights are below 1."""
    least = scales.least_weight
    if least is None:
        return top
    if least < 1 and top > MOST_LISTED * least:  # a very small weight is 0 at the decimals of weights
        raise DataError(
            f"table: rules on {top} contributions need weights of {top / MOST_LISTED:g} or more; leave records with smaller "
            "ones out, or say weighted = false."
        )
    return top if least >= 1 else int(np.ceil(top / least))
