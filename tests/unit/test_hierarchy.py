"""Hierarchies: built from digits, children and paths; wrong trees are refused with the code named."""

import pytest

from reticent.base.errors import DataError
from reticent.data.hierarchy import Hierarchy


def test_from_digits_passes_over_levels_of_width_zero() -> None:
    tree = Hierarchy.from_digits(["11001", "11002", "12001"], (2, 3, 0))
    assert tree.codes == ("Total", "11", "12", "11001", "11002", "12001")
    assert tree.ancestor_at(1)["11002"] == "11"


def test_unbalanced_tree() -> None:
    tree = Hierarchy.from_children({"T": ["A", "B"], "A": ["A1", "A2"]})
    assert tree.leaves == ("B", "A1", "A2")
    assert tree.ancestors("A2") == ("A2", "A", "T")
    assert tree.cut_at(1).codes == ("T", "A", "B")


def test_two_parents_are_named() -> None:
    with pytest.raises(DataError, match="code 'x' has two parents, 'A' and 'B'"):
        Hierarchy.from_children({"T": ["A", "B"], "A": ["x"], "B": ["x"]})


def test_circle_is_named() -> None:
    with pytest.raises(DataError, match="not below the total"):
        Hierarchy.from_children({"T": ["A"], "B": ["C"], "C": ["B"]}, total="T")


def test_unknown_code() -> None:
    with pytest.raises(DataError, match="'Z' is not in the hierarchy"):
        Hierarchy.flat(["A"]).ancestors("Z")
