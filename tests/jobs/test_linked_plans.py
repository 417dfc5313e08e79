"""Linked tables in plans do what they do in batch files: table files, a-priori files, the same records."""

import csv
import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from command_line import CommandLine
from reference.table_plans import table_plan_to_toml
from reticent.base.errors import DataError, PlanError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.data.table_plan import read_table_plan, table_plan_from
from reticent.jobs.argus.run import run_batch
from reticent.jobs.protect_table import audit_plan, protect_table
from reticent.tables.attack import audit
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import PPercent
from reticent.tables.suppression import Modular

RECORDS = [
    ("a", "N", "1", 90), ("a", "N", "1", 4), ("a", "N", "2", 3), ("a", "S", "2", 31), ("a", "S", "1", 35), ("a", "S", "2", 33),
    ("b", "N", "1", 25), ("b", "N", "2", 27), ("b", "N", "2", 22), ("b", "S", "1", 41), ("b", "S", "1", 44), ("b", "S", "2", 39),
    ("c", "N", "2", 19), ("c", "N", "1", 21), ("c", "N", "1", 24), ("c", "S", "2", 70), ("c", "S", "2", 55), ("c", "S", "1", 61),
]  # fmt: skip
OTHERS = {"one": "Region", "two": "Year"}


def table_of(column: int) -> dict[tuple[str, str], tuple[int, int, int, int]]:
    """Value, count and the two largest of every cell of Size × another variable, totals included."""
    found: dict[tuple[str, str], list[int]] = {}
    for record in RECORDS:
        for size in (record[0], "Total"):
            for other in (record[column], "Total"):
                found.setdefault((size, str(other)), []).append(record[3])
    return {c: (sum(v), len(v), *sorted(v, reverse=True)[:2]) for c, v in found.items()}  # type: ignore[misc]


def lines(name: str, unsafe: str = "") -> str:
    """A table file without names: codes, value, count, largest, second, status."""
    cells = table_of(1 if name == "one" else 2)
    return "".join(
        f"{';'.join(c)};{';'.join(map(str, n))};{'u' if ';'.join(c) == unsafe else 's'}\n" for c, n in cells.items()
    )


def write_tables(folder: Path, **unsafe: str) -> None:
    """Both tables, as a batch file and as a plan read them."""
    for name, other in OTHERS.items():
        text = lines(name, unsafe.get(name, ""))
        (folder / f"{name}.tab").write_text(text)
        (folder / f"{name}.csv").write_text(f"Size;{other};Value;n;x1;x2;status\n{text}")
        (folder / f"{name}.rda").write_text(
            f'<SEPARATOR> ";"\n<SAFE> s\n<UNSAFE> u\n<PROTECT> z\nSize\n  <RECODEABLE>\n  <TOTCODE> "Total"\n{other}\n'
            '  <RECODEABLE>\n  <TOTCODE> "Total"\nValue\n  <NUMERIC>\nn\n  <FREQUENCY>\nx1\n  <MAXSCORE>\nx2\n  <MAXSCORE>\n'
            "Status\n  <STATUS>\n"
        )


ARB = """<OPENTABLEDATA> "one.tab"
<OPENMETADATA> "one.rda"
<SPECIFYTABLE> "Size""Region"|"Value"||
<SAFETYRULE> {one}
<OPENTABLEDATA> "two.tab"
<OPENMETADATA> "two.rda"
<SPECIFYTABLE> "Size""Year"|"Value"||
<SAFETYRULE> {two}
<READTABLE> 0
"""
FINISHED = """[data]
path = "one.csv"
[[table]]
dimensions = ["Size", "Region"]
finished = {{ value = "Value", count = "n", top = ["x1", "x2"], status = "status", separator = ";" }}
rules = [{one}]
{known_one}
[[table]]
dimensions = ["Size", "Year"]
finished = {{ path = "two.csv", value = "Value", count = "n", top = ["x1", "x2"], status = "status", separator = ";" }}
rules = [{two}]
{known_two}
[protect]
method = "modular"
[output]
path = "out.csv"
"""
P15 = '{ rule = "p-percent", p = 15 }'
FREQ4 = '{ rule = "threshold", minimum = 4, protection = 20 }'


def finished_plan(folder: Path, one: str = P15, two: str = P15, *, known: tuple[str, str] = ("", "")) -> Path:
    files = [f'a_priori = "{name}"' if name else "" for name in known]
    path = folder / "plan.toml"
    path.write_text(FINISHED.format(one=one, two=two, known_one=files[0], known_two=files[1]))
    return path


def named(result: ProtectedTable) -> dict[str, set[str]]:
    """Unsafe and hidden cells by name."""
    return {
        "unsafe": {result.table.name_of(int(c)) for c in np.flatnonzero(result.verdict.primary)},
        "hidden": {result.table.name_of(int(c)) for c in np.flatnonzero(result.outcome.hidden)},
    }


def batch_result(folder: Path, text: str) -> ProtectedTable:
    (folder / "run.arb").write_text(text)
    return run_batch(folder / "run.arb").tables[1]


@pytest.mark.parametrize(
    "rules, calls",
    [((P15, P15), ("P(15,1)", "P(15,1)")), ((P15, FREQ4), ("P(15,1)", "FREQ(4,20)")), (("", ""), ("", ""))],
)
def test_linked_table_files_are_protected_as_in_a_batch_file(
    tmp_path: Path, rules: tuple[str, str], calls: tuple[str, str]
) -> None:
    """Each table has its own rules, and what its file declares counts too."""
    write_tables(tmp_path, two="b;1")
    ours = audit_plan(finished_plan(tmp_path, *rules))
    theirs = batch_result(tmp_path, ARB.format(one=calls[0], two=calls[1]) + "<SUPPRESS> MOD(0)\n")
    assert named(ours) == named(theirs)
    assert "b × Total × 1" in named(ours)["unsafe"]
    assert ours.table.n_cells == 12 + 12 - 4
    assert ours.outcome.cost == theirs.outcome.cost
    assert ours.exposed == ()
    assert audit(ours.problem, ours.outcome.hidden).n_exposed == 0


def test_outputs_of_linked_table_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tables(tmp_path)
    ran = CommandLine(capsys, monkeypatch)("table", finished_plan(tmp_path))
    assert ran.code == 0, ran.err
    written = []
    for number in (1, 2):
        with (tmp_path / f"out-{number}.csv").open() as file:
            written.append({(row[0], row[1]): row[-1] for row in list(csv.reader(file, delimiter=";"))[1:]})
    assert written[0]["a", "N"] == "hidden"
    assert all(written[0][size, "Total"] == written[1][size, "Total"] for size in ("a", "b", "c", "Total"))


@pytest.mark.parametrize("known", [("a;S;P\n", ""), ("", "b;Total;M\n"), ("b;N;U\n", "c;1;C;1\nc;2;PL;3;4\nc;2;U\n")])
def test_a_priori_files_of_linked_table_files(tmp_path: Path, known: tuple[str, str]) -> None:
    write_tables(tmp_path)
    names = []
    for name, text in zip(("one.hst", "two.hst"), known, strict=True):
        (tmp_path / name).write_text(text)
        names.append(name if text else "")
    ours = audit_plan(finished_plan(tmp_path, known=(names[0], names[1])))
    said = "".join(f'<APRIORI> "{name}",{at},";",0,1\n' for at, name in enumerate(names, start=1) if name)
    theirs = batch_result(tmp_path, ARB.format(one="P(15,1)", two="P(15,1)") + said + "<SUPPRESS> MOD(0)\n")
    assert named(ours) == named(theirs)
    assert ours.outcome.cost == theirs.outcome.cost
    assert ours.exposed == ()


def test_an_a_priori_file_stands_above_the_status_of_the_table(tmp_path: Path) -> None:
    write_tables(tmp_path, two="b;1")
    (tmp_path / "two.hst").write_text("b;1;S\n")
    result = audit_plan(finished_plan(tmp_path, known=("", "two.hst")))
    assert "b × Total × 1" not in named(result)["unsafe"]


def test_contradictions_between_the_files_of_two_tables_are_told(tmp_path: Path) -> None:
    """The total of b is in both tables."""
    write_tables(tmp_path)
    (tmp_path / "one.hst").write_text("b;Total;P\n")
    (tmp_path / "two.hst").write_text("b;Total;M\n")
    with pytest.raises(
        DataError, match=r"two.hst, line 1: .* is declared hidden here and protected in one.hst, line 1"
    ):
        audit_plan(finished_plan(tmp_path, known=("one.hst", "two.hst")))


MICRO = """[data]
path = "data.csv"
schema = "data.toml"
[[table]]
dimensions = ["Size", "Region"]
response = "Value"
rules = [{ rule = "p-percent", p = 15 }]
a_priori = "known.hst"
[[table]]
dimensions = ["Size", "Year"]
response = "Value"
[protect]
method = "modular"
"""
SCHEMA = """[[variable]]
name = "Size"
[[variable]]
name = "Region"
[[variable]]
name = "Year"
[[variable]]
name = "Value"
kind = "numeric"
"""
RDA = """<SEPARATOR> ";"
Size 1
  <RECODEABLE>
Region 1
  <RECODEABLE>
Year 1
  <RECODEABLE>
Value 5
  <NUMERIC>
"""
MICRO_ARB = """<OPENMICRODATA> "data.asc"
<OPENMETADATA> "data.rda"
<SPECIFYTABLE> "Size""Region"|"Value"||
<SAFETYRULE> P(15,1)
<SPECIFYTABLE> "Size""Year"|"Value"||
<SAFETYRULE> P(15,1)
<READMICRODATA>
<APRIORI> "known.hst",1,";",0,1
<SUPPRESS> MOD(0)
"""


def write_records(folder: Path, records: list[tuple[str, str, str, int]]) -> Path:
    text = "\n".join(";".join(map(str, record)) for record in records) + "\n"
    (folder / "data.asc").write_text(text)
    (folder / "data.csv").write_text("Size,Region,Year,Value\n" + text.replace(";", ","))
    (folder / "data.rda").write_text(RDA)
    (folder / "data.toml").write_text(SCHEMA)
    (folder / "plan.toml").write_text(MICRO)
    return folder / "plan.toml"


def test_a_priori_files_of_linked_tables_from_records(tmp_path: Path) -> None:
    """a × S is frozen, so the total of a must be hidden, and with it something in the second table."""
    (tmp_path / "known.hst").write_text("a;S;P\n")
    ours = audit_plan(write_records(tmp_path, RECORDS))
    theirs = batch_result(tmp_path, MICRO_ARB)
    assert named(ours) == named(theirs)
    assert "a × Total × Total" in named(ours)["hidden"]
    assert ours.exposed == ()


def test_the_same_records_under_other_codes_are_the_same_cell(tmp_path: Path) -> None:
    """All records of a in N are of year 1 and the others are not: a × N and a × 1 are one cell."""
    moved = [(s, r, ("1" if r == "N" else "2") if s == "a" else y, v) for s, r, y, v in RECORDS]
    (tmp_path / "known.hst").write_text("a;N;U\n")
    ours = audit_plan(write_records(tmp_path, moved))
    assert ours.problem.relations.n_rows == 7 + 7 + 2  # a × N = a × 1 and a × S = a × 2
    assert {"a × N × Total", "a × Total × 1"} <= named(ours)["hidden"]
    assert named(ours) == named(batch_result(tmp_path, MICRO_ARB))


def test_the_python_call_knows_the_same_records_too() -> None:
    moved = [(s, r, ("1" if r == "N" else "2") if s == "a" else y, v) for s, r, y, v in RECORDS]
    frame = pl.DataFrame(moved, schema=["Size", "Region", "Year", "Value"], orient="row")
    keys = tuple(Variable(name, role=Role.KEY) for name in ("Size", "Region", "Year"))
    data = Microdata.of(frame, Schema((*keys, Variable("Value", kind=Kind.NUMERIC))))
    specs = [TableSpec((DimensionSpec("Size"), DimensionSpec(n)), response="Value") for n in ("Region", "Year")]
    found = protect_table(data, specs, rules=[PPercent(p=15)], method=Modular(), secret=1, test_secret=True)
    assert found.problem.relations.n_rows == 7 + 7 + 2
    assert {"a × N × Total", "a × Total × 1"} <= named(found)["hidden"]
    assert found.exposed == ()


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("rules", "weighted = true\nrules", "weighted needs records; a finished table has none"),
        ("rules", "zeros = true\nrules", "zeros needs records; a finished table has none"),
        ('path = "two.csv"', 'path = "three.csv"', "three.csv"),
        ('finished = { path = "two.csv"', '# { path = "two.csv"', "from microdata or from table files, not from both"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    write_tables(tmp_path)
    path = finished_plan(tmp_path)
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises((PlanError, DataError), match=words):
        audit_plan(path)


def test_tables_of_different_records_are_refused(tmp_path: Path) -> None:
    write_tables(tmp_path)
    text = (tmp_path / "two.csv").read_text().replace("a;1;129", "a;1;130")
    text = (
        text.replace("a;Total;196", "a;Total;197")
        .replace("Total;1;345", "Total;1;346")
        .replace("Total;Total;644", "Total;Total;645")
    )
    (tmp_path / "two.csv").write_text(text)
    with pytest.raises(DataError, match="linked tables: 2 cells have different values in two tables"):
        audit_plan(finished_plan(tmp_path))


def test_plans_come_back_from_their_text(tmp_path: Path) -> None:
    write_tables(tmp_path)
    plan = read_table_plan(finished_plan(tmp_path))
    again = table_plan_from(tomllib.loads(table_plan_to_toml(plan)), owner="again", folder=tmp_path)
    assert again == plan
