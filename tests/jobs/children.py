"""Processes of crash and race tests, forked from one that has loaded everything: to load it takes longer than what they do."""

import multiprocessing
import time
from collections.abc import Callable, Sequence
from multiprocessing.process import BaseProcess
from typing import Any

from reticent.base import clock

LONGEST = 3600.0
"""Seconds after which processes that wait for each other are killed: far longer than any machine takes."""

_forking = multiprocessing.get_context("forkserver")
_forking.set_forkserver_preload(["jobs.query_child", "jobs.release_child"])


def start(work: Callable[..., object], *arguments: Any) -> BaseProcess:
    """Do some work in a process of its own, that can be killed."""
    process = _forking.Process(target=_by_steps, args=(work, arguments))
    process.start()
    return process


def _by_steps(work: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    """Do it under a clock that counts steps, as tests do in their own process."""
    with clock.using(clock.StepClock()):
        work(*arguments)


def end_of(process: BaseProcess) -> int | None:
    """Wait until it has ended: 0, or the signal that ended it, below 0."""
    process.join()
    return process.exitcode


def wait_for_all(processes: Sequence[BaseProcess], longest: float = LONGEST) -> None:
    """Wait until all have ended; when one has failed, or none comes to an end, kill the others."""
    end = time.monotonic() + longest
    while any(process.is_alive() for process in processes):
        if any(process.exitcode for process in processes) or time.monotonic() > end:
            for process in processes:
                process.kill()
        time.sleep(0.01)
