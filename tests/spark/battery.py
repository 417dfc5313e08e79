"""Everything that Spark does, compared with memory: run as a script by `test_spark.py`, one process for each master."""

import sys
from pathlib import Path

import numpy as np
import polars as pl
from benchmarks.engine_scale import KEYS as LARGE_KEYS
from benchmarks.engine_scale import recodings, write_records

import reticent as rt
from conformance.engine_data import KEYS, SCHEMA, records, write_parts
from conformance.engine_tables import ASKED, BUSINESS, business, compare_tables, shuffled_parts, spec_of, without_firms
from reticent.base.randomness import Secret
from reticent.data.microdata import Microdata
from reticent.data.table import TableSpec
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Policy
from reticent.queries.refusals import Answer
from reticent.tables.cell_keys import with_cell_keys
from reticent.tables.methods import CellKey
from reticent.tabulation.large import tabulate_large
from reticent.tabulation.tabulate import tabulate

SECRET = Secret(bytes(range(32)))
FRAMES = {"polars": lambda table: table, "pandas": lambda table: table.to_pandas(use_pyarrow_extension_array=True)}


def new(folder: Path, name: str) -> Path:
    made = folder / name
    made.mkdir()
    return made


def compare_counts(folder: Path) -> None:
    """Groups, codes, categories, counts, sums of weights and risk: memory (polars, pandas), DuckDB and Spark."""
    pattern = write_parts(records(), new(folder, "counts"))
    found = {}
    for engine in ("duckdb", "spark"):
        with rt.load(pattern, schema=SCHEMA, engine=engine, threads=2) as large:
            file = large.file.patterns(KEYS)
            coarse = large.recode(rt.mask.Recode("age", bands=(16, 30, 50)))
            judged = coarse.risk(threshold=2)
            found[engine] = (
                file.codes(KEYS), file.multiplicity, file.numbers(("weight",)), judged.summary(),
                judged.k_anonymity().summary(), coarse.file.patterns(KEYS).codes(KEYS),
                [large.file.categories(name) for name in KEYS],
            )  # fmt: skip
    for mine, theirs in zip(found["spark"], found["duckdb"], strict=True):
        np.testing.assert_equal(mine, theirs)
    for native in FRAMES.values():
        data = Microdata.of(native(records()), SCHEMA)
        true = data.patterns(KEYS)
        order = np.lexsort(true.codes.T[::-1])
        np.testing.assert_array_equal(found["spark"][0], true.codes[order])
        np.testing.assert_array_equal(found["spark"][1], true.counts[order])
        assert found["spark"][6] == [data.categories(name) for name in KEYS]


def compare_csv(folder: Path) -> None:
    """Texts of a CSV file are the numbers and codes that memory reads."""
    place = new(folder, "csv") / "a.csv"
    records(500).write_csv(place)
    found = {}
    for engine in ("duckdb", "spark"):
        with rt.load(place, schema=SCHEMA, engine=engine) as large:
            file = large.file.patterns(KEYS)
            found[engine] = file.codes(KEYS), file.multiplicity, file.numbers(("weight",))
    np.testing.assert_equal(found["spark"], found["duckdb"])


def compare_cells(folder: Path) -> None:
    """Tables of every kind, by respondents and by records; cell keys drawn from blocks, by whole and by text ids."""
    for at, (name, asked) in enumerate(ASKED.items()):
        schema = BUSINESS if at % 2 else without_firms()
        compare_tables(new(folder, f"table {name}"), asked, schema, business(), engine="spark")
    for name in ("sums", "shadow and cost"):
        compare_tables(new(folder, f"both {name}"), ASKED[name], BUSINESS, business(), engine="spark")
    for texts in (False, True):
        table = business().with_columns(pl.format("Ω-{}", "id").alias("id")) if texts else business()
        spec = spec_of(response="turnover")
        with rt.load(shuffled_parts(new(folder, f"keys {texts}"), table), schema=BUSINESS, engine="spark") as large:
            mine = with_cell_keys(tabulate_large(large.file, spec), large.file, spec, CellKey(), SECRET)
        data = Microdata.of(table, BUSINESS)
        theirs = with_cell_keys(tabulate(data, spec), data, spec, CellKey(), SECRET)
        np.testing.assert_array_equal(mine.cell_keys, theirs.cell_keys)


def compare_answers(folder: Path) -> None:
    """A query database over Spark answers as one in memory."""
    questions = (
        "SELECT COUNT(*), SUM(income), AVG(income) FROM data GROUP BY job WITH TOTALS",
        "SELECT SUM(income) FROM data WHERE sex = 'm' AND age >= 40",
        "SELECT SUM(income) FROM data WHERE place = 'Åland' AND age < 25 AND sex = 'f'",
    )
    data = Microdata.of(records(600), SCHEMA)
    place = new(folder, "answers")
    pattern = write_parts(records(600), place)
    for mode, options in (("exact", {"dominance": (2, 60)}), ("cell-key", {"options": {"cell-key": {"sums": {}}}})):
        rules = Policy(
            mode=mode, filters=("sex", "age", "place", "job"), responses=("income",), cutpoints={"age": (25, 40)}, **options
        )  # fmt: skip
        memory = ProtectedDatabase(data, policy=rules, secret=3, test_secret=True, ledger=place / f"{mode}.memory")
        with rt.load(pattern, schema=SCHEMA, engine="spark") as large:
            engine = ProtectedDatabase(
                large.file, policy=rules, secret=3, test_secret=True, ledger=place / f"{mode}.spark"
            )
            answers = [engine.ask(text, user="ann") for text in questions]
        assert answers == [memory.ask(text, user="ann") for text in questions]
        assert any(isinstance(one, Answer) for one in answers)


def compare_everything(folder: Path) -> None:
    """All of it."""
    for one in (compare_counts, compare_csv, compare_cells, compare_answers):
        one(folder)


def end_to_end(folder: Path, n: int) -> None:
    """Many records: recoded, counted and judged, and a table with respondents and the two largest, as DuckDB has them."""
    write_records(folder, n, 4)
    found = {}
    kinds = {"education": "numeric", "birthplace": "numeric", "turnover": "numeric"}
    options = {"keys": LARGE_KEYS, "identifiers": ["id"], "weight": "weight", "kinds": kinds, "respondent": "firm"}
    spec = TableSpec(
        tuple(rt.DimensionSpec(name) for name in ("municipality", "education")), response="turnover", top=2
    )
    for engine in ("duckdb", "spark"):
        with rt.load(str(folder / "part-*.parquet"), engine=engine, **{**options, "respondent": None}) as large:
            judged = large.recode(*recodings()).risk().summary()
        with rt.load(str(folder / "part-*.parquet"), engine=engine, **options) as large:
            table = tabulate_large(large.file, spec)
        found[engine] = judged, table
    assert found["spark"][0] == found["duckdb"][0], found
    mine, theirs = found["spark"][1], found["duckdb"][1]
    np.testing.assert_array_equal(mine.codes, theirs.codes)
    np.testing.assert_array_equal(mine.values, theirs.values)
    np.testing.assert_array_equal(mine.respondents.counts, theirs.respondents.counts)
    top = [one.respondents.measures["turnover"].top for one in (mine, theirs)]
    np.testing.assert_array_equal(*top)
    sys.stdout.write(f"{found['spark'][0]['records']}\n")


if __name__ == "__main__":
    target = Path(sys.argv[1])
    if len(sys.argv) > 2:
        end_to_end(target, int(sys.argv[2]))
    else:
        compare_everything(target)
