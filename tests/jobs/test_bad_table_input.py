"""Bad input to the table commands (issue 5, must be shown 8): one clear sentence, nothing written, nothing lost."""

from pathlib import Path

import pytest

from command_line import CommandLine, Ran

META = """<SEPARATOR> ";"
<SAFE> "s"
<UNSAFE> "u"
<PROTECT> "z"
Row
  <RECODEABLE>
  <TOTCODE> "Total"
{tree}
Column
  <RECODEABLE>
  <TOTCODE> "Total"
Value
  <NUMERIC>
Status
  <STATUS>
"""
CELLS = """Total;Total;190;s
Total;A;45;s
Total;B;101;s
Total;C;44;s
I;Total;80;s
I;A;20;s
I;B;50;s
I;C;10;s
II;Total;49;s
II;A;8;s
II;B;19;s
II;C;22;u
III;Total;61;s
III;A;17;s
III;B;32;s
III;C;12;s
"""
BATCH = """<LOGBOOK> "run.log"
<OPENTABLEDATA> "cells.tab"
<OPENMETADATA> "cells.rda"
<SPECIFYTABLE> "Row""Column"|"Value"||
<SAFETYRULE> MAN(20)
<READTABLE>
"""
PLAN = """
[data]
path = "cells.csv"
[table]
dimensions = ["Row", "Column"]
finished = { value = "Value", status = "Status" }
[protect]
method = "optimal"
time_limit = 20
[output]
path = "out.csv"
"""


@pytest.fixture
def reticent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(capsys, monkeypatch)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cells.tab").write_text(CELLS)
    (tmp_path / "cells.rda").write_text(META.format(tree=""))
    return tmp_path


def batch(reticent: CommandLine, folder: Path, more: str, *, head: str = BATCH) -> Ran:
    """Run a batch; whatever goes wrong, there is no trace of Python in what the user reads."""
    (folder / "run.arb").write_text(head + more)
    ran = reticent("argus", "run", folder / "run.arb")
    assert "Traceback" not in ran.err
    return ran


def plan(reticent: CommandLine, folder: Path, cells: str = CELLS) -> Ran:
    """Run the same table as a plan."""
    (folder / "cells.csv").write_text("Row;Column;Value;Status\n" + cells)
    (folder / "plan.toml").write_text(PLAN)
    return reticent("table", folder / "plan.toml")


PROTECT = '<SUPPRESS> OPT(1,1)\n<WRITETABLE> (1,2,,"out.txt")\n'


def test_good_input_is_good(reticent: CommandLine, folder: Path) -> None:
    ran = batch(reticent, folder, PROTECT)
    assert ran.code == 0, ran.err
    assert "1 primary, 3 secondary, 0 exposed; cost 37 (optimal)" in ran.out
    assert plan(reticent, folder).code == 0


# ------------------------------------------------------------------ totals that are not the sums of their parts


def test_every_total_that_does_not_add_up_is_told(reticent: CommandLine, folder: Path) -> None:
    """The sentence has the first few; all of them follow on standard error and are in the log."""
    wrong = CELLS.replace("I;A;20", "I;A;90").replace("III;C;12", "III;C;70").replace("Total;B;101", "Total;B;300")
    (folder / "cells.tab").write_text(wrong)
    ran = batch(reticent, folder, PROTECT)
    assert ran.code == 3
    assert ran.sentence.startswith(
        "reticent: run.arb, line 6: cells.tab: table: 6 totals differ from the sum of their parts by more than what "
        "rounding explains: "
    )
    assert ran.sentence.endswith("and 3 more. Correct them or raise the tolerance.")
    listed = [line.strip() for line in ran.err.splitlines()[1:]]
    assert sorted(listed) == [
        "I × Total: the sum of its 3 parts along Column is larger by 70",
        "III × Total: the sum of its 3 parts along Column is larger by 58",
        "Total × A: the sum of its 3 parts along Row is larger by 70",
        "Total × B: the sum of its 3 parts along Row is smaller by 199",
        "Total × C: the sum of its 3 parts along Row is larger by 58",
        "Total × Total: the sum of its 3 parts along Column is larger by 199",
    ]
    log = (folder / "run.log").read_text()
    assert all(f"not additive: {line}\n" in log for line in listed)
    assert "stopped: " in log
    assert not (folder / "out.txt").exists()
    by_plan = plan(reticent, folder, wrong)
    assert by_plan.code == 3
    assert sorted(line.strip() for line in by_plan.err.splitlines()[1:]) == sorted(listed)
    assert not (folder / "out.csv").exists()


def test_a_table_that_need_not_add_up(reticent: CommandLine, folder: Path) -> None:
    (folder / "cells.tab").write_text(CELLS.replace("Total;B;101", "Total;B;105"))
    assert batch(reticent, folder, PROTECT).code == 3
    ran = batch(reticent, folder, "", head=BATCH.replace("<READTABLE>", "<READTABLE> 2"))
    assert ran.code == 0, ran.err
    assert "note: 2 totals differ from the sum of their parts by up to 4" in ran.out
    completed = batch(reticent, folder, PROTECT, head=BATCH.replace("<READTABLE>", "<READTABLE> 1"))
    assert completed.code == 0, completed.err


# ------------------------------------------------------------------ protection that cannot be had


def known(folder: Path, text: str, *, flags: str = "") -> str:
    """A line that reads an a-priori file."""
    (folder / "known.hst").write_text(text)
    return f'<APRIORI> "known.hst",1,";"{flags}\n'


def test_levels_beyond_what_is_attainable(reticent: CommandLine, folder: Path) -> None:
    """Even with everything else hidden, a cell cannot seem larger than the frozen totals allow."""
    frozen = "".join(f"{a};{b};P\n" for a in ("I", "II", "III", "Total") for b in ("Total",))
    frozen += "".join(f"Total;{b};P\n" for b in "ABC")
    for method in ("OPT(1,1)", "MOD(1,1)", "GH(1)", "NET(1)"):
        ran = batch(reticent, folder, known(folder, frozen + "II;C;PL;10;40\n") + f"<SUPPRESS> {method}\n")
        assert ran.code == 4, (method, ran.out, ran.err)
        assert "run.arb, line 8: Suppression: 1 primary cells cannot be protected (cells II × C)" in ran.sentence
        assert "may not be hidden: " in ran.sentence
        assert "lower the levels" in ran.sentence
        assert not (folder / "out.txt").exists()


def test_levels_beyond_the_bounds_that_were_given(reticent: CommandLine, folder: Path) -> None:
    ran = batch(reticent, folder, known(folder, "II;C;PL;10;40\nII;C;AB;10;40\n") + PROTECT)
    assert ran.code == 3
    assert (
        "run.arb, line 7: known.hst, line 2: the cell II × C is unsafe, and its protection levels (known.hst, line 1) "
        "reach beyond these bounds, so nothing can protect it. Widen the bounds or lower the levels." in ran.sentence
    )


def test_all_candidates_frozen(reticent: CommandLine, folder: Path) -> None:
    frozen = "".join(f"{row.split(';')[0]};{row.split(';')[1]};P\n" for row in CELLS.splitlines() if "u" not in row)
    ran = batch(reticent, folder, known(folder, frozen) + PROTECT)
    assert ran.code == 4
    assert "1 primary cells cannot be protected (cells II × C)" in ran.sentence
    assert "cells that would help but may not be hidden: " in ran.sentence
    assert "I × C" in ran.sentence
    assert (folder / "run.log").read_text().count("stopped: ") == 1


# ------------------------------------------------------------------ codes that the hierarchy does not have


def test_codes_missing_from_the_hierarchy_of_a_table(reticent: CommandLine, folder: Path) -> None:
    (folder / "rows.hrc").write_text("I\nII\n")
    (folder / "cells.rda").write_text(META.format(tree='  <HIERARCHICAL>\n  <HIERCODELIST> "rows.hrc"'))
    ran = batch(reticent, folder, PROTECT)
    assert ran.code == 3
    assert "line 6: Dimension 'Row': the table has 1 codes that its hierarchy does not have, the first is 'III'" in (
        ran.sentence
    )


def test_codes_missing_from_the_hierarchy_of_records(reticent: CommandLine, folder: Path) -> None:
    """A code that only records have is counted, not shown."""
    (folder / "rows.hrc").write_text("I\nII\n")
    (folder / "data.asc").write_text("I;A;3\nII;B;4\nQQQ;B;5\n")
    (folder / "data.rda").write_text(
        '<SEPARATOR> ";"\nRow 3\n  <RECODEABLE>\n  <HIERARCHICAL>\n  <HIERCODELIST> "rows.hrc"\n'
        "Column 1\n  <RECODEABLE>\nValue 3\n  <NUMERIC>\n"
    )
    head = """<OPENMICRODATA> "data.asc"
<OPENMETADATA> "data.rda"
<SPECIFYTABLE> "Row""Column"|"Value"||
<SAFETYRULE> P(15,1)
<READMICRODATA>
"""
    ran = batch(reticent, folder, PROTECT, head=head)
    assert ran.code == 3
    assert "'Row'" in ran.sentence
    assert "QQQ" not in ran.err


# ------------------------------------------------------------------ a-priori files


@pytest.mark.parametrize(
    "lines, words",
    [
        (
            "I;A;U\nI;A;P\n",
            "known.hst, line 2: the cell I × A is declared protected here and unsafe in known.hst, line 1",
        ),
        (
            "I;A;P\nI;A;U\n",
            "known.hst, line 2: the cell I × A is declared unsafe here and protected in known.hst, line 1",
        ),
        (
            "I;A;U\n\n// x\nI;A;S\n",
            "known.hst, line 4: the cell I × A is declared safe here and unsafe in known.hst, line 1",
        ),
        (
            "I;A;M\nI;A;P\n",
            "known.hst, line 2: the cell I × A is declared protected here and hidden in known.hst, line 1",
        ),
        (
            "II;C;P\n",
            "known.hst, line 1: the cell II × C is unsafe and cannot be declared protected; declare it safe (S)",
        ),
        ("I;A;C;5\nI;A;W;6\n", "known.hst, line 2: the cell I × A has another cost in known.hst, line 1"),
        (
            "II;C;PL;5;5\nII;C;PL;5;6\n",
            "known.hst, line 2: the cell II × C has other protection levels in known.hst, line 1",
        ),
        (
            "I;A;AB;1;50\nI;A;AB;1;60\n",
            "known.hst, line 2: the cell I × A has other bounds in known.hst, line 1",
        ),
        ("I;A;AB;21;50\n", "known.hst, line 1: the bounds of the cell I × A must contain its value"),
        ("I;A;AB;50;1\n", "known.hst, line 1: the lower bound must not be above the upper one"),
        ("I;A;Q\n", "known.hst, line 1: unknown action 'Q'; it must be S, U, P, M, ML, C, PL or AB"),
        ("I;A\n", "known.hst, line 1: needs 2 codes and an action, separated by ';'; it has 2 fields"),
        ("I;A;C\n", "known.hst, line 1: action C needs 1 numbers, got 0"),
        ("I;A;PL;1\n", "known.hst, line 1: action PL needs 2 numbers, got 1"),
        ("I;A;C;x\n", "known.hst, line 1: what follows the action must be numbers"),
        ("I;A;C;-1\n", "known.hst, line 1: a cost must not be negative"),
        ("I;A;C;nan\n", "known.hst, line 1: the numbers of action C must be finite"),
        ("II;C;PL;-1;1\n", "known.hst, line 1: protection levels are distances and must not be negative"),
        ("IV;A;U\n", "known.hst, line 1: Dimension 'Row': there is no code 'IV'."),
    ],
)
def test_wrong_and_contradictory_a_priori(reticent: CommandLine, folder: Path, lines: str, words: str) -> None:
    ran = batch(reticent, folder, known(folder, lines) + PROTECT)
    assert ran.code == 3
    assert ran.sentence.startswith("reticent: run.arb, line 7: ")
    assert words in ran.sentence
    assert not (folder / "out.txt").exists()
    # with "ignore errors" the line is passed over, and said to be
    ignored = batch(reticent, folder, known(folder, lines, flags=",1") + PROTECT)
    assert ignored.code == 0, ignored.err
    assert f"note: passed over: {words[:20]}" in ignored.out


def test_safe_first_then_frozen_is_no_contradiction(reticent: CommandLine, folder: Path) -> None:
    ran = batch(reticent, folder, known(folder, "II;C;S\nII;C;P\n") + PROTECT)
    assert ran.code == 0, ran.err
    assert "0 primary, 0 secondary" in ran.out


def test_levels_of_a_safe_cell_and_empty_cells_are_noted(reticent: CommandLine, folder: Path) -> None:
    (folder / "cells.tab").write_text(CELLS.replace("I;C;10;s\n", "", 1).replace("I;Total;80", "I;Total;70").replace(
        "Total;C;44", "Total;C;34").replace("Total;Total;190", "Total;Total;180"))  # fmt: skip
    ran = batch(reticent, folder, known(folder, "I;A;PL;1;1\nI;C;U\n") + PROTECT)
    assert ran.code == 0, ran.err
    assert "note: known.hst, line 1: the cell I × A is not unsafe; levels have no effect." in ran.out
    assert "note: known.hst, line 2: the cell is empty; the line has no effect." in ran.out


@pytest.mark.parametrize("flags, expected", [("", "x"), (",0,0", "x"), (",0,1", "x"), (",1,1", "x")])
def test_trivial_levels(reticent: CommandLine, folder: Path, flags: str, expected: str) -> None:
    """II has a single part IIa: the same cell. Declared unsafe for one of them, it must be hidden in both."""
    (folder / "rows.hrc").write_text("I\nII\n@IIa\nIII\n")
    (folder / "cells.rda").write_text(META.format(tree='  <HIERARCHICAL>\n  <HIERCODELIST> "rows.hrc"'))
    inside = CELLS.replace(";u", ";s")
    inside += "".join(line.replace("II;", "IIa;") + "\n" for line in inside.splitlines() if line.startswith("II;"))
    (folder / "cells.tab").write_text(inside)
    ran = batch(reticent, folder, known(folder, "II;C;U\n", flags=flags) + PROTECT)
    assert ran.code == 0, ran.err
    primaries = 2 if flags.endswith("1") else 1
    assert f" {primaries} primary," in ran.out
    written = (folder / "out.txt").read_text()
    assert f'"II","C",{expected}' in written
    assert f'"IIa","C",{expected}' in written
    if flags.endswith(",1") and "0" in flags:
        both = batch(reticent, folder, known(folder, "II;C;U\nIIa;C;P\n", flags=flags) + PROTECT)
        assert "known.hst, line 2: the cell II × C is declared protected here and unsafe in known.hst, line 1" in (
            both.sentence
        )


@pytest.mark.parametrize(
    "line, words",
    [
        ('"known.hst",1', "<APRIORI> needs \"file\", table number"),
        ('"known.hst",1,";",2', "ignore error and expand trivial levels of <APRIORI> are each 0 or 1"),
        ('"known.hst",1,";",0,0,0', "ignore error and expand trivial levels of <APRIORI> are each 0 or 1"),
        ('"known.hst",2,";"', "there is no table 2; 1 are specified"),
        ('"nothing.hst",1,";"', "nothing.hst: there is no such file"),
    ],
)  # fmt: skip
def test_wrong_a_priori_commands(reticent: CommandLine, folder: Path, line: str, words: str) -> None:
    known(folder, "I;A;U\n")
    ran = batch(reticent, folder, f"<APRIORI> {line}\n")
    assert ran.code in (2, 3)
    assert ran.sentence.startswith("reticent: run.arb, line 7: ")
    assert words in ran.sentence


# ------------------------------------------------------------------ table files and metadata


@pytest.mark.parametrize(
    "file, old, new, words",
    [
        ("cells.tab", "I;A;20;s", "I;A;x;s", "cells.tab, line 6: column 'Value' has 1 entries that are not numbers"),
        ("cells.tab", "I;A;20;s", "I;A;20;q", "cells.tab, line 6: unknown status 'q'; it must be s, u, m or z"),
        ("cells.tab", "I;A;20;s", "I;B;20;s", "the cell I × B occurs twice; each cell may occur once"),
        ("cells.tab", "I;A;20;s", "I;A;20", "cells.tab"),
        ("cells.rda", '<TOTCODE> "Total"', "<TOTCODE>", "cells.rda: line 7 (Row): <TOTCODE> needs a word after it"),
        (
            "cells.rda",
            "Value\n",
            "Volume\n",
            "cells.rda: there is no column 'Value'; columns: Row, Column, Volume, Status",
        ),
    ],
)
def test_wrong_table_files(reticent: CommandLine, folder: Path, file: str, old: str, new: str, words: str) -> None:
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    ran = batch(reticent, folder, PROTECT)
    assert ran.code == 3
    assert "run.arb, line 6: " in ran.sentence
    assert words in ran.sentence


# ------------------------------------------------------------------ JJ files

VALUES = [190, 45, 101, 44, 80, 20, 50, 10, 49, 8, 19, 22, 61, 17, 32, 12]


@pytest.fixture
def jj(tmp_path: Path) -> Path:
    cells = [f"{i} {v} {v} {'u' if i == 11 else 's'} 0 400 {4 if i == 11 else 0} 4 0" for i, v in enumerate(VALUES)]
    lines = [[4 * r, *(4 * r + c for c in (1, 2, 3))] for r in range(4)]
    lines += [[c, *(4 * r + c for r in (1, 2, 3))] for c in range(4)]
    relations = [f"0 4 : {a} (-1) " + " ".join(f"{b} (1)" for b in rest) for a, *rest in lines]
    path = tmp_path / "table.jj"
    path.write_text("\n".join(["0", "16", *cells, "8", *relations]) + "\n")
    return path


@pytest.mark.parametrize(
    "old, new, code, words",
    [
        ("\n5 20 20 s", "\n5 20 20 q", 3, "table.jj, line 8: the status must be s, u, z or m, not 'q'"),
        ("\n5 20 20 s 0 400 0 4 0", "\n5 20 20 s 0", 3, "table.jj, line 8: a cell has 9 fields"),
        (
            "\n5 20 20 s",
            "\n5 x 20 s",
            3,
            "table.jj, line 8: the fields of a cell other than its status must be numbers",
        ),
        ("\n5 20 20 s", "\n4 20 20 s", 3, "table.jj, line 8: cell 4 occurs twice"),
        ("\n5 20 20 s", "\n99 20 20 s", 3, "table.jj, line 8: cell id 99 is outside 0 to 15"),
        (
            "\n5 20 20 s",
            "\n5 20 -20 s",
            3,
            "table.jj, line 8: value and cost must be finite, cost and levels not negative",
        ),
        ("0 4 : 4 (-1)", "0 4 4 (-1)", 3, "table.jj, line 21: a relation reads 'rhs n : id (coefficient)"),
        ("0 4 : 4 (-1)", "0 5 : 4 (-1)", 3, "table.jj, line 21: the relation announces 5 terms and has 4"),
        (
            "0 4 : 4 (-1)",
            "0 4 : 40 (-1)",
            3,
            "table.jj, line 21: a relation names a cell or a coefficient that cannot be",
        ),
        ("\n8\n", "\n9\n", 3, "table.jj: ends after line 27 where a relation is expected"),
        ("0\n16\n", "0\nx\n", 3, "table.jj, line 2: the number of cells must be a whole number"),
        (
            "\n5 20 20 s",
            "\n5 90 20 s",
            3,
            "the values miss 2 relations by more than rounding explains: line 21 (off by 70)",
        ),
        ("\n11 22 22 u 0 400 4 4 0", "\n11 22 22 u 0 400 4 500 0", 4, "reach beyond the attacker's bounds (cells 11)"),
        ("\n11 22 22 u 0 400 4 4 0", "\n11 22 22 u 0 400 30 4 0", 4, "reach beyond the attacker's bounds (cells 11)"),
        (
            " s 0 400",
            " z 0 400",
            4,
            "1 primary cells cannot be protected (cells 11); cells that would help but may not be ",
        ),
    ],
)
def test_jj_files(reticent: CommandLine, jj: Path, old: str, new: str, code: int, words: str) -> None:
    text = jj.read_text()
    assert old in text
    jj.write_text(text.replace(old, new) if old == " s 0 400" else text.replace(old, new, 1))
    ran = reticent("suppress", jj, "--json", jj.with_suffix(".json"))
    assert ran.code == code
    assert words in ran.sentence
    assert "Traceback" not in ran.err
    assert not jj.with_suffix(".json").exists()


def test_every_relation_that_a_jj_file_misses_is_listed(reticent: CommandLine, jj: Path) -> None:
    jj.write_text(jj.read_text().replace("\n5 20 20", "\n5 90 20").replace("\n15 12 12", "\n15 82 12"))
    ran = reticent("suppress", jj)
    assert ran.code == 3
    assert "the values miss 4 relations" in ran.sentence
    assert [line.strip() for line in ran.err.splitlines()[1:]] == [
        f"table.jj, line {line} (off by 70)" for line in (21, 23, 25, 27)
    ]


def test_a_time_limit_of_nothing(reticent: CommandLine, folder: Path, jj: Path) -> None:
    ran = reticent("suppress", jj, "--time-limit", "0")
    assert ran.code == 2
    assert "time_limit must be more than 0 seconds, got 0.0. Give it at least 1." in ran.sentence
    rounded = reticent("round", jj, "--base", "5", "--time-limit", "0")
    assert rounded.code == 2
    assert "time" in rounded.sentence
    for call in ("OPT(1,0)", "MOD(1,0)", "RND(1,5,0,0)"):
        ran = batch(reticent, folder, f"<SUPPRESS> {call}\n")
        assert ran.code == 2
        assert "must be more than 0 minutes, got 0" in ran.sentence
    (folder / "cells.csv").write_text("Row;Column;Value;Status\n" + CELLS)
    (folder / "plan.toml").write_text(PLAN.replace("time_limit = 20", "time_limit = 0"))
    by_plan = reticent("table", folder / "plan.toml")
    assert by_plan.code == 2
    assert "time_limit" in by_plan.sentence
