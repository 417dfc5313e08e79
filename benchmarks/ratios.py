# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.ratios AREA WORD SIZE … [--repeat N]`: ours beside the yardstick in processor time, not wall clock.

For machines that have other work to do. Entries of the area whose name has the word are measured, each at the sizes given; the
least of the runs counts, memory is the growth of the peak of the resident set.
"""

import argparse
import gc
import importlib
from typing import Any

from benchmarks.harness import Entry, timed


def ratio(entry: Entry, size: int, repeat: int) -> str:
    """One line: seconds of both sides, how many times faster ours is, and the memory of ours."""
    data = entry.prepare(size)
    ours: list[tuple[float, float]] = []
    theirs: list[float] = []
    yardstick: Any = entry.yardstick
    for _ in range(repeat):
        gc.collect()
        _, _, processor, memory = timed(entry.ours, data)
        ours.append((processor, memory))
        theirs.append(timed(yardstick, data)[2])
    mine, other = min(one[0] for one in ours), min(theirs)
    memory = max(one[1] for one in ours)
    return f"{entry.name}, {size:,} {entry.size_unit}: {mine:.3f} s beside {other:.3f} s, {other / mine:.2f}×, {memory:.0f} MB"


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("area")
    parser.add_argument("word")
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    for entry in importlib.import_module(f"benchmarks.bench_{asked.area}").entries():
        if entry.yardstick is None or asked.word not in entry.name:
            continue
        ratio(entry, min(entry.sizes), 1)  # kernels compile here
        for size in asked.sizes:
            print(ratio(entry, size, asked.repeat), flush=True)


if __name__ == "__main__":
    main()
