"""What the attacker can still infer of a blank, who knows that the published file keeps its promise.

With blanks drawn by the secret, every file that is safe for a truth may come out of it. So the transparent attacker lists
the truths for which the published file is safe; a blank that has the same value in all of them is inferred. Small files
are enumerated. In larger ones two arguments give a lower bound: a value that too few published records fit is impossible,
and where just enough records can fit a published one, all of them do.
"""

from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from reticent.kernels.grouping import pattern_table
from reticent.kernels.wildcards import compatible_sums
from reticent.microdata.risk.semantics import Semantics, count_codes
from reticent.microdata.suppress.demand import Demand, Prices, variables_of

Codes = NDArray[np.int32]
MOST_RECORDS = 8
MOST_FILES = 20_000
MOST_VALUES = 64
"""Ways to complete a record up to which it is looked at in a large file."""
EFFORT = 40_000_000
TRIES = 12
JUDGED = (Semantics.K1, Semantics.ONE_K, Semantics.KK)


@dataclass(frozen=True)
class Inferred:
    """How many blanks have only one possible value; `exact` or a lower bound."""

    blanks: int
    inferred: int
    exact: bool


def inferred_blanks(
    published: Codes, blank: NDArray[np.bool_], cards: list[int], demand: Demand, semantics: Semantics
) -> Inferred:
    """Count the blanks (`blank`, made by the method) that an attacker infers; variable v has the codes 0 … cards[v] − 1."""
    n_blanks = int(blank.sum())
    if semantics not in JUDGED or not n_blanks:
        return Inferred(n_blanks, 0, not n_blanks)
    if _is_small(published, blank, cards):
        return Inferred(n_blanks, int(enumerated(published, blank, cards, demand, semantics).sum()), True)
    found = np.zeros(blank.shape, np.bool_)
    for mask, k in demand.combinations:
        variables = list(variables_of(mask))
        part, inside = np.ascontiguousarray(published[:, variables]), [cards[v] for v in variables]
        if semantics is not Semantics.K1:
            found[:, variables] |= _only_fitting(part, inside, k)
        if semantics is not Semantics.ONE_K:
            found[:, variables] |= _all_needed(part, inside, k)[0]
    return Inferred(n_blanks, int((found & blank & (np.array(cards) > 1)).sum()), False)


def loosened(
    codes: Codes,
    published: Codes,
    cards: list[int],
    demand: Demand,
    semantics: Semantics,
    prices: Prices,
    generator: np.random.Generator,
) -> Codes:
    """More blanks, until none is inferred (in large files: none of those that the lower bound finds).

    Whether a file is good enough is seen from the published file alone. So for a file that is, no truth is ruled out by
    the knowledge that it went through here.
    """
    out = published.copy()
    for effort in range(TRIES):
        blank = (out < 0) & (codes >= 0)
        if _is_small(out, blank, cards):
            certain = enumerated(out, blank, cards, demand, semantics)
            if not certain.any():
                break
            wanted = (out >= 0) & (generator.random(out.shape) < (effort + 1) / TRIES)
        else:
            wanted = _causes(out, blank, cards, demand, semantics, generator)
        if not _blank_more(codes, out, wanted, prices) and not _is_small(out, blank, cards):
            break
    return out


def _causes(
    published: Codes,
    blank: NDArray[np.bool_],
    cards: list[int],
    demand: Demand,
    semantics: Semantics,
    generator: np.random.Generator,
) -> NDArray[np.bool_]:
    """Values to blank: those that force a blank elsewhere, and one more in each record with one value left."""
    wanted = np.zeros(published.shape, np.bool_)
    several = np.array(cards) > 1
    for mask, k in demand.combinations:
        variables = list(variables_of(mask))
        part, inside = np.ascontiguousarray(published[:, variables]), [cards[v] for v in variables]
        if semantics is not Semantics.ONE_K:
            forced, cause = _all_needed(part, inside, k)
            if (forced & blank[:, variables] & several[variables]).any():
                wanted[:, variables] |= cause & several[variables]
        if semantics is not Semantics.K1:
            sure = (_only_fitting(part, inside, k) & blank[:, variables] & several[variables]).any(axis=1)
            draw = np.where((part >= 0) & several[variables], generator.random(part.shape), -1.0)
            at = draw.argmax(axis=1)
            rows = np.flatnonzero(sure & (draw.max(axis=1) >= 0))
            wanted[rows, np.array(variables)[at[rows]]] = True
    return wanted


def _blank_more(codes: Codes, published: Codes, wanted: NDArray[np.bool_], prices: Prices) -> int:
    """Blank what is wanted and allowed, in place; returns how many values that were."""
    frozen = np.array([prices.frozen >> v & 1 == 1 for v in range(codes.shape[1])])
    wanted = wanted & (published >= 0) & ~frozen
    if prices.cap is not None:
        spent = ((published < 0) & (codes >= 0)).sum(axis=1)
        wanted &= (wanted.cumsum(axis=1) + spent[:, None]) <= prices.cap
    published[wanted] = -1
    return int(wanted.sum())


def _is_small(published: Codes, blank: NDArray[np.bool_], cards: list[int]) -> bool:
    if len(published) > MOST_RECORDS:
        return False
    return prod(cards[v] for _, v in np.argwhere(blank).tolist()) <= MOST_FILES


def enumerated(
    published: Codes, blank: NDArray[np.bool_], cards: list[int], demand: Demand, semantics: Semantics
) -> NDArray[np.bool_]:
    """Which blanks have one value in all truths for which the published file is safe."""
    places = np.argwhere(blank)
    seen: list[set[int]] = [set() for _ in places]
    truth = published.copy()
    ones = np.ones(len(published), np.int64)
    for values in product(*(range(cards[v]) for _, v in places.tolist())):
        if all(len(known) > 1 for known in seen):
            break
        if all(value in known for value, known in zip(values, seen, strict=True)):
            continue
        truth[places[:, 0], places[:, 1]] = values
        if _safe(published, truth, demand, semantics, ones):
            for value, known in zip(values, seen, strict=True):
                known.add(value)
    out = np.zeros(blank.shape, np.bool_)
    single = [len(known) == 1 and cards[v] > 1 for known, (_, v) in zip(seen, places.tolist(), strict=True)]
    out[places[:, 0], places[:, 1]] = single
    return out


def _safe(published: Codes, truth: Codes, demand: Demand, semantics: Semantics, ones: NDArray[np.int64]) -> bool:
    for mask, k in demand.combinations:
        variables = list(variables_of(mask))
        if count_codes(published[:, variables], truth[:, variables], ones, semantics).min() < k:
            return False
    return True


def _only_fitting(published: Codes, cards: list[int], k: int) -> NDArray[np.bool_]:
    """Blanks with one value left, when a record must fit k published ones whatever its value is."""
    first, counts, _, group = pattern_table(published, cards)
    patterns = published[first]
    out = np.zeros(patterns.shape, np.bool_)
    masks = (patterns < 0) @ (np.int64(1) << np.arange(patterns.shape[1], dtype=np.int64))
    for mask in np.unique(masks[masks > 0]).tolist():
        gone = list(variables_of(mask))
        if prod(cards[v] for v in gone) > MOST_VALUES:
            continue
        tries = np.array(list(product(*(range(cards[v]) for v in gone))), np.int32)
        rows = np.flatnonzero(masks == mask)[: EFFORT // (20 * len(tries))]
        whole = np.repeat(patterns[rows], len(tries), axis=0)
        whole[:, gone] = np.tile(tries, (len(rows), 1))
        fits = compatible_sums(whole, patterns, counts, asking_wild=False, answering_wild=True)
        possible = (fits >= k).reshape(len(rows), len(tries))
        for at, v in enumerate(gone):
            values = np.column_stack([possible[:, tries[:, at] == c].any(axis=1) for c in range(cards[v])])
            out[rows, v] = values.sum(axis=1) == 1
    return np.asarray(out[group])


def _all_needed(published: Codes, cards: list[int], k: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Blanks that must be what another published record shows, because no more than k can be; and what forces them."""
    first, counts, _, group = pattern_table(published, cards)
    patterns = published[first]
    able = compatible_sums(patterns, patterns, counts, asking_wild=True, answering_wild=True)
    forced, cause = np.zeros(patterns.shape, np.bool_), np.zeros(patterns.shape, np.bool_)
    tight = np.flatnonzero(able <= k)
    for row in tight[: max(1, EFFORT // max(1, patterns.size))].tolist():
        mine = patterns[row]
        fit = ((patterns == mine) | (patterns < 0) | (mine < 0)).all(axis=1)
        certain = (patterns[fit] < 0) & (mine >= 0)
        forced[fit] |= certain
        cause[row] |= certain.any(axis=0)
    return np.asarray(forced[group]), np.asarray(cause[group])
