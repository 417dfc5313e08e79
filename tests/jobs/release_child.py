"""What child processes of the crash and race tests of releases do.

`crash` releases the plan of a folder and dies at an event (0: at none); `race` releases one of two tables of which only one may
ever leave. Events are calls and returns of functions, Python's and others': of the whole release, or from its recording on.
"""

import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

from reticent.base.errors import NotProtectedError
from reticent.history.book import Book
from reticent.jobs.release import release_plan


class Counter:
    """Counts events, and ends the process at one of them as if the machine had lost power."""

    def __init__(self, fatal: int | None) -> None:
        self.fatal, self.count = fatal, 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        self.count += 1
        if self.count == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)


def count_events(plan: Path, phase: str, fatal: int | None = None) -> int:
    """Release a plan, counting events; die at the fatal one."""
    counter, original, before = Counter(fatal), Book.record, sys.getprofile()

    def record(*args: Any, **options: Any) -> int:
        sys.setprofile(counter)
        return original(*args, **options)

    try:
        if phase == "record":
            Book.record = record  # type: ignore[method-assign]
        else:
            sys.setprofile(counter)
        release_plan(plan)
    finally:
        sys.setprofile(before)
        Book.record = original  # type: ignore[method-assign]
    return counter.count


def race(folder: Path, which: int, rounds: int) -> None:
    """Wait at each round for the other process, then release."""
    for number in range(rounds):
        (folder / f"ready-{which}-{number}").touch()
        while not (
            folder / f"ready-{1 - which}-{number}"
        ).exists():  # whoever started both ends this one with the other
            time.sleep(0.001)
        try:
            release_plan(folder / str(number) / f"{'ab'[which]}.toml")
        except NotProtectedError:
            released = False
        else:
            released = True
        with (folder / f"result-{which}").open("a") as out:
            out.write(f"{number} {int(released)}\n")


def crash(folder: Path, phase: str, fatal: int) -> None:
    """Say that it has started, release, and die at an event."""
    (folder / "started").touch()
    count_events(folder / "plan.toml", phase, fatal)
