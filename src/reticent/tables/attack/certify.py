# SPDX-License-Identifier: Apache-2.0
"""Does every primary reach its levels? Closed forms first, one program for many cells next, single programs last.

A movement that is found is a proof for every primary it serves: it changes nothing published and stays within the
attacker's bounds. Only the programs of the last step can prove that a primary is exposed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints, Mask
from reticent.base.checks import check_options
from reticent.base.progress import Progress, silent
from reticent.kernels.elimination import PRIME, complete_kernel, eliminate
from reticent.tables.attack.jointly import JointProgram
from reticent.tables.attack.pieces import Piece, Tick, pieces_of, work_on
from reticent.tables.attack.programs import MovementProgram
from reticent.tables.attack.reduce import Reduced, reduce
from reticent.tables.problem import SuppressionProblem

_JOINTLY = 200  # uncertified cells from which on one movement for all of them is looked for
_CAP = 50.0  # how many times the largest level a movement may go in a program that serves many


# called with the hidden cells and a movement of them, for those who keep proofs
Recorder = Callable[[NDArray[np.int32], Floats], None]


@dataclass(eq=False)
class Reach:
    """How far each hidden cell is known to move (a proved lower bound), in the order of `reduced.cells`.

    `moves` marks cells known to move at all, by however little. `programs` counts what was solved.
    """

    reduced: Reduced
    down: Floats
    up: Floats
    moves: Mask
    programs: int = 0
    lost: Mask | None = None
    recorder: Recorder | None = None

    def learn(self, lifted: Floats) -> None:
        """Take what a movement of all hidden cells proves."""
        np.maximum(self.up, lifted, out=self.up)
        np.maximum(self.down, -lifted, out=self.down)
        self.moves |= lifted != 0
        if self.recorder is not None:
            self.recorder(self.reduced.cells, lifted)


@dataclass(frozen=True, eq=False)
class Wants:
    """What the hidden cells need, in the order of `reduced.cells`: levels, and `move` for those without."""

    down: Floats
    up: Floats
    slide: Floats
    move: Mask
    slack: float

    def missing(self, reach: Reach) -> Mask:
        """Cells whose needs are not yet proved."""
        return np.asarray(self.missing_up(reach) | self.missing_down(reach) | self._rest(reach))

    def missing_up(self, reach: Reach) -> Mask:
        """Cells not yet known to reach their upper level."""
        return np.asarray(reach.up < self.up - self.slack)

    def missing_down(self, reach: Reach) -> Mask:
        """Cells not yet known to reach their lower level."""
        return np.asarray(reach.down < self.down - self.slack)

    def only(self, chosen: Mask) -> "Wants":
        """The needs of some of the cells; the others need nothing."""
        return Wants(self.down * chosen, self.up * chosen, self.slide * chosen, self.move & chosen, self.slack)

    def _rest(self, reach: Reach) -> Mask:
        return np.asarray((reach.up + reach.down < self.slide - self.slack) | (self.move & ~reach.moves))


def wants_of(problem: SuppressionProblem, cells: NDArray[np.int32]) -> Wants:
    """The needs of some cells of a problem."""
    return Wants(
        problem.lower_protection[cells],
        problem.upper_protection[cells],
        problem.sliding_protection[cells],
        problem.needs_movement[cells],
        problem.tolerance,
    )


class Effort(TypedDict, total=False):
    """How needs are proved: by which stream of draws, recorded by whom, by how many workers, to the end or not."""

    rng: np.random.Generator | None
    recorder: Recorder | None
    workers: int | None
    settle: bool
    progress: Progress


def certify(
    problem: SuppressionProblem,
    hidden: Mask,
    *,
    known: Mask | None = None,
    asked: Mask | None = None,
    **effort: Unpack[Effort],
) -> tuple[Reach, Wants]:
    """Prove the needs of every primary of a pattern, or find those that cannot be met (`reach.lost`).

    Only those of the `asked` cells, if these are given. Without `settle`, what no program for many cells proves counts
    as lost: quick, and never too few.
    Groups that have nothing in common are attacked by several `workers` (None: as many as there are cores, if it pays).
    """
    check_options(effort, Effort.__annotations__, owner="attack")
    rng, recorder = effort.get("rng"), effort.get("recorder")
    reduced = reduce(problem, hidden, known=known)
    n = len(reduced.cells)
    reach = Reach(reduced, np.zeros(n), np.zeros(n), np.zeros(n, dtype=bool), lost=np.zeros(n, dtype=bool))
    reach.recorder = recorder
    wants = wants_of(problem, reduced.cells)
    if asked is not None:
        wants = wants.only(asked[reduced.cells])
    if reduced.relations.n_cells == 0:
        reach.lost = wants.missing(reach)
        return reach, wants
    _closed_forms(reach)
    _kernel_movements(reach, wants, rng or np.random.default_rng(7))
    open_groups = np.unique(reduced.groups[reduced.leader[wants.missing(reach) & (reduced.leader >= 0)]])
    groups = [
        _open(reach, wants, piece, rng or np.random.default_rng(group))
        for group, piece in zip(open_groups.tolist(), pieces_of(reduced, open_groups), strict=True)
    ]
    # one stream of draws for all groups, or one record of proofs, is for one worker
    alone = rng is not None or recorder is not None
    count = 1 if alone else effort.get("workers", 1)
    work = _attack_group if effort.get("settle", True) else _serve_group
    work_on(groups, work, workers=count, progress=effort.get("progress", silent), words="attacking the hidden cells")
    for done in groups:
        _close(reach, done)
    assert reach.lost is not None
    reach.lost |= wants.missing(reach)
    return reach, wants


def _closed_forms(reach: Reach) -> None:
    """Movements bound by no relation: each may use its whole room (a cycle or cube of hidden cells ends up here)."""
    reduced = reach.reduced
    bound = np.zeros(reduced.relations.n_cells, dtype=bool)
    bound[reduced.relations.cells] = True
    for room in (reduced.room_up, -reduced.room_down):
        movement = np.where(bound, 0.0, room)
        reach.learn(reduced.lift(movement))


def _kernel_movements(reach: Reach, wants: Wants, rng: np.random.Generator) -> None:
    """Cells that move at all: a random kernel vector modulo a prime, where all cells of the group have room both ways.

    Zero in a random kernel vector means (except for a chance of 2⁻³¹) that no kernel vector moves the cell.
    """
    reduced = reach.reduced
    relations = reduced.relations
    if not (wants.move & ~reach.moves).any() or relations.n_rows == 0:
        return
    inside = (reduced.room_down > wants.slack) & (reduced.room_up > wants.slack)
    cramped = np.zeros(int(reduced.groups.max(initial=-1)) + 1, dtype=bool)
    cramped[reduced.groups[~inside | reduced.whole]] = True  # a whole movement is for integer programs
    order = np.argsort(np.diff(relations.indptr), kind="stable")
    parts = eliminate(relations.indptr, relations.cells, relations.coefs.astype(np.int64), order, relations.n_cells)
    vector = complete_kernel(*parts, rng.integers(1, PRIME, relations.n_cells))
    moving = (vector != 0) & ~cramped[reduced.groups]
    reach.moves |= (reduced.leader >= 0) & moving[np.maximum(reduced.leader, 0)]
    assert reach.lost is not None
    still = ~moving & ~cramped[reduced.groups]
    reach.lost |= wants.move & ((reduced.leader < 0) | still[np.maximum(reduced.leader, 0)])


class _Group:
    """One group of movements with its programs; all places are those of the group's own cells."""

    def __init__(self, reduced: Reduced, largest: float) -> None:
        self.reduced = reduced
        self.capped = MovementProgram(
            reduced.relations,
            np.minimum(reduced.room_down, np.ceil(_CAP * largest)),
            np.minimum(reduced.room_up, np.ceil(_CAP * largest)),
            whole=reduced.whole,
        )
        self._full: MovementProgram | None = None

    def full(self) -> MovementProgram:
        """The program with the attacker's own bounds."""
        if self._full is None:
            reduced = self.reduced
            self._full = MovementProgram(reduced.relations, reduced.room_down, reduced.room_up, whole=reduced.whole)
        return self._full

    def run(
        self, program: MovementProgram, places: Ints, weights: Floats, reach: Reach, *, enough: float | None = None
    ) -> float:
        """Make a weighted sum of cells large, that of one cell as large as can be or far `enough`; learn from the
        movement, return its value.
        """
        total = np.zeros(self.reduced.relations.n_cells)
        np.add.at(total, self.reduced.leader[places], weights * self.reduced.sign[places])
        used = np.flatnonzero(total).astype(np.int32)
        if len(used) == 0:
            return 0.0
        found = program.maximise(used, total[used], enough=enough, rough=len(places) > 1)
        reach.programs += 1
        if len(found.values):
            values = np.where(np.abs(found.values) < 1e-9 * max(1.0, program.scale), 0.0, found.values)
            reach.learn(self.reduced.lift(values))
        return found.objective


@dataclass(frozen=True, eq=False)
class _OpenGroup:
    """A group whose needs are not all proved yet: its own reach and wants, apart from the others."""

    piece: Piece
    reach: Reach
    wants: Wants
    rng: np.random.Generator

    @property
    def weight(self) -> float:
        """Programs to come (at most), each over all movements."""
        return float(len(self.piece.places) * len(self.piece.movements))


def _open(reach: Reach, wants: Wants, piece: Piece, rng: np.random.Generator) -> _OpenGroup:
    assert reach.lost is not None
    at = piece.places
    own = Reach(piece.reduced, reach.down[at], reach.up[at], reach.moves[at], lost=reach.lost[at])
    own.recorder = reach.recorder
    needs = Wants(wants.down[at], wants.up[at], wants.slide[at], wants.move[at], wants.slack)
    return _OpenGroup(piece, own, needs, rng)


def _close(reach: Reach, group: _OpenGroup) -> None:
    assert reach.lost is not None
    at, own = group.piece.places, group.reach
    reach.down[at], reach.up[at], reach.moves[at] = own.down, own.up, own.moves
    reach.lost[at] = own.lost
    reach.programs += own.programs


def _attack_group(group: _OpenGroup, tick: Tick) -> None:
    reach, wants = group.reach, group.wants
    item = _serve_group(group, tick)
    for place in np.flatnonzero(wants.missing(reach)).tolist():
        tick()
        _settle(item, reach, wants, place)


def _serve_group(group: _OpenGroup, tick: Tick) -> _Group:
    """Programs for many cells; what they leave is for programs of single cells."""
    wants = group.wants
    scale = np.maximum(np.maximum(wants.up, wants.down), np.maximum(wants.slide, wants.slack * 10))
    item = _Group(group.piece.reduced, float(scale.max()))
    if not _serve_jointly(group, float(scale.max()), tick):
        _serve_many(item, group.reach, wants, scale, group.rng, tick)
    return item


def _serve_jointly(group: _OpenGroup, largest: float, tick: Tick) -> bool:
    """One movement for all uncertified cells, as long as it serves a good part of them; whether they were many enough."""
    reduced, reach, wants = group.piece.reduced, group.reach, group.wants
    missing = wants.missing(reach) & (reduced.leader >= 0)
    if reduced.whole.any() or int(missing.sum()) < _JOINTLY:
        return False
    program = JointProgram(reduced, np.ceil(_CAP * largest))
    levels = np.maximum(np.maximum(wants.up, wants.down), np.maximum(wants.slide / 2, 10 * wants.slack * wants.move))
    while (before := int(missing.sum())) >= 8:
        tick()
        needs = np.zeros(reduced.relations.n_cells)
        np.maximum.at(needs, reduced.leader[missing], levels[missing])
        movement, solved = program.serve(needs, group.rng)
        reach.programs += solved
        reach.learn(reduced.lift(movement))
        reach.learn(reduced.lift(-movement))
        missing &= wants.missing(reach)
        if before - int(missing.sum()) < 0.3 * before:
            break
    return True


def _serve_many(item: _Group, reach: Reach, wants: Wants, scale: Floats, rng: np.random.Generator, tick: Tick) -> None:
    """Random sums of uncertified cells, as long as each program still serves several."""
    while True:
        tick()
        up, down = np.flatnonzero(wants.missing_up(reach)), np.flatnonzero(wants.missing_down(reach))
        before = len(up) + len(down)
        if before < 8:
            return
        item.run(item.capped, up, rng.uniform(0.5, 1.5, len(up)) / scale[up], reach)
        item.run(item.capped, down, -rng.uniform(0.5, 1.5, len(down)) / scale[down], reach)
        both = np.concatenate((up, down))
        signs = rng.choice((-1.0, 1.0), len(both))
        item.run(item.capped, both, signs * rng.uniform(0.5, 1.5, len(both)) / scale[both], reach)
        left = int(wants.missing_up(reach).sum() + wants.missing_down(reach).sum())
        if before - left < max(3, 0.05 * before):
            return


def _settle(item: _Group, reach: Reach, wants: Wants, place: int) -> None:
    """The exact ends of one cell, as far as they are still needed."""
    assert reach.lost is not None
    at = np.array([place])
    one = np.ones(1)
    for sign, have, need in ((1.0, reach.up, wants.up), (-1.0, reach.down, wants.down)):
        wanted = max(float(need[place]), float(wants.slide[place]), wants.slack if wants.move[place] else 0.0)
        if have[place] >= wanted - wants.slack and not (wants.move[place] and not reach.moves[place]):
            continue
        # both ends together must be as wide as a sliding level: there each must go as far as it can
        enough = None if wants.slide[place] > 0 else wanted
        value = item.run(item.capped, at, sign * one, reach, enough=enough)
        if value < wanted - wants.slack or (wants.move[place] and value <= wants.slack):
            value = item.run(item.full(), at, sign * one, reach, enough=enough)
        have[place] = max(have[place], value)
        reach.moves[place] = reach.moves[place] or value > wants.slack
    reach.lost[place] = bool(wants.missing(reach)[place])
