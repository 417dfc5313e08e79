# SPDX-License-Identifier: Apache-2.0
"""One movement for many cells: as many levels as possible at the same time, instead of a program for each.

A first program with random wishes finds directions that can be had together; a second one takes as many cells as it can
as far as they must go. Within the smaller of the rooms up and down a movement may be made both ways, so it proves both
levels of every cell it serves. It never proves that a level cannot be reached: what is not served is left to others.
"""

import numpy as np
from scipy import sparse

from reticent.base.arrays import Floats, Ints
from reticent.solve.highs import solve
from reticent.solve.model import LinearModel
from reticent.tables.attack.programs import scale_of
from reticent.tables.attack.reduce import Reduced

_MARGIN = 1e-6  # beyond the level, as a share of it, that a cell is asked to go: above the noise of the solver


class JointProgram:
    """The movements of a reduced system, asked to take many of them as far as they must go at once."""

    def __init__(self, reduced: Reduced, cap: float) -> None:
        self._matrix = reduced.relations.matrix()
        room = np.minimum(np.minimum(reduced.room_down, reduced.room_up), cap)
        self.scale = scale_of(room)
        self._room = room / self.scale

    def serve(self, needs: Floats, rng: np.random.Generator) -> tuple[Floats, int]:
        """A movement that gives as much as possible of the needs (one a movement, 0: none), and how many programs it took.

        It may be made both ways. Needs beyond the room are asked as far as there is room.
        """
        need = np.minimum(needs * (1 + _MARGIN) / self.scale, self._room)
        places = np.flatnonzero(need > 0)
        if len(places) == 0:
            return np.zeros(len(needs)), 0
        signs = self._signs(places, need[places], rng)
        found = solve(self._model(places, need[places], signs))
        if not found.feasible:
            return np.zeros(len(needs)), 2
        moved = found.values[: len(needs)]
        return np.where(np.abs(moved) < 1e-9, 0.0, moved) * self.scale, 2

    def _signs(self, places: Ints, need: Floats, rng: np.random.Generator) -> Floats:
        """Directions that can be had together."""
        drawn = rng.choice((-1.0, 1.0), len(places))
        wish = np.zeros(len(self._room))
        wish[places] = drawn * rng.uniform(0.5, 1.5, len(places)) / need
        zeros = np.zeros(self._matrix.shape[0])
        found = solve(LinearModel(wish, -self._room, self._room, self._matrix, zeros, zeros, maximise=True))
        if not found.feasible:
            return drawn
        moved = found.values[places]
        return np.where(np.abs(moved) > 1e-9, np.sign(moved), drawn)

    def _model(self, places: Ints, need: Floats, signs: Floats) -> LinearModel:
        """Columns: the movements, and how far each of the places gets in its direction, its need at most."""
        rows, n = self._matrix.shape
        count = len(places)
        chosen = sparse.csr_array((signs, (np.arange(count), places)), shape=(count, n))
        matrix = sparse.vstack(
            (
                sparse.hstack((self._matrix, sparse.csr_array((rows, count)))),
                sparse.hstack((chosen, -sparse.eye_array(count))),
            ),
            format="csr",
        )
        return LinearModel(
            np.concatenate((np.zeros(n), 1 / need)),
            np.concatenate((-self._room, np.zeros(count))),
            np.concatenate((self._room, need)),
            sparse.csr_array(matrix),
            np.zeros(rows + count),
            np.concatenate((np.zeros(rows), np.full(count, np.inf))),
            maximise=True,
        )
