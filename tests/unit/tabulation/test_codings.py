"""Codes of different tables that add up to the same: what records, an engine and finished tables show."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.data.hierarchy import Hierarchy
from reticent.data.table import DimensionSpec, Table, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.tables.request import table_request
from reticent.tables.rules import Threshold
from reticent.tables.suppression import Optimal
from reticent.tabulation.code_columns import CodeColumns
from reticent.tabulation.codings import codings_of
from reticent.tabulation.coinciding import NOT_JUDGED, coinciding
from reticent.tabulation.finished import CellColumns, finished_table

DISTRICTS = {"a1": ("a", 2), "a2": ("a", 18), "b1": ("b", 5), "b2": ("b", 15), "b3": ("b", 12)}
REGIONS = {"a": 20, "b": 32}


def records() -> pl.DataFrame:
    rows = [(d, r) for d, (r, n) in DISTRICTS.items() for _ in range(n)]
    return pl.DataFrame({"id": range(len(rows)), "district": [r[0] for r in rows], "region": [r[1] for r in rows]})


@pytest.mark.parametrize("engine", [None, "duckdb"])
def test_memory_and_engine_show_the_same_classes(tmp_path: Path, engine: str | None) -> None:
    if engine is None:
        data = rt.load(records(), keys=["district", "region"], identifiers=["id"]).microdata
    else:
        records().write_parquet(tmp_path / "x.parquet")
        data = rt.load(tmp_path / "x.parquet", keys=["district", "region"], identifiers=["id"], engine=engine).file
    specs = [TableSpec((DimensionSpec(name),)) for name in ("district", "region")]
    (side,) = codings_of(CodeColumns.of([(data, spec) for spec in specs]))
    (link,) = side.links
    fine, coarse = link.classes
    assert {code[0]: r for code, number in fine.items() for (r,), at in coarse.items() if at == number} == {
        code: region for code, (region, _) in DISTRICTS.items()
    }


def finished(name: str, cells: dict[str, int], trees: tuple[Hierarchy, ...] = ()) -> Table:
    codes = ["Total", *cells]
    counts = np.array([52, *cells.values()])
    return finished_table(CellColumns((name,), (codes,), (trees,), ("Total",), counts.astype(float), counts))


def test_finished_tables_whose_codes_coincide_add_up() -> None:
    tree = Hierarchy(("Total", "a", "b", *DISTRICTS), (-1, 0, 0, 1, 1, 2, 2, 2))
    fine = finished("district", REGIONS | {code: n for code, (_, n) in DISTRICTS.items()}, (tree,))
    coarse = finished("region", REGIONS)
    sides, notes = coinciding([fine, coarse])
    assert len(sides) == 1
    assert not notes
    run = protect_table(table_request([fine, coarse], rules=[Threshold(3)], method=Optimal()))
    district, region = run.published
    shown = {c[0] for t in (district, region) for c, s in zip(t.codes, t.status, strict=True) if s == "published"}
    assert "a1" not in shown
    assert not {"a", "a2"} <= shown, "a1 would be the difference"


def test_what_finished_tables_do_not_show_is_not_judged() -> None:
    plain = finished("district", {code: n for code, (_, n) in DISTRICTS.items()})
    assert coinciding([plain, finished("region", REGIONS)]) == ((), (NOT_JUDGED,))
    other = {"a": 30, "b": 22}
    tree = Hierarchy(("Total", "a", "b", *DISTRICTS), (-1, 0, 0, 1, 1, 2, 2, 2))
    fine = finished("district", REGIONS | {code: n for code, (_, n) in DISTRICTS.items()}, (tree,))
    assert coinciding([fine, finished("region", other)]) == ((), (NOT_JUDGED,)), "the codes mean something else"
