"""Dimensions of tables: nodes in reading order, several trees over the same leaves, codes that only records have."""

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import DataError
from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.data.table import OUTSIDE, DimensionSpec
from reticent.tabulation.dimensions import build_dimension, dimension_of_trees

NACE = Hierarchy.from_children({"Total": ["A", "B"], "A": ["A1", "A2"], "B": ["B1"]})
BY_SIZE = Hierarchy.from_children({"Total": ["big", "small"], "big": ["A1", "B1"], "small": ["A2"]})


def data(texts: list[str | None], **facts: object) -> Microdata:
    variable = Variable("x", role=Role.KEY, **facts)  # type: ignore[arg-type]
    return Microdata.of(pl.DataFrame({"x": pl.Series(texts, dtype=pl.String)}), Schema((variable,)))


def nodes_of(own: Microdata, spec: DimensionSpec | None = None) -> list[str]:
    """The code of the node of each record."""
    dimension, nodes = build_dimension(own, spec or DimensionSpec("x"))
    return [dimension.codes[nodes[code]] for code in own.encoded("x").codes]


def test_a_tree_is_read_depth_first() -> None:
    dimension, _ = build_dimension(data(["A1", "B1"], hierarchy=NACE), DimensionSpec("x"))
    assert dimension.codes == ("Total", "A", "A1", "A2", "B", "B1")
    assert dimension.trees[0].tolist() == [-1, 0, 1, 1, 0, 4]
    assert dimension.missing == -1


def test_records_stand_at_their_leaves_and_missing_ones_below_the_total() -> None:
    own = data(["A1", None, "B1"], hierarchy=NACE)
    assert nodes_of(own) == ["A1", "missing", "B1"]
    dimension, _ = build_dimension(own, DimensionSpec("x"))
    assert dimension.trees[0][dimension.missing] == 0
    assert dimension.from_records == frozenset({"missing"})  # nobody declared that values are missing


def test_a_declared_missing_code_is_known_to_all() -> None:
    dimension, _ = build_dimension(data(["A1", "9"], hierarchy=NACE, missing=("9",)), DimensionSpec("x"))
    assert dimension.codes[dimension.missing] == "9"
    assert dimension.from_records == frozenset()


def test_codes_without_a_tree_stand_flat_and_only_listed_ones_are_declared() -> None:
    own = data(["a", "b"], codes=("a", "c"))
    dimension, _ = build_dimension(own, DimensionSpec("x"))
    assert dimension.codes == ("Total", "a", "c", "b")
    assert dimension.from_records == frozenset({"b"})


def test_digits_make_a_tree_and_a_level_cuts_it() -> None:
    own = data(["111", "112", "211"])
    dimension, _ = build_dimension(own, DimensionSpec("x", digits=(1, 1, 1)))
    assert {"1", "11", "111"} <= set(dimension.codes)
    assert nodes_of(own, DimensionSpec("x", digits=(1, 1, 1), level=1)) == ["1", "1", "2"]


@pytest.mark.parametrize(
    ("codes", "facts", "spec", "words"),
    [
        (["A1", "Z"], {"hierarchy": NACE}, DimensionSpec("x"), "codes that its hierarchy does not"),
        (["A1", "A"], {"hierarchy": NACE}, DimensionSpec("x"), "'A', which is a subtotal"),
        (["Total", "a"], {}, DimensionSpec("x"), "the total code 'Total' is also a code"),
        (["A1"], {}, DimensionSpec("x", trees=(NACE, BY_SIZE), level=1), "level works with one tree"),
    ],
)
def test_what_does_not_fit_is_refused(
    codes: list[str], facts: dict[str, object], spec: DimensionSpec, words: str
) -> None:
    with pytest.raises(DataError, match=words):
        build_dimension(data(codes, **facts), spec)


def test_two_trees_share_total_and_leaves() -> None:
    found = dimension_of_trees("x", [NACE, BY_SIZE], missing="?", labels={"A1": "first"})
    assert found.codes[0] == "Total"
    assert found.codes[1:3] == ("big", "small")  # inner codes of the second tree come before all leaves
    place = found.index
    first, second = found.trees
    assert first[place["A1"]] == place["A"]
    assert second[place["A1"]] == place["big"]
    assert first[place["big"]] == OUTSIDE
    assert second[place["A"]] == OUTSIDE
    assert first[place["?"]] == second[place["?"]] == 0
    assert found.label(place["A1"]) == "first"
    for parents in found.trees:  # a parent always comes before its children
        inside = parents >= 0
        assert bool((parents[inside] < np.flatnonzero(inside)).all())


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (Hierarchy.from_children({"All": ["A1", "A2", "B1"]}), "different totals, 'Total' and 'All'"),
        (Hierarchy.from_children({"Total": ["A1", "A2", "C1"]}), "is a leaf of one tree only"),
    ],
)
def test_trees_that_disagree_are_refused(other: Hierarchy, words: str) -> None:
    with pytest.raises(DataError, match=words):
        dimension_of_trees("x", [NACE, other])
