"""Tabulation agrees with a slow reference on generated data: trees, several trees, respondents, weights, signs."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.tabulation_reference import slow_table
from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, Table, TableSpec
from reticent.tabulation import respondents
from reticent.tabulation.equations import relations_of
from reticent.tabulation.tabulate import tabulate, with_empty_cells

TREE = Hierarchy.from_children({"Total": ["A", "B", "c"], "A": ["a1", "a2"], "B": ["b1", "b2", "b3"]})
OTHER = Hierarchy.from_children({"Total": ["N", "S"], "N": ["a1", "b1", "c"], "S": ["a2", "b2", "b3"]})
LEAVES = ["a1", "a2", "b1", "b2", "b3", "c"]


@st.composite
def files(draw: st.DrawFn) -> tuple[Microdata, bool]:
    n = draw(st.integers(1, 40))
    column = lambda codes: draw(st.lists(st.sampled_from(codes), min_size=n, max_size=n))  # noqa: E731
    firm = column([1, 2, 3, 4, 5, 6, None])
    weighted = draw(st.booleans())
    weight = {f: draw(st.sampled_from([1.0, 1.5, 2.5])) for f in range(7)}
    with_firm = draw(st.booleans())
    frame = pl.DataFrame(
        {
            "place": column(LEAVES),
            "kind": column(["x", "y", None]),
            "firm": pl.Series(firm, dtype=pl.Int64),
            "w": [weight[f or 0] for f in firm],
            "v": pl.Series(draw(st.lists(st.integers(-40, 300), min_size=n, max_size=n))) / 10,
        }
    )
    schema = Schema(
        (
            Variable("place", role=Role.KEY),
            Variable("kind", role=Role.KEY),
            Variable("firm", role=Role.ENTITY if with_firm else Role.OTHER),
            Variable("w", role=Role.WEIGHT, kind=Kind.NUMERIC),
            Variable("v", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        )
    )
    return Microdata.of(frame, schema), weighted


def _reference(data: Microdata, table: Table, top: int, weighted: bool) -> dict:
    places = []
    for record in range(data.n_records):
        nodes = []
        for dimension in table.dimensions:
            text = data.texts(dimension.name)[record]
            node = dimension.missing if text is None else dimension.index[text]
            indptr, above = dimension.ancestors
            nodes.append(above[indptr[node] : indptr[node + 1]].tolist())
        places.append(nodes)
    entity = data.entity()
    respondents = list(range(data.n_records))
    if entity is not None:
        respondents = [int(e) if e >= 0 else 1000 + i for i, e in enumerate(entity)]
    weights = data.weights() if weighted else np.ones(data.n_records)
    return slow_table(places, data.numbers(("v",))[:, 0].tolist(), list(weights), respondents, top)


@given(files(), st.integers(1, 3), st.booleans())
def test_tabulation_agrees_with_the_reference(made: tuple[Microdata, bool], top: int, two_trees: bool) -> None:
    data, weighted = made
    trees = (TREE, OTHER) if two_trees else (TREE,)
    spec = TableSpec(
        (DimensionSpec("place", trees=trees), DimensionSpec("kind")), response="v", weighted=weighted, top=top
    )
    table = tabulate(data, spec)
    expected = _reference(data, table, top, weighted)
    assert table.n_cells == len(expected)
    measure = table.respondents.measures["v"]
    for cell, row in enumerate(table.codes.tolist()):
        count, total, size, largest = expected[tuple(row)]
        assert table.respondents.counts[cell] == count
        assert table.values[cell] == pytest.approx(total, abs=1e-9)
        assert measure.magnitudes[cell] == pytest.approx(size, abs=1e-9)
        assert measure.top[cell, :top].tolist() == pytest.approx(largest)
    assert np.abs(relations_of(table).residuals(table.values)).max(initial=0) < 1e-9


@given(files(), st.booleans())
def test_respondents_in_many_cells_are_added_up_in_two_ways_that_agree_to_the_unit(
    made: tuple[Microdata, bool], two_trees: bool
) -> None:
    """With the same units in the lists where contributions tie: the earlier one stays."""
    data, weighted = made
    trees = (TREE, OTHER) if two_trees else (TREE,)
    spec = TableSpec((DimensionSpec("place", trees=trees), DimensionSpec("kind")), response="v", weighted=weighted)
    direct = tabulate(data, spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(respondents, "MOST_PAIRS", -1.0)
        listed = tabulate(data, spec)
    assert direct.codes.tolist() == listed.codes.tolist()
    assert direct.respondents.counts.tolist() == listed.respondents.counts.tolist()
    assert direct.respondents.weighted_counts.tolist() == listed.respondents.weighted_counts.tolist()
    one, other = direct.respondents.measures["v"], listed.respondents.measures["v"]
    for field in ("totals", "magnitudes", "minimum", "maximum", "top", "top_units"):
        assert getattr(one, field).tolist() == getattr(other, field).tolist(), field


@given(files())
def test_all_relations_are_there(made: tuple[Microdata, bool]) -> None:
    """With every combination listed, values that satisfy all relations are fixed by the inner cells."""
    data, _ = made
    table = tabulate(data, TableSpec((DimensionSpec("place", trees=(TREE, OTHER)), DimensionSpec("kind"))))
    full = with_empty_cells(table)
    assert full.n_cells == table.n_possible
    assert full.n_empty == table.n_empty == table.n_possible - table.n_cells
    matrix = relations_of(full).matrix().toarray()
    assert np.linalg.matrix_rank(matrix) == full.n_cells - int(full.is_inner.sum())


def test_counts_add_up_while_respondents_do_not() -> None:
    frame = pl.DataFrame({"place": ["a1", "a2", "a1"], "firm": [1, 1, 2]})
    schema = Schema((Variable("place", role=Role.KEY, hierarchy=TREE), Variable("firm", role=Role.ENTITY)))
    table = tabulate(Microdata.of(frame, schema), TableSpec((DimensionSpec("place"),)))
    found = {table.cell_codes(c): (table.values[c], table.respondents.counts[c]) for c in range(table.n_cells)}
    assert found == {("Total",): (3, 2), ("A",): (3, 2), ("a1",): (2, 2), ("a2",): (1, 1)}


def test_waivers_and_requests_by_respondent() -> None:
    frame = pl.DataFrame(
        {"place": ["a1", "a1", "a1", "a2"], "firm": [1, 1, 2, 3], "v": [5, 6, 9, 4], "yes": ["1", "0", "1", "1"]}
    )
    schema = Schema(
        (
            Variable("place", role=Role.KEY, hierarchy=TREE),
            Variable("firm", role=Role.ENTITY),
            Variable("v", kind=Kind.NUMERIC),
            Variable("yes"),
        )
    )
    data = Microdata.of(frame, schema)
    waived = tabulate(data, TableSpec((DimensionSpec("place"),), response="v", waiver="yes"))
    cell = waived.find(("a1",))
    assert waived.respondents.judged_counts[cell] == 1  # firm 1 consented for one record only
    assert waived.respondents.judged["v"].top[cell].tolist() == [11.0, 0.0]
    assert waived.respondents.judged_counts[waived.find(("a2",))] == 0
    asked = tabulate(data, TableSpec((DimensionSpec("place"),), response="v", request="yes", request_codes=("1",)))
    largest, present = asked.respondents.requests[0]
    assert largest[asked.find(("a1",))] == 11.0
    assert present[asked.find(("Total",))] == 1
