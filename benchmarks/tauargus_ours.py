# SPDX-License-Identifier: Apache-2.0
"""Our side of `bench_tauargus`, in a process of its own (`python -m benchmarks.tauargus_ours`).

Reads one line of JSON (method, time limit, names of the dimensions) and answers when it is ready; then protects the table
once for every further line and answers with one line of JSON. The clock runs from the tabulated table to the audited
pattern: judging, search, audit.
"""

import json
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import benchmark_clock, timed
from reticent.base import clock
from reticent.base.errors import ReticentError
from reticent.data.microdata import Microdata
from reticent.data.table import DimensionSpec, Table, TableSpec
from reticent.data.table_plan import BoundsOptions
from reticent.io.read import load_microdata
from reticent.tables.apriori import apply_groups
from reticent.tables.inputs import build_problem
from reticent.tables.problem import SuppressionProblem
from reticent.tables.protection import judge_cells
from reticent.tables.rules import PPercent
from reticent.tables.suppression import Suppression, suppression_method
from reticent.tabulation.linked import link
from reticent.tabulation.tabulate import tabulate

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("RETICENT_SHARED") or ROOT.parent / "shared") / "data" / "argus_tau"
FIRST = ("IndustryCode", "Size")


@cache
def microdata() -> Microdata:
    """The demonstration data of tau-ARGUS."""
    return load_microdata("tau_testW.asc", FOLDER / "Tau_TestW.rda", folder=FOLDER).data


def table_of(names: tuple[str, ...]) -> Table:
    """The table of Var2 over some variables."""
    return tabulate(microdata(), TableSpec(tuple(map(DimensionSpec, names)), response="Var2", top=2))


def problem_of(table: Table) -> SuppressionProblem:
    """Judged by the 15 % rule; cost = value."""
    system = link([table])
    verdict = judge_cells(system.table, [PPercent(p=15)])
    knowledge = apply_groups(system.table, system.relations, verdict, [])
    return build_problem(system.table, system.relations, knowledge, bounds=BoundsOptions(), cost="value")


def protect(table: Table, method: str, limit: float) -> Suppression:
    """From the tabulated table to the audited pattern."""
    with clock.using(benchmark_clock()):
        return suppression_method(method).protect(problem_of(table), time_limit=limit)


def main() -> None:
    """Answer line by line. The first table is protected once before, so that all kernels are compiled."""
    method, limit, names = json.loads(sys.stdin.readline())
    table = table_of(tuple(names))
    protect(table_of(FIRST), method, min(limit, 10.0))
    print('{"ready": true}', flush=True)
    answer: dict[str, Any]
    for _ in sys.stdin:
        try:
            found, seconds, processor, memory = timed(lambda t: protect(t, method, limit), table)
        except ReticentError as err:
            answer = {"error": str(err)}
        else:
            hidden = [table.cell_codes(cell) for cell in np.flatnonzero(found.hidden).tolist()]
            answer = {
                "seconds": seconds,
                "cpu_seconds": processor,
                "memory_mb": memory,
                "hidden": hidden,
                "bound": found.bound,
                "status": found.status,
            }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
