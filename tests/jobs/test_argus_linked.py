"""Linked tables in batch files: from microdata and from table files, one system, the same records one cell."""

import csv
from pathlib import Path

import numpy as np
import pytest

from command_line import CommandLine, Ran
from reticent.jobs.argus.run import run_batch
from reticent.tables.attack import audit
from reticent.tables.attack.insiders import insiders
from reticent.tables.result import ProtectedTable

RECORDS = [
    ("a", "N", "1", 90), ("a", "N", "1", 4), ("a", "N", "2", 3), ("a", "S", "2", 31), ("a", "S", "1", 35), ("a", "S", "2", 33),
    ("b", "N", "1", 25), ("b", "N", "2", 27), ("b", "N", "2", 22), ("b", "S", "1", 41), ("b", "S", "1", 44), ("b", "S", "2", 39),
    ("c", "N", "2", 19), ("c", "N", "1", 21), ("c", "N", "1", 24), ("c", "S", "2", 70), ("c", "S", "2", 55), ("c", "S", "1", 61),
]  # fmt: skip
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
MICRO = """<OPENMICRODATA> "data.asc"
<OPENMETADATA> "data.rda"
<SPECIFYTABLE> "Size""Region"|"Value"|{shadow}|{cost}
<SAFETYRULE> {first}
<SPECIFYTABLE> "Size""Year"|"Value"||
<SAFETYRULE> {second}
<READMICRODATA>
"""


@pytest.fixture
def reticent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(capsys, monkeypatch)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data.asc").write_text("\n".join(";".join(map(str, record)) for record in RECORDS) + "\n")
    (tmp_path / "data.rda").write_text(RDA)
    return tmp_path


def batch(reticent: CommandLine, folder: Path, text: str) -> Ran:
    """Run a batch text through the command line."""
    (folder / "run.arb").write_text(text)
    return reticent("argus", "run", folder / "run.arb")


def micro(first: str = "P(15,1)", second: str = "P(15,1)", *, shadow: str = "", cost: str = "") -> str:
    """Two tables over Size from the records."""
    return MICRO.format(first=first, second=second, shadow=shadow, cost=cost)


def cells(path: Path) -> dict[tuple[str, str], str]:
    """What was written for each cell."""
    with path.open() as file:
        return {(row[0], row[1]): row[2] for row in list(csv.reader(file))[1:]}


WRITE = '<WRITETABLE> (1,2,,"one.txt")\n<WRITETABLE> (2,2,,"two.txt")\n'


@pytest.mark.parametrize("call", ["MOD(0)", "MOD(0,1,1,1,1)", "GH(0,100)", "GH(0,75,0,1)"])
def test_from_microdata(reticent: CommandLine, folder: Path, call: str) -> None:
    ran = batch(reticent, folder, micro() + f"<SUPPRESS> {call}\n" + WRITE)
    assert ran.code == 0, ran.err
    assert "2 linked tables as one system" in ran.out
    assert " 0 exposed" in ran.out
    one, two = cells(folder / "one.txt"), cells(folder / "two.txt")
    assert one["a", "N"] == "x"
    for size in ("Total", "a", "b", "c"):
        assert one[size, "Total"] == two[size, "Total"]


def result_of(folder: Path, text: str) -> ProtectedTable:
    """The system of a batch run."""
    (folder / "run.arb").write_text(text)
    found = run_batch(folder / "run.arb").tables
    assert all(each is found[1] for each in found.values())
    return found[1]


def test_the_same_records_are_the_same_cell_and_all_relations_are_attacked(folder: Path) -> None:
    result = result_of(folder, micro() + "<SUPPRESS> MOD(0)\n")
    assert [part.n_cells for part in result.system.parts] == [12, 12]
    assert result.table.n_cells == 12 + 12 - 4  # Total, a, b, c are in both
    assert np.intersect1d(*result.system.members).size == 4
    assert result.problem.relations.n_rows == 7 + 7
    assert audit(result.problem, result.outcome.hidden).n_exposed == 0
    assert insiders(result.problem, result.outcome.hidden) == []


def test_tables_protected_one_by_one_are_safe_together(folder: Path) -> None:
    """a × S is frozen, so the total of a must be hidden; the second table, which alone would show it, keeps it hidden."""
    (folder / "known.hst").write_text("a;S;P\n")
    apart = micro("P(15,1)", "") + '<APRIORI> "known.hst",1,";"\n<SUPPRESS> MOD(1)\n<SUPPRESS> MOD(2)\n'
    (folder / "run.arb").write_text(apart)
    batch = run_batch(folder / "run.arb")
    first, second = batch.tables[1], batch.tables[2]
    assert first.outcome.hidden[first.table.find(("a", "Total"))]
    assert "Protected and attacked together with what this batch shows of table 1." in batch.log
    assert first.exposed == second.exposed == ()
    names = {second.table.name_of(cell) for cell in np.flatnonzero(second.outcome.hidden)}
    assert "a × Total × Total" in names
    assert any(name.startswith("a × Total × ") and not name.endswith("Total") for name in names)  # in table 2 as well
    together = result_of(folder, micro("P(15,1)", "") + '<APRIORI> "known.hst",1,";"\n<SUPPRESS> MOD(0)\n')
    pattern = together.outcome.hidden.copy()
    pattern[[c for c in np.flatnonzero(pattern) if together.table.name_of(int(c)).split(" × ")[2] != "Total"]] = False
    assert audit(together.problem, pattern).n_exposed == 1  # were the second table shown as it is


def test_each_table_has_its_own_rules_and_shadow(reticent: CommandLine, folder: Path) -> None:
    """Three largest in one, a threshold in the other: lists of different lengths, judged separately."""
    result = result_of(folder, micro("NK(3,101)|NK(0,0)".replace("101", "100"), "FREQ(4,20)") + "<SUPPRESS> MOD(0)\n")
    unsafe = {result.table.name_of(cell) for cell in np.flatnonzero(result.verdict.primary)}
    assert unsafe == {
        "a × Total × 1",
        "a × Total × 2",
        "b × Total × 1",
        "b × Total × 2",
        "c × Total × 1",
        "c × Total × 2",
    }
    assert {result.verdict.reason_of(cell) for cell in np.flatnonzero(result.verdict.primary)} == {"threshold"}
    both = result_of(folder, micro("P(15,1)", "FREQ(4,20)", shadow='"Value"', cost="-2") + "<SUPPRESS> MOD(0)\n")
    reasons = {both.table.name_of(c): both.verdict.reason_of(c) for c in np.flatnonzero(both.verdict.primary)}
    assert reasons["a × N × Total"] == "p-percent"
    assert reasons["b × Total × 1"] == "threshold"
    region = both.problem.cost[both.table.find(("b", "S", "Total"))]
    year = both.problem.cost[both.table.find(("b", "Total", "2"))]
    assert (region, year) == (1.0, 88.0)  # unity in the first table, the value in the second


def test_the_same_records_under_other_codes_are_the_same_cell(reticent: CommandLine, folder: Path) -> None:
    """All records of a in N are of year 1 and the others are not: a × N and a × 1 are one cell, whatever table 2's rules."""
    moved = [(s, r, ("1" if r == "N" else "2") if s == "a" else y, v) for s, r, y, v in RECORDS]
    (folder / "data.asc").write_text("\n".join(";".join(map(str, record)) for record in moved) + "\n")
    result = result_of(folder, micro("P(15,1)", "") + "<SUPPRESS> MOD(0)\n")
    region, year = result.table.find(("a", "N", "Total")), result.table.find(("a", "Total", "1"))
    assert result.verdict.primary[region]
    assert result.verdict.primary[year]
    assert result.verdict.upper_protection[region] == result.verdict.upper_protection[year] > 0
    assert result.problem.relations.n_rows == 7 + 7 + 2  # a × N = a × 1 and a × S = a × 2
    hidden = result.outcome.hidden
    others = (result.table.find(("a", "S", "Total")), result.table.find(("a", "Total", "2")))
    assert hidden[others[0]] == hidden[others[1]]
    assert audit(result.problem, hidden).n_exposed == 0
    ran = batch(reticent, folder, micro("P(15,1)", "") + "<SUPPRESS> MOD(0)\n" + WRITE)
    assert ran.code == 0, ran.err
    assert cells(folder / "one.txt")["a", "N"] == cells(folder / "two.txt")["a", "1"] == "x"


def test_a_recode_in_one_of_them_only_is_refused(reticent: CommandLine, folder: Path) -> None:
    (folder / "size.grc").write_text("a: a, b\n")
    ran = batch(reticent, folder, micro() + '<RECODE> 1, Size, "size.grc"\n<SUPPRESS> MOD(0)\n')
    assert ran.code == 2
    assert "'Size' is recoded in one of the linked tables and not in the same way in another" in ran.sentence
    both = '<RECODE> 1, Size, "size.grc"\n<RECODE> 2, Size, "size.grc"\n<SUPPRESS> MOD(0)\n'
    assert batch(reticent, folder, micro() + both + WRITE).code == 0
    assert {size for size, _ in cells(folder / "one.txt")} == {"Total", "a", "c"}


# ------------------------------------------------------------------ linked finished tables

META = """<SEPARATOR> ";"
<SAFE> "s"
<UNSAFE> "u"
<PROTECT> "z"
Size
  <RECODEABLE>
  <TOTCODE> "Total"
{other}
  <RECODEABLE>
  <TOTCODE> "Total"
Value
  <NUMERIC>
Status
  <STATUS>
"""
ONE = """Total;Total;644;s
Total;N;235;s
Total;S;409;s
a;Total;196;s
a;N;97;u
a;S;99;s
b;Total;198;s
b;N;74;s
b;S;124;s
c;Total;250;s
c;N;64;s
c;S;186;s
"""
TWO = """Total;Total;644;s
Total;1;345;s
Total;2;299;s
a;Total;196;s
a;1;129;s
a;2;67;s
b;Total;198;s
b;1;110;s
b;2;88;s
c;Total;250;s
c;1;106;s
c;2;144;s
"""
TABLES = """<OPENTABLEDATA> "one.tab"
<OPENMETADATA> "one.rda"
<SPECIFYTABLE> "Size""Region"|"Value"||
<SAFETYRULE> MAN(20)
<OPENTABLEDATA> "two.tab"
<OPENMETADATA> "two.rda"
<SPECIFYTABLE> "Size""Year"|"Value"||
<SAFETYRULE> MAN(20)
<READTABLE> {mode}
"""


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    for name, text, other in (("one", ONE, "Region"), ("two", TWO, "Year")):
        (tmp_path / f"{name}.tab").write_text(text)
        (tmp_path / f"{name}.rda").write_text(META.format(other=other))
    return tmp_path


@pytest.mark.parametrize("mode", ["", "0", "1", "1T", "1F", "2"])
@pytest.mark.parametrize("call", ["MOD(0,1)", "GH(0,100)"])
def test_from_table_files(reticent: CommandLine, finished: Path, mode: str, call: str) -> None:
    ran = batch(reticent, finished, TABLES.format(mode=mode) + f"<SUPPRESS> {call}\n" + WRITE)
    assert ran.code == 0, ran.err
    assert "READTABLE: 12 cells from one.tab." in ran.out
    assert "READTABLE: 12 cells from two.tab." in ran.out
    assert " 1 primary, 3 secondary, 0 exposed" in ran.out
    one, two = cells(finished / "one.txt"), cells(finished / "two.txt")
    assert one["a", "N"] == "x"
    assert all(one[size, "Total"] == two[size, "Total"] for size in ("Total", "a", "b", "c"))


def test_table_files_are_one_system(finished: Path) -> None:
    result = result_of(finished, TABLES.format(mode=0) + "<SUPPRESS> MOD(0)\n")
    assert result.table.n_cells == 20
    assert audit(result.problem, result.outcome.hidden).n_exposed == 0


def test_a_common_cell_that_is_hidden_is_hidden_in_both(reticent: CommandLine, finished: Path) -> None:
    (finished / "one.tab").write_text(ONE.replace("a;Total;196;s", "a;Total;196;u"))
    ran = batch(reticent, finished, TABLES.format(mode=0) + "<SUPPRESS> MOD(0)\n" + WRITE)
    assert ran.code == 0, ran.err
    one, two = cells(finished / "one.txt"), cells(finished / "two.txt")
    assert one["a", "Total"] == two["a", "Total"] == "x"
    assert "x" in (two["a", "1"], two["a", "2"])


def test_contributions_of_one_file_only(reticent: CommandLine, finished: Path) -> None:
    """The second file has the largest contributions, the first has none: each is judged by what it has."""
    (finished / "two.tab").write_text(TWO.replace("a;1;129;s", "a;1;129;s;120;5").replace("s\n", "s;1;1\n"))
    extra = "Top1\n  <NUMERIC> <MAXSCORE>\nTop2\n  <NUMERIC> <MAXSCORE>\n"
    (finished / "two.rda").write_text(META.format(other="Year") + extra)
    text = TABLES.replace("MAN(20)", "P(15,1)").replace("P(15,1)", "MAN(20)", 1).format(mode=0)
    result = result_of(finished, text + "<SUPPRESS> MOD(0)\n")
    unsafe = {result.table.name_of(cell) for cell in np.flatnonzero(result.verdict.primary)}
    assert unsafe == {"a × N × Total", "a × Total × 1"}
    ran = batch(reticent, finished, TABLES.replace("MAN(20)", "P(15,1)").format(mode=0) + "<SUPPRESS> MOD(0)\n")
    assert ran.code == 3
    assert "needs a response with the largest contributions of each cell" in ran.sentence


@pytest.mark.parametrize(
    "change, words",
    [
        (("two.tab", "b;Total;198", "b;Total;208"), "two.tab: table: 2 totals differ from the sum of their parts"),
        (("two.tab", "b;1;110;s\nb;2;88", "b;1;120;s\nb;2;78"), "two.tab: table: 2 totals differ"),
        (("two.rda", '"Total"', '"All"'), "Dimension 'Size': the table has 1 codes that its hierarchy does not have"),
    ],
)
def test_wrong_table_files(reticent: CommandLine, finished: Path, change: tuple[str, str, str], words: str) -> None:
    name, old, new = change
    path = finished / name
    text = path.read_text()
    if name == "two.rda":
        text = text.replace("Size\n", "Size\n  <HIERCODELIST> size.hrc\n")
        (finished / "size.hrc").write_text("a\nb\nc\n")
    path.write_text(text.replace(old, new))
    ran = batch(reticent, finished, TABLES.format(mode=0) + "<SUPPRESS> MOD(0)\n")
    assert ran.code == 3
    assert words in ran.sentence


def test_tables_of_different_records_are_refused(reticent: CommandLine, finished: Path) -> None:
    other = TWO.replace("b;1;110", "b;1;111").replace("b;Total;198", "b;Total;199")
    other = other.replace("Total;1;345", "Total;1;346").replace("Total;Total;644", "Total;Total;645")
    (finished / "two.tab").write_text(other)
    ran = batch(reticent, finished, TABLES.format(mode=0) + "<SUPPRESS> MOD(0)\n")
    assert ran.code == 3
    assert "linked tables: 2 cells have different values in two tables, the first is Total × Total" in ran.sentence
    assert batch(reticent, finished, TABLES.format(mode=0) + "<SUPPRESS> MOD(1)\n").code == 0


def test_frequencies_in_one_file_only_are_refused(reticent: CommandLine, finished: Path) -> None:
    (finished / "two.tab").write_text(TWO.replace("s\n", "s;3\n"))
    (finished / "two.rda").write_text(META.format(other="Year") + "Freq\n  <NUMERIC> <FREQUENCY>\n")
    ran = batch(reticent, finished, TABLES.format(mode=0) + "<SUPPRESS> MOD(0)\n")
    assert ran.code == 3
    assert "linked tables: either all tables have a frequency column, or none has" in ran.sentence


def test_one_table_opened_two_specified(reticent: CommandLine, finished: Path) -> None:
    text = TABLES.format(mode=0).replace('<OPENTABLEDATA> "two.tab"\n', "")
    ran = batch(reticent, finished, text)
    assert "line 8: 1 tables are opened, but 2 specified" in ran.sentence


# ------------------------------------------------------------------ what is known beforehand, on linked tables


def with_known(folder: Path, one: str, two: str = "", *, flags: str = "") -> str:
    """The two tables from records with an a-priori file each, then both together."""
    (folder / "one.hst").write_text(one)
    (folder / "two.hst").write_text(two)
    lines = f'<APRIORI> "one.hst",1,";"{flags}\n' + (f'<APRIORI> "two.hst",2,";"{flags}\n' if two else "")
    return micro() + lines + "<SUPPRESS> MOD(0)\n" + WRITE


def test_knowledge_of_either_table_counts_in_both(reticent: CommandLine, folder: Path) -> None:
    ran = batch(reticent, folder, with_known(folder, "b;;U\n", "c;1;P\nc;2;C;1\n"))
    assert ran.code == 0, ran.err
    assert "APRIORI: 1 lines of one.hst for table 1." in ran.out
    one, two = cells(folder / "one.txt"), cells(folder / "two.txt")
    assert one["b", "Total"] == two["b", "Total"] == "x"
    assert two["c", "1"] == "106"


def test_contradictions_between_two_files_name_both_lines(reticent: CommandLine, folder: Path) -> None:
    ran = batch(reticent, folder, with_known(folder, "// first\nb;Total;U\n", "b;Total;P\n"))
    assert ran.code == 3
    assert (
        "run.arb, line 10: two.hst, line 1: the cell b × Total × Total is declared protected here and unsafe in "
        in (ran.sentence)
    )
    assert "one.hst, line 2; keep one." in ran.sentence
    ignored = batch(reticent, folder, with_known(folder, "// first\nb;Total;U\n", "b;Total;P\n", flags=",1,0"))
    assert ignored.code == 0, ignored.err
    assert "note: passed over: two.hst, line 1: the cell b × Total × Total is declared protected here" in ignored.out
    assert cells(folder / "two.txt")["b", "Total"] == "x"
