"""Mappings of recodings: what each new code stands for, from declarations and the published file alone."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import reticent as rt
from command_line import CommandLine
from reticent import mask
from reticent.base.errors import ParameterError
from reticent.data.hierarchy import Hierarchy
from reticent.data.mapping import Mapped
from reticent.data.schema import Kind, Role, Schema, Variable

TREE = Hierarchy.from_children({"Total": ["N", "S", "W"], "N": ["N1", "N2"], "S": ["S1", "S2"], "W": ["W1"]})
AGE = Variable("age", Role.KEY, Kind.NUMERIC)
REGION = Variable("region", Role.KEY, hierarchy=TREE)
ROWS = {"age": [17, 30, 42, 70] * 5, "region": ["N1", "N2", "S1", "S1"] * 5, "nace": ["101", "102", "201", "202"] * 5}


def recoded(*steps: Any, variables: tuple[Variable, ...] = (AGE, REGION), rows: Any = None) -> tuple[Mapped, ...]:
    frame = pl.DataFrame(rows or ROWS).select([v.name for v in variables])
    data = rt.load(frame, schema=Schema(variables))
    found: tuple[Mapped, ...] = data.protect(list(steps), most=1.0).release().recodings
    return found


def lines(rows: tuple[Mapped, ...]) -> list[tuple[str, str, str]]:
    return [(row.given, row.old, row.new) for row in rows]


def test_bands_are_ranges() -> None:
    assert lines(recoded(mask.Recode("age", bands=(16, 35, 65)))) == [
        ("range", "16 to <35", "16-34"), ("range", "35 to <65", "35-64"), ("range", "65+", "65+"),
    ]  # fmt: skip


def test_a_level_lists_the_declared_leaves_under_codes_that_are_published() -> None:
    assert lines(recoded(mask.Recode("region", level=1))) == [
        ("code", "N1", "N"), ("code", "N2", "N"), ("code", "S1", "S"), ("code", "S2", "S"),
    ]  # S2 is declared and in no record; W is declared and not published  # fmt: skip


def test_two_recodings_of_a_variable_are_one_mapping() -> None:
    steps = (mask.Recode("region", level=1), mask.Recode("region", map={"N": "north", "S": "rest", "W": "rest"}))
    assert lines(recoded(*steps)) == [
        ("code", "N1", "north"), ("code", "N2", "north"), ("code", "S1", "rest"), ("code", "S2", "rest"), ("code", "W1", "rest"),
    ]  # fmt: skip


def test_generalized_levels_are_listed_as_chosen() -> None:
    variables = (REGION,)
    found = recoded(mask.Generalize(keys=("region",), k=10), variables=variables, rows={"region": ROWS["region"]})
    assert {(row.old, row.new) for row in found} == {("N1", "N"), ("N2", "N"), ("S1", "S"), ("S2", "S")}


def test_rules_and_kept_codes() -> None:
    nace = Variable("nace", Role.KEY)
    steps = mask.Recode("nace", rules=("a: 101-102", "b: 201, 202"))
    assert lines(recoded(steps, variables=(nace,))) == [
        ("range", "101-102", "a"), ("code", "201", "b"), ("code", "202", "b"),
    ]  # fmt: skip
    listed = replace(nace, codes=("101", "102", "201", "202", "301"))
    kept = mask.Recode("nace", map={"101": "10", "102": "10"}, keep=True)
    assert lines(recoded(kept, variables=(listed,))) == [
        ("code", "101", "10"), ("code", "102", "10"), ("code", "201", "201"), ("code", "202", "202"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "variable",
    [
        Variable("nace", Role.KEY),
        Variable("nace", Role.KEY, digits=(2, 1)),
        Variable("nace", Role.KEY, codes=("101", "102", "201", "202"), guessed=("codes",)),
    ],
    ids=["nothing declared", "digits", "guessed"],
)
def test_codes_that_only_records_have_are_never_listed(variable: Variable) -> None:
    step = mask.Recode("nace", level=1) if variable.digits else mask.Recode("nace", truncate=1)
    assert lines(recoded(step, variables=(variable,))) == [("pattern", "10?", "10"), ("pattern", "20?", "20")]


def test_a_guessed_tree_is_not_listed() -> None:
    assert recoded(mask.Recode("region", level=1), variables=(replace(REGION, guessed=("hierarchy",)),)) == ()


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (mask.TopCode("age", value=65, label="65 and over"), [("range", ">65", "65 and over")]),
        (mask.TopCode("age", value=65), [("range", ">65", "65")]),
        (mask.BottomCode("age", value=20, replacement=18.0), [("range", "<20", "18")]),
        (mask.TopCode("age", quantile=0.7), []),
    ],
)
def test_limits_are_listed_where_they_were_declared(step: Any, expected: list[tuple[str, str, str]]) -> None:
    assert lines(recoded(step, variables=(AGE,))) == expected


def test_what_is_removed_has_no_mapping() -> None:
    removed = mask.RemoveIdentifiers(("region",))
    assert recoded(mask.Recode("region", level=1), removed) == ()


def test_python_writes_them_beside_the_file(tmp_path: Path) -> None:
    data = rt.load(pl.DataFrame({"age": ROWS["age"]}), schema=Schema((AGE,)))
    masked = data.protect([mask.Recode("age", bands=(-5, 35))], most=1.0).release()
    masked.write(tmp_path / "safe.csv", recodings=tmp_path / "recodings.csv")
    with (tmp_path / "recodings.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["variable", "given", "old", "new"],
        ["age", "range", "'-5 to <35", "'-5-34"],
        ["age", "range", "35+", "35+"],
    ]
    with pytest.raises(ParameterError, match="written as .csv"):
        masked.write(tmp_path / "other.csv", recodings=tmp_path / "recodings.txt")
    assert not (tmp_path / "other.csv").exists()


PLAN = """
[data]
path = "people.csv"
secret = 7
test_secret = true
[risk]
most = 1.0
keys = ["age"]
[[step]]
method = "recode"
variable = "age"
bands = [16, 35]
[output]
path = "safe.csv"
summary = "s.json"
"""


@pytest.mark.parametrize("way", ["plan", "command"])
def test_plans_and_the_command_line_write_them(
    way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "people.csv").write_text("age\n" + "17\n40\n" * 10, encoding="utf-8")
    asked = 'recodings = "recodings.csv"\n' if way == "plan" else ""
    (tmp_path / "p.toml").write_text(PLAN + asked, encoding="utf-8")
    reticent = CommandLine(capsys, monkeypatch)
    more = ["--recodings", tmp_path / "recodings.csv"] if way == "command" else []
    done = reticent("protect", tmp_path / "p.toml", *more)
    assert done.code == 0, done.err
    assert "publishable" in done.out
    assert "recodings.csv" in "".join(done.out.split())  # a long folder breaks the line
    assert (tmp_path / "recodings.csv").read_text(encoding="utf-8") == (
        "variable,given,old,new\nage,range,16 to <35,16-34\nage,range,35+,35+\n"
    )
