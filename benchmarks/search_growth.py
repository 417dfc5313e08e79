# SPDX-License-Identifier: Apache-2.0
"""How the time of the searches that end by themselves grows with the number of cells.

    python -m benchmarks.search_growth [--methods hypercube,modular] [--largest 3]

Sums by three dimensions, two of them hierarchies, with 1.5 records per inner cell; processor time from the records to the
judged result. The exponent a of time ~ cells^a is by least squares on logarithms, over the runs that found a pattern.
"""

import argparse

import numpy as np

from benchmarks.harness import ProcessorClock
from benchmarks.time_limits import case, made, run

SHAPES = (((3, 3), (3, 2), (3,)), ((4, 4), (4, 2), (4,)), ((6, 4), (5, 3), (5,)), ((8, 5), (6, 4), (7,)))
METHODS = ("hypercube", "modular")
LIMIT = 300.0


def main() -> None:
    """A line per method and size, and the exponents."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--largest", type=int, default=len(SHAPES) - 1)
    asked = parser.parse_args()
    watch = ProcessorClock()
    for method in asked.methods.split(","):
        run(case(4), method, 20.0, watch)  # kernels compile here
        points = []
        for number, shape in enumerate(SHAPES[: asked.largest + 1]):
            inner = int(np.prod([np.prod(levels) for levels in shape]))
            row = run(made(1_000 + number, "growth", "sum", shape, 3 * inner // 2), method, LIMIT, watch)
            print(f"{method}: {row.get('cells')} cells, {row['processor']} s, {row['end']}", flush=True)
            if row["end"] == "pattern":
                points.append((np.log(row["cells"]), np.log(row["processor"])))
        if len(points) > 1:
            print(f"{method}: cells^{np.polyfit(*np.array(points).T, 1)[0]:.2f}", flush=True)


if __name__ == "__main__":
    main()
