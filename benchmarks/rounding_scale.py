# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.rounding_scale [--limit SECONDS] [--base N] [SIZE …]`: controlled rounding of a large table.

A generated table of counts by as many dimensions as sizes are given (9 9 10 12 by default: 14,300 cells with all totals).
Seconds are processor time; the gap is between the distance of what was found and its proved lower bound.
"""

import argparse
import resource
import time
from functools import reduce

import numpy as np

from benchmarks.harness import ProcessorClock
from reticent.base import clock
from reticent.base.errors import ReticentError
from reticent.data.relations import Relations
from reticent.tables.perturb.rounding import round_controlled


def crossed(sizes: list[int], rng: np.random.Generator) -> tuple[np.ndarray, Relations]:
    """Counts with the totals of every dimension at position 0, and all relations of one total each."""
    inner = rng.poisson(rng.gamma(0.7, 6.0, sizes))
    full = reduce(
        lambda block, axis: np.concatenate((block.sum(axis, keepdims=True), block), axis), range(len(sizes)), inner
    )
    places = np.arange(full.size).reshape(full.shape)
    lines = [np.moveaxis(places, axis, -1).reshape(-1, size + 1) for axis, size in enumerate(sizes)]
    cells = np.concatenate([line.ravel() for line in lines])
    coefs = np.concatenate([np.tile(np.append(-1, np.ones(line.shape[1] - 1, dtype=int)), len(line)) for line in lines])
    lengths = np.concatenate([np.full(len(line), line.shape[1]) for line in lines])
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    return full.ravel().astype(float), Relations.from_arrays(full.size, indptr, cells, coefs)


def main() -> None:
    """Round one table and say how far it is from the bound."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=[9, 9, 10, 12])
    parser.add_argument("--limit", type=float, default=30.0)
    parser.add_argument("--base", type=float, default=3.0)
    parser.add_argument("--steps", type=int, default=2)
    asked = parser.parse_args()
    values, relations = crossed(asked.sizes, np.random.default_rng(17))
    started = time.process_time()
    with clock.using(ProcessorClock()):
        try:
            found = round_controlled(values, relations, asked.base, steps=asked.steps, time_limit=asked.limit)
        except ReticentError as err:
            print(f"{len(values):,} cells: {time.process_time() - started:.1f} s, {err}")
            return
    took = time.process_time() - started
    gap = "none" if found.bound is None else f"{100 * (1 - found.bound / max(found.distance, 1e-9)):.2f} %"
    left = float(np.abs(relations.residuals(found.values)).max(initial=0.0))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{len(values):,} cells, base {asked.base:g}: {took:.1f} s, {found.status}, {found.steps} steps, distance "
        f"{found.distance:,.0f}, bound {found.bound}, gap {gap}, largest residual {left:g}, {memory:.0f} MB"
    )


if __name__ == "__main__":
    main()
