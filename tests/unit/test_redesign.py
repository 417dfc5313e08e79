"""Redesign: the cheapest merging is found (checked by enumeration), families and order are respected."""

from itertools import product

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import InfeasibleError
from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.tables.redesign import _Search, redesign
from reticent.tables.rules import Threshold


def _data(kind: Kind = Kind.NOMINAL, tree: Hierarchy | None = None) -> Microdata:
    counts = {("a", "x"): 6, ("a", "y"): 1, ("b", "x"): 5, ("b", "y"): 4, ("c", "x"): 2, ("c", "y"): 7, ("d", "y"): 3}
    rows = [pair for pair, n in counts.items() for _ in range(n)]
    schema = Schema((Variable("v", role=Role.KEY, kind=kind, hierarchy=tree), Variable("w", role=Role.KEY)))
    return Microdata.of(pl.DataFrame({"v": [r[0] for r in rows], "w": [r[1] for r in rows]}), schema)


SPEC = TableSpec((DimensionSpec("v"), DimensionSpec("w")))
RULES = (Threshold(minimum=3),)


def _partitions(items: tuple[str, ...]):
    if not items:
        yield ()
        return
    for rest in _partitions(items[1:]):
        yield ((items[0],), *rest)
        for i, group in enumerate(rest):
            yield (*rest[:i], (items[0], *group), *rest[i + 1 :])


def test_the_cheapest_is_found() -> None:
    found = redesign(_data(), SPEC, RULES, at_most=0)
    assert found.status == "optimal"
    assert found.unsafe_after == 0
    search = _Search(_data(), SPEC, RULES, ("v", "w"))
    best = min(
        search.loss(design)
        for design in product(_partitions(("a", "b", "c", "d")), _partitions(("x", "y")))
        if search.unsafe(design) == 0
    )
    assert found.loss == pytest.approx(best)


def test_ordinal_categories_merge_with_neighbours_only() -> None:
    found = redesign(_data(Kind.ORDINAL), SPEC, RULES, at_most=0, dimensions=("v",))
    order = "abcd"
    for group in found.merged["v"]:
        places = sorted(order.index(code) for code in group)
        assert places == list(range(places[0], places[-1] + 1))


def test_only_siblings_merge_and_a_whole_family_becomes_its_parent() -> None:
    tree = Hierarchy.from_children({"Total": ["P", "Q"], "P": ["a", "b"], "Q": ["c", "d"]})
    found = redesign(_data(tree=tree), SPEC, RULES, at_most=1, dimensions=("v",))
    assert all(set(group) in ({"a", "b"}, {"c", "d"}) for group in found.merged["v"])
    assert set(found.data.categories("v")) <= {"P", "Q", "a", "b", "c", "d"}


def test_beyond_the_budget_it_is_greedy_and_says_so() -> None:
    found = redesign(_data(), SPEC, RULES, at_most=0, budget=1)
    assert found.status == "stopped"
    assert found.unsafe_after == 0
    assert found.bound <= found.loss


def test_impossible() -> None:
    data = _data().rows(np.arange(2))
    with pytest.raises(InfeasibleError, match="even with every allowed merge"):
        redesign(data, SPEC, RULES)
