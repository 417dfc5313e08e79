# SPDX-License-Identifier: Apache-2.0
"""Many primaries at once: one movement of the table that takes all of them as far as they must go.

A movement within the smaller of the rooms up and down may be made both ways, so the cells it uses give every primary it
serves both of its levels. Signs that can be had together come from a first program with random wishes; the second
looks for the movement that uses few and cheap cells. Single respondents are served in the same way, many at once: what
they know stands still, and what they could work out moves.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from reticent.base import clock
from reticent.base.arrays import Floats, Ints, Mask
from reticent.solve.highs import HighsSession, solve
from reticent.solve.model import LinearModel
from reticent.tables.attack.insiders import Insider
from reticent.tables.attack.reduce import reduce
from reticent.tables.problem import SuppressionProblem

_TRACE = 1e-4  # price of a movement that adds nothing to the cost, against the typical price
_FAILURE = 1e4  # price of a level that is not reached, against the typical price of a cell
_SHARPER = 3  # times the prices are made to favour the cells used so far
_STEEP = 1.3  # exponent of the price for each unit of movement: more will flow over dear cells than over cheap ones
_FAR = 100.0  # how much further than the primaries other cells may go where any movement will do


class Together:
    """The cells that may be used, reduced to the movements they can make; each costs what its open cells cost."""

    def __init__(self, problem: SuppressionProblem, usable: Mask, cost: Floats) -> None:
        self.problem = problem
        self.reduced = reduce(problem, usable)
        self._cost = np.where(problem.candidates, np.maximum(cost, 0.0), 0.0)[self.reduced.cells]
        self._matrix = self.reduced.relations.matrix()
        room = np.minimum(self.reduced.room_down, self.reduced.room_up)
        self._narrow = room <= problem.tolerance
        self._scale = float(np.median(room[~self._narrow])) if (~self._narrow).any() else 1.0
        self._room = np.minimum(room / self._scale, 1e5)
        self._place = np.full(problem.n_cells, -1, dtype=np.int64)
        self._place[self.reduced.cells] = np.arange(len(self.reduced.cells))
        levels = np.maximum(problem.upper_protection, problem.lower_protection)
        self._levels = np.maximum(levels, problem.sliding_protection / 2) / self._scale

    def serve(
        self, pattern: Mask, lost: NDArray[np.int32], rng: np.random.Generator, *, until: float, sharper: int = _SHARPER
    ) -> Mask:
        """The pattern with the cells of a movement that serves as many of the lost primaries as it can."""
        # without levels any movement will do; beyond its room nothing can be asked of a cell
        places, need = self._needs(lost, np.maximum(self._levels[lost], 1e-3))
        need = np.minimum(need, self._room[places])
        places, need = places[need > 0], need[need > 0]
        return self._grown(pattern, self._room, places, need, rng, until, sharper)

    def serve_insiders(
        self, pattern: Mask, insiders: Sequence[Insider], rng: np.random.Generator, *, until: float
    ) -> Mask:
        """The pattern with cells over which the primaries that respondents worked out move while what they know stays.

        Only whether there is room matters here, so every movement has the same. Those of which one knows what the
        other works out are served one after another.
        """
        for batch in apart(insiders):
            if clock.now() > until:
                break
            known = self._leaders(np.array(sorted({c for one in batch for c in one.known}), dtype=np.int64))
            room = np.where(self._narrow, 0.0, _FAR)
            room[known] = 0.0
            exposed = np.array(sorted({c for one in batch for c in one.exposed}), dtype=np.int64)
            places, need = self._needs(exposed, np.ones(len(exposed)))
            places, need = places[room[places] > 0], need[room[places] > 0]
            pattern = self._grown(pattern, room, places, need, rng, until, 0)
        return pattern

    def _leaders(self, cells: NDArray[np.integer]) -> Ints:
        at = self._place[cells]
        leaders = self.reduced.leader[at[at >= 0]].astype(np.int64)
        return np.unique(leaders[leaders >= 0])

    def _needs(self, cells: NDArray[np.integer], wanted: Floats) -> tuple[Ints, Floats]:
        """The movements that carry some cells and how far each must go."""
        at = self._place[cells]
        leaders = np.where(at >= 0, self.reduced.leader[np.maximum(at, 0)], -1)
        need = np.zeros(len(self._room))
        np.maximum.at(need, leaders[leaders >= 0], wanted[leaders >= 0])
        places = np.flatnonzero(need)
        return places, need[places]

    def _grown(
        self,
        pattern: Mask,
        room: Floats,
        places: Ints,
        need: Floats,
        rng: np.random.Generator,
        until: float,
        sharper: int,
    ) -> Mask:
        if len(places) == 0:
            return pattern
        reduced = self.reduced
        moving = reduced.leader >= 0
        open_cost = np.where(pattern[reduced.cells], 0.0, self._cost)
        paid = np.zeros(len(room))
        np.add.at(paid, reduced.leader[moving], open_cost[moving])
        program = _Program(self._matrix, room, places, need, paid)
        # directions that real rooms allow; equal rooms would make the solver choose among very many equal movements
        signs = _signs(self._matrix, np.minimum(room, np.maximum(self._room, 1e-3)), places, need, rng)
        used = np.append(program.used(signs, until, sharper), False)
        grown = pattern.copy()
        grown[reduced.cells[used[reduced.leader]]] = True
        return grown


def apart(insiders: Sequence[Insider]) -> list[list[Insider]]:
    """Groups of respondents of which none knows what another one works out."""
    batches: list[list[Insider]] = []
    known: list[set[int]] = []
    exposed: list[set[int]] = []
    for one in sorted(insiders, key=lambda item: -len(item.exposed)):
        fits = (known[at].isdisjoint(one.exposed) and exposed[at].isdisjoint(one.known) for at in range(len(batches)))
        at = next((at for at, fit in enumerate(fits) if fit), len(batches))
        if at == len(batches):
            batches.append([])
            known.append(set())
            exposed.append(set())
        batches[at].append(one)
        known[at].update(one.known)
        exposed[at].update(one.exposed)
    return batches


def _signs(matrix: sparse.csr_array, room: Floats, places: Ints, need: Floats, rng: np.random.Generator) -> Floats:
    """Directions in which the primaries can go at the same time."""
    # Fixed signs keep the second program linear: "moves by at least its need" is two pieces without them. Signs drawn
    # one by one may contradict a relation, so a program turns the draws into directions that fit together.
    wish = np.zeros(len(room))
    drawn = rng.choice((-1.0, 1.0), len(places))
    wish[places] = drawn * rng.uniform(0.5, 1.5, len(places)) / need
    limit = np.minimum(room, max(1.0, 20 * float(need.max(initial=0.0))))
    zeros = np.zeros(matrix.shape[0])
    found = solve(LinearModel(wish, -limit, limit, matrix, zeros, zeros, maximise=True))
    if not found.feasible:
        return drawn
    moved = found.values[places]
    return np.where(np.abs(moved) > 1e-9, np.sign(moved), drawn)


class _Program:
    """Columns: movements up, movements down (of those that cost), what each primary falls short of its need."""

    def __init__(self, matrix: sparse.csr_array, room: Floats, places: Ints, need: Floats, paid: Floats) -> None:
        self._matrix, self._room, self._places, self._need, self._paid = matrix, room, places, need, paid
        self._dear = np.flatnonzero((paid > 0) & (room > 0))
        price = paid[self._dear]
        typical = float(np.median(price)) if len(price) else 1.0
        self._price = (price / typical) ** _STEEP + _TRACE

    def _model(self, signs: Floats) -> LinearModel:
        matrix, room, need, dear = self._matrix, self._room, self._need, self._dear
        n, count = len(room), len(self._places)
        chosen = sparse.csr_array((signs, (np.arange(count), self._places)), shape=(count, n))
        both = sparse.csc_array(sparse.vstack((matrix, chosen), format="csc"))
        short = sparse.vstack((sparse.csr_array((matrix.shape[0], count)), sparse.eye_array(count)))
        zeros = np.zeros(matrix.shape[0])
        low, cost = -room, np.zeros(n)
        low[dear], cost[dear] = 0.0, self._price
        return LinearModel(
            np.concatenate((cost, self._price, _FAILURE / need)),
            np.concatenate((low, np.zeros(len(dear) + count))),
            np.concatenate((room, room[dear], need)),
            sparse.csr_array(sparse.hstack((both, -both[:, dear], short), format="csr")),
            np.concatenate((zeros, need)),
            np.concatenate((zeros, np.full(count, np.inf))),
        )

    def used(self, signs: Floats, until: float, sharper: int) -> Mask:
        """The movements that the cheapest way uses, with prices that fall on what is used as long as there is time."""
        n, dear = len(self._room), self._dear
        session = HighsSession(self._model(signs), algorithm="choose", presolve=True)
        columns = np.concatenate((dear, n + np.arange(len(dear)))).astype(np.int32)
        typical = float(np.median(self._need))
        best, best_cost = np.zeros(n, dtype=bool), np.inf
        for _ in range(1 + sharper):
            start = clock.now()
            found = session.solve()
            if not found.feasible:
                break
            moved = found.values[:n].copy()
            moved[dear] -= found.values[n : n + len(dear)]
            used = np.abs(moved) > 1e-7
            cost = float(self._paid[used].sum())
            if cost < best_cost:
                best, best_cost = used, cost
            if clock.now() + (clock.now() - start) > until:
                break
            # only the prices change: the last basis stays feasible
            session.set_option("simplex_strategy", 4)
            # the reweighting of Candès et al. (2008), as in `routing`: few cells instead of many shares
            price = self._price / (np.abs(moved[dear]) + typical)
            session.set_cost(columns, np.concatenate((price, price)))
        return best
