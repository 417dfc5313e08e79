"""Tables made in an engine are, bit for bit, those made in memory; plans with an engine give the same published files."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import reticent as rt
from conformance.engine_tables import (
    ASKED,
    BUSINESS,
    business,
    compare_tables,
    shuffled_parts,
    spec_of,
    without_firms,
)
from reticent.base.errors import DataError, PlanError
from reticent.base.randomness import Secret
from reticent.data.microdata import Microdata
from reticent.io.schema import write_schema
from reticent.jobs.protect_table import protect_table, run_table_plans
from reticent.tables.cell_keys import with_cell_keys
from reticent.tables.methods import CellKey
from reticent.tables.rules import PPercent, Threshold
from reticent.tables.sum_judge import RespondentSums
from reticent.tabulation.large import tabulate_large
from reticent.tabulation.linked import link
from reticent.tabulation.same_records import record_marks
from reticent.tabulation.tabulate import tabulate

FRAMES = {"polars": lambda table: table, "pandas": lambda table: table.to_pandas(use_pyarrow_extension_array=True)}
SECRET = Secret(bytes(range(32)))


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("firms", [True, False], ids=["respondents", "records"])
def test_a_table_is_that_of_memory(asked: str, firms: bool, tmp_path: Path) -> None:
    """Counts, sums, extremes, largest contributions, distinct respondents, waivers: frames and threads do not matter."""
    schema = BUSINESS if firms else without_firms()
    for at, kind in enumerate(FRAMES):
        compare_tables(tmp_path, ASKED[asked], schema, FRAMES[kind](business()), engine="duckdb", threads=at + 1)


def test_rules_on_records_look_at_the_records_of_their_cell() -> None:
    """Beside respondents in several cells, the view by record once stood in another order than the cells."""
    table = tabulate(Microdata.of(business(), BUSINESS), spec_of(response="turnover", by_record=True))
    plain = tabulate(Microdata.of(business(), without_firms()), spec_of(response="turnover"))
    assert table.records is not None
    np.testing.assert_array_equal(table.codes, plain.codes)
    np.testing.assert_array_equal(table.records.counts, plain.respondents.counts)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("texts", [False, True], ids=["whole ids", "text ids"])
def test_cell_keys_and_marks_are_those_of_memory(threads: int, texts: bool, tmp_path: Path) -> None:
    table = business()
    if texts:
        table = table.with_columns(pl.format("Ω-{}", "id").alias("id"))
    data, schema = Microdata.of(table, BUSINESS), BUSINESS
    with rt.load(shuffled_parts(tmp_path, table), schema=schema, engine="duckdb", threads=threads) as large:
        for spec in (spec_of(), spec_of(response="turnover")):
            made, true = tabulate_large(large.file, spec), tabulate(data, spec)
            mine = with_cell_keys(made, large.file, spec, CellKey(), SECRET)
            theirs = with_cell_keys(true, data, spec, CellKey(), SECRET)
            assert mine.cell_keys is not None
            assert theirs.cell_keys is not None
            np.testing.assert_array_equal(mine.cell_keys, theirs.cell_keys)
            np.testing.assert_array_equal(
                record_marks(large.file, spec.dimensions, made, secret=SECRET),
                record_marks(data, spec.dimensions, true, secret=SECRET),
            )


PLAN = """
[data]
path = "{path}"
schema = "business.toml"
secret = "secret.key"
{engine}
[[table]]
dimensions = ["region", "branch"]
{response}
rules = [{{ rule = "threshold", minimum = 3 }}{more}]
[[table]]
dimensions = ["branch", "size"]
{response}
rules = [{{ rule = "threshold", minimum = 3 }}{more}]
[protect]
method = "{method}"
accept_exposed = true
[output]
path = "{out}.csv"
summary = "{out}.json"
"""
RULE = ', { rule = "p-percent", p = 15 }, { rule = "dominance", n = 1, k = 85 }'


@pytest.mark.parametrize(
    ("method", "response", "more"),
    [
        ("heuristic", 'response = "turnover"', RULE),
        ("cell-key", "", ""),
        ("random-rounding", "", ""),
        ("primary-only", 'response = "turnover"\nweighted = true', RULE),
    ],
)
def test_a_plan_gives_the_same_published_tables(method: str, response: str, more: str, tmp_path: Path) -> None:
    """Linked tables of the same records: rules, suppression or noise, attack and files are those of memory."""
    table = business()
    (tmp_path / "secret.key").write_text(hashlib.sha256(b"a key for tests").hexdigest())
    table.write_parquet(tmp_path / "whole.parquet")
    shuffled_parts(tmp_path)
    write_schema(BUSINESS, tmp_path / "business.toml")
    found: dict[str, Any] = {}
    for name, path, engine in (
        ("memory", "whole.parquet", ""),
        ("engine", "part-*.parquet", 'engine = "duckdb"\nthreads = 2\nmemory = "1GB"'),
    ):
        plan = PLAN.format(path=path, engine=engine, response=response, more=more, method=method, out=name)
        (tmp_path / f"{name}.plan.toml").write_text(plan)
        found[name] = run_table_plans(tmp_path / f"{name}.plan.toml")[0]
    for number in (1, 2):
        assert (tmp_path / f"engine-{number}.csv").read_text() == (tmp_path / f"memory-{number}.csv").read_text()
    np.testing.assert_array_equal(found["engine"].audit.exposed, found["memory"].audit.exposed)
    assert not list(tmp_path.glob(".reticent-spill-*"))


@pytest.mark.parametrize("asked", ["", 'separator = "|"\ndecimal = "."'], ids=["as the data", "as asked"])
def test_a_table_has_the_marks_of_the_data_or_those_asked_for(asked: str, tmp_path: Path) -> None:
    rows = "\n".join(f"{at};{'NS'[at % 2]};{at},5" for at in range(12))
    (tmp_path / "shops.csv").write_text(f"id;region;pay\n{rows}\n", encoding="utf-8")
    pay = rt.Variable("pay", kind=rt.Kind.NUMERIC, decimals=1)
    schema = rt.Schema((rt.Variable("id", role=rt.Role.IDENTIFIER), rt.Variable("region", role=rt.Role.KEY), pay))
    write_schema(schema, tmp_path / "shops.toml")
    text = """version = 1
[data]
path = "shops.csv"
schema = "shops.toml"
{engine}
[table]
dimensions = ["region"]
response = "pay"
rules = [{{ rule = "threshold", minimum = 3 }}]
[output]
path = "{name}.csv"
{asked}
"""
    for name, engine in (("memory", ""), ("engine", 'engine = "duckdb"')):
        (tmp_path / f"{name}.toml").write_text(text.format(name=name, engine=engine, asked=asked))
        run_table_plans(tmp_path / f"{name}.toml")
    written = (tmp_path / "engine.csv").read_text()
    assert written == (tmp_path / "memory.csv").read_text()
    assert ("|72.0" if asked else ";72,0") in written


def test_sums_of_hidden_cells_are_judged_alike(tmp_path: Path) -> None:
    """Respondents in several cells are added up first, also where those in one cell are known by cell only."""
    rules = (Threshold(minimum=4), PPercent(p=20))
    spec = spec_of(response="turnover")
    true = link([tabulate(Microdata.of(business(), BUSINESS), spec)])
    with rt.load(shuffled_parts(tmp_path), schema=BUSINESS, engine="duckdb") as large:
        found = link([tabulate_large(large.file, spec)])
    draw = np.random.default_rng(2)
    inner = np.flatnonzero(true.table.is_inner)
    groups = [tuple(sorted(draw.choice(inner, 2, replace=False).tolist())) for _ in range(200)]
    np.testing.assert_array_equal(
        RespondentSums(found, rules).unsafe(groups), RespondentSums(true, rules).unsafe(groups)
    )


@pytest.mark.parametrize(
    ("change", "asked", "words"),
    [
        ({"turnover": {"decimals": 0}}, {"response": "turnover"}, "more decimals than the 0"),
        ({"id": {"role": "other"}, "firm": {"role": "other"}}, {"response": "turnover"}, "need an identifier column"),
        ({"id": {"role": "other"}}, {"response": "turnover"}, "records without 'firm' need an identifier"),
        ({}, {"response": "turnover", "weighted": True, "top": 50}, None),
    ],
)
def test_what_an_engine_cannot_add_up_exactly_is_refused(
    change: dict[str, dict[str, Any]], asked: dict[str, Any], words: str | None, tmp_path: Path
) -> None:
    schema = BUSINESS
    for name, facts in change.items():
        schema = schema.change(name, **{key: rt.Role(v) if key == "role" else v for key, v in facts.items()})
    with rt.load(shuffled_parts(tmp_path), schema=schema, engine="duckdb") as large:
        if words is None:
            tabulate_large(large.file, spec_of(**asked))
            return
        with pytest.raises(DataError, match=words):
            tabulate_large(large.file, spec_of(**asked))


def test_weights_that_differ_within_a_respondent_are_refused(tmp_path: Path) -> None:
    table = business().with_columns(weight=pl.col("weight") + (pl.col("id") % 2))
    with (
        rt.load(shuffled_parts(tmp_path, table), schema=BUSINESS, engine="duckdb") as large,
        pytest.raises(DataError, match="differs between records of one respondent"),
    ):
        tabulate_large(large.file, spec_of(weighted=True))


def test_responses_whose_relations_nobody_looks_for_are_refused(tmp_path: Path) -> None:
    with rt.load(shuffled_parts(tmp_path), schema=BUSINESS, engine="duckdb") as large:
        specs = [spec_of(response="turnover"), spec_of(response="staff")]
        with pytest.raises(PlanError, match="find_relations = false"):
            protect_table(large.file, specs, rules=[Threshold(minimum=3)])


def test_the_front_door_makes_tables_in_an_engine(tmp_path: Path) -> None:
    with rt.load(shuffled_parts(tmp_path), schema=BUSINESS, engine="duckdb") as large:
        mine = large.tabulate("region", "branch", response="turnover").protect(rules=[Threshold(minimum=3)]).release()
    theirs = rt.load(business(), schema=BUSINESS).tabulate("region", "branch", response="turnover")
    true = theirs.protect(rules=[Threshold(minimum=3)]).release()
    assert mine.to_frame().equals(true.to_frame())
