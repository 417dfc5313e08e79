# SPDX-License-Identifier: Apache-2.0
"""What each published value may stand for: the attacker compares true values at the detail that is published.

A step either makes values coarser (recoding, top coding, rounding), blanks them, or changes them by chance. Coarsening is
public: whoever knows that somebody is 37 knows the band that was published. So for every variable that an attacker may
know, the trace keeps pairs (true value, value that may be shown for it), learned from the step's own input and output.
Chance is not public: a swapped or noisy value is compared with the true one as it stands. What a step takes over
together from another record belongs to the person it came from: a copied record makes nobody new, and exchanged ones hide nobody.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.base.progress import silent
from reticent.base.randomness import Secret
from reticent.data.method import MaskingMethod, Method
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role
from reticent.kernels.grouping import group_columns

Pairs = tuple[tuple[Any, Any], ...]
AGREE = 0.9
"""The share of exchanged records that have the value of their partner, from which a variable counts as exchanged too."""


@dataclass(frozen=True)
class Values:
    """One column as numbers of distinct values (−1: missing) and what these are: texts, or floats of a numeric one."""

    numbers: Ints = field(repr=False)
    distinct: tuple[Any, ...] = field(repr=False)


def values_of(data: Microdata, name: str) -> Values:
    """Numbers are compared as numbers: 37 and 37.0 are the same value, whatever the file writes."""
    if data.schema[name].kind is not Kind.NUMERIC:
        encoded = data.encoded(name)
        return Values(encoded.codes.astype(np.int64), encoded.categories)
    column = data.numbers((name,))[:, 0]
    present = ~np.isnan(column)
    distinct, place = np.unique(column[present], return_inverse=True)
    numbers = np.full(column.size, -1, dtype=np.int64)
    numbers[present] = place.ravel()
    return Values(numbers, tuple(distinct.tolist()))


@dataclass(frozen=True)
class Cover:
    """One variable: the true value of each original record, and the pairs (true value, value shown for it).

    `changed` says that chance has moved values; `unknown` that a step wrote codes of which nobody said what they mean.
    """

    true: Ints = field(repr=False)
    n_true: int
    shown: tuple[Any, ...] = field(repr=False)
    pairs: Ints = field(repr=False)
    changed: bool = False
    unknown: bool = False

    @classmethod
    def of(cls, values: Values) -> "Cover":
        """Before any step every value stands for itself."""
        each = np.arange(len(values.distinct))
        return cls(values.numbers, each.size, values.distinct, np.column_stack((each, each)))

    def coarser(self, relation: Pairs) -> "Cover":
        """After a step that showed `after` for `before`, for each pair of the relation."""
        place = {value: at for at, value in enumerate(self.shown)}
        labels: dict[Any, int] = {}
        known = [(place[old], labels.setdefault(new, len(labels))) for old, new in relation if old in place]
        if not known:
            return replace(self, shown=(), pairs=np.empty((0, 2), dtype=np.int64))
        steps = np.unique(np.array(known, dtype=np.int64), axis=0)
        first = np.searchsorted(steps[:, 0], self.pairs[:, 1], side="left")
        last = np.searchsorted(steps[:, 0], self.pairs[:, 1], side="right")
        many = last - first
        start = np.repeat(first - np.concatenate(([0], np.cumsum(many)[:-1])), many)
        joined = np.column_stack((np.repeat(self.pairs[:, 0], many), steps[start + np.arange(int(many.sum())), 1]))
        return replace(self, shown=tuple(labels), pairs=np.unique(joined, axis=0))

    @property
    def layers(self) -> tuple[Ints, ...]:
        """Maps from true to shown values (−1: none), as few as hold all pairs; several where detail differs by record."""
        sizes = np.bincount(self.pairs[:, 1], minlength=len(self.shown))
        if self.one_for_each:
            return (self._map(np.arange(len(self.shown))),)
        members: list[list[int]] = []
        taken: list[NDArray[np.bool_]] = []
        for code in np.argsort(-sizes, kind="stable").tolist():
            own = self.pairs[self.pairs[:, 1] == code, 0]
            layer = next((at for at, used in enumerate(taken) if not used[own].any()), len(taken))
            if layer == len(taken):
                taken.append(np.zeros(self.n_true, dtype=bool))
                members.append([])
            taken[layer][own] = True
            members[layer].append(code)
        return tuple(self._map(np.array(codes)) for codes in members)

    @property
    def one_for_each(self) -> bool:
        """Whether each true value is shown by one value only."""
        return not bool(np.any(np.bincount(self.pairs[:, 0], minlength=self.n_true) > 1))

    def _map(self, codes: Ints) -> Ints:
        inside = np.zeros(len(self.shown), dtype=bool)
        inside[codes] = True
        use = self.pairs[inside[self.pairs[:, 1]]] if len(self.shown) else self.pairs
        found = np.full(self.n_true, -1, dtype=np.int64)
        found[use[::-1, 0]] = use[::-1, 1]
        return found

    @property
    def finest(self) -> Ints:
        """The finest shown value of each true one (−1: never shown), and −1 at the end for a missing one."""
        finest = np.full(self.n_true + 1, -1, dtype=np.int64)
        sizes = np.bincount(self.pairs[:, 1], minlength=len(self.shown))
        order = self.pairs[np.argsort(-sizes[self.pairs[:, 1]], kind="stable")]
        finest[order[:, 0]] = order[:, 1]
        return finest

    def images(self) -> Ints:
        """The shown value of each original record (−1: missing, or never shown); the finest where there are several."""
        return self.finest[self.true]


@dataclass(frozen=True)
class Trace:
    """The original file and what became of each variable that an attacker may know.

    `origins` has, for each variable that a step took over from other records, the original record whose value stands in the
    place of each. `repeated` has, for variables that a step masked record by record without draws, what it made of each.
    `chosen` has numbers of which a step drew one of several coarser ones (random rounding), as they were before it. `blanked`
    are variables of which a step may have blanked values, whether it did or not: nobody knows a blank from a missing value.
    `weighed` are variables that steps made weights by, and `weights_made` what each original record then had (NaN: gone).
    `divided` is what is left of the weights where they were calibrated to numbers, which whoever has these divides out of them.
    """

    original: Microdata
    covers: Mapping[str, Cover]
    origins: Mapping[str, Ints] = field(default_factory=dict, repr=False)
    repeated: Mapping[str, Cover] = field(default_factory=dict, repr=False)
    chosen: Mapping[str, Cover] = field(default_factory=dict, repr=False)
    blanked: frozenset[str] = frozenset()
    weighed: tuple[tuple[str, ...], ...] = ()
    weights_made: tuple[Floats, ...] = field(default=(), repr=False)
    divided: Floats | None = field(default=None, repr=False)

    @classmethod
    def start(cls, data: Microdata, names: Iterable[str]) -> "Trace":
        """Before the first step."""
        return cls(data, {name: Cover.of(values_of(data, name)) for name in dict.fromkeys(names)})

    def after(self, step: MaskingMethod, before: Microdata, after: Microdata, *, secret: Secret) -> "Trace":
        """Follow one step from its input and output."""
        blanked = self.blanked | set(step.blanks(before.schema) if isinstance(step, Method) else ())
        if getattr(step, "blanks_only", False):
            return replace(self, blanked=blanked)
        covers = {name: cover for name, cover in self.covers.items() if name in after.schema}
        own, origins = positions(before, after), self._moved(step, before, after)
        same = bool((own == np.arange(before.n_rows)).all()) if own.size == before.n_rows else False
        rows = before if same else before.rows(np.maximum(own, 0))
        moved = [name for name in covers if not alike(rows, after, name)]
        repeated = {name: cover for name, cover in self.repeated.items() if name in after.schema}
        chosen = {name: cover for name, cover in self.chosen.items() if name in after.schema}
        truth = None
        for name in moved:
            if getattr(step, "coarsens", False):
                relation = _relation(rows, after, name)
                if covers[name].changed:
                    truth = truth or self._stepped(step, before, secret)
                    relation += () if truth is None else _relation(*truth, name)
                coarser = covers[name].coarser(relation)
                if covers[name].one_for_each and not coarser.one_for_each:
                    chosen.setdefault(name, covers[name])
                covers[name] = coarser
                if name in repeated:
                    repeated[name] = repeated[name].coarser(relation)
            else:
                covers[name] = _changed(covers[name], rows, after, name)
                if name in repeated:
                    repeated[name] = _changed(repeated[name], rows, after, name)
        repeated |= self._repeated_by(step, after, {name: covers[name] for name in moved})
        found = Trace(
            self.original, covers, origins, repeated, chosen, blanked, self.weighed, self.weights_made, self.divided
        )
        return found._weighed_by(step, before, after) if isinstance(step, Method) else found

    def _weighed_by(self, step: Method, before: Microdata, after: Microdata) -> "Trace":
        """What a step made of the weights, by what, and what of it is left to whoever divides numbers out of them."""
        new, names = after.weights(), step.weighs_by(before.schema)
        if new is None:
            return self
        own, rows = positions(self.original, after), positions(before, after)
        left, old = step.without_numbers(before, after), before.weights()
        if left is None and self.divided is not None and old is not None:
            left = self.divided[own] * new / old[rows]
        elif left is not None and self.divided is not None and old is not None:
            left = self.divided[own] * left / old[rows]
        made = (*self.weights_made, self._of_original(own, new)) if names else self.weights_made
        return replace(
            self,
            weighed=(*self.weighed, names) if names else self.weighed,
            weights_made=made,
            divided=None if left is None else self._of_original(own, left),
        )

    def _of_original(self, own: Ints, values: Floats) -> Floats:
        """Values of some records, for each original one; NaN for the others."""
        found = np.full(self.original.n_rows, np.nan)
        found[own[own >= 0]] = values[own >= 0]
        return found

    def without_numbers(self, masked: Microdata) -> Microdata | None:
        """The published file with the weights that are left to whoever divides numbers out of them; None where nobody can."""
        name, own = masked.schema.weight, self.own(masked)
        if self.divided is None or name is None:
            return None
        left = self.divided[own]
        return masked.with_numbers(name, np.where((own >= 0) & (left > 0), left, masked.numbers((name,))[:, 0]))

    def repeating(self) -> "Trace | None":
        """The trace of one who has all true values and carries out the steps that draw nothing; None if that gains nothing.

        They know the group of each record after microaggregation, and how finely each record is shown after local recoding.
        """
        return replace(self, covers={**self.covers, **self.repeated}, repeated={}) if self.repeated else None

    def ways(self, masked: Microdata) -> list[tuple[str, "Trace"]]:
        """Other ways to look at the file that may gain something, by what the attacker does."""
        numbers = {n: cover for n, cover in self.chosen.items() if masked.schema[n].kind is Kind.NUMERIC}
        as_they_are = replace(self, covers={**self.covers, **numbers}, repeated={}) if numbers else None
        found = {"carrying out what is not drawn": self.repeating(), "numbers as they are": as_they_are}
        return [(how, trace) for how, trace in found.items() if trace is not None]

    def _repeated_by(self, step: MaskingMethod, after: Microdata, covers: Mapping[str, Cover]) -> dict[str, Cover]:
        """What the step made of each original record, where that does not follow from the record's own value alone."""
        if not getattr(step, "repeatable", False):
            return {}
        before = {**self.covers, **self.repeated}
        own = positions(self.original, after)
        return {
            name: _of_each(cover, values_of(after, name), own)
            for name, cover in covers.items()
            if not before[name].changed and (cover.changed or not cover.one_for_each)
        }

    def _moved(self, step: MaskingMethod, before: Microdata, after: Microdata) -> Mapping[str, Ints]:
        """Whose value stands where, after a step that takes over some variables together."""
        names = step.moves(before.schema) if isinstance(step, Method) else ()
        names = tuple(name for name in names if name in after.schema)
        if not names:
            return self.origins
        place = positions(self.original, before)
        now = np.arange(self.original.n_rows)
        now[positions(self.original, after)] = place[copied_from(before, after, positions(before, after), names)]
        # of variables that went the same ways there is one array, so that these are seen to belong together
        new: dict[int, Ints] = {}
        origins = dict(self.origins)
        for name in names:
            old = self.origins.get(name)
            origins[name] = new.setdefault(id(old), now if old is None else old[now])
        return origins

    def _stepped(self, step: MaskingMethod, before: Microdata, secret: Secret) -> tuple[Microdata, Microdata] | None:
        """What the step makes of the true values, for those that chance has taken out of its input."""
        if getattr(step, "searches", False):
            return None
        true = self.truth(before)
        return true, step.apply(true, secret=secret, progress=silent).data

    def own(self, masked: Microdata) -> Ints:
        """The original record whose values each masked one has (changed or not); −1 where it has none.

        Where all published variables came from other records together, these are the ones they came from.
        """
        own = positions(self.original, masked)
        sources = {id(source): source for source in map(self.origins.get, _published(masked))}
        source = next(iter(sources.values()), None)
        return own if len(sources) > 1 or source is None else np.where(own >= 0, source[own], -1)

    def parts(self, masked: Microdata) -> Iterator[tuple[tuple[str, ...], "Trace"]]:
        """Published variables that came together from other records, and the trace by which these are its own ones.

        A variable in which partners agree belongs to them, too. Nothing where `own` says it already.
        """
        published = _published(masked)
        found: dict[int, list[str]] = {}
        for name in published:
            if name in self.origins:
                found.setdefault(id(self.origins[name]), []).append(name)
        for names in found.values():
            source = self.origins[names[0]]
            if len(names) < len(published):
                stay = [name for name in published if name not in self.origins and self._agree(name, source)]
                yield (*names, *stay), replace(self, origins=dict.fromkeys(published, source))

    def _agree(self, name: str, source: Ints) -> bool:
        """Whether nearly everybody whose values were exchanged has the value of the one whose other values stand there.

        Nearly: of people with equal values any may be the one that they came from.
        """
        if name not in self.original.schema:
            return False
        numbers, moved = values_of(self.original, name).numbers, source != np.arange(source.size)
        return bool(moved.any()) and float((numbers == numbers[source])[moved].mean()) >= AGREE

    def truth(self, masked: Microdata) -> Microdata:
        """The records of the masked file with their true values at the published detail (no blanks, no chance)."""
        own = positions(self.original, masked)
        result = masked
        for name, cover in self.covers.items():
            images = np.where(own >= 0, cover.images()[own], -1)
            if masked.schema[name].kind is Kind.NUMERIC:
                result = result.with_numbers(name, numbers_of(cover, images))
            else:
                texts = tuple(str(value) for value in cover.shown)
                result = result.with_codes(name, images.astype(np.int32), texts)
        return result


def _of_each(cover: Cover, values: Values, own: Ints) -> Cover:
    """Each original record with the value that stands for it; who is blank or gone keeps what the cover shows."""
    place = {value: at for at, value in enumerate(cover.shown)}
    table = np.array([*(place.setdefault(value, len(place)) for value in values.distinct), -1])
    true, here = cover.images().copy(), (values.numbers >= 0) & (own >= 0)
    true[own[here]] = table[values.numbers[here]]
    each = np.arange(len(place))
    return Cover(true, each.size, tuple(place), np.column_stack((each, each)))


def numbers_of(cover: Cover, images: Ints) -> NDArray[np.float64]:
    """Shown values as numbers; NaN where there is none."""
    values = np.array([*(_number(value) for value in cover.shown), np.nan])
    return np.asarray(values[images])


def _number(value: Any) -> float:
    try:
        return float(value)
    except ValueError:
        return float("nan")


def positions(original: Microdata, masked: Microdata) -> Ints:
    """The original record of each masked one, by id; −1 where it has none."""
    first, second = original.record_ids(), masked.record_ids()
    if first.size == second.size and bool((first == second).all()):
        return np.arange(first.size)
    order = np.argsort(first, kind="stable")
    place = np.minimum(np.searchsorted(first[order], second), first.size - 1)
    found = order[place]
    return np.where(first[found] == second, found, -1)


def _published(masked: Microdata) -> tuple[str, ...]:
    """Variables that are written; identifiers stay behind."""
    return tuple(v.name for v in masked.schema.variables if v.role not in (Role.IDENTIFIER, Role.ENTITY))


def copied_from(before: Microdata, after: Microdata, own: Ints, names: Sequence[str]) -> Ints:
    """Whose values of some variables each record has after a step that takes them over (`own`: the record it was before).

    A record that has its own values is nobody's copy; the copies of equal records are dealt out among all who have these
    values, those first whose own are gone from their place, so that as many people count as there are.
    """
    columns, sizes = [], []
    for name in names:
        old, new = values_of(before, name), values_of(after, name)
        place = {value: at for at, value in enumerate(old.distinct)}
        table = np.array([*(place.setdefault(value, len(place)) for value in new.distinct), -1])
        columns.append(np.concatenate((old.numbers, table[new.numbers])))
        sizes.append(len(place))
    group, n_groups = group_columns(columns, sizes)
    old_group, new_group = np.split(group, [before.n_rows])
    stays = np.zeros(before.n_rows, dtype=bool)
    stays[own[old_group[own] == new_group]] = True
    holders = np.lexsort((stays, old_group))
    many = np.bincount(old_group, minlength=n_groups)
    starts = np.cumsum(many) - many
    found = own.copy()
    copies = np.flatnonzero((old_group[own] != new_group) & (many[new_group] > 0))
    copies = copies[np.argsort(new_group[copies], kind="stable")]
    kind = new_group[copies]
    rank = np.arange(copies.size) - np.searchsorted(kind, kind)
    found[copies] = holders[starts[kind] + rank % np.maximum(many[kind], 1)]
    return found


def alike(before: Microdata, after: Microdata, name: str) -> bool:
    """Whether the variable has the same kind and values in both."""
    same_kind = before.schema[name].kind is after.schema[name].kind
    return same_kind and bool(before.frame.table[name].equals(after.frame.table[name]))


def _relation(before: Microdata, after: Microdata, name: str) -> Pairs:
    """Which values were shown for which; blanks are not values."""
    old, new = values_of(before, name), values_of(after, name)
    both = (old.numbers >= 0) & (new.numbers >= 0)
    pairs = np.unique(np.column_stack((old.numbers[both], new.numbers[both])), axis=0)
    return tuple((old.distinct[a], new.distinct[b]) for a, b in pairs.tolist())


def _changed(cover: Cover, before: Microdata, after: Microdata, name: str) -> Cover:
    """After chance: what is shown is compared as it stands. New codes of a coded variable have no known meaning."""
    numeric = before.schema[name].kind is Kind.NUMERIC and after.schema[name].kind is Kind.NUMERIC
    if numeric:
        old, new = before.numbers((name,))[:, 0], after.numbers((name,))[:, 0]
        with np.errstate(invalid="ignore"):
            moved = bool(((old != new) & ~np.isnan(new)).any())
        return replace(cover, changed=cover.changed or moved)
    one, other = values_of(before, name), values_of(after, name)
    used = {other.distinct[at] for at in np.unique(other.numbers[other.numbers >= 0]).tolist()}
    return replace(cover, changed=True, unknown=cover.unknown or not used <= set(one.distinct))
