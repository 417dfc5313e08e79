# SPDX-License-Identifier: Apache-2.0
"""The measuring tool: run ours and a yardstick alternately in one process, keep the best of several, report ratios.

An `Entry` says what is compared at which sizes. Times are wall-clock seconds, or processor seconds where that is asked for
(the least of `repeat` runs, or what `choose` takes), memory is the growth of the peak resident set during the call, growth is
the exponent b of time ≈ a·sizeᵇ over the sizes. A side that runs in a process of its own gives back a `Timed`: its own clock
counts.
"""

import gc
import json
import math
import os
import platform
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from reticent.base import clock

_WALL, _PROCESSOR = time.monotonic(), time.process_time()
PROCESSOR = "RETICENT_BENCH_PROCESSOR"  # set: processor time counts instead of the machine's
LATELY = 10.0  # seconds of the machine over which its load is judged
RESULTS = Path(__file__).resolve().parent / "results"


class ProcessorClock:
    """Processor seconds of this process, for limits that what else runs on the machine has no part in."""

    def __init__(self) -> None:
        self._looks: deque[tuple[float, float]] = deque([(time.monotonic(), time.process_time())])

    def now(self) -> float:
        """Seconds spent so far."""
        return time.process_time()

    def peek(self) -> float:
        """The same: looking costs nothing."""
        return time.process_time()

    def nodes(self, seconds: float) -> int | None:
        """The solver watches the time itself."""
        return None

    def wall(self, seconds: float) -> float:
        """Half as many times as long as it has been lately, or over all where that is less.

        Others may end their work meanwhile. A linear program that is stopped too early goes on from where it was; one that
        is stopped too late makes the run late.
        """
        now, spent = time.monotonic(), time.process_time()
        overall = (now - _WALL) / max(spent - _PROCESSOR, 0.1)
        while len(self._looks) > 1 and now - self._looks[1][0] > LATELY:
            self._looks.popleft()
        began, used = self._looks[0]
        lately = (now - began) / max(spent - used, 0.1) if now - began > LATELY / 2 else overall
        if now - self._looks[-1][0] > LATELY / 10:
            self._looks.append((now, spent))
        return seconds * max(1.0, min(overall, lately) / 2)


def benchmark_clock() -> clock.Clock:
    """The clock of limits: the machine's, or processor time where that is asked for."""
    return ProcessorClock() if os.environ.get(PROCESSOR) else clock.MachineClock()


@dataclass(frozen=True)
class Entry:
    """One comparison. `prepare(size)` makes the input (not timed); `ours` and `yardstick` get it."""

    name: str
    sizes: Sequence[int]
    prepare: Callable[[int], Any]
    ours: Callable[[Any], Any]
    yardstick: Callable[[Any], Any] | None = None
    yardstick_name: str = ""
    size_unit: str = "records"
    repeat: int = 3
    quality: Callable[[Any, Any], str] | None = None
    notes: str = ""
    choose: Callable[[list[Any]], Any] = min
    warm_up: bool = True


@dataclass(frozen=True)
class Timed:
    """A result with the figures of the process that made it; seconds are infinite where it failed."""

    result: Any
    seconds: float
    cpu_seconds: float = 0.0
    memory_mb: float = 0.0


@dataclass(frozen=True)
class Measurement:
    """What was measured at one size."""

    size: int
    seconds: float
    cpu_seconds: float
    memory_mb: float
    yardstick_seconds: float | None = None
    quality: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times faster than the yardstick."""
        return None if self.yardstick_seconds is None else self.yardstick_seconds / max(self.seconds, 1e-9)


@dataclass(frozen=True)
class Result:
    """All sizes of one entry."""

    name: str
    yardstick_name: str
    size_unit: str
    measurements: tuple[Measurement, ...]
    notes: str = ""
    machine: str = field(
        default_factory=lambda: f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    )

    @property
    def growth(self) -> float | None:
        """Exponent of time against size (least squares on logarithms)."""
        done = [m for m in self.measurements if math.isfinite(m.seconds)]
        points = [(math.log(m.size), math.log(max(m.seconds, 1e-6))) for m in done]
        if len(points) < 2:
            return None
        mean_x = sum(x for x, _ in points) / len(points)
        mean_y = sum(y for _, y in points) / len(points)
        spread = sum((x - mean_x) ** 2 for x, _ in points)
        return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else None


def measure(entry: Entry, *, sizes: Sequence[int] | None = None) -> Result:
    """Run one entry. The first call of each side is not counted (`warm_up`): kernels compile in it."""
    done = []
    warm = not entry.warm_up
    for size in sizes or entry.sizes:
        data = entry.prepare(size)
        if not warm:
            small = entry.prepare(min(entry.sizes))
            entry.ours(small)
            if entry.yardstick:
                entry.yardstick(small)
            warm = True
        ours: list[tuple[float, float, float]] = []
        theirs: list[float] = []
        result: Any = None
        for _ in range(entry.repeat):
            result, *figures = timed(entry.ours, data)
            ours.append((figures[0], figures[1], figures[2]))
            if entry.yardstick:
                theirs.append(timed(entry.yardstick, data)[1])
        best = entry.choose(ours)
        their_best = entry.choose(theirs) if theirs else math.inf
        done.append(
            Measurement(
                size=size,
                seconds=best[0],
                cpu_seconds=min(o[1] for o in ours),
                memory_mb=max(o[2] for o in ours),
                yardstick_seconds=their_best if math.isfinite(their_best) else None,
                quality=entry.quality(data, result) if entry.quality else "",
            )
        )
    return Result(entry.name, entry.yardstick_name, entry.size_unit, tuple(done), entry.notes)


def timed(call: Callable[[Any], Any], data: Any) -> tuple[Any, float, float, float]:
    """The result of a call, its seconds, its processor seconds, and by how many MB the peak of memory grew."""
    gc.collect()
    before = _reset_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    result = call(data)
    if isinstance(result, Timed):
        return result.result, result.seconds, result.cpu_seconds, result.memory_mb
    seconds, processor = time.perf_counter() - wall, time.process_time() - cpu
    return result, processor if os.environ.get(PROCESSOR) else seconds, processor, max(0.0, _peak() - before)


def _status(field_name: str) -> float:
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            if line.startswith(field_name):
                return float(line.split()[1]) / 1024
    return 0.0


def _reset_peak() -> float:
    """Reset the peak of the resident set (Linux) and return the current one in MB."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
        return _status("VmRSS")
    except OSError:
        return 0.0


def _peak() -> float:
    try:
        return _status("VmHWM")
    except OSError:
        return 0.0


def save(area: str, results: Sequence[Result]) -> None:
    """Write the results of an area as JSON; `python -m benchmarks` turns all of them into a Markdown page."""
    RESULTS.mkdir(exist_ok=True)
    rows = [{**asdict(result), "growth": result.growth} for result in results]
    (RESULTS / f"{area}.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def as_markdown(area: str, rows: Sequence[dict[str, Any]]) -> str:
    """One area as a Markdown table."""
    lines = [f"## {area}", "", f"Machine: {rows[0]['machine']}." if rows else "", "",
             "| what | size | ours (s) | memory (MB) | yardstick | yardstick (s) | ratio | quality |",
             "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for row in rows:
        for m in row["measurements"]:
            theirs = m["yardstick_seconds"]
            ratio = "" if theirs is None else f"{theirs / max(m['seconds'], 1e-9):.2f}×"
            mine = f"{m['seconds']:.3g}" if math.isfinite(m["seconds"]) else "failed"
            lines.append(
                f"| {row['name']} | {m['size']:,} {row['size_unit']} | {mine} | {m['memory_mb']:.0f} "
                f"| {row['yardstick_name']} | {'' if theirs is None else f'{theirs:.3g}'} | {ratio} | {m['quality']} |"
            )
    growth = [f"{row['name']}: n^{row['growth']:.2f}" for row in rows if row["growth"] is not None]
    notes = [f"{row['name']}: {row['notes']}" for row in rows if row["notes"]]
    tail = ["", "Growth: " + "; ".join(growth) + "." if growth else "", *notes]
    return "\n".join(lines + tail).rstrip() + "\n"
