# SPDX-License-Identifier: Apache-2.0
"""The span of the published cells: what an attacker can compute, kept as a tableau over a basis.

Cells that determine each other are one class; a pattern against exact disclosure is a span that contains no class of
a primary, and the costliest such span is the cheapest pattern. All in arithmetic modulo a prime.
"""

from dataclasses import dataclass

import numpy as np

from reticent.base import clock
from reticent.base.arrays import Floats, Ints, Mask
from reticent.data.relations import Relations
from reticent.kernels.elimination import PRIME, eliminate
from reticent.kernels.exchange import coordinates, enter, gather, publish_greedily, residue_inverses, small_fractions
from reticent.tables.problem import SuppressionProblem

_NOISE = (0.05, 0.2, 0.5, 1.0)  # how far the order of publishing departs from the order of cost


@dataclass(frozen=True, eq=False)
class Trial:
    """A proposed exchange: the classes it would hide, their cost, and what to do to the basis if it is taken.

    `lost` counts the protection levels that the pattern does not give, as far as one movement tells.
    """

    hidden: Mask
    cost: float
    lost: int
    dropped: Ints
    entered: Ints
    slots: Ints

    def merit(self, weight: float) -> float:
        """What is to be as small as possible: the cost, and `weight` for each lost level."""
        return self.cost + weight * self.lost


class Span:
    """The published cells of a pattern over a basis of them; exchanges are proposed, then taken or not."""

    def __init__(self, problem: SuppressionProblem, cost: Floats, rng: np.random.Generator) -> None:
        self.problem, self.rng = problem, rng
        rows = _beyond_frozen(_coordinates(problem.relations), ~(problem.candidates | problem.forced))
        self._cells, self._class, self._factor, self._base = _classes(rows)
        size = len(self._base)
        candidate, primary = problem.candidates[self._cells], problem.primary[self._cells]
        self.cost = np.bincount(self._class[candidate], cost[self._cells][candidate], minlength=size)
        self._primaries = np.unique(self._class[primary])
        self._may_publish = np.bincount(self._class[candidate], minlength=size) > 0
        self._may_publish[self._primaries] = False
        self.restart(np.ones(problem.n_cells, dtype=bool))

    def restart(self, hidden: Mask) -> None:
        """Start from the cells that a pattern publishes."""
        self.tableau = self._base.copy()
        self.holder = np.full(self.tableau.shape[1], -1, dtype=np.int64)
        for item in np.unique(self._class[~hidden[self._cells]]).tolist():
            clock.check()
            slots = np.flatnonzero((self.tableau[item] != 0) & (self.holder < 0))
            if len(slots):
                enter(self.tableau, item, slots[0])
                self.holder[slots[0]] = item
        self.hidden = self._outside(self._free)

    @property
    def _free(self) -> Ints:
        return np.flatnonzero(self.holder < 0)

    def _outside(self, slots: Ints) -> Mask:
        return np.asarray((self.tableau[:, slots] != 0).any(axis=1))

    def pattern(self, hidden: Mask) -> Mask:
        """The cells of hidden classes, and those that must be hidden."""
        cells = self.problem.forced.copy()
        cells[self._cells[hidden[self._class]]] = True
        return np.asarray(cells & (self.problem.candidates | self.problem.forced))

    def fill(self, wanted: Floats | None = None) -> Trial:
        """Publish greedily, costliest first, until nothing more can be published.

        With `wanted`, how much a relaxation hides of each cell, what it hides less comes sooner, in an order that varies.
        """
        order = np.flatnonzero(self.hidden & self._may_publish)
        none = np.zeros(0, dtype=np.int64)
        rank: Floats = self.cost[order].astype(np.float64)
        if wanted is not None:
            of_class = np.bincount(self._class, minlength=len(self.cost))
            shown = np.bincount(self._class, 1 - wanted[self._cells], minlength=len(self.cost)) / of_class
            rank = rank * shown[order] * np.exp(_NOISE[0] * self.rng.standard_normal(len(order)))
        return self._try(none, order[np.argsort(-rank, kind="stable")], np.inf)

    def propose(self, *, largest: int, give_up: float) -> Trial | None:
        """Free some slots on which a costly hidden class depends, publish it, then others as far as possible."""
        hidden = np.flatnonzero(self.hidden & self._may_publish)
        if len(hidden) == 0:
            return None
        weights = np.cumsum(self.cost[hidden] + 1e-9)
        wish = int(hidden[min(int(np.searchsorted(weights, self.rng.random() * weights[-1])), len(hidden) - 1)])
        slots = np.flatnonzero((self.tableau[wish] != 0) & (self.holder >= 0))
        if len(slots) == 0:
            return None
        size = min(len(slots), int(np.exp(self.rng.random() * np.log(largest + 1))))
        dropped = self.rng.choice(slots, size, replace=False)
        live = np.flatnonzero(self._outside(np.concatenate((self._free, dropped))) & self._may_publish)
        noise = _NOISE[int(self.rng.integers(len(_NOISE)))]
        rank = self.cost[live] * np.exp(noise * self.rng.standard_normal(len(live)))
        rank[live == wish] = np.inf
        return self._try(dropped, live[np.argsort(-rank)], give_up)

    def _try(self, dropped: Ints, order: Ints, give_up: float) -> Trial:
        free = np.concatenate((self._free, dropped))
        # only classes that can still be hidden matter, and the primaries
        rows = np.concatenate((order, np.flatnonzero(~self._may_publish)))
        part = gather(self.tableau, rows, free)
        primaries = len(order) + np.flatnonzero(np.isin(rows[len(order) :], self._primaries))
        given = float(self.cost[rows[len(order) :]].sum())
        cost, entered, slots = publish_greedily(part, len(order), primaries, self.cost[order], give_up - given)
        left = np.ones(len(free), dtype=bool)
        left[slots] = False
        hidden = np.zeros(len(self.cost), dtype=bool)
        hidden[rows] = (part[:, left] != 0).any(axis=1)
        movement = part[:, left][:, 0] if left.sum() == 1 and cost + given < give_up else None
        lost = 0 if movement is None else self._lost(rows, movement)
        return Trial(hidden, cost + given, lost, dropped, order[entered], free[slots])

    def _lost(self, rows: Ints, movement: Ints) -> int:
        """Levels that the one movement left does not give, forth and back as far as the bounds allow."""
        problem = self.problem
        of_class = np.zeros(len(self.cost), dtype=np.int64)
        of_class[rows] = movement
        residues = of_class[self._class] * self._factor % PRIME
        moving = np.flatnonzero(residues)
        cells = self._cells[moving]
        moved = small_fractions(residues[moving], residues[moving[0]])
        up, down = (
            problem.upper_bound[cells] - problem.values[cells],
            problem.values[cells] - problem.lower_bound[cells],
        )
        size, rising = np.maximum(np.abs(moved), 1e-9), moved > 0
        forth = float((np.where(rising, up, down) / size).min())
        back = float((np.where(rising, down, up) / size).min())
        most_up, most_down = size * np.where(rising, forth, back), size * np.where(rising, back, forth)
        slack = problem.tolerance
        lost = (most_up < problem.upper_protection[cells] - slack).sum()
        lost += (most_down < problem.lower_protection[cells] - slack).sum()
        return int(lost + (most_up + most_down < problem.sliding_protection[cells] - slack).sum())

    def take(self, trial: Trial) -> None:
        """Carry out an exchange."""
        self.holder[trial.dropped] = -1
        for item, slot in zip(trial.entered.tolist(), trial.slots.tolist(), strict=True):
            enter(self.tableau, item, slot)
            self.holder[slot] = item
        self.hidden = trial.hidden


def _coordinates(relations: Relations) -> Ints:
    """Every cell over cells that generate all."""
    order = np.argsort(np.diff(relations.indptr), kind="stable")
    parts = eliminate(relations.indptr, relations.cells, relations.coefs.astype(np.int64), order, relations.n_cells)
    free = np.setdiff1d(np.arange(relations.n_cells), parts[3])
    return np.asarray(coordinates(*parts, free, relations.n_cells))


def _beyond_frozen(rows: Ints, frozen: Mask) -> Ints:
    """The coordinates that are left when the cells that may never be hidden are published."""
    free = np.ones(rows.shape[1], dtype=bool)
    for cell in np.flatnonzero(frozen).tolist():
        clock.check()
        slots = np.flatnonzero((rows[cell] != 0) & free)
        if len(slots):
            enter(rows, cell, slots[0])
            free[slots[0]] = False
    return np.asarray(rows[:, free])


def _classes(rows: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Cells that can move, their class, the factor of each towards its class, and the coordinates of the classes."""
    cells = np.flatnonzero((rows != 0).any(axis=1))
    rows = rows[cells]
    factor = rows[np.arange(len(rows)), (rows != 0).argmax(axis=1)] if len(rows) else np.zeros(0, dtype=np.int64)
    scaled = rows * residue_inverses(factor)[:, None] % PRIME
    classes, number = np.unique(scaled, axis=0, return_inverse=True)
    return cells, number.ravel().astype(np.int64), factor, classes
