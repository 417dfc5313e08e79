"""Identifiers go, or become random numbers that keep who belongs together."""

import polars as pl
import pytest

from reticent.base.errors import DataError, ParameterError
from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.microdata.mask.identifiers import NewIdentifiers, RemoveIdentifiers

SCHEMA = Schema(
    (
        Variable("name", role=Role.IDENTIFIER),
        Variable("household", role=Role.HOUSEHOLD_ID),
        Variable("person"),
        Variable("sex", role=Role.KEY),
    )
)


def data() -> Microdata:
    n = 40
    return Microdata.of(
        pl.DataFrame(
            {
                "name": [f"n{i}" for i in range(n)],
                "household": [1000 + i // 3 for i in range(n)],
                "person": [i % 3 + 1 for i in range(n)],
                "sex": ["f", "m"] * (n // 2),
            }
        ),
        SCHEMA,
    )


def run(step):  # type: ignore[no-untyped-def]
    before = data()
    after = step.apply(before, secret=as_secret(3), progress=silent).data
    assert [promise.broken(before, after) for promise in step.promises()] == [0]
    assert after.schema.names == step.schema_after(before.schema).names
    return before, after


def test_identifiers_are_gone() -> None:
    _, after = run(RemoveIdentifiers())
    assert after.schema.names == ("household", "person", "sex")
    _, less = run(RemoveIdentifiers(("name", "person")))
    assert less.schema.names == ("household", "sex")


def test_new_household_numbers() -> None:
    before, after = run(NewIdentifiers("household"))
    old, new = before.texts("household"), after.texts("household")
    assert sorted({int(x) for x in new}) == list(range(1, 15))
    assert [int(x) for x in dict.fromkeys(new)] != list(range(1, 15))  # not in the order of the file
    assert len({*zip(old, new)}) == 14


def test_numbers_within_households() -> None:
    _, after = run(NewIdentifiers("person", within="household"))
    by_house: dict[str, list[int]] = {}
    for house, person in zip(after.texts("household"), after.texts("person")):
        by_house.setdefault(house, []).append(int(person))
    assert all(sorted(members) == list(range(1, len(members) + 1)) for members in by_house.values())
    assert any(members != sorted(members) for members in by_house.values())


def test_wrong_use() -> None:
    with pytest.raises(ParameterError, match="every variable"):
        RemoveIdentifiers(SCHEMA.names).check(SCHEMA)
    with pytest.raises(DataError, match="only identifiers"):
        NewIdentifiers("sex").check(SCHEMA)
    with pytest.raises(ParameterError, match="another variable"):
        NewIdentifiers("person", within="person").check(SCHEMA)
