# SPDX-License-Identifier: Apache-2.0
"""Independent pieces of an attack: cut by what hangs together, worked on by one thread or several.

The cut does not depend on the number of workers, and every piece starts from its own programs, so the answers are the
same, bit for bit, however many there are. The solver gives the interpreter free while it runs: threads are enough.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints
from reticent.base.checks import check_integer
from reticent.base.errors import Cancelled
from reticent.base.progress import Progress
from reticent.data.relations import Relations
from reticent.tables.attack.reduce import Reduced

Tick = Callable[[], None]
HEAVY = 20_000
"""A piece of this many programs times movements keeps the solver busy; the interpreter's part of smaller ones is too large."""
_POLL = 0.1  # seconds between two looks at the pieces


@dataclass(frozen=True, eq=False)
class Piece:
    """One group of movements as a system of its own: `movements` and `places` are its numbers in the whole."""

    reduced: Reduced
    movements: Ints
    places: Ints


class Sized(Protocol):
    """What can be worked on alone; `weight` says how much work it is, compared with others."""

    @property
    def weight(self) -> float: ...


P = TypeVar("P", bound=Sized)
R = TypeVar("R")


def pieces_of(reduced: Reduced, groups: NDArray[np.integer]) -> Iterator[Piece]:
    """Cut the chosen groups (ascending) out of a reduced system, each in time proportional to its own size."""
    relations = reduced.relations
    row_group = reduced.groups[relations.cells[relations.indptr[:-1]]]
    cell_group = np.append(reduced.groups, -1)[reduced.leader]
    rows, movements, places = (_by_group(g, groups) for g in (row_group, reduced.groups, cell_group))
    number = np.full(relations.n_cells, -1, dtype=np.int32)
    for mine, moving, carried in zip(rows, movements, places, strict=True):
        number[moving] = np.arange(len(moving), dtype=np.int32)
        part = Reduced(
            reduced.cells[carried],
            number[reduced.leader[carried]],
            reduced.sign[carried],
            _rows_of(relations, mine, number, len(moving)),
            reduced.room_down[moving],
            reduced.room_up[moving],
            reduced.whole[moving],
        )
        yield Piece(part, moving, carried)


def _by_group(labels: NDArray[np.integer], groups: NDArray[np.integer]) -> list[Ints]:
    """The positions that have each of the labels, ascending."""
    order = np.argsort(labels, kind="stable")
    sorted_labels = labels[order]
    starts, ends = np.searchsorted(sorted_labels, groups), np.searchsorted(sorted_labels, groups, side="right")
    return [order[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


def _rows_of(relations: Relations, rows: Ints, number: NDArray[np.int32], n_cells: int) -> Relations:
    lengths = relations.indptr[rows + 1] - relations.indptr[rows]
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    entries = np.arange(indptr[-1]) + np.repeat(relations.indptr[rows] - indptr[:-1], lengths)
    return Relations.from_arrays(n_cells, indptr, number[relations.cells[entries]], relations.coefs[entries])


def workers_for(workers: int | None, weights: Sequence[float]) -> int:
    """How many threads to use: as told, else all cores, but one where there are no two heavy pieces."""
    if workers is not None:
        check_integer(workers, minimum=1, name="workers", owner="audit")
        return min(workers, max(len(weights), 1))
    heavy = sum(weight >= HEAVY for weight in weights)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, heavy))


def work_on(
    pieces: Sequence[P], work: Callable[[P, Tick], R], *, workers: int | None, progress: Progress, words: str
) -> list[R]:
    """The answers of `work` for all pieces, in their order. `work` calls its tick between programs: there it may be stopped."""
    weights = [piece.weight for piece in pieces]
    total = max(sum(weights), 1e-9)
    count = workers_for(workers, weights)
    if count == 1:
        return _one_by_one(pieces, work, total, progress, words)
    return _side_by_side(pieces, work, total, count, progress, words)


def _one_by_one(
    pieces: Sequence[P], work: Callable[[P, Tick], R], total: float, progress: Progress, words: str
) -> list[R]:
    answers, done, ticks = [], 0.0, 0

    def tick() -> None:
        nonlocal ticks
        ticks += 1
        if ticks % 100 == 0:
            progress(done / total, words)

    for piece in pieces:
        progress(done / total, words)
        answers.append(work(piece, tick))
        done += piece.weight
    return answers


def _side_by_side(
    pieces: Sequence[P], work: Callable[[P, Tick], R], total: float, count: int, progress: Progress, words: str
) -> list[R]:
    stop = threading.Event()

    def tick() -> None:
        if stop.is_set():
            raise Cancelled("audit: stopped.")

    with ThreadPoolExecutor(count, thread_name_prefix="attack") as pool:
        # the heaviest first, so that no long one is left to the end
        order = sorted(range(len(pieces)), key=lambda at: -pieces[at].weight)
        # each piece in a copy of this context: the deadline of the run holds in its threads too
        futures = {pool.submit(copy_context().run, work, pieces[at], tick): at for at in order}
        waiting = set(futures)
        done = 0.0
        try:
            while waiting:
                finished, waiting = wait(waiting, timeout=_POLL, return_when=FIRST_COMPLETED)
                for future in finished:
                    future.result()
                    done += pieces[futures[future]].weight
                progress(done / total, words)
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    answers = {at: future.result() for future, at in futures.items()}
    return [answers[at] for at in range(len(pieces))]
