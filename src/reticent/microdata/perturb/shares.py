# SPDX-License-Identifier: Apache-2.0
"""Shares of codes in the leaves of a model, smoothed so that no respondent's own code counts for much.

A leaf's shares are drawn to those of the node above it, these to the next, and those of all records to those of neighbours
(ordered codes) or of codes that are about as frequent: by as much as the difference may be noise (James and Stein; Hausser and
Strimmer 2009), times a strength that the file as a whole asks for (`footprint.py`). Codes of one respondent are not drawn, and
codes of few by chance: a code that always appeared with its second, or k-th, respondent would tell of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reticent.base.arrays import Floats, Ints, Mask

Cell = Sequence[Ints]
"""The records of a leaf, and then those of each node above it up to all records."""

STEPS = 4
"""Respondents, at least, over whom the part of its share that a code is drawn with rises from 0 to all."""
ALIKE = 0.5
"""Codes are smoothed together first that differ in the logarithm of their frequency by no more than about this."""
CHOSEN = 1.5
"""A record counts more than its share says, because it had a part in how much was smoothed; measured."""
SEARCHED = 1.4
"""In the leaf of a tree it counts more still, because it had a part in the splits around it; measured."""


@dataclass(frozen=True)
class Coded:
    """Codes (0 to `size` − 1) of records, the respondent and the bootstrap's exponential of each.

    Codes of fewer than `first` respondents are not drawn, and all of `full` respondents and more are. `public` are codes that are
    listed in the schema, and `chance` has a number in [0, 1) for each code, by which it is decided whether it is drawn if few
    respondents have it. With `rest` the last code stands for everything else, and takes what others lose.
    """

    codes: Ints
    size: int
    who: Ints
    exponential: Floats
    k: int
    first: int
    full: float
    public: Mask | None = None
    chance: Floats | None = None
    ordered: bool = False
    rest: bool = False
    strength: float = 1.0


@dataclass(frozen=True)
class Shares:
    """Shares, one row per cell, as drawn and as counted; and, for each record, the chance of its own code with it and without.

    `margin` is the part of the latter in the former as far as the shares of all records make it, and `seen` the
    probability that the code would be drawn at all without the record.
    """

    drawn: Floats
    counted: Floats
    own: Floats
    without: Floats
    margin: Floats
    seen: Floats


@dataclass(frozen=True)
class _Node:
    """A node: its counts, how far it is drawn to the node above, and its smoothed shares, as counted and as drawn."""

    count: Floats
    pull: float
    smooth: Floats
    drawn: Floats


def shown(people: Floats, data: Coded) -> Floats:
    """Which part of its share a code is drawn with: none of few respondents, all of many, and between them more and more.

    Where each code has a chance, it is drawn as ever or not at all, with that part as the probability.
    """
    part = _rising(people, data)
    if data.chance is not None:
        part = (data.chance < part).astype(np.float64)
    return _always(part, data)


def seen_without(people: Floats, data: Coded) -> Floats:
    """The probability that a code that is drawn would be, had it one respondent fewer."""
    part = _rising(people, data)
    return _always(np.divide(_rising(people - 1, data), part, out=np.ones(len(part)), where=part > 0), data)


def _rising(people: Floats, data: Coded) -> Floats:
    """From 0 below `first` respondents to 1 at `full`."""
    return np.asarray(np.clip((people - data.first + 1) / (data.full - data.first + 1), 0.0, 1.0))


def _always(part: Floats, data: Coded) -> Floats:
    """Codes that the schema lists are drawn whoever has them, and so is the rest."""
    if data.public is not None:
        part[data.public] = 1.0
    if data.rest:
        part[-1] = 1.0
    return part


def respondents_of(codes: Ints, who: Ints, size: int) -> Floats:
    """How many respondents have each code."""
    width = int(who.max(initial=0)) + 1
    return np.bincount(np.unique(codes.astype(np.int64) * width + who) // width, minlength=size).astype(np.float64)


def smoothed_shares(data: Coded, cells: Sequence[Cell]) -> Shares:
    """Shares of all cells. Whoever is left out takes as many records along as they have."""
    people = respondents_of(data.codes, data.who, data.size)
    part, seen = shown(people, data), seen_without(people, data)
    fewer = part * (seen if data.chance is None else 1.0)
    left = np.bincount(data.who)[data.who].astype(np.float64)
    prior, above = _prior(data, left)
    nodes: dict[int, _Node] = {}
    drawn, counted = np.zeros((len(cells), data.size)), np.zeros((len(cells), data.size))
    own, without, margin = np.zeros(len(left)), np.zeros(len(left)), np.ones(len(left))
    for number, cell in enumerate(cells):
        path = _path(data, cell, prior, nodes)
        everybody, leaf = path[0], path[-1]
        rows = cell[0]
        codes = data.codes[rows]
        drawn[number] = shown_only(leaf.drawn, everybody.drawn, part, rest=data.rest)
        counted[number] = shown_only(leaf.smooth, everybody.smooth, part, rest=data.rest)
        own[rows] = counted[number][codes]
        root = shown_only(everybody.smooth, everybody.smooth, part, rest=data.rest)
        rest, first = above[rows], above[rows]
        for depth, node in enumerate(path):
            there = np.maximum(node.count[codes] - left[rows], 0.0)
            rest = (1 - node.pull) * there / np.maximum(node.count.sum() - left[rows], 1.0) + node.pull * rest
            first = rest if depth == 0 else first
        hidden = 0.0 if data.rest else float((leaf.smooth * (1 - part)).sum())
        total = max(float((everybody.smooth * part).sum()), 1e-300)
        one = np.minimum(fewer[codes] * first * (1 + hidden / total), root[codes])
        margin[rows] = (one / np.maximum(root[codes], 1e-300)) ** CHOSEN
        less = np.minimum(fewer[codes] * (rest + hidden * first / total) / np.maximum(own[rows], 1e-300), 1.0)
        without[rows] = own[rows] * less ** (CHOSEN if len(path) == 1 else CHOSEN * SEARCHED)
    often = np.ones(len(left)) if data.chance is None else seen[data.codes]
    return Shares(drawn, counted, own, without, margin, often)


def _prior(data: Coded, left: Floats) -> tuple[Floats, Floats]:
    """What shares of all records are drawn to, and for each record's code the same without the record."""
    size = data.size - data.rest
    count = np.bincount(data.codes, minlength=data.size).astype(np.float64)
    some, inside = count[:size], data.codes < size
    codes, gone = data.codes[inside], left[inside]
    less = np.maximum(count[data.codes] - left, 0.0)
    if data.ordered:
        mean, width = _neighbours(some, data.strength)
        less[inside] = mean[codes] - gone / width[codes]
    else:
        mean = _alike(some, some, some, data.strength)
        # with fewer respondents a code is like others than before
        less[inside] = _alike(some, np.maximum(some[codes] - gone, 0.0), some[codes], data.strength)
    scale = some.sum() / max(float(mean.sum()), 1e-300)
    less[inside] *= scale
    return np.append(mean * scale, count[size:]) / len(left), np.maximum(less, 0.0) / np.maximum(len(left) - left, 1.0)


def _neighbours(count: Floats, strength: float) -> tuple[Floats, Floats]:
    """The mean over neighbours of each of some ordered codes, and how many these are."""
    size, reach = len(count), max(1, round(strength))
    total = np.append(0.0, np.cumsum(count))
    low, high = np.maximum(np.arange(size) - reach, 0), np.minimum(np.arange(size) + reach + 1, size)
    return (total[high] - total[low]) / (high - low), (high - low).astype(np.float64)


def _alike(count: Floats, asked: Floats, true: Floats, strength: float) -> Floats:
    """The mean over codes that are about as frequent, of codes that had so many records as asked and not as many as they have."""
    known, often = np.unique(count, return_counts=True)
    pairs, back = np.unique(np.column_stack((asked, true)), axis=0, return_inverse=True)
    width = ALIKE * np.sqrt(strength)
    # with one respondent more each, codes that nobody has are like those of one
    near = np.exp(-0.5 * (np.log((pairs[:, :1] + 1) / (known + 1)) / width) ** 2)
    own = np.exp(-0.5 * (np.log((pairs[:, 0] + 1) / (pairs[:, 1] + 1)) / width) ** 2)
    total = near @ (often * known) - own * pairs[:, 1] + pairs[:, 0]
    return np.asarray((total / (near @ often - own + 1.0))[back.ravel()])


def _path(data: Coded, cell: Cell, prior: Floats, nodes: dict[int, _Node]) -> list[_Node]:
    """The nodes from all records down to a leaf; each is worked out once."""
    path: list[_Node] = []
    for rows in reversed(cell):
        if id(rows) not in nodes:
            smooth, drawn = (path[-1].smooth, path[-1].drawn) if path else (prior, prior)
            nodes[id(rows)] = _node(data, rows, smooth, drawn, 1.0 if path else data.strength)
        path.append(nodes[id(rows)])
    return path


def _node(data: Coded, rows: Ints, smooth: Floats, drawn: Floats, strength: float) -> _Node:
    codes = data.codes[rows]
    count = np.bincount(codes, minlength=data.size).astype(np.float64)
    share = count / max(len(rows), 1)
    pull = pull_of(share, smooth, len(np.unique(data.who[rows])), strength)
    weight = np.bincount(codes, weights=data.exponential[rows], minlength=data.size)
    own = weight / max(float(weight.sum()), 1e-300)
    return _Node(count, pull, (1 - pull) * share + pull * smooth, (1 - pull) * own + pull * drawn)


def shown_only(share: Floats, everybody: Floats, part: Floats, *, rest: bool = False) -> Floats:
    """Shares (one row, or one a record) of the codes that are drawn; what the others had goes to the rest, or as among all."""
    kept = share * part
    lost = (share - kept).sum(axis=-1, keepdims=True)
    common = everybody * part
    if rest:
        common = np.eye(1, len(part), len(part) - 1)[0]
    return np.asarray(kept + lost * common / max(float(common.sum()), 1e-300))


def goal_of(data: Coded) -> Floats:
    """What the shares of all records are drawn to."""
    return _prior(data, np.ones(len(data.codes)))[0]


def pull_of(share: Floats, goal: Floats, people: int, strength: float) -> float:
    """How far shares are drawn to others: as much as their distance may be noise, times a strength."""
    distance = float(((share - goal) ** 2).sum())
    noise = strength * (1.0 - float((share**2).sum())) / max(people - 1, 1)
    return 1.0 if noise >= distance else noise / distance
