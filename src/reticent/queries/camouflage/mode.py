"""The mode `camouflage`: answers every question with an interval; what it protects stays protected for ever."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import PlanError
from reticent.data.parameters import build
from reticent.queries.camouflage.hulls import BlockHull, CommonHull, Demand, block_hull, common_hull
from reticent.queries.camouflage.intervals import (
    Interval,
    outward,
    quantile_interval,
    ratio_interval,
    regression_intervals,
    sum_interval,
    variance_interval,
)
from reticent.queries.canonical import RecordSet, Universe
from reticent.queries.language import Statistic
from reticent.queries.modes import Decision, Request, Setting
from reticent.queries.refusals import Answer, Row
from reticent.queries.statistics import design_matrix

Floats = NDArray[np.float64]
MOST_VECTORS = 6


@dataclass(frozen=True)
class CamouflageOptions:
    """`[policy.options.camouflage]`: how wide the protected intervals are and against whom they stand."""

    percent: float = field(default=20.0, metadata={"min": 0.1, "max": 99, "help": "half-width in percent of the value"})
    least: float = field(default=1.0, metadata={"min": 0, "help": "smallest half-width, in the unit of the variable"})
    vectors: int = field(default=4, metadata={"min": 3, "max": MOST_VECTORS, "help": "vectors of the common hull"})
    insiders: int = field(default=0, metadata={"min": 0, "max": 8, "help": "values an attacker may know for certain"})
    unit: float = field(
        default=0.01, metadata={"min": 1e-9, "help": "intervals are rounded outward to multiples of it"}
    )


@dataclass
class CamouflageMode:
    """Intervals over hulls that were fixed when the data set was opened; answers depend on nothing else."""

    setting: Setting
    options: CamouflageOptions
    hulls: dict[str, CommonHull | BlockHull] = field(repr=False)
    positions: dict[str, NDArray[np.int64]] = field(repr=False)
    sums: dict[str, Floats | None] = field(repr=False)
    name: ClassVar[str] = "camouflage"
    guarantee: ClassVar[str] = (
        "Every answer is an interval that holds the true value. No number of answers, put together, excludes any value of a "
        "record's protected interval, even for an attacker who knows as many values for certain as the policy says."
    )
    leakage: ClassVar[tuple[str, ...]] = (
        "counts of records (membership in groups is taken as known)",
        "which values are missing",
    )
    statistics: ClassVar[frozenset[str]] = frozenset(
        {"count", "sum", "avg", "variance", "stddev", "min", "max", "median", "quantile", "ratio", "linreg"}
    )

    def decide(self, request: Request) -> Decision:
        """Answer with intervals; the same record set always gets the same one."""
        rows = tuple(
            Row(cell.group, tuple(self._value(statistic, cell.records) for statistic in request.query.statistics))
            for cell in request.cells
        )
        columns = tuple(str(statistic) for statistic in request.query.statistics)
        return Decision(Answer(columns, rows, request.query.by, self.name))

    def replay(self, request: Request, remember: Mapping[str, Any]) -> None:
        """Nothing to remember: answers depend on the hulls only."""

    def _value(self, statistic: Statistic, records: RecordSet) -> Any:
        universe = self.setting.universe
        if statistic.name == "count" and not statistic.variables:
            return len(universe.records(records))
        response = statistic.variables[0]
        if statistic.name in ("sum", "avg"):
            return self._linear(statistic.name, response, records)
        if statistic.name == "ratio":
            return self._ratio(statistic, records)
        rows, hull = self._rows(response, records), self.hulls[response]
        if statistic.name == "count":
            return len(rows)
        if statistic.name == "linreg":
            return self._regression(statistic, records, hull)
        if len(rows) == 0 or (len(rows) < 2 and statistic.name in ("variance", "stddev")):
            return None
        interval = _INTERVALS[statistic.name](statistic, hull, rows)
        return outward(interval, self.options.unit)

    def _linear(self, name: str, response: str, records: RecordSet) -> Any:
        """Sum or mean, from sums over atoms where these are enough: the cost does not grow with the records."""
        table = self.sums[response]
        if table is None:
            rows = self._rows(response, records)
            n, interval = len(rows), sum_interval(self.hulls[response], rows)
        else:
            *ends, count = table[records.atoms].sum(axis=0)
            n, interval = int(count), (float(min(ends)), float(max(ends)))
        if n == 0:
            return None
        low, high = interval
        return outward((low, high) if name == "sum" else (low / n, high / n), self.options.unit)

    def _ratio(self, statistic: Statistic, records: RecordSet) -> Any:
        """A ratio of two sums, from the intervals of both; None if there are no values or the divisor may be 0."""
        ends = [self._linear("sum", name, records) for name in statistic.variables]
        if None in ends:
            return None
        interval = ratio_interval(ends[0], ends[1])
        return None if interval is None else outward(interval, self.options.unit)

    def _rows(self, response: str, records: RecordSet) -> NDArray[np.int64]:
        """Positions in the hull of the records of a set that have a value."""
        at = self.positions[response][self.setting.universe.records(records)]
        return at[at >= 0]

    def _regression(self, statistic: Statistic, records: RecordSet, hull: CommonHull | BlockHull) -> Any:
        universe = self.setting.universe
        known = set(self.setting.policy.filters)
        if not set(statistic.variables[1:]) <= known:
            return None
        design, _, labels = design_matrix(universe, _complete(universe, records, statistic), statistic)
        rows = self._rows(statistic.variables[0], _complete(universe, records, statistic))
        if len(rows) <= design.shape[1] or np.linalg.matrix_rank(design) < design.shape[1]:
            return None
        found = regression_intervals(hull, rows, design)
        unit = self.options.unit
        return {"coefficients": {label: outward(ends, unit) for label, ends in zip(labels, found)}, "n": len(rows)}


def _complete(universe: Universe, records: RecordSet, statistic: Statistic) -> RecordSet:
    from reticent.queries.pieces import complete

    return complete(universe, records, statistic.variables)


def _spread(statistic: Statistic, hull: CommonHull | BlockHull, rows: NDArray[np.int64]) -> Interval:
    low, high = variance_interval(hull, rows)
    return (low, high) if statistic.name == "variance" else (float(np.sqrt(low)), float(np.sqrt(high)))


def _order(statistic: Statistic, hull: CommonHull | BlockHull, rows: NDArray[np.int64]) -> Interval:
    share = {"min": 0.0, "max": 1.0, "median": 0.5}.get(statistic.name, statistic.parameter or 0.0)
    return quantile_interval(hull, rows, share)


_INTERVALS: dict[str, Callable[[Statistic, CommonHull | BlockHull, NDArray[np.int64]], Interval]] = {
    "variance": _spread,
    "stddev": _spread,
    "min": _order,
    "max": _order,
    "median": _order,
    "quantile": _order,
}


def camouflage(setting: Setting) -> CamouflageMode:
    """Make the mode: a hull for each response, over the units of all versions (appended records only add to it)."""
    options = build(CamouflageOptions, setting.policy.options.get("camouflage", {}), owner="policy: options camouflage")
    setting.universe.check_bounds()
    for response, others in setting.universe.linked.items():
        if len(others) > 1:
            raise PlanError(
                f"camouflage: {response!r} is tied to {', '.join(o for o in others if o != response)} by an equation; each has "
                "its own hull, and what fits both is narrower than either. Keep one of them as a response."
            )
    hulls: dict[str, CommonHull | BlockHull] = {}
    positions: dict[str, NDArray[np.int64]] = {}
    for response in setting.policy.responses:
        hulls[response], positions[response] = _hull(setting, response, options)
    current = setting.universe.current
    sums = {name: _atom_sums(hulls[name], positions[name], current.atom, current.n_atoms) for name in hulls}
    return CamouflageMode(setting, options, hulls, positions, sums)


def _atom_sums(
    hull: CommonHull | BlockHull, at: NDArray[np.int64], atom: NDArray[np.int64], n_atoms: int
) -> Floats | None:
    """For each atom the ends of its sum and its number of values; None if a block is spread over atoms.

    A common hull has a column for each vector (their sums add up over atoms), blocks have a low and a high column.
    """
    there = at >= 0
    atom, at = atom[there], at[there]
    counts = np.bincount(atom, minlength=n_atoms)
    if isinstance(hull, CommonHull):
        ends = [np.bincount(atom, weights=vector[at], minlength=n_atoms) for vector in hull.vectors]
        return np.column_stack([*ends, counts])
    home = np.full(len(hull.odd), -1, dtype=np.int64)
    block = hull.block[at]
    home[block[block >= 0]] = atom[block >= 0]
    if bool((home[block[block >= 0]] != atom[block >= 0]).any()):
        return None
    low, high = (np.bincount(atom, weights=side[at], minlength=n_atoms) for side in (hull.low, hull.high))
    size, width = np.bincount(block[block >= 0], minlength=len(home)), np.full(len(home), np.inf)
    np.minimum.at(width, block[block >= 0], (hull.high - hull.low)[at][block >= 0])
    whole = home >= 0
    high -= np.bincount(
        home[whole], weights=np.where((size % 2 == 1) != hull.odd, width, 0.0)[whole], minlength=n_atoms
    )
    low += np.bincount(home[whole], weights=np.where(hull.odd, width, 0.0)[whole], minlength=n_atoms)
    return np.column_stack([low, high, counts])


def _hull(
    setting: Setting, response: str, options: CamouflageOptions
) -> tuple[CommonHull | BlockHull, NDArray[np.int64]]:
    """The hull of the first version, extended by what each later version appends, so that earlier vertices stay."""
    secret = setting.secret.child(f"camouflage:{response}")
    bounds = setting.policy.bounds.get(response)
    floor = -np.inf if bounds is None or bounds.low is None else bounds.low
    ceiling = np.inf if bounds is None or bounds.high is None else bounds.high
    parts: list[CommonHull | BlockHull] = []
    seen: dict[int, tuple[int, float]] = {}
    at = np.empty(0, dtype=np.int64)
    total = 0
    for number, version in enumerate(setting.universe.versions):
        values, ids = version.data.numbers((response,))[:, 0], version.data.record_ids()
        at = np.full(len(ids), -1, dtype=np.int64)
        fresh: list[int] = []
        for row, (key, value) in enumerate(zip(ids.tolist(), values.tolist())):
            if np.isnan(value):
                continue
            known = seen.get(key)
            if known is not None and known[1] != value:
                raise PlanError(
                    f"camouflage: a later version of {response!r} changes values of records that are already there; "
                    "this mode allows versions that append records only."
                )
            if known is None:
                seen[key] = (total + len(fresh), value)
                fresh.append(row)
            at[row] = seen[key][0]
        new = np.array(fresh, dtype=np.int64)
        half = np.maximum(np.abs(values[new]) * options.percent / 100, options.least)
        demand = Demand(values[new], values[new] - half, values[new] + half, floor, ceiling)
        parts.append(_part(demand, version.atom[new], ids[new], options, secret.child(str(number)), secret))
        total += len(new)
    return _joined(parts), at


def _part(
    demand: Demand, group: NDArray[np.int64], ids: NDArray[np.uint64], options: CamouflageOptions, own: Any, common: Any
) -> CommonHull | BlockHull:
    if options.insiders:
        return block_hull(demand, group, insiders=options.insiders, secret=own, ids=ids)
    # all versions must have the same shares: they are one hull
    return common_hull(demand, group, vectors=options.vectors, secret=common)


def _joined(parts: list[CommonHull | BlockHull]) -> CommonHull | BlockHull:
    first = parts[0]
    if isinstance(first, CommonHull):
        return CommonHull(np.concatenate([p.vectors for p in parts if isinstance(p, CommonHull)], axis=1), first.shares)
    blocks = [p for p in parts if isinstance(p, BlockHull)]
    shifts = np.cumsum([0, *(len(p.odd) for p in blocks[:-1])])
    return BlockHull(
        np.concatenate([p.low for p in blocks]),
        np.concatenate([p.high for p in blocks]),
        np.concatenate([np.where(p.block >= 0, p.block + shift, -1) for p, shift in zip(blocks, shifts)]),
        np.concatenate([p.odd for p in blocks]),
    )
