"""Frequencies, violations and unsafe cells as peers report them (research/microdata-peers.md section 3, by row)."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reference.microdata_counts import sdcmicro_counts
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.microdata.risk.combinations import Combination, KeyCombinations, unsafe_combinations
from reticent.microdata.risk.semantics import Semantics, count_codes

A = np.array([[2, 3, 2, 2, 3, 3, 1, 2], [3, 3, 3, 3, 3, 3, 4, 3], [1, 3, 1, 2, 1, 1, 1, 1]], np.int32).T
W = np.array([18, 45.5, 39, 17, 92, 8, 123.5, 51])
NA = -1


def _match_anything(codes: np.ndarray) -> tuple[list[int], list[float]]:
    ones = np.ones(len(codes), np.int64)
    return (
        count_codes(codes, codes, ones, Semantics.MATCH_ANYTHING).tolist(),
        count_codes(codes, codes, W, Semantics.MATCH_ANYTHING).tolist(),
    )


def test_row_1_complete() -> None:
    sample, population = _match_anything(A)
    assert sample == [3, 1, 3, 1, 2, 2, 1, 3]
    assert population == [108, 45.5, 108, 17, 100, 100, 123.5, 108]
    assert sample.count(1) == 3
    assert len(np.unique(A[np.array(sample) == 2], axis=0)) * 2 == sample.count(2) == 2


def test_row_2_two_missing() -> None:
    codes = A.copy()
    codes[[2, 6], 2] = NA
    sample, population = _match_anything(codes)
    assert sample == [3, 1, 4, 2, 2, 2, 1, 3]
    assert population == [108, 45.5, 125, 56, 100, 100, 123.5, 108]


def test_row_3_a_column_and_a_record_all_missing() -> None:
    codes = A.copy()
    codes[:, 2] = NA
    codes[2] = NA
    sample, population = _match_anything(codes)
    assert sample == [4, 4, 8, 4, 4, 4, 2, 4]
    assert population == [125, 184.5, 394, 125, 184.5, 184.5, 162.5, 125]


def test_row_4_one_key() -> None:
    codes = np.array([[2, 3, NA, 2, 1, NA, 1, 2]], np.int32).T
    sample, population = _match_anything(codes)
    assert sample == [5, 3, 8, 5, 4, 8, 4, 5]
    assert population == [133, 92.5, 394, 133, 262.5, 394, 262.5, 133]
    assert sdcmicro_counts(codes, W).tolist() == population


def test_row_10_francdat(shared_data: Path) -> None:
    file = pl.read_csv(shared_data / "microdata/francdat.csv")
    keys = [name for name in file.columns if name.startswith("Key")]
    codes = file.select(keys).to_numpy().astype(np.int32)
    weights = file.get_column("w").to_numpy().astype(np.float64)
    ones = np.ones(len(codes), np.int64)
    assert count_codes(codes, codes, ones, Semantics.OWN_CATEGORY).tolist() == [2, 2, 2, 1, 1, 1, 1, 2]
    expected = [110, 84.5, 84.5, 17, 541, 8, 5, 110]
    assert count_codes(codes, codes, weights, Semantics.OWN_CATEGORY).tolist() == expected


@pytest.fixture(scope="module")
def demodata(shared_data: Path) -> Microdata:
    file = pl.read_csv(shared_data / "microdata/free1.csv").select("REGION", "SEX", "AGE")
    return Microdata.of(file, Schema(tuple(Variable(name, role=Role.KEY) for name in file.columns)))


def test_row_35_demodata(demodata: Microdata) -> None:
    """mu-ARGUS counts 3058 unsafe combinations, sdcMicro 3452 records: both are right, they count different things."""
    for threshold, cells, records in ((1, 2664, 2664), (2, 3058, 3452)):
        table = unsafe_combinations(demodata, [Combination(("REGION", "SEX", "AGE"), threshold)])
        assert (table.rows[0].cells, table.rows[0].unsafe_cells, table.rows[0].unsafe_records) == (3213, cells, records)


def test_row_35_is_the_worst_of_its_table(demodata: Microdata) -> None:
    table = unsafe_combinations(demodata, KeyCombinations(dimension=3, threshold=2))
    sizes = [row.unsafe_cells for row in table.rows]
    assert sizes == sorted(sizes, reverse=True)
    assert table.rows[0].variables == ("REGION", "SEX", "AGE")
    assert table.unsafe_records == 3452
    assert next(iter(table.by_variable())) == "REGION"


def test_row_65_thresholds_by_dimension(shared_data: Path) -> None:
    """sdcMicro's first row (the first single key) has 1 unsafe cell at threshold 50; at threshold 10 up to size 3, 0."""
    file = pl.read_csv(shared_data / "microdata/testdata2.csv")
    names = tuple(file.columns[:5])
    schema = Schema(tuple(Variable(n, role=Role.KEY if n in names else Role.OTHER) for n in file.columns))
    data = Microdata.of(file, schema)
    table = unsafe_combinations(data, KeyCombinations(dimension=4, thresholds=(50, 25, 10, 5), keys=names))
    first = {row.variables: row.unsafe_cells for row in table.rows}[names[:1]]
    assert first == 1
    table = unsafe_combinations(data, KeyCombinations(dimension=3, threshold=10, keys=names))
    assert {row.variables: row.unsafe_cells for row in table.rows}[names[:1]] == 0
