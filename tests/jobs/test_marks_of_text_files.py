"""A protected file has the separator and the decimal mark of the data, or those that its plan asks for."""

import csv
from pathlib import Path

import pytest

import reticent as rt
from command_line import CommandLine
from reticent import rules
from reticent.base.errors import ParameterError, PlanError
from reticent.io.published import read_published_table

SCHEMA = """
[[variable]]
name = "region"
role = "key"
[[variable]]
name = "pay"
role = "other"
kind = "numeric"
decimals = 1
"""
PLAN = """
[data]
path = "a.csv"
schema = "a.schema.toml"
secret = 7
test_secret = true
[risk]
most = 1.0
attacks = ["recount"]
[output]
path = "{path}"
summary = "s.json"
{marks}
"""


@pytest.fixture
def reticent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(capsys, monkeypatch)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = "".join(f"{'north' if at % 2 else 'south'};{at},5\n" for at in range(40))
    (tmp_path / "a.csv").write_text("region;pay\n" + rows, encoding="utf-8")
    (tmp_path / "a.schema.toml").write_text(SCHEMA, encoding="utf-8")
    return tmp_path


def test_marks_are_as_asked(reticent: CommandLine, folder: Path) -> None:
    text = PLAN.format(path="safe.csv", marks="separator = ';'\ndecimal = ','")
    (folder / "p.toml").write_text(text, encoding="utf-8")
    done = reticent("protect", folder / "p.toml")
    assert done.code == 0, done.err
    with (folder / "safe.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    assert {row["pay"] for row in rows} == {f"{at},5" for at in range(40)}


@pytest.mark.parametrize(
    ("path", "marks", "words"),
    [
        ("safe.csv", "separator = ','\ndecimal = ','", "a decimal comma needs another separator"),
        ("safe.parquet", "separator = ';'", "are for .csv files"),
        ("safe.csv", "separator = 'x'", "separator"),
        ("safe.csv", "recodings = 'r.txt'", "recodings are written as .csv"),
    ],
)
def test_marks_that_cannot_be_are_one_sentence(
    reticent: CommandLine, folder: Path, path: str, marks: str, words: str
) -> None:
    (folder / "p.toml").write_text(PLAN.format(path=path, marks=marks), encoding="utf-8")
    refused = reticent("protect", folder / "p.toml")
    assert refused.code != 0
    assert words in refused.err
    assert refused.err.count("\n") == 1
    assert not (folder / path).exists()


@pytest.mark.parametrize(
    ("marks", "first", "pay"),
    [
        ("", "region;pay", "0,5"),
        ("decimal = '.'", "region;pay", "0.5"),
        ("separator = '|'", "region|pay", "0,5"),
        ("separator = ','", "region,pay", "0.5"),
    ],
)
def test_open_marks_are_those_of_the_data(
    reticent: CommandLine, folder: Path, marks: str, first: str, pay: str
) -> None:
    (folder / "p.toml").write_text(PLAN.format(path="safe.csv", marks=marks), encoding="utf-8")
    done = reticent("protect", folder / "p.toml")
    assert done.code == 0, done.err
    lines = (folder / "safe.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == first
    assert any(line.endswith(pay) for line in lines)


def test_a_decimal_comma_between_commas_takes_a_semicolon(reticent: CommandLine, folder: Path) -> None:
    (folder / "a.csv").write_text("region,pay\n" + "north,1.5\nsouth,2.5\n" * 10, encoding="utf-8")
    (folder / "p.toml").write_text(PLAN.format(path="safe.csv", marks="decimal = ','"), encoding="utf-8")
    assert reticent("protect", folder / "p.toml").code == 0
    assert (folder / "safe.csv").read_text(encoding="utf-8").startswith("region;pay\n")


@pytest.mark.parametrize(
    ("values", "said", "words"),
    [
        (("1,234", "2.5"), "", "may be a mark of thousands"),
        (("1,5", "2.500"), "", "may be a mark of thousands"),
        (("1.234", "2,5"), "decimal = ','", "values that are not numbers: 10"),
        (("1,234", "2.5"), "decimal = '.'", "values that are not numbers: 10"),
        (("1", "2"), "decimal = ';'", "decimal must be one of '.', ','"),
    ],
)
def test_numbers_that_could_mean_two_things_are_refused(
    reticent: CommandLine, folder: Path, values: tuple[str, str], said: str, words: str
) -> None:
    rows = "".join(f"north;{values[at % 2]}\n" for at in range(20))
    (folder / "a.csv").write_text("region;pay\n" + rows, encoding="utf-8")
    text = PLAN.format(path="safe.csv", marks="").replace("secret = 7", f"{said}\nsecret = 7")
    (folder / "p.toml").write_text(text, encoding="utf-8")
    refused = reticent("protect", folder / "p.toml")
    assert refused.code != 0
    assert words in refused.err
    assert refused.err.count("\n") == 1
    assert not (folder / "safe.csv").exists()


def test_python_reads_and_writes_the_same_marks(folder: Path) -> None:
    data = rt.load(folder / "a.csv", schema=folder / "a.schema.toml", decimal=",")
    masked = data.protect([], most=1.0).release()
    masked.write(folder / "same.csv")
    masked.write(folder / "other.csv", separator="\t", decimal=".")
    masked.write(folder / "safe.tsv")
    found = {name: (folder / name).read_text(encoding="utf-8") for name in ("same.csv", "other.csv", "safe.tsv")}
    assert "north;1,5\n" in found["same.csv"]
    assert "north\t1.5\n" in found["other.csv"]
    assert "north\t1,5\n" in found["safe.tsv"]
    with pytest.raises(ParameterError, match="another separator"):
        masked.write(folder / "no.csv", separator=",", decimal=",")
    with pytest.raises(ParameterError, match="separator must be one of ',', ';'"):
        masked.write(folder / "no.csv", separator="x")
    with pytest.raises(ParameterError, match="for text files; the source is a frame"):
        rt.load(masked.to_frame(), separator=";")


def test_missing_codes_among_numbers_keep_their_points(folder: Path) -> None:
    rows = "".join(f"north;{at},5\n" for at in range(20)) + "north;n.a.\n"
    (folder / "a.csv").write_text("region;pay\n" + rows, encoding="utf-8")
    (folder / "a.schema.toml").write_text(SCHEMA + 'missing = ["n.a."]\n', encoding="utf-8")
    data = rt.load(folder / "a.csv", schema=folder / "a.schema.toml", decimal=",")
    data.protect([], most=1.0).release().write(folder / "safe.csv")
    written = (folder / "safe.csv").read_text(encoding="utf-8")
    assert "north;n.a.\n" in written
    assert "north;3,5\n" in written


def test_tables_are_written_as_asked_and_read_back(folder: Path) -> None:
    data = rt.load(folder / "a.csv", schema=folder / "a.schema.toml", sensitive=["pay"])
    table = data.tabulate("region", response="pay").protect(rules=[rules.Threshold(3)]).release()
    table.write(folder / "t.csv", separator=";", decimal=",")
    assert "region;value;status\n" in (folder / "t.csv").read_text(encoding="utf-8")
    again = read_published_table(folder / "t.csv")
    assert again.values.tolist() == table.values.tolist()
    assert again.decimals == 1
    with pytest.raises(PlanError, match="has its own"):
        table.write(folder / "t.px", separator=";")


TABLE = """
[data]
path = "a.csv"
{schema}
[table]
dimensions = ["region"]
response = "pay"
rules = [{{ rule = "threshold", minimum = 3 }}]
{finished}
[output]
path = "t.csv"
{marks}
"""


@pytest.mark.parametrize(
    ("marks", "first", "last"),
    [
        ("", "region;value;status", "Total;800,0;published"),
        ("separator = ','\ndecimal = '.'", "region,value,status", "Total,800.0,published"),
        ("decimal = '.'", "region;value;status", "Total;800.0;published"),
    ],
)
def test_a_table_of_a_plan_has_the_marks_of_its_data_or_those_asked_for(
    reticent: CommandLine, folder: Path, marks: str, first: str, last: str
) -> None:
    text = TABLE.format(schema="schema = 'a.schema.toml'", finished="", marks=marks)
    (folder / "p.toml").write_text(text, encoding="utf-8")
    done = reticent("table", folder / "p.toml")
    assert done.code == 0, done.err
    assert (folder / "t.csv").read_text(encoding="utf-8").splitlines()[:2] == [first, last]


def test_a_finished_table_keeps_its_marks(reticent: CommandLine, folder: Path) -> None:
    cells = "region;pay;n\nTotal;10,5;9\nnorth;4,0;4\nsouth;6,5;5\n"
    (folder / "a.csv").write_text(cells, encoding="utf-8")
    finished = 'finished = { value = "pay", count = "n" }'
    (folder / "p.toml").write_text(TABLE.format(schema="", finished=finished, marks=""), encoding="utf-8")
    done = reticent("table", folder / "p.toml")
    assert done.code == 0, done.err
    assert "Total;10,5;published" in (folder / "t.csv").read_text(encoding="utf-8")


def test_a_table_in_python_has_the_marks_of_its_data(folder: Path) -> None:
    data = rt.load(folder / "a.csv", schema=folder / "a.schema.toml", sensitive=["pay"])
    table = data.tabulate("region", response="pay").protect(rules=[rules.Threshold(3)]).release()
    table.write(folder / "t.csv")
    assert "Total;800,0;published" in (folder / "t.csv").read_text(encoding="utf-8")
    table.share_of("region").write(folder / "s.csv")
    assert "Total;100,0000;published" in (folder / "s.csv").read_text(encoding="utf-8")
    frame = rt.load(data.confidential_frame(), sensitive=["pay"])
    frame.tabulate("region", response="pay").protect(rules=[rules.Threshold(3)]).release().write(folder / "f.csv")
    assert "Total,800.0,published" in (folder / "f.csv").read_text(encoding="utf-8")
