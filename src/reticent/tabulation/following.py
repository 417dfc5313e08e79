# SPDX-License-Identifier: Apache-2.0
"""Records of two versions that are the same though their identifiers differ: they are followed by what they contain.

To take two records for one adds only true equations to what an attacker knows (the values that are equal are equal), so that
what is safe stays safe. Records without a partner by identifier are therefore compared by their contents: by everything, or by
everything but one variable. Who is unlike all others and is found again is the same; those who are like others are taken for
the same where the two versions agree far more than two parts of one group that is divided by chance.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from reticent.base.arrays import Floats, Ints, Mask
from reticent.base.errors import DataError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role
from reticent.frames.columns import unique_ids

NAMES = (Role.IDENTIFIER, Role.ENTITY, Role.HOUSEHOLD_ID)
SPLITS = 40
"""How many chance divisions an agreement is compared with."""
CHANCE = 1e-4
"""An agreement is no chance if it is less likely than this, and one of more than `FEW` records."""
FEW = 2
FAR = 4.0
"""New codes go with old ones if more are kept than by chance, by this many standard deviations and more than `FEW` records."""
FOUND = 0.5
"""Where fewer of the records of a version are found again, identifiers may have been replaced."""
LINKED = 10
"""Fewer linked records say nothing about whether identifiers mean the same in both versions."""

Keys = NDArray[np.uint64]


class Linked(NamedTuple):
    """The identifier by which records of several versions are linked, and the id of each record in each of them."""

    identifier: str
    ids: tuple[Ints, ...]


def linked(versions: Sequence[Microdata], names: Sequence[str]) -> Linked:
    """The records of all versions by an identifier; an error where there is none that tells all of them apart.

    `names` are those of the versions.
    """
    told = " and ".join(map(repr, names))
    shared = [one for one in versions[-1].schema.identifiers if all(one in own.schema.identifiers for own in versions)]
    if not shared:
        raise DataError(
            f"the versions {told} cannot be linked record by record, because their schemas have no identifier in common; give "
            'the variable that names each record role = "identifier" in the schema of each version.'
        )
    for name in shared:
        found = [unique_ids(own.frame.table[name]) for own in versions]
        marks = [ids.astype(np.int64) for ids in found if ids is not None]
        if len(marks) == len(versions):
            _check_common(names, marks, name)
            return Linked(name, tuple(marks))
    broken = next(own for own, ids in zip(names, found, strict=True) if ids is None)
    raise DataError(
        f"the versions {told} cannot be linked record by record, because {shared[-1]!r} is missing or repeated in version "
        f"{broken!r}; give each record an identifier of its own."
    )


def _check_common(names: Sequence[str], marks: Sequence[Ints], identifier: str) -> None:
    for at, (name, own) in enumerate(zip(names, marks, strict=True)):
        others = np.concatenate([other for number, other in enumerate(marks) if number != at])
        if not bool(np.isin(own, others).any()):
            raise DataError(
                f"no record of version {name!r} has an identifier ({identifier}) that another version has, so they are not "
                "versions of one data set; write identifiers in the same way in all of them, or give other units a ledger of "
                "their own."
            )


def check_found(versions: Sequence[Microdata], found: Linked, names: Sequence[str]) -> None:
    """Refuse versions of which few records are in one before, unless the schema says that identifiers never change.

    Either other units were surveyed, or identifiers were replaced and the contents do not tell who is who: then a table of one
    version may show what that of another hides.
    """
    name = found.identifier
    if all(own.schema[name].permanent for own in versions):
        return
    for at in range(1, len(versions)):
        earlier = np.unique(np.concatenate(found.ids[:at]))
        again, smaller = int(np.isin(found.ids[at], earlier).sum()), min(len(found.ids[at]), len(earlier))
        if again < FOUND * smaller:
            raise DataError(
                f"only {again} of {smaller} records of version {names[at]!r} are found in the versions before it, by their "
                f"identifier ({name}) or their contents; write identifiers as before or, if they never change and other units "
                f"were surveyed, say permanent = true for {name!r} in the schema of each version."
            )


def followed(
    versions: Sequence[Microdata], ids: Sequence[Ints], *, by: Collection[str] | None = None, sure: bool = False
) -> tuple[Ints, ...]:
    """The ids of the records of each version, with those of an earlier version for records that are found again by contents.

    Contents are the variables `by` (default: all but names). With `sure` only what is no chance counts.
    """
    out = [own.copy() for own in ids]
    for b in range(1, len(versions)):
        for a in range(b - 1, -1, -1):
            pair = _Pair.of(versions[a], versions[b], by)
            if not pair.names:
                continue
            _loosen(pair, out, a, b)
            earlier = np.concatenate(out[:b])
            left, came = ~np.isin(out[a], out[b]), ~np.isin(out[b], earlier)
            for here, there in _matches(pair, left, came, sure=sure):
                _rename(out, b, out[b][there], out[a][here])
    return tuple(out)


@dataclass(frozen=True, eq=False)
class _Pair:
    """The contents of two versions: codes that mean the same in both, one column for each variable that both have."""

    names: tuple[str, ...]
    old: Ints
    new: Ints
    numeric: Mask
    values: tuple[Floats, Floats]

    @classmethod
    def of(cls, old: Microdata, new: Microdata, by: Collection[str] | None) -> "_Pair":
        """Of the variables that both have."""
        named = [v for v in old.schema.variables if v.name in new.schema and (by is None or v.name in by)]
        named = [v for v in named if v.role not in NAMES and new.schema[v.name].role not in NAMES]
        columns = [_common_codes(old, new, v.name) for v in named]
        sides = [np.column_stack([column[side] for column in columns]) if columns else None for side in (0, 1)]
        empty = np.zeros((0, 0), dtype=np.int64)
        numeric = np.array([v.kind is Kind.NUMERIC and new.schema[v.name].kind is Kind.NUMERIC for v in named], bool)
        values = tuple(
            np.column_stack([own.numbers((v.name,))[:, 0] if is_number else np.zeros(own.n_records)
                             for v, is_number in zip(named, numeric, strict=True)]) if named else empty.astype(float)
            for own in (old, new)
        )  # fmt: skip
        made = [empty if side is None else side for side in sides]
        return cls(tuple(v.name for v in named), made[0], made[1], numeric, (values[0], values[1]))

    def keys(self, without: int | None, dropped: Mask) -> tuple[Keys, Keys]:
        """One number for what a record contains, without one variable and without those that are dropped."""
        own = [x for x in range(len(self.names)) if x != without and not dropped[x]]
        rng = np.random.default_rng(5)
        factors = rng.integers(1, 2**63, len(self.names), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
        return tuple(
            (_mixed(side[:, own].astype(np.uint64)) * factors[own]).sum(axis=1, dtype=np.uint64)
            for side in (self.old, self.new)
        )  # type: ignore[return-value]


def _mixed(codes: Keys) -> Keys:
    """Codes spread over all bits, so that sums of them tell combinations apart."""
    out = (codes + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    out = (out ^ (out >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return out ^ (out >> np.uint64(27))


def _common_codes(old: Microdata, new: Microdata, name: str) -> tuple[Ints, Ints]:
    place: dict[str, int] = {}
    found = []
    for own in (old, new):
        encoded = own.encoded(name)
        numbers = np.array([*(place.setdefault(text, len(place)) for text in encoded.categories), -1], dtype=np.int64)
        found.append(numbers[encoded.codes.astype(np.int64)])
    return found[0], found[1]


def _matches(pair: _Pair, left: Mask, came: Mask, *, sure: bool) -> Iterator[tuple[Ints, Ints]]:
    """Records of the old version and those of the new one that they are taken for; each is used once."""
    for without, dropped in _levels(pair, left, came):
        here, there = np.flatnonzero(left), np.flatnonzero(came)
        if not len(here) or not len(there):
            return
        old, new = pair.keys(without, dropped)
        found = _paired(pair, without, (here, old[here]), (there, new[there]))
        shown = [x for x in range(len(pair.names)) if x != without and not dropped[x]]
        if not _more_than_chance(old[here], new[there], len(found[0])):
            single = _single(old)[found[0]] & _single(new)[found[1]] & bool(pair.numeric[shown].any() and not sure)
            found = found[0][single], found[1][single]
        if len(found[0]):
            left, came = left.copy(), came.copy()
            left[found[0]] = came[found[1]] = False
            yield found


def _levels(pair: _Pair, left: Mask, came: Mask) -> Iterator[tuple[int | None, Mask]]:
    """What is compared: everything, everything but one variable, and the same without numbers that are all others."""
    none = np.zeros(len(pair.names), dtype=bool)
    seen = np.array(
        [np.isin(pair.new[came, x], pair.old[left, x]).mean() if came.any() else 1.0 for x in range(len(pair.names))]
    )
    changed = pair.numeric & (seen < 0.5)
    for dropped in (none, changed) if changed.any() and not changed.all() else (none,):
        yield None, dropped
        for x in np.flatnonzero(~dropped).tolist():
            if (~dropped).sum() > 1:
                yield x, dropped


def _paired(pair: _Pair, without: int | None, old: tuple[Ints, Keys], new: tuple[Ints, Keys]) -> tuple[Ints, Ints]:
    """Records with equal contents, one to one; those that are alike in the order of the numbers that are not compared."""
    sides = []
    for (rows, keys), values in zip((old, new), pair.values, strict=True):
        order = np.lexsort((*values[rows].T, keys)) if without is None else np.lexsort((values[rows, without], keys))
        start = np.r_[True, keys[order][1:] != keys[order][:-1]]
        place = np.arange(len(rows)) - np.maximum.accumulate(np.where(start, np.arange(len(rows)), 0))
        sides.append((rows[order], keys[order] + _mixed(place.astype(np.uint64))))
    _, here, there = np.intersect1d(sides[0][1], sides[1][1], return_indices=True)
    return sides[0][0][here], sides[1][0][there]


def _single(keys: Keys) -> Mask:
    """Which records are unlike all others."""
    _, group, times = np.unique(keys, return_inverse=True, return_counts=True)
    return np.asarray(times[group.reshape(-1)] == 1)


def _more_than_chance(old: Keys, new: Keys, found: int) -> bool:
    """Whether two groups agree more than parts of both together that are divided by chance.

    How far they are apart is the sum of (a − b)² / (a + b) over all contents, of which chance gives a mean and a spread. What
    one record could change counts as distance, because few records often agree by chance.
    """
    if found <= FEW:
        return False
    _, group = np.unique(np.concatenate((old, new)), return_inverse=True)
    group = group.reshape(-1)
    every = np.bincount(group)
    rng = np.random.default_rng(7)
    by_chance = [_apart(rng.permutation(group)[: len(old)], every, len(old)) for _ in range(SPLITS)]
    mean, spread = float(np.mean(by_chance)), float(np.var(by_chance))
    if not spread:
        return False
    least = _apart(group[: len(old)], every, len(old)) + 8 / int(every.max())
    return bool(special.gammainc(mean**2 / spread, least * mean / spread) < CHANCE)


def _apart(part: Ints, every: Ints, n: int) -> float:
    """How far a part of n records is from the share that it has of all."""
    expected = every * (n / int(every.sum()))
    counts = np.bincount(part, minlength=len(every))
    return float(((counts - expected) ** 2 / (expected * (1 - n / int(every.sum())))).sum())


def _loosen(pair: _Pair, out: list[Ints], a: int, b: int) -> None:
    """Take the links by identifier away where they say nothing and the contents say who is who: identifiers were replaced."""
    _, here, there = np.intersect1d(out[a], out[b], return_indices=True)
    if len(here) < LINKED or _tells(pair, here, there):
        return
    old, new = pair.keys(None, np.zeros(len(pair.names), dtype=bool))
    rows = np.arange(len(old)), np.arange(len(new))
    found = _paired(pair, None, (rows[0], old), (rows[1], new))
    if _more_than_chance(old, new, len(found[0])):
        fresh = -1 - np.arange(len(new)) + min(0, *(int(own.min(initial=0)) for own in out))
        _rename(out, b, out[b].copy(), fresh)


def _tells(pair: _Pair, here: Ints, there: Ints) -> bool:
    """Whether a record's new code goes with its old one, in some variable, more than it would with anybody's."""
    rng = np.random.default_rng(9)
    for x in range(len(pair.names)):
        old, new = pair.old[here, x] + 1, pair.new[there, x] + 1
        by_chance = [_kept(old, rng.permutation(new)) for _ in range(SPLITS)]
        if _kept(old, new) > np.mean(by_chance) + FAR * np.std(by_chance) + FEW:
            return True
    return False


def _kept(old: Ints, new: Ints) -> int:
    """How many records have the new code that most with their old code have, or keep theirs."""
    pairs, times = np.unique(old * (int(new.max(initial=0)) + 1) + new, return_counts=True)
    best = np.zeros(int(old.max(initial=0)) + 1, dtype=np.int64)
    np.maximum.at(best, pairs // (int(new.max(initial=0)) + 1), times)
    return int(best.sum())


def _rename(out: list[Ints], first: int, before: Ints, after: Ints) -> None:
    """Give records other ids, from a version on: the same record keeps one in the versions after it."""
    order = np.argsort(before, kind="stable")
    before, after = before[order], after[order]
    for v in range(first, len(out)):
        at = np.minimum(np.searchsorted(before, out[v]), len(before) - 1)
        change = before[at] == out[v]
        change &= ~np.isin(after[at], out[v])
        out[v] = np.where(change, after[at], out[v])
