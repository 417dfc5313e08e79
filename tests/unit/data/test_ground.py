"""The ground of a data set: atoms, units, decimals, and what relations between responses say of every record."""

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import DataError
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.response_relations import parse_relation
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.tabulation.ground import ground_of
from reticent.tabulation.tied_facts import AtomClasses, facts_of_ties
from reticent.tabulation.tied_responses import Tie


def _data() -> Microdata:
    frame = pl.DataFrame(
        {
            "id": ["p", "q", "r", "s"],
            "a": ["x", "y", "x", None],
            "dom": [1.5, 2.0, None, 4.25],
            "exp": [0.5, 1.0, 1.0, 0.75],
            "tot": [2.0, 3.0, 1.0, 5.0],
        }
    )
    numeric = [Variable(name, kind=Kind.NUMERIC) for name in ("dom", "exp", "tot")]
    return Microdata.of(
        frame, Schema((Variable("id", role=Role.IDENTIFIER), Variable("a", codes=("x", "y", "z")), *numeric))
    )


def test_atoms_that_nobody_has_are_listed_after_the_others() -> None:
    grounded = ground_of(_data(), ("a",), responses=("dom", "exp"))
    ground = grounded.ground
    assert ground.complete
    assert ground.variables == ("a", "dom is missing")
    assert ground.categories[0] == ("x", "y", "z")
    assert ground.n_atoms == 8
    assert grounded.counts[:4].tolist() == [1, 1, 1, 1]
    assert not grounded.counts[4:].any()


def test_too_many_combinations_are_not_listed() -> None:
    ground = ground_of(_data(), ("a",), most=2).ground
    assert not ground.complete
    assert ground.n_atoms == 4, "what occurs (the missing code too), and z, which differs from it in one variable"


def test_values_are_whole_numbers_of_the_last_decimal() -> None:
    grounded = ground_of(_data(), ("a",), responses=("dom", "exp"), bounds={"dom": (0.0, 10.0)})
    assert grounded.decimals == {"dom": 2, "exp": 2}
    assert grounded.whole("dom").tolist() == [150, 200, 0, 425]
    assert grounded.there("dom").tolist() == [True, True, False, True]
    assert grounded.ground.bounds == {"dom": (0, 1000), "exp": (0, None)}
    with pytest.raises(DataError, match="bounds of 'dom' do not hold"):
        ground_of(_data(), ("a",), responses=("dom",), bounds={"dom": (0.0, 4.0)})


def test_relations_hold_class_by_class() -> None:
    grounded = ground_of(_data(), ("a",), responses=("dom", "exp", "tot"))
    ties = [Tie(parse_relation("exp <= tot")), Tie(parse_relation("tot = dom + exp"))]
    facts = facts_of_ties(grounded, ties, AtomClasses(np.arange(grounded.ground.n_atoms), {}), release="data")
    for fact in facts.facts:
        total = sum(int((grounded.truth(term.response)[term.places] * term.weights).sum()) for term in fact.terms)
        assert fact.low is not None
        assert total >= fact.low
        assert fact.high is None or total <= fact.high
    assert len(facts.facts) == 2 * 4


def test_marks_follow_records() -> None:
    data = _data()
    turned = data.rows(np.array([3, 1, 0, 2]))
    first = ground_of(data, ("a",)).marks(as_secret(3))
    assert ground_of(turned, ("a",)).marks(as_secret(3)).tolist() == first[[3, 1, 0, 2]].tolist()
