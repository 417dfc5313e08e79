# SPDX-License-Identifier: Apache-2.0
"""Draw the hull of a response: cells from the secret and public numbers, blocks from who is asked about together."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.base.errors import DataError, PlanError
from reticent.base.randomness import Secret
from reticent.data.microdata import Microdata
from reticent.kernels.draws import uniforms
from reticent.kernels.grouping import group_columns
from reticent.queries.analysis.blur import respondent_ids
from reticent.queries.camouflage.cells import Bands, CellDemand, bands_of, cells_of, measure
from reticent.queries.camouflage.hulls import Cells, Hull, Records, blocks_of, hull_of, joined
from reticent.queries.camouflage.record import Drawn, HullRecord, Recorded, hull_digest
from reticent.queries.fixed import exact, fixed_point
from reticent.queries.levels import encode
from reticent.queries.modes import Setting
from reticent.queries.policy import Policy


@dataclass(frozen=True)
class Placed:
    """A hull, and the position in it of each record of the current version (−1: no value)."""

    hull: Hull
    positions: Ints


def draw(setting: Setting, response: str, today: Drawn, recorded: Recorded) -> Placed:
    """The hull of the first version, extended by what each later version appends, so that earlier cells and blocks stay."""
    drawn = recorded.drawn(today, response)
    secret = setting.secret.child(f"camouflage:{response}")
    bands = public_bands(drawn)
    known = np.fromiter(setting.universe.known_entities(), dtype=np.int64)
    parts: list[Hull] = []
    seen = _Seen()
    at = np.empty(0, dtype=np.int64)
    for number, version in enumerate(setting.universe.versions):
        data = version.data
        values, ids = data.numbers((response,))[:, 0], data.record_ids()
        at, new = seen.take(ids, values, response)
        entity = setting.universe.entities(number)[new]
        alone = np.isin(entity, known)
        if drawn.repeated:  # a total of a block tells of a respondent's value once
            alone |= seen.again(entity, ids[new])
        records = Records(group_of(data, drawn)[new], entity, ids[new], _draws(secret, "blocks", ids[new]), alone)
        # records that share a value share its cell, or what fits all their cells would be narrower than one
        names = respondent_ids(data) if drawn.repeated else ids
        offsets = _draws(secret, "cells", names[new])
        parts.append(_part(values[new], records, bands, drawn, offsets))
        digest = hull_digest(joined(parts), seen.ids)
        recorded.compare(HullRecord(response, version.name, drawn, digest))
    return Placed(joined(parts), at)


def public_bands(drawn: Drawn) -> Bands:
    """The bands that options and bounds give; no value has a say."""
    low, high = (None if end is None else exact(end) for end in (drawn.low, drawn.high))
    demand = CellDemand(exact(drawn.percent), exact(drawn.least), low, high)
    grid = Fraction(1) if drawn.integer else exact(drawn.unit)
    return bands_of(demand, grid, tuple(map(exact, drawn.bands)))


def _part(values: Floats, records: Records, bands: Bands, drawn: Drawn, offsets: Floats) -> Hull:
    measured = measure(fixed_point(values), bands.grid)
    points = measured.points
    if bool(((points < bands.edges[0]) | (points >= bands.edges[-1])).any()):
        raise DataError("camouflage: some values lie outside the declared bands; the bands must hold all values.")
    first, last = cells_of(bands, points, offsets)
    cells = Cells(first, last, drawn.integer, bands.low, bands.high)
    return hull_of(measured, cells, blocks_of(records, drawn.insiders), drawn.insiders, bands.grid / 2)


def _draws(secret: Secret, purpose: str, ids: NDArray[np.uint64]) -> Floats:
    return uniforms(*secret.words(f"camouflage-{purpose}"), ids)


class _Seen:
    """The records of earlier versions, in the order of the hull."""

    def __init__(self) -> None:
        self.ids, self.values = np.empty(0, dtype=np.uint64), np.empty(0)
        self._respondents = np.empty(0, dtype=np.int64)

    def take(self, ids: NDArray[np.uint64], values: NDArray[np.float64], response: str) -> tuple[Ints, Ints]:
        """The position of each record in the hull (−1: no value), and the records that are new, which are added."""
        at = np.full(len(ids), -1, dtype=np.int64)
        order = np.argsort(self.ids, kind="stable")
        place = np.searchsorted(self.ids[order], ids).clip(max=max(len(order) - 1, 0))
        there = ~np.isnan(values)
        known = there & (self.ids[order][place] == ids) if len(order) else np.zeros(len(ids), dtype=bool)
        at[known] = order[place[known]]
        if bool((self.values[at[known]] != values[known]).any()):
            raise PlanError(
                f"camouflage: a later version of {response!r} changes values of records that are already there; "
                "this mode allows versions that append records only."
            )
        new = np.flatnonzero(there & ~known)
        at[new] = len(self.ids) + np.arange(len(new))
        self.ids, self.values = np.concatenate((self.ids, ids[new])), np.concatenate((self.values, values[new]))
        return at, new

    def again(self, entity: Ints, ids: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which new records are not the first of their respondent, in the order of ids and of versions."""
        order = np.argsort(ids, kind="stable")
        first = np.zeros(len(ids), dtype=bool)
        first[order[np.unique(entity[order], return_index=True)[1]]] = True
        first &= ~np.isin(entity, self._respondents)
        self._respondents = np.union1d(self._respondents, entity)
        return ~first


def group_of(data: Microdata, drawn: Drawn) -> Ints:
    """A number per record, the same for records that the filters do not tell apart, in the order of the filters' texts.

    The order does not depend on code lists, so that the same filters give the same groups under another schema.
    """
    for name in drawn.filters:
        if name not in data.schema:
            raise PlanError(f"camouflage: the hull was drawn with the filter {name!r}, which the schema no longer has.")
    if not drawn.filters:
        return np.zeros(data.n_records, dtype=np.int64)
    policy = Policy(filters=drawn.filters, cutpoints=drawn.cutpoints)
    columns: list[NDArray[Any]] = []
    texts: list[list[str]] = []
    for name in drawn.filters:
        codes, levels = encode(data, name, policy)
        named = levels.texts if levels.numbers is None else [repr(v) for v in levels.numbers.tolist()]
        columns.append(codes)
        texts.append([*named, ""])  # the last one serves the code −1
    group, n_groups = group_columns(columns, [len(named) - 1 for named in texts])
    first = np.empty(n_groups, dtype=np.int64)
    first[group[::-1]] = np.arange(len(group) - 1, -1, -1)
    keys = [tuple(named[int(column[i])] for named, column in zip(texts, columns)) for i in first.tolist()]
    rank = np.empty(n_groups, dtype=np.int64)
    rank[sorted(range(n_groups), key=keys.__getitem__)] = np.arange(n_groups)
    return np.asarray(rank[group], dtype=np.int64)
