# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.exact_bounds [--seconds S] [NAME ...]`: proved bounds of suppression, checked in exact arithmetic.

The relaxation of each reference problem (JJ files of RETICENT_SHARED, default ../shared) is tightened for S seconds of processor
time (300 unless given). Then the solver's multipliers are multiplied out in fractions: what comes out is a bound, whatever the
solver rounded.
"""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.harness import ProcessorClock
from reticent.base import clock
from reticent.io.jj import read_jj
from reticent.tables.problem import SuppressionProblem
from reticent.tables.suppression.engine import Engine

FOLDER = Path(os.environ.get("RETICENT_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data" / "csp"
NAMES = ("hier13", "hier133a")


def problems(names: list[str]) -> Iterator[tuple[str, SuppressionProblem]]:
    """The problems that are asked for."""
    for name in names:
        yield name, read_jj(FOLDER / f"{name}.jj")


def main() -> None:
    """A line per problem: the bound as the solver says it, and as it is proved."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--seconds", type=float, default=300.0)
    asked = parser.parse_args()
    for name, problem in problems(list(asked.names)):
        with clock.using(ProcessorClock()):
            end = clock.now() + asked.seconds
            engine = Engine(problem, problem.cost, deadline=end, rng=np.random.default_rng(1), singletons=False)
            engine.relax_and_cut(until=end)
        print(f"{name}: {engine.master.n_rows:,} rows, bound {engine.bound:,.3f}, in exact arithmetic "
              f"{float(engine.master.exact_bound()):,.3f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
