"""Drafts of plans: from weak to strong, each step as the kind of its variable asks."""

import polars as pl
import pytest

from reticent.base.errors import DataError
from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.draft import LADDER, drafts, known_to_attackers, table_dimensions, table_response

TREE = Hierarchy.from_children(
    {"Total": ["N", "S"], "N": [f"N{at}" for at in range(8)], "S": [f"S{at}" for at in range(8)]}
)
SCHEMA = Schema(
    (
        Variable("id", role=Role.IDENTIFIER),
        Variable("place", role=Role.KEY, hierarchy=TREE),
        Variable("school", role=Role.KEY, kind=Kind.ORDINAL, codes=tuple("abcdefghijklmnop")),
        Variable("work", role=Role.KEY),
        Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC, missing=("-9",)),
        Variable("factor", role=Role.WEIGHT, kind=Kind.NUMERIC),
    )
)


def people() -> Microdata:
    n = 160
    return Microdata.of(
        pl.DataFrame(
            {
                "id": [f"p{at}" for at in range(n)],
                "place": [f"{'NS'[at % 2]}{at % 8}" for at in range(n)],
                "school": ["abcdefghijklmnop"[at % 16] for at in range(n)],
                "work": [f"w{at * at % 23}" for at in range(n)],
                "pay": [-9 if at == 3 else 1003 + 37 * at for at in range(n)],
                "factor": [10.25 + at % 3 for at in range(n)],
            }
        ),
        SCHEMA,
    )


def test_drafts_become_stronger_and_keep_the_least_group() -> None:
    made = list(drafts(people(), least_group=4))
    assert [draft.strength.values for draft in made] == [rung.values for rung in LADDER]
    assert min(draft.strength.k for draft in made) == 4
    for draft in made:
        assert draft.steps[0].options == {"method": "remove-identifiers", "variables": ["id"]}
        assert draft.steps[-1].options["keys"] == ["place", "school", "work", "pay"]


def test_each_kind_is_made_coarser_in_its_own_way() -> None:
    steps = {step.options.get("variable") or step.options["variables"][0]: step.options
             for step in list(drafts(people(), least_group=2))[3].steps[:-1]}  # fmt: skip
    assert steps["place"] == {"method": "recode", "variable": "place", "level": 1}
    classes = steps["school"]["map"]
    assert list(dict.fromkeys(classes.values())) == ["a to d", "e to h", "i to l", "m to p"]
    assert len(set(steps["work"]["map"].values())) == 3
    assert steps["work"]["other"] == "other"
    assert steps["pay"]["points"] == [2000, 4000, 5900]
    assert steps["factor"]["points"] == [11]


def test_nothing_known_is_one_sentence() -> None:
    data = Microdata.of(pl.DataFrame({"remark": ["a", "b"]}), Schema((Variable("remark"),)))
    assert known_to_attackers(data.schema) == ()
    with pytest.raises(DataError, match="no variable is a key or a number"):
        next(drafts(data, least_group=3))


def test_tables_are_by_codes_with_a_hierarchy_first() -> None:
    assert table_dimensions(people()) == ("place", "school")
    assert table_response(SCHEMA) == "pay"
    assert table_response(Schema((Variable("x"),))) is None
