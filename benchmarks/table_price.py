# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.table_price [SECONDS]`: what it costs that hidden counts start at 1 and that sums are judged.

Each table is protected by `heuristic` against the attacker of version 0.1.0 (hidden values start at 0, levels only, cells
only) and against today's, with and without hidden empty cells. Reported are the hidden cells beside the unsafe ones, their
cost (values), the seconds, and how many unsafe cells of the old pattern today's attacker finds exactly or too closely, or
in a sum that is known. Real files are those of RETICENT_SHARED (default: ../shared).
"""

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from reticent.base.errors import ReticentError
from reticent.base.progress import silent
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.io.read import load_microdata
from reticent.tables.attack import audit
from reticent.tables.attack.sums import published_sums
from reticent.tables.joint import Judged
from reticent.tables.perturb.secrets import NOTHING_DRAWN
from reticent.tables.problem import SuppressionProblem
from reticent.tables.request import table_request
from reticent.tables.responses import judged_responses
from reticent.tables.rules import PPercent, Rule, Threshold
from reticent.tables.run import judged_tables
from reticent.tables.suppression import Heuristic

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("RETICENT_SHARED", ROOT.parent / "shared")) / "data"
MAGNITUDES: tuple[Rule, ...] = (PPercent(p=15), Threshold(minimum=3))
COUNTS: tuple[Rule, ...] = (Threshold(minimum=3),)


@dataclass(frozen=True)
class Case:
    """A table to protect."""

    name: str
    data: Microdata
    spec: TableSpec
    rules: tuple[Rule, ...]


def cases() -> Iterator[Case]:
    """The bundled tables, then those of the shared files."""
    demo = ROOT / "src" / "reticent" / "demo_data"
    firms = load_microdata(demo / "firms.csv", demo / "firms.schema.toml").data
    people = load_microdata(demo / "people.csv", demo / "people.schema.toml").data
    for pair in (("industry", "size"), ("region", "size"), ("industry", "region")):
        yield Case(f"firms, turnover by {' × '.join(pair)}", firms, _spec(*pair, response="turnover"), MAGNITUDES)
    for pair in (("region", "marital"), ("education", "marital"), ("occupation", "sex")):
        yield Case(f"people, count by {' × '.join(pair)}", people, _spec(*pair), COUNTS)
    if not SHARED.is_dir():
        return
    survey = SHARED / "microdata" / "synthpop_SD2011.csv"
    for pair in (("region", "edu"), ("region", "marital"), ("agegr", "socprof"), ("agegr", "eduspec")):
        schema = Schema(tuple(Variable(name, kind=Kind.NOMINAL) for name in pair))
        yield Case(f"survey SD2011, count by {' × '.join(pair)}", _columns(survey, schema), _spec(*pair), COUNTS)
    tau = SHARED / "argus_tau"
    business = load_microdata("tau_testW.asc", tau / "Tau_TestW.rda", folder=tau).data
    for pair in (("Size", "Region"), ("IndustryCode", "Size")):
        yield Case(f"tau_testW, Var2 by {' × '.join(pair)}", business, _spec(*pair, response="Var2"), MAGNITUDES)
    yield Case("tau_testW, count by IndustryCode × Size", business, _spec("IndustryCode", "Size"), COUNTS)


def _spec(*names: str, response: str | None = None) -> TableSpec:
    return TableSpec(tuple(DimensionSpec(name) for name in names), response=response)


def _columns(path: Path, schema: Schema) -> Microdata:
    import pandas as pd

    names = [variable.name for variable in schema.variables]
    return Microdata.of(pd.read_csv(path, dtype=str)[names].fillna("none"), schema)


def old(judged: Judged) -> SuppressionProblem:
    """The problem as version 0.1.0 saw it."""
    problem, verdict = judged.problem, judged.knowledge.verdict
    low = np.minimum(problem.lower_bound, 0.0)
    # the levels above were those below, but for zeros
    upper = np.where(problem.values == 0, verdict.upper_protection, verdict.lower_protection)
    return replace(
        problem, lower_bound=low, judge=None, upper_protection=np.where(problem.primary, upper, 0.0),
        lower_protection=np.where(problem.primary, np.minimum(verdict.lower_protection, problem.values - low), 0.0),
    )  # fmt: skip


def judged_case(case: Case, *, hide_empty: bool = False) -> Judged:
    """The table of a case, judged."""
    request = table_request(case.data, case.spec, rules=case.rules, method=Heuristic(), hide_empty=hide_empty)
    (one,) = judged_responses(request, NOTHING_DRAWN, silent).responses.values()
    return judged_tables(request, one)


def run(problem: SuppressionProblem, seconds: float) -> tuple[str, np.ndarray | None]:
    """Hidden cells beside the unsafe ones, their cost and the time it took; and the pattern."""
    start = time.perf_counter()
    try:
        found = Heuristic().protect(problem, time_limit=seconds)
    except ReticentError as err:
        return f"refused ({type(err).__name__})", None
    took = time.perf_counter() - start
    beside = int((found.hidden & ~problem.primary).sum())
    mark = "" if found.status == "optimal" else "≤ "
    return f"{beside} cells, {mark}{found.cost:,.0f}, {took:.1f} s", found.hidden


def main(seconds: float) -> None:
    """Measure all cases; print a Markdown table."""
    print("| table | cells, unsafe | 0.1.0 | of these found | now | now, `hide_empty` |")
    print("|---|---|---|---|---|---|")
    for case in cases():
        judged = judged_case(case)
        problem = judged.problem
        before, pattern = run(old(judged), seconds)
        broken: set[int] = set()
        if pattern is not None:
            broken = set(audit(problem, pattern, mode="certify").exposed_cells.tolist())
            broken |= {cell for group in published_sums(problem, pattern) for cell in group if problem.primary[cell]}
        now, _ = run(problem, seconds)
        small = not case.spec.response and problem.n_cells < 1_000
        empty = run(judged_case(case, hide_empty=True).problem, seconds)[0] if small else ""
        size = f"{problem.n_cells}, {int(problem.primary.sum())}"
        print(f"| {case.name} | {size} | {before} | {len(broken)} | {now} | {empty} |", flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 30.0)
