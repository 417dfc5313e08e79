# SPDX-License-Identifier: Apache-2.0
"""The peer's side of `bench_tauargus`: a script for an interpreter that has pytauargus (and nothing of ours).

Reads one line of JSON (the folder of the data, the names of the dimensions) and answers when the library is loaded; at the
next line protects the table once and answers with one line of JSON: the seconds from the tabulated table to the pattern,
and the hidden cells. Then it ends: every run has a process of its own.
"""

import contextlib
import csv
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

BATCH = """<OPENMICRODATA> "{folder}/tau_testW.asc"
<OPENMETADATA> "{folder}/Tau_TestW.rda"
<SPECIFYTABLE> {names}|"Var2"||
<SAFETYRULE> P(15,1)
<READMICRODATA>
"""
SUPPRESS = """<SUPPRESS> MOD(1,5,1,1,1)
<WRITETABLE> (1,3,AS+,"{out}")
"""
UNSAFE, SECONDARY = "3", "11"


def protect(folder: str, names: list[str]) -> dict[str, Any]:
    """Read and tabulate (not timed), then suppress (timed)."""
    from pytauargus.batch import Suppress, WriteTable, parse_batch
    from pytauargus.engine import Engine

    # the library writes its logs into the current folder
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        reading, whole, out = (Path(place) / name for name in ("read.arb", "whole.arb", "out.txt"))
        text = BATCH.format(folder=folder, names="".join(f'"{name}"' for name in names))
        reading.write_text(text)
        whole.write_text(text + SUPPRESS.format(out=out))
        commands = parse_batch(whole)
        engine = Engine()
        engine.run_batch(reading)
        started, processor = time.perf_counter(), time.process_time()
        engine.suppress(next(c for c in commands if isinstance(c, Suppress)))
        seconds, processor = time.perf_counter() - started, time.process_time() - processor
        engine.write_table(next(c for c in commands if isinstance(c, WriteTable)))
        with out.open() as file:
            rows = [[field.strip() for field in row] for row in csv.reader(file)]
    return {
        "seconds": seconds,
        "cpu_seconds": processor,
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "hidden": [row[: len(names)] for row in rows if row[-1] in (UNSAFE, SECONDARY)],
    }


def main() -> None:
    """The library may write on standard output, so the answers go to a copy of it."""
    from pytauargus import engine  # noqa: F401 - loaded before the clock runs
    from pytauargus.batch import BatchError

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    folder, names = json.loads(sys.stdin.readline())
    answers.write('{"ready": true}\n')
    answers.flush()
    sys.stdin.readline()
    try:
        answer = protect(folder, names)
    except BatchError as err:  # anything else ends the process, which counts as a crash
        answer = {"error": str(err)}
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
