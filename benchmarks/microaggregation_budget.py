# SPDX-License-Identifier: Apache-2.0
"""Microaggregation `best` under a time limit: loss on the reference files, and how far it varies with the secret.

    python -m benchmarks.microaggregation_budget [--limits 2,10] [--k 5] [--secrets 3] [--proposals 600000000]

A search ends after its proposals (120 million on small files) even if there is time left; `--proposals` gives it more.
The clock is processor time of the process and there is one thread, so that the limit is what the search is given. The files
are in the folder of real data, RETICENT_SHARED (../shared by default).
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np

from benchmarks.harness import ProcessorClock
from reticent.base import clock
from reticent.microdata.grouping import Partitioning, partition

ROOT = Path(__file__).resolve().parents[1]
FILES = ("Tarragona", "CASCrefmicrodata")


def main() -> None:
    """A line per file, k and limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limits", default="2,10")
    parser.add_argument("--k", default="5")
    parser.add_argument("--secrets", type=int, default=3)
    parser.add_argument("--proposals", type=int, default=None)
    asked = parser.parse_args()
    folder = Path(os.environ.get("RETICENT_SHARED", ROOT.parent / "shared")) / "data" / "microdata"
    for name in FILES:
        x = np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1)
        partition(x, Partitioning(k=3, name="best", proposals=1000), secret=1)  # kernels compile here
        for k in (int(text) for text in asked.k.split(",")):
            for limit in (float(text) for text in asked.limits.split(",")):
                losses, seconds = [], []
                for secret in range(asked.secrets):
                    started = time.process_time()
                    with clock.using(ProcessorClock()):
                        how = Partitioning(k=k, name="best", proposals=asked.proposals, time_limit=limit, threads=1)
                        losses.append(100 * partition(x, how, secret=secret).loss)
                    seconds.append(time.process_time() - started)
                spread = 100 * (max(losses) / min(losses) - 1)
                print(
                    f"{name}, k = {k}, {limit:g} s: {np.mean(losses):.3f} % (best {min(losses):.3f}), spread {spread:.2f} %, "
                    f"{max(seconds):.1f} s at most",
                    flush=True,
                )


if __name__ == "__main__":
    main()
