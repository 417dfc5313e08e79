"""Spark counts and judges as memory does: on local threads, and on a local cluster of two worker processes.

Each case runs in a process of its own, because a process has one Spark master. `make test-spark` installs what it needs;
elsewhere the cases are skipped and counted. `RETICENT_SPARK_RECORDS` is the number of records of the last case.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(
        importlib.util.find_spec("pyspark") is None, reason="PySpark is not installed (make test-spark)"
    ),
    pytest.mark.skipif(shutil.which("java") is None, reason="Java is not installed (make test-spark)"),
]
MASTERS = ("local[2]", "local-cluster[2,1,1024]")
TESTS = Path(__file__).resolve().parents[1]
COMPARE = """
import sys, numpy as np, reticent as rt
from pathlib import Path
from conformance.engine_data import KEYS, SCHEMA, records, write_parts
from reticent.data.microdata import Microdata
folder = Path(sys.argv[1])
pattern = write_parts(records(), folder)
data = Microdata.of(records(), SCHEMA)
true = data.patterns(KEYS)
order = np.lexsort(true.codes.T[::-1])
found = {}
for engine in ("duckdb", "spark"):
    with rt.load(pattern, schema=SCHEMA, engine=engine, threads=2) as large:
        file = large.file.patterns(KEYS)
        assert [large.file.categories(name) for name in KEYS] == [data.categories(name) for name in KEYS]
        coarse = large.recode(rt.mask.Recode("age", bands=(16, 30, 50))).risk(threshold=2).summary()
        found[engine] = file.codes(KEYS), file.multiplicity, file.numbers(("weight",)), coarse
for mine, theirs in zip(found["spark"], found["duckdb"]):
    np.testing.assert_array_equal(mine, theirs)
np.testing.assert_array_equal(found["spark"][0], true.codes[order])
np.testing.assert_array_equal(found["spark"][1], true.counts[order])
records(500).write_csv(folder / "a.csv")
with rt.load(folder / "a.csv", schema=SCHEMA, engine="spark") as large:
    np.testing.assert_array_equal(large.file.patterns(KEYS).multiplicity.sum(), 500)
"""
LARGE = """
import sys
from pathlib import Path
import numpy as np, reticent as rt
from benchmarks.engine_scale import KEYS, recodings, write_records
folder, n = Path(sys.argv[1]), int(sys.argv[2])
write_records(folder, n, 4)
found = {}
for engine in ("duckdb", "spark"):
    options = dict(keys=KEYS, identifiers=["id"], weight="weight", kinds={"education": "numeric", "birthplace": "numeric"})
    with rt.load(str(folder / "part-*.parquet"), engine=engine, **options) as large:
        found[engine] = large.recode(*recodings()).risk().summary()
assert found["spark"] == found["duckdb"], found
print(found["spark"]["records"])
"""


def run(code: str, master: str, *arguments: str) -> str:
    place = os.pathsep.join(
        [str(TESTS), str(TESTS.parent), str(TESTS.parent / "src"), os.environ.get("PYTHONPATH", "")]
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, *arguments],
        env={**os.environ, "SPARK_MASTER": master, "PYTHONPATH": place}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("master", MASTERS)
def test_spark_counts_as_memory_and_duckdb_do(master: str, tmp_path: Path) -> None:
    run(COMPARE, master, str(tmp_path))


def test_many_records_end_to_end_on_a_local_cluster(tmp_path: Path) -> None:
    records = os.environ.get("RETICENT_SPARK_RECORDS", "10000000")
    assert run(LARGE, MASTERS[1], str(tmp_path), records).split()[-1] == records
