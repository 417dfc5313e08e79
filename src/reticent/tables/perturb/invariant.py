# SPDX-License-Identifier: Apache-2.0
"""Invariant transition matrices: noise that keeps how often each count occurs (Shlomo and Young 2008).

From any transition matrix P and the frequencies V follows Q with Q_mj ∝ V_j P_jm, rows scaled to 1. R = PQ then satisfies
V R = V: as many cells come into each count as leave it, and so does the lazier R* = αR + (1 − α)I. Where no small counts
may be published, the counts up to b = skip + 1 are one state of R*, which is split afterwards (Giessing and Höhne 2010,
SORT tables 2 and 3): 1 … b − 1 become 0 or b, and only the b leave upwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from reticent.base.arrays import Floats, Ints
from reticent.base.checks import check_between
from reticent.base.errors import DataError, ParameterError
from reticent.data.parameters import Parameters
from reticent.tables.perturb.ptable import PerturbationTable, Row

OWNER = "invariant"
TOLERANCE = 1e-9
BEYOND = 6
"""States behind the last kept frequency until all rows are alike."""
MAX_TOP = 1000
LEAVE, ROOM = 0.9, 0.95
"""Of the most that can leave, and of other limits of small counts: no change becomes impossible, which would tell frequencies."""
AT_LEAST = 0.5
"""This many cells more of each small count, where frequencies need not be met: then no frequencies rule out a change."""


def check_stochastic(matrix: Floats, *, owner: str = OWNER) -> Floats:
    """The matrix, if it is square and each row holds probabilities that add up to 1; else an error that names the row."""
    made = np.asarray(matrix, dtype=np.float64)
    if made.ndim != 2 or made.shape[0] != made.shape[1] or not len(made):
        raise ParameterError(f"{owner}: a transition matrix must be square, got the shape {made.shape}.")
    if not np.isfinite(made).all() or bool((made < 0).any()):
        at = int(np.flatnonzero(~(np.isfinite(made) & (made >= 0)).all(axis=1))[0])
        raise ParameterError(f"{owner}: row {at} of the transition matrix must hold numbers from 0 to 1.")
    off = np.abs(made.sum(axis=1) - 1.0)
    if bool((off > TOLERANCE).any()):
        at = int(np.argmax(off))
        raise ParameterError(
            f"{owner}: row {at} of the transition matrix adds up to {made[at].sum():.9g}; each row must add up to 1."
        )
    return made


def check_frequencies(frequencies: Floats, *, owner: str = OWNER) -> Floats:
    """Frequencies of counts as numbers, if none is negative and some are above 0."""
    made = np.asarray(frequencies, dtype=np.float64)
    if made.ndim != 1 or not np.isfinite(made).all() or bool((made < 0).any()):
        raise ParameterError(f"{owner}: frequencies must be numbers of at least 0, one for each count 1, 2, 3, …")
    if not bool((made > 0).any()):
        raise ParameterError(f"{owner}: at least one frequency must be above 0.")
    return made


def invariant_matrix(start: Floats, frequencies: Floats) -> Floats:
    """R = PQ: the transition matrix nearest in spirit to `start` that keeps the frequencies in expectation.

    >>> invariant_matrix(np.array([[0.5, 0.5], [0.5, 0.5]]), np.array([3.0, 1.0])).tolist()
    [[0.75, 0.25], [0.75, 0.25]]
    """
    matrix, sizes = check_stochastic(start), check_frequencies(frequencies)
    if len(sizes) != len(matrix):
        raise ParameterError(f"{OWNER}: there must be a frequency for each of the {len(matrix)} states.")
    joint = sizes[:, None] * matrix  # V_j P_jm, how many go from j to m
    arriving = joint.sum(axis=0)
    # nobody arrives where all frequencies around are 0: such a state leads nowhere and nobody is in it
    back = np.divide(joint, arriving, out=np.eye(len(sizes)), where=arriving > 0).T
    return np.asarray(matrix @ back)


def lazier(matrix: Floats, mix: float) -> Floats:
    """R* = αR + (1 − α)I: as invariant as R, and more counts stay as they are."""
    check_between(mix, 0.0, 1.0, name="mix", owner=OWNER)
    return np.asarray(mix * check_stochastic(matrix) + (1.0 - mix) * np.eye(len(matrix)))


def neighbours(n: int, share: float, first: float, back: float | None = None) -> Floats:
    """P: to each neighbouring state with the probability `share`, out of the first state with `first`, into it with `back`."""
    check_between(share, 0.0, 0.5, name="spread", owner=OWNER)
    check_between(first, 0.0, 1.0, name="first", owner=OWNER)
    matrix = (1.0 - 2.0 * share) * np.eye(n) + share * (np.eye(n, k=1) + np.eye(n, k=-1))
    if n > 1:
        matrix[0, :2] = 1.0 - first, first
        matrix[-1, -1] = 1.0 - share
        into = share if back is None else back
        matrix[1, :2] = into, matrix[1, 1] + share - into
    else:
        matrix[0, 0] = 1.0
    return np.asarray(matrix)


@dataclass(frozen=True)
class InvariantDesign(Parameters):
    """How an invariant matrix is made from frequencies.

    `spread` is the probability of each neighbour in P, so that no count changes by more than 2; `mix` is α. Counts from 1
    to `skip` are never published. The frequencies of counts up to `top` are kept (fewer, where one does not occur); larger
    counts get the same noise as if all of them were equally frequent.
    """

    called: ClassVar[str] = OWNER
    spread: float = field(default=0.15, metadata={"min": 1e-6, "max": 0.49})
    mix: float = field(default=0.4, metadata={"min": 1e-6, "max": 1})
    skip: int = field(default=0, metadata={"min": 0, "max": 100})
    top: int = field(default=20, metadata={"min": 1, "max": MAX_TOP})


@dataclass(frozen=True, eq=False)
class Invariant:
    """A perturbation table that keeps the frequencies of the counts up to `kept`.

    `states` are the transitions R* among the states: without `skip` the counts 1, 2, …; with it 1 … skip + 1 together,
    then skip + 2, …; `frequencies` are those of the states.
    """

    table: PerturbationTable
    states: Floats
    frequencies: Floats
    kept: int

    @property
    def expected(self) -> Floats:
        """diag(V)·R*: how many cells are expected to go from each state to each."""
        return np.asarray(self.frequencies[:, None] * self.states)


def count_frequencies(counts: Ints, largest: int) -> Floats:
    """How many cells have the count 1, 2, …, `largest`."""
    if bool((counts < 0).any()):
        raise DataError(f"{OWNER}: counts must not be negative.")
    found = np.bincount(np.minimum(counts, largest + 1), minlength=largest + 2)
    return np.asarray(found[1 : largest + 1], dtype=np.float64)


def invariant_table(frequencies: Floats, design: InvariantDesign) -> Invariant:
    """The perturbation table whose rows keep these frequencies (of the counts 1, 2, 3, …) in expectation."""
    given = check_frequencies(frequencies)
    block = design.skip + 1 if design.skip else 0
    kept, states = _states(given, design, block)
    first, back = (design.spread, design.spread) if not block else _first_shares(states, given, design, block)
    lazy = lazier(invariant_matrix(neighbours(len(states), design.spread, first, back), states), design.mix)
    rows = [Row.of(0.0, np.zeros(1), np.ones(1))]
    if block:
        rows += _small_rows(states[0] * lazy[0], given, design, block)
    # rows after the last state but two are those of equally frequent counts
    start = 1 if block else 0
    for state in range(start, len(states) - 2):
        rows.append(_row(state + max(block, 1), lazy[state], block))
    return Invariant(PerturbationTable(tuple(rows), "invariant p-table"), lazy, states, kept)


def _states(given: Floats, design: InvariantDesign, block: int) -> tuple[int, Floats]:
    """Up to which count frequencies are kept, and the frequency of each state.

    Counts of which none occurs would take no noise, so frequencies end where one is 0 and are level from there on.
    """
    merged = [float(given[:block].sum())] if block else []
    singles = given[block : design.top + 2]
    gaps = np.flatnonzero(singles == 0)
    run = singles[: gaps[0]] if len(gaps) else singles
    level = float(run[-1]) if len(run) else 1.0
    kept = block + max(len(run) - 2, 0)
    return kept, np.array([*merged, *run.tolist(), *([level] * BEYOND)])


def _first_shares(states: Floats, given: Floats, design: InvariantDesign, block: int) -> tuple[float, float]:
    """The probabilities with which small counts leave upwards and others come down to them.

    Half of `spread` and `spread`; or less of both, if too few have the count b: nobody else may leave.
    """
    most = LEAVE * float(given[block - 1]) if len(given) >= block else 0.0

    def shares(part: float) -> tuple[float, float]:
        return part * design.spread / 2, part * design.spread

    if _leaving(states, design.spread, shares(1.0)) <= most:
        return shares(1.0)
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _leaving(states, design.spread, shares(middle)) <= most else (low, middle)
    return shares(low)


def _leaving(states: Floats, spread: float, shares: tuple[float, float]) -> float:
    """How many cells of the first state R moves upwards."""
    moved = invariant_matrix(neighbours(len(states), spread, *shares), states)[0]
    return float(states[0] * moved[1:].sum())


def _small_rows(flows: Floats, given: Floats, design: InvariantDesign, block: int) -> list[Row]:
    """The rows of 1 … b from the joint one: 1 … b − 1 become 0 or b so that their sum is kept, only the b go upwards."""
    own = np.zeros(block)
    own[: min(block, len(given))] = given[:block]
    small, at_block = float(own[:-1].sum()), float(own[-1])
    up = flows[1:3]
    to_zero = max(0.0, min(min(design.mix, ROOM) * at_block - float(up.sum()), ROOM * small / block))
    extra = to_zero / small if small else 0.0  # this many more of the small ones become b, as b become 0
    rows = []
    for count in range(1, block):
        chance = min(1.0, count / block + extra)
        rows.append(_clean(float(count), [-float(count), float(block - count)], [1.0 - chance, chance]))
    if at_block:
        leave = [to_zero / at_block, *(up / at_block).tolist()]
        chances = [leave[0], 1.0 - sum(leave), *leave[1:]]
        rows.append(_clean(float(block), [-float(block), 0.0, 1.0, 2.0], chances))
    else:
        rows.append(_clean(float(block), [0.0], [1.0]))
    return rows


def _row(count: int, chances: Floats, block: int) -> Row:
    """The row of one state; the joint state of small counts is published as b."""
    states = np.flatnonzero(chances > 0)
    results = states + max(block, 1)
    return _clean(float(count), (results - count).tolist(), chances[states].tolist())


def _clean(size: float, changes: Sequence[float], chances: Sequence[float]) -> Row:
    """A row without impossible changes, scaled to 1 exactly."""
    kept = [(change, chance) for change, chance in zip(changes, chances, strict=True) if chance > 1e-15]
    share = np.array([chance for _, chance in kept])
    return Row.of(size, np.array([change for change, _ in kept]), share / share.sum())
