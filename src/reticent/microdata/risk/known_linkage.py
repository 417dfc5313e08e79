# SPDX-License-Identifier: Apache-2.0
"""Record linkage by an attacker who has the true values of keys and numbers: which published records lead back?

The attacker brings the true values to the published detail (a true 37 becomes the published band) and links each published
record to the nearest true one, or each true one to the nearest published record, whichever gives more. A record is rightly
and uniquely linked when its own is nearest and nobody else is as near. Several attackers are tried
(see `linkage_attackers`), and the best counts. A variable that works like an identifier links a record also where a few
records of one person share its value.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role
from reticent.microdata.risk.known import alone_in, identifying_variables, other_codes, rare, without_role
from reticent.microdata.risk.linkage_attackers import Column, Part, attackers
from reticent.microdata.risk.linkage_bounded import bounded_linked
from reticent.microdata.risk.linkage_coordinates import Coordinates
from reticent.microdata.risk.linkage_distance import uniquely_linked
from reticent.microdata.risk.linkage_likelihood import codes_changed, likelihood_linked
from reticent.microdata.risk.respondents import counted_once, respondents_shown
from reticent.microdata.risk.weights_rarity import expected_weights
from reticent.microdata.trace import Trace, numbers_of, values_of


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


def known_linkage(trace: Trace, masked: Microdata, names: Sequence[str]) -> KnownLinkage:
    """Link the published records to all original ones on the variables named (those that are still published).

    Variables that went to another record together lead to the person they came from, where there is more to learn there
    than the attacker knows, or where all that is known went along. Who has everybody's values carries out the steps that draw
    nothing, and knows what these made of each record; a number that was rounded at random is also compared as it is. Numbers that
    weights were calibrated to are divided out of them.
    """
    found = _known_linkage(trace, masked, names)
    for how, other in trace.ways(masked):
        found = _joined(found, _known_linkage(other, masked, names, alone=False), how)
    divided = trace.without_numbers(masked)
    if divided is not None and masked.schema.weight in found.variables:
        found = _joined(found, _known_linkage(trace, divided, names, alone=False), "numbers divided out of weights")
    for moved, part in trace.parts(masked):
        together = [name for name in found.variables if name in moved]
        everything = len(together) == len([n for n in found.variables if masked.schema[n].role is not Role.WEIGHT])
        if together and (everything or set(moved) - set(together)):
            found = _joined(found, _known_linkage(part, masked, together), "by what was exchanged together")
    return found


def _joined(found: KnownLinkage, other: KnownLinkage, how: str) -> KnownLinkage:
    """What two kinds of attackers link; `how` says what those of the second do."""
    by = tuple((f"{name}, {how}", share) for name, share in other.by_attacker)
    linked, seconds = found.linked | other.linked, found.seconds + other.seconds
    return replace(found, by_attacker=found.by_attacker + by, linked=linked, seconds=seconds)


def _known_linkage(trace: Trace, masked: Microdata, names: Sequence[str], *, alone: bool = True) -> KnownLinkage:
    """All attackers; with `alone` also single codes and identifiers, whose true values must be those of the file."""
    started = time.perf_counter()
    known = _published(trace, masked, names)
    own = trace.own(masked)
    linked = np.zeros(masked.n_records, dtype=bool)
    here = np.flatnonzero(own >= 0)
    columns = known_columns(trace, masked, known)
    who = counted_once(trace.original, own)
    found: dict[str, float] = {}
    rarity = _weights_by_rarity(trace, masked, known, columns) if here.size else []
    by_rarity = [(f"{name}, weights by rarity", chosen) for name, chosen in attackers(rarity)]
    for attacker, chosen in [*attackers(columns), *by_rarity] if here.size else ():
        both = [_linked(chosen, own, here, who, turned=turned) for turned in (False, True)]
        best = max(both, key=lambda unique: int(unique.sum()))
        linked[here] |= best
        found[attacker] = float(best.sum()) / masked.n_records
    for attacker, asking, best in _by_pairs(columns, here, who):
        linked[asking[best]] = True
        tried = "" if asking.size == here.size else f" ({asking.size} records tried)"
        found[f"{attacker}{tried}"] = float(best.mean()) * here.size / masked.n_records
    for name in identifying_variables(trace.original) if alone else ():
        if name in known and here.size:
            told = _told(trace.original, _known_column(trace, masked, name, own))
            linked |= told
            found[f"the variable {name} as an identifier"] = float(told.mean())
    for label, told in _singled_out(trace, masked, known, own) if alone else ():
        linked |= told
        found[label] = float(told.mean())
    took = time.perf_counter() - started
    return KnownLinkage(known, masked.n_records, trace.original.n_records, tuple(found.items()), linked, took)


def _weights_by_rarity(
    trace: Trace, masked: Microdata, known: Sequence[str], columns: Sequence[Column]
) -> list[Column]:
    """The columns of one who knows how a method changes weights by how rare records are; none where it does not."""
    weight = trace.original.schema.weight
    if weight is None or weight not in known or len(columns) != len(known):
        return []
    return expected_weights(trace.original, columns, list(known).index(weight))


def _by_pairs(columns: Sequence[Column], here: Ints, who: Ints | None) -> list[tuple[str, Ints, NDArray[np.bool_]]]:
    """Attackers who compare all pairs, in large files of evenly chosen records: their names, who was tried, and who is linked."""
    if not here.size or not columns:
        return []
    found = bounded_linked(columns, here, who)
    if codes_changed(columns):
        turns = [likelihood_linked(columns, here, who, turned=turned) for turned in (False, True)]
        found.append(("knows how often codes were changed", *max(turns, key=lambda pair: int(pair[1].sum()))))
    return found


def _linked(parts: Sequence[Part], own: Ints, here: Ints, who: Ints | None, *, turned: bool) -> NDArray[np.bool_]:
    """Which published records lead to their own and to nobody else; `turned`: from the true record to the published one.

    `who` is the respondent of each true record, where some have several. A blank says nothing when the published record
    asks; when the true record asks, it costs `absent`.
    """
    true = np.ascontiguousarray(np.column_stack([part.true for part in parts]))
    shown = np.ascontiguousarray(np.column_stack([part.shown for part in parts]))
    names = tuple(str(at) for at in range(len(parts)))
    nominal, absent = np.array([part.nominal for part in parts]), np.array([part.absent for part in parts])
    if turned:
        coordinates = Coordinates(names, shown, np.ascontiguousarray(true[own[here]]), nominal, absent)
        return uniquely_linked(coordinates, here, None if who is None else respondents_shown(who, own))
    coordinates = Coordinates(names, true, np.ascontiguousarray(shown[here]), nominal, absent)
    return uniquely_linked(coordinates, own[here], who)


def _told(original: Microdata, column: Column) -> NDArray[np.bool_]:
    """Published records with their true value, where few records (or one respondent or household) have it."""
    values, group = np.unique(column.true, return_inverse=True)
    few = rare(original, group.ravel()) & ~np.isnan(values)[group.ravel()]
    return np.asarray((column.own >= 0) & few[column.own] & (column.gap == 0))


def _singled_out(
    trace: Trace, masked: Microdata, known: Sequence[str], own: Ints
) -> list[tuple[str, NDArray[np.bool_]]]:
    """What codes that nobody is taken to know single out: each alone, and those without a role together."""
    names = [name for name in _published(trace, masked, other_codes(trace.original)) if name not in known]
    sets: list[tuple[str, tuple[str, ...]]] = [(f"the code {name} alone", (name,)) for name in names]
    free = without_role(trace.original, names)
    if len(free) > 1:
        sets.append(("codes without a role, together", free))
    found = []
    for label, chosen in sets:
        shown = [_known_column(trace, masked, name, own).gap == 0 for name in chosen]
        told = (own >= 0) & alone_in(trace.original, chosen)[own] & np.logical_and.reduce(shown)
        if told.any():
            found.append((label, told))
    return found


def known_columns(trace: Trace, masked: Microdata, names: Sequence[str]) -> list[Column]:
    """Both files by the variables named, as far as they are still published and somebody has a value."""
    own = trace.own(masked)
    columns = [_known_column(trace, masked, name, own) for name in _published(trace, masked, names)]
    return [column for column in columns if not np.isnan(column.true).all()]


def _published(trace: Trace, masked: Microdata, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name in masked.schema and name in trace.covers)


def _known_column(trace: Trace, masked: Microdata, name: str, own: Ints) -> Column:
    cover, images = trace.covers[name], trace.covers[name].images()
    lacking = cover.true < 0
    if masked.schema[name].kind is Kind.NUMERIC:
        return Column(numbers_of(cover, images), masked.numbers((name,))[:, 0], Kind.NUMERIC, own, lacking)
    values = values_of(masked, name)
    place = {value: at for at, value in enumerate(values.distinct)}
    table = np.array([*(place.setdefault(str(value), len(place)) for value in cover.shown), np.nan])
    shown = np.where(values.numbers >= 0, values.numbers, np.nan).astype(np.float64)
    return Column(table[images], shown, masked.schema[name].kind, own, lacking)
