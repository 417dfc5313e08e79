"""Spark counts, judges, tabulates and answers as memory does: on local threads, and on a local cluster of two workers.

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


def run(master: str, *arguments: str) -> str:
    place = os.pathsep.join(
        [str(TESTS), str(TESTS.parent), str(TESTS.parent / "src"), os.environ.get("PYTHONPATH", "")]
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(TESTS / "spark" / "battery.py"), *arguments],
        env={**os.environ, "SPARK_MASTER": master, "PYTHONPATH": place}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("master", MASTERS)
def test_spark_does_everything_as_memory_does(master: str, tmp_path: Path) -> None:
    run(master, str(tmp_path))


def test_many_records_end_to_end_on_a_local_cluster(tmp_path: Path) -> None:
    records = os.environ.get("RETICENT_SPARK_RECORDS", "10000000")
    assert run(MASTERS[1], str(tmp_path), records).split()[-1] == records
