# SPDX-License-Identifier: Apache-2.0
"""pytauargus beside ours on tau-ARGUS's demonstration data: Var2, p % rule with p = 15, cost = value.

The peer is not a dependency: install it in an environment of its own and name its interpreter,

    python3.11 -m venv tauargus-venv && tauargus-venv/bin/pip install pytauargus==0.6.0
    RETICENT_TAUARGUS_PYTHON=tauargus-venv/bin/python python -m benchmarks tauargus

and give the folder of real data in RETICENT_SHARED (../shared by default). Without the interpreter ours is measured alone,
without the data nothing is. Each side runs in processes of its own (the peer in a new one for each run, because it leaves a
changed state behind) and keeps its own clock, from the tabulated table to the pattern (ours with judging and the final
audit); the sides alternate and the median counts. A side that dies, raises or gives no result in time is counted as failed.
Both patterns are attacked by our audit afterwards, in this process.
"""

import contextlib
import json
import math
import os
import select
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median_low
from typing import Any

import numpy as np

from benchmarks.harness import PROCESSOR, Entry, Timed
from benchmarks.tauargus_ours import FIRST, FOLDER, ROOT, problem_of, table_of
from reticent.tables.attack import audit
from reticent.tables.attack.insiders import insiders

PEER = os.environ.get("RETICENT_TAUARGUS_PYTHON", "")
SETTLE = 600.0  # seconds for starting, reading and warming up
GRACE = 60.0  # seconds beyond its limit that a side gets before it is stopped
SMALL = ("Size", "Region")
SIZE = FIRST
REGION = ("IndustryCode", "Region")
THREE = ("IndustryCode", "Size", "Region")
CELLS = {SMALL: 119, SIZE: 3_261, REGION: 8_259, THREE: 30_886}


@dataclass
class Side:
    """A process that protects one table when asked; what it answered is kept in `runs`."""

    command: list[str]
    task: Any
    limit: float
    once: bool = False
    runs: list[dict[str, Any]] = field(default_factory=list)
    process: "subprocess.Popen[bytes] | None" = None

    def run(self) -> Timed:
        """One more run; a process that is gone is started again."""
        answer = self._start() if self.process is None else {}
        if "error" not in answer:
            answer = self._ask("run", self.limit + GRACE)
        if self.once:
            self.close()
        self.runs.append(answer)
        seconds = answer.get("cpu_seconds" if os.environ.get(PROCESSOR) else "seconds", math.inf)
        return Timed(answer, seconds, answer.get("cpu_seconds", 0.0), answer.get("memory_mb", 0.0))

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def _start(self) -> dict[str, Any]:
        self.process = subprocess.Popen(
            self.command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        return self._ask(json.dumps(self.task), SETTLE)

    def _ask(self, line: str, limit: float) -> dict[str, Any]:
        process = self.process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
        # a limit in processor time may take longer on a machine that has other work to do
        ready, _, _ = select.select([process.stdout], [], [], limit * (4 if os.environ.get(PROCESSOR) else 1))
        if not ready:
            self.close()
            return {"error": f"no result in {limit:.0f} s"}
        text = process.stdout.readline()
        if not text:
            code = process.wait()  # negative: the number of the signal
            self.close()
            return {"error": f"died with code {code}"}
        answer: dict[str, Any] = json.loads(text)
        return answer


@dataclass
class Comparison:
    """Both sides on one table."""

    names: tuple[str, ...]
    ours: Side
    peer: Side


def _compare(names: tuple[str, ...], method: str, limit: float) -> Comparison:
    mine = [sys.executable, "-m", "benchmarks.tauargus_ours"]
    his = [PEER, str(Path(__file__).with_name("tauargus_peer.py"))]
    peer = Side(his, [str(FOLDER), names], limit, once=True)
    return Comparison(names, Side(mine, [method, limit, names], limit), peer)


def _ours(comparison: Comparison) -> Timed:
    return comparison.ours.run()


def _peer(comparison: Comparison) -> Timed:
    return comparison.peer.run()


def _quality(comparison: Comparison, _: Any) -> str:
    """What came out on both sides, judged in this process, which made neither."""
    comparison.ours.close()
    comparison.peer.close()
    table = table_of(comparison.names)
    problem = problem_of(table)

    def verdict(side: Side) -> tuple[str, float]:
        errors = [run["error"] for run in side.runs if "error" in run]
        words = [f"failed in {len(errors)} of {len(side.runs)} runs ({errors[0]})"] if errors else []
        done = [run for run in side.runs if "hidden" in run]
        if not done:
            return "; ".join(words), math.nan
        hidden = np.zeros(table.n_cells, dtype=bool)
        hidden[[table.find(tuple(codes)) for codes in done[-1]["hidden"]]] = True
        secondary = hidden & ~problem.primary
        cost = float(problem.cost[secondary].sum())
        words.append(f"{int(secondary.sum())} secondaries, cost {cost:,.0f}")
        if done[-1].get("bound") is not None:
            words.append(f"gap {100 * (cost - done[-1]['bound']) / max(cost, 1e-9):.2f} %")
        left_open = int((problem.primary & ~hidden).sum())
        exposed = audit(problem, hidden, mode="certify").n_exposed + left_open
        words.append(f"{exposed} exposed, {len(insiders(problem, hidden))} open to a single respondent")
        return ", ".join(words), cost

    mine, cost = verdict(comparison.ours)
    if not comparison.peer.runs:
        return f"ours: {mine}"
    his, their_cost = verdict(comparison.peer)
    ratio = f"; cost ratio {cost / their_cost:.3f}" if math.isfinite(cost / their_cost) else ""
    return f"ours: {mine}; pytauargus: {his}{ratio}"


def _entry(names: tuple[str, ...], method: str, limit: float, repeat: int) -> Entry:
    def prepare(_: int) -> Comparison:
        return _compare(names, method, limit)

    return Entry(
        f"{' × '.join(names)}, {method}, at most {limit:g} s", (CELLS[names],), prepare, _ours, _peer if PEER else None,
        "pytauargus MOD(1,5,1,1,1)" if PEER else "", "cells", repeat, _quality, choose=median_low, warm_up=False,
    )  # fmt: skip


def entries() -> list[Entry]:
    """The table that the peer can protect, and three on which it fails."""
    if not FOLDER.is_dir():
        return []
    return [
        _entry(SIZE, "heuristic", 60.0, 5),
        _entry(SIZE, "heuristic", 1.0, 5),
        _entry(SIZE, "modular", 60.0, 5),
        _entry(SMALL, "heuristic", 60.0, 5),
        _entry(REGION, "heuristic", 120.0, 1),
        _entry(THREE, "heuristic", 280.0, 1),
    ]
