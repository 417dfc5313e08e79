# SPDX-License-Identifier: Apache-2.0
"""What a table of the next version of the data costs beside one of the version before: `python -m benchmarks.joint_versions [n]`.

Invented firms by industry, size and region. Between the versions 3 percent leave, 4 percent move to another region, and the
turnover is the same for all but 20 (few), another one (annual) or 3.7 percent higher, rounded (rise).
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import reticent as rt
from reticent import rules
from reticent.base.errors import ReticentError

KINDS = ("few", "annual", "rise")


def firms(n: int, rng: np.random.Generator) -> pl.DataFrame:
    """The first version; 60 firms are of two rare sizes, so that however many firms there are, about 15 cells are unsafe."""
    size = rng.integers(0, 5, n)
    size[:60] = rng.integers(5, 7, 60)
    return pl.DataFrame(
        {
            "id": [f"f{k}" for k in range(n)],
            "industry": [f"i{k}" for k in rng.integers(0, 12, n)],
            "region": [f"r{k}" for k in rng.integers(0, 8, n)],
            "size": [f"s{k}" for k in size],
            "turnover": rng.integers(1, 5000, n),
        }
    )


def changed(frame: pl.DataFrame, kind: str, rng: np.random.Generator) -> pl.DataFrame:
    """The next version."""
    frame = frame.filter(pl.Series(rng.random(len(frame)) > 0.03))
    n, old = len(frame), frame["turnover"].to_numpy()
    new = {
        "few": old + 50 * (np.arange(n) < 20),
        "annual": np.rint(old * rng.uniform(0.8, 1.3, n)).astype(int),
        "rise": np.rint(old * 1.037).astype(int),
    }[kind]
    regions = np.where(rng.random(n) < 0.04, rng.permutation(frame["region"].to_numpy()), frame["region"].to_numpy())
    return frame.with_columns(turnover=pl.Series(new), region=pl.Series(regions))


def released(ledger: rt.ReleaseLedger, data: rt.Data, name: str, *by: str, response: str | None = "turnover") -> str:
    """Protect and release a table with memory; processor time of the release, and what became of it."""
    run = data.tabulate(*by, response=response).protect(rules=[rules.Threshold(3, protection=20)])
    start = time.process_time()
    try:
        run.release(ledger=ledger, name=name, memory=True)
        found = "released"
    except ReticentError as err:
        found = f"refused ({len(str(err))} characters)"
    return f"{time.process_time() - start:6.1f} s  {found}"


def measure(n: int, kind: str) -> None:
    """Tables of two versions in a ledger of their own."""
    rng = np.random.default_rng(1)
    first = firms(n, rng)
    old, new = (
        rt.load(one, identifiers=["id"], keys=["industry", "region", "size"], sensitive=["turnover"])
        for one in (first, changed(first, kind, rng))
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "l.ledger"
        before = rt.open_ledger(place, secret=1, test_secret=True, version="1")
        print(f"{n} records, {kind}")
        print(f"  sums, version 1                {released(before, old, 'a', 'industry', 'size')}", flush=True)
        print(
            f"  counts, version 1              {released(before, old, 'b', 'industry', 'size', response=None)}",
            flush=True,
        )
        after = rt.open_ledger(place, secret=1, test_secret=True, version="2", earlier=[("1", old)])
        print(f"  sums, version 2                {released(after, new, 'c', 'industry', 'size')}", flush=True)
        print(
            f"  counts, version 2              {released(after, new, 'd', 'industry', 'size', response=None)}",
            flush=True,
        )
        print(f"  sums by region too, version 2  {released(after, new, 'e', 'industry', 'region')}", flush=True)


if __name__ == "__main__":
    for kind in KINDS:
        measure(int(sys.argv[1]) if len(sys.argv) > 1 else 5000, kind)
