# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.restored_blanks [RECORDS …]`: hidden keys that other published variables tell, by number of records.

Generated people in 60 districts of 10 regions, four keys and 18 other variables; local suppression with k = 3. Prints the
processor seconds of the search, what it found, and the largest risk of a record without and with it.
"""

import argparse
import time

import numpy as np
import polars as pl

from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.mask.local_suppression import LocalSuppression
from reticent.microdata.pipeline import apply_steps
from reticent.microdata.risk.recount import recount
from reticent.microdata.risk.restored import restore

KEYS = ("region", "sex", "age", "job")
OTHERS = 15


def people(n: int, seed: int = 1) -> Microdata:
    """Independent codes, except that a district lies in one region."""
    rng = np.random.default_rng(seed)
    district = rng.integers(0, 60, n)
    columns = {
        "region": (district // 6).astype(str),
        "sex": rng.choice(["f", "m"], n),
        "age": (rng.gamma(4, 9, n) // 5).astype(int).astype(str),
        "job": rng.choice(list("abcdefgh"), n),
        "district": district.astype(str),
        "tenure": rng.choice(["own", "rent", "other"], n),
        "income": rng.integers(10, 99, n) * 100.0,
    }
    columns |= {f"x{at}": rng.integers(0, rng.integers(2, 40), n).astype(str) for at in range(OTHERS)}
    variables = [
        Variable(
            name, role=Role.KEY if name in KEYS else Role.OTHER, kind=Kind.NUMERIC if name == "income" else Kind.NOMINAL
        )
        for name in columns
    ]
    return Microdata.of(pl.DataFrame(columns), Schema(tuple(variables)))


def main() -> None:
    """A line for each number of records."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", nargs="*", type=int, default=[10_000, 100_000])
    for n in parser.parse_args().records:
        data = people(n)
        masked = apply_steps(data, [LocalSuppression(k=3)], secret=as_secret(b"b" * 32))
        began = time.process_time()
        found = restore(masked.trace, masked.data, KEYS)
        took = time.process_time() - began
        risks = [float(recount(masked.trace, shown, KEYS).sample_risk.max()) for shown in (masked.data, found.data)]
        told = ", ".join(f"{one.records} of {one.key} by {' with '.join(one.by)}" for one in found.told)
        print(
            f"{n} records, {len(data.schema.names)} variables: {took:.2f} s of processor; told: {told or 'nothing'}; "
            f"pairs left out {found.pairs_left_out}; largest risk {risks[0]:.3f} -> {risks[1]:.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
