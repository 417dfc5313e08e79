# SPDX-License-Identifier: Apache-2.0
"""Values that a masked file hides and gives back: a published variable that determines a key fills the blanks of the key.

A district lies in one region. Where records that share the district show one region only, the attacker takes it for those
whose region is blank, shown less finely or changed by chance. They believe it where chance does not bring this many equal
values together: in one group of records that share a code (or an equal number, or the codes of two variables), or over
all groups of a variable. What they restore counts as far as their guesses in that group are right; who is wrong about a
group has gained nothing from it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints, Mask
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role
from reticent.kernels.grouping import group_columns
from reticent.microdata.risk.recount import is_near
from reticent.microdata.risk.restored_sources import (
    Ordered,
    Relatives,
    compositions,
    counted_members,
    in_text_order,
    members_once,
    numbers_left,
    paired_orders,
    stretches,
    totals,
)
from reticent.microdata.trace import Trace, values_of

LUCK = 0.001
"""How likely chance may make a group (or all groups of a variable) look alike, before the attacker believes it."""
MOSTLY = 0.95
"""The share of the groups that must show one value before the rest is believed, and the share of guesses that must be right."""
WORK = 200_000_000
"""Records times pairs of variables that are looked at; further pairs are left out, and the result says how many."""
DENSE = 1 << 16
"""Cells of groups by values that are always counted in one table."""
ALONE = 0.9
"""A variable whose values are alone in this share of the records puts nobody together, and is not paired with others."""


_NEVER = (Role.IDENTIFIER, Role.ENTITY)
"""Roles that are not published."""
_Group = tuple[NDArray[np.int32], int]
How = Literal["values", "ranges", "members", "others", "totals"]
"""What is the same in a group: values, a range of a number (of the last variable), who is in a household, who else is in it, or
its total."""


@dataclass(frozen=True)
class Told:
    """Published records whose key follows from one or two other variables."""

    key: str
    by: tuple[str, ...]
    records: int
    how: How = "values"

    @property
    def text(self) -> str:
        """What tells the key."""
        names = " with ".join(self.by)
        if self.how == "ranges":
            return f"ranges of {names}"
        if self.how == "totals":
            return f"what members of a household have together in {names}"
        if self.how == "others":
            return f"the other members of a household (their {names})"
        if self.how == "members":
            return f"the members of a household (their {names or 'number'})"
        return names

    @property
    def advice(self) -> str:
        """What to do about it."""
        if self.how in ("members", "others", "totals"):
            return "drop the household id" + (", or that variable" if self.by else "")
        if self.how == "ranges":
            return "drop or recode it" if len(self.by) == 1 else "drop or recode one of them"
        return "declare it as a key, or drop it" if len(self.by) == 1 else "declare both as keys, or drop one"


MEMBERS_WORK = 50_000_000
"""Records times looks at the other members of households; further looks are left out, too."""
RANGES_WORK = 50_000_000
"""Records times keys times pairs of a code and a number whose order is looked at; further pairs are left out, too."""


@dataclass(frozen=True)
class Restored:
    """The published file with what the attacker restores, and what told it; `pairs_left_out` were too many to be tried."""

    data: Microdata = field(repr=False)
    told: tuple[Told, ...] = ()
    pairs_left_out: int = 0


def restore(trace: Trace, masked: Microdata, keys: Sequence[str]) -> Restored:
    """Fill hidden values of the keys from published variables that are no keys, alone and beside one other variable.

    Keys among themselves restore nothing that the recount does not compare anyway.
    """
    hidden = [key for key in (Hidden.of(trace, masked, name) for name in keys) if key is not None and key.open.any()]
    if not hidden:
        return Restored(masked)
    groups = {v.name: _grouped(masked, v.name) for v in masked.schema.variables if v.role not in _NEVER}
    singles: list[tuple[str, ...]] = [(name,) for name in groups if name not in keys]
    more, left_out = _pairs(groups, keys, masked.n_rows)
    sets = singles + more
    amounts = masked.multiplicity
    found: list[Told] = []
    for names in sets:
        group, n_groups = _together([groups[name] for name in names])
        for key in hidden:
            if key.name in names or not key.open.any():
                continue
            told = key.told_by(group, n_groups, amounts, trials=len(sets) * len(hidden))
            found += key.take(told, names, amounts, "values")
    found += _by_members(masked, hidden)
    by_others, looks_left_out = _by_other_members(masked, hidden)
    found += by_others
    by_ranges, further = _by_ranges(masked, hidden, groups)
    return Restored(_filled(masked, hidden), (*found, *by_ranges), left_out + looks_left_out + further)


def _by_members(masked: Microdata, hidden: Sequence["Hidden"]) -> list[Told]:
    """What the composition of a published household tells of its keys; each household counts once."""
    sources = compositions(masked) + counted_members(masked)
    found: list[Told] = []
    for names, (group, n_groups) in sources:
        for key in hidden:
            if key.name in names or not key.open.any():
                continue
            once = members_once(masked)
            told = key.told_by(group, n_groups, once, trials=len(sources) * len(hidden))
            found += key.take(told, names, masked.multiplicity, "members")
    return found


def _by_other_members(masked: Microdata, hidden: Sequence["Hidden"]) -> tuple[list[Told], int]:
    """What the other members of a published household tell of a member's keys; also how many looks are left out."""
    relatives, found = Relatives.of(masked), list[Told]()
    if relatives is None:
        return found, 0
    once = members_once(masked)
    looks, left_out = relatives.looks([key.name for key in hidden], MEMBERS_WORK // max(masked.n_rows, 1))
    for look in looks:
        asked = [key for key in hidden if key.open.any() and look.key in (None, key.name)]
        if not asked:
            continue
        group, n_groups = look.groups()
        for key in asked:
            trials = len(looks) * len(hidden)
            told = key.told_by(group, n_groups, once, trials=trials)
            if look.key is not None and told.any():  # what the member's own value tells, nobody else does
                told &= ~key.told_by(*relatives.values[look.names[0]], once, trials=trials)
            found += key.take(told, look.names, masked.multiplicity, "others")
    return found, left_out


_Source = tuple[tuple[str, ...], Floats, NDArray[np.int32], How]
"""Variables, what they put in order, the groups inside which they do, and what is the same in a range."""


def _by_ranges(masked: Microdata, hidden: Sequence["Hidden"], groups: dict[str, _Group]) -> tuple[list[Told], int]:
    """What the order of a number or code tells; also how many pairs of variables are left out."""
    found: list[Told] = []
    sources, left_out = _ordered(masked, groups, RANGES_WORK // (max(masked.n_rows, 1) * len(hidden)))
    trials = len(sources) * len(hidden)
    for names, number, within, how in sources:
        order = Ordered.of(number, within)
        once = members_once(masked) if how == "totals" else masked.multiplicity
        for key in hidden:
            if key.name in names or not key.open.any() or key.stays < 1.0:
                continue
            group, n_groups, chance = stretches(order, key.seen)
            told = key.told_by(group, n_groups, once, trials=trials, alike=chance)
            found += key.take(told, names, masked.multiplicity, how)
    return found, left_out


def _ordered(masked: Microdata, groups: dict[str, _Group], most: int) -> tuple[list[_Source], int]:
    """Numbers and codes alone, numbers over a household, two numbers together, and numbers among the records of one code.

    At most `most` orders of pairs; the second figure is how many pairs are left out.
    """
    everybody = np.zeros(masked.n_rows, dtype=np.int32)
    columns = {name: masked.numbers((name,))[:, 0] for name in numbers_left(masked)}
    sources: list[_Source] = [((name,), column, everybody, "ranges") for name, column in columns.items()]
    sources += [(names, total, everybody, "totals") for names, total in totals(masked)]
    numeric = {v.name for v in masked.schema.variables if v.kind is Kind.NUMERIC}
    texts = [n for n in groups if n not in numeric and not masked.schema[n].is_key and n != masked.schema.household_id]
    sources += [((name,), order, everybody, "ranges") for name in texts for order in in_text_order(masked, name)]
    pairs, left_out = paired_orders(masked, groups, columns, most)
    return sources + [(names, order, within, "ranges") for names, order, within in pairs], left_out


def _grouped(masked: Microdata, name: str) -> _Group:
    group = masked.patterns((name,)).group
    return group.astype(np.int32), int(group.max(initial=-1)) + 1


def _together(groups: Sequence[_Group]) -> _Group:
    if len(groups) == 1:
        return groups[0]
    group, n_groups = group_columns([one for one, _ in groups], [many for _, many in groups])
    return group.astype(np.int32), n_groups


def _pairs(groups: dict[str, _Group], keys: Sequence[str], n: int) -> tuple[list[tuple[str, ...]], int]:
    """Variables that are no keys in pairs with any other, those of few codes first; and how many pairs are left out."""
    useful = [name for name, (_, many) in groups.items() if 1 < many <= ALONE * n]
    others = [name for name in useful if name not in keys]
    pairs: list[tuple[str, ...]] = [pair for pair in combinations(useful, 2) if not set(pair).isdisjoint(others)]
    pairs.sort(key=lambda pair: groups[pair[0]][1] * groups[pair[1]][1])
    most = WORK // max(n, 1)
    return pairs[:most], max(len(pairs) - most, 0)


@dataclass(eq=False)
class Hidden:
    """One key: what each published record shows in full (−1: hidden), the true value behind it, and what was restored.

    `known` are records that have a true value, `stays` is the share of shown values that are true ones (the attacker knows
    it), and `shares` are the frequencies of the shown values.
    """

    name: str
    seen: Ints = field(repr=False)
    true: Ints = field(repr=False)
    known: Mask = field(repr=False)
    filled: Ints = field(repr=False)
    stays: float
    shares: Floats = field(repr=False)

    @classmethod
    def of(cls, trace: Trace, masked: Microdata, name: str) -> "Hidden | None":
        """None where nothing can be compared: a key that is gone, codes of no known meaning, numbers that chance has moved."""
        if name not in masked.schema or trace.covers[name].unknown or is_near(trace.covers[name], masked, name):
            return None
        cover, values, own = trace.covers[name], values_of(masked, name), trace.own(masked)
        place = {value: at for at, value in enumerate(values.distinct)}
        numbers = np.array([*(place.get(value, -1) for value in cover.shown), -1], dtype=np.int64)
        finest, before, after = cover.finest, *cover.pairs.T
        less_fine = np.zeros(len(values.distinct) + 1, dtype=bool)
        less_fine[numbers[after[finest[before] != after]]] = True
        less_fine[-1] = True  # a blank
        seen = np.where(less_fine[values.numbers], -1, values.numbers)
        known = (own >= 0) & (cover.true[own] >= 0)
        true = np.where(known, numbers[finest[cover.true[own]]], -1)
        amounts, shown = masked.multiplicity, seen >= 0
        right, all_known = amounts[shown & known & (seen == true)].sum(), amounts[shown & known].sum()
        totals = np.bincount(seen[shown], weights=amounts[shown], minlength=max(len(values.distinct), 1))
        shares = totals / max(float(totals.sum()), 1.0)
        return cls(name, seen, true, known, np.full(seen.size, -1), float(right / max(all_known, 1)), shares)

    @property
    def open(self) -> Mask:
        """Records that do not show their true value, and of which nothing tells it so far."""
        return np.asarray(self.known & (self.seen != self.true) & (self.filled < 0))

    def take(self, told: Mask, names: tuple[str, ...], amounts: Ints, how: How) -> list[Told]:
        """Fill in what is restored, and name what reveals it; nothing where nothing does."""
        if not told.any():
            return []
        self.filled = np.where(told, self.true, self.filled)
        return [Told(self.name, names, int(amounts[told].sum()), how)]

    def told_by(
        self,
        group: Ints | NDArray[np.int32],
        n_groups: int,
        amounts: Ints | Floats,
        *,
        trials: int,
        alike: float | None = None,
    ) -> Mask:
        """Open records of groups that show one value, which is believed and is the true one of those it is taken for.

        `alike` says that the groups are stretches of an order, and how likely chance orders all values like this.
        """
        shown, mode, most = self._modes(group, n_groups, amounts)
        guess = mode[group]
        if alike is None:
            believed = _believed(shown, most, self.shares[mode], self, trials)
        else:
            believed = _believed_stretch(shown, self.shares[mode], trials) | (
                (shown > 0) & (alike <= np.log(LUCK / trials))
            )
        asked = believed[group] & self.known & (self.seen != guess)
        right = asked & (guess == self.true)
        hits = np.bincount(group[right], weights=amounts[right], minlength=n_groups)
        tries = np.bincount(group[asked], weights=amounts[asked], minlength=n_groups)
        return np.asarray(right & self.open & (hits >= MOSTLY * tries)[group])

    def _modes(
        self, group: Ints | NDArray[np.int32], n_groups: int, amounts: Ints | Floats
    ) -> tuple[Floats, Ints, Floats]:
        """For each group how many records show a value, the most frequent one, and how many show that."""
        rows, card = np.flatnonzero(self.seen >= 0), self.shares.size
        cell = group[rows].astype(np.int64) * card + self.seen[rows]
        if n_groups * card <= 4 * rows.size + DENSE:
            totals = np.bincount(cell, weights=amounts[rows], minlength=n_groups * card)
            cells = np.flatnonzero(totals)
            counts = totals[cells]
        else:
            cells, which = np.unique(cell, return_inverse=True)
            counts = np.bincount(which.ravel(), weights=amounts[rows], minlength=cells.size)
        of, value = cells // card, cells % card
        order = np.argsort(counts, kind="stable")  # of several assignments the last one stays
        mode, most = np.zeros(n_groups, dtype=np.int64), np.zeros(n_groups)
        mode[of[order]], most[of[order]] = value[order], counts[order]
        shown: Floats = np.bincount(of, weights=counts, minlength=n_groups).astype(np.float64)
        return shown, mode, most


def _believed(shown: Floats, most: Floats, share: Floats, key: Hidden, trials: int) -> Mask:
    """Groups whose most frequent value the attacker takes for the value of all; `share` is its frequency in the file."""
    several = shown > 1
    if not several.any():
        return several
    luck = np.log(LUCK / trials)
    if key.stays < 1.0:  # chance has changed values: it must explain the others, and not the most frequent one
        explained = shown * _divergence((shown - most) / np.maximum(shown, 1.0), 1.0 - key.stays) <= -np.log(LUCK)
        return np.asarray(
            several & explained & (-shown * _divergence(most / np.maximum(shown, 1.0), share) <= luck - _log(several))
        )
    one = most == shown
    alone = several & one & ((shown - 1) * np.log(np.maximum(share, 1e-300)) <= luck - _log(several))
    n_one, expected = float((several & one).sum()), max(float((key.shares.max() ** (shown[several] - 1)).sum()), 1e-300)
    # Chernoff's bound on this many groups of one value, each of which chance makes with probability Σ p^m ≤ max p^(m−1)
    by_chance = n_one - expected - n_one * np.log(max(n_one, 1.0) / expected) if n_one > expected else 0.0
    whole = n_one >= MOSTLY * several.sum() and by_chance <= luck
    return np.asarray(alone | (one & (shown > 0)) if whole else alone)


def _believed_stretch(shown: Floats, share: Floats, trials: int) -> Mask:
    """Stretches of an order that are too long for chance; one may begin at each of them."""
    several = shown > 1
    if not several.any():
        return several
    long = (shown - 1) * np.log(np.maximum(share, 1e-300)) <= np.log(LUCK / trials) - np.log((shown > 0).sum())
    return np.asarray(several & long)


def _log(several: Mask) -> float:
    return float(np.log(several.sum()))


def _divergence(share: Floats, by_chance: Floats | float) -> Floats:
    """How unlikely a larger share than by chance is, per record (Kullback–Leibler); 0 where the share is not larger."""
    p = np.clip(by_chance, 1e-12, 1.0 - 1e-12)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.nan_to_num(share * np.log(share / p)) + np.nan_to_num((1 - share) * np.log((1 - share) / (1 - p)))
    return np.where(share > p, found, 0.0)


def _filled(masked: Microdata, hidden: Sequence[Hidden]) -> Microdata:
    """The published file with what was restored."""
    for key in hidden:
        told = key.filled >= 0
        if not told.any():
            continue
        if masked.schema[key.name].kind is Kind.NUMERIC:
            values = np.array(values_of(masked, key.name).distinct)
            column = masked.numbers((key.name,))[:, 0]
            column[told] = values[key.filled[told]]
            masked = masked.with_numbers(key.name, column)
        else:
            encoded = masked.encoded(key.name)
            codes = np.where(told, key.filled, encoded.codes).astype(np.int32)
            masked = masked.with_codes(key.name, codes, encoded.categories)
    return masked
