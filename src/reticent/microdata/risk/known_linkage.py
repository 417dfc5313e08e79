"""Record linkage by an attacker who has the true values of keys and numbers: which published records lead back?

The attacker brings the true values to the published detail (a true 37 becomes the published band) and links each published
record to the nearest true one, or each true one to the nearest published record, whichever gives more. A record is rightly
and uniquely linked when its own is nearest and nobody else is as near. Three attackers are tried, and the best counts: all
variables with the usual distances; the numbers alone; and one who knows which variables were left alone and how strongly the
others were disturbed (left alone: must agree; the rest in units of the disturbance).
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind
from reticent.microdata.risk.linkage_coordinates import ABSENT_NUMBER, Coordinates
from reticent.microdata.risk.linkage_distance import uniquely_linked
from reticent.microdata.trace import Trace, numbers_of, positions, values_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FAR = 1e-3
"""Disturbed numbers count this little beside variables that must agree."""


@dataclass(frozen=True)
class KnownLinkage:
    """The share of published records rightly and uniquely linked, by attacker; `share` is the largest."""

    variables: tuple[str, ...]
    published: int
    originals: int
    by_attacker: tuple[tuple[str, float], ...]
    linked: NDArray[np.bool_] = field(repr=False)
    seconds: float = field(default=0.0, compare=False)

    @property
    def share(self) -> float:
        """What the best attacker links."""
        return max((share for _, share in self.by_attacker), default=0.0)


@dataclass(frozen=True)
class _Column:
    """One variable of both files: true values at the published detail, and published values; NaN is missing.

    `error` is the disturbance: root mean square of numbers, share of changed codes; 0 if it was left alone.
    """

    name: str
    true: Floats
    shown: Floats
    kind: Kind
    error: float


def known_linkage(trace: Trace, masked: Microdata, names: Sequence[str]) -> KnownLinkage:
    """Link the published records to all original ones on the variables named (those that are still published)."""
    started = time.perf_counter()
    known = tuple(name for name in names if name in masked.schema and name in trace.covers)
    own = positions(trace.original, masked)
    linked = np.zeros(masked.n_records, dtype=bool)
    here = np.flatnonzero(own >= 0)
    columns = [_column(trace, masked, name, own) for name in known]
    columns = [column for column in columns if not np.isnan(column.true).all()]
    found: dict[str, float] = {}
    for attacker, chosen in _attackers(columns) if here.size else ():
        both = [_linked(chosen, own, here, turned=turned) for turned in (False, True)]
        best = max(both, key=lambda unique: int(unique.sum()))
        linked[here] |= best
        found[attacker] = float(best.sum()) / masked.n_records
    took = time.perf_counter() - started
    return KnownLinkage(known, masked.n_records, trace.original.n_records, tuple(found.items()), linked, took)


def _attackers(columns: Sequence["_Column"]) -> list[tuple[str, list["Part"]]]:
    if not columns:
        return []
    numbers = [column for column in columns if column.kind is Kind.NUMERIC]
    chosen = [("all variables", [_usual(column) for column in columns])]
    if numbers and len(numbers) < len(columns):
        chosen.append(("numbers only", [_usual(column) for column in numbers]))
    return [*chosen, ("knows what was left alone", [_informed(column) for column in columns])]


def _linked(parts: Sequence["Part"], own: Ints, here: Ints, *, turned: bool) -> NDArray[np.bool_]:
    """Which published records lead to their own and to nobody else; `turned`: from the true record to the published one.

    A blank says nothing when the published record asks; when the true record asks, it costs `absent`.
    """
    true = np.ascontiguousarray(np.column_stack([part.true for part in parts]))
    shown = np.ascontiguousarray(np.column_stack([part.shown for part in parts]))
    names = tuple(str(at) for at in range(len(parts)))
    nominal, absent = np.array([part.nominal for part in parts]), np.array([part.absent for part in parts])
    if turned:
        coordinates = Coordinates(names, shown, np.ascontiguousarray(true[own[here]]), nominal, absent)
        return uniquely_linked(coordinates, here)
    coordinates = Coordinates(names, true, np.ascontiguousarray(shown[here]), nominal, absent)
    return uniquely_linked(coordinates, own[here])


def _column(trace: Trace, masked: Microdata, name: str, own: Ints) -> _Column:
    cover, images = trace.covers[name], trace.covers[name].images()
    if masked.schema[name].kind is Kind.NUMERIC:
        true, shown = numbers_of(cover, images), masked.numbers((name,))[:, 0]
        gap = np.where(own >= 0, true[own], np.nan) - shown
        return _Column(name, true, shown, Kind.NUMERIC, _root_mean_square(gap))
    values = values_of(masked, name)
    place = {value: at for at, value in enumerate(values.distinct)}
    table = np.array([*(place.setdefault(str(value), len(place)) for value in cover.shown), np.nan])
    true = table[images]
    shown = np.where(values.numbers >= 0, values.numbers, np.nan).astype(np.float64)
    differs = np.where(own >= 0, true[own], np.nan) != shown
    known = ~np.isnan(shown)
    return _Column(name, true, shown, masked.schema[name].kind, float((differs & known).mean()))


def _root_mean_square(gap: Floats) -> float:
    known = gap[~np.isnan(gap)]
    return float(np.sqrt(np.mean(known**2))) if known.size else 0.0


@dataclass(frozen=True)
class Part:
    """One coordinate of an attacker: both files, whether codes must be equal, and what a blank costs."""

    true: Floats
    shown: Floats
    nominal: bool
    absent: float


def _usual(column: _Column) -> Part:
    """Numbers in standard deviations, ordered codes by their distance in the list, other codes 0 or 1."""
    if column.kind is Kind.NOMINAL:
        return Part(column.true, column.shown, True, 1.0)
    if column.kind is Kind.ORDINAL:
        scale = max(_largest(column.true), _largest(column.shown), 1.0)
        return Part(column.true / scale, column.shown / scale, False, 1.0)
    centre, spread = float(np.nanmean(column.true)), float(np.nanstd(column.true)) or 1.0
    return Part((column.true - centre) / spread, (column.shown - centre) / spread, False, ABSENT_NUMBER)


def _informed(column: _Column) -> Part:
    """What was left alone must agree; a disturbed number counts in units of its disturbance, far less than agreement."""
    if column.kind is not Kind.NUMERIC:
        return Part(column.true, column.shown, True, 0.0)
    if column.error > 0:
        scale = column.error / FAR
        return Part(column.true / scale, column.shown / scale, False, 0.0)
    distinct, number = np.unique(np.concatenate((column.true, column.shown)), return_inverse=True)
    codes = np.where(np.isnan(distinct)[number.ravel()], np.nan, number.ravel().astype(np.float64))
    return Part(codes[: column.true.size], codes[column.true.size :], True, 0.0)


def _largest(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.max()) if known.size else 0.0
