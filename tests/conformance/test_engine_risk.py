"""Counting and judging in an engine gives, bit for bit, what memory gives: groups, codes, categories, counts, risk."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import reticent as rt
from conformance.engine_data import KEYS, SCHEMA, records, write_parts
from reticent.base.progress import silent
from reticent.base.randomness import Secret
from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.microdata.measure import measure_risk

FRAMES = {"polars": lambda table: table, "pandas": lambda table: table.to_pandas(use_pyarrow_extension_array=True)}


def in_memory(kind: str) -> Microdata:
    return Microdata.of(FRAMES[kind](records()), SCHEMA)


def in_engine(folder: Path, threads: int, **options: Any) -> rt.LargeData:
    found = rt.load(write_parts(records(), folder), schema=SCHEMA, engine="duckdb", threads=threads, **options)
    assert isinstance(found, rt.LargeData)
    return found


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("threads", [1, 2])
def test_combinations_are_those_of_memory(kind: str, threads: int, tmp_path: Path) -> None:
    data = in_memory(kind)
    true = data.patterns(KEYS)
    with in_engine(tmp_path, threads) as large:
        found = large.file.patterns(KEYS)
        categories = [large.file.categories(name) for name in KEYS]
    order = np.lexsort(true.codes.T[::-1])
    assert categories == [data.categories(name) for name in KEYS]
    np.testing.assert_array_equal(found.codes(KEYS), true.codes[order])
    np.testing.assert_array_equal(found.multiplicity, true.counts[order])
    exact = np.zeros(len(true), dtype=np.int64)
    np.add.at(exact, true.group, np.rint(data.numbers(("weight",))[:, 0] * 10).astype(np.int64))
    np.testing.assert_array_equal(np.rint(found.numbers(("weight",))[:, 0] * 10).astype(np.int64), exact[order])


@pytest.mark.parametrize("threads", [1, 2])
def test_risk_is_that_of_memory(threads: int, tmp_path: Path) -> None:
    data = in_memory("polars")
    settings = RiskSection(threshold=2)
    true = measure_risk(data, settings)
    with in_engine(tmp_path, threads) as large:
        found = large.risk(threshold=2)
    mine, theirs = found.summary(), rt.load(records(), schema=SCHEMA).risk(threshold=2).summary()
    assert mine.keys() == theirs.keys()
    floats = {
        "expected re-identifications",
        "highest record risk",
        "share of the risk by key",
        "suda contribution by key",
    }
    assert {k: v for k, v in mine.items() if k not in floats} == {k: v for k, v in theirs.items() if k not in floats}
    for name in floats - {"share of the risk by key", "suda contribution by key"}:
        assert mine[name] == pytest.approx(theirs[name], rel=1e-12)  # sums of floats in another order
    assert found.found.individual is not None
    assert true.individual is not None
    assert found.found.individual.records_above(0.01) == true.individual.records_above(0.01)
    assert [row["records"] for row in found.found.individual.histogram()] == [
        row["records"] for row in true.individual.histogram()
    ]
    assert found.found.individual.summary()["outstanding_records"] == true.individual.summary()["outstanding_records"]


def test_k_anonymity_and_models_are_those_of_memory(tmp_path: Path) -> None:
    true = rt.load(records(), schema=SCHEMA).risk()
    with in_engine(tmp_path, 2) as large:
        found = large.risk()
        for semantics in ("own-category", "never-match", "match-anything"):
            assert found.k_anonymity(semantics=semantics).summary() == true.k_anonymity(semantics=semantics).summary()
        mine, theirs = found.models().rows(), true.models().rows()
    assert [row["model"] for row in mine] == [row["model"] for row in theirs]
    for one, other in zip(mine, theirs, strict=True):
        assert (one["value"] is None) == (other["value"] is None)
        assert one["value"] == pytest.approx(other["value"] or 0.0, rel=1e-9) or one["value"] is None, one["model"]


def test_csv_parts_and_a_database_hold_the_same(tmp_path: Path) -> None:
    import duckdb

    table = records(600)
    for at in range(2):
        table[at::2].write_csv(tmp_path / f"part-{at}.csv")
    place = tmp_path / "people.duckdb"
    with duckdb.connect(str(place)) as connection:
        connection.register("t", table.to_arrow())
        connection.execute("CREATE TABLE people AS SELECT * FROM t")
    true = Microdata.of(table, SCHEMA).patterns(KEYS)
    for source, query in ((tmp_path / "part-*.csv", None), (place, "SELECT * FROM people")):
        with rt.load(source, schema=SCHEMA, engine="duckdb", query=query) as large:
            found = large.file.patterns(KEYS)
        np.testing.assert_array_equal(found.multiplicity, true.counts[np.lexsort(true.codes.T[::-1])])


def test_without_a_schema_an_engine_sees_what_memory_sees(tmp_path: Path) -> None:
    table = pl.DataFrame({"code": ["01", "2", "03"], "n": ["1", "2,5", ""], "text": ["a", "b", "a"]})
    table.write_csv(tmp_path / "a.csv", separator=";")
    with rt.load(tmp_path / "a.csv", engine="duckdb") as large:
        assert large.schema == rt.load(tmp_path / "a.csv").schema
        assert large.file.column("n").numbers(("n",))[:2, 0].tolist() == [1.0, 2.5]


def test_describe_guesses_as_in_memory(tmp_path: Path) -> None:
    pattern = write_parts(records(400), tmp_path, parts=3)
    records(400).write_parquet(tmp_path / "whole.parquet")
    found, true = rt.describe(pattern, engine="duckdb"), rt.describe(tmp_path / "whole.parquet")
    assert found.profiles == true.profiles  # counted in all parts, not in the first block
    assert found.schema == true.schema
    assert found.guesses == true.guesses


STEPS = (
    rt.mask.Recode("age", bands=(16, 25, 40, 60)),
    rt.mask.Recode("place", map={"a": "other", "北京": "other"}, keep=True),
    rt.mask.Recode("job", rules=("low: -15", "high: 16-")),
)
SECRET = Secret(bytes(range(32)))


@pytest.mark.parametrize("threads", [1, 2])
def test_recoding_in_the_engine_is_that_of_memory(threads: int, tmp_path: Path) -> None:
    data = in_memory("polars")
    for step in STEPS:
        data = step.apply(data, secret=SECRET, progress=silent).data
    true = data.patterns(KEYS)
    with in_engine(tmp_path, threads) as large:
        file = large.recode(*STEPS).file
        found = file.patterns(KEYS)
        categories = [file.categories(name) for name in KEYS]
    assert categories == [data.categories(name) for name in KEYS]
    assert file.schema[KEYS[1]] == data.schema[KEYS[1]]
    order = np.lexsort(true.codes.T[::-1])
    np.testing.assert_array_equal(found.codes(KEYS), true.codes[order])
    np.testing.assert_array_equal(found.multiplicity, true.counts[order])
    settings = RiskSection(threshold=2)
    assert (
        measure_risk(found, settings).summary()["combinations"]
        == measure_risk(data, settings).summary()["combinations"]
    )


@pytest.mark.parametrize(
    "step",
    [
        rt.mask.LocalSuppression(k=3, keys=KEYS, semantics="own-category", by_combination=True),
        rt.mask.Generalize(keys=("place", "job"), k=5, suppression=0.1),
    ],
    ids=["local-suppression", "generalize"],
)
def test_methods_on_combinations_give_what_they_give_on_records(step: Any, tmp_path: Path) -> None:
    """Blanks and coarser codes are decided on combinations from the engine exactly as on the records in memory."""
    data = in_memory("polars")
    true = step.apply(data, secret=SECRET, progress=silent)
    with in_engine(tmp_path, 2) as large:
        combinations = large.file.patterns(KEYS)
    found = step.apply(combinations, secret=SECRET, progress=silent)
    assert found.changed == true.changed
    for promise in step.promises():
        assert promise.broken(combinations, found.data) == 0
    place = {tuple(row): at for at, row in enumerate(combinations.codes(KEYS).tolist())}
    own = [place[tuple(row)] for row in data.codes(KEYS).tolist()]
    for name in KEYS:
        texts = found.data.texts(name)
        assert [texts[at] for at in own] == true.data.texts(name)
