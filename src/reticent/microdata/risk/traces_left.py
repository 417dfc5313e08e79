# SPDX-License-Identifier: Apache-2.0
"""Traces that a file leaves beside its values: weights that occur in one region only, and the order of the records."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind
from reticent.microdata.risk.recount import Fit
from reticent.microdata.trace import Trace, positions, values_of

FEWEST = 3
"""Respondents (or households) that must share a weight before it says something about where they live."""
LUCK = 0.001
"""How likely the nearby weights of any record may be those of one code by chance, before they count as telling it."""
NARROW = 2 / 3
"""The share of those who show a code among whom a weight must place a record, before it counts as telling a finer one."""


@dataclass(frozen=True)
class WeightsLeft:
    """Records whose weight tells a key that the file shows less finely, or changed; `variable` is the one told most often.

    Of `exactly` so many it reveals one code, of the others a range of codes.
    """

    records: int
    variable: str | None
    exactly: int = 0


@dataclass(frozen=True)
class OrderLeft:
    """How much of the original order is left: share of neighbours who were neighbours, correlation of the positions."""

    shuffled: bool
    neighbours: float
    correlation: float
    n_records: int

    @property
    def gone(self) -> bool:
        """Whether the order is a random one: drawn by the release, or no more like the source than chance allows."""
        n = max(self.n_records, 2)
        chance = 0.02 + 6.5 / n
        return self.shuffled or (self.neighbours <= chance and abs(self.correlation) <= 0.02 + 3.3 / np.sqrt(n - 1))


def weights_left(trace: Trace, masked: Microdata) -> WeightsLeft | None:
    """Find weights shared by several respondents who all have one true code, where that code is blank, recoded or changed.

    Design weights are often published by region: a weight that occurs in one region only gives the region back. Where
    weights were disturbed, all true weights that the published one can stand for (by the smallest and the largest factor
    in the file) must be those of one code, and of more respondents than chance brings together. The same is looked at among
    the records that show one code of another key: a weight that two regions share may tell them apart by sex. A weight may
    also leave several codes, but fewer than the published one stands for (weights by ten years of age, beside bands of twenty).
    Where weights were calibrated to numbers, which can be divided out, those of the source are looked at, too.
    """
    name = masked.schema.weight
    if name is None:
        return None
    found = _told(trace, masked, name)
    true = trace.original.weights()
    if not trace.divided or true is None:
        return found
    own = trace.own(masked)
    divided = _told(
        trace, masked.with_numbers(name, np.where(own >= 0, true[own], masked.numbers((name,))[:, 0])), name
    )
    return max(found, divided, key=lambda left: left.records)


def _told(trace: Trace, masked: Microdata, name: str) -> WeightsLeft:
    """The same by the published weights."""
    own = trace.own(masked)
    weight = masked.patterns((name,)).group
    unit = np.where(own >= 0, _units(trace.original)[own], -1)
    pairs = np.unique(np.column_stack((weight, unit)), axis=0)
    size = np.bincount(pairs[:, 0], minlength=int(weight.max()) + 1)
    nearby = Nearby.of(trace.original, masked, own)
    others = _shown_alike(trace.original, masked, own)
    found: dict[str, tuple[int, int]] = {}
    for key in trace.original.schema.keys:
        likely = _beside_another(trace.original, own, key, others)
        if nearby is not None:
            likely |= nearby.one_code(trace.original.encoded(key).codes.astype(np.int64))
        one = (size >= FEWEST)[weight] & _one_code(trace, own, weight, key)
        told = (likely | one) & coarser(trace, masked, key)
        likely |= one & (_share(trace.original, own, key) ** size[weight] * len(size) < LUCK)
        changed = _another_code(trace, masked, own, key)
        told |= likely & changed
        narrow = _narrowed(trace.original, masked, own, key) | (changed & _elsewhere(trace, masked, own, key))
        found[key] = int((told | narrow).sum()), int(told.sum())
    worst = max(found, key=lambda key: found[key], default=None)
    if worst is None or not found[worst][0]:
        return WeightsLeft(0, None)
    return WeightsLeft(found[worst][0], worst, found[worst][1])


def _narrowed(original: Microdata, masked: Microdata, own: NDArray[np.int64], key: str) -> NDArray[np.bool_]:
    """Records whose weight leaves a range of codes that is narrower than their published code, alone or beside another key."""
    true, shown = original.weights(), masked.weights()
    here = own >= 0
    told = np.zeros(own.size, dtype=bool)
    if true is None or shown is None or not here.any():
        return told
    unit, place = _units(original), _in_order(original, key)
    n = masked.n_rows
    code = np.where(here, place[own], -1)
    published = masked.encoded(key).codes.astype(np.int64) if key in masked.schema else np.full(n, -1, dtype=np.int64)
    low, high = np.full(int(published.max()) + 2, n), np.full(int(published.max()) + 2, -1)
    np.minimum.at(low, published[here], code[here])
    np.maximum.at(high, published[here], code[here])
    several = here & (low < high)[published]  # the published code stands for several true ones
    groups = [published + 1]
    for name in masked.schema.keys if several.any() else ():
        other = masked.encoded(name).codes.astype(np.int64) + 1
        groups.append((published + 1) * (int(other.max(initial=0)) + 1) + other)
    parts = [rows for group in groups for rows in _rows_by(np.where(several, group, -1)) if rows.size >= 2 * FEWEST]
    for weights, ends in _readings(np.where(here, true[own], 1.0), shown, here):
        for rows in parts:
            near = Nearby.among(weights[rows], unit[own[rows]], shown[rows], ends)
            told[rows] |= near.narrow(code[rows], trials=len(parts))
    return told


def _elsewhere(trace: Trace, masked: Microdata, own: NDArray[np.int64], key: str) -> NDArray[np.bool_]:
    """Records whose weight leaves a range of codes, and none that the file shows for them: it tells that chance changed it."""
    true, shown = trace.original.weights(), masked.weights()
    here = np.flatnonzero(own >= 0)
    told = np.zeros(own.size, dtype=bool)
    if true is None or shown is None or key not in masked.schema or not here.size:
        return told
    place, unit = _in_order(trace.original, key), _units(trace.original)
    first, last = _codes_shown(trace, masked, key, place)
    for weights, ends in _readings(true[own[here]], shown[here]):
        near = Nearby.among(weights, unit[own[here]], shown[here], ends)
        low, high = near.reach(place[own[here]])
        outside = (last[here] < low) | (first[here] > high)
        told[here] |= near.narrow(place[own[here]], trials=len(trace.original.schema.keys)) & outside
    return told


def _codes_shown(
    trace: Trace, masked: Microdata, key: str, place: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first and the last true code, by place, that each published one stands for; numbers lie between the nearest."""
    values, cover = values_of(masked, key), trace.covers[key]
    if masked.schema[key].kind is Kind.NUMERIC:
        numbers = np.sort(values_of(trace.original, key).distinct)
        published = np.array([*values.distinct, np.nan])[values.numbers]
        return np.searchsorted(numbers, published, "right") - 1, np.searchsorted(numbers, published, "left")
    at = np.full(cover.n_true + 1, -1, dtype=np.int64)
    at[cover.true] = place
    first, last = np.full(len(cover.shown) + 1, -1), np.full(len(cover.shown) + 1, place.size)
    first[:-1], last[:-1] = place.size, -1
    np.minimum.at(first, cover.pairs[:, 1], at[cover.pairs[:, 0]])
    np.maximum.at(last, cover.pairs[:, 1], at[cover.pairs[:, 0]])
    shown = {value: code for code, value in enumerate(cover.shown)}
    codes = np.array([*(shown.get(value, -1) for value in values.distinct), -1])[values.numbers]
    return first[codes], last[codes]


def _in_order(original: Microdata, key: str) -> NDArray[np.int64]:
    """The place of each true code in the order of the codes, by number or by text; −1 where there is none."""
    encoded = original.encoded(key)
    texts = encoded.categories
    try:
        order = np.argsort([float(text) for text in texts], kind="stable")
    except ValueError:
        order = np.argsort(np.array(texts, dtype=str), kind="stable")
    place = np.full(len(texts) + 1, -1, dtype=np.int64)
    place[order] = np.arange(len(texts))
    return np.asarray(place[encoded.codes], dtype=np.int64)


def _rows_by(group: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The records of each group; those below 0 belong to none."""
    order = np.argsort(group, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    return [part for part in parts if group[part[0]] >= 0]


@dataclass(frozen=True)
class _ShownAlike:
    """The records that show one code of a published key, code by code; `n_codes` counts a blank as a code, too."""

    groups: list[tuple[NDArray[np.int64], "Nearby"]]
    n_codes: int


def _shown_alike(original: Microdata, masked: Microdata, own: NDArray[np.int64]) -> dict[str, _ShownAlike]:
    """For each published key the records that show the same code, with the true weights that theirs can stand for."""
    true, shown = original.weights(), masked.weights()
    here = own >= 0
    if true is None or shown is None or not here.any():
        return {}
    unit, readings = _units(original), _readings(np.where(here, true[own], 1.0), shown, here)
    found = {}
    for name in masked.schema.keys:
        codes = masked.encoded(name).codes
        rows_of = [np.flatnonzero(here & (codes == code)) for code in np.unique(codes[here & (codes >= 0)]).tolist()]
        groups = [
            (rows, Nearby.among(weights[rows], unit[own[rows]], shown[rows], ends))
            for rows in rows_of
            for weights, ends in readings
        ]
        found[name] = _ShownAlike(groups, np.unique(codes).size)
    return found


def _beside_another(
    original: Microdata, own: NDArray[np.int64], key: str, alike: Mapping[str, _ShownAlike]
) -> NDArray[np.bool_]:
    """Records whose weight tells the key to somebody who also looks at one other published key."""
    told = np.zeros(own.size, dtype=bool)
    codes = original.encoded(key).codes.astype(np.int64)
    others = [found for name, found in alike.items() if name != key]
    trials = sum(found.n_codes for found in others) * len(original.schema.keys)
    for rows, near in (group for found in others for group in found.groups):
        told[rows] |= near.one_code(codes[own[rows]], trials=trials)
    return told


def _units(data: Microdata) -> NDArray[np.int64]:
    """Who a weight belongs to: the household, else the respondent, else the record."""
    found = data.household() if data.schema.household_id is not None else data.entity()
    return np.arange(data.n_records) if found is None else np.asarray(found, dtype=np.int64)


@dataclass(frozen=True)
class Nearby:
    """For each published record the true weights that its disturbed one can stand for, as a range in their order."""

    order: NDArray[np.int64]
    unit: NDArray[np.int64]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    here: NDArray[np.bool_]

    @classmethod
    def of(cls, original: Microdata, masked: Microdata, own: NDArray[np.int64]) -> "Nearby | None":
        """None where all weights were multiplied by one factor, so that equal ones stayed equal."""
        true, shown = original.weights(), masked.weights()
        here = own >= 0
        if true is None or shown is None or not here.any():
            return None
        low, high = _factors(true[own[here]], shown[here])
        if high / low < 1 + 1e-6:
            return None
        unit = _units(original)
        order = np.lexsort((unit, true))
        ordered = true[order]
        start, stop = np.searchsorted(ordered, shown / high, "left"), np.searchsorted(ordered, shown / low, "right")
        return cls(order, unit, start, stop, here)

    @classmethod
    def among(
        cls, true: NDArray[np.float64], unit: NDArray[np.int64], shown: NDArray[np.float64], ends: tuple[float, float]
    ) -> "Nearby":
        """The same among some published records, disturbed or not, by their true and published weights."""
        low, high = ends
        order = np.lexsort((unit, true))
        start = np.searchsorted(true[order], shown / high, "left")
        stop = np.searchsorted(true[order], shown / low, "right")
        return cls(order, unit, start, stop, np.ones(true.size, dtype=bool))

    def one_code(self, codes: NDArray[np.int64], *, trials: int = 1) -> NDArray[np.bool_]:
        """Records whose nearby weights are all those of one code, and of too many respondents for chance.

        `trials` is how often something like this is looked at: chance has as many more ways.
        """
        code, unit = codes[self.order], self.unit[self.order]
        ends = np.append(np.flatnonzero(np.diff(code)) + 1, code.size)
        same = ends[np.searchsorted(ends, self.start, "right").clip(max=ends.size - 1)] >= self.stop
        counted = np.append(0, np.cumsum(np.append(True, np.diff(unit) != 0)))
        units = counted[self.stop] - counted[self.start]
        first = code[self.start.clip(max=code.size - 1)]
        share = np.bincount(code + 1, minlength=int(code.max()) + 2)[first + 1] / code.size
        with np.errstate(divide="ignore"):
            luck = np.log(share) * (units - 1) + np.log(code.size * max(trials, 1))
        return np.asarray(self.here & (first >= 0) & same & (units >= FEWEST) & (luck <= np.log(LUCK)))

    def reach(self, codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first and the last of the codes that the nearby weights of each have."""
        code = codes[self.order]
        return _extremes(code, self.start, self.stop), -_extremes(-code, self.start, self.stop)

    def narrow(self, codes: NDArray[np.int64], *, trials: int) -> NDArray[np.bool_]:
        """Records whose nearby weights leave a part of the codes only, by more respondents than chance puts there.

        The part is a range in the order of the codes, and of at most `NARROW` of the records.
        """
        code, unit = codes[self.order], self.unit[self.order]
        low, high = self.reach(codes)
        counted = np.append(0, np.cumsum(np.append(True, np.diff(unit) != 0)))
        units = counted[self.stop] - counted[self.start]
        upto = np.append(0, np.cumsum(np.bincount(code + 1, minlength=int(code.max()) + 2)))
        share = (upto[high + 2] - upto[low + 1]) / code.size
        ways = float(np.unique(code).size) ** 2 * np.unique(self.start).size * max(trials, 1)
        luck = np.log(np.maximum(share, 1e-300)) * units + np.log(ways)
        return np.asarray((low >= 0) & (share <= NARROW) & (units >= FEWEST) & (luck <= np.log(LUCK)))


def _extremes(values: NDArray[np.int64], start: NDArray[np.int64], stop: NDArray[np.int64]) -> NDArray[np.int64]:
    """The least value of each stretch from start to below stop, by tables of stretches of 1, 2, 4, … values."""
    tables = [values.astype(np.int32)]
    while 2 ** len(tables) <= values.size:
        last, step = tables[-1], 2 ** (len(tables) - 1)
        tables.append(np.append(np.minimum(last[:-step], last[step:]), last[-step:]))
    level = np.log2(np.maximum(stop - start, 1)).astype(np.int64)
    flat = np.stack(tables)
    first = start.clip(max=values.size - 1)
    return np.asarray(np.minimum(flat[level, first], flat[level, (stop - 2**level).clip(min=0)]), dtype=np.int64)


def _factors(true: NDArray[np.float64], shown: NDArray[np.float64]) -> tuple[float, float]:
    """The smallest and the largest factor by which weights were multiplied, a little outwards."""
    factor = shown / true
    return float(factor.min()) * (1 - 1e-9), float(factor.max()) * (1 + 1e-9)


def _readings(
    true: NDArray[np.float64], shown: NDArray[np.float64], here: NDArray[np.bool_] | slice = slice(None)
) -> list[tuple[NDArray[np.float64], tuple[float, float]]]:
    """Weights that published ones may stand for, with the factors between: those of the source, or of a step, as published.

    Where a sample makes weights, those of the source need not say anything of it: all of them may have been equal.
    """
    return [(true, _factors(true[here], shown[here])), (shown, (1 - 1e-9, 1 + 1e-9))]


def _one_code(trace: Trace, own: NDArray[np.int64], weight: NDArray[np.int64], key: str) -> NDArray[np.bool_]:
    """Records whose weight occurs with one true code of the key."""
    codes = trace.original.encoded(key).codes.astype(np.int64)
    true = np.where(own >= 0, codes[own], -1)
    low = np.full(int(weight.max()) + 1, np.iinfo(np.int64).max)
    high = np.full(int(weight.max()) + 1, -2, dtype=np.int64)
    np.minimum.at(low, weight, true)
    np.maximum.at(high, weight, true)
    return np.asarray((low == high)[weight] & (true >= 0))


def coarser(trace: Trace, masked: Microdata, key: str) -> NDArray[np.bool_]:
    """Records that do not show the key as finely as it is: dropped, blank, or one code for several."""
    if key not in masked.schema:
        return np.ones(masked.n_records, dtype=bool)
    fit = Fit.of(trace, masked, (key,))
    if not fit.maps:
        return np.zeros(masked.n_records, dtype=bool)
    shown = fit.shown[:, 0]
    many = np.zeros(int(shown.max(initial=0)) + 2, dtype=bool)
    codes, counts = np.unique(trace.covers[key].pairs[:, 1], return_counts=True)
    inside = codes < many.size
    many[codes[inside]] = counts[inside] > 1
    return np.asarray((shown < 0) | many[shown])


def _share(original: Microdata, own: NDArray[np.int64], key: str) -> NDArray[np.float64]:
    """For each published record the share of those who truly have its true code; 1 where there is no code."""
    codes = np.where(own >= 0, original.encoded(key).codes.astype(np.int64)[own], -1)
    counts = np.bincount(codes[codes >= 0], minlength=int(codes.max(initial=0)) + 1)
    return np.where(codes >= 0, counts[codes] / max(codes.size, 1), 1.0)


def _another_code(trace: Trace, masked: Microdata, own: NDArray[np.int64], key: str) -> NDArray[np.bool_]:
    """Records of which chance has changed the key."""
    if key not in masked.schema or key not in trace.covers or not trace.covers[key].changed:
        return np.zeros(masked.n_records, dtype=bool)
    cover, values = trace.covers[key], values_of(masked, key)
    place = {value: at for at, value in enumerate(cover.shown)}
    shown = np.array([*(place.get(value, -2) for value in values.distinct), -1])[values.numbers]
    return np.asarray((own >= 0) & (values.numbers >= 0) & (shown != cover.images()[own]))


def order_left(original: Microdata, released: Microdata, *, shuffled: bool) -> OrderLeft:
    """Compare the order of the released records with that of the source; members of a published household belong together."""
    place = positions(original, released)
    near = np.abs(np.diff(place)) == 1
    household = released.household()
    if household is not None:
        near &= np.diff(household) != 0
    n = place.size
    spread = float(np.std(place)) if n > 2 else 0.0
    correlation = float(np.corrcoef(place, np.arange(n))[0, 1]) if spread > 0 else 0.0
    return OrderLeft(shuffled, float(near.mean()) if n > 1 else 0.0, correlation, n)
