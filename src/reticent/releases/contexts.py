# SPDX-License-Identifier: Apache-2.0
"""Movements dealt out in pairs: a record leaves one cell of a release for another one and stays what it is in everything else.

Each pair changes the rows of other releases by a difference of marks that depends on the cells and on what the record is
otherwise (its context). Pairs in like contexts cancel: so contexts are chosen whose differences add up to nothing, those of the
same kind for all pairs first, because later questions keep these as well.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from reticent.base.arrays import Floats, Ints, Mask

MOST_PAIRS = 24
MOST_CONTEXTS = 400
"""This many contexts of a pair are looked at."""
MOST_ANCHORS = 64
MOST_SUMS = 100_000
MOST_MATCHINGS = 4
MOST_FOUND = 6
MOST_TWINS = 50


@dataclass(frozen=True, eq=False)
class Pair:
    """So much moves from one class to another, which differ only in the cell; a row per context."""

    amount: int
    source: Ints
    target: Ints
    context: Ints
    change: Ints
    """What each choice changes, by marks; overflow is meant."""


@dataclass(frozen=True, eq=False)
class Contexts:
    """Codes and marks of classes, and which variables tell the cells of a release apart (`home`).

    `weight` says of each variable how much of all that was released depends on it.
    """

    codes: Ints
    marks: Ints
    home: tuple[int, ...]
    weight: Floats

    @cached_property
    def outside(self) -> list[int]:
        """The variables of contexts: those that matter to some release."""
        return [at for at in range(self.codes.shape[1]) if at not in self.home and self.weight[at] > 0]

    @cached_property
    def key(self) -> Ints:
        """A number per class, the same for classes of the same context."""
        number = np.zeros(len(self.codes), dtype=np.int64)
        for column in self.codes[:, self.outside].T:
            number = _then(number, column)
        return number

    def pair(self, amount: int, source: Ints, target: Ints) -> Pair | None:
        """All contexts in which so much could move from a class to another; None if there is none."""
        _, first, second = np.intersect1d(self.key[source], self.key[target], return_indices=True)
        if len(first) == 0:
            return None
        if len(first) > MOST_CONTEXTS:
            step = -(-len(first) // MOST_CONTEXTS)
            first, second = first[::step], second[::step]
        source, target = source[first], target[second]
        with np.errstate(over="ignore"):
            change = amount * (self.marks[target] - self.marks[source])
        return Pair(amount, source, target, self.codes[source][:, self.outside], change)


def choices(pairs: Sequence[Pair], weight: Floats) -> Iterator[Ints]:
    """Contexts, one number per pair, whose changes add up to nothing: alike ones first, then whatever adds up."""
    anchor = min(range(len(pairs)), key=lambda k: len(pairs[k].source))
    first = pairs[anchor].context[:MOST_ANCHORS]
    chosen = np.empty((len(first), len(pairs)), dtype=np.int64)
    far = np.zeros(len(first))
    for at, pair in enumerate(pairs):
        off = (first[:, None, :] != pair.context[None, :, :]) @ weight
        chosen[:, at] = off.argmin(axis=1)
        far += off[np.arange(len(first)), chosen[:, at]]
    with np.errstate(over="ignore"):
        total = sum(pair.change[chosen[:, at]] for at, pair in enumerate(pairs))
    near = np.argsort(far, kind="stable")
    yield from chosen[near[np.asarray(total)[near] == 0][:MOST_FOUND]]
    yield from _met([pair.change for pair in pairs])


def _met(changes: Sequence[Ints]) -> Iterator[Ints]:
    """Choices of one half of the pairs whose sum the other half takes back."""
    order = sorted(range(len(changes)), key=lambda k: len(np.unique(changes[k])))
    halves = order[0::2], order[1::2]
    sums = [_sums([changes[k] for k in half]) for half in halves]
    if not len(sums[1][0]):
        return
    values, places = sums[1]
    sort = np.argsort(values, kind="stable")
    with np.errstate(over="ignore"):
        wanted = -sums[0][0]
    hit = np.minimum(np.searchsorted(values[sort], wanted), len(values) - 1)
    for k in np.flatnonzero(values[sort][hit] == wanted)[:MOST_FOUND].tolist():
        found = np.empty(len(changes), dtype=np.int64)
        found[list(halves[0])] = sums[0][1][k]
        found[list(halves[1])] = places[sort[hit[k]]]
        yield found


def _sums(changes: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Sums of one entry of each, as many as fit, each with its places."""
    total, places = np.zeros(1, dtype=np.int64), np.zeros((1, 0), dtype=np.int64)
    for number, change in enumerate(changes):
        most = max(int((MOST_SUMS / len(total)) ** (1 / (len(changes) - number))), 1)
        first = np.unique(change, return_index=True)[1]
        first = first[np.argsort(first, kind="stable")][:most]
        with np.errstate(over="ignore"):
            total = (total[:, None] + change[first][None, :]).reshape(-1)
        repeated = np.repeat(places, len(first), axis=0)
        places = np.column_stack((repeated, np.tile(first, len(places))))
        total, kept = np.unique(total, return_index=True)
        places = places[kept]
    return total, places


def matchings(amounts: Mapping[int, int], cells: Ints) -> Iterator[list[tuple[int, int, int]]]:
    """Ways to say from which cell what moves to which: (from, to, amount); cells that differ in one variable first.

    `cells` has a row of codes per cell in `amounts`, in its order. Nothing comes where the amounts do not add up to 0.
    """
    if sum(amounts.values()):
        return
    labels = list(amounts)
    tried: list[list[tuple[int, int, int]]] = []
    for along in range(min(cells.shape[1], MOST_MATCHINGS)):
        left = [amounts[label] for label in labels]
        found: list[tuple[int, int, int]] = []
        order = []
        for i in (i for i, amount in enumerate(left) if amount < 0):
            for j in (j for j, amount in enumerate(left) if amount > 0):
                differ = np.flatnonzero(cells[i] != cells[j])
                order.append((len(differ) - (1 if along in differ.tolist() and len(differ) == 1 else 0), i, j))
        for _, i, j in sorted(order):
            amount = min(-left[i], left[j])
            if amount > 0:
                found.append((labels[i], labels[j], amount))
                left[i] += amount
                left[j] -= amount
        if found not in tried and len(found) <= MOST_PAIRS:
            tried.append(found)
            yield found


def home_variables(label: Ints, codes: Ints) -> tuple[int, ...]:
    """As few variables as tell the labels apart."""
    chosen = list(range(codes.shape[1]))
    for at in range(codes.shape[1]):
        rest = [k for k in chosen if k != at]
        cell = _numbered(codes[:, rest])
        if len(np.unique(cell)) == len(np.unique(cell * (int(label.max()) + 1) + label)):
            chosen = rest
    return tuple(chosen)


def _numbered(codes: Ints) -> Ints:
    """The number of each distinct row."""
    number = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        number = _then(number, column)
    return number


def _then(number: Ints, column: Ints) -> Ints:
    """The number of each pair of a number and a code."""
    found = np.unique(number * (int(column.max(initial=0)) + 2) + column + 1, return_inverse=True)[1]
    return np.asarray(found.reshape(-1), dtype=np.int64)


def twins_of(codes: Ints) -> list[Ints]:
    """Per variable some pairs of classes that differ in nothing else: two columns."""
    found = []
    for at in range(codes.shape[1]):
        rest = _numbered(np.delete(codes, at, axis=1))
        order = np.argsort(rest, kind="stable")
        first = np.flatnonzero(rest[order][1:] == rest[order][:-1])
        first = first[:: -(-len(first) // MOST_TWINS) or 1]
        found.append(np.column_stack((order[first], order[first + 1])))
    return found


def weights(twins: Sequence[Ints], by_class: sparse.csc_array, tight: Mask) -> Floats:
    """Of each variable, in how many rows that leave no room classes differ on average that differ in nothing else."""
    out = np.zeros(len(twins))
    for at, pairs in enumerate(twins):
        if len(pairs):
            apart = sparse.csc_array(by_class[:, pairs[:, 0]] - by_class[:, pairs[:, 1]])
            out[at] = np.count_nonzero(tight[apart.indices] & (apart.data != 0)) / len(pairs)
    return out
