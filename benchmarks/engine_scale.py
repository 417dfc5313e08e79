# SPDX-License-Identifier: Apache-2.0
"""How counting and judging grow with records and combinations when the records stay in DuckDB.

    python -m benchmarks.engine_scale 10_000_000 FOLDER [--parts 10]

It writes the records once (about 14 bytes each), then runs each measurement in a process of its own and prints processor
seconds and peak memory. The ratio is that of processor time for the recoded counts to the same query written by hand.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

import reticent as rt
from reticent.data.plan import RiskSection
from reticent.data.table import TableSpec
from reticent.frames.counting import count
from reticent.tabulation.large import tabulate_large

KEYS = ("municipality", "age", "sex", "marital", "education", "occupation", "birthplace")
MEMORY = "2GB"
COLUMNS = """id,
  (100 + floor(900 * power((h1 % 1000000) / 1e6, 1.6)))::SMALLINT AS municipality,
  ((h1 // 1000000) % 100)::TINYINT AS age,
  ((h1 // 100000000) % 2 + 1)::TINYINT AS sex,
  CASE (h2 % 16)::INT WHEN 0 THEN 'widowed' WHEN 1 THEN 'divorced' WHEN 2 THEN 'separated' WHEN 3 THEN NULL
    ELSE CASE WHEN h2 % 2 = 0 THEN 'single' ELSE 'married' END END AS marital,
  (floor(8 * power(((h2 // 1000) % 10000) / 1e4, 1.5)))::TINYINT AS education,
  lpad((floor(400 * power(((h2 // 10000000) % 100000) / 1e5, 2)))::VARCHAR, 3, '0') AS occupation,
  (floor(200 * power((h3 % 100000) / 1e5, 3)))::SMALLINT AS birthplace,
  (10 + (h3 // 100000) % 90)::SMALLINT AS weight,
  floor(100 * power(1 + ((h3 // 10000000) % 1000000) / 1e5, 3))::INTEGER AS turnover,
  CASE WHEN h2 % 50 = 7 THEN 1000000000000 + id // 150 ELSE id END AS firm"""
BY_HAND = (
    "municipality // 50 AS m, age // 5 AS a, sex, marital, education // 2 AS e, substr(occupation, 1, 2) AS o, "
    "CASE WHEN birthplace < 6 THEN birthplace ELSE 6 END AS b"
)


def recodings() -> tuple[rt.mask.Recode, ...]:
    """The recodings of `BY_HAND` as a plan would say them."""
    return (
        rt.mask.Recode("municipality", bands=tuple(range(100, 1000, 50))),
        rt.mask.Recode("age", bands=tuple(range(0, 100, 5))),
        rt.mask.Recode("education", bands=(0, 2, 4, 6)),
        rt.mask.Recode("occupation", truncate=1),
        rt.mask.Recode("birthplace", bands=(0, 1, 2, 3, 4, 5, 6)),
    )


def write_records(folder: Path, n: int, parts: int) -> None:
    """Generated records in Parquet parts; what is there already stays."""
    folder.mkdir(parents=True, exist_ok=True)
    connection = duckdb.connect(config={"threads": 2, "memory_limit": MEMORY})
    per = -(-n // parts)
    for part in range(parts):
        target = folder / f"part-{part:03d}.parquet"
        if not target.exists():
            low, high = part * per, min((part + 1) * per, n)
            connection.execute(
                f"COPY (SELECT {COLUMNS} FROM (SELECT i AS id, hash(i * 7919 + 1) AS h1, hash(i * 104729 + 2) AS h2, "
                f"hash(i * 1299709 + 3) AS h3 FROM range({low}, {high}) t(i))) TO '{target}' (FORMAT parquet)"
            )


def opened(folder: Path, *, more: tuple[str, ...] = ("firm",), **options: Any) -> rt.LargeData:
    """The records in DuckDB with two threads."""
    found = rt.load(
        str(folder / "part-*.parquet"), engine="duckdb", threads=2, memory=MEMORY, keys=KEYS, identifiers=["id", *more],
        weight="weight", kinds={"education": "numeric", "birthplace": "numeric", "turnover": "numeric"}, **options,
    )  # fmt: skip
    assert isinstance(found, rt.LargeData)
    return found


def by_hand(folder: Path) -> int:
    """The recoded counts as plain SQL."""
    connection = duckdb.connect(config={"threads": 2, "memory_limit": MEMORY, "preserve_insertion_order": False})
    sql = f"SELECT {BY_HAND}, count(*), sum(weight) FROM read_parquet('{folder}/part-*.parquet') GROUP BY ALL"
    return len(connection.sql(sql).to_arrow_table())


def counted(folder: Path) -> int:
    """The recoded counts through the engine seam."""
    data = opened(folder).recode(*recodings())
    return data.file.patterns(KEYS).n_rows


def judged(folder: Path) -> int:
    """Counted and judged: combinations of up to three keys, readings of missing values, risk of records."""
    data = opened(folder).recode(*recodings())
    return int(data.risk().found.combinations.unsafe_cells)  # type: ignore[union-attr]


def in_detail(folder: Path) -> int:
    """All combinations in full detail."""
    return opened(folder).file.patterns(KEYS).n_rows


def groups(folder: Path) -> int:
    """`count` through narwhals, without an engine of ours: all combinations of 92 % of the records in full detail."""
    connection = duckdb.connect(config={"threads": 2})
    records = f"read_parquet('{folder}/part-*.parquet')"
    relation = connection.sql(f"SELECT * FROM {records} WHERE id < 0.92 * (SELECT count(*) FROM {records})")
    return len(count(relation, KEYS, weight="weight"))


def tabulated(folder: Path) -> int:
    """A table of three dimensions with sums, the two largest contributions and the respondents of each cell."""
    data = opened(folder, more=(), respondent="firm")
    dimensions = tuple(rt.DimensionSpec(name) for name in ("municipality", "education", "marital"))
    return tabulate_large(data.file, TableSpec(dimensions, response="turnover", top=2)).n_cells


def protected(folder: Path) -> int:
    """Recoded, suppressed by combination, with noise on a number; attacked, judged and written in parts."""
    coarse = (
        *recodings()[:3],
        rt.mask.Recode("occupation", truncate=2),
        rt.mask.Recode("birthplace", bands=(0, 1, 6)),
    )
    steps = (
        *coarse,
        rt.mask.LocalSuppression(k=3, keys=KEYS, semantics="own-category", by_combination=True),
        rt.mask.Noise(("turnover",), k=0.3),
    )
    with tempfile.TemporaryDirectory(dir=folder) as target:
        risk = RiskSection(most=0.4, attacks=("recount",), accept_risk="a measurement")
        result = opened(folder).protect(steps, Path(target) / "part-*.parquet", risk=risk)
        print(result.verdict.summary(), result.risk_after, file=sys.stderr)
        return len(list(Path(target).iterdir()))


WORK = {
    "by hand": by_hand,
    "counted": counted,
    "judged": judged,
    "in detail": in_detail,
    "groups": groups,
    "tabulated": tabulated,
    "protected": protected,
}


def measure(what: str, folder: Path) -> dict[str, float]:
    """Run one measurement in a process of its own."""
    code = f"from benchmarks.engine_scale import run_one; run_one({what!r}, {str(folder)!r})"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def run_one(what: str, folder: str) -> None:
    """Print processor seconds, seconds and peak memory of one measurement."""
    started, before = time.perf_counter(), time.process_time()
    result = WORK[what](Path(folder))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    facts = {
        "result": result,
        "processor": time.process_time() - before,
        "seconds": time.perf_counter() - started,
        "MB": peak,
    }
    print(json.dumps(facts))


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parts", type=int, default=10)
    parser.add_argument("--only", choices=tuple(WORK), action="append")
    chosen = parser.parse_args()
    write_records(chosen.folder, chosen.records, chosen.parts)
    for what in chosen.only or tuple(WORK):
        found = measure(what, chosen.folder)
        print(
            f"{what:>10}: {found['result']:>12,.0f}  processor {found['processor']:7.1f} s  "
            f"elapsed {found['seconds']:7.1f} s  peak {found['MB']:7.0f} MB",
            flush=True,
        )


if __name__ == "__main__":
    main()
