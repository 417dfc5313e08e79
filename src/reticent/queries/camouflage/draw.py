"""Draw the hull of a response: cells from the secret and public numbers, blocks from who is asked about together."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import DataError, PlanError
from reticent.base.randomness import Secret
from reticent.data.microdata import Microdata
from reticent.kernels.draws import uniforms
from reticent.kernels.grouping import group_columns
from reticent.queries.camouflage.cells import Bands, Demand, bands_of, cells_of, measure
from reticent.queries.camouflage.hulls import Cells, Hull, Integers, Records, blocks_of, hull_of, joined
from reticent.queries.camouflage.record import Drawn, HullRecord, Recorded, hull_digest
from reticent.queries.fixed import exact, fixed_point
from reticent.queries.levels import encode
from reticent.queries.modes import Setting
from reticent.queries.policy import Policy


@dataclass(frozen=True)
class Placed:
    """A hull, and the position in it of each record of the current version (−1: no value)."""

    hull: Hull
    positions: Integers


def draw(setting: Setting, response: str, today: Drawn, recorded: Recorded) -> Placed:
    """The hull of the first version, extended by what each later version appends, so that earlier cells and blocks stay."""
    drawn = recorded.drawn(today, response)
    secret = setting.secret.child(f"camouflage:{response}")
    bands = public_bands(drawn)
    known = np.fromiter(setting.universe.known_entities(), dtype=np.int64)
    parts: list[Hull] = []
    seen: dict[int, tuple[int, float]] = {}
    ids_so_far: list[NDArray[np.uint64]] = []
    at = np.empty(0, dtype=np.int64)
    for number, version in enumerate(setting.universe.versions):
        data = version.data
        values, ids = data.numbers((response,))[:, 0], data.record_ids()
        at, new = _positions(values, ids, seen, response)
        ids_so_far.append(ids[new])
        entity = setting.universe.entities(number)[new]
        records = Records(
            group_of(data, drawn)[new], entity, ids[new], _draws(secret, "blocks", ids[new]), np.isin(entity, known)
        )
        parts.append(_part(values[new], records, bands, drawn, secret))
        digest = hull_digest(joined(parts), np.concatenate(ids_so_far))
        recorded.compare(HullRecord(response, version.name, drawn, digest))
    return Placed(joined(parts), at)


def public_bands(drawn: Drawn) -> Bands:
    """The bands that options and bounds give; no value has a say."""
    low, high = (None if end is None else exact(end) for end in (drawn.low, drawn.high))
    demand = Demand(exact(drawn.percent), exact(drawn.least), low, high)
    grid = Fraction(1) if drawn.integer else exact(drawn.unit)
    return bands_of(demand, grid, tuple(map(exact, drawn.bands)))


def _part(values: NDArray[np.float64], records: Records, bands: Bands, drawn: Drawn, secret: Secret) -> Hull:
    measured = measure(fixed_point(values), bands.grid)
    points = measured.points
    if bool(((points < bands.edges[0]) | (points >= bands.edges[-1])).any()):
        raise DataError("camouflage: some values lie outside the declared bands; the bands must hold all values.")
    first, last = cells_of(bands, points, _draws(secret, "cells", records.ids))
    cells = Cells(first, last, drawn.integer, bands.low, bands.high)
    return hull_of(measured, cells, blocks_of(records, drawn.insiders), drawn.insiders, bands.grid / 2)


def _draws(secret: Secret, purpose: str, ids: NDArray[np.uint64]) -> NDArray[np.float64]:
    return uniforms(*secret.words(f"camouflage-{purpose}"), ids)


def _positions(
    values: NDArray[np.float64], ids: NDArray[np.uint64], seen: dict[int, tuple[int, float]], response: str
) -> tuple[Integers, Integers]:
    """The position of each record in the hull, and the records that are new."""
    at = np.full(len(ids), -1, dtype=np.int64)
    new: list[int] = []
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
            seen[key] = (len(seen), value)
            new.append(row)
        at[row] = seen[key][0]
    return at, np.array(new, dtype=np.int64)


def group_of(data: Microdata, drawn: Drawn) -> Integers:
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
