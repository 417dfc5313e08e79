# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.coding_price`: what linked tables hide and how long that takes, where codes may go together by chance.

Tables of people (bundled) and of the survey SD2011 (RETICENT_SHARED, default: ../shared), whole and of few records. To compare
two versions, run it with both.
"""

import os
import sys
import time
from pathlib import Path

import polars as pl

import reticent as rt
from reticent import methods, rules
from reticent.base.errors import ReticentError

ROOT = Path(__file__).resolve().parents[1]
PEOPLE = ROOT / "src" / "reticent" / "demo_data" / "people.csv"
SURVEY = Path(os.environ.get("RETICENT_SHARED", ROOT.parent / "shared")) / "data" / "microdata" / "synthpop_SD2011.csv"
CASES: tuple[tuple[Path, int, tuple[tuple[str, ...], ...]], ...] = (
    (SURVEY, 0, (("region", "sex"), ("edu", "sex"), ("marital", "sex"))),
    (SURVEY, 500, (("region",), ("edu",), ("marital",))),
    (SURVEY, 200, (("edu", "sex"), ("socprof", "sex"), ("marital", "sex"))),
    (SURVEY, 0, (("agegr", "edu"), ("marital", "edu"), ("socprof",))),
    (SURVEY, 300, (("smoke",), ("alcabuse",), ("sport",), ("workab",), ("sex",))),
    (PEOPLE, 100, (("region",), ("marital",), ("education",), ("sex",))),
    (PEOPLE, 60, (("marital", "sex"), ("education", "sex"), ("marital", "education"))),
    (PEOPLE, 0, (("region", "sex"), ("education", "sex"), ("marital", "education"))),
    (PEOPLE, 400, (("marital", "education"), ("education", "sex"), ("occupation",))),
)


def main() -> None:
    """Print a line for each set of tables and method."""
    for path, records, tables in CASES:
        names = list(dict.fromkeys(name for table in tables for name in table))
        frame = pl.read_csv(path, infer_schema_length=10_000).select([pl.col(name).cast(pl.String) for name in names])
        frame = (frame.sample(records, seed=5) if records else frame).with_row_index("id")
        data = rt.load(frame, keys=names, identifiers=["id"])
        for method in (methods.Heuristic(), methods.RandomRounding(base=3)):
            first, *others = (data.tabulate(*table) for table in tables)
            start = time.perf_counter()
            try:
                run = first.linked(*others).protect(
                    rules=[rules.Threshold(3)], method=method, secret=7, test_secret=True
                )
                run.release_all()
                said = str(run)
            except ReticentError as refused:
                said = f"refused: {refused}"[:80]
            seconds = time.perf_counter() - start
            listed = ", ".join(" × ".join(table) for table in tables)
            sys.stdout.write(f"{len(frame)} records by {listed}; {method.name}: {said} {seconds:.1f} s\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
