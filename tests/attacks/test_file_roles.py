"""A misspelt role, and a role given as text: version 0.1.0 wrote the number of every person and counted no keys.

Fixtures: `roles.released.csv` is what 0.1.0 wrote for `roles.true.csv` with the schema of `SPELLING` below (a recoding of
`age` was the only step); its report had no keys and 0 unsafe combinations.
"""

from pathlib import Path

import polars as pl
import pytest

from reticent.base.errors import DataError, ParameterError, PlanError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.schema_files import schema_from_text

FOLDER = Path(__file__).parent / "fixtures" / "v010" / "files"
SPELLING = {"ssn": "identifer", "region": "key", "age": "key"}


def people_found(released: pl.DataFrame, register: pl.DataFrame) -> int:
    """The attack: look each number of the register up in the released file."""
    if "ssn" not in released.columns:
        return 0
    return len(set(released["ssn"].cast(str)) & set(register["ssn"].cast(str)))


def test_a_misspelt_identifier_is_refused_where_it_was_written() -> None:
    register = pl.read_csv(FOLDER / "roles.true.csv")
    assert people_found(pl.read_csv(FOLDER / "roles.released.csv"), register) == register.height
    with pytest.raises(ParameterError, match="Did you mean 'identifier'"):
        Schema(tuple(Variable(name, role=role) for name, role in SPELLING.items()))  # type: ignore[arg-type]


@pytest.mark.parametrize("role", [str(role) for role in Role])
def test_a_role_as_text_is_the_role(role: str) -> None:
    kind = "numeric" if role == "weight" else "nominal"
    assert Variable("x", role=role, kind=kind) == Variable("x", role=Role(role), kind=Kind(kind))  # type: ignore[arg-type]
    assert Variable("x", role=role, kind=kind).role is Role(role)  # type: ignore[arg-type]


def test_keys_as_text_are_counted() -> None:
    schema = Schema((Variable("region", role="key"), Variable("age", role="key", kind="numeric")))  # type: ignore[arg-type]
    data = Microdata.of(pl.DataFrame({"region": ["N", "S"], "age": [1, 2]}), schema)
    assert data.schema.keys == ("region", "age")
    assert schema.with_role("key") == ("region", "age")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "facts",
    [
        {"role": "identifer"}, {"role": "Key"}, {"role": "KEY "}, {"role": "keys"}, {"role": ""}, {"role": None}, {"role": 1},
        {"role": Kind.NUMERIC}, {"kind": "number"}, {"kind": "Numeric"}, {"kind": None}, {"kind": Role.KEY},
        {"missing": "99"}, {"codes": "abc"}, {"labels": "abc"}, {"guessed": "role"}, {"household": "no"}, {"household": 1},
        {"hierarchy": "region.hrc"}, {"codes": (None,)}, {"missing": (True,)},
    ],
)  # fmt: skip
def test_what_is_no_word_of_the_schema_is_refused_by_every_door(facts: dict[str, object]) -> None:
    with pytest.raises((ParameterError, DataError)):
        Variable("x", **facts)  # type: ignore[arg-type]
    with pytest.raises((ParameterError, DataError)):
        Schema((Variable("x"),)).change("x", **facts)


@pytest.mark.parametrize("line", ['role = "identifer"', 'role = "KEY"', 'kind = "number"', 'missing = "99"'])
def test_schema_files_refuse_the_same(line: str) -> None:
    with pytest.raises((PlanError, ParameterError)):
        schema_from_text(f'[[variable]]\nname = "x"\n{line}\n', owner="schema")


@pytest.mark.parametrize(
    "word, meant", [("quasi-identifier", "key"), ("Quasi_Identifier", "key"), ("household", "household-id")]
)
def test_words_of_other_programs_lead_to_the_right_role(word: str, meant: str) -> None:
    """By its letters a quasi-identifier was an identifier, which is removed and counted by nobody."""
    with pytest.raises(ParameterError, match=f"Did you mean '{meant}'"):
        Variable("age", role=word)  # type: ignore[arg-type]
