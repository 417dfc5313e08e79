# SPDX-License-Identifier: Apache-2.0
"""Work in processes of its own: started once per question, watched, cancelled; the pages only hold what came back.

A worker is spawned, runs one piece of work after another, and keeps what it has loaded for the next. It ends with the server,
however that ends; cancelling ends the process, so that it takes effect at once. What went wrong is a sentence, never a value.
"""

import contextlib
import copy
import gc
import importlib
import logging
import multiprocessing
import os
import secrets
import signal
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from reticent.base.errors import Cancelled, ReticentError

MOST_KEPT = 64
"""Finished pieces of work whose results are kept."""
MOST_IDLE = 2
"""Workers that wait for the next piece of work."""
BETWEEN = 0.1
"""Seconds between two reports of progress."""
PATIENCE = 1.0
"""Seconds that a page waits for an answer before it shows progress instead."""
Function = Callable[..., Any]

log = logging.getLogger("reticent.web")


class Work:
    """One piece of work: how far it is, and what came of it."""

    def __init__(self, title: str) -> None:
        self.id = secrets.token_hex(8)
        self.title = title
        self.share = 0.0
        self.what = ""
        self.state = "running"
        self.result: Any = None
        self.error: ReticentError | None = None
        self.worker: _Worker | None = None
        self._started = time.monotonic()
        self._ended: float | None = None
        self._over = threading.Event()

    @property
    def running(self) -> bool:
        """Whether it still goes on."""
        return self.state == "running"

    @property
    def done(self) -> bool:
        """Whether there is a result."""
        return self.state == "done"

    @property
    def seconds(self) -> float:
        """How long it took, or has taken so far."""
        return (self._ended if self._ended is not None else time.monotonic()) - self._started

    @property
    def percent(self) -> int:
        """The share done, in percent."""
        return round(100 * min(max(self.share, 0.0), 1.0))

    def wait(self, seconds: float) -> None:
        """Wait until it is over, at most so long."""
        self._over.wait(seconds)

    def end(self, state: str, *, result: Any = None, error: ReticentError | None = None) -> None:
        """Say what came of it; the first word counts."""
        if self.running:
            self._ended = time.monotonic()
            self.result, self.error, self.state = result, error, state
        self._over.set()

    def now(self) -> "Work":
        """The work as it is at this moment: a page that asks it twice gets the same answer, even if it ends between."""
        return copy.copy(self)

    def value(self) -> Any:
        """The result; its error is raised. What still runs has none, and nobody may take that for a good end."""
        if self.error is not None:
            raise self.error
        if self.running:
            raise ReticentError("This takes longer than a page waits; nothing was changed. Try again in a moment.")
        return self.result


class Works:
    """All pieces of work of a server, by what was asked."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, Work] = OrderedDict()
        self._idle: list[_Worker] = []
        self._all: list[_Worker] = []
        self._lock = threading.Lock()

    def warm(self, *modules: str) -> None:
        """Have a worker ready, with these modules loaded."""
        with self._lock:
            if not self._idle:
                self._idle.append(self._new(modules))

    def ask(
        self, function: Function, *args: Any, title: str = "", patience: float = PATIENCE, again: bool = False
    ) -> Work:
        """The work of a function with these arguments: the same one for the same question, unless `again` is said.

        Functions are named at the top of a module and take `progress`; arguments and results are plain data. It waits a
        little, so that short work is done when it returns.
        """
        key = (function.__module__, function.__qualname__, args)
        with self._lock:
            work = self._kept.get(key)
            if work is None or (again and not work.running) or work.state == "cancelled":
                work = self._start(key, function, args, title)
            self._kept.move_to_end(key)
        work.wait(patience)
        return work.now()

    def seen(self, function: Function, *args: Any) -> Work | None:
        """The work of a question that was asked before, if there is one."""
        with self._lock:
            work = self._kept.get((function.__module__, function.__qualname__, args))
        return None if work is None else work.now()

    def find(self, work_id: str) -> Work | None:
        """The work of that id."""
        with self._lock:
            return next((work for work in self._kept.values() if work.id == work_id), None)

    def cancel(self, work_id: str) -> None:
        """Stop a piece of work at once; its process ends."""
        work = self.find(work_id)
        if work is not None and work.running:
            work.end("cancelled", error=Cancelled("The work was stopped; nothing was written."))
            if work.worker is not None:
                work.worker.kill()

    def close(self) -> None:
        """End all workers."""
        with self._lock:
            workers, self._idle = list(self._all), []
        for worker in workers:
            worker.kill()

    def _start(self, key: Hashable, function: Function, args: tuple[Any, ...], title: str) -> Work:
        work = Work(title)
        self._kept[key] = work
        for old in [one for one, kept in self._kept.items() if not kept.running][: max(0, len(self._kept) - MOST_KEPT)]:
            del self._kept[old]
        worker = self._idle.pop() if self._idle else self._new(())
        work.worker = worker
        threading.Thread(target=self._watch, args=(work, worker, function, args), daemon=True).start()
        return work

    def _new(self, modules: tuple[str, ...]) -> "_Worker":
        worker = _Worker(modules)
        self._all.append(worker)
        return worker

    def _watch(self, work: Work, worker: "_Worker", function: Function, args: tuple[Any, ...]) -> None:
        try:
            worker.run(work, function, args)
        except (EOFError, OSError, BrokenPipeError):
            work.end(
                "failed", error=ReticentError("The work ended before it was done: its process stopped. Try again.")
            )
        with self._lock:
            if worker.alive and len(self._idle) < MOST_IDLE:
                self._idle.append(worker)
                return
            if worker in self._all:
                self._all.remove(worker)
        worker.kill()


class _Worker:
    """A process that waits for work."""

    def __init__(self, modules: tuple[str, ...]) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process: BaseProcess = context.Process(target=_serve, args=(other, modules))
        self._process.start()
        other.close()

    @property
    def alive(self) -> bool:
        """Whether it can take more work."""
        return self._process.is_alive()

    def run(self, work: Work, function: Function, args: tuple[Any, ...]) -> None:
        """Give it the work, and hear it out."""
        self._pipe.send((function.__module__, function.__qualname__, args))
        while True:
            kind, *rest = self._pipe.recv()
            if kind == "progress":
                work.share, work.what = rest
            elif kind == "done":
                work.end("done", result=rest[0])
                return
            else:
                work.end("failed", error=rest[0])
                return

    def kill(self) -> None:
        """End the process and those that it started."""
        if self._process.pid is not None and self._process.is_alive():
            with contextlib.suppress(OSError):
                if os.getpgid(self._process.pid) == self._process.pid:
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
        self._process.join(timeout=2)
        with contextlib.suppress(OSError):
            self._pipe.close()


def _serve(pipe: Connection, modules: tuple[str, ...]) -> None:
    """The life of a worker: one piece of work after another, until the server is gone."""
    with contextlib.suppress(OSError, AttributeError):
        os.setsid()  # whatever it starts ends with it, and Ctrl-C in the terminal is the server's
    threading.Thread(target=_end_with_parent, daemon=True).start()
    gc.disable()  # nothing of what modules make is garbage, and finding that out takes a sixth of the start
    for module in modules:
        importlib.import_module(module)
    gc.enable()
    while True:
        try:
            module, name, args = pipe.recv()
        except (EOFError, OSError):
            return
        pipe.send(_result(pipe, getattr(importlib.import_module(module), name), args))


def _result(pipe: Connection, function: Function, args: tuple[Any, ...]) -> tuple[str, Any]:
    try:
        return "done", function(*args, progress=_reporter(pipe))
    except ReticentError as err:
        return "failed", type_of(err)(str(err))
    except MemoryError:
        return "failed", ReticentError("The work needs more memory than there is.")
    except Exception as err:  # noqa: BLE001 - its text may hold values of records, so only its kind is said
        return "failed", ReticentError(
            f"The program failed ({type(err).__name__}); this is an error of reticent itself."
        )


def type_of(err: ReticentError) -> type[ReticentError]:
    """A class of the error tree that takes a sentence alone."""
    return type(err) if type(err).__module__ == ReticentError.__module__ else ReticentError


def _reporter(pipe: Connection) -> Callable[..., None]:
    last = 0.0

    def report(share: float, what: str = "") -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= BETWEEN:
            last = now
            pipe.send(("progress", share, what))

    return report


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        with contextlib.suppress(OSError):
            os.killpg(os.getpgrp(), signal.SIGKILL)
        os._exit(1)
