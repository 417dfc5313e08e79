# SPDX-License-Identifier: Apache-2.0
"""The exact ends of every movement: two programs each, group by group, large groups in batches."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Mask
from reticent.base.progress import Progress, silent
from reticent.tables.attack.pieces import Piece, Tick, pieces_of, work_on
from reticent.tables.attack.programs import MovementProgram
from reticent.tables.attack.reduce import Reduced

BATCH = 250
"""This many movements of one group are taken to their ends by one program."""


@dataclass(frozen=True, eq=False)
class _Batch:
    """Some movements of one group (by their places in it), to be taken to their ends by one program."""

    piece: Piece
    places: NDArray[np.int64]
    signs: tuple[int, ...]

    @property
    def weight(self) -> float:
        """Number of programs, each over all movements of the group."""
        return float(len(self.places) * len(self.signs) * len(self.piece.movements))


def _batches(reduced: Reduced, only: Mask | None) -> list[_Batch]:
    """Small groups whole, large ones cut into batches; whoever works on them, the cut is the same."""
    bound = np.unique(reduced.groups[reduced.relations.cells])
    found = []
    for piece in pieces_of(reduced, bound):
        places = np.arange(len(piece.movements)) if only is None else np.flatnonzero(only[piece.movements])
        if len(places) == 0:
            continue
        if len(places) <= BATCH:
            found.append(_Batch(piece, places, (1, -1)))
            continue
        cuts = np.split(places, range(BATCH, len(places), BATCH))
        found += [_Batch(piece, cut, (sign,)) for sign in (1, -1) for cut in cuts]
    return found


def _ends_of(batch: _Batch, tick: Tick) -> dict[int, Floats]:
    """How far the movements of a batch go, for each sign."""
    part = batch.piece.reduced
    program = MovementProgram(part.relations, part.room_down, part.room_up, whole=part.whole)
    ends = {}
    for sign in batch.signs:
        reached = np.zeros(len(batch.places))
        for at, place in enumerate(batch.places.tolist()):
            tick()
            reached[at] = program.reach(place, sign).objective
        ends[sign] = reached
    return ends


def movement_ends(
    reduced: Reduced, *, only: Mask | None = None, workers: int | None = 1, progress: Progress = silent
) -> tuple[Floats, Floats, int]:
    """How far each movement of a reduced system can go, down and up, exactly; and the number of programs.

    Movements that are not in `only` are given their rooms, which may be more than they reach.
    """
    down, up = reduced.room_down.copy(), reduced.room_up.copy()
    batches = _batches(reduced, only)
    found = work_on(batches, _ends_of, workers=workers, progress=progress, words="attacking the hidden cells")
    programs = 0
    for batch, ends in zip(batches, found, strict=True):
        at = batch.piece.movements[batch.places]
        for sign, reached in ends.items():
            (up if sign > 0 else down)[at] = reached
            programs += len(reached)
    return down, up, programs
