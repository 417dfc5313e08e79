"""Finished tables in batch files: what each column and each way of reading means, through the command line."""

import csv
from pathlib import Path

import pytest

from command_line import CommandLine, Ran

HEAD = """<OPENTABLEDATA> "cells.tab"
<OPENMETADATA> "cells.rda"
<SPECIFYTABLE> "Row""Column"|{response}|{shadow}|{cost}
<SAFETYRULE> {rules}
<READTABLE> {mode}
"""
META = """<SEPARATOR> ";"
<SAFE> "s"
<UNSAFE> "u"
<PROTECT> "z"
Row "9"
  <RECODEABLE>
  <TOTCODE> "T"
  <HIERARCHICAL>
  <HIERLEVELS> 1 1 0
  <DISTANCE> 1 2 3 4 5
Column
  <RECODEABLE>
  <TOTCODE> "All"
Value
  <NUMERIC>
Shadow
  <NUMERIC> <SHADOW>
Freq
  <NUMERIC> <FREQUENCY>
Top1
  <NUMERIC> <MAXSCORE>
Top2
  <NUMERIC> <MAXSCORE>
Cost
  <NUMERIC> <COST>
Status
  <STATUS>
Low
  <NUMERIC> <LOWERPL>
Up
  <NUMERIC> <UPPERPL>
"""
INNER = {
    ("A1", "x"): (10, 100, 3, 90, 8, 4, "s"), ("A1", "y"): (20, 60, 4, 20, 18, 9, "s"), ("A2", "x"): (30, 90, 5, 30, 22, 16, "s"),
    ("A2", "y"): (40, 80, 5, 30, 22, 25, "s"), ("B1", "x"): (50, 70, 6, 25, 21, 36, "s"),
    ("B1", "y"): (60, 95, 5, 31, 26, 49, "s"), ("B2", "x"): (35, 66, 5, 24, 21, 64, "s"),
    ("B2", "y"): (45, 77, 4, 30, 21, 81, "s"),
}  # fmt: skip


def line(row: str, column: str, numbers: tuple[object, ...]) -> str:
    """One cell of the file; levels are a tenth of the value."""
    return ";".join(str(n) for n in (row, column, *numbers, float(numbers[0]) / 10, float(numbers[0]) / 10))


def cells_with_totals() -> dict[tuple[str, str], tuple[object, ...]]:
    """All cells: sums of the first three numbers and of the costs, the largest two contributions."""
    found: dict[tuple[str, str], tuple[object, ...]] = {}
    for row in ("T", "A", "A1", "A2", "B", "B1", "B2"):
        for column in ("All", "x", "y"):
            parts = [n for (r, c), n in INNER.items() if r.startswith(row.strip("T")) and column in ("All", c)]
            top = sorted((t for n in parts for t in n[3:5]), reverse=True)
            sums = [sum(n[at] for n in parts) for at in (0, 1, 2, 5)]
            found[row, column] = (sums[0], sums[1], sums[2], top[0], top[1], sums[3], "s")
    return found


@pytest.fixture
def reticent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(capsys, monkeypatch)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, {})
    (tmp_path / "cells.rda").write_text(META)
    return tmp_path


def write(folder: Path, status: dict[tuple[str, str], str], *, inner: bool = False) -> None:
    """The file of cells, with some statuses changed."""
    lines = []
    for (row, column), numbers in (INNER if inner else cells_with_totals()).items():
        lines.append(line(row, column, (*numbers[:6], status.get((row, column), "s"))))
    (folder / "cells.tab").write_text("\n".join(lines) + "\n")


def batch(
    reticent: CommandLine, folder: Path, more: str = "", *, rules: str = "", mode: str = "0", shadow: str = "",
    cost: str = "", response: str = '"Value"',
) -> Ran:  # fmt: skip
    """Run a batch; the first output is out.txt with all statuses."""
    text = HEAD.format(rules=rules, mode=mode, shadow=shadow, cost=cost, response=response)
    (folder / "run.arb").write_text(text + more + '<WRITETABLE> (1,3,AS+QU-,"out.txt")\n')
    ran = reticent("argus", "run", folder / "run.arb")
    assert "Traceback" not in ran.err
    return ran


def out(folder: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """Value and status of each cell."""
    with (folder / "out.txt").open() as file:
        return {(row[0], row[1]): (row[2], row[3]) for row in csv.reader(file)}


def test_a_hierarchy_of_digits(reticent: CommandLine, folder: Path) -> None:
    ran = batch(reticent, folder)
    assert ran.code == 0, ran.err
    found = out(folder)
    assert len(found) == 24  # with the missing code 9, whose cells are empty
    assert found["T", "All"] == ("290", "1")
    assert found["A", "x"] == ("40", "1")
    assert found["9", "x"][1] == "14"


def test_totals_can_be_added_up(reticent: CommandLine, folder: Path) -> None:
    write(folder, {("A1", "x"): "u"}, inner=True)
    assert batch(reticent, folder, mode="1").code == 0
    found = out(folder)
    assert found["B", "All"] == ("190", "1")
    assert found["A1", "x"] == ("10", "9")


def test_totals_that_are_missing_are_listed(reticent: CommandLine, folder: Path) -> None:
    """Without the grand total and A × All nobody sees the relation of rows and columns, but everybody can add up."""
    text = [line for line in (folder / "cells.tab").read_text().splitlines() if not line.startswith(("T;All", "A;All"))]
    (folder / "cells.tab").write_text("\n".join(text) + "\n")
    ran = batch(reticent, folder)
    assert ran.code == 3
    assert "line 5: cells.tab: table: 4 totals are not there although they have parts: " in ran.sentence
    assert "List them, or let them be added up (complete = true, <READTABLE> 1)." in ran.sentence
    assert sorted(line.strip() for line in ran.err.splitlines()[1:]) == [
        "A × All: the total of its 2 parts along Column is missing",
        "A × All: the total of its 2 parts along Row is missing",
        "T × All: the total of its 1 parts along Row is missing",
        "T × All: the total of its 2 parts along Column is missing",
    ]
    assert batch(reticent, folder, mode="1").code == 0
    allowed = batch(reticent, folder, mode="2")
    assert allowed.code == 0
    assert "note: 4 totals are not in the table; relations that need them are not attacked." in allowed.out


@pytest.mark.parametrize("mode, total", [("0", "9"), ("1", "9"), ("1T", "9"), ("1F", "1"), ("2", "9")])
def test_what_the_file_declares_about_totals(reticent: CommandLine, folder: Path, mode: str, total: str) -> None:
    write(folder, {("A1", "x"): "u", ("A", "All"): "u"})
    assert batch(reticent, folder, mode=mode).code == 0
    assert out(folder)["A1", "x"] == ("10", "9")
    assert out(folder)["A", "All"] == ("100", total)


def test_the_rules_look_at_the_shadow(reticent: CommandLine, folder: Path) -> None:
    """10 is the value, but 90 of 100 of the shadow come from one respondent."""
    assert batch(reticent, folder, rules="NK(1,80)").code == 0
    assert {cell for cell, (_, status) in out(folder).items() if status == "3"} == {("A1", "x")}
    assert batch(reticent, folder, rules="NK(1,80)", shadow='"Shadow"').code == 0
    assert out(folder)["A1", "x"] == ("10", "3")
    alone = (folder / "cells.rda").read_text().replace(" <SHADOW>", "")
    (folder / "cells.rda").write_text(alone)
    assert batch(reticent, folder, rules="NK(1,80)").code == 0
    unsafe = {cell for cell, (_, status) in out(folder).items() if status == "3"}
    assert ("A2", "x") in unsafe  # 30 of 30
    wrong = batch(reticent, folder, shadow='"Shadows"')
    assert "cells.rda: there is no column 'Shadows'; columns: Row, Column, Value, Shadow" in wrong.sentence


def test_levels_come_from_the_file(reticent: CommandLine, folder: Path) -> None:
    write(folder, {("B1", "x"): "u"})
    ran = batch(reticent, folder, '<WRITETABLE> (1,5,SE+,"mid.txt")\n')
    assert ran.code == 0, ran.err
    row = next(line for line in (folder / "mid.txt").read_text().splitlines() if line.startswith('"B1";"x"'))
    assert row.endswith("U;5.00;5.00")


@pytest.mark.parametrize(
    "cost, paid",
    [
        ("", 9 + 16 + 25), ('"Cost"', 9 + 16 + 25), ('"cost",0.5', 3 + 4 + 5), ("-2", 3), ("-1", 4 + 5 + 5),
        ('"Value"', 20 + 30 + 40), ('"Value",1', 20 + 30 + 40), ("-3", 5 + 1 + 1),
    ],
)  # fmt: skip
def test_costs(reticent: CommandLine, folder: Path, cost: str, paid: float) -> None:
    """Around A1 × x the square with A1 × y, A2 × x and A2 × y is the cheapest; others are frozen."""
    write(folder, {("A1", "x"): "u", **{cell: "z" for cell in cells_with_totals() if cell not in SQUARE}})
    ran = batch(reticent, folder, "<SUPPRESS> OPT(1,1)\n", cost=cost)
    assert ran.code == 0, ran.err
    said = next(line for line in ran.out.splitlines() if line.startswith("SUPPRESS"))
    if cost != "-3":
        assert f"cost {paid:g} (optimal)" in said
    assert {cell for cell, (_, status) in out(folder).items() if status == "11"} == SQUARE - {("A1", "x")}


SQUARE = {("A1", "x"), ("A1", "y"), ("A2", "x"), ("A2", "y")}


def test_counting_by_the_frequency_column(reticent: CommandLine, folder: Path) -> None:
    ran = batch(reticent, folder, rules="FREQ(4,20)", response="<freq>")
    assert ran.code == 0, ran.err
    assert out(folder)["T", "All"] == ("37", "1")
    assert out(folder)["A1", "x"] == ("3", "5")


def test_cells_with_a_missing_code_can_be_safe(reticent: CommandLine, folder: Path) -> None:
    text = (folder / "cells.tab").read_text()
    extra = line("9", "All", (5, 5, 1, 5, 0, 1, "s")) + "\n" + line("9", "x", (5, 5, 1, 5, 0, 1, "s")) + "\n"
    (folder / "cells.tab").write_text(text + extra)
    for rules, expected in (("FREQ(2,20)", "5"), ("FREQ(2,20)|MIS(1)", "1")):
        assert batch(reticent, folder, rules=rules, mode="2").code == 0
        assert out(folder)["9", "x"] == ("5", expected)


def test_weights_need_records(reticent: CommandLine, folder: Path) -> None:
    assert (
        "WGT(1) needs records; a finished table has its weights inside"
        in batch(reticent, folder, rules="WGT(1)").sentence
    )


@pytest.mark.parametrize("options", ["", "AR+", "SO+", "SE+", "AR+SE+QU-"])
def test_an_intermediate_file_reads_back(reticent: CommandLine, folder: Path, options: str) -> None:
    write(folder, {("A1", "x"): "u"})
    ran = batch(reticent, folder, f'<SUPPRESS> OPT(1,1)\n<WRITETABLE> (1,5,{options},"mid.tab")\n')
    assert ran.code == 0, ran.err
    first = out(folder)
    text = '<OPENTABLEDATA> "mid.tab"\n<OPENMETADATA> "mid.rda"\n<SPECIFYTABLE> "Row""Column"|"Value"||\n<SAFETYRULE>\n'
    (folder / "again.arb").write_text(text + '<READTABLE>\n<WRITETABLE> (1,3,AS+QU-,"out.txt")\n')
    again = reticent("argus", "run", folder / "again.arb")
    assert again.code == 0, again.err
    letters = {"11": "12"}  # what was found before is now given

    def plain(found: dict[tuple[str, str], tuple[str, str]]) -> dict[tuple[str, str], tuple[str, str]]:
        return {cell: entry for cell, entry in found.items() if entry[0] not in ("-", "0")}

    assert plain(out(folder)) == {
        cell: (value, letters.get(status, status)) for cell, (value, status) in plain(first).items()
    }


def test_three_dimensions_in_blocks(reticent: CommandLine, tmp_path: Path) -> None:
    records = [
        (a, b, c, 10 + i)
        for i, (a, b, c) in enumerate((a, b, c) for a in "pq" for b in "rs" for c in "tu")
        for _ in "123"
    ]
    (tmp_path / "d.asc").write_text("\n".join(";".join(map(str, r)) for r in records) + "\n")
    (tmp_path / "d.rda").write_text(
        '<SEPARATOR> ";"\n' + "".join(f"{n} 1\n  <RECODEABLE>\n" for n in "ABC") + "V 2\n  <NUMERIC>\n"
    )
    (tmp_path / "run.arb").write_text(
        '<OPENMICRODATA> "d.asc"\n<OPENMETADATA> "d.rda"\n<SPECIFYTABLE> "A""B""C"|"V"\n<SAFETYRULE> P(15,1)\n'
        '<READMICRODATA>\n<SUPPRESS> MOD(1)\n<WRITETABLE> (1,1,QU-,"out.csv")\n'
    )
    ran = reticent("argus", "run", tmp_path / "run.arb")
    assert ran.code == 0, ran.err
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert [line for line in lines if "," not in line] == ["Total", "t", "u"]
    assert lines[1] == ",Total,r,s"
    assert len(lines) == 3 * (1 + 1 + 3)


def test_trivial_levels_of_linked_tables(reticent: CommandLine, tmp_path: Path) -> None:
    """B has the single part B1: declared unsafe with expansion, B1 is unsafe in both tables; JJ has them as one system."""
    rows = [
        "A1;x;t;10",
        "A1;y;u;12",
        "A2;x;t;13",
        "A2;y;u;14",
        "B1;x;t;15",
        "B1;y;u;16",
        "A1;x;u;17",
        "B1;x;u;18",
        "A2;y;t;19",
    ]
    (tmp_path / "d.asc").write_text("\n".join(rows * 3) + "\n")
    (tmp_path / "d.rda").write_text(
        '<SEPARATOR> ";"\nR 2\n  <RECODEABLE>\n  <HIERARCHICAL>\n  <HIERLEVELS> 1 1\nC 1\n  <RECODEABLE>\nD 1\n  <RECODEABLE>\n'
        "V 2\n  <NUMERIC>\n"
    )
    (tmp_path / "known.hst").write_text("B,,U\n")
    text = """<OPENMICRODATA> "d.asc"
<OPENMETADATA> "d.rda"
<SPECIFYTABLE> "R""C"|"V"
<SAFETYRULE> P(10,1)
<SPECIFYTABLE> "R""D"|"V"
<SAFETYRULE> P(10,1)
<READMICRODATA>
<APRIORI> "known.hst",1,",",0,{expand}
<SUPPRESS> MOD(0)
<WRITETABLE> (2,3,AS+QU-,"out.txt")
<WRITETABLE> (1,6,TR+,"all.jj")
"""
    for expand, expected in ((1, "9"), (0, "11")):
        (tmp_path / "run.arb").write_text(text.format(expand=expand))
        ran = reticent("argus", "run", tmp_path / "run.arb")
        assert ran.code == 0, ran.err
        found = out(tmp_path)
        assert found["B", "Total"][1] == "9"
        assert found["B1", "Total"][1] == expected
        assert "WRITETABLE: the JJ file has all linked tables as one system." in ran.out
        audited = reticent("suppress", tmp_path / "all.jj")
        assert audited.code == 0, audited.err
