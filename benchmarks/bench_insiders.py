# SPDX-License-Identifier: Apache-2.0
"""The price of keeping respondents alone in a cell out of the levels of others: `insiders = "protect"` beside `"exact"`.

Business tables of the shared data (`../shared`, or RETICENT_SHARED), 15 % rule and a minimum of 3; without the data nothing is
measured. Both sides run the same search (`heuristic`) with the same time limit.
"""

import os
from functools import cache
from pathlib import Path

from benchmarks.harness import Entry
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.data.table_plan import Insiders
from reticent.io.read import load_microdata
from reticent.jobs.protect_table import protect_table
from reticent.tables.request import Attacker
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import PPercent, Threshold
from reticent.tables.suppression import Heuristic

SHARED = Path(os.environ.get("RETICENT_SHARED") or Path(__file__).resolve().parents[2] / "shared") / "data"
RULES = (PPercent(15), Threshold(3, protection=20))
LIMIT = 20.0
TABLES = {
    119: ("argus_tau", ("Size", "Region"), "Var2"),
    58: ("rtauargus", ("A10", "SIZE", "CJ"), "TURNOVER"),
    457: ("rtauargus", ("A88", "SIZE", "CJ"), "TURNOVER"),
    150: ("rtauargus", ("A88", "SIZE"), "TURNOVER"),
    3_261: ("argus_tau", ("IndustryCode", "Size"), "Var2"),
    18: ("ssbtools", ("sector4", "geo"), "value"),
}


@cache
def _records(name: str) -> Microdata:
    if name == "argus_tau":
        folder = SHARED / "argus_tau"
        return load_microdata("tau_testW.asc", folder / "Tau_TestW.rda", folder=folder).data
    import polars as pl

    if name == "ssbtools":
        frame = pl.read_csv(SHARED / "tables" / "ssbtools_magnitude1.csv")
        keys, numbers, entity = ("sector4", "geo"), ("value",), [Variable("company", role=Role.ENTITY)]
    else:
        frame = pl.read_csv(SHARED / "tables" / "rtauargus_indiv_dt.csv", schema_overrides={"A88": pl.String})
        frame = frame.with_columns(pl.col("TURNOVER").round(1))
        keys, numbers, entity = ("A10", "A88", "SIZE", "CJ"), ("TURNOVER",), []
    columns = [*(Variable(k, role=Role.KEY) for k in keys), *(Variable(n, kind=Kind.NUMERIC) for n in numbers), *entity]
    return Microdata.of(frame.select(*(v.name for v in columns)), Schema(tuple(columns)))


_LAST: dict[tuple[int, Insiders], ProtectedTable] = {}


def _run(size: int, insiders: Insiders) -> ProtectedTable:
    name, dimensions, response = TABLES[size]
    spec = TableSpec(tuple(map(DimensionSpec, dimensions)), response=response)
    _LAST[size, insiders] = protect_table(
        _records(name),
        spec,
        rules=RULES,
        method=Heuristic(),
        attacker=Attacker(insiders=insiders),
        time_limit=LIMIT,
        test_secret=True,
    )
    return _LAST[size, insiders]


def _told(size: int, ours: ProtectedTable) -> str:
    exact = _LAST[size, "exact"]

    def side(result: ProtectedTable) -> str:
        return (
            f"{result.counts()['secondary']} secondaries, cost {result.outcome.cost:,.0f} ({result.outcome.status}), "
            f"{len(result.inside.cells)} cells within levels"
        )

    dearer = 100 * (ours.outcome.cost / exact.outcome.cost - 1) if exact.outcome.cost else 0.0
    return f"protect: {side(ours)}; exact: {side(exact)}; {dearer:+.1f} % cost"


def entries() -> list[Entry]:
    """Each table with both settings, where there is data."""
    if not SHARED.exists():
        return []
    return [
        Entry(
            name=f"{' × '.join(dimensions)} of {name}, insiders = protect",
            sizes=[size],
            prepare=lambda size: size,
            ours=lambda size: _run(size, "protect"),
            yardstick=lambda size: _run(size, "exact"),
            yardstick_name="insiders = exact",
            size_unit="cells",
            repeat=1,
            quality=_told,
            warm_up=False,
        )
        for size, (name, dimensions, _) in TABLES.items()
    ]
