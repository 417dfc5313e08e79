"""Small parts of tables: recoded variables, sums of keys, cells one behind the other, codes that may be listed."""

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import DataError
from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.recoding import Recoding, RecodingRule
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.tables.listing import are_listed, listed_nodes
from reticent.tabulation.key_sums import add_up, key_sums
from reticent.tabulation.recoded import recode, tree_of
from reticent.tabulation.stack import stack_respondents
from reticent.tabulation.tabulate import tabulate

TREE = Hierarchy.from_children({"Total": ["A", "B"], "A": ["A1", "A2"], "B": ["B1"]})


def firms(codes: list[str | None], tree: Hierarchy | None = TREE) -> Microdata:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {"industry": codes, "region": [str(i % 2) for i in range(len(codes))], "v": rng.integers(1, 99, len(codes))}
    )
    variables = (
        Variable("industry", role=Role.KEY, hierarchy=tree, missing=("?",)),
        Variable("region", role=Role.KEY),
        Variable("v", kind=Kind.NUMERIC),
    )
    return Microdata.of(frame, Schema(variables))


CODES = ["A1", "A2", "A1", "B1", "B1", "?"]


def shown(data: Microdata) -> list[str]:
    return [data.categories("industry")[code] if code >= 0 else "" for code in data.encoded("industry").codes]


def test_a_closed_branch_shows_its_top() -> None:
    found = recode(firms(CODES), "industry", Recoding(closed=("A",)))
    assert shown(found)[:5] == ["A", "A", "A", "B1", "B1"]
    tree = found.schema["industry"].hierarchy
    assert tree is not None
    assert set(tree.codes) == {"Total", "A", "B", "B1"}
    assert tree.leaves == ("A", "B1")


def test_a_closed_total_closes_everything_below() -> None:
    found = recode(firms(CODES), "industry", Recoding(closed=("Total",)))
    assert set(shown(found)) <= {"Total", ""}


def test_codes_outside_the_tree_cannot_be_closed() -> None:
    with pytest.raises(DataError, match="'Z' is not in the hierarchy of 'industry'"):
        recode(firms(CODES), "industry", Recoding(closed=("Z",)))


def test_a_recoded_code_list_stands_flat() -> None:
    rules = (RecodingRule("first", codes=("A1", "A2")),)
    found = recode(firms(CODES), "industry", Recoding(rules, missing=("none",)))
    assert shown(found)[:5] == ["first", "first", "first", "B1", "B1"]
    assert found.schema["industry"].hierarchy is None
    assert found.schema["industry"].missing == ("none",)


def test_a_tree_follows_from_digits_or_is_missed() -> None:
    plain = firms(["11", "12", "21"], tree=None)
    digits = plain.with_schema(plain.schema.change("industry", digits=(1, 1)))
    assert set(tree_of(digits, "industry").leaves) == {"11", "12", "21"}
    with pytest.raises(DataError, match="has no hierarchy to recode"):
        tree_of(plain, "industry")


def test_sums_of_keys_are_those_of_the_records_of_each_cell() -> None:
    data = firms([code for code in CODES if code != "?"] * 4)
    spec = TableSpec((DimensionSpec("industry"), DimensionSpec("region")))
    table = tabulate(data, spec)
    parts = np.random.default_rng(2).integers(0, 2**62, (data.n_records, 2)).astype(np.uint64)
    found = key_sums(data, spec, table, parts)
    below = {"Total": {"A1", "A2", "B1"}, "A": {"A1", "A2"}, "B": {"B1"}}
    region = [data.categories("region")[code] for code in data.encoded("region").codes]
    for cell in range(table.n_cells):
        industry, place = table.cell_codes(cell)
        inside = [
            code in below.get(industry, {industry}) and place in ("Total", own)
            for code, own in zip(shown(data), region, strict=True)
        ]
        np.testing.assert_array_equal(found[cell], parts[inside].sum(axis=0, dtype=np.uint64))


def test_another_order_of_the_records_gives_the_same_sums() -> None:
    data = firms([code for code in CODES if code != "?"] * 3)
    spec = TableSpec((DimensionSpec("industry"),))
    parts = np.random.default_rng(3).integers(0, 2**63, (data.n_records, 1)).astype(np.uint64)
    order = np.random.default_rng(4).permutation(data.n_records)
    table = tabulate(data, spec)
    np.testing.assert_array_equal(
        key_sums(data, spec, table, parts), key_sums(data.rows(order), spec, table, parts[order])
    )


def test_rows_of_one_combination_are_one() -> None:
    columns, sums = add_up(
        [np.array([1, 0, 1], dtype=np.int32)], [2], np.arange(3), np.array([[1], [2], [4]], dtype=np.uint64)
    )
    assert dict(zip(columns[0].tolist(), sums[:, 0].tolist(), strict=True)) == {0: 2, 1: 5}
    columns, sums = add_up([np.zeros(0, np.int32)], [2], np.zeros(0, np.int64), np.zeros((0, 1), np.uint64))
    assert len(columns[0]) == len(sums) == 0


def test_cells_of_two_tables_stand_one_behind_the_other() -> None:
    data = firms([code for code in CODES if code != "?"])
    first, second = (
        tabulate(data, TableSpec((DimensionSpec(name),), response="v")).respondents for name in ("industry", "region")
    )
    both = stack_respondents(first, second)
    assert both.counts.tolist() == [*first.counts.tolist(), *second.counts.tolist()]
    assert both.measures["v"].totals.tolist() == [*first.measures["v"].totals, *second.measures["v"].totals]
    assert both.measures["v"].top.shape[0] == len(both.counts)


def test_codes_that_only_records_have_are_listed_where_something_is_shown() -> None:
    data = firms(["x", "y", "x"], tree=None)
    table = tabulate(data, TableSpec((DimensionSpec("industry"),)))
    known = dict(zip(table.dimensions[0].codes, table.dimensions[0].declared.tolist(), strict=True))
    assert (known["x"], known["y"]) == (False, False)
    codes = [table.cell_codes(cell)[0] for cell in range(table.n_cells)]
    values = np.array([3.0 if code in ("Total", "x") else 0.0 for code in codes])
    listed = listed_nodes(table, values)
    names = [code for code, there in zip(table.dimensions[0].codes, listed[0], strict=True) if there]
    assert [name for name in names if name != "?"] == ["Total", "x"]  # the code for missing values is declared
    assert are_listed(table.codes, listed).tolist() == [code in ("Total", "x", "?") for code in codes]


def test_declared_codes_are_listed_even_as_zeros() -> None:
    table = tabulate(firms(["A1", "A2", "B1"]), TableSpec((DimensionSpec("industry"),)))
    listed = listed_nodes(table, np.zeros(table.n_cells))
    assert listed[0].all()
