# SPDX-License-Identifier: Apache-2.0
"""Keys that are recoded or dropped while other published variables still have them, for whoever knows how they go together.

A region is published as north or south, and the district stays. No record of the file says in which region a district lies, so
the file restores nothing; a map does. What people know from outside cannot be judged, so it is named, and the recount is made
once more with it: where that holds, nobody's map does harm.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.base.words import counted
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.kernels.grouping import group_columns
from reticent.microdata.risk.known import known_variables
from reticent.microdata.risk.outside_key import By, OutsideKey
from reticent.microdata.risk.outside_view import Moved
from reticent.microdata.risk.recount import Fit, is_near, numbered
from reticent.microdata.risk.restored import ALONE, RANGES_WORK
from reticent.microdata.risk.restored_sources import in_text_order, paired_orders
from reticent.microdata.risk.traces_left import coarser
from reticent.microdata.trace import Cover, Trace, numbers_of, values_of

_NOT_ASKED = (Role.IDENTIFIER, Role.ENTITY, Role.HOUSEHOLD_ID, Role.WEIGHT)
"""Not published, or judged by attacks of their own."""
WORK = 30_000_000
"""Records times keys times pairs of variables that are looked at; further pairs are left out, and the result says how many."""

MOST_TOGETHER = 100
"""Combinations of moved values, and of keys that stayed, that are looked at for each key: those of few keys first."""
Owned = tuple[By, Ints, Ints]
"""Variables, the number of what each record shows of them, and the number of what each original record has."""


@dataclass(frozen=True)
class ToldOutside:
    """How many records have fewer codes of a key than the file shows, by the variables that say most about it.

    `exactly` so many have one code. For `with_outside` there is the code of each record that variables tell, right or wrong
    (−1: they do not), the set of codes that they tell otherwise (−1: none), and pairs of code and set. `owners` says that
    the values are those of other records, which stayed among people with the same code.
    """

    key: str
    by: tuple[str, ...]
    records: int
    exactly: int
    codes: Ints = field(repr=False, compare=False)
    sets: Ints = field(repr=False, compare=False)
    pairs: Ints = field(repr=False, compare=False)
    owners: bool = False

    @property
    def text(self) -> str:
        """What is known, to whom, and what to do."""
        names = " with ".join(self.by)
        code, of = ("one code", self.exactly) if self.exactly else ("fewer codes", self.records)
        if self.owners:
            return (
                f"{of} records have {code} of {self.key} by {names}, finer than the file shows it, for whoever knows who "
                f"truly has the values that stand there: exchange {self.by[0]} over more codes of {self.key}, or drop it"
            )
        it, them = (names, "drop it") if len(self.by) == 1 else ("both", "drop one")
        return (
            f"{of} records have {code} of {self.key} by {names}, finer than the file shows it, for whoever knows "
            f"how these go together: declare {it} as {'a key' if len(self.by) == 1 else 'keys'} and recode, or {them}"
        )


@dataclass(frozen=True)
class Outside:
    """What variables tell of each key to somebody who knows more; `pairs_left_out` were too many to be looked at."""

    told: tuple[ToldOutside, ...] = ()
    pairs_left_out: int = 0

    @property
    def text(self) -> str:
        """One sentence for each key, and what was not looked at."""
        texts = [one.text for one in self.told]
        if self.pairs_left_out:
            texts.append(
                f"{counted(self.pairs_left_out, 'pair')} of variables were too many to look for keys that they still have"
            )
        return "".join(f"; {text}" for text in texts)

    @property
    def tied(self) -> str:
        """Which keys go together with which variables."""
        return "; ".join(f"{one.key} and {' with '.join(one.by)}" for one in self.told)


def told_outside(trace: Trace, masked: Microdata, keys: Sequence[str]) -> Outside:
    """For each key that is shown less finely, or not at all, the variables that still have it, alone or in pairs."""
    own, found = trace.own(masked), list[OutsideKey]()
    for name in keys:
        if name not in trace.original.schema or _moved(trace, masked, name):
            continue
        shown, hidden = _shown(trace, masked, name), coarser(trace, masked, name) & (own >= 0)
        if name in masked.schema and trace.covers[name].changed:
            # a code that chance has changed says nothing for certain: records are not looked at inside of it
            hidden |= ~Fit.of(trace, masked, (name,)).own_fits() & (own >= 0)
            shown = np.full_like(shown, -1)
        if hidden.any():
            true = np.where(own >= 0, cover_of(trace, name).true[own], -1)
            found.append(OutsideKey(name, true, shown, hidden, masked.multiplicity))
    moved = _moved_values(trace, masked, keys) if found else []
    if moved:
        moved += _moved_together(trace, moved, _kept_keys(trace, masked, keys))
    trials = 2 * len(found) * len(moved)
    for key in found:
        for names, shown, has in moved:
            if key.name not in names:
                near = len(names) == 1 and masked.schema[names[0]].kind is Kind.NUMERIC
                owners = Moved.of(shown, has, own, cover_of(trace, key.name).true, near=near, trials=trials)
                key.look_at_owners(names, owners, trials=trials)
                if (
                    len(names) == 1
                ):  # what several have in common may say the same where each shows it a little differently
                    key.look(names[0], shown + 1, shown >= 0, trials=trials)
    return look_outside(found, masked, keys)


def _moved_together(trace: Trace, moved: Sequence[Owned], kept: Sequence[Owned]) -> list[Owned]:
    """What moved values say together, and with keys that stayed: a step may have moved them as one, among equal keys.

    Few people have two scores, where many have each; and the owner of a score may have the sex of the record where it stands.
    """
    each = {names: (names, shown, has) for names, shown, has in reversed(moved)}
    pairs = [pair for pair in combinations(moved, 2) if pair[0][0] != pair[1][0]]
    ways = {names: id(trace.origins.get(names[0])) for names in each}  # what one step took over went the same way
    same = [tuple(part for names, part in each.items() if ways[names] == way) for way in dict.fromkeys(ways.values())]
    same += [tuple(each.values())] if len(same) > 1 else []
    groups = [*combinations(moved, 1), *pairs, *(group for group in same if len(group) > 2)]
    found = []
    for stayed in sorted({0, 1, 2, len(kept)}):
        for keys in combinations(kept, stayed):
            found += [(*group, *keys) for group in groups if len(group) + stayed > 1]
    return [_joined(parts) for parts in found[:MOST_TOGETHER]]


def _joined(parts: Sequence[Owned]) -> Owned:
    """One number for what several variables show of a record, or what somebody has (−1: one of them says nothing)."""
    columns = [np.append(shown, has) for _, shown, has in parts]
    number, _ = group_columns([column + 1 for column in columns], [int(column.max()) + 2 for column in columns])
    number = np.where(np.all([column >= 0 for column in columns], axis=0), number, -1)
    n = parts[0][1].size
    return tuple(name for names, _, _ in parts for name in names), number[:n], number[n:]


def _kept_keys(trace: Trace, masked: Microdata, keys: Sequence[str]) -> list[Owned]:
    """Published keys that chance has not changed: numbers of what records show, and of what everybody truly has."""
    found: list[Owned] = []
    for name in keys:
        cover = trace.covers.get(name)
        if cover is not None and name in masked.schema and not (cover.changed or cover.unknown):
            shown = numbered(cover, masked, name).astype(np.int64)
            found.append(((name,), np.where(shown == len(cover.shown), -1, shown), cover.images()))
    return found


def _moved_values(trace: Trace, masked: Microdata, keys: Sequence[str]) -> list[Owned]:
    """Known published variables that chance has changed: numbers of what records show, and of what everybody truly has.

    A number stands for the nearest one that somebody has: at the published detail, as it was before rounding at random, and as
    steps that draw nothing made it (the mean of a group).
    """
    names_known, found = {*keys, *known_variables(trace.original)}, list[Owned]()
    for name in sorted(names_known & set(masked.schema.names) & trace.covers.keys()):
        covers = [trace.covers[name], *(trail[name] for trail in (trace.chosen, trace.repeated) if name in trail)]
        if not covers[0].changed or covers[0].unknown:
            continue
        if masked.schema[name].kind is not Kind.NUMERIC:
            shown = numbered(covers[0], masked, name).astype(np.int64)
            found.append(((name,), np.where(shown == len(covers[0].shown), -1, shown), covers[0].images()))
            continue
        for cover in covers:
            has, shows = numbers_of(cover, cover.images()), masked.numbers((name,))[:, 0]
            there, values = ~np.isnan(has), np.unique(has[~np.isnan(has)])
            if values.size:
                middle = (values[1:] + values[:-1]) / 2
                near = np.where(np.isnan(shows), -1, np.searchsorted(middle, shows))
                found.append(((name,), near, np.where(there, np.searchsorted(values, has), -1)))
    return found


def look_outside(
    found: Sequence[OutsideKey], masked: Microdata, keys: Sequence[str], *, overlapping: bool = True
) -> Outside:
    """Try published variables one by one, their order, and pairs of both; a pair has at least one that is no key."""
    if not found:
        return Outside()
    values = {v.name: masked.patterns((v.name,)).group for v in masked.schema.variables if v.role not in _NOT_ASKED}
    sizes = {name: int(group.max(initial=-1)) + 1 for name, group in values.items()}
    known = {name: ~masked.missing(name) for name in values}
    others = [name for name in values if name not in keys]
    pairs = _pairs(sizes, others, masked.n_rows)
    left_out = max(len(pairs) - WORK // (max(masked.n_rows, 1) * len(found)), 0)
    pairs = pairs[: len(pairs) - left_out]
    orders, no_orders = _paired_orders(masked, values, others, RANGES_WORK // (max(masked.n_rows, 1) * len(found)))
    trials = len(found) * (3 * len(others) + len(pairs) + len(orders))
    for key in found:
        for name in others:
            key.look(name, values[name], known[name], trials=trials, overlapping=overlapping)
        for name in others:
            for order in _orders(masked, name):
                key.look_in_order((name,), order, trials=trials)
        for one, other in pairs:
            if key.name not in (one, other) and key.open:
                key.look_at_two((one, other), (values[one], values[other]), trials=trials)
        for names, order, within in orders:
            if key.name not in names and key.open:
                key.look_in_order(names, order, within, trials=trials)
    return Outside(tuple(_most(key) for key in found if key.by), left_out + no_orders)


def with_outside(trace: Trace, masked: Microdata, told: Sequence[ToldOutside]) -> tuple[Trace, Microdata]:
    """The file as somebody reads it who knows of each key all that other variables say more finely than the file shows it."""
    covers, repeated = dict(trace.covers), dict(trace.repeated)
    for one in told:
        cover, shown = cover_of(trace, one.key), _shown(trace, masked, one.key)
        old = cover.pairs if one.key in masked.schema else np.empty((0, 2), dtype=np.int64)
        codes = np.where(one.codes >= 0, -1, np.where(one.sets >= 0, -2, shown))
        old = old[np.isin(old[:, 1], codes)]  # codes that nobody is left with stand for nothing
        sets = one.pairs[np.isin(one.pairs[:, 1], one.sets[codes == -2])]
        first = len(cover.shown) + 1  # one more: a value that stands for nothing
        last = first + cover.n_true
        each = np.arange(cover.n_true)
        pairs = np.vstack((old, np.column_stack((each, first + each)), sets + (0, last)))
        texts = tuple(f"#{at}" for at in range(last + int(one.pairs[:, 1].max(initial=-1)) + 1))
        covers[one.key] = replace(cover, shown=texts, pairs=pairs)
        repeated.pop(one.key, None)
        codes = np.where(one.sets >= 0, last + one.sets, shown)
        masked = _with_codes(masked, one.key, np.where(one.codes >= 0, first + one.codes, codes), texts)
    return replace(trace, covers=covers, repeated=repeated), masked


def cover_of(trace: Trace, name: str) -> Cover:
    """What became of a key; of one that is gone only what it was."""
    return trace.covers[name] if name in trace.covers else Cover.of(values_of(trace.original, name))


def _moved(trace: Trace, masked: Microdata, name: str) -> bool:
    """Whether a key is a number that chance has moved: it has no codes that another variable could have."""
    return name in masked.schema and is_near(trace.covers[name], masked, name)


def _shown(trace: Trace, masked: Microdata, name: str) -> Ints:
    if name not in masked.schema:
        return np.full(masked.n_rows, -1, dtype=np.int64)
    return np.where(masked.missing(name), -1, Fit.of(trace, masked, (name,)).shown[:, 0].astype(np.int64))


def _with_codes(masked: Microdata, name: str, codes: Ints, texts: Sequence[str]) -> Microdata:
    """The data with a key of these codes, whether it is published or not."""
    frame = masked.frame.with_codes(name, codes.astype(np.int32), texts)
    variable = Variable(name, role=Role.KEY, kind=Kind.NOMINAL)
    kept = [variable if v.name == name else v for v in masked.schema.variables]
    schema = Schema(tuple(kept if name in masked.schema else [*kept, variable]))
    return replace(masked, frame=frame, schema=schema, _encoded={})


def _pairs(sizes: Mapping[str, int], others: Sequence[str], n: int) -> list[tuple[str, str]]:
    """Pairs with at least one of the others, those of few values first."""
    useful = [name for name, many in sizes.items() if 1 < many <= ALONE * n]
    pairs = [pair for pair in combinations(useful, 2) if not set(pair).isdisjoint(others)]
    return sorted(pairs, key=lambda pair: sizes[pair[0]] * sizes[pair[1]])


def _paired_orders(
    masked: Microdata, values: Mapping[str, Ints], others: Sequence[str], most: int
) -> tuple[list[tuple[By, Floats, Ints | None]], int]:
    """Orders of two numbers together, and of numbers among the records of one code; and how many pairs are left out."""
    columns = {n: masked.numbers((n,))[:, 0] for n in others if masked.schema[n].kind is Kind.NUMERIC}
    groups = {name: (group.astype(np.int32), int(group.max(initial=-1)) + 1) for name, group in values.items()}
    found, left_out = paired_orders(masked, groups, columns, most)
    return [
        (names, order, None if names[0] in columns else within.astype(np.int64)) for names, order, within in found
    ], left_out


def _orders(masked: Microdata, name: str) -> list[np.ndarray]:
    if masked.schema[name].kind is Kind.NUMERIC:
        return [masked.numbers((name,))[:, 0]]
    return in_text_order(masked, name)


def _most(key: OutsideKey) -> ToldOutside:
    by = max(key.by, key=lambda names: key.by[names])
    return ToldOutside(key.name, by, *key.by[by], key.guessed(), *key.narrowed(), by in key.by_owners)
