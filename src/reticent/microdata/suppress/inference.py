# SPDX-License-Identifier: Apache-2.0
"""What the attacker can still infer of a blank, who knows that the published file keeps its promise.

With blanks drawn by the secret, every file that is safe for a truth may come out of it. So the transparent attacker lists
the truths for which the published file is safe; a blank that has the same value in all of them is inferred. Small files
are enumerated by the codes that they show: whoever knows of more codes has more truths to choose from. Whether a file is
good enough must be seen from the file alone. If it depended on codes that only the truth has, some truths would not lead
to this file, and the attacker could rule them out. In larger files two arguments give a lower bound: a value that too few
published records fit is impossible, and where just enough records can fit a published one, all of them do.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Codes, Ints
from reticent.kernels.grouping import pattern_table
from reticent.kernels.wildcards import compatible_sums
from reticent.microdata.risk.semantics import Semantics, count_codes
from reticent.microdata.suppress.requirement import Prices, Requirement, variables_of
from reticent.microdata.suppress.slack import MOST_RECORDS
from reticent.microdata.suppress.ties import spread

MOST_FILES = 20_000
MOST_VALUES = 64
"""Ways to complete a record up to which it is looked at in a large file."""
MOST_COMPLETED = 1_000_000
"""Completed records that are looked at in a large file."""
EFFORT = 40_000_000
TRIES = 12
JUDGED = (Semantics.K1, Semantics.ONE_K, Semantics.KK)


@dataclass(frozen=True)
class Inferred:
    """How many blanks have only one possible value; `exact` or a lower bound."""

    blanks: int
    inferred: int
    exact: bool


@dataclass(frozen=True)
class Judge:
    """What a published file promises: the codes of each variable, the demand and its reading of missing values.

    `same` has for each value the first record that has the same by necessity (see `ties`; none: each stands alone).
    """

    cards: list[int]
    requirement: Requirement
    semantics: Semantics
    prices: Prices
    same: Ints | None = None

    def unknowns(self, blank: NDArray[np.bool_]) -> tuple[list[int], Ints, Ints]:
        """The variable of each unknown, the places of the blanks, and the unknown that is in each place."""
        places = np.argwhere(blank)
        owners = places if self.same is None else np.column_stack((self.same[blank], places[:, 1]))
        distinct, which = np.unique(owners, axis=0, return_inverse=True)
        return distinct[:, 1].tolist(), places, which.ravel()

    def spread(self, published: Codes) -> Codes:
        """The file with each value blank that somebody shares for whom it is blank."""
        return published if self.same is None else spread(published, self.same)


def inferred_blanks(published: Codes, blank: NDArray[np.bool_], judge: Judge) -> Inferred:
    """Count the blanks (`blank`, made by the method) that an attacker infers; variable v has the codes 0 … cards[v] − 1."""
    n_blanks, semantics, cards, requirement = int(blank.sum()), judge.semantics, judge.cards, judge.requirement
    if semantics not in JUDGED or not n_blanks:
        return Inferred(n_blanks, 0, not n_blanks)
    if _is_small(published, blank, judge):
        return Inferred(n_blanks, int(enumerated(published, blank, judge).sum()), True)
    found = np.zeros(blank.shape, np.bool_)
    for mask, k in requirement.combinations:
        variables = list(variables_of(mask))
        part, inside = np.ascontiguousarray(published[:, variables]), [cards[v] for v in variables]
        if semantics is not Semantics.K1:
            found[:, variables] |= _only_fitting(part, inside, k)
        if semantics is not Semantics.ONE_K:
            found[:, variables] |= _all_needed(part, inside, k)
    return Inferred(n_blanks, int((found & blank & (np.array(cards) > 1)).sum()), False)


def loosened(codes: Codes, published: Codes, judge: Judge, generator: np.random.Generator, *, budget: float) -> Codes:
    """More blanks, until none is inferred; in large files none of those that the lower bound finds, within the budget.

    Whether a small file is good enough is seen from the published file alone. So for a file that is, no truth is ruled
    out by the knowledge that it went through here.
    """
    out = published.copy()
    for effort in range(1, TRIES + 1):
        blank = (out < 0) & (codes >= 0)
        small = _is_small(out, blank, judge)
        if small and not enumerated(out, blank, judge).any():
            break
        if small:
            wanted = (out >= 0) & (generator.random(out.shape) < effort / TRIES)
        else:
            wanted = _causes(out, blank, judge, generator)
        more = out.copy()
        spent = _blank_more(codes, more, wanted, judge.prices, np.inf if small else budget)
        more = judge.spread(more)
        if not _within_cap(codes, more, judge.prices) or not (small or spent):
            break
        out, budget = more, budget if small else budget - spent
    return out


def _within_cap(codes: Codes, published: Codes, prices: Prices) -> bool:
    """Whether no record has more blanks than it may get, also those that it shares with its household."""
    return prices.cap is None or int(((published < 0) & (codes >= 0)).sum(axis=1).max(initial=0)) <= prices.cap


def _causes(
    published: Codes, blank: NDArray[np.bool_], judge: Judge, generator: np.random.Generator
) -> NDArray[np.bool_]:
    """Values to blank: in a record that then may be what too few can be, and one more where one value is left."""
    wanted = np.zeros(published.shape, np.bool_)
    several = np.array(judge.cards) > 1
    for mask, k in judge.requirement.combinations:
        variables = list(variables_of(mask))
        part, inside = np.ascontiguousarray(published[:, variables]), [judge.cards[v] for v in variables]
        certain = blank[:, variables] & several[variables]
        if judge.semantics is not Semantics.ONE_K:
            wanted[:, variables] |= _help_for_tight(part, inside, k, certain, generator)
        if judge.semantics is not Semantics.K1:
            sure = (_only_fitting(part, inside, k) & certain).any(axis=1)
            draw = np.where((part >= 0) & several[variables], generator.random(part.shape), -1.0)
            rows = np.flatnonzero(sure & (draw.max(axis=1) >= 0))
            wanted[rows, np.array(variables)[draw.argmax(axis=1)[rows]]] = True
    return wanted


def _help_for_tight(
    published: Codes, cards: list[int], k: int, certain: NDArray[np.bool_], generator: np.random.Generator
) -> NDArray[np.bool_]:
    """For each published record that forces a blank elsewhere, what must go in the nearest other one for it to fit too."""
    first, counts, _, group = pattern_table(published, cards)
    patterns = published[first]
    mine_too = np.zeros(len(first), np.bool_)
    mine_too[group[certain.any(axis=1)]] = True
    wanted = np.zeros(published.shape, np.bool_)
    order = np.argsort(generator.random(len(first)))
    for row, fit in _tight(patterns, counts, k):
        mine = patterns[row]
        if not (mine_too[fit] & ((patterns[fit] < 0) & (mine >= 0)).any(axis=1)).any():
            continue
        apart = (patterns != mine) & (patterns >= 0) & (mine >= 0)
        far = apart.sum(axis=1)
        far[fit] = far.max() + 1
        nearest = int(order[np.argmin(far[order])])
        records = np.flatnonzero(group == nearest)
        wanted[records[generator.integers(len(records))]] |= apart[nearest]
    return wanted


def _blank_more(codes: Codes, published: Codes, wanted: NDArray[np.bool_], prices: Prices, budget: float) -> float:
    """Blank what is wanted, allowed and within the budget, in place; returns what it costs."""
    frozen = np.array([prices.frozen >> v & 1 == 1 for v in range(codes.shape[1])])
    wanted = wanted & (published >= 0) & ~frozen
    if prices.cap is not None:
        taken = ((published < 0) & (codes >= 0)).sum(axis=1)
        wanted &= (wanted.cumsum(axis=1) + taken[:, None]) <= prices.cap
    places = np.argwhere(wanted)
    price = np.cumsum(np.array(prices.costs)[places[:, 1]]) if len(places) else np.zeros(0)
    places = places[price <= budget]
    published[places[:, 0], places[:, 1]] = -1
    return float(price[len(places) - 1]) if len(places) else 0.0


def _is_small(published: Codes, blank: NDArray[np.bool_], judge: Judge) -> bool:
    if len(published) > MOST_RECORDS:
        return False
    codes = _shown(published)
    return prod(max(2, len(codes[v])) for v in judge.unknowns(blank)[0]) <= MOST_FILES


def _shown(published: Codes) -> list[list[int]]:
    """The codes that each variable shows; one without a name where all are blank."""
    return [np.unique(column[column >= 0]).tolist() or [0] for column in published.T]


def enumerated(published: Codes, blank: NDArray[np.bool_], judge: Judge) -> NDArray[np.bool_]:
    """Which blanks do not have two values or more among the truths for which the published file is safe.

    A variable that shows one code may have others: its blanks must be able to have one more.
    """
    codes = _shown(published)
    out = _without_choice(published, blank, judge, codes)
    for v, own in enumerate(codes):
        if len(own) == 1 and blank[:, v].any():
            more = [[*own, own[0] + 1] if u == v else other for u, other in enumerate(codes)]
            out[:, v] = _without_choice(published, blank, judge, more)[:, v]
    return out


def _without_choice(
    published: Codes, blank: NDArray[np.bool_], judge: Judge, codes: list[list[int]]
) -> NDArray[np.bool_]:
    """Which blanks have fewer than two values, with these codes of each variable."""
    variables, places, which = judge.unknowns(blank)
    seen: list[set[int]] = [set() for _ in variables]
    truth = published.copy()
    ones = np.ones(len(published), np.int64)
    enough = [min(2, len(codes[v])) for v in variables]
    for values in product(*(codes[v] for v in variables)):
        if all(len(known) >= least for known, least in zip(seen, enough, strict=True)):
            break
        if all(value in known for value, known in zip(values, seen, strict=True)):
            continue
        truth[places[:, 0], places[:, 1]] = np.array(values)[which]
        if _safe(published, truth, judge.requirement, judge.semantics, ones):
            for value, known in zip(values, seen, strict=True):
                known.add(value)
    out = np.zeros(blank.shape, np.bool_)
    few = np.array([len(known) < least for known, least in zip(seen, enough, strict=True)], np.bool_)
    out[places[:, 0], places[:, 1]] = few[which]
    return out


def _safe(
    published: Codes, truth: Codes, requirement: Requirement, semantics: Semantics, ones: NDArray[np.int64]
) -> bool:
    for mask, k in requirement.combinations:
        variables = list(variables_of(mask))
        if count_codes(published[:, variables], truth[:, variables], ones, semantics).min() < k:
            return False
    return True


def _only_fitting(published: Codes, cards: list[int], k: int) -> NDArray[np.bool_]:
    """Blanks with one value left, when a record must fit k published ones whatever its value is."""
    first, counts, _, group = pattern_table(published, cards)
    patterns = published[first]
    tried = list(_completions(patterns, cards))
    out = np.zeros(patterns.shape, np.bool_)
    if not tried:
        return np.asarray(out[group])
    asked = np.concatenate([whole for _, _, _, whole in tried])
    fits = compatible_sums(asked, patterns, counts, asking_wild=False, answering_wild=True) >= k
    begin = 0
    for rows, gone, values, whole in tried:
        possible = fits[begin : begin + len(whole)].reshape(len(rows), len(values))
        begin += len(whole)
        for at, v in enumerate(gone):
            left = np.column_stack([possible[:, values[:, at] == c].any(axis=1) for c in range(cards[v])])
            out[rows, v] = left.sum(axis=1) == 1
    return np.asarray(out[group])


def _completions(
    patterns: Codes, cards: list[int]
) -> Iterator[tuple[NDArray[np.int64], list[int], NDArray[np.int32], Codes]]:
    """For each set of blanks: the patterns with it, its variables, their values, and the patterns so completed.

    Sets with few ways to complete them come first, as long as the room lasts.
    """
    masks = (patterns < 0) @ (np.int64(1) << np.arange(patterns.shape[1], dtype=np.int64))
    ways = {mask: prod(cards[v] for v in variables_of(mask)) for mask in np.unique(masks[masks > 0]).tolist()}
    room = MOST_COMPLETED
    for mask in sorted((mask for mask in ways if ways[mask] <= MOST_VALUES), key=lambda mask: ways[mask]):
        rows = np.flatnonzero(masks == mask)[: room // ways[mask]]
        if not len(rows):
            return
        room -= len(rows) * ways[mask]
        gone = list(variables_of(mask))
        values = np.array(list(product(*(range(cards[v]) for v in gone))), np.int32)
        whole = np.repeat(patterns[rows], len(values), axis=0)
        whole[:, gone] = np.tile(values, (len(rows), 1))
        yield rows, gone, values, whole


def _all_needed(published: Codes, cards: list[int], k: int) -> NDArray[np.bool_]:
    """Blanks that must be what another published record shows, because no more than k records can be."""
    first, counts, _, group = pattern_table(published, cards)
    patterns = published[first]
    forced = np.zeros(patterns.shape, np.bool_)
    for row, fit in _tight(patterns, counts, k):
        forced[fit] |= (patterns[fit] < 0) & (patterns[row] >= 0)
    return np.asarray(forced[group])


def _tight(patterns: Codes, counts: NDArray[np.int64], k: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Published patterns that only k records can be, with the patterns of these records."""
    able = compatible_sums(patterns, patterns, counts, asking_wild=True, answering_wild=True)
    for row in np.flatnonzero(able <= k)[: max(1, EFFORT // max(1, patterns.size))].tolist():
        mine = patterns[row]
        yield row, np.flatnonzero(((patterns == mine) | (patterns < 0) | (mine < 0)).all(axis=1))
