# SPDX-License-Identifier: Apache-2.0
"""From rules to unsafe cells and how far each must be protected, as tau-ARGUS derives it from the rule that fired."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Mask
from reticent.data.cells import CellStatus
from reticent.data.published_table import COUNT, WEIGHTED
from reticent.data.table import Table
from reticent.tables.rules import Manual, Rule, RuleCells, Threshold, Zero

DEFAULT_PERCENT = 20.0


@dataclass(frozen=True, eq=False)
class Judgement:
    """What the rules say of each cell: its status, the number of the rule that fired first (−1: none), and levels.

    `broken` has a row for each rule: which cells break it.
    """

    status: NDArray[np.int8]
    reason: NDArray[np.int16]
    rules: tuple[Rule, ...]
    lower_protection: Floats
    upper_protection: Floats
    broken: Mask

    @property
    def primary(self) -> Mask:
        """The unsafe cells."""
        return np.asarray(self.status == CellStatus.PRIMARY)

    def reason_of(self, cell: int) -> str:
        """Name of the first rule that made a cell unsafe, or nothing."""
        number = int(self.reason[cell])
        return "" if number < 0 else self.rules[number].name

    def rules_of(self, cell: int) -> tuple[str, ...]:
        """Names of all rules that an unsafe cell breaks, the first one first; none where it was declared by hand."""
        if self.reason[cell] < 0:
            return ()
        return tuple(dict.fromkeys(self.rules[number].name for number in np.flatnonzero(self.broken[:, cell])))

    def __repr__(self) -> str:
        return f"<Judgement {len(self.status)} cells: {int(self.primary.sum())} unsafe>"


def judge_cells(table: Table, rules: Sequence[Rule]) -> Judgement:
    """Apply the rules: the first that a cell breaks (dominance, p %, request, threshold, zero) is its reason."""
    ordered = tuple(sorted(rules, key=lambda rule: rule.rank))
    views = {unit: RuleCells.of(table, unit) for unit in {rule.unit for rule in ordered}}
    n = table.n_cells
    empty = table.listed_empty
    reason = np.full(n, -1, dtype=np.int16)
    distance = np.full(n, -np.inf)
    broken = np.zeros((len(ordered), n), dtype=bool)
    measured = set()
    for number, rule in enumerate(ordered):
        cells = views[rule.unit]
        hit = rule.unsafe(cells)
        if not (isinstance(rule, Zero) and rule.empty):
            hit = hit & ~empty
        if table.missing_safe:
            hit = hit & ~table.has_missing
        broken[number] = hit
        upper = rule.upper_estimate(cells)
        if upper is not None:
            measured.add(number)
            distance = np.where(hit, np.maximum(distance, _distance(upper, cells)), distance)
        reason = np.where((reason < 0) & hit, np.int16(number), reason)
    status = np.full(n, CellStatus.SAFE, dtype=np.int8)
    status[empty] = CellStatus.EMPTY
    status[reason >= 0] = CellStatus.PRIMARY
    lower, upper = _levels(table, ordered, reason, distance, measured)
    return Judgement(status, reason, ordered, lower, upper, broken)


def manual_percent(rules: Sequence[Rule]) -> float:
    """The percentage for cells that were declared unsafe by hand."""
    return next((rule.percent for rule in rules if isinstance(rule, Manual)), DEFAULT_PERCENT)


def _distance(upper: Floats, cells: RuleCells) -> Floats:
    assert cells.magnitudes is not None
    return upper - cells.magnitudes


def _levels(
    table: Table, rules: tuple[Rule, ...], reason: NDArray[np.int16], distance: Floats, measured: set[int]
) -> tuple[Floats, Floats]:
    """Lower and upper protection level of each unsafe cell, as distances.

    A value of 0 has the range of the rule `zero`, unless contributions of both signs cancel in it.
    """
    size = sizes(table)
    unit = 10.0**-table.decimals
    level = np.zeros(table.n_cells)
    for number, rule in enumerate(rules):
        mine = reason == number
        if not mine.any():
            continue
        wanted = _rescaled(table, rules, distance) if number in measured else size * rule.percent / 100.0
        level = np.where(mine, wanted, level)
    found = reason >= 0
    zero = found & (table.values == 0) & (level == 0)
    floor = np.where(found & ~zero, np.maximum(level, unit), 0.0)
    lower, upper = floor, np.maximum(floor, _to_minimum(table, rules, found & ~zero))
    zero_range = next((rule.range for rule in rules if isinstance(rule, Zero)), unit)
    upper[zero] = np.maximum(zero_range, unit)
    return lower, upper


def sizes(table: Table) -> Floats:
    """How large each cell is: its value, or the sum of its contributions without their signs where these cancel.

    Of 500 − 499 a per cent of the value would be next to nothing, and each of the two would know the other.
    """
    size = np.abs(table.values)
    measure = table.respondents.measures.get(table.response) if table.response is not None else None
    if measure is None:
        return size
    total = np.abs(measure.totals)
    cancelled = measure.magnitudes > total + 1e-9 * np.maximum(measure.magnitudes, 10.0**-table.decimals)
    return np.asarray(np.where(cancelled, np.maximum(measure.magnitudes, size), size))


def _to_minimum(table: Table, rules: tuple[Rule, ...], unsafe: Mask) -> Floats:
    """How far an unsafe count is below the smallest safe one: its interval must reach that, or it is known to be small."""
    kind = WEIGHTED if table.kind == WEIGHTED else COUNT
    smallest = [
        rule.minimum
        for rule in rules
        if isinstance(rule, Threshold) and table.kind == kind and rule.weighted == (kind == WEIGHTED)
    ]
    if not smallest:
        return np.zeros(table.n_cells)
    return np.where(unsafe, np.maximum(max(smallest) - table.values, 0.0), 0.0)


def _rescaled(table: Table, rules: tuple[Rule, ...], distance: Floats) -> Floats:
    """The distance that the rule asks for, carried from the judged variable to the response."""
    cells = RuleCells.of(table)
    assert cells.magnitudes is not None
    total = cells.magnitudes
    threshold = next((rule for rule in rules if isinstance(rule, Threshold)), None)
    percent = np.full(len(total), manual_percent(rules))
    if threshold is not None and cells.counts is not None:
        percent = np.where(cells.counts <= threshold.minimum, threshold.percent, percent)
    spare = total * percent / 100.0
    needed = np.where(distance > 0, distance, np.where(spare > 0, spare, 1.0))
    if table.shadow in (None, table.response):
        return needed
    share = np.divide(needed, total, out=np.full(len(total), manual_percent(rules) / 100.0), where=total > 0)
    return np.asarray(sizes(table) * share)
