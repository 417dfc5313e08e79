# SPDX-License-Identifier: Apache-2.0
"""Traces that a file leaves beside its values: weights that occur in one region only, and the order of the records."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reticent.base.arrays import Floats, Ints, Mask
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role
from reticent.kernels.grouping import group_columns
from reticent.microdata.risk.nearby_weights import FEWEST, LUCK, Nearby, readings
from reticent.microdata.risk.recount import Fit, is_near
from reticent.microdata.risk.weights_order import Beside, told_in_order
from reticent.microdata.trace import Trace, positions, values_of

ALIKE = 10
"""Records to each weight, from which weights are those of strata, so that one or two records with a weight are a stratum."""
_NOT_JUDGED = (Role.IDENTIFIER, Role.ENTITY, Role.HOUSEHOLD_ID, Role.WEIGHT)
"""Not published, or drawn again."""


@dataclass(frozen=True)
class WeightsLeft:
    """Records whose weight tells what the file shows less finely, or changed; `variable` is the one told most often.

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
    Sensitive variables, and those that a step made weights by, are looked at like keys. Where weights were calibrated to
    numbers, which can be divided out, what is left of them is looked at, too. Weights may also stand in the order of a number.
    """
    if masked.schema.weight is None:
        return None
    divided = trace.without_numbers(masked)
    found = [_told(trace, file) for file in (masked, divided) if file is not None]
    return max(found, key=lambda one: one.records)


def _told(trace: Trace, masked: Microdata) -> WeightsLeft:
    """The same by weights that are published, or follow from what is."""
    own, shown = trace.own(masked), np.asarray(masked.weights())
    unit = _units(trace.original)
    weight = np.unique(shown, return_inverse=True)[1].ravel()
    pairs = np.unique(np.column_stack((weight, np.where(own >= 0, unit[own], -1))), axis=0)
    size = np.bincount(pairs[:, 0], minlength=int(weight.max()) + 1)
    view = _View(trace, masked, own, shown)
    before = view.before
    nearby = [near for near in (Nearby.of(column, unit, shown, own) for column in before) if near is not None]
    others = _shown_alike(view)
    # weights are often made by keys; what has nothing to do with them may be equal by chance
    by_design = {*trace.original.schema.keys, *(name for names in trace.weighed for name in names)}
    by_stratum = len(size) * ALIKE <= masked.n_rows
    found: dict[str, tuple[int, int]] = {}
    for key in view.judged:
        codes = trace.original.encoded(key).codes.astype(np.int64)
        likely_anyhow = _share_of_shown(view, key)
        likely = _beside_another(view, key, others, likely_anyhow)
        for near in nearby:
            likely |= near.one_code(codes, likely_anyhow)
        one = _one_code(trace, own, weight, key)
        alone = one & by_stratum & _all_of_code(trace.original, own, weight, key)
        one &= (size >= FEWEST)[weight]
        hard = _share(trace.original, own, key) ** size[weight] * len(size) < LUCK
        told = (likely | (one | alone if key in by_design else one & hard)) & coarser(trace, masked, key)
        likely |= (one & hard) | (alone if key in by_design else False)
        changed = _another_code(trace, masked, own, key)
        told |= likely & changed
        narrow = _narrowed(view, key) | (changed & _elsewhere(view, key))
        found[key] = int((told | narrow).sum()), int(told.sum())
    for key, in_order in _in_order_of_numbers(view):
        found[key] = max(found.get(key, (0, 0)), (int(in_order.sum()), 0))
    worst = max(found, key=lambda key: found[key], default=None)
    if worst is None or not found[worst][0]:
        return WeightsLeft(0, None)
    return WeightsLeft(found[worst][0], worst, found[worst][1])


def _in_order_of_numbers(view: "_View") -> Iterator[tuple[str, Mask]]:
    """For each number that is hidden or changed the records whose weight tells it by its rank."""
    masked, own = view.masked, view.own
    for variable in view.original.schema.variables:
        name = variable.name
        if variable.kind is not Kind.NUMERIC or variable.role in _NOT_JUDGED:
            continue
        true = np.where(own >= 0, view.original.numbers((name,))[:, 0][own], np.nan)
        beside = _published_beside(masked, name)
        if name not in masked.schema:
            yield name, told_in_order(true, view.shown, np.zeros(own.size, dtype=np.int64), beside=beside)
        elif is_near(view.trace.covers[name], masked, name):
            shown = masked.numbers((name,))[:, 0]
            group = np.where(np.isnan(shown) | (shown == true), -1, 0)
            yield name, told_in_order(true, view.shown, group, shown=shown, beside=beside)
        else:
            group = np.where(coarser(view.trace, masked, name), masked.patterns((name,)).group, -1)
            yield name, told_in_order(true, view.shown, group, beside=beside)


def _published_beside(masked: Microdata, name: str) -> Beside:
    """The other variables that the file shows."""
    others = [one for one in masked.schema.variables if one.name != name and one.role not in _NOT_JUDGED]
    numbers = [masked.numbers((one.name,))[:, 0] for one in others if one.kind is Kind.NUMERIC]
    codes = [masked.encoded(one.name).codes.astype(np.int64) for one in others if one.kind is not Kind.NUMERIC]
    return Beside(codes, numbers)


def _judged(trace: Trace) -> tuple[str, ...]:
    """Keys, sensitive variables, and what a step made weights by."""
    schema = trace.original.schema
    made = [name for names in trace.weighed for name in names if name in schema]
    names = dict.fromkeys((*schema.keys, *schema.with_role(Role.SENSITIVE), *made))
    return tuple(name for name in names if schema[name].role not in _NOT_JUDGED)


@dataclass(frozen=True)
class _View:
    """The published records, whose they are, and the weights that the attacker reads."""

    trace: Trace
    masked: Microdata
    own: Ints
    shown: Floats

    @property
    def original(self) -> Microdata:
        """The source."""
        return self.trace.original

    @cached_property
    def judged(self) -> tuple[str, ...]:
        """Variables that a weight must not tell."""
        return _judged(self.trace)

    @cached_property
    def before(self) -> tuple[Floats, ...]:
        """Weights of the original records in the source, and after steps that made them (NaN: gone)."""
        true = self.original.weights()
        return (np.ones(self.original.n_rows) if true is None else true, *self.trace.weights_made)

    @cached_property
    def beside(self) -> dict[tuple[str, ...], Ints]:
        """What is looked at beside a weight: published codes of one judged variable, or of all but one of some strata."""
        published = [name for name in self.judged if name in self.masked.schema]
        codes = {name: self.masked.encoded(name).codes.astype(np.int64) for name in published}
        together = dict[tuple[str, ...], Ints]()
        for strata in (names for names in self.trace.weighed if len(names) > 2):
            for left_out in strata:
                others = tuple(name for name in strata if name in codes and name != left_out)
                if len(others) > 1:
                    together[others] = _joined([codes[name] for name in others])
        return {**{(name,): codes[name] for name in published}, **together}


def _joined(columns: Sequence[Ints]) -> Ints:
    """One number for several codes; −1 where one of them is blank."""
    group, _ = group_columns([column + 1 for column in columns], [int(column.max(initial=0)) + 2 for column in columns])
    return np.where(np.all([column >= 0 for column in columns], axis=0), group, -1)


def _narrowed(view: _View, key: str) -> Mask:
    """Records whose weight leaves a range of codes that is narrower than their published code, alone or beside others."""
    masked, own = view.masked, view.own
    here, n = own >= 0, masked.n_rows
    told = np.zeros(n, dtype=bool)
    if not here.any():
        return told
    unit, place = _units(view.original), _in_order(view.original, key)
    code = np.where(here, place[own], -1)
    published = masked.encoded(key).codes.astype(np.int64) if key in masked.schema else np.full(n, -1, dtype=np.int64)
    low, high = np.full(int(published.max()) + 2, n), np.full(int(published.max()) + 2, -1)
    np.minimum.at(low, published[here], code[here])
    np.maximum.at(high, published[here], code[here])
    several = here & (low < high)[published]  # the published code stands for several true ones
    groups = [published + 1]
    for other in (codes + 1 for codes in view.beside.values()) if several.any() else ():
        groups.append((published + 1) * (int(other.max(initial=0)) + 1) + other)
    parts = [rows for group in groups for rows in _rows_by(np.where(several, group, -1)) if rows.size >= 2 * FEWEST]
    for weights, ends in readings(view.before, own, view.shown):
        for rows in parts:
            near = Nearby.among(weights[rows], unit[own[rows]], view.shown[rows], ends)
            told[rows] |= near.narrow(code[rows], trials=len(parts))
    return told


def _elsewhere(view: _View, key: str) -> Mask:
    """Records whose weight leaves a range of codes, and none that the file shows for them: it tells that chance changed it."""
    here = np.flatnonzero(view.own >= 0)
    told = np.zeros(view.own.size, dtype=bool)
    if key not in view.masked.schema or not here.size:
        return told
    own, shown = view.own[here], view.shown[here]
    place, unit = _in_order(view.original, key), _units(view.original)
    first, last = _codes_shown(view.trace, view.masked, key, place)
    for weights, ends in readings(view.before, own, shown):
        near = Nearby.among(weights, unit[own], shown, ends)
        low, high = near.reach(place[own])
        outside = (last[here] < low) | (first[here] > high)
        told[here] |= near.narrow(place[own], trials=len(view.judged)) & outside
    return told


def _codes_shown(trace: Trace, masked: Microdata, key: str, place: Ints) -> tuple[Ints, Ints]:
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


def _in_order(original: Microdata, key: str) -> Ints:
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


def _rows_by(group: Ints) -> list[Ints]:
    """The records of each group; those below 0 belong to none."""
    order = np.argsort(group, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    return [part for part in parts if group[part[0]] >= 0]


@dataclass(frozen=True)
class _ShownAlike:
    """The records that show one code of something published, code by code; `n_codes` counts a blank as a code, too."""

    groups: list[tuple[Ints, Nearby]]
    n_codes: int


def _shown_alike(view: _View) -> dict[tuple[str, ...], _ShownAlike]:
    """For what is looked at beside a weight the records that show the same, with the weights that theirs can stand for."""
    own, here = view.own, view.own >= 0
    if not here.any():
        return {}
    unit, each = _units(view.original), readings(view.before, own, view.shown)
    found = {}
    for names, codes in view.beside.items():
        rows_of = _rows_by(np.where(here, codes, -1))
        groups = [
            (rows, Nearby.among(weights[rows], unit[own[rows]], view.shown[rows], ends))
            for rows in rows_of
            for weights, ends in each
        ]
        found[names] = _ShownAlike(groups, np.unique(codes).size)
    return found


def _beside_another(view: _View, key: str, alike: Mapping[tuple[str, ...], _ShownAlike], shown: Floats) -> Mask:
    """Records whose weight tells the key to somebody who also looks at something else that is published."""
    told = np.zeros(view.own.size, dtype=bool)
    codes = view.original.encoded(key).codes.astype(np.int64)
    others = [found for names, found in alike.items() if key not in names]
    trials = sum(found.n_codes for found in others) * len(view.judged)
    for rows, near in (group for found in others for group in found.groups):
        told[rows] |= near.one_code(codes[view.own[rows]], shown[rows], trials=trials)
    return told


def _units(data: Microdata) -> Ints:
    """Who a weight belongs to: the household, else the respondent, else the record."""
    found = data.household() if data.schema.household_id is not None else data.entity()
    return np.arange(data.n_records) if found is None else np.asarray(found, dtype=np.int64)


def _one_code(trace: Trace, own: Ints, weight: Ints, key: str) -> Mask:
    """Records whose weight occurs with one true code of the key."""
    codes = trace.original.encoded(key).codes.astype(np.int64)
    true = np.where(own >= 0, codes[own], -1)
    low = np.full(int(weight.max()) + 1, np.iinfo(np.int64).max)
    high = np.full(int(weight.max()) + 1, -2, dtype=np.int64)
    np.minimum.at(low, weight, true)
    np.maximum.at(high, weight, true)
    return np.asarray((low == high)[weight] & (true >= 0))


def _all_of_code(original: Microdata, own: Ints, weight: Ints, key: str) -> Mask:
    """Records with a weight that all published people of their true code have, and nobody else if it has one code."""
    codes = np.where(own >= 0, original.encoded(key).codes.astype(np.int64)[own], -1)
    return np.asarray((codes >= 0) & (np.bincount(codes + 1)[codes + 1] == np.bincount(weight)[weight]))


def coarser(trace: Trace, masked: Microdata, key: str) -> Mask:
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


def _share(original: Microdata, own: Ints, key: str) -> Floats:
    """For each published record the share of those who truly have its true code; 1 where there is no code."""
    codes = np.where(own >= 0, original.encoded(key).codes.astype(np.int64)[own], -1)
    counts = np.bincount(codes[codes >= 0], minlength=int(codes.max(initial=0)) + 1)
    return np.where(codes >= 0, counts[codes] / max(codes.size, 1), 1.0)


def _share_of_shown(view: _View, key: str) -> Floats:
    """For each published record the share of its true code among those who show the same code; 0 where the key is gone."""
    if key not in view.masked.schema:
        return np.zeros(view.own.size)
    true = np.where(view.own >= 0, view.original.encoded(key).codes.astype(np.int64)[view.own], -1)
    published = view.masked.encoded(key).codes.astype(np.int64)
    pair, n_pairs = group_columns([published + 1, true + 1], [int(published.max()) + 2, int(true.max()) + 2])
    return np.asarray(np.bincount(pair, minlength=n_pairs)[pair] / np.bincount(published + 1)[published + 1])


def _another_code(trace: Trace, masked: Microdata, own: Ints, key: str) -> Mask:
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
