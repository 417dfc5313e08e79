"""What a file's columns look like to somebody who never saw it: each guess is marked, has a reason, and can be wrong aloud."""

import polars as pl
import pytest

from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.frames.frame import Frame
from reticent.microdata.describe import Description, describe_records

N = 60
HOMES = [str(at // 2) for at in range(N)]


def described(declared: bool = False, roles: dict[str, Role] | None = None, **columns: list) -> Description:
    table = pl.DataFrame(columns)
    kinds = dict.fromkeys(roles or {}, Kind.NUMERIC)
    schema = Schema(
        tuple(
            Variable(one, role=(roles or {}).get(one, Role.OTHER), kind=kinds.get(one, Kind.NOMINAL)) for one in columns
        )
    )
    return describe_records(Frame.of(table), schema, declared=declared)


def role_of(name: str, values: list) -> Role:
    return described(**{name: values}).schema[name].role


def kind_of(name: str, values: list) -> Kind:
    return described(**{name: values}).schema[name].kind


AGES = [20 + at % 40 for at in range(N)]
TEXTS = ["ab"[at % 2] for at in range(N)]
MONEY = [1000.5 + at for at in range(N)]
OWN = [f"p{at:03}" for at in range(N)]


@pytest.mark.parametrize(("name", "values", "role"), [
    ("sex", TEXTS, Role.KEY),
    ("Age", AGES, Role.KEY),
    ("hh_region", TEXTS, Role.KEY),
    ("monthlyIncome", MONEY, Role.SENSITIVE),
    ("TURNOVER2020", MONEY, Role.SENSITIVE),
    ("samplingWeight", [1.5] * N, Role.WEIGHT),
    ("peso", [2.0] * N, Role.WEIGHT),
    ("hhid", HOMES, Role.HOUSEHOLD_ID),
    ("db030", HOMES, Role.HOUSEHOLD_ID),
    ("person_id", OWN, Role.IDENTIFIER),
    ("surname", OWN, Role.IDENTIFIER),
    ("xyz", OWN, Role.IDENTIFIER),
    ("xyz", TEXTS, Role.OTHER),
    ("essex", TEXTS, Role.OTHER),
])  # fmt: skip
def test_names_and_values_together_make_a_role(name: str, values: list, role: Role) -> None:
    assert role_of(name, values) is role


@pytest.mark.parametrize(("name", "values"), [
    ("weight", [0.0, *([1.0] * (N - 1))]),
    ("weight", [None, *([1.0] * (N - 1))]),
    ("hhid", OWN),
    ("sex", ["f"] * N),
    ("income", [5.0] * N),
])  # fmt: skip
def test_a_name_alone_is_not_enough(name: str, values: list) -> None:
    """A weight of 0, a household of one each, a sex that everybody has: the name says it, the values do not."""
    word = {"weight": Role.WEIGHT, "hhid": Role.HOUSEHOLD_ID, "sex": Role.KEY, "income": Role.SENSITIVE}[name]
    assert role_of(name, values) is not word


@pytest.mark.parametrize(("name", "values", "kind"), [
    ("a", MONEY, Kind.NUMERIC),
    ("a", [at // 2 * 3 for at in range(N)], Kind.NUMERIC),
    ("a", [at % 4 for at in range(N)], Kind.NOMINAL),
    ("educ", [at % 4 for at in range(N)], Kind.ORDINAL),
    ("age", [20 + at % 4 for at in range(N)], Kind.NUMERIC),
    ("a", TEXTS, Kind.NOMINAL),
    ("size_class", TEXTS, Kind.ORDINAL),
    ("a", [f"{at % 7:02}" for at in range(N)], Kind.NOMINAL),
    ("a", ["10-19" if at % 2 else "20-29" for at in range(N)], Kind.ORDINAL),
])  # fmt: skip
def test_kinds(name: str, values: list, kind: Kind) -> None:
    assert kind_of(name, values) is kind


def test_every_guess_is_marked_and_has_a_reason() -> None:
    found = described(sex=TEXTS, income=MONEY)
    for variable in found.schema.variables:
        reasons = found.reasons(variable.name)
        assert {guess.fact for guess in reasons} == set(variable.guessed)
        assert all(guess.reason for guess in reasons)
    assert found.schema["sex"].level == 2
    assert "2 variables" in repr(found)
    plain = found.summary()
    assert plain["sex"]["role"] == "key"
    assert plain["sex"]["guessed"]["role"] == "the name has 'sex'"
    assert "frequent" not in plain["sex"], "values only where they were asked for"


def test_of_two_weights_the_first_stays() -> None:
    found = described(weight=[1.5] * N, wgt2=[2.5] * N)
    assert [v.role for v in found.schema.variables] == [Role.WEIGHT, Role.OTHER]
    assert "role" not in found.schema["wgt2"].guessed
    assert not [guess for guess in found.reasons("wgt2") if guess.fact == "role"]


def test_a_declared_weight_is_the_only_one() -> None:
    found = described(roles={"mine": Role.WEIGHT}, mine=[1.5] * N, weight=[2.5] * N)
    assert found.schema["mine"].role is Role.WEIGHT
    assert found.schema["weight"].role is Role.OTHER


def test_what_is_the_same_in_all_households_belongs_to_them() -> None:
    rooms = [3 + int(home) % 3 for home in HOMES]
    found = described(hhid=HOMES, rooms=rooms, age=AGES)
    assert found.schema["rooms"].household
    assert not found.schema["age"].household
    assert any("30 households" in guess.value for guess in found.reasons("hhid"))


def test_households_of_half_the_file_are_none() -> None:
    rows = 200
    homes = ["0"] * 150 + [str(at) for at in range(1, 51)]
    table = pl.DataFrame({"hhid": homes, "age": [20 + at % 40 for at in range(rows)]})
    found = describe_records(Frame.of(table), Schema((Variable("hhid"), Variable("age"))), declared=False)
    assert found.schema["hhid"].role is Role.OTHER


def test_codes_for_not_known_are_missing() -> None:
    values = [-9 if at % 10 == 0 else 20 + at % 40 for at in range(N)]
    found = described(age=values)
    assert found.schema["age"].missing == ("-9",)
    (guess,) = [one for one in found.reasons("age") if one.fact == "missing"]
    assert guess.value == "1 codes in 6 records"


def test_codes_of_one_length_have_levels() -> None:
    codes = [f"{1 + at % 3}{at % 5}" for at in range(N)]
    found = described(nace=codes)
    assert found.schema["nace"].digits == (1, 1)
    assert found.schema["nace"].kind is Kind.NOMINAL
    assert described(other=codes).schema["other"].digits == ()


def test_columns_that_follow_from_a_finer_one_make_its_tree() -> None:
    towns = [f"t{at % 12:02}" for at in range(N)]
    land = [f"land {int(town[1:]) // 4}" for town in towns]
    found = described(town=towns, land=land)
    tree = found.schema["town"].hierarchy
    assert tree is not None
    above = dict(zip(tree.codes, tree.parents, strict=True))
    assert {tree.codes[above[town]] for town in ("t00", "t01", "t03")} == {"land 0"}
    assert "each code belongs to one of land" in next(g.reason for g in found.reasons("town") if g.fact == "hierarchy")


def test_what_is_declared_is_not_guessed_but_identifiers_are_told() -> None:
    found = described(declared=True, surname=OWN, sex=TEXTS, income=MONEY)
    roles = {v.name: v.role for v in found.schema.variables}
    assert roles == {"surname": Role.IDENTIFIER, "sex": Role.OTHER, "income": Role.SENSITIVE}
    assert "kind" not in found.schema["sex"].guessed


def test_a_column_without_a_value_is_of_no_kind_that_could_matter() -> None:
    found = described(empty=[None] * N, sex=TEXTS)
    assert found.schema["empty"].kind is Kind.NOMINAL
    assert found.schema["empty"].role is Role.OTHER
