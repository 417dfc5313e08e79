"""Which tables are networks: two dimensions, of which one may be hierarchical."""

import numpy as np
import pytest

from reference.tables import Tree, crossed, flat, nested
from reticent.tables.suppression.network import is_network

DEEP: Tree = [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12], [13], [], [], [], [], [], [], []]
"""Three levels below the total, one family with an only child."""


def leaves(tree: Tree) -> int:
    return sum(not children for children in tree)


@pytest.mark.parametrize(
    ("trees", "network"),
    [
        ([flat(4)], True),
        ([flat(3), flat(4)], True),
        ([nested(2, 3), flat(3)], True),
        ([flat(3), DEEP], True),
        ([nested(2, 2), nested(2, 2)], False),
        ([flat(2), flat(2), flat(2)], False),
        ([DEEP, flat(2), flat(2)], False),
    ],
)
def test_two_dimensions_and_one_hierarchy_are_a_network(trees: list[Tree], network: bool) -> None:
    _, relations = crossed(trees, np.ones([leaves(tree) for tree in trees]))
    assert is_network(relations) is network
