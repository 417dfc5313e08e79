"""Batch files of tau-ARGUS: every command, wrong lines named, all output types, tables read back."""

import csv
from pathlib import Path

import pytest

from reticent.base.errors import NotProtectedError, PlanError, ReticentError
from reticent.io.argus_batch import read_batch
from reticent.jobs.argus.rules import rules_of_calls
from reticent.jobs.argus.run import run_batch
from reticent.tables.rules import PQ, Dominance, Manual, PPercent, Request, Threshold, Zero

DATA = "\n".join(
    f"{industry};{region};{size};{value};{weight};{request}"
    for industry, region, size, value, weight, request in [
        ("A1", "N", "s", 100, 1, 0), ("A1", "N", "m", 3, 1, 0), ("A1", "N", "s", 2, 1, 0), ("A2", "S", "m", 40, 2, 1),
        ("A2", "S", "s", 30, 2, 0), ("A2", "S", "m", 30, 1, 0), ("A2", "N", "s", 25, 1, 0), ("A2", "N", "m", 25, 1, 2),
        ("B1", "N", "s", 30, 1, 0), ("B1", "N", "m", 28, 3, 0), ("B1", "N", "m", 31, 1, 0), ("B1", "S", "s", 60, 1, 0),
        ("B1", "S", "s", 50, 1, 0), ("B1", "S", "m", 40, 1, 0), ("A1", "S", "m", 33, 1, 0), ("A1", "S", "s", 35, 1, 0),
        ("A1", "S", "s", 31, 1, 0), ("A2", "N", "s", 27, 1, 0),
    ]
)  # fmt: skip
RDA = """<SEPARATOR> ";"
Industry 2
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERLEVELS> 1 1
Region 1
  <RECODEABLE>
Size 1
  <RECODEABLE>
Value 5
  <NUMERIC>
Weight 2
  <NUMERIC>
  <WEIGHT>
Request 1
  <REQUEST> "1" "2"
"""
HEAD = """// a comment
<COMMENT> another
<LOGBOOK> "run.log"
<OPENMICRODATA> "DATA.ASC"
<OPENMETADATA> "data.rda"
<SPECIFYTABLE> "Industry""Region"|"Value"|""|""
<SAFETYRULE> P(15,1)|FREQ(3,20)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data.asc").write_text(DATA + "\n")
    (tmp_path / "data.rda").write_text(RDA)
    return tmp_path


def run(folder: Path, text: str, **options: bool | int) -> object:
    """Run a batch text."""
    (folder / "run.arb").write_text(text)
    return run_batch(folder / "run.arb", **options)


def rows_of(path: Path) -> list[list[str]]:
    """The rows of a CSV file."""
    with path.open() as file:
        return list(csv.reader(file))


def test_rules_of_a_batch_line() -> None:
    line = (
        "P(15,2)|P(0)|P(10,50,1)|NK(3,75)|NK(0,0)|FREQ(3,30)|FREQ(2,10)|ZERO(5)|REQ(10,20,3,15)|WGT(1)|MIS(1)|MAN(25)"
    )
    calls = read_batch_text("<SAFETYRULE> " + line)[0].calls
    rules = rules_of_calls(calls, holdings=True)
    assert rules == (
        PPercent(p=15, coalition=2, unit="record"),
        PQ(p=10, q=50, coalition=1, unit="respondent"),
        Dominance(n=3, k=75, unit="record"),
        Threshold(minimum=3, protection=30, weighted=True, unit="record"),
        Threshold(minimum=2, protection=10, weighted=True, unit="respondent"),
        Zero(range=5, unit="record"),
        Request(percent1=10, percent2=20, minimum=3, protection=15, unit="record"),
        Manual(protection=25),
    )


def read_batch_text(text: str) -> list:
    """Parse a batch text."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "x.arb"
        path.write_text(text)
        return read_batch(path)


def test_every_output_type(folder: Path) -> None:
    text = HEAD + "<READMICRODATA>\n" + "".join(
        f'<WRITETABLE> (1,{kind},{options},"out{kind}.txt")\n'
        for kind, options in ((1, ""), (2, "AS+"), (3, "SE+QU-"), (4, "HL+"), (5, ""), (6, "TR+"))
    )  # fmt: skip
    result = run(folder, text, accept_exposed=True)
    assert len(result.files) == 9  # six tables, metadata and a hierarchy of the intermediate one, the log
    pivot = rows_of(folder / "out2.txt")
    assert pivot[0] == ["Industry", "Region", "Value", "Status"]
    assert pivot[1] == ["Total", "Total", "620", "1"]
    assert ["A1", "N", "105", "3"] in pivot
    plain = rows_of(folder / "out3.txt")
    assert ["A1", "N", "x"] in plain
    assert rows_of(folder / "out1.txt")[0] == ["", "Total", "N", "S"]
    sbs = rows_of(folder / "out4.txt")
    assert ["A1", "2", "N", "1", "105", "3", "B", "95.2"] in sbs
    assert (folder / "out6.txt").read_text().startswith("0\n")
    assert (folder / "run.log").read_text().startswith("READMICRODATA: 18 records.")


def test_an_intermediate_table_reads_back(folder: Path) -> None:
    first = run(folder, HEAD + '<READMICRODATA>\n<WRITETABLE> (1,5,,"mid.tab")\n')
    again = """<OPENTABLEDATA> "mid.tab"
<OPENMETADATA> "mid.rda"
<SPECIFYTABLE> "Industry""Region"|"Value"||
<SAFETYRULE>
<READTABLE> {mode}
<WRITETABLE> (1,3,AS+,"back.txt")
"""
    second = run(folder, again.format(mode=0))
    one, two = first.tables[1], second.tables[1]
    assert two.counts() == one.counts()
    primary = one.table.find(("A1", "N"))
    assert two.verdict.upper_protection[two.table.find(("A1", "N"))] == one.verdict.upper_protection[primary]
    assert ["A1", "N", "105", "9"] in rows_of(folder / "back.txt")
    lines = [
        line for line in (folder / "mid.tab").read_text().splitlines() if '"Total"' not in line and '"A"' not in line
    ]
    (folder / "mid.tab").write_text("\n".join(line for line in lines if '"B"' not in line) + "\n")
    completed = run(folder, again.format(mode="1T"))
    assert completed.tables[1].table.values.tolist() == one.table.values.tolist()


def test_recodes_a_priori_and_requests(folder: Path) -> None:
    (folder / "known.hst").write_text("A1,N,S\nB1,S,U\nA1,,P\n")
    (folder / "all.grc").write_text("1: m, s\n")
    (folder / "tree.grc").write_text("<TREERECODE>\nA\n")
    text = (
        HEAD
        + '<SPECIFYTABLE> "Industry""Size"|"Value"|"Value"|-2\n<SAFETYRULE> NK(1,90)|REQ(40,40,1,20)|WGT(1)\n'
        + '<READMICRODATA>\n<APRIORI> "known.hst",1,",",0,0\n<RECODE> 2, Size, "all.grc"\n<RECODE> 2, "Industry", "tree.grc"\n'
        + '<WRITETABLE> (1,3,AS+,"one.txt")\n<WRITETABLE> (2,3,AS+,"two.txt")\n<GOINTERACTIVE>\n<SUPPRESS> MOD(1)\n'
    )  # fmt: skip
    result = run(folder, text)
    assert ["B1", "S", "150", "9"] in rows_of(folder / "one.txt")
    assert ["A1", "Total", "204", "10"] in rows_of(folder / "one.txt")
    assert ["A1", "N", "105", "1"] in rows_of(folder / "one.txt")
    codes = {(row[0], row[1]) for row in rows_of(folder / "two.txt")}
    assert codes == {(a, b) for a in ("Total", "A", "B", "B1") for b in ("Total", "1")}
    assert result.tables[2].table.weighted
    assert "GOINTERACTIVE: there is no window; the batch ends here." in result.log
    assert not any(line.startswith("SUPPRESS") for line in result.log)


def test_options_without_meaning_here_are_told(folder: Path) -> None:
    result = run(folder, HEAD + "<READMICRODATA>\n<SUPPRESS> MOD(1,5,1,1,1,20000,0.9)\n")
    said = [line for line in result.log if line.startswith("MOD: ")]
    assert any("minutes are for the whole table" in line for line in said)
    assert any("not scaled" in line for line in said)
    assert any("margins are not needed" in line for line in said)
    assert not any("asks for nothing" in line for line in said)
    without = run(folder, HEAD.replace("|FREQ(3,20)", "") + "<READMICRODATA>\n<SUPPRESS> MOD(1,5,1,1,1)\n")
    assert any("asks for nothing where no FREQ says what is small" in line for line in without.log)
    plain = run(folder, HEAD + "<READMICRODATA>\n<SUPPRESS> MOD(1)\n")
    assert not any(line.startswith("MOD: ") for line in plain.log)


def test_rounding_and_adjustment(folder: Path) -> None:
    text = HEAD + "<READMICRODATA>\n<SUPPRESS> RND(1,10,1,1)\n" + '<WRITETABLE> (1,2,AS+,"round.txt")\n'
    text += '<SUPPRESS> CTA(1)\n<WRITETABLE> (1,2,AS+,"cta.txt")\n'
    with pytest.raises(PlanError, match="adjust: needs a secret that is kept"):
        run(folder, text)
    run(folder, text, secret=3, test_secret=True)
    rounded = rows_of(folder / "round.txt")
    assert rounded[0] == ["Industry", "Region", "Value_Round", "Value_Orig"]
    assert all(int(row[2]) % 10 == 0 for row in rounded[1:])
    assert rows_of(folder / "cta.txt")[0][2] == "Value_CTA"


def test_an_open_table_is_not_published(folder: Path) -> None:
    with pytest.raises(NotProtectedError, match=r"run.arb, line 9: the attacker recovers \d cells? too closely"):
        run(folder, HEAD + '<READMICRODATA>\n<WRITETABLE> (1,1,,"out.csv")\n')
    assert not (folder / "out.csv").exists()
    assert "stopped:" in (folder / "run.log").read_text()


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("<READMICRODATA>", "<READMICRODTA>", "run.arb, line 8: unknown command <READMICRODTA>. Did you mean"),
        ("<READMICRODATA>", "READMICRODATA", "line 8: a command starts with its name in angle brackets"),
        ("P(15,1)", "P(15", "line 7: 'P(15' must have the form NAME(numbers)"),
        ("P(15,1)", "PP(15,1)", "line 7: 'PP' is not known here"),
        ("FREQ(3,20)", "FREQ(3)", "line 7: FREQ needs 2 numbers, got 1"),
        ("P(15,1)", "P(x,1)", "line 7: 'x,1' must be numbers"),
        ("P(15,1)", "P(150,1)", "line 7: rule p-percent: p must be above 0 and at most 100"),
        ('|"Value"|', '|"Valeu"|', "line 6: the metadata have no variable 'Valeu'. Did you mean 'Value'?"),
        ("data.rda", "dota.rda", "line 5: dota.rda: there is no such file"),
        ("(1,1,", "(3,1,", "line 9: there is no table 3; 1 are specified"),
        ("(1,1,", "(1,9,", "line 9: the type of the output must be 1 to 7, got 9"),
        ("(1,1,,", "(1,1,ZZ+,", "line 9: unknown option 'ZZ'"),
        ('<SPECIFYTABLE> "Industry""Region"', "<SPECIFYTABLE> Industry", "line 6: <SPECIFYTABLE> needs"),
        ("<READMICRODATA>", "<SUPPRESS> OPT(1)", "line 8: run.arb, line 6: the data of this table have not been read"),
    ],
)
def test_wrong_lines_are_named(folder: Path, old: str, new: str, words: str) -> None:
    text = HEAD + '<READMICRODATA>\n<WRITETABLE> (1,1,,"out.csv")\n'
    assert old in text
    with pytest.raises(ReticentError) as err:
        run(folder, text.replace(old, new, 1), accept_exposed=True)
    assert any(part in str(err.value) for part in words.split("|")), str(err.value)


def test_commands_out_of_order(folder: Path) -> None:
    for text in (
        "<READTABLE>\n",
        "<SAFETYRULE> P(10)\n",
        "<READMICRODATA>\n",
        '<RECODE> 1,Size,"x.grc"\n',
        "<COVER>\n",
    ):
        with pytest.raises(PlanError, match=r"run.arb, line 1"):
            run(folder, text)
